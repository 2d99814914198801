/* The coordinator as a machine: its phases, the roster, and what is due. */

#include "coordinator/round.h"

#include "base/check.h"
#include "base/exit_code.h"
#include "coordinator/round_state.h"
#include "crypto/digest.h"
#include "protocol/wire.h"

#include <assert.h>
#include <stdlib.h>

static_assert((int)JOB_AGENTS_MAX == (int)PEERS_MAX,
              "a round's record names all whom its sum may have");

static const unsigned PHASE_NEXT[] = {PHASE_STATES(STATE_NEXT)};

void coordinator_enter(struct coordinator *c, enum phase next)
{
    CHECK((PHASE_NEXT[c->phase] & NEXT(next)) != 0);
    c->phase = next;
}

/* Stops the program where phase, commit, sum and outcome contradict each other; called after each event. */
static void coordinator_check(const struct coordinator *c)
{
    const bool hands_in =
        coordinator_collects(c) && c->phase == PHASE_CLOSING; /* the round stays */
    const bool commits = c->phase == PHASE_NAMING || c->phase == PHASE_LISTING ||
                         c->phase == PHASE_SETTLING || c->phase == PHASE_CLOSING;
    const bool open = (c->phase >= PHASE_KEYING && c->phase <= PHASE_OPENING) || hands_in;
    CHECK((c->commit_body != NULL) == commits);
    CHECK(c->commit_rows == NULL || c->phase == PHASE_CLOSING);
    CHECK(aggregate_is_open(&c->aggregate) == (open && c->phase >= PHASE_OPEN));
    CHECK((c->work.closing.record != NULL) == (c->phase == PHASE_WORKING));
    CHECK((c->masks != NULL) == (open && coordinator_is_masked(c)));
    CHECK(c->masks == NULL || masks_host_is_listed(c->masks) == (c->phase >= PHASE_LISTING));
    CHECK(c->phase < PHASE_SETTLING || c->masks == NULL || masks_host_is_settled(c->masks));
    CHECK(c->phase < PHASE_JOINING || c->outcome.begun);
    CHECK(c->phase == PHASE_RECOVERING || hands_in ||
          c->outcome.finished == (c->phase >= PHASE_OVER));
}

enum status coordinator_send(struct effects *effects, const struct peer *peer,
                             const struct message *message, struct slice payload)
{
    enum status status = wire_send(effects, peer, message, payload);
    return status == STATUS_AGAIN ? STATUS_OK : status; /* a full room is a lost message */
}

enum status coordinator_commit(struct coordinator *c, struct effects *effects, struct slice blob)
{
    size_t size = 0;
    CHECK(c->commit_body == NULL);
    enum status status = wire_encode_record(&c->commit_body, &size, &c->committing);
    if (status != STATUS_OK) {
        return status;
    }
    struct effect *effect = effects_add(effects, EFFECT_COMMIT);
    if (effect == NULL) {
        return STATUS_NO_MEMORY;
    }
    effect->as.commit.body = (struct slice){c->commit_body, size};
    effect->as.commit.blob = blob;
    return STATUS_OK;
}

/* What a revoked agent was sending is thrown away at once: were it admitted again meanwhile, a
 * second transfer beside the first would count it twice. */
static enum status on_roster(struct coordinator *c, const struct event *event,
                             struct effects *effects)
{
    enum status status = cohort_set_roster(&c->cohort, c->options.job, event->as.roster.peer,
                                           event->as.roster.count);
    c->listed = true;
    if (status == STATUS_OK && c->cohort.count > c->answers_max) {
        log_event(c->options.log, LOG_WARN, "more-agents-than-room", NULL,
                  "%zu agents are asked, and the job's sums have room for %zu: a round counts the "
                  "first answers alone",
                  c->cohort.count, c->answers_max);
    }
    if (status == STATUS_OK) {
        coordinator_mark_handed(c);
        status = coordinator_note_revoked(c, event, effects);
    }
    for (size_t i = 0; status == STATUS_OK && i < c->aggregate.staging_count; i++) {
        struct staging *staging = &c->aggregate.staging[i];
        if (transfer_is_active(&staging->transfer) &&
            cohort_find(&c->cohort, &staging->peer) == NULL) {
            aggregate_drop(staging);
        }
    }
    return status;
}

/* The transport cut a peer for an attack: what it was sending gives its place up, and the round does not
 * wait for it. */
static void on_cut(struct coordinator *c, const struct event *event)
{
    struct member *member = cohort_find(&c->cohort, &event->as.cut.peer);
    if (member == NULL) {
        return;
    }
    struct staging *staging = aggregate_find(&c->aggregate, &member->peer);
    if (staging != NULL) {
        aggregate_drop(staging);
    }
    if (member->standing == STANDING_PULLING) {
        cohort_set_standing(&c->cohort, member, STANDING_OFFERED);
        member->offered_ms = event->now_ms;
        member->turns++;
    }
    member->cut = true;
    member->cut_ms = event->now_ms;
    log_event(c->options.log, LOG_WARN, "agent-cut", member->peer.name,
              "was cut for an attack: the round does not wait for it");
}

static enum status finish_if_due(struct coordinator *c, const struct event *event,
                                 struct effects *effects)
{
    const bool alone =
        c->cohort.admitted == 0 && c->collecting.count > 0; /* all agents are collectors' */
    if (!alone && !cohort_all_know(&c->cohort, c->outcome.rounds_closed) &&
        (event->now_ms < c->deadline_ms || c->cohort.untold[TELL_RELEASE] > 0)) {
        return STATUS_OK;
    }
    if (collecting_is_present(&c->collecting) && event->now_ms < c->deadline_ms) {
        return STATUS_OK; /* its agents are to hear of the end before another job asks them */
    }
    struct effect *finish = effects_add(effects, EFFECT_FINISH);
    if (finish == NULL) {
        return STATUS_OK;
    }
    coordinator_tell_unheard(c);
    finish->as.finish.exit_code = c->outcome.failed ? EXIT_CODE_JOB_FAILED : EXIT_CODE_OK;
    coordinator_enter(c, PHASE_FINISHED);
    return STATUS_OK;
}

static enum status join(struct coordinator *c, const struct event *event, struct effects *effects)
{
    if (coordinator_count_ready(c) >= c->options.job->cohort_min) {
        return coordinator_gathers(c, event->now_ms)
                   ? STATUS_OK
                   : coordinator_open(c, event->now_ms, c->options.job->deadline_ms, effects);
    }
    c->gather_until_ms = INT64_MAX;
    if (coordinator_is_refused(c, event->now_ms) ||
        (event->now_ms >= c->deadline_ms && !coordinator_waits_for_people(c, event->now_ms))) {
        return coordinator_fail(c, event, effects);
    }
    coordinator_tell_joining(c, event->now_ms);
    return STATUS_OK;
}

/* What may have become due by this event or by the passing of time. */
static enum status advance(struct coordinator *c, const struct event *event,
                           struct effects *effects)
{
    enum status status = coordinator_cancel_if_due(c, event, effects);

    if (status == STATUS_OK && c->phase == PHASE_JOINING) {
        status = join(c, event, effects);
    }
    if (status == STATUS_OK && c->phase == PHASE_KEYING) {
        status = coordinator_list_if_due(c, event, effects);
    }
    if (status == STATUS_OK && c->phase == PHASE_OPENING) {
        status = coordinator_lose_if_due(c, event, effects);
    }
    if (status == STATUS_OK && c->phase == PHASE_OPEN) {
        status = coordinator_check_stalls(c, event, effects);
    }
    if (status == STATUS_OK && c->phase == PHASE_OPEN) {
        status = coordinator_pull_next(c, event, effects);
    }
    if (status == STATUS_OK && c->phase == PHASE_OPEN) {
        status = coordinator_close_if_due(c, event, effects);
    }
    if (status == STATUS_OK && c->phase == PHASE_OVER) {
        status = finish_if_due(c, event, effects);
    }
    return status;
}

static enum status act(struct coordinator *c, const struct event *event, struct effects *effects)
{
    enum status status = STATUS_OK;

    c->stepped_ms = event->now_ms;
    switch (event->kind) {
    case EVENT_RECORD: {
        const uint32_t closed_before = c->outcome.rounds_closed;
        status = coordinator_on_record(c, event);
        if (c->phase == PHASE_RECOVERING || status != STATUS_OK) {
            return status;
        }
        if (!coordinator_collects(c)) {
            return STATUS_CORRUPT;
        }
        status = coordinator_follow(c, event, closed_before);
        break;
    }
    case EVENT_STANDINGS:
        status = coordinator_on_standings(c, event, effects);
        break;
    case EVENT_PARTIAL:
        status = coordinator_on_partial(c, event);
        break;
    case EVENT_START:
        status = coordinator_on_start(c, event, effects);
        break;
    case EVENT_MESSAGE:
        status = coordinator_on_message(c, event, effects);
        break;
    case EVENT_ROSTER:
        status = on_roster(c, event, effects);
        break;
    case EVENT_CUT:
        on_cut(c, event);
        break;
    case EVENT_COMMITTED:
        status = coordinator_on_committed(c, event, effects);
        break;
    case EVENT_FILE:
        if (event->as.file.which == FOLLOWED_CANCEL) {
            coordinator_note_cancelled(c, event->as.file.text);
        }
        break;
    case EVENT_WORKED:
        status = coordinator_on_worked(c, effects);
        break;
    case EVENT_TICK:
    case EVENT_LINK: /* an agent's */
        break;
    }
    if (status == STATUS_OK) {
        status = advance(c, event, effects);
    }
    return status == STATUS_OK ? coordinator_tell_next(c, event->now_ms, effects) : status;
}

static enum status coordinator_step(void *self, const struct event *event, struct effects *effects)
{
    struct coordinator *c = self;
    const enum status status = act(c, event, effects);
    if (status == STATUS_OK) { /* otherwise what is in memory is thrown away */
        coordinator_check(c);
    }
    return status;
}

static int64_t coordinator_wake_ms(const void *self)
{
    const struct coordinator *c = self;
    int64_t wake = machine_earlier(c->deadline_ms, coordinator_tells_ms(c));

    if (c->phase != PHASE_JOINING && c->phase != PHASE_KEYING && c->phase != PHASE_OPEN &&
        c->phase != PHASE_OPENING && c->phase != PHASE_OVER) {
        return coordinator_tells_ms(c);
    }
    if (c->phase == PHASE_KEYING) {
        return machine_earlier(wake, coordinator_settles_ms(c));
    }
    if (c->phase == PHASE_JOINING) {
        if (c->gather_until_ms != INT64_MAX) { /* enough are ready, whatever its deadline was */
            return machine_earlier(c->gather_until_ms, coordinator_tells_ms(c));
        }
        return machine_earlier(machine_earlier(wake, c->refused_until_ms),
                               c->stepped_ms + JOIN_NOTICE_MS);
    }
    if (c->phase == PHASE_OPEN) {
        if (coordinator_collects(c)) {
            wake = machine_earlier(coordinator_hands_in_ms(c), coordinator_tells_ms(c));
        }
        wake = machine_earlier(machine_earlier(wake, coordinator_settles_ms(c)),
                               coordinator_stalls_ms(c));
    }
    return wake;
}

bool coordinator_fits(const struct job *job, uint64_t answer_bytes_max)
{
    return (uint64_t)round_width(job) * 8 <= answer_bytes_max;
}

enum status coordinator_new(struct coordinator **out, const struct coordinator_options *options)
{
    struct coordinator *c;

    if (!coordinator_fits(options->job, options->answer_bytes_max)) {
        return STATUS_INVALID;
    }
    c = calloc(1, sizeof *c);
    if (c == NULL) {
        return STATUS_NO_MEMORY;
    }
    c->refused_until_ms = INT64_MAX;
    c->gather_until_ms = INT64_MAX;
    c->options = *options;
    enum status status = curator_new(&c->curator, options->job, options->random);
    if (status != STATUS_OK) {
        free(c);
        return status;
    }
    digest_sha256(&c->text_digest, &options->text, 1);
    c->answers_max = job_agents_most(options->job);
    outcome_init(&c->outcome, options->job, options->shows ? OUTCOME_SHOWS : OUTCOME_FORGETS);
    coordinator_note_cancelled(c, options->cancelled);
    status = collecting_begin(&c->collecting, options->collectors, options->collectors_count);
    if (status != STATUS_OK) {
        coordinator_free(c);
        return status;
    }
    *out = c;
    return STATUS_OK;
}

void coordinator_free(struct coordinator *c)
{
    if (c != NULL) {
        outcome_free(&c->outcome);
        cohort_free(&c->cohort);
        aggregate_free(&c->aggregate);
        collecting_free(&c->collecting);
        curator_free(c->curator);
        coordinator_free_masks(c);
        coordinator_free_work(c);
        stale_free(&c->stale);
        record_free(&c->committing);
        free(c->commit_body);
        free(c->commit_rows);
        free(c);
    }
}

struct machine coordinator_machine(struct coordinator *c)
{
    return (struct machine){.self = c,
                            .step = coordinator_step,
                            .work = coordinator_work,
                            .wake_ms = coordinator_wake_ms};
}
