/* blas.h - room for the numerical library, taken before a process limits its own memory.
 *
 * OpenBLAS maps a buffer for each thread that computes at the same time, and keeps it for the next one. Where it finds no
 * address space it tries again for ever. So a process with a limit takes the buffers first, and lets no more threads
 * compute at once than there are buffers. */

#ifndef LEARN_BLAS_H
#define LEARN_BLAS_H

#include <stddef.h>
#include <stdint.h>

enum { BLAS_BUFFER_BYTES = (128 << 20) + (1 << 20) }; /* of address space, on Debian's builds */

/** Returns how many threads may compute at once under a limit: as many buffers as half of it holds, at least 1 and at most
 * wanted. No limit (0): 0, which means any number. */
size_t blas_threads(uint64_t memory_bytes_max, size_t wanted);

/** Takes the buffers of that many threads, before the limit is set. */
void blas_reserve(size_t count);

#endif
