/* What a journal still holds beside its records: deaths before a forgetting must not add up. */

#include "sim/world.h"

static bool is_replaceable(const struct world *world, const struct record *record)
{
    uint32_t within;
    if (record->kind != RECORD_ROUND) {
        return record->kind == RECORD_ANSWER;
    }
    const struct stage *stage = job_stage_of(&world->fixture.job, record->as.round.round, &within);
    return stage->task == TASK_UPDATE && within + 1 < stage->rounds; /* the last one is a model */
}

void checker_on_forget(struct world *world, const struct node *node, uint64_t sequence,
                       bool is_wiped)
{
    struct record record;
    if (sequence > node->memory->count ||
        wire_decode_record(&record, memory_journal_body(node->memory, sequence)) != STATUS_OK) {
        return;
    }
    if (record.kind == RECORD_ANSWER && record.as.answer.masks_bytes > 0 && !is_wiped) {
        world_fail(world, "%s: what opens its masked answer is not overwritten",
                   peer_name(node->number));
    }
    record_free(&record);
}

/* A program may have died between forgetting and overwriting. Nobody can tell, so the blob is wiped again. */
static void check_wiped(struct world *world, const struct node *node, uint64_t sequence,
                        const struct record *record)
{
    if (record->as.answer.masks_bytes > 0 &&
        memory_journal_blob(node->memory, sequence).size == 0 && node->wiped != sequence) {
        world_fail(world, "%s has not wiped its latest answer since it started",
                   peer_name(node->number));
    }
}

void checker_on_kept(struct world *world, const struct node *node)
{
    size_t kept = 0;
    size_t keys = 0;
    uint64_t answer = 0;
    for (uint64_t sequence = 1; sequence <= node->memory->count; sequence++) {
        struct record record;
        if (wire_decode_record(&record, memory_journal_body(node->memory, sequence)) == STATUS_OK) {
            answer = record.kind == RECORD_ANSWER ? sequence : answer;
            record_free(&record);
        }
        if (memory_journal_blob(node->memory, sequence).size > 0 &&
            wire_decode_record(&record, memory_journal_body(node->memory, sequence)) == STATUS_OK) {
            kept += is_replaceable(world, &record);
            keys += record.kind == RECORD_KEYS;
            record_free(&record);
        }
    }
    struct record latest;
    if (answer > 0 &&
        wire_decode_record(&latest, memory_journal_body(node->memory, answer)) == STATUS_OK) {
        check_wiped(world, node, answer, &latest);
        record_free(&latest);
    }
    if (keys > 2) {
        world_fail(world, "%s: the journal holds keys for %zu rounds, and needs those of one",
                   peer_name(node->number), keys);
    }
    if (kept > 2) {
        world_fail(world, "%s: the journal holds %zu answers or states, and needs one",
                   peer_name(node->number), kept);
    }
}
