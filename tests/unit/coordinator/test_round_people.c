/* People at sites who have yet to decide: how long a job waits for them beyond its join deadline. */

#include "tests/unit/coordinator/waiting.h"

#include <criterion/criterion.h>

/* A person there has not decided yet. Planted: the job failed at its join deadline, as if nobody were there. */
Test(round_people, a_site_that_is_there_and_undecided_is_waited_for_as_long_as_patience_says)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 3, join_deadline_s: 40, deadline_s: 10, patience_s: 600",
                 false);
    rig.agent[1].ready = rig.agent[2].ready = false;
    cr_assert_not(waiting_run(&rig, 1, 39000));
    cr_assert_not(waiting_said(&rig, "waiting-for-agents", "neither yes nor no"), "%s", rig.said);
    cr_assert_not(waiting_run(&rig, 1, 400000), "%s", rig.said);
    cr_assert(
        waiting_said(
            &rig, "waiting-for-agents",
            "the join deadline is over: 1 agent is ready, the job needs 3, and 2 are connected and "
            "have said neither yes nor no. Usually a person there has to approve the job, so it "
            "waits 600 s more"),
        "%s", rig.said);
    rig.agent[1].ready = true;
    cr_assert_not(waiting_run(&rig, 1, 100000), "one is still to decide: %s", rig.said);
    cr_assert(waiting_said(&rig, "waiting-for-agents", "it waits 200 s more"), "%s", rig.said);
    rig.agent[2].ready = true;
    cr_assert(waiting_run(&rig, 6, 30000), "%s", rig.said);
    cr_assert_not(rig.round[0].as.round.failed);
    waiting_free(&rig);
}

Test(round_people, patience_with_undecided_sites_ends)
{
    static struct waiting rig;
    waiting_init(&rig, 2, "minimum: 2, join_deadline_s: 40, deadline_s: 10, patience_s: 100",
                 false);
    rig.agent[1].ready = false;
    cr_assert_not(waiting_run(&rig, 1, 138000), "%s", rig.said);
    cr_assert(waiting_run(&rig, 1, 4000), "it waits beyond its patience: %s", rig.said);
    cr_assert(rig.round[0].as.round.failed);
    cr_assert(waiting_said(&rig, "job-failed", "site-01 (present, but not ready)"), "%s", rig.said);
    waiting_free(&rig);
}

/* One that leaves is waited for as long as one that never came; one that says no is not. */
Test(round_people, who_leaves_or_declines_after_the_join_deadline_is_not_undecided)
{
    static struct waiting rig;
    for (int declines = 0; declines < 2; declines++) {
        waiting_init(&rig, 3, "minimum: 3, join_deadline_s: 40, deadline_s: 10, patience_s: 600",
                     false);
        rig.agent[1].ready = rig.agent[2].ready = false;
        cr_assert_not(waiting_run(&rig, 1, 60000), "%s", rig.said);
        rig.agent[2].present = declines == 1;
        rig.agent[2].refuses = declines == 1;
        cr_assert_eq(waiting_run(&rig, 1, 25000), declines == 1, "%d: %s", declines, rig.said);
        cr_assert(waiting_run(&rig, 1, 30000), "%d: it waits for nobody: %s", declines, rig.said);
        cr_assert(rig.round[0].as.round.failed);
        waiting_free(&rig);
    }
}

Test(round_people, a_restart_does_not_lengthen_the_wait_for_people)
{
    static struct waiting rig;
    waiting_init(&rig, 2, "minimum: 2, join_deadline_s: 40, deadline_s: 10, patience_s: 600",
                 false);
    rig.agent[1].ready = false;
    for (int i = 0; i < 5; i++) {
        (void)waiting_run(&rig, 1, 100000);
        cr_assert_not(rig.finished, "%s", rig.said);
        waiting_rerun(&rig);
        waiting_list(&rig, rig.agent_count);
    }
    cr_assert_not(waiting_run(&rig, 1, 130000), "it has 640 s in all: %s", rig.said);
    cr_assert(waiting_run(&rig, 1, 15000), "it waits beyond its time: %s", rig.said);
    cr_assert(rig.round[0].as.round.failed);
    waiting_free(&rig);
}
