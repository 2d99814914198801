/* The accountant of loss distributions at its ends: deltas below what its tails cut off, and transforms too small
 * for the losses. Its bound may then be loose, and never too small. */

#include "account/pure.h"
#include "lab/composition/pld.h"
#include "lab/composition/pld_private.h"

#include <criterion/criterion.h>
#include <math.h>

static struct privacy_event event(enum mechanism mechanism, double parameter, uint64_t count,
                                  double sampling)
{
    return (struct privacy_event){mechanism, NEIGHBOURS_ADD_REMOVE, parameter, 1, count, sampling,
                                  0};
}

/* Beyond twelve standard deviations nothing is on the grid: below its mass only a loss without bound is
 * safe. At 10^-44 one run of discrete Gaussian noise of sigma 1 needs the outcome 14, of loss 14.5. */
Test(pld_ends, a_delta_below_the_tails_has_no_bound_from_the_grid)
{
    const struct privacy_event list[] = {event(MECHANISM_DISCRETE_GAUSSIAN, 1, 1, 1),
                                         event(MECHANISM_DISCRETE_GAUSSIAN, 1, 2, 1),
                                         event(MECHANISM_GAUSSIAN, 1, 2, 0.5)};
    for (size_t i = 0; i < 3; i++) {
        struct interval out = {NAN, NAN};
        cr_assert_eq(pld_epsilon(&out, &list[i], 1, 1e-44), STATUS_OK);
        cr_expect(out.high >= 14, "[%zu] %.17g", i, out.high);
        cr_assert_eq(pld_epsilon(&out, &list[i], 1, 1e-300), STATUS_OK);
        cr_expect(isinf(out.high), "[%zu] %.17g", i, out.high);
        cr_assert_eq(pld_delta(&out, &list[i], 1, 1000), STATUS_OK);
        cr_expect(out.high > 0 && out.high < 1e-30 && out.low <= out.high, "[%zu] %.17g", i,
                  out.high);
    }
}

/* From 2^4 cells to 2^12, whatever the tolerance: around the exact optimum of equal responses. */
Test(pld_ends, transforms_too_small_for_the_losses_say_little_and_never_too_little)
{
    static const struct {
        double epsilon;
        uint64_t count;
        double delta;
    } list[] = {{0.1, 1000, 1e-6}, {1, 40, 1e-9}, {1e-3, 1000000, 1e-6}, {3, 7, 1e-12}};
    for (size_t i = 0; i < 4; i++) {
        struct privacy_event one = event(MECHANISM_PURE, list[i].epsilon, list[i].count, 1);
        struct privacy_event noise =
            event(MECHANISM_DISCRETE_LAPLACE, 1 / list[i].epsilon, list[i].count, 1);
        struct interval truth = {NAN, NAN};
        cr_assert_eq(optimal_epsilon(&truth, &one, 1, list[i].delta), STATUS_OK);
        for (unsigned bits = 4; bits <= 12; bits++) {
            const struct pld_precision limits = {bits % 2 == 0 ? 1e-12 : 0.5, bits, PLD_BOTH_ENDS};
            struct interval out = {NAN, NAN};
            cr_assert_eq(pld_epsilon_within(&out, &one, 1, list[i].delta, limits), STATUS_OK);
            cr_expect(out.high >= truth.low && out.low <= truth.high,
                      "[%zu] 2^%u: [%.17g, %.17g], truth %.17g", i, bits, out.low, out.high,
                      truth.high);
            cr_assert_eq(pld_epsilon_within(&out, &noise, 1, list[i].delta, limits), STATUS_OK);
            cr_expect(out.high >= truth.low && out.low <= truth.high);
            cr_assert_eq(pld_delta_within(&out, &one, 1, truth.low * 0.999999, limits), STATUS_OK);
            cr_expect(out.high >= list[i].delta * (1 - 1e-9), "[%zu] 2^%u: %.17g", i, bits,
                      out.high);
            cr_assert_eq(pld_delta_within(&out, &one, 1, truth.high * 1.000001, limits), STATUS_OK);
            cr_expect(out.low <= list[i].delta, "[%zu] 2^%u: %.17g", i, bits, out.low);
        }
    }
}
