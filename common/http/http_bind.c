#include "http/http_bind.h"

#include "base/loopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 256, PORT_MAX = 65535 };

static enum status complain(struct why *why, const char *listen_at, int problem)
{
    why_set(why, "http.listen: cannot listen on %s (%s)%s", listen_at, strerror(problem),
            problem == EADDRINUSE
                ? ": another program listens there; remedy: stop it, or choose another port"
            : problem == EACCES ? ": ports below 1024 need a privilege; remedy: a higher port"
                                : "");
    return problem == EADDRINUSE ? STATUS_BUSY : STATUS_IO;
}

union place {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* Reads "0.0.0.0:8443" or "[::]:8443", in digits: what a name means is decided outside of this program. */
static bool parse_any(union place *out, const char *text)
{
    char host[HTTP_ADDRESS_BYTES];
    const char *colon = strrchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof host || colon == text) {
        return false;
    }
    const size_t digits = strspn(colon + 1, "0123456789");
    const long port = strtol(colon + 1, NULL, 10);
    if (digits == 0 || digits > 5 || colon[1 + digits] != '\0' || port > PORT_MAX) {
        return false;
    }
    const bool six = text[0] == '[' && colon[-1] == ']';
    (void)snprintf(host, sizeof host, "%.*s", (int)(colon - text) - (six ? 2 : 0),
                   text + (six ? 1 : 0));
    if (six) {
        out->six =
            (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
        return inet_pton(AF_INET6, host, &out->six.sin6_addr) == 1;
    }
    out->four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    return inet_pton(AF_INET, host, &out->four.sin_addr) == 1;
}

/* Binds to exactly this address. */
static enum status bind_socket(int *out, const union place *place, const char *listen_at,
                               struct why *why)
{
    const int yes = 1;
    const int descriptor =
        socket(place->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) {
        return complain(why, listen_at, errno);
    }
    (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const socklen_t size =
        place->any.sa_family == AF_INET6 ? sizeof place->six : sizeof place->four;
    if (bind(descriptor, &place->any, size) != 0 || listen(descriptor, BACKLOG) != 0) {
        const int problem = errno;
        (void)close(descriptor);
        return complain(why, listen_at, problem);
    }
    *out = descriptor;
    return STATUS_OK;
}

static void write_address(char text[static HTTP_ADDRESS_BYTES], const union place *place,
                          int descriptor)
{
    char host[INET6_ADDRSTRLEN] = "";
    union place bound = *place;
    socklen_t size = sizeof bound;
    (void)getsockname(descriptor, &bound.any, &size);
    if (place->any.sa_family == AF_INET6) {
        (void)inet_ntop(AF_INET6, &place->six.sin6_addr, host, sizeof host);
        (void)snprintf(text, HTTP_ADDRESS_BYTES, "[%s]:%u", host, ntohs(bound.six.sin6_port));
    } else {
        (void)inet_ntop(AF_INET, &place->four.sin_addr, host, sizeof host);
        (void)snprintf(text, HTTP_ADDRESS_BYTES, "%s:%u", host, ntohs(bound.four.sin_port));
    }
}

enum status http_bind(int *descriptor, char address[static HTTP_ADDRESS_BYTES], const char *wanted,
                      bool anywhere, struct why *why)
{
    struct loopback parsed;
    union place place = {.any.sa_family = AF_UNSPEC};
    if (!anywhere && loopback_parse(&parsed, wanted) != LOOPBACK_GOOD) {
        return why_refuse(
            why, "http.listen: %s is no loopback address: write it like 127.0.0.1:7390", wanted);
    }
    if (!parse_any(&place, wanted)) {
        return why_refuse(
            why, "http.listen: %s is no address in digits: write it like 0.0.0.0:8443", wanted);
    }
    enum status status = bind_socket(descriptor, &place, wanted, why);
    if (status == STATUS_OK) {
        write_address(address, &place, *descriptor);
    }
    return status;
}
