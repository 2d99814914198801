/* Lanes whose threads wait for each other, and errands whose machine was freed meanwhile
 * (driver_errand.c). */

#include "io/clock.h"
#include "io/driver.h"
#include "io/worker.h"
#include "tests/integration/io/toy_machine.h"
#include "tests/support/quiet_fork.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LANES = 3, SOON_MS = 300, PATIENCE_S = 60, CODE_ENDED = 17, CODE_WRONG = 1 };

enum ending { ENDS_BY_SIGNAL, ENDS_BY_FAILURE };

static struct {
    pthread_mutex_t lock; /* lane 1 has it, and lane 0 waits for it */
    atomic_bool held;
    atomic_bool waiting;
    enum ending ending;
    atomic_bool refused;
    atomic_bool alive; /* there is a machine */
    atomic_bool looked_too_late;
    atomic_bool failed; /* a step has: nothing may reach the machine any more */
    atomic_bool stepped_too_late;
    int64_t wake_ms;
} toy = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int of_lane[LANES];

static void await(atomic_bool *what)
{
    while (!atomic_load(what)) {
        (void)usleep(1000);
    }
}

static enum status finish_at_once(UNUSED void *self, const struct event *event,
                                  struct effects *effects)
{
    if (event->kind == EVENT_START) {
        effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = 0;
    }
    return STATUS_OK;
}

static int64_t never(UNUSED const void *self)
{
    return INT64_MAX;
}

static enum status make_short(void *self, struct machine *machine, struct journal *journal,
                              UNUSED struct why *why)
{
    *machine = (struct machine){.self = self, .step = finish_at_once, .wake_ms = never};
    *journal = empty_journal(self);
    return STATUS_OK;
}

static void do_nothing(UNUSED void *self)
{
}

/* What it asks for comes once the loop has stopped. */
static enum status ask_with_the_lock(void)
{
    (void)pthread_mutex_lock(&toy.lock);
    atomic_store(&toy.held, true);
    await(&toy.waiting);
    if (toy.ending == ENDS_BY_SIGNAL) {
        (void)kill(getpid(), SIGTERM);
    }
    (void)usleep(SOON_MS * 1000);
    atomic_store(&toy.refused, !worker_on_owner(do_nothing, NULL));
    (void)pthread_mutex_unlock(&toy.lock);
    return STATUS_BUSY;
}

static enum status next_together(void *self, UNUSED enum status ended, bool *more,
                                 UNUSED struct why *why)
{
    *more = false;
    if (self == &of_lane[1]) {
        return ask_with_the_lock();
    }
    await(&toy.held);
    if (self == &of_lane[2]) {
        await(&toy.waiting);
        return toy.ending == ENDS_BY_FAILURE ? STATUS_IO : STATUS_OK;
    }
    atomic_store(&toy.waiting, true);
    (void)pthread_mutex_lock(&toy.lock);
    (void)pthread_mutex_unlock(&toy.lock);
    return STATUS_OK;
}

static bool wants(UNUSED void *self)
{
    return true;
}

static enum status run_together(void)
{
    void *lane[LANES] = {&of_lane[0], &of_lane[1], &of_lane[2]};
    const struct driver_options options = {.endpoint = endpoint_to_nobody()};
    const struct driver_factory factory = {.waits = true,
                                           .lane = lane,
                                           .lane_count = LANES,
                                           .make = make_short,
                                           .unmake = unmake,
                                           .next = next_together,
                                           .wants = wants};
    int exit_code = 1;
    struct why why = {{0}};
    const enum status status = driver_run(&options, &factory, &exit_code, &why);
    endpoint_free(options.endpoint);
    return status;
}

/* A process that waits for ever is ended by its alarm, and so has no exit code. */
static void end_together(enum ending ending, enum status expected)
{
    int result = 0;
    const pid_t child = quiet_fork();
    if (child == 0) {
        toy.ending = ending;
        (void)alarm(PATIENCE_S);
        _exit(run_together() == expected && atomic_load(&toy.refused) ? CODE_ENDED : CODE_WRONG);
    }
    cr_assert_eq(waitpid(child, &result, 0), child);
    cr_expect(WIFEXITED(result) && WEXITSTATUS(result) == CODE_ENDED, "%d", result);
}

/* Planted: a stop refused each lane only when it came to wait for that lane, and lane 0 waited for lane 1 for ever. */
Test(driver_together, a_stop_refuses_all_threads_before_it_waits_for_one, .timeout = 120)
{
    end_together(ENDS_BY_SIGNAL, STATUS_OK);
}

Test(driver_together, so_does_a_lane_that_ends_the_run, .timeout = 120)
{
    end_together(ENDS_BY_FAILURE, STATUS_IO);
}

/* Its first tick is due in the turn in which its source is. */
static enum status finish_at_tick(UNUSED void *self, const struct event *event,
                                  struct effects *effects)
{
    if (event->kind == EVENT_START) {
        toy.wake_ms = event->now_ms;
    } else if (event->kind == EVENT_TICK) {
        toy.wake_ms = INT64_MAX;
        effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = 0;
    }
    return STATUS_OK;
}

static int64_t wake_of_toy(UNUSED const void *self)
{
    return toy.wake_ms;
}

static enum status make_ticking(void *self, struct machine *machine, struct journal *journal,
                                UNUSED struct why *why)
{
    atomic_store(&toy.alive, true);
    toy.wake_ms = INT64_MAX;
    *machine = (struct machine){.self = self, .step = finish_at_tick, .wake_ms = wake_of_toy};
    *journal = empty_journal(self);
    return STATUS_OK;
}

static void unmake_ticking(void *self, struct machine *machine, struct journal *journal)
{
    atomic_store(&toy.alive, false);
    unmake(self, machine, journal);
}

static enum status look(UNUSED void *self, UNUSED driver_hear *hear, UNUSED void *hear_self,
                        UNUSED struct why *why)
{
    if (!atomic_load(&toy.alive)) {
        atomic_store(&toy.looked_too_late, true);
    }
    return STATUS_OK;
}

/* The lane has no machine meanwhile. */
static void wind_up(UNUSED void *self)
{
    (void)usleep(SOON_MS * 1000);
}

static enum status next_none(UNUSED void *self, UNUSED enum status ended, bool *more,
                             UNUSED struct why *why)
{
    *more = false;
    return STATUS_OK;
}

/* Runs one lane, whose source is due all the time. How its machine is made and unmade, what follows it and how its source is
 * looked at is the case's. */
static void drive_one(struct driver_factory factory, struct driver_source from)
{
    void *lane[] = {&of_lane[0]};
    from.every_ms = 1;
    const struct driver_source *source[] = {&from};
    const struct driver_options options = {
        .endpoint = endpoint_to_nobody(), .no_signals = true, .source = source, .source_count = 1};
    factory.waits = true;
    factory.lane = lane;
    factory.lane_count = 1;
    factory.next = next_none;
    factory.wants = wants;
    int exit_code = 1;
    struct why why = {{0}};
    cr_assert_eq(driver_run(&options, &factory, &exit_code, &why), STATUS_OK, "%s", why.text);
    endpoint_free(options.endpoint);
}

/* Planted: the look that was due began for a machine that was unmade before it. */
Test(driver_together, nothing_is_looked_at_for_a_machine_that_is_gone, .timeout = 120)
{
    drive_one(
        (struct driver_factory){.make = make_ticking, .unmake = unmake_ticking, .wind_up = wind_up},
        (struct driver_source){.look = look});
    cr_expect_not(atomic_load(&toy.looked_too_late));
}

/* Fails at what others say, and is due all the time. */
static enum status fail_at_what_is_heard(UNUSED void *self, const struct event *event,
                                         UNUSED struct effects *effects)
{
    if (event->kind == EVENT_START || event->kind == EVENT_TICK) {
        toy.wake_ms = event->now_ms + 2;
    }
    if (atomic_load(&toy.failed)) {
        atomic_store(&toy.stepped_too_late, true);
    }
    if (event->kind == EVENT_STANDINGS) {
        atomic_store(&toy.failed, true);
        return STATUS_CORRUPT;
    }
    return STATUS_OK;
}

static enum status make_failing(void *self, struct machine *machine, struct journal *journal,
                                UNUSED struct why *why)
{
    toy.wake_ms = INT64_MAX;
    *machine =
        (struct machine){.self = self, .step = fail_at_what_is_heard, .wake_ms = wake_of_toy};
    *journal = empty_journal(self);
    return STATUS_OK;
}

/* The server is slow after it has told something. */
static enum status look_and_linger(UNUSED void *self, driver_hear *hear, void *hear_self,
                                   UNUSED struct why *why)
{
    const struct event event = {.kind = EVENT_STANDINGS};
    const enum status status = hear(hear_self, &event);
    (void)usleep(SOON_MS * 1000);
    return status;
}

/* Planted: the machine failed at something that it heard from a look, and got further events until that
 * look was over. */
Test(driver_together, a_machine_that_failed_while_its_source_is_looked_at_hears_nothing,
     .timeout = 120)
{
    drive_one((struct driver_factory){.make = make_failing, .unmake = unmake},
              (struct driver_source){.look = look_and_linger});
    cr_expect(atomic_load(&toy.failed));
    cr_expect_not(atomic_load(&toy.stepped_too_late));
}
