/* laplace_kernel.h - what turns random words into accepted trials; private to this room and its
 * tests. laplace_kernel_plain.c tells the method; every kernel gives the same from the same words.
 */

#ifndef NOISE_LAPLACE_KERNEL_H
#define NOISE_LAPLACE_KERNEL_H

#include "noise/geometric.h"

#include <stdbool.h>

enum {
    TRIAL_WORDS = 3,   /* of a trial: lower digit, upper digit, acceptance */
    TRIAL_BLOCK = 8,   /* trials come in multiples of this */
    TRIALS_MAX = 1024, /* of one call */

    CELL_BITS = 5,        /* the top bits of a digit's word */
    DIGIT_BITS = 51,      /* of a digit's word are the digit's; a mass counts units of 2^-51 */
    THRESHOLD_SHIFT = 18, /* of a cell's threshold, as 64 - 5 bits of a word hold 46 of the digit */
    OUTCOME_BITS = 6,
    SIGN_BIT = 12, /* of a lower digit's word; the bits below it are the low part's */
    PIECE_BITS = 12,
    LOW_BITS_MAX = 36,
    FRACTION_BITS = 52, /* of the acceptance's fixed-point numbers */
    TIE_UNITS = 64      /* how far the fixed-point exponential may be off, and more */
};

/* exp(-z/16) = sum of (-1)^k taylor[k] 2^-52 z^k, up to k = 7: 2^52 / (16^k k!) rounded down. */
static const uint64_t trial_taylor[8] = {
    UINT64_C(4503599627370496), UINT64_C(281474976710656),
    UINT64_C(8796093022208),    UINT64_C(183251937962),
    UINT64_C(2863311530),       UINT64_C(35791394),
    UINT64_C(372827),           UINT64_C(3328),
};

/* What is drawn from a trial: the magnitude alone, or with a sign, "minus zero" being refused. */
enum trial_kind { TRIAL_GEOMETRIC, TRIAL_LAPLACE };

/**
 * Writes the values of the accepted trials, in their order.
 *
 * values  out  (trials) the first *accepted of them; the rest is unspecified
 * word    in   (words of a trial, trials): word j of trial i at [j * trials + i];
 *              noise_trial_words() of them a trial
 * trials  in   a multiple of TRIAL_BLOCK
 *
 * Returns whether every trial was decided; else the values are to be thrown away and the words to
 * be gone through again by noise_trial_careful.
 */
struct noise_kernel {
    const char *name;
    bool (*run)(const struct noise_geometric *noise, enum trial_kind kind, int64_t *values,
                size_t *accepted, const uint64_t *word, size_t trials);
};

/** The words that a trial takes: without a low part there is nothing to accept. */
static inline size_t noise_trial_words(const struct noise_geometric *noise)
{
    return noise->low_bits > 0 ? TRIAL_WORDS : TRIAL_WORDS - 1;
}

extern const struct noise_kernel noise_kernel_plain;

/** Returns kernel i of those that this processor can run, NULL when there are fewer; slowest first:
 * number 0 is the plain one. */
const struct noise_kernel *noise_kernel_at(size_t i);

/** A word's digit, NOISE_LEFT when the word tells none. */
static inline uint64_t noise_digit_of(const struct noise_digit *digit, uint64_t word)
{
    uint64_t cell = digit->cell[word >> (64 - CELL_BITS)];
    uint64_t below = (word << CELL_BITS) < (cell & ~((UINT64_C(1) << THRESHOLD_SHIFT) - 1));
    return (cell >> (OUTCOME_BITS * below)) & ((1 << OUTCOME_BITS) - 1);
}

/** The low part of a trial as a fraction of 2^36 (36 bits, those below low_bits are zero). */
static inline uint64_t noise_low_of(const struct noise_geometric *noise, uint64_t lower,
                                    uint64_t upper, uint64_t acceptance)
{
    uint64_t piece = (1 << PIECE_BITS) - 1;
    uint64_t low =
        (lower & piece) | (upper & piece) << PIECE_BITS | (acceptance & piece) << (2 * PIECE_BITS);
    return low >> (LOW_BITS_MAX - noise->low_bits) << (LOW_BITS_MAX - noise->low_bits);
}

#endif
