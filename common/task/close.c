#include "task/close.h"

#include "base/bytes.h"
#include "base/check.h"
#include "experts/hedge_play.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAYS_NAMED_MAX = 500 }; /* with names of OUTCOME_NAME_BYTES: a text of moderate length */

const struct task_close *task_close(const struct job *job, const struct stage *stage)
{
#define CLOSE_ENTRY(NAME, name) &task_close_##name,
    static const struct task_close *const entry[] = {TASK_LIST(CLOSE_ENTRY)};
#undef CLOSE_ENTRY
    CHECK(stage->task < TASK_COUNT);
    const struct task_close *found = entry[stage->task];
    return found->drawn != NULL && round_is_drawn(job, stage) ? found->drawn : found;
}

uint64_t closing_records(const struct stage *stage, const struct record *record)
{
    return stage->batch_nano > 0 ? record->as.round.records
                                 : (uint64_t)record->as.round.agent_count * stage->batch;
}

struct query_noise closing_noise(const struct outcome *outcome, const struct job *job,
                                 const struct stage *stage, uint32_t within, uint32_t agent_count)
{
    struct round_bounds bounds;
    struct why why = {{0}};

    CHECK(!round_is_drawn(job, stage));
    CHECK(round_bounds(&bounds, job, stage, within, job_records_min(job), outcome->expert_count,
                       &why) == STATUS_OK);
    return round_noise(job, stage, &bounds, agent_count);
}

/* f moves by the shift: the last feature is the constant. */
void closing_shift(double *model, const struct closing *closing)
{
    const size_t s = round_stage_width(closing->stage);
    for (size_t i = 0; i < closing->stage->shift_count; i++) {
        double *moved = model + (i + 1) * s;
        memcpy(moved, model, s * sizeof *moved);
        moved[s - 1] += closing->stage->shift[i] / schema_constant(&closing->stage->schema);
    }
}

enum status closing_keep_rows(struct closing *closing, double *rows, size_t row_count)
{
    const size_t s = round_stage_width(closing->stage);
    const size_t w = closing->outcome->width;
    closing->rows = rows;
    closing->row_count = row_count;
    closing->row_width = w;
    if (s == w) {
        return STATUS_OK;
    }
    closing->rows = calloc(row_count * w, sizeof *closing->rows);
    for (size_t i = 0; closing->rows != NULL && i < row_count; i++) {
        block_widen(closing->rows + i * w, schema_output_count(&closing->stage->schema),
                    closing->stage->block, rows + i * s);
    }
    free(rows);
    return closing->rows == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

enum status closing_note(struct outcome_round *round, const char *between, const char *format, ...)
{
    const size_t used = round->note != NULL ? strlen(round->note) : 0;
    const size_t gap = used > 0 ? strlen(between) : 0;
    va_list words;
    va_start(words, format);
    const int bytes = vsnprintf(NULL, 0, format, words);
    va_end(words);
    CHECK(bytes >= 0);
    char *grown = realloc(round->note, used + gap + (size_t)bytes + 1);
    if (grown == NULL) {
        return STATUS_NO_MEMORY;
    }
    round->note = grown;
    memcpy(grown + used, between, gap);
    va_start(words, format);
    (void)vsnprintf(grown + used + gap, (size_t)bytes + 1, format, words);
    va_end(words);
    return STATUS_OK;
}

void closing_free(struct closing *closing)
{
    bytes_free(closing->sum, closing->count * sizeof *closing->sum);
    free(closing->rows);
    closing->sum = NULL;
    closing->rows = NULL;
}

void closing_own_free(struct closing_own *own, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(own[i].step);
    }
    free(own);
}

void closing_keep_sum(struct closing *closing)
{
    closing->record->as.round.sum = closing->sum;
    closing->record->as.round.sum_count = (uint32_t)closing->count;
    closing->sum = NULL;
}

/* Both are 8-byte words, and a model may be large. */
double *closing_take_means(struct closing *closing, double divisor)
{
    unsigned char *bytes = (unsigned char *)closing->sum;
    static_assert(sizeof(double) == sizeof(int64_t), "words of one size");
    /* No product with a power of two above 2^-53 rounds: a call of ldexp for each would give the same, and is slower. */
    const double unit = ldexp(1, -(int)closing->stage->grid_bits);
    for (size_t j = 0; j < closing->count; j++) {
        int64_t total;
        memcpy(&total, bytes + 8 * j, sizeof total);
        const double mean = (double)total * unit / divisor;
        memcpy(bytes + 8 * j, &mean, sizeof mean);
    }
    closing->sum = NULL;
    return (double *)(void *)bytes;
}

enum status closing_tell_plays(struct outcome_round *round, const struct outcome *outcome,
                               const struct job *job, const struct record *record)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(job, record->as.round.round, &within);
    const size_t k = outcome->expert_count;
    size_t named = 0;
    enum status status = STATUS_OK;

    if (stage->loss.kind != LOSS_LINEAR || within + 1 < stage->rounds ||
        outcome->history != OUTCOME_KEEPS) {
        return STATUS_OK;
    }
    uint64_t *plays = calloc(k, sizeof *plays);
    double *answer = calloc(k, sizeof *answer);
    if (plays == NULL || answer == NULL) {
        free(plays);
        free(answer);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = outcome->round_count - stage->rounds; i < outcome->round_count; i++) {
        plays[outcome->round[i].chosen]++;
    }
    hedge_linear_answer(answer, plays, k);
    for (size_t i = 0; i < k && named <= PLAYS_NAMED_MAX && status == STATUS_OK; i++) {
        if (plays[i] > 0) {
            status = named < PLAYS_NAMED_MAX
                         ? closing_note(round, " + ", "%.3g %s", answer[i], outcome->expert[i].name)
                         : closing_note(round, " + ", "others");
            named++;
        }
    }
    free(plays);
    free(answer);
    return status;
}
