/* lazy.h - real numbers that are known as closely as a decision about them needs. They decide every
 * draw that integers leave open. Not for use outside this room and its tests. */

#ifndef NOISE_LAZY_H
#define NOISE_LAZY_H

#include "base/random.h"

#include <gmp.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

/* A real number >= 0 that is given. */
struct real {
    /** Sets low <= the number <= high, both of the precision of low. The distance goes to 0 as the
     * precision grows. */
    void (*enclose)(const void *self, mpfr_t low, mpfr_t high);
    const void *self;
};

/* A uniform real number that is drawn, as far as it is: in [digits, digits + 1) 2^-bits. */
struct lazy_real {
    mpz_t digits;
    unsigned long bits;
};

/** Begins with the first digits drawn; lazy_real_end frees. */
void lazy_real_begin(struct lazy_real *drawn, uint64_t digits, unsigned bits);
void lazy_real_end(struct lazy_real *drawn);

/**
 * Tells whether the drawn number is below the given one; draws more of its bits as long as that is
 * open.
 *
 * Fails with STATUS_NO_RANDOM; *below is then false.
 * Ensures an end with probability 1: the bits that never decide are one point.
 * Cost: microseconds and GMP's memory, which is wiped before it is given back; what MPFR keeps on
 * the stack is wiped by lazy_real_end. Time depends on everything. Call it only rarely: it is slow.
 */
MUST_USE enum status lazy_real_is_below(struct lazy_real *drawn, const struct random *random,
                                        const struct real *given, bool *below);

/** The same for a number that is asked about once. */
MUST_USE enum status lazy_is_below(const struct random *random, uint64_t digits, unsigned bits,
                                   const struct real *given, bool *below);

/** Encloses exp(-numerator/denominator), for numerator >= 0 and denominator > 0. */
void lazy_enclose_exponential(mpfr_t low, mpfr_t high, const mpz_t numerator,
                              const mpz_t denominator);

#endif
