/* A job that three coordinators serve, each with two agents: one leads, two collect. Programs die, and messages come twice,
 * late or in another order. A round is still the sum of its agents' answers, each once, and its record names them. */

#include "team.h"

#include "protocol/wire.h"
#include "tests/support/dice.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(round_collect, a_round_is_the_sum_of_all_parts)
{
    team_begin();
    team_greet();
    for (uint32_t round = 0; round < TEAM_ROUNDS; round++) {
        team_answer_all();
        cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round, "it waits for the parts");
        team_hand_in(1);
        team_hand_in(2);
        cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round + 1);
        team_follow(1);
        team_follow(2);
    }
    cr_expect_eq(team_check_rounds(), TEAM_ROUNDS * TEAM * CENTRAL_AGENTS);
    for (size_t i = 0; i < TEAM; i++) {
        cr_expect(team[i].coordinator->outcome.finished && team[i].release.as.release.last);
    }
    team_end();
}

/* It hears of the record and of the next round one after the other. Its agents hear of both at once: a packet and a wake-up each. Where
 * nobody opens a round, they hear of the release alone. */
Test(round_collect, agents_of_a_collector_hear_of_a_release_with_the_next_invitation)
{
    team_begin();
    team_greet();
    team_answer_all();
    team_hand_in(1);
    team_hand_in(2);
    for (size_t i = 1; i < TEAM; i++) {
        team[i].release = (struct message){.as.release.round = ROUNDS_MAX};
        team[i].invites = 0;
        central_follow(&team[i]);
        cr_expect_eq(team[i].release.as.release.round, ROUNDS_MAX, "it is told by itself");
    }
    cr_expect_eq(team[0].behind_release, CENTRAL_AGENTS, "and so do those of who leads");
    team_follow(1);
    cr_expect_eq(team[1].release.as.release.round, 0);
    cr_expect_eq(team[1].behind_release, CENTRAL_AGENTS);
    cr_expect_eq(team[1].invites, CENTRAL_AGENTS);
    central_wait(&team[2], 250);
    cr_expect_eq(team[2].release.as.release.round, 0, "nobody leads for a while");
    cr_expect_eq(team[2].invites, 0);
    team_end();
}

/* A collector that died after it handed in asks nobody who is in the part. One that knows of no open round asks nobody. */
Test(round_collect, a_part_counts_once)
{
    team_begin();
    central_greet(&team[1]);
    team_follow(1);
    cr_expect_not(team_answer(1, 0),
                  "the one that leads waits for agents, and so does a collector");
    team_greet();
    cr_expect(team_answer(0, 0) && team_answer(0, 1) && team_answer(1, 0) && team_answer(2, 0) &&
              team_answer(2, 1));
    central_wait(&team[1], TEAM_DEADLINE_MS);
    cr_assert_eq(team[1].kept_count, 1, "agent-2 is in a part");
    team_hand_in(1);
    team_restart(1);
    team_follow(1);
    central_greet(&team[1]);
    const int64_t again = team_word(2, 0);
    central_offer_whole(&team[1], 0, &again, &again, 1);
    cr_expect(team_answer(1, 1));
    cr_assert_eq(team[1].kept_count, 2);
    struct record record = team_record(&team[1], 1);
    cr_expect_eq(record.as.partial.agent_count, 1, "agent-3 alone");
    record_free(&record);
    team_hand_in(1);
    team_give_part(1, &team[1].kept[0]);
    team_hand_in(2);
    cr_expect_eq(team_check_rounds(), TEAM * CENTRAL_AGENTS);
    team_end();
}

/* A part of another round, job or collector, or with a sum that does not fit, changes nothing. */
Test(round_collect, a_part_that_does_not_fit_is_left_out)
{
    team_begin();
    team_greet();
    team_answer_all();
    for (int wrong = 0; wrong < 7; wrong++) {
        struct record record = team_record(&team[1], 0);
        struct kept forged = team[1].kept[0];
        forged.blob_size -= wrong == 0 ? 1 : 0;
        record.as.partial.round += wrong == 1;
        record.as.partial.job.byte[0] ^= wrong == 2;
        memcpy(record.as.partial.collector, wrong == 3 ? "north" : "east", 5);
        record.as.partial.collector[wrong == 3 ? 5 : 4] = '\0';
        record.as.partial.records += wrong == 4; /* the job's batch is a number */
        record.as.partial.blob_bytes += wrong == 5 ? 8 : 0;
        cr_assert_eq(wire_encode_record(&forged.body, &forged.body_size, &record), STATUS_OK);
        team_give_part(wrong == 6 ? 2 : 1, &forged); /* west hands in as east */
        free(forged.body);
        record_free(&record);
        cr_expect_eq(team[0].coordinator->collecting.agent_count, 0, "forgery %d was counted",
                     wrong);
    }
    team_give_part(1, &(struct kept){.body = (uint8_t *)"no record", .body_size = 9});
    team_hand_in(1);
    team_hand_in(2);
    cr_expect_eq(team_check_rounds(), TEAM * CENTRAL_AGENTS);
    team_end();
}

/* Rounds wait for a collector in vain twice; then they go on without it, until it is back. */
Test(round_collect, rounds_go_on_without_a_collector)
{
    team_begin();
    team_greet();
    for (uint32_t round = 0; round < 3; round++) {
        cr_expect(team_answer(0, 0) && team_answer(0, 1) && team_answer(1, 0) && team_answer(1, 1));
        team_hand_in(1);
        if (round < 2) {
            cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round);
            central_wait(&team[0], TEAM_DEADLINE_MS);
            team[1].now_ms = team[0].now_ms;
        }
        cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round + 1);
        team_follow(1);
    }
    team[2].now_ms = team[0].now_ms;
    team_follow(2);
    struct standing_of west = {.peer = team_names[1], .present = false};
    team_tell(&team[0], &west);
    team_hand_in(2);
    team_answer_all();
    team_hand_in(1);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 3, "it is waited for again");
    team_hand_in(2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 4);
    cr_expect_eq(team_check_rounds(), 3 * 4 + 6);
    team_end();
}

/* An agent of a collector that two rounds have waited for in vain is waited for no more: the third is as fast as the others
 * are, and so until it is back. */
Test(round_collect, a_collector_goes_on_without_an_agent)
{
    team_begin();
    team_greet();
    for (uint32_t round = 0; round < 3; round++) {
        cr_expect(team_answer(0, 0) && team_answer(0, 1) && team_answer(1, 0) &&
                  team_answer(2, 0) && team_answer(2, 1));
        if (round < 2) {
            cr_expect_eq(team[1].kept_count, round, "agent-3 is waited for");
            central_wait(&team[1], TEAM_DEADLINE_MS);
        }
        cr_expect_eq(team[1].kept_count, round + 1, "in round %u", round);
        team_hand_in(1);
        team_hand_in(2);
        if (round < 2) {
            central_wait(&team[0], TEAM_DEADLINE_MS);
        }
        cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round + 1);
        team[1].now_ms = team[2].now_ms = team[0].now_ms;
        team_follow(1);
        team_follow(2);
    }
    team_answer_all();
    cr_expect_eq(team[1].kept_count, 5, "it is back, in a part of its own");
    team_hand_in(1);
    team_hand_in(2);
    cr_expect_eq(team_check_rounds(), 3 * 5 + 6);
    team_end();
}

/* A collector's deadline is the earlier one: what it has by then is handed in, and counts. So it is for one that began anew. */
Test(round_collect, a_part_is_there_before_the_deadline)
{
    team_begin();
    team_greet();
    cr_expect(team_answer(0, 0) && team_answer(0, 1) && team_answer(1, 0) && team_answer(1, 1));
    team_hand_in(1);
    for (size_t i = 0; i < TEAM; i++) {
        central_wait(&team[i], TEAM_DEADLINE_MS / 2);
    }
    team_restart(2);
    central_greet(&team[2]);
    team_follow(2);
    cr_expect_eq(team[2].invite.as.invite.deadline_ms, TEAM_DEADLINE_MS / 2 - TEAM_DEADLINE_MS / 16,
                 "agents are told the time that is left, also at first: %u ms",
                 (unsigned)team[2].invite.as.invite.deadline_ms);
    cr_expect(team_answer(2, 0));
    central_wait(&team[2], TEAM_DEADLINE_MS / 2 - TEAM_DEADLINE_MS / 16 - 1);
    cr_expect_eq(team[2].kept_count, 0);
    central_wait(&team[2], 1);
    cr_assert_eq(team[2].kept_count, 1);
    team_hand_in(2);
    central_wait(&team[0], TEAM_DEADLINE_MS / 2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 1);
    cr_expect_eq(team_check_rounds(), 5);
    team_end();
}

/* Answers that come after the deadline go into further parts, a second apart. Meanwhile the collector
 * sleeps. */
Test(round_collect, late_answers_count_while_the_round_is_open)
{
    team_begin();
    for (size_t i = 0; i < TEAM; i++) {
        team[i].job.patience_ms = 10 * TEAM_DEADLINE_MS;
        team[i].job.cohort_min = TEAM * CENTRAL_AGENTS;
    }
    team_greet();
    for (size_t i = 0; i < TEAM; i++) {
        central_wait(&team[i], TEAM_DEADLINE_MS + 1);
    }
    cr_expect_gt(team[1].machine.wake_ms(team[1].machine.self), team[1].now_ms, "it would spin");
    cr_expect(team_answer(2, 0));
    cr_expect_eq(team[2].kept_count, 1);
    cr_expect(team_answer(2, 1));
    cr_expect_eq(team[2].kept_count, 2, "nobody else is awaited");
    cr_expect(team_answer(1, 0) && team_answer(1, 1) && team_answer(0, 0) && team_answer(0, 1));
    team_hand_in(1);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 0);
    team_hand_in(2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 1);
    cr_expect_eq(team_check_rounds(), TEAM * CENTRAL_AGENTS);
    team_end();
}

/* While nobody leads, a collector adds up what it has; the next one that leads gets all of it. */
Test(round_collect, nothing_is_lost_while_nobody_leads)
{
    team_begin();
    team_greet();
    team_answer_all();
    team_hand_in(1);
    team_hand_in(2);
    team_follow(1);
    team_follow(2);
    cr_expect(team_answer(1, 0));
    central_wait(&team[1], 10 * TEAM_DEADLINE_MS);
    team[0].now_ms = team[2].now_ms = team[1].now_ms;
    team_restart(0);
    team_greet();
    cr_expect(team_answer(1, 1) && team_answer(0, 0) && team_answer(0, 1) && team_answer(2, 0) &&
              team_answer(2, 1));
    team_hand_in(1);
    team_hand_in(2);
    cr_expect_eq(team_check_rounds(), 2 * TEAM * CENTRAL_AGENTS);
    team_end();
}

/* The row of a former leader opens no round. */
Test(round_collect, an_old_row_opens_no_round)
{
    team_begin();
    team_greet();
    team_restart(1);
    central_greet(&team[1]);
    const struct standing_of old = {.open = 1, .left_ms = TEAM_DEADLINE_MS, .present = false};
    team_tell(&team[1], &old);
    cr_expect_eq(coordinator_look(team[1].coordinator).open, 0);
    team_end();
}

/* Another job may ask its agents next: they are to have heard of this one's end. One that says nothing more is waited for no
 * longer than an absent agent is. */
Test(round_collect, who_leads_stays_until_its_collectors_are_through)
{
    team_begin();
    team_greet();
    for (uint32_t round = 0; round < TEAM_ROUNDS; round++) {
        team_answer_all();
        team_hand_in(1);
        team_hand_in(2);
        team_follow(1);
        team_follow(2);
    }
    central_greet(&team[0]);
    cr_expect_eq(team[0].finished, 0, "both are there");
    struct standing_of gone = {.peer = team_names[0], .present = false};
    team_tell(&team[0], &gone);
    cr_expect_eq(team[0].finished, 0, "one is there");
    gone.peer = team_names[1];
    team_tell(&team[0], &gone);
    cr_expect_eq(team[0].finished, 1);
    team_end();
}

/* People at a collector's sites may have to decide, too. Planted: they counted where they are ready alone, and the job failed at its
 * join deadline. A collector that says nothing has nobody. */
Test(round_collect, people_at_a_collector_are_waited_for)
{
    for (int present = 0; present < 2; present++) {
        team_begin();
        central_greet_undecided(&team[1]);
        const struct coordinator_view view = coordinator_look(team[1].coordinator);
        cr_expect_eq(view.undecided, CENTRAL_AGENTS);
        cr_expect_eq(view.ready, 0);
        struct standing_of east = {
            .peer = team_names[0], .undecided = view.undecided, .present = true};
        team_tell(&team[0], &east);
        team[0].coordinator->patient_ms = team[0].now_ms + 60000;
        east.present = present == 1;
        team_tell(&team[0], &east);
        for (int second = 0; second < 30; second++) {
            central_wait(&team[0], 1000);
        }
        cr_expect_eq(team[0].coordinator->outcome.failed, present == 0);
        east.undecided = 0;
        east.ready = CENTRAL_AGENTS;
        team_tell(&team[0], &east);
        cr_expect_eq(coordinator_look(team[0].coordinator).open, (uint64_t)present);
        team_end();
    }
}

/* Agents that decline, and lists that became empty, send nothing more: nobody waits for them. */
Test(round_collect, nobody_waits_for_nobody)
{
    team_begin();
    team_greet();
    team_answer_all();
    central_tell(&team[0], (struct event){.kind = EVENT_ROSTER, .as.roster = {NULL, 0}});
    team_hand_in(1);
    team_hand_in(2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 1);
    central_tell(&team[1], (struct event){.kind = EVENT_ROSTER, .as.roster = {NULL, 0}});
    team_follow(1);
    team_follow(2);
    team_hand_in(1);
    cr_expect(team_answer(2, 0) && team_answer(2, 1));
    team_hand_in(2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 2);
    team_end();
}

/* Answers, parts, records, standings and deaths in any order, of a hundred seeds: nothing is lost or counted twice, and the
 * job ends. Behind a deadline agents are left out, of the others none. */
Test(round_collect, any_order_and_any_death)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct dice dice = {seed};
        team_begin();
        team_greet();
        for (int i = 0; i < 4000 && !team[0].coordinator->outcome.finished; i++) {
            const size_t who = (size_t)dice_below(&dice, TEAM);
            const size_t other = 1 + who % COLLECTORS;
            switch (dice_below(&dice, 16)) {
            case 0:
                team_restart(who);
                break;
            case 1:
            case 2:
                central_greet(&team[who]);
                break;
            case 3:
            case 4:
                if (who == 0) {
                    team_hand_in(1);
                    team_hand_in(2);
                } else {
                    team_follow(who);
                }
                break;
            case 5:
            case 6:
                team_follow(other);
                break;
            case 7:
            case 8:
                team_hand_in(other);
                break;
            case 9:
                if (team[other].kept_count > 0) {
                    team_give_part(other,
                                   &team[other].kept[dice_below(&dice, team[other].kept_count)]);
                }
                break;
            default:
                (void)team_answer(who, (size_t)dice_below(&dice, 2));
                break;
            }
        }
        cr_assert(team[0].coordinator->outcome.finished, "seed %u", (unsigned)seed);
        cr_expect_eq(team_check_rounds(), TEAM_ROUNDS * TEAM * CENTRAL_AGENTS, "seed %u",
                     (unsigned)seed);
        team_end();
    }
}
