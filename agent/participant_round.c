/* One round at the agent, up to its computation: invited -> (fetch the experts, unless they came along) -> compute ->
 * (participant_answer.c) wait for the public slot -> gate -> commit -> offer, and serve the same bytes until the round is
 * closed. Whether, when and with what size it answers depends on the job, the policy, the budget and the clock - never on
 * a record. */

#include "agent/participant_state.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "job/work.h"
#include "protocol/wire.h"

#include <inttypes.h>
#include <stdio.h>

enum status round_decline(struct participant *p, const char *event, const char *reason,
                          struct effects *effects)
{
    masks_site_free(p->masks);
    p->masks = NULL;
    participant_enter_round(p, ROUND_DECLINED);
    log_event(p->options.log, LOG_WARN, event, NULL, "round %" PRIu32 " declined: %s", p->round + 1,
              reason);
    return participant_decline(p, p->round, effects);
}

static struct digest invitation_digest(const struct message *message)
{
    uint8_t bytes[INVITATION_BYTES];
    struct slice slice = {bytes, sizeof bytes};
    struct digest digest;

    invitation_bytes(bytes, &message->as.invite.job, message->as.invite.round,
                     &message->as.invite.input);
    digest_sha256(&digest, &slice, 1);
    return digest;
}

/* Shape and size of the input, against the job and the policy. */
static bool input_is_right(const struct participant *p, const struct stage *stage, uint32_t within,
                           const struct artifact *input)
{
    uint64_t row = 8 * (uint64_t)round_width(&p->job);
    switch (round_input(stage, within)) {
    case INPUT_NONE:
        return input->bytes == 0;
    case INPUT_STATE:
        return input->bytes ==
                   round_input_bytes(stage, within) * (uint64_t)round_state_count(stage) &&
               input->bytes <= p->options.policy->message_bytes_max;
    case INPUT_EXPERTS:
        return input->bytes > 0 && input->bytes % row == 0 &&
               input->bytes / row <= JOB_EXPERTS_MAX &&
               input->bytes <= p->options.policy->message_bytes_max;
    }
    return false;
}

size_t round_experts(const struct participant *p, uint32_t round, const struct artifact *input)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(&p->job, round, &within);
    return round_input(stage, within) != INPUT_EXPERTS
               ? 0
               : (size_t)(input->bytes / (8 * (uint64_t)round_width(&p->job)));
}

enum status round_start_work(struct participant *p, struct effects *effects)
{
    struct task_input *input = &p->work.input;

    CHECK(p->work.kind == WORK_NONE);
    input->job = &p->job;
    input->stage = job_stage_of(&p->job, p->round, &input->within);
    input->data = &p->data;
    input->order = p->order;
    input->random = p->options.random;
    input->slot = p->slot;
    input->away = p->away;
    CHECK(p->input.bytes == 0 || participant_holds(p, &p->input));
    input->experts = p->input.bytes > 0 ? p->experts.weights : NULL;
    input->expert_count = round_experts(p, p->round, &p->input);
    p->work.kind = WORK_TASK;
    participant_enter_round(p, ROUND_WORKING);
    return effects_add(effects, EFFECT_WORK) == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

/* In a masked round the roster comes first. */
static enum status prepare(struct participant *p, const struct event *event,
                           struct effects *effects)
{
    return legs_are_needed(p) ? legs_begin(p, event, effects) : round_start_work(p, effects);
}

/* Whether the gate will be able to answer, before anything is computed: a round that ends without
 * an answer has cost nothing, and must have looked at nothing. */
static bool noise_can_cover(const struct participant *p, const struct stage *stage, uint32_t within,
                            const struct charge *charge)
{
    struct round_bounds bounds;
    return round_bounds(&bounds, &p->job, stage, within, p->data.record_count,
                        round_experts(p, p->round, &p->input), NULL) == STATUS_OK &&
           gate_has_noise(charge, round_is_exact(p), bounds.sensitivity, p->job.honest);
}

/* Where sites take turns this one looks once. Before the last round of the pass it goes by its slot, whatever that costs the
 * result. In the last it looks if the ledger still has its records to pay for: so the coordinator cannot make it look twice,
 * and a site that was not there before is of use. */
static void take_turn(struct participant *p, const struct occasion *occasion)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(&p->job, p->round, &within);
    p->away = false;
    if (stage->turns == 0) {
        return;
    }
    const struct charge charge = round_charge_of(p, p->round);
    const bool last = within % stage->turns + 1 == stage->turns;
    p->away = last ? !gate_covers(p->gate, &charge, occasion, NULL)
                   : !round_is_turn(stage, within, p->slot);
}

static enum status begin_round(struct participant *p, const struct event *event,
                               struct effects *effects)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(&p->job, p->round, &within);
    struct occasion occasion = {.job = p->name.id, .wall_ms = event->wall_ms};
    struct why why = {{0}};
    take_turn(p, &occasion);
    struct charge charge = round_charge_of(p, p->round);

    if (!p->options.policy->task_allowed[stage->task]) {
        return round_decline(p, "task-refused", "the policy does not allow this task", effects);
    }
    if (!gate_can_repeat(p->gate, &p->name.id, p->round) &&
        !gate_covers(p->gate, &charge, &occasion, &why)) {
        char reason[WHY_BYTES + 64];
        (void)snprintf(reason, sizeof reason, "%s; see `hedgerow-agent ledger`", why.text);
        return round_decline(p, "budget-exhausted", reason, effects);
    }
    if (!input_is_right(p, stage, within, &p->input)) {
        return round_decline(p, "input-refused",
                             "the coordinator's input is not what the job or the policy allows",
                             effects);
    }
    if (!noise_can_cover(p, stage, within, &charge)) {
        return round_decline(p, "noise-out-of-range",
                             "no noise can cover an answer of this size at this price", effects);
    }
    /* What is on the way, a last model too, would take the place of the experts under the computation. */
    transfer_drop(&p->fetch);
    p->fetch_final = false;
    if (p->input.bytes == 0 || participant_holds(p, &p->input)) {
        return prepare(p, event, effects);
    }
    enum status status =
        transfer_begin(&p->fetch, p->input.bytes, TRANSFER_FETCH_BYTES, event->now_ms);
    if (status != STATUS_OK) {
        return status;
    }
    p->fetching = p->input.digest;
    participant_enter_round(p, ROUND_FETCHING);
    if (!transfer_fill(&p->fetch, event->as.message.payload)) {
        return participant_ask(p, effects);
    }
    return round_on_experts(p, event, digest_is_of(&p->fetching, event->as.message.payload),
                            effects);
}

/* How long an answer that is at hand waits: not at all, where a computed one would not. */
static int64_t slot_ms(const struct participant *p, uint32_t round)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(&p->job, round, &within);
    return work_time_is_public(stage) ? 0 : p->options.policy->answer_slot_ms;
}

/* The round was answered before: the same bytes for the same question, nothing for another one. */
static enum status answer_again(struct participant *p, const struct event *event,
                                const struct gate_answer_view *answer,
                                const struct message *message, const struct digest *invitation,
                                struct effects *effects)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(&p->job, answer->round, &within);
    const size_t words = round_answer_count(
        &p->job, stage, within, round_experts(p, answer->round, &message->as.invite.input));
    p->round = answer->round;
    if (!digest_equal(&answer->invitation, invitation)) {
        return round_decline(p, "invitation-differs",
                             "it was answered before, and the coordinator now asks something "
                             "else under the same number",
                             effects);
    }
    if (answer->bytes.size == 0) {
        return round_decline(p, "answer-dropped",
                             "it was answered and closed; the answer is no longer kept", effects);
    }
    bool restored = false;
    const enum status status =
        legs_are_needed(p) ? legs_restore(p, answer, words, &restored) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    if (legs_are_needed(p) && !restored) {
        return round_decline(p, "masks-lost",
                             "it was answered under masks that this agent's key or list of peers "
                             "no longer opens",
                             effects);
    }
    p->invitation = *invitation;
    p->invited_ms = event->now_ms;
    p->offer_ms = event->now_ms + slot_ms(p, answer->round);
    participant_enter_round(p, ROUND_WAITING);
    return STATUS_OK;
}

/* An invitation for the round that is under way: say again what was said. */
static enum status invite_again(struct participant *p, const struct digest *invitation,
                                struct effects *effects)
{
    struct gate_answer_view answer;
    if (p->round_phase == ROUND_DECLINED) {
        return participant_decline(p, p->round, effects);
    }
    if (p->round_phase == ROUND_KEYED && digest_equal(&p->invitation, invitation)) {
        return legs_send_keys(p, effects);
    }
    if ((p->round_phase == ROUND_OFFERED || p->round_phase == ROUND_SIGNED) &&
        gate_latest(p->gate, &answer) && digest_equal(&answer.invitation, invitation)) {
        return round_offer(p, &answer, effects);
    }
    return STATUS_OK;
}

enum status round_on_invite(struct participant *p, const struct event *event,
                            const struct message *message, struct effects *effects)
{
    uint32_t round = message->as.invite.round;
    struct digest invitation = invitation_digest(message);
    struct gate_answer_view answer;

    if (!digest_equal(&message->as.invite.job, &p->name.id)) {
        return STATUS_OK; /* another job's; the next WELCOME settles which one it is */
    }
    if (p->job_phase == JOB_REFUSED) {
        return participant_decline(p, round, effects);
    }
    if (p->job_phase != JOB_READY || round >= job_round_count(&p->job) || p->model_owed) {
        return STATUS_OK;
    }
    if (participant_is_deaf(p)) {
        return STATUS_OK;
    }
    if (p->round_phase != ROUND_IDLE && round == p->round) {
        return invite_again(p, &invitation, effects);
    }
    if (round < p->rounds_closed || (p->round_phase != ROUND_IDLE && round < p->round)) {
        return participant_decline(p, round,
                                   effects); /* an old one changes nothing of what is under way */
    }
    participant_abandon_round(p);
    int64_t last = gate_last_round(p->gate, &p->name.id);
    if ((int64_t)round <= last) {
        bool is_latest = gate_latest(p->gate, &answer) && answer.round == round &&
                         digest_equal(&answer.job, &p->name.id);
        if (!is_latest) {
            return participant_decline(p, round, effects);
        }
        if (!gate_can_repeat(p->gate, &p->name.id, round)) {
            return answer_again(p, event, &answer, message, &invitation, effects);
        }
    }
    p->round = round;
    p->input = message->as.invite.input;
    p->slot = message->as.invite.slot;
    p->invitation = invitation;
    p->invited_ms = event->now_ms;
    return begin_round(p, event, effects);
}

enum status round_on_experts(struct participant *p, const struct event *event, bool right,
                             struct effects *effects)
{
    bool good = right;
    unsigned number_bytes = 8;
    if (!p->fetch_final && p->round_phase == ROUND_FETCHING) {
        uint32_t within;
        const struct stage *stage = job_stage_of(&p->job, p->round, &within);
        number_bytes = round_input_bytes(stage, within);
    }
    enum status status = release_take_experts(p, number_bytes, &good);

    if (status != STATUS_OK) {
        return status;
    }
    if (p->fetch_final) {
        return release_on_model(p, event, good, effects);
    }
    if (p->round_phase != ROUND_FETCHING) {
        return STATUS_OK;
    }
    if (!good) {
        return round_decline(p, "experts-forged",
                             "the experts do not match their digest, or are not finite", effects);
    }
    p->invited_ms =
        event
            ->now_ms; /* a slot begins with the work; otherwise the sender of the experts would choose its length */
    return prepare(p, event, effects);
}
