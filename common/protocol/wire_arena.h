/* wire_arena.h - a parse may use one block of memory and no more: protobuf-c takes its NULL for the
 * end. Private to wire*.c. */

#ifndef PROTOCOL_WIRE_ARENA_H
#define PROTOCOL_WIRE_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

struct wire_arena {
    uint8_t *room; /* (size) aligned for any object; borrowed */
    size_t size;
    size_t used;
};

/** Returns an allocator that takes from the arena and gives nothing back. */
ProtobufCAllocator wire_arena_allocator(struct wire_arena *arena);

#endif
