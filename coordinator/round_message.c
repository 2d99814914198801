/* What an agent's frame does. Every frame is hostile until it has been compared with what this round
 * expects; what does not fit is dropped with a log line that names the peer, and state is unchanged. */

#include "coordinator/hearing.h"
#include "coordinator/round_state.h"
#include "protocol/wire.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static_assert((int)JOB_AGE_MOST == (int)JOB_OF_8, "what a WELCOME may say");

static enum status welcome(struct coordinator *c, const struct member *member,
                           struct effects *effects)
{
    struct message message = {.kind = MESSAGE_WELCOME};
    message.as.welcome.version = PROTOCOL_VERSION;
    message.as.welcome.job = c->outcome.job_name;
    message.as.welcome.rounds_closed = c->outcome.rounds_closed;
    message.as.welcome.older = c->outcome.age;
    return coordinator_send(effects, &member->peer, &message, (struct slice){0});
}

/* One of another version hears which version is spoken here, so that its own log tells why nothing goes on. */
static enum status on_refused(struct coordinator *c, const struct event *event,
                              struct member *member, enum status status, struct effects *effects)
{
    const struct slice control = event->as.message.control;
    hearing_refuse(c->options.log, &member->peer, control, status);
    if (status != STATUS_UNSUPPORTED || !wire_is(control, MESSAGE_HELLO)) {
        return STATUS_OK;
    }
    member->foreign = true;
    return c->outcome.begun ? welcome(c, member, effects) : STATUS_OK;
}

static enum status on_hello(struct coordinator *c, const struct event *event, struct member *member,
                            const struct message *message, struct effects *effects)
{
    bool same = digest_equal(&message->as.hello.job, &c->outcome.job_name.id);

    member->foreign = false;
    if (!member->seen) {
        log_event(c->options.log, LOG_INFO, "agent-present", member->peer.name, "is present");
    }
    const struct digest *dictionary = &message->as.hello.dictionary;
    enum status status = STATUS_OK;
    if (shown_ask(&member->shown, &c->options.dictionaries, &member->peer, dictionary,
                  event->now_ms)) {
        const struct message show = {.kind = MESSAGE_SHOW, .as.show = {*dictionary}};
        status = coordinator_send(effects, &member->peer, &show, (struct slice){0});
    }
    if (status != STATUS_OK || !c->outcome.begun) {
        return status; /* the job has no durable name yet */
    }
    bool ready = same && message->as.hello.ready;
    if (cohort_note_hello(&c->cohort, member, ready, c->opened_ms, event->now_ms)) {
        log_event(c->options.log, LOG_INFO, "agent-back", member->peer.name,
                  "is back: rounds wait for it again");
    }
    member->rounds_closed = same ? message->as.hello.rounds_closed : 0;
    status = welcome(c, member, effects);
    if (status != STATUS_OK || !same) {
        return status;
    }
    if (member->rounds_closed < c->outcome.rounds_closed) {
        status = coordinator_release(c, member, effects);
    }
    if (status == STATUS_OK && (c->phase == PHASE_OPEN || c->phase == PHASE_KEYING) &&
        member->ready && member->standing == STANDING_SILENT) {
        /* In a masked round the leg that reminds it comes after that. */
        status = c->masks != NULL ? coordinator_invite(c, member, event->now_ms, effects)
                                  : coordinator_tell_again(c, member, event->now_ms, effects);
    }
    return status == STATUS_OK && c->masks != NULL && member->ready
               ? coordinator_remind(c, event, member, effects)
               : status;
}

static void on_decline(struct coordinator *c, struct member *member, const struct message *message)
{
    const uint32_t round = message->as.decline.round;
    if (!digest_equal(&message->as.decline.job, &c->outcome.job_name.id)) {
        return;
    }
    cohort_note_life(member);
    if (round < c->outcome.rounds_closed) {
        return; /* an old invitation that came late is declined too, and says nothing of the job */
    }
    if (cohort_note_refusal(&c->cohort, member)) {
        log_event(c->options.log, LOG_WARN, "agent-declined", member->peer.name,
                  "declined the job, and is not counted as ready: the site has its reasons");
    }
    if (round != c->outcome.rounds_closed) {
        return;
    }
    if (c->phase == PHASE_KEYING && member->standing == STANDING_KEYED) {
        masks_host_drop_keys(c->masks, member->peer.name);
        cohort_set_standing(&c->cohort, member, STANDING_SILENT);
    }
    if ((c->phase == PHASE_OPEN || c->phase == PHASE_KEYING) &&
        member->standing == STANDING_SILENT) {
        cohort_set_standing(&c->cohort, member, STANDING_DECLINED);
        log_event(c->options.log, LOG_INFO, "agent-declined", member->peer.name,
                  "declined round %" PRIu32, c->outcome.rounds_closed + 1);
    }
}

struct slice coordinator_bytes_of(const struct coordinator *c, const struct digest *digest)
{
    if (digest_equal(digest, &c->text_digest)) {
        return c->options.text;
    }
    if (c->outcome.artifact.bytes > 0 && digest_equal(digest, &c->outcome.artifact.digest)) {
        return (struct slice){c->outcome.weights, (size_t)c->outcome.artifact.bytes};
    }
    if (c->outcome.state_artifact.bytes > 0 &&
        digest_equal(digest, &c->outcome.state_artifact.digest)) {
        return outcome_shown(&c->outcome);
    }
    return (struct slice){0};
}

static enum status on_fetch(struct coordinator *c, const struct member *member,
                            const struct message *message, struct effects *effects)
{
    const struct digest *digest = &message->as.fetch.digest;
    uint64_t offset = message->as.fetch.offset;
    uint32_t length = message->as.fetch.length;
    struct message piece = {.kind = MESSAGE_PIECE};

    if (!c->outcome.begun) {
        return STATUS_OK;
    }
    const struct slice source = coordinator_bytes_of(c, digest);
    if (offset >= source.size || length > source.size - offset) {
        return STATUS_OK;
    }
    piece.as.piece.digest = *digest;
    piece.as.piece.offset = offset;
    return coordinator_send(effects, &member->peer, &piece,
                            (struct slice){(const uint8_t *)source.data + offset, length});
}

static enum status dispatch(struct coordinator *c, const struct event *event, struct member *member,
                            const struct message *message, struct effects *effects)
{
    switch (message->kind) {
    case MESSAGE_HELLO:
        return on_hello(c, event, member, message, effects);
    case MESSAGE_OFFER:
        return coordinator_on_offer(c, event, member, message, effects);
    case MESSAGE_CHUNK:
        return coordinator_on_chunk(c, event, member, message, effects);
    case MESSAGE_DECLINE:
        on_decline(c, member, message);
        return STATUS_OK;
    case MESSAGE_FETCH:
        return on_fetch(c, member, message, effects);
    case MESSAGE_WANT:    /* a transport that has no lines leaves it */
    case MESSAGE_PRESENT: /* late: whose place it is has been decided, by the transport */
        return STATUS_OK;
    case MESSAGE_DICTIONARY:
        return shown_take(&member->shown, &c->options.dictionaries, c->options.log, &member->peer,
                          &message->as.dictionary.digest, event->as.message.payload);
    case MESSAGE_KEYS:
    case MESSAGE_SIGNED:
    case MESSAGE_REVEAL:
        return coordinator_on_leg(c, event, member, message, effects);
    case MESSAGE_ENROL: /* the transport's business, under a token */
    case MESSAGE_WELCOME:
    case MESSAGE_INVITE:
    case MESSAGE_PULL:
    case MESSAGE_RELEASE:
    case MESSAGE_PIECE:
    case MESSAGE_ENROLLED:
    case MESSAGE_LINE:
    case MESSAGE_CHALLENGE:
    case MESSAGE_KEY_IN_USE:
    case MESSAGE_SHOW:
    case MESSAGE_ROSTER:
    case MESSAGE_SURVIVORS:
    case MESSAGE_OPEN:
    case MESSAGE_KIND_COUNT:
        break;
    }
    log_event(c->options.log, LOG_WARN, "message-unexpected", member->peer.name,
              "sent a message that agents do not send (%s): ignored",
              message_kind_name(message->kind));
    return STATUS_OK;
}

/* An agent that is admitted and that this job does not ask learns that it is let in, as where there is no job. */
static enum status answer_unasked(struct coordinator *c, const struct event *event,
                                  struct effects *effects)
{
    const struct peer *peer = &event->as.message.peer;
    struct message message;
    struct message answer = {.kind = MESSAGE_ENROLLED};
    const enum status status =
        wire_decode(&message, event->as.message.control, event->as.message.payload);
    if (status != STATUS_OK || message.kind != MESSAGE_HELLO) {
        return status == STATUS_NO_MEMORY ? status : STATUS_OK;
    }
    log_event(c->options.log, LOG_DEBUG, "agent-unasked", peer->name,
              "is not among those whom the job asks (cohort.agents)");
    memcpy(answer.as.enrolled.name, peer->name, sizeof answer.as.enrolled.name);
    return coordinator_send(effects, peer, &answer, (struct slice){NULL, 0});
}

enum status coordinator_on_message(struct coordinator *c, const struct event *event,
                                   struct effects *effects)
{
    struct message message;
    struct member *member = cohort_find(&c->cohort, &event->as.message.peer);

    if (!job_asks(c->options.job, event->as.message.peer.name)) {
        return answer_unasked(c, event, effects);
    }
    if (member == NULL) {
        log_event(c->options.log, LOG_WARN, "stranger", event->as.message.peer.name,
                  "is not admitted: its frame is dropped");
        return STATUS_OK;
    }
    enum status status =
        wire_decode(&message, event->as.message.control, event->as.message.payload);
    if (status == STATUS_NO_MEMORY) {
        return status;
    }
    if (status != STATUS_OK) {
        return on_refused(c, event, member, status, effects);
    }
    member->heard_ms = event->now_ms;
    return dispatch(c, event, member, &message, effects);
}
