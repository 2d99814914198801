/* What a person who watches hears of a round that has closed: one line, with its figures for programs. */

#include "base/decimal.h"
#include "coordinator/round_state.h"
#include "job/terms.h"
#include "task/close.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
