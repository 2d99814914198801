/* What constants of `learn` buy on real tables, where the rehearsal's made-up ones (unit/common/task/test_learn_plan) cannot tell: the
 * plan as it is beside one that its constant rules out, with the same epsilon, on the same splits. Each case is the algorithm alone
 * (tests/support/learn_alone.h) with fixed seeds: every run has the same figures, which are printed. A constant that bought nothing
 * would be ahead by 5 standard errors of the paired differences in one of 3 10^6 choices of seeds. */

#include "learn_tables.h"

#include "job/round.h"
#include "task/learn/plan.h"
#include "task/learn/stage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

enum { NOISES = 1000000, NO_STEP = -1 };
enum measure { ACCURACY, AUC };

/* The other plan; 0 where it is as it was. */
struct other {
    enum selftune_sight sight;
    int steps; /* or NO_STEP */
    uint32_t groups;
    bool once;       /* all sites look in one round */
    double quantile; /* of the clip */
    double count;    /* the share of counts in a look at sums */
    double kept;     /* that of what the clip keeps */
    double sums;     /* that of sums in a look at products, of two classes */
};

struct choice {
    const char *name;
    struct learn_table table;
    int splits;
    enum measure by;
    struct other other;
};

static struct learn_prospect prospect_of(const struct job *job, const struct learn_stage *own)
{
    const double epsilon = (double)job->epsilon_micro * 1e-6;
    const double sites = (double)job->cohort_min;
    return (struct learn_prospect){.gaussian = own->tune.gaussian,
                                   .d = (double)own->tune.feature_count,
                                   .units = sites * (double)job->records_least,
                                   .noises = job->trust == TRUST_LOCAL ? sites : 1,
                                   .epsilon = epsilon,
                                   .rho =
                                       own->tune.gaussian ? learn_rho(epsilon, job->delta_atto) : 0,
                                   .sites = sites,
                                   .age = JOB_OF_NOW};
}

/* How many releases share what the stage spends: of two looks a site has one. */
static double paid(const struct stage *stage)
{
    return stage->turns > 0 ? 1 : stage->rounds;
}

/* The look and its steps as the other plan has them, with weights that keep its sensitivity, and all of epsilon. */
static void plan_other(struct job *job, const struct other *other)
{
    struct stage *stage = job->stage;
    struct learn_stage *own = learn_stage(stage);
    const double before = paid(stage);
    own->tune.sight = other->sight != SIGHT_NONE ? other->sight : own->tune.sight;
    own->tune.steps = other->steps == NO_STEP ? 0
                      : other->steps > 0      ? (uint32_t)other->steps
                                              : own->tune.steps;
    own->groups = other->groups > 0 ? other->groups : own->groups;
    own->groups_second = other->once ? 0 : own->groups_second;
    own->tune.quantile = other->quantile > 0 ? other->quantile : own->tune.quantile;
    const struct learn_prospect prospect = prospect_of(job, own);
    own->weights = learn_weigh(&prospect, own);
    stage->turns = own->groups_second > 0 ? ROUND_TURNS : 0;
    stage->rounds = own->tune.steps + (stage->turns > 0 ? ROUND_TURNS : 1);
    const double part = before / paid(stage);
    stage->charge.epsilon_micro = (uint64_t)((double)stage->charge.epsilon_micro * part);
    stage->charge.sigma_micro = (uint64_t)((double)stage->charge.sigma_micro / sqrt(part));
}

/* Shares of a Laplace look: task/learn/plan.c. */
static void share_other(struct learn_stage *own, const struct other *other)
{
    struct learn_weights *weights = &own->weights;
    if (other->count > 0 || other->kept > 0) {
        const double rest = 1 - 2 * weights->count - 2 * weights->kept;
        weights->count = other->count > 0 ? other->count / 2 : weights->count;
        weights->kept = other->kept > 0 ? other->kept / 2 : weights->kept;
        weights->sum *= (1 - 2 * weights->count - 2 * weights->kept) / rest;
    }
    if (other->sums > 0) {
        const double d = (double)own->tune.feature_count;
        const double counts = 0.05;
        const double products = 1 - counts - other->sums;
        const double whole = 1 + other->sums * other->sums / (4 * products);
        *weights = (struct learn_weights){.count = counts / 2 / whole,
                                          .sum = other->sums / d / whole,
                                          .product = products / ((d * d + d) / 2) / whole};
    }
}

static void compare(const struct choice *choice)
{
    struct learn_alone alone[2];
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < 2; i++) {
        learn_table_open(&alone[i], &choice->table);
    }
    plan_other(&alone[1].job, &choice->other);
    share_other(learn_stage(alone[1].job.stage), &choice->other);
    for (int split = 1; split <= choice->splits; split++) {
        double got[2][2];
        for (int i = 0; i < 2; i++) {
            learn_alone_run(&got[i][ACCURACY], &got[i][AUC], &alone[i], (uint64_t)split,
                            (uint64_t)(NOISES + split));
        }
        const double more = got[0][choice->by] - got[1][choice->by];
        sum += more;
        squares += more * more;
    }
    const double n = choice->splits;
    const double error = sqrt((squares / n - sum / n * (sum / n)) / (n - 1));
    (void)printf("%s, %s %s, delta %s: %s %+.4f (%.4f)\n", choice->name, choice->table.trust,
                 choice->table.epsilon, choice->table.delta, choice->by == AUC ? "AUC" : "accuracy",
                 sum / n, error);
    cr_expect_gt(sum / n, 5 * error, "%s: %.4f (%.4f)", choice->name, sum / n, error);
    for (int i = 0; i < 2; i++) {
        learn_alone_free(&alone[i]);
    }
}

/* epsilon and delta */
#define LOCAL_1     "local", "1", "0"
#define LOCAL_4     "local", "4", "0"
#define LOCAL_10    "local", "10", "0"
#define LOCAL_100   "local", "100", "0"
#define CENTRAL_1   "central", "1", "0"
#define CENTRAL_2   "central", "2", "0"
#define CENTRAL_4   "central", "4", "0"
#define GAUSSIAN_03 "central", "0.3", "0.00001"
#define GAUSSIAN_1  "central", "1", "0.00001"

/* Gradients are clipped where 30 % of their length is in shorter ones (tune.quantile). */
Test(learn_constants, the_clip_is_neither_short_nor_long)
{
    struct choice choice = {"5 %", {PATIENTS, LOCAL_1}, 60, ACCURACY, {.quantile = 0.05}};
    compare(&choice);
    choice = (struct choice){"90 %", {TUMOURS, GAUSSIAN_1}, 60, AUC, {.quantile = 0.9}};
    compare(&choice);
}

/* share_counts, share_counts_groups and share_counts_most; share_kept; share_sums. */
Test(learn_constants, each_part_of_a_look_has_its_share)
{
    struct choice choice = {"counts 45 %", {TUMOURS, LOCAL_1}, 100, ACCURACY, {.count = 0.45}};
    compare(&choice);
    choice = (struct choice){"counts 0.3 %", {DIGITS, LOCAL_10}, 20, ACCURACY, {.count = 0.003}};
    compare(&choice);
    choice = (struct choice){"kept 20 %", {TUMOURS, LOCAL_1}, 150, AUC, {.kept = 0.2}};
    compare(&choice);
    choice = (struct choice){"sums 3 %", {PATIENTS, LOCAL_4}, 100, AUC, {.sums = 0.03}};
    compare(&choice);
    choice = (struct choice){"sums 70 %", {PATIENTS, LOCAL_4}, 100, AUC, {.sums = 0.7}};
    compare(&choice);
}

/* MEANS_NOISE and MEANS_NOISE_GAUSSIAN: squares tell how wide columns are, and cost noise on their means. */
Test(learn_constants, squares_pay_where_noise_is_small_and_ranges_are_wide)
{
    struct choice choice = {
        "sums", {TUMOURS, LOCAL_100, .wide = 8}, 40, AUC, {.sight = SIGHT_SUMS}};
    compare(&choice);
    choice =
        (struct choice){"squares", {TUMOURS, CENTRAL_1}, 80, ACCURACY, {.sight = SIGHT_SQUARES}};
    compare(&choice);
    choice =
        (struct choice){"squares", {TUMOURS, GAUSSIAN_03}, 60, ACCURACY, {.sight = SIGHT_SQUARES}};
    compare(&choice);
}

/* STEP_OF_MANY; STEP_OF_TWO, above it; and STEP_OF_GAUSSIAN, below it. */
Test(learn_constants, steps_follow_where_their_noise_is_small)
{
    struct choice choice = {"two steps", {DIGITS, CENTRAL_4}, 5, ACCURACY, {.steps = 2}};
    compare(&choice);
    choice = (struct choice){"a step", {TUMOURS, LOCAL_1}, 100, AUC, {.steps = 1}};
    compare(&choice);
    choice = (struct choice){"no step", {DIGITS, LOCAL_100}, 8, ACCURACY, {.steps = NO_STEP}};
    compare(&choice);
    choice = (struct choice){"no step", {TUMOURS, GAUSSIAN_1}, 150, ACCURACY, {.steps = NO_STEP}};
    compare(&choice);
}

/* KEPT_USUAL and SPREAD_USUAL make the number of groups, SECOND_COLUMNS two looks. */
Test(learn_constants, columns_are_shared_out_and_looked_at_twice)
{
    struct choice choice = {"all sites look at all columns",
                            {PATIENTS, LOCAL_1, .more = 60},
                            12,
                            ACCURACY,
                            {.groups = 1, .once = true}};
    compare(&choice);
    choice = (struct choice){
        "all sites look once", {PATIENTS, LOCAL_1, .more = 60}, 32, ACCURACY, {.once = true}};
    compare(&choice);
}
