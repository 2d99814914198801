/* Whom a round waits for, how long, and what the log says of those who are missing. */

#include "coordinator/round_state.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 12, PART_BYTES = 160 };

static int64_t seconds(int64_t ms)
{
    return ms / 1000;
}

static uint64_t received_from(const struct coordinator *c, const struct peer *peer)
{
    for (size_t i = 0; i < c->aggregate.staging_count; i++) {
        const struct staging *staging = &c->aggregate.staging[i];
        if (transfer_is_active(&staging->transfer) && strcmp(staging->peer.name, peer->name) == 0) {
            return staging->transfer.received;
        }
    }
    return 0;
}

/* A machine that has just begun knows no agent. A connected agent greets it within a heartbeat. */
static bool greets(const struct coordinator *c, int64_t now_ms)
{
    return now_ms - c->started_ms < SILENT_MS;
}

/* Why a member is not in the sum, as far as it may be known. */
static void describe(char *text, size_t size, const struct coordinator *c,
                     const struct member *member, int64_t now_ms)
{
    if (member->standing == STANDING_UNLISTED) {
        (void)snprintf(text, size, "is not in this round's roster");
    } else if (member->standing == STANDING_DECLINED || member->declines > 0) {
        (void)snprintf(text, size, "declined");
    } else if (member->standing == STANDING_REFUSED) {
        (void)snprintf(text, size, "broke the protocol in this round");
    } else if (member->cut) {
        (void)snprintf(text, size, "was cut for an attack");
    } else if (member->foreign) {
        (void)snprintf(text, size, "speaks another version of the protocol");
    } else if (!member->seen) {
        (void)snprintf(text, size, "%s",
                       greets(c, now_ms) ? "has not been heard yet" : "has not connected");
    } else if (member->standing == STANDING_OFFERED) {
        (void)snprintf(text, size, "offered its answer, which has not been fetched");
    } else if (member->standing == STANDING_PULLING) {
        (void)snprintf(text, size, "sent %" PRIu64 " of %" PRIu64 " bytes",
                       received_from(c, &member->peer), member->answer_bytes);
    } else if (now_ms - member->heard_ms >= SILENT_MS) {
        (void)snprintf(text, size, "silent for %" PRId64 " s", seconds(now_ms - member->heard_ms));
    } else {
        (void)snprintf(text, size, "%s",
                       member->ready ? "present, but has not answered" : "present, but not ready");
    }
}

/* A list of names in the making. */
struct naming {
    char *text;
    size_t size;
    size_t used;
    size_t named;
    size_t more;
};

static void add_name(struct naming *naming, const char *name, const char *why)
{
    char part[PART_BYTES];
    const int length =
        snprintf(part, sizeof part, "%s%s (%s)", naming->named > 0 ? ", " : "", name, why);
    if (naming->named == NAMES_MAX || naming->used + (size_t)length + 24 >= naming->size) {
        naming->more++;
        return;
    }
    memcpy(naming->text + naming->used, part, (size_t)length + 1);
    naming->used += (size_t)length;
    naming->named++;
}

void coordinator_tell_missing(const struct coordinator *c, int64_t now_ms, char *text, size_t size)
{
    const char *revoked[MASKS_SITES_MAX];
    const size_t revoked_count = coordinator_list_revoked(c, revoked);
    struct naming naming = {.text = text, .size = size};

    text[0] = '\0';
    for (size_t i = 0; i < c->cohort.count; i++) {
        const struct member *member = &c->cohort.member[i];
        char why[96];
        if (!member->admitted || member->standing == STANDING_ANSWERED ||
            member->standing == STANDING_KEYED || (c->phase == PHASE_JOINING && member->ready)) {
            continue;
        }
        describe(why, sizeof why, c, member, now_ms);
        add_name(&naming, member->peer.name, why);
    }
    for (size_t i = 0; i < revoked_count; i++) {
        add_name(&naming, revoked[i], "was revoked");
    }
    for (size_t i = 0; i < c->collecting.count; i++) {
        const char *why = collecting_why(&c->collecting.of[i]);
        if (why != NULL) {
            add_name(&naming, c->collecting.of[i].peer.name, why);
        }
    }
    if (naming.more > 0) {
        (void)snprintf(text + naming.used, size - naming.used, " and %zu more", naming.more);
    }
}

void coordinator_tell_unheard(const struct coordinator *c)
{
    char text[MISSING_BYTES];
    struct naming naming = {.text = text, .size = sizeof text};
    text[0] = '\0';
    for (size_t i = 0; i < c->cohort.count && c->phase == PHASE_OVER; i++) {
        const struct member *member = &c->cohort.member[i];
        if (member->admitted && member->rounds_closed < c->outcome.rounds_closed) {
            add_name(&naming, member->peer.name,
                     member->seen ? "connected, and has not told" : "has not connected");
        }
    }
    const size_t count = naming.named + naming.more;
    if (naming.more > 0) {
        (void)snprintf(text + naming.used, sizeof text - naming.used, " and %zu more", naming.more);
    }
    if (count > 0) {
        log_event(c->options.log, LOG_INFO, "end-unheard", NULL,
                  "the job is over, and %zu agent%s %s not told that %s it: %s", count,
                  text_plural_s(count), count == 1 ? "has" : "have",
                  count == 1 ? "it has heard of" : "they have heard of", text);
    }
}

/* Those who decline the job leave too few. A list that is too short may grow, and collectors have agents of their own. */
static bool is_short(const struct coordinator *c)
{
    const size_t least = c->options.job->cohort_min;
    return c->collecting.count == 0 && c->cohort.admitted >= least &&
           c->cohort.admitted - c->cohort.refusing < least;
}

bool coordinator_is_refused(struct coordinator *c, int64_t now_ms)
{
    const bool refused =
        is_short(c) && c->cohort.ready + c->cohort.refusing >= c->options.job->cohort_min;
    if (!refused) {
        c->refused_until_ms = INT64_MAX;
    } else if (c->refused_until_ms == INT64_MAX) {
        c->refused_until_ms = now_ms + JOIN_NOTICE_MS;
    }
    return refused && now_ms >= c->refused_until_ms;
}

/* A site that is connected and has said neither yes nor no is not absent: a person there has to decide, or its table is read. One
 * that was not heard for as long as the job waits for absent ones is absent. */
size_t coordinator_count_undecided(const struct coordinator *c, int64_t now_ms)
{
    const int64_t join_ms = c->options.job->join_deadline_ms;
    const int64_t silent_ms = join_ms > SILENT_MS ? join_ms : SILENT_MS;
    size_t count = 0;
    for (size_t i = 0; i < c->cohort.count; i++) {
        const struct member *member = &c->cohort.member[i];
        count += member->admitted && member->seen && !member->ready && member->declines == 0 &&
                         !member->cut && now_ms - member->heard_ms < silent_ms
                     ? 1
                     : 0;
    }
    for (size_t i = 0; i < c->collecting.count; i++) {
        const struct collected *of = &c->collecting.of[i];
        count += of->present ? (size_t)of->undecided : 0;
    }
    return count;
}

bool coordinator_waits_for_people(struct coordinator *c, int64_t now_ms)
{
    const size_t ready = coordinator_count_ready(c);
    const size_t undecided = now_ms < c->patient_ms ? coordinator_count_undecided(c, now_ms) : 0;
    if (undecided == 0 || ready + undecided < c->options.job->cohort_min) {
        return false;
    }
    if (!c->late) {
        c->late = true;
        log_event(
            c->options.log, LOG_WARN, "waiting-for-agents", NULL,
            "the join deadline is over: %zu agent%s %s ready, the job needs %" PRIu32
            ", and %zu %s connected and %s said neither yes nor no. Usually a person there has to "
            "approve the job, so it waits %" PRId64 " s more (cohort.patience_s)",
            ready, text_plural_s(ready), text_plural_are(ready), c->options.job->cohort_min,
            undecided, text_plural_are(undecided), undecided == 1 ? "has" : "have",
            seconds(c->patient_ms - now_ms));
    }
    /* Looked at again then, and not at each event: with 10,000 members a look takes its time. */
    c->deadline_ms = machine_earlier(now_ms + JOIN_NOTICE_MS, c->patient_ms);
    return true;
}

/* Too few agents are ready: who is present, and who is not. Said again when it has changed, not more
 * often than every JOIN_NOTICE_MS; but at once that one declines the job, and that it fails for that. */
void coordinator_tell_joining(struct coordinator *c, int64_t now_ms)
{
    char missing[MISSING_BYTES];
    char refusing[PART_BYTES] = "";
    size_t ready = coordinator_count_ready(c);
    const size_t seen = c->cohort.seen;
    const size_t admitted = c->cohort.admitted;

    const bool ends = c->refused_until_ms != c->told_until_ms && c->refused_until_ms != INT64_MAX;
    const bool refused = ends || c->cohort.refusing > c->told_refusing;
    if (!c->listed || (!refused && now_ms < c->told_ms + JOIN_NOTICE_MS) ||
        (c->told_ready == ready && c->told_greeting == greets(c, now_ms) &&
         c->told_refusing == c->cohort.refusing && c->told_seen == seen &&
         c->told_admitted == admitted && c->told && !ends)) {
        return;
    }
    c->told_ms = now_ms;
    c->told_ready = ready;
    c->told_greeting = greets(c, now_ms);
    c->told_refusing = c->cohort.refusing;
    c->told_seen = seen;
    c->told_admitted = admitted;
    c->told_until_ms = c->refused_until_ms;
    c->told = true;
    coordinator_tell_missing(c, now_ms, missing, sizeof missing);
    const int64_t until_ms =
        machine_earlier(c->refused_until_ms, c->late ? c->patient_ms : c->deadline_ms);
    if (c->cohort.refusing > 0) {
        (void)snprintf(refusing, sizeof refusing, ", %zu declined the job%s", c->cohort.refusing,
                       is_short(c) ? " and the others are too few. Remedy: ask those who declined, "
                                     "or cancel the job"
                                   : "");
    }
    log_event(c->options.log, is_short(c) ? LOG_WARN : LOG_INFO, "waiting-for-agents", NULL,
              "%zu agent%s %s ready, the job needs %" PRIu32
              " (cohort.minimum)%s; it waits %" PRId64 " s more; missing: %s",
              ready, text_plural_s(ready), text_plural_are(ready), c->options.job->cohort_min,
              refusing, seconds(until_ms - now_ms),
              missing[0] != '\0' ? missing : "nobody is on the list; remedy: `agents add`");
}

/* The deadline is over and the round is below its minimum: the answers that it has are kept, and it
 * stays open for the job's patience. */
static void tell_late(struct coordinator *c, int64_t now_ms, size_t answered)
{
    char missing[MISSING_BYTES];
    coordinator_tell_missing(c, now_ms, missing, sizeof missing);
    log_event(c->options.log, LOG_WARN, "round-late", NULL,
              "round %" PRIu32 ": %zu %s at the deadline, the job needs %zu; it stays open for "
              "%" PRId64 " s more (cohort.patience_s) with what it has; missing: %s",
              c->outcome.rounds_closed + 1, answered,
              c->phase == PHASE_KEYING ? "sites' keys" : "answers", coordinator_least(c),
              seconds(c->deadline_ms - now_ms), missing);
}

static void tell_missed(const struct coordinator *c, int64_t now_ms)
{
    char missing[MISSING_BYTES];
    coordinator_tell_missing(c, now_ms, missing, sizeof missing);
    log_event(c->options.log, LOG_WARN, "round-without", NULL,
              "round %" PRIu32 " %s at its deadline without: %s", c->outcome.rounds_closed + 1,
              c->phase == PHASE_KEYING ? "goes on" : "closes", missing);
}

/* Nobody is left to wait for, here or at a collector. */
static bool is_complete(struct coordinator *c, int64_t now_ms)
{
    const bool alone = c->cohort.admitted == 0 && c->collecting.count > 0;
    return (alone || cohort_is_complete(&c->cohort, now_ms, c->options.settle_ms)) &&
           collecting_is_complete(&c->collecting);
}

enum verdict coordinator_judge_round(struct coordinator *c, int64_t now_ms)
{
    const size_t least = coordinator_least(c);
    const size_t answered = c->phase == PHASE_KEYING ? cohort_count(&c->cohort, STANDING_KEYED)
                                                     : coordinator_count_answered(c);
    /* When the sums are full, nobody else can count. */
    const bool complete =
        answered >= least && (answered >= c->answers_max || is_complete(c, now_ms));
    /* The listed agents make the job impossible. A list that is too short may grow: an operator who changes
     * a key takes the old one off first, and a masked sum needs this site. */
    const char *revoked[MASKS_SITES_MAX];
    const size_t possible =
        cohort_count_possible(&c->cohort) + coordinator_list_revoked(c, revoked);
    const bool hopeless = c->collecting.count == 0 && c->cohort.count >= least && possible < least;

    if (answered >= least && (complete || c->late || now_ms >= c->deadline_ms)) {
        if (!complete) {
            tell_missed(c, now_ms);
        }
        cohort_note_missed(&c->cohort, c->opened_ms, now_ms, c->options.settle_ms);
        collecting_note_missed(&c->collecting);
        return VERDICT_CLOSE;
    }
    if (answered < least && !hopeless && !c->late && now_ms >= c->deadline_ms &&
        c->options.job->patience_ms > 0) {
        c->late = true;
        c->deadline_ms += c->options.job->patience_ms;
        tell_late(c, now_ms, answered);
    }
    return answered < least && (hopeless || now_ms >= c->deadline_ms) ? VERDICT_FAIL : VERDICT_WAIT;
}

/* The time at which the set of agents that the round waits for changes without an event. */
int64_t coordinator_settles_ms(const struct coordinator *c)
{
    int64_t first = INT64_MAX;
    const size_t count = c->cohort.settling > 0 ? c->cohort.count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &c->cohort.member[i];
        int64_t at = member->first_ms + c->options.settle_ms;
        if (member->admitted && member->seen && !member->was_ready && at > c->stepped_ms &&
            at < first) {
            first = at;
        }
    }
    return first;
}

/* A place in staging is held, while others wait, for at most a fair part of the deadline: a half of what
 * all places together have, divided among those who are ready. Each turn after the first is twice as
 * long, so that an agent that is merely slow gets through once the queue is short; but none is longer than
 * a quarter of the deadline. Only places that were lost to somebody who waited count: otherwise a peer could
 * lengthen its turns while nobody is there, and hold all others up later. */
static double turn_ms(const struct coordinator *c, const struct staging *staging)
{
    enum { DOUBLINGS_MAX = 16, TURN_LEAST_MS = 500 };
    size_t ready = cohort_count_ready(&c->cohort);
    unsigned doublings = staging->lost < DOUBLINGS_MAX ? staging->lost : DOUBLINGS_MAX;
    double turn_max = (double)c->options.job->deadline_ms / 4;
    double turn = (double)c->options.job->deadline_ms * (double)c->aggregate.staging_count /
                  (2.0 * (double)(ready > 0 ? ready : 1)) * (double)(1u << doublings);
    turn = turn > TURN_LEAST_MS ? turn : TURN_LEAST_MS; /* of thousands: a round trip at least */
    return turn < turn_max ? turn : turn_max;
}

int64_t coordinator_turn_ends_ms(const struct coordinator *c, const struct staging *staging)
{
    const double turn = turn_ms(c, staging);
    double share = (double)staging->transfer.received / (double)staging->transfer.bytes;
    double allowed =
        turn * share; /* an agent that has sent less by now would not be done in time */

    allowed = allowed > PULL_RETRY_MS ? allowed : PULL_RETRY_MS;
    return staging->began_ms + 1 + (int64_t)(allowed < turn ? allowed : turn);
}

/* An answer whose first half took no more than half of its turn has the other half left for its second one. */
int64_t coordinator_holds_until_ms(const struct coordinator *c, const struct staging *staging)
{
    const int64_t until_ms = aggregate_holds_until_ms(&c->aggregate, staging);
    return machine_earlier(until_ms, staging->began_ms + (int64_t)(turn_ms(c, staging) / 2));
}
