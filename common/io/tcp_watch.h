/* tcp_watch.h - looks at TCP connections that another library owns: whose they are, how many bytes
 * have come, and how to end one without closing its descriptor under the owner. */

#ifndef IO_TCP_WATCH_H
#define IO_TCP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct tcp_peer {
    char host[48];    /* numeric; "?" when unknown */
    uint8_t name[32]; /* the socket address, to recognise the connection by */
    unsigned name_size;
};

/** Asks who is at the other end; returns false when nobody is (any more). */
bool tcp_peer_of(struct tcp_peer *out, int descriptor);

/** Ends a connection if it is still the one with this peer: the descriptor's number may have been
 * used again. Its owner sees the end of the stream. */
void tcp_cut(int descriptor, const struct tcp_peer *peer);

/** What has been sent, and is not acknowledged when a connection is cut, is thrown away. Otherwise the kernel keeps it for
 * minutes. */
void tcp_give_up(int descriptor, const struct tcp_peer *peer);

/** Returns a number for the network of a peer, the same for peers who probably are one: an IPv4 address, or the first
 * half of an IPv6 address, which one customer may have whole. */
uint64_t tcp_network_of(const struct tcp_peer *peer);

/** Tells how many bytes have come and how long ago the last of them; false when the kernel cannot tell. */
bool tcp_progress(uint64_t *bytes, uint32_t *idle_ms, int descriptor);

/** Tells how many bytes the other end has acknowledged; returns false when the kernel cannot tell. */
bool tcp_bytes_acknowledged(uint64_t *bytes, int descriptor);

/** Returns whether the other end takes nothing at the moment: its machine has no room, as its program does not read. false also
 * where the kernel cannot tell. */
bool tcp_window_is_closed(int descriptor);

/** Returns how many bytes the kernel has received on it; false when it cannot tell. */
bool tcp_bytes_received(uint64_t *bytes, int descriptor);

#endif
