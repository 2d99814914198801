/* Wrong variants of the programs, made by bending what they do: each has to be noticed. */

#include "sim/world.h"

#include <stdlib.h>
#include <string.h>

static const struct known_answer *answer_of(const struct world *world, const struct record *round)
{
    for (size_t i = 0; i < world->checker.answer_count; i++) {
        const struct known_answer *answer = &world->checker.answer[i];
        if (answer->record.as.answer.round == round->as.round.round &&
            digest_equal(&answer->record.as.answer.job, &round->as.round.job) &&
            strcmp(peer_name(answer->agent), round->as.round.agent[0].name) == 0) {
            return answer;
        }
    }
    return NULL;
}

static void bend_sum(const struct world *world, struct record *record)
{
    const struct known_answer *answer =
        record->as.round.agent_count > 0 ? answer_of(world, record) : NULL;
    for (size_t i = 0; answer != NULL && i < record->as.round.sum_count; i++) {
        uint64_t word = load_u64((const uint8_t *)answer->bytes.data + 8 * i);
        uint64_t sum = (uint64_t)record->as.round.sum[i];
        record->as.round.sum[i] =
            (int64_t)(world->plan.planted == PLANTED_DOUBLE_COUNT ? sum + word : sum - word);
    }
}

static void bend(const struct world *world, struct record *record)
{
    enum planted planted = world->plan.planted;
    if (record->kind == RECORD_ANSWER && planted == PLANTED_HALF_CHARGE) {
        record->as.answer.charge.epsilon_micro /= 2;
    } else if (record->kind == RECORD_ANSWER && planted == PLANTED_FULL_AGAIN) {
        record->as.answer.charge.pass.byte[0] ^= (uint8_t)record->as.answer.round;
    } else if (record->kind == RECORD_ROUND &&
               (planted == PLANTED_DOUBLE_COUNT || planted == PLANTED_LOST_ANSWER)) {
        bend_sum(world, record);
    }
}

uint8_t *planted_body(const struct world *world, const struct node *node, struct slice *body)
{
    struct record record;
    uint8_t *bent = NULL;
    size_t size = 0;
    (void)node;
    if (world->plan.planted == PLANTED_NOTHING || wire_decode_record(&record, *body) != STATUS_OK) {
        return NULL;
    }
    bend(world, &record);
    if (wire_encode_record(&bent, &size, &record) == STATUS_OK) {
        *body = (struct slice){.data = bent, .size = size};
    }
    record_free(&record);
    return bent;
}

/* The machine is told that its record is durable, and it is not. */
bool planted_early(struct world *world, struct node *node, const struct effect *effect)
{
    struct record record;
    enum planted planted = world->plan.planted;
    if ((planted != PLANTED_SEND_BEFORE_COMMIT && planted != PLANTED_RELEASE_EARLY) ||
        wire_decode_record(&record, effect->as.commit.body) != STATUS_OK) {
        return false;
    }
    enum record_kind kind = record.kind;
    record_free(&record);
    if (kind != (planted == PLANTED_RELEASE_EARLY ? RECORD_ROUND : RECORD_ANSWER)) {
        return false;
    }
    size_t slot = node->committed_count++;
    node->committed_ms[slot] = slot > 0 ? node->committed_ms[slot - 1] : world->now_ms;
    node->committed_sequence[slot] = node->journal.count + 1;
    return true;
}

static void bend_release(struct world *world, struct node *node, size_t to, struct message *message,
                         struct slice payload)
{
    uint8_t bent[CONTROL_BYTES_MAX];
    message->as.release.chosen ^= 1;
    struct slice control = {.data = bent, .size = wire_encode(bent, message)};
    checker_on_send(world, node, to, control, payload);
    network_send(world, node->number, to, control, payload);
}

void planted_send(struct world *world, struct node *node, size_t to, struct slice control,
                  struct slice payload)
{
    struct message message;
    uint8_t *bent = NULL;
    if (world->plan.planted == PLANTED_TWO_OUTCOMES && to == 2 &&
        wire_decode(&message, control, payload) == STATUS_OK && message.kind == MESSAGE_RELEASE) {
        bend_release(world, node, to, &message, payload);
        return;
    }
    if (world->plan.planted == PLANTED_OTHER_BYTES && node->number != COORDINATOR &&
        payload.size > 0) {
        bent = malloc(payload.size);
        if (bent == NULL) {
            abort();
        }
        memcpy(bent, payload.data, payload.size);
        bent[dice_below(&world->dice, payload.size)] ^= 1;
        payload.data = bent;
    }
    checker_on_send(world, node, to, control, payload);
    network_send(world, node->number, to, control, payload);
    free(bent);
}
