/* How the coordinator opens a round, and invites agents to it. */

#include "coordinator/round_state.h"
#include "crypto/digest.h"
#include "protocol/wire.h"

#include <inttypes.h>

struct artifact coordinator_input_of(const struct coordinator *c)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(c->options.job, c->outcome.rounds_closed, &within);

    switch (round_input(stage, within)) {
    case INPUT_EXPERTS:
        return c->outcome.artifact;
    case INPUT_STATE:
        return c->outcome.state_artifact;
    case INPUT_NONE:
        break;
    }
    return (struct artifact){0};
}

/* Each agent needs a slot then. An answer says itself which part of the round it is. */
bool coordinator_shares_out(const struct coordinator *c)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(c->options.job, c->outcome.rounds_closed, &within);
    return round_groups(stage, within).count > 1;
}

/* Slots count who takes part, as absent ones would leave gaps: of five that are here three look first. In the second look those who
 * were away in the first one come by their places among them, and in another round those who took part in the one before by theirs:
 * so says the journal, and a restart changes nothing. Others come after them, in the order of their invitations. In a job's first
 * round that is the order of names of all who came while it gathered (coordinator_gathers). */
static uint32_t next_slot(struct coordinator *c, const struct member *member)
{
    uint32_t within;
    uint32_t place = 0;
    const struct stage *stage = job_stage_of(c->options.job, c->outcome.rounds_closed, &within);
    const enum outcome_turn turn = outcome_turn_of(&place, &c->outcome, &member->peer);
    const bool second = stage->turns > 0 && within > 0;
    const size_t known = second ? c->outcome.away_count : c->outcome.took_count;
    if (turn == OUTCOME_TURN_NEW) {
        place = (uint32_t)known + c->cohort.slots++;
    }
    if (!second) {
        return place;
    }
    return turn == OUTCOME_TURN_OVER ? round_turn_slot(0, 0) : round_turn_slot(1, place);
}

bool coordinator_gathers(struct coordinator *c, int64_t now_ms)
{
    const bool all = c->cohort.ready + c->cohort.refusing >= c->cohort.admitted;
    if (c->gather_until_ms == INT64_MAX) {
        c->gather_until_ms = now_ms + GATHER_MS;
    }
    return coordinator_shares_out(c) && !all && now_ms < c->gather_until_ms;
}

enum status coordinator_invite(struct coordinator *c, struct member *member, int64_t now_ms,
                               struct effects *effects)
{
    struct message message = {.kind = MESSAGE_INVITE};
    int64_t left_ms = c->deadline_ms - now_ms;

    message.as.invite.job = c->outcome.job_name.id;
    message.as.invite.round = c->outcome.rounds_closed;
    message.as.invite.input = coordinator_input_of(c);
    message.as.invite.deadline_ms = left_ms > 0 ? (uint32_t)left_ms : 0;
    const size_t whole = message_whole_bytes(&message);
    const bool again = member->invited; /* it has the input, or fetches it */
    if (!again && coordinator_shares_out(c)) {
        member->slot = next_slot(c, member);
    }
    member->invited = true;
    message.as.invite.slot = member->slot;
    cohort_mark_untold(&c->cohort, member, TELL_INVITE, false);
    return coordinator_send(effects, &member->peer, &message,
                            !again && whole > 0 && whole <= c->options.whole_bytes_max
                                ? coordinator_bytes_of(c, &message.as.invite.input.digest)
                                : (struct slice){0});
}

/* What this round's invitation binds; an offer must name it. */
static struct digest invitation_of_round(const struct coordinator *c)
{
    uint8_t bytes[INVITATION_BYTES];
    struct slice slice = {bytes, sizeof bytes};
    struct artifact input = coordinator_input_of(c);
    struct digest digest;

    invitation_bytes(bytes, &c->outcome.job_name.id, c->outcome.rounds_closed, &input);
    digest_sha256(&digest, &slice, 1);
    return digest;
}

/* Masked answers have the width of their roster. */
enum status coordinator_begin_sum(struct coordinator *c)
{
    uint32_t within;
    const struct job *job = c->options.job;
    const size_t experts = c->outcome.expert_count;
    const struct stage *stage = job_stage_of(job, c->outcome.rounds_closed, &within);
    struct encode_form form = round_form(job, stage, within, experts, c->answers_max);
    if (c->masks != NULL) {
        form.word_bytes = (unsigned)masks_host_width(c->masks) / 8;
        form.sum_bytes = form.word_bytes;
    }
    return aggregate_begin(&c->aggregate, round_answer_count(job, stage, within, experts), &form);
}

/* Collectors do not know of each other's agents. So that few agents at each do not all have the same slot, they begin at different
 * ones: their names differ by a number, mostly. */
static uint32_t first_slot(const struct coordinator *c)
{
    uint32_t sum = 0;
    for (const char *name = c->options.collector; name != NULL && *name != 0; name++) {
        sum += (unsigned char)*name;
    }
    return sum;
}

enum status coordinator_open(struct coordinator *c, int64_t now_ms, int64_t left_ms,
                             struct effects *effects)
{
    cohort_begin_round(&c->cohort);
    c->cohort.slots = first_slot(c);
    if (!coordinator_collects(c)) { /* which has its own parts of the round by now */
        collecting_begin_round(&c->collecting);
    }
    c->late = false;
    c->opened_ms = now_ms;
    c->deadline_ms = now_ms + left_ms;
    c->invitation = invitation_of_round(c);
    enum status status = coordinator_is_masked(c) ? coordinator_begin_masks(c) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    const bool keyed = c->masks == NULL || masks_host_is_listed(c->masks);
    status = keyed ? coordinator_begin_sum(c) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    coordinator_enter(c, keyed ? PHASE_OPEN : PHASE_KEYING);
    coordinator_mark_unlisted(c);
    coordinator_mark_handed(c);
    log_event(c->options.log, LOG_DEBUG, "round-opened", NULL, "round %" PRIu32 " is open",
              c->outcome.rounds_closed + 1);
    coordinator_tell_all(c, TELL_INVITE);
    return coordinator_tell_next(c, now_ms, effects);
}
