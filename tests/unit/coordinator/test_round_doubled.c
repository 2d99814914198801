/* An agent that two coordinators of a job have, and a collector that is taken for its cause: nobody counts twice, and the
 * collector is waited for again. */

#include "team.h"

#include <criterion/criterion.h>

/* An agent on two lists: whichever answer comes first counts, and what has it again does not. */
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

/* Agents of one name at two coordinators: their collector finds out which of its agents that is, and asks it no more. So the
 * others of its list count again. */
Test(round_doubled, an_agent_on_two_lists_is_found)
{
    team_begin();
    team[1].first = 1; /* agent-1 and agent-2: agent-1 is of the one that leads, too */
    team_restart(1);
    team_greet();
    for (uint32_t round = 0; round < TEAM_ROUNDS; round++) {
        const bool found = round >= 2;
        const int64_t word_of[] = {team_word(1, round), team_word(2, round)};
        cr_expect(team_answer(0, 1) && team_answer(0, 0));
        const uint32_t invited = team[1].invite.as.invite.round;
        cr_assert_eq(invited, round, "agent-2 is asked");
        for (size_t agent = found; agent < 2; agent++) {
            central_offer_whole(&team[1], agent, &word_of[agent], &word_of[agent], 1);
        }
        team_hand_in(1);
        cr_expect_eq(team[0].coordinator->collecting.agent_count, found, "round %u", round);
        cr_expect(team_answer(2, 0) && team_answer(2, 1));
        team_hand_in(2);
        cr_assert_eq(team[0].coordinator->outcome.rounds_closed, round + 1);
        team_follow(1);
        team_follow(2);
    }
    cr_expect_eq(team_check_rounds(), 2 * 4 + 3 * 5);
    struct member *twice = cohort_find(&team[1].coordinator->cohort, &(struct peer){"agent-1"});
    cr_assert_not_null(twice);
    cr_expect_eq(twice->doubled, 2);
    const struct peer list[] = {{"agent-1"}, {"agent-2"}};
    central_tell(&team[1], (struct event){.kind = EVENT_ROSTER, .as.roster = {list, 2}});
    cr_expect_eq(cohort_find(&team[1].coordinator->cohort, &list[0])->doubled, 0,
                 "a changed list is tried anew");
    cr_expect_eq(cohort_find(&team[1].coordinator->cohort, &list[1])->doubled, 0);
    team_end();
}

/* A part that comes too late is in no round. Nobody's name is in another part for that. */
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

/* A part that is refused, and rounds that its agents miss, do not outlast their causes. */
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
        team[1].now_ms = team[2].now_ms = team[0].now_ms;
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
