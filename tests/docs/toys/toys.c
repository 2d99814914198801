/* Linked with the parts that the two patches add: a job of a toy stage is read, answered and closed, and a toy loss is
 * found by its name. */

#include "learn/loss.h"
#include "task/answer.h"
#include "task/close.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 4 };

static const char text[] =
    "hedgerow: 1\njob: toy\n"
    "data:\n  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features: [{column: a, centre: 50, half_width: 50}]\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, deadline_s: 1}\n"
    "stages:\n  - {task: toy, repeats: 2, weight: 3, batch: 2, share: 1, grid_bits: 0}\n";

/* Round 1 looks at the last two of four labels. */
static bool answers(const struct job *job)
{
    double x[RECORDS * 2] = {0};
    double y[RECORDS] = {1, 1, 1, -1};
    const size_t order[RECORDS] = {2, 3, 0, 1};
    const struct dataset data = {.x = x, .y = y, .record_count = RECORDS, .feature_count = 2};
    const struct task_input input = {
        .job = job, .stage = job->stage, .within = 1, .data = &data, .order = order};
    struct private_vector vector;
    struct why why = {{0}};
    const bool done = task_run(&vector, &input, &why) == STATUS_OK;
    const bool right = done && vector.count == 1 && vector.value[0] == 6 &&
                       vector.sensitivity == 6 && vector.low == -6 && vector.high == 6;
    private_vector_free(&vector);
    return right;
}

static bool closes(const struct job *job)
{
    const struct record begin = {.kind = RECORD_JOB};
    struct peer agent = {.name = "a"};
    struct record record = {
        .kind = RECORD_ROUND, .as.round.agent = &agent, .as.round.agent_count = 1};
    struct outcome outcome;
    outcome_init(&outcome, job, OUTCOME_KEEPS);
    struct closing closing = {.job = job,
                              .stage = job->stage,
                              .outcome = &outcome,
                              .sum = calloc(1, sizeof(int64_t)),
                              .count = 1,
                              .record = &record};
    bool right = closing.sum != NULL &&
                 outcome_add(&outcome, job, &begin, (struct slice){0}) == STATUS_OK &&
                 task_close(job, job->stage)->close(&closing) == STATUS_OK &&
                 outcome_add(&outcome, job, &record, (struct slice){0}) == STATUS_OK;
    right = right && strcmp(outcome.round[0].note, "labels sum to 0") == 0;
    free(record.as.round.sum);
    closing_free(&closing);
    outcome_free(&outcome);
    return right;
}

int main(void)
{
    struct job job;
    struct why why = {{0}};
    enum loss_kind kind;
    if (job_parse(&job, (struct slice){text, sizeof text - 1}, "toy.yml", &why) != STATUS_OK) {
        printf("the toy job is refused: %s\n", why.text);
        return 1;
    }
    const bool works = answers(&job) && closes(&job);
    job_free(&job);
    if (!works) {
        printf("the toy task does not answer or close as it should\n");
        return 1;
    }
    if (loss_from_name(&kind, "toy") != STATUS_OK ||
        loss_value((struct loss){.kind = kind}, 0, 1) != 0.5) {
        printf("the toy loss is not found\n");
        return 1;
    }
    return 0;
}
