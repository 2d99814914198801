/* What all agents are told at once: a round's release, and the invitation to the next. A step has room for some hundred
 * messages, and there may be 10,000 agents. An agent that is not told in this step is told in the next, which comes as soon as
 * the loop has heard others; a large input goes out at a limited pace. What an agent says meanwhile may be answered
 * first: then it is told already. And what a person who watches hears of a round that has closed: one line, with its figures for
 * programs. */

#include "coordinator/round_state.h"

#include "base/decimal.h"
#include "job/terms.h"
#include "task/close.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOLD_MS = 200, EFFECTS_SPARE = 32 /* of a step's room, for what else it has to do */ };

void coordinator_tell_all(struct coordinator *c, enum telling what)
{
    for (size_t i = 0; i < c->cohort.count; i++) {
        struct member *member = &c->cohort.member[i];
        const bool tells = what == TELL_INVITE ? member->ready : member->admitted && member->seen;
        cohort_mark_untold(&c->cohort, member, what, tells);
    }
}

static bool has_room(const struct effects *effects)
{
    return effects->count + EFFECTS_SPARE < EFFECTS_MAX &&
           effects->control_size - effects->control_used >= 2 * CONTROL_BYTES_MAX;
}

/* What the transport has to hold for one: what goes with the message, or the first piece of what it makes an agent fetch. */
static uint64_t weight_of(const struct effects *effects, size_t before, uint64_t bytes)
{
    const size_t with =
        effects->count > before ? effects->item[effects->count - 1].as.send.payload.size : 0;
    return with > 0 ? with : bytes < CHUNK_BYTES_MAX ? bytes : CHUNK_BYTES_MAX;
}

/* A round that is over, or that it has answered meanwhile, needs no invitation. */
static bool is_to_be_invited(const struct coordinator *c, const struct member *member)
{
    return (c->phase == PHASE_OPEN || c->phase == PHASE_KEYING) && member->ready &&
           (member->standing == STANDING_SILENT || member->standing == STANDING_UNLISTED) &&
           coordinator_count_answered(c) < c->answers_max; /* else it would pay for nothing */
}

static enum status tell(struct coordinator *c, struct member *member, enum telling what,
                        int64_t now_ms, struct effects *effects)
{
    const size_t before = effects->count;
    enum status status = STATUS_OK;
    uint64_t bytes = 0;
    cohort_mark_untold(&c->cohort, member, what, false);
    if (what == TELL_RELEASE) {
        status = coordinator_release(c, member, effects);
        bytes = c->outcome.artifact.bytes;
    } else if (is_to_be_invited(c, member)) {
        status = coordinator_invite(c, member, now_ms, effects);
        bytes = coordinator_input_of(c).bytes;
    } else {
        return STATUS_OK;
    }
    c->telling_bytes += weight_of(effects, before, bytes);
    return status;
}

static void renew_pace(struct coordinator *c, int64_t now_ms)
{
    if (now_ms - c->telling_ms >= TELL_MS) {
        c->telling_ms = now_ms;
        c->telling_bytes = 0;
    }
}

enum status coordinator_tell_again(struct coordinator *c, struct member *member, int64_t now_ms,
                                   struct effects *effects)
{
    renew_pace(c, now_ms);
    if (c->telling_bytes < TELL_BYTES_MAX && has_room(effects)) {
        return tell(c, member, TELL_INVITE, now_ms, effects);
    }
    cohort_mark_untold(&c->cohort, member, TELL_INVITE, true);
    return STATUS_OK;
}

static bool may_tell(const struct coordinator *c, const struct effects *effects)
{
    return c->telling_bytes < TELL_BYTES_MAX && has_room(effects);
}

/* A collector hears of a round's record first, and with the next look that another round is open: its agents are told of both at
 * once. If no round is opened, they are told of the release. */
static bool holds(const struct coordinator *c, int64_t now_ms)
{
    return coordinator_collects(c) && c->phase == PHASE_FOLLOWING && !c->outcome.finished &&
           now_ms < c->followed_ms + HOLD_MS;
}

/* An agent that is told of a release is invited right after. The transport sends both at once, which halves its work in a round
 * of thousands. */
enum status coordinator_tell_next(struct coordinator *c, int64_t now_ms, struct effects *effects)
{
    enum status status = STATUS_OK;
    renew_pace(c, now_ms);
    for (int what = 0; what < TELL_COUNT && !holds(c, now_ms); what++) {
        struct member *member = NULL;
        while (status == STATUS_OK && may_tell(c, effects) &&
               (member = cohort_next_untold(&c->cohort, (enum telling)what)) != NULL) {
            status = tell(c, member, (enum telling)what, now_ms, effects);
            if (status == STATUS_OK && member->untold[TELL_INVITE] && may_tell(c, effects)) {
                status = tell(c, member, TELL_INVITE, now_ms, effects);
            }
        }
    }
    return status;
}

int64_t coordinator_tells_ms(const struct coordinator *c)
{
    size_t untold = 0;
    for (int what = 0; what < TELL_COUNT; what++) {
        untold += c->cohort.untold[what];
    }
    return untold == 0                         ? INT64_MAX
           : holds(c, c->stepped_ms)           ? c->followed_ms + HOLD_MS
           : c->telling_bytes < TELL_BYTES_MAX ? c->stepped_ms
                                               : c->telling_ms + TELL_MS;
}

static bool makes_models(const struct job *job)
{
    bool makes = false;
    for (size_t i = 0; i < job->stage_count; i++) {
        makes = makes || job_makes_experts(&job->stage[i]);
    }
    return makes;
}

/* The model so far in a few words: a person waits for it, and sees that steps are made meanwhile. */
static void describe_model(char *text, size_t size, const struct coordinator *c,
                           const struct record *record)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(c->options.job, record->as.round.round, &within);
    if (c->outcome.expert_count > 0) {
        (void)snprintf(text, size, "%s", c->outcome.expert[record->as.round.chosen].name);
    } else if (task_close(c->options.job, stage)->keeps_state) {
        (void)snprintf(text, size, "being learned, round %" PRIu32 " of %" PRIu32, within + 1,
                       stage->rounds);
    } else if (makes_models(c->options.job)) {
        (void)snprintf(text, size, "none yet");
    } else {
        (void)snprintf(text, size, "none: the job asks for no model");
    }
}

/* What the round's task has decided, where a state is learned: what results say of the round, while a person waits. Returns NULL
 * if there is nothing, or no memory. Caller owns it. */
static char *describe_state(const struct coordinator *c, const struct stage *stage,
                            const struct record *record)
{
    const struct job *job = c->options.job;
    const struct task_close *kind = task_close(job, stage);
    struct outcome_round round = {.task = stage->task, .round = record->as.round.round};
    if (!kind->keeps_state || kind->describe == NULL ||
        kind->describe(&round, &c->outcome, job, stage, record) != STATUS_OK) {
        free(round.note);
        return NULL;
    }
    return round.note;
}

void coordinator_tell_closed(const struct coordinator *c, const struct record *record)
{
    uint32_t within;
    uint32_t round = record->as.round.round;
    const struct stage *stage = job_stage_of(c->options.job, round, &within);
    const struct job *job = c->options.job;
    const struct cost sums = round_cost(job, &job->filter, round + 1);
    const struct price spent = terms_price(&job->filter, &sums);
    char epsilon[DECIMAL_TEXT_BYTES];
    char delta[DECIMAL_TEXT_BYTES];
    char model[OUTCOME_NAME_BYTES];

    if (record->as.round.failed) {
        return;
    }
    describe_model(model, sizeof model, c, record);
    char *said = describe_state(c, stage, record);
    decimal_format(epsilon, sizeof epsilon, spent.epsilon_micro, EPSILON_DECIMALS);
    decimal_format(delta, sizeof delta, spent.delta_atto, DELTA_DECIMALS);
    const struct log_field field[] = {
        {.name = "stage", .text = task_name(stage->task)},
        {.name = "round", .number = round + 1},
        {.name = "rounds", .number = job_round_count(c->options.job)},
        {.name = "agents", .number = record->as.round.agent_count},
        {.name = "records", .number = (double)closing_records(stage, record)},
        {.name = "epsilon", .number = (double)spent.epsilon_micro / 1e6},
        {.name = "delta", .number = (double)spent.delta_atto / 1e18},
        {.name = "seconds", .number = record->as.round.duration_ms / 1000.0},
        {.name = "model", .text = model}};
    log_event_fields(c->options.log, LOG_INFO, "round-closed", field,
                     sizeof field / sizeof field[0],
                     "%s round %" PRIu32 " of %" PRIu32 ": %" PRIu32
                     " agents, epsilon %s%s%s so far, %.2f s, model: %s%s%s",
                     task_name(stage->task), round + 1, job_round_count(c->options.job),
                     record->as.round.agent_count, epsilon, spent.delta_atto > 0 ? " delta " : "",
                     spent.delta_atto > 0 ? delta : "", record->as.round.duration_ms / 1000.0,
                     model, said == NULL ? "" : "; ", said == NULL ? "" : said);
    free(said);
}
