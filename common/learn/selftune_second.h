/* selftune_second.h - a second look by other records. The first one tells of all columns. A part of the records has not answered
 * it: these look only at the columns about which the first look leaves most to be learned, less their means as it has told them. So
 * fewer columns share what the second look may tell, and a class whose share among few records is another by chance does not move
 * the sums by the columns' means. Both looks together are one look, each column's sums weighted by their noise.
 *
 * All of it works on releases. Sums alone are looked at twice, without steps. K classes, d columns. */

#ifndef LEARN_SELFTUNE_SECOND_H
#define LEARN_SELFTUNE_SECOND_H

#include "learn/selftune.h"

/* Sites that look apart may have other shares of a class than all of them. Shares that differ by less than so many times their noise's
 * variance are taken to be alike, as chance makes them differ: with one time wdbc has 0.908 in place of 0.927 at epsilon 1. And no
 * sum is scaled by more than so many times, whatever noise says. */
#define SELFTUNE_DIFFERS_LEAST 3.0
#define SELFTUNE_RESCALED_MOST 4.0

/* What the second look will be like. */
struct selftune_second {
    double records; /* of both looks, above 0 */
    double part;    /* of them, that take part in the second: above 0, below 1 */
    double groups;  /* that its columns are dealt out to, >= 1 */
    double
        deviation; /* of the noise on a column's mean where a site looks at one column; it grows with their number */
};

/** Returns how many numbers of the first look are kept for the second. */
size_t selftune_told_count(const struct selftune *stage);

/**
 * Takes the first look, as selftune_take_look(), and chooses the second one's columns: their number is the one that is expected to
 * add most to the model's squared length. W of the others becomes 0.
 *
 * state  in/out  (selftune_state_count)
 * told   out     (selftune_told_count) finite
 */
MUST_USE enum status selftune_take_first(double *state, double *told, const struct selftune *stage,
                                         const struct selftune_look *look,
                                         const struct selftune_second *second);

/** Returns how many columns the second look has: those whose W is not 0. column: out (d), the first of these. shown:
 * (shown_count) */
size_t selftune_chosen(size_t *column, const double *shown, const struct selftune *stage);

/** Returns how many columns the second look has, by what the first one has left. told: (selftune_told_count) */
size_t selftune_told_chosen(const double *told);

/**
 * Takes the second look: the state becomes that after one look of all.
 *
 * state  in/out  (selftune_state_count) after selftune_take_first()
 * told   in      (selftune_told_count)
 * look   in      at the columns less mu; of those that were not chosen the factor is HUGE_VAL
 *
 * Fails as selftune_take_look().
 */
MUST_USE enum status selftune_take_second(double *state, const double *told,
                                          const struct selftune *stage,
                                          const struct selftune_look *look);

#endif
