/* query_run.h - what released sums say: the thresholds of the next round, and in the end every answer
 * with its error bars. Works on released sums and public numbers alone, so it costs no privacy and
 * runs wherever they are known. */

#ifndef QUERY_QUERY_RUN_H
#define QUERY_QUERY_RUN_H

#include "base/status.h"
#include "query/bar.h"
#include "query/query_set.h"

#include <stddef.h>
#include <stdint.h>

enum { QUERY_NAME_BYTES = QUERY_TEXT_BYTES + 192, QUERY_NOTE_BYTES = 512 };

struct query_run {
    const struct query_set *set;
    double *threshold; /* (set->count) where the next round asks, unit: the cell's; owned */
    struct bisection *bisection; /* (set->count) of the quantiles; owned */
    int64_t *sum;                /* (query_set_cells of round 0) as released; owned */
    struct query_noise noise;    /* of round 0 */
    uint64_t record_count;       /* of round 0, over all agents */
    uint32_t round;              /* the next one */
};

/* One number for a report. All are clamped to what is possible. */
struct query_answer {
    char name[QUERY_NAME_BYTES]; /* the question's text, and the cell of a histogram */
    char unit
        [SCHEMA_NAME_BYTES]; /* "records", or the column's name: the file's unit of that column */
    char note[QUERY_NOTE_BYTES]; /* of a mean: to what values are clamped, and what stands for a
                                    missing one; what query_has_note says; else empty */
    double records; /* how many were asked: agents times batch, public; NAN where it is not known */
    double value;
    double error; /* the standard error that the noise makes, at most; NAN for a quantile, which has
                     the bar alone */
    double low;   /* with at least 95 % the exact answer, of the records that took part, is in */
    double
        high; /* low .. high: the noise alone. Each bar by itself; together they hold less often */
    double sampling; /* the standard error of the same answer as one about the population that the
                        records were drawn from, at most: an estimate, and apart; NAN for a quantile */
    double
        total_low; /* of sampling and noise together, 95 %, about the population; NAN where the kind */
    double total_high; /* of question has none */
    char table
        [QUERY_TEXT_BYTES]; /* of a table1 or evaluate its question, and the answer's place; else all are empty */
    char variable[SCHEMA_NAME_BYTES];
    char figure[SCHEMA_NAME_BYTES + 16]; /* "mean"; a category; "F, share" */
    char group[QUERY_TEXT_BYTES];
};

/* A point of a curve: a survival's, at an interval's end; of an evaluate's calibration, at an eighth's middle; of a net benefit, at a
 * threshold. What is not given is NAN. */
struct query_point {
    char question[QUERY_TEXT_BYTES];
    char curve[32]; /* "calibration", "net benefit"; empty: a survival's */
    char group
        [QUERY_TEXT_BYTES]; /* the category or predicate; "all" of a score; empty without groups */
    double time;            /* of a score: the score, or the threshold */
    double value;
    double low; /* of sampling and noise, 95 %, at this point */
    double high;
    double band_low; /* the same for all points of the curve together */
    double band_high;
    double noise_low; /* of the noise alone */
    double noise_high;
    double at_risk; /* at the interval's begin; noisy */
};

/** Starts before round 0. Keeps set. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status query_run_init(struct query_run *run, const struct query_set *set);
void query_run_free(struct query_run *run);

/**
 * Takes a round's released sum, all agents together, and goes to the next round.
 *
 * sum           in  (query_set_cells of run->round)
 * noise         in  on each of them
 * record_count  in  of all agents in the sum: public, as neighbours have equally many
 */
void query_run_observe(struct query_run *run, const int64_t *sum, const struct query_noise *noise,
                       uint64_t record_count);

/** Returns how many answers there are: one for each cell of a histogram, two for each group of a
 * survival and one for each further group, and one; one for every other question. */
size_t query_run_answer_count(const struct query_set *set);

/**
 * Writes the answers, question after question.
 *
 * answer  out  (query_run_answer_count)
 *
 * count, histogram  sum * 2^-b, and the noise's bar about it.
 * mean              centre + width N/D. D is record_count, or with a `where` its own released cell.
 *                   The bar is all u in [-1/2, 1/2] with |N - u D| <= t, P(|A + B/2| > t) <= 5 %:
 *                   at the exact u the left side is the noise A - u B alone (Fieller's argument),
 *                   and as A is symmetric and unimodal, no smaller u makes a larger tail. The
 *                   whole range when D <= 0.
 * survival          of each group median and restricted mean; of each but the first the mean's difference to
 *                   the first's; of two groups or more the log-rank test's p-value: estimate/survival.h. What
 *                   is not given is NAN, and the note says how much more would be enough.
 * crosstab          of each cell and each category the count, balanced so that all sum to the public number of records; where
 *                   the second of two columns has two categories each row's share of the second one; of 2 x 2 the shares'
 *                   difference and the odds ratio; of two columns the chi-squared test's p-value: estimate/crosstab.h.
 *                   What is not given is NAN.
 * table1            each group's number of records, and those of all; for each variable, in each group: of a number mean,
 *                   standard deviation, median, quartiles, missing; of categories each one's count and share, missing:
 *                   estimate/table1.h. What is not given is NAN, and the note says how much more would be enough.
 * evaluate          each group's number of records, and those of all; in each group the AUC, the share with the event, accuracy,
 *                   sensitivity and specificity where a cut is asked, the share with the event in each eighth of the
 *                   range, missing scores, of a risk the share less the mean score: estimate/evaluate.h. What is not given as above.
 * correlate         the number of records whose columns are all there; of each two columns the correlation and the p-value of
 *                   the test that it is 0: estimate/correlate.h. What is not given as above.
 * pca               the number of records likewise; of each principal component the share that it explains, and its loadings,
 *                   without intervals: estimate/pca.h. What is not given as above.
 * regress           the number of records in which nothing is missing, and of those with the event; of each coefficient its
 *                   value, what e to it is where that means something, and the p-value of the test that it is 0:
 *                   estimate/regress.h. What is not given as above.
 * quantile          the middle of what bisection leaves, bar as bisection_observe, of the share rounded to
 *                   the grid.
 * CHECKs that all rounds were observed.
 */
void query_run_answers(struct query_answer *answer, const struct query_run *run);

/** Returns the end of an answer's note that names what its test left out; "" where it left out nothing. */
const char *query_left_out(const char *note);

/** Returns how many points the curves have; writes them, curve after curve. */
size_t query_run_point_count(const struct query_set *set);
void query_run_points(struct query_point *point, const struct query_run *run);

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
