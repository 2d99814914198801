/* The legs of a masked round at the agent: keys before anything is computed, then, once the answer is offered, a
 * signature under the list of survivors and what opens their sum. masks/site.h judges; here it is sent, committed and
 * brought back after a restart. Nothing here reads a record. */

#include "agent/participant_state.h"

#include "base/check.h"
#include "dp/encode.h"
#include "job/round.h"
#include "job/trust.h"

#include <inttypes.h>
#include <string.h>

static struct masks_terms terms_of(const struct participant *p)
{
    return (struct masks_terms){.job = p->name.id,
                                .round = p->round,
                                .sites_least = p->job.cohort_min,
                                .dishonest = p->job.dishonest,
                                .honest = p->job.honest,
                                .width = MASKS_64};
}

bool legs_are_needed(const struct participant *p)
{
    return trust_of(&p->job)->masked;
}

/* The payload stays in p->leg until the next step. */
static enum status send_leg(struct participant *p, enum message_kind kind, size_t size,
                            struct effects *effects)
{
    struct message message = {.kind = kind};
    message.as.leg.job = p->name.id;
    message.as.leg.round = p->round;
    return participant_send(p, effects, &message, (struct slice){p->leg, size});
}

enum status legs_send_keys(struct participant *p, struct effects *effects)
{
    masks_site_keys(p->masks, p->leg);
    return send_leg(p, MESSAGE_KEYS, MASKS_KEYS_BYTES, effects);
}

enum status legs_drop_keys(struct participant *p, const struct digest *job, uint32_t round)
{
    enum status status = STATUS_OK;
    if (!digest_is_none(job) && digest_equal(&p->keys.job, job) && p->keys.round <= round) {
        /* Nothing was masked by keys without an answer. With one, its blob has the same secrets: when that is wiped, the log
         * that both were in is emptied. */
        status = stale_add(&p->stale, p->keys.sequence, false);
        bytes_wipe(&p->keys, sizeof p->keys);
    }
    return status;
}

enum status legs_restore_keys(struct participant *p, const struct event *event,
                              const struct record *record)
{
    const struct slice blob = event->as.record.blob;
    enum status status = legs_drop_keys(p, &p->keys.job, ROUNDS_MAX);
    if (status == STATUS_OK && blob.size == MASKS_KEYED_BYTES) {
        p->keys = (struct kept_keys){.job = record->as.keys.job,
                                     .round = record->as.keys.round,
                                     .invitation = record->as.keys.invitation,
                                     .sequence = event->as.record.sequence};
        memcpy(p->keys.packed, blob.data, blob.size);
    }
    return status;
}

/* Keys are durable before they leave: a roster that names them can be answered after a restart. *taken: the round's are
 * there. */
static enum status take_keys(struct participant *p, const struct masks_terms *terms, bool *taken)
{
    const struct slice packed = {p->keys.packed, sizeof p->keys.packed};
    *taken = false;
    if (!digest_equal(&p->keys.job, &p->name.id) || p->keys.round != p->round ||
        !digest_equal(&p->keys.invitation, &p->invitation)) {
        return STATUS_OK;
    }
    const enum status status =
        masks_site_unpack_keys(&p->masks, p->options.masks, terms, &p->invitation, packed);
    *taken = status == STATUS_OK;
    return status == STATUS_CORRUPT ? STATUS_OK : status; /* of another key, or another name */
}

static enum status commit_keys(struct participant *p, const struct event *event,
                               struct effects *effects)
{
    struct record record = {.kind = RECORD_KEYS, .wall_ms = event->wall_ms};
    enum status status = legs_drop_keys(p, &p->keys.job, ROUNDS_MAX);
    if (status != STATUS_OK) {
        return status;
    }
    record.as.keys.job = p->name.id;
    record.as.keys.round = p->round;
    record.as.keys.invitation = p->invitation;
    record.as.keys.bytes = MASKS_KEYED_BYTES;
    p->keys = (struct kept_keys){.job = p->name.id, .round = p->round, .invitation = p->invitation};
    masks_site_pack_keys(p->masks, p->keys.packed);
    participant_enter_round(p, ROUND_KEYING);
    return participant_commit(p, effects, &record,
                              (struct slice){p->keys.packed, sizeof p->keys.packed});
}

enum status legs_on_keys_committed(struct participant *p, uint64_t sequence,
                                   struct effects *effects)
{
    p->keys.sequence = sequence;
    participant_enter_round(p, ROUND_KEYED);
    return legs_send_keys(p, effects);
}

enum status legs_begin(struct participant *p, const struct event *event, struct effects *effects)
{
    const struct masks_terms terms = terms_of(p);
    struct why why = {""};
    bool taken = false;
    if (p->options.masks == NULL) {
        return round_decline(p, "masks-refused",
                             "this agent was started without a list of peers; see `peers` in its "
                             "policy, and start it again",
                             effects);
    }
    CHECK(p->masks == NULL);
    enum status status = take_keys(p, &terms, &taken);
    if (status == STATUS_OK && taken) {
        participant_enter_round(p, ROUND_KEYED);
        return legs_send_keys(p, effects);
    }
    if (status == STATUS_OK) {
        status = masks_site_new(&p->masks, p->options.masks, &terms, &p->invitation, &why);
    }
    if (status == STATUS_REFUSED) {
        return round_decline(p, "masks-refused", why.text, effects);
    }
    return status == STATUS_OK ? commit_keys(p, event, effects) : status;
}

enum status legs_restore(struct participant *p, const struct gate_answer_view *answer, size_t words,
                         bool *restored)
{
    const unsigned word_bytes = encode_word_bytes_of(answer->size, words);
    struct masks_terms terms = terms_of(p);
    bool again;
    *restored = p->masks != NULL;
    if (*restored || p->options.masks == NULL || word_bytes < 4) {
        return STATUS_OK;
    }
    terms.width = word_bytes == 4 ? MASKS_32 : MASKS_64; /* as it was masked */
    enum status status =
        masks_site_unpack(&p->masks, p->options.masks, &terms, &answer->invitation, answer->masks);
    if (status != STATUS_OK) {
        return status == STATUS_CORRUPT ? STATUS_OK : status;
    }
    if (p->listed.round == answer->round && digest_equal(&p->listed.job, &answer->job)) {
        status = masks_site_note(p->masks, &p->listed.survivors, &again, NULL);
    }
    if (status == STATUS_REFUSED) { /* what the journal holds was judged before it was written */
        masks_site_free(p->masks);
        p->masks = NULL;
        return STATUS_CORRUPT;
    }
    *restored = true;
    return status;
}

/* Words may be wider than the job needs, of a coordinator that listed the round as an older program. */
static enum status on_roster(struct participant *p, const struct event *event, uint32_t width,
                             struct effects *effects)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(&p->job, p->round, &within);
    const size_t sites = event->as.message.payload.size / MASKS_KEYS_BYTES;
    struct why why = {""};
    if (p->round_phase != ROUND_KEYED) {
        return STATUS_OK; /* late or doubled */
    }
    if (width < 8 * round_masked_bytes(&p->job, stage, within,
                                       round_experts(p, p->round, &p->input), sites)) {
        return round_decline(p, "roster-refused",
                             "the roster's words are narrower than the job's sums need", effects);
    }
    masks_site_set_width(p->masks, (enum masks_width)width);
    const enum status status = masks_site_list(p->masks, event->as.message.payload, &why);
    if (status == STATUS_REFUSED) {
        return round_decline(p, "roster-refused", why.text, effects);
    }
    if (status != STATUS_OK) {
        return status;
    }
    p->invited_ms = event->now_ms; /* a slot begins with the work */
    return round_start_work(p, effects);
}

static enum status send_signature(struct participant *p, struct effects *effects)
{
    struct signature signature;
    const enum status status = masks_site_sign(p->masks, &signature);
    memcpy(p->leg, signature.byte, SIGNATURE_BYTES);
    return status == STATUS_OK ? send_leg(p, MESSAGE_SIGNED, SIGNATURE_BYTES, effects) : status;
}

static void tell_refused(const struct participant *p, const char *event, const char *reason)
{
    log_event(p->options.log, LOG_WARN, event, p->coordinator.name,
              "round %" PRIu32 ": nothing is signed or revealed: %s", p->round + 1, reason);
}

/* The list is durable before its signature leaves: after a restart no other one is signed. */
static enum status on_survivors(struct participant *p, const struct event *event,
                                struct effects *effects)
{
    const struct slice payload = event->as.message.payload;
    struct masks_set survivors;
    struct why why = {""};
    bool again = false;
    if (p->round_phase != ROUND_OFFERED && p->round_phase != ROUND_SIGNED) {
        return STATUS_OK;
    }
    if (payload.size != MASKS_SET_BYTES) {
        tell_refused(p, "survivors-refused", "what came is no list of survivors");
        return STATUS_OK;
    }
    memcpy(survivors.byte, payload.data, MASKS_SET_BYTES);
    if (masks_site_note(p->masks, &survivors, &again, &why) != STATUS_OK) {
        tell_refused(p, "survivors-refused", why.text);
        return STATUS_OK;
    }
    if (again) {
        if (p->round_phase == ROUND_OFFERED) { /* noted before a restart */
            participant_enter_round(p, ROUND_SIGNED);
        }
        return send_signature(p, effects);
    }
    struct record record = {.kind = RECORD_SURVIVORS, .wall_ms = event->wall_ms};
    record.as.survivors.job = p->name.id;
    record.as.survivors.round = p->round;
    memcpy(record.as.survivors.set.byte, survivors.byte, MASKS_SET_BYTES);
    participant_enter_round(p, ROUND_SIGNING);
    return participant_commit(p, effects, &record, (struct slice){0});
}

void legs_note_list(struct participant *p, const struct record *record)
{
    p->listed.job = record->as.survivors.job;
    p->listed.round = record->as.survivors.round;
    memcpy(p->listed.survivors.byte, record->as.survivors.set.byte, MASKS_SET_BYTES);
}

enum status legs_on_committed(struct participant *p, const struct record *record,
                              struct effects *effects)
{
    legs_note_list(p, record);
    participant_enter_round(p, ROUND_SIGNED);
    return send_signature(p, effects);
}

static enum status on_open(struct participant *p, const struct event *event,
                           struct effects *effects)
{
    struct why why = {""};
    size_t size = 0;
    if (p->round_phase != ROUND_SIGNED) {
        return STATUS_OK;
    }
    if (masks_site_reveal(p->masks, event->as.message.payload, p->leg, &size, &why) != STATUS_OK) {
        tell_refused(p, "open-refused", why.text);
        return STATUS_OK;
    }
    return send_leg(p, MESSAGE_REVEAL, size, effects);
}

enum status legs_on_message(struct participant *p, const struct event *event,
                            const struct message *message, struct effects *effects)
{
    if (participant_is_deaf(p) || !digest_equal(&message->as.leg.job, &p->name.id) ||
        message->as.leg.round != p->round || p->masks == NULL) {
        return STATUS_OK;
    }
    return message->kind == MESSAGE_ROSTER ? on_roster(p, event, message->as.leg.width, effects)
           : message->kind == MESSAGE_SURVIVORS ? on_survivors(p, event, effects)
                                                : on_open(p, event, effects);
}
