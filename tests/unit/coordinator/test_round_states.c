/* The coordinator's phases: a step that the table lacks, or a phase that contradicts other members, stops the
 * program. */

#include "central.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/wait.h>

static struct central bench;
static uint64_t word;

/* Returns whether the plant stops the program, within it or at the next event. */
static bool is_caught(void (*plant)(struct coordinator *c))
{
    int result = 0;
    const pid_t child = quiet_fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        plant(bench.coordinator);
        central_wait(&bench, 1);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &result, 0), child);
    cr_assert(WIFEXITED(result) || WTERMSIG(result) == SIGABRT, "not by a CHECK: %d", result);
    return WIFSIGNALED(result);
}

static void nothing(UNUSED struct coordinator *c)
{
}

static void close_and_end(struct coordinator *c)
{
    coordinator_enter(c, PHASE_CLOSING);
    coordinator_enter(c, PHASE_OVER);
    coordinator_enter(c, PHASE_OPEN);
}

static void end_without_closing(struct coordinator *c)
{
    coordinator_enter(c, PHASE_OVER);
}

static void join_again(struct coordinator *c)
{
    coordinator_enter(c, PHASE_JOINING);
}

static void commit_without_closing(struct coordinator *c)
{
    c->commit_body = (uint8_t *)&word;
}

static void rows_without_closing(struct coordinator *c)
{
    c->commit_rows = (double *)&word;
}

static void close_without_a_commit(struct coordinator *c)
{
    c->phase = PHASE_CLOSING;
}

static void open_without_a_sum(struct coordinator *c)
{
    aggregate_free(&c->aggregate);
}

static void open_without_a_job(struct coordinator *c)
{
    c->outcome.begun = false;
}

static void open_when_finished(struct coordinator *c)
{
    c->outcome.finished = true;
}

Test(round_states, a_forbidden_step_and_a_contradiction_are_caught)
{
    void (*const plant[])(struct coordinator *) = {
        close_and_end,          end_without_closing,  join_again,
        commit_without_closing, rows_without_closing, close_without_a_commit,
        open_without_a_sum,     open_without_a_job,   open_when_finished};
    memset(&bench, 0, sizeof bench);
    central_init(&bench, "0", CENTRAL_FIT);
    central_greet(&bench);
    cr_assert_eq(bench.coordinator->phase, PHASE_OPEN);
    cr_expect(!is_caught(nothing));
    for (size_t i = 0; i < sizeof plant / sizeof plant[0]; i++) {
        cr_expect(is_caught(plant[i]), "plant %zu", i);
    }
    central_free(&bench);
}
