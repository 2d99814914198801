/* Where sites share a round out: who took part in the round before, and who of these has yet to look, by its record. */

#include "base/text.h"
#include "job/round.h"
#include "task/outcome.h"

#include <stdlib.h>
#include <string.h>

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

/* Whether there is a next round, and it has more groups than one. */
static bool next_is_shared(const struct outcome *outcome, const struct job *job)
{
    uint32_t within;
    if (outcome->finished) {
        return false;
    }
    const struct stage *stage = job_stage_of(job, outcome->rounds_closed, &within);
    return round_groups(stage, within).count > 1;
}

enum status turn_keep(struct outcome *outcome, const struct job *job, const struct stage *stage,
                      uint32_t within, const struct record *record)
{
    const bool last = stage->turns == 0 || (within + 1) % stage->turns == 0;
    turn_forget(outcome);
    if (!next_is_shared(outcome, job)) {
        return STATUS_OK;
    }
    const enum status status = copy_sorted(&outcome->took, &outcome->took_count,
                                           record->as.round.agent, record->as.round.agent_count);
    return status == STATUS_OK && !last
               ? copy_sorted(&outcome->away, &outcome->away_count, record->as.round.away,
                             record->as.round.away_count)
               : status;
}

static const struct peer *find_peer(const struct peer *list, size_t count, const struct peer *peer)
{
    return count == 0 ? NULL : bsearch(peer, list, count, sizeof *list, text_order);
}

bool outcome_took(uint32_t *place, const struct outcome *outcome, const struct peer *peer)
{
    const struct peer *took = find_peer(outcome->took, outcome->took_count, peer);
    *place = took != NULL ? (uint32_t)(took - outcome->took) : 0;
    return took != NULL;
}

enum outcome_turn outcome_turn_of(uint32_t *place, const struct outcome *outcome,
                                  const struct peer *peer)
{
    const struct peer *away = find_peer(outcome->away, outcome->away_count, peer);
    if (away != NULL) {
        *place = (uint32_t)(away - outcome->away);
        return OUTCOME_TURN_NOW;
    }
    return find_peer(outcome->took, outcome->took_count, peer) != NULL ? OUTCOME_TURN_OVER
                                                                       : OUTCOME_TURN_NEW;
}
