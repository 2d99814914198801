/* The sum of h shares of Gaussian noise, every outcome, with exact probabilities: f of a share is what the sampler's
 * own enclosures say, the h-fold convolution is computed to 400 bits, and each of its probabilities is compared with
 * that of the whole discrete Gaussian.
 *
 * The test checks what is charged. At every outcome the ratio stays within e^(+-distance). So the sum is Gaussian
 * except for a failure whose probability is at most the distance, and delta(epsilon) of two neighbours is at most
 * that of the Gaussian plus this probability. Planted: bounds that are too small, one share too few, and a share of
 * another size. */

#include "account/gaussian_steps.h"
#include "dp/mechanism.h"
#include "noise/gaussian.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <math.h>
#include <mpfr.h>

enum {
    REACH = 110, /* of a share; the sums of all outcomes are compared within it */
    SIDE = 2 * REACH + 1,
    PRECISION = 400,
    HONEST_MAX = 6
};

/* p[z + REACH] */
struct masses {
    mpfr_t p[SIDE];
};

static void masses_init(struct masses *masses)
{
    for (size_t i = 0; i < SIDE; i++) {
        mpfr_init2(masses->p[i], PRECISION);
        mpfr_set_zero(masses->p[i], 1);
    }
}

static void masses_clear(struct masses *masses)
{
    for (size_t i = 0; i < SIDE; i++) {
        mpfr_clear(masses->p[i]);
    }
}

/* exp(-z^2 parts/(2 sigma^2)) over its sum: parts = 1 is the whole. Beyond REACH lies less than 2^-PRECISION/2. */
static void set_gaussian(struct masses *masses, struct noise_scale sigma, double parts)
{
    mpfr_t sum;
    mpfr_init2(sum, PRECISION);
    mpfr_set_zero(sum, 1);
    for (int z = -REACH; z <= REACH; z++) {
        mpfr_t *p = &masses->p[z + REACH];
        mpfr_set_si(*p, -z * z, MPFR_RNDN);
        mpfr_mul_d(*p, *p, parts, MPFR_RNDN);
        for (int twice = 0; twice < 2; twice++) {
            mpfr_mul_ui(*p, *p, sigma.denominator, MPFR_RNDN);
            mpfr_div_ui(*p, *p, sigma.numerator, MPFR_RNDN);
        }
        mpfr_div_ui(*p, *p, 2, MPFR_RNDN);
        mpfr_exp(*p, *p, MPFR_RNDN);
        mpfr_add(sum, sum, *p, MPFR_RNDN);
    }
    for (size_t i = 0; i < SIDE; i++) {
        mpfr_div(masses->p[i], masses->p[i], sum, MPFR_RNDN);
    }
    mpfr_clear(sum);
}

/* Adds an independent summand. Outcomes beyond REACH are dropped: they lie far beyond what is compared. */
static void add(struct masses *masses, const struct masses *part)
{
    struct masses sum;
    mpfr_t product;
    masses_init(&sum);
    mpfr_init2(product, PRECISION);
    for (int a = -REACH; a <= REACH; a++) {
        for (int b = -REACH; b <= REACH; b++) {
            if (a + b >= -REACH && a + b <= REACH) {
                mpfr_mul(product, masses->p[a + REACH], part->p[b + REACH], MPFR_RNDN);
                mpfr_add(sum.p[a + b + REACH], sum.p[a + b + REACH], product, MPFR_RNDN);
            }
        }
    }
    for (size_t i = 0; i < SIDE; i++) {
        mpfr_set(masses->p[i], sum.p[i], MPFR_RNDN);
    }
    mpfr_clear(product);
    masses_clear(&sum);
}

static void set_sum(struct masses *masses, struct noise_scale share, uint64_t added)
{
    struct masses part;
    masses_init(&part);
    set_gaussian(&part, share, 1);
    set_gaussian(masses, share, 1);
    for (uint64_t i = 1; i < added; i++) {
        add(masses, &part);
    }
    masses_clear(&part);
}

/* The largest |ln| of a ratio of probabilities, over outcomes up to `within`. */
static double farthest(const struct masses *a, const struct masses *b, int within)
{
    double most = 0;
    mpfr_t ratio;
    mpfr_init2(ratio, PRECISION);
    for (int z = -within; z <= within; z++) {
        mpfr_div(ratio, a->p[z + REACH], b->p[z + REACH], MPFR_RNDN);
        mpfr_log(ratio, ratio, MPFR_RNDN);
        most = fmax(most, fabs(mpfr_get_d(ratio, MPFR_RNDN)));
    }
    mpfr_clear(ratio);
    return most;
}

/* sum over z of max(0, P(z) - exp(epsilon) P(z - shift)) */
static double delta_at(const struct masses *masses, int shift, double epsilon)
{
    mpfr_t sum;
    mpfr_t part;
    mpfr_inits2(PRECISION, sum, part, NULL);
    mpfr_set_zero(sum, 1);
    for (int z = -REACH + shift; z <= REACH; z++) {
        mpfr_set_d(part, epsilon, MPFR_RNDN);
        mpfr_exp(part, part, MPFR_RNDN);
        mpfr_mul(part, part, masses->p[z - shift + REACH], MPFR_RNDN);
        mpfr_sub(part, masses->p[z + REACH], part, MPFR_RNDN);
        if (mpfr_sgn(part) > 0) {
            mpfr_add(sum, sum, part, MPFR_RNDN);
        }
    }
    const double found = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(sum, part, NULL);
    return found;
}

/* Outcomes up to four deviations of the sum: what is dropped beyond REACH does not reach them. */
static int within_of(double sigma, uint64_t added)
{
    return (int)fmin(4 * sigma * sqrt((double)added) + 4, REACH / 2);
}

static const struct noise_scale sizes[] = {{1, 2}, {3, 4}, {1, 1}, {3, 2}, {2, 1}, {5, 2}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static double value_of(struct noise_scale scale)
{
    return (double)scale.numerator / (double)scale.denominator;
}

Test(gaussian_shares, the_sum_is_as_near_to_a_discrete_gaussian_as_is_charged)
{
    for (size_t i = 0; i < SIZES; i++) {
        const double sigma = value_of(sizes[i]);
        for (uint64_t h = 1; h <= HONEST_MAX; h++) {
            struct masses sum;
            struct masses whole;
            masses_init(&sum);
            masses_init(&whole);
            set_sum(&sum, sizes[i], h);
            set_gaussian(&whole, sizes[i], 1 / (double)h);
            /* 1/h is not exact: off by 2^-53 of an exponent of 8 and less. */
            const double found = farthest(&sum, &whole, within_of(sigma, h));
            const double bound = gaussian_sum_distance(sigma, h);
            cr_expect_leq(found, bound + 0x1p-48, "sigma %g, h %d: %g", sigma, (int)h, found);
            if (h == 2 && bound > 1e-10) { /* where it is tightest: 2 q of 10 q */
                cr_expect_gt(found, bound / 5.3, "sigma %g: %g", sigma, found);
                cr_expect_gt(found, gaussian_sum_distance(sigma * 1.5, h), "a larger share's");
            }
            masses_clear(&sum);
            masses_clear(&whole);
        }
    }
}

/* One share too few, or shares that are made for one site more: no bound of this kind holds. */
Test(gaussian_shares, a_share_too_few_is_far_away)
{
    for (size_t i = 2; i < SIZES; i++) {
        const double sigma = value_of(sizes[i]);
        for (uint64_t h = 2; h <= HONEST_MAX; h++) {
            struct masses sum;
            struct masses whole;
            masses_init(&sum);
            masses_init(&whole);
            set_sum(&sum, sizes[i], h - 1);
            set_gaussian(&whole, sizes[i], 1 / (double)h);
            cr_expect_gt(farthest(&sum, &whole, within_of(sigma, h)),
                         gaussian_sum_distance(sigma, h) + 0.05, "sigma %g, h %d", sigma, (int)h);
            masses_clear(&sum);
            masses_clear(&whole);
        }
    }
}

/* What the agent draws for a job: from the whole sigma to the sampler's own part of it. A record moves the sum by
 * `moves` steps. The profile is that of the whole sigma, plus what is charged. */
Test(gaussian_shares, the_profile_is_that_of_the_whole_noise_and_the_delta_charged)
{
    static const struct noise_scale whole_sigma[] = {{6, 1}, {11, 2}, {8, 1}};
    static const uint64_t shares[] = {2, 3, 5};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        const uint64_t h = shares[i];
        const int moves = 3;
        struct noise_scale part;
        struct masses sum;
        struct masses less;
        struct masses whole;
        masses_init(&sum);
        masses_init(&less);
        masses_init(&whole);
        noise_gaussian_part(&part, whole_sigma[i], h);
        set_sum(&sum, part, h);
        set_sum(&less, part, h - 1);
        set_gaussian(&whole, whole_sigma[i], 1);
        const double charged = (double)mechanism_sigma_delta(h, 1) / (double)DELTA_ATTO_ONE;
        cr_expect(charged > 0 && charged < 1e-15 * (double)h, "%g", charged);
        for (double epsilon = 0.125; epsilon < 4; epsilon *= 2) {
            const double found = delta_at(&sum, moves, epsilon);
            const double claimed = delta_at(&whole, moves, epsilon);
            cr_expect_leq(found, claimed * (1 + 0x1p-50) + charged, "h %d at %g: %g, %g", (int)h,
                          epsilon, found, claimed);
            cr_expect_gt(found, claimed * (1 - 1e-6), "h %d at %g", (int)h, epsilon);
            cr_expect_gt(delta_at(&less, moves, epsilon), claimed + charged,
                         "a share too few, h %d at %g", (int)h, epsilon);
        }
        masses_clear(&sum);
        masses_clear(&less);
        masses_clear(&whole);
    }
}
