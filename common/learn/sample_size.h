/* sample_size.h - how many records a private answer needs, before any is looked at. Replace-one,
 * all n records in one place or summed, noise added once unless said otherwise. */

#ifndef LEARN_SAMPLE_SIZE_H
#define LEARN_SAMPLE_SIZE_H

#include "base/status.h"
#include "base/why.h"

struct sample_size {
    double records;      /* n, a whole number: enough for both */
    double for_noise;    /* what the noise asks for */
    double for_sampling; /* what drawing records at all asks for, private or not */
    double
        trust_factor; /* for_noise over the one for noise added once: 1, or more with local trust */
    const char *range; /* in which the numbers hold */
};

struct pac_request {
    double candidates; /* |C|, 1 .. 2^53 */
    double alpha;      /* excess error of the pick, true against the best candidate's; in (0, 1) */
    double beta;       /* probability of missing it; in (0, 1) */
    double epsilon;    /* > 0, finite */
};

/**
 * Plans a private pick from a finite class by its errors (exponential mechanism or
 * permute-and-flip): n = max(4 ln(2|C|/beta)/(epsilon alpha), 8 ln(4|C|/beta)/alpha^2).
 *
 * Fails with STATUS_INVALID: a field out of its range, or 2^53 records or more.
 * Source: Dwork and Roth, section 11.1; half of alpha and of beta for the noise (excess 2 (ln|C| +
 * ln 2/beta)/(epsilon n)), the other half for Hoeffding's inequality at alpha/4 on every candidate.
 */
MUST_USE enum status sample_size_pac(struct sample_size *size, const struct pac_request *request,
                                     struct why *why);

struct sq_request {
    double queries;   /* J, 1 .. 2^53, all asked at once (not adaptive) */
    double tolerance; /* tau: no answer is further off; in (0, 1) */
    double beta;      /* probability that one is; in (0, 1) */
    double epsilon;   /* > 0, finite: of all J together */
    double
        agents; /* local trust: how many add noise of their own, 1 .. 2^53; 0: noise added once */
};

/**
 * Plans J statistical queries of range [0,1], answered with discrete Laplace noise of L1
 * sensitivity J: n = max(2 J z/(epsilon tau), 2 ln(4J/beta)/tau^2). Noise added once: z =
 * ln(2J/beta). By N agents: z = min over 0 < x < 1 of (ln(4J/beta) - N ln(1 - x^2))/x, about
 * sqrt(N) times as much (Chernoff's bound on a sum of N Laplace variables, whose generating
 * function is above the discrete ones').
 *
 * Fails with STATUS_INVALID: a field out of its range, or 2^53 records or more.
 * Source: Dwork and Roth, section 11.1; halves as above. A grid adds at most one of its steps to
 * tau.
 */
MUST_USE enum status sample_size_sq(struct sample_size *size, const struct sq_request *request,
                                    struct why *why);

#endif
