/* What a request is answered: the guard's verdict first, then a page, an act, or a stream. */

#include "http/http_request.h"

#include "base/check.h"
#include "http/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What a request's path is, before anything decodes it: a route, or this. */
static const struct http_route unknown_route = {.path = ""};

static bool is_path_of(const char *path, const struct http_route *route)
{
    return route->open != NULL || route->find != NULL
               ? strncmp(path, route->path, strlen(route->path)) == 0 && strpbrk(path, "?%") == NULL
               : strcmp(path, route->path) == 0;
}

void *http_on_path(void *self, const char *path, struct MHD_Connection *connection)
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

static enum MHD_Result answer(struct MHD_Connection *connection, char *text, unsigned code,
                              const char *type)
{
    struct MHD_Response *response =
        text == NULL ? NULL : new_response(text, strlen(text), MHD_RESPMEM_MUST_FREE, type);
    if (response == NULL) {
        return MHD_NO;
    }
    const enum MHD_Result result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result find(struct http *http, struct MHD_Connection *connection,
                            const struct http_route *route, const char *url)
{
    static const struct http_verdict none = {404, "There is nothing of that name.\n"};
    void *self = route->self != NULL ? route->self : http->options.self;
    char *text = route->find(self, url + strlen(route->path));
    return text == NULL ? refuse(connection, &none) : answer(connection, text, 200, route->type);
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
    return answer(connection, text, code, route->type);
}

static struct connection *place_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

void http_wait_no_more(struct http *http, struct connection *place)
{
    http->waiting_count -= place->waits ? 1 : 0;
    place->waits = false;
}

/* Until the next turn, when libmicrohttpd calls again. What was cut is let go of. */
static enum MHD_Result wait(struct http *http, struct MHD_Connection *connection,
                            struct connection *place)
{
    static const struct http_verdict full = {503, "Too many files are on their way: try again.\n"};
    if (!place->waits && http->waiting_count == HTTP_WAITING_MAX) {
        return refuse(connection, &full);
    }
    if (place->cut || http->ends) {
        return MHD_NO;
    }
    http->waiting_count += place->waits ? 0 : 1;
    place->waits = true;
    place->waiting = connection;
    MHD_suspend_connection(connection);
    return MHD_YES;
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
    if (place == NULL || http_streams_are_full(http->streams, connection)) {
        return refuse(connection, &full);
    }
    if (route->open != NULL) {
        file = route->open(self, url + strlen(route->path), &size, name);
        if (file == HTTP_OPEN_LATER) {
            return wait(http, connection, place);
        }
        http_wait_no_more(http, place);
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

enum MHD_Result http_on_request(void *self, struct MHD_Connection *connection, const char *url,
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
    if (route->find != NULL) {
        return find(http, connection, route, url);
    }
    const struct made *made = make(http, route);
    return made->response == NULL ? MHD_NO
                                  : MHD_queue_response(connection, made->code, made->response);
}
