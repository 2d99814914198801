/* `query`: the released sums are the answers. Quantiles ask on where these lead. */

#include "task/close.h"
#include "base/check.h"
#include "query/conjunction.h"
#include "task/query/stage.h"

#include <stdlib.h>
#include <string.h>

/* A site's row: its number of records, then its own released answer, whole numbers both. */
static size_t site_width(const struct stage *stage)
{
    return 1 + query_set_cells(&query_stage(stage)->queries, 0);
}

/* Rows of a record are 8-byte words. */
static enum status keep_by_site(struct closing *closing)
{
    const size_t width = site_width(closing->stage);
    CHECK(closing->own_count == closing->record->as.round.agent_count &&
          closing->count + 1 == width);
    int64_t *rows = malloc(closing->own_count * width * sizeof *rows);
    if (rows == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < closing->own_count; i++) {
        const struct closing_own *own = &closing->own[i];
        rows[i * width] = closing->stage->batch_nano > 0 ? own->records : closing->stage->batch;
        memcpy(&rows[i * width + 1], own->step, closing->count * sizeof *rows);
    }
    closing->rows = (double *)(void *)rows;
    closing->row_count = closing->own_count;
    closing->row_width = width;
    return STATUS_OK;
}

/* Where the next round of quantiles asks goes to the agents as it is; all else follows from the
 * sums in the journal, and from each site's own where the job says by_site. */
static enum status close(struct closing *closing)
{
    const enum status status = closing->stage->by_site ? keep_by_site(closing) : STATUS_OK;
    closing_keep_sum(closing);
    closing->record->as.round.chosen = closing->outcome->chosen;
    return status;
}

/* Refuses rows that are not what the record sums. */
static enum status take_by_site(struct outcome *outcome, const struct stage *stage,
                                const struct record *record, struct slice blob)
{
    const size_t width = site_width(stage);
    const size_t count = record->as.round.agent_count;
    uint64_t records = 0;
    if (blob.size != count * width * sizeof(int64_t)) {
        return STATUS_CORRUPT;
    }
    int64_t *rows = malloc(blob.size);
    if (rows == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(rows, blob.data, blob.size);
    free(outcome->by_site);
    outcome->by_site = rows;
    outcome->site_count = count;
    for (size_t i = 0; i < count; i++) {
        if (rows[i * width] < 1 || rows[i * width] > UINT32_MAX) {
            return STATUS_CORRUPT;
        }
        records += (uint64_t)rows[i * width];
    }
    bool is_sum = records == closing_records(stage, record);
    for (size_t j = 1; j < width; j++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum += (uint64_t)rows[i * width + j];
        }
        is_sum = is_sum && sum == (uint64_t)record->as.round.sum[j - 1];
    }
    return is_sum ? STATUS_OK : STATUS_CORRUPT;
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    const uint32_t agent_count = record->as.round.agent_count;
    enum status status = STATUS_OK;

    if ((blob.size != 0 && !stage->by_site) || agent_count == 0 ||
        record->as.round.sum_count != query_set_cells(&query_stage(stage)->queries, within)) {
        return STATUS_CORRUPT;
    }
    if (stage->by_site) {
        status = take_by_site(outcome, stage, record, blob);
    }
    if (within == 0 && status == STATUS_OK) {
        query_run_free(&outcome->queries);
        status = query_run_init(&outcome->queries, &query_stage(stage)->queries);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const struct query_noise noise = closing_noise(outcome, job, stage, within, agent_count);
    query_run_observe(&outcome->queries, record->as.round.sum, &noise,
                      closing_records(stage, record));
    if (query_set_wants_model(&query_stage(stage)->queries)) {
        return STATUS_OK;
    }
    return outcome_set_state(outcome, stage, outcome->queries.threshold,
                             query_stage(stage)->queries.count, query_stage(stage)->queries.count);
}

/* What the learner keeps: the last answers are its own, each a count in one cell. */
static enum status describe_conjunction(struct outcome_round *round, const struct outcome *outcome,
                                        const struct stage *stage)
{
    const size_t count = query_stage(stage)->conjunction_count;
    const struct query_answer *answer = round->answer + (round->answer_count - count);
    double share[QUERY_SET_MAX] = {0};
    bool kept[QUERY_SET_MAX] = {false};
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count; i++) {
        share[i] = answer[i].value / (double)outcome->queries.record_count;
    }
    if (conjunction_learn(kept, share, count, query_stage(stage)->conjunction_tolerance) == 0) {
        return closing_note(round, "", "none of the features: any record may be positive");
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (kept[i]) {
            status = closing_note(round, " and ", "(%s)", query_stage(stage)->conjunction[i]);
        }
    }
    return status;
}

static enum status describe_by_site(struct outcome_round *round, const struct outcome *outcome,
                                    const struct job *job, const struct stage *stage,
                                    const struct record *record)
{
    const struct query_sites sites = {.set = &query_stage(stage)->queries,
                                      .row = outcome->by_site,
                                      .count = outcome->site_count,
                                      .noise = closing_noise(outcome, job, stage, 0, 1)};
    const size_t effects = query_between_count(sites.set);
    round->effect = calloc(effects, sizeof *round->effect);
    round->site = calloc(effects * sites.count, sizeof *round->site);
    round->site_of = calloc(sites.count, sizeof *round->site_of);
    if (round->effect == NULL || round->site == NULL || round->site_of == NULL) {
        return STATUS_NO_MEMORY;
    }
    round->effect_count = effects;
    round->site_count = sites.count;
    for (size_t i = 0; i < sites.count; i++) {
        round->site_of[i] = (struct outcome_site){record->as.round.agent[i],
                                                  (uint64_t)sites.row[i * site_width(stage)]};
    }
    return query_between(round->effect, round->site, &sites);
}

static enum status describe(struct outcome_round *round, const struct outcome *outcome,
                            const struct job *job, const struct stage *stage,
                            const struct record *record)
{
    if (outcome->queries.round < stage->rounds) {
        return STATUS_OK;
    }
    round->answer_count = query_run_answer_count(&query_stage(stage)->queries);
    round->answer = calloc(round->answer_count, sizeof *round->answer);
    if (round->answer == NULL) {
        round->answer_count = 0;
        return STATUS_NO_MEMORY;
    }
    query_run_answers(round->answer, &outcome->queries);
    round->point_count = query_run_point_count(&query_stage(stage)->queries);
    round->point = calloc(round->point_count + 1, sizeof *round->point);
    if (round->point == NULL) {
        round->point_count = 0;
        return STATUS_NO_MEMORY;
    }
    query_run_points(round->point, &outcome->queries);
    if (stage->by_site) {
        return describe_by_site(round, outcome, job, stage, record);
    }
    return query_stage(stage)->conjunction_count > 0 ? describe_conjunction(round, outcome, stage)
                                                     : STATUS_OK;
}

/* The model that is judged is the one chosen before the stage. */
static enum status start(struct outcome *outcome, const struct stage *stage)
{
    if (!query_set_wants_model(&query_stage(stage)->queries)) {
        return STATUS_OK;
    }
    CHECK(outcome->expert_count > 0 && outcome->width == stage->block.all);
    return outcome_set_state(outcome, stage, outcome->weights + outcome->chosen * outcome->width,
                             outcome->width, outcome->width);
}

const struct task_close task_close_query = {
    .start = start, .close = close, .add = add, .describe = describe};
