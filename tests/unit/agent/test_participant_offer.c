/* Which job the coordinator offers, as the agent keeps it for its people: a job that is over no longer waits, and a late yes
 * begins nothing. */

#include "timed.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void give_end(struct timed *bench, bool failed)
{
    const struct message release = {
        .kind = MESSAGE_RELEASE,
        .as.release = {.job = bench->job.id, .failed = failed, .last = !failed}};
    timed_give(bench, &release, (struct slice){0});
}

static void give_none(struct timed *bench)
{
    const struct message none = {.kind = MESSAGE_ENROLLED, .as.enrolled.name = "site-1"};
    timed_give(bench, &none, (struct slice){0});
}

static const char *phase(const struct timed *bench)
{
    return participant_look(bench->participant, bench->wall_ms).phase;
}

static bool is_offered(const struct timed *bench)
{
    return digest_equal(&bench->offered, &bench->job.id);
}

Test(participant_offer, a_job_that_ends_while_it_waits_is_over_and_a_late_yes_begins_nothing)
{
    for (int failed = 0; failed < 2; failed++) {
        struct timed bench;
        timed_init_asking(&bench);
        bench.policy.jobs_per_day = 3;
        timed_join(&bench);
        cr_assert_str_eq(phase(&bench), "waiting for a person");
        cr_assert(is_offered(&bench));
        const struct message other = {.kind = MESSAGE_RELEASE, .as.release.job = bench.job.id};
        timed_give(&bench, &other, (struct slice){0});
        cr_expect_str_eq(phase(&bench), "waiting for a person", "a round that others closed");
        give_end(&bench, failed == 1);
        cr_expect_str_eq(phase(&bench), "over");
        cr_expect(digest_is_none(&bench.offered), "nothing is offered");
        cr_expect_not_null(strstr(bench.logged, failed == 1 ? "job-failed" : "job-ended"));
        timed_decide(&bench, 1);
        cr_expect_str_eq(phase(&bench), "over");
        cr_expect_eq(bench.works + bench.body_count, 0, "no record is looked at");
        const struct message again = timed_welcome(&bench.job);
        timed_give(&bench, &again, (struct slice){0});
        cr_expect(digest_is_none(&bench.offered),
                  "a coordinator names it for a while after its end");
        timed_free(&bench);
    }
}

Test(participant_offer, a_job_that_waits_and_is_offered_no_more_is_gone)
{
    struct timed bench;
    timed_init_asking(&bench);
    bench.policy.jobs_per_day = 3;
    timed_join(&bench);
    give_none(&bench);
    cr_expect_str_eq(phase(&bench), "no job");
    cr_expect(digest_is_none(&bench.offered));
    cr_expect_not_null(strstr(bench.logged, "job-gone"));
    timed_decide(&bench, 1);
    cr_expect_eq(bench.works + bench.body_count, 0, "no record is looked at");
    const size_t kept = bench.offers;
    give_none(&bench);
    cr_expect_eq(bench.offers, kept, "what has not changed is not kept again");
    timed_join(&bench); /* a coordinator that was away and is back: by then a person has said yes */
    cr_expect(is_offered(&bench));
    bench.now_ms += SLOT_MS;
    timed_tick(&bench);
    cr_expect_str_eq(phase(&bench), "ready");
    cr_expect_eq(bench.look.count, 2, "and it counts as another look at a job");
    timed_free(&bench);
}

/* It has its records, and may be told of the end, or go on: its coordinator may have set it aside. */
Test(participant_offer, a_job_that_was_joined_stays_and_is_offered_again)
{
    struct timed bench;
    timed_init_asking(&bench);
    bench.policy.jobs_per_day = 3;
    timed_decide(&bench, 1);
    timed_join(&bench);
    bench.now_ms += SLOT_MS;
    timed_tick(&bench);
    cr_assert_str_eq(phase(&bench), "ready");
    give_none(&bench);
    cr_expect_str_eq(phase(&bench), "ready");
    cr_expect(digest_is_none(&bench.offered));
    const struct message again = timed_welcome(&bench.job);
    timed_give(&bench, &again, (struct slice){0});
    cr_expect(is_offered(&bench));
    cr_expect_eq(bench.look.count, 1, "it is no other look");
    give_end(&bench, true);
    cr_expect_str_eq(phase(&bench), "over");
    cr_expect(digest_is_none(&bench.offered), "told of the end");
    timed_free(&bench);
}

Test(participant_offer, what_cannot_be_kept_is_kept_at_the_next_occasion)
{
    struct timed bench;
    timed_init_asking(&bench);
    bench.policy.jobs_per_day = 3;
    bench.full_of_offers = true;
    timed_join(&bench);
    cr_expect_str_eq(phase(&bench), "waiting for a person", "it waits all the same");
    cr_expect_eq(bench.offers, 0);
    bench.full_of_offers = false;
    const struct message again = timed_welcome(&bench.job);
    timed_give(&bench, &again, (struct slice){0});
    cr_expect(is_offered(&bench));
    timed_free(&bench);
}

/* An observer that reads all the time while a computation runs would see the file change and the
 * log grow. */
Test(participant_offer, nothing_changes_while_records_are_computed_on)
{
    struct timed bench;
    timed_init(&bench, 10);
    bench.work_takes_ms = 1000;
    timed_join(&bench);
    const size_t kept = bench.offers;
    cr_assert_str_eq(phase(&bench), "reading the records");
    give_none(&bench);
    cr_expect_eq(bench.offers, kept);
    cr_expect_str_eq(phase(&bench), "reading the records");
    cr_expect_null(strstr(bench.logged, "job-gone"));
    timed_free(&bench);
}

/* `learn` of little noise: it tries products of columns, but in a job that a program of before has begun. */
static const char LEARN[] =
    "hedgerow: 1\n"
    "job: learning\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features: [{column: a, centre: 0, half_width: 1}, {column: b, centre: 0, half_width: 1}]\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1000, delta: 0}\n"
    "cohort: {minimum: 1, records: 5, join_deadline_s: 10, deadline_s: 10}\n"
    "stages:\n"
    "  - {task: learn}\n";

Test(participant_offer, a_job_that_a_program_of_before_has_begun_is_read_as_it_was)
{
    for (int older = 0; older < 2; older++) {
        struct timed bench;
        timed_init(&bench, 10);
        bench.policy.epsilon_micro = 1000000000;
        bench.policy.task_allowed[TASK_LEARN] = true;
        memcpy(bench.text, LEARN, sizeof LEARN);
        timed_name_job(&bench.job, (struct slice){LEARN, sizeof LEARN - 1}, 1);
        struct message welcome = timed_welcome(&bench.job);
        const struct message piece = {.kind = MESSAGE_PIECE,
                                      .as.piece.digest = bench.job.text_digest};
        welcome.as.welcome.older = older == 1;
        timed_give(&bench, &welcome, (struct slice){0});
        timed_give(&bench, &piece, (struct slice){LEARN, sizeof LEARN - 1});
        timed_settle(&bench);
        cr_expect_eq(bench.loads, 1);
        cr_expect_eq(bench.features, older == 1 ? 3 : 6);
        timed_free(&bench);
    }
}

/* A text that does not match its digest may be another agent's doing, on the way: it is fetched once more. Twice, the job is not
 * what it says. */
Test(participant_offer, a_text_that_is_not_what_was_named_is_fetched_once_more)
{
    for (int forgeries = 1; forgeries <= 2; forgeries++) {
        struct timed bench;
        timed_init(&bench, 10);
        char *forged = malloc(bench.job.text_bytes);
        cr_assert_not_null(forged);
        memcpy(forged, bench.text, bench.job.text_bytes);
        forged[0] ^= 1;
        const struct message welcome = timed_welcome(&bench.job);
        const struct message piece = {.kind = MESSAGE_PIECE,
                                      .as.piece.digest = bench.job.text_digest};
        timed_give(&bench, &welcome, (struct slice){0});
        for (int i = 0; i < forgeries; i++) {
            timed_give(&bench, &piece, (struct slice){forged, bench.job.text_bytes});
        }
        cr_expect_eq(timed_count(&bench, MESSAGE_FETCH), 2);
        cr_expect_not_null(strstr(bench.logged, "pieces-forged"));
        timed_give(&bench, &piece, (struct slice){bench.text, bench.job.text_bytes});
        timed_settle(&bench);
        cr_expect_eq(bench.loads, forgeries == 1 ? 1 : 0);
        cr_expect_eq(strstr(bench.logged, "job-forged") != NULL, forgeries == 2);
        free(forged);
        timed_free(&bench);
    }
}
