/* What an outcome keeps of what is past. */

#include "task/outcome.h"

#include "base/text.h"
#include "job/reach.h"
#include "job/round.h"
#include "task/close.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t shown_most(const struct outcome *outcome)
{
    const size_t most = outcome->expert_count == 0 ? OUTCOME_SHOWN_ROUNDS
                                                   : OUTCOME_SHOWN_NUMBERS / outcome->expert_count;
    return most > OUTCOME_SHOWN_ROUNDS ? OUTCOME_SHOWN_ROUNDS : most < 4 ? 4 : most;
}

/* Keeps those rounds that are a multiple of the stride, and the one with answers. */
static void thin_out(struct outcome *outcome)
{
    size_t kept = 0;
    for (size_t i = 0; i < outcome->round_count; i++) {
        const struct outcome_round *round = &outcome->round[i];
        if (round->round % outcome->stride == 0 || round->answer_count > 0) {
            outcome->round[kept++] = outcome->round[i];
        } else {
            outcome_round_free(&outcome->round[i]);
        }
    }
    outcome->round_count = kept;
}

/* Before another round is added: the latest one so far stays if its turn is. */
static void make_room_for_shown(struct outcome *outcome)
{
    thin_out(outcome);
    while (outcome->round_count >= shown_most(outcome)) {
        outcome->stride *= 2;
        thin_out(outcome);
    }
}

/* A reader sees the first answers of the latest round that has any: the ones before are let go. */
static void keep_latest_answers(struct outcome *outcome)
{
    struct outcome_round *latest = &outcome->round[outcome->round_count - 1];
    if (latest->answer_count == 0) {
        return;
    }
    for (struct outcome_round *round = outcome->round; round < latest; round++) {
        free(round->answer);
        round->answer = NULL;
        round->answer_count = 0;
    }
    if (latest->answer_count > OUTCOME_SHOWN_ANSWERS) {
        struct query_answer *fewer = realloc(latest->answer, OUTCOME_SHOWN_ANSWERS * sizeof *fewer);
        latest->answer = fewer != NULL ? fewer : latest->answer;
        latest->answer_count = OUTCOME_SHOWN_ANSWERS;
    }
}

enum status history_add_round(struct outcome *outcome, const struct job *job,
                              const struct stage *stage, const struct record *record)
{
    const bool shows = outcome->history == OUTCOME_SHOWS;
    if (shows) {
        make_room_for_shown(outcome);
    }
    struct outcome_round *grown =
        realloc(outcome->round, (outcome->round_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return STATUS_NO_MEMORY;
    }
    outcome->round = grown;
    struct outcome_round *round = &grown[outcome->round_count];
    *round = (struct outcome_round){.task = stage->task,
                                    .round = record->as.round.round,
                                    .agent_count = record->as.round.agent_count,
                                    .records = record->as.round.records,
                                    .failed = record->as.round.failed,
                                    .chosen = record->as.round.chosen,
                                    .expert_count = outcome->expert_count,
                                    .seconds = record->as.round.duration_ms / 1000.0,
                                    .weight_noise = NAN,
                                    .regret_average = NAN,
                                    .regret_bound = NAN};
    outcome->round_count++;
    if (!shows) { /* what it spent takes as long as the job is: nothing to draw */
        const bool paid = !record->as.round.failed || record->as.round.agent_count > 0;
        round->epsilon_micro =
            outcome_epsilon_micro(job, record->as.round.round + (paid ? 1U : 0U));
    }
    const struct task_close *kind = task_close(job, stage);
    const bool is_described =
        !round->failed && kind->describe != NULL &&
        (!shows || (kind->is_shown && outcome->expert_count <= OUTCOME_SHOWN_EXPERTS));
    const enum status status =
        is_described ? kind->describe(round, outcome, job, stage, record) : STATUS_OK;
    if (shows && status == STATUS_OK) {
        keep_latest_answers(outcome);
    }
    return status;
}

/* There is room for a power of two of agents. */
static bool history_has_room(struct outcome *outcome)
{
    const size_t count = outcome->agent_count;
    if (count > 0 && (count & (count - 1)) != 0) {
        return true;
    }
    struct outcome_agent *grown =
        realloc(outcome->agent, (count > 0 ? 2 * count : 1) * sizeof *grown);
    outcome->agent = grown != NULL ? grown : outcome->agent;
    return grown != NULL;
}

/* Returns the agent of that name, a new one where there is none; NULL without memory. Rounds name their agents in the order
 * of their names: those of the first round come in at the end, and nothing is moved. */
static struct outcome_agent *history_agent(struct outcome *outcome, const struct peer *peer)
{
    struct outcome_agent *agent =
        outcome->agent_count == 0
            ? NULL
            : bsearch(peer, outcome->agent, outcome->agent_count, sizeof *agent, text_order);
    if (agent != NULL || !history_has_room(outcome)) {
        return agent;
    }
    agent = &outcome->agent[outcome->agent_count++];
    for (; agent > outcome->agent && text_order(agent - 1, peer) > 0; agent--) {
        *agent = agent[-1];
    }
    *agent = (struct outcome_agent){.peer = *peer};
    return agent;
}

enum status history_add_agents(struct outcome *outcome, const struct job *job,
                               const struct stage *stage, uint32_t within,
                               const struct record *record)
{
    const uint32_t pass = record->as.round.round - within + reach_pass(job, stage, within) + 1;
    const struct cost cost = reach_event_cost(&job->filter, stage->charge);

    for (size_t i = 0; i < record->as.round.agent_count; i++) {
        struct outcome_agent *agent = history_agent(outcome, &record->as.round.agent[i]);
        if (agent == NULL) {
            return STATUS_NO_MEMORY;
        }
        agent->answers++;
        if (agent->last_pass != pass) {
            agent->spent = cost_add(agent->spent, cost);
        }
        agent->last_pass = pass;
    }
    return STATUS_OK;
}

/* Where sites share the next round out: who took part in the one before, and who of them has yet to look. */

void turn_forget(struct outcome *outcome)
{
    free(outcome->took);
    free(outcome->away);
    outcome->took = outcome->away = NULL;
    outcome->took_count = outcome->away_count = 0;
}

static enum status copy_sorted(struct peer **to, size_t *count, const struct peer *from,
                               size_t size)
{
    *to = malloc((size + 1) * sizeof **to);
    if (*to == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (size > 0) {
        memcpy(*to, from, size * sizeof **to);
    }
    qsort(*to, size, sizeof **to, text_order);
    *count = size;
    return STATUS_OK;
}

enum status turn_keep(struct outcome *outcome, const struct job *job, const struct record *record)
{
    uint32_t within;
    turn_forget(outcome);
    if (outcome->finished) {
        return STATUS_OK;
    }
    const struct stage *next = job_stage_of(job, outcome->rounds_closed, &within);
    if (round_groups(next, within).count <= 1) {
        return STATUS_OK;
    }
    const enum status status = copy_sorted(&outcome->took, &outcome->took_count,
                                           record->as.round.agent, record->as.round.agent_count);
    return status == STATUS_OK && next->turns > 0 && within > 0
               ? copy_sorted(&outcome->away, &outcome->away_count, record->as.round.away,
                             record->as.round.away_count)
               : status;
}

static const struct peer *find_peer(const struct peer *list, size_t count, const struct peer *peer)
{
    return count == 0 ? NULL : bsearch(peer, list, count, sizeof *list, text_order);
}

enum outcome_turn outcome_turn_of(uint32_t *place, const struct outcome *outcome,
                                  const struct peer *peer)
{
    const struct peer *away = find_peer(outcome->away, outcome->away_count, peer);
    const struct peer *took = find_peer(outcome->took, outcome->took_count, peer);
    if (away != NULL) {
        *place = (uint32_t)(away - outcome->away);
        return OUTCOME_TURN_NOW;
    }
    if (took != NULL) {
        *place = (uint32_t)(took - outcome->took);
        return OUTCOME_TURN_OVER;
    }
    return OUTCOME_TURN_NEW;
}
