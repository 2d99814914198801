/* welch.h - Welch's t between two classes of measurements, taken one at a time (Welford's sums). */

#ifndef SUPPORT_WELCH_H
#define SUPPORT_WELCH_H

#include <math.h>
#include <stdint.h>

struct welch_class {
    uint64_t count;
    double mean;
    double squares; /* sum of squared distances from the mean */
};

static inline void welch_add(struct welch_class *class, double value)
{
    double from = value - class->mean;
    class->count++;
    class->mean += from / (double)class->count;
    class->squares += from * (value - class->mean);
}

/** Returns t; beyond 4.5 the two means are taken as different (false alarm about 7e-6 a look). Both
 * classes hold at least two measurements. */
static inline double welch_t(const struct welch_class *a, const struct welch_class *b)
{
    double variance = a->squares / (double)(a->count - 1) / (double)a->count +
                      b->squares / (double)(b->count - 1) / (double)b->count;
    return variance > 0 ? (a->mean - b->mean) / sqrt(variance) : 0;
}

#endif
