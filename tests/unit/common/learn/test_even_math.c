/* The exponentials and logarithms whose time does not tell their argument, against MPFR over their whole
 * range. Fixed seeds. */

#include "learn/even_math.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <mpfr.h>

enum { DRAWS = 40000, PRECISION = 160 };

typedef int reference(mpfr_t out, const mpfr_t in, mpfr_rnd_t rounding);

static int softplus(mpfr_t out, const mpfr_t in, mpfr_rnd_t rounding)
{
    mpfr_neg(out, in, rounding);
    mpfr_exp(out, out, rounding);
    return mpfr_log1p(out, out, rounding);
}

/* How far value lies from the reference at x, in units of `unit`. */
static double error_of(reference *exact, double x, double value, double unit)
{
    mpfr_t at;
    mpfr_init2(at, PRECISION);
    mpfr_set_d(at, x, MPFR_RNDN);
    exact(at, at, MPFR_RNDN);
    mpfr_sub_d(at, at, value, MPFR_RNDN);
    const double error = fabs(mpfr_get_d(at, MPFR_RNDN)) / unit;
    mpfr_clear(at);
    return error;
}

static double ulp(double value)
{
    return nextafter(fabs(value), INFINITY) - fabs(value);
}

static double scaled(struct seeded_random *seeded, int low, int high)
{
    const int exponent = low + (int)seeded_random_below(seeded, (uint64_t)(high - low + 1));
    return ldexp(1 + seeded_random_unit(seeded), exponent);
}

Test(even_math, exp_errs_by_an_ulp_at_most)
{
    struct seeded_random seeded;
    double worst = 0;
    seeded_random_init(&seeded, 1);
    for (int i = 0; i < DRAWS; i++) {
        const double size =
            i % 2 == 0 ? 700 * seeded_random_unit(&seeded) : scaled(&seeded, -1074, 8);
        const double x = i % 4 < 2 ? size : -size;
        const double value = even_exp(x);
        worst = fmax(worst, error_of(mpfr_exp, x, value, ulp(value)));
    }
    cr_assert(worst <= 1 && worst > 0.5, "%g", worst);
    cr_assert(even_exp(0) == 1 && even_exp(-0.0) == 1 && even_exp(5e-324) == 1);
    cr_assert(even_exp(1e308) == even_exp(700) && even_exp(-INFINITY) == even_exp(-700));
}

Test(even_math, log1p_errs_by_an_ulp_at_most)
{
    struct seeded_random seeded;
    double worst = 0;
    seeded_random_init(&seeded, 2);
    for (int i = 0; i < DRAWS; i++) {
        const double x = i % 4 == 0   ? scaled(&seeded, -1074, 1022)
                         : i % 4 == 1 ? -scaled(&seeded, -1074, -2)
                         : i % 4 == 2 ? -1 + scaled(&seeded, -53, -2)
                                      : 4 * seeded_random_unit(&seeded) - 1;
        const double value = even_log1p(x);
        if (x > -1) {
            worst = fmax(worst, error_of(mpfr_log1p, x, value, ulp(value)));
        }
    }
    cr_assert(worst <= 1 && worst > 0.5, "%g", worst);
    cr_assert(even_log1p(-1) == -INFINITY && even_log1p(-2) == -INFINITY);
    cr_assert(even_log1p(-INFINITY) == -INFINITY && even_log1p(INFINITY) == INFINITY);
    cr_assert(isnan(even_log1p(NAN)) && isnan(even_log1p(-NAN)) && even_log1p(5e-324) == 5e-324);
    cr_assert(fabs(even_log1p(DBL_MAX) - log1p(DBL_MAX)) <= ulp(709));
}

Test(even_math, softplus_errs_by_a_rounding_of_one_at_most)
{
    struct seeded_random seeded;
    double worst = 0;
    seeded_random_init(&seeded, 3);
    for (int i = 0; i < DRAWS; i++) {
        const double t = i % 2 == 0 ? 45 * seeded_random_unit(&seeded) : scaled(&seeded, -1074, 9);
        worst = fmax(worst, error_of(softplus, t, even_softplus(t), DBL_EPSILON));
    }
    cr_assert(worst <= 1 && worst > 0.25, "%g", worst);
    cr_assert(even_softplus(37) == 0 && even_softplus(1e300) == 0);
}
