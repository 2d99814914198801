/* libzmq admits everybody when nothing answers for keys. The coordinator's end must not exist
 * without the handler, nor without any option that protects. */

#include "io/endpoint.h"

#include <criterion/criterion.h>
#include <string.h>
#include <zmq.h>

int __real_zmq_bind(void *socket, const char *address);
int __wrap_zmq_bind(void *socket, const char *address);
int __real_zmq_setsockopt(void *socket, int option, const void *value, size_t size);
int __wrap_zmq_setsockopt(void *socket, int option, const void *value, size_t size);
int __real_zmq_socket_monitor(void *socket, const char *address, int events);
int __wrap_zmq_socket_monitor(void *socket, const char *address, int events);

static struct {
    const char *bind_prefix; /* binds to such addresses fail */
    int option_at;           /* the option set at this place fails; below 0: none */
    int option_count;
    bool monitor_fails;
} fault = {.option_at = -1};

int __wrap_zmq_bind(void *socket, const char *address)
{
    if (fault.bind_prefix != NULL &&
        strncmp(address, fault.bind_prefix, strlen(fault.bind_prefix)) == 0) {
        errno = EADDRINUSE;
        return -1;
    }
    return __real_zmq_bind(socket, address);
}

int __wrap_zmq_setsockopt(void *socket, int option, const void *value, size_t size)
{
    if (fault.option_count++ == fault.option_at) {
        errno = EINVAL;
        return -1;
    }
    return __real_zmq_setsockopt(socket, option, value, size);
}

int __wrap_zmq_socket_monitor(void *socket, const char *address, int events)
{
    if (fault.monitor_fails && address != NULL) {
        errno = ENOTSUP;
        return -1;
    }
    return __real_zmq_socket_monitor(socket, address, events);
}

static struct key_pair key;
static struct why why;

static enum status listen_now(void)
{
    struct endpoint *endpoint = NULL;
    struct endpoint_options options = {
        .address = "tcp://127.0.0.1:0", .key = &key, .payload_bytes_max = 65536};
    fault.option_count = 0;
    enum status status = endpoint_listen(&endpoint, &options, &why);
    cr_expect_eq(status == STATUS_OK, endpoint != NULL);
    endpoint_free(endpoint);
    return status;
}

static void setup(void)
{
    cr_assert_eq(key_pair_generate(&key), STATUS_OK);
}

Test(fail_closed, no_handler_no_coordinator, .init = setup)
{
    cr_assert_eq(listen_now(), STATUS_OK, "%s", why.text);
    fault.bind_prefix = "inproc://zeromq.zap.01";
    cr_expect_eq(listen_now(), STATUS_UNSUPPORTED);
    cr_expect_not_null(strstr(why.text, "refusing to run"), "%s", why.text);
}

Test(fail_closed, every_option_that_is_not_accepted_ends_it, .init = setup)
{
    cr_assert_eq(listen_now(), STATUS_OK, "%s", why.text);
    int options = fault.option_count;
    cr_expect_gt(options, 15);
    for (fault.option_at = 0; fault.option_at < options; fault.option_at++) {
        cr_expect_eq(listen_now(), STATUS_UNSUPPORTED, "option %d", fault.option_at);
        cr_expect_not_null(strstr(why.text, "does not accept the option"), "%s", why.text);
    }
    fault.option_at = -1;
    fault.monitor_fails = true;
    cr_expect_eq(listen_now(), STATUS_UNSUPPORTED);
}

/* Whether a bare server, with a domain but no handler, hears a stranger. */
static bool bare_server_hears(bool enforced)
{
    void *context = zmq_ctx_new();
    void *server = zmq_socket(context, ZMQ_ROUTER);
    void *client = zmq_socket(context, ZMQ_DEALER);
    char address[128];
    size_t size = sizeof address;
    int one = 1;
    int zero = 0;
    struct key_pair stranger;

    cr_assert_eq(key_pair_generate(&stranger), STATUS_OK);
    zmq_setsockopt(server, ZMQ_LINGER, &zero, sizeof zero);
    zmq_setsockopt(client, ZMQ_LINGER, &zero, sizeof zero);
    zmq_setsockopt(server, ZMQ_CURVE_SERVER, &one, sizeof one);
    zmq_setsockopt(server, ZMQ_CURVE_SECRETKEY, key.secret_key.byte, 32);
    zmq_setsockopt(server, ZMQ_ZAP_DOMAIN, "hedgerow", 8);
    if (enforced) {
        cr_assert_eq(zmq_setsockopt(server, 93, &one, sizeof one), 0);
    }
    cr_assert_eq(zmq_bind(server, "tcp://127.0.0.1:*"), 0);
    cr_assert_eq(zmq_getsockopt(server, ZMQ_LAST_ENDPOINT, address, &size), 0);
    zmq_setsockopt(client, ZMQ_CURVE_SERVERKEY, key.public_key.byte, 32);
    zmq_setsockopt(client, ZMQ_CURVE_PUBLICKEY, stranger.public_key.byte, 32);
    zmq_setsockopt(client, ZMQ_CURVE_SECRETKEY, stranger.secret_key.byte, 32);
    cr_assert_eq(zmq_connect(client, address), 0);
    zmq_send(client, "hello", 5, ZMQ_DONTWAIT);
    zmq_pollitem_t item = {.socket = server, .events = ZMQ_POLLIN};
    bool heard = zmq_poll(&item, 1, enforced ? 1500 : 60000) > 0;
    zmq_close(client);
    zmq_close(server);
    zmq_ctx_term(context);
    return heard;
}

Test(fail_closed, the_option_is_what_closes_a_server_without_a_handler, .init = setup)
{
    cr_expect(bare_server_hears(false), "libzmq has become safer: say so in the documents");
    cr_expect(!bare_server_hears(true));
}
