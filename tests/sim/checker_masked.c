/* What must hold of masked rounds. An agent's journal has what opens its masks, so the sum that is released is compared
 * with that of the survivors' noised answers, word for word. No second roster, no second list of survivors and no
 * second keys of a site for one question become durable, nothing is told of them before, and an agent reveals of its masks what the list that it signed asks for. */

#include "crypto/digest.h"
#include "dp/encode.h"
#include "job/round.h"
#include "masks/site.h"
#include "sim/world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 128 };

/* What follows the words in an answer's blob: a seed, a key for each pair, the roster. */
struct opening {
    struct digest seed;
    const uint8_t *pair;
    struct masks_roster roster;
    size_t rank;
    struct masks_round round;
    enum masks_width width;
};

/* The terms of a round with this number of sites, by the job's text alone. */
static enum masks_width masked_width(const struct job *job, uint32_t round, size_t sites)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(job, round, &within);
    const size_t experts = job_experts_at(job, (size_t)(stage - job->stage), sites);
    return (enum masks_width)(8 * round_masked_bytes(job, stage, within, experts, sites));
}

static bool open_of(struct opening *opening, const struct world *world,
                    const struct known_answer *answer)
{
    const struct record *record = &answer->record;
    const size_t bytes = (size_t)record->as.answer.masks_bytes;
    const size_t sites = bytes / (DIGEST_BYTES + MASKS_KEYS_BYTES);
    const uint8_t *at = (const uint8_t *)answer->bytes.data + record->as.answer.answer_bytes;
    const struct job *job = &world->fixture.job;
    opening->width = masked_width(job, record->as.answer.round, sites);
    const struct masks_terms terms = {.job = record->as.answer.job,
                                      .round = record->as.answer.round,
                                      .dishonest = job->dishonest,
                                      .honest = job->honest,
                                      .width = opening->width};
    if (bytes != DIGEST_BYTES + sites * (DIGEST_BYTES + MASKS_KEYS_BYTES)) {
        return false;
    }
    memcpy(opening->seed.byte, at, DIGEST_BYTES);
    opening->pair = at + DIGEST_BYTES;
    const struct slice roster = {opening->pair + sites * DIGEST_BYTES, sites * MASKS_KEYS_BYTES};
    if (masks_roster_parse(&opening->roster, roster, NULL) != STATUS_OK) {
        return false;
    }
    opening->rank = masks_roster_rank(&opening->roster, peer_name(answer->agent));
    opening->round.invitation = record->as.answer.invitation;
    masks_roster_digest(&opening->round.roster, &opening->roster, &terms);
    return opening->rank < sites;
}

static struct digest pair_of(const struct opening *opening, size_t rank)
{
    struct digest key;
    memcpy(key.byte, opening->pair + rank * DIGEST_BYTES, DIGEST_BYTES);
    return key;
}

/* The answer before it was masked. */
static void unmask(struct known_answer *answer, const struct opening *opening)
{
    uint64_t words[WORDS_MAX];
    struct digest key;
    const unsigned word_bytes = (unsigned)opening->width / 8;
    const size_t count = (size_t)answer->record.as.answer.answer_bytes / word_bytes;
    memset(words, 0, sizeof words);
    decode_words_add_plainly((int64_t *)words, answer->bytes.data, count, word_bytes);
    if (masks_self_key(&key, &opening->seed, &opening->round) != STATUS_OK ||
        masks_subtract(words, count, opening->width, &key) != STATUS_OK) {
        abort();
    }
    for (size_t i = 0; i < opening->roster.count; i++) {
        key = pair_of(opening, i);
        if (i != opening->rank && (i > opening->rank ? masks_subtract : masks_add)(
                                      words, count, opening->width, &key) != STATUS_OK) {
            abort();
        }
    }
    answer->exact = malloc(8 * count + 1);
    if (answer->exact == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        store_u64(answer->exact + 8 * i, opening->width == MASKS_64
                                             ? words[i]
                                             : (uint64_t)(int64_t)(int32_t)(uint32_t)words[i]);
    }
    answer->exact_size = 8 * count;
}

void masked_on_answer(struct world *world, struct known_answer *answer)
{
    static struct opening opening;
    if (answer->record.as.answer.answer_bytes > 4 * WORDS_MAX ||
        !open_of(&opening, world, answer)) {
        world_fail(world, "%s: nothing opens its masked answer again", peer_name(answer->agent));
        return;
    }
    unmask(answer, &opening);
    world->tally.masked_answers++;
}

static struct known_list *list_of(struct checker *checker, size_t agent, const struct digest *job,
                                  uint32_t round)
{
    for (size_t i = 0; i < checker->list_count; i++) {
        struct known_list *list = &checker->list[i];
        if (list->agent == agent && list->round == round && digest_equal(&list->job, job)) {
            return list;
        }
    }
    return NULL;
}

static void on_durable_list(struct world *world, const struct node *node,
                            const struct record *record)
{
    struct checker *checker = &world->checker;
    const struct digest *job = &record->as.survivors.job;
    const uint32_t round = record->as.survivors.round;
    const struct known_list *told = list_of(checker, COORDINATOR, job, round);
    if (list_of(checker, node->number, job, round) != NULL) {
        world_fail(world, "%s: a second list of survivors of round %" PRIu32 " is durable",
                   peer_name(node->number), round);
        return;
    }
    if (node->number != COORDINATOR && checker->job_known && digest_equal(job, &checker->job.id) &&
        (told == NULL || !digest_equal(&told->set, &record->as.survivors.set))) {
        world_fail(world, "%s signs another list of survivors than the durable one",
                   peer_name(node->number));
    }
    if (checker->list_count == CHECKER_ANSWERS_MAX) {
        world_fail(world, "too many lists");
        return;
    }
    checker->list[checker->list_count++] = (struct known_list){
        .agent = node->number, .job = *job, .round = round, .set = record->as.survivors.set};
}

/* A site that began anew sends its former keys. Otherwise a roster that names these would be lost for
 * it. */
static void on_durable_keys(struct world *world, const struct node *node,
                            const struct record *record, struct slice blob)
{
    struct checker *checker = &world->checker;
    const struct known_keys *latest = NULL;
    for (size_t i = 0; i < checker->keys_count; i++) {
        latest = checker->keys[i].agent == node->number ? &checker->keys[i] : latest;
    }
    if (latest != NULL && memory_journal_blob(node->memory, latest->sequence).size == 0) {
        latest = NULL; /* a frame with a bit turned over ended the round */
    }
    if (latest != NULL && latest->record.as.keys.round == record->as.keys.round &&
        digest_equal(&latest->record.as.keys.job, &record->as.keys.job) &&
        digest_equal(&latest->record.as.keys.invitation, &record->as.keys.invitation)) {
        world_fail(world, "%s: second keys for round %" PRIu32 " are durable",
                   peer_name(node->number), record->as.keys.round);
    }
    if (node->number == COORDINATOR || blob.size != MASKS_KEYED_BYTES ||
        checker->keys_count == CHECKER_ANSWERS_MAX) {
        world_fail(world, "%s: keys have no business here", peer_name(node->number));
        return;
    }
    checker->keys[checker->keys_count++] = (struct known_keys){
        .agent = node->number, .sequence = node->memory->count, .record = *record, .packed = blob};
}

/* The latest durable keys: a secret and a seed, then what may leave. */
static void check_keys(struct world *world, size_t agent, const struct message *message,
                       struct slice payload)
{
    const struct checker *checker = &world->checker;
    bool durable = false;
    for (size_t i = 0; i < checker->keys_count; i++) {
        const struct known_keys *known = &checker->keys[i];
        durable = durable || (known->agent == agent && payload.size == MASKS_KEYS_BYTES &&
                              known->record.as.keys.round == message->as.leg.round &&
                              digest_equal(&known->record.as.keys.job, &message->as.leg.job) &&
                              memcmp((const uint8_t *)known->packed.data + 2 * DIGEST_BYTES,
                                     payload.data, payload.size) == 0);
    }
    if (!durable) {
        world_fail(world, "%s sends keys that are not durable", peer_name(agent));
    }
}

void masked_on_durable(struct world *world, const struct node *node, const struct record *record,
                       struct slice blob)
{
    struct checker *checker = &world->checker;
    if (record->kind == RECORD_KEYS) {
        on_durable_keys(world, node, record, blob);
        return;
    }
    if (record->kind == RECORD_SURVIVORS) {
        on_durable_list(world, node, record);
        return;
    }
    const uint32_t round = record->as.roster.round;
    if (node->number != COORDINATOR || round != checker->round_count ||
        blob.size != record->as.roster.bytes) {
        world_fail(world, "%s: a roster has no business in this journal", peer_name(node->number));
    } else if (checker->round[round].roster.size > 0) {
        world_fail(world, "a second roster of round %" PRIu32 " is durable", round);
    } else {
        checker->round[round].roster = blob;
    }
}

void masked_on_round(struct world *world, const struct record *record)
{
    const struct known_list *list =
        list_of(&world->checker, COORDINATOR, &record->as.round.job, record->as.round.round);
    struct masks_set set = {{0}};
    if (record->as.round.failed) {
        return;
    }
    if (list != NULL) {
        memcpy(set.byte, list->set.byte, MASKS_SET_BYTES);
    }
    if (masks_set_count(&set) != record->as.round.agent_count) {
        world_fail(world, "round %" PRIu32 " is opened for other agents than its survivors",
                   record->as.round.round);
    }
    if (world->plan.patient && record->as.round.agent_count < SIM_AGENTS) {
        world_fail(world, "round %" PRIu32 " has %" PRIu32 " agents, and all came back in time",
                   record->as.round.round, record->as.round.agent_count);
    }
    world->tally.masked_rounds++;
    world->tally.masked_without += record->as.round.agent_count < SIM_AGENTS;
}

static void check_reveal(struct world *world, size_t agent, const struct message *message,
                         struct slice payload)
{
    static struct opening opening;
    uint8_t right[MASKS_REVEAL_BYTES_MAX];
    struct masks_set set;
    size_t size = DIGEST_BYTES;
    const struct known_answer *answer =
        checker_find(&world->checker, agent, &message->as.leg.job, message->as.leg.round);
    const struct known_list *list =
        list_of(&world->checker, agent, &message->as.leg.job, message->as.leg.round);
    if (answer == NULL || list == NULL || !open_of(&opening, world, answer)) {
        world_fail(world, "%s reveals something before its list of survivors is durable",
                   peer_name(agent));
        return;
    }
    memcpy(set.byte, list->set.byte, MASKS_SET_BYTES);
    memcpy(right, opening.seed.byte, DIGEST_BYTES);
    for (size_t i = 0; i < opening.roster.count; i++) {
        if (!masks_set_has(&set, i)) {
            const struct digest key = pair_of(&opening, i);
            memcpy(right + size, key.byte, DIGEST_BYTES);
            size += DIGEST_BYTES;
        }
    }
    if (payload.size != size || memcmp(payload.data, right, size) != 0) {
        world_fail(world, "%s reveals something else than its survivors ask for", peer_name(agent));
    }
}

void masked_from_agent(struct world *world, size_t agent, const struct message *message,
                       struct slice payload)
{
    struct masks_keys keys;
    if (message->kind == MESSAGE_KEYS) {
        const struct masks_terms terms = {.job = message->as.leg.job,
                                          .round = message->as.leg.round};
        if (masks_keys_parse(&keys, payload) != STATUS_OK ||
            !masks_keys_are_signed(&keys, &terms)) {
            world_fail(world, "%s sends keys that it has not signed", peer_name(agent));
        }
        check_keys(world, agent, message, payload);
    } else if (message->kind == MESSAGE_SIGNED &&
               list_of(&world->checker, agent, &message->as.leg.job, message->as.leg.round) ==
                   NULL) {
        world_fail(world, "%s signs a list of survivors that is not durable", peer_name(agent));
    } else if (message->kind == MESSAGE_REVEAL) {
        check_reveal(world, agent, message, payload);
    }
}

void masked_from_coordinator(struct world *world, const struct message *message,
                             struct slice payload)
{
    const struct checker *checker = &world->checker;
    const uint32_t round = message->as.leg.round;
    const struct known_list *list =
        list_of(&world->checker, COORDINATOR, &message->as.leg.job, round);
    const struct slice roster =
        round < CHECKER_ROUNDS_MAX ? checker->round[round].roster : (struct slice){0};
    if (message->kind == MESSAGE_ROSTER) {
        if (roster.size == 0 || payload.size != roster.size ||
            memcmp(payload.data, roster.data, roster.size) != 0) {
            world_fail(world, "a roster of round %" PRIu32 " is told that is not durable", round);
        } else if (message->as.leg.width !=
                   (uint32_t)masked_width(&world->fixture.job, round,
                                          roster.size / MASKS_KEYS_BYTES)) {
            world_fail(world, "words of round %" PRIu32 " have another width than its sum needs",
                       round);
        }
    } else if (list == NULL || payload.size < MASKS_SET_BYTES ||
               memcmp(payload.data, list->set.byte, MASKS_SET_BYTES) != 0) {
        world_fail(world, "survivors of round %" PRIu32 " are told that are not durable", round);
    }
}
