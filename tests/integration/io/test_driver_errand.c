/* Errands: waiting for a server without writing (driver_errand.c). Lane 0 must go on while lane 1's machine is made or reads its
 * journal, while the driver decides what follows it, and while it looks at its source. Each of these ends once lane 0 has had
 * TURNS events, or after PATIENCE_MS, which means that the loop stood still. Machines step on the loop's thread alone. */

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

enum { TURNS = 20, PATIENCE_MS = 60000, RECORDS = 3, FOREVER_MS = 60000, HELD_MS = 400 };

static struct {
    char heard
        [1024]; /* m made, r a record, S start, E said by others, n what follows: n is lane 1's thread's */
    pthread_t loop;
    atomic_uint turns;
    atomic_bool blocked;
    bool stepped_elsewhere;
    bool refused;
    bool done;
    unsigned made;
    bool puts_off;          /* the first make */
    int64_t stops_again_ms; /* a write brings a signal, and once more after this time; 0: once */
    int64_t held_ms;        /* how long that write takes */
    bool stops_in_make;     /* how long reading takes */
    bool unmade;
    int64_t wake_ms[2];
} far;

static void wait_for_the_others(void)
{
    const unsigned from = atomic_load(&far.turns);
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (atomic_load(&far.turns) < from + TURNS && clock_now_ms() < until_ms) {
        (void)usleep(1000);
    }
    if (atomic_load(&far.turns) < from + TURNS) {
        atomic_store(&far.blocked, true);
    }
}

static bool is_clock(const void *self)
{
    return self == &far.wake_ms[0];
}

static enum status step(void *self, const struct event *event, struct effects *effects)
{
    int64_t *wake_ms = self;
    far.stepped_elsewhere = far.stepped_elsewhere || !pthread_equal(pthread_self(), far.loop);
    *wake_ms = event->now_ms + 2;
    if (is_clock(self) && event->kind == EVENT_TICK) {
        atomic_fetch_add(&far.turns, 1);
    } else if (!is_clock(self) && event->kind != EVENT_TICK) {
        note(far.heard, event->kind == EVENT_RECORD ? 'r' : event->kind == EVENT_START ? 'S' : 'E');
    }
    if (is_clock(self) ? far.done : event->kind == EVENT_STANDINGS) {
        effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = 0;
    } else if (!is_clock(self) && event->kind == EVENT_START && far.held_ms > 0) {
        effects_add(effects, EFFECT_COMMIT)->as.commit.body = (struct slice){"a", 1};
    }
    return STATUS_OK;
}

static enum status read_slowly(void *self, journal_visit *visit, void *visit_self,
                               UNUSED struct why *why)
{
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < RECORDS && status == STATUS_OK && !is_clock(self); i++) {
        if (far.held_ms == 0) {
            wait_for_the_others();
        } else if (far.stops_in_make && i == 1) {
            (void)kill(getpid(), SIGTERM);
            (void)usleep(HELD_MS * 1000);
        }
        status = visit(visit_self, i + 1, (struct slice){"r", 1}, (struct slice){NULL, 0});
    }
    far.refused = far.refused || status == STATUS_BUSY;
    return status;
}

static void wait_until(int64_t until_ms)
{
    while (clock_now_ms() < until_ms) {
        (void)usleep(1000);
    }
}

static enum status append_and_stop(UNUSED void *self, uint64_t *sequence, UNUSED struct slice body,
                                   UNUSED struct slice blob)
{
    const int64_t began_ms = clock_now_ms();
    (void)kill(getpid(), SIGTERM);
    if (far.stops_again_ms > 0) {
        wait_until(began_ms + far.stops_again_ms);
        (void)kill(getpid(), SIGTERM);
    }
    wait_until(began_ms + far.held_ms);
    *sequence = RECORDS + 1;
    return STATUS_OK;
}

static void note_made(UNUSED void *self)
{
    note(far.heard, 'm');
}

static enum status make(void *self, struct machine *machine, struct journal *journal,
                        struct why *why)
{
    if (!is_clock(self)) {
        cr_expect(!pthread_equal(pthread_self(), far.loop), "a machine is made by the loop");
        if (far.held_ms == 0) {
            wait_for_the_others();
        }
        if (far.puts_off && far.made++ == 0) {
            why_set(why, "the server is away");
            return STATUS_AGAIN;
        }
        if (!worker_on_owner(note_made, NULL)) {
            return STATUS_BUSY;
        }
    }
    *machine = (struct machine){.self = self, .step = step, .wake_ms = wake_of};
    *journal = (struct journal){.self = self,
                                .waits = true,
                                .append = append_and_stop,
                                .each = read_slowly,
                                .trouble = no_trouble,
                                .close = close_nothing};
    return STATUS_OK;
}

static void unmake_far(void *self, UNUSED struct machine *machine, struct journal *journal)
{
    far.unmade = far.unmade || !is_clock(self);
    journal_close(journal);
}

static enum status next(void *self, enum status ended, bool *more, UNUSED struct why *why)
{
    if (!is_clock(self) && ended == STATUS_OK) {
        wait_for_the_others();
        note(far.heard, 'n');
    }
    *more = ended == STATUS_AGAIN;
    far.done = far.done || (!is_clock(self) && ended == STATUS_OK);
    return STATUS_OK;
}

static bool wants(UNUSED void *self)
{
    return !far.done;
}

static enum status look(UNUSED void *self, driver_hear *hear, void *hear_self,
                        UNUSED struct why *why)
{
    const struct event event = {.kind = EVENT_STANDINGS};
    wait_for_the_others();
    return hear(hear_self, &event);
}

static enum status run(bool sources)
{
    void *lane[] = {&far.wake_ms[0], &far.wake_ms[1]};
    const struct driver_source from = {.look = look, .every_ms = 1, .lane = 1};
    const struct driver_source *source[] = {&from};
    const struct driver_options options = {.endpoint = endpoint_to_nobody(),
                                           .source = source,
                                           .source_count = sources ? 1 : 0,
                                           .stop_grace_ms = 50};
    const struct driver_factory factory = {.waits = true,
                                           .lane = lane,
                                           .lane_count = 2,
                                           .make = make,
                                           .unmake = unmake_far,
                                           .next = next,
                                           .wants = wants};
    int exit_code = 1;
    struct why why = {{0}};
    far.loop = pthread_self();
    const enum status status = driver_run(&options, &factory, &exit_code, &why);
    endpoint_free(options.endpoint);
    return status;
}

/* Planted: the loop made the machine, read its journal, looked at its source and decided what follows. */
Test(driver_errand, everybody_goes_on_while_one_waits_for_a_server, .timeout = 300)
{
    cr_assert_eq(run(true), STATUS_OK);
    cr_expect_str_eq(far.heard, "mrrrSEn", "%s", far.heard);
    cr_expect_not(atomic_load(&far.blocked), "the loop stood still");
    cr_expect_not(far.stepped_elsewhere, "a machine stepped beside the loop");
    cr_expect(far.unmade);
}

Test(driver_errand, one_that_is_put_off_is_tried_again, .timeout = 300)
{
    far.puts_off = true;
    cr_assert_eq(run(true), STATUS_OK);
    cr_expect_str_eq(far.heard, "mrrrSEn", "%s", far.heard);
    cr_expect_eq(far.made, 2);
    cr_expect_not(atomic_load(&far.blocked), "the loop stood still");
}

/* Returns the program's exit code, or -1 if a signal ended it. */
static int code_of(void)
{
    int result = 1;
    const pid_t child = quiet_fork();
    if (child == 0) {
        const enum status status = run(false);
        const bool read = far.stops_in_make ? far.refused : strcmp(far.heard, "mrrrS") == 0;
        _exit(status == STATUS_OK && far.unmade && read ? 17 : 1);
    }
    cr_assert_eq(waitpid(child, &result, 0), child);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

/* After a stop the loop ignores what the thread has read, and the machine that was made is freed. */
Test(driver_errand, a_stop_ends_the_reading_of_a_journal, .timeout = 120)
{
    far.held_ms = 1;
    far.stops_in_make = true;
    cr_expect_eq(code_of(), 17);
}

Test(driver_errand, a_stop_waits_for_what_is_being_written, .timeout = 120)
{
    far.held_ms = HELD_MS;
    cr_expect_eq(code_of(), 17);
}

/* Planted: it was ignored until the record was there. */
Test(driver_errand, a_second_signal_ends_the_waiting_for_a_record, .timeout = 120)
{
    const int64_t began_ms = clock_now_ms();
    far.held_ms = FOREVER_MS;
    far.stops_again_ms = STOP_AGAIN_MS + 200;
    cr_expect_eq(code_of(), 0);
    cr_expect_lt(clock_now_ms() - began_ms, FOREVER_MS / 2);
}
