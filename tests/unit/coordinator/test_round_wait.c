/* Which agents a round waits for. Slow senders, colluders and dead links cannot keep honest answers out. A
 * short failure does not discard paid answers. Agents that are cut, absent or not ready do not delay every
 * round. */

#include "base/exit_code.h"
#include "tests/unit/coordinator/waiting.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const double TRICKLE =
    65536 / 1.8; /* a piece each 1.8 s: under every pause that is noticed */

/* The answer is 2 MiB: 58 s of trickle, of a deadline of 20 s. */
Test(round_wait, one_that_trickles_does_not_keep_honest_answers_out)
{
    static struct waiting rig;
    waiting_init(&rig, 4, "minimum: 3, deadline_s: 20, patience_s: 0", true);
    rig.agent[0].bytes_per_s = TRICKLE;
    for (size_t agent = 1; agent < 4; agent++) {
        rig.agent[agent].offers_ms = 1000; /* it has got a place by then */
    }
    cr_assert(waiting_run(&rig, 1, 30000));
    cr_assert_not(rig.round[0].as.round.failed);
    for (size_t agent = 1; agent < 4; agent++) {
        cr_assert(waiting_counted(&rig, 0, agent), "honest agent %zu paid and is not in", agent);
    }
    cr_assert(
        waiting_said(&rig, "round-without", "round 1 closes at its deadline without: site-00"),
        "numbered as the figures are, from 1: %s", rig.said);
    waiting_free(&rig);
}

/* Each of the five holds a place as long as it can by another trick. */
Test(round_wait, five_colluders_do_not_keep_honest_answers_out)
{
    enum { COLLUDERS = 5, HONEST = 4 };
    static struct waiting rig;
    waiting_init(&rig, COLLUDERS + HONEST, "minimum: 4, deadline_s: 20, patience_s: 0", true);
    rig.agent[0].bytes_per_s = TRICKLE;
    rig.agent[1].bytes_per_s = 0;             /* offers and never sends */
    rig.agent[2].bytes_per_s = 2097152 / 2.4; /* just too slow for its turn of 2.2 s */
    rig.agent[3].bytes_per_s = 2097152 / 2.2; /* as slow as it may be */
    rig.agent[4].bytes_per_s = 4 * TRICKLE;
    for (size_t agent = COLLUDERS; agent < COLLUDERS + HONEST; agent++) {
        rig.agent[agent].offers_ms = 1500; /* all of them are late in the queue */
        rig.agent[agent].bytes_per_s = 2097152 / 1.5;
    }
    cr_assert(waiting_run(&rig, 1, 30000));
    cr_assert_not(rig.round[0].as.round.failed);
    for (size_t agent = COLLUDERS; agent < COLLUDERS + HONEST; agent++) {
        cr_assert(waiting_counted(&rig, 0, agent), "honest agent %zu paid and is not in", agent);
    }
    waiting_free(&rig);
}

/* Two that offer first are silent until the honest are there: pauses while nobody waits earn no longer
 * turns. Then each sends a piece just before it would be noticed. */
Test(round_wait, who_waits_alone_earns_no_longer_turn)
{
    static struct waiting rig;
    waiting_init(&rig, 5, "minimum: 3, deadline_s: 60, patience_s: 0", true);
    for (size_t agent = 0; agent < 5; agent++) {
        rig.agent[agent].bytes_per_s = agent < 2 ? 0 : 4e6;
        rig.agent[agent].offers_ms = agent < 2 ? 0 : 42000;
    }
    cr_assert_not(waiting_run(&rig, 1, 36000));
    rig.agent[0].bytes_per_s = rig.agent[1].bytes_per_s = TRICKLE;
    cr_assert(waiting_run(&rig, 1, 30000));
    cr_assert_not(rig.round[0].as.round.failed);
    for (size_t agent = 2; agent < 5; agent++) {
        cr_assert(waiting_counted(&rig, 0, agent), "honest agent %zu paid and is not in", agent);
    }
    waiting_free(&rig);
}

/* An operator takes a leaked key off the list and then writes the new one. */
Test(round_wait, a_list_that_is_short_for_a_moment_does_not_end_the_job)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 3, deadline_s: 30, patience_s: 0", false);
    rig.agent[2].offers_ms = 5000;
    cr_assert_not(waiting_run(&rig, 1, 2000));
    waiting_list(&rig, 2);
    cr_assert_not(waiting_run(&rig, 1, 1000));
    waiting_list(&rig, 3);
    cr_assert(waiting_run(&rig, 1, 20000));
    cr_assert_not(rig.round[0].as.round.failed);
    cr_assert_eq(rig.round[0].as.round.agent_count, 3);
    waiting_free(&rig);
}

Test(round_wait, a_dead_link_holds_a_place_for_one_pause)
{
    static struct waiting rig;
    waiting_init(&rig, 5, "minimum: 3, deadline_s: 20, patience_s: 0", true);
    for (size_t agent = 0; agent < 5; agent++) {
        rig.agent[agent].bytes_per_s = agent < 2 ? 0 : 4e6;
        rig.agent[agent].offers_ms = agent < 2 ? 0 : 1000;
    }
    cr_assert_not(waiting_run(&rig, 1, 6000));
    cr_assert_eq(cohort_count(&rig.coordinator->cohort, STANDING_ANSWERED), 3);
    cr_assert(waiting_run(&rig, 1, 20000));
    cr_assert_eq(rig.round[0].as.round.agent_count, 3);
    waiting_free(&rig);
}

/* Slow, not hostile: its turns double, so it comes in although others wait. */
Test(round_wait, a_slow_site_gets_in_when_the_queue_is_short)
{
    static struct waiting rig;
    waiting_init(&rig, 8, "minimum: 5, deadline_s: 40, patience_s: 0", true);
    rig.agent[0].bytes_per_s = 2097152 / 7.0; /* its first turn is 5 s */
    for (size_t agent = 1; agent < 8; agent++) {
        rig.agent[agent].offers_ms = 1000;
        rig.agent[agent].bytes_per_s = agent < 5 ? 2097152 / 4.0 : 1;
    }
    cr_assert(waiting_run(&rig, 1, 50000));
    cr_assert(waiting_counted(&rig, 0, 0));
    waiting_free(&rig);
}

Test(round_wait, a_bad_minute_does_not_throw_paid_answers_away)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 3, deadline_s: 5, patience_s: 600", false);
    rig.agent[2].offers_ms = 100000;
    cr_assert_not(waiting_run(&rig, 1, 60000));
    cr_assert(waiting_said(&rig, "round-late", "round 1: 2 answers at the deadline"), "%s",
              rig.said);
    cr_assert(waiting_said(&rig, "round-late", "site-02 (present, but has not answered)"));
    rig.agent[2].present = false; /* and its line is down for a while */
    cr_assert_not(waiting_run(&rig, 1, 120000));
    rig.agent[2].present = true;
    cr_assert(waiting_run(&rig, 1, 2000), "the late answer closes the round at once");
    cr_assert_not(rig.round[0].as.round.failed);
    cr_assert_eq(rig.round[0].as.round.agent_count, 3);
    waiting_free(&rig);
}

Test(round_wait, patience_ends_and_the_cause_names_who_is_missing)
{
    static struct waiting rig;
    waiting_init(&rig, 4, "minimum: 3, deadline_s: 5, patience_s: 60", false);
    rig.agent[1].mute = true;
    rig.agent[2].declines = true;
    cr_assert_not(waiting_run(&rig, 1, 60000));
    rig.agent[1].present = false;
    cr_assert(waiting_run(&rig, 1, 10000));
    cr_assert(rig.round[0].as.round.failed);
    cr_assert(waiting_said(&rig, "job-failed", "site-02 (declined)"), "%s", rig.said);
    cr_assert(waiting_said(&rig, "job-failed", "site-01 (present"), "%s", rig.said);
    cr_assert(waiting_said(&rig, "job-failed", "2 agents answered, the job needs 3"));
    waiting_free(&rig);
}

Test(round_wait, a_round_that_cannot_be_saved_fails_at_once)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 2, deadline_s: 30", false);
    rig.agent[0].declines = true;
    rig.agent[1].declines = true;
    cr_assert(waiting_run(&rig, 1, 1500));
    cr_assert(rig.round[0].as.round.failed);
    waiting_free(&rig);
}

/* The journal has the reason, and nobody waits for the end of the linger. */
Test(round_wait, a_failed_job_says_its_cause_again_at_once)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 2, deadline_s: 30", false);
    rig.agent[0].declines = true;
    rig.agent[1].declines = true;
    cr_assert(waiting_run(&rig, 1, 1500));
    waiting_rerun(&rig);
    cr_assert(rig.finished, "it lingers");
    cr_assert_eq(rig.exit_code, EXIT_CODE_JOB_FAILED);
    cr_assert(waiting_said(&rig, "job-failed", "site-00 (declined), site-01 (declined)"), "%s",
              rig.said);
    waiting_free(&rig);
}

/* A person who stops it, or looks why it waits, is told which agents do not have the outcome. */
Test(round_wait, a_job_that_is_over_names_who_has_not_heard_of_it)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 2, deadline_s: 10", false);
    rig.agent[2].present = false;
    cr_assert(waiting_run(&rig, WAITING_ROUNDS - 1, 60000));
    coordinator_tell_unheard(rig.coordinator);
    cr_assert_not(waiting_said(&rig, "end-unheard", ""), "it is not over: %s", rig.said);
    cr_assert(waiting_run(&rig, WAITING_ROUNDS, 60000) && !rig.finished);
    rig.agent[1].present = false;
    cr_assert_not(waiting_run(&rig, WAITING_ROUNDS + 1, 5000));
    cr_assert_not(waiting_said(&rig, "end-unheard", ""), "it may still hear of it: %s", rig.said);
    coordinator_tell_unheard(rig.coordinator); /* a stop in the middle of the linger */
    cr_assert(waiting_said(&rig, "end-unheard", "site-02 (has not connected)"), "%s", rig.said);
    cr_assert_not(waiting_said(&rig, "end-unheard", "site-00"), "%s", rig.said);
    waiting_free(&rig);
}

Test(round_wait, the_end_of_the_linger_names_who_has_not_heard_of_it)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 2, deadline_s: 10", false);
    rig.agent[2].present = false;
    cr_assert_not(waiting_run(&rig, WAITING_ROUNDS + 1, 300000));
    cr_assert(rig.finished);
    cr_assert(waiting_said(&rig, "end-unheard",
                           "1 agent has not told that it has heard of it: "
                           "site-02 (has not connected)"),
              "%s", rig.said);
    waiting_free(&rig);
}

/* Six rounds of 10 s at the most; only the first two may wait for the absent one. */
Test(round_wait, one_that_missed_two_rounds_is_waited_for_when_it_is_back)
{
    static struct waiting rig;
    waiting_init(&rig, 4, "minimum: 3, deadline_s: 10", false);
    rig.agent[3].present = false;
    cr_assert(waiting_run(&rig, 4, 60000));
    cr_assert_geq(rig.closed_ms[1], 20000);
    cr_assert_leq(rig.closed_ms[3] - rig.closed_ms[1], 1000, "rounds three and four wait as well");
    rig.agent[3].present = true;
    rig.agent[0].offers_ms = rig.now_ms + 600; /* long enough for it to be heard of */
    cr_assert(waiting_run(&rig, 5, 60000));
    cr_assert(waiting_said(&rig, "agent-present", "") && waiting_counted(&rig, 4, 3));
    rig.agent[3].offers_ms = rig.now_ms + 3000;
    cr_assert(waiting_run(&rig, 6, 60000));
    cr_assert(waiting_counted(&rig, 5, 3), "it is waited for again");
    waiting_free(&rig);
}

Test(round_wait, one_that_is_present_and_never_ready_delays_the_first_round_alone)
{
    static struct waiting rig;
    waiting_init(&rig, 4, "minimum: 3, deadline_s: 300", false);
    rig.agent[3].ready = false;
    cr_assert(waiting_run(&rig, 1, 12000), "longer than it may take to get ready");
    cr_assert_geq(rig.closed_ms[0], 10000, "an agent that reads its records is waited for");
    cr_assert(waiting_run(&rig, 5, 1000));
    rig.agent[3].ready = true;
    rig.agent[3].offers_ms = rig.now_ms + 2000;
    rig.agent[0].offers_ms = rig.now_ms + 600;
    cr_assert(waiting_run(&rig, 6, 10000));
    cr_assert(waiting_counted(&rig, 5, 3), "once it is ready, rounds wait for it");
    waiting_free(&rig);
}

Test(round_wait, a_cut_agent_is_not_waited_for)
{
    static struct waiting rig;
    waiting_init(&rig, 4, "minimum: 3, deadline_s: 300", false);
    rig.agent[3].mute = true;
    cr_assert_not(waiting_run(&rig, 1, 20000));
    waiting_cut(&rig, 3);
    cr_assert(waiting_run(&rig, 1, 100));
    cr_assert(waiting_said(&rig, "agent-cut", "site-03"));
    waiting_free(&rig);
}

/* It says HELLO all the time and never answers: after two rounds nobody waits for that. */
Test(round_wait, greetings_alone_do_not_make_rounds_wait)
{
    static struct waiting rig;
    waiting_init(&rig, 4, "minimum: 3, deadline_s: 10", false);
    rig.agent[3].mute = true;
    cr_assert(waiting_run(&rig, 6, 60000));
    cr_assert_leq(rig.closed_ms[5], 24000);
    waiting_free(&rig);
}

/* It offers every time, also when the round is over, and never delivers: the same. */
Test(round_wait, promises_alone_do_not_make_rounds_wait)
{
    static struct waiting rig;
    waiting_init(&rig, 4, "minimum: 3, deadline_s: 10", false);
    rig.agent[3].bytes_per_s = 0;
    rig.agent[3].nags = true;
    cr_assert(waiting_run(&rig, 6, 60000));
    cr_assert_leq(rig.closed_ms[5], 24000);
    waiting_free(&rig);
}

/* Programs read the text as its first program did: the first record of a job's journal says which
 * version began it. */
Test(round_wait, agents_are_told_that_a_program_of_before_has_begun_the_job)
{
    static struct waiting rig;
    waiting_init(&rig, 3, "minimum: 2, deadline_s: 30", false);
    rig.older = JOB_UP_TO_4;
    cr_assert(waiting_run(&rig, 1, 30000));
    cr_expect_eq(rig.older, JOB_OF_NOW);
    const enum job_age ages[] = {JOB_UP_TO_4, JOB_OF_5, JOB_OF_6, JOB_OF_7, JOB_OF_8};
    for (size_t i = 0; i < sizeof ages / sizeof ages[0]; i++) {
        rig.trees = ages[i] != JOB_UP_TO_4;
        rig.shares = job_age_version(ages[i]) >= 6;
        rig.protocol = job_age_version(ages[i]) >= 7 ? job_age_version(ages[i]) : 0;
        waiting_rerun(&rig); /* its record is as theirs was */
        waiting_list(&rig, 3);
        (void)waiting_run(&rig, 2, 3000);
        cr_expect_eq(rig.older, ages[i]);
    }
    waiting_free(&rig);
}

/* While programs are upgraded. Both logs have to say why: the agent's learns it from the WELCOME. */
Test(round_wait, an_agent_of_another_version_is_told_and_not_waited_for)
{
    static struct waiting rig;
    waiting_init(&rig, 5, "minimum: 3, join_deadline_s: 1, deadline_s: 10, patience_s: 0", false);
    rig.agent[0].version = PROTOCOL_VERSION - 1;
    rig.agent[1].version = PROTOCOL_VERSION + 1;
    cr_assert(waiting_run(&rig, 1, 50000));
    for (size_t agent = 0; agent < 5; agent++) {
        cr_expect_eq(waiting_counted(&rig, 0, agent), agent > 1, "agent %zu", agent);
        cr_expect_gt(rig.agent[agent].welcomed, 0, "agent %zu", agent);
    }
    cr_expect_not(rig.agent[0].invited || rig.agent[1].invited);
    cr_expect(
        waiting_said(&rig, "round-without", "site-00 (speaks another version of the protocol)"));
    rig.agent[0].version = 0; /* it was upgraded */
    cr_assert(waiting_run(&rig, 2, 20000));
    cr_expect(waiting_counted(&rig, 1, 0));
    cr_expect(waiting_said(&rig, "version-differs site-00",
                           "speaks version 8 of the protocol, this coordinator version 9; remedy: "
                           "upgrade the site's agent"),
              "%s", rig.said);
    cr_expect(waiting_said(&rig, "version-differs site-01",
                           "speaks version 10 of the protocol, this coordinator version 9; remedy: "
                           "upgrade this coordinator"));
    waiting_free(&rig);
}
