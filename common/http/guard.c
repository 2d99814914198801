#include "http/guard.h"

#include "base/loopback.h"
#include "http/http.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

static bool is(const char *text, const char *word)
{
    return text != NULL && strcmp(text, word) == 0;
}

/* The page that asks was served by this port, under the name that the request has. */
static bool is_own_page(const struct http_asked *asked)
{
    const char *scheme = asked->secure ? "https://" : "http://";
    return asked->origin_count == 1 && strncmp(asked->origin, scheme, strlen(scheme)) == 0 &&
           is(asked->origin + strlen(scheme), asked->host) &&
           (asked->site == NULL || is(asked->site, "same-origin"));
}

static bool is_person_or_own_page(const struct http_asked *asked)
{
    return asked->origin_count == 0 &&
           (asked->site == NULL || is(asked->site, "none") || is(asked->site, "same-origin"));
}

/* One of the names, with a port or without. */
static bool is_named(const char *host, const char *names)
{
    const size_t size = strcspn(host, ":");
    const char *port = host + size;
    if (size == 0 ||
        (*port == ':' && (port[1] == '\0' || strspn(port + 1, "0123456789") != strlen(port + 1)))) {
        return false;
    }
    for (const char *name = names; *name != '\0';) {
        const size_t length = strcspn(name, " ");
        if (length == size && strncasecmp(name, host, size) == 0) {
            return true;
        }
        name += length + strspn(name + length, " ");
    }
    return false;
}

static bool is_host(const struct http_asked *asked)
{
    return asked->host_count == 1 && (asked->names != NULL ? is_named(asked->host, asked->names)
                                                           : loopback_is_host(asked->host));
}

/* All bytes of both are looked at, whatever is said. */
static bool is_token(const char *token, const char *said, size_t size)
{
    uint8_t own[HTTP_TOKEN_BYTES] = {0};
    uint8_t other[HTTP_TOKEN_BYTES] = {0};
    volatile uint8_t differs = 0;
    if (size >= sizeof other) {
        return false;
    }
    memcpy(own, token, strlen(token));
    memcpy(other, said, size);
    for (size_t i = 0; i < sizeof own; i++) {
        differs = (uint8_t)(differs | (own[i] ^ other[i]));
    }
    return differs == 0;
}

/* Base64 into out; returns how many bytes, 0 for what is none or too long. */
static size_t decode(char out[static 2 * HTTP_TOKEN_BYTES], const char *text)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t used = 0;
    uint32_t bits = 0;
    unsigned count = 0;
    for (; *text != '\0' && *text != '='; text++) {
        const char *at = strchr(digit, *text);
        if (at == NULL || used == 2 * (size_t)HTTP_TOKEN_BYTES) {
            return 0;
        }
        bits = bits << 6 | (uint32_t)(at - digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[used++] = (char)(bits >> count & 0xff);
        }
    }
    return strspn(text, "=") == strlen(text) ? used : 0;
}

static bool says_token(const struct http_asked *asked)
{
    char pair[2 * HTTP_TOKEN_BYTES];
    const char *said = asked->authorization;
    if (asked->authorization_count != 1) {
        return false;
    }
    if (strncasecmp(said, "Bearer ", 7) == 0) {
        return is_token(asked->token, said + 7, strlen(said + 7));
    }
    const size_t size = strncasecmp(said, "Basic ", 6) == 0 ? decode(pair, said + 6) : 0;
    const char *colon = memchr(pair, ':', size);
    return colon != NULL && is_token(asked->token, colon + 1, size - (size_t)(colon + 1 - pair));
}

struct http_verdict http_judge(const struct http_asked *asked)
{
    const bool acts = asked->act && is(asked->method, "POST");
    /* A name that somebody else's name server resolves to 127.0.0.1 makes that page's origin ours (DNS rebinding). */
    if (!is_host(asked)) {
        return (struct http_verdict){
            421, asked->names != NULL
                     ? "Ask for a name that the setting http.names has: others are not answered.\n"
                     : "Ask for 127.0.0.1, localhost or [::1]: other names are not answered.\n"};
    }
    if (asked->token != NULL && !says_token(asked)) {
        return (struct http_verdict){401, "Give the token as the password, with any account.\n"};
    }
    if (acts ? !is_own_page(asked) : !is_person_or_own_page(asked)) {
        return (struct http_verdict){403,
                                     "Another page asks. Type the address into the browser.\n"};
    }
    if (!acts && (asked->act || (!is(asked->method, "GET") && !is(asked->method, "HEAD")))) {
        return (struct http_verdict){405, "This is not how it is asked for.\n"};
    }
    if (asked->body) {
        return (struct http_verdict){413, "A request has no body here.\n"};
    }
    if (!asked->known) {
        return (struct http_verdict){404, "There is no such page.\n"};
    }
    return (struct http_verdict){200, NULL};
}

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
