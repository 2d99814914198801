/* An answer at the agent: from the end of its computation through gate and journal to the offer, and to the pieces that the
 * coordinator asks for. */

#include "agent/participant_state.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "job/reach.h"
#include "job/trust.h"

static const char PASS_LABEL[] = "hedgerow pass 1";

struct charge round_charge_of(const struct participant *p, uint32_t round)
{
    uint32_t pass;
    struct charge charge = reach_charge(&p->job, round, p->data.record_count, &pass);
    uint8_t pass_bytes[4];
    struct slice parts[] = {{PASS_LABEL, sizeof PASS_LABEL - 1},
                            {p->name.id.byte, DIGEST_BYTES},
                            {p->data_digest.byte, DIGEST_BYTES},
                            {pass_bytes, sizeof pass_bytes}};

    if (p->away) {
        uint32_t within;
        (void)job_stage_of(&p->job, round, &within);
        charge = reach_charge_away(charge, within);
    }
    store_u32(pass_bytes, pass);
    digest_sha256(&charge.pass, parts, 4);
    return charge;
}

bool round_is_exact(const struct participant *p)
{
    return trust_of(&p->job)->exact_answers;
}

enum status round_offer(struct participant *p, const struct gate_answer_view *answer,
                        struct effects *effects)
{
    struct message message = {.kind = MESSAGE_OFFER};
    uint32_t within;
    const struct stage *stage = job_stage_of(&p->job, answer->round, &within);
    message.as.offer.job = answer->job;
    message.as.offer.round = answer->round;
    message.as.offer.invitation = answer->invitation;
    message.as.offer.answer = answer->digest;
    message.as.offer.bytes = answer->size;
    message.as.offer.shift = answer->shift;
    if (stage->batch_nano > 0) {
        message.as.offer.records = (uint32_t)answer->rows; /* as they were when it was paid for */
    }
    const bool whole = answer->bytes.size == answer->size &&
                       answer->size <= p->options.whole_bytes_max &&
                       answer->size == message_whole_bytes(&message);
    return participant_send(p, effects, &message, whole ? answer->bytes : (struct slice){0});
}

/* The gate's sealed answer goes to the journal; before the first of a job, the job itself does. */
static enum status commit_answer(struct participant *p, const struct event *event,
                                 struct record *answer, struct slice blob, struct effects *effects)
{
    enum status status = STATUS_OK;
    if (!job_is_recorded(p, &p->name.id)) {
        struct record job = {.kind = RECORD_JOB, .wall_ms = event->wall_ms};
        struct slice text = {p->text, p->name.text_bytes};
        job.as.job.job = p->name;
        job.as.job.protocol = job_age_version(p->age);
        if (texts_has(&p->texts, &p->name.text_digest)) {
            text = (struct slice){0};
        }
        status = participant_commit(p, effects, &job, text);
    }
    if (status == STATUS_OK) {
        answer->wall_ms = event->wall_ms;
        status = participant_commit(p, effects, answer, blob);
    }
    participant_enter_round(p, ROUND_COMMITTING);
    return status;
}

static struct encode_form form_of(const struct participant *p)
{
    const struct task_input *input = &p->work.input;
    if (p->masks != NULL) {
        return (struct encode_form){.word_bytes = (unsigned)masks_site_width(p->masks) / 8};
    }
    return round_form(&p->job, input->stage, input->within, input->expert_count, 1);
}

enum status round_on_worked(struct participant *p, const struct event *event,
                            struct effects *effects)
{
    const struct stage *stage = p->work.input.stage;
    struct why why = p->work.why;
    struct record record;
    struct slice blob = {0};
    enum status status = p->work.status;

    CHECK(p->round_phase == ROUND_WORKING);
    const struct encode_form form = form_of(p);
    struct gate_request request = {.job = p->name.id,
                                   .round = p->round,
                                   .task = task_name(stage->task),
                                   .invitation = p->invitation,
                                   .charge = round_charge_of(p, p->round),
                                   .exact = round_is_exact(p),
                                   .masks = p->masks,
                                   .shares = p->job.honest,
                                   .word_bytes = form.word_bytes,
                                   .shift = form.shift,
                                   .wall_ms = event->wall_ms};
    bool again = gate_can_repeat(p->gate, &p->name.id, p->round);
    if (status == STATUS_OK) {
        status = again ? gate_repeat(p->gate, &p->work.vector, &request, &why)
                       : gate_answer(p->gate, &record, &blob, &p->work.vector, &request, &why);
    }
    if (status == STATUS_NO_MEMORY || status == STATUS_NO_RANDOM) {
        return status;
    }
    if (status != STATUS_OK) {
        return round_decline(p, "task-failed", why.text, effects);
    }
    if (again) { /* paid for and recorded before; the slot was waited for */
        p->offer_ms = event->now_ms;
        participant_enter_round(p, ROUND_WAITING);
        return STATUS_OK;
    }
    return commit_answer(p, event, &record, blob, effects);
}

enum status round_on_committed(struct participant *p, const struct event *event)
{
    enum status status = participant_outdate_answer(p);
    if (status != STATUS_OK) {
        return status;
    }
    gate_committed(p->gate, event->as.committed.sequence);
    status = legs_drop_keys(p, &p->name.id, p->round);
    if (status != STATUS_OK) {
        return status;
    }
    if (p->round_phase == ROUND_COMMITTING) {
        p->offer_ms = event->now_ms; /* the slot was waited for before the answer was drawn */
        participant_enter_round(p, ROUND_WAITING);
    }
    return STATUS_OK;
}

enum status round_on_slot(struct participant *p, struct effects *effects)
{
    struct gate_answer_view answer;
    participant_enter_round(p, ROUND_OFFERED);
    if (!gate_latest(p->gate, &answer) || answer.bytes.size == 0) {
        return STATUS_OK;
    }
    return round_offer(p, &answer, effects);
}

enum status round_on_pull(struct participant *p, const struct message *message,
                          struct effects *effects)
{
    struct message chunk = {.kind = MESSAGE_CHUNK};
    struct gate_answer_view answer;
    uint64_t offset = message->as.pull.offset;
    uint32_t length = message->as.pull.length;

    if ((p->round_phase != ROUND_OFFERED && p->round_phase != ROUND_SIGNED) ||
        !gate_latest(p->gate, &answer) || !digest_equal(&answer.job, &message->as.pull.job) ||
        answer.round != message->as.pull.round || offset >= answer.bytes.size ||
        length > answer.bytes.size - offset) {
        return STATUS_OK;
    }
    chunk.as.chunk.job = answer.job;
    chunk.as.chunk.round = answer.round;
    chunk.as.chunk.offset = offset;
    return participant_send(p, effects, &chunk,
                            (struct slice){(const uint8_t *)answer.bytes.data + offset, length});
}
