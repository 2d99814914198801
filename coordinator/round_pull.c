/* How answers come in: offered once, with the offer if they are small, else pulled piece by piece into one of a few staging
 * vectors, and added when they are whole and what was offered. Dead links and offers without bytes delay nobody. */

#include "coordinator/round_state.h"
#include "dp/encode.h"
#include "job/trust.h"

#include <inttypes.h>
#include <stdlib.h>

enum { STALLS_MAX = 3 }; /* vain tries to pull, when nobody waits */

static enum status ask(struct coordinator *c, const struct event *event, struct staging *staging,
                       struct effects *effects)
{
    struct message pull = {.kind = MESSAGE_PULL};
    enum status status = STATUS_OK;

    pull.as.pull.job = c->outcome.job_name.id;
    pull.as.pull.round = c->outcome.rounds_closed;
    while (status == STATUS_OK && event->now_ms >= coordinator_holds_until_ms(c, staging) &&
           transfer_ask(&staging->transfer, &pull.as.pull.offset, &pull.as.pull.length)) {
        status = coordinator_send(effects, &staging->peer, &pull, (struct slice){0});
    }
    return status;
}

/* Goes on with those that have waited for another. */
static enum status ask_held(struct coordinator *c, const struct event *event,
                            struct effects *effects)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < c->aggregate.staging_count && status == STATUS_OK; i++) {
        struct staging *staging = &c->aggregate.staging[i];
        if (staging->half_ms != 0 && transfer_is_active(&staging->transfer)) {
            status = ask(c, event, staging, effects);
        }
    }
    return status;
}

/* Puts waiting offers into free staging vectors, the longest waiting first. */
enum status coordinator_pull_next(struct coordinator *c, const struct event *event,
                                  struct effects *effects)
{
    struct member *member;
    if (c->phase == PHASE_OPEN) {
        const enum status status = ask_held(c, event, effects);
        if (status != STATUS_OK) {
            return status;
        }
    }
    while (c->phase == PHASE_OPEN && aggregate_has_room(&c->aggregate) &&
           (member = cohort_next_offer(&c->cohort)) != NULL) {
        struct staging *staging = NULL;
        enum status status = aggregate_pull(&c->aggregate, &staging, &member->peer,
                                            member->answer_bytes, event->now_ms);
        if (status == STATUS_AGAIN) {
            return STATUS_OK;
        }
        if (status == STATUS_OK) {
            staging->lost = member->lost;
            cohort_set_standing(&c->cohort, member, STANDING_PULLING);
            status = ask(c, event, staging, effects);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static void refuse(struct coordinator *c, struct member *member, const char *event,
                   const char *reason)
{
    cohort_set_standing(&c->cohort, member, STANDING_REFUSED);
    log_event(c->options.log, LOG_WARN, event, member->peer.name,
              "is not counted in round %" PRIu32 ": %s", c->outcome.rounds_closed + 1, reason);
}

/* An exact answer is kept nowhere: an agent that began anew since it offered has computed it again, and
 * where it tossed coins, it is another one. The last counts, until one is in the sum. */
static bool is_anew(const struct coordinator *c, const struct member *member,
                    const struct digest *answer)
{
    return trust_of(c->options.job)->exact_answers && !digest_equal(&member->answer, answer) &&
           (member->standing == STANDING_OFFERED || member->standing == STANDING_PULLING);
}

/* Where the job says a share, an answer is about as many records as its agent's dictionary makes of it:
 * at least those of the fewest that the job allows, and no more than those of the most, or a liar would
 * outweigh everybody else. The sums have room for them. */
static bool records_fit(const struct coordinator *c, uint32_t records)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(c->options.job, c->outcome.rounds_closed, &within);
    return stage->batch_nano == 0
               ? records == 0
               : records >= stage->batch && records <= round_batch(stage, stage->records_most) &&
                     job_batch_fits(c->options.job, stage, records, c->answers_max);
}

/* The agent clips an exact answer. One that is not clipped could make the exact sum wrap. A draw from
 * wrapped sums tells whether they wrapped, so the sender would learn about others' records. */
static bool is_clipped(const struct coordinator *c, const struct stage *stage, uint32_t within,
                       struct slice answer, const struct member *member)
{
    struct round_bounds bounds;
    struct stage own = *stage;
    own.batch = stage->batch_nano > 0 ? member->records : stage->batch;
    return !trust_of(c->options.job)->exact_answers ||
           (round_bounds(&bounds, c->options.job, &own, within, 1, c->outcome.expert_count, NULL) ==
                STATUS_OK &&
            aggregate_is_within(&c->aggregate, answer, bounds.low, bounds.high));
}

/* Where agents look by turns: how many of those in the sum have looked, by what their answers say without noise. An agent that lies
 * may say any number, so it is counted modulo 2^64. */
static uint64_t looks_in_sum(const struct coordinator *c, const struct stage *stage,
                             uint32_t within)
{
    const struct round_groups groups = round_groups(stage, within);
    uint64_t looks = 0;
    for (size_t g = 0; stage->turns > 0 && g < groups.count; g++) {
        looks += (uint64_t)aggregate_value(&c->aggregate, groups.count * groups.own + 2 * g + 1);
    }
    return looks;
}

/* The answer is whole: into the sum, if it is what was offered. */
static enum status count_answer(struct coordinator *c, struct member *member, struct slice answer)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(c->options.job, c->outcome.rounds_closed, &within);

    /* By the job; and those who were revoked after they answered count beside those admitted in their place. */
    if (coordinator_count_answered(c) >= c->answers_max) {
        refuse(c, member, "round-full", "its sum has as many answers as it has room for");
        return STATUS_OK;
    }
    if (collecting_has(&c->collecting, &member->peer)) {
        refuse(c, member, "answer-collected", "a collector has brought an answer of it");
        return STATUS_OK;
    }
    if (!is_clipped(c, stage, within, answer, member)) {
        refuse(c, member, "answer-unclipped", "its values are beyond what the job allows");
        return STATUS_OK;
    }
    if (stage->experts_own || stage->by_site) {
        member->own = malloc(c->aggregate.count * sizeof *member->own);
        if (member->own == NULL) {
            return STATUS_NO_MEMORY;
        }
    }
    const uint64_t looks = looks_in_sum(c, stage, within);
    const enum status status = aggregate_add(&c->aggregate, answer, &member->answer, member->own);
    if (status == STATUS_NO_MEMORY) {
        return status;
    }
    if (status != STATUS_OK) {
        free(member->own);
        member->own = NULL;
        refuse(c, member, "answer-forged", "its bytes do not match the digest it offered");
        return STATUS_OK;
    }
    cohort_set_standing(&c->cohort, member, STANDING_ANSWERED);
    member->looked = (int64_t)(looks_in_sum(c, stage, within) - looks) > 0;
    member->missed = 0;
    log_event(c->options.log, LOG_DEBUG, "answer-counted", member->peer.name,
              "is in the sum of round %" PRIu32, c->outcome.rounds_closed + 1);
    return STATUS_OK;
}

/* Returns how many bytes each number of an answer has; 0: it is no answer to this round. Earlier programs did not share rounds out:
 * such a round is in no other words than now, or a shorter answer of theirs in longer words could pass for one. */
static unsigned word_bytes_of(const struct coordinator *c, uint64_t bytes)
{
    const unsigned word_bytes = encode_word_bytes_of(bytes, c->aggregate.count);
    const bool wrong =
        (coordinator_is_masked(c) && 8 * word_bytes != (unsigned)masks_host_width(c->masks)) ||
        (coordinator_shares_out(c) && word_bytes != c->aggregate.form.word_bytes);
    return wrong ? 0 : word_bytes;
}

enum status coordinator_on_offer(struct coordinator *c, const struct event *event,
                                 struct member *member, const struct message *message,
                                 struct effects *effects)
{
    const struct digest *answer = &message->as.offer.answer;

    if (!digest_equal(&message->as.offer.job, &c->outcome.job_name.id)) {
        return STATUS_OK;
    }
    if (message->as.offer.round < c->outcome.rounds_closed) {
        cohort_note_life(member);
        return coordinator_release(c, member, effects); /* late, or repeated */
    }
    if (c->phase != PHASE_OPEN || message->as.offer.round != c->outcome.rounds_closed) {
        return STATUS_OK;
    }
    if (is_anew(c, member, answer)) {
        struct staging *staging = aggregate_find(&c->aggregate, &member->peer);
        if (staging != NULL) {
            aggregate_drop(staging);
            member->turns++; /* or it could begin its turn anew for ever */
        }
        cohort_set_standing(&c->cohort, member, STANDING_SILENT);
    }
    if (member->standing != STANDING_SILENT) {
        bool bound = member->standing <= STANDING_ANSWERED;
        if (bound && !digest_equal(&member->answer, answer)) {
            log_event(c->options.log, LOG_WARN, "offer-changed", member->peer.name,
                      "offered a second, different answer to round %" PRIu32
                      ": the first one counts",
                      c->outcome.rounds_closed + 1);
        }
        return STATUS_OK;
    }
    if (!digest_equal(&message->as.offer.invitation, &c->invitation)) {
        refuse(c, member, "offer-refused", "it answers another invitation");
        return STATUS_OK;
    }
    const unsigned word_bytes = word_bytes_of(c, message->as.offer.bytes);
    if (word_bytes == 0) {
        refuse(c, member, "offer-refused", "its answer has the wrong dimension");
        return STATUS_OK;
    }
    /* As it was recorded: by a program whose rules for it may have been others. */
    if (message->as.offer.shift != aggregate_shift(&c->aggregate, word_bytes)) {
        refuse(c, member, "offer-refused",
               "its numbers count other steps than the job's text says");
        return STATUS_OK;
    }
    if (!records_fit(c, message->as.offer.records)) {
        refuse(c, member, "offer-refused", "it is about more or fewer records than the job allows");
        return STATUS_OK;
    }
    cohort_set_standing(&c->cohort, member, STANDING_OFFERED);
    member->answer = *answer;
    member->answer_bytes = message->as.offer.bytes;
    member->records = message->as.offer.records;
    member->offered_ms = event->now_ms;
    if (event->as.message.payload.size == 0) {
        return STATUS_OK; /* pulled at the end of the step */
    }
    return count_answer(c, member, event->as.message.payload);
}

enum status coordinator_on_chunk(struct coordinator *c, const struct event *event,
                                 struct member *member, const struct message *message,
                                 struct effects *effects)
{
    struct staging *staging = aggregate_find(&c->aggregate, &member->peer);

    if (c->phase != PHASE_OPEN || staging == NULL || member->standing != STANDING_PULLING ||
        message->as.chunk.round != c->outcome.rounds_closed ||
        !digest_equal(&message->as.chunk.job, &c->outcome.job_name.id) ||
        !transfer_accept(&staging->transfer, message->as.chunk.offset, event->as.message.payload,
                         event->now_ms)) {
        return STATUS_OK;
    }
    aggregate_note_piece(&c->aggregate, staging, event->now_ms);
    if (!transfer_is_whole(&staging->transfer)) {
        return ask(c, event, staging, effects);
    }
    const struct slice answer = {staging->transfer.data, (size_t)staging->transfer.bytes};
    const enum status status = count_answer(c, member, answer);
    aggregate_clear(&c->aggregate, staging);
    return status;
}

/* The place goes to an agent that waits. Its former holder begins anew, after those that lost a place
 * less often. */
static void put_back(struct coordinator *c, const struct event *event, struct staging *staging,
                     struct member *member, bool lost)
{
    log_event(c->options.log, LOG_WARN, "answer-stalled", member->peer.name,
              "sent %" PRIu64 " of %" PRIu64 " bytes in %" PRId64 " ms, the latest %" PRId64
              " ms ago: others go first",
              staging->transfer.received, staging->transfer.bytes,
              event->now_ms - staging->began_ms, event->now_ms - staging->transfer.progress_ms);
    cohort_set_standing(&c->cohort, member, STANDING_OFFERED);
    member->offered_ms = event->now_ms;
    member->turns++;
    member->lost += lost;
    aggregate_drop(staging);
}

/* One transfer. Nothing came for a while: it is asked for again, and put back in the queue when that does
 * not help. Somebody waits for its place: it is put back as well when its turn is over, or when it is too
 * slow to be done by then. Dead links, idle promises and trickles hold nobody up. */
static enum status check_one(struct coordinator *c, const struct event *event,
                             struct staging *staging, size_t *waiting, struct effects *effects)
{
    struct member *member = cohort_find(&c->cohort, &staging->peer);
    enum status status = STATUS_OK;

    if (member == NULL) {
        aggregate_drop(staging);
        return STATUS_OK;
    }
    bool silent = event->now_ms - staging->transfer.progress_ms >= PULL_RETRY_MS;
    bool over = *waiting > 0 && (silent || event->now_ms >= coordinator_turn_ends_ms(c, staging));
    if (silent) {
        /* It may have begun anew and not know that it offered: the same question, the same bytes.
         */
        status = coordinator_invite(c, member, event->now_ms, effects);
        staging->stalls++;
    }
    if (over || staging->stalls >= STALLS_MAX) {
        const bool lost = *waiting > 0;
        *waiting -= lost;
        put_back(c, event, staging, member, lost);
    } else if (silent) {
        transfer_retry(&staging->transfer, event->now_ms);
        status = status == STATUS_OK ? ask(c, event, staging, effects) : status;
    }
    return status;
}

enum status coordinator_check_stalls(struct coordinator *c, const struct event *event,
                                     struct effects *effects)
{
    size_t waiting = cohort_count(&c->cohort, STANDING_OFFERED);
    enum status status = STATUS_OK;

    for (size_t i = 0; i < c->aggregate.staging_count && status == STATUS_OK; i++) {
        struct staging *staging = &c->aggregate.staging[i];
        if (transfer_is_active(&staging->transfer)) {
            status = check_one(c, event, staging, &waiting, effects);
        }
    }
    return status;
}

int64_t coordinator_stalls_ms(const struct coordinator *c)
{
    bool somebody_waits = cohort_count(&c->cohort, STANDING_OFFERED) > 0;
    int64_t wake = INT64_MAX;

    for (size_t i = 0; i < c->aggregate.staging_count; i++) {
        const struct staging *staging = &c->aggregate.staging[i];
        if (!transfer_is_active(&staging->transfer)) {
            continue;
        }
        int64_t due = staging->transfer.progress_ms + PULL_RETRY_MS;
        const int64_t held_ms = coordinator_holds_until_ms(c, staging);
        if (held_ms != INT64_MIN && staging->transfer.asked == staging->transfer.received) {
            due = machine_earlier(due, held_ms);
        }
        if (somebody_waits && coordinator_turn_ends_ms(c, staging) < due) {
            due = coordinator_turn_ends_ms(c, staging);
        }
        wake = due < wake ? due : wake;
    }
    return wake;
}
