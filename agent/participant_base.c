/* What the participant's parts share: the states and what is shown of them, what is sent, committed and forgotten, when nothing
 * is heard, and what is said where two agents have one key.
 * It calls none of them. */

#include "agent/participant_state.h"

#include "base/check.h"
#include "base/exit_code.h"
#include "protocol/wire.h"

#include <inttypes.h>
#include <stdlib.h>

static const unsigned JOB_NEXT[] = {JOB_STATES(STATE_NEXT)};

static const unsigned ROUND_NEXT[] = {ROUND_STATES(STATE_NEXT)};

void participant_enter_job(struct participant *p, enum job_phase next)
{
    CHECK((JOB_NEXT[p->job_phase] & NEXT(next)) != 0);
    p->job_phase = next;
}

void participant_enter_round(struct participant *p, enum round_phase next)
{
    CHECK((ROUND_NEXT[p->round_phase] & NEXT(next)) != 0);
    p->round_phase = next;
}

void participant_check(const struct participant *p)
{
    const bool fetches =
        p->job_phase == JOB_FETCHING || p->round_phase == ROUND_FETCHING || p->fetch_final;
    CHECK(p->round_phase == ROUND_IDLE || p->job_phase == JOB_READY);
    CHECK((p->work.kind == WORK_TASK) == (p->round_phase == ROUND_WORKING));
    CHECK(p->work.kind != WORK_LOAD || p->job_phase == JOB_LOADING);
    CHECK(!p->work.done || p->work.kind != WORK_NONE);
    CHECK((p->commit_count > 0) ==
          (p->round_phase == ROUND_COMMITTING || p->round_phase == ROUND_SIGNING ||
           p->round_phase == ROUND_KEYING));
    CHECK(p->masks == NULL || (p->round_phase >= ROUND_KEYING && p->round_phase <= ROUND_SIGNED));
    CHECK(p->masks != NULL || (p->round_phase != ROUND_KEYING && p->round_phase != ROUND_KEYED &&
                               p->round_phase != ROUND_SIGNING && p->round_phase != ROUND_SIGNED));
    CHECK(p->job_phase != JOB_READY || p->order != NULL);
    CHECK(!fetches || transfer_is_active(&p->fetch));
    CHECK(!p->declined || p->job_phase == JOB_REFUSED);
    CHECK(!p->model_owed || p->job_phase == JOB_READY || p->job_phase == JOB_REFUSED);
}

void participant_abandon_round(struct participant *p)
{
    if (p->round_phase == ROUND_FETCHING) {
        transfer_drop(&p->fetch);
    }
    masks_site_free(p->masks); /* those of a committed answer come back from what the gate holds */
    p->masks = NULL;
    participant_enter_round(p, ROUND_IDLE);
}

enum status participant_send(struct participant *p, struct effects *effects,
                             const struct message *message, struct slice payload)
{
    enum status status = wire_send(effects, &p->coordinator, message, payload);
    return status == STATUS_AGAIN ? STATUS_OK : status; /* a full room is a lost message */
}

/* A text that is no job, or not the one in the settings, is said no to as what the policy forbids: else the coordinator takes the
 * silence for a person's who has yet to decide, and waits. A table that cannot be read may be back. */
static bool says_no(const struct participant *p)
{
    return p->job_phase == JOB_REFUSED || (p->job_phase == JOB_UNFIT && p->look_ms == 0);
}

enum status participant_hello(struct participant *p, int64_t now_ms, struct effects *effects)
{
    struct message hello = {.kind = MESSAGE_HELLO};
    hello.as.hello.version = PROTOCOL_VERSION;
    if (p->job_phase >= JOB_LOADING) {
        hello.as.hello.job = p->name.id;
        hello.as.hello.rounds_closed = p->rounds_closed;
    }
    hello.as.hello.dictionary = p->shown;
    hello.as.hello.ready = p->job_phase == JOB_READY;
    p->hello_ms = now_ms + p->options.heartbeat_ms;
    enum status status = participant_send(p, effects, &hello, (struct slice){0});
    return status == STATUS_OK && says_no(p) ? participant_decline(p, p->rounds_closed, effects)
                                             : status;
}

enum status participant_decline_of(struct participant *p, const struct digest *job, uint32_t round,
                                   struct effects *effects)
{
    struct message message = {.kind = MESSAGE_DECLINE};
    message.as.decline.job = *job;
    message.as.decline.round = round;
    return participant_send(p, effects, &message, (struct slice){0});
}

enum status participant_decline(struct participant *p, uint32_t round, struct effects *effects)
{
    return participant_decline_of(p, &p->name.id, round, effects);
}

enum status participant_ask(struct participant *p, struct effects *effects)
{
    struct message fetch = {.kind = MESSAGE_FETCH};
    uint64_t offset;
    uint32_t length;

    while (transfer_ask(&p->fetch, &offset, &length)) {
        fetch.as.fetch.digest = p->fetching;
        fetch.as.fetch.offset = offset;
        fetch.as.fetch.length = length;
        enum status status = participant_send(p, effects, &fetch, (struct slice){0});
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

int64_t participant_asks_again_ms(const struct participant *p)
{
    const int64_t wait_ms = transfer_wait_ms(&p->fetch, FETCH_RETRY_MS);
    return p->fetch.progress_ms + wait_ms + ((wait_ms / 2 * p->fetch_later) >> 16);
}

enum status participant_ask_again(struct participant *p, int64_t now_ms, struct effects *effects)
{
    /* The clock's milliseconds, spread out: agents differ in them. The noise's generator is not asked, so that a seeded one gives
     * the same noise however often a piece is asked for. */
    p->fetch_later = (uint16_t)((uint64_t)now_ms * UINT64_C(0x9e3779b97f4a7c15) >> 48);
    transfer_retry(&p->fetch, now_ms);
    return participant_ask(p, effects);
}

enum status participant_fetch_anew(struct participant *p, int64_t now_ms, struct effects *effects)
{
    const uint64_t bytes = p->fetch.bytes;
    log_event(p->options.log, LOG_WARN, "pieces-forged", p->coordinator.name,
              "the fetched data do not match their digest: they are fetched once more");
    if (effects_add(effects, EFFECT_DOUBT) == NULL) {
        return STATUS_NO_MEMORY; /* never: it is the step's first effect */
    }
    p->spoiled = p->fetching;
    transfer_drop(&p->fetch);
    const enum status status = transfer_begin(&p->fetch, bytes, TRANSFER_FETCH_BYTES, now_ms);
    return status == STATUS_OK ? participant_ask(p, effects) : status;
}

/* The gate has just digested the answer for its offer. Openings of masks, if there are some, follow it in the blob. */
static const struct digest *digest_of_blob(const struct record *record, struct slice blob)
{
    return record->kind == RECORD_ANSWER && blob.size > 0 && record->as.answer.masks_bytes == 0 &&
                   blob.size == record->as.answer.answer_bytes
               ? &record->as.answer.answer
               : NULL;
}

enum status participant_commit(struct participant *p, struct effects *effects,
                               const struct record *record, struct slice blob)
{
    size_t size = 0;
    size_t slot = p->commit_count;

    CHECK(slot < COMMITS_MAX);
    p->committing[slot] = malloc(sizeof *record);
    if (p->committing[slot] == NULL) {
        return STATUS_NO_MEMORY;
    }
    *p->committing[slot] = *record;
    enum status status = wire_encode_record(&p->commit_body[slot], &size, record);
    if (status != STATUS_OK) {
        free(p->committing[slot]);
        p->committing[slot] = NULL;
        return status;
    }
    p->commit_count++;
    struct effect *effect = effects_add(effects, EFFECT_COMMIT);
    if (effect == NULL) {
        return STATUS_NO_MEMORY; /* never with EFFECTS_MAX: a commit is among the first effects */
    }
    effect->as.commit.body = (struct slice){p->commit_body[slot], size};
    effect->as.commit.blob = blob;
    effect->as.commit.digest = digest_of_blob(p->committing[slot], blob);
    return STATUS_OK;
}

enum status participant_outdate_answer(struct participant *p)
{
    struct gate_answer_view answer;
    if (!gate_latest(p->gate, &answer) || answer.exact || answer.bytes.size == 0) {
        return STATUS_OK; /* the journal holds nothing of it */
    }
    return stale_add(&p->stale, answer.sequence, answer.masks.size > 0);
}

void participant_keep_later(struct participant *p, int64_t now_ms)
{
    p->keep_tries++;
    p->keep_ms = now_ms + (p->keep_tries < KEEP_TRIES_MAX ? KEEP_RETRY_MS : KEEP_RARE_MS);
}

bool participant_is_computing(const struct participant *p)
{
    return p->work.kind != WORK_NONE || p->commit_count > 0;
}

bool participant_holds(const struct participant *p, const struct artifact *experts)
{
    return p->experts.weights != NULL && experts->bytes == p->experts.artifact.bytes &&
           digest_equal(&experts->digest, &p->experts.artifact.digest);
}

bool participant_is_deaf(struct participant *p)
{
    p->missed = p->missed || participant_is_computing(p);
    return participant_is_computing(p);
}

const char *const participant_phases[] = {JOB_STATES(STATE_WORD)};
const size_t participant_phase_count = JOB_PHASE_COUNT;

const char *const participant_round_phases[] = {ROUND_STATES(STATE_WORD)};
const size_t participant_round_phase_count = ROUND_PHASE_COUNT;

/* The text of the job has been read. */
static bool has_job(const struct participant *p)
{
    return p->job_phase != JOB_NONE && p->job_phase != JOB_FETCHING;
}

struct participant_view participant_look(struct participant *participant, int64_t wall_ms)
{
    struct participant *p = participant;
    return (struct participant_view){.phase = participant_phases[p->job_phase],
                                     .round_phase = participant_round_phases[p->round_phase],
                                     .job = has_job(p) ? p->job.name : "",
                                     .id = p->name.id,
                                     .round = p->round,
                                     .in_round = p->round_phase != ROUND_IDLE,
                                     .ledger = gate_ledger(p->gate, wall_ms)};
}

/* When a challenge that comes now may be answered. An answer at once would show how busy the machine is, and
 * challenges all the time when a computation ended. So they are answered once a second, and from the beginning
 * of a computation until its answer has left only at whole seconds from the invitation. */
static int64_t present_due_ms(const struct participant *p, int64_t now_ms)
{
    const int64_t next_ms = p->present_ms + PRESENT_MS;
    const int64_t due_ms = p->was_present && next_ms > now_ms ? next_ms : now_ms;
    if (!participant_is_computing(p) && p->round_phase != ROUND_WAITING) {
        return due_ms;
    }
    const int64_t after_ms = due_ms - p->invited_ms;
    const int64_t ticks = (after_ms + PRESENT_MS - 1) / PRESENT_MS;
    return p->invited_ms + (due_ms == now_ms ? after_ms / PRESENT_MS + 1 : ticks) * PRESENT_MS;
}

/* Another connection under this site's key wants the place of this one. The answer comes from here and not from
 * the transport, so that it shows that an agent runs. */
enum status participant_on_challenge(struct participant *p, const struct event *event,
                                     const struct message *message, struct effects *effects)
{
    if (message->as.challenge.number == 0) {
        return STATUS_OK; /* no question has this number */
    }
    if (p->challenged == 0) {
        p->present_ms = present_due_ms(p, event->now_ms);
        p->was_present = true;
    }
    p->challenged = message->as.challenge.number;
    return participant_answer_challenge(p, event, effects);
}

enum status participant_answer_challenge(struct participant *p, const struct event *event,
                                         struct effects *effects)
{
    struct message present = {.kind = MESSAGE_PRESENT, .as.present.number = p->challenged};
    if (p->challenged == 0 || event->now_ms < p->present_ms) {
        return STATUS_OK;
    }
    p->challenged = 0;
    p->present_ms =
        event->now_ms - (event->now_ms - p->present_ms) % PRESENT_MS; /* the same grid */
    return participant_send(p, effects, &present, (struct slice){0});
}

/* Two agents with one key would charge two ledgers for one answer, so this one ends. In a computation it is deaf
 * to this too, or the moment of its end would tell the coordinator when the computation ended. */
enum status participant_on_key_in_use(struct participant *p, struct effects *effects)
{
    if (participant_is_deaf(p)) {
        return STATUS_OK;
    }
    struct effect *finish = effects_add(effects, EFFECT_FINISH);
    if (finish == NULL) {
        return STATUS_NO_MEMORY;
    }
    finish->as.finish.exit_code = EXIT_CODE_KEY_IN_USE;
    p->finished = true;
    log_event(
        p->options.log, LOG_ERROR, "key-in-use", p->coordinator.name,
        "the coordinator says that another agent is connected with this site's key%s%s, so this one stops; remedy: run one agent per "
        "key. Stop the other one, or make a key for this one (hedgerow keygen) and enrol it as a site of "
        "its own",
        p->options.key_text == NULL ? "" : " ",
        p->options.key_text == NULL ? "" : p->options.key_text);
    return STATUS_OK;
}

void participant_forget_old(struct participant *p, struct effects *effects)
{
    enum { EFFECTS_LEFT = 64 }; /* for whatever else this step has to say */
    uint64_t sequence = 0;

    stale_forget(&p->stale, effects);
    while (p->commit_count == 0 && effects->count < EFFECTS_MAX - EFFECTS_LEFT &&
           texts_drop(&p->texts, &sequence)) {
        struct effect *effect = effects_add(effects, EFFECT_FORGET);
        if (effect == NULL) {
            return; /* the record keeps its text; no later one does */
        }
        effect->as.forget.sequence = sequence;
    }
}

void participant_tell_version(const struct participant *p, struct slice control)
{
    const uint32_t version = wire_version(control);
    if (version == 0) {
        log_event(
            p->options.log, LOG_ERROR, "version-differs", p->coordinator.name,
            "the coordinator sent something that version %u of the protocol, which this agent "
            "speaks, does not have; remedy: upgrade the older program",
            (unsigned)PROTOCOL_VERSION);
        return;
    }
    log_event(p->options.log, LOG_ERROR, "version-differs", p->coordinator.name,
              "the coordinator speaks version %" PRIu32 " of the protocol, this agent version %u; "
              "remedy: upgrade %s",
              version, (unsigned)PROTOCOL_VERSION,
              version < PROTOCOL_VERSION ? "the coordinator" : "this agent");
}
