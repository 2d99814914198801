/* How many jobs a coordinator may offer an agent in a day: each is looked at, which takes a reading of the records. */

#include "timed.h"

#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <string.h>

Test(participant_jobs, looks_at_a_limited_number_of_jobs_a_day_and_says_so_once)
{
    enum { DAY_MS = 86400000 };
    struct timed bench;
    timed_init(&bench, 10);
    bench.policy.jobs_per_day = 3;
    bench.wall_ms = (int64_t)DAY_MS * 100;
    for (uint8_t nonce = 1; nonce <= 6; nonce++) {
        timed_offer(&bench, nonce);
        cr_assert_eq(bench.works, nonce < 3 ? nonce : 3, "job %u", (unsigned)nonce);
    }
    const char *told = strstr(bench.logged, "jobs-limited");
    cr_assert_not_null(told);
    cr_assert_null(strstr(told + 1, "jobs-limited"), "one line: %s", bench.logged);
    cr_assert_eq(timed_count(&bench, MESSAGE_DECLINE), 3, "silence would be taken for a person's");
    bench.wall_ms += DAY_MS;
    timed_offer(&bench, 7);
    cr_assert_eq(bench.works, 4, "the next day");
    cr_assert_eq(timed_count(&bench, MESSAGE_DECLINE), 3);
    timed_free(&bench);
}

/* The job that is declined is the one that was offered, and the one that is under way goes on. */
Test(participant_jobs, declines_by_name_the_job_that_is_one_too_many)
{
    struct timed bench;
    struct message declined = {.kind = MESSAGE_HELLO};
    timed_init(&bench, 10);
    bench.policy.jobs_per_day = 1;
    timed_offer(&bench, 1);
    const struct job_name first = bench.job;
    timed_offer(&bench, 2);
    cr_assert_eq(timed_count(&bench, MESSAGE_DECLINE), 1);
    for (size_t i = bench.sent_count; declined.kind != MESSAGE_DECLINE && i-- > 0;) {
        const struct slice control = {bench.sent[i].control, bench.sent[i].size};
        (void)!wire_decode(&declined, control, (struct slice){0});
    }
    cr_assert_eq(declined.kind, MESSAGE_DECLINE);
    cr_assert(digest_equal(&declined.as.decline.job, &bench.job.id));
    cr_assert_not(digest_equal(&declined.as.decline.job, &first.id));
    timed_free(&bench);
}

/* A job that answered is in the journal; to begin anew does not give it back, and going on with it costs nothing. */
Test(participant_jobs, counts_the_jobs_of_its_journal_after_a_restart)
{
    struct timed bench;
    timed_init(&bench, 10);
    bench.policy.jobs_per_day = 1;
    timed_offer(&bench, 1);
    timed_ask_round(&bench, 0);
    cr_assert_eq(bench.body_count, 2);
    timed_stop(&bench);
    timed_start(&bench);
    timed_offer(&bench, 1);
    cr_assert_eq(bench.works, 3, "the same job goes on");
    timed_offer(&bench, 2);
    cr_assert_eq(bench.works, 3);
    cr_assert(timed_says(&bench, "jobs-limited"));
    timed_free(&bench);
}

/* Each time the records are read anew: two jobs by turns would keep the site reading all day. */
Test(participant_jobs, counts_a_job_again_that_comes_back)
{
    struct timed bench;
    timed_init(&bench, 10);
    bench.policy.jobs_per_day = 4;
    for (uint8_t turn = 0; turn < 10; turn++) {
        timed_offer(&bench, 1 + turn % 2);
        if (turn < 2) {
            timed_ask_round(&bench, 0);
            cr_assert_eq(bench.body_count, 2 * (size_t)turn + 2, "both are in the journal");
        }
    }
    cr_assert_eq(bench.works, 4 + 2, "four looks and two answers, not %zu", bench.works);
    timed_free(&bench);
}

/* Jobs that nobody was asked about are in no journal. */
static size_t works_after_restarts(struct timed *bench, bool forgets)
{
    timed_init(bench, 10);
    bench->policy.jobs_per_day = 3;
    bench->forgets = forgets;
    bench->wall_ms = INT64_C(86400000) * 100;
    for (uint8_t nonce = 1; nonce <= 9; nonce++) {
        timed_offer(bench, nonce);
        timed_stop(bench);
        timed_start(bench);
    }
    return bench->works;
}

Test(participant_jobs, a_restart_forgets_no_job_that_was_looked_at)
{
    struct timed bench;
    cr_assert_eq(works_after_restarts(&bench, false), 3);
    cr_assert(timed_says(&bench, "jobs-limited"));
    timed_offer(&bench, 3);
    cr_assert_eq(bench.works, 4, "the job that was under way goes on");
    timed_offer(&bench, 2);
    cr_assert_eq(bench.works, 4);
    bench.wall_ms += 86400000;
    timed_offer(&bench, 9);
    cr_assert_eq(bench.works, 5, "the next day");
    timed_free(&bench);
    cr_assert_eq(works_after_restarts(&bench, true), 9, "planted: a forgetful one is seen");
    timed_free(&bench);
}

Test(participant_jobs, a_job_that_cannot_be_counted_is_not_looked_at)
{
    struct timed bench;
    timed_init(&bench, 10);
    bench.full_of_looks = true;
    timed_offer(&bench, 1);
    cr_assert_eq(bench.works, 0);
    bench.full_of_looks = false;
    timed_offer(&bench, 1);
    cr_assert_eq(bench.works, 1);
    timed_free(&bench);
}

Test(participant_jobs, a_look_is_read_in_the_one_form_that_is_written)
{
    const struct look look = {.day = 20000, .count = 7, .job = {{1, 2, 3}}};
    struct look read;
    char text[LOOK_TEXT_BYTES];
    look_format(text, &look);
    cr_assert_eq(look_parse(&read, (struct slice){text, strlen(text)}), STATUS_OK);
    cr_assert(read.day == 20000 && read.count == 7 && digest_equal(&read.job, &look.job));
    for (size_t i = 0; i < strlen(text); i++) {
        cr_assert_eq(look_parse(&read, (struct slice){text, i}), STATUS_INVALID, "cut at %zu", i);
    }
    text[0] = '+';
    cr_assert_eq(look_parse(&read, (struct slice){text, strlen(text)}), STATUS_INVALID);
}
