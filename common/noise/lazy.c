/* lazy.c - a comparison of two real numbers that never rounds. The drawn one is known to as many
 * bits as were drawn, the given one lies between two MPFR numbers rounded down and up; while the
 * intervals overlap both are refined (Knuth and Yao 1976). A tie for ever has probability 0.
 *
 * GMP gives its memory back as it is, and so does MPFR with every temporary of an exponential. What
 * they compute here tells a draw, so all of it is wiped. Their allocator is one for the process:
 * this file alone sets it, before main, when no other thread can be about to allocate. It remains
 * malloc's memory, so that code which allocated before, or uses GMP for something else, may free. */

#include "noise/lazy.h"

#include "noise/whole.h"

#include "base/bytes.h"
#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, PRECISION_BITS = 192 };

static void *limbs_new(size_t bytes)
{
    void *limbs = malloc(bytes);
    CHECK(limbs != NULL); /* GMP knows no other way out either */
    return limbs;
}

static void limbs_free(void *limbs, size_t bytes)
{
    bytes_free(limbs, bytes);
}

static void *limbs_resize(void *limbs, size_t bytes, size_t bytes_wanted)
{
    void *resized = limbs_new(bytes_wanted);
    memcpy(resized, limbs, bytes < bytes_wanted ? bytes : bytes_wanted);
    limbs_free(limbs, bytes);
    return resized;
}

__attribute__((constructor)) static void wipe_limbs(void)
{
    mp_set_memory_functions(limbs_new, limbs_resize, limbs_free);
}

void lazy_real_begin(struct lazy_real *drawn, uint64_t digits, unsigned bits)
{
    mpz_init(drawn->digits);
    whole_set_u64(drawn->digits, digits);
    drawn->bits = bits;
}

void lazy_real_end(struct lazy_real *drawn)
{
    mpz_clear(drawn->digits);
    mpfr_free_cache();
    stack_wipe();
}

/* Appends a word to the digits. */
static enum status extend(struct lazy_real *drawn, const struct random *random)
{
    uint64_t word = 0;
    enum status status = random_fill(random, &word, sizeof word);
    if (status == STATUS_OK) {
        mpz_t low;
        mpz_init(low);
        whole_set_u64(low, word);
        mpz_mul_2exp(drawn->digits, drawn->digits, WORD_BITS);
        mpz_add(drawn->digits, drawn->digits, low);
        mpz_clear(low);
        drawn->bits += WORD_BITS;
    }
    bytes_wipe(&word, sizeof word);
    return status;
}

enum order { ORDER_OPEN, ORDER_BELOW, ORDER_NOT_BELOW };

/* As far as bits and bounds tell. */
static enum order compare(const struct lazy_real *drawn, const struct real *given)
{
    enum order order = ORDER_OPEN;
    mpfr_t low;
    mpfr_t high;
    mpz_t end;
    mpz_init(end);
    mpfr_inits2(PRECISION_BITS + (mpfr_prec_t)drawn->bits, low, high, NULL);
    given->enclose(given->self, low, high);
    mpfr_mul_2ui(low, low, drawn->bits, MPFR_RNDD);
    mpfr_mul_2ui(high, high, drawn->bits, MPFR_RNDU);
    mpz_add_ui(end, drawn->digits, 1);
    if (mpfr_cmp_z(low, end) >= 0) {
        order = ORDER_BELOW;
    } else if (mpfr_cmp_z(high, drawn->digits) <= 0) {
        order = ORDER_NOT_BELOW;
    }
    mpfr_clears(low, high, NULL);
    mpz_clear(end);
    return order;
}

enum status lazy_real_is_below(struct lazy_real *drawn, const struct random *random,
                               const struct real *given, bool *below)
{
    enum status status = STATUS_OK;
    enum order order = compare(drawn, given);
    while (status == STATUS_OK && order == ORDER_OPEN) {
        status = extend(drawn, random);
        order = status == STATUS_OK ? compare(drawn, given) : ORDER_OPEN;
    }
    *below = order == ORDER_BELOW;
    return status;
}

enum status lazy_is_below(const struct random *random, uint64_t digits, unsigned bits,
                          const struct real *given, bool *below)
{
    struct lazy_real drawn;
    lazy_real_begin(&drawn, digits, bits);
    enum status status = lazy_real_is_below(&drawn, random, given, below);
    lazy_real_end(&drawn);
    return status;
}

/* Every step of a bound is rounded away from the truth. */
void lazy_enclose_exponential(mpfr_t low, mpfr_t high, const mpz_t numerator,
                              const mpz_t denominator)
{
    mpfr_set_z(low, numerator, MPFR_RNDU);
    mpfr_div_z(low, low, denominator, MPFR_RNDU);
    mpfr_neg(low, low, MPFR_RNDN);
    mpfr_exp(low, low, MPFR_RNDD);
    mpfr_set_z(high, numerator, MPFR_RNDD);
    mpfr_div_z(high, high, denominator, MPFR_RNDD);
    mpfr_neg(high, high, MPFR_RNDN);
    mpfr_exp(high, high, MPFR_RNDU);
}
