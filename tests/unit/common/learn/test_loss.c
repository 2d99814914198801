/* Losses, their derivatives and their constants. */

#include "learn/loss.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct loss logistic = {LOSS_LOGISTIC, 0};
static const struct loss hinge = {LOSS_HINGE, 0};
static const struct loss zero_one = {LOSS_ZERO_ONE, 0};
static const struct loss squared = {LOSS_SQUARED, 0};

/* All losses there are, some with several parameters. */
static const struct loss every[] = {
    {LOSS_LOGISTIC, 0},      {LOSS_HINGE, 0},     {LOSS_ZERO_ONE, 0}, {LOSS_PINBALL, 0.1},
    {LOSS_PINBALL, 0.5},     {LOSS_PINBALL, 0.9}, {LOSS_ABSOLUTE, 0}, {LOSS_INSENSITIVE, 0.25},
    {LOSS_INSENSITIVE, 0.0}, {LOSS_HUBER, 0.125}, {LOSS_HUBER, 2},    {LOSS_SQUARED, 0},
};
enum { EVERY = sizeof every / sizeof *every };

Test(loss, takes_known_values)
{
    cr_assert(fabs(loss_value(logistic, 0, 1) - 0.69314718055994531) < 1e-16);
    cr_assert(fabs(loss_value(logistic, 2, 1) - 0.12692801104297249) < 1e-15);
    cr_assert(fabs(loss_value(logistic, 2, -1) - 2.1269280110429727) < 1e-15);
    cr_assert(loss_value(logistic, 1e6, -1) == 1e6 && loss_value(logistic, -1e6, -1) == 0);
    cr_assert(loss_value(hinge, -0.25, -1) == 0.75 && loss_value(hinge, 3, 1) == 0);
    cr_assert(loss_value(zero_one, 0, -1) == 1 && loss_value(zero_one, 1e-300, 1) == 0);
    cr_assert(loss_value((struct loss){LOSS_PINBALL, 0.75}, 0.5, 1) == 0.375);
    cr_assert(loss_value((struct loss){LOSS_PINBALL, 0.75}, 1, 0.5) == 0.125);
    cr_assert(loss_value((struct loss){LOSS_ABSOLUTE, 0}, 1, -0.5) == 1.5);
    cr_assert(loss_value((struct loss){LOSS_INSENSITIVE, 0.25}, 1, -0.5) == 1.25);
    cr_assert(loss_value((struct loss){LOSS_INSENSITIVE, 0.25}, 0.25, 0) == 0);
    cr_assert(loss_value((struct loss){LOSS_HUBER, 0.5}, 0.25, 0.5) == 0.03125);
    cr_assert(loss_value((struct loss){LOSS_HUBER, 0.5}, -1, 0.5) == 0.625);
    cr_assert(loss_value(squared, -1, 0.5) == 2.25);
}

Test(loss, clamps_to_the_unit_interval_and_charges_nan_in_full)
{
    for (int k = 0; k < EVERY; k++) {
        const double score[] = {-INFINITY, -1e300, -3, -1, 0, 0.5, 1, 9, INFINITY};
        for (int i = 0; i < 9; i++) {
            for (int quarter = -2; quarter <= 2; quarter += 1) {
                const double y = loss_is_regression(every[k]) ? quarter / 2.0
                                 : quarter < 0                ? -1
                                                              : 1;
                const double value = loss_clamped(every[k], score[i], y);
                cr_assert(value >= 0 && value <= 1, "%d %g", k, score[i]);
            }
        }
        cr_assert(loss_clamped(every[k], NAN, 1) == 1 && loss_clamped(every[k], -30, 1) == 1);
        cr_assert(loss_clamped(every[k], loss_is_regression(every[k]) ? 1 : INFINITY, 1) == 0);
    }
}

/* A divisor too small would cut differences off, one too large would waste the noise. */
Test(loss, clamped_regression_reaches_one_at_a_residual_of_two_and_not_before)
{
    for (int k = 0; k < EVERY; k++) {
        if (loss_is_regression(every[k])) {
            const double above = loss_clamped(every[k], -1, 1);
            const double below = loss_clamped(every[k], 1, -1);
            cr_assert(fmax(above, below) == 1);
            cr_assert(loss_clamped(every[k], -0.99, 1) < 1 && loss_clamped(every[k], 0.99, -1) < 1);
        }
    }
}

Test(loss, clamped_is_the_value_within_a_rounding_error)
{
    for (int step = -4380; step < 4380; step++) {
        const double margin = step * 0.0137;
        const double exact = fmin(loss_value(logistic, margin, 1), 1);
        cr_assert(fabs(loss_clamped(logistic, margin, 1) - exact) <= 0x1p-52, "%g", margin);
    }
}

/* The derivative must not be so small that a product with it leaves the normal numbers: arithmetic
 * on subnormal ones takes many times as long, and so tells the margins. */
Test(loss, derivative_stays_far_above_the_subnormal_numbers)
{
    cr_assert(loss_derivative(logistic, 745, 1) < -1e-20);
}

Test(loss, derivative_agrees_with_differences_and_with_the_lipschitz_constant)
{
    for (int k = 0; k < EVERY; k++) {
        double steepest = 0;
        for (int step = -108; every[k].kind != LOSS_ZERO_ONE && step < 108; step++) {
            const double f = step * 0.37 + 0.01;
            const double y = loss_is_classification(every[k]) ? -1 : 0.3;
            const double h = 1e-6;
            const double slope =
                (loss_value(every[k], f + h, y) - loss_value(every[k], f - h, y)) / (2 * h);
            const double derivative = loss_derivative(every[k], f, y);
            steepest = fmax(steepest, fabs(derivative));
            cr_assert(fabs(slope - derivative) < 1e-6, "%d at %g", k, f);
        }
        if (every[k].kind != LOSS_SQUARED && every[k].kind != LOSS_ZERO_ONE) {
            const double bound = loss_lipschitz(every[k], 1, 1, 0.1);
            cr_assert(steepest <= bound && steepest > 0.999 * bound, "half of it would be caught");
        }
    }
    cr_assert(loss_derivative(hinge, 1, 1) == -1 && loss_derivative(hinge, -1, -1) == 1);
    cr_assert(loss_derivative(logistic, -1e308, 1) == -1);
    cr_assert(loss_derivative(logistic, 1e308, 1) > -1e-17);
}

/* One record (x, y) with |x| = kappa: w = kappa y/(kappa^2 + lambda). Its norm fills the ball at
 * lambda = kappa^2, and the ball of the papers, sqrt twice as wide, is never needed. */
Test(loss, least_squares_stays_in_its_ball_and_reaches_it)
{
    double fullest = 0;
    for (int i = -2; i <= 2; i++) {
        for (int j = -10; j < 10; j++) {
            const double kappa = ldexp(1, i);
            const double lambda = ldexp(1, j);
            const double w = kappa * 1.5 / (kappa * kappa + lambda);
            const double ball = loss_ball(squared, 1.5, kappa, lambda);
            cr_assert(w <= ball);
            fullest = fmax(fullest, w / ball);
            const double steepest = 2 * (kappa * ball + 1.5);
            cr_assert(loss_lipschitz(squared, 1.5, kappa, lambda) >= steepest * (1 - 1e-14));
            if (lambda <= 1) {
                cr_assert(loss_lipschitz(squared, 1.5, kappa, lambda) <=
                          2 * 1.5 * (kappa + 1) / sqrt(lambda) * (1 + 1e-14));
            }
        }
    }
    cr_assert(fullest > 0.999999, "a smaller ball would be wrong");
}

Test(loss, parameters_are_checked_by_kind)
{
    struct why why = {{0}};
    for (int k = 0; k < EVERY; k++) {
        cr_assert(loss_check(every[k], NULL) == STATUS_OK);
    }
    const struct loss wrong[] = {{LOSS_LOGISTIC, 0.5},    {LOSS_SQUARED, 1}, {LOSS_PINBALL, 0},
                                 {LOSS_PINBALL, 1},       {LOSS_HUBER, 0},   {LOSS_HUBER, 2.5},
                                 {LOSS_INSENSITIVE, 1.5}, {LOSS_HUBER, NAN}, {LOSS_ABSOLUTE, NAN}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        why.text[0] = '\0';
        cr_assert(loss_check(wrong[i], &why) == STATUS_INVALID && why.text[0] != '\0', "%zu", i);
    }
}

Test(loss, has_names)
{
    enum loss_kind kind = LOSS_LOGISTIC;
    for (int k = 0; k < LOSS_KINDS; k++) {
        cr_assert(loss_from_name(&kind, loss_name((enum loss_kind)k)) == STATUS_OK);
        cr_assert((int)kind == k);
    }
    cr_assert(loss_from_name(&kind, "zero_one") == STATUS_OK && kind == LOSS_ZERO_ONE);
    cr_assert(loss_from_name(&kind, "Hinge") == STATUS_NOT_FOUND && kind == LOSS_ZERO_ONE);
}

/* What solvers need of a loss comes from its own descriptor: Newton's method steps by this second
 * derivative, and one of another loss - Huber's for the logistic one, planted - is seen. */
Test(loss, every_loss_has_what_its_solver_asks_and_its_second_derivative_is_its_own)
{
    bool planted = false;
    for (int kind = 0; kind < LOSS_KINDS; kind++) {
        const bool has = loss_has_parameter((enum loss_kind)kind);
        const struct loss loss = {(enum loss_kind)kind, has ? 0.5 : 0};
        if (!loss_is_learnable(loss)) {
            cr_expect(!loss_is_smooth(loss), "%s", loss_name(loss.kind));
            continue;
        }
        cr_expect(loss_lipschitz(loss, 1, 1, 0.5) > 0 && loss_ball(loss, 1, 1, 0.5) > 0);
        if (!loss_is_smooth(loss)) {
            const struct loss_box box = loss_box(loss, 1);
            cr_expect(box.low < box.high && box.width >= 0, "%s", loss_name(loss.kind));
            continue;
        }
        for (int i = -30; i <= 30; i++) {
            const double f = 0.1 * i + 0.03; /* beside Huber's bends */
            const double step = 1e-6;
            const double found =
                (loss_derivative(loss, f + step, 1) - loss_derivative(loss, f - step, 1)) / 2 /
                step;
            const double second = loss_second_derivative(loss, f, 1);
            const struct loss huber = {LOSS_HUBER, 0.5};
            cr_expect(fabs(found - second) < 1e-6, "%s at %g: %g and %g", loss_name(loss.kind), f,
                      found, second);
            cr_expect(second <= loss_curvature(loss));
            planted = planted || (loss.kind == LOSS_LOGISTIC &&
                                  fabs(found - loss_second_derivative(huber, f, 1)) > 0.1);
        }
    }
    cr_expect(planted);
}
