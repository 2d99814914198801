/* What a coordinator's durable rounds must be: the sums and models that follow from the agents' durable answers. */

#include "sim/checker.h"

#include "crypto/digest.h"
#include "dp/encode.h"
#include "sim/world.h"
#include "task/losses/stage.h"
#include "task/predict/stage.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIT_ROUNDS = 2, DIM = 3 };

bool checker_value(uint64_t *value, struct slice bytes, size_t count, size_t place)
{
    const unsigned size = encode_word_bytes_of(bytes.size, count);
    int64_t number = 0;
    if (size == 0 || place >= count) {
        return false;
    }
    decode_words_add_plainly(&number, (const uint8_t *)bytes.data + place * size, 1, size);
    *value = (uint64_t)number;
    return true;
}

/* The value that a listed agent's committed answer has at a place; false when it has none. */
static bool committed_value(struct world *world, const struct record *record, size_t listed,
                            size_t count, size_t place, uint64_t *value)
{
    const char *name = record->as.round.agent[listed].name;
    uint32_t round = record->as.round.round;
    if (world->formula_answers || strcmp(name, peer_name(MALLORY)) == 0) {
        *value = (uint64_t)mallory_value(round, place);
        return true;
    }
    for (size_t i = 1; i <= SIM_AGENTS; i++) {
        const struct known_answer *answer =
            strcmp(name, peer_name(i)) == 0
                ? checker_find(&world->checker, i, &record->as.round.job, round)
                : NULL;
        if (answer != NULL && answer->exact != NULL) {
            return checker_value(value, (struct slice){answer->exact, answer->exact_size}, count,
                                 place);
        }
        if (answer != NULL && checker_value(value, answer->bytes, count, place)) {
            return true;
        }
    }
    world_fail(world, "round %" PRIu32 " lists %s, whose journal has no answer to it", round, name);
    return false;
}

uint64_t checker_committed_sum(struct world *world, const struct record *record, size_t count,
                               size_t place)
{
    uint64_t sum = 0;
    uint64_t value = 0;
    for (size_t i = 0; i < record->as.round.agent_count; i++) {
        sum += committed_value(world, record, i, count, place, &value) ? value : 0;
    }
    return sum;
}

/* The first row is the average of the answers, on a grid of 2^-bits. */
static void check_average(struct world *world, const struct record *record, struct slice rows,
                          int bits)
{
    size_t count = record->as.round.agent_count;
    for (size_t i = 0; i < DIM; i++) {
        double average;
        double expected =
            ldexp((double)(int64_t)checker_committed_sum(world, record, DIM, i), -bits) /
            (double)count;
        memcpy(&average, (const uint8_t *)rows.data + 8 * i, sizeof average);
        if (average != expected) {
            world_fail(world,
                       "the average of round %" PRIu32 " is not that of the answers of %zu agents "
                       "from %s on: %g in place of %g",
                       record->as.round.round, count, record->as.round.agent[0].name, average,
                       expected);
        }
    }
}

static void check_fit(struct world *world, const struct record *record, struct slice rows)
{
    size_t count = record->as.round.agent_count;
    size_t row_count = 2 + (count > 1 ? count : 0); /* average, its shift, the agents' own */
    if (rows.size % (8 * DIM) != 0 || rows.size / (8 * DIM) < 2 ||
        rows.size / (8 * DIM) > row_count + 1) {
        world_fail(world, "round %" PRIu32 " has %zu bytes of experts", record->as.round.round,
                   rows.size);
        return;
    }
    check_average(world, record, rows, 10);
}

/* The released sum is that of count numbers: the experts' losses, the points' answers. */
static void check_sum(struct world *world, const struct record *record, size_t count)
{
    if (record->as.round.sum_count != count) {
        world_fail(world, "round %" PRIu32 " sums %" PRIu32 " numbers in place of %zu",
                   record->as.round.round, record->as.round.sum_count, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if ((uint64_t)record->as.round.sum[i] != checker_committed_sum(world, record, count, i)) {
            world_fail(world, "the sum of round %" PRIu32 " is not that of the answers",
                       record->as.round.round);
            return;
        }
    }
}

/* A row for each site, in the round's order: its records, and its answer as it left the site. */
static void check_sites(struct world *world, const struct record *record, struct slice rows)
{
    const size_t count = record->as.round.sum_count;
    check_sum(world, record, count);
    if (rows.size != record->as.round.agent_count * (1 + count) * 8) {
        world_fail(world, "round %" PRIu32 " has %zu bytes of sites", record->as.round.round,
                   rows.size);
        return;
    }
    for (size_t i = 0; i < record->as.round.agent_count * (1 + count); i++) {
        const size_t place = i % (1 + count);
        uint64_t word;
        uint64_t expected = SIM_RECORDS;
        memcpy(&word, (const uint8_t *)rows.data + 8 * i, sizeof word);
        if (place > 0 &&
            !committed_value(world, record, i / (1 + count), count, place - 1, &expected)) {
            return;
        }
        if (word != expected) {
            world_fail(world, "round %" PRIu32 " tells another answer of %s than it gave",
                       record->as.round.round, record->as.round.agent[i / (1 + count)].name);
        }
    }
}

static void check_models(struct world *world, const struct record *record, struct slice rows)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(&world->fixture.job, record->as.round.round, &within);
    const size_t row_count = job_experts_of_round(stage, record->as.round.agent_count);
    if (stage->task == TASK_FIT) {
        check_fit(world, record, rows);
        return;
    }
    if (rows.size != row_count * DIM * 8) {
        world_fail(world, "round %" PRIu32 " has %zu bytes of experts", record->as.round.round,
                   rows.size);
        return;
    }
    if (stage->task == TASK_ONLINE) {
        check_average(world, record, rows, 32);
    }
    /* None of second moments. */
    check_sum(world, record, stage->task == TASK_PREDICT ? predict_stage(stage)->point_count : 0);
}

void checker_add_experts(struct checker *checker, struct slice rows)
{
    if (rows.size == 0) {
        return;
    }
    checker->experts = realloc(checker->experts, checker->experts_bytes + rows.size);
    if (checker->experts == NULL) {
        abort();
    }
    memcpy(checker->experts + checker->experts_bytes, rows.data, rows.size);
    checker->experts_bytes += rows.size;
}

/* Takes the record. */
void checker_on_round(struct world *world, const struct node *node, struct record *record,
                      struct slice blob)
{
    struct checker *checker = &world->checker;
    uint32_t number = record->as.round.round;
    size_t before = checker->round_count;
    if (!checker->job_known || !digest_equal(&record->as.round.job, &checker->job.id) ||
        number != before || number >= job_round_count(&world->fixture.job) ||
        (before > 0 && checker->round[before - 1].record.as.round.failed)) {
        world_fail(world, "the outcome of round %" PRIu32 " is decided after %zu rounds", number,
                   before);
        record_free(record);
        return;
    }
    const bool few = record->as.round.agent_count < world->plan.cohort_min;
    if (world->plan.trial == TRIAL_MASKED ? few && !record->as.round.failed
                                          : record->as.round.failed != few) {
        world_fail(world, "round %" PRIu32 " with %" PRIu32 " agents %s", number,
                   record->as.round.agent_count,
                   record->as.round.failed ? "failed" : "did not fail");
    }
    if (record->as.round.failed) {
        /* nothing is released */
    } else if (plan_is_central(&world->plan)) {
        central_on_round(world, node, record, blob);
    } else if (number < FIT_ROUNDS) {
        const struct stage *next = &world->fixture.job.stage[world->fixture.job.stage_count - 1];
        if (world->plan.local == LOCAL_SITES) {
            check_sites(world, record, blob);
        } else {
            check_models(world, record, blob);
            checker_add_experts(checker, blob);
        }
        if (number + 1 == FIT_ROUNDS) {
            checker_add_experts(checker, (struct slice){losses_stage(next)->forecaster_weights,
                                                        losses_stage(next)->forecaster_count * DIM *
                                                            sizeof(double)});
        }
    } else {
        check_sum(world, record, checker->experts_bytes / (8 * DIM));
    }
    if (world->plan.trial == TRIAL_MASKED) {
        masked_on_round(world, record);
    }
    struct known_round *round = &checker->round[checker->round_count++];
    round->record = *record;
    round->experts = (struct artifact){.bytes = checker->experts_bytes};
    if (checker->experts_bytes > 0) {
        struct slice all = {.data = checker->experts, .size = checker->experts_bytes};
        digest_sha256(&round->experts.digest, &all, 1);
    }
}
