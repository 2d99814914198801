/* http.h - a few fixed pages for programs and people on this machine, served on the program's one thread. It reads what its
 * routes make and changes nothing. No path, cookie or query decides what is shown but the exact paths of the routes. */

#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/bytes.h"
#include "base/log.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http;

enum {
    HTTP_ROUTES_MAX = 8,
    HTTP_CONNECTIONS_MAX = 64, /* others wait in the system's queue */
    HTTP_REQUEST_MS = 5000, /* from a connection's beginning to its end, whatever happens on it */
    HTTP_CROWDED_MS = 400   /* the same while all connections are taken */
};

struct http_route {
    const char *path;  /* matched byte for byte; "/metrics" */
    const char *type;  /* of the content; "text/plain; charset=utf-8" */
    struct slice text; /* kept; what is shown; empty: ask make */

    /** Returns what is shown now, malloc'd, or NULL without memory. code (in 200, out): of HTTP. */
    char *(*make)(void *self, unsigned *code);
};

struct http_options {
    const char *listen;             /* "127.0.0.1:7390", "[::1]:7390"; port 0: any free one */
    const struct http_route *route; /* (route_count) kept */
    size_t route_count;
    void *self; /* kept; make's */
    uint32_t
        period_ms; /* requests are looked at once in this time at most, and what a route made is shown so long */

    /* true: requests are looked at when a whole multiple of period_ms has passed on the monotonic clock, and never because one
     * came: when an answer comes says nothing of what the program did meanwhile. */
    bool on_grid;
};

/** Begins to listen. Fails with STATUS_INVALID (no loopback address), STATUS_BUSY (another program listens there), STATUS_IO,
 * STATUS_NO_MEMORY. */
MUST_USE enum status http_open(struct http **out, const struct http_options *options,
                               struct why *why);

/** Ends every connection at once. http_free(NULL) does nothing. */
void http_free(struct http *http);

/** Returns where it listens, with the port in the place of 0. */
const char *http_address(const struct http *http);

/** Returns the descriptor that is to be waited for now, readable when there is something to do; -1: none. */
int http_descriptor(const struct http *http, int64_t now_ms);

/** Returns when http_run is due although the descriptor is quiet; INT64_MAX: never. */
int64_t http_due_ms(const struct http *http, int64_t now_ms);

/** Looks at connections and requests, if it is time. Never blocks; one call does a bounded piece of work. */
void http_run(struct http *http, int64_t now_ms);

#endif
