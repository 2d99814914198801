/* A person says no in the middle of a job, and yes again: what was loaded before is given back, and wiped. */

#include "agent/participant_state.h"
#include "tests/support/given_back.h"
#include "timed.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct timed bench;

static void decide(unsigned runs)
{
    char hex[2 * DIGEST_BYTES + 1];
    char text[128];
    hex_encode(hex, bench.job.text_digest.byte, DIGEST_BYTES);
    (void)snprintf(text, sizeof text, "%s %u\n", hex, runs);
    timed_file(&bench, FOLLOWED_APPROVALS, text);
    timed_settle(&bench);
    bench.now_ms += SLOT_MS;
    timed_tick(&bench);
}

static void load(void)
{
    timed_init(&bench, 10);
    bench.policy.approval = APPROVAL_PERSON;
    decide(1);
    timed_join(&bench);
    bench.now_ms += SLOT_MS;
    timed_tick(&bench);
    cr_assert_eq(bench.participant->job_phase, JOB_READY);
    cr_assert_geq(bench.participant->data.record_count * bench.participant->data.feature_count,
                  (size_t)GIVEN_BACK_WORDS);
    look_for(bench.participant->data.x);
    awaited = bench.participant->data.x;
    returned = 0;
}

Test(participant_wiped, what_was_loaded_before_a_no_and_a_yes_is_wiped)
{
    load();
    decide(0);
    decide(1);
    cr_assert_eq(bench.participant->job_phase, JOB_READY);
    cr_assert_eq(bench.works, 2, "it was loaded anew");
    cr_expect_eq(found, 0);
    cr_expect_eq(returned, 1, "or it would stay in memory for ever");
    timed_free(&bench);
    cr_expect_eq(found, 0, "nor at the end");
}

/* Planted: records that are given back as they are. */
Test(participant_wiped, records_that_are_not_wiped_are_seen)
{
    load();
    free(bench.participant->data.x);
    bench.participant->data.x = NULL;
    cr_expect_eq(found, 1);
    timed_free(&bench);
}
