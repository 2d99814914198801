/* The legs of a masked round at the coordinator: keys are gathered into a roster, which is committed before anybody is
 * told; so are the survivors; then signatures and what opens the sum. masks/host.h judges; here it is sent and
 * committed. */

#include "base/check.h"
#include "coordinator/round_state.h"
#include "job/trust.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool coordinator_is_masked(const struct coordinator *c)
{
    return trust_of(c->options.job)->masked;
}

/* What the sum of that many sites needs. */
static enum masks_width width_for(const struct coordinator *c, size_t sites)
{
    const struct job *job = c->options.job;
    uint32_t within;
    const struct stage *stage = job_stage_of(job, c->outcome.rounds_closed, &within);
    return (enum masks_width)(
        8 * round_masked_bytes(job, stage, within, c->outcome.expert_count, sites));
}

size_t coordinator_least(const struct coordinator *c)
{
    const size_t least = c->options.job->cohort_min;
    if (c->masks == NULL) {
        return least;
    }
    if (masks_host_is_settled(c->masks)) {
        return masks_set_count(masks_host_survivors(c->masks));
    }
    const size_t opens_at = (size_t)masks_host_quorum(c->masks)->opens_at;
    return opens_at > least ? opens_at : least;
}

/* Nothing more is sent to a site that is not admitted. */
static enum status send_leg(const struct coordinator *c, const struct member *member,
                            enum message_kind kind, struct slice payload, struct effects *effects)
{
    struct message message = {.kind = kind};
    if (!member->admitted) {
        return STATUS_OK;
    }
    message.as.leg.job = c->outcome.job_name.id;
    message.as.leg.round = c->outcome.rounds_closed;
    message.as.leg.width = kind == MESSAGE_ROSTER ? (uint32_t)c->kept.width : 0;
    return coordinator_send(effects, &member->peer, &message, payload);
}

static enum status send_roster(const struct coordinator *c, const struct member *member,
                               struct effects *effects)
{
    return send_leg(c, member, MESSAGE_ROSTER, (struct slice){c->kept.roster, c->kept.size},
                    effects);
}

/* Not from c->masks, which this step may free: a round that is due is lost. */
static enum status send_survivors(const struct coordinator *c, const struct member *member,
                                  struct effects *effects)
{
    return send_leg(c, member, MESSAGE_SURVIVORS,
                    (struct slice){c->kept.survivors.byte, MASKS_SET_BYTES}, effects);
}

/* The payload stays in c->open until the next step; each time it is the same until more have signed. */
static enum status send_open(struct coordinator *c, const struct member *member,
                             struct effects *effects)
{
    const size_t size = masks_host_open(c->masks, c->open);
    return send_leg(c, member, MESSAGE_OPEN, (struct slice){c->open, size}, effects);
}

static enum status on_keys(struct coordinator *c, const struct event *event, struct member *member)
{
    struct why why = {""};
    if (c->phase != PHASE_KEYING ||
        (member->standing != STANDING_SILENT && member->standing != STANDING_KEYED)) {
        return STATUS_OK; /* late: the roster is made */
    }
    if (masks_host_take_keys(c->masks, member->peer.name, event->as.message.payload, &why) !=
        STATUS_OK) {
        cohort_set_standing(&c->cohort, member, STANDING_REFUSED);
        masks_host_drop_keys(c->masks, member->peer.name);
        log_event(c->options.log, LOG_WARN, "keys-refused", member->peer.name,
                  "takes no part in round %" PRIu32 ": %s", c->outcome.rounds_closed + 1, why.text);
        return STATUS_OK;
    }
    cohort_set_standing(&c->cohort, member, STANDING_KEYED);
    return STATUS_OK;
}

/* The roster is made of those whose keys are there, and committed. */
static enum status list(struct coordinator *c, const struct event *event, struct effects *effects)
{
    struct why why = {""};
    masks_host_set_width(c->masks, width_for(c, masks_host_roster(c->masks)->count));
    CHECK(masks_host_list(c->masks, &why) ==
          STATUS_OK); /* the job's text was judged by its minimum */
    const struct masks_roster *roster = masks_host_roster(c->masks);
    coordinator_drop_kept(c);
    c->kept.roster = malloc(roster->count * MASKS_KEYS_BYTES);
    if (c->kept.roster == NULL) {
        return STATUS_NO_MEMORY;
    }
    c->kept.size = masks_roster_pack(c->kept.roster, roster);
    c->kept.round = c->outcome.rounds_closed;
    c->kept.width = masks_host_width(c->masks);
    c->committing = (struct record){.kind = RECORD_ROSTER, .wall_ms = event->wall_ms};
    c->committing.as.roster.job = c->outcome.job_name.id;
    c->committing.as.roster.round = c->kept.round;
    c->committing.as.roster.bytes = c->kept.size;
    c->committing.as.roster.width = (uint32_t)c->kept.width;
    coordinator_enter(c, PHASE_LISTING);
    return coordinator_commit(c, effects, (struct slice){c->kept.roster, c->kept.size});
}

static enum status on_listed(struct coordinator *c, const struct event *event,
                             struct effects *effects)
{
    enum status status = coordinator_begin_sum(c);
    c->kept.sequence = event->as.committed.sequence;
    for (size_t i = 0; i < c->cohort.count; i++) {
        struct member *member = &c->cohort.member[i];
        if (member->standing == STANDING_KEYED) {
            cohort_set_standing(&c->cohort, member, STANDING_SILENT);
        }
    }
    coordinator_mark_unlisted(c);
    coordinator_enter(c, PHASE_OPEN);
    c->late = false;
    c->deadline_ms = event->now_ms + c->options.job->deadline_ms;
    for (size_t i = 0; i < c->cohort.count && status == STATUS_OK; i++) {
        const struct member *member = &c->cohort.member[i];
        if (member->standing == STANDING_SILENT && member->admitted) {
            status = send_roster(c, member, effects);
        }
    }
    return status;
}

/* From now on the round is opened by its survivors, or lost. */
static enum status begin_opening(struct coordinator *c, const struct event *event,
                                 struct effects *effects)
{
    enum status status = STATUS_OK;
    coordinator_enter(c, PHASE_OPENING);
    c->deadline_ms = event->now_ms + c->options.job->deadline_ms + c->options.job->patience_ms;
    for (size_t i = 0; i < c->cohort.count && status == STATUS_OK; i++) {
        if (c->cohort.member[i].standing == STANDING_ANSWERED) {
            status = send_survivors(c, &c->cohort.member[i], effects);
        }
    }
    return status;
}

enum status coordinator_settle(struct coordinator *c, const struct event *event,
                               struct effects *effects)
{
    struct masks_set survivors = {{0}};
    struct why why = {""};
    if (masks_host_is_settled(c->masks)) { /* before a restart */
        return begin_opening(c, event, effects);
    }
    for (size_t i = 0; i < c->cohort.count; i++) {
        if (c->cohort.member[i].standing == STANDING_ANSWERED) {
            masks_set_add(&survivors, coordinator_rank_of(c, &c->cohort.member[i]));
        }
    }
    CHECK(masks_host_settle(c->masks, &survivors, &why) == STATUS_OK);
    c->kept.survivors = survivors;
    c->kept.settled = true;
    c->committing = (struct record){.kind = RECORD_SURVIVORS, .wall_ms = event->wall_ms};
    c->committing.as.survivors.job = c->outcome.job_name.id;
    c->committing.as.survivors.round = c->outcome.rounds_closed;
    memcpy(c->committing.as.survivors.set.byte, survivors.byte, MASKS_SET_BYTES);
    coordinator_enter(c, PHASE_SETTLING);
    return coordinator_commit(c, effects, (struct slice){0});
}

enum status coordinator_masks_committed(struct coordinator *c, const struct event *event,
                                        struct effects *effects)
{
    record_free(&c->committing);
    return c->phase == PHASE_LISTING ? on_listed(c, event, effects)
                                     : begin_opening(c, event, effects);
}

static enum status on_signed(struct coordinator *c, const struct event *event,
                             struct member *member, struct effects *effects)
{
    const bool could_open = masks_host_may_open(c->masks);
    enum status status = STATUS_OK;
    if (masks_host_take_signature(c->masks, coordinator_rank_of(c, member),
                                  event->as.message.payload) != STATUS_OK) {
        log_event(c->options.log, LOG_WARN, "signature-refused", member->peer.name,
                  "did not sign the survivors of round %" PRIu32
                  " as they are: was it asked something else?",
                  c->outcome.rounds_closed + 1);
        return STATUS_OK;
    }
    if (could_open) {
        return send_open(c, member, effects);
    }
    for (size_t i = 0; i < c->cohort.count && masks_host_may_open(c->masks) && status == STATUS_OK;
         i++) {
        if (masks_host_has_signed(c->masks, coordinator_rank_of(c, &c->cohort.member[i]))) {
            status = send_open(c, &c->cohort.member[i], effects);
        }
    }
    return status;
}

/* Who has not revealed yet, for the log. */
static void tell_closed(const struct coordinator *c, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < c->cohort.count; i++) {
        const struct member *member = &c->cohort.member[i];
        if (member->standing != STANDING_ANSWERED ||
            masks_host_has_revealed(c->masks, coordinator_rank_of(c, member)) ||
            used + PEER_NAME_BYTES + 2 >= size) {
            continue;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                 member->peer.name);
    }
}

enum status coordinator_lose_if_due(struct coordinator *c, const struct event *event,
                                    struct effects *effects)
{
    char missing[MISSING_BYTES / 2];
    char cause[RECORD_CAUSE_BYTES];
    if (event->now_ms < c->deadline_ms) {
        return STATUS_OK;
    }
    tell_closed(c, missing, sizeof missing);
    (void)snprintf(cause, sizeof cause,
                   "round %" PRIu32 ": its masked sum could not be opened, for sites left between "
                   "their answer and its opening: %s",
                   c->outcome.rounds_closed + 1, missing);
    return coordinator_fail_because(c, event, cause, effects);
}

static enum status on_reveal(struct coordinator *c, const struct event *event,
                             struct member *member, struct effects *effects)
{
    char cause[RECORD_CAUSE_BYTES];
    const enum status status = masks_host_take_reveal(
        c->masks, coordinator_rank_of(c, member), event->as.message.payload,
        (uint64_t *)c->aggregate.sum, (uint32_t *)c->aggregate.narrow, c->aggregate.count);
    if (status == STATUS_CORRUPT) {
        (void)snprintf(cause, sizeof cause,
                       "round %" PRIu32 ": its masked sum could not be opened: what %s revealed is "
                       "not what it had committed to",
                       c->outcome.rounds_closed + 1, member->peer.name);
        return coordinator_fail_because(c, event, cause, effects);
    }
    if (status == STATUS_INVALID) {
        log_event(c->options.log, LOG_WARN, "reveal-refused", member->peer.name,
                  "revealed something else than round %" PRIu32 " asks of it",
                  c->outcome.rounds_closed + 1);
        return STATUS_OK;
    }
    return status == STATUS_OK && masks_host_is_open(c->masks)
               ? coordinator_close(c, event, effects)
               : status;
}

enum status coordinator_on_leg(struct coordinator *c, const struct event *event,
                               struct member *member, const struct message *message,
                               struct effects *effects)
{
    if (c->masks == NULL || !digest_equal(&message->as.leg.job, &c->outcome.job_name.id) ||
        message->as.leg.round != c->outcome.rounds_closed) {
        return STATUS_OK;
    }
    if (message->kind == MESSAGE_KEYS) {
        return on_keys(c, event, member);
    }
    if (c->phase != PHASE_OPENING || !coordinator_is_listed(c, member)) {
        return STATUS_OK;
    }
    return message->kind == MESSAGE_SIGNED ? on_signed(c, event, member, effects)
                                           : on_reveal(c, event, member, effects);
}

/* What a member that greets may have missed. One that began anew has to be invited before it remembers. */
enum status coordinator_remind(struct coordinator *c, const struct event *event,
                               struct member *member, struct effects *effects)
{
    const size_t rank = coordinator_rank_of(c, member);
    enum status status = STATUS_OK;
    if (c->phase == PHASE_OPEN && member->standing == STANDING_SILENT) {
        return send_roster(c, member, effects);
    }
    if (c->phase != PHASE_OPENING || member->standing != STANDING_ANSWERED ||
        masks_host_has_revealed(c->masks, rank)) {
        return STATUS_OK;
    }
    status = coordinator_invite(c, member, event->now_ms, effects);
    if (status == STATUS_OK) {
        status = send_survivors(c, member, effects);
    }
    if (status == STATUS_OK && masks_host_has_signed(c->masks, rank) &&
        masks_host_may_open(c->masks)) {
        status = send_open(c, member, effects);
    }
    return status;
}

enum status coordinator_list_if_due(struct coordinator *c, const struct event *event,
                                    struct effects *effects)
{
    switch (coordinator_judge_round(c, event->now_ms)) {
    case VERDICT_WAIT:
        return STATUS_OK;
    case VERDICT_FAIL:
        return coordinator_fail(c, event, effects);
    case VERDICT_CLOSE:
        break;
    }
    return list(c, event, effects);
}
