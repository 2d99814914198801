/* The order of events inside is the privacy argument: refuse an answered round, spend, draw once
 * from the grant, record. Nothing leaves before gate_committed, and a new draw for the same (job,
 * round) is impossible because the cursor of that job has moved past it - also after a crash, since
 * the cursor is read back from the records. */

#include "agent/gate_private.h"

#include "base/check.h"
#include "dp/encode.h"
#include "dp/mechanism.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void gate_free(struct gate *gate)
{
    if (gate != NULL) {
        gate_drop_bytes(&gate->latest);
        gate_drop_bytes(&gate->pending);
        noise_share_free(&gate->share);
        ledger_free(gate->ledger);
        digest_table_free(&gate->job);
        free(gate->last_round);
        free(gate);
    }
}

bool gate_covers(struct gate *gate, const struct charge *charge, const struct occasion *occasion,
                 struct why *why)
{
    ledger_at(gate->ledger, occasion);
    return ledger_check(gate->ledger, charge, why) == STATUS_OK;
}

const struct ledger *gate_ledger(struct gate *gate, int64_t wall_ms)
{
    ledger_at(gate->ledger,
              &(struct occasion){.wall_ms = wall_ms}); /* the one that spends next says it anew */
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
    return encode_fits(encode_reach(most, scale), request->word_bytes, request->shift)
               ? STATUS_OK
               : why_refuse(why, "the answer's bounds do not fit into the words that the job's "
                                 "text gives it; report this as a defect");
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
    bytes_free(words, vector->count * sizeof *words);
    return status == STATUS_OK ? masks_site_pack(site, opening, size) : status;
}

/* Puts the numbers of a round that agents share out where the sum has them, once they have their noise. What stands elsewhere
 * follows from public numbers: 0 for other groups, and how many records and agents this one is of its own. For an agent whose
 * turn it is not all numbers are 0, and its noise stays here. */
static enum status place(struct private_vector *vector, uint64_t records)
{
    const struct round_groups groups = vector->groups;
    if (groups.count <= 1) {
        CHECK(!vector->away);
        return STATUS_OK;
    }
    CHECK(vector->count == groups.own && vector->group < groups.count);
    const size_t count = groups.count * (groups.own + 2);
    int64_t *whole = calloc(count, sizeof *whole);
    if (whole == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (!vector->away) {
        int64_t *tally = whole + groups.count * groups.own + 2 * (size_t)vector->group;
        memcpy(whole + vector->group * groups.own, vector->value, groups.own * sizeof *whole);
        tally[0] = (int64_t)records;
        tally[1] = 1;
    }
    bytes_free(vector->value, vector->count * sizeof *vector->value);
    vector->value = whole;
    vector->count = count;
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
    CHECK(request->shift == 0 || (!request->exact && request->masks == NULL));
    if ((int64_t)request->round <= gate_last_round(gate, &request->job)) {
        status = why_refuse(why, "round %u of this job was answered before", request->round + 1);
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
    CHECK(vector->groups.count <= 1 ||
          (!request->exact && request->masks == NULL && request->shift == 0));
    status = add_noise(gate, &grant, vector, request);
    if (status == STATUS_OK && request->shift > 0) {
        encode_round(vector->value, vector->count, request->shift); /* post-processing */
    }
    if (status == STATUS_OK) {
        status = place(vector, request->charge.row_count);
    }
    if (status == STATUS_OK && request->masks != NULL) {
        status = mask(vector, request->masks, &opening, &opening_size);
    }
    if (status == STATUS_OK) {
        status = gate_seal(&gate->pending, vector, request->word_bytes,
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
    gate->pending.view.shift = request->shift;
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
    record->as.answer.shift = request->shift;
    gate->latest_pass = request->charge.pass;
    status = gate_advance(gate, &request->job, request->round);
done:
    bytes_free(opening, opening_size);
    private_vector_free(vector);
    return status;
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
        why_set(
            why,
            "it was answered before this program was restarted, and the question or the records "
            "have changed since");
    } else {
        clip_box(vector->value, vector->count, vector->low, vector->high);
        status = gate_seal(&gate->latest, vector, word_bytes, (struct slice){0});
        gate->latest.restored = false;
    }
    private_vector_free(vector);
    return status;
}
