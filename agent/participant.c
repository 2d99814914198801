/* The participant as a machine: recovery, greeting, time, and which message goes where. Everything
 * it sends can be sent again; whatever is lost, the next HELLO brings back. */

#include "agent/participant.h"

#include "agent/participant_state.h"
#include "base/check.h"
#include "crypto/digest.h"
#include "job/work.h"
#include "protocol/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many times the silence that is borne, bytes alone count as a sign of life: what carries them may have died and trickle. */
enum { LINK_PATIENCE = 32 };

static enum status on_record(struct participant *p, const struct event *event)
{
    struct record record;
    enum status status = wire_decode_record(&record, event->as.record.body);
    if (status != STATUS_OK) {
        return status;
    }
    switch (record.kind) {
    case RECORD_JOB:
        status = job_remember(p, &record);
        job_count_day(p, record.wall_ms);
        p->jobs_today++;
        if (event->as.record.blob.size > 0) {
            texts_add(&p->texts, event->as.record.sequence, &record.as.job.job.text_digest,
                      event->as.record.blob.size);
        }
        break;
    case RECORD_ANSWER:
        status = participant_outdate_answer(p);
        if (status == STATUS_OK) {
            status =
                gate_restore(p->gate, &record, event->as.record.sequence, event->as.record.blob);
        }
        if (status == STATUS_OK) {
            status = legs_drop_keys(p, &record.as.answer.job, record.as.answer.round);
        }
        p->wiped = record.as.answer.masks_bytes > 0 && event->as.record.blob.size == 0
                       ? event->as.record.sequence
                       : 0;
        break;
    case RECORD_KEYS:
        status = legs_restore_keys(p, event, &record);
        break;
    case RECORD_SURVIVORS:
        legs_note_list(p, &record);
        break;
    case RECORD_ROUND:
    case RECORD_ROSTER:
    case RECORD_PARTIAL:
    case RECORD_KIND_COUNT:
        status = STATUS_CORRUPT; /* a coordinator's journal in an agent's place */
        break;
    }
    record_free(&record);
    return status;
}

static enum status on_committed(struct participant *p, const struct event *event,
                                struct effects *effects)
{
    CHECK(p->commit_count > 0);
    struct record *record = p->committing[0];
    enum status status = STATUS_OK;

    free(p->commit_body[0]);
    p->commit_count--;
    memmove(p->committing, p->committing + 1, p->commit_count * sizeof p->committing[0]);
    memmove(p->commit_body, p->commit_body + 1, p->commit_count * sizeof p->commit_body[0]);
    if (record->kind == RECORD_JOB) {
        const struct job_name *name = &record->as.job.job;
        status = job_remember(p, record);
        if (!texts_has(&p->texts, &name->text_digest)) { /* as when it was committed */
            texts_add(&p->texts, event->as.committed.sequence, &name->text_digest,
                      name->text_bytes);
        }
    } else if (record->kind == RECORD_SURVIVORS) {
        status = legs_on_committed(p, record, effects);
    } else if (record->kind == RECORD_KEYS) {
        status = legs_on_keys_committed(p, event->as.committed.sequence, effects);
    } else {
        status = round_on_committed(p, event);
    }
    free(record);
    return status;
}

static enum status on_piece(struct participant *p, const struct event *event,
                            const struct message *message, struct effects *effects)
{
    if (participant_is_deaf(p) || !digest_equal(&message->as.piece.digest, &p->fetching) ||
        !transfer_accept(&p->fetch, message->as.piece.offset, event->as.message.payload,
                         event->now_ms)) {
        return STATUS_OK; /* late or doubled */
    }
    if (!transfer_is_whole(&p->fetch)) {
        return participant_ask(p, effects);
    }
    const bool right =
        digest_is_of(&p->fetching, (struct slice){p->fetch.data, (size_t)p->fetch.bytes});
    if (!right && !digest_equal(&p->spoiled, &p->fetching)) {
        return participant_fetch_anew(p, event->now_ms, effects);
    }
    return p->job_phase == JOB_FETCHING ? job_on_text(p, event, right, effects)
                                        : round_on_experts(p, event, right, effects);
}

static enum status on_message(struct participant *p, const struct event *event,
                              struct effects *effects)
{
    struct message message;
    const char *peer = event->as.message.peer.name;
    enum status status =
        wire_decode(&message, event->as.message.control, event->as.message.payload);

    if (status == STATUS_NO_MEMORY) {
        return status;
    }
    if (status == STATUS_UNSUPPORTED) {
        participant_tell_version(p, event->as.message.control);
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        log_event(p->options.log, LOG_WARN, "frame-refused", peer,
                  "a frame from the coordinator is not of this protocol: %s", status_text(status));
        return STATUS_OK;
    }
    p->heard_ms = event->now_ms;
    p->whole_ms = event->now_ms;
    p->patience_ms = p->options.silence_ms;
    switch (message.kind) {
    case MESSAGE_WELCOME:
        return job_on_welcome(p, event, &message, effects);
    case MESSAGE_INVITE:
        return round_on_invite(p, event, &message, effects);
    case MESSAGE_PULL:
        return round_on_pull(p, &message, effects);
    case MESSAGE_RELEASE:
        return release_on_message(p, event, &message, effects);
    case MESSAGE_PIECE:
        return on_piece(p, event, &message, effects);
    case MESSAGE_CHALLENGE:
        return participant_on_challenge(p, event, &message, effects);
    case MESSAGE_KEY_IN_USE:
        return participant_on_key_in_use(p, effects);
    case MESSAGE_SHOW:
        return site_on_show(p, event, &message, effects);
    case MESSAGE_ROSTER:
    case MESSAGE_SURVIVORS:
    case MESSAGE_OPEN:
        return legs_on_message(p, event, &message, effects);
    case MESSAGE_ENROLLED: /* a coordinator without a job answers so */
        return job_on_none(p);
    case MESSAGE_HELLO:
    case MESSAGE_OFFER:
    case MESSAGE_CHUNK:
    case MESSAGE_DECLINE:
    case MESSAGE_FETCH:
    case MESSAGE_ENROL:
    case MESSAGE_PRESENT:
    case MESSAGE_DICTIONARY:
    case MESSAGE_KEYS:
    case MESSAGE_SIGNED:
    case MESSAGE_REVEAL:
    case MESSAGE_WANT:
    case MESSAGE_LINE: /* the transport's business */
    case MESSAGE_KIND_COUNT:
        break;
    }
    log_event(p->options.log, LOG_WARN, "message-unexpected", peer,
              "the coordinator sent a message that only agents send (%s): ignored",
              message_kind_name(message.kind));
    return STATUS_OK;
}

/* While it fetches, a message may be a large piece, and the answers to its HELLOs come after it. On a narrow link that takes
 * longer than the agent waits in silence. What it asked for over another connection is lost with that connection. */
static enum status on_link(struct participant *p, const struct event *event,
                           struct effects *effects)
{
    if (!transfer_is_active(&p->fetch)) {
        return STATUS_OK;
    }
    if (event->now_ms - p->whole_ms < LINK_PATIENCE * (int64_t)p->options.silence_ms) {
        p->heard_ms = event->now_ms;
    }
    if (!event->as.link.anew) {
        return STATUS_OK;
    }
    const enum status status = participant_ask_again(p, event->now_ms, effects);
    p->fetch.retries = 0;
    return status;
}

static enum status on_time(struct participant *p, const struct event *event,
                           struct effects *effects)
{
    if (!p->started || p->finished) {
        return STATUS_OK;
    }
    enum status status = participant_answer_challenge(p, event, effects);
    if (event->now_ms - p->heard_ms >= p->patience_ms) {
        /* Twice in a row. Coordinators up to version 5 do not answer an agent of another version. */
        const bool again = p->patience_ms > (int64_t)p->options.silence_ms;
        log_event(p->options.log, LOG_WARN, "coordinator-silent", p->coordinator.name,
                  "nothing heard for %" PRId64 " ms: building the connection anew%s",
                  p->patience_ms,
                  again ? "; if it connects, the coordinator may have an older hedgerow: its log "
                          "says version-differs or frame-refused then"
                        : "");
        p->heard_ms = event->now_ms;
        p->patience_ms = 2 * (int64_t)p->options.silence_ms; /* for a first word */
        p->hello_ms = event->now_ms;
        p->fetch.retries = 0;                 /* what was asked for is lost with the connection, */
        p->fetch.progress_ms = event->now_ms; /* and what were asked for now, too */
        (void)effects_add(effects, EFFECT_RECONNECT);
    }
    if (status == STATUS_OK && transfer_is_active(&p->fetch) &&
        event->now_ms >= participant_asks_again_ms(p)) {
        status = participant_ask_again(p, event->now_ms, effects);
    }
    if (status == STATUS_OK && p->model_owed && event->now_ms >= p->keep_ms) {
        status = release_keep_model(p, event, effects);
    }
    if (p->text_owed && event->now_ms >= p->keep_ms) {
        site_keep_text(p, event->now_ms);
    }
    if (status == STATUS_OK && p->work.done && event->now_ms >= p->work.due_ms) {
        status = work_take(p, event, effects);
    }
    if (status == STATUS_OK && p->round_phase == ROUND_WAITING && event->now_ms >= p->offer_ms) {
        status = round_on_slot(p, effects);
    }
    if (status == STATUS_OK && !participant_is_computing(p) &&
        (p->policy_changed || p->approvals_changed)) {
        status = site_apply(p, event, effects);
    }
    if (status == STATUS_OK && !participant_is_computing(p)) {
        status = job_look_again(p, event, effects);
    }
    bool heard_again = p->missed && !participant_is_computing(p);
    if (status == STATUS_OK && (heard_again || event->now_ms >= p->hello_ms)) {
        p->missed = p->missed && !heard_again;
        status = participant_hello(p, event->now_ms, effects);
    }
    return status;
}

static enum status act(struct participant *p, const struct event *event, struct effects *effects)
{
    enum status status = STATUS_OK;

    switch (event->kind) {
    case EVENT_RECORD:
        return on_record(p, event);
    case EVENT_START:
        job_begin_day(p);
        p->started = true;
        p->heard_ms = event->now_ms;
        p->whole_ms = event->now_ms;
        p->hello_ms = event->now_ms;
        if (p->wiped != 0) { /* a death may have come between the forgetting and the overwriting */
            status = stale_add(&p->stale, p->wiped, true);
        }
        participant_forget_old(p, effects);
        break;
    case EVENT_MESSAGE:
        status = p->finished ? STATUS_OK : on_message(p, event, effects);
        break;
    case EVENT_COMMITTED:
        status = on_committed(p, event, effects);
        participant_forget_old(p, effects);
        break;
    case EVENT_WORKED:
        status = work_on_worked(p, event);
        break;
    case EVENT_FILE:
        site_on_file(p, event);
        break;
    case EVENT_LINK:
        status = p->started && !p->finished ? on_link(p, event, effects) : STATUS_OK;
        break;
    case EVENT_TICK:
    case EVENT_STANDINGS:
    case EVENT_PARTIAL:
    case EVENT_ROSTER: /* the coordinator's business */
    case EVENT_CUT:
        break;
    }
    return status == STATUS_OK ? on_time(p, event, effects) : status;
}

static enum status participant_step(void *self, const struct event *event, struct effects *effects)
{
    struct participant *p = self;
    const enum status status = act(p, event, effects);
    if (status == STATUS_OK) { /* otherwise what is in memory is thrown away */
        participant_check(p);
    }
    return status;
}

static int64_t participant_wake_ms(const void *self)
{
    const struct participant *p = self;
    if (!p->started || p->finished) {
        return INT64_MAX;
    }
    int64_t wake = machine_earlier(p->hello_ms, p->heard_ms + p->patience_ms);
    if (p->challenged != 0) {
        wake = machine_earlier(wake, p->present_ms);
    }
    if (transfer_is_active(&p->fetch)) {
        wake = machine_earlier(wake, participant_asks_again_ms(p));
    }
    if (p->round_phase == ROUND_WAITING) {
        wake = machine_earlier(wake, p->offer_ms);
    }
    if (p->work.done) {
        wake = machine_earlier(wake, p->work.due_ms);
    }
    if (p->model_owed || p->text_owed) {
        wake = machine_earlier(wake, p->keep_ms);
    }
    if (p->job_phase == JOB_UNFIT && p->look_ms != 0) {
        wake = machine_earlier(wake, p->look_ms);
    }
    return wake;
}

enum status participant_new(struct participant **out, const struct participant_options *options)
{
    struct participant *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return STATUS_NO_MEMORY;
    }
    CHECK(options->heartbeat_ms > 0 && options->silence_ms > options->heartbeat_ms);
    p->options = *options;
    p->patience_ms = options->silence_ms;
    memcpy(p->coordinator.name, "coordinator", sizeof "coordinator");
    struct allowances allowances = policy_allowances(options->policy);
    enum status status = gate_new(&p->gate, &allowances, options->random);
    if (status != STATUS_OK) {
        free(p);
        return status;
    }
    const struct slice text = options->dictionary_text;
    if (options->policy->share_dictionary && text.size > 0 && text.size <= CHUNK_BYTES_SMALL) {
        digest_sha256(&p->shown, &text, 1);
    }
    *out = p;
    return STATUS_OK;
}

void participant_free(struct participant *p)
{
    if (p == NULL) {
        return;
    }
    job_drop(p);
    dataset_free(&p->work.data);
    private_vector_free(&p->work.vector);
    for (size_t i = 0; i < p->commit_count; i++) {
        free(p->committing[i]);
        free(p->commit_body[i]);
    }
    masks_site_free(p->masks);
    bytes_wipe(p->leg, sizeof p->leg);
    bytes_wipe(&p->keys, sizeof p->keys);
    free(p->seen);
    stale_free(&p->stale);
    gate_free(p->gate);
    free(p);
}

struct machine participant_machine(struct participant *p)
{
    return (struct machine){
        .self = p, .step = participant_step, .work = work_run, .wake_ms = participant_wake_ms};
}
