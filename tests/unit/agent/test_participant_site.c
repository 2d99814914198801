/* What people at the site decide while the agent runs: approvals of exact texts, and an edited policy. */

#include "timed.h"

#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char POLICY[] =
    "hedgerow: 1\nepsilon: %s\ndelta: 0\ncohort_minimum: 1\ntasks: [fit, losses]\n"
    "trust: [local]\nmessage_mb_max: 1.048576\nanswer_slot_ms: 100\n"
    "approval: policy\njobs_per_day: 1000\nleast_epsilon: 0\n%s";

static void edit_policy(struct timed *bench, const char *epsilon, const char *more)
{
    char text[1024];
    (void)snprintf(text, sizeof text, POLICY, epsilon, more);
    timed_file(bench, FOLLOWED_POLICY, text);
}

/* A yes to the job that is offered, as `approve` gives it. */
static void approve_this_job(struct timed *bench)
{
    char text_hex[2 * DIGEST_BYTES + 1];
    char job_hex[2 * DIGEST_BYTES + 1];
    char text[256];
    hex_encode(text_hex, bench->job.text_digest.byte, DIGEST_BYTES);
    hex_encode(job_hex, bench->job.id.byte, DIGEST_BYTES);
    (void)snprintf(text, sizeof text, "%s 1@%s\n", text_hex, job_hex);
    timed_file(bench, FOLLOWED_APPROVALS, text);
    timed_settle(bench);
    bench->now_ms += SLOT_MS;
    timed_tick(bench);
}

static bool is_ready(struct timed *bench)
{
    struct message hello;
    bench->sent_count = 0;
    bench->now_ms += 100;
    timed_tick(bench);
    cr_assert_gt(bench->sent_count, 0);
    const struct sent *last = &bench->sent[bench->sent_count - 1];
    cr_assert_eq(wire_decode(&hello, (struct slice){last->control, last->size}, (struct slice){0}),
                 STATUS_OK);
    cr_assert_eq(hello.kind, MESSAGE_HELLO);
    return hello.as.hello.ready;
}

Test(participant_site, a_job_waits_until_a_person_has_approved_its_very_text)
{
    struct timed bench;
    timed_init_asking(&bench);
    timed_join(&bench);
    cr_assert_eq(bench.works, 0, "no record is looked at");
    cr_assert_eq(bench.waiting, 1, "the text is kept for `approve`");
    cr_assert(digest_equal(&bench.waiting_text, &bench.job.text_digest));
    cr_assert_not(is_ready(&bench));
    timed_ask_round(&bench, 0);
    cr_assert_eq(bench.works + bench.body_count, 0, "nor for a round");
    timed_file(&bench, FOLLOWED_APPROVALS,
               "0000000000000000000000000000000000000000000000000000000000000001 5\n");
    cr_assert_eq(bench.works, 0, "another text's approval");
    timed_decide(&bench, 1);
    cr_assert(timed_says(&bench, "job-approved"), "%s", bench.logged);
    cr_assert_eq(bench.works, 1);
    cr_assert(is_ready(&bench));
    timed_ask_round(&bench, 0);
    cr_assert_eq(bench.body_count, 2, "the job and its first answer");
    timed_free(&bench);
}

/* A full disk, or too many jobs that wait: the text is put again every two seconds, later every minute. */
Test(participant_site, a_text_that_finds_no_room_is_put_again_and_at_last_rarely)
{
    static const int64_t after_ms[] = {2000, 4000, 6000, 8000, 68000};
    struct timed bench;
    timed_init_asking(&bench);
    bench.full = 5;
    timed_join(&bench);
    cr_assert_eq(bench.full, 4);
    const int64_t began_ms = bench.now_ms;
    for (unsigned i = 0; i < 5; i++) {
        bench.now_ms = began_ms + after_ms[i] - 1;
        timed_tick(&bench);
        cr_expect_eq(bench.full, 4 - i, "try %u is early", i);
        bench.now_ms = began_ms + after_ms[i];
        timed_tick(&bench);
        cr_expect_eq(bench.full, i < 4 ? 3 - i : 0, "try %u", i);
    }
    cr_expect_eq(bench.waiting, 1);
    bench.now_ms += 1000000;
    timed_tick(&bench);
    cr_expect_eq(bench.waiting, 1, "it is kept: once");
    timed_free(&bench);
}

/* Planted: an approval by text alone would let the second run in. */
Test(participant_site, an_approval_covers_one_run_or_as_many_as_were_said)
{
    struct timed bench;
    struct job_name first;
    timed_init_asking(&bench);
    timed_decide(&bench, 1);
    timed_join(&bench);
    bench.now_ms += SLOT_MS;
    timed_tick(&bench);
    timed_ask_round(&bench, 0);
    cr_assert_eq(bench.body_count, 2);
    first = bench.job;
    timed_name_job(&bench.job, (struct slice){bench.text, strlen(bench.text)}, 2);
    timed_join(&bench);
    cr_assert_not(is_ready(&bench), "the same text again is another job");
    cr_assert_eq(bench.waiting, 1);
    timed_decide(&bench, 2);
    cr_assert(is_ready(&bench));
    bench.job = first;
    timed_stop(&bench);
    timed_start(&bench);
    timed_decide(&bench, 1);
    timed_join(&bench);
    bench.now_ms += SLOT_MS;
    timed_tick(&bench);
    cr_assert(is_ready(&bench), "the first run goes on after a restart");
    timed_free(&bench);
}

/* The first job was approved, and ended before it began here: nothing of it is in the journal. Planted: a yes that is to the
 * text alone lets the second one in, and nobody was asked. */
Test(participant_site, a_yes_to_a_job_ends_with_it)
{
    for (unsigned in_advance = 0; in_advance < 2; in_advance++) {
        struct timed bench;
        timed_init_asking(&bench);
        timed_join(&bench);
        if (in_advance > 0) {
            timed_decide(&bench, 1);
        } else {
            approve_this_job(&bench);
        }
        cr_assert(is_ready(&bench), "%s", bench.logged);
        timed_name_job(&bench.job, (struct slice){bench.text, strlen(bench.text)}, 2);
        timed_join(&bench);
        bench.now_ms += SLOT_MS;
        timed_tick(&bench);
        cr_assert_eq(is_ready(&bench), in_advance > 0, "the same text submitted again");
        cr_assert_eq(bench.waiting, in_advance > 0 ? 1 : 2, "a person is asked anew");
        approve_this_job(&bench);
        cr_assert(is_ready(&bench), "and says yes to that one");
        timed_ask_round(&bench, 0);
        cr_assert_eq(bench.body_count, 2);
        timed_stop(&bench);
        timed_start(&bench);
        approve_this_job(&bench);
        timed_join(&bench);
        bench.now_ms += SLOT_MS;
        timed_tick(&bench);
        cr_assert(is_ready(&bench), "which goes on after a restart");
        timed_free(&bench);
    }
}

Test(participant_site, a_refused_job_is_declined_also_in_the_middle_of_it)
{
    struct timed bench;
    timed_init_asking(&bench);
    timed_decide(&bench, 1);
    timed_join(&bench);
    bench.now_ms += SLOT_MS;
    timed_tick(&bench);
    timed_ask_round(&bench, 0);
    cr_assert_eq(bench.body_count, 2);
    timed_decide(&bench, 0);
    cr_assert(timed_says(&bench, "job-declined"));
    timed_ask_round(&bench, 1);
    cr_assert_eq(bench.body_count, 2, "nothing more is charged");
    cr_assert_gt(timed_count(&bench, MESSAGE_DECLINE), 0);
    timed_decide(&bench, 1);
    cr_assert(timed_says(&bench, "job-approved"), "a changed mind: %s", bench.logged);
    timed_free(&bench);
}

/* Returns whether the agent's next HELLO says that it is not ready, and a DECLINE of that round comes with it. */
static bool declines_with_hello(struct timed *bench, uint32_t round)
{
    struct message message;
    bool hello = false;
    bool declined = false;
    bench->sent_count = 0;
    bench->now_ms += 100;
    timed_tick(bench);
    for (size_t i = 0; i < bench->sent_count; i++) {
        const struct sent *sent = &bench->sent[i];
        const struct slice control = {sent->control, sent->size};
        cr_assert_eq(wire_decode(&message, control, (struct slice){0}), STATUS_OK);
        hello = hello || (message.kind == MESSAGE_HELLO && !message.as.hello.ready);
        declined = declined || (message.kind == MESSAGE_DECLINE &&
                                digest_equal(&message.as.decline.job, &bench->job.id) &&
                                message.as.decline.round == round);
    }
    return hello && declined;
}

/* A coordinator that waits for agents must not count one that said no. It is told with each HELLO, before any round, and about
 * the next round as soon as one is over. */
Test(participant_site, a_no_is_told_before_any_round_and_takes_readiness_away)
{
    struct timed bench;
    timed_init_asking(&bench);
    timed_join(&bench);
    cr_assert_not(is_ready(&bench));
    bench.sent_count = 0;
    timed_decide(&bench, 0);
    cr_assert(timed_says(&bench, "job-declined"));
    cr_assert_gt(timed_count(&bench, MESSAGE_DECLINE), 0, "at once");
    cr_assert(declines_with_hello(&bench, 0));
    cr_assert(declines_with_hello(&bench, 0), "and again, for one message may be lost");
    const struct message release = {
        .kind = MESSAGE_RELEASE,
        .as.release = {.job = bench.job.id, .experts = {.digest = {{1}}, .bytes = 8 * DIM}}};
    bench.sent_count = 0;
    timed_give(&bench, &release, (struct slice){0});
    cr_assert_eq(timed_count(&bench, MESSAGE_DECLINE), 1, "the next round need not wait for it");
    cr_assert(declines_with_hello(&bench, 1));
    timed_decide(&bench, 1);
    cr_assert(is_ready(&bench), "a changed mind");
    timed_free(&bench);
}

Test(participant_site, broken_decisions_leave_the_present_ones_in_force)
{
    struct timed bench;
    timed_init_asking(&bench);
    timed_join(&bench);
    timed_decide(&bench, 1);
    cr_assert(is_ready(&bench));
    timed_file(&bench, FOLLOWED_APPROVALS, "yes to everything\n");
    cr_assert(timed_says(&bench, "approvals-unreadable"));
    cr_assert(is_ready(&bench));
    timed_free(&bench);
}

Test(participant_site, an_edited_policy_asks_for_a_new_beginning_between_two_rounds)
{
    struct timed bench;
    timed_init(&bench, 10);
    edit_policy(&bench, "5", "");
    cr_assert_eq(bench.restarts, 0, "nothing has changed: %s", bench.logged);
    timed_join(&bench);
    edit_policy(&bench, "4", "");
    cr_assert(timed_says(&bench, "policy-changed"));
    bench.now_ms += SLOT_MS;
    timed_tick(&bench);
    cr_assert_eq(bench.restarts, 1);
    timed_free(&bench);
}

/* Planted: an agent that charges first and looks at the new policy afterwards has a second record here. */
Test(participant_site, what_is_computed_while_the_policy_changes_is_never_charged)
{
    static const char *const epsilon[] = {"4", "6"};
    for (size_t i = 0; i < 2; i++) {
        struct timed bench;
        struct message invite;
        timed_init(&bench, 10);
        timed_join(&bench);
        bench.now_ms += SLOT_MS;
        timed_tick(&bench);
        invite = timed_invitation(&bench, 0, NULL);
        bench.work_takes_ms = SLOT_MS / 2;
        timed_give(&bench, &invite, (struct slice){0});
        cr_assert_eq(bench.works, 2);
        edit_policy(&bench, epsilon[i], "");
        cr_assert_eq(bench.restarts, 0, "the computation's end is not shown");
        bench.now_ms += SLOT_MS / 2;
        timed_settle(&bench);
        timed_tick(&bench);
        cr_assert_eq(bench.restarts, 0, "but at its slot alone");
        bench.now_ms += SLOT_MS / 2;
        timed_tick(&bench);
        cr_assert_eq(bench.restarts, 1);
        cr_assert_eq(bench.body_count, 0, "nothing was charged");
        timed_free(&bench);
    }
}

Test(participant_site, a_broken_policy_leaves_the_present_one_in_force)
{
    struct timed bench;
    timed_init(&bench, 10);
    timed_join(&bench);
    edit_policy(&bench, "4", "epsilom: 3\n");
    bench.now_ms += SLOT_MS;
    timed_tick(&bench);
    cr_assert(timed_says(&bench, "policy-unreadable"));
    cr_assert_eq(bench.restarts, 0);
    timed_free(&bench);
}

/* Until the decisions were read once, they may say no. Planted: an agent that took a broken file for an empty one
 * would join here, for its policy leaves jobs to nobody. */
Test(participant_site, decisions_that_cannot_be_read_hold_every_job_back)
{
    struct timed bench;
    timed_init(&bench, 10);
    timed_stop(&bench);
    bench.approvals_followed = true;
    timed_start(&bench);
    timed_file(&bench, FOLLOWED_APPROVALS, "yes to everything\n");
    cr_assert(timed_says(&bench, "approvals-unreadable"));
    timed_offer(&bench, 1);
    cr_assert_eq(bench.works, 0);
    timed_file(&bench, FOLLOWED_APPROVALS, "# nothing\n");
    timed_settle(&bench);
    bench.now_ms += SLOT_MS;
    timed_tick(&bench);
    cr_assert_eq(bench.works, 1);
    timed_free(&bench);
}

/* A refusal without asking a person: people would learn of it only from the log. Planted: it was
 * kept nowhere. */
Test(participant_site, a_job_that_the_policy_refuses_is_kept_with_the_reason)
{
    struct timed bench;
    timed_init_asking(&bench);
    bench.policy.job_epsilon_micro = 1;
    timed_join(&bench);
    cr_assert(timed_says(&bench, "job-refused"));
    cr_assert_eq(bench.waiting, 0, "no person is asked");
    cr_assert_eq(bench.refusals, 1);
    cr_assert(bench.refused);
    cr_expect_not_null(strstr(bench.refused_why, "epsilon"), "%s", bench.refused_why);
    cr_expect_eq(strncmp(bench.refused_why, "timing:", 7), 0, "%s", bench.refused_why);
    /* The policy was edited: the agent starts anew, and the job waits for a person. */
    timed_stop(&bench);
    bench.policy.job_epsilon_micro = 0;
    timed_start(&bench);
    timed_file(&bench, FOLLOWED_APPROVALS, "");
    timed_join(&bench);
    cr_assert_eq(bench.waiting, 1);
    cr_assert_eq(bench.refusals, 2);
    cr_assert_not(bench.refused, "it is refused no more");
    timed_free(&bench);
}

Test(participant_site, a_job_whose_text_cannot_be_used_is_kept_without_a_name)
{
    struct timed bench;
    timed_init(&bench, 10);
    (void)snprintf(bench.text, sizeof bench.text, "hedgerow: 1\njob: nonsense\n");
    timed_offer(&bench, 1);
    cr_assert(timed_says(&bench, "job-invalid"));
    cr_assert(bench.refused);
    cr_expect_eq(strncmp(bench.refused_why, ": the coordinator's job", 23), 0, "%s",
                 bench.refused_why);
    cr_expect(declines_with_hello(&bench, 0), "or the job waits for a person who was never asked");
    timed_free(&bench);
}

/* Seconds go by; the agent is woken when it asked for it. */
static void let_pass(struct timed *bench, int64_t until_ms)
{
    while (bench->now_ms < until_ms) {
        bench->now_ms += SLOT_MS;
        timed_tick(bench);
        timed_settle(bench);
    }
}

static size_t times_logged(const struct timed *bench, const char *event)
{
    size_t count = 0;
    for (const char *at = bench->logged; (at = strstr(at, event)) != NULL; at += strlen(event)) {
        count++;
    }
    return count;
}

/* The agent looks for it at public times. They depend on when it was found to be gone, and not on its content. */
Test(participant_site, a_table_that_was_gone_is_found_again)
{
    enum { LOOK_MS = 30000 };
    struct timed bench;
    timed_init(&bench, 10);
    bench.gone = true;
    timed_join(&bench);
    let_pass(&bench, bench.now_ms + SLOT_MS);
    cr_expect(timed_says(&bench, "data-unfit"));
    cr_expect(!is_ready(&bench));
    cr_expect_eq(bench.loads, 1);
    cr_expect_eq(timed_count(&bench, MESSAGE_DECLINE), 0, "it may be back");
    const int64_t gone_ms = bench.now_ms;
    let_pass(&bench, gone_ms + LOOK_MS - 2 * SLOT_MS);
    cr_expect_eq(bench.loads, 1, "not all the time");
    let_pass(&bench, gone_ms + LOOK_MS + 2 * SLOT_MS);
    cr_expect_eq(bench.loads, 2);
    cr_expect(!is_ready(&bench));
    cr_expect_eq(times_logged(&bench, "data-unfit"), 1, "said once");
    bench.gone = false;
    let_pass(&bench, gone_ms + 2 * LOOK_MS + 5 * SLOT_MS);
    cr_expect_eq(bench.loads, 3);
    cr_expect(timed_says(&bench, "job-joined"));
    cr_expect(is_ready(&bench));
    let_pass(&bench, gone_ms + 4 * LOOK_MS);
    cr_expect_eq(bench.loads, 3, "what is there is not looked for");
    timed_ask_round(&bench, 0);
    cr_expect_eq(timed_count(&bench, MESSAGE_OFFER), 1);
    timed_free(&bench);
}
