/* A stop that comes while a lane makes its results, which takes longer than the grace for a
 * computation. */

#include "base/exit_code.h"
#include "io/clock.h"
#include "io/driver.h"
#include "tests/integration/io/toy_machine.h"
#include "tests/support/quiet_fork.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 50, WOUND_UP_MS = 400, FOREVER_MS = 60000, STAYS_FOR_WORK = 17 };

static struct {
    int signal;
    int64_t again_ms; /* when the signal comes once more; 0: it does not */
    int64_t wound_up_ms;
    int64_t wake_ms[2];
    atomic_bool wound_up;
    bool followed;
} ending;

static enum status step_to_the_end(void *self, const struct event *event, struct effects *effects)
{
    int64_t *wake_ms = self;
    *wake_ms = event->now_ms + 2;
    if (self == &ending.wake_ms[1]) {
        effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = STAYS_FOR_WORK;
    }
    return STATUS_OK;
}

static enum status make_ending(void *self, struct machine *machine, struct journal *journal,
                               UNUSED struct why *reason)
{
    *machine = (struct machine){.self = self, .step = step_to_the_end, .wake_ms = wake_of};
    *journal = empty_journal(self);
    return STATUS_OK;
}

static void wait_until(int64_t until_ms)
{
    while (clock_now_ms() < until_ms) {
        (void)usleep(1000);
    }
}

static void wind_up_longer_than_the_grace(UNUSED void *self)
{
    const int64_t began_ms = clock_now_ms();
    (void)kill(getpid(), ending.signal);
    if (ending.again_ms > 0) {
        wait_until(began_ms + ending.again_ms);
        (void)kill(getpid(), ending.signal);
    }
    wait_until(began_ms + ending.wound_up_ms);
    atomic_store(&ending.wound_up, true);
}

static enum status next_of_ending(UNUSED void *self, UNUSED enum status ended, bool *more,
                                  UNUSED struct why *reason)
{
    *more = false;
    ending.followed = true;
    return STATUS_OK;
}

static bool wants_ending(UNUSED void *self)
{
    return !ending.followed;
}

/* Ends with the driver's exit code where everything was done in order. */
static void run_ending(int signal, int64_t again_ms, int64_t wound_up_ms)
{
    void *lane[] = {&ending.wake_ms[0], &ending.wake_ms[1]};
    int exit_code = 1;
    struct why why = {{0}};
    const struct driver_options options = {.endpoint = endpoint_to_nobody(),
                                           .stop_grace_ms = GRACE_MS};
    const struct driver_factory factory = {.lane = lane,
                                           .lane_count = 2,
                                           .make = make_ending,
                                           .unmake = unmake,
                                           .wind_up = wind_up_longer_than_the_grace,
                                           .next = next_of_ending,
                                           .wants = wants_ending};
    ending.signal = signal;
    ending.again_ms = again_ms;
    ending.wound_up_ms = wound_up_ms;
    const enum status status = driver_run(&options, &factory, &exit_code, &why);
    const bool whole = status == STATUS_OK && atomic_load(&ending.wound_up) && !ending.followed;
    _exit(whole ? 100 + exit_code : 1);
}

static const struct {
    int signal;
    int code;
} stop[] = {{SIGTERM, 0}, {SIGINT, EXIT_CODE_INTERRUPTED}};

/* Returns the exit code of a program that is stopped in this way, or -1 if a signal ended it. */
static int code_of(int signal, int64_t again_ms, int64_t wound_up_ms)
{
    int result = 1;
    const pid_t child = quiet_fork();
    if (child == 0) {
        run_ending(signal, again_ms, wound_up_ms);
    }
    cr_assert_eq(waitpid(child, &result, 0), child);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

Test(driver_stop, a_stop_waits_until_what_has_finished_is_wound_up)
{
    for (size_t i = 0; i < sizeof stop / sizeof stop[0]; i++) {
        cr_expect_eq(code_of(stop[i].signal, 0, WOUND_UP_MS), 100 + stop[i].code);
    }
}

Test(driver_stop, a_second_signal_ends_the_waiting)
{
    for (size_t i = 0; i < sizeof stop / sizeof stop[0]; i++) {
        const int64_t began_ms = clock_now_ms();
        cr_expect_eq(code_of(stop[i].signal, STOP_AGAIN_MS + 100, FOREVER_MS), stop[i].code);
        cr_expect_lt(clock_now_ms() - began_ms, FOREVER_MS / 2);
    }
}

/* A terminal sends one to each of its programs, and a parent that hears it sends one too. */
Test(driver_stop, two_signals_at_once_are_one)
{
    cr_expect_eq(code_of(SIGTERM, STOP_AGAIN_MS / 10, WOUND_UP_MS), 100);
}
