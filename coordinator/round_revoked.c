/* What a changed allow-list does to a masked round. A site that is revoked before the survivors are named is none of them:
 * its answer is in the sum already, so all others are asked for theirs again, which are the same bytes. Once they are
 * named only the site itself can open its part: the round waits for it, and is lost without it. */

#include "coordinator/round_state.h"

#include <inttypes.h>
#include <string.h>

size_t coordinator_rank_of(const struct coordinator *c, const struct member *member)
{
    return masks_roster_rank(masks_host_roster(c->masks), member->peer.name);
}

/* Sites of the roster, or of the survivors once they are named. */
static bool counts(const struct coordinator *c, size_t rank)
{
    return masks_host_is_settled(c->masks) ? masks_set_has(masks_host_survivors(c->masks), rank)
                                           : rank < masks_host_roster(c->masks)->count;
}

bool coordinator_is_listed(const struct coordinator *c, const struct member *member)
{
    return counts(c, coordinator_rank_of(c, member));
}

/* A site that is revoked before there is a roster takes no part. */
static void drop_keys(struct coordinator *c)
{
    const struct masks_roster *roster = masks_host_roster(c->masks);
    for (size_t i = roster->count; i-- > 0;) {
        struct peer peer = {""};
        memcpy(peer.name, roster->site[i].name, sizeof peer.name);
        if (!cohort_admits(&c->cohort, peer.name)) {
            masks_host_drop_keys(c->masks, peer.name);
        }
    }
}

void coordinator_mark_unlisted(struct coordinator *c)
{
    if (c->masks == NULL || !masks_host_is_listed(c->masks)) {
        return;
    }
    for (size_t i = 0; i < c->cohort.count; i++) {
        struct member *member = &c->cohort.member[i];
        if (!coordinator_is_listed(c, member) && member->standing != STANDING_ANSWERED) {
            cohort_set_standing(&c->cohort, member, STANDING_UNLISTED);
        }
    }
}

size_t coordinator_list_revoked(const struct coordinator *c, const char **names)
{
    size_t count = 0;
    if (c->masks == NULL || !masks_host_is_listed(c->masks)) {
        return 0;
    }
    const struct masks_roster *roster = masks_host_roster(c->masks);
    for (size_t rank = 0; rank < roster->count; rank++) {
        if (counts(c, rank) && !cohort_admits(&c->cohort, roster->site[rank].name)) {
            names[count++] = roster->site[rank].name;
        }
    }
    return count;
}

/* The sum has answers of sites that are to be none of its survivors. */
static enum status gather_anew(struct coordinator *c, const struct event *event,
                               struct effects *effects)
{
    log_event(c->options.log, LOG_WARN, "answers-anew", NULL,
              "round %" PRIu32 ": an agent was revoked after it had answered: all others are asked "
              "for their answers again",
              c->outcome.rounds_closed + 1);
    cohort_gather_anew(&c->cohort);
    enum status status = aggregate_begin(&c->aggregate, c->aggregate.count, &c->aggregate.form);
    c->late = false;
    c->deadline_ms = event->now_ms + c->options.job->deadline_ms;
    for (size_t i = 0; i < c->cohort.count && status == STATUS_OK; i++) {
        struct member *member = &c->cohort.member[i];
        if (member->standing == STANDING_SILENT && member->ready) {
            status = coordinator_invite(c, member, event->now_ms, effects);
        }
    }
    return status;
}

/* The person who edits the list learns the cost while it can be undone. */
static void tell_revoked(const struct coordinator *c, const struct event *event)
{
    const char *names[MASKS_SITES_MAX];
    const size_t count = coordinator_list_revoked(c, names);
    for (size_t i = 0; i < count; i++) {
        if (masks_host_has_revealed(c->masks,
                                    masks_roster_rank(masks_host_roster(c->masks), names[i]))) {
            continue; /* it has done its part */
        }
        log_event(c->options.log, LOG_WARN, "survivor-revoked", names[i],
                  "is not admitted any more, and the sum of round %" PRIu32
                  " cannot be opened without it: admit it again within %" PRId64
                  " s, or the job fails",
                  c->outcome.rounds_closed + 1, (c->deadline_ms - event->now_ms) / 1000);
    }
}

enum status coordinator_note_revoked(struct coordinator *c, const struct event *event,
                                     struct effects *effects)
{
    if (c->masks == NULL) {
        return STATUS_OK;
    }
    if (!masks_host_is_listed(c->masks)) {
        drop_keys(c);
        return STATUS_OK;
    }
    bool has_answered = false;
    for (size_t i = 0; i < c->cohort.count; i++) {
        const struct member *member = &c->cohort.member[i];
        has_answered = has_answered || (!member->admitted && member->standing == STANDING_ANSWERED);
    }
    coordinator_mark_unlisted(c);
    if (masks_host_is_settled(c->masks)) {
        tell_revoked(c, event);
        return STATUS_OK;
    }
    return has_answered && c->phase == PHASE_OPEN ? gather_anew(c, event, effects) : STATUS_OK;
}
