/* http.h - a few fixed pages for programs and people on this machine, or with TLS and a token on others, served on the
 * program's one thread. No path, cookie or query decides what is shown but the exact paths of the routes, and what a route of
 * files opens, or one of names finds. What changes something is a route of its own kind, which says by which headers; a body is
 * never read. */

#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http;

enum {
    HTTP_ROUTES_MAX = 14,
    HTTP_STREAMS_MAX =
        16, /* listeners and files on their way, of all connections; shared between their addresses */
    HTTP_STALLED_MS = 5000,        /* of a stream: a client that does not read for this time is
                                    * cut */
    HTTP_NEWS_BYTES_MAX = 1 << 21, /* of one event; a longer one is not told */
    HTTP_CONNECTIONS_MAX = 64,     /* others wait in the system's queue */
    HTTP_REQUEST_MS = 5000, /* from a connection's beginning to its end, whatever happens on it */
    HTTP_CROWDED_MS = 400,  /* the same while all connections are taken */
    HTTP_WAITS_MS = 60000,  /* of a request whose file is on its way */
    HTTP_WAITING_MAX = 8    /* such requests */
};

enum { HTTP_NAME_BYTES = 64, HTTP_OPEN_LATER = -2 };
enum { HTTP_GIVEN_MAX = 6 }; /* headers that a request to act can give */

struct http_route {
    const char *path;  /* matched byte for byte; "/metrics" */
    const char *type;  /* of the content; "text/plain; charset=utf-8" */
    struct slice text; /* kept; what is shown; empty: ask make */
    bool anyone;       /* with `secure`: also a client that does not say the token */

    /** Returns what is shown now, malloc'd, or NULL without memory. code (in 200, out): of HTTP. */
    char *(*make)(void *self, unsigned *code);

    /** Not NULL: the route changes something, for a request that http_judge lets pass (guard.h). value: of the headers with
     * the names in given, in its order; NULL where one is not there; given twice, the request is refused. Returns the
     * answer as make does. */
    char *(*act)(void *self, const char *const value[static HTTP_GIVEN_MAX], unsigned *code);
    const char *given[HTTP_GIVEN_MAX];

    /** Not NULL: the route is a stream of events (text/event-stream), and lasts. Returns what is told now, malloc'd, or NULL
     * without memory: all of it, as a client that was behind hears the latest alone. */
    char *(*tell)(void *self);
    /** Of what tell would tell: while it stays the same, tell is called less often. */
    uint64_t (*version)(void *self);

    /** Not NULL: path ends with '/', and what stands behind it names a file, which is downloaded. Returns its descriptor, which
     * the caller closes, or -1 where there is none of that very name. name: out, by what the browser keeps it. HTTP_OPEN_LATER:
     * it is on its way; the request waits, at most HTTP_WAITS_MS, and this is called again at each turn of the port. */
    int (*open)(void *self, const char *behind, uint64_t *size, char name[static HTTP_NAME_BYTES]);

    /** Not NULL: path ends with '/', and what stands behind it names what is shown. Returns it, malloc'd, or NULL where there
     * is none of that very name, or without memory. */
    char *(*find)(void *self, const char *behind);

    void *self; /* kept; of all these; NULL: that of the options */
};

/* What a port that others can reach needs. The texts are kept. */
struct http_secure {
    const char *certificate; /* PEM, followed by the certificates of its issuers */
    const char *key;         /* PEM, without a passphrase */
    const char *token;       /* a client that says it may look; below HTTP_TOKEN_BYTES */
    const char *
        names; /* that Host may say, with a blank between: "coordinator.example"; below 256 bytes */
};

enum { HTTP_TOKEN_BYTES = 256 };

struct http_options {
    const char *
        listen; /* "127.0.0.1:7390", "[::1]:7390"; port 0: any free one; with `secure` any address in digits */
    const struct http_secure *secure; /* NULL: in the clear, and for this machine alone */
    const struct http_route *route;   /* (route_count) kept */
    size_t route_count;
    void *self; /* kept; make's where a route has none */
    uint32_t
        period_ms; /* the program looks at requests at most once in this time, and shows a route's page for as
                    * long */

    /* true: requests are looked at when a whole multiple of period_ms has passed on the monotonic clock, and never because one
     * came: when an answer comes says nothing of what the program did meanwhile. */
    bool on_grid;
};

/** Begins to listen. Fails with STATUS_INVALID (no loopback address, or a certificate and key that TLS cannot be spoken with),
 * STATUS_BUSY (another program listens there), STATUS_IO, STATUS_NO_MEMORY. */
MUST_USE enum status http_open(struct http **out, const struct http_options *options,
                               struct why *why);

/** Goes on by another certificate, key and token, at the same address; every connection ends. Fails as http_open does, and
 * goes on by those before. */
MUST_USE enum status http_renew(struct http *http, const struct http_secure *secure,
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
