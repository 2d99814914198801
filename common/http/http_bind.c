#include "http/http_bind.h"

#include "base/loopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 256 };

static enum status complain(struct why *why, const char *listen_at, int problem)
{
    why_set(why, "http.listen: cannot listen on %s (%s)%s", listen_at, strerror(problem),
            problem == EADDRINUSE
                ? ": another program listens there; remedy: stop it, or choose another port"
            : problem == EACCES ? ": ports below 1024 need a privilege; remedy: a higher port"
                                : "");
    return problem == EADDRINUSE ? STATUS_BUSY : STATUS_IO;
}

/* Binds to exactly this address of the loopback. */
static enum status bind_socket(int *out, const struct loopback *address, const char *listen_at,
                               struct why *why)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(address->port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                               .sin6_port = htons(address->port),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const int yes = 1;

    memcpy(&four.sin_addr, address->four, sizeof address->four);
    const int descriptor =
        socket(address->six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) {
        return complain(why, listen_at, errno);
    }
    (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const int bound = address->six ? bind(descriptor, (const struct sockaddr *)&six, sizeof six)
                                   : bind(descriptor, (const struct sockaddr *)&four, sizeof four);
    if (bound != 0 || listen(descriptor, BACKLOG) != 0) {
        const int problem = errno;
        (void)close(descriptor);
        return complain(why, listen_at, problem);
    }
    *out = descriptor;
    return STATUS_OK;
}

static void write_address(char text[static HTTP_ADDRESS_BYTES], const struct loopback *address,
                          int descriptor)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } bound = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof bound;
    unsigned port = address->port;
    if (getsockname(descriptor, &bound.any, &size) == 0) {
        port = ntohs(address->six ? bound.six.sin6_port : bound.four.sin_port);
    }
    if (address->six) {
        (void)snprintf(text, HTTP_ADDRESS_BYTES, "[::1]:%u", port);
    } else {
        (void)snprintf(text, HTTP_ADDRESS_BYTES, "%u.%u.%u.%u:%u", address->four[0],
                       address->four[1], address->four[2], address->four[3], port);
    }
}

enum status http_bind(int *descriptor, char address[static HTTP_ADDRESS_BYTES], const char *wanted,
                      struct why *why)
{
    struct loopback parsed;
    if (loopback_parse(&parsed, wanted) != LOOPBACK_GOOD) {
        return why_refuse(
            why, "http.listen: %s is no loopback address: write it like 127.0.0.1:7390", wanted);
    }
    enum status status = bind_socket(descriptor, &parsed, wanted, why);
    if (status == STATUS_OK) {
        write_address(address, &parsed, *descriptor);
    }
    return status;
}
