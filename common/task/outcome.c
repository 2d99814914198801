#include "task/outcome.h"

#include "base/bytes.h"
#include "base/check.h"
#include "crypto/digest.h"
#include "task/close.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void outcome_init(struct outcome *outcome, const struct job *job, enum outcome_history history)
{
    *outcome = (struct outcome){.history = history, .stride = 1, .width = round_width(job)};
}

void outcome_forget_stage(struct outcome *outcome)
{
    rwm_free(&outcome->rwm);
    regret_free(&outcome->regret);
    outcome->rwm = (struct rwm){0};
    outcome->regret = (struct regret){0};
    outcome->hedge = (struct hedge_state){0};
    outcome->hedge_before = (struct hedge_state){0};
    outcome->variance_sum = 0;
    outcome->segment_rounds = 0;
    outcome->before = (struct regret_bound){0};
}

void outcome_round_free(struct outcome_round *round)
{
    free(round->loss);
    free(round->weight);
    free(round->note);
    free(round->answer);
    free(round->point);
    free(round->effect);
    free(round->site);
    free(round->site_of);
}

void outcome_free(struct outcome *outcome)
{
    if (outcome == NULL) {
        return;
    }
    outcome_forget_stage(outcome);
    query_run_free(&outcome->queries);
    free(outcome->by_site);
    free(outcome->state);
    free(outcome->shown);
    for (size_t i = 0; i < outcome->round_count; i++) {
        outcome_round_free(&outcome->round[i]);
    }
    free(outcome->round);
    free(outcome->agent);
    turn_forget(outcome);
    free(outcome->weights);
    free(outcome->expert);
    memset(outcome, 0, sizeof *outcome);
}

uint64_t outcome_epsilon_micro(const struct job *job, uint32_t rounds)
{
    struct cost sums = round_cost(job, &job->filter, rounds);
    return round_epsilon_micro(job, &sums);
}

double outcome_regret_average(const struct outcome *outcome)
{
    return outcome->regret.rounds > 0 ? regret_average(&outcome->regret) : NAN;
}

/* The regret bound of the segment of rounds that is under way. */
static struct regret_bound segment_bound(const struct outcome *outcome)
{
    double least = INFINITY;
    double sum = 0;
    for (size_t i = 0; i < outcome->rwm.count; i++) {
        least = fmin(least, outcome->expert[i].weight);
        sum += outcome->expert[i].weight;
    }
    double sigma = sqrt(outcome->variance_sum / (double)outcome->segment_rounds);
    return regret_bound(outcome->rwm.count, least / sum, outcome->segment_rounds, outcome->rwm.eta,
                        sigma);
}

/* The best expert of all rounds is no better than the best of each segment: bounds add up. */
struct regret_bound outcome_regret_bound(const struct outcome *outcome)
{
    if (outcome->segment_rounds == 0) {
        return (struct regret_bound){.tight = NAN, .textbook = NAN, .noise = NAN};
    }
    struct regret_bound now = segment_bound(outcome);
    const double all = (double)outcome->regret.rounds;
    const double part = (double)outcome->segment_rounds;
    now.tight = (outcome->before.tight + part * now.tight) / all;
    now.textbook = (outcome->before.textbook + part * now.textbook) / all;
    now.noise = (outcome->before.noise + part * now.noise) / all;
    return now;
}

void outcome_end_segment(struct outcome *outcome)
{
    const struct regret_bound ended = segment_bound(outcome);
    const double part = (double)outcome->segment_rounds;
    outcome->before.tight += part * ended.tight;
    outcome->before.textbook += part * ended.textbook;
    outcome->before.noise += part * ended.noise;
    outcome->segment_rounds = 0;
    outcome->variance_sum = 0;
    rwm_free(&outcome->rwm);
    outcome->rwm = (struct rwm){0};
}

static struct artifact artifact_of(const struct outcome *outcome, struct slice bytes)
{
    struct artifact artifact = {.bytes = bytes.size};
    if (outcome->trees) {
        digest_tree(&artifact.digest, bytes);
    } else {
        digest_sha256(&artifact.digest, &bytes, 1);
    }
    return artifact;
}

/* The nearest numbers of 4 bytes. What is too large becomes the largest: agents take finite numbers alone. */
static void shorten(uint8_t *shown, const double *state, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double above = state[i] > -(double)FLT_MAX ? state[i] : -(double)FLT_MAX;
        const float number = (float)(above < (double)FLT_MAX ? above : (double)FLT_MAX);
        uint32_t word;
        memcpy(&word, &number, sizeof word);
        store_u32(shown + 4 * i, word);
    }
}

struct slice outcome_shown(const struct outcome *outcome)
{
    return (struct slice){outcome->shown != NULL ? (const void *)outcome->shown : outcome->state,
                          (size_t)outcome->state_artifact.bytes};
}

void outcome_forget_shown(struct outcome *outcome)
{
    if (outcome->shown != NULL) {
        free(outcome->shown);
        outcome->shown = NULL;
        outcome->state_artifact = (struct artifact){0};
    }
}

/* What the state was is not needed any more: large models are not there twice. Without memory the outcome is of no use, and is
 * computed from the journal again. */
static void forget_state(struct outcome *outcome, size_t shown_bytes)
{
    free(outcome->state);
    outcome->state = NULL;
    if (outcome->shown == NULL || outcome->state_artifact.bytes != shown_bytes) {
        free(outcome->shown);
        outcome->shown = shown_bytes > 0 ? malloc(shown_bytes) : NULL;
    }
}

/* Returns the state as the outcome's own: what was offered, or a copy. */
static double *own_state(struct outcome *outcome, const double *state, size_t count)
{
    if (outcome->offered != NULL && state == *outcome->offered) {
        *outcome->offered = NULL;
        return (double *)(uintptr_t)state;
    }
    double *copy = malloc(count * sizeof *copy);
    if (copy != NULL) {
        memcpy(copy, state, count * sizeof *copy);
    }
    return copy;
}

enum status outcome_set_state(struct outcome *outcome, const struct stage *stage,
                              const double *state, size_t count, size_t seen)
{
    const size_t shown_bytes = stage->state_is_short ? 4 * seen : 0;
    CHECK(state != outcome->state);
    forget_state(outcome, shown_bytes);
    outcome->state = own_state(outcome, state, count);
    if (outcome->state == NULL || (shown_bytes > 0 && outcome->shown == NULL)) {
        return STATUS_NO_MEMORY;
    }
    if (shown_bytes > 0) {
        shorten(outcome->shown, outcome->state, seen);
    }
    outcome->state_is_old = false;
    outcome->state_artifact =
        artifact_of(outcome, shown_bytes > 0 ? (struct slice){outcome->shown, shown_bytes}
                                             : (struct slice){outcome->state, 8 * seen});
    return STATUS_OK;
}

enum status outcome_add_own(struct outcome *outcome, const struct job *job,
                            const struct record *record, double **rows, size_t bytes)
{
    const struct slice blob = {*rows, bytes};
    outcome->offered = rows;
    const enum status status = outcome_add(outcome, job, record, blob);
    outcome->offered = NULL;
    return status;
}

enum status outcome_add_experts(struct outcome_expert **added, struct outcome *outcome, size_t rows,
                                struct slice blob)
{
    const size_t width = outcome->width;
    const size_t total = outcome->expert_count + rows;

    if (blob.size != rows * width * 8) {
        return STATUS_CORRUPT;
    }
    double *weights = realloc(outcome->weights, total * width * sizeof *weights);
    if (weights == NULL) {
        return STATUS_NO_MEMORY;
    }
    outcome->weights = weights;
    struct outcome_expert *expert = realloc(outcome->expert, total * sizeof *expert);
    if (expert == NULL) {
        return STATUS_NO_MEMORY;
    }
    outcome->expert = expert;
    *added = expert + outcome->expert_count;
    memset(*added, 0, rows * sizeof *expert);
    for (size_t i = 0; i < rows; i++) {
        (*added)[i].weight = 1;
        (*added)[i].round = outcome->rounds_closed;
    }
    memcpy(weights + outcome->expert_count * width, blob.data, blob.size);
    outcome->expert_count = total;
    outcome->artifact = artifact_of(outcome, (struct slice){weights, total * width * 8});
    return STATUS_OK;
}

/* The next round, if it begins a stage. */
static enum status start_stage(struct outcome *outcome, const struct job *job)
{
    uint32_t within;
    if (outcome->finished) {
        return STATUS_OK;
    }
    const struct stage *stage = job_stage_of(job, outcome->rounds_closed, &within);
    const struct task_close *kind = task_close(job, stage);
    return within == 0 && kind->start != NULL ? kind->start(outcome, stage) : STATUS_OK;
}

static enum status add_round(struct outcome *outcome, const struct job *job,
                             const struct record *record, struct slice blob)
{
    uint32_t within;
    enum status status = STATUS_OK;

    if (!outcome->begun || outcome->finished ||
        !digest_equal(&record->as.round.job, &outcome->job_name.id) ||
        record->as.round.round != outcome->rounds_closed ||
        record->as.round.round >= job_round_count(job)) {
        return STATUS_CORRUPT;
    }
    const struct stage *stage = job_stage_of(job, record->as.round.round, &within);
    const bool counts = stage->batch_nano > 0;
    const uint64_t fewest = (uint64_t)record->as.round.agent_count * stage->batch;
    const uint64_t most =
        (uint64_t)record->as.round.agent_count * round_batch(stage, stage->records_most);
    if (counts ? record->as.round.records < fewest || record->as.round.records > most
               : record->as.round.records > 0) {
        return STATUS_CORRUPT;
    }
    if (!record->as.round.failed) {
        status = task_close(job, stage)->add(outcome, job, stage, within, record, blob);
        if (status == STATUS_OK && record->as.round.chosen >= outcome->expert_count &&
            (outcome->expert_count > 0 || record->as.round.chosen > 0)) {
            status = STATUS_CORRUPT;
        }
        if (status != STATUS_OK) {
            return status;
        }
        outcome->chosen = record->as.round.chosen;
    }
    outcome->rounds_closed++;
    outcome->failed = record->as.round.failed;
    outcome->cancelled = record->as.round.cancelled;
    outcome->finished = outcome->failed || outcome->rounds_closed == job_round_count(job);
    status = turn_keep(outcome, job, record);
    if (status == STATUS_OK && outcome->history != OUTCOME_FORGETS) {
        status = history_add_round(outcome, job, stage, record);
    }
    if (status == STATUS_OK && outcome->history == OUTCOME_KEEPS) {
        status = history_add_agents(outcome, job, stage, within, record);
    }
    return status == STATUS_OK ? start_stage(outcome, job) : status;
}

enum status outcome_add(struct outcome *outcome, const struct job *job, const struct record *record,
                        struct slice blob)
{
    switch (record->kind) {
    case RECORD_JOB:
        if (outcome->begun) {
            return STATUS_CORRUPT;
        }
        outcome->begun = true;
        outcome->job_name = record->as.job.job;
        outcome->trees = record->as.job.trees;
        outcome->age =
            job_age_of(record->as.job.trees, record->as.job.shares, record->as.job.protocol);
        return start_stage(outcome, job);
    case RECORD_ROUND:
        return add_round(outcome, job, record, blob);
    case RECORD_ROSTER: /* of a round that is not closed: nothing has come of it */
    case RECORD_SURVIVORS:
    case RECORD_KEYS:
        return STATUS_OK;
    case RECORD_ANSWER:
    case RECORD_PARTIAL: /* beside the journal, not in it */
    case RECORD_KIND_COUNT:
        break;
    }
    return STATUS_CORRUPT;
}
