#include "task/answer.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/even.h"
#include "dp/encode.h"
#include "learn/dense.h"
#include "learn/loss.h"

#include <stdlib.h>

/* One expert's loss on one record, from its scores. For several classes the largest score alone must
 * be the record's own (zero_one), or every class against the rest costs an even part. All classes are
 * gone through, whichever is the record's. */
static double loss_of(struct loss loss, const double *score, size_t outputs, double y)
{
    double total = 0;
    double own = 0;
    uint64_t behind = 0;
    if (outputs == 1) {
        return loss_clamped(loss, score[0], y);
    }
    for (size_t i = 0; i < outputs; i++) {
        own = even_choose(mask_of(y == (double)i), score[i], own);
    }
    for (size_t i = 0; i < outputs; i++) {
        const uint64_t is_own = mask_of(y == (double)i);
        total += loss_clamped(loss, score[i], even_choose(is_own, 1, -1)) / (double)outputs;
        behind |= ~is_own & ~mask_of(score[i] < own);
    }
    return loss.kind == LOSS_ZERO_ONE ? even_keep(behind, 1) : even_min(total, 1);
}

/* The losses of one record, encoded one by one so that the sum's sensitivity is exact. */
static void add_record(int64_t *sum, const struct task_input *input, const double *score, double y)
{
    const size_t outputs = schema_output_count(&input->job->schema);
    for (size_t k = 0; k < input->expert_count; k++) {
        double loss = loss_of(input->stage->loss, score + k * outputs, outputs, y);
        sum[k] += encode_value(loss, input->stage->grid_bits);
    }
}

/* The losses summed over some rounds' rows. */
static enum status add_rounds(int64_t *value, const struct task_input *input, uint64_t first,
                              uint64_t count)
{
    const struct dataset *data = input->data;
    const size_t k = input->expert_count * schema_output_count(&input->job->schema);
    const uint64_t batch = input->stage->batch;
    const uint64_t begin = input->stage->first + first * batch;
    double *score = calloc(k, sizeof *score);

    CHECK(k > 0 && begin + count * batch <= data->record_count);
    if (score == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint64_t i = begin; i < begin + count * batch; i++) {
        size_t row = input->order[i];
        dense_scores(score, input->experts, k, data->x + row * data->feature_count, 1,
                     data->feature_count);
        add_record(value, input, score, data->y[row]);
    }
    bytes_free(score, k * sizeof *score);
    return STATUS_OK;
}

/* For units above the record a round counts as the mean over its batch, rounded down: all of a batch
 * replaced moves that by no more than one record moves a sum. */
static void take_means(int64_t *value, const struct task_input *input)
{
    const size_t count =
        round_answer_count(input->job, input->stage, input->within, input->expert_count);
    for (size_t i = 0; input->job->unit != UNIT_RECORD && i < count; i++) {
        value[i] = (int64_t)even_divide((uint64_t)value[i], input->stage->batch);
    }
}

/* Under local trust a round's own losses. Under central trust what the play that follows the round
 * looks at, all of it, so that the coordinator keeps no exact number from one round to the next. */
enum status answer_losses(int64_t *value, const struct task_input *input)
{
    const uint64_t play = (uint64_t)input->within + 1;
    uint64_t first = 0;
    enum status status;
    if (round_plays(input->stage) == NULL) {
        return add_rounds(value, input, input->within, 1);
    }
    if (input->stage->strategy == STRATEGY_EPOCHS) {
        uint64_t before = UINT64_C(1) << (hedge_segment(play) - 1);
        status = add_rounds(value, input, before - 1, before);
        take_means(value, input);
        return status;
    }
    first = round_game(input->stage, play)->first; /* a play that begins anew looks at nothing */
    status = add_rounds(value, input, first, play - first);
    if (status == STATUS_OK && input->stage->strategy == STRATEGY_DARTBOARD && first < play) {
        status = add_rounds(value + input->expert_count, input, input->within, 1);
    }
    take_means(value, input);
    return status;
}
