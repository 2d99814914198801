#include "base/loopback.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

enum { PORT_MAX = 65535, PORT_DIGITS_MAX = 5 };

/* Reads up to three digits of an octet; returns what is after them, NULL if there are none. "01" is refused: some programs
 * take it for octal. */
static const char *read_octet(uint8_t *out, const char *text)
{
    unsigned value = 0;
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 3 || (digits > 1 && text[0] == '0')) {
        return NULL;
    }
    for (size_t i = 0; i < digits; i++) {
        value = 10 * value + (unsigned)(text[i] - '0');
    }
    *out = (uint8_t)value;
    return value <= UINT8_MAX ? text + digits : NULL;
}

/* Reads 127.x.y.z; returns the rest of the text, or NULL. */
static const char *read_four(uint8_t four[4], const char *text)
{
    for (size_t i = 0; i < 4; i++) {
        if (i > 0 && *text++ != '.') {
            return NULL;
        }
        text = read_octet(&four[i], text);
        if (text == NULL) {
            return NULL;
        }
    }
    return four[0] == 127 ? text : NULL;
}

static const char *skip_prefix(const char *text, const char *prefix)
{
    const size_t size = strlen(prefix);
    return strncasecmp(text, prefix, size) == 0 ? text + size : NULL;
}

/* Reads ":7390" to the text's end. */
static bool read_port(uint16_t *port, const char *text)
{
    unsigned long value = 0;
    if (*text++ != ':') {
        return false;
    }
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > PORT_DIGITS_MAX || text[digits] != '\0') {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        value = 10 * value + (unsigned long)(text[i] - '0');
    }
    *port = (uint16_t)value;
    return value <= PORT_MAX;
}

enum loopback_verdict loopback_parse(struct loopback *out, const char *text)
{
    *out = (struct loopback){.six = false};
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || strpbrk(text, " /?#@") != NULL ||
        !read_port(&out->port, colon)) {
        return LOOPBACK_MALFORMED;
    }
    const char *behind = read_four(out->four, text);
    if (behind == colon) {
        return LOOPBACK_GOOD;
    }
    out->six = skip_prefix(text, "[::1]") == colon;
    return out->six ? LOOPBACK_GOOD : LOOPBACK_ELSEWHERE;
}

bool loopback_is_host(const char *host)
{
    uint8_t four[4];
    uint16_t port;
    const char *behind = read_four(four, host);
    if (behind == NULL) {
        behind = skip_prefix(host, "[::1]");
    }
    if (behind == NULL) {
        behind = skip_prefix(host, "localhost");
    }
    return behind != NULL && (*behind == '\0' || read_port(&port, behind));
}
