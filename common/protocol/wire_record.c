/* Journal records: accepted, as frames are, only in the one form that packing them again gives. */

#include "base/check.h"
#include "protocol/wire.h"
#include "protocol/wire_arena.h"
#include "protocol/wire_fields.h"

#include <journal.pb-c.h>
#include <stdlib.h>

/* A record unfolds to its own size (text and sums are copied once, with slack for growing) and to
 * what PEERS_MAX names need. */
enum { ARENA_SPARE_BYTES = 128 * 1024 };

/* A record on its way out; points into a copy of it. */
struct packing {
    struct record copy;
    Journal__Record record;
    union {
        Journal__Job job;
        Journal__Answer answer;
        Journal__Round round;
        Journal__Roster roster;
        Journal__Survivors survivors;
        Journal__Keys keys;
    } body;
    char *name[PEERS_MAX];
};

static enum status take_job(struct record *record, const Journal__Job *job)
{
    struct job_name *name = &record->as.job.job;
    record->kind = RECORD_JOB;
    if (!wire_take_digest(&name->id, &job->job) || !wire_take_digest(&name->nonce, &job->nonce) ||
        !wire_take_digest(&name->text_digest, &job->text_digest) ||
        job->text.len > JOB_TEXT_BYTES_MAX) {
        return STATUS_CORRUPT;
    }
    if (job->text.len == 0) {
        name->text_bytes = job->text_bytes;
        return STATUS_OK;
    }
    record->as.job.text = malloc(job->text.len);
    if (record->as.job.text == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(record->as.job.text, job->text.data, job->text.len);
    name->text_bytes = (uint32_t)job->text.len;
    return STATUS_OK;
}

static enum status take_answer(struct record *record, const Journal__Answer *answer)
{
    record->kind = RECORD_ANSWER;
    record->as.answer.round = answer->round;
    record->as.answer.answer_bytes = answer->answer_bytes;
    record->as.answer.masks_bytes = answer->masks_bytes;
    record->as.answer.charge = (struct charge){
        .mechanism = (enum mechanism)answer->mechanism,
        .neighbours = (enum neighbours)answer->neighbours,
        .epsilon_micro = answer->epsilon_micro,
        .sigma_micro = answer->sigma_micro,
        .delta_atto = answer->delta_atto,
        .count = answer->count,
        .sampling_nano = answer->sampling_nano,
        .row_first = answer->row_first,
        .row_count = answer->row_count,
    };
    bool whole =
        wire_take_digest(&record->as.answer.job, &answer->job) &&
        wire_take_text(record->as.answer.task, sizeof record->as.answer.task, answer->task) &&
        wire_take_digest(&record->as.answer.charge.pass, &answer->pass) &&
        wire_take_digest(&record->as.answer.invitation, &answer->invitation) &&
        wire_take_digest(&record->as.answer.answer, &answer->answer);
    return whole ? STATUS_OK : STATUS_CORRUPT;
}

static enum status take_round(struct record *record, const Journal__Round *round)
{
    record->kind = RECORD_ROUND;
    record->as.round.round = round->round;
    record->as.round.failed = round->failed != 0;
    record->as.round.cancelled = round->cancelled != 0;
    record->as.round.chosen = round->chosen;
    record->as.round.blob_bytes = round->blob_bytes;
    record->as.round.duration_ms = round->duration_ms;
    record->as.round.records = round->records;
    if (!wire_take_digest(&record->as.round.job, &round->job) || round->n_agent > PEERS_MAX ||
        !wire_take_text(record->as.round.cause, RECORD_CAUSE_BYTES, round->cause) ||
        round->n_sum > RECORD_SUM_MAX) {
        return STATUS_CORRUPT;
    }
    if (round->n_agent > 0) {
        record->as.round.agent = calloc(round->n_agent, sizeof *record->as.round.agent);
        if (record->as.round.agent == NULL) {
            return STATUS_NO_MEMORY;
        }
        record->as.round.agent_count = (uint32_t)round->n_agent;
    }
    for (size_t i = 0; i < round->n_agent; i++) {
        if (!wire_take_text(record->as.round.agent[i].name, PEER_NAME_BYTES, round->agent[i])) {
            return STATUS_CORRUPT;
        }
    }
    if (round->n_sum > 0) {
        record->as.round.sum = malloc(round->n_sum * sizeof *record->as.round.sum);
        if (record->as.round.sum == NULL) {
            return STATUS_NO_MEMORY;
        }
        memcpy(record->as.round.sum, round->sum, round->n_sum * sizeof *record->as.round.sum);
        record->as.round.sum_count = (uint32_t)round->n_sum;
    }
    return STATUS_OK;
}

static void put_answer(struct packing *packing)
{
    struct record *copy = &packing->copy;
    packing->record.body_case = JOURNAL__RECORD__BODY_ANSWER;
    packing->record.answer = &packing->body.answer;
    journal__answer__init(&packing->body.answer);
    packing->body.answer.job = wire_put_digest(&copy->as.answer.job);
    packing->body.answer.round = copy->as.answer.round;
    packing->body.answer.task = copy->as.answer.task;
    packing->body.answer.epsilon_micro = copy->as.answer.charge.epsilon_micro;
    packing->body.answer.delta_atto = copy->as.answer.charge.delta_atto;
    packing->body.answer.pass = wire_put_digest(&copy->as.answer.charge.pass);
    packing->body.answer.row_first = copy->as.answer.charge.row_first;
    packing->body.answer.row_count = copy->as.answer.charge.row_count;
    packing->body.answer.invitation = wire_put_digest(&copy->as.answer.invitation);
    packing->body.answer.answer = wire_put_digest(&copy->as.answer.answer);
    packing->body.answer.answer_bytes = copy->as.answer.answer_bytes;
    packing->body.answer.mechanism = (uint32_t)copy->as.answer.charge.mechanism;
    packing->body.answer.neighbours = (uint32_t)copy->as.answer.charge.neighbours;
    packing->body.answer.sigma_micro = copy->as.answer.charge.sigma_micro;
    packing->body.answer.count = copy->as.answer.charge.count;
    packing->body.answer.sampling_nano = (uint32_t)copy->as.answer.charge.sampling_nano;
    packing->body.answer.masks_bytes = copy->as.answer.masks_bytes;
}

static void put_roster(struct packing *packing)
{
    struct record *copy = &packing->copy;
    packing->record.body_case = JOURNAL__RECORD__BODY_ROSTER;
    packing->record.roster = &packing->body.roster;
    journal__roster__init(&packing->body.roster);
    packing->body.roster.job = wire_put_digest(&copy->as.roster.job);
    packing->body.roster.round = copy->as.roster.round;
    packing->body.roster.bytes = copy->as.roster.bytes;
}

static void put_survivors(struct packing *packing)
{
    struct record *copy = &packing->copy;
    packing->record.body_case = JOURNAL__RECORD__BODY_SURVIVORS;
    packing->record.survivors = &packing->body.survivors;
    journal__survivors__init(&packing->body.survivors);
    packing->body.survivors.job = wire_put_digest(&copy->as.survivors.job);
    packing->body.survivors.round = copy->as.survivors.round;
    packing->body.survivors.set = wire_put_digest(&copy->as.survivors.set);
}

static void put_keys(struct packing *packing)
{
    struct record *copy = &packing->copy;
    packing->record.body_case = JOURNAL__RECORD__BODY_KEYS;
    packing->record.keys = &packing->body.keys;
    journal__keys__init(&packing->body.keys);
    packing->body.keys.job = wire_put_digest(&copy->as.keys.job);
    packing->body.keys.round = copy->as.keys.round;
    packing->body.keys.invitation = wire_put_digest(&copy->as.keys.invitation);
    packing->body.keys.bytes = copy->as.keys.bytes;
}

static void put_round(struct packing *packing)
{
    struct record *copy = &packing->copy;
    packing->record.body_case = JOURNAL__RECORD__BODY_ROUND;
    packing->record.round = &packing->body.round;
    journal__round__init(&packing->body.round);
    packing->body.round.job = wire_put_digest(&copy->as.round.job);
    packing->body.round.round = copy->as.round.round;
    packing->body.round.failed = copy->as.round.failed;
    packing->body.round.cancelled = copy->as.round.cancelled;
    packing->body.round.chosen = copy->as.round.chosen;
    for (size_t i = 0; i < copy->as.round.agent_count; i++) {
        packing->name[i] = copy->as.round.agent[i].name;
    }
    packing->body.round.n_agent = copy->as.round.agent_count;
    packing->body.round.agent = packing->name;
    packing->body.round.n_sum = copy->as.round.sum_count;
    packing->body.round.sum = copy->as.round.sum;
    packing->body.round.blob_bytes = copy->as.round.blob_bytes;
    packing->body.round.duration_ms = copy->as.round.duration_ms;
    packing->body.round.records = copy->as.round.records;
    packing->body.round.cause = copy->as.round.cause;
}

static void put(struct packing *packing)
{
    struct record *copy = &packing->copy;
    journal__record__init(&packing->record);
    packing->record.wall_ms = copy->wall_ms;
    switch (copy->kind) {
    case RECORD_JOB:
        packing->record.body_case = JOURNAL__RECORD__BODY_JOB;
        packing->record.job = &packing->body.job;
        journal__job__init(&packing->body.job);
        packing->body.job.job = wire_put_digest(&copy->as.job.job.id);
        packing->body.job.nonce = wire_put_digest(&copy->as.job.job.nonce);
        packing->body.job.text_digest = wire_put_digest(&copy->as.job.job.text_digest);
        if (copy->as.job.text == NULL) {
            packing->body.job.text_bytes = copy->as.job.job.text_bytes;
        } else {
            packing->body.job.text.data = (uint8_t *)copy->as.job.text;
            packing->body.job.text.len = copy->as.job.job.text_bytes;
        }
        break;
    case RECORD_ANSWER:
        put_answer(packing);
        break;
    case RECORD_ROUND:
        put_round(packing);
        break;
    case RECORD_ROSTER:
        put_roster(packing);
        break;
    case RECORD_SURVIVORS:
        put_survivors(packing);
        break;
    case RECORD_KEYS:
        put_keys(packing);
        break;
    case RECORD_KIND_COUNT:
        break;
    }
}

enum status wire_encode_record(uint8_t **out, size_t *size, const struct record *record)
{
    *out = NULL;
    *size = 0;
    CHECK(record_is_valid(record));
    struct packing packing = {.copy = *record};
    put(&packing);
    size_t packed_size = journal__record__get_packed_size(&packing.record);
    uint8_t *packed = malloc(packed_size);
    if (packed == NULL) {
        return STATUS_NO_MEMORY;
    }
    *size = journal__record__pack(&packing.record, packed);
    *out = packed;
    return STATUS_OK;
}

static enum status take_keys(struct record *record, const Journal__Keys *keys)
{
    record->kind = RECORD_KEYS;
    record->as.keys.round = keys->round;
    record->as.keys.bytes = keys->bytes;
    return wire_take_digest(&record->as.keys.job, &keys->job) &&
                   wire_take_digest(&record->as.keys.invitation, &keys->invitation)
               ? STATUS_OK
               : STATUS_CORRUPT;
}

static enum status take(struct record *record, const Journal__Record *packed)
{
    record->wall_ms = packed->wall_ms;
    switch ((int)packed->body_case) {
    case JOURNAL__RECORD__BODY_JOB:
        return take_job(record, packed->job);
    case JOURNAL__RECORD__BODY_ANSWER:
        return take_answer(record, packed->answer);
    case JOURNAL__RECORD__BODY_ROUND:
        return take_round(record, packed->round);
    case JOURNAL__RECORD__BODY_ROSTER:
        record->kind = RECORD_ROSTER;
        record->as.roster.round = packed->roster->round;
        record->as.roster.bytes = packed->roster->bytes;
        return wire_take_digest(&record->as.roster.job, &packed->roster->job) ? STATUS_OK
                                                                              : STATUS_CORRUPT;
    case JOURNAL__RECORD__BODY_SURVIVORS:
        record->kind = RECORD_SURVIVORS;
        record->as.survivors.round = packed->survivors->round;
        return wire_take_digest(&record->as.survivors.job, &packed->survivors->job) &&
                       wire_take_digest(&record->as.survivors.set, &packed->survivors->set)
                   ? STATUS_OK
                   : STATUS_CORRUPT;
    case JOURNAL__RECORD__BODY_KEYS:
        return take_keys(record, packed->keys);
    default:
        return STATUS_CORRUPT;
    }
}

static enum status check_canonical(const struct record *record, struct slice body)
{
    if (!record_is_valid(record)) {
        return STATUS_CORRUPT;
    }
    uint8_t *again = NULL;
    size_t size = 0;
    enum status status = wire_encode_record(&again, &size, record);
    if (status == STATUS_OK && (size != body.size || memcmp(again, body.data, size) != 0)) {
        status = STATUS_CORRUPT;
    }
    free(again);
    return status;
}

enum status wire_decode_record(struct record *record, struct slice body)
{
    memset(record, 0, sizeof *record);
    if (body.size == 0 || body.size > RECORD_BODY_BYTES_MAX) {
        return STATUS_CORRUPT;
    }
    struct wire_arena arena = {.size = 2 * body.size + ARENA_SPARE_BYTES};
    arena.room = malloc(arena.size);
    if (arena.room == NULL) {
        return STATUS_NO_MEMORY;
    }
    ProtobufCAllocator allocator = wire_arena_allocator(&arena);
    const Journal__Record *packed = journal__record__unpack(&allocator, body.size, body.data);
    enum status status = packed == NULL ? STATUS_CORRUPT : take(record, packed);
    free(arena.room);
    if (status == STATUS_OK) {
        status = check_canonical(record, body);
    }
    if (status != STATUS_OK) {
        record_free(record);
    }
    return status;
}
