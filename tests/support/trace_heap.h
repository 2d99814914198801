/* trace_heap.h - in place of malloc, calloc and free, for programs linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=free: while it is on, memory lies at the same addresses in
 * every run. Included once. */

#ifndef SUPPORT_TRACE_HEAP_H
#define SUPPORT_TRACE_HEAP_H

#include "base/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { TRACE_HEAP_BYTES = 1 << 20, TRACE_HEAP_ALIGN = 64 };

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void __wrap_free(void *memory);

static struct {
    _Alignas(TRACE_HEAP_ALIGN) char byte[TRACE_HEAP_BYTES];
    size_t used;
    bool is_on;
} trace_heap;

/** Begins anew, at the same address. */
static inline void trace_heap_begin(void)
{
    trace_heap.used = 0;
    trace_heap.is_on = true;
}

static inline void trace_heap_end(void)
{
    trace_heap.is_on = false;
}

void *__wrap_malloc(size_t bytes)
{
    if (!trace_heap.is_on) {
        return __real_malloc(bytes);
    }
    char *memory = trace_heap.byte + trace_heap.used;
    const size_t whole = (bytes + TRACE_HEAP_ALIGN - 1) / TRACE_HEAP_ALIGN * TRACE_HEAP_ALIGN;
    CHECK(whole <= TRACE_HEAP_BYTES - trace_heap.used);
    trace_heap.used += whole;
    return memory;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    if (!trace_heap.is_on) {
        return __real_calloc(count, bytes);
    }
    void *memory = __wrap_malloc(count * bytes);
    return memset(memory, 0, count * bytes);
}

void __wrap_free(void *memory)
{
    const char *at = memory;
    if (at < trace_heap.byte || at >= trace_heap.byte + TRACE_HEAP_BYTES) {
        __real_free(memory);
    }
}

#endif
