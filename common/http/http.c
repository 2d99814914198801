/* libmicrohttpd is run by its epoll descriptor inside the program's own loop, without a thread. Three of its habits
 * decide what stands here: its time-out is of idle time alone, so that every connection has a deadline here, but for those of
 * http_stream.c; a suspended connection would abort the process when it is stopped, so those are ended before; and a request
 * whose answer is queued at the first call never has its body read. */

#include "http/http.h"

#include "base/check.h"
#include "http/http_request.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTION_BYTES = 16 * 1024, /* of a request's headers, and of an answer's; more is refused */
    IDLE_S = 10,                  /* more than HTTP_REQUEST_MS, which comes first */
    PASSES_MAX = 8,               /* in one call of http_run; a pass accepts some ten connections */
    PASSES_SECURE_MAX = 2         /* with TLS, where a stranger's handshake takes a millisecond */
};

static void on_connection(void *self, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *http = self;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        struct connection *closed = *context;
        if (closed != NULL) {
            http_wait_no_more(http, closed);
            closed->descriptor = -1;
            closed->waiting = NULL;
            http->connection_count--;
        }
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *context = NULL;
    for (size_t i = 0; info != NULL && i < HTTP_CONNECTIONS_MAX; i++) {
        if (http->connection[i].descriptor < 0) {
            http->connection[i] =
                (struct connection){.descriptor = info->connect_fd, .since_ms = http->now_ms};
            http->connection_count++;
            *context = &http->connection[i];
            return;
        }
    }
}

static int64_t patience_ms(const struct http *http)
{
    return http->connection_count >= HTTP_CONNECTIONS_MAX ? HTTP_CROWDED_MS : HTTP_REQUEST_MS;
}

/* How long a connection may last, whatever happens on it. */
static int64_t deadline_ms(const struct connection *connection, int64_t patience)
{
    return connection->since_ms + (connection->waits ? HTTP_WAITS_MS : patience);
}

/* libmicrohttpd takes a shut descriptor for the peer's leaving, and closes it. */
static void cut_late(struct http *http)
{
    const int64_t patience = patience_ms(http);
    for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
        struct connection *connection = &http->connection[i];
        if (connection->descriptor >= 0 && !connection->cut && !connection->lasts &&
            http->now_ms >= deadline_ms(connection, patience)) {
            (void)shutdown(connection->descriptor, SHUT_RDWR);
            connection->cut = true;
        }
    }
}

static int64_t ticks(const struct http *http, int64_t now_ms)
{
    return now_ms / (int64_t)http->options.period_ms;
}

static int64_t next_ms(const struct http *http)
{
    if (http->options.on_grid) {
        return (ticks(http, http->ran_ms) + 1) * (int64_t)http->options.period_ms;
    }
    return http->ran_ms + (int64_t)http->options.period_ms;
}

int http_descriptor(const struct http *http, int64_t now_ms)
{
    return http->options.on_grid || now_ms < next_ms(http) ? -1 : http->epoll;
}

int64_t http_due_ms(const struct http *http, int64_t now_ms)
{
    const int64_t next = next_ms(http);
    if (http->options.on_grid || next > now_ms) {
        return next;
    }
    int64_t due_ms = http->waiting_count > 0 ? now_ms : http_streams_due_ms(http->streams);
    const int64_t patience = patience_ms(http);
    for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
        const struct connection *connection = &http->connection[i];
        if (connection->descriptor >= 0 && !connection->cut && !connection->lasts &&
            deadline_ms(connection, patience) < due_ms) {
            due_ms = deadline_ms(connection, patience);
        }
    }
    return due_ms;
}

/* A client that waits for a file asks again: libmicrohttpd calls http_on_request. Returns whether somebody does. */
static bool resume_waiting(struct http *http)
{
    bool resumed = false;
    for (size_t i = 0; i < HTTP_CONNECTIONS_MAX && http->waiting_count > 0; i++) {
        struct connection *connection = &http->connection[i];
        if (connection->waiting != NULL) {
            MHD_resume_connection(connection->waiting);
            connection->waiting = NULL;
            resumed = true;
        }
    }
    return resumed;
}

/* libmicrohttpd aborts where a suspended connection is left when it is stopped. */
static void end_lasting(struct http *http)
{
    http->ends = true;
    http_streams_end(http->streams);
    (void)resume_waiting(http);
    (void)MHD_run(http->daemon); /* listeners hear the end */
}

static bool has_more(const struct http *http)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    struct pollfd ready = {.fd = http->epoll, .events = POLLIN};
    return (MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES && wait_ms == 0) ||
           poll(&ready, 1, 0) > 0;
}

void http_run(struct http *http, int64_t now_ms)
{
    if (now_ms < next_ms(http) || http->daemon == NULL) { /* no page any more: http_renew */
        return;
    }
    http->now_ms = now_ms;
    cut_late(http);
    const bool told = http_streams_run(http->streams, now_ms);
    const bool woken = resume_waiting(http) || told;
    const bool more = has_more(http) || woken;
    if (!http->options.on_grid && !more && !http->again) {
        return; /* or an idle program would wake up at every period */
    }
    http->again = more;
    http->ran_ms = now_ms;
    const int passes = http->options.secure != NULL ? PASSES_SECURE_MAX : PASSES_MAX;
    for (int i = 0; i < passes && (i == 0 || has_more(http)); i++) {
        (void)MHD_run(http->daemon);
    }
}

const char *http_address(const struct http *http)
{
    return http->address;
}

/* libmicrohttpd's own sentences go nowhere: a stranger's requests cause them. */
static void say_nothing(void *self, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
static void say_nothing(void *self, const char *format, va_list arguments)
{
    (void)self, (void)format, (void)arguments;
}

/* GnuTLS' words: nothing older than TLS 1.2, and no key that a server's stolen one opens later. */
static const char PRIORITIES[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:%SERVER_PRECEDENCE";

/* Takes the descriptor: where it fails the program ends, and who has closed it by then is not documented. */
static enum status start_daemon(struct http *http, int descriptor, struct why *why)
{
    const struct http_secure *secure = http->options.secure;
    struct MHD_OptionItem item[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, NULL},
                                    {MHD_OPTION_HTTPS_MEM_KEY, 0, NULL},
                                    {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)PRIORITIES},
                                    {MHD_OPTION_END, 0, NULL}};
    if (secure != NULL) {
        item[0].ptr_value = (void *)(uintptr_t)secure->certificate;
        item[1].ptr_value = (void *)(uintptr_t)secure->key;
    }
    http->epoll = -1;
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME |
            (secure != NULL ? MHD_USE_TLS : 0U),
        0, NULL, NULL, http_on_request, http, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
        MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, http_on_path, http,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_ARRAY,
        secure != NULL ? item : item + 3, MHD_OPTION_END);
    if (http->daemon == NULL && secure != NULL) {
        return why_refuse(why,
                          "http.certificate: TLS cannot be spoken with it and http.key; remedy: "
                          "a PEM certificate with its key, without a passphrase");
    }
    if (http->daemon == NULL) {
        return why_fail(why, STATUS_NO_MEMORY,
                        "http.listen: no memory or descriptors for the pages");
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == NULL) {
        return why_fail(why, STATUS_UNSUPPORTED, "http.listen: libmicrohttpd has no epoll here");
    }
    http->epoll = info->epoll_fd;
    return STATUS_OK;
}

enum status http_open(struct http **out, const struct http_options *options, struct why *why)
{
    int descriptor = -1;

    *out = NULL;
    CHECK(options->route_count <= HTTP_ROUTES_MAX && options->period_ms > 0);
    struct http *http = calloc(1, sizeof *http);
    if (http == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "http.listen: no memory for the pages");
    }
    http->options = *options;
    if (options->secure != NULL) {
        http->secure = *options->secure;
        http->options.secure = &http->secure;
    }
    http->streams = http_streams_new();
    for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
        http->connection[i].descriptor = -1;
    }
    enum status status = http->streams == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status != STATUS_OK) {
        why_set(why, "http.listen: no memory for the pages");
    } else if (options->secure != NULL && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        status = STATUS_UNSUPPORTED;
        why_set(why, "http.listen: this libmicrohttpd has no TLS; remedy: a loopback address");
    }
    if (status == STATUS_OK) {
        status =
            http_bind(&descriptor, http->address, options->listen, options->secure != NULL, why);
    }
    if (status == STATUS_OK) {
        status = start_daemon(http, descriptor, why);
    }
    if (status != STATUS_OK) {
        http_free(http);
        return status;
    }
    *out = http;
    return STATUS_OK;
}

/* libmicrohttpd takes a certificate at its start alone. The socket that listens is handed on, so that nobody is refused
 * meanwhile. */
enum status http_renew(struct http *http, const struct http_secure *secure, struct why *why)
{
    const struct http_secure before = http->secure;
    struct why ignored = {{0}};

    CHECK(http->options.secure != NULL);
    const union MHD_DaemonInfo *info =
        http->daemon == NULL ? NULL : MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_LISTEN_FD);
    /* For those before, should the new ones not do: without it libmicrohttpd would listen at a port of its own. */
    const int spare = info == NULL ? -1 : fcntl(info->listen_fd, F_DUPFD_CLOEXEC, 0);
    struct http_streams *streams = spare < 0 ? NULL : http_streams_new();
    if (streams == NULL) {
        why_set(why, "http.listen: no memory or descriptors for the pages");
        if (spare >= 0) {
            (void)close(spare);
        }
        return STATUS_NO_MEMORY;
    }
    end_lasting(http);
    const int descriptor = MHD_quiesce_daemon(http->daemon);
    MHD_stop_daemon(http->daemon);
    http->ends = false;
    http_streams_free(http->streams);
    http->streams = streams;
    http->secure = *secure;
    enum status status = descriptor < 0 ? STATUS_UNSUPPORTED : start_daemon(http, descriptor, why);
    if (status == STATUS_OK) {
        (void)close(spare);
        return STATUS_OK;
    }
    http->secure = before;
    (void)!start_daemon(http, spare, &ignored); /* it did before; else there is no page */
    return status;
}

void http_free(struct http *http)
{
    if (http == NULL) {
        return;
    }
    if (http->daemon != NULL) {
        end_lasting(http);
        MHD_stop_daemon(http->daemon);
    }
    http_streams_free(http->streams);
    for (size_t i = 0; i < HTTP_ROUTES_MAX; i++) {
        if (http->made[i].response != NULL) {
            MHD_destroy_response(http->made[i].response);
        }
    }
    free(http);
}
