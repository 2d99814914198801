/* http_request.h - the pages' server, shared by http.c (connections and their deadlines) and http_request.c (what a
 * request is answered). Nothing else includes it. */

#ifndef HTTP_HTTP_REQUEST_H
#define HTTP_HTTP_REQUEST_H

#include "http/http.h"
#include "http/http_bind.h"
#include "http/http_stream.h"

#include <microhttpd.h>

struct connection {
    int descriptor; /* -1: free */
    int64_t since_ms;
    bool cut;
    bool lasts;                     /* it is a stream's by now, which has deadlines of its own */
    struct MHD_Connection *waiting; /* suspended until the next turn; NULL: it is not */
    bool waits;                     /* for a file that is on its way */
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
    size_t waiting_count;
    bool ends; /* nobody waits any more */
};

/** libmicrohttpd's: the route of a request's path, before anything decodes it. */
void *http_on_path(void *self, const char *path, struct MHD_Connection *connection);

/** A connection waits for no file any more: it has it, or is closed. */
void http_wait_no_more(struct http *http, struct connection *place);

/** libmicrohttpd's: answers a request. Is called first when the headers are there, and answers then or suspends the connection,
 * and is called again for it; MHD_NO closes the connection. */
enum MHD_Result http_on_request(void *self, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **context);

#endif
