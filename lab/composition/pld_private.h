/* pld_private.h - the parts of pld.h: the sum of many losses, its tail, and single runs. Not for
 * use outside this room. */

#ifndef COMPOSITION_PLD_PRIVATE_H
#define COMPOSITION_PLD_PRIVATE_H

#include "lab/composition/fft.h"
#include "lab/composition/pld.h"
#include "lab/composition/pld_run.h"

enum { PLD_OUTSIDE = 32, PLD_SHORT = 8 /* parts of a list that is worth more precision */ };

/* How fine: the grid may add this much to epsilon (relative to it), as far as the largest transform
 * allows. */
struct pld_precision {
    double tolerance;
    unsigned log2_size_max; /* <= 24 */
    /* What is asked for; low may come with high where it costs nothing. What is not: 0, or INFINITY
     * (delta: 1). */
    enum { PLD_BOTH_ENDS, PLD_HIGH, PLD_LOW } ends;
};

/* What is composed. */
struct pld_list {
    struct pld_part *parts; /* (count) */
    size_t count;
    bool sampled;  /* some part is, for neighbours that add or remove */
    bool extreme;  /* some part's losses are beyond what a grid can hold */
    bool certain;  /* the pairs really occur, so that low is a bound */
    double pure;   /* sum of epsilons; INFINITY when some part has none */
    double failed; /* sum of count ln(1 - own delta) */
};

/** Makes it of events, valid and covered: both CHECKed. The caller frees parts. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status pld_list_init(struct pld_list *task, const struct privacy_event *events,
                                   size_t count);

/* The distributions of all parts on grids of one step, tilted by e^(tilt loss). Losses are counted from the
 * sum of all offsets. */
struct pld_mix {
    const struct pld_part *parts; /* (count), kept */
    size_t count;
    struct pld_run *runs; /* (count) */
    double step;
    double offset; /* of the sum */
    double tilt;
    bool optimistic; /* each of runs is an optimistic distribution */
};

/* ln of the tilted mass and its moments: of the sum of all losses, without the offset. */
struct pld_moments {
    double log_mass;
    double mean;
    double variance;
    double added; /* the part of the variance that the grid added */
};

/* The tilted distribution of the sum of all losses, and what is wrong with it. */
struct pld_sum {
    double step;
    double offset; /* loss of index 0 */
    double tilt;
    double log_mass;   /* mass of loss S is mass e^(log_mass - tilt (S - offset)) */
    double log_error;  /* of that exponent */
    double first;      /* index of mass[0], whole */
    size_t count;      /* of masses */
    double *mass;      /* (count) */
    double cell_error; /* each mass is within this of the truth */
    double mass_error; /* all masses together, and those outside, within this */
    double infinite;   /* probability that a loss was cut off */
    double slip;       /* rounding of the losses */
    double drift;      /* how much the grid added to the sum: mean, variance, most at once */
    double variance;
    double reach;
};

MUST_USE enum status pld_mix_init(struct pld_mix *mix, const struct pld_part *parts, size_t count,
                                  struct composition_question question,
                                  struct pld_precision precision);

/** Puts optimistic distributions in place of all, on finer grids where the transform stays small. Fails with
 * STATUS_NO_MEMORY. */
MUST_USE enum status pld_mix_optimistic(struct pld_mix *mix, unsigned log2_size_max);
void pld_mix_free(struct pld_mix *mix);

/** ln of the tilted mass, and more when moments is not NULL. */
double pld_mix_moments(struct pld_moments *moments, const struct pld_mix *mix, double tilt);

/** How far the tilted sum reaches above and below its mean: beyond either lies less than
 * e^-PLD_OUTSIDE of its mass. */
void pld_mix_window(struct pld_moments *at, double *up, double *down, const struct pld_mix *mix);

/** Composes by Fourier transforms. Fails with STATUS_NO_MEMORY. The caller frees sum. */
MUST_USE enum status pld_sum_init(struct pld_sum *sum, const struct pld_mix *mix,
                                  unsigned log2_size_max);
void pld_sum_free(struct pld_sum *sum);

/** The least epsilon found whose delta is certainly at most e^log_delta (upper), INFINITY when
 * none; the largest whose delta is certainly at least that (lower), -INFINITY when none. */
double pld_sum_epsilon(const struct pld_sum *sum, double log_delta, bool upper);

/** ln of a delta certainly above (upper) or below that of the sum at this epsilon. */
double pld_sum_log_delta(const struct pld_sum *sum, double epsilon, bool upper);

/** By how much the grid can have raised the sum of the losses, but with this probability. */
double pld_sum_raised(const struct pld_sum *sum, double log_probability);

/** The bound of Chernoff's kind at the mix's tilt: on epsilon, or on ln delta. */
double pld_mix_epsilon(const struct pld_mix *mix, double tilt, double log_delta);
double pld_mix_log_delta(const struct pld_mix *mix, double tilt, double epsilon);

/** One run, by the formula of its curve. */
bool pld_single_covers(const struct pld_part *part);
struct interval pld_single_epsilon(const struct pld_part *part, double delta);
struct interval pld_single_delta(const struct pld_part *part, double epsilon);

/** Limits for searches: a few ms a question, for lists within half a second. */
struct pld_precision pld_precision_quick(const struct privacy_event *events, size_t count);

/** pld_epsilon and pld_delta with limits of one's own. */
MUST_USE enum status pld_epsilon_within(struct interval *out, const struct privacy_event *events,
                                        size_t count, double delta, struct pld_precision precision);
MUST_USE enum status pld_delta_within(struct interval *out, const struct privacy_event *events,
                                      size_t count, double epsilon, struct pld_precision precision);

#endif
