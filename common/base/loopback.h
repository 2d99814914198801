/* loopback.h - addresses that only programs on this machine can reach, as text. */

#ifndef BASE_LOOPBACK_H
#define BASE_LOOPBACK_H

#include <stdbool.h>
#include <stdint.h>

enum loopback_verdict {
    LOOPBACK_GOOD,
    LOOPBACK_MALFORMED, /* no HOST:PORT */
    LOOPBACK_ELSEWHERE  /* not 127.0.0.0/8 and not [::1] in digits: others may reach it */
};

struct loopback {
    bool six;        /* [::1] */
    uint8_t four[4]; /* 127.x.y.z */
    uint16_t port;   /* 0: any free one */
};

/** Reads "127.0.0.1:7390" or "[::1]:7390". A name, as localhost is one, is ELSEWHERE: what it means is decided outside of this
 * program. */
enum loopback_verdict loopback_parse(struct loopback *out, const char *text);

/** Returns whether the Host header of a request names this machine's loopback: 127.x.y.z, [::1] or localhost, with
 * any port or none. The port is that of a tunnel's other end. */
bool loopback_is_host(const char *host);

#endif
