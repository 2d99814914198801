/* Wrong variants of the programs. The checkers must notice each of them. */

#include "coordinator/round_state.h"
#include "crypto/digest.h"
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
    uint64_t word = 0;
    for (size_t i = 0; answer != NULL && i < record->as.round.sum_count &&
                       checker_value(&word, answer->bytes, record->as.round.sum_count, i);
         i++) {
        uint64_t sum = (uint64_t)record->as.round.sum[i];
        record->as.round.sum[i] =
            (int64_t)(world->plan.planted == PLANTED_DOUBLE_COUNT ? sum + word : sum - word);
    }
}

enum { ANSWERS_MAX = 64 };

/* For a query, which releases the sum itself. */
static void bend_noise(const struct world *world, const struct node *node, struct record *record)
{
    uint32_t within;
    int64_t noise[ANSWERS_MAX];
    const size_t count = record->as.round.sum_count;
    const uint32_t round = record->as.round.round;
    if (job_stage_of(&world->fixture.job, round, &within)->task != TASK_QUERY || count == 0) {
        return;
    }
    central_noise(world, node, round, noise, count);
    for (size_t i = 0; i < count; i++) {
        record->as.round.sum[i] +=
            world->plan.planted == PLANTED_NOISE_TWICE ? noise[i] : -noise[i];
    }
}

static void bend(const struct world *world, const struct node *node, struct record *record)
{
    enum planted planted = world->plan.planted;
    if (record->kind == RECORD_ANSWER && planted == PLANTED_HALF_CHARGE) {
        record->as.answer.charge.epsilon_micro /= 2;
    } else if (record->kind == RECORD_ANSWER && planted == PLANTED_FULL_AGAIN) {
        record->as.answer.charge.pass.byte[0] ^= (uint8_t)record->as.answer.round;
    } else if (record->kind == RECORD_ROUND &&
               (planted == PLANTED_DOUBLE_COUNT || planted == PLANTED_LOST_ANSWER)) {
        bend_sum(world, record);
    } else if (record->kind == RECORD_ROUND &&
               (planted == PLANTED_NOISE_TWICE || planted == PLANTED_NOISE_MISSING)) {
        bend_noise(world, node, record);
    } else if (record->kind == RECORD_ROUND && planted == PLANTED_MASK_LOST &&
               record->as.round.sum_count > 0) {
        record->as.round.sum[0] ^= INT64_C(0x5a5a5a5a5a5a5a5a);
    } else if (record->kind == RECORD_ANSWER && planted == PLANTED_EXACT_FREE) {
        record->as.answer.charge.epsilon_micro = 0;
        record->as.answer.charge.sigma_micro = UINT64_MAX;
    }
}

uint8_t *planted_body(const struct world *world, struct node *node, struct slice *body)
{
    struct record record;
    uint8_t *bent = NULL;
    size_t size = 0;
    if (world->plan.planted == PLANTED_NOTHING || wire_decode_record(&record, *body) != STATUS_OK) {
        return NULL;
    }
    bend(world, node, &record);
    if (world->plan.planted == PLANTED_FORGET_EARLY && record.kind == RECORD_ROUND &&
        node->memory->count > 1 && !node->memory->broken) {
        node->memory->record[node->memory->count - 1].forgotten = true;
    }
    if (wire_encode_record(&bent, &size, &record) == STATUS_OK) {
        *body = (struct slice){.data = bent, .size = size};
    }
    record_free(&record);
    return bent;
}

/* A collector's sum has something in it that nobody answered. */
uint8_t *planted_part(const struct world *world, const struct node *node, struct slice *blob)
{
    uint8_t *bent = NULL;
    if (world->plan.planted == PLANTED_PART_BENT && world_collects(world, node) && blob->size > 0 &&
        (bent = malloc(blob->size)) != NULL) {
        memcpy(bent, blob->data, blob->size);
        bent[0]++;
        *blob = (struct slice){bent, blob->size};
    }
    return bent;
}

/* It does not ask for the outcome. */
enum status planted_retry(struct world *world, struct node *node, uint64_t *sequence,
                          struct slice body, struct slice blob)
{
    struct node *before = server_visit(world, node);
    node->journal.close(node->journal.self);
    enum status status = server_open(&node->journal);
    if (status == STATUS_OK) {
        status = node->journal.append(node->journal.self, sequence, body, blob);
    }
    (void)server_visit(world, before);
    return status;
}

/* The machine is told that its record is durable, and it is not. */
bool planted_early(struct world *world, struct node *node, const struct effect *effect)
{
    struct record record;
    enum planted planted = world->plan.planted;
    static const struct {
        enum planted planted;
        enum record_kind kind;
    } early[] = {
        {PLANTED_SEND_BEFORE_COMMIT, RECORD_ANSWER}, {PLANTED_RELEASE_EARLY, RECORD_ROUND},
        {PLANTED_ROSTER_EARLY, RECORD_ROSTER},       {PLANTED_SETTLE_EARLY, RECORD_SURVIVORS},
        {PLANTED_SIGN_EARLY, RECORD_SURVIVORS},      {PLANTED_KEYS_EARLY, RECORD_KEYS}};
    size_t which = 0;
    while (which < sizeof early / sizeof early[0] && early[which].planted != planted) {
        which++;
    }
    if (which == sizeof early / sizeof early[0] ||
        (planted == PLANTED_SETTLE_EARLY && node->number != COORDINATOR) ||
        (planted == PLANTED_SIGN_EARLY && node->number == COORDINATOR) ||
        wire_decode_record(&record, effect->as.commit.body) != STATUS_OK) {
        return false;
    }
    enum record_kind kind = record.kind;
    record_free(&record);
    if (kind != early[which].kind) {
        return false;
    }
    size_t slot = node->committed_count++;
    node->committed_ms[slot] = slot > 0 ? node->committed_ms[slot - 1] : world->now_ms;
    node->committed_sequence[slot] = node->memory->count + 1;
    return true;
}

static void bend_release(struct world *world, struct node *node, size_t to, struct message *message,
                         struct slice payload)
{
    uint8_t bent[CONTROL_BYTES_MAX];
    message->as.release.chosen ^= 1;
    struct slice control = {.data = bent, .size = wire_encode(bent, message)};
    checker_on_send(world, node, to, control, payload);
    network_send(world, node, to, control, payload);
}

void planted_forgetful(const struct world *world, struct node *node)
{
    if (world->plan.planted == PLANTED_CURATOR_FORGETS) {
        struct curator **curator = &node->coordinator->curator;
        curator_free(*curator);
        if (curator_new(curator, &world->fixture.job, &node->random) != STATUS_OK) {
            abort();
        }
    }
}

/* Into the blob of the latest record, where a wrong agent would keep it. */
static void write_down(struct node *node, struct slice bytes)
{
    struct memory_record *record = &node->memory->record[node->memory->count - 1];
    free(record->blob);
    record->blob = malloc(bytes.size);
    if (record->blob == NULL) {
        abort();
    }
    memcpy(record->blob, bytes.data, bytes.size);
    record->blob_size = bytes.size;
    record->forgotten = true; /* and is not read back */
}

/* Returns whether what was sent was another message. */
static bool bend_exact(struct world *world, struct node *node, size_t to, struct slice control,
                       struct slice payload)
{
    const enum planted planted = world->plan.planted;
    struct message message;
    if (planted < PLANTED_EXACT_JOURNALED || planted >= PLANTED_ROSTER_EARLY ||
        node->number == COORDINATOR || wire_decode(&message, control, payload) != STATUS_OK) {
        return false;
    }
    if (planted == PLANTED_EXACT_JOURNALED && payload.size > 0 &&
        (message.kind == MESSAGE_CHUNK || message.kind == MESSAGE_OFFER)) {
        write_down(node, payload);
    } else if (planted == PLANTED_DIGEST_JOURNALED && message.kind == MESSAGE_OFFER) {
        write_down(node,
                   (struct slice){.data = message.as.offer.answer.byte, .size = DIGEST_BYTES});
    } else if (planted == PLANTED_OTHER_RECORDS && message.kind == MESSAGE_OFFER &&
               node->starts > 1) {
        uint8_t bent[CONTROL_BYTES_MAX];
        message.as.offer.answer.byte[0] ^= 1;
        struct slice other = {.data = bent, .size = wire_encode(bent, &message)};
        checker_on_send(world, node, to, other, payload);
        network_send(world, node, to, other, payload);
        return true;
    }
    return false;
}

void planted_send(struct world *world, struct node *node, size_t to, struct slice control,
                  struct slice payload)
{
    struct message message;
    uint8_t *bent = NULL;
    if (bend_exact(world, node, to, control, payload)) {
        return;
    }
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
    network_send(world, node, to, control, payload);
    free(bent);
}
