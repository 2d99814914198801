#include "io/tcp_watch.h"

#include "base/bytes.h"

#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

bool tcp_peer_of(struct tcp_peer *out, int descriptor)
{
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;

    memset(out, 0, sizeof *out);
    (void)snprintf(out->host, sizeof out->host, "?");
    if (getpeername(descriptor, (struct sockaddr *)&name, &size) != 0 || size > sizeof out->name) {
        return false;
    }
    memcpy(out->name, &name, size);
    out->name_size = size;
    char host[sizeof out->host];
    if (getnameinfo((const struct sockaddr *)&name, size, host, sizeof host, NULL, 0,
                    NI_NUMERICHOST) == 0) {
        /* On a socket for both families an IPv4 peer looks like ::ffff:192.0.2.1. */
        const char *plain = strncmp(host, "::ffff:", 7) == 0 ? host + 7 : host;
        (void)snprintf(out->host, sizeof out->host, "%s", plain);
    }
    return true;
}

static bool is_still(int descriptor, const struct tcp_peer *peer)
{
    struct tcp_peer now;
    return tcp_peer_of(&now, descriptor) && now.name_size == peer->name_size &&
           memcmp(now.name, peer->name, peer->name_size) == 0;
}

void tcp_cut(int descriptor, const struct tcp_peer *peer)
{
    if (is_still(descriptor, peer)) {
        (void)shutdown(descriptor, SHUT_RDWR);
    }
}

void tcp_give_up(int descriptor, const struct tcp_peer *peer)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (is_still(descriptor, peer)) {
        (void)setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
}

uint64_t tcp_network_of(const struct tcp_peer *peer)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    struct sockaddr_in6 six;
    struct sockaddr_in four;
    uint8_t byte[8] = {0, 0, 0xff, 0xff};

    memcpy(&six, peer->name, sizeof six);
    memcpy(&four, peer->name, sizeof four);
    if (four.sin_family == AF_INET) {
        memcpy(byte + 4, &four.sin_addr, 4);
    } else if (memcmp(six.sin6_addr.s6_addr, mapped, sizeof mapped) == 0) {
        memcpy(byte + 4, six.sin6_addr.s6_addr + sizeof mapped, 4);
    } else {
        memcpy(byte, six.sin6_addr.s6_addr, sizeof byte);
    }
    return load_u64(byte);
}

/* Asks the kernel; false where it does not tell this member. */
#define TELLS(info, descriptor, member)                                                            \
    (look(&(info), (descriptor)) >= offsetof(struct tcp_info, member) + sizeof(info).member)

/* Returns how many bytes of it the kernel has written. */
static size_t look(struct tcp_info *info, int descriptor)
{
    socklen_t size = sizeof *info;
    memset(info, 0, sizeof *info);
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &size) == 0 ? size : 0;
}

bool tcp_bytes_received(uint64_t *bytes, int descriptor)
{
    uint32_t idle_ms = 0;
    return tcp_progress(bytes, &idle_ms, descriptor);
}

bool tcp_progress(uint64_t *bytes, uint32_t *idle_ms, int descriptor)
{
    struct tcp_info info;
    if (!TELLS(info, descriptor, tcpi_bytes_received)) {
        return false;
    }
    *bytes = info.tcpi_bytes_received;
    *idle_ms = info.tcpi_last_data_recv;
    return true;
}

bool tcp_bytes_acknowledged(uint64_t *bytes, int descriptor)
{
    struct tcp_info info;
    if (!TELLS(info, descriptor, tcpi_bytes_acked)) {
        return false;
    }
    *bytes = info.tcpi_bytes_acked;
    return true;
}

bool tcp_window_is_closed(int descriptor)
{
    enum { CLOSED_BYTES = 1024 }; /* less than a packet is not offered */
    struct tcp_info info;
    return TELLS(info, descriptor, tcpi_snd_wnd) && info.tcpi_snd_wnd < CLOSED_BYTES;
}
