/* What constants inside the learner buy (common/learn/tuned.h): the algorithm alone with a constant as it is and with another value, on
 * the same splits. The learner is built into this test with LEARN_TUNED_VARIED. Fixed seeds: every run has the same figures, which
 * are printed. What is gained is above 5 standard errors of the paired differences. */

#include "learn_tables.h"

#include "learn/tuned.h"
#include "tests/unit/common/learn/number_rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NOISES = 1000000 };
enum measure { ACCURACY, AUC, ERROR }; /* ERROR: of a number, over the width of its range */

struct trial {
    const char *name; /* of a constant */
    double other;
    struct learn_table table;
    int splits;
    enum measure by;
};

static const struct trial *varied; /* NULL: all are as they are */

double learn_tuned(const char *name, double value)
{
    return varied != NULL && strcmp(name, varied->name) == 0 ? varied->other : value;
}

/* One plan is made from the text as the constant says, and one as it is. */
static void run(double *got, struct learn_alone *alone, int split)
{
    learn_alone_run(&got[ACCURACY], &got[AUC], alone, (uint64_t)split, (uint64_t)(NOISES + split));
    got[ERROR] = -got[ACCURACY];
}

static void try(const struct trial *trial)
{
    struct learn_alone alone[2];
    double sum = 0;
    double squares = 0;
    learn_table_open(&alone[0], &trial->table);
    varied = trial;
    learn_table_open(&alone[1], &trial->table);
    for (int split = 1; split <= trial->splits; split++) {
        double got[2][3];
        varied = NULL;
        run(got[0], &alone[0], split);
        varied = trial;
        run(got[1], &alone[1], split);
        const double more = got[0][trial->by] - got[1][trial->by];
        sum += more;
        squares += more * more;
    }
    varied = NULL;
    const double n = trial->splits;
    const double error = sqrt((squares / n - sum / n * (sum / n)) / (n - 1));
    (void)printf("%s %g, %s %s, delta %s: %s %+.4f (%.4f)\n", trial->name, trial->other,
                 trial->table.trust, trial->table.epsilon, trial->table.delta,
                 trial->by == AUC     ? "AUC"
                 : trial->by == ERROR ? "error"
                                      : "accuracy",
                 sum / n, error);
    cr_expect_gt(sum / n, 5 * error, "%s %g: %.4f (%.4f)", trial->name, trial->other, sum / n,
                 error);
    learn_alone_free(&alone[0]);
    learn_alone_free(&alone[1]);
}

static void try_all(const struct trial *trial, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        try(&trial[i]);
    }
}

/* epsilon and delta */
#define LOCAL_03          "local", "0.3", "0"
#define LOCAL_1           "local", "1", "0"
#define LOCAL_4           "local", "4", "0"
#define CENTRAL_1         "central", "1", "0"
#define CENTRAL_4         "central", "4", "0"
#define CENTRAL_20        "central", "20", "0"
#define LOCAL_05          "local", "0.5", "0"
#define LOCAL_2           "local", "2", "0"
#define LOCAL_8           "local", "8", "0"
#define LOCAL_20          "local", "20", "0"
#define CENTRAL_03        "central", "0.3", "0"
#define GAUSSIAN(epsilon) "central", epsilon, "0.00001"

#define MADE_UP(kind, ...)                                                                         \
    {                                                                                              \
        NULL, NULL, 5, __VA_ARGS__, .made = (kind)                                                 \
    }

Test(learn_tuned, constants_of_looks_and_first_models)
{
    static const struct trial trials[] = {
        {"REACH", 1.2, {TUMOURS, LOCAL_1}, 30, ACCURACY},
        {"SHARE_SPREAD", 0.8, {TUMOURS, LOCAL_03}, 100, ACCURACY},
        {"NOISE_EDGE", 8, MADE_UP(MADE_ALIKE, LOCAL_4), 20, ACCURACY},
        {"KEPT_SPREAD_CLASS", 10, {TUMOURS, LOCAL_1}, 120, ACCURACY},
        {"SELFTUNE_VARIANCE_PLAIN", 1, MADE_UP(MADE_OVERSHOOT, LOCAL_4), 12, ACCURACY},
        {"ALIKE", 1, MADE_UP(MADE_OVERSHOOT, CENTRAL_20), 20, ACCURACY},
        {"LONGEST", 0.5, {TUMOURS, CENTRAL_1}, 30, ACCURACY},
    };
    try_all(trials, sizeof trials / sizeof trials[0]);
}

Test(learn_tuned, constants_of_steps)
{
    static const struct trial trials[] = {
        {"RADIUS", 0.3, {TUMOURS, CENTRAL_20}, 20, ACCURACY},
        {"STEEP_MANY", 16, MADE_UP(MADE_COMMON, CENTRAL_1), 15, ACCURACY},
        {"STEEP_WHITE", 6, MADE_UP(MADE_ALIKE, LOCAL_4), 20, ACCURACY},
        {"TRIED_SCALE", 0.05, MADE_UP(MADE_BENT, CENTRAL_4), 9, ACCURACY},
        {"SELFTUNE_DRIFT", 10, MADE_UP(MADE_OVERSHOOT, CENTRAL_1), 10, ACCURACY},
        {"SELFTUNE_SHARED", 0, MADE_UP(MADE_LAGS, LOCAL_1), 30, ACCURACY},
        {"SECANT_NOISE", 1e9, MADE_UP(MADE_OVERSHOOT, CENTRAL_20), 8, ACCURACY},
        {"BENDS_NOISE", 0.001, MADE_UP(MADE_BENT, CENTRAL_4), 6, ACCURACY},
    };
    try_all(trials, sizeof trials / sizeof trials[0]);
}

/* What a stage plans is the other value's in the second of each pair: task/learn/plan.c. */
Test(learn_tuned, constants_of_looks_that_are_planned)
{
    static const struct trial trials[] = {
        {"PRODUCTS_NOISE", 0, {PATIENTS, LOCAL_4}, 45, ACCURACY},
        {"PRODUCTS_NOISE", 0.8, {PATIENTS, LOCAL_03}, 90, ACCURACY},
        {"PRODUCTS_NOISE_GAUSSIAN", 0, {PATIENTS, GAUSSIAN("1")}, 50, ACCURACY},
        {"PRODUCTS_NOISE_GAUSSIAN", 2, {TUMOURS, GAUSSIAN("4")}, 90, AUC},
        {"MEANS_NOISE_GAUSSIAN", 0.2, {TUMOURS, GAUSSIAN("5"), .wide = 8}, 90, AUC},
        {"SHARE_CLASS_SUMS", 0.15, MADE_UP(MADE_ALIKE, LOCAL_8), 110, ACCURACY},
        {"SHARE_CLASS_SUMS", 0.7, MADE_UP(MADE_COMMON, LOCAL_8), 45, ACCURACY},
    };
    try_all(trials, sizeof trials / sizeof trials[0]);
}

Test(learn_tuned, constants_of_steps_and_groups_that_are_planned)
{
    static const struct trial trials[] = {
        {"STEP_OF_GAUSSIAN", 7, {TUMOURS, GAUSSIAN("0.3")}, 300, AUC},
        {"GROUPS_BEFORE_STEPS", 1, MADE_UP(MADE_OVERSHOOT, LOCAL_2), 100, ACCURACY},
        {"GROUPS_BEFORE_STEPS", 0, {PATIENTS, LOCAL_05, .more = 18}, 85, ACCURACY},
    };
    try_all(trials, sizeof trials / sizeof trials[0]);
}

/* task/learn/number.c */
Test(learn_tuned, constants_of_the_plan_of_a_number)
{
    static const struct trial trials[] = {
        {"UNSURE_PRODUCTS", 0.001, {KAPPA, LOCAL_03}, 12, ERROR},
        {"UNSURE_PRODUCTS", 1, {KAPPA, GAUSSIAN("0.3")}, 20, ERROR},
        {"UNSURE_SQUARES", 1.5, {KAPPA, GAUSSIAN("0.1")}, 24, ERROR},
        {"UNSURE_NONE", 1, {KAPPA, LOCAL_1}, 12, ERROR},
        {"CLIP_USUAL", 9, {KAPPA, GAUSSIAN("0.02")}, 10, ERROR},
        {"STEEP_USUAL", 0.1, {KAPPA, CENTRAL_03}, 20, ERROR},
        {"NUMBER_SUMS", 0.01, {KAPPA, LOCAL_20}, 50, ERROR},
        {"NUMBER_SIZE", 0.4, {KAPPA, LOCAL_03}, 40, ERROR},
    };
    try_all(trials, sizeof trials / sizeof trials[0]);
}

enum { WALK_SPLITS = 12 };

/* Walks up in epsilon, or down, on the same splits, and returns the largest fall of accuracy in standard errors of the difference. */
static double fall_of(const struct learn_table *of, const char *trust, bool down)
{
    static const char *const epsilons[] = {"1", "2", "4", "7", "12", "20"};
    double before[WALK_SPLITS] = {0};
    double most = 0;
    static const size_t count = sizeof epsilons / sizeof epsilons[0];
    for (size_t e = 0; e < count; e++) {
        struct learn_table table = *of;
        struct learn_alone alone;
        double sum = 0;
        double squares = 0;
        table.trust = trust;
        table.epsilon = epsilons[down ? count - 1 - e : e];
        learn_table_open(&alone, &table);
        for (int split = 0; split < WALK_SPLITS; split++) {
            double got[ERROR + 1];
            run(got, &alone, split + 1);
            const double less = before[split] - got[ACCURACY];
            sum += less;
            squares += less * less;
            before[split] = got[ACCURACY];
        }
        const double n = WALK_SPLITS;
        const double error = sqrt(fmax(squares / n - sum / n * (sum / n), 1e-12) / (n - 1));
        if (e > 0) {
            (void)printf("%s %s: falls by %+.4f (%.4f)\n", trust, table.epsilon, sum / n, error);
            most = fmax(most, sum / n / error);
        }
        learn_alone_free(&alone);
    }
    return most;
}

/* Accuracy that did not fall would seem to, by 5 errors, in one of 3 10^6 choices of seeds. The twin walks down, and falls. */
Test(learn_tuned, accuracy_does_not_fall_as_epsilon_grows)
{
    static const struct learn_table alike = MADE_UP(MADE_OVERSHOOT, LOCAL_1);
    static const struct learn_table tumours = {TUMOURS, LOCAL_1};
    varied = NULL;
    cr_expect_lt(fall_of(&alike, "local", false), 5);
    cr_expect_lt(fall_of(&alike, "central", false), 5);
    cr_expect_lt(fall_of(&tumours, "local", false), 5);
    cr_expect_lt(fall_of(&tumours, "central", false), 5);
    cr_expect_gt(fall_of(&alike, "central", true), 5);
}

/* Of a number: what the other value loses of what there is to learn. */
static void try_number(const char *name, double other, const struct number_way *way, int seeds)
{
    static struct number_table table;
    const struct trial trial = {.name = name, .other = other};
    double sum = 0;
    double squares = 0;
    number_rig_draw(&table);
    const double best = number_rig_least(1, &way->loss, &table);
    const double spread = number_rig_least(0, &way->loss, &table) - best;
    for (int seed = 1; seed <= seeds; seed++) {
        varied = NULL;
        const double as_it_is = number_rig_learn(way, &table, (uint64_t)seed);
        varied = &trial;
        const double more = (number_rig_learn(way, &table, (uint64_t)seed) - as_it_is) / spread;
        sum += more;
        squares += more * more;
    }
    varied = NULL;
    const double n = seeds;
    const double error = sqrt(fmax(squares / n - sum / n * (sum / n), 0) / (n - 1));
    (void)printf("%s %g: loses %+.4f (%.4f)\n", name, other, sum / n, error);
    cr_expect_gt(sum / n, fmax(5 * error, 1e-3), "%s: %.4f (%.4f)", name, sum / n, error);
}

Test(learn_tuned, constants_of_numbers)
{
    const struct loss huber = {LOSS_HUBER, 0.05};
    const struct loss quantile = {LOSS_PINBALL, 0.1};
    const struct loss squared = {LOSS_SQUARED, 0};
    const struct number_way exact = {huber, SIGHT_SQUARES, true, 12, 1e-9, 0};
    const struct number_way plain = {squared, SIGHT_NONE, true, 12, 1e-9, 0};
    const struct number_way noisy = {squared, SIGHT_NONE, true, 12, 3e-2, 0};
    const struct number_way doubtful = {huber, SIGHT_SQUARES, false, 12, 1e-2, 0};
    const struct number_way tail = {quantile, SIGHT_NONE, true, 6, 1e-2, 0};
    try_number("SIGMA_FIRST", 0.1, &plain, 2);
    try_number("TURN_MOST", 0.05, &plain, 2);
    try_number("STEEP_LEAST", 2.5, &exact, 2);
    try_number("STEEP_FALL", 3.75, &exact, 2);
    try_number("SKEW", 1.5, &tail, 24);
    try_number("DRIFT", 0, &noisy, 24);
    try_number("SIGMA_CHANGES", 20, &doubtful, 24);
    try_number("SIGMA_UNSURE", 20, &doubtful, 24);
}
