/* The iterates of `learn` that become experts if a later stage judges: the look's own model and the last one. The tests say in
 * which plans they exist, and that each reader of the journal makes the same experts, wherever the coordinator was killed. */

#include "task/close.h"
#include "task/learn/stage.h"
#include "task/task.h"
#include "tests/unit/coordinator/history_of_one.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 6, ROUNDS = 32, EXPERTS = 6, VALUES = 512 };

static const char TWO[] = "positive: \"1\", negative: \"0\"";
static const char THREE[] = "classes: [u, v, w]";
static const char NUMBER[] = "centre: 0, half_width: 1";

/* A plan, and how many experts it makes. */
struct way {
    const char *label;
    const char *epsilon;
    enum selftune_sight sight;
    bool steps;
    size_t experts;
};

static const struct way ways[] = {
    {TWO, "0.02", SIGHT_SUMS, false, 5},    {TWO, "0.3", SIGHT_SUMS, true, 6},
    {TWO, "0.5", SIGHT_SQUARES, true, 6},   {TWO, "20", SIGHT_PRODUCTS, true, 5},
    {THREE, "0.1", SIGHT_SUMS, false, 3},   {THREE, "0.5", SIGHT_SQUARES, true, 3},
    {THREE, "20", SIGHT_PRODUCTS, true, 4}, {NUMBER, "0.05", SIGHT_NONE, true, 3},
    {NUMBER, "20", SIGHT_PRODUCTS, true, 3}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void write_text(char text[static 2048], const struct way *way, const char *judge)
{
    char columns[1024];
    int size = 0;
    for (int j = 0; j < D; j++) {
        size += snprintf(columns + size, sizeof columns - (size_t)size,
                         "%s{column: c%d, centre: 0, half_width: 1}", j == 0 ? "" : ", ", j);
    }
    (void)snprintf(text, 2048,
                   "hedgerow: 1\njob: toy\ndata:\n  label: {column: y, %s}\n  features: [%s]\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: %s}\n"
                   "cohort: {minimum: 2, records: 1000, join_deadline_s: 1, deadline_s: 1}\n"
                   "stages:\n  - {task: learn, share: 0.9}\n%s",
                   way->label, columns, way->epsilon, judge);
}

static void begin(const struct way *way)
{
    char text[2048];
    write_text(text, way,
               way->label == NUMBER ? "  - {task: losses, loss: squared, share: 0.1}\n"
                                    : "  - {task: losses, loss: zero_one, share: 0.1}\n");
    history_begin(&job, &outcome, text);
    const struct learn_stage *own = learn_stage(job.stage);
    cr_assert(own->tune.sight == way->sight && (own->tune.steps > 0) == way->steps,
              "%s at %s: sight %d, %u steps", way->label, way->epsilon, (int)own->tune.sight,
              own->tune.steps);
}

Test(close_learn_iterates, are_experts_where_they_may_be_better)
{
    for (size_t i = 0; i < WAYS; i++) {
        begin(&ways[i]);
        cr_expect_eq(learn_expert_count(job.stage), ways[i].experts, "%zu", i);
        teardown();
        char text[2048];
        write_text(text, &ways[i], "");
        history_begin(&job, &outcome, text);
        cr_expect_eq(learn_expert_count(job.stage), 1, "%zu: nothing judges", i);
        teardown();
    }
}

/* Sites may have paid for losses of the experts that it has. */
Test(close_learn_iterates, are_no_experts_in_a_job_that_version_7_has_begun)
{
    char text[2048];
    write_text(text, &ways[1], "  - {task: losses, loss: zero_one, share: 0.1}\n");
    const struct slice bytes = {text, strlen(text)};
    struct job older;
    cr_assert_eq(job_parse(&job, bytes, "toy", NULL), STATUS_OK);
    cr_expect(job_differs_older(&job));
    cr_assert_eq(job_parse_older(&older, bytes, JOB_OF_7, "toy", NULL), STATUS_OK);
    cr_expect_eq(learn_expert_count(older.stage), 5);
    cr_expect_eq(older.stage->rounds, job.stage->rounds);
    cr_expect_eq(older.stage->charge.epsilon_micro, job.stage->charge.epsilon_micro);
    job_free(&older);
    job_free(&job);
}

/* A journal's rounds. */
struct kept {
    double *rows;
    size_t bytes;
};

/* Closes a round of the stage over a sum that nobody sent, and adds it. */
static struct kept run_round(uint32_t round)
{
    struct record record = history_round(round, agents, AGENTS);
    const struct stage *stage = job.stage;
    const size_t count = round_answer_count(&job, stage, round, outcome.expert_count);
    struct closing closing = {.job = &job,
                              .stage = stage,
                              .within = round,
                              .outcome = &outcome,
                              .sum = calloc(count, sizeof(int64_t)),
                              .count = count,
                              .record = &record};
    cr_assert(closing.sum != NULL && count <= VALUES);
    record.as.round.records = (uint64_t)AGENTS * stage->batch;
    for (size_t i = 0; i < count; i++) { /* of some 2^-3 a record */
        const double part = learn_is_look(stage, round)
                                ? ldexp(1, (int)learn_stage(stage)->look_bits) / 16
                                : (double)learn_clip(stage);
        closing.sum[i] = (int64_t)(part * (double)((i * 7 + 3) % 11 + 1));
    }
    cr_assert_eq(task_close(&job, stage)->close(&closing), STATUS_OK);
    const struct kept kept = {closing.rows, closing.row_count * closing.row_width * sizeof(double)};
    record.as.round.blob_bytes = kept.bytes;
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){kept.rows, kept.bytes}),
                 STATUS_OK);
    closing.rows = NULL;
    closing_free(&closing);
    return kept;
}

/* A journal of `rounds` rounds that has dropped all states before the latest one. */
static void replay(struct outcome *out, const struct kept *kept, uint32_t rounds)
{
    struct record first = {.kind = RECORD_JOB};
    outcome_init(out, &job, OUTCOME_KEEPS);
    first.as.job.job.id.byte[0] = 1;
    cr_assert_eq(outcome_add(out, &job, &first, (struct slice){0}), STATUS_OK);
    for (uint32_t i = 0; i < rounds; i++) {
        struct record record = history_round(i, agents, AGENTS);
        record.as.round.records = (uint64_t)AGENTS * job.stage->batch;
        record.as.round.blob_bytes = kept[i].bytes;
        const struct slice blob = {kept[i].rows, i + 1 == rounds ? kept[i].bytes : 0};
        cr_assert_eq(outcome_add(out, &job, &record, blob), STATUS_OK);
    }
}

/* Killed after any round: the state is what it was, and what follows makes the same experts. */
static void kill_after(uint32_t rounds, const struct kept *kept, const double *weights,
                       size_t bytes)
{
    struct outcome undisturbed = outcome;
    struct kept again[ROUNDS] = {{NULL, 0}};
    replay(&outcome, kept, rounds);
    for (uint32_t i = rounds; i < job.stage->rounds; i++) {
        again[i] = run_round(i);
        cr_expect(again[i].bytes == kept[i].bytes &&
                      memcmp(again[i].rows, kept[i].rows, kept[i].bytes) == 0,
                  "round %u after %u", i, rounds);
    }
    cr_expect_eq(memcmp(outcome.weights, weights, bytes), 0, "after %u", rounds);
    for (uint32_t i = rounds; i < job.stage->rounds; i++) {
        free(again[i].rows);
    }
    outcome_free(&outcome);
    outcome = undisturbed;
}

Test(close_learn_iterates, are_the_same_wherever_the_coordinator_was_killed)
{
    for (size_t w = 0; w < WAYS; w++) {
        struct kept kept[ROUNDS] = {{NULL, 0}};
        double *look = NULL; /* and the last iterate after it */
        begin(&ways[w]);
        cr_assert_leq(job.stage->rounds, ROUNDS);
        const struct selftune *tune = &learn_stage(job.stage)->tune;
        const size_t width = learn_gradient_count(job.stage);
        look = malloc(2 * width * sizeof *look);
        cr_assert_not_null(look);
        for (uint32_t i = 0; i < job.stage->rounds; i++) {
            kept[i] = run_round(i);
            if (i == 0) {
                selftune_model(look, outcome.state, tune);
            }
        }
        cr_assert_eq(outcome.expert_count, ways[w].experts, "%zu", w);
        const enum learn_iterate iterate = learn_stage(job.stage)->iterate;
        const char *name = outcome.expert[ways[w].experts - 1].name;
        cr_expect_eq(strstr(name, ", look alone") != NULL, iterate == ITERATE_LOOK, "%s", name);
        cr_expect_eq(strstr(name, ", last iterate") != NULL, iterate == ITERATE_LAST, "%s", name);
        selftune_last_iterate(look + width, outcome.state, tune);
        const double *wanted = look + (iterate == ITERATE_LAST ? width : 0);
        cr_expect_eq(outcome.expert[ways[w].experts - 1].weight, task_doubt(&job, job.stage));
        const double *last = outcome.weights + (ways[w].experts - 1) * outcome.width;
        for (size_t j = 0; iterate != ITERATE_NONE && j < width; j++) {
            const bool end = (j + 1) % (width / tune->output_count) == 0;
            const double scale =
                end ? schema_constant(&job.stage->schema) : schema_column_scale(&job.stage->schema);
            cr_expect_eq(last[j], wanted[j] / scale, "way %zu, number %zu", w, j);
        }
        for (uint32_t i = 0; i <= job.stage->rounds; i++) {
            kill_after(i, kept, outcome.weights, ways[w].experts * outcome.width * sizeof *last);
        }
        for (uint32_t i = 0; i < job.stage->rounds; i++) {
            free(kept[i].rows);
        }
        free(look);
        teardown();
    }
}
