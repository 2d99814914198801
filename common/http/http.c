/* libmicrohttpd is run by its epoll descriptor inside the program's own loop, without a thread. Three of its habits
 * decide what stands here: its time-out is of idle time alone, so that every connection has a deadline here, but for those of
 * http_stream.c; a suspended connection would abort the process when it is stopped, so those are ended before; and a request
 * whose answer is queued at the first call never has its body read. */

#include "http/http.h"

#include "base/check.h"
#include "http/guard.h"
#include "http/http_bind.h"
#include "http/http_stream.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum {
    CONNECTION_BYTES = 16 * 1024, /* of a request's headers, and of an answer's; more is refused */
    IDLE_S = 10,                  /* more than HTTP_REQUEST_MS, which comes first */
    PASSES_MAX = 8,               /* in one call of http_run; a pass accepts some ten connections */
    PASSES_SECURE_MAX = 2         /* with TLS, where a stranger's handshake takes a millisecond */
};

struct connection {
    int descriptor; /* -1: free */
    int64_t since_ms;
    bool cut;
    bool lasts; /* it is a stream's by now, which has deadlines of its own */
};

struct made {
    struct MHD_Response *response; /* NULL: none */
    unsigned code;
    int64_t at_ms;
};

struct http {
    struct http_options options;
    struct http_secure secure; /* of the options, where they have it */
    struct MHD_Daemon *daemon;
    int epoll;
    char address[HTTP_ADDRESS_BYTES];
    int64_t now_ms; /* of http_run */
    int64_t ran_ms;
    bool
        again; /* at full house libmicrohttpd looks away from newcomers, until it is run once more than events ask for */
    struct connection connection[HTTP_CONNECTIONS_MAX];
    size_t connection_count;
    struct made made[HTTP_ROUTES_MAX];
    struct http_streams *streams;
};

/* What a request's path is, before anything decodes it: a route, or this. */
static const struct http_route unknown_route = {.path = ""};

static bool is_path_of(const char *path, const struct http_route *route)
{
    return route->open != NULL
               ? strncmp(path, route->path, strlen(route->path)) == 0 && strpbrk(path, "?%") == NULL
               : strcmp(path, route->path) == 0;
}

static void *on_path(void *self, const char *path, struct MHD_Connection *connection)
{
    const struct http *http = self;
    const struct http_route *found = &unknown_route;
    (void)connection;
    for (size_t i = 0; path != NULL && i < http->options.route_count; i++) {
        if (is_path_of(path, &http->options.route[i])) {
            found = &http->options.route[i];
        }
    }
    return (void *)(uintptr_t)found;
}

/* What is taken from a request's headers. */
struct taken {
    struct http_asked asked;
    const struct http_route *route;
    const char *value[HTTP_GIVEN_MAX];
    bool twice; /* one of them */
};

static void take_given(struct taken *taken, const char *name, const char *value)
{
    for (size_t i = 0; i < HTTP_GIVEN_MAX && taken->route->given[i] != NULL; i++) {
        if (strcasecmp(name, taken->route->given[i]) == 0) {
            taken->twice = taken->twice || taken->value[i] != NULL;
            taken->value[i] = value == NULL ? "" : value;
        }
    }
}

static enum MHD_Result on_header(void *self, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct taken *taken = self;
    struct http_asked *asked = &taken->asked;
    (void)kind;
    take_given(taken, name, value);
    if (strcasecmp(name, "Host") == 0) {
        asked->host = value == NULL ? "" : value;
        asked->host_count++;
    } else if (strcasecmp(name, "Origin") == 0) {
        asked->origin = value == NULL ? "" : value;
        asked->origin_count++;
    } else if (strcasecmp(name, "Authorization") == 0) {
        asked->authorization = value == NULL ? "" : value;
        asked->authorization_count++;
    } else if (strcasecmp(name, "Sec-Fetch-Site") == 0) {
        asked->site = value == NULL ? "" : value;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0 || strcasecmp(name, "Upgrade") == 0) {
        asked->body = true;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        asked->body = asked->body || value == NULL || strcmp(value, "0") != 0;
    }
    return MHD_YES;
}

/* A browser runs nothing on these pages but their own script, and shows them in no other page. */
static bool add_headers(struct MHD_Response *response, const char *type)
{
    static const char *const header[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
         "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Cache-Control", "no-store"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Connection", "close"},
    };
    bool good = MHD_add_response_header(response, "Content-Type", type) == MHD_YES;
    for (size_t i = 0; good && i < sizeof header / sizeof header[0]; i++) {
        good = MHD_add_response_header(response, header[i][0], header[i][1]) == MHD_YES;
    }
    return good;
}

/* text: taken with MHD_RESPMEM_MUST_FREE. NULL without memory. */
static struct MHD_Response *new_response(void *text, size_t size, enum MHD_ResponseMemoryMode mode,
                                         const char *type)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(size, text, mode);
    if (response == NULL && mode == MHD_RESPMEM_MUST_FREE) {
        free(text);
    }
    if (response != NULL && !add_headers(response, type)) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return response;
}

/* What a route shows is made once in a period, however often it is asked for. */
static const struct made *make(struct http *http, const struct http_route *route)
{
    struct made *made = &http->made[route - http->options.route];
    if (made->response != NULL &&
        (route->text.size > 0 || http->now_ms - made->at_ms < http->options.period_ms)) {
        return made;
    }
    if (made->response != NULL) {
        MHD_destroy_response(made->response);
    }
    *made = (struct made){.code = 200, .at_ms = http->now_ms};
    if (route->text.size > 0) {
        made->response = new_response((void *)(uintptr_t)route->text.data, route->text.size,
                                      MHD_RESPMEM_PERSISTENT, route->type);
        return made;
    }
    CHECK(route->make != NULL);
    char *text = route->make(route->self != NULL ? route->self : http->options.self, &made->code);
    if (text != NULL) {
        made->response = new_response(text, strlen(text), MHD_RESPMEM_MUST_FREE, route->type);
    }
    return made;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, const struct http_verdict *verdict)
{
    struct MHD_Response *response =
        new_response((void *)(uintptr_t)verdict->sentence, strlen(verdict->sentence),
                     MHD_RESPMEM_PERSISTENT, "text/plain; charset=utf-8");
    if (response == NULL) {
        return MHD_NO;
    }
    enum MHD_Result result = MHD_YES;
    if (verdict->code == 405) {
        result = MHD_add_response_header(response, "Allow", "GET, HEAD, POST");
    }
    if (verdict->code == 401) { /* a browser asks its user, and then says the token by itself */
        result = MHD_add_response_header(response, "WWW-Authenticate",
                                         "Basic realm=\"hedgerow\", charset=\"UTF-8\"");
    }
    if (result == MHD_YES) {
        result = MHD_queue_response(connection, verdict->code, response);
    }
    MHD_destroy_response(response);
    return result;
}

/* An act's answer is for the one who asked. */
static enum MHD_Result act(struct http *http, struct MHD_Connection *connection,
                           const struct taken *taken)
{
    static const struct http_verdict twice = {400, "One header is there twice.\n"};
    const struct http_route *route = taken->route;
    unsigned code = 200;
    if (taken->twice) {
        return refuse(connection, &twice);
    }
    char *text =
        route->act(route->self != NULL ? route->self : http->options.self, taken->value, &code);
    struct MHD_Response *response =
        text == NULL ? NULL : new_response(text, strlen(text), MHD_RESPMEM_MUST_FREE, route->type);
    if (response == NULL) {
        return MHD_NO;
    }
    const enum MHD_Result result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

static struct connection *place_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static bool add_name(struct MHD_Response *response, const char *name)
{
    char text[HTTP_NAME_BYTES + 32];
    (void)snprintf(text, sizeof text, "attachment; filename=\"%s\"", name);
    return MHD_add_response_header(response, "Content-Disposition", text) == MHD_YES;
}

/* An answer that lasts: events, or a file, which the browser keeps and never shows as a page of this port. */
static enum MHD_Result stream(struct http *http, struct MHD_Connection *connection,
                              const struct http_route *route, const char *url)
{
    static const struct http_verdict full = {503, "Too many pages listen: close one of them.\n"};
    static const struct http_verdict none = {404, "There is no such file.\n"};
    void *self = route->self != NULL ? route->self : http->options.self;
    struct connection *place = place_of(connection);
    char name[HTTP_NAME_BYTES] = "";
    uint64_t size = 0;
    int file = -1;
    if (place == NULL || http_streams_are_full(http->streams)) {
        return refuse(connection, &full);
    }
    if (route->open != NULL) {
        file = route->open(self, url + strlen(route->path), &size, name);
        if (file < 0) {
            return refuse(connection, &none);
        }
    }
    struct MHD_Response *response = http_streams_begin(http->streams, route, self, connection,
                                                       place->descriptor, file, size, http->now_ms);
    if (response == NULL) {
        return MHD_NO;
    }
    enum MHD_Result result =
        add_headers(response, route->type) && (file < 0 || add_name(response, name)) ? MHD_YES
                                                                                     : MHD_NO;
    if (result == MHD_YES) {
        result = MHD_queue_response(connection, 200, response);
    }
    if (result == MHD_YES) {
        place->lasts = true;
        (void)MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
    }
    MHD_destroy_response(response);
    return result;
}

/* Is called first when the headers are there, and always answers then. MHD_NO closes the connection. */
static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
    struct http *http = self;
    const struct http_route *route = *context == NULL ? &unknown_route : *context;
    struct taken taken = {
        .route = route,
        .asked = {.method = method,
                  .known = route != &unknown_route,
                  .act = route->act != NULL,
                  .secure = http->options.secure != NULL,
                  .names = http->options.secure != NULL ? http->options.secure->names : NULL,
                  .token = http->options.secure != NULL && !route->anyone
                               ? http->options.secure->token
                               : NULL}};
    (void)version, (void)upload, (void)upload_size;

    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, on_header, &taken);
    const struct http_verdict verdict = http_judge(&taken.asked);
    if (verdict.code != 200) {
        return refuse(connection, &verdict);
    }
    if (route->act != NULL) {
        return act(http, connection, &taken);
    }
    if (route->tell != NULL || route->open != NULL) {
        return stream(http, connection, route, url);
    }
    const struct made *made = make(http, route);
    return made->response == NULL ? MHD_NO
                                  : MHD_queue_response(connection, made->code, made->response);
}

static void on_connection(void *self, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *http = self;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        struct connection *closed = *context;
        if (closed != NULL) {
            closed->descriptor = -1;
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

/* libmicrohttpd takes a shut descriptor for the peer's leaving, and closes it. */
static void cut_late(struct http *http)
{
    const int64_t patience = patience_ms(http);
    for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
        struct connection *connection = &http->connection[i];
        if (connection->descriptor >= 0 && !connection->cut && !connection->lasts &&
            http->now_ms - connection->since_ms >= patience) {
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
    int64_t due_ms = http_streams_due_ms(http->streams);
    const int64_t patience = patience_ms(http);
    for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
        const struct connection *connection = &http->connection[i];
        if (connection->descriptor >= 0 && !connection->cut && !connection->lasts &&
            connection->since_ms + patience < due_ms) {
            due_ms = connection->since_ms + patience;
        }
    }
    return due_ms;
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
    if (now_ms < next_ms(http)) {
        return;
    }
    http->now_ms = now_ms;
    cut_late(http);
    const bool woken = http_streams_run(http->streams, now_ms);
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
    http->daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME |
                             (secure != NULL ? MHD_USE_TLS : 0U),
                         0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, say_nothing,
                         NULL, MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_CONNECTION_LIMIT,
                         (unsigned)HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                         (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
                         MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, on_path,
                         http, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_ARRAY,
                         secure != NULL ? item : item + 3, MHD_OPTION_END);
    if (http->daemon == NULL && secure != NULL) {
        return why_refuse(why,
                          "http.certificate: TLS cannot be spoken with it and http.key; remedy: "
                          "a PEM certificate with its key, without a passphrase");
    }
    if (http->daemon == NULL) {
        why_set(why, "http.listen: no memory or descriptors for the pages");
        return STATUS_NO_MEMORY;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == NULL) {
        why_set(why, "http.listen: libmicrohttpd has no epoll here");
        return STATUS_UNSUPPORTED;
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
        why_set(why, "http.listen: no memory for the pages");
        return STATUS_NO_MEMORY;
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
    struct http_streams *streams = http_streams_new();
    struct why ignored = {{0}};

    CHECK(http->options.secure != NULL);
    if (streams == NULL || http->daemon == NULL) {
        why_set(why, "http.listen: no memory for the pages");
        http_streams_free(streams);
        return STATUS_NO_MEMORY;
    }
    http_streams_end(http->streams);
    (void)MHD_run(http->daemon); /* listeners hear the end */
    const int descriptor = MHD_quiesce_daemon(http->daemon);
    const int spare = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    MHD_stop_daemon(http->daemon);
    http_streams_free(http->streams);
    http->streams = streams;
    http->secure = *secure;
    enum status status = start_daemon(http, descriptor, why);
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
        http_streams_end(http->streams);
        (void)MHD_run(http->daemon); /* listeners hear the end */
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
