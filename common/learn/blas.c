#include "learn/blas.h"

#include <stdbool.h>
#include <sys/mman.h>

/* OpenBLAS's own calls, in all its builds; no header declares them. Another library of the same interface has none, and
 * needs none. */
void *blas_memory_alloc(int position) __attribute__((weak));
void blas_memory_free(void *buffer) __attribute__((weak));

enum { BUFFERS_MAX = 64 };

size_t blas_threads(uint64_t memory_bytes_max, size_t wanted)
{
    const uint64_t room = memory_bytes_max / 2 / BLAS_BUFFER_BYTES;
    if (memory_bytes_max == 0) {
        return 0;
    }
    if (room >= wanted) {
        return wanted > 0 ? wanted : 1;
    }
    return room > 0 ? (size_t)room : 1;
}

/* Whether the address space has room for one: the library would try for ever. */
static bool has_room(void)
{
    void *room = mmap(NULL, BLAS_BUFFER_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room != MAP_FAILED && munmap(room, BLAS_BUFFER_BYTES) == 0;
}

void blas_reserve(size_t count)
{
    void *buffer[BUFFERS_MAX];
    size_t taken = 0;
    if (blas_memory_alloc == NULL || blas_memory_free == NULL) {
        return;
    }
    while (taken < count && taken < BUFFERS_MAX && has_room()) {
        buffer[taken++] = blas_memory_alloc(0);
    }
    while (taken > 0) {
        blas_memory_free(buffer[--taken]);
    }
}
