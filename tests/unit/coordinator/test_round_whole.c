/* Answers that come with their offer: they count whole and unchanged or not at all, once, and within their bounds, as
 * pulled answers do. */

#include "central.h"

#include "coordinator/round_state.h"
#include "task/learn/stage.h"

#include <criterion/criterion.h>

static struct central bench;

static const struct member *member(size_t agent)
{
    return &bench.coordinator->cohort.member[agent];
}

static void expect_sum(const int64_t *value)
{
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(aggregate_value(&bench.coordinator->aggregate, i), value[i], "at %zu", i);
    }
}

static int64_t small(size_t agent, size_t place)
{
    return (int64_t)(agent + place) % 3;
}

Test(round_whole, an_answer_with_its_offer_counts_at_once_and_once)
{
    const int64_t first[3] = {5, 6, 7};
    const int64_t second[3] = {1, 2, 3};
    central_init(&bench, "0.000001", CENTRAL_UPDATE);
    central_greet(&bench);
    central_offer_whole(&bench, 0, first, first, 3);
    cr_assert_eq(bench.pulls, 0);
    cr_assert_eq(member(0)->standing, STANDING_ANSWERED);
    expect_sum(first);
    central_offer_whole(&bench, 0, first, first, 3);
    central_offer_whole(&bench, 0, second, second, 3);
    expect_sum(first);
    central_offer(&bench, 1, second, 3);
    cr_assert_eq(bench.pulls, 1, "without its bytes it is pulled");
    central_send(&bench, 1, second, 3);
    cr_assert_eq(bench.coordinator->outcome.rounds_closed, 1);
    central_free(&bench);
}

/* Planted: words of 2 bytes were read by whatever steps the reader's own rules give the job, so that an answer of other steps,
 * or of none, was a silently wrong sum. */
Test(round_whole, an_answer_of_other_steps_is_in_no_sum)
{
    const struct encode_form form = {.word_bytes = 2, .shift = 12, .sum_bytes = 4};
    const int16_t word[3] = {5, -6, INT16_MAX};
    const int64_t wide[3] = {5, 6, 7};
    const unsigned others[] = {0, 11, 13, WORD_SHIFT_MAX};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        central_init_local(&bench, CENTRAL_FIT);
        central_greet(&bench);
        const size_t count = central_count(&bench);
        cr_assert_leq(count, 3);
        cr_assert_eq(aggregate_begin(&bench.coordinator->aggregate, count, &form), STATUS_OK);
        central_offer_short(&bench, 1, word, count, 12);
        cr_expect_eq(member(1)->standing, STANDING_ANSWERED);
        cr_expect_eq(aggregate_value(&bench.coordinator->aggregate, 0), 5 * 4096);
        central_offer_short(&bench, 0, word, count, others[i]);
        cr_expect_eq(member(0)->standing, STANDING_REFUSED, "shift %u", others[i]);
        central_free(&bench);
    }
    central_init_local(
        &bench,
        CENTRAL_FIT); /* wider words are of a program of before, and count the grid's steps */
    central_greet(&bench);
    cr_assert_eq(aggregate_begin(&bench.coordinator->aggregate, central_count(&bench), &form),
                 STATUS_OK);
    central_offer_whole(&bench, 0, wide, wide, central_count(&bench));
    cr_expect_eq(member(0)->standing, STANDING_ANSWERED);
    cr_expect_eq(aggregate_value(&bench.coordinator->aggregate, 0), 5);
    central_free(&bench);
}

Test(round_whole, bytes_that_were_not_offered_are_in_no_sum)
{
    const int64_t offered[3] = {5, 6, 7};
    for (size_t place = 0; place < 3; place++) {
        int64_t sent[3] = {5, 6, 7};
        central_init(&bench, "0.000001", CENTRAL_UPDATE);
        central_greet(&bench);
        sent[place] ^= 1;
        central_offer_whole(&bench, 1, offered, offered, 3);
        central_offer_whole(&bench, 0, offered, sent, 3);
        cr_assert_eq(member(0)->standing, STANDING_REFUSED);
        struct record record = central_last(&bench); /* one of two is too few */
        cr_assert(record.as.round.failed && record.as.round.agent_count == 1);
        cr_assert_str_eq(record.as.round.agent[0].name, "agent-1");
        record_free(&record);
        central_free(&bench);
    }
}

/* If an agent begins anew during a pull, and its other answer comes whole, the pull is over. */
Test(round_whole, an_answer_anew_takes_the_place_of_a_pull)
{
    const int64_t first[3] = {1, 2, 3};
    const int64_t second[3] = {5, 6, 7};
    central_init(&bench, "0.000001", CENTRAL_UPDATE);
    central_greet(&bench);
    central_offer(&bench, 0, first, 3);
    cr_assert_eq(bench.pulls, 1);
    central_offer_whole(&bench, 0, second, second, 3);
    cr_assert_eq(member(0)->standing, STANDING_ANSWERED);
    central_send(&bench, 0, first, 3);
    expect_sum(second);
    central_free(&bench);
}

Test(round_whole, a_value_beyond_its_bounds_is_in_no_sum)
{
    static const int64_t beyond[] = {INT64_MAX, INT64_MIN, -1, 1 + (INT64_C(3 * 4) << 10)};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        int64_t words[16] = {0};
        const size_t count = central_reach_third(&bench, small);
        words[count - 1] = beyond[i];
        central_offer_whole(&bench, 0, words, words, count);
        cr_assert_eq(member(0)->standing, STANDING_REFUSED);
        central_free(&bench);
    }
}

/* An offer that is refused is refused with its bytes, and one of a closed round is told of the end. */
Test(round_whole, bytes_change_nothing_of_what_an_offer_has_to_be)
{
    const int64_t words[4] = {1, 2, 3, 4};
    central_init(&bench, "0.000001", CENTRAL_UPDATE);
    central_greet(&bench);
    central_offer_whole(&bench, 0, words, words, 4);
    cr_assert_eq(member(0)->standing, STANDING_REFUSED, "of another dimension");
    central_free(&bench);

    central_init(&bench, "0.000001", CENTRAL_UPDATE);
    central_greet(&bench);
    const struct message before = bench.invite;
    central_answer(&bench, small);
    cr_assert_eq(bench.coordinator->outcome.rounds_closed, 1);
    bench.invite = before;
    central_offer_whole(&bench, 0, words, words, 3);
    cr_assert_eq(member(0)->standing, STANDING_SILENT);
    central_free(&bench);
}

static int64_t one(size_t agent, size_t place)
{
    return agent == 0 && place == 0;
}

/* Closes the first round: the next one has a state as its input. */
static size_t begin_second_round(void)
{
    central_init(&bench, "0.000001", CENTRAL_UPDATE);
    central_greet(&bench);
    bench.invites = bench.invited_bytes = 0;
    central_answer(&bench, one);
    cr_assert_eq(bench.coordinator->outcome.rounds_closed, 1);
    const size_t input = (size_t)bench.invite.as.invite.input.bytes;
    cr_assert_gt(input, 0);
    return input;
}

/* An agent says HELLO every two seconds, also while it computes: the input goes to it once in a round. */
Test(round_whole, the_input_goes_along_with_the_first_invitation_of_a_round_alone)
{
    const size_t input = begin_second_round();
    cr_assert_eq(bench.invites, CENTRAL_AGENTS);
    cr_assert_eq(bench.invited_bytes, CENTRAL_AGENTS * input);
    central_greet(&bench);
    cr_assert_eq(bench.invites, 2 * CENTRAL_AGENTS, "invited again");
    cr_assert_eq(bench.invited_bytes, CENTRAL_AGENTS * input, "without what they can fetch");
    central_answer(&bench, one);
    cr_assert_eq(bench.coordinator->outcome.rounds_closed, 2);
    cr_assert_eq(bench.invited_bytes, 2 * CENTRAL_AGENTS * input, "the next round's input");
    cr_assert_eq(central_restart(&bench), STATUS_OK);
    central_greet(&bench);
    cr_assert_eq(bench.invited_bytes, 3 * CENTRAL_AGENTS * input, "it may have been lost");
    central_free(&bench);
}

/* After a restart all come back within seconds: inputs leave at the pace of all invitations. */
Test(round_whole, who_comes_back_is_invited_at_the_pace_of_all)
{
    const size_t input = begin_second_round();
    cr_assert_eq(central_restart(&bench), STATUS_OK);
    bench.invites = bench.invited_bytes = 0;
    bench.coordinator->telling_ms = bench.now_ms;
    bench.coordinator->telling_bytes = TELL_BYTES_MAX; /* as 2,048 others with 16 KiB leave it */
    central_greet(&bench);
    cr_assert_eq(bench.invites, 0);
    cr_assert_eq(bench.machine.wake_ms(bench.machine.self), bench.now_ms + TELL_MS);
    central_wait(&bench, TELL_MS);
    cr_assert_eq(bench.invites, CENTRAL_AGENTS, "nobody is forgotten");
    cr_assert_eq(bench.invited_bytes, CENTRAL_AGENTS * input);
    central_free(&bench);
}

/* An earlier program had no groups. Its 8 numbers of 8 bytes are as long as 16 of 4 bytes, the numbers of a look with two
 * groups. */
Test(round_whole, an_answer_of_before_columns_were_shared_out_is_in_no_sum)
{
    const int64_t value[16] = {1, 2, 3, 4, 5, 6, 7, 8};
    central_init_local(&bench, "  - {task: learn}\n");
    cr_assert_eq(learn_stage(bench.job.stage)->tune.sight, SIGHT_SUMS);
    learn_stage(bench.job.stage)->groups = 2; /* two sites are too few for them */
    bench.records[0] = 12;
    bench.records[1] = 12;
    central_greet(&bench);
    cr_assert_eq(central_count(&bench), 16);
    central_offer_whole(&bench, 1, value, value, 16);
    cr_expect_eq(member(1)->standing, STANDING_ANSWERED);
    for (size_t i = 0; i < 16; i++) {
        cr_expect_eq(aggregate_value(&bench.coordinator->aggregate, i), value[i], "%zu", i);
    }
    central_offer_whole(&bench, 0, value, value, 8);
    cr_expect_eq(member(0)->standing, STANDING_REFUSED);
    central_free(&bench);
}
