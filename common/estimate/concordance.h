/* concordance.h - how well a score tells who has an event sooner, from counts of records by the score's bin and the time's
 * behind noise, with what the records' number and the noise leave uncertain.
 *
 * N = bins, even ones over the score's public range and over the time 0 .. end. Cells of a group: N rows of deaths, N of those that
 * were last seen (censored), one of those still there at the end; a row is by the score's bin. After all groups one cell of the
 * records that are in none of these.
 *
 *   C = P(the higher score has the event first) + half of P(the scores are in the same bin), of pairs that can be compared:
 *       one has the event in a bin of time, the other is seen in a later one, or last seen in the same
 *
 * This is Harrell's C of the binned score and time. Binning is part of what is asked: the C of the score as it is differs, by
 * little where bins are many. */

#ifndef ESTIMATE_CONCORDANCE_H
#define ESTIMATE_CONCORDANCE_H

#include "estimate/table1.h"

enum {
    CONCORDANCE_BINS_MIN = 4,
    CONCORDANCE_BINS_MAX = 12, /* an even number */
    CONCORDANCE_ROWS_MAX = 2 * CONCORDANCE_BINS_MAX + 1,
    CONCORDANCE_GROUP_CELLS_MAX = CONCORDANCE_BINS_MAX * CONCORDANCE_ROWS_MAX,
    CONCORDANCE_CELLS_MAX = SURVIVAL_GROUPS_MAX * CONCORDANCE_GROUP_CELLS_MAX + 1
};

#define CONCORDANCE_CELLS(groups, bins) ((groups) * (bins) * (2 * (bins) + 1) + 1)

struct concordance_cells {
    const double *cell; /* balanced: cells.h */
    size_t groups;
    size_t bins;
    double variance; /* of the noise on a cell, before balancing; unit: records^2 */
};

/** The records of a group that have a score and a time, and those of them with the event by the end: counts. group == groups:
 * of all. */
struct table1_figure concordance_size(const struct concordance_cells *cells, size_t group);
struct table1_figure concordance_events(const struct concordance_cells *cells, size_t group);

/**
 * The C-index. Given where those with the event are above 5 standard deviations of their noise, and the noise is below 0.1, and
 * below a fifth of the pairs, as even bins would have it.
 *
 * Source: Harrell, Lee and Mark 1996; the sampling variance is that of each record's share in the pairs (infinitesimal jackknife).
 * Deviation: the noise enters by the gradient in the cells and by the product of two cells' noises; the product's mean is taken off.
 * The interval is wider by 1/(1 - z^2 r^2), r the noise's deviation of the number of pairs over it, as Fieller's is. Within two
 * deviations of the fewest events it is the hull of two: of what was found, and of what there would be with as many events as a group
 * has that a hundredth of all noises show. Not given where it is longer than 0.9.
 */
struct table1_figure concordance_index(const struct concordance_cells *cells, size_t group);

/** Returns the number of bins: the most for which the noise is not above the sampling error, if a fifth have the event, evenly over
 * the time, and half of the others are last seen before the end; CONCORDANCE_BINS_MIN where it always is. */
size_t concordance_plan(const struct table1_public *known);

/** Tells the width to expect of half of the interval in such groups, if the score tells nothing, and the fewest records of a group
 * that has one. NAN: not given. */
double concordance_expect(double *group, const struct table1_public *known, size_t bins);

/** Tells the same of all groups together, and how many records these need. */
double concordance_expect_all(double *records, const struct table1_public *known, size_t bins);

/** Tells half of the interval of a number of records, of those with the event alone or of all. shape: its cells are not read */
struct table1_counted concordance_expect_count(const struct concordance_cells *shape,
                                               bool with_event);

#endif
