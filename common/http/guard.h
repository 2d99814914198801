/* guard.h - which requests are answered. Whoever asks is on this machine, but a browser on this machine also asks on behalf
 * of pages from elsewhere: these must learn nothing. */

#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* What a request says, as far as it is looked at. Cookies are not: a browser sends those of every other program on this
 * machine. */
struct http_asked {
    const char *method;
    const char *host; /* the last one; NULL: none */
    size_t host_count;
    const char *site; /* Sec-Fetch-Site, the last one; NULL: none */
    bool origin;      /* it has an Origin header, as other pages' requests have */
    bool body;        /* it brings one */
    bool known;       /* the path is one of the routes, byte for byte */
};

struct http_verdict {
    unsigned code;        /* 200: it is answered */
    const char *sentence; /* otherwise the answer, with a line's end */
};

/** Judges a request. Nothing but its headers and the known paths decides. */
struct http_verdict http_judge(const struct http_asked *asked);

#endif
