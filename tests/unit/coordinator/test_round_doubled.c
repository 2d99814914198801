/* An agent that two coordinators of a job have, and a collector that is taken for its cause: nobody counts twice, and the
 * collector is waited for again. */

#include "team.h"

#include <criterion/criterion.h>

/* An agent on two lists: the first answer counts, and a part that has it again does not. */
Test(round_doubled, nobody_counts_twice)
{
    team_begin();
    team[1].first = 1; /* agent-1 and agent-2: agent-1 is of the one that leads, too */
    team_restart(1);
    team_greet();
    cr_expect(team_answer(0, 1));
    const int64_t same[] = {team_word(1, 0), team_word(2, 0)};
    for (size_t agent = 0; agent < 2; agent++) {
        central_offer_whole(&team[1], agent, &same[agent], &same[agent], 1);
    }
    team_hand_in(1);
    cr_expect_eq(team[0].coordinator->collecting.agent_count, 0, "agent-1 is in the sum already");
    cr_expect(team_answer(0, 0) && team_answer(2, 0) && team_answer(2, 1));
    team_hand_in(2);
    cr_expect_eq(team_check_rounds(), 4);

    team_follow(1);
    team_follow(2);
    const int64_t next[] = {team_word(1, 1), team_word(2, 1)};
    for (size_t agent = 0; agent < 2; agent++) {
        central_offer_whole(&team[1], agent, &next[agent], &next[agent], 1);
    }
    team_hand_in(1);
    cr_expect_eq(team[0].coordinator->collecting.agent_count, 2);
    cr_expect(team_answer(0, 0) && team_answer(0, 1));
    cr_expect_eq(cohort_count(&team[0].coordinator->cohort, STANDING_REFUSED), 1);
    cr_expect(team_answer(2, 0) && team_answer(2, 1));
    team_hand_in(2);
    cr_expect_eq(team_check_rounds(), 4 + 5);
    team_end();
}

static const struct peer twins[] = {{"agent-1"}, {"agent-2"}};

static struct member *twin(void)
{
    struct member *member = cohort_find(&team[1].coordinator->cohort, &twins[0]);
    cr_assert_not_null(member);
    return member;
}

/* Agent-1 is of the one that leads, too: collector east has agent-1 and agent-2. */
static void begin_with_twins(void)
{
    team_begin();
    team[1].first = 1;
    team_restart(1);
    team_greet();
}

static bool is_deaf; /* east hears of no round that is closed */

/* A round in which east's agents answer, agent-1 only if `asked` says that it is asked. At the one that leads agent-0 answers,
 * and agent-1 if `there`; else it is not waited for any longer. Returns how many agents of east's parts count. */
static size_t pass_round(uint32_t round, bool asked, bool there)
{
    const int64_t word_of[] = {team_word(1, round), team_word(2, round)};
    cr_assert_eq(team[1].invite.as.invite.round, round, "agent-2 is asked");
    cr_expect_eq(twin()->standing == STANDING_SILENT, asked, "round %u", round);
    cr_expect(!there || team_answer(0, 1));
    cr_expect(team_answer(0, 0));
    for (size_t agent = !asked; agent < 2; agent++) {
        central_offer_whole(&team[1], agent, &word_of[agent], &word_of[agent], 1);
    }
    team_hand_in(1);
    const size_t counted = team[0].coordinator->collecting.agent_count;
    cr_expect(team_answer(2, 0) && team_answer(2, 1));
    team_hand_in(2);
    if (team[0].coordinator->outcome.rounds_closed == round) {
        central_wait(&team[0], TEAM_DEADLINE_MS);
        team[1].now_ms = team[2].now_ms = team[0].now_ms;
    }
    cr_assert_eq(team[0].coordinator->outcome.rounds_closed, round + 1);
    if (!is_deaf) {
        team_follow(1);
    }
    team_follow(2);
    return counted;
}

static void list(size_t i, const struct peer *peer, size_t count)
{
    central_tell(&team[i], (struct event){.kind = EVENT_ROSTER, .as.roster = {peer, count}});
}

/* Agents of one name at two coordinators: their collector finds out which of its agents that is, and asks it no more. So the
 * others of its list count again. A list that changes elsewhere does not change that; one without its name does. */
Test(round_doubled, an_agent_on_two_lists_is_found)
{
    static const struct peer more[] = {{"agent-1"}, {"agent-2"}, {"agent-9"}};
    begin_with_twins();
    for (uint32_t round = 0; round < TEAM_ROUNDS; round++) {
        list(1, more, 2 + round % 2);
        list(1, more, 2);
        cr_expect_eq(pass_round(round, round < 2, true), round >= 2, "round %u", round);
    }
    cr_expect_eq(team_check_rounds(), 2 * 4 + 3 * 5);
    cr_expect_eq(twin()->doubled, 2);
    list(1, &twins[1], 1);
    list(1, twins, 2);
    cr_expect_eq(twin()->doubled, 0, "it was off the list, and is tried anew");
    team_end();
}

/* The list of the one that leads is mended, and east's does not change: the name is in no round in which east does not ask. */
Test(round_doubled, an_agent_that_is_taken_off_the_other_list_is_asked_again)
{
    static const struct peer left = {"agent-0"};
    begin_with_twins();
    cr_expect_eq(pass_round(0, true, true), 0);
    cr_expect_eq(pass_round(1, true, true), 0);
    cr_expect_eq(pass_round(2, false, true), 1);
    cr_expect_eq(twin()->doubled, 2, "the other one still has it");
    list(0, &left, 1);
    cr_expect_eq(pass_round(3, false, false), 1);
    cr_expect_eq(twin()->doubled, 1, "one part that is refused is enough now");
    cr_expect_eq(pass_round(4, true, false), 2);
    cr_expect_eq(twin()->doubled, 0, "its answer here counts");
    cr_expect_eq(team_check_rounds(), 2 * 4 + 5 + 4 + 5);
    team_end();
}

/* One that moves from one coordinator to another while a round is open is no twin, however often it does. */
Test(round_doubled, an_agent_that_moves_now_and_then_is_asked_on)
{
    begin_with_twins();
    for (uint32_t round = 0; round < TEAM_ROUNDS; round++) {
        const bool moves = round % 2 == 0;
        cr_expect_eq(pass_round(round, true, moves), moves ? 0 : 2, "round %u", round);
        cr_expect_eq(twin()->doubled, moves);
    }
    team_end();
}

/* East hands its part in, and then hears of two rounds at once: the second one is not judged by the parts of the first. */
Test(round_doubled, a_collector_that_has_slept_judges_no_round_by_old_parts)
{
    begin_with_twins();
    is_deaf = true;
    cr_expect_eq(pass_round(0, true, true), 0);
    is_deaf = false;
    cr_expect(team_answer(0, 0) && team_answer(0, 1) && team_answer(2, 0) && team_answer(2, 1));
    team_hand_in(2);
    for (int i = 0; i < 3 && team[0].coordinator->outcome.rounds_closed == 1; i++) {
        central_wait(&team[0], TEAM_DEADLINE_MS);
    }
    cr_assert_eq(team[0].coordinator->outcome.rounds_closed, 2);
    team[1].now_ms = team[2].now_ms = team[0].now_ms;
    team_follow(1);
    cr_expect_eq(team[1].coordinator->outcome.rounds_closed, 2);
    cr_expect_eq(twin()->doubled, 1);
    team_end();
}

/* A part that comes too late is in no round, and its agents are not taken for doubled ones. */
Test(round_doubled, a_part_that_is_late_makes_nobody_a_twin)
{
    team_begin();
    team_greet();
    for (uint32_t round = 0; round < 3; round++) {
        cr_expect(team_answer(1, 0) && team_answer(1, 1) && team_answer(0, 0) && team_answer(0, 1));
        cr_expect(team_answer(2, 0) && team_answer(2, 1));
        central_wait(&team[0], TEAM_DEADLINE_MS);
        team[1].now_ms = team[2].now_ms = team[0].now_ms;
        team_hand_in(1);
        team_hand_in(2);
        team_follow(1);
        team_follow(2);
    }
    for (size_t i = 0; i < team[1].coordinator->cohort.count; i++) {
        cr_expect_eq(team[1].coordinator->cohort.member[i].doubled, 0);
    }
    team_end();
}

/* East's part becomes durable only after its round was closed without it. The next round, in which east has no part, is not
 * judged by it. */
Test(round_doubled, a_part_that_is_durable_too_late_is_forgotten)
{
    begin_with_twins();
    const int64_t word_of[] = {team_word(1, 0), team_word(2, 0)};
    team[1].is_slow = true;
    for (size_t agent = 0; agent < 2; agent++) {
        central_offer_whole(&team[1], agent, &word_of[agent], &word_of[agent], 1);
    }
    cr_assert_eq(team[1].kept_count, 1);
    for (uint32_t round = 0; round < 2; round++) {
        cr_expect(team_answer(0, 0) && team_answer(0, 1) && team_answer(2, 0) && team_answer(2, 1));
        team_hand_in(2);
        central_wait(&team[0], TEAM_DEADLINE_MS);
        team[1].now_ms = team[2].now_ms = team[0].now_ms;
        cr_assert_eq(team[0].coordinator->outcome.rounds_closed, round + 1);
        team_follow(2);
        team_follow(1);
        cr_expect_eq(team[1].coordinator->outcome.rounds_closed, round + 1);
        if (round == 0) {
            central_committed(&team[1]);
        }
        cr_expect_eq(twin()->part, 0);
        cr_expect_eq(twin()->doubled, 0, "round %u", round);
    }
    team_end();
}

/* A part that is refused, and missed rounds, have no effect once their causes are gone. */
Test(round_doubled, a_collector_with_answers_is_waited_for)
{
    team_begin();
    team[1].first = 1; /* agent-1 is of the one that leads, too */
    team_restart(1);
    team_greet();
    cr_expect(team_answer(0, 1));
    const int64_t same[] = {team_word(1, 0), team_word(2, 0)};
    for (size_t agent = 0; agent < 2; agent++) {
        central_offer_whole(&team[1], agent, &same[agent], &same[agent], 1);
    }
    team_hand_in(1);
    cr_expect(team_answer(0, 0) && team_answer(2, 0) && team_answer(2, 1));
    team_hand_in(2);
    team[1].first = 2; /* the lists are mended */
    team_restart(1);
    team_follow(1);
    central_greet(&team[1]);
    team_follow(2);
    for (uint32_t round = 1; round < 3; round++) {
        cr_expect(team_answer(0, 0) && team_answer(0, 1) && team_answer(2, 0) && team_answer(2, 1));
        team_hand_in(2);
        cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round, "round %u", round);
        central_wait(&team[0], TEAM_DEADLINE_MS);
        team[2].now_ms = team[0].now_ms; /* the other's agents have had no time of theirs yet */
        team_follow(1);
        team_follow(2);
    }
    cr_expect(team_answer(1, 0));
    team_hand_in(1); /* it is seen to have an answer */
    cr_expect(team_answer(0, 0) && team_answer(0, 1) && team_answer(2, 0) && team_answer(2, 1));
    team_hand_in(2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 3);
    cr_expect(team_answer(1, 1));
    team_hand_in(1);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 4);
    team_end();
}
