/* Events in, effects out. A commit is performed where it stands among the effects, and answered
 * after the step: the machine does not emit before that answer what is only right if the commit
 * happened. Where the journal waits for a server, both come later (driver_write.c). */

#include "io/driver_private.h"

#include "base/check.h"
#include "io/clock.h"

#include <stdlib.h>
#include <string.h>

static void observe(struct driver *driver, const char *step)
{
    if (driver->options->observe == NULL) {
        return;
    }
    for (size_t i = 0; i < OBSERVED_STEPS; i++) {
        if (driver->observed[i].step == NULL || strcmp(driver->observed[i].step, step) == 0) {
            driver->observed[i].step = step;
            driver->options->observe(driver->options->observe_self, step,
                                     ++driver->observed[i].count);
            return;
        }
    }
    CHECK(false);
}

static enum status journal_failed(struct driver *driver, const struct lane *lane,
                                  enum status status, const char *event)
{
    const char *cause = lane->journal.trouble(lane->journal.self);
    why_set(&driver->why, "%s", cause[0] != '\0' ? cause : status_text(status));
    log_event(driver->options->log, LOG_ERROR, event, NULL, "%s", driver->why.text);
    return status;
}

static void send_message(struct driver *driver, const struct effect *effect)
{
    enum status status = endpoint_send(driver->options->endpoint, &effect->as.send.peer,
                                       effect->as.send.control, effect->as.send.payload);
    if (status != STATUS_OK) {
        log_event(driver->options->log, LOG_DEBUG, "message-lost", effect->as.send.peer.name,
                  "a message was not sent (%s); it is repeatable", status_text(status));
    } else if (driver->options->counts != NULL) {
        driver->options->counts->messages_out++;
        driver->options->counts->bytes_out +=
            effect->as.send.control.size + effect->as.send.payload.size;
    }
}

static enum status start_work(struct driver *driver, struct lane *lane)
{
    CHECK(lane->machine.work != NULL && !driver_works(lane) && lane->waiting == NULL);
    enum status status = driver_begin_work(driver, lane, lane->machine.work, lane->machine.self);
    if (status != STATUS_OK) {
        why_set(&driver->why, "no thread for the computation");
        log_event(driver->options->log, LOG_ERROR, "work-failed", NULL, "%s", driver->why.text);
    }
    return status;
}

static const char *const effect_step[][2] = {
    [EFFECT_SEND] = {"send-before", "send-after"},
    [EFFECT_COMMIT] = {"commit-before", "commit-after"},
    [EFFECT_FORGET] = {"forget-before", "forget-after"},
    [EFFECT_WORK] = {"work-before", "work-after"},
    [EFFECT_RECONNECT] = {"reconnect-before", "reconnect-after"},
    [EFFECT_DOUBT] = {"doubt-before", "doubt-after"},
    [EFFECT_RESTART] = {"restart-before", "restart-after"},
    [EFFECT_FINISH] = {"finish-before", "finish-after"},
};

enum status driver_note_written(struct driver *driver, struct lane *lane,
                                const struct effect *effect, enum status status)
{
    const bool commits = effect->kind == EFFECT_COMMIT;
    if (status != STATUS_OK) {
        return journal_failed(driver, lane, status, commits ? "commit-failed" : "forget-failed");
    }
    lane->progressed = lane->progressed || commits;
    if (commits && lane->journal.told != NULL) {
        lane->journal.told(lane->journal.self, effect->as.commit.body, effect->as.commit.blob);
    }
    observe(driver, effect_step[effect->kind][1]);
    return STATUS_OK;
}

/* A journal that waits for a server is written beside the loop. */
static enum status write_effect(struct driver *driver, struct lane *lane,
                                const struct effect *effect)
{
    uint64_t sequence = 0;
    if (lane->journal.waits) {
        return driver_write_later(lane, effect);
    }
    const enum status status = driver_note_written(
        driver, lane, effect, driver_write_now(&lane->journal, &sequence, effect));
    if (status == STATUS_OK && effect->kind == EFFECT_COMMIT) {
        CHECK(lane->owed_count < EFFECTS_MAX);
        lane->owed[(lane->owed_first + lane->owed_count++) % EFFECTS_MAX] = sequence;
    }
    return status;
}

static enum status perform(struct driver *driver, struct lane *lane, const struct effect *effect)
{
    enum status status = STATUS_OK;

    observe(driver, effect_step[effect->kind][0]);
    switch (effect->kind) {
    case EFFECT_SEND:
        send_message(driver, effect);
        break;
    case EFFECT_COMMIT:
    case EFFECT_FORGET:
        return write_effect(driver, lane, effect); /* its end is observed when it is written */
    case EFFECT_WORK:
        status = start_work(driver, lane);
        break;
    case EFFECT_RECONNECT:
        endpoint_rebuild(driver->options->endpoint);
        break;
    case EFFECT_DOUBT:
        endpoint_doubt(driver->options->endpoint);
        break;
    case EFFECT_RESTART:
        lane->restarting = true;
        break;
    case EFFECT_FINISH:
        lane->finished = true;
        driver->exit_code = effect->as.finish.exit_code;
        break;
    }
    observe(driver, effect_step[effect->kind][1]);
    return status;
}

/* Steps once. The clocks are read here, so that no event carries an old time. */
static enum status step_once(struct driver *driver, struct lane *lane, struct event *event)
{
    event->now_ms = clock_now_ms();
    event->wall_ms = clock_wall_ms();
    effects_clear(&driver->effects);
    observe(driver, "event-before");
    enum status status = lane->machine.step(lane->machine.self, event, &driver->effects);
    if (status != STATUS_OK) {
        why_set(&driver->why, "%s", status_text(status));
        log_event(driver->options->log, LOG_ERROR, "step-failed", NULL,
                  "the program's state is thrown away: %s", status_text(status));
        return status;
    }
    observe(driver, "event-after");
    for (size_t i = 0; status == STATUS_OK && i < driver->effects.count; i++) {
        status = perform(driver, lane, &driver->effects.item[i]);
    }
    return status;
}

enum status driver_give(struct driver *driver, struct lane *lane, struct event event)
{
    enum status status = step_once(driver, lane, &event);
    while (status == STATUS_OK && lane->owed_count > 0) {
        struct event committed = {.kind = EVENT_COMMITTED,
                                  .as.committed = {.sequence = lane->owed[lane->owed_first]}};
        lane->owed_first = (lane->owed_first + 1) % EFFECTS_MAX;
        lane->owed_count--;
        status = step_once(driver, lane, &committed);
    }
    return status;
}

struct replaying {
    struct driver *driver;
    struct lane *lane;
};

/* A record on its way to the loop's thread. */
struct replayed {
    const struct replaying *replaying;
    struct event event;
    enum status status;
};

static void step_through(void *self)
{
    struct replayed *replayed = self;
    const struct replaying *replaying = replayed->replaying;
    if (replaying->driver->stopped) {
        replayed->status = STATUS_BUSY;
        return;
    }
    replayed->status = step_once(replaying->driver, replaying->lane, &replayed->event);
    CHECK(replaying->driver->effects.count == 0); /* a machine acts after EVENT_START */
}

static enum status replay_one(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    struct replayed replayed = {
        .replaying = self,
        .event = {.kind = EVENT_RECORD,
                  .as.record = {.sequence = sequence, .body = body, .blob = blob}}};
    return worker_on_owner(step_through, &replayed) ? replayed.status : STATUS_BUSY;
}

enum status driver_replay(struct driver *driver, struct lane *lane, struct why *why)
{
    struct replaying replaying = {driver, lane};
    struct why cause = {""};
    const enum status status =
        lane->journal.each(lane->journal.self, replay_one, &replaying, &cause);
    if (status != STATUS_OK) {
        why_set(why, "the journal cannot be gone on with: %s",
                status == STATUS_FOREIGN ? status_text(status) : cause.text);
    }
    return status;
}

enum status driver_give_roster(struct driver *driver, struct lane *lane)
{
    struct peer *peer = NULL;
    size_t count = 0;
    enum status status = roster_peers(&peer, &count, &driver->roster);
    if (status == STATUS_OK) {
        status = driver_give(
            driver, lane,
            (struct event){.kind = EVENT_ROSTER, .as.roster = {.peer = peer, .count = count}});
    }
    free(peer);
    return status;
}
