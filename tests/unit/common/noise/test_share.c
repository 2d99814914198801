/* What a user of shares and of Gaussian noise relies on, and the sum of shares in exact arithmetic.
 */

#include "noise/gaussian.h"
#include "noise/share.h"
#include "tests/support/noise_draw.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { COUNT = 1500 };

/* Either kind of noise, of scale 1000 and h = 3. */
struct noises {
    struct noise_gaussian gaussian;
    struct noise_share share;
};

static void noises_init(struct noises *noises, struct noise_scale scale)
{
    cr_assert_eq(noise_gaussian_init(&noises->gaussian, scale), STATUS_OK);
    cr_assert_eq(noise_share_init(&noises->share, scale, 3), STATUS_OK);
}

static void noises_free(struct noises *noises)
{
    noise_gaussian_free(&noises->gaussian);
    noise_share_free(&noises->share);
}

static enum status add(const struct noises *noises, int kind, const struct random *random,
                       int64_t *values, size_t count)
{
    return kind == 0 ? noise_gaussian_add(&noises->gaussian, random, values, count)
                     : noise_share_add(&noises->share, random, values, count);
}

static enum status draw(const struct noises *noises, int kind, const struct random *random,
                        int64_t *values, size_t count)
{
    return kind == 0 ? noise_gaussian_draw(&noises->gaussian, random, values, count)
                     : noise_share_draw(&noises->share, random, values, count);
}

Test(share, what_is_out_of_range_is_refused)
{
    struct noise_gaussian gaussian;
    struct noise_share share;
    cr_expect_eq(noise_gaussian_init(&gaussian, (struct noise_scale){1, 17}), STATUS_INVALID);
    noise_gaussian_free(&gaussian);
    cr_expect_eq(noise_share_init(&share, (struct noise_scale){1, 17}, 3), STATUS_INVALID);
    noise_share_free(&share);
    cr_expect_eq(noise_share_init(&share, (struct noise_scale){1, 1}, 0), STATUS_INVALID);
    noise_share_free(&share);
    cr_expect_eq(noise_share_init(&share, (struct noise_scale){1, 1}, NOISE_SHARES_MAX + 1),
                 STATUS_INVALID);
    noise_share_free(&share);
}

Test(share, values_are_added_to_modulo_two_to_the_64)
{
    struct noises noises;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    noises_init(&noises, (struct noise_scale){1000, 1});
    for (int kind = 0; kind < 2; kind++) {
        static int64_t drawn[COUNT];
        static int64_t added[COUNT];
        seeded_random_init(&seeded, 4);
        memset(drawn, 0x55, sizeof drawn);
        cr_assert_eq(draw(&noises, kind, &random, drawn, COUNT), STATUS_OK);
        seeded_random_init(&seeded, 4);
        for (size_t i = 0; i < COUNT; i++) {
            added[i] = i % 2 == 0 ? INT64_MAX : INT64_MIN;
        }
        cr_assert_eq(add(&noises, kind, &random, added, COUNT), STATUS_OK);
        for (size_t i = 0; i < COUNT; i++) {
            uint64_t before = (uint64_t)(i % 2 == 0 ? INT64_MAX : INT64_MIN);
            cr_assert_eq((uint64_t)added[i], before + (uint64_t)drawn[i]);
        }
        cr_assert_eq(add(&noises, kind, &random, NULL, 0), STATUS_OK);
        cr_assert_eq(draw(&noises, kind, &random, NULL, 0), STATUS_OK);
    }
    noises_free(&noises);
}

/* Random bytes a value of a long vector; scales around 1 and at a power of two take the most. */
Test(share, random_bytes_are_no_more_than_the_headers_say)
{
    enum { LONG = 20000 };
    static const struct noise_scale scales[] = {
        {1, 16}, {1, 2},  {1, 1},    {106, 100},   {2, 1},
        {22, 7}, {16, 1}, {1024, 1}, {1 << 20, 1}, {UINT64_C(1) << 40, 1}};
    static int64_t values[LONG];
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        double sigma = (double)scales[i].numerator / (double)scales[i].denominator;
        double sum = 1; /* of exp(-z^2/(2 sigma^2)): 1/P(0) */
        for (double z = 1; z < 40 * sigma && z < 1e5; z++) {
            sum += 2 * exp(-z * z / (2 * sigma * sigma));
        }
        for (uint64_t h = 1; h < 1000; h *= 10) {
            const double most[2] = {24 * 1.09 * (1 + 1 / sum), 48 * 1.11};
            struct noises noises;
            struct seeded_random seeded;
            struct random random = seeded_random_interface(&seeded);
            cr_assert_eq(noise_gaussian_init(&noises.gaussian, scales[i]), STATUS_OK);
            cr_assert_eq(noise_share_init(&noises.share, scales[i], h), STATUS_OK);
            for (int kind = 0; kind < 2; kind++) {
                seeded_random_init(&seeded, i);
                cr_assert_eq(draw(&noises, kind, &random, values, LONG), STATUS_OK);
                double bytes = (double)seeded.drawn_bytes / LONG;
                cr_expect(bytes <= most[kind], "kind %d scale %g h %lu: %g", kind, sigma,
                          (unsigned long)h, bytes);
                cr_expect(bytes > most[kind] * 0.9, "%g of %g", bytes, most[kind]);
            }
            noises_free(&noises);
        }
    }
}

/* Every length: the last value is drawn, and nothing is written after it. */
Test(share, vectors_of_any_length_are_filled_and_no_more)
{
    struct noises noises;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    noises_init(&noises, (struct noise_scale){UINT64_C(1) << 40, 1});
    seeded_random_init(&seeded, 5);
    for (size_t count = 0; count < 1100; count += count < 40 ? 1 : 103) {
        for (int kind = 0; kind < 2; kind++) {
            int64_t values[1101];
            size_t zeros = 0;
            memset(values, 0, sizeof values);
            cr_assert_eq(add(&noises, kind, &random, values, count), STATUS_OK);
            for (size_t i = 0; i < count; i++) {
                zeros += values[i] == 0 ? 1 : 0;
            }
            for (size_t i = count; i < 1101; i++) {
                cr_assert_eq(values[i], 0, "value %zu of %zu", i, count);
            }
            /* A share is 0 with probability 1e-8: fewer than 10^4 of them are 0 once in 10^4 seeds.
             */
            cr_assert_eq(zeros, 0);
        }
    }
    noises_free(&noises);
}

Test(share, a_failing_source_leaves_nothing_of_the_answer)
{
    struct noises noises;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    noises_init(&noises, (struct noise_scale){1000, 1});
    for (int coarse = 0; coarse < 2; coarse++) {
        for (uint64_t after = 1; after < 24 * COUNT; after = after * 2 + 1) {
            for (int kind = 0; kind < 2; kind++) {
                int64_t values[COUNT];
                for (size_t i = 0; i < COUNT; i++) {
                    values[i] = 1000000 + (int64_t)i;
                }
                seeded_random_init(&seeded, after);
                seeded.failing_after = after;
                cr_assert_eq(add(&noises, kind, &random, values, COUNT), STATUS_NO_RANDOM);
                for (size_t i = 0; i < COUNT; i++) {
                    cr_assert_eq(values[i], 0, "value %zu after %lu", i, (unsigned long)after);
                }
            }
        }
        for (size_t b = 0; b < noises.gaussian.table.bins; b++) { /* ties everywhere */
            noises.gaussian.table.bin[b].margin = UINT64_C(1) << 50;
        }
        for (size_t b = 0; b < noises.share.table.bins; b++) {
            noises.share.table.bin[b].margin = UINT64_C(1) << 50;
        }
    }
    noises_free(&noises);
}

/* Wide margins send many trials to the exact path, which must decide nearly as the polynomial did.
 */
Test(share, the_exact_path_agrees_with_the_fast_one)
{
    enum { FEW = 300 };
    for (int kind = 0; kind < 2; kind++) {
        struct noises noises;
        struct seeded_random seeded;
        struct random random = seeded_random_interface(&seeded);
        int64_t fast[FEW];
        int64_t exact[FEW];
        noises_init(&noises, (struct noise_scale){1000, 1});
        seeded_random_init(&seeded, 8);
        cr_assert_eq(draw(&noises, kind, &random, fast, FEW), STATUS_OK);
        struct noise_table *table = kind == 0 ? &noises.gaussian.table : &noises.share.table;
        for (size_t b = 0; b < table->bins; b++) {
            table->bin[b].margin = UINT64_C(1) << 62;
        }
        seeded_random_init(&seeded, 8);
        cr_assert_eq(draw(&noises, kind, &random, exact, FEW), STATUS_OK);
        cr_assert_arr_eq(fast, exact, sizeof fast); /* ties are needed to differ: 2^-40 each */
        noises_free(&noises);
    }
}

/* p(k), k < size: P(X = k) Gamma(1/h) of X = NB(1/h, p), from the very enclosures that decide ties.
 */
static void negative_binomial(mpfr_t *p, size_t size, struct noise_scale scale, uint64_t h)
{
    struct noise_share noise;
    mpfr_t high;
    cr_assert_eq(noise_share_init(&noise, scale, h), STATUS_OK);
    mpfr_init2(high, mpfr_get_prec(p[0]));
    for (size_t k = 0; k < size; k++) {
        noise.table.shape.enclose(noise.table.shape.self, k, p[k], high);
        cr_assert(mpfr_lessequal_p(p[k], high));
        mpfr_sub(high, high, p[k], MPFR_RNDU); /* 200 bits: narrow */
        mpfr_div(high, high, p[k], MPFR_RNDU);
        cr_assert_lt(mpfr_get_d(high, MPFR_RNDU), 0x1p-190);
    }
    mpfr_clear(high);
    noise_share_free(&noise);
}

/* Whether the h-fold convolution of NB(1/claimed, p) is geometric, and so the difference of two
 * such sums discrete Laplace: every ratio of neighbours is p, within 2^-150. */
static bool adds_up(struct noise_scale scale, uint64_t h, uint64_t claimed)
{
    enum { SIZE = 40 };
    mpfr_t p[SIZE];
    mpfr_t sum[SIZE];
    mpfr_t next[SIZE];
    mpfr_t part;
    bool geometric = true;
    mpfr_init2(part, 200);
    for (size_t k = 0; k < SIZE; k++) {
        mpfr_inits2(200, p[k], sum[k], next[k], NULL);
    }
    negative_binomial(p, SIZE, scale, claimed);
    for (size_t k = 0; k < SIZE; k++) {
        mpfr_set(sum[k], p[k], MPFR_RNDN);
    }
    for (uint64_t i = 1; i < h; i++) {
        for (size_t k = 0; k < SIZE; k++) {
            mpfr_set_ui(next[k], 0, MPFR_RNDN);
            for (size_t j = 0; j <= k; j++) {
                mpfr_mul(part, sum[j], p[k - j], MPFR_RNDN);
                mpfr_add(next[k], next[k], part, MPFR_RNDN);
            }
        }
        for (size_t k = 0; k < SIZE; k++) {
            mpfr_set(sum[k], next[k], MPFR_RNDN);
        }
    }
    for (size_t k = 0; k + 1 < SIZE; k++) { /* ln(sum[k] / sum[k + 1]) = 1/s */
        mpfr_div(part, sum[k], sum[k + 1], MPFR_RNDN);
        mpfr_log(part, part, MPFR_RNDN);
        mpfr_mul_ui(part, part, scale.numerator, MPFR_RNDN);
        mpfr_div_ui(part, part, scale.denominator, MPFR_RNDN);
        mpfr_sub_ui(part, part, 1, MPFR_RNDN);
        geometric = geometric && mpfr_cmpabs_ui(part, 0) >= 0 &&
                    (mpfr_zero_p(part) || mpfr_get_exp(part) < -150);
    }
    for (size_t k = 0; k < SIZE; k++) {
        mpfr_clears(p[k], sum[k], next[k], NULL);
    }
    mpfr_clear(part);
    return geometric;
}

Test(share, h_of_them_are_exactly_geometric)
{
    cr_assert(adds_up((struct noise_scale){1, 1}, 1, 1));
    cr_assert(adds_up((struct noise_scale){1, 2}, 2, 2));
    cr_assert(adds_up((struct noise_scale){10, 1}, 3, 3));
    cr_assert(adds_up((struct noise_scale){22, 7}, 17, 17));
    cr_assert_not(adds_up((struct noise_scale){10, 1}, 3, 4), "h off by one");
    cr_assert_not(adds_up((struct noise_scale){10, 1}, 2, 3), "a dropped share");
    cr_assert_not(adds_up((struct noise_scale){10, 1}, 4, 3), "one too many");
    mpfr_free_cache();
}

/* A table that was prepared before serves only the scale and h that it was made for. */
Test(share, a_kept_table_is_that_of_its_scale_and_number)
{
    static const struct {
        struct noise_scale scale;
        uint64_t shares;
    } row[] = {{{1000, 1}, 3}, {{1000, 1}, 3}, {{1000, 1}, 4}, {{1000, 7}, 4}, {{999, 7}, 4}};
    struct noise_share kept = {.shares = 0};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct seeded_random seeded[2];
        struct noise_share fresh;
        int64_t drawn[2][COUNT];
        const struct noise_bin *before = kept.table.bin;
        cr_assert_eq(noise_share_prepare(&kept, row[i].scale, row[i].shares), STATUS_OK);
        cr_expect(i != 1 || kept.table.bin == before, "the same again is not made again");
        cr_assert_eq(noise_share_init(&fresh, row[i].scale, row[i].shares), STATUS_OK);
        for (size_t j = 0; j < 2; j++) {
            seeded_random_init(&seeded[j], i);
            const struct random random = seeded_random_interface(&seeded[j]);
            cr_assert_eq(noise_share_draw(j == 0 ? &kept : &fresh, &random, drawn[j], COUNT),
                         STATUS_OK);
        }
        cr_expect_arr_eq(drawn[0], drawn[1], sizeof drawn[0], "row %zu", i);
        noise_share_free(&fresh);
    }
    cr_expect_eq(noise_share_prepare(&kept, (struct noise_scale){1, 1}, 0), STATUS_INVALID);
    cr_expect_null(kept.table.bin, "nothing is left of it that could be drawn from");
    noise_share_free(&kept);
}
