#include "job/job.h"
#include "job/round.h"

#include "config/config.h"
#include "support/job_text.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

Test(job, is_read_as_written)
{
    struct job job;
    struct why why = {{0}};
    cr_assert_eq(job_parse(&job, slice_of(job_text), "job.yml", &why), STATUS_OK, "%s", why.text);
    cr_assert_str_eq(job.name, "trial");
    cr_assert_str_eq(job.schema.label.name, "death");
    cr_assert_str_eq(job.schema.label.positive, "1");
    cr_assert_str_eq(job.schema.label.negative, "0");
    cr_assert_eq(job.schema.column_count, 3);
    const struct column *column = job.schema.column;
    cr_assert_eq(column[0].kind, COLUMN_NUMBER);
    cr_assert_eq(column[0].centre, 74.0);
    cr_assert_eq(column[0].half_width, 24.0);
    cr_assert_not(column[0].has_missing);
    cr_assert_eq(column[1].kind, COLUMN_CATEGORY);
    cr_assert_eq(column[1].category_count, 3);
    cr_assert_str_eq(column[1].category[1], "M");
    cr_assert(column[1].has_missing);
    cr_assert_eq(column[1].missing, 2.0);
    cr_assert_eq(column[2].transform, TRANSFORM_LOG1P);
    cr_assert(column[2].has_missing);
    cr_assert_eq(column[2].missing, 0.5);
    cr_assert_eq(job.unit, UNIT_RECORD);
    cr_assert_eq(job.trust, TRUST_LOCAL);
    cr_assert_eq(job.epsilon_micro, 1000000);
    cr_assert_eq(job.delta_atto, 0);
    cr_assert_eq(job.cohort_min, 3);
    cr_assert_eq(job.join_deadline_ms, 60000);
    cr_assert_eq(job.deadline_ms, 30000);
    cr_assert_eq(job.stage_count, 2);
    job_free(&job);
    cr_assert_null(job.stage);
}

Test(job, has_stages_with_their_price)
{
    struct job job;
    struct why why = {{0}};
    cr_assert_eq(job_parse(&job, slice_of(job_text), "job.yml", &why), STATUS_OK, "%s", why.text);
    const struct stage *fit = &job.stage[0];
    const struct stage *losses = &job.stage[1];
    cr_assert_eq(fit->task, TASK_FIT);
    cr_assert_eq(fit->strategy, STRATEGY_AVERAGE);
    cr_assert_eq(fit->loss.kind, LOSS_HINGE);
    cr_assert_eq(fit->rounds, 3);
    cr_assert_eq(fit->lambda[2], 0.1);
    cr_assert_eq(fit->tolerance, 1e-4);
    cr_assert_eq(fit->grid_bits, 16);
    cr_assert(fit->experts_own);
    cr_assert_eq(fit->shift_count, 2);
    cr_assert_eq(fit->shift[0], -0.5);
    cr_assert_eq(fit->epsilon_micro, 800000);
    cr_assert_eq(fit->charge.epsilon_micro, 266666, "split over the lambdas, rounded down");
    cr_assert_eq(losses->task, TASK_LOSSES);
    cr_assert_eq(losses->strategy, STRATEGY_RWM);
    cr_assert_eq(losses->loss.kind, LOSS_ZERO_ONE);
    cr_assert_eq(losses->rounds, 12);
    cr_assert_eq(losses->batch, 100);
    cr_assert_eq(losses->grid_bits, 20);
    cr_assert_eq(losses->epsilon_micro, 200000);
    cr_assert_eq(losses->charge.epsilon_micro, 200000, "one charge for the pass");
    cr_assert_eq(job_records_min(&job), 1200);
    cr_assert_eq(job_experts_of_round(fit, 5), 8);
    cr_assert_eq(job_experts_of_round(fit, 2), 5);
    cr_assert_eq(job_experts_of_round(fit, 1), 3, "a lone agent's own model is the average");
    cr_assert_eq(job_experts_of_round(losses, 5), 0);
    job_free(&job);
}

Test(job, numbers_its_rounds_through_all_stages)
{
    struct job job;
    struct why why = {{0}};
    uint32_t within = 99;
    cr_assert_eq(job_parse(&job, slice_of(job_text), "job.yml", &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(job_round_count(&job), 15);
    cr_assert_eq(job_stage_of(&job, 0, &within), &job.stage[0]);
    cr_assert_eq(within, 0);
    cr_assert_eq(job_stage_of(&job, 2, &within), &job.stage[0]);
    cr_assert_eq(within, 2);
    cr_assert_eq(job_stage_of(&job, 3, &within), &job.stage[1]);
    cr_assert_eq(within, 0);
    cr_assert_eq(job_stage_of(&job, 14, &within), &job.stage[1]);
    cr_assert_eq(within, 11);
    job_free(&job);
}

Test(job, has_no_stage_after_its_last_round, .signal = SIGABRT)
{
    struct job job;
    uint32_t within = 0;
    cr_assert_eq(job_parse(&job, slice_of(job_text), "job.yml", NULL), STATUS_OK);
    (void)job_stage_of(&job, 15, &within);
}

Test(job, prints_and_parses_enums_by_the_same_names)
{
    cr_assert_str_eq(task_name(TASK_FIT), "fit");
    cr_assert_str_eq(task_name(TASK_LOSSES), "losses");
    cr_assert_null(task_name((enum task)99));
    cr_assert_str_eq(strategy_name(STRATEGY_AVERAGE), "average");
    cr_assert_str_eq(strategy_name(STRATEGY_RWM), "rwm");
    cr_assert_null(strategy_name((enum strategy)99));
    cr_assert_str_eq(job_unit_name(UNIT_RECORD), "record");
    cr_assert_null(job_unit_name((enum job_unit)99));
    cr_assert_str_eq(job_trust_name(TRUST_LOCAL), "local");
    cr_assert_null(job_trust_name((enum job_trust)99));
}

/* Sets values in the job's text and parses it. */
static enum status parse_with(struct job *job, const char *const *assignment, size_t count,
                              struct why *why)
{
    char *text = strdup(job_text);
    size_t size = strlen(text);
    for (size_t i = 0; i < count; i++) {
        char *next = NULL;
        size_t next_size = 0;
        cr_assert_eq(config_override(&next, &next_size, (struct slice){text, size}, "job.yml",
                                     assignment[i], why),
                     STATUS_OK, "%s", why->text);
        free(text);
        text = next;
        size = next_size;
    }
    enum status status = job_parse(job, (struct slice){text, size}, "job.yml", why);
    free(text);
    return status;
}

Test(job, takes_every_loss_where_it_has_a_meaning)
{
    static const struct {
        const char *fit;
        const char *losses;
        enum status status;
    } list[] = {
        {"logistic", "logistic", STATUS_OK},   {"hinge", "hinge", STATUS_OK},
        {"logistic", "zero_one", STATUS_OK},   {"zero_one", "zero_one", STATUS_INVALID},
        {"zero-one", "hinge", STATUS_INVALID}, {"0", "hinge", STATUS_INVALID},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct job job;
        struct why why = {{0}};
        char fit[64];
        char losses[64];
        (void)snprintf(fit, sizeof fit, "stages.0.loss=%s", list[i].fit);
        (void)snprintf(losses, sizeof losses, "stages.1.loss=%s", list[i].losses);
        const char *const assignment[] = {fit, losses};
        cr_expect_eq(parse_with(&job, assignment, 2, &why), list[i].status, "%s %s: %s",
                     list[i].fit, list[i].losses, why.text);
        job_free(&job);
    }
}

Test(job, an_override_changes_what_is_parsed)
{
    struct job job;
    struct why why = {{0}};
    static const char *const assignment[] = {"privacy.epsilon=0.29",
                                             "stages.0.share=0.5",
                                             "stages[1].rounds=2",
                                             "stages.0.lambdas=[1]",
                                             "stages.0.experts={own: false}",
                                             "privacy.delta=1e-6"};
    cr_assert_eq(parse_with(&job, assignment, 6, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(job.epsilon_micro, 290000);
    cr_assert_eq(job.delta_atto, UINT64_C(1000000000000));
    cr_assert_eq(job.stage[0].epsilon_micro, 145000);
    cr_assert_eq(job.stage[0].rounds, 1);
    cr_assert_not(job.stage[0].experts_own);
    cr_assert_eq(job.stage[0].shift_count, 0);
    cr_assert_eq(job_experts_of_round(&job.stage[0], 5), 1);
    cr_assert_eq(job_records_min(&job), 200);
    job_free(&job);
}

/* Shares of a thousandth each: summed as doubles, some exact sums of 1 come out above it, and would
 * be refused by a job that floats; some sums of 1 + 10^-9 must be refused all the same. */
Test(job, adds_shares_exactly)
{
    double sum = 0;
    char text[8192];
    static const char *const share[] = {"0.2", "0.4", "0.3", "0.1", "0.000000001"};
    /* The planted variant. */
    for (size_t i = 0; i < 4; i++) {
        sum += strtod(share[i], NULL);
    }
    cr_assert_gt(sum, 1.0);
    for (size_t count = 4; count <= 5; count++) {
        struct job job;
        struct why why = {{0}};
        size_t used = (size_t)(strstr(job_text, "  - task: fit") - job_text);
        memcpy(text, job_text, used);
        for (size_t i = 0; i < count; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "  - {task: fit, loss: logistic, lambdas: [0.1], share: %s}\n",
                                     share[i]);
        }
        enum status status = job_parse(&job, (struct slice){text, used}, "job.yml", &why);
        cr_assert_eq(status, count == 4 ? STATUS_OK : STATUS_INVALID, "%s", why.text);
        uint64_t spent = 0;
        for (size_t i = 0; i < job.stage_count; i++) {
            spent += job.stage[i].epsilon_micro;
        }
        cr_assert_eq(spent, count == 4 ? 1000000 : 0);
        job_free(&job);
    }
}

Test(job, never_costs_more_than_its_epsilon)
{
    static const char *const epsilon[] = {"privacy.epsilon=0.000011", "privacy.epsilon=0.7777777",
                                          "privacy.epsilon=999.999999"};
    static const char *const share[] = {"stages.0.share=0.333333333", "stages.0.share=0.777777777",
                                        "stages.0.share=0.8"};
    for (size_t i = 0; i < 9; i++) {
        struct job job;
        struct why why = {{0}};
        const char *const assignment[] = {epsilon[i / 3], share[i % 3], "stages.0.grid_bits=8",
                                          "stages.1.grid_bits=0"};
        cr_assert_eq(parse_with(&job, assignment, 4, &why), STATUS_OK, "%s", why.text);
        uint64_t spent = 0;
        for (size_t s = 0; s < job.stage_count; s++) {
            spent += job.stage[s].charge.epsilon_micro *
                     (job.stage[s].task == TASK_FIT ? job.stage[s].rounds : 1);
        }
        cr_assert_leq(spent, job.epsilon_micro);
        job_free(&job);
    }
}

/* Answers whether both have the same columns, with the same bounds. */
static bool same_columns(const struct schema *a, const struct schema *b)
{
    bool same = a->column_count == b->column_count;
    for (size_t i = 0; i < a->column_count && same; i++) {
        const struct column *x = &a->column[i];
        const struct column *y = &b->column[i];
        same = strcmp(x->name, y->name) == 0 && x->kind == y->kind &&
               x->transform == y->transform && x->centre == y->centre &&
               x->half_width == y->half_width;
    }
    return same;
}

/* Trusts and noises are compared on the same columns, beside a pooled model that has the same. */
Test(job, the_jobs_that_are_shipped_cost_what_they_say_and_have_the_columns_they_are_compared_on)
{
    static const struct {
        const char *name;
        size_t features;
        size_t rows; /* what the least of five hospitals has of four fifths of the records */
        size_t like; /* the one that has the same columns */
    } jobs[] = {{"hospitals/update", 6, 1259, 0},
                {"hospitals/fit", 8, 1259, 1},
                {"hospitals/update-local", 6, 1259, 0},
                {"hospitals/update-central", 6, 1259, 0},
                {"hospitals/update-gaussian", 6, 1259, 0},
                {"tumours/update-local", 9, 91, 5},
                {"tumours/update-central", 9, 91, 5},
                {"tumours/update-gaussian", 9, 91, 5},
                {"hospitals/job", 8, 1259, 1},
                {"hospitals/learn", 8, 1259, 1},
                {"tumours/learn", 31, 91, 10}};
    enum { JOBS = sizeof jobs / sizeof jobs[0] };
    struct job job[JOBS];
    for (size_t i = 0; i < JOBS; i++) {
        struct why why = {{0}};
        char path[512];
        char *text = NULL;
        size_t size = 0;
        (void)snprintf(path, sizeof path, TEST_VECTORS "/../../compose/%s.yml", jobs[i].name);
        cr_assert_eq(config_load(&text, &size, path, &why), STATUS_OK, "%s", why.text);
        cr_assert_eq(job_parse(&job[i], (struct slice){text, size}, path, &why), STATUS_OK, "%s",
                     why.text);
        free(text);
        const struct cost cost = round_cost(&job[i], &job[i].filter, job_round_count(&job[i]));
        cr_assert_eq(job[i].epsilon_micro, 1000000);
        cr_assert(filter_admits(&job[i].filter, &cost), "%s", jobs[i].name);
        cr_assert_eq(schema_feature_count(&job[i].schema), jobs[i].features);
        cr_assert_leq(job_records_min(&job[i]), jobs[i].rows, "%s", jobs[i].name);
        for (size_t k = 0; k <= i; k++) {
            cr_assert_eq(same_columns(&job[i].schema, &job[k].schema), jobs[i].like == jobs[k].like,
                         "%s and %s", jobs[i].name, jobs[k].name);
        }
    }
    for (size_t i = 0; i < JOBS; i++) {
        job_free(&job[i]);
    }
}

Test(job, says_whom_it_asks)
{
    struct job job[3];
    char text[2][sizeof job_text + 64];
    struct why why = {""};
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(job_text, "minimum: 3,");
        (void)snprintf(text[i], sizeof text[i], "%.*sminimum: 2, agents: [%s],%s",
                       (int)(at - job_text), job_text, i == 0 ? "south, north" : "west, east",
                       at + strlen("minimum: 3,"));
        cr_assert_eq(job_parse(&job[i], (struct slice){text[i], strlen(text[i])}, "a.yml", &why),
                     STATUS_OK, "%s", why.text);
    }
    cr_assert_eq(job_parse(&job[2], (struct slice){job_text, strlen(job_text)}, "c.yml", &why),
                 STATUS_OK);
    cr_expect(job_asks(&job[0], "north") && job_asks(&job[0], "south"));
    cr_expect_not(job_asks(&job[0], "east"));
    cr_expect_not(job_asks(&job[0], "nort"));
    cr_expect_not(job_asks(&job[0], "northnorthnorthnorthnorthnorthnorth"));
    cr_expect(job_asks(&job[2], "east"), "whoever is admitted");
    cr_expect_not(job_shares_agents(&job[0], &job[1]));
    cr_expect(job_shares_agents(&job[0], &job[0]));
    cr_expect(job_shares_agents(&job[0], &job[2]) && job_shares_agents(&job[2], &job[1]));
    for (int i = 0; i < 3; i++) {
        job_free(&job[i]);
    }
}
