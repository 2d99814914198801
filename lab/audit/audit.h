/* audit.h - how much a mechanism surely loses, from its answers alone: a lower bound on epsilon
 * from samples on two neighbouring inputs. It cannot show that a mechanism is private; it shows
 * when one is not what it claims to be. */

#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H

#include "base/random.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is audited. Side 0 and 1 are the neighbours x and x'. */
struct audit_source {
    /** Fills score (count) with one integer per independent run on this side: a function of what
     * the run gives out, the same on both sides. */
    enum status (*draw)(void *self, const struct random *random, unsigned side, int64_t *score,
                        size_t count);
    void *self;
};

struct audit_options {
    uint64_t samples; /* runs on each side, AUDIT_SAMPLES_MIN .. AUDIT_SAMPLES_MAX */
    double delta;     /* of the claim, 0 <= delta < 1 */
    double miss;      /* > 0: how often, at most, the bound may be above the truth */
    /** Told now and then how far it is; may be NULL. */
    void (*progress)(void *self, uint64_t done, uint64_t all);
    void *progress_self;
};

#define AUDIT_SAMPLES_MIN UINT64_C(1000)
#define AUDIT_SAMPLES_MAX (UINT64_C(1) << 27)
#define AUDIT_MISS        1e-6

enum audit_kind {
    AUDIT_AT_LEAST, /* score >= threshold */
    AUDIT_AT_MOST,  /* score <= threshold */
    AUDIT_AMONG     /* score is one of a set: those that are likelier on `side` */
};

enum { AUDIT_KINDS = AUDIT_AMONG + 1, AUDIT_EVENTS = 2 * AUDIT_KINDS, AUDIT_BINS = 24 };

/* Something that a run can give out, and how often it did in the second part of the samples. */
struct audit_event {
    enum audit_kind kind;
    unsigned side;     /* where it should be the likelier */
    bool used;         /* false: there was no such event worth looking at */
    int64_t threshold; /* AUDIT_AMONG: the number of scores in the set */
    uint64_t hits[2];
    double epsilon; /* that this event proves, >= 0 */
};

/* Both sides' scores in bins of equal width; what lies beyond is in the first and the last. */
struct audit_histogram {
    int64_t first;
    uint64_t width;
    uint64_t count[2][AUDIT_BINS];
};

struct audit_result {
    double epsilon;  /* the largest of the events': not above the truth, with confidence 1 - miss */
    uint64_t trials; /* on each side, in the second part */
    struct audit_event event[AUDIT_EVENTS];
    size_t best;
    struct audit_histogram histogram; /* of the second part */
};

/**
 * Audits a source. The first part of the samples chooses, for each side and kind, the event that
 * promises most; the rest judges them all: epsilon >= ln((low(hits) - delta) / high(other hits)),
 * both bounds by Clopper and Pearson at miss / (2 * AUDIT_EVENTS), which union-bounds everything.
 *
 * result  out
 *
 * Fails with what the source's draw fails with, and STATUS_NO_MEMORY. CHECKs the options.
 * Ensures P(result->epsilon > the least epsilon for which the pair is (epsilon, delta)-close) <=
 * miss, whatever the source, as long as its runs are independent.
 * Cost: the source's, some 10 ns a sample, 5 MB.
 * Source: Jagielski, Ullman, Oprea, NeurIPS 2020 (lower bounds by Clopper-Pearson); Ding, Wang,
 * Wang, Zhang, Kifer, CCS 2018 (events chosen on other samples than those that judge).
 */
MUST_USE enum status audit_run(struct audit_result *result, const struct audit_source *source,
                               const struct random *random, const struct audit_options *options);

#endif
