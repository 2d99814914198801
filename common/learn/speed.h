/* speed.h - how fast this machine computes, found out on made-up records. A site refuses by it what would
 * not fit into its public slot. */

#ifndef LEARN_SPEED_H
#define LEARN_SPEED_H

#include <stdint.h>

/** Returns the time that the calling thread has computed, in nanoseconds: what others take of a loaded machine
 * does not count. */
typedef int64_t speed_clock(void);

/** The processor's time of the calling thread. */
int64_t speed_thread_ns(void);

/**
 * Measures how many operations a second the solvers carry out, as erm_plan and job/work.h count them: of
 * several kinds of work the slowest, of several tries of each the fastest.
 *
 * Returns 0 where there is no memory for it. Cost some 10 ms.
 * Privacy: looks at no record.
 */
double speed_measure(speed_clock *now_ns);

#endif
