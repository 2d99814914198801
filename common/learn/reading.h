/* reading.h - how long the reading of a table takes at most, found out on made-up lines. A site joins a
 * job that long after it began to read: when does not tell what its lines hold. */

#ifndef LEARN_READING_H
#define LEARN_READING_H

#include "learn/schema.h"
#include "learn/speed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is public of a table. */
struct reading {
    uint64_t row_count; /* as dataset_options */
    size_t line_bytes;  /* as dataset_options, at least 1 */
    char separator;     /* not 0 */
    bool packed;        /* gzip unpacks it: once to check it, and once to read it */
};

/* Bytes a second that a disk gives and that gzip unpacks, at least. */
#define READING_BYTES_PER_S 1e8

/* The work is given this many times the processor's time that made-up lines took: the machine has other work, too. */
enum { READING_FACTOR = 4 };

/**
 * Returns how many milliseconds dataset_read takes at most for such a table, at least 1. Some made-up lines of
 * line_bytes are read under the schema: numbers that are slow to convert, then as many fields or as many quotes
 * as the line has room for. The time of this trial is included, as the reading begins after it.
 *
 * Returns UINT64_MAX where there is no memory to try it. Cost: some 30 ms.
 * Privacy: looks at no record.
 */
uint64_t reading_longest_ms(const struct schema *schema, const struct reading *reading,
                            speed_clock *now_ns);

#endif
