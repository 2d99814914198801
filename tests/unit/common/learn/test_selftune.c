/* The self-tuning learner against numpy (tests/vectors/selftune.json), against references that are
 * plain, and on made-up records with noise. Fixed seeds. */

#include "learn/features_normal.h"
#include "learn/selftune.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

enum { FEATURES_MOST = 12, STATE_MOST = 300 };

/* Known answers */

static double number(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static size_t numbers(double *out, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        out[i] = json_number_value(json_array_get(list, i));
    }
    return json_array_size(list);
}

static double off_by(const double *a, const double *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i] - b[i]) / fmax(1, fabs(b[i])));
    }
    return most;
}

/* How far what agents see is from what a row of `after` says. */
static double off_after(const double *state, const json_t *after, const struct selftune *stage)
{
    double expected[STATE_MOST];
    size_t count = 1;
    expected[0] = number(after, "clip");
    count += numbers(expected + 1, json_object_get(after, "v"));
    count += numbers(expected + count, json_object_get(after, "mu"));
    count += numbers(expected + count, json_object_get(after, "w"));
    cr_assert(count == selftune_shown_count(stage));
    cr_assert(selftune_check_shown(state, stage) == STATUS_OK);
    return off_by(state, expected, count);
}

static void look(double *state, const json_t *row, const struct selftune *stage)
{
    const bool clips = stage->sight == SIGHT_SUMS;
    const double noise = number(row, "moments_deviation");
    double count[2];
    double kept[2];
    double sum[2 * FEATURES_MOST];
    double product[FEATURES_MOST * FEATURES_MOST];
    numbers(count, json_object_get(row, "count"));
    numbers(kept, json_object_get(row, "kept"));
    numbers(product, json_object_get(row, stage->sight == SIGHT_SQUARES ? "square" : "product"));
    cr_assert(numbers(sum, json_object_get(row, "sum")) == selftune_sum_count(stage));
    const struct selftune_look release = {.record_count = number(row, "records"),
                                          .count = count,
                                          .kept = clips ? kept : NULL,
                                          .sum = sum,
                                          .product = product,
                                          .count_deviation = number(row, "count_deviation"),
                                          .kept_deviation = clips ? noise / 4 : 0,
                                          .sum_deviation = noise,
                                          .product_deviation =
                                              stage->sight == SIGHT_SQUARES ? 2 * noise : noise};
    cr_assert(selftune_take_look(state, stage, &release) == STATUS_OK);
}

static void take(double *state, const json_t *row, uint32_t step, const struct selftune *stage)
{
    double gradient[FEATURES_MOST + 1];
    numbers(gradient, json_array_get(json_object_get(row, "gradients"), step));
    const struct selftune_release release = {.step = step,
                                             .record_count = number(row, "records"),
                                             .gradient = gradient,
                                             .deviation = number(row, "deviation")};
    cr_assert(selftune_take_gradient(state, stage, &release) == STATUS_OK);
}

static enum selftune_sight sight_of(const json_t *row)
{
    const char *sight = json_string_value(json_object_get(row, "sight"));
    return strcmp(sight, "products") == 0  ? SIGHT_PRODUCTS
           : strcmp(sight, "squares") == 0 ? SIGHT_SQUARES
                                           : SIGHT_SUMS;
}

static void meet(const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "name"));
    const struct selftune stage = {.feature_count = (size_t)number(row, "features"),
                                   .output_count = 1,
                                   .sight = sight_of(row),
                                   .gaussian = json_is_true(json_object_get(row, "gaussian")),
                                   .steps = (uint32_t)number(row, "steps"),
                                   .quantile = number(row, "quantile")};
    const json_t *after = json_object_get(row, "after");
    double state[STATE_MOST];
    double expected[FEATURES_MOST + 1];
    double model[FEATURES_MOST + 1];
    cr_assert(selftune_state_count(&stage) <= STATE_MOST);
    cr_assert(selftune_begin(state, &stage) == STATUS_OK);
    look(state, row, &stage);
    for (uint32_t step = 0;; step++) {
        const double off = off_after(state, json_array_get(after, step), &stage);
        cr_assert(off < 1e-6, "%s, step %u: %g", name, step, off);
        if (step == stage.steps) {
            break;
        }
        take(state, row, step, &stage);
    }
    selftune_model(model, state, &stage);
    numbers(expected, json_object_get(row, "model"));
    cr_assert(off_by(model, expected, stage.feature_count + 1) < 1e-6, "%s", name);
    numbers(expected, json_object_get(row, "without_expected"));
    const bool huge = strcmp(name, "a huge gradient") == 0;
    cr_assert(huge || off_by(state + 1, expected, stage.feature_count + 1) > 1e-4,
              "%s: the model's own gradient is not subtracted", name);
}

Test(selftune, does_what_numpy_does)
{
    json_t *rows = json_load_file(TEST_VECTORS "/selftune.json", 0, NULL);
    size_t i = 0;
    const json_t *row = NULL;
    json_array_foreach(rows, i, row)
    {
        meet(row);
    }
    cr_assert(i == 18);
    json_decref(rows);
}

/* Hostile numbers */

static bool is_finite(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

static double weird(struct public_random *random)
{
    static const double list[] = {0,     -1,   1e308, -1e308, 5e-324, 1e100,
                                  1e-30, 1e10, -1e5,  40,     0.5,    -0.0};
    return list[public_random_next(random) % (sizeof list / sizeof list[0])];
}

static void check_weird(struct public_random *random, const struct selftune *stage)
{
    double state[STATE_MOST];
    double input[FEATURES_MOST * FEATURES_MOST];
    double count[2] = {weird(random), weird(random)};
    double model[FEATURES_MOST + 1];
    const size_t all = selftune_state_count(stage);
    for (size_t i = 0; i < all; i++) {
        state[i] = weird(random);
    }
    for (size_t i = 0; i < FEATURES_MOST * FEATURES_MOST; i++) {
        input[i] = weird(random);
    }
    selftune_model(model, state, stage);
    cr_assert(is_finite(model, stage->feature_count + 1));
    const struct selftune_look look = {.record_count = fabs(weird(random)) + 1,
                                       .count = count,
                                       .kept = stage->sight == SIGHT_SUMS ? input + 3 : NULL,
                                       .sum = input,
                                       .product = input,
                                       .count_deviation = fabs(weird(random)),
                                       .kept_deviation = fabs(weird(random)),
                                       .sum_deviation = fabs(weird(random)),
                                       .product_deviation = fabs(weird(random))};
    if (public_random_next(random) % 2 == 0) {
        cr_assert(selftune_take_look(state, stage, &look) == STATUS_OK);
        cr_assert(is_finite(state, all) && selftune_check_shown(state, stage) == STATUS_OK);
    }
    for (uint32_t step = 0; step < stage->steps; step++) {
        const struct selftune_release release = {.step = step,
                                                 .record_count = look.record_count,
                                                 .gradient = input + step,
                                                 .deviation = fabs(weird(random))};
        cr_assert(selftune_take_gradient(state, stage, &release) == STATUS_OK);
        cr_assert(is_finite(state, all) && selftune_check_shown(state, stage) == STATUS_OK);
        selftune_model(model, state, stage);
        cr_assert(is_finite(model, stage->feature_count + 1));
    }
}

Test(selftune, stays_finite_from_any_finite_state_and_release)
{
    struct public_random random = public_random_from(11);
    for (uint32_t i = 0; i < 60; i++) {
        const struct selftune stage = {.feature_count = 1 + i % FEATURES_MOST,
                                       .output_count = 1,
                                       .sight = (enum selftune_sight)(SIGHT_SUMS + i % 3),
                                       .gaussian = i % 4 == 0,
                                       .steps = 1 + i % 6,
                                       .quantile = i % 5 == 0 ? 1 : 0.3};
        check_weird(&random, &stage);
    }
}

/* Every p is 1, so the curvature is 0, and without noise so is the ridge's numerator. */
Test(selftune, ends_where_the_model_is_sure_of_every_record, .timeout = 60)
{
    const struct selftune stage = {.feature_count = 1,
                                   .output_count = 1,
                                   .sight = SIGHT_PRODUCTS,
                                   .steps = 2,
                                   .quantile = 0.3};
    const double gradient[2] = {0.1, 0.1};
    const struct selftune_release release = {1, 1, gradient, 0};
    double state[STATE_MOST];
    cr_assert(selftune_begin(state, &stage) == STATUS_OK);
    state[2] = 1e5;
    cr_assert(selftune_take_gradient(state, &stage, &release) == STATUS_OK);
    cr_assert(is_finite(state, selftune_state_count(&stage)));
}

Test(selftune, refuses_releases_out_of_range)
{
    const struct selftune stage = {.feature_count = 2,
                                   .output_count = 1,
                                   .sight = SIGHT_PRODUCTS,
                                   .gaussian = false,
                                   .steps = 2,
                                   .quantile = 0.3};
    const double good[3] = {1, 2, 3};
    const double bad[3] = {1, NAN, 3};
    const struct selftune_look look = {10, good, NULL, good, good, 1, 0, 1, 1, NULL, NULL};
    const struct selftune_look looks[] = {
        {0, good, NULL, good, good, 1, 0, 1, 1, NULL, NULL},
        {NAN, good, NULL, good, good, 1, 0, 1, 1, NULL, NULL},
        {10, bad, NULL, good, good, 1, 0, 1, 1, NULL, NULL},
        {10, good, NULL, bad, good, 1, 0, 1, 1, NULL, NULL},
        {10, good, NULL, good, bad, 1, 0, 1, 1, NULL, NULL},
        {10, good, NULL, good, good, -1, 0, 1, 1, NULL, NULL},
        {10, good, NULL, good, good, 1, 0, 1, -1, NULL, NULL},
        {10, good, NULL, good, good, 1, 0, 1, INFINITY, NULL, NULL},
        {10, good, NULL, good, good, 1, 0, NAN, 1, NULL, NULL},
        {10, good, good, good, good, 1, 1, 1, 1, NULL, NULL},
    };
    const struct selftune_release releases[] = {
        {2, 10, good, 1}, {0, 0.5, good, 1}, {0, 10, bad, 1}, {0, 10, good, -1}, {0, 10, good, NAN},
    };
    double state[STATE_MOST];
    double before[STATE_MOST];
    cr_assert(selftune_begin(state, &stage) == STATUS_OK);
    memcpy(before, state, sizeof state);
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        cr_assert(selftune_take_look(state, &stage, &looks[i]) == STATUS_INVALID);
    }
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        cr_assert(selftune_take_gradient(state, &stage, &releases[i]) == STATUS_INVALID);
    }
    cr_assert(memcmp(before, state, selftune_state_count(&stage) * sizeof *state) == 0);
    cr_assert(selftune_take_look(state, &stage, &look) == STATUS_OK);
    const struct selftune plain = {
        .feature_count = 1, .output_count = 1, .sight = SIGHT_SUMS, .quantile = 0.3};
    const struct selftune_look sums[] = {{10, good, good, good, NULL, 1, 1, 1, 0, NULL, NULL},
                                         {10, good, NULL, good, NULL, 1, 1, 1, 0, NULL, NULL},
                                         {10, good, bad, good, NULL, 1, 1, 1, 0, NULL, NULL},
                                         {10, good, good, good, NULL, 1, -1, 1, 0, NULL, NULL}};
    cr_assert(selftune_begin(state, &plain) == STATUS_OK);
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        cr_assert(selftune_take_look(state, &plain, &sums[i]) ==
                  (i == 0 ? STATUS_OK : STATUS_INVALID));
    }
}

Test(selftune, refuses_a_stage_out_of_range)
{
    const struct selftune good = {
        .feature_count = 2, .output_count = 1, .steps = 2, .quantile = 0.3};
    struct why why = {{0}};
    cr_assert(selftune_check(&good, &why) == STATUS_OK);
    const struct selftune sums = {
        .feature_count = 2, .output_count = 1, .sight = SIGHT_SUMS, .quantile = 0.3};
    cr_assert(selftune_check(&sums, &why) == STATUS_OK, "sums are a model already");
    const struct selftune bad[] = {
        {0, 1, false, false, 2, 0.3},          {SELFTUNE_FEATURES_MAX + 1, 1, false, false, 2, 0.3},
        {2, 0, false, false, 2, 0.3},          {2, SELFTUNE_OUTPUTS_MAX + 1, false, false, 2, 0.3},
        {2, 2, false, false, 2, 0.3},          {2, 1, false, false, SELFTUNE_STEPS_MAX + 1, 0.3},
        {2, 1, false, false, 0, 0.3},          {2, 1, false, false, 2, 0},
        {2, 1, SIGHT_PRODUCTS, false, 0, 0.3}, {2, 1, false, false, 2, 1.1},
        {2, 1, false, false, 2, NAN},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_assert(selftune_check(&bad[i], &why) == STATUS_INVALID && why.text[0] != 0);
    }
}

Test(selftune, refuses_what_no_coordinator_shows)
{
    const struct selftune stage = {.feature_count = 2,
                                   .output_count = 1,
                                   .sight = SIGHT_PRODUCTS,
                                   .gaussian = false,
                                   .steps = 1,
                                   .quantile = 0.3};
    static const struct {
        size_t at;
        double value;
    } bad[] = {{0, 0},    {0, NAN},       {0, 50}, {1, NAN}, {3, INFINITY},
               {4, 1.01}, {5, -INFINITY}, {6, 33}, {9, NAN}, {7, 5e-324}};
    double state[STATE_MOST];
    cr_assert(selftune_begin(state, &stage) == STATUS_OK && selftune_shown_count(&stage) == 10);
    cr_assert(selftune_check_shown(state, &stage) == STATUS_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const double kept = state[bad[i].at];
        state[bad[i].at] = bad[i].value;
        cr_assert(selftune_check_shown(state, &stage) == STATUS_INVALID, "%zu", i);
        state[bad[i].at] = kept;
    }
}

/* The agents' part */

static void shown_of(double *shown, const struct selftune *stage, struct public_random *random)
{
    for (size_t i = 0; i < selftune_shown_count(stage); i++) {
        const double x = public_random_normal(random);
        shown[i] = i == 0 ? 1 : fmax(-1, fmin(1, x));
    }
}

Test(selftune, transforms_as_the_formula_says)
{
    struct public_random random = public_random_from(17);
    for (size_t i = 0; i < 200; i++) {
        const size_t d = 1 + i % FEATURES_MOST;
        const struct selftune stage = {.feature_count = d,
                                       .output_count = 1,
                                       .sight = (enum selftune_sight)(i % SIGHTS),
                                       .steps = 1,
                                       .quantile = 0.3};
        double shown[STATE_MOST];
        double z[FEATURES_MOST];
        double u[FEATURES_MOST + 1];
        shown_of(shown, &stage, &random);
        for (size_t j = 0; j < d; j++) {
            z[j] = fmax(-1, fmin(1, public_random_normal(&random)));
        }
        selftune_transform(u, z, shown, &stage);
        for (size_t j = 0; j < d; j++) {
            double plain = 2 * z[j];
            if (stage.sight == SIGHT_SUMS || stage.sight == SIGHT_SQUARES) {
                plain = (z[j] - shown[d + 2 + j]) * shown[2 * d + 2 + j];
            }
            for (size_t k = 0; stage.sight == SIGHT_PRODUCTS && k < d; k++) {
                plain =
                    (k == 0 ? 0 : plain) + (z[k] - shown[d + 2 + k]) * shown[2 * d + 2 + k * d + j];
            }
            cr_assert(fabs(u[j] - plain) < 1e-14);
        }
        cr_assert(u[d] == 1);
    }
}

/* The model in z gives the score that V gives in u. */
Test(selftune, model_scores_as_v_does)
{
    struct public_random random = public_random_from(19);
    for (size_t i = 0; i < 20; i++) {
        const size_t d = 1 + i % FEATURES_MOST;
        const struct selftune stage = {.feature_count = d,
                                       .output_count = 1,
                                       .sight = (enum selftune_sight)(i % SIGHTS),
                                       .steps = 2,
                                       .quantile = 0.3};
        double state[STATE_MOST] = {0};
        double z[FEATURES_MOST];
        double u[FEATURES_MOST + 1];
        double w[FEATURES_MOST + 1];
        double score = 0;
        shown_of(state, &stage, &random);
        for (size_t j = 0; j < d; j++) {
            z[j] = fmax(-1, fmin(1, public_random_normal(&random)));
        }
        selftune_transform(u, z, state, &stage);
        selftune_model(w, state, &stage);
        for (size_t j = 0; j <= d; j++) {
            score += u[j] * state[1 + j] - (j < d ? z[j] : 1) * w[j];
        }
        cr_assert(fabs(score) < 1e-13, "%g", score);
    }
}
