/* Journal records: accepted, as frames are, only in the one form that packing them again gives. */

#include "base/check.h"
#include "protocol/wire.h"
#include "protocol/wire_fields.h"

#include <journal.pb-c.h>
#include <stdlib.h>
#include <string.h>

/* A record unfolds to its own size (text and sums are copied once, with slack for growing) and to
 * what its names need: each a pointer, what alignment adds, and protobuf-c's notes of where it stands, in blocks that
 * double. A name takes NAME_PACKED_BYTES of the body at least. */
enum { ARENA_SPARE_BYTES = 64 * 1024, NAME_BYTES = 128, NAME_PACKED_BYTES = 3 };

static size_t arena_size(size_t body_size)
{
    const size_t names = body_size / NAME_PACKED_BYTES;
    return 2 * body_size + ARENA_SPARE_BYTES + NAME_BYTES * (names < PEERS_MAX ? names : PEERS_MAX);
}

#define FIELD(type, member, own) WIRE_FIELD(type, member, struct record, as.own)

/* clang-format off */
static const struct wire_field JOB[] = {
    FIELD(Journal__Job, job, job.job.id),
    FIELD(Journal__Job, nonce, job.job.nonce),
    FIELD(Journal__Job, text_digest, job.job.text_digest),
    FIELD(Journal__Job, trees, job.trees),
    FIELD(Journal__Job, shares, job.shares),
    FIELD(Journal__Job, protocol, job.protocol),
};
static const struct wire_field ANSWER[] = {
    FIELD(Journal__Answer, job, answer.job),
    FIELD(Journal__Answer, round, answer.round),
    FIELD(Journal__Answer, task, answer.task),
    FIELD(Journal__Answer, epsilon_micro, answer.charge.epsilon_micro),
    FIELD(Journal__Answer, delta_atto, answer.charge.delta_atto),
    FIELD(Journal__Answer, pass, answer.charge.pass),
    FIELD(Journal__Answer, row_first, answer.charge.row_first),
    FIELD(Journal__Answer, row_count, answer.charge.row_count),
    FIELD(Journal__Answer, invitation, answer.invitation),
    FIELD(Journal__Answer, answer, answer.answer),
    FIELD(Journal__Answer, answer_bytes, answer.answer_bytes),
    FIELD(Journal__Answer, mechanism, answer.charge.mechanism),
    FIELD(Journal__Answer, neighbours, answer.charge.neighbours),
    FIELD(Journal__Answer, sigma_micro, answer.charge.sigma_micro),
    FIELD(Journal__Answer, count, answer.charge.count),
    FIELD(Journal__Answer, masks_bytes, answer.masks_bytes),
    FIELD(Journal__Answer, shift, answer.shift),
};
static const struct wire_field ROUND[] = {
    FIELD(Journal__Round, job, round.job),
    FIELD(Journal__Round, round, round.round),
    FIELD(Journal__Round, failed, round.failed),
    FIELD(Journal__Round, chosen, round.chosen),
    FIELD(Journal__Round, blob_bytes, round.blob_bytes),
    FIELD(Journal__Round, duration_ms, round.duration_ms),
    FIELD(Journal__Round, cause, round.cause),
    FIELD(Journal__Round, records, round.records),
    FIELD(Journal__Round, cancelled, round.cancelled),
};
static const struct wire_field ROSTER[] = {
    FIELD(Journal__Roster, job, roster.job),
    FIELD(Journal__Roster, round, roster.round),
    FIELD(Journal__Roster, bytes, roster.bytes),
    FIELD(Journal__Roster, width, roster.width),
};
static const struct wire_field SURVIVORS[] = {
    FIELD(Journal__Survivors, job, survivors.job),
    FIELD(Journal__Survivors, round, survivors.round),
    FIELD(Journal__Survivors, set, survivors.set),
};
static const struct wire_field KEYS[] = {
    FIELD(Journal__Keys, job, keys.job),
    FIELD(Journal__Keys, round, keys.round),
    FIELD(Journal__Keys, invitation, keys.invitation),
    FIELD(Journal__Keys, bytes, keys.bytes),
};
static const struct wire_field PARTIAL[] = {
    FIELD(Journal__Partial, job, partial.job),
    FIELD(Journal__Partial, round, partial.round),
    FIELD(Journal__Partial, collector, partial.collector),
    FIELD(Journal__Partial, records, partial.records),
    FIELD(Journal__Partial, blob_bytes, partial.blob_bytes),
};

static const struct wire_body BODIES[RECORD_KIND_COUNT] = {
    [RECORD_JOB] = {&journal__job__descriptor, WIRE_FIELDS(JOB)},
    [RECORD_ANSWER] = {&journal__answer__descriptor, WIRE_FIELDS(ANSWER)},
    [RECORD_ROUND] = {&journal__round__descriptor, WIRE_FIELDS(ROUND)},
    [RECORD_ROSTER] = {&journal__roster__descriptor, WIRE_FIELDS(ROSTER)},
    [RECORD_SURVIVORS] = {&journal__survivors__descriptor, WIRE_FIELDS(SURVIVORS)},
    [RECORD_KEYS] = {&journal__keys__descriptor, WIRE_FIELDS(KEYS)},
    [RECORD_PARTIAL] = {&journal__partial__descriptor, WIRE_FIELDS(PARTIAL)},
};
/* clang-format on */

/* A body's number is its kind, counted from 2. */
static_assert((int)JOURNAL__RECORD__BODY_JOB == (int)RECORD_JOB + 2, "first number");
static_assert((int)JOURNAL__RECORD__BODY_ROUND == (int)RECORD_ROUND + 2, "round");
static_assert((int)JOURNAL__RECORD__BODY_PARTIAL == (int)RECORD_PARTIAL + 2, "last number");
static_assert((int)RECORD_PARTIAL + 1 == (int)RECORD_KIND_COUNT, "a number for each kind");

/* A record on its way out; points into a copy of it. */
struct packing {
    struct record copy;
    Journal__Record record;
    union {
        ProtobufCMessage base;
        Journal__Job job;
        Journal__Answer answer;
        Journal__Round round;
        Journal__Roster roster;
        Journal__Survivors survivors;
        Journal__Keys keys;
        Journal__Partial partial;
    } body;
    char **name; /* (of a round or a part of one, its agents) owned */
    char **away; /* (of these, who did not look) owned */
};

/* Returns a copy; NULL where bytes is 0, or without memory. */
static void *copy_of(const void *data, size_t bytes)
{
    void *copy = bytes == 0 ? NULL : malloc(bytes);
    if (copy != NULL) {
        memcpy(copy, data, bytes);
    }
    return copy;
}

/* What the tables above do not have: the text, which stands here or elsewhere. */
static enum status take_job(struct record *record, const Journal__Job *job)
{
    if (job->text.len > JOB_TEXT_BYTES_MAX) {
        return STATUS_CORRUPT;
    }
    record->as.job.job.text_bytes = job->text.len == 0 ? job->text_bytes : (uint32_t)job->text.len;
    record->as.job.text = copy_of(job->text.data, job->text.len);
    return job->text.len > 0 && record->as.job.text == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status take_names(struct peer **agent, uint32_t *count, char *const *name, size_t names)
{
    if (names > PEERS_MAX) {
        return STATUS_CORRUPT;
    }
    *agent = names > 0 ? calloc(names, sizeof **agent) : NULL;
    if (names > 0 && *agent == NULL) {
        return STATUS_NO_MEMORY;
    }
    *count = (uint32_t)names;
    for (size_t i = 0; i < names; i++) {
        const size_t length = strnlen(name[i], PEER_NAME_BYTES);
        if (length == PEER_NAME_BYTES) {
            return STATUS_CORRUPT;
        }
        memcpy((*agent)[i].name, name[i], length + 1);
    }
    return STATUS_OK;
}

/* Names and sums. */
static enum status take_round(struct record *record, const Journal__Round *round)
{
    enum status status = take_names(&record->as.round.agent, &record->as.round.agent_count,
                                    round->agent, round->n_agent);
    if (status == STATUS_OK) {
        status = take_names(&record->as.round.away, &record->as.round.away_count, round->away,
                            round->n_away);
    }
    if (status != STATUS_OK || round->n_sum > RECORD_SUM_MAX) {
        return status != STATUS_OK ? status : STATUS_CORRUPT;
    }
    record->as.round.sum_count = (uint32_t)round->n_sum;
    record->as.round.sum = copy_of(round->sum, round->n_sum * sizeof *round->sum);
    return round->n_sum > 0 && record->as.round.sum == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status take_partial(struct record *record, const Journal__Partial *partial)
{
    const enum status status =
        take_names(&record->as.partial.agent, &record->as.partial.agent_count, partial->agent,
                   partial->n_agent);
    return status == STATUS_OK
               ? take_names(&record->as.partial.away, &record->as.partial.away_count, partial->away,
                            partial->n_away)
               : status;
}

/* Returns pointers to names, owned; NULL without memory. */
static char **names_of(struct peer *agent, size_t count)
{
    char **name = malloc((count + 1) * sizeof *name);
    for (size_t i = 0; name != NULL && i < count; i++) {
        name[i] = agent[i].name;
    }
    return name;
}

static enum status put(struct packing *packing)
{
    struct record *copy = &packing->copy;
    journal__record__init(&packing->record);
    packing->record.wall_ms = copy->wall_ms;
    packing->record.body_case = (Journal__Record__BodyCase)(copy->kind + 2);
    packing->record.job = &packing->body.job;
    CHECK(BODIES[copy->kind].descriptor->sizeof_message <= sizeof packing->body);
    wire_put_fields(&packing->body.base, copy, &BODIES[copy->kind]);
    if (copy->kind == RECORD_JOB && copy->as.job.text == NULL) {
        packing->body.job.text_bytes = copy->as.job.job.text_bytes;
    } else if (copy->kind == RECORD_JOB) {
        packing->body.job.text.data = (uint8_t *)copy->as.job.text;
        packing->body.job.text.len = copy->as.job.job.text_bytes;
    } else if (copy->kind == RECORD_ANSWER) { /* wider in the struct than in the journal */
        packing->body.answer.sampling_nano = (uint32_t)copy->as.answer.charge.sampling_nano;
    } else if (copy->kind == RECORD_ROUND) {
        packing->body.round.n_agent = copy->as.round.agent_count;
        packing->body.round.n_sum = copy->as.round.sum_count;
        packing->body.round.sum = copy->as.round.sum;
        packing->name = names_of(copy->as.round.agent, copy->as.round.agent_count);
        packing->body.round.agent = packing->name;
        packing->body.round.n_away = copy->as.round.away_count;
        packing->away = names_of(copy->as.round.away, copy->as.round.away_count);
        packing->body.round.away = packing->away;
        return packing->name == NULL || packing->away == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    } else if (copy->kind == RECORD_PARTIAL) {
        packing->body.partial.n_agent = copy->as.partial.agent_count;
        packing->name = names_of(copy->as.partial.agent, copy->as.partial.agent_count);
        packing->body.partial.agent = packing->name;
        packing->body.partial.n_away = copy->as.partial.away_count;
        packing->away = names_of(copy->as.partial.away, copy->as.partial.away_count);
        packing->body.partial.away = packing->away;
        return packing->name == NULL || packing->away == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    return STATUS_OK;
}

enum status wire_encode_record(uint8_t **out, size_t *size, const struct record *record)
{
    *out = NULL;
    *size = 0;
    CHECK(record_is_valid(record));
    struct packing packing = {.copy = *record};
    enum status status = put(&packing);
    if (status == STATUS_OK) {
        *out = malloc(journal__record__get_packed_size(&packing.record));
        status = *out == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    if (status == STATUS_OK) {
        *size = journal__record__pack(&packing.record, *out);
    }
    free(packing.name);
    free(packing.away);
    return status;
}

static enum status take(struct record *record, const Journal__Record *packed)
{
    if (packed->body_case == JOURNAL__RECORD__BODY__NOT_SET) {
        return STATUS_CORRUPT;
    }
    record->wall_ms = packed->wall_ms;
    record->kind = (enum record_kind)((int)packed->body_case - 2);
    if (!wire_take_fields(record, &packed->job->base, &BODIES[record->kind])) {
        return STATUS_CORRUPT;
    }
    if (record->kind == RECORD_ANSWER) {
        record->as.answer.charge.sampling_nano = packed->answer->sampling_nano;
    }
    return record->kind == RECORD_JOB       ? take_job(record, packed->job)
           : record->kind == RECORD_ROUND   ? take_round(record, packed->round)
           : record->kind == RECORD_PARTIAL ? take_partial(record, packed->partial)
                                            : STATUS_OK;
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
    struct wire_arena arena = {.size = arena_size(body.size)};
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
