/* bisection.h - a quantile by halving its public range, from released sums alone. Each round asks at
 * one threshold; where that is follows from the releases before it and from public numbers, so the
 * agents and the coordinator come to the same one by themselves. */

#ifndef QUERY_BISECTION_H
#define QUERY_BISECTION_H

#include <stdint.h>

struct bisection {
    double low; /* the half that is left */
    double high;
    double
        bar_low; /* what the releases show beyond the noise's bar: the quantile lies above bar_low */
    double bar_high; /* and at most here */
    uint32_t done;   /* rounds so far */
};

/** Starts with the public range, low < high. */
void bisection_init(struct bisection *bisection, double low, double high);

/** Returns where the next round asks: the middle of what is left. */
double bisection_threshold(const struct bisection *bisection);

/**
 * Takes a released sum of (1 if value <= threshold, else 0) - share over the records: at least 0
 * exactly when the quantile is at most the threshold, but for its noise.
 *
 * sum     in  unit: as the bar's
 * bar     in  >= 0: P(noise > bar) and P(noise < -bar) are each at most beta/rounds
 *
 * Ensures that the records' quantile lies in (bar_low, bar_high], or in the public range's end that
 * it still is, with probability at least 1 - beta: at each threshold only one of the two claims can
 * be wrong, with probability at most beta/rounds given all that came before, and there are `rounds`
 * of them. The middle that is answered lies between the two.
 * Source: the union bound; the noise of a round is independent of its threshold.
 */
void bisection_observe(struct bisection *bisection, int64_t sum, double bar);

#endif
