/* process.h - what a program with secrets asks of the operating system when it starts. */

#ifndef IO_PROCESS_H
#define IO_PROCESS_H

#include "base/status.h"
#include "base/why.h"

#include <stdint.h>

/** Judges a limit of memory by what the program has taken already, and sets none. Fails as process_harden does. */
MUST_USE enum status process_judge_memory(uint64_t memory_mb_max, struct why *why);

/**
 * No core dumps, no other process looks into the memory, files made are the owner's alone, a dead
 * peer's signal is ignored, as many descriptors as are allowed (up to 4096), and no more memory
 * than stated.
 *
 * memory_mb_max  in  MiB of address space; 0: no limit
 *
 * Fails with STATUS_IO, and with STATUS_INVALID where the program takes nearly as much already; why
 * says it. The program must then not go on.
 */
MUST_USE enum status process_harden(uint64_t memory_mb_max, struct why *why);

/** From now on a block of 1 MiB or more goes back to the system when it is freed: for a program that holds a few large vectors and
 * nothing else of their size. */
void process_return_memory(void);

#endif
