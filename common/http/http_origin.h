/* http_origin.h - where a connection comes from, as far as what it may take is shared out by that. */

#ifndef HTTP_HTTP_ORIGIN_H
#define HTTP_HTTP_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* An IPv4 address, or the network of an IPv6 address: its first 64 bits, for a machine may choose the others as it likes. */
struct http_origin {
    uint8_t byte[16];
};

/** Returns where an address belongs; NULL, and what is no address of the internet, belong together. */
struct http_origin http_origin_of(const struct sockaddr *address);

bool http_origin_equal(const struct http_origin *a, const struct http_origin *b);

#endif
