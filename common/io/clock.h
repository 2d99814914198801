/* clock.h - the two clocks: one that only runs forward and decides, one that people read. */

#ifndef IO_CLOCK_H
#define IO_CLOCK_H

#include <stdint.h>

/** Returns milliseconds of the monotonic clock; decides timeouts and deadlines. */
int64_t clock_now_ms(void);

/** Returns Unix time in milliseconds; for what people read, and for a token's expiry. */
int64_t clock_wall_ms(void);

enum { CLOCK_TEXT_BYTES = 25 };

/** Writes a Unix time as "2026-11-20T12:49:53.123Z". */
void clock_text(char text[CLOCK_TEXT_BYTES], int64_t wall_ms);

#endif
