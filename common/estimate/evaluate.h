/* evaluate.h - how well a score tells who has an event, from counts of records by the score's level and event behind
 * noise, with what the records' number and the noise leave uncertain.
 *
 * N = levels of the score, bands even ones over its public range. A column of table1.h has 2 N levels: the N of
 * those without the event, then the N of those with it; missing is where the score is. x_j, z_k are these cells.
 *
 *   AUC = P(z's level > x's level) + half of P(they are the same)    of the score rounded to its levels
 *
 * Rounding is part of what is asked: the AUC of the score as it is differs, by little where levels are many. */

#ifndef ESTIMATE_EVALUATE_H
#define ESTIMATE_EVALUATE_H

#include "estimate/table1.h"

enum {
    EVALUATE_BANDS = 8, /* of the calibration; levels are a multiple of them */
    EVALUATE_LEVELS_MAX = TABLE1_LEVELS_MAX / 2,
    EVALUATE_PARTS = 2 * EVALUATE_BANDS, /* bands without the event, then with it */
    EVALUATE_PARTS_WITHOUT = (1 << EVALUATE_BANDS) - 1,
    EVALUATE_PARTS_WITH = EVALUATE_PARTS_WITHOUT << EVALUATE_BANDS,
    EVALUATE_PARTS_ALL = EVALUATE_PARTS_WITHOUT | EVALUATE_PARTS_WITH
};

/**
 * The AUC. Given where either class is above 5 standard deviations of its noise, and the noise's deviation below 0.1 as
 * even levels would have it.
 *
 * Source: Hanley and McNeil 1982, Delong, DeLong and Clarke-Pearson 1988 (the sampling variance, by the mean of each
 * record's comparisons). Deviation: the noise enters by the gradient in the cells and by the product of two cells'
 * noises; the product's mean is taken off.
 */
struct table1_figure evaluate_auc(const struct table1_column *column);

/** The share of the records with the event, of all, and of a band of the score: its calibration. band < EVALUATE_BANDS */
struct table1_figure evaluate_prevalence(const struct table1_column *column);
struct table1_figure evaluate_band(const struct table1_column *column, size_t band);

/* Shares where the event is foretold from a level on. */
struct evaluate_cut {
    struct table1_figure accuracy;    /* of all, foretold rightly */
    struct table1_figure sensitivity; /* of those with the event, foretold */
    struct table1_figure specificity; /* of those without, not foretold */
};
struct evaluate_cut evaluate_cut(const struct table1_column *column, size_t level);

/**
 * The net benefit of treating all whose score is in a level or above, per record: those with the event, less odds times those without;
 * odds = threshold/(1 - threshold). level 0: of treating all. Given where more than 10 records are treated, and more than 5 standard
 * deviations of their noise, and the noise on it is below 0.05.
 *
 * threshold  in  0 < threshold < 1: where the level begins, as a risk
 *
 * Source: Vickers and Elkin 2006. Its interval has the values that a test does not reject, at the variance that goes with them,
 * and ends further out by what it was moved by on average, where hardly enough are treated.
 */
struct table1_figure evaluate_net_benefit(const struct table1_column *column, size_t level,
                                          double threshold);

/**
 * The share with the event less the mean score, of scores that are risks: calibration in the large. A score counts as its level's
 * middle, and the interval is wider by half a level on either side: so it holds for the scores as they are.
 *
 * edge  in  (levels + 1) of the score's levels, within 0 .. 1
 */
struct table1_figure evaluate_in_the_large(const struct table1_column *column, const double *edge);

/** Answers whether a share of these parts' records would be given, were it asked again: as table1_column_again, of a column without cells.
 * parts: a bit for each of EVALUATE_PARTS */
bool evaluate_share_again(const struct table1_column *again, const struct table1_column *found,
                          double times, unsigned parts);

/** Returns the number of levels: the most for which the noise of the AUC is not above the sampling error, if a fifth of the
 * records have the event; EVALUATE_BANDS where it always is. */
size_t evaluate_plan(const struct table1_public *known);

struct evaluate_expected {
    struct table1_half auc;
    struct table1_half share;    /* with the event, of all */
    struct table1_half band;     /* with the event, of an eighth of the range */
    struct table1_half large;    /* the calibration in the large */
    struct table1_half accuracy; /* these three at the cut */
    struct table1_half sensitivity;
    struct table1_half specificity;
    struct table1_half
        benefit[EVALUATE_BANDS - 1]; /* the net one from each eighth on but the first */
    struct table1_half
        all_treated[EVALUATE_BANDS - 1]; /* of treating all, at the same thresholds */
};

/* What is asked of a score beside its AUC. */
struct evaluate_asked {
    size_t levels;
    const double *edge; /* (levels + 1) of a risk; NULL: the score is none */
    size_t cut;         /* the level from which on the event is foretold; 0: none is */
};

/** Tells what to expect, if a fifth have the event, scores lie evenly over the levels and tell nothing. What is not asked is
 * NAN. */
struct evaluate_expected evaluate_expect(const struct table1_public *known,
                                         const struct evaluate_asked *asked);

/** Tells the same of all groups together. */
struct evaluate_expected evaluate_expect_all(const struct table1_public *known,
                                             const struct evaluate_asked *asked);

#endif
