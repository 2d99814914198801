/* What the journal keeps of a masked round, the roster and the survivors: taken back in a recovery, and forgotten once the round
 * is closed. */

#include "base/check.h"
#include "coordinator/round_state.h"

#include <stdlib.h>
#include <string.h>

void coordinator_drop_kept(struct coordinator *c)
{
    free(c->kept.roster);
    c->kept = (struct kept_masks){.roster = NULL};
}

void coordinator_free_masks(struct coordinator *c)
{
    masks_host_free(c->masks);
    c->masks = NULL;
    coordinator_drop_kept(c);
}

enum status coordinator_forget_masks(struct coordinator *c, uint32_t round)
{
    const bool over = c->kept.roster != NULL && c->kept.round <= round;
    const uint64_t sequence = c->kept.sequence;
    if (!over) {
        return STATUS_OK;
    }
    coordinator_drop_kept(c);
    return stale_add(&c->stale, sequence, false);
}

static bool is_this_round(const struct coordinator *c, uint32_t round)
{
    return c->kept.roster != NULL && c->kept.round == round;
}

enum status coordinator_restore_masks(struct coordinator *c, const struct record *record,
                                      uint64_t sequence, struct slice blob)
{
    if (record->kind == RECORD_SURVIVORS) {
        if (is_this_round(c, record->as.survivors.round)) {
            memcpy(c->kept.survivors.byte, record->as.survivors.set.byte, MASKS_SET_BYTES);
            c->kept.settled = true;
        }
        return STATUS_OK;
    }
    enum status status = coordinator_forget_masks(c, record->as.roster.round);
    if (status != STATUS_OK || blob.size == 0) {
        return status; /* its round is closed, or the journal's end says that it is not */
    }
    c->kept.roster = malloc(blob.size);
    if (c->kept.roster == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(c->kept.roster, blob.data, blob.size);
    c->kept.size = blob.size;
    c->kept.round = record->as.roster.round;
    c->kept.width = record->as.roster.width == MASKS_32 ? MASKS_32 : MASKS_64;
    c->kept.sequence = sequence;
    return STATUS_OK;
}

enum status coordinator_begin_masks(struct coordinator *c)
{
    const struct job *job = c->options.job;
    const struct masks_terms terms = {
        .job = c->outcome.job_name.id,
        .round = c->outcome.rounds_closed,
        .sites_least = job->cohort_min,
        .dishonest = job->dishonest,
        .honest = job->honest,
        .width = is_this_round(c, c->outcome.rounds_closed) ? c->kept.width : MASKS_64};
    CHECK(c->masks == NULL);
    enum status status = masks_host_new(&c->masks, &terms, &c->invitation);
    if (status == STATUS_OK && is_this_round(c, c->outcome.rounds_closed)) {
        status = masks_host_restore(c->masks, (struct slice){c->kept.roster, c->kept.size});
        if (status == STATUS_OK && c->kept.settled &&
            masks_host_settle(c->masks, &c->kept.survivors, NULL) != STATUS_OK) {
            status = STATUS_CORRUPT;
        }
    }
    return status;
}
