/* Where sites share the next round out: who took part in the one before, and who of them has yet to look. */

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
