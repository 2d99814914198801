/* What the coordinator has released, at the agent: experts that arrive whole, the end of a round, and
 * the end of a job with the site's own copy of its model. Nothing here depends on a record. */

#include "agent/participant_state.h"

#include "base/exit_code.h"
#include "crypto/digest.h"
#include "learn/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an artifact may be: finite numbers only. */
static bool weights_are_finite(const double *weights, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(weights[i])) {
            return false;
        }
    }
    return true;
}

static double number_at(const uint8_t *data, size_t i, unsigned bytes)
{
    double number;
    float short_number;
    if (bytes == 8) {
        const uint64_t word = load_u64(data + 8 * i);
        memcpy(&number, &word, sizeof number);
        return number;
    }
    uint32_t word = 0;
    for (size_t j = 0; j < sizeof word; j++) {
        word |= (uint32_t)data[4 * i + j] << (8 * j);
    }
    memcpy(&short_number, &word, sizeof short_number);
    return short_number;
}

enum status release_take_experts(struct participant *p, unsigned number_bytes, bool *good)
{
    struct artifact artifact = {.digest = p->fetching, .bytes = p->fetch.bytes};
    size_t count = (size_t)(p->fetch.bytes / number_bytes);
    uint8_t *data = transfer_take(&p->fetch);
    double *weights = malloc(count * sizeof *weights);
    if (weights == NULL) {
        free(data);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        weights[i] = dense_flushed(number_at(data, i, number_bytes));
    }
    free(data);
    *good = *good && weights_are_finite(weights, count);
    if (!*good) {
        free(weights);
        return STATUS_OK;
    }
    free(p->experts.weights);
    p->experts = (struct held){.artifact = artifact, .weights = weights};
    return STATUS_OK;
}

/* Returns whether there is nothing left to be kept. */
static bool publish(struct participant *p, uint32_t chosen, bool final)
{
    size_t d = round_width(&p->job);
    return p->options.model.put == NULL || p->job_phase < JOB_READY ||
           chosen >= p->experts.artifact.bytes / (8 * d) ||
           p->options.model.put(p->options.model.self, &p->job, p->experts.weights + chosen * d, d,
                                final);
}

static enum status end_job(struct participant *p, const struct event *event, bool failed,
                           struct effects *effects)
{
    const bool unfit = p->job_phase == JOB_UNFIT;
    const bool waited = p->job_phase == JOB_WAITING;
    const bool refused = p->job_phase == JOB_REFUSED;
    bool kept = !p->model_owed;

    p->model_owed = false;
    p->declined = false;           /* a person's later yes does not begin it again */
    p->rounds_closed = ROUNDS_MAX; /* whatever their number is, all of them */
    participant_abandon_round(p);
    participant_enter_job(p, JOB_OVER);
    log_event(p->options.log, LOG_INFO, failed ? "job-failed" : "job-ended", NULL, "%s%s",
              failed ? "the job failed: too few agents answered, or an operator cancelled it"
                     : "the job is done",
              waited  ? "; it waited for a person until then"
              : unfit ? "; this agent took no part in it"
                      : "");
    site_note_offer(p, NULL);
    enum status status = participant_hello(p, event->now_ms, effects);
    if (status == STATUS_OK && p->options.once) {
        struct effect *finish = effects_add(effects, EFFECT_FINISH);
        if (finish == NULL) {
            return STATUS_NO_MEMORY;
        }
        finish->as.finish.exit_code = unfit || !kept                   ? EXIT_CODE_INPUT
                                      : refused || (waited && !failed) ? EXIT_CODE_REFUSED
                                      : failed                         ? EXIT_CODE_JOB_FAILED
                                                                       : EXIT_CODE_OK;
        p->finished = true;
    }
    return status;
}

enum status release_keep_model(struct participant *p, const struct event *event,
                               struct effects *effects)
{
    p->model_owed = !publish(p, p->final_chosen, true);
    participant_keep_later(p, event->now_ms);
    if (p->model_owed && !(p->options.once && p->keep_tries >= KEEP_TRIES_MAX)) {
        return STATUS_OK; /* the weights stay in memory, and the coordinator is not told of the end */
    }
    return end_job(p, event, false, effects);
}

static enum status keep_last_model(struct participant *p, const struct event *event,
                                   uint32_t chosen, struct effects *effects)
{
    p->final_chosen = chosen;
    p->keep_tries = 0;
    return release_keep_model(p, event, effects);
}

enum status release_on_model(struct participant *p, const struct event *event, bool good,
                             struct effects *effects)
{
    p->fetch_final = false;
    if (!good) {
        log_event(p->options.log, LOG_ERROR, "model-forged", p->coordinator.name,
                  "the job's model does not match its digest, or is not finite");
        return end_job(p, event, false, effects);
    }
    return keep_last_model(p, event, p->final_chosen, effects);
}

/* The round is over for us: what it left in memory and in the journal's blobs goes. */
static enum status close_round(struct participant *p, uint32_t round, bool ends,
                               struct effects *effects)
{
    struct gate_answer_view answer;
    enum status status = STATUS_OK;

    if (gate_latest(p->gate, &answer) && digest_equal(&answer.job, &p->name.id) &&
        answer.round <= round) {
        status = participant_outdate_answer(p);
        (void)gate_drop(p->gate);
    }
    if (status == STATUS_OK) {
        status = legs_drop_keys(p, &p->name.id, ends ? ROUNDS_MAX : round);
    }
    stale_forget(&p->stale, effects);
    if (p->round <= round || ends) { /* with the job all rounds end, whatever the number says */
        participant_abandon_round(p);
    }
    return status;
}

static enum status begin_final_fetch(struct participant *p, const struct event *event,
                                     const struct message *message, struct effects *effects)
{
    const struct artifact *experts = &message->as.release.experts;
    if (experts->bytes == 0) {
        return end_job(p, event, false, effects); /* a job of questions ends without a model */
    }
    if (experts->bytes % (8 * (uint64_t)round_width(&p->job)) != 0 ||
        experts->bytes > p->options.policy->message_bytes_max) {
        log_event(p->options.log, LOG_ERROR, "model-refused", p->coordinator.name,
                  "the job's model has a size that the job or the policy does not allow");
        return end_job(p, event, false, effects);
    }
    transfer_drop(&p->fetch);
    enum status status =
        transfer_begin(&p->fetch, experts->bytes, TRANSFER_FETCH_BYTES, event->now_ms);
    if (status != STATUS_OK) {
        return status;
    }
    p->fetching = experts->digest;
    p->fetch_final = true;
    p->final_chosen = message->as.release.chosen;
    return participant_ask(p, effects);
}

enum status release_on_message(struct participant *p, const struct event *event,
                               const struct message *message, struct effects *effects)
{
    uint32_t round = message->as.release.round;
    const bool ends = message->as.release.failed || message->as.release.last;
    bool held;
    enum status status;

    if (!digest_equal(&message->as.release.job, &p->name.id) ||
        (p->job_phase != JOB_READY && p->job_phase != JOB_REFUSED && p->job_phase != JOB_UNFIT &&
         !(p->job_phase == JOB_WAITING && ends)) ||
        p->fetch_final || p->model_owed || participant_is_deaf(p)) {
        return STATUS_OK;
    }
    if (p->job_phase != JOB_UNFIT && round >= job_round_count(&p->job)) {
        return STATUS_OK;
    }
    status = close_round(p, round, ends, effects);
    if (status != STATUS_OK) {
        return status;
    }
    if (message->as.release.failed || (message->as.release.last && p->job_phase != JOB_READY)) {
        return end_job(p, event, message->as.release.failed, effects);
    }
    held =
        message->as.release.experts.bytes > 0 && participant_holds(p, &message->as.release.experts);
    if (message->as.release.last && !held) {
        return begin_final_fetch(p, event, message, effects);
    }
    if (message->as.release.last) {
        return keep_last_model(p, event, message->as.release.chosen, effects);
    }
    if (held) {
        (void)publish(p, message->as.release.chosen, false);
    }
    if (round + 1 > p->rounds_closed) {
        p->rounds_closed = round + 1;
        return p->job_phase == JOB_REFUSED ? participant_decline(p, p->rounds_closed, effects)
                                           : STATUS_OK;
    }
    return STATUS_OK;
}
