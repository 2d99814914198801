/* Which agents a job waits for before its rounds: those that are not ready and those that decline; and how long, also after a
 * restart. */

#include "adds_up.h"
#include "tests/unit/coordinator/waiting.h"

#include <criterion/criterion.h>
#include <string.h>

Test(round_joining, while_agents_join_the_log_says_who_is_missing)
{
    static struct waiting rig;
    char missing[256];
    waiting_init(&rig, 3, "minimum: 3, join_deadline_s: 40, deadline_s: 10", false);
    cr_assert_not(waiting_said(&rig, "waiting-for-agents", "nobody is on the list"),
                  "the list was not yet told: %s", rig.said);
    rig.agent[1].ready = false;
    rig.agent[2].present = false;
    cr_assert_not(waiting_run(&rig, 1, 2000));
    coordinator_tell_missing(rig.coordinator, rig.now_ms, missing, sizeof missing);
    cr_expect_not_null(strstr(missing, "site-02 (has not been heard yet)"), "%s", missing);
    cr_expect_null(strstr(missing, "has not connected"), "nobody knows that so soon");
    cr_assert_not(waiting_run(&rig, 1, 28000));
    cr_assert(waiting_said(&rig, "waiting-for-agents", "1 agent is ready, the job needs 3"), "%s",
              rig.said);
    cr_assert(waiting_said(&rig, "waiting-for-agents", "site-01 (present, but not ready)"), "%s",
              rig.said);
    cr_assert(waiting_said(&rig, "waiting-for-agents", "site-02 (has not connected)"));
    cr_assert(waiting_run(&rig, 1, 12000));
    cr_assert(waiting_said(&rig, "job-failed", "site-01 (present, but not ready)"));
    waiting_free(&rig);
}

/* Planted: one that said no was counted among those that are ready, and its name was told to nobody. */
Test(round_joining, one_that_declines_the_job_is_named_and_not_counted)
{
    static struct waiting rig;
    char refusing[32];
    waiting_init(&rig, 3, "minimum: 3, join_deadline_s: 600, deadline_s: 10", false);
    rig.agent[1].ready = false;
    rig.agent[2].refuses = true;
    cr_assert_not(waiting_run(&rig, 1, 2000));
    cr_assert(waiting_said(&rig, "agent-declined", "site-02: declined the job"), "%s", rig.said);
    cr_assert(waiting_said(&rig, "waiting-for-agents",
                           "the job needs 3 (cohort.minimum), 1 declined the job and the others "
                           "are too few"),
              "at once: %s", rig.said);
    cr_assert(waiting_said(&rig, "waiting-for-agents", "site-02 (declined)"), "%s", rig.said);
    const struct coordinator_view view = coordinator_look(rig.coordinator);
    cr_assert(view.ready == 1 && view.refusing == 1 && view.unready == 1);
    coordinator_look_refusing(rig.coordinator, refusing, sizeof refusing);
    cr_assert_str_eq(refusing, "site-02");
    coordinator_look_refusing(rig.coordinator, refusing, sizeof "site-02");
    cr_assert_str_eq(refusing, "", "no half a name");
    cr_assert(adds_up(&rig.coordinator->cohort));
    cr_assert_not(waiting_run(&rig, 1, 60000), "a mind may change");
    cr_assert_not(rig.finished);
    rig.agent[2].refuses = false;
    (void)waiting_run(&rig, 1, 2000);
    rig.agent[1].ready = true;
    cr_assert(waiting_run(&rig, 6, 30000), "%s", rig.said);
    cr_assert(!rig.round[0].as.round.failed && waiting_counted(&rig, 0, 2));
    cr_assert(adds_up(&rig.coordinator->cohort));
    waiting_free(&rig);
}

Test(round_joining, a_job_fails_when_all_others_are_ready_and_too_few)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 3, join_deadline_s: 600, deadline_s: 10", false);
    rig.agent[2].refuses = true;
    cr_assert_not(waiting_run(&rig, 1, 9000), "a no may be taken back");
    cr_assert(waiting_said(&rig, "waiting-for-agents", "it waits 10 s more"), "%s", rig.said);
    cr_assert(waiting_run(&rig, 1, 4000), "not at its join deadline");
    cr_assert(rig.round[0].as.round.failed);
    cr_assert(waiting_said(&rig, "job-failed",
                           "round 1: 2 agents were ready and the others declined, "
                           "the job needs 3 (cohort.minimum); missing: "
                           "site-02 (declined)"),
              "%s", rig.said);
    cr_assert_not_null(strstr(rig.round[0].as.round.cause, "site-02 (declined)"), "`because`: %s",
                       rig.round[0].as.round.cause);
    waiting_free(&rig);
}

/* Planted: a site's mistaken no, when all others were ready, ended the job in the same moment. */
Test(round_joining, a_mistaken_no_can_be_taken_back_when_all_others_are_ready)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 3, join_deadline_s: 600, deadline_s: 10", false);
    for (int i = 0; i < 2; i++) { /* each no has its own time */
        rig.agent[2].refuses = true;
        cr_assert_not(waiting_run(&rig, 1, 7000), "the time is not over: %s", rig.said);
        const struct coordinator_view view = coordinator_look(rig.coordinator);
        cr_assert(view.refusing == 1 && view.ready == 2, "still counted, and named");
        cr_assert(waiting_said(&rig, "agent-declined", "site-02: declined the job"));
        rig.agent[2].ready = false;
        rig.agent[2].refuses = false;
        cr_assert_not(waiting_run(&rig, 1, 8000), "not ready is no refusal: %s", rig.said);
        rig.agent[2].ready = true;
    }
    cr_assert(waiting_run(&rig, 6, 30000), "%s", rig.said);
    cr_assert(!rig.round[0].as.round.failed && waiting_counted(&rig, 0, 2));
    waiting_free(&rig);
}

/* Planted: an agent that has just come back is not ready, and declines an old invitation that came late. That ended
 * the job. */
Test(round_joining, a_late_decline_of_an_old_round_is_none_of_the_job)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 3, join_deadline_s: 600, deadline_s: 300", false);
    cr_assert(waiting_run(&rig, 2, 30000), "%s", rig.said);
    rig.agent[2].ready = false;
    rig.agent[2].is_late = true;
    rig.agent[0].offers_ms = rig.now_ms + 20000; /* the round is open meanwhile */
    cr_assert_not(waiting_run(&rig, 4, 10000));
    cr_assert_eq(coordinator_look(rig.coordinator).refusing, 0);
    cr_assert_not(waiting_said(&rig, "job-failed", ""), "%s", rig.said);
    rig.agent[2].ready = true;
    rig.agent[2].is_late = false;
    cr_assert(waiting_run(&rig, 6, 60000), "%s", rig.said);
    cr_assert_not(rig.round[5].as.round.failed);
    waiting_free(&rig);
}

/* A job that can do without it begins with the others, and no round waits for it. */
Test(round_joining, one_that_declines_the_job_neither_begins_it_nor_holds_it_up)
{
    static struct waiting rig;
    waiting_init(&rig, 4, "minimum: 2, join_deadline_s: 600, deadline_s: 300", false);
    rig.agent[0].ready = rig.agent[3].ready = false;
    rig.agent[2].refuses = true;
    cr_assert_not(waiting_run(&rig, 1, 30000), "two are ready only with the one that said no: %s",
                  rig.said);
    rig.agent[0].ready = rig.agent[3].ready = true;
    cr_assert(waiting_run(&rig, 2, 2500), "it is not waited for: %s", rig.said);
    rig.agent[3].refuses = true; /* in the middle */
    rig.agent[0].offers_ms = rig.now_ms + 1500;
    cr_assert(waiting_run(&rig, 6, 4000), "%s", rig.said);
    cr_assert_not(rig.round[5].as.round.failed);
    cr_assert_not(waiting_counted(&rig, 5, 2) || waiting_counted(&rig, 5, 3));
    cr_assert_leq(rig.closed_ms[5] - rig.closed_ms[2], 100, "each round waits for a HELLO");
    waiting_free(&rig);
}

/* What a restart after some time says about the time that is left. */
static bool waits_more(struct waiting *rig, int64_t after_ms, const char *words)
{
    (void)waiting_run(rig, 1, after_ms);
    cr_assert_not(rig->finished, "%s", rig->said);
    waiting_rerun(rig);
    waiting_list(rig, rig->agent_count);
    (void)waiting_run(rig, 1, 10);
    return waiting_said(rig, "waiting-for-agents", words);
}

Test(round_joining, a_restart_does_not_lengthen_the_wait_for_agents)
{
    static struct waiting rig;
    waiting_init(&rig, 2, "minimum: 2, join_deadline_s: 600, deadline_s: 10, patience_s: 0", false);
    rig.agent[1].ready = false;
    cr_assert(waits_more(&rig, 240000, "it waits 360 s more"), "%s", rig.said);
    cr_assert(waits_more(&rig, 59990, "it waits 300 s more"), "%s", rig.said);
    for (int i = 0; i < 14; i++) {
        (void)waits_more(&rig, 20000, "");
    }
    (void)waiting_run(&rig, 1, 31000);
    cr_assert(rig.round_count == 1 && rig.round[0].as.round.failed, "it waits beyond its time: %s",
              rig.said);
    waiting_free(&rig);
}

/* Back by a day: the job has its own time at most. Ahead by a day: those that were there can come back. */
Test(round_joining, a_clock_that_was_set_is_bounded_both_ways)
{
    static struct waiting rig;
    waiting_init(&rig, 2, "minimum: 2, join_deadline_s: 600, deadline_s: 10", false);
    rig.agent[1].ready = false;
    rig.wall_ms = -86400000;
    cr_assert(waits_more(&rig, 240000, "it waits 600 s more"), "%s", rig.said);
    rig.wall_ms = 86400000;
    cr_assert(waits_more(&rig, 10000, "it waits 30 s more"), "%s", rig.said);
    rig.agent[1].ready = true;
    cr_assert(waiting_run(&rig, 1, 20000), "%s", rig.said);
    waiting_free(&rig);
}
