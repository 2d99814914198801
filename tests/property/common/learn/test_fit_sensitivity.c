/* No pair of neighbours moves a fit by more than its sensitivity; pairs that come close to the
 * bound are constructed, so that a bound too small by a constant factor is caught. */

#include "learn/sensitivity.h"

#include "attack_data.h"
#include "dp/encode.h"

enum { MOST = 12 };

/* The results on data and on data with record 0 replaced by (x, y). */
struct moved {
    double l2;
    double l1; /* on the grid */
};

static struct moved move_of(const struct erm_problem *problem, struct dataset *data,
                            const double *x, double y, unsigned bits)
{
    const size_t d = data->feature_count;
    double w[2][MOST];
    int64_t grid[2][MOST];
    struct moved moved = {0};
    cr_assert(erm_solve(w[0], problem, data, NULL) == STATUS_OK);
    for (size_t j = 0; j < d; j++) {
        data->x[j] = x[j];
    }
    data->y[0] = y;
    cr_assert(erm_solve(w[1], problem, data, NULL) == STATUS_OK);
    moved.l2 = distance_between(w[0], w[1], d);
    encode_vector(grid[0], w[0], d, bits);
    encode_vector(grid[1], w[1], d, bits);
    for (size_t j = 0; j < d; j++) {
        moved.l1 += fabs((double)(grid[0][j] - grid[1][j]));
    }
    return moved;
}

static struct erm_problem problem_of(enum loss_kind loss, double lambda, const struct dataset *data)
{
    return (struct erm_problem){
        .loss = {.kind = loss},
        .lambda = lambda,
        .tolerance = loss == LOSS_LOGISTIC ? 1e-6 : 1e-5,
        .record_count = data->record_count,
        .feature_count = data->feature_count,
    };
}

static double bound_l2(const struct erm_problem *problem)
{
    double bound = 0;
    cr_assert(sensitivity_fit_l2(&bound, problem, NULL) == STATUS_OK);
    return bound;
}

static double bound_l1(const struct erm_problem *problem, unsigned bits)
{
    uint64_t bound = 0;
    cr_assert(sensitivity_fit_l1(&bound, problem, bits, NULL) == STATUS_OK);
    return (double)bound;
}

Test(fit_sensitivity, holds_on_random_and_hostile_neighbours)
{
    struct seeded_random random;
    seeded_random_init(&random, 21);
    for (int round = 0; round < 600; round++) {
        const enum attack attack = (enum attack)seeded_random_below(&random, ATTACK_COUNT);
        const enum attack other = (enum attack)seeded_random_below(&random, ATTACK_COUNT);
        const size_t m = 1 + seeded_random_below(&random, 40);
        const size_t d = 1 + seeded_random_below(&random, MOST);
        const unsigned bits = (unsigned)seeded_random_below(&random, 16);
        const double lambda = pow(10, -2.5 * seeded_random_unit(&random));
        struct dataset data = attack_data(attack, m, d, &random);
        const struct erm_problem problem =
            problem_of(round % 2 == 0 ? LOSS_LOGISTIC : LOSS_HINGE, lambda, &data);
        double x[MOST];
        double y = 0;
        attack_record(x, &y, d, round % 7, other, &random);
        y = round % 3 == 0 ? -data.y[0] : y;
        const struct moved moved = move_of(&problem, &data, x, y, bits);
        cr_assert(moved.l2 <= bound_l2(&problem), "round %d", round);
        cr_assert(moved.l1 <= bound_l1(&problem, bits), "round %d", round);
        dataset_free(&data);
    }
}

/* All records but the first lie along the last axis and determine w there. The first lies along the
 * diagonal of the other coordinates, and is replaced by its negative. For the hinge its slope is -1
 * on both sides as long as 1/(2 lambda m) < 1: the bound is reached exactly. `lean` tilts the first
 * record against w, so that the logistic loss is steep there too. */
static struct moved turn_around(enum loss_kind loss, double lambda, size_t m, size_t d, double lean,
                                unsigned bits, double *share)
{
    struct seeded_random random;
    seeded_random_init(&random, 22);
    struct dataset data = attack_data(ATTACK_ZERO, m, d, &random);
    double x[MOST];
    for (size_t i = 0; i < m; i++) {
        data.y[i] = 1;
        data.x[i * d + d - 1] = i == 0 ? -lean : 1;
    }
    x[d - 1] = -lean;
    for (size_t j = 0; j + 1 < d; j++) {
        data.x[j] = sqrt((1 - lean * lean) / (double)(d - 1));
        x[j] = -data.x[j];
    }
    const struct erm_problem problem = problem_of(loss, lambda, &data);
    const struct moved moved = move_of(&problem, &data, x, 1, bits);
    *share = moved.l2 / bound_l2(&problem);
    cr_assert(*share <= 1);
    cr_assert(moved.l1 <= bound_l1(&problem, bits));
    dataset_free(&data);
    return moved;
}

static const struct loss regression[] = {
    {LOSS_PINBALL, 0.1}, {LOSS_PINBALL, 0.5}, {LOSS_ABSOLUTE, 0}, {LOSS_INSENSITIVE, 0.25},
    {LOSS_HUBER, 0.5},   {LOSS_HUBER, 2},     {LOSS_SQUARED, 0},
};
enum { REGRESSION = sizeof regression / sizeof *regression };

Test(fit_sensitivity, holds_for_every_regression_loss)
{
    struct seeded_random random;
    double share[REGRESSION] = {0};
    seeded_random_init(&random, 25);
    for (int round = 0; round < 1400; round++) {
        const enum attack attack = (enum attack)seeded_random_below(&random, ATTACK_COUNT);
        const size_t m = 1 + seeded_random_below(&random, 20);
        const size_t d = 1 + seeded_random_below(&random, MOST);
        const double lambda = pow(10, 1 - 3 * seeded_random_unit(&random));
        struct dataset data = attack_data(attack, m, d, &random);
        double x[MOST];
        double y = 0;
        for (size_t i = 0; i < m; i++) {
            data.y[i] *= round % 2 == 0 ? seeded_random_unit(&random) : 1;
        }
        attack_record(x, &y, d, 0, (enum attack)seeded_random_below(&random, ATTACK_COUNT),
                      &random);
        for (size_t j = 0; j < d && round % 3 == 0; j++) {
            x[j] = data.x[j]; /* the label alone turns */
        }
        const struct erm_problem problem = {regression[round % REGRESSION], lambda, 1e-5, m, d};
        const struct moved moved = move_of(&problem, &data, x, round % 3 == 0 ? -data.y[0] : y, 10);
        share[round % REGRESSION] = fmax(share[round % REGRESSION], moved.l2 / bound_l2(&problem));
        cr_assert(moved.l2 <= bound_l2(&problem), "round %d", round);
        cr_assert(moved.l1 <= bound_l1(&problem, 10), "round %d", round);
        dataset_free(&data);
    }
    for (int k = 0; k < REGRESSION; k++) {
        cr_log_info("%s %g: up to %g of the bound", loss_name(regression[k].kind),
                    regression[k].parameter, share[k]);
    }
    /* One record in all: its slope turns from one end to the other. Half the bound would fail. */
    cr_assert(share[1] > 0.6 && share[2] > 0.6 && share[3] > 0.6 && share[4] > 0.6);
}

/* Both bounds, and where each is the smaller. */
Test(fit_sensitivity, takes_the_smaller_of_two_bounds)
{
    const struct loss hinge = {LOSS_HINGE, 0};
    for (int power = -12; power < 2; power++) {
        const double lambda = pow(3, power);
        for (size_t m = 1; m < 1000000; m *= 10) {
            const double slope = 1 / (lambda * (double)m);
            const double value = sqrt((1 + loss_ball(hinge, 1, 1, lambda)) / (lambda * (double)m));
            const double bound = sensitivity_minimiser(hinge, 1, lambda, m);
            cr_assert(bound >= fmin(slope, value) && bound < fmin(slope, value) * (1 + 1e-13));
        }
    }
    cr_assert(sensitivity_minimiser(hinge, 1, 1e-4, 10) < 1 / 1e-3, "the convex bound applies");
    cr_assert(sensitivity_minimiser(hinge, 1, 0.1, 1000) < 1.0001 / 100, "the Lipschitz one does");
}

Test(fit_sensitivity, is_reached_by_the_hinge)
{
    double share = 0;
    turn_around(LOSS_HINGE, 1, 100, 9, 0, 20, &share);
    cr_log_info("hinge: %g of the bound", share);
    cr_assert(share > 0.6);
    turn_around(LOSS_HINGE, 20, 3, 9, 0, 20, &share);
    cr_log_info("hinge: %g of the bound", share);
    /* Half the bound, as from gamma = 4, or a replaced record counted as a removed one, would fail.
     */
    cr_assert(share > 0.9);
}

Test(fit_sensitivity, is_nearly_reached_by_the_logistic_loss)
{
    double share = 0;
    turn_around(LOSS_LOGISTIC, 0.001, 1000, 9, 0.5, 20, &share);
    cr_log_info("logistic: %g of the bound", share);
    cr_assert(share > 0.6);
}

/* Without sqrt(d) the grid's bound would be too small for a diagonal move. */
Test(fit_sensitivity, on_the_grid_needs_the_root_of_d)
{
    double share = 0;
    const struct moved moved = turn_around(LOSS_HINGE, 20, 3, 9, 0, 20, &share);
    const double planted = ceil(ldexp(moved.l2, 20)) + 9;
    cr_assert(moved.l1 > planted);
}

/* Every coordinate moves by the same small step; on a coarse grid all of them cross a rounding edge
 * together. Without the "+ d" the bound would be too small. */
Test(fit_sensitivity, on_the_grid_needs_one_more_per_coordinate)
{
    const size_t d = 9;
    size_t beyond_planted = 0;
    const size_t m = 200;
    for (int step = 0; step < 1500; step++) {
        const double lambda = 0.01 * pow(1.003, step);
        struct seeded_random random;
        seeded_random_init(&random, 23);
        struct dataset data = attack_data(ATTACK_ZERO, m, d, &random);
        double x[MOST];
        for (size_t i = 0; i < m * d; i++) {
            data.x[i] = schema_scale(d);
        }
        for (size_t i = 0; i < m; i++) {
            data.y[i] = 1;
        }
        for (size_t j = 0; j < d; j++) {
            x[j] = 0;
        }
        const struct erm_problem problem = problem_of(LOSS_LOGISTIC, lambda, &data);
        const struct moved moved = move_of(&problem, &data, x, 1, 1);
        const double planted = ceil(ldexp(sqrt((double)d) * bound_l2(&problem), 1));
        cr_assert(moved.l1 <= bound_l1(&problem, 1));
        beyond_planted += moved.l1 > planted ? 1 : 0;
        dataset_free(&data);
    }
    cr_assert(beyond_planted > 0);
}

Test(fit_sensitivity, range_bounds_every_fit)
{
    struct seeded_random random;
    seeded_random_init(&random, 24);
    for (int round = 0; round < 200; round++) {
        const enum attack attack = (enum attack)seeded_random_below(&random, ATTACK_COUNT);
        struct dataset data = attack_data(attack, 1 + seeded_random_below(&random, 30), 5, &random);
        const double lambda = pow(10, 1 - 3.5 * seeded_random_unit(&random));
        const struct erm_problem problem =
            problem_of(round % 2 == 0 ? LOSS_LOGISTIC : LOSS_HINGE, lambda, &data);
        double w[5];
        uint64_t range = 0;
        cr_assert(sensitivity_fit_range(&range, &problem, 12, NULL) == STATUS_OK);
        cr_assert(erm_solve(w, &problem, &data, NULL) == STATUS_OK);
        for (int j = 0; j < 5; j++) {
            cr_assert(fabs((double)encode_value(w[j], 12)) <= (double)range);
        }
        dataset_free(&data);
    }
}

Test(fit_sensitivity, refuses_what_does_not_fit)
{
    const struct erm_problem problem = {{LOSS_LOGISTIC, 0}, 0.01, 1e-6, 100, 8};
    uint64_t bound = 0;
    struct why why = {{0}};
    cr_assert(sensitivity_fit_l1(&bound, &problem, 4000, &why) == STATUS_INVALID);
    cr_assert(why.text[0] != '\0');
    cr_assert(sensitivity_fit_l1(&bound, &problem, 52, NULL) == STATUS_INVALID);
    cr_assert(sensitivity_fit_l1(&bound, &problem, 40, NULL) == STATUS_OK);
    cr_assert(sensitivity_fit_range(&bound, &problem, 52, NULL) == STATUS_INVALID);
    cr_assert(sensitivity_losses_l1(&bound, 8, 10, NULL) == STATUS_OK && bound == 8192);
    cr_assert(sensitivity_losses_l1(&bound, 8, 0, NULL) == STATUS_OK && bound == 8);
    cr_assert(sensitivity_losses_l1(&bound, 8, 52, NULL) == STATUS_INVALID);
}

/* m = 1260, lambda = 0.005: 1/(lambda m) = 0.15873..., a distance of 1e-4 on both sides. */
Test(fit_sensitivity, takes_known_values)
{
    const struct erm_problem problem = {{LOSS_LOGISTIC, 0}, 0.005, 1e-6, 1260, 8};
    const double exact = 1 / 6.3 + 2e-4;
    uint64_t on_grid = 0;
    cr_assert(bound_l2(&problem) >= exact && bound_l2(&problem) < exact * (1 + 1e-12));
    cr_assert(sensitivity_fit_l1(&on_grid, &problem, 16, NULL) == STATUS_OK);
    cr_assert(on_grid == (uint64_t)ceil(sqrt(8) * exact * 65536) + 8);
}
