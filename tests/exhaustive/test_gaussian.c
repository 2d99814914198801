/* Every outcome of discrete Gaussian noise on a toy domain, with exact probabilities.
 *
 * Where every bin is one number, the first word of a trial matters through two intervals for each
 * cell, the second not at all, and the third through three intervals for each sign: surely
 * accepted, open, surely refused. Where they end depends on the kernel, and each is walked through.
 * every_choice walks through every combination; each has an exact
 * integer weight, so that the tally of an outcome is its probability per trial times 2^128, a lower
 * bound that lacks only what the exact path decides. The same outcome's probability is known from
 * the enclosures that the exact path decides by, tail included; the tally must reach it up to what
 * was not seen, and never exceed it.
 *
 * From these probabilities follows delta at an epsilon, for neighbours that differ by 1: the
 * vectors' d_discrete_gaussian rows of one run must come out, digit by digit. Planted faults must
 * not. */

#include "gaussian_words.h"
#include "tests/support/noise_draw.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static void tally_run(struct tally *tally, const struct noise_gaussian *noise, bool last)
{
    struct every_word every = {.table = &noise->table, .count = 1, .last = last};
    struct random random = {.fill = every_fill, .self = &every};
    mpz_init(every.weight);
    tally_init(tally);
    do {
        int64_t value = 0;
        mpz_set_ui(every.weight, 1);
        every.used = false;
        enum status status = noise_gaussian_draw(noise, &random, &value, 1);
        tally_add(tally, every.weight, status, value);
    } while (every_choice_next(&every.choice));
    mpz_clear(every.weight);
}

enum fault { RIGHT, LOW_HEIGHT, POLYNOMIAL, OTHER_SIGMA, SIGN };

static bool holds(size_t kernel, struct noise_scale sigma, bool last, enum fault fault)
{
    static struct tally tally;
    struct noise_gaussian noise;
    cr_assert_eq(noise_gaussian_init(&noise, sigma), STATUS_OK);
    cr_assert_eq(noise.table.bin[noise.table.bins - 1].size_bits, 0);
    noise.table.kernel = noise_table_kernel_at(kernel);
    if (fault == LOW_HEIGHT) { /* what would be above 1 is lost */
        noise.table.bin[0].wide[0] -= INT64_C(1) << 40;
        noise.table.row[0].term[0] -= INT64_C(1) << 28;
    } else if (fault == POLYNOMIAL) {
        noise.table.bin[1].wide[0] += 2 * (int64_t)noise.table.bin[1].margin;
        noise.table.row[1].term[0] += 2 * (int64_t)noise.table.rest[1].margin;
    } else if (fault == SIGN) {
        noise.table.shape.both_sides = false;
    }
    tally_run(&tally, &noise, last);
    if (fault == OTHER_SIGMA) { /* a millionth more */
        noise.sigma.numerator = noise.sigma.numerator * 1000000 + 1;
        noise.sigma.denominator *= 1000000;
    }
    bool right = tally_is_gaussian(&tally, &noise, 0);
    tally_clear(&tally);
    noise_gaussian_free(&noise);
    return right;
}

Test(gaussian, every_outcome_has_the_weight_of_the_formula)
{
    static const struct noise_scale sigmas[] = {{1, 16}, {1, 4}, {1, 2}, {1, 1}, {22, 7}, {7, 1}};
    for (size_t k = 0; noise_table_kernel_at(k) != NULL; k++) {
        for (size_t i = 0; i < sizeof sigmas / sizeof sigmas[0]; i++) {
            cr_expect(holds(k, sigmas[i], false, RIGHT), "kernel %zu, sigma %zu", k, i);
            cr_expect(holds(k, sigmas[i], true, RIGHT), "kernel %zu, sigma %zu", k, i);
        }
    }
}

Test(gaussian, every_planted_fault_is_caught)
{
    static const struct noise_scale sigma = {3, 2};
    for (size_t k = 0; noise_table_kernel_at(k) != NULL; k++) {
        cr_expect(holds(k, sigma, false, RIGHT));
        cr_expect_not(holds(k, sigma, false, LOW_HEIGHT), "kernel %zu", k);
        cr_expect_not(holds(k, sigma, false, POLYNOMIAL), "kernel %zu", k);
        cr_expect_not(holds(k, sigma, false, OTHER_SIGMA), "kernel %zu", k);
        cr_expect_not(holds(k, sigma, false, SIGN), "kernel %zu", k);
    }
}

/* The probability, per trial, of every outcome up to REACH: of the table's bins by what they
 * accept, of the tail by what its bins accept, all from noise_table_enclose. */
static void probabilities(mpfr_t *p, const struct noise_gaussian *noise)
{
    const struct noise_table *table = &noise->table;
    const struct noise_bin *tail = &table->bin[table->bins];
    mpfr_t high;
    mpfr_init2(high, PRECISION);
    for (uint64_t k = 0, b = 0; k <= REACH; k++) {
        while (b < table->bins && k >= table->bin[b + 1].start) {
            b++;
        }
        unsigned bits = table->bin[b].size_bits;
        bits += b == table->bins ? (unsigned)((k - tail->start) >> bits) + 1 : 0;
        noise_table_enclose(table, b, bits, k, p[k], high);
        mpfr_set_prec(high, 64);
        mpfr_set_uj(high, table->mass[b], MPFR_RNDN);
        mpfr_mul(p[k], p[k], high, MPFR_RNDN);
        mpfr_set_prec(high, PRECISION);
        mpfr_div_2ui(p[k], p[k], 64 + bits + 1, MPFR_RNDN); /* and for either sign */
    }
    mpfr_clear(high);
}

/* sum over z of max(0, P(z) - exp(epsilon) P(z - shift)) */
static double delta_at(struct noise_scale sigma, int64_t shift, double epsilon)
{
    static mpfr_t p[REACH + 1];
    struct noise_gaussian noise;
    mpfr_t factor;
    mpfr_t all;
    mpfr_t sum;
    mpfr_t part;
    mpfr_inits2(PRECISION, factor, all, sum, part, NULL);
    for (size_t k = 0; k <= REACH; k++) {
        mpfr_init2(p[k], PRECISION);
    }
    cr_assert_eq(noise_gaussian_init(&noise, sigma), STATUS_OK);
    probabilities(p, &noise);
    mpfr_set_d(factor, epsilon, MPFR_RNDN);
    mpfr_exp(factor, factor, MPFR_RNDN);
    mpfr_set(all, p[0], MPFR_RNDN);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (int64_t z = -REACH + shift; z <= REACH; z++) {
        if (z > 0) {
            mpfr_add(all, all, p[z], MPFR_RNDN);
            mpfr_add(all, all, p[z], MPFR_RNDN);
        }
        mpfr_mul(part, factor, p[z < shift ? shift - z : z - shift], MPFR_RNDN);
        mpfr_sub(part, p[z < 0 ? -z : z], part, MPFR_RNDN);
        if (mpfr_sgn(part) > 0) {
            mpfr_add(sum, sum, part, MPFR_RNDN);
        }
    }
    mpfr_div(sum, sum, all, MPFR_RNDN);
    double delta = mpfr_get_d(sum, MPFR_RNDN);
    for (size_t k = 0; k <= REACH; k++) {
        mpfr_clear(p[k]);
    }
    mpfr_clears(factor, all, sum, part, NULL);
    noise_gaussian_free(&noise);
    return delta;
}

/* eps_tight has 15 digits; |d delta/d epsilon| < 20 delta / epsilon there. */
static bool is_delta(double found, double delta)
{
    return fabs(found - delta) <= 1e-12 * delta;
}

Test(gaussian, delta_is_what_the_vectors_say)
{
    json_t *root = json_load_file(TEST_VECTORS "/dp_vectors.json", 0, NULL);
    size_t index = 0;
    size_t rows = 0;
    const json_t *row;
    cr_assert_not_null(root);
    json_array_foreach(json_object_get(root, "d_discrete_gaussian"), index, row)
    {
        double sigma = json_number_value(json_object_get(row, "sigma"));
        double sensitivity = json_number_value(json_object_get(row, "sensitivity"));
        double delta = json_number_value(json_object_get(row, "delta"));
        double epsilon = json_number_value(json_object_get(row, "eps_tight"));
        if (json_integer_value(json_object_get(row, "k")) != 1 || sensitivity != 1) {
            continue;
        }
        struct noise_scale scale = {(uint64_t)(sigma * 16), 16};
        double found = delta_at(scale, 1, epsilon);
        cr_expect(is_delta(found, delta), "row %zu: %.17g for %g", index, found, delta);
        scale.numerator *= 1000000;
        scale.denominator *= 1000000;
        scale.numerator -= 1; /* less than a millionth less noise, or than the vectors' epsilon */
        cr_expect_not(is_delta(delta_at(scale, 1, epsilon), delta));
        scale.numerator += 1;
        cr_expect_not(is_delta(delta_at(scale, 1, epsilon * (1 - 1e-9)), delta));
        rows++;
    }
    cr_assert_geq(rows, 8);
    json_decref(root);
}

/* Why the mechanism's header speaks of rho and not of one coordinate's profile: at the same ratio
 * of sigma to sensitivity, 1/2, twice the sensitivity costs more than twice the delta at epsilon 2.
 * What follows from rho holds for both: delta <= exp(-(epsilon - rho)^2/(4 rho)). */
Test(gaussian, the_profile_of_one_step_bounds_no_longer_one)
{
    double one = delta_at((struct noise_scale){1, 2}, 1, 2);
    double two = delta_at((struct noise_scale){1, 1}, 2, 2);
    cr_expect(one > 0.1047 && one < 0.1048, "%g", one);
    cr_expect(two > 0.2667 && two < 0.2668, "%g", two);
    for (double epsilon = 4; epsilon < 12; epsilon++) { /* rho = 2 */
        double bound = exp(-(epsilon - 2) * (epsilon - 2) / 8);
        cr_expect_leq(delta_at((struct noise_scale){1, 2}, 1, epsilon), bound);
        cr_expect_leq(delta_at((struct noise_scale){1, 1}, 2, epsilon), bound);
    }
}
