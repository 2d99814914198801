/* bench_clock.h - clocks in nanoseconds, and the order of what they measured. */

#ifndef SUPPORT_BENCH_CLOCK_H
#define SUPPORT_BENCH_CLOCK_H

#include "base/check.h"

#include <time.h>

static inline double ns_of(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/** Wall-clock time. */
static inline double now_ns(void)
{
    return ns_of(CLOCK_MONOTONIC);
}

/** The processor time of this process. */
static inline double busy_ns(void)
{
    return ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

/** For qsort. */
static inline int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return a < b ? -1 : a > b;
}

#endif
