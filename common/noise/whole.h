/* whole.h - whole numbers of 64 and 128 bits as GMP's and MPFR's, whatever the size of a long. Not
 * for use outside this room. */

#ifndef NOISE_WHOLE_H
#define NOISE_WHOLE_H

#include "base/wide.h"

#include <gmp.h>
#include <mpfr.h>
#include <stdint.h>

/** Set out, which is initialised, to value. */
static inline void whole_set_u64(mpz_t out, uint64_t value)
{
    mpz_import(out, 1, 1, sizeof value, 0, 0, &value);
}

static inline void whole_set_u128(mpz_t out, uint128 value)
{
    const uint64_t word[2] = {(uint64_t)(value >> 64), (uint64_t)value};
    mpz_import(out, 2, 1, sizeof word[0], 0, 0, word);
}

/** The same for MPFR: exact from 64 bits of precision on, else rounded as told. */
static inline void whole_set_real(mpfr_t out, uint64_t value, mpfr_rnd_t toward)
{
    mpz_t whole;
    mpz_init(whole);
    whole_set_u64(whole, value);
    mpfr_set_z(out, whole, toward);
    mpz_clear(whole);
}

#endif
