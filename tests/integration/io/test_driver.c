/* The driver, with a machine that writes down what it is told and does what the test says. */

#include "io/clock.h"
#include "io/driver.h"
#include "tests/integration/io/toy_machine.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS_MAX = 16 };

/* The world of one test: it survives restarts of the machine. */
static struct {
    char
        heard[1024]; /* R record, S start, T tick, C committed, W worked, O roster, | new machine */
    char done[1024]; /* what observe saw of effects */
    char record[RECORDS_MAX];
    size_t records;
    char committed[64]; /* the numbers that commits were answered with */
    char forgotten[64];
    unsigned settles;
    enum status settle_fails;     /* the next one */
    unsigned appends_until_fault; /* 0: none */
    enum status fault;
    bool fault_kept; /* the record is there in spite of the fault */
    unsigned made;
    enum status make_fails;
    enum status (*script)(char event, struct effects *effects);
    int64_t wake_ms;
    unsigned worked;
} world;

static enum status toy_step(UNUSED void *self, const struct event *event, struct effects *effects)
{
    static const char letter[] = {
        [EVENT_RECORD] = 'R', [EVENT_START] = 'S', [EVENT_TICK] = 'T',      [EVENT_MESSAGE] = 'M',
        [EVENT_ROSTER] = 'O', [EVENT_FILE] = 'F',  [EVENT_COMMITTED] = 'C', [EVENT_WORKED] = 'W'};
    note(world.heard, letter[event->kind]);
    if (event->kind == EVENT_COMMITTED) {
        note(world.committed, (char)('0' + event->as.committed.sequence));
    }
    world.wake_ms = INT64_MAX;
    return world.script(letter[event->kind], effects);
}

static int64_t toy_wake(UNUSED const void *self)
{
    return world.wake_ms;
}

static void toy_work(UNUSED void *self)
{
    usleep(20000);
    world.worked++;
}

static enum status fake_append(UNUSED void *self, uint64_t *sequence, struct slice body,
                               UNUSED struct slice blob)
{
    bool strikes = world.appends_until_fault > 0 && --world.appends_until_fault == 0;
    if (!strikes || world.fault_kept) {
        cr_assert_lt(world.records, RECORDS_MAX);
        world.record[world.records++] = *(const char *)body.data;
        *sequence = world.records;
    }
    return strikes ? world.fault : STATUS_OK;
}

static enum status fake_forget(UNUSED void *self, uint64_t sequence)
{
    note(world.forgotten, (char)('0' + sequence));
    return STATUS_OK;
}

static enum status fake_settle(UNUSED void *self)
{
    const enum status status = world.settle_fails;
    world.settle_fails = STATUS_OK;
    world.settles++;
    return status;
}

static enum status fake_each(UNUSED void *self, journal_visit *visit, void *visit_self,
                             UNUSED struct why *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < world.records; i++) {
        status =
            visit(visit_self, i + 1, (struct slice){&world.record[i], 1}, (struct slice){NULL, 0});
    }
    return status;
}

static const char *fake_trouble(UNUSED const void *self)
{
    return "the test's disk failed";
}

static void fake_close(UNUSED void *self)
{
}

static enum status make(UNUSED void *self, struct machine *machine, struct journal *journal,
                        struct why *why)
{
    world.made++;
    note(world.heard, '|');
    world.wake_ms = INT64_MAX;
    *machine =
        (struct machine){.self = &world, .step = toy_step, .work = toy_work, .wake_ms = toy_wake};
    *journal = (struct journal){.self = &world,
                                .append = fake_append,
                                .forget = fake_forget,
                                .settle = fake_settle,
                                .each = fake_each,
                                .trouble = fake_trouble,
                                .close = fake_close};
    if (world.make_fails != STATUS_OK) {
        why_set(why, "cannot be made");
    }
    return world.make_fails;
}

static void observe(UNUSED void *self, const char *step, UNUSED unsigned count)
{
    static const struct {
        const char *step;
        char letter;
    } each[] = {
        {"commit-before", '['}, {"commit-after", ']'}, {"send-before", 's'}, {"event-after", '.'}};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        if (strcmp(step, each[i].step) == 0) {
            note(world.done, each[i].letter);
        }
    }
}

static int exit_code;
static struct why why;

static unsigned machines_left;

static enum status next(UNUSED void *self, enum status ended, bool *more, struct why *reason)
{
    note(world.heard, ended == STATUS_OK ? '+' : '-');
    *more = machines_left > 0;
    machines_left -= *more ? 1 : 0;
    why_set(reason, "no next one");
    return world.fault_kept ? STATUS_IO : STATUS_OK; /* planted */
}

/* Runs machines one after another, which follow files. */
static enum status run_after_another(const struct driver_file *file, size_t files,
                                     enum status (*script)(char event, struct effects *effects))
{
    struct endpoint *endpoint = endpoint_to_nobody();
    world.script = script;
    struct driver_options options = {
        .endpoint = endpoint, .observe = observe, .file = file, .file_count = files};
    struct driver_factory factory = {
        .make = make, .unmake = unmake, .next = files > 0 ? next : NULL};
    enum status status = driver_run(&options, &factory, &exit_code, &why);
    endpoint_free(endpoint);
    return status;
}

static enum status run(enum status (*script)(char event, struct effects *effects))
{
    return run_after_another(NULL, 0, script);
}

/* Runs one to a good end, and judges what its machines have heard. */
static void hears(const char *heard, enum status (*script)(char event, struct effects *effects))
{
    cr_assert_eq(run(script), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(world.heard, heard);
}

static void commit(struct effects *effects, const char *body)
{
    effects_add(effects, EFFECT_COMMIT)->as.commit.body = (struct slice){body, 1};
}

static void send_something(struct effects *effects)
{
    struct effect *effect = effects_add(effects, EFFECT_SEND);
    effect->as.send.peer = (struct peer){"coordinator"};
    effect->as.send.control = (struct slice){"x", 1};
}

static void finish(struct effects *effects, int code)
{
    effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = code;
}

static enum status in_order(char event, struct effects *effects)
{
    static unsigned committed;
    if (event == 'S') {
        send_something(effects);
        commit(effects, "a");
        commit(effects, "b");
        send_something(effects);
    } else if (event == 'C') {
        send_something(effects);
        if (++committed == 1) {
            commit(effects, "c");
        } else if (committed == 3) {
            effects_add(effects, EFFECT_FORGET)->as.forget.sequence = 2;
            finish(effects, 7);
        }
    }
    return STATUS_OK;
}

Test(driver, effects_are_performed_in_order_and_commits_answered_after_the_step)
{
    hears("|SCCC", in_order);
    cr_expect_eq(exit_code, 7);
    cr_expect_str_eq(world.committed, "123", "with its own record's number");
    cr_expect_str_eq(world.forgotten, "2");
    cr_expect_str_eq(world.done, ".s[][]s.s[].s.s");
    cr_expect_eq(world.records, 3);
}

static enum status finish_at_start(char event, struct effects *effects)
{
    if (event == 'S') {
        finish(effects, 0);
    }
    return STATUS_OK;
}

Test(driver, the_journal_is_replayed_before_the_start)
{
    memcpy(world.record, "xyz", 3);
    world.records = 3;
    hears("|RRRS", finish_at_start);
}

static enum status commit_then_finish(char event, struct effects *effects)
{
    if (event == 'S' && world.records == 0) {
        commit(effects, "a");
    } else if (event == 'C' || event == 'S') {
        finish(effects, 0);
    }
    return STATUS_OK;
}

/* Where nobody knows what became of a commit, its record may be there. The old machine hears nothing more. */
Test(driver, a_commit_that_failed_means_a_new_machine_that_recovers)
{
    static const struct {
        enum status fault;
        bool fault_kept;
        const char *heard;
    } each[] = {{STATUS_UNKNOWN_OUTCOME, true, "|S|RS"}, {STATUS_IO, false, "|S|SC"}};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        memset(&world, 0, sizeof world);
        world.appends_until_fault = 1;
        world.fault = each[i].fault;
        world.fault_kept = each[i].fault_kept;
        hears(each[i].heard, commit_then_finish);
        cr_expect_eq(world.records, 1);
    }
}

static enum status waits_and_finishes(char event, struct effects *effects)
{
    enum { WAITED_MS = 2500 };
    if (event == 'S') {
        world.wake_ms = clock_now_ms() + WAITED_MS;
    } else {
        finish(effects, 0);
    }
    return STATUS_OK;
}

/* A journal that cannot drop it is opened again. */
Test(driver, what_was_forgotten_goes_now_and_then_though_no_record_follows)
{
    hears("|ST", waits_and_finishes);
    cr_expect(world.settles >= 2 && world.settles <= 4, "%u", world.settles);
    memset(&world, 0, sizeof world);
    world.settle_fails = STATUS_UNKNOWN_OUTCOME;
    hears("|S|ST", waits_and_finishes);
    cr_expect_gt(world.settles, 1);
}

static enum status never_works(UNUSED char event, UNUSED struct effects *effects)
{
    return STATUS_NO_MEMORY;
}

Test(driver, restarting_ends_when_it_does_not_help)
{
    cr_expect_eq(run(never_works), STATUS_NO_MEMORY);
    cr_expect_eq(world.made, DRIVER_RESTARTS_MAX + 1);
}

static enum status fails_while_asked_to_stop(UNUSED char event, UNUSED struct effects *effects)
{
    kill(getpid(), SIGTERM);
    return STATUS_NO_MEMORY;
}

Test(driver, stops_in_order_when_the_machine_has_just_failed)
{
    cr_expect_eq(run(fails_while_asked_to_stop), STATUS_OK, "%s", why.text);
    cr_expect_eq(world.made, 1);
    cr_expect_eq(exit_code, 0);
}

static enum status cannot_read(char event, UNUSED struct effects *effects)
{
    return event == 'R' ? STATUS_CORRUPT : STATUS_OK;
}

Test(driver, a_journal_that_cannot_be_read_ends_it_at_once)
{
    world.records = 1;
    cr_expect_eq(run(cannot_read), STATUS_CORRUPT);
    cr_expect_eq(world.made, 1);
    cr_expect_not_null(strstr(why.text, "journal"), "%s", why.text);
}

Test(driver, what_cannot_be_made_ends_it)
{
    world.make_fails = STATUS_BUSY;
    cr_expect_eq(run(finish_at_start), STATUS_BUSY);
    cr_expect_str_eq(why.text, "cannot be made");
}

static enum status tick_three_times(char event, struct effects *effects)
{
    static unsigned ticks;
    if (event == 'T' && ++ticks == 3) {
        finish(effects, 0);
    } else {
        world.wake_ms = clock_now_ms() + 30;
    }
    return STATUS_OK;
}

Test(driver, ticks_come_when_they_are_wanted)
{
    int64_t began_ms = clock_now_ms();
    hears("|STTT", tick_three_times);
    cr_expect_geq(clock_now_ms() - began_ms, 90);
}

static enum status work_then_finish(char event, struct effects *effects)
{
    if (event == 'S') {
        effects_add(effects, EFFECT_WORK);
    } else if (event == 'W') {
        finish(effects, 0);
    }
    return STATUS_OK;
}

Test(driver, work_is_done_beside_the_loop_and_answered)
{
    hears("|SW", work_then_finish);
    cr_expect_eq(world.worked, 1);
}

static int sent;

static enum status send_itself_a_signal(char event, UNUSED struct effects *effects)
{
    if (event == 'S') {
        kill(getpid(), sent);
    }
    return STATUS_OK;
}

/* Ctrl-C in the middle is told from the end. */
Test(driver, signals_end_it_cleanly)
{
    static const struct {
        int sent;
        int exit_code;
    } each[] = {{SIGTERM, 0}, {SIGINT, 130}};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        sent = each[i].sent;
        cr_assert_eq(run(send_itself_a_signal), STATUS_OK);
        cr_expect_eq(exit_code, each[i].exit_code);
    }
}

static void work_very_long(UNUSED void *self)
{
    pause();
}

static enum status stop_while_working(char event, struct effects *effects)
{
    if (event == 'S') {
        effects_add(effects, EFFECT_WORK);
        kill(getpid(), SIGTERM);
    }
    return STATUS_OK;
}

static enum status make_with_long_work(void *self, struct machine *machine, struct journal *journal,
                                       struct why *unused)
{
    enum status status = make(self, machine, journal, unused);
    machine->work = work_very_long;
    return status;
}

Test(driver, a_stop_does_not_wait_for_a_computation_for_ever)
{
    pid_t child = quiet_fork();
    if (child == 0) {
        struct key_pair key;
        struct endpoint *endpoint = NULL;
        if (key_pair_generate(&key) != STATUS_OK) {
            _exit(1);
        }
        struct endpoint_options where = {.address = "tcp://127.0.0.1:9",
                                         .key = &key,
                                         .payload_bytes_max = 65536,
                                         .coordinator_key = key.public_key};
        if (endpoint_dial(&endpoint, &where, NULL) != STATUS_OK) {
            _exit(2);
        }
        world.script = stop_while_working;
        struct driver_options options = {.endpoint = endpoint, .stop_grace_ms = 300};
        struct driver_factory factory = {.make = make_with_long_work, .unmake = unmake};
        _exit(driver_run(&options, &factory, &exit_code, &why) == STATUS_OK ? 3 : 4);
    }
    int result = 1;
    cr_assert_eq(waitpid(child, &result, 0), child);
    cr_expect(WIFEXITED(result) && WEXITSTATUS(result) == 0, "%d", result);
}

static enum status end_on_file(char event, struct effects *effects)
{
    if (event == 'F') {
        finish(effects, (int)world.made);
    }
    return STATUS_OK;
}

/* Each machine hears anew of what is followed, and of nothing at an empty path. */
Test(driver, makes_the_machine_that_takes_the_place_of_one_that_has_finished)
{
    const struct driver_file file[] = {{.path = "", .which = FOLLOWED_CANCEL},
                                       {.path = "/", .which = FOLLOWED_JOBS, .folder = true}};
    memset(&world, 0, sizeof world);
    machines_left = 2;
    cr_assert_eq(run_after_another(file, 2, end_on_file), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(world.heard, "|SF+|SF+|SF+");
    cr_expect_eq(exit_code, 3, "of the last one");
}

static enum status read_elsewhere(void *self, char **text, size_t *size, struct why *reason)
{
    int *reads = self;
    if (++*reads == 1) {
        why_set(reason, "it is away");
        return STATUS_AGAIN;
    }
    *text = strdup("told");
    *size = strlen(*text);
    return STATUS_OK;
}

/* What lies elsewhere than in a file is read by a function. Where that fails, what was told before stays. */
Test(driver, follows_what_is_read_by_a_function)
{
    int reads = 0;
    const struct driver_file file = {
        .path = "elsewhere", .which = FOLLOWED_JOBS, .read = read_elsewhere, .self = &reads};
    memset(&world, 0, sizeof world);
    machines_left = 0;
    cr_assert_eq(run_after_another(&file, 1, end_on_file), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(world.heard, "|SF+");
    cr_expect_eq(reads, 2, "it was away at first");
}

Test(driver, ends_when_there_is_no_next_machine)
{
    const struct driver_file file = {.path = "/", .which = FOLLOWED_JOBS, .folder = true};
    memset(&world, 0, sizeof world);
    machines_left = 2;
    world.fault_kept = true;
    cr_expect_eq(run_after_another(&file, 1, end_on_file), STATUS_IO);
    cr_expect_str_eq(world.heard, "|SF+");
    cr_expect_str_eq(why.text, "no next one");
}
