/* guard.h - which requests are answered. Whoever asks is on this machine, or says a token, but a browser also asks on behalf
 * of pages from elsewhere: these must learn nothing and change nothing. And where requests come from, among which connections are shared out. */

#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* What a request says, as far as it is looked at. Cookies are not: a browser sends those of every other program on this
 * machine. */
struct http_asked {
    const char *method;
    const char *host; /* the last one; NULL: none */
    size_t host_count;
    const char *site; /* Sec-Fetch-Site, the last one; NULL: none */
    const char *
        origin; /* Origin, the last one, as other pages' requests have and every POST; NULL: none */
    size_t origin_count;
    const char *authorization; /* the last one; NULL: none */
    size_t authorization_count;
    bool body;  /* it brings one */
    bool known; /* the path is one of the routes, byte for byte */
    bool act;   /* which changes something */

    /* The port's, not the request's. */
    bool secure;       /* it speaks TLS */
    const char *names; /* that Host may say, with a blank between; NULL: those of the loopback */
    const char *token; /* that has to be said; NULL: none */
};

struct http_verdict {
    unsigned code;        /* 200: it is answered */
    const char *sentence; /* otherwise the answer, with a line's end */
};

/**
 * Judges a request. Nothing but its headers and the known paths decides.
 *
 * A token is said as Authorization: Bearer TOKEN, or Basic with any account's name and the token as its password; it is compared
 * in a time that says nothing of it. What is looked at is asked for by GET or HEAD without an Origin. What changes something is asked for by POST, and its
 * Origin is the Host: it comes from a page that this very port has served. Whether a person may change it is not judged here.
 */
struct http_verdict http_judge(const struct http_asked *asked);

/* Where a connection comes from, as far as what it may take is shared out by that. */

/* An IPv4 address, or the network of an IPv6 address: its first 64 bits, for a machine may choose the others as it likes. */
struct http_origin {
    uint8_t byte[16];
};

/** Returns where an address belongs; NULL, and what is no address of the internet, belong together. */
struct http_origin http_origin_of(const struct sockaddr *address);

bool http_origin_equal(const struct http_origin *a, const struct http_origin *b);

#endif
