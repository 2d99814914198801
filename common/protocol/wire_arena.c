#include "protocol/wire_arena.h"

#include "base/status.h"

#include <stdalign.h>

static void *arena_alloc(void *self, size_t size)
{
    struct wire_arena *arena = self;
    size_t unit = alignof(max_align_t);
    size_t left = arena->size - arena->used;
    if (size > left || left - size < unit) {
        return NULL;
    }
    void *out = arena->room + arena->used;
    arena->used += (size + unit - 1) / unit * unit;
    return out;
}

static void arena_release(UNUSED void *self, UNUSED void *pointer)
{
}

ProtobufCAllocator wire_arena_allocator(struct wire_arena *arena)
{
    return (ProtobufCAllocator){
        .alloc = arena_alloc, .free = arena_release, .allocator_data = arena};
}
