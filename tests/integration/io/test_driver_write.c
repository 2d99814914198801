/* A journal that waits for a server: while one lane's write is on its way every machine goes on, also its own. Lane 1 writes.
 * Each of its writes ends once lane 0 has had TURNS events, or after PATIENCE_MS, which means that the loop stood still. */

#include "io/clock.h"
#include "io/driver.h"
#include "io/journal_watch.h"
#include "protocol/wire.h"
#include "tests/integration/io/toy_machine.h"
#include "tests/support/quiet_fork.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 20, PATIENCE_MS = 60000, WROTE_LATE = 17 };

typedef enum status script(char event, struct effects *effects);

static struct {
    /* S start, t a tick during a write, C committed, W worked, E said by others, | a machine is made, X it is freed */
    char heard[1024];
    char wrote[1024]; /* by its thread: a record's letter, or the number of one that is forgotten */
    script *script;
    unsigned fails; /* the write, from 1, whose outcome is unknown; 0: none */
    unsigned writes;
    unsigned made;
    unsigned looks[2];
    unsigned looks_meanwhile; /* of lane 0's source, while lane 1 writes */
    bool tick_fails;          /* the machine's next tick while it is written */
    bool asked_for;           /* the first machine has asked for a write */
    bool done;
    bool stops; /* a write brings SIGTERM with it, and takes longer than the grace */
    atomic_uint turns;
    atomic_bool is_writing;
    atomic_bool is_working;
    atomic_bool blocked;
    atomic_uint wound_up;
    int64_t wake_ms[2];
} slow;

static void wait_for_the_others(atomic_bool *during)
{
    const unsigned from = atomic_load(&slow.turns);
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    cr_assert_not(atomic_load(during), "two at once");
    atomic_store(during, true);
    while (atomic_load(&slow.turns) < from + TURNS && clock_now_ms() < until_ms) {
        (void)usleep(1000);
    }
    if (atomic_load(&slow.turns) < from + TURNS) {
        atomic_store(&slow.blocked, true);
    }
    atomic_store(during, false);
}

static enum status write_one(char letter)
{
    if (slow.stops) {
        (void)kill(getpid(), SIGTERM);
        (void)usleep(400000);
    } else {
        wait_for_the_others(&slow.is_writing);
    }
    note(slow.wrote, letter);
    return ++slow.writes == slow.fails ? STATUS_UNKNOWN_OUTCOME : STATUS_OK;
}

static enum status append(UNUSED void *self, uint64_t *sequence, struct slice body,
                          UNUSED struct slice blob)
{
    const enum status status = write_one(*(const char *)body.data);
    *sequence = slow.writes;
    return status;
}

static enum status forget(UNUSED void *self, uint64_t sequence)
{
    return write_one((char)('0' + sequence));
}

static const char *trouble(UNUSED const void *self)
{
    return "the server says no";
}

static void told(UNUSED void *self, struct slice body, UNUSED struct slice blob)
{
    note(slow.heard, (char)(*(const char *)body.data + 'A' - 'a'));
}

static void compute(UNUSED void *self)
{
    wait_for_the_others(&slow.is_working);
}

static enum status clock_step(void *self, const struct event *event, struct effects *effects)
{
    int64_t *wake_ms = self;
    *wake_ms = event->now_ms + 2;
    if (event->kind == EVENT_TICK) {
        atomic_fetch_add(&slow.turns, 1);
    }
    if (slow.done) {
        effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = 0;
    }
    return STATUS_OK;
}

static char letter_of(const struct event *event)
{
    const bool meanwhile = event->kind == EVENT_TICK && atomic_load(&slow.is_writing) &&
                           slow.heard[strlen(slow.heard) - 1] != 't';
    return event->kind == EVENT_START       ? 'S'
           : event->kind == EVENT_COMMITTED ? 'C'
           : event->kind == EVENT_WORKED    ? 'W'
           : event->kind == EVENT_STANDINGS ? 'E'
           : meanwhile                      ? 't'
                                            : '\0';
}

static enum status step(void *self, const struct event *event, struct effects *effects)
{
    int64_t *wake_ms = self;
    const char letter = letter_of(event);
    *wake_ms = event->now_ms + 2;
    if (letter != '\0') {
        note(slow.heard, letter);
    }
    if (letter == 't' && slow.tick_fails) {
        slow.tick_fails = false;
        return STATUS_NO_MEMORY;
    }
    return letter == '\0' ? STATUS_OK : slow.script(letter, effects);
}

static enum status make(void *self, struct machine *machine, struct journal *journal,
                        UNUSED struct why *why)
{
    const bool is_clock = self == &slow.wake_ms[0];
    *machine = (struct machine){
        .self = self, .step = is_clock ? clock_step : step, .work = compute, .wake_ms = wake_of};
    *journal = empty_journal(self);
    journal->waits = true;
    journal->append = append;
    journal->told = told;
    journal->forget = forget;
    journal->trouble = trouble;
    if (!is_clock) {
        slow.made++;
        note(slow.heard, '|');
    }
    return STATUS_OK;
}

static void unmake_watched(void *self, UNUSED struct machine *machine, struct journal *journal)
{
    if (self == &slow.wake_ms[1]) {
        cr_expect_not(atomic_load(&slow.is_writing), "a machine was unmade under its write");
        note(slow.heard, 'X');
    }
    journal_close(journal);
}

static void wind_up(void *self)
{
    if (self == &slow.wake_ms[1]) {
        atomic_fetch_add(&slow.wound_up, 1);
    }
}

static enum status next(void *self, UNUSED enum status ended, bool *more, UNUSED struct why *why)
{
    *more = false;
    slow.done = slow.done || self == &slow.wake_ms[1];
    return STATUS_OK;
}

static bool wants(UNUSED void *self)
{
    return !slow.done;
}

static enum status look(void *self, driver_hear *hear, void *hear_self, UNUSED struct why *why)
{
    const struct event event = {.kind = EVENT_STANDINGS};
    const size_t index = (size_t)((unsigned *)self - slow.looks);
    slow.looks[index]++;
    if (index == 0) {
        slow.looks_meanwhile += atomic_load(&slow.is_writing) ? 1 : 0;
        return STATUS_OK;
    }
    cr_expect_not(atomic_load(&slow.is_writing), "a source is looked at while its lane writes");
    const enum status status = slow.looks[1] == 1 ? hear(hear_self, &event) : STATUS_OK;
    (void)usleep(5000); /* goes on with the connection after its machine has asked for a write */
    cr_expect_not(atomic_load(&slow.is_writing), "a write begins while its source is looked at");
    return status;
}

static void run_driver(script *of, const struct driver_options *options,
                       const struct driver_factory *factory)
{
    int exit_code = 1;
    struct why why = {{0}};
    slow.script = of;
    cr_assert_eq(driver_run(options, factory, &exit_code, &why), STATUS_OK, "%s", why.text);
    endpoint_free(options->endpoint);
}

static void expect_told(const char *wrote, const char *heard)
{
    cr_expect_str_eq(slow.wrote, wrote, "%s", slow.wrote);
    cr_expect_str_eq(slow.heard, heard, "%s", slow.heard);
}

static void run(script *of, bool sources)
{
    void *lane[] = {&slow.wake_ms[0], &slow.wake_ms[1]};
    const struct driver_source from[] = {
        {.self = &slow.looks[0], .look = look, .every_ms = 1, .lane = 0},
        {.self = &slow.looks[1], .look = look, .every_ms = 1, .lane = 1}};
    const struct driver_source *source[] = {&from[0], &from[1]};
    const struct driver_options options = {.endpoint = endpoint_to_nobody(),
                                           .source = source,
                                           .source_count = sources ? 2 : 0,
                                           .stop_grace_ms = 50};
    const struct driver_factory factory = {.lane = lane,
                                           .lane_count = 2,
                                           .make = make,
                                           .unmake = unmake_watched,
                                           .wind_up = wind_up,
                                           .next = next,
                                           .wants = wants};
    run_driver(of, &options, &factory);
    cr_expect_not(atomic_load(&slow.blocked), "the loop stood still during a write");
}

static void commit(struct effects *effects, const char *body)
{
    effects_add(effects, EFFECT_COMMIT)->as.commit.body = (struct slice){body, 1};
}

static void finish(struct effects *effects)
{
    effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = 0;
}

/* One step writes two records and forgets a blob between them. The next step reuses the first body's memory. */
static enum status in_order(char event, struct effects *effects)
{
    static char body = 'a';
    static unsigned committed;
    if (event == 'S') {
        commit(effects, &body);
        effects_add(effects, EFFECT_FORGET)->as.forget.sequence = 7;
        commit(effects, "b");
    } else if (event == 't') {
        body = 'z';
    } else if (event == 'C' && ++committed == 2) {
        finish(effects);
    }
    return STATUS_OK;
}

Test(driver_write, everybody_goes_on_while_one_writes, .timeout = 120)
{
    run(in_order, false);
    expect_told("a7b", "|StACtBCX"); /* of each record before the machine is told of its commit */
    cr_expect_eq(atomic_load(&slow.wound_up), 1);
}

/* A machine finishes before its last writes are done. Its lane stays until then, and no other lane waits. */
static enum status finishes_first(char event, struct effects *effects)
{
    if (event == 'S') {
        effects_add(effects, EFFECT_FORGET)->as.forget.sequence = 1;
        effects_add(effects, EFFECT_FORGET)->as.forget.sequence = 2;
        finish(effects);
    }
    return STATUS_OK;
}

Test(driver_write, one_that_has_finished_is_written_first, .timeout = 120)
{
    run(finishes_first, false);
    expect_told("12", "|SX");
    cr_expect_eq(atomic_load(&slow.wound_up), 1);
}

Test(driver_write, one_that_has_finished_and_is_not_written_is_made_anew, .timeout = 120)
{
    slow.fails = 1;
    run(finishes_first, false);
    expect_told("112", "|SX|SX");
    cr_expect_eq(atomic_load(&slow.wound_up), 1);
}

/* If a write fails, no machine is told, and the next write is not begun. */
static enum status ends_when_made_anew(char event, struct effects *effects)
{
    if (event == 'S' && slow.made == 1) {
        commit(effects, "a");
        commit(effects, "b");
    } else if (event == 'S') {
        finish(effects);
    }
    return STATUS_OK;
}

Test(driver_write, a_write_that_fails_throws_its_machine_away, .timeout = 120)
{
    slow.fails = 1;
    run(ends_when_made_anew, false);
    expect_told("a", "|StX|SX");
}

/* The write ends after its machine was given up. The machine is freed then, and only the next one hears of the record. */
Test(driver_write, a_machine_that_fails_is_unmade_once_its_write_is_back, .timeout = 120)
{
    slow.tick_fails = true;
    run(ends_when_made_anew, false);
    expect_told("a", "|StX|SX");
}

/* A lane may compute and write at the same time. */
static enum status computes_meanwhile(char event, struct effects *effects)
{
    static unsigned over;
    if (event == 'S') {
        commit(effects, "a");
        effects_add(effects, EFFECT_WORK);
    } else if ((event == 'C' || event == 'W') && ++over == 2) {
        finish(effects);
    }
    return STATUS_OK;
}

Test(driver_write, one_lane_writes_and_computes_at_once, .timeout = 120)
{
    run(computes_meanwhile, false);
    cr_expect_str_eq(slow.wrote, "a", "%s", slow.wrote);
    cr_expect(strchr(slow.heard, 'W') && strchr(slow.heard, 'C'), "%s", slow.heard);
}

/* A source may share the journal's connection. It is asked again when the write is done; another lane's is asked meanwhile. */
static enum status writes_by_a_source(char event, struct effects *effects)
{
    static bool committed;
    if (event == 'E') {
        commit(effects, "a");
    }
    committed = committed || event == 'C';
    if (committed && slow.looks[1] > 1) {
        finish(effects);
    } else if (committed) {
        commit(effects, "b"); /* until it is asked again, which is between two writes */
    }
    return STATUS_OK;
}

Test(driver_write, a_source_and_its_lane_take_turns, .timeout = 120)
{
    run(writes_by_a_source, true);
    cr_expect_eq(slow.wrote[0], 'a', "%s", slow.wrote);
    cr_expect_gt(slow.looks_meanwhile, 1, "another lane's source has to wait");
}

/* The same with one lane, where nobody else wakes the loop. */
static enum status alone(char event, struct effects *effects)
{
    if (event == 'E' || event == 'S') {
        commit(effects, event == 'S' ? "s" : "e");
    } else if (event == 'C' && slow.looks[1] > 0 && slow.writes > 1) {
        finish(effects);
    }
    return STATUS_OK;
}

static enum status append_at_once(UNUSED void *self, uint64_t *sequence, struct slice body,
                                  UNUSED struct slice blob)
{
    atomic_store(&slow.is_writing, true);
    (void)usleep(30000);
    note(slow.wrote, *(const char *)body.data);
    *sequence = ++slow.writes;
    atomic_store(&slow.is_writing, false);
    return STATUS_OK;
}

static struct journal_watch *watched_by; /* NULL: nobody */

static enum status make_alone(void *self, struct machine *machine, struct journal *journal,
                              struct why *why)
{
    const enum status status = make(self, machine, journal, why);
    journal->append = append_at_once;
    if (watched_by != NULL) {
        journal_watch_begin(watched_by, journal);
    }
    return status;
}

static void run_alone(script *of, struct journal_watch *watch, struct driver_options options)
{
    const struct driver_factory factory = {
        .self = &slow.wake_ms[1], .make = make_alone, .unmake = unmake_watched};
    options.endpoint = endpoint_to_nobody();
    watched_by = watch;
    run_driver(of, &options, &factory);
}

Test(driver_write, a_source_and_the_only_lane_take_turns, .timeout = 120)
{
    const struct driver_source from = {.self = &slow.looks[1], .look = look, .every_ms = 1};
    const struct driver_source *source[] = {&from};
    const int64_t began_ms = clock_now_ms();
    run_alone(alone, NULL, (struct driver_options){.source = source, .source_count = 1});
    cr_expect_str_eq(slow.wrote, "se", "%s", slow.wrote);
    cr_expect_lt(clock_now_ms() - began_ms, PATIENCE_MS);
}

/* Another program goes on with the journal, and the driver sees it while a record is on its way. Once the write has ended the
 * machine is freed, and the next machine finds out. */
static bool is_taken(UNUSED void *self)
{
    return slow.made == 1 && slow.asked_for;
}

static enum status commits_until_made_anew(char event, struct effects *effects)
{
    slow.asked_for = true;
    return ends_when_made_anew(event, effects);
}

Test(driver_write, a_lead_that_is_lost_meanwhile_lets_its_machine_go, .timeout = 120)
{
    run_alone(commits_until_made_anew, NULL, (struct driver_options){.lost = is_taken});
    expect_told("a", "|SX|SX");
}

/* A stop waits for a write, also for longer than for a computation: the journal is given back in order. Later writes are not
 * begun, and the machine is told nothing. */
static enum status two_records(char event, struct effects *effects)
{
    if (event == 'S') {
        commit(effects, "a");
        commit(effects, "b");
    }
    return STATUS_OK;
}

Test(driver_write, a_stop_waits_for_what_is_being_written, .timeout = 120)
{
    int result = 1;
    const pid_t child = quiet_fork();
    if (child == 0) {
        slow.stops = true;
        run(two_records, false);
        _exit(strcmp(slow.wrote, "a") == 0 && strcmp(slow.heard, "|SX") == 0 ? WROTE_LATE : 1);
    }
    cr_assert_eq(waitpid(child, &result, 0), child);
    cr_expect(WIFEXITED(result) && WEXITSTATUS(result) == WROTE_LATE, "%d", result);
}

/* Only the loop changes what a page shows. */
static pthread_t noted_by;

static void note_record(UNUSED void *self, UNUSED const struct record *record,
                        UNUSED struct slice blob)
{
    note(slow.heard, 'N');
    noted_by = pthread_self();
}

static uint8_t *packed;
static size_t packed_bytes;

static enum status commits_a_record(char event, struct effects *effects)
{
    if (event == 'S') {
        effects_add(effects, EFFECT_COMMIT)->as.commit.body = (struct slice){packed, packed_bytes};
    } else if (event == 'C') {
        finish(effects);
    }
    return STATUS_OK;
}

Test(driver_write, a_watch_is_told_on_the_loops_thread, .timeout = 120)
{
    struct record record = {.kind = RECORD_ROUND, .as.round = {.job = {{1}}}};
    struct journal_watch watch = {.note = note_record};
    cr_assert_eq(wire_encode_record(&packed, &packed_bytes, &record), STATUS_OK);
    run_alone(commits_a_record, &watch, (struct driver_options){.stop_grace_ms = 0});
    free(packed);
    const char *noted = strchr(slow.heard, 'N');
    cr_assert_not_null(noted, "%s", slow.heard);
    cr_expect_eq(noted[1], 'C', "%s", slow.heard);
    cr_expect(pthread_equal(noted_by, pthread_self()));
}
