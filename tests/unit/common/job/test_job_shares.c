/* A batch that is a share of each agent's records: its size, its refusals, and that noise and price are the
 * same at every agent. */

#include "job/reach.h"
#include "job/round.h"
#include "job/terms.h"
#include "task/losses/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *const frame =
    "hedgerow: 1\n"
    "job: trial\n"
    "data:\n"
    "  label: %s\n"
    "  features:\n"
    "    - {column: age, centre: 74, half_width: 24}\n"
    "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 3, %s%sdeadline_s: 30}\nstages:\n  - %s\n";
static const char *const plain = "{column: y, positive: \"1\", negative: \"0\"}";
static const char *const series = "{centre: 0, half_width: 1}\n  series: {column: y, lags: [1, 7]}";
static const char *const judged =
    "{task: losses, loss: linear, rounds: 3, batch: 33.3 %, share: 1, grid_bits: 16,\n"
    "     forecasters: [{name: up, features: [age], weights: [1]},\n"
    "     {name: down, features: [age], weights: [-1]}]}";
static const char *const counted =
    "{task: query, queries: [\"count: age >= 65\"], batch: 100%, share: 1, grid_bits: 10}";

struct trial {
    const char *label, *unit, *trust, *cohort, *stage, *most;
};

static enum status parse(struct job *job, struct why *why, struct trial trial)
{
    char text[4096];
    (void)snprintf(text, sizeof text, frame, trial.label == NULL ? plain : trial.label,
                   trial.unit == NULL ? "record" : trial.unit,
                   trial.trust == NULL ? "local" : trial.trust,
                   trial.cohort == NULL ? "" : trial.cohort,
                   trial.most == NULL ? "records_most: 1000000000, " : trial.most, trial.stage);
    return job_parse(job, (struct slice){text, strlen(text)}, "job.yml", why);
}

static struct job good(struct trial trial)
{
    struct job job;
    struct why why = {{0}};
    cr_assert_eq(parse(&job, &why, trial), STATUS_OK, "%s", why.text);
    return job;
}

static void expect(struct trial trial, const char *words)
{
    struct job job;
    struct why why = {{0}};
    cr_expect_eq(parse(&job, &why, trial), STATUS_INVALID, "%s", trial.stage);
    cr_expect_not_null(strstr(why.text, words), "%s", why.text);
}

Test(job_shares, every_agent_has_as_many_batches_of_its_own_size)
{
    struct job job = good((struct trial){.stage = judged});
    struct why why = {{0}};
    cr_assert(job_has_shares(&job));
    cr_expect_eq(job_records_min(&job), 4, "a batch of one record is 33.3 %% of 4");
    for (uint64_t records = 4; records < 3000; records++) {
        cr_assert_eq(job_settle(&job, records, &why), STATUS_OK, "%s", why.text);
        const struct stage *stage = job.stage;
        cr_assert_eq(stage->batch, records * 333 / 1000);
        cr_assert_leq(round_records(stage), records);
        cr_assert_eq(stage->batches, 3);
        cr_assert_eq(job_records_min(&job), 4, "the least does not follow from the agent");
    }
    cr_expect_eq(job_settle(&job, 3, &why), STATUS_INVALID);
    cr_expect_str_eq(why.text, "the job needs 4 records, and there are 3");
    job_free(&job);
}

Test(job_shares, what_first_passes_over_is_counted)
{
    struct job job = good((struct trial){
        .stage = "{task: losses, loss: linear, rounds: 2, first: 100, batch: 40 %, share: 1,\n"
                 "     grid_bits: 16, forecasters: [{name: up, features: [age], weights: [1]}]}"});
    struct why why = {{0}};
    cr_expect_eq(job_records_min(&job), 500, "100 are the fifth that is left");
    for (uint64_t records = 500; records < 520; records++) {
        cr_assert_eq(job_settle(&job, records, &why), STATUS_OK);
        cr_assert_leq(round_records(job.stage), records);
    }
    job_free(&job);
}

/* Answers are added up as if their noise were one agent's: it must not follow from the share. */
Test(job_shares, noise_and_price_are_the_same_at_every_agent)
{
    const struct trial trial[] = {{.stage = judged},
                                  {.stage = counted},
                                  {.stage = judged, .label = series},
                                  {.stage = "{task: update, loss: huber, loss_parameter: 1,\n"
                                            "     rounds: 12, batches: 12, batch: 8 %, clip: 1,\n"
                                            "     rate: 1, share: 1, grid_bits: 16}",
                                   .label = series}};
    for (size_t i = 0; i < sizeof trial / sizeof trial[0]; i++) {
        struct job job = good(trial[i]);
        struct round_bounds least;
        cr_assert_eq(round_bounds(&least, &job, job.stage, 0, 4, 2, NULL), STATUS_OK);
        const struct charge charge = job.stage->charge;
        for (uint64_t records = job_records_min(&job); records < 400; records += 13) {
            struct round_bounds own;
            cr_assert_eq(job_settle(&job, records, NULL), STATUS_OK);
            cr_assert_eq(round_bounds(&own, &job, job.stage, 0, records, 2, NULL), STATUS_OK);
            cr_expect_eq(own.sensitivity, least.sensitivity, "%s, %zu records", trial[i].stage,
                         (size_t)records);
            cr_expect_eq(job.stage->charge.epsilon_micro, charge.epsilon_micro);
            /* And it is enough for a batch of that number written out. */
            struct stage number = *job.stage;
            number.batch_nano = 0;
            const struct reach shared = reach_of(&job, job.stage);
            const struct reach exact = reach_of(&job, &number);
            cr_expect(exact.records <= shared.records && exact.in_round <= shared.in_round &&
                      exact.rounds <= shared.rounds);
        }
        job_free(&job);
    }
}

Test(job_shares, a_job_whose_sums_an_agents_records_could_overflow_is_unfit_there)
{
    struct job job = good((struct trial){
        .stage = "{task: statistics, lambdas: [0.1], batch: 100 %, share: 1, grid_bits: 32}",
        .cohort = "records: 100, "});
    struct why why = {{0}};
    cr_expect_eq(job_settle(&job, 100, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(job_settle(&job, 1000000000, &why), STATUS_INVALID);
    cr_expect(job_batch_fits(&job, job.stage, 1000, JOB_AGENTS_SURE));
    cr_expect_not(job_batch_fits(&job, job.stage, 1000000000, JOB_AGENTS_SURE));
    job_free(&job);
}

Test(job_shares, of_more_records_than_the_most_a_share_is_of_the_most)
{
    struct job job = good((struct trial){.stage = judged, .most = "records_most: 500, "});
    struct terms most = {0};
    struct terms more = {0};
    struct why why = {{0}};
    for (uint64_t records = 490; records < 520; records++) {
        cr_assert_eq(job_settle(&job, records, &why), STATUS_OK, "%s", why.text);
        cr_expect_eq(job.stage->batch, (records < 500 ? records : 500) * 333 / 1000);
    }
    cr_assert_eq(terms_of_stage(&most, &job, 0, (struct terms_size){3, 500}, &why), STATUS_OK);
    cr_assert_eq(terms_of_stage(&more, &job, 0, (struct terms_size){3, 9000}, &why), STATUS_OK);
    cr_expect_eq(most.line[0].noise_to_signal, more.line[0].noise_to_signal,
                 "more records do not plan for more");
    terms_free(&most);
    terms_free(&more);
    job_free(&job);
}

Test(job_shares, the_most_records_of_one_agent_are_said)
{
    expect((struct trial){.stage = judged, .most = ""},
           "stages[0].batch: is a share, and nothing bounds the records that one agent may say its "
           "answer is about: write cohort.records_most");
    expect(
        (struct trial){.stage = counted, .cohort = "records: 300, ", .most = "records_most: 299, "},
        "cohort.records_most: is below the 300 records that the job needs of every agent");
    struct job job = good((struct trial){
        .stage = counted, .cohort = "records: 300, ", .most = "records_most: 300, "});
    job_free(&job);
    job = good((struct trial){.stage = "{task: query, queries: [\"count: age >= 65\"], share: 1,\n"
                                       "     batch: 100, grid_bits: 10}",
                              .most = ""});
    job_free(&job);
}

Test(job_shares, where_one_number_is_needed_a_share_is_refused)
{
    expect((struct trial){.stage = counted, .unit = "round"},
           "job.yml:10:57: stages[0].batch: is a share, which needs unit: record");
    expect((struct trial){.stage = counted, .unit = "agent"}, "which needs unit: record");
    expect((struct trial){.stage = judged, .trust = "central"},
           "draws are planned for the fewest records that an agent may have: write "
           "cohort.records");
    struct job job =
        good((struct trial){.stage = judged, .trust = "central", .cohort = "records: 300, "});
    cr_expect_eq(job.stage->batch, 99, "planned for the fewest");
    const uint64_t eta = losses_stage(job.stage)->plays.game->one;
    cr_expect_eq(job_settle(&job, 3000, NULL), STATUS_OK);
    cr_expect_eq(losses_stage(job.stage)->plays.game->one, eta, "the same play at every agent");
    job_free(&job);
}

Test(job_shares, a_pass_is_of_no_more_than_all_records)
{
    expect((struct trial){.stage =
                              "{task: losses, loss: linear, rounds: 4, batch: 25.1 %, share: 1,\n"
                              "     forecasters: [{name: up, features: [age]}]}"},
           "makes one pass more than all records: lower the share");
    expect((struct trial){.stage =
                              "{task: losses, loss: linear, rounds: 4, first: 9, batch: 25 %,\n"
                              "     share: 1, forecasters: [{name: up, features: [age]}]}"},
           "leaves none for `first` to pass over");
}

Test(job_shares, a_share_is_written_like_one)
{
    static const struct {
        const char *batch, *words;
    } wrong[] = {{"0 %", "\"0\" is out of range: write a number from 0.0000001 to 100"},
                 {"101 %", "\"101\" is out of range"},
                 {"-5 %", "\"-5\" is out of range"},
                 {"\"%\"", "is in quotes"},
                 {"ten %", "\"ten\" is not a number: write it like 20 %"},
                 {"0.2", "\"0.2\" is not a whole number: a share of the records is written 20 %"},
                 {"20 percent", "\"20 percent\" is not a whole number"},
                 {"0.00000001 %", "has more than 7 decimal places"},
                 {"\"20 %\"", "\"20 %\" is a text, because it is in quotes: remove the quotes"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char stage[256];
        (void)snprintf(stage, sizeof stage,
                       "{task: query, queries: [\"count: age >= 65\"], share: 1, batch: %s}",
                       wrong[i].batch);
        expect((struct trial){.stage = stage}, wrong[i].words);
    }
}

Test(job_shares, a_plan_is_for_the_records_that_it_is_told)
{
    struct job job = good((struct trial){.stage = counted});
    struct terms few = {0};
    struct terms many = {0};
    struct why why = {{0}};
    cr_assert_eq(terms_of_stage(&few, &job, 0, (struct terms_size){3, 100}, &why), STATUS_OK);
    cr_assert_eq(terms_of_stage(&many, &job, 0, (struct terms_size){3, 1000}, &why), STATUS_OK);
    cr_expect_float_eq(few.line[0].noise_to_signal, 10 * many.line[0].noise_to_signal, 1e-9);
    terms_free(&few);
    terms_free(&many);
    job_free(&job);
}
