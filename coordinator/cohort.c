#include "coordinator/cohort.h"

#include "base/bytes.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static void member_clear(struct member *member)
{
    free(member->own);
    member->own = NULL;
    bytes_wipe(&member->answer, sizeof member->answer);
}

void cohort_forget_answers(struct cohort *cohort)
{
    for (size_t i = 0; i < cohort->count; i++) {
        bytes_wipe(&cohort->member[i].answer, sizeof cohort->member[i].answer);
    }
}

void cohort_free(struct cohort *cohort)
{
    for (size_t i = 0; i < cohort->count; i++) {
        member_clear(&cohort->member[i]);
    }
    free(cohort->member);
    *cohort = (struct cohort){0};
}

/* The list has changed, or several members at once. */
static void recount(struct cohort *cohort)
{
    memset(cohort->standing, 0, sizeof cohort->standing);
    cohort->admitted = cohort->seen = cohort->ready = cohort->settling = 0;
    cohort->refusing = 0;
    cohort->awaited = cohort->behind = 0;
    memset(cohort->untold, 0, sizeof cohort->untold);
    memset(cohort->untold_next, 0, sizeof cohort->untold_next);
    for (size_t i = 0; i < cohort->count; i++) {
        const struct member *member = &cohort->member[i];
        cohort->standing[member->standing]++;
        cohort->admitted += member->admitted;
        cohort->seen += member->seen;
        cohort->ready += member->admitted && member->ready;
        cohort->refusing += member->admitted && member->declines > 0;
        cohort->settling += member->admitted && member->seen && !member->was_ready;
        for (int what = 0; what < TELL_COUNT; what++) {
            cohort->untold[what] += member->untold[what];
        }
    }
}

void cohort_set_standing(struct cohort *cohort, struct member *member, enum standing standing)
{
    cohort->standing[member->standing]--;
    cohort->standing[standing]++;
    member->standing = standing;
}

void cohort_mark_untold(struct cohort *cohort, struct member *member, enum telling what,
                        bool untold)
{
    cohort->untold[what] = cohort->untold[what] - member->untold[what] + untold;
    member->untold[what] = untold;
}

struct member *cohort_next_untold(struct cohort *cohort, enum telling what)
{
    size_t *next = &cohort->untold_next[what];
    for (size_t i = 0; i < cohort->count && cohort->untold[what] > 0; i++) {
        if (cohort->member[*next].untold[what]) {
            return &cohort->member[*next];
        }
        *next = (*next + 1) % cohort->count;
    }
    *next = 0;
    return NULL;
}

static struct member *find_any(const struct cohort *cohort, const struct peer *peer)
{
    return cohort->count == 0
               ? NULL
               : bsearch(peer, cohort->member, cohort->count, sizeof *cohort->member, text_order);
}

struct member *cohort_find(struct cohort *cohort, const struct peer *peer)
{
    struct member *member = find_any(cohort, peer);
    return member != NULL && member->admitted ? member : NULL;
}

bool cohort_has_answered(const struct cohort *cohort, const struct peer *peer)
{
    const struct member *member = find_any(cohort, peer);
    return member != NULL && member->standing == STANDING_ANSWERED;
}

bool cohort_admits(const struct cohort *cohort, const char *name)
{
    struct peer peer = {""};
    memcpy(peer.name, name, strlen(name) + 1);
    const struct member *member = find_any(cohort, &peer);
    return member != NULL && member->admitted;
}

enum status cohort_set_roster(struct cohort *cohort, const struct job *job, const struct peer *peer,
                              size_t count)
{
    struct member *grown = calloc(cohort->count + count + 1, sizeof *grown);
    size_t used = 0;

    if (grown == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < cohort->count; i++) {
        cohort->member[i].admitted = false;
    }
    for (size_t i = 0; i < count; i++) {
        struct member *known = find_any(cohort, &peer[i]);
        if (!job_asks(job, peer[i].name)) {
            continue;
        }
        if (known == NULL) {
            grown[used++] = (struct member){.peer = peer[i], .admitted = true};
        } else {
            known->admitted = true;
        }
    }
    for (size_t i = 0; i < cohort->count; i++) {
        struct member *member = &cohort->member[i];
        member->doubled = member->admitted ? member->doubled : 0; /* if it is back, it is tried */
        if (member->admitted || member->standing == STANDING_ANSWERED) {
            grown[used++] = *member;
        } else {
            member_clear(member);
        }
    }
    qsort(grown, used, sizeof *grown, text_order);
    cohort_forget_answers(cohort);
    free(cohort->member);
    cohort->member = grown;
    cohort->count = used;
    recount(cohort);
    return STATUS_OK;
}

void cohort_begin_round(struct cohort *cohort)
{
    size_t used = 0;
    cohort->slots = 0;
    for (size_t i = 0; i < cohort->count; i++) {
        struct member *member = &cohort->member[i];
        member_clear(member);
        member->standing = member->declines > 0 ? STANDING_DECLINED : STANDING_SILENT;
        member->invited = false;
        member->slot = 0;
        member->looked = false;
        member->untold[TELL_INVITE] = false;
        member->handed = false;
        member->part = 0;
        member->turns = 0;
        member->lost = 0;
        if (member->admitted) {
            cohort->member[used++] = *member;
        }
    }
    cohort->count = used;
    recount(cohort);
}

void cohort_gather_anew(struct cohort *cohort)
{
    size_t used = 0;
    for (size_t i = 0; i < cohort->count; i++) {
        struct member *member = &cohort->member[i];
        if (member->standing <= STANDING_ANSWERED) {
            member_clear(member);
            member->standing = STANDING_SILENT;
        }
        if (member->admitted) {
            cohort->member[used++] = *member;
        }
    }
    cohort->count = used;
    recount(cohort);
}

size_t cohort_count(const struct cohort *cohort, enum standing standing)
{
    return cohort->standing[standing];
}

size_t cohort_count_ready(const struct cohort *cohort)
{
    return cohort->ready;
}

/* Whom rounds have given up comes after all others: it may be one that trickles, or that was cut for an attack. */
static bool is_given_up(const struct member *member)
{
    return member->cut || member->missed >= MISSED_MAX;
}

/* Returns whether a round that is open waits for a member. It does not wait for one that has answered,
 * declined or been refused; that was cut for an attack; that MISSED_MAX rounds have waited for in vain; and
 * that is present but has not been ready yet, settle_ms after its first HELLO. An answer of such a member
 * counts all the same while the round is open. */
static bool awaits(const struct member *member, int64_t now_ms, uint32_t settle_ms)
{
    bool settled = member->seen && !member->was_ready && now_ms >= member->first_ms + settle_ms;
    return member->admitted && member->standing < STANDING_ANSWERED && !is_given_up(member) &&
           !settled;
}

/* The round is not complete while one is awaited: so the last one found is looked at first, and the others only when it
 * is awaited no longer. */
bool cohort_is_complete(struct cohort *cohort, int64_t now_ms, uint32_t settle_ms)
{
    for (size_t i = 0; i < cohort->count; i++) {
        if (awaits(&cohort->member[cohort->awaited], now_ms, settle_ms)) {
            return false;
        }
        cohort->awaited = (cohort->awaited + 1) % cohort->count;
    }
    return cohort->admitted > 0;
}

bool cohort_all_know(struct cohort *cohort, uint32_t rounds_closed)
{
    for (size_t i = 0; i < cohort->count; i++) {
        const struct member *member = &cohort->member[cohort->behind];
        if (member->admitted && member->rounds_closed < rounds_closed) {
            return false;
        }
        cohort->behind = (cohort->behind + 1) % cohort->count;
    }
    return cohort->count > 0;
}

/* A member that is not admitted has answered. */
size_t cohort_count_possible(const struct cohort *cohort)
{
    size_t count = cohort->standing[STANDING_KEYED];
    for (size_t standing = 0; standing <= STANDING_ANSWERED; standing++) {
        count += cohort->standing[standing];
    }
    return count;
}

void cohort_note_missed(struct cohort *cohort, int64_t opened_ms, int64_t now_ms,
                        uint32_t settle_ms)
{
    for (size_t i = 0; i < cohort->count; i++) {
        struct member *member = &cohort->member[i];
        if (awaits(member, now_ms, settle_ms)) {
            member->missed++;
            member->away = !member->seen || member->heard_ms < opened_ms;
            /* One that only queued was held up by others. */
            member->dragged = member->standing == STANDING_PULLING || member->turns > 0;
        }
    }
}

void cohort_note_life(struct member *member)
{
    if (!member->dragged) {
        member->missed = 0;
    }
}

/* A HELLO and the DECLINE after it come together. One of them may be lost. */
enum { REFUSAL_HELLOS = 2 };

bool cohort_note_refusal(struct cohort *cohort, struct member *member)
{
    const bool refuses = member->seen && !member->ready; /* a ready one declines a round alone */
    const bool is_new = refuses && member->declines == 0;
    cohort->refusing += is_new && member->admitted;
    member->declines = refuses ? REFUSAL_HELLOS : 0;
    return is_new;
}

static void forget_refusal(struct cohort *cohort, struct member *member, bool ready)
{
    const bool refused = member->declines > 0;
    member->declines = ready || !refused ? 0 : (uint8_t)(member->declines - 1);
    cohort->refusing -= member->admitted && refused && member->declines == 0;
}

bool cohort_note_hello(struct cohort *cohort, struct member *member, bool ready, int64_t opened_ms,
                       int64_t now_ms)
{
    bool given_up = is_given_up(member);
    if (!member->seen) {
        member->first_ms = now_ms;
    }
    if (member->away || (ready && !member->ready)) {
        member->missed = 0;
        member->away = false;
    }
    if (member->cut && member->cut_ms < opened_ms) {
        member->cut = false; /* not in the round in which it was cut */
    }
    forget_refusal(cohort, member, ready);
    cohort->seen += !member->seen;
    cohort->ready =
        cohort->ready - (member->admitted && member->ready) + (member->admitted && ready);
    cohort->settling -= member->admitted && member->seen && !member->was_ready;
    member->seen = true;
    member->ready = ready;
    member->was_ready = member->was_ready || ready;
    cohort->settling += member->admitted && !member->was_ready;
    return given_up && member->missed < MISSED_MAX && !member->cut;
}

static bool goes_before(const struct member *member, const struct member *other)
{
    if (is_given_up(member) != is_given_up(other)) {
        return is_given_up(other);
    }
    if (member->turns != other->turns) {
        return member->turns < other->turns;
    }
    return member->offered_ms < other->offered_ms;
}

struct member *cohort_next_offer(struct cohort *cohort)
{
    struct member *next = NULL;
    const size_t count = cohort->standing[STANDING_OFFERED] > 0 ? cohort->count : 0;
    for (size_t i = 0; i < count; i++) {
        struct member *member = &cohort->member[i];
        if (member->admitted && member->standing == STANDING_OFFERED &&
            (next == NULL || goes_before(member, next))) {
            next = member;
        }
    }
    return next;
}

enum status cohort_take_own_answers(struct closing_own **own, size_t *count, struct cohort *cohort)
{
    *count = 0;
    *own = malloc((cohort->count + 1) * sizeof **own);
    if (*own == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < cohort->count; i++) {
        struct member *member = &cohort->member[i];
        if (member->standing == STANDING_ANSWERED && member->own != NULL) {
            (*own)[(*count)++] = (struct closing_own){member->own, member->records};
            member->own = NULL;
        }
    }
    return STATUS_OK;
}
