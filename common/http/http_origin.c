#include "http/http_origin.h"

#include <netinet/in.h>
#include <string.h>

enum { MAPPED_BYTES = 12, NETWORK_BYTES = 8 };

static const uint8_t mapped[MAPPED_BYTES] = {[10] = 0xff, [11] = 0xff}; /* ::ffff:0:0/96 */

struct http_origin http_origin_of(const struct sockaddr *address)
{
    struct http_origin origin = {{0}};
    if (address != NULL && address->sa_family == AF_INET) {
        struct sockaddr_in ip;
        memcpy(&ip, address, sizeof ip);
        memcpy(origin.byte, mapped, MAPPED_BYTES);
        memcpy(origin.byte + MAPPED_BYTES, &ip.sin_addr, sizeof ip.sin_addr);
    } else if (address != NULL && address->sa_family == AF_INET6) {
        struct sockaddr_in6 ip;
        memcpy(&ip, address, sizeof ip);
        const bool is_mapped = memcmp(&ip.sin6_addr, mapped, MAPPED_BYTES) == 0;
        memcpy(origin.byte, &ip.sin6_addr, is_mapped ? sizeof origin.byte : NETWORK_BYTES);
    }
    return origin;
}

bool http_origin_equal(const struct http_origin *a, const struct http_origin *b)
{
    return memcmp(a->byte, b->byte, sizeof a->byte) == 0;
}
