/* The order of events inside is the privacy argument: refuse an answered round, spend, draw once
 * from the grant, record. Nothing leaves before gate_committed, and a new draw for the same (job,
 * round) is impossible because the cursor of that job has moved past it - also after a crash, since
 * the cursor is read back from the records. */

#include "agent/gate.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "dp/digest_table.h"
#include "dp/encode.h"
#include "dp/mechanism.h"
#include "noise/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    struct gate_answer_view view;
    uint8_t *data; /* owned */
    bool exists;
    bool restored; /* from the journal, by this program */
};

struct gate {
    struct ledger *ledger;
    const struct random *random;
    struct noise_share share; /* the latest answer's table: rounds of a stage have the same */
    struct digest_table job;  /* every job ever answered */
    uint32_t *last_round;     /* (cursor_capacity) of each of them, owned */
    size_t cursor_capacity;
    struct answer latest;
    struct answer pending; /* drawn, not yet known to be durable: sealed */
    struct digest latest_pass;
};

enum status gate_new(struct gate **out, const struct allowances *allowances,
                     const struct random *random)
{
    struct gate *gate = calloc(1, sizeof *gate);
    if (gate == NULL) {
        return STATUS_NO_MEMORY;
    }
    gate->random = random;
    gate->ledger = ledger_open(allowances);
    if (gate->ledger == NULL) {
        free(gate);
        return STATUS_NO_MEMORY;
    }
    *out = gate;
    return STATUS_OK;
}

static void answer_drop_bytes(struct answer *answer)
{
    if (answer->data != NULL) {
        /* An exact answer's are private, and so is what opens masks. */
        bytes_wipe(answer->data, answer->view.bytes.size + answer->view.masks.size);
        free(answer->data);
    }
    answer->data = NULL;
    answer->view.bytes = (struct slice){0};
    answer->view.masks = (struct slice){0};
}

void gate_free(struct gate *gate)
{
    if (gate != NULL) {
        answer_drop_bytes(&gate->latest);
        answer_drop_bytes(&gate->pending);
        noise_share_free(&gate->share);
        ledger_free(gate->ledger);
        digest_table_free(&gate->job);
        free(gate->last_round);
        free(gate);
    }
}

static enum status cursor_advance(struct gate *gate, const struct digest *job, uint32_t round)
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
                                     .exact = digest_is_none(&record->as.answer.answer)};
}

static struct digest digest_of(struct slice bytes)
{
    struct digest digest;
    digest_sha256(&digest, &bytes, 1);
    return digest;
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
        status = cursor_advance(gate, &answer.view.job, answer.view.round);
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
        struct digest digest = digest_of((struct slice){blob.data, size});
        if (!digest_equal(&digest, &answer.view.digest)) {
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
    answer_drop_bytes(&gate->latest);
    gate->latest = answer;
    gate->latest_pass = record->as.answer.charge.pass;
    return STATUS_OK;
}

bool gate_covers(struct gate *gate, const struct charge *charge, const struct occasion *occasion,
                 struct why *why)
{
    ledger_at(gate->ledger, occasion);
    return ledger_check(gate->ledger, charge, why) == STATUS_OK;
}

const struct ledger *gate_ledger(struct gate *gate, int64_t wall_ms)
{
    ledger_at(gate->ledger, &(struct occasion){.wall_ms = wall_ms}); /* whoever spends says anew */
    return gate->ledger;
}

/* The scale of the noise that a charge pays for; none where the answer is exact: it is the coordinator's
 * business. shares: 0 for the whole noise. */
static enum status scale_of(struct noise_scale *scale, const struct charge *charge, bool exact,
                            uint64_t sensitivity, uint64_t shares, struct why *why)
{
    *scale = (struct noise_scale){0};
    if (exact) {
        return STATUS_OK;
    }
    switch (charge->mechanism) {
    case MECHANISM_PURE:
        return mechanism_scale(scale, sensitivity, charge->epsilon_micro, why);
    case MECHANISM_DISCRETE_GAUSSIAN:
        return shares == 0
                   ? mechanism_sigma(scale, sensitivity, charge->sigma_micro, why)
                   : mechanism_sigma_of_share(scale, sensitivity, charge->sigma_micro, shares, why);
    case MECHANISM_EXPONENTIAL:
    case MECHANISM_LAPLACE:
    case MECHANISM_DISCRETE_LAPLACE:
    case MECHANISM_GAUSSIAN:
        break;
    }
    return why_refuse(why, "no noise of this agent's is of the kind that the job charges for");
}

bool gate_has_noise(const struct charge *charge, bool exact, uint64_t sensitivity, uint64_t shares)
{
    struct noise_scale scale;
    return scale_of(&scale, charge, exact, sensitivity, shares, NULL) == STATUS_OK;
}

/* By public parameters alone: nothing is spent on what cannot run. */
static enum status check_noise(const struct private_vector *vector,
                               const struct gate_request *request, struct why *why)
{
    struct noise_scale scale;
    const uint64_t shares = request->masks != NULL ? request->shares : 0;
    enum status status =
        scale_of(&scale, &request->charge, request->exact, vector->sensitivity, shares, why);
    if (status == STATUS_OK && shares > 0 &&
        request->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN &&
        request->charge.delta_atto < mechanism_sigma_delta(shares, vector->count)) {
        return why_refuse(why, "the charge does not pay for what a sum of Gaussian shares lacks of "
                               "Gaussian noise; report this as a defect");
    }
    if (status != STATUS_OK || request->word_bytes == 8) {
        return status;
    }
    const uint64_t most = (uint64_t)(-vector->low > vector->high ? -vector->low : vector->high);
    return encode_word_bytes(encode_reach(most, scale)) <= request->word_bytes
               ? STATUS_OK
               : why_refuse(why, "the answer's bounds do not fit into the words that the job's "
                                 "text gives it; report this as a defect");
}

/* Little-endian words, the only form in which a vector crosses the wire; behind them what opens their masks. */
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

/* The noise is this agent's own, from the grant; or none, where the coordinator is trusted with the
 * exact vector and adds it once to the sum: the charge is spent all the same. */
static enum status add_noise(struct gate *gate, struct grant **grant, struct private_vector *vector,
                             const struct gate_request *request)
{
    if (request->exact) {
        grant_free(*grant);
        *grant = NULL;
        return STATUS_OK;
    }
    const bool gaussian = grant_charge(*grant)->mechanism == MECHANISM_DISCRETE_GAUSSIAN;
    if (request->masks != NULL) {
        return gaussian
                   ? mechanism_gaussian_share(grant, gate->random, vector->value, vector->count,
                                              vector->sensitivity, request->shares)
                   : mechanism_share(grant, &gate->share, gate->random, vector->value,
                                     vector->count, vector->sensitivity, request->shares);
    }
    return gaussian ? mechanism_gaussian(grant, gate->random, vector->value, vector->count,
                                         vector->sensitivity)
                    : mechanism_laplace(grant, gate->random, vector->value, vector->count,
                                        vector->sensitivity);
}

/* A share of noise protects nothing by itself: what leaves is masked. *opening: what opens the masks again. */
static enum status mask(struct private_vector *vector, struct masks_site *site, uint8_t **opening,
                        size_t *size)
{
    uint64_t *words = malloc(vector->count * sizeof *words);
    if (words == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < vector->count; i++) {
        words[i] = (uint64_t)vector->value[i];
    }
    enum status status = masks_site_mask(site, words, vector->count);
    for (size_t i = 0; i < vector->count; i++) {
        vector->value[i] = (int64_t)words[i];
    }
    bytes_wipe(words, vector->count * sizeof *words);
    free(words);
    return status == STATUS_OK ? masks_site_pack(site, opening, size) : status;
}

/* Seals the bytes of an answer; its digest goes into the record only when they are private: that of an
 * exact vector of few possible values would tell which it was. */
static enum status seal(struct answer *answer, const struct private_vector *vector,
                        unsigned word_bytes, struct slice masks)
{
    const size_t size = vector->count * word_bytes;
    answer->data = pack(vector, word_bytes, masks);
    if (answer->data == NULL) {
        return STATUS_NO_MEMORY;
    }
    answer->view.bytes = (struct slice){answer->data, size};
    answer->view.masks = (struct slice){answer->data + size, masks.size};
    answer->view.digest = digest_of(answer->view.bytes);
    answer->view.size = size;
    answer->exists = true;
    return STATUS_OK;
}

enum status gate_answer(struct gate *gate, struct record *record, struct slice *blob,
                        struct private_vector *vector, const struct gate_request *request,
                        struct why *why)
{
    struct grant *grant = NULL;
    uint8_t *opening = NULL;
    size_t opening_size = 0;
    enum status status = STATUS_OK;

    CHECK(!gate->pending.exists && vector->count > 0);
    CHECK(request->masks == NULL ||
          8 * request->word_bytes == (unsigned)masks_site_width(request->masks));
    if ((int64_t)request->round <= gate_last_round(gate, &request->job)) {
        status = why_refuse(why, "round %u of this job was answered before", request->round);
        goto done;
    }
    status = check_noise(vector, request, why);
    if (status != STATUS_OK) {
        goto done;
    }
    clip_box(vector->value, vector->count, vector->low, vector->high);
    ledger_at(gate->ledger, &(struct occasion){.job = request->job, .wall_ms = request->wall_ms});
    status = ledger_spend(gate->ledger, &grant, &request->charge, why);
    if (status != STATUS_OK) {
        goto done;
    }
    status = add_noise(gate, &grant, vector, request);
    if (status == STATUS_OK && request->masks != NULL) {
        status = mask(vector, request->masks, &opening, &opening_size);
    }
    if (status == STATUS_OK) {
        status = seal(&gate->pending, vector, request->word_bytes,
                      (struct slice){opening, opening_size});
    }
    if (status != STATUS_OK) {
        goto done;
    }
    gate->pending.view.job = request->job;
    gate->pending.view.round = request->round;
    gate->pending.view.invitation = request->invitation;
    gate->pending.view.exact = request->exact;
    gate->pending.view.rows = request->charge.row_count;
    *blob = request->exact
                ? (struct slice){0}
                : (struct slice){gate->pending.data, gate->pending.view.bytes.size + opening_size};
    memset(record, 0, sizeof *record);
    record->kind = RECORD_ANSWER;
    record->as.answer.job = request->job;
    record->as.answer.round = request->round;
    (void)snprintf(record->as.answer.task, sizeof record->as.answer.task, "%s", request->task);
    record->as.answer.charge = request->charge;
    record->as.answer.invitation = request->invitation;
    if (!request->exact) {
        record->as.answer.answer = gate->pending.view.digest;
    }
    record->as.answer.answer_bytes = gate->pending.view.size;
    record->as.answer.masks_bytes = opening_size;
    gate->latest_pass = request->charge.pass;
    status = cursor_advance(gate, &request->job, request->round);
done:
    if (opening != NULL) {
        bytes_wipe(opening, opening_size);
        free(opening);
    }
    private_vector_free(vector);
    return status;
}

bool gate_can_repeat(const struct gate *gate, const struct digest *job, uint32_t round)
{
    const struct gate_answer_view *view = &gate->latest.view;
    return gate->latest.restored && view->exact && view->bytes.size == 0 && view->round == round &&
           digest_equal(&view->job, job);
}

enum status gate_repeat(struct gate *gate, struct private_vector *vector,
                        const struct gate_request *request, struct why *why)
{
    enum status status = STATUS_INVALID;
    const struct gate_answer_view *view = &gate->latest.view;
    const unsigned word_bytes = encode_word_bytes_of(view->size, vector->count); /* as it was */

    CHECK(request->exact && gate_can_repeat(gate, &request->job, request->round));
    if (!digest_equal(&view->invitation, &request->invitation) ||
        !digest_equal(&gate->latest_pass, &request->charge.pass) || word_bytes == 0) {
        why_set(why, "it was answered before this program began anew, and question or records are "
                     "no longer the same");
    } else {
        clip_box(vector->value, vector->count, vector->low, vector->high);
        status = seal(&gate->latest, vector, word_bytes, (struct slice){0});
        gate->latest.restored = false;
    }
    private_vector_free(vector);
    return status;
}

void gate_committed(struct gate *gate, uint64_t sequence)
{
    CHECK(gate->pending.exists);
    answer_drop_bytes(&gate->latest);
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
    answer_drop_bytes(&gate->latest);
    return had;
}
