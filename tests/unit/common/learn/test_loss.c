/* Losses and their derivatives. */

#include "learn/loss.h"

#include <criterion/criterion.h>
#include <math.h>

Test(loss, takes_known_values)
{
    cr_assert(fabs(loss_value(LOSS_LOGISTIC, 0) - 0.69314718055994531) < 1e-16);
    cr_assert(fabs(loss_value(LOSS_LOGISTIC, 2) - 0.12692801104297249) < 1e-15);
    cr_assert(fabs(loss_value(LOSS_LOGISTIC, -2) - 2.1269280110429727) < 1e-15);
    cr_assert(loss_value(LOSS_LOGISTIC, -1e6) == 1e6 && loss_value(LOSS_LOGISTIC, 1e6) == 0);
    cr_assert(loss_value(LOSS_HINGE, 0.25) == 0.75 && loss_value(LOSS_HINGE, 3) == 0);
    cr_assert(loss_value(LOSS_ZERO_ONE, 0) == 1 && loss_value(LOSS_ZERO_ONE, 1e-300) == 0);
}

Test(loss, clamps_to_the_unit_interval_and_charges_nan_in_full)
{
    for (int kind = LOSS_LOGISTIC; kind <= LOSS_ZERO_ONE; kind++) {
        const double margin[] = {-INFINITY, -3, 0, 0.5, 9, INFINITY};
        for (int i = 0; i < 6; i++) {
            const double value = loss_clamped(kind, margin[i]);
            cr_assert(value >= 0 && value <= 1);
        }
        cr_assert(loss_clamped(kind, NAN) == 1 && loss_clamped(kind, -5) == 1);
        cr_assert(loss_clamped(kind, INFINITY) == 0);
    }
}

Test(loss, clamped_is_the_value_within_a_rounding_error)
{
    for (double margin = -60; margin < 60; margin += 0.0137) {
        const double exact = fmin(loss_value(LOSS_LOGISTIC, margin), 1);
        cr_assert(fabs(loss_clamped(LOSS_LOGISTIC, margin) - exact) <= 0x1p-52, "%g", margin);
    }
}

/* The derivative must not be so small that a product with it leaves the normal numbers: arithmetic
 * on subnormal ones takes many times as long, and so tells the margins. */
Test(loss, derivative_stays_far_above_the_subnormal_numbers)
{
    cr_assert(loss_derivative(LOSS_LOGISTIC, 745) < -1e-20);
}

Test(loss, derivative_agrees_with_differences_and_with_the_lipschitz_constant)
{
    for (int kind = LOSS_LOGISTIC; kind <= LOSS_HINGE; kind++) {
        for (double margin = -40; margin < 40; margin += 0.37) {
            const double h = 1e-6;
            const double slope =
                (loss_value(kind, margin + h) - loss_value(kind, margin - h)) / (2 * h);
            cr_assert(fabs(slope - loss_derivative(kind, margin)) < 1e-7, "%g", margin);
            cr_assert(fabs(loss_derivative(kind, margin)) <= loss_lipschitz(kind));
        }
    }
    cr_assert(loss_derivative(LOSS_HINGE, 1) == -1);
    cr_assert(loss_derivative(LOSS_LOGISTIC, -1e308) == -1);
    cr_assert(loss_derivative(LOSS_LOGISTIC, 1e308) > -1e-17);
}

Test(loss, has_names)
{
    enum loss_kind kind = LOSS_LOGISTIC;
    cr_assert(loss_from_name(&kind, "zero_one") == STATUS_OK && kind == LOSS_ZERO_ONE);
    cr_assert(loss_from_name(&kind, "hinge") == STATUS_OK && kind == LOSS_HINGE);
    cr_assert(loss_from_name(&kind, "Hinge") == STATUS_NOT_FOUND && kind == LOSS_HINGE);
}
