/* LinearLearner: its losses, its answer, and what one draw of it costs - exactly, with the weights
 * of the running code. */

#include "experts/hedge_play.h"

#include "dp/encode.h"
#include "learn/loss.h"
#include "noise/exponential.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { DIMENSIONS = 100, BITS = 12 };

Test(linear_learner, losses_are_in_the_unit_interval)
{
    const double x[] = {-1, 1, 0, 0.5, -2, 7, -INFINITY, NAN};
    const int64_t wanted[] = {0, 4096, 2048, 3072, 0, 4096, 0, 4096};
    int64_t loss[8];
    hedge_linear_losses(loss, x, 8, BITS);
    for (int i = 0; i < 8; i++) {
        cr_expect(loss[i] == wanted[i], "%d: %d", i, (int)loss[i]);
    }
    hedge_linear_losses(loss, x, 8, 0);
    cr_expect(loss[0] == 0 && loss[1] == 1);
}

/* What agents send for a direction, loss `linear` of its feature, is the learner's own loss. */
Test(linear_learner, a_jobs_losses_are_the_learners)
{
    const double x[] = {-1, 1, 0, 0.5, -0.3, 0.77, -2, 7, -INFINITY, NAN, 1e-9, 0.999999};
    int64_t loss[12];
    hedge_linear_losses(loss, x, 12, BITS);
    for (int i = 0; i < 12; i++) {
        double value = loss_clamped((struct loss){.kind = LOSS_LINEAR}, x[i], i % 2 == 0 ? 1 : -1);
        cr_expect_eq(encode_value(value, BITS), loss[i], "%d", i);
    }
}

/* ln P(0|x)/P(0|x') of a draw of exp(-eta L) with eta = 1/one. */
static double loss_of_a_draw(const int64_t *a, const int64_t *b, uint64_t one)
{
    struct noise_exponential decay;
    uint64_t distance[2][DIMENSIONS];
    double sum[2] = {0};
    double first[2] = {0};
    cr_assert(noise_exponential_init(&decay, 1, one) == STATUS_OK);
    for (int side = 0; side < 2; side++) {
        const int64_t *score = side == 0 ? a : b;
        for (int i = 0; i < DIMENSIONS; i++) {
            distance[side][i] = (uint64_t)(score[i] + 2 * (int64_t)one);
        }
        noise_exponential_floor(&decay, distance[side], distance[side], DIMENSIONS);
        first[side] = (double)distance[side][0];
        for (int i = 0; i < DIMENSIONS; i++) {
            sum[side] += (double)distance[side][i];
        }
    }
    return fabs(log(first[0] / sum[0]) - log(first[1] / sum[1]));
}

/* One sample of 100 dimensions is replaced by its negative, after samples that left coordinate 0
 * equal to the others or worse. With x itself for losses the draw loses nearly 4 eta, with (1 +
 * x)/2 at most 2.
 */
Test(linear_learner, a_draw_costs_two_eta_and_without_the_map_nearly_four)
{
    static const int64_t one = 1 << BITS;
    double x[DIMENSIONS];
    int64_t mapped[2][DIMENSIONS];
    int64_t raw[2][DIMENSIONS];
    double worst_mapped = 0;
    double worst_raw = 0;
    for (int behind = 0; behind < 5; behind++) {
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < DIMENSIONS; i++) {
                x[i] = (i == 0) == (side == 0) ? 1 : -1;
                raw[side][i] = (int64_t)x[i] * one + (i == 0 ? behind * one : 0);
            }
            hedge_linear_losses(mapped[side], x, DIMENSIONS, BITS);
            mapped[side][0] += behind * one;
        }
        worst_mapped = fmax(worst_mapped, loss_of_a_draw(mapped[0], mapped[1], (uint64_t)one));
        worst_raw = fmax(worst_raw, loss_of_a_draw(raw[0], raw[1], (uint64_t)one));
    }
    cr_log_info("per eta: %.4f mapped, %.4f raw", worst_mapped, worst_raw);
    cr_expect(worst_mapped <= 2 && worst_mapped > 1.98);
    cr_expect(worst_raw <= 4 && worst_raw > 3.96);
}

/* The regret of <x, y> against the best basis vector is twice that of the mapped losses. */
Test(linear_learner, regret_in_units_of_x_is_twice_that_of_the_losses)
{
    enum { ROUNDS = 40, D = 6 };
    struct seeded_random random;
    uint64_t plays[D] = {0};
    double y[D];
    double of_x[2] = {0};
    double of_losses[2] = {0};
    double total_x[D] = {0};
    double total_loss[D] = {0};
    seeded_random_init(&random, 3);
    for (int round = 0; round < ROUNDS; round++) {
        double x[D];
        int64_t loss[D];
        const size_t played = (size_t)seeded_random_below(&random, D);
        for (int i = 0; i < D; i++) {
            x[i] = (double)seeded_random_below(&random, 2049) / 1024 - 1; /* on the grid */
        }
        hedge_linear_losses(loss, x, D, BITS);
        for (int i = 0; i < D; i++) {
            total_x[i] += x[i];
            total_loss[i] += ldexp((double)loss[i], -BITS);
        }
        of_x[0] += x[played];
        of_losses[0] += ldexp((double)loss[played], -BITS);
        plays[played]++;
    }
    of_x[1] = of_losses[1] = INFINITY;
    for (int i = 0; i < D; i++) {
        of_x[1] = fmin(of_x[1], total_x[i]);
        of_losses[1] = fmin(of_losses[1], total_loss[i]);
    }
    cr_expect(fabs(of_x[0] - of_x[1] - 2 * (of_losses[0] - of_losses[1])) < 1e-9);
    hedge_linear_answer(y, plays, D);
    double sum = 0;
    for (int i = 0; i < D; i++) {
        cr_expect(fabs(y[i] * ROUNDS - (double)plays[i]) < 1e-9);
        sum += y[i];
    }
    cr_expect(fabs(sum - 1) < 1e-12);
}
