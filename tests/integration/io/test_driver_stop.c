/* A stop that comes while a lane is wound up, which takes longer than the grace for a computation. */

#include "base/exit_code.h"
#include "io/clock.h"
#include "io/driver.h"
#include "tests/integration/io/toy_machine.h"
#include "tests/support/quiet_fork.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 50, WOUND_UP_MS = 400, STAYS_FOR_WORK = 17 };

static struct {
    int signal;
    int64_t wake_ms[2];
    atomic_bool wound_up;
    bool followed;
} ending;

static int64_t wake_of(const void *self)
{
    return *(const int64_t *)self;
}

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

static void wind_up_longer_than_the_grace(UNUSED void *self)
{
    (void)kill(getpid(), ending.signal);
    for (const int64_t until_ms = clock_now_ms() + WOUND_UP_MS; clock_now_ms() < until_ms;) {
        (void)usleep(1000);
    }
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
static void run_ending(int signal)
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
    const enum status status = driver_run(&options, &factory, &exit_code, &why);
    const bool whole = status == STATUS_OK && atomic_load(&ending.wound_up) && !ending.followed;
    _exit(whole ? 100 + exit_code : 1);
}

Test(driver_stop, a_stop_waits_until_what_has_finished_is_wound_up)
{
    static const struct {
        int signal;
        int code;
    } stop[] = {{SIGTERM, 0}, {SIGINT, EXIT_CODE_INTERRUPTED}};
    for (size_t i = 0; i < sizeof stop / sizeof stop[0]; i++) {
        int result = 1;
        const pid_t child = quiet_fork();
        if (child == 0) {
            run_ending(stop[i].signal);
        }
        cr_assert_eq(waitpid(child, &result, 0), child);
        cr_expect(WIFEXITED(result) && WEXITSTATUS(result) == 100 + stop[i].code, "%d", result);
    }
}
