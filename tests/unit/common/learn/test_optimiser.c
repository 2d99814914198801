#include "learn/optimiser.h"

#include <criterion/criterion.h>
#include <math.h>

enum { ROUNDS = 7 };

/* The model after some rounds on one number, whose gradients are given. */
static double model_of(struct optimiser optimiser, const double *gradient, double start)
{
    double state[4];
    double model;
    optimiser.width = 1;
    optimiser_init(state, &optimiser, &start);
    for (uint64_t round = 0; round < optimiser.rounds; round++) {
        optimiser_step(state, &optimiser, &gradient[round], round);
    }
    optimiser_model(&model, state, &optimiser);
    return model;
}

static const double g[ROUNDS] = {1, -2, 3, 0.5, 0, -1, 2};

Test(optimiser, plain_steps_and_their_decay)
{
    const struct optimiser plain = {.rounds = 3, .rate = 0.5};
    const struct optimiser slower = {.rounds = 3, .rate = 0.5, .decay = 0.5};
    cr_assert_float_eq(model_of(plain, g, 4), 4 - 0.5 * (1 - 2 + 3), 1e-15);
    cr_assert_float_eq(model_of(slower, g, 4), 4 - 0.5 * (1 - 2 / sqrt(2) + 3 / sqrt(3)), 1e-15);
}

Test(optimiser, momentum_keeps_its_share_of_all_gradients_before)
{
    const struct optimiser heavy = {
        .kind = OPTIMISER_MOMENTUM, .rounds = 3, .rate = 0.5, .momentum = 0.9};
    const double m1 = 1;
    const double m2 = 0.9 * m1 - 2;
    const double m3 = 0.9 * m2 + 3;
    cr_assert_float_eq(model_of(heavy, g, 0), -0.5 * (m1 + m2 + m3), 1e-15);
}

Test(optimiser, adam_takes_steps_of_the_rate_whatever_the_gradients_size)
{
    const struct optimiser adam = {
        .kind = OPTIMISER_ADAM, .rounds = 1, .rate = 0.25, .momentum = 0.9, .momentum2 = 0.999};
    for (int digits = -3; digits < 4; digits++) {
        const double size = pow(10, digits);
        cr_assert_float_eq(model_of(adam, &size, 0), -0.25, 1e-9);
    }
    struct optimiser two = adam;
    two.rounds = 2;
    const double m = (0.9 * 0.1 * 1 + 0.1 * -2) / (1 - 0.81);
    const double v = (0.999 * 0.001 * 1 + 0.001 * 4) / (1 - 0.998001);
    cr_assert_float_eq(model_of(two, g, 0), -0.25 - 0.25 * m / sqrt(v), 1e-9);
}

/* The averages against sums over all weights passed through, for every number of rounds. */
Test(optimiser, averages_weigh_the_rounds_as_stated)
{
    for (uint64_t rounds = 1; rounds <= ROUNDS; rounds++) {
        const uint64_t half = rounds / 2;
        double w = 4;
        double tail = 0;
        double polynomial = 0;
        double all = 0;
        for (uint64_t t = 1; t <= rounds; t++) {
            w -= 0.5 * g[t - 1];
            tail += t > half ? w / (double)(rounds - half) : 0;
            polynomial += (double)t * w;
            all += (double)t;
        }
        struct optimiser optimiser = {.average = AVERAGE_TAIL, .rounds = rounds, .rate = 0.5};
        cr_expect_float_eq(model_of(optimiser, g, 4), tail, 1e-14);
        optimiser.average = AVERAGE_POLYNOMIAL;
        cr_expect_float_eq(model_of(optimiser, g, 4), polynomial / all, 1e-14);
        optimiser.average = AVERAGE_NONE;
        cr_expect_float_eq(model_of(optimiser, g, 4), w, 1e-15);
    }
}

Test(optimiser, weights_stay_in_the_ball_and_finite)
{
    struct optimiser optimiser = {.width = 2, .rounds = 5, .rate = 1, .radius = 2};
    double state[8];
    double weights[2];
    const double far[2] = {-300, -400};
    const double huge[2] = {1e308, -1e308};
    optimiser_init(state, &optimiser, NULL);
    optimiser_step(state, &optimiser, far, 0);
    optimiser_weights(weights, state, &optimiser);
    cr_assert_float_eq(weights[0], 1.2, 1e-14);
    cr_assert_float_eq(weights[1], 1.6, 1e-14);
    for (int kind = OPTIMISER_PLAIN; kind <= OPTIMISER_ADAM; kind++) {
        optimiser = (struct optimiser){.kind = (enum optimiser_kind)kind,
                                       .width = 2,
                                       .rounds = 5,
                                       .rate = 1e300,
                                       .momentum = kind == OPTIMISER_PLAIN ? 0 : 0.5,
                                       .momentum2 = kind == OPTIMISER_ADAM ? 0.5 : 0};
        optimiser_init(state, &optimiser, NULL);
        for (uint64_t round = 0; round < 5; round++) {
            optimiser_step(state, &optimiser, huge, round);
        }
        optimiser_model(weights, state, &optimiser);
        cr_assert(isfinite(weights[0]) && isfinite(weights[1]));
    }
}

Test(optimiser, the_state_taken_up_again_goes_on_as_if_never_put_down)
{
    const struct optimiser optimiser = {.kind = OPTIMISER_ADAM,
                                        .average = AVERAGE_POLYNOMIAL,
                                        .width = 1,
                                        .rounds = ROUNDS,
                                        .rate = 0.1,
                                        .momentum = 0.9,
                                        .momentum2 = 0.99};
    double state[4];
    double journal[4];
    double model;
    cr_assert_eq(optimiser_state_count(&optimiser), 4);
    optimiser_init(state, &optimiser, NULL);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < 4; i++) {
            journal[i] = state[i];
        }
        optimiser_step(journal, &optimiser, &g[round], round);
        for (size_t i = 0; i < 4; i++) {
            state[i] = journal[i];
        }
    }
    optimiser_model(&model, state, &optimiser);
    cr_assert_eq(model, model_of(optimiser, g, 0));
}

Test(optimiser, settings_out_of_range_are_refused)
{
    const struct optimiser good = {
        .kind = OPTIMISER_MOMENTUM, .width = 1, .rounds = 1, .rate = 1, .momentum = 0.5};
    struct optimiser bad[10];
    for (size_t i = 0; i < 10; i++) {
        bad[i] = good;
    }
    bad[0].rate = 0;
    bad[1].rate = INFINITY;
    bad[2].momentum = 1;
    bad[3].momentum = NAN;
    bad[4].momentum2 = 0.5;
    bad[5].kind = OPTIMISER_PLAIN;
    bad[6].decay = 1.5;
    bad[7].radius = -1;
    bad[8].width = 0;
    bad[9].rounds = 0;
    cr_assert_eq(optimiser_check(&good, NULL), STATUS_OK);
    for (size_t i = 0; i < 10; i++) {
        struct why why = {{0}};
        cr_expect_eq(optimiser_check(&bad[i], &why), STATUS_INVALID, "%zu", i);
        cr_expect(why.text[0] != '\0');
    }
}

/* In the gradient's place it is the same step, bit for bit: also in the ball, and where a step would not be finite. */
Test(optimiser, a_step_in_the_gradients_place_is_the_same)
{
    enum { W = 5, STEPS = 6 };
    for (int ball = 0; ball < 2; ball++) {
        const struct optimiser optimiser = {
            .width = W, .rounds = STEPS, .rate = 0.3, .decay = 0.5, .radius = ball};
        double state[W] = {0.25, -0.5, 1e-3, 0, 7};
        double before[W];
        for (uint64_t round = 0; round < STEPS; round++) {
            double gradient[W] = {0.1 * (double)round, -3, 1e-9, 1, round == 3 ? 1e300 : -1};
            memcpy(before, state, sizeof before);
            optimiser_step(state, &optimiser, gradient, round);
            optimiser_step_weights(gradient, before, &optimiser, round);
            cr_expect_eq(memcmp(gradient, state, sizeof state), 0, "round %u", (unsigned)round);
        }
    }
    struct optimiser other = {.width = W, .rounds = 1, .rate = 1};
    cr_expect(optimiser_is_weights(&other));
    other.average = AVERAGE_POLYNOMIAL;
    cr_expect_not(optimiser_is_weights(&other));
}
