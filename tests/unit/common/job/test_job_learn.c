/* What a learn stage plans from a job's text, and what it refuses. */

#include "job/job.h"
#include "job/reach.h"
#include "job/round.h"
#include "job/terms.h"
#include "task/learn/stage.h"
#include "task/task.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char CLASSES[] = "{column: y, positive: \"1\", negative: \"0\"}";
static const char NUMBER[] = "{column: y, centre: 0, half_width: 1}";
static const char THREE[] = "{column: y, classes: [u, v, w]}";

struct setting {
    const char *label;
    const char *features;
    const char *trust;
    double epsilon;
    const char *delta;
    unsigned records;
    const char *data; /* more of the data section, a line with its newline */
    const char *stages;
    const char *unit; /* NULL: record */
    unsigned agents;  /* 0: 5 */
};

static enum status parse_of(struct job *job, const struct setting *s, enum job_age age,
                            struct why *why)
{
    char text[4096];
    char records[64] = "";
    if (s->records > 0) {
        (void)snprintf(records, sizeof records, "records: %u, ", s->records);
    }
    const int size = snprintf(
        text, sizeof text,
        "hedgerow: 1\njob: trial\ndata:\n  label: %s\n%s  features: [%s]\n"
        "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: %g, delta: %s}\n"
        "cohort: {minimum: %u, %sjoin_deadline_s: 10, deadline_s: 10}\nstages:\n%s",
        s->label, s->data == NULL ? "" : s->data, s->features, s->unit == NULL ? "record" : s->unit,
        s->trust, s->epsilon, s->delta, s->agents == 0 ? 5 : s->agents, records, s->stages);
    *why = (struct why){{0}};
    return job_parse_older(job, (struct slice){text, (size_t)size}, age, "job", why);
}

static enum status parse(struct job *job, const struct setting *s, struct why *why)
{
    return parse_of(job, s, JOB_OF_NOW, why);
}

#define SEVEN                                                                                      \
    "{column: a, centre: 0, half_width: 1}, {column: b, centre: 0, half_width: 1},"                \
    "{column: c, centre: 0, half_width: 1}, {column: d, centre: 0, half_width: 1},"                \
    "{column: e, centre: 0, half_width: 1}, {column: f, centre: 0, half_width: 1},"                \
    "{column: g, categories: [p, q]}"
#define LEARN         "  - {task: learn}\n"
#define BY_LOSS(loss) "  - {task: learn, loss: " loss "}\n"
#define WHOLE         "  - {task: query, queries: [\"count: a > 0\"], batch: 10, share: 1}\n"
#define PORTION       "  - {task: query, queries: [\"count: a > 0\"], batch: 10 %, share: 0.2}\n"
#define GAUSSIAN                                                                                   \
    "  - {task: update, loss: logistic, noise: gaussian, rounds: 1, batch: 9, clip: 1, rate: 1}\n"

Test(job_learn, looks_where_the_noise_on_moments_is_small_and_steps_more_often_with_less_noise)
{
    static const struct {
        struct setting setting;
        enum selftune_sight sight;
        uint32_t steps;
    } way[] = {
        {{CLASSES, SEVEN, "local", 1, "0", 1200, NULL, LEARN}, SIGHT_PRODUCTS, 2},
        {{CLASSES, SEVEN, "local", 0.1, "0", 1200, NULL, LEARN}, SIGHT_SUMS, 1},
        {{CLASSES, SEVEN, "local", 1, "0", 90, NULL, LEARN}, SIGHT_SUMS, 1},
        {{CLASSES, SEVEN, "local", 0.05, "0", 90, NULL, LEARN}, SIGHT_SUMS, 0},
        {{CLASSES, SEVEN, "central", 1, "0", 1200, NULL, LEARN}, SIGHT_PRODUCTS, 3},
        {{CLASSES, SEVEN, "central", 20, "0", 1200, NULL, LEARN}, SIGHT_PRODUCTS, 8},
        {{CLASSES, SEVEN, "central", 1, "0.00001", 1200, NULL, LEARN}, SIGHT_PRODUCTS, 8},
        {{CLASSES, SEVEN, "local", 0.3, "0.00001", 90, NULL, LEARN}, SIGHT_SUMS, 4},
        {{CLASSES, SEVEN, "local", 0.3, "0", 1200, NULL, LEARN}, SIGHT_SQUARES, 2},
        {{THREE, SEVEN, "local", 0.3, "0", 1200, NULL, LEARN}, SIGHT_SQUARES, 2},
        {{THREE, SEVEN, "central", 1, "0", 1200, NULL, LEARN}, SIGHT_PRODUCTS, 2},
    };
    uint32_t most = 0;
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        struct job job;
        struct why why;
        cr_assert_eq(parse(&job, &way[i].setting, &why), STATUS_OK, "%zu: %s", i, why.text);
        const struct stage *stage = job.stage;
        const struct selftune *tune = &learn_stage(stage)->tune;
        cr_expect_eq(tune->sight, way[i].sight, "%zu: sight %d", i, tune->sight);
        cr_expect_eq(tune->steps, way[i].steps, "%zu: %u steps", i, tune->steps);
        cr_expect_eq(stage->rounds, tune->steps + (tune->sight != SIGHT_NONE ? 1 : 0));
        cr_expect_eq(tune->gaussian, way[i].setting.delta[1] != '\0');
        cr_expect_eq(stage->batch, way[i].setting.records);
        cr_expect_eq(job.records_most, 1000000);
        most = tune->steps > most ? tune->steps : most;
        job_free(&job);
    }
    cr_expect_eq(most, 8);
}

/* A plan: what it looks at, and its steps. */
struct planned {
    enum selftune_sight sight;
    uint32_t steps;
};

static void check_number(const struct job *job, const struct planned *wanted, size_t way)
{
    const struct stage *stage = job->stage;
    const struct learn_stage *own = learn_stage(stage);
    cr_expect(own->is_number && selftune_serves(&stage->loss));
    cr_expect_eq(stage->loss.kind == LOSS_SQUARED, stage->loss.parameter == 0);
    cr_expect_eq(own->tune.sight, wanted->sight, "%zu: sight %d", way, own->tune.sight);
    cr_expect_eq(own->tune.steps, wanted->steps, "%zu: %u steps", way, own->tune.steps);
    cr_expect_eq(stage->rounds, own->tune.steps + (own->tune.sight != SIGHT_NONE ? 1 : 0));
    cr_expect_eq(learn_column_count(stage), 8);
    cr_expect_eq(learn_class_count(stage), 0);
    cr_expect(own->noise > 0);
}

/* Of a number too it looks where noise is small, and steps more often. Its first column is the label: there are no counts. A job
 * that programs before protocol version 9 have begun keeps its plan. */
Test(job_learn, plans_for_a_number)
{
    static const struct {
        struct setting setting;
        struct planned now;
        struct planned before;
    } way[] = {
        {{NUMBER, SEVEN, "local", 1, "0", 1200, NULL, LEARN}, {SIGHT_SQUARES, 4}, {SIGHT_NONE, 8}},
        {{NUMBER, SEVEN, "local", 0.1, "0", 1200, NULL, LEARN}, {SIGHT_NONE, 3}, {SIGHT_NONE, 1}},
        {{NUMBER, SEVEN, "local", 1, "0", 90, NULL, LEARN}, {SIGHT_NONE, 3}, {SIGHT_NONE, 1}},
        {{NUMBER, SEVEN, "local", 20, "0", 12000, NULL, LEARN},
         {SIGHT_PRODUCTS, 6},
         {SIGHT_PRODUCTS, 6}},
        {{NUMBER, SEVEN, "central", 1, "0.00001", 1200, NULL, LEARN},
         {SIGHT_PRODUCTS, 6},
         {SIGHT_PRODUCTS, 6}},
        {{NUMBER, SEVEN, "local", 0.6, "0.00001", 1200, NULL, LEARN},
         {SIGHT_SQUARES, 10},
         {SIGHT_SQUARES, 9}},
        {{NUMBER, SEVEN, "local", 1, "0", 1200, NULL, BY_LOSS("squared")},
         {SIGHT_SQUARES, 4},
         {SIGHT_NONE, 8}},
        {{NUMBER, SEVEN, "local", 1, "0", 1200, NULL, BY_LOSS("huber, loss_parameter: 0.1")},
         {SIGHT_SQUARES, 4},
         {SIGHT_NONE, 8}},
        {{NUMBER, SEVEN, "local", 1, "0", 1200, NULL, BY_LOSS("pinball, loss_parameter: 0.5")},
         {SIGHT_SQUARES, 4},
         {SIGHT_NONE, 8}},
        {{NUMBER, SEVEN, "local", 1, "0", 1200, NULL, BY_LOSS("pinball, loss_parameter: 0.95")},
         {SIGHT_PRODUCTS, 1},
         {SIGHT_PRODUCTS, 1}},
    };
    static const enum job_age ages[] = {JOB_OF_8, JOB_OF_7, JOB_UP_TO_4};
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        struct job job;
        struct why why;
        cr_assert_eq(parse(&job, &way[i].setting, &why), STATUS_OK, "%zu: %s", i, why.text);
        check_number(&job, &way[i].now, i);
        cr_expect_eq(job_differs_older(&job), way[i].now.sight != way[i].before.sight ||
                                                  way[i].now.steps != way[i].before.steps);
        job_free(&job);
        for (size_t k = 0; k < sizeof ages / sizeof ages[0]; k++) {
            cr_assert_eq(parse_of(&job, &way[i].setting, ages[k], &why), STATUS_OK);
            check_number(&job, &way[i].before, i);
            cr_expect_not(job_differs_older(&job));
            job_free(&job);
        }
    }
}

#define SERIES "  series: {column: y, lags: [1, 7]}\n"

/* What is protected lies in several records of a round, so the noise on a mean is that of fewer: of a series with two lags a
 * third of the records, of agents one each. */
Test(job_learn, plans_by_the_units_and_not_by_the_records)
{
    static const struct {
        struct setting setting;
        struct setting like;
        double factor; /* of the sensitivity of a round */
    } way[] = {
        {{NUMBER, SEVEN, "local", 3, "0", 1200, SERIES, LEARN},
         {NUMBER,
          SEVEN ", {column: h, centre: 0, half_width: 1}, {column: i, centre: 0, half_width: 1}",
          "local", 3, "0", 400, NULL, LEARN},
         3},
        {{CLASSES, SEVEN, "local", 20, "0", 300, NULL, LEARN, "agent", 200},
         {CLASSES, SEVEN, "local", 20, "0", 1, NULL, LEARN, "record", 200},
         300},
        {{CLASSES, SEVEN, "central", 1, "0.00001", 300, NULL, LEARN, "agent", 200},
         {CLASSES, SEVEN, "central", 1, "0.00001", 1, NULL, LEARN, "record", 200},
         300},
    };
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        struct job job[2];
        struct round_bounds bounds[2];
        struct why why;
        for (size_t k = 0; k < 2; k++) {
            cr_assert_eq(parse(&job[k], k == 0 ? &way[i].setting : &way[i].like, &why), STATUS_OK,
                         "%zu: %s", i, why.text);
            cr_assert_eq(round_bounds(&bounds[k], &job[k], job[k].stage, job[k].stage->rounds - 1,
                                      way[i].setting.records, 0, &why),
                         STATUS_OK, "%zu: %s", i, why.text);
        }
        const struct learn_stage *own = learn_stage(job[0].stage);
        const struct learn_stage *like = learn_stage(job[1].stage);
        cr_expect_eq(own->tune.sight, like->tune.sight, "%zu", i);
        cr_expect_eq(own->tune.steps, like->tune.steps, "%zu", i);
        cr_expect_eq(own->tune.feature_count, like->tune.feature_count);
        cr_expect_float_eq((double)bounds[0].sensitivity,
                           way[i].factor * (double)bounds[1].sensitivity, 1e-9, "%zu", i);
        cr_expect_eq(job[0].stage->batch, way[i].setting.records);
        cr_expect_eq(job[0].stage->charge.epsilon_micro, job[1].stage->charge.epsilon_micro);
        cr_expect_eq(reach_passes(&job[0], job[0].stage, job[0].stage->rounds),
                     job[0].stage->rounds, "every round is charged");
        job_free(&job[0]);
        job_free(&job[1]);
    }
}

/* What bounds an agent's weight where the job does not say it is never below what it asks of every agent. */
Test(job_learn, takes_more_than_a_million_records_of_an_agent)
{
    const struct setting setting = {CLASSES, SEVEN, "local", 1, "0", 2000000, NULL, LEARN};
    struct job job;
    struct why why;
    cr_assert_eq(parse(&job, &setting, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(job.records_most, 2000000);
    cr_expect_eq(job.stage->batch, 2000000);
    job_free(&job);
}

Test(job_learn, takes_what_the_other_stages_leave)
{
    static const char stages[] =
        "  - {task: query, queries: [\"count: a > 0\"], batch: 10, share: 0.3}\n"
        "  - {task: learn}\n"
        "  - {task: losses, loss: zero_one, rounds: 2, batch: 10, share: 0.2}\n";
    struct setting setting = {CLASSES, SEVEN, "local", 1, "0", 1200, NULL, stages};
    struct job job;
    struct why why;
    cr_assert_eq(parse(&job, &setting, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(job.stage[1].epsilon_micro, 500000);
    cr_expect_eq(job.stage[1].charge.epsilon_micro, 500000 / job.stage[1].rounds);
    cr_expect_eq(job_experts_of_stage(&job.stage[1], 3), 6, "what the losses judge");
    job_free(&job);
    setting.stages = "  - {task: learn, share: 0.4}\n";
    cr_assert_eq(parse(&job, &setting, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(job_experts_of_stage(job.stage, 3), 1, "nothing judges");
    cr_expect_eq(job.stage->epsilon_micro, 400000);
    job_free(&job);
    setting.delta = "0.00001"; /* a share is of Laplace noise's epsilon */
    cr_assert_eq(parse(&job, &setting, &why), STATUS_OK, "%s", why.text);
    cr_expect(!learn_stage(job.stage)->tune.gaussian);
    job_free(&job);
}

/* If no epsilon is left, the message names what takes it, and a remedy that a learn stage can follow. */
Test(job_learn, says_what_is_wrong_where_nothing_is_left_for_it)
{
    static const char TWO[] = "stages[1].share: is missing in two stages";
    static const char NONE[] = "shares leave nothing of epsilon";
    static const struct {
        const char *stages;
        const char *delta;
        const char *says;
    } way[] = {
        {"  - {task: learn}\n  - {task: learn}\n", "0", TWO},
        {"  - {task: learn}\n  - {task: learn}\n", "0.00001", TWO},
        {"  - {task: learn}\n" WHOLE, "0", NONE},
        {WHOLE "  - {task: learn}\n", "0", NONE},
        {WHOLE "  - {task: learn}\n", "0.00001", NONE},
        {"  - {task: learn}\n" GAUSSIAN, "0.00001", "stages[0].share: is missing, and another"},
        {GAUSSIAN "  - {task: learn}\n", "0.00001", "stages[1].share: is missing, and another"}};
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        const struct setting setting = {CLASSES,      SEVEN, "local", 1,
                                        way[i].delta, 1200,  NULL,    way[i].stages};
        struct job job;
        struct why why;
        cr_assert_eq(parse(&job, &setting, &why), STATUS_INVALID, "%zu", i);
        cr_expect_not_null(strstr(why.text, way[i].says), "%zu: %s", i, why.text);
    }
}

/* learn bounds the records of an agent where the job does not; a share of them beside it is legal in either order. */
Test(job_learn, bounds_records_for_shares_of_stages_before_and_after)
{
    static const char *const order[] = {LEARN PORTION, PORTION LEARN};
    for (size_t i = 0; i < 2; i++) {
        const struct setting setting = {CLASSES, SEVEN, "local", 1, "0", 1200, NULL, order[i]};
        struct job job;
        struct why why;
        cr_assert_eq(parse(&job, &setting, &why), STATUS_OK, "%zu: %s", i, why.text);
        cr_expect_eq(job.stage[1 - i].batch, 120);
        cr_expect_eq(job.stage[1 - i].records_most, 1000000);
        job_free(&job);
    }
}

/* grid_bits is refused there, so no message may ask for another grid. */
Test(job_learn, says_a_remedy_that_it_takes_where_numbers_do_not_fit)
{
    static const struct {
        double epsilon;
        unsigned records;
    } way[] = {{0.001, 20000000}, {1, 1000000000}};
    for (size_t i = 0; i < 2; i++) {
        const struct setting setting = {CLASSES, SEVEN,          "local", way[i].epsilon,
                                        "0",     way[i].records, NULL,    LEARN};
        struct job job;
        struct why why;
        cr_assert_eq(parse(&job, &setting, &why), STATUS_INVALID, "%zu", i);
        cr_expect_null(strstr(why.text, "grid"), "%zu: %s", i, why.text);
        cr_expect_not_null(strstr(why.text, "raise privacy.epsilon"), "%zu: %s", i, why.text);
    }
}

/* Almost no epsilon is left: the noise exceeds all numbers, and one step is better than none. */
Test(job_learn, steps_once_at_least_whatever_the_noise_on_a_number)
{
    struct learn_stage own = {.is_number = true};
    own.tune.feature_count = 7;
    own.tune.output_count = 1;
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        own.tune.gaussian = gaussian == 1;
        own.tune.steps = 0;
        learn_plan_number(&own, INFINITY, 1, JOB_OF_NOW);
        cr_expect_eq(own.tune.steps, 1);
        cr_expect_eq(own.tune.sight, SIGHT_NONE);
        learn_plan_number(&own, 1e300, 50, JOB_OF_NOW);
        cr_expect_eq(own.tune.steps, 1);
    }
}

Test(job_learn, learns_on_the_plain_columns_beside_stages_that_have_a_map)
{
    static const char stages[] =
        "  - {task: update, loss: hinge, rounds: 1, batch: 9, clip: 1, rate: 1, share: 0.5,\n"
        "     map: {kind: fourier, kernel: gaussian, gamma: 1, features: 20, seed: 42}}\n"
        "  - {task: learn}\n";
    const struct setting setting = {CLASSES, SEVEN, "local", 1, "0", 1200, NULL, stages};
    struct job job;
    struct why why;
    cr_assert_eq(parse(&job, &setting, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(job.stage[1].block.count, 8);
    cr_expect_eq(job.stage[1].block.first, 21);
    cr_expect_eq(learn_stage(&job.stage[1])->tune.feature_count, 7);
    job_free(&job);
}

#define JUDGED(share) "  - {task: learn}\n  - {task: losses, loss: zero_one, share: " share "}\n"

/* A changed model wins by two deviations of the noise on a difference of two losses. Five experts: each site's losses have
 * Laplace noise of scale 5/epsilon, on 1200 records of each of five sites. */
Test(job_learn, doubts_changed_models_by_the_noise_on_their_losses)
{
    static const struct {
        struct setting setting;
        double epsilon; /* of the losses; 0: nothing is doubted */
        double sites;   /* that add noise */
    } way[] = {{{CLASSES, SEVEN, "local", 1, "0", 1200, NULL, JUDGED("0.1")}, 0.1, 5},
               {{CLASSES, SEVEN, "local", 20, "0", 1200, NULL, JUDGED("0.2")}, 4, 5},
               {{CLASSES, SEVEN, "central", 1, "0", 1200, NULL, JUDGED("0.1")}, 0, 1},
               {{CLASSES, SEVEN, "local", 1, "0", 1200, NULL, LEARN}, 0, 5}};
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        struct job job;
        struct why why;
        cr_assert_eq(parse(&job, &way[i].setting, &why), STATUS_OK, "%zu: %s", i, why.text);
        const double noise = sqrt(2 * way[i].sites) * 5 / way[i].epsilon / (5 * 1200);
        const double weight = exp(-sqrt(8 * log(5)) * 2 * sqrt(2) * noise);
        const double expected = way[i].epsilon > 0 ? weight : 1;
        cr_expect_float_eq(task_doubt(&job, &job.stage[0]), expected, 1e-4, "%zu", i);
        job_free(&job);
    }
}

#define PLAYED(words)                                                                              \
    "  - {task: learn}\n  - {task: losses, loss: zero_one, batch: 100, share: 0.2, " words "}\n"

/* A play that forgets picks on its last four rounds of seven, as one of four rounds does. */
Test(job_learn, tells_the_chance_of_a_changed_model_by_the_rounds_that_the_pick_looks_at)
{
    static const char *const stages[] = {
        PLAYED("rounds: 4"), PLAYED("rounds: 7, horizon: doubling"), PLAYED("rounds: 7")};
    double chance[3];
    for (size_t i = 0; i < 3; i++) {
        const struct setting setting = {CLASSES, SEVEN, "local", 4, "0", 1200, NULL, stages[i]};
        struct job job;
        struct terms terms;
        struct why why;
        cr_assert_eq(parse(&job, &setting, &why), STATUS_OK, "%s", why.text);
        cr_assert_eq(terms_of_stage(&terms, &job, 1, (struct terms_size){5, 1200}, &why), STATUS_OK,
                     "%s", why.text);
        chance[i] = terms.changed_chance;
        cr_expect_lt(chance[i], terms.best_chance);
        terms_free(&terms);
        job_free(&job);
    }
    cr_expect_float_eq(chance[1], chance[0], 1e-9, "%g %g", chance[1], chance[0]);
    cr_expect_gt(chance[2], chance[0]);
}

Test(job_learn, refuses_what_it_does_not_serve_with_a_remedy)
{
    static const struct {
        struct setting setting;
        const char *says;
    } way[] = {
        {{CLASSES, SEVEN, "local", 1, "0", 100, NULL, LEARN, "round"},
         "privacy.unit: is round, and a learn stage looks at the same records in every round"},
        {{CLASSES, SEVEN, "local", 1, "0", 0, NULL, LEARN}, "write cohort.records"},
        {{CLASSES, SEVEN, "local", 0.000001, "0", 1000000000, NULL, LEARN},
         "privacy.epsilon: leaves each answer of stage 1 less than a millionth: raise it"},
        {{CLASSES, SEVEN, "local", 1, "0", 100,
          "  map: {kind: fourier, kernel: gaussian, gamma: 1, features: 20, seed: 42}\n", LEARN},
         "learns on the columns themselves"},
        {{CLASSES, SEVEN, "local", 0.1, "0", 100,
          "  map: {kind: products, kernel: gaussian, gamma: 1}\n", LEARN},
         "data.map.kind: \"products\" is not a choice"},
        {{CLASSES, SEVEN, "local", 1, "0", 100, NULL, "  - {task: learn, grid_bits: 20}\n"},
         "stages[0].grid_bits: follows from the noise"},
        {{CLASSES, SEVEN, "local", 1, "0", 100, NULL, "  - {task: learn, rounds: 4}\n"},
         "stages[0].rounds"},
        {{CLASSES, SEVEN, "local", 1, "0", 100, NULL, "  - {task: learn, batch: 4}\n"},
         "stages[0].batch"},
        {{CLASSES, SEVEN, "local", 1, "0", 100, NULL, BY_LOSS("hinge")},
         "stages[0].loss: follows from the label"},
        {{NUMBER, SEVEN, "local", 1, "0", 100, NULL, BY_LOSS("absolute")},
         "write squared, huber or pinball (absolute is pinball with loss_parameter: 0.5)"},
        {{NUMBER, SEVEN, "local", 1, "0", 100, NULL, BY_LOSS("pinball")},
         "stages[0].loss_parameter"},
        {{CLASSES, SEVEN, "local", 1, "0", 100, NULL, "  - {task: learn, noise: gaussian}\n"},
         "stages[0].noise"},
    };
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        struct job job;
        struct why why;
        cr_assert_eq(parse(&job, &way[i].setting, &why), STATUS_INVALID, "%zu", i);
        cr_expect_not_null(strstr(why.text, way[i].says), "%zu: %s", i, why.text);
    }
}
