/* A job that an operator cancels: a record like that of a job that failed, at once, and never a second one. */

#include "base/exit_code.h"
#include "waiting.h"

#include <criterion/criterion.h>
#include <string.h>

enum { AGENTS = 4, LONG_MS = 600000 };

static const char BY[] = "anna at 2026-11-24T10:00:00.000Z\n";

static struct waiting rig;

static void check_cancelled(size_t rounds)
{
    cr_assert_eq(rig.round_count, rounds);
    const struct record *last = &rig.round[rounds - 1];
    cr_expect(last->as.round.failed && last->as.round.cancelled);
    cr_expect_str_eq(last->as.round.cause, "cancelled by anna at 2026-11-24T10:00:00.000Z");
    cr_expect(record_is_valid(last));
    cr_expect(rig.coordinator->outcome.cancelled && rig.coordinator->outcome.finished);
    cr_expect(waiting_said(&rig, "job-cancelled", "cancelled by anna"));
}

Test(round_cancel, before_agents_have_come)
{
    waiting_init(&rig, AGENTS, "minimum: 4, deadline_s: 300", false);
    rig.agent[3].present = false;
    cr_expect_not(waiting_run(&rig, 1, 3000));
    waiting_cancel(&rig, "");
    cr_assert_eq(rig.round_count, 0, "nobody has cancelled it");
    waiting_cancel(&rig, BY);
    check_cancelled(1);
    cr_expect_eq(rig.round[0].as.round.agent_count, 0);
    waiting_free(&rig);
}

Test(round_cancel, in_an_open_round_names_those_who_have_answered)
{
    waiting_init(&rig, AGENTS, "minimum: 4, deadline_s: 300", false);
    rig.agent[3].mute = true;
    cr_expect_not(waiting_run(&rig, 1, 3000));
    cr_assert_eq(rig.coordinator->phase, PHASE_OPEN);
    waiting_cancel(&rig, BY);
    check_cancelled(1);
    cr_expect_eq(rig.round[0].as.round.agent_count, 3);
    cr_expect_not(waiting_counted(&rig, 0, 3));
    waiting_free(&rig);
}

Test(round_cancel, ends_the_job_once_and_tells_the_agents)
{
    waiting_init(&rig, AGENTS, "minimum: 4, deadline_s: 300", false);
    cr_assert(waiting_run(&rig, 2, LONG_MS));
    waiting_cancel(&rig, BY);
    waiting_cancel(&rig, "someone else at another time\n");
    check_cancelled(3);
    (void)waiting_run(&rig, WAITING_ROUNDS, LONG_MS);
    cr_expect_eq(rig.round_count, 3, "nothing is decided after it");
    cr_expect(rig.finished && rig.exit_code == EXIT_CODE_JOB_FAILED);
    for (size_t i = 0; i < AGENTS; i++) {
        cr_expect_eq(rig.agent[i].rounds_closed, 3, "agent %zu was not told", i);
    }
    waiting_free(&rig);
}

Test(round_cancel, after_the_end_changes_nothing)
{
    waiting_init(&rig, AGENTS, "minimum: 4, deadline_s: 300", false);
    cr_assert(waiting_run(&rig, WAITING_ROUNDS, LONG_MS));
    waiting_cancel(&rig, BY);
    cr_expect_eq(rig.round_count, WAITING_ROUNDS);
    cr_expect_not(rig.coordinator->outcome.failed);
    waiting_free(&rig);
}

Test(round_cancel, is_kept_by_the_journal)
{
    waiting_init(&rig, AGENTS, "minimum: 4, deadline_s: 300", false);
    rig.agent[3].present = false;
    cr_expect_not(waiting_run(&rig, 1, 3000));
    waiting_cancel(&rig, BY);
    check_cancelled(1);
    waiting_rerun(&rig);
    cr_expect(rig.coordinator->outcome.cancelled);
    cr_expect(waiting_said(&rig, "job-cancelled", "cancelled by anna"));
    waiting_cancel(&rig, BY); /* the file is still there */
    (void)waiting_run(&rig, WAITING_ROUNDS, LONG_MS);
    cr_expect(rig.finished && rig.round_count == 1);
    waiting_free(&rig);
}

/* A cancellation from before the start: no round opens, however many were closed. */
Test(round_cancel, before_the_start_opens_no_round)
{
    waiting_init(&rig, AGENTS, "minimum: 4, deadline_s: 300", false);
    cr_assert(waiting_run(&rig, 1, LONG_MS));
    rig.cancelled = (struct slice){BY, sizeof BY - 1};
    waiting_rerun(&rig);
    (void)waiting_run(&rig, 2, 3000);
    check_cancelled(2);
    cr_expect_eq(rig.round[1].as.round.agent_count, 0);
    cr_expect_not(waiting_said(&rig, "job-resumed", ""));
    waiting_free(&rig);
}

/* While a record is on its way to the journal, nothing else is decided. */
Test(round_cancel, waits_for_a_commit)
{
    waiting_init(&rig, AGENTS, "minimum: 4, deadline_s: 300", false);
    struct coordinator *c = NULL;
    struct effects effects;
    const struct coordinator_options options = rig.coordinator->options;
    struct event file = {.kind = EVENT_FILE,
                         .as.file = {.which = FOLLOWED_CANCEL, .text = {BY, sizeof BY - 1}}};
    cr_assert_eq(effects_init(&effects, 1 << 16), STATUS_OK);
    cr_assert_eq(coordinator_new(&c, &options), STATUS_OK);
    struct machine machine = coordinator_machine(c);
    cr_assert_eq(machine.step(c, &(struct event){.kind = EVENT_START}, &effects), STATUS_OK);
    cr_assert_eq(c->phase, PHASE_NAMING);
    effects_clear(&effects);
    cr_assert_eq(machine.step(c, &file, &effects), STATUS_OK);
    cr_expect(c->phase == PHASE_NAMING && effects.count == 0, "decided before the answer");
    cr_assert_eq(machine.step(c, &(struct event){.kind = EVENT_COMMITTED}, &effects), STATUS_OK);
    cr_expect_eq(c->phase, PHASE_CLOSING);
    cr_expect(c->committing.as.round.cancelled);
    coordinator_free(c);
    effects_free(&effects);
    waiting_free(&rig);
}

/* The file's text goes into a record of one printable line. */
Test(round_cancel, by_a_text_of_any_bytes_is_a_valid_record)
{
    static const char *const text[] = {"\x01\x02", "\n", "\xff\xfe anna",
                                       ("anna\x07"
                                        "bell")};
    char large[4096];
    memset(large, 'a', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    for (size_t i = 0; i <= sizeof text / sizeof text[0]; i++) {
        waiting_init(&rig, AGENTS, "minimum: 4, deadline_s: 300", false);
        waiting_cancel(&rig, i < sizeof text / sizeof text[0] ? text[i] : large);
        cr_assert_eq(rig.round_count, 1, "text %zu", i);
        cr_expect(rig.round[0].as.round.cancelled && record_is_valid(&rig.round[0]), "text %zu", i);
        waiting_free(&rig);
    }
}
