/* The answers that the gate keeps: sealed until their record is durable, read back from the journal, dropped once their round
 * is closed; and the last round that each job has answered. This file draws no noise and spends nothing. */

#include "agent/gate_private.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "dp/encode.h"

#include <stdlib.h>
#include <string.h>

void gate_drop_bytes(struct answer *answer)
{
    /* An exact answer's are private, and so is what opens masks. */
    bytes_free(answer->data, answer->view.bytes.size + answer->view.masks.size);
    answer->data = NULL;
    answer->view.bytes = (struct slice){0};
    answer->view.masks = (struct slice){0};
}

enum status gate_advance(struct gate *gate, const struct digest *job, uint32_t round)
{
    size_t at = digest_table_find(&gate->job, job);
    if (at == DIGEST_NOT_THERE) {
        if (digest_table_reserve(&gate->job) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
        if (gate->cursor_capacity < gate->job.capacity) {
            uint32_t *grown = realloc(gate->last_round, gate->job.capacity * sizeof *grown);
            if (grown == NULL) {
                return STATUS_NO_MEMORY;
            }
            gate->last_round = grown;
            gate->cursor_capacity = gate->job.capacity;
        }
        at = digest_table_add(&gate->job, job);
        gate->last_round[at] = 0;
    }
    if (round > gate->last_round[at]) {
        gate->last_round[at] = round;
    }
    return STATUS_OK;
}

int64_t gate_last_round(const struct gate *gate, const struct digest *job)
{
    size_t at = digest_table_find(&gate->job, job);
    return at == DIGEST_NOT_THERE ? -1 : (int64_t)gate->last_round[at];
}

static struct gate_answer_view view_of(const struct record *record)
{
    return (struct gate_answer_view){.job = record->as.answer.job,
                                     .round = record->as.answer.round,
                                     .invitation = record->as.answer.invitation,
                                     .digest = record->as.answer.answer,
                                     .size = record->as.answer.answer_bytes,
                                     .rows = record->as.answer.charge.row_count,
                                     .shift = record->as.answer.shift,
                                     .exact = digest_is_none(&record->as.answer.answer)};
}

enum status gate_restore(struct gate *gate, const struct record *record, uint64_t sequence,
                         struct slice blob)
{
    struct answer answer = {.view = view_of(record), .exists = true, .restored = true};

    CHECK(record->kind == RECORD_ANSWER);
    ledger_at(gate->ledger,
              &(struct occasion){.job = record->as.answer.job, .wall_ms = record->wall_ms});
    enum status status = ledger_restore(gate->ledger, &record->as.answer.charge);
    if (status == STATUS_OK) {
        status = gate_advance(gate, &answer.view.job, answer.view.round);
    }
    if (status != STATUS_OK) {
        return status;
    }
    answer.view.sequence = sequence;
    if (blob.size > 0) {
        const size_t size = (size_t)answer.view.size;
        if (blob.size != answer.view.size + record->as.answer.masks_bytes) {
            return STATUS_CORRUPT;
        }
        if (!digest_is_of(&answer.view.digest, (struct slice){blob.data, size})) {
            return STATUS_CORRUPT;
        }
        answer.data = malloc(blob.size);
        if (answer.data == NULL) {
            return STATUS_NO_MEMORY;
        }
        memcpy(answer.data, blob.data, blob.size);
        answer.view.bytes = (struct slice){answer.data, size};
        answer.view.masks = (struct slice){answer.data + size, blob.size - size};
    }
    gate_drop_bytes(&gate->latest);
    gate->latest = answer;
    gate->latest_pass = record->as.answer.charge.pass;
    return STATUS_OK;
}

/* Little-endian words, the only form in which a vector crosses the wire; after them what opens their masks. */
static uint8_t *pack(const struct private_vector *vector, unsigned word_bytes, struct slice masks)
{
    const size_t size = vector->count * word_bytes;
    uint8_t *data = malloc(size + masks.size);
    if (data != NULL) {
        encode_words(data, vector->value, vector->count, word_bytes);
    }
    if (data != NULL && masks.size > 0) {
        memcpy(data + size, masks.data, masks.size);
    }
    return data;
}

enum status gate_seal(struct answer *answer, const struct private_vector *vector,
                      unsigned word_bytes, struct slice masks)
{
    const size_t size = vector->count * word_bytes;
    answer->data = pack(vector, word_bytes, masks);
    if (answer->data == NULL) {
        return STATUS_NO_MEMORY;
    }
    answer->view.bytes = (struct slice){answer->data, size};
    answer->view.masks = (struct slice){answer->data + size, masks.size};
    digest_tree(&answer->view.digest, answer->view.bytes);
    answer->view.size = size;
    answer->exists = true;
    return STATUS_OK;
}

void gate_committed(struct gate *gate, uint64_t sequence)
{
    CHECK(gate->pending.exists);
    gate_drop_bytes(&gate->latest);
    gate->latest = gate->pending;
    gate->latest.view.sequence = sequence;
    gate->pending = (struct answer){0};
}

bool gate_latest(const struct gate *gate, struct gate_answer_view *out)
{
    if (gate->latest.exists) {
        *out = gate->latest.view;
    }
    return gate->latest.exists;
}

bool gate_drop(struct gate *gate)
{
    bool had = gate->latest.data != NULL && !gate->latest.view.exact;
    gate_drop_bytes(&gate->latest);
    return had;
}

bool gate_can_repeat(const struct gate *gate, const struct digest *job, uint32_t round)
{
    const struct gate_answer_view *view = &gate->latest.view;
    return gate->latest.restored && view->exact && view->bytes.size == 0 && view->round == round &&
           digest_equal(&view->job, job);
}
