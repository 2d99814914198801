/* A job that three coordinators serve, each with two agents: one leads, two collect. Whatever dies, comes twice, late or in
 * another order, a round is the sum of its agents' answers, each once, and its record names them. */

#include "central.h"
#include "protocol/wire.h"
#include "tests/support/dice.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEAM = 3, COLLECTORS = 2, ROUNDS = 5, DEADLINE_MS = 10000 };

static const struct peer names[COLLECTORS] = {{"east"}, {"west"}};
static const char ASK[] =
    "  - {task: query, queries: [\"count: a >= 0.5\"], batch: 6, share: 0.2, grid_bits: 10}\n"
    "  - {task: query, queries: [\"count: a >= 0.4\"], batch: 6, share: 0.2, grid_bits: 10}\n"
    "  - {task: query, queries: [\"count: a >= 0.3\"], batch: 6, share: 0.2, grid_bits: 10}\n"
    "  - {task: query, queries: [\"count: a >= 0.2\"], batch: 6, share: 0.2, grid_bits: 10}\n"
    "  - {task: query, queries: [\"count: a >= 0.1\"], batch: 6, share: 0.2, grid_bits: 10}\n";

static struct central team[TEAM]; /* 0 leads */
static size_t handed[TEAM];       /* parts that the one that leads was given */
static bool parts_shown[TEAM];    /* to a collector, its own, of the round that is next */

static void begin(void)
{
    central_init_shared(&team[0], ASK, 0, names, COLLECTORS, NULL, NULL);
    for (size_t i = 1; i < TEAM; i++) {
        central_init_shared(&team[i], ASK, 2 * i, NULL, 0, names[i - 1].name, &team[0]);
        handed[i] = 0;
        parts_shown[i] = false;
    }
}

static void end(void)
{
    for (size_t i = 0; i < TEAM; i++) {
        central_free(&team[i]);
    }
}

static void give(struct central *to, const struct peer *collector, const struct kept *kept)
{
    central_tell(to, (struct event){.kind = EVENT_PARTIAL,
                                    .as.partial = {.collector = *collector,
                                                   .body = {kept->body, kept->body_size},
                                                   .blob = {kept->blob, kept->blob_size}}});
}

static void give_part(size_t i, const struct kept *kept)
{
    give(&team[0], &names[i - 1], kept);
}

static struct standing_of standing(size_t i)
{
    const struct coordinator_view view = coordinator_look(team[i].coordinator);
    return (struct standing_of){.peer = i == 0 ? (struct peer){""} : names[i - 1],
                                .ready = view.ready,
                                .open = view.open,
                                .settled = view.settled,
                                .answers = view.answers,
                                .left_ms = view.deadline_ms - team[i].now_ms,
                                .present = true};
}

static void tell(struct central *one, const struct standing_of *is)
{
    central_tell(one, (struct event){.kind = EVENT_STANDINGS, .as.standings = {is, 1}});
}

/* As the program does: how a collector stands is read before its parts, and told behind them; parts are taken while the round
 * is open. */
static void hand_in(size_t i)
{
    const struct standing_of is = standing(i);
    while (handed[i] < team[i].kept_count && coordinator_look(team[0].coordinator).open > 0) {
        give_part(i, &team[i].kept[handed[i]++]);
    }
    tell(&team[0], &is);
}

/* A collector hears what was committed, its own parts of the next round, and how the one that leads stands. */
static void follow(size_t i)
{
    const struct standing_of lead = standing(0);
    const uint32_t closed = team[i].coordinator->outcome.rounds_closed;
    central_follow(&team[i]);
    parts_shown[i] = parts_shown[i] && team[i].coordinator->outcome.rounds_closed == closed;
    for (size_t k = 0; k < team[i].kept_count && !parts_shown[i]; k++) {
        give(&team[i], &names[i - 1], &team[i].kept[k]);
    }
    parts_shown[i] = true;
    tell(&team[i], &lead);
}

static void restart(size_t i)
{
    cr_assert_eq(central_restart(&team[i]), STATUS_OK);
    parts_shown[i] = false;
    for (size_t k = 1; k < TEAM && i == 0; k++) {
        handed[k] = 0; /* it is shown every part again */
    }
}

static void greet_all(void)
{
    for (size_t i = 0; i < TEAM; i++) {
        central_greet(&team[i]);
    }
    hand_in(1);
    hand_in(2);
    follow(1);
    follow(2);
}

/* What an agent says to a round: it says the same whenever it is asked again. */
static int64_t word(size_t agent, uint32_t round)
{
    return (int64_t)(agent + 1) * 1000 + round;
}

static bool answer(size_t i, size_t agent)
{
    const struct coordinator_view view = coordinator_look(team[i].coordinator);
    if (view.open == 0 || team[i].invite.as.invite.round != view.open - 1) {
        return false;
    }
    const int64_t value = word(2 * i + agent, (uint32_t)(view.open - 1));
    central_offer_whole(&team[i], agent, &value, &value, 1);
    return true;
}

static struct record record_of(const struct central *bench, size_t i)
{
    struct record record;
    const struct kept *kept = &bench->kept[i];
    cr_assert_eq(wire_decode_record(&record, (struct slice){kept->body, kept->body_size}),
                 STATUS_OK);
    return record;
}

/* Each record of a round: its sum is that of the agents it names, each once. Returns how many agents all rounds name. */
static size_t check_rounds(void)
{
    size_t named = 0;
    for (size_t i = 1; i < team[0].kept_count; i++) {
        struct record record = record_of(&team[0], i);
        int64_t sum = 0;
        cr_assert(record.kind == RECORD_ROUND && !record.as.round.failed);
        for (size_t j = 0; j < record.as.round.agent_count; j++) {
            const char *name = record.as.round.agent[j].name;
            sum += word((size_t)atoi(name + strlen("agent-")), record.as.round.round);
            cr_expect(j == 0 || strcmp(record.as.round.agent[j - 1].name, name) < 0,
                      "names once, and sorted");
        }
        cr_expect_eq(record.as.round.sum_count, 1);
        cr_expect_eq(record.as.round.sum[0], sum, "round %u", (unsigned)record.as.round.round);
        named += record.as.round.agent_count;
        record_free(&record);
    }
    return named;
}

static void answer_all(void)
{
    for (size_t i = TEAM; i-- > 0;) {
        cr_expect(answer(i, 0) && answer(i, 1));
    }
}

Test(round_collect, a_round_is_the_sum_of_all_parts)
{
    begin();
    greet_all();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        answer_all();
        cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round, "it waits for the parts");
        hand_in(1);
        hand_in(2);
        cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round + 1);
        follow(1);
        follow(2);
    }
    cr_expect_eq(check_rounds(), ROUNDS * TEAM * CENTRAL_AGENTS);
    for (size_t i = 0; i < TEAM; i++) {
        cr_expect(team[i].coordinator->outcome.finished && team[i].release.as.release.last);
    }
    end();
}

/* A collector that died after it handed in asks nobody who is in the part. One that knows of no open round asks nobody. */
Test(round_collect, a_part_counts_once)
{
    begin();
    central_greet(&team[1]);
    follow(1);
    cr_expect_not(answer(1, 0), "the one that leads waits for agents, and so does a collector");
    greet_all();
    cr_expect(answer(0, 0) && answer(0, 1) && answer(1, 0) && answer(2, 0) && answer(2, 1));
    central_wait(&team[1], DEADLINE_MS);
    cr_assert_eq(team[1].kept_count, 1, "agent-2 is in a part");
    hand_in(1);
    restart(1);
    follow(1);
    central_greet(&team[1]);
    const int64_t again = word(2, 0);
    central_offer_whole(&team[1], 0, &again, &again, 1);
    cr_expect(answer(1, 1));
    cr_assert_eq(team[1].kept_count, 2);
    struct record record = record_of(&team[1], 1);
    cr_expect_eq(record.as.partial.agent_count, 1, "agent-3 alone");
    record_free(&record);
    hand_in(1);
    give_part(1, &team[1].kept[0]);
    hand_in(2);
    cr_expect_eq(check_rounds(), TEAM * CENTRAL_AGENTS);
    end();
}

/* A part of another round, job or collector, or with a sum that does not fit, changes nothing. */
Test(round_collect, a_part_that_does_not_fit_is_left_out)
{
    begin();
    greet_all();
    answer_all();
    for (int wrong = 0; wrong < 7; wrong++) {
        struct record record = record_of(&team[1], 0);
        struct kept forged = team[1].kept[0];
        forged.blob_size -= wrong == 0 ? 1 : 0;
        record.as.partial.round += wrong == 1;
        record.as.partial.job.byte[0] ^= wrong == 2;
        memcpy(record.as.partial.collector, wrong == 3 ? "north" : "east", 5);
        record.as.partial.collector[wrong == 3 ? 5 : 4] = '\0';
        record.as.partial.records += wrong == 4; /* the job's batch is a number */
        record.as.partial.blob_bytes += wrong == 5 ? 8 : 0;
        cr_assert_eq(wire_encode_record(&forged.body, &forged.body_size, &record), STATUS_OK);
        give_part(wrong == 6 ? 2 : 1, &forged); /* west hands in as east */
        free(forged.body);
        record_free(&record);
        cr_expect_eq(team[0].coordinator->collecting.agent_count, 0, "forgery %d was counted",
                     wrong);
    }
    give_part(1, &(struct kept){.body = (uint8_t *)"no record", .body_size = 9});
    hand_in(1);
    hand_in(2);
    cr_expect_eq(check_rounds(), TEAM * CENTRAL_AGENTS);
    end();
}

/* An agent on two lists: whichever answer comes first counts, and what has it again does not. */
Test(round_collect, nobody_counts_twice)
{
    begin();
    team[1].first = 1; /* agent-1 and agent-2: agent-1 is of the one that leads, too */
    restart(1);
    greet_all();
    cr_expect(answer(0, 1));
    const int64_t same[] = {word(1, 0), word(2, 0)};
    for (size_t agent = 0; agent < 2; agent++) {
        central_offer_whole(&team[1], agent, &same[agent], &same[agent], 1);
    }
    hand_in(1);
    cr_expect_eq(team[0].coordinator->collecting.agent_count, 0, "agent-1 is in the sum already");
    cr_expect(answer(0, 0) && answer(2, 0) && answer(2, 1));
    hand_in(2);
    cr_expect_eq(check_rounds(), 4);

    follow(1);
    follow(2);
    const int64_t next[] = {word(1, 1), word(2, 1)};
    for (size_t agent = 0; agent < 2; agent++) {
        central_offer_whole(&team[1], agent, &next[agent], &next[agent], 1);
    }
    hand_in(1);
    cr_expect_eq(team[0].coordinator->collecting.agent_count, 2);
    cr_expect(answer(0, 0) && answer(0, 1));
    cr_expect_eq(cohort_count(&team[0].coordinator->cohort, STANDING_REFUSED), 1);
    cr_expect(answer(2, 0) && answer(2, 1));
    hand_in(2);
    cr_expect_eq(check_rounds(), 4 + 5);
    end();
}

/* Agents of one name at two coordinators: their collector finds out which of its agents that is, and asks it no more. So the
 * others of its list count again. */
Test(round_collect, an_agent_on_two_lists_is_found)
{
    begin();
    team[1].first = 1; /* agent-1 and agent-2: agent-1 is of the one that leads, too */
    restart(1);
    greet_all();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const bool found = round >= 2;
        const int64_t word_of[] = {word(1, round), word(2, round)};
        cr_expect(answer(0, 1) && answer(0, 0));
        const uint32_t invited = team[1].invite.as.invite.round;
        cr_assert_eq(invited, round, "agent-2 is asked");
        for (size_t agent = found; agent < 2; agent++) {
            central_offer_whole(&team[1], agent, &word_of[agent], &word_of[agent], 1);
        }
        hand_in(1);
        cr_expect_eq(team[0].coordinator->collecting.agent_count, found, "round %u", round);
        cr_expect(answer(2, 0) && answer(2, 1));
        hand_in(2);
        cr_assert_eq(team[0].coordinator->outcome.rounds_closed, round + 1);
        follow(1);
        follow(2);
    }
    cr_expect_eq(check_rounds(), 2 * 4 + 3 * 5);
    struct member *twice = cohort_find(&team[1].coordinator->cohort, &(struct peer){"agent-1"});
    cr_assert_not_null(twice);
    cr_expect_eq(twice->doubled, 2);
    const struct peer list[] = {{"agent-1"}, {"agent-2"}};
    central_tell(&team[1], (struct event){.kind = EVENT_ROSTER, .as.roster = {list, 2}});
    cr_expect_eq(cohort_find(&team[1].coordinator->cohort, &list[0])->doubled, 0,
                 "a changed list is tried anew");
    cr_expect_eq(cohort_find(&team[1].coordinator->cohort, &list[1])->doubled, 0);
    end();
}

/* A part that comes too late is in no round. Nobody's name is in another part for that. */
Test(round_collect, a_part_that_is_late_makes_nobody_a_twin)
{
    begin();
    greet_all();
    for (uint32_t round = 0; round < 3; round++) {
        cr_expect(answer(1, 0) && answer(1, 1) && answer(0, 0) && answer(0, 1));
        cr_expect(answer(2, 0) && answer(2, 1));
        central_wait(&team[0], DEADLINE_MS);
        team[1].now_ms = team[2].now_ms = team[0].now_ms;
        hand_in(1);
        hand_in(2);
        follow(1);
        follow(2);
    }
    for (size_t i = 0; i < team[1].coordinator->cohort.count; i++) {
        cr_expect_eq(team[1].coordinator->cohort.member[i].doubled, 0);
    }
    end();
}

/* Rounds wait for a collector in vain twice; then they go on without it, until it is back. */
Test(round_collect, rounds_go_on_without_a_collector)
{
    begin();
    greet_all();
    for (uint32_t round = 0; round < 3; round++) {
        cr_expect(answer(0, 0) && answer(0, 1) && answer(1, 0) && answer(1, 1));
        hand_in(1);
        if (round < 2) {
            cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round);
            central_wait(&team[0], DEADLINE_MS);
            team[1].now_ms = team[0].now_ms;
        }
        cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round + 1);
        follow(1);
    }
    team[2].now_ms = team[0].now_ms;
    follow(2);
    struct standing_of west = {.peer = names[1], .present = false};
    tell(&team[0], &west);
    hand_in(2);
    answer_all();
    hand_in(1);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 3, "it is waited for again");
    hand_in(2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 4);
    cr_expect_eq(check_rounds(), 3 * 4 + 6);
    end();
}

/* A collector's deadline is the earlier one: what it has by then is handed in, and counts. So it is for one that began anew. */
Test(round_collect, a_part_is_there_before_the_deadline)
{
    begin();
    greet_all();
    cr_expect(answer(0, 0) && answer(0, 1) && answer(1, 0) && answer(1, 1));
    hand_in(1);
    for (size_t i = 0; i < TEAM; i++) {
        central_wait(&team[i], DEADLINE_MS / 2);
    }
    restart(2);
    central_greet(&team[2]);
    follow(2);
    cr_expect_eq(team[2].invite.as.invite.deadline_ms, DEADLINE_MS / 2 - DEADLINE_MS / 16,
                 "agents are told the time that is left, also at first: %u ms",
                 (unsigned)team[2].invite.as.invite.deadline_ms);
    cr_expect(answer(2, 0));
    central_wait(&team[2], DEADLINE_MS / 2 - DEADLINE_MS / 16 - 1);
    cr_expect_eq(team[2].kept_count, 0);
    central_wait(&team[2], 1);
    cr_assert_eq(team[2].kept_count, 1);
    hand_in(2);
    central_wait(&team[0], DEADLINE_MS / 2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 1);
    cr_expect_eq(check_rounds(), 5);
    end();
}

/* What comes behind the deadline goes into further parts, a second apart; meanwhile the collector sleeps. */
Test(round_collect, late_answers_count_while_the_round_is_open)
{
    begin();
    for (size_t i = 0; i < TEAM; i++) {
        team[i].job.patience_ms = 10 * DEADLINE_MS;
        team[i].job.cohort_min = TEAM * CENTRAL_AGENTS;
    }
    greet_all();
    for (size_t i = 0; i < TEAM; i++) {
        central_wait(&team[i], DEADLINE_MS + 1);
    }
    cr_expect_gt(team[1].machine.wake_ms(team[1].machine.self), team[1].now_ms, "it would spin");
    cr_expect(answer(2, 0));
    cr_expect_eq(team[2].kept_count, 1);
    cr_expect(answer(2, 1));
    cr_expect_eq(team[2].kept_count, 2, "nobody else is awaited");
    cr_expect(answer(1, 0) && answer(1, 1) && answer(0, 0) && answer(0, 1));
    hand_in(1);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 0);
    hand_in(2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 1);
    cr_expect_eq(check_rounds(), TEAM * CENTRAL_AGENTS);
    end();
}

/* While nobody leads, a collector adds up what it has; the next one that leads gets all of it. */
Test(round_collect, nothing_is_lost_while_nobody_leads)
{
    begin();
    greet_all();
    answer_all();
    hand_in(1);
    hand_in(2);
    follow(1);
    follow(2);
    cr_expect(answer(1, 0));
    central_wait(&team[1], 10 * DEADLINE_MS);
    team[0].now_ms = team[2].now_ms = team[1].now_ms;
    restart(0);
    greet_all();
    cr_expect(answer(1, 1) && answer(0, 0) && answer(0, 1) && answer(2, 0) && answer(2, 1));
    hand_in(1);
    hand_in(2);
    cr_expect_eq(check_rounds(), 2 * TEAM * CENTRAL_AGENTS);
    end();
}

/* The row of one that leads no more is old: it opens no round. */
Test(round_collect, an_old_row_opens_no_round)
{
    begin();
    greet_all();
    restart(1);
    central_greet(&team[1]);
    const struct standing_of old = {.open = 1, .left_ms = DEADLINE_MS, .present = false};
    tell(&team[1], &old);
    cr_expect_eq(coordinator_look(team[1].coordinator).open, 0);
    end();
}

/* A part that is refused, and rounds that its agents miss, do not outlast their causes. */
Test(round_collect, a_collector_with_answers_is_waited_for)
{
    begin();
    team[1].first = 1; /* agent-1 is of the one that leads, too */
    restart(1);
    greet_all();
    cr_expect(answer(0, 1));
    const int64_t same[] = {word(1, 0), word(2, 0)};
    for (size_t agent = 0; agent < 2; agent++) {
        central_offer_whole(&team[1], agent, &same[agent], &same[agent], 1);
    }
    hand_in(1);
    cr_expect(answer(0, 0) && answer(2, 0) && answer(2, 1));
    hand_in(2);
    team[1].first = 2; /* the lists are mended */
    restart(1);
    follow(1);
    central_greet(&team[1]);
    follow(2);
    for (uint32_t round = 1; round < 3; round++) {
        cr_expect(answer(0, 0) && answer(0, 1) && answer(2, 0) && answer(2, 1));
        hand_in(2);
        cr_expect_eq(team[0].coordinator->outcome.rounds_closed, round, "round %u", round);
        central_wait(&team[0], DEADLINE_MS);
        team[1].now_ms = team[2].now_ms = team[0].now_ms;
        follow(1);
        follow(2);
    }
    cr_expect(answer(1, 0));
    hand_in(1); /* it is seen to have an answer */
    cr_expect(answer(0, 0) && answer(0, 1) && answer(2, 0) && answer(2, 1));
    hand_in(2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 3);
    cr_expect(answer(1, 1));
    hand_in(1);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 4);
    end();
}

/* Nothing more comes from agents who decline, or from a list that got empty: nobody waits for them. */
Test(round_collect, nobody_waits_for_nobody)
{
    begin();
    greet_all();
    answer_all();
    central_tell(&team[0], (struct event){.kind = EVENT_ROSTER, .as.roster = {NULL, 0}});
    hand_in(1);
    hand_in(2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 1);
    central_tell(&team[1], (struct event){.kind = EVENT_ROSTER, .as.roster = {NULL, 0}});
    follow(1);
    follow(2);
    hand_in(1);
    cr_expect(answer(2, 0) && answer(2, 1));
    hand_in(2);
    cr_expect_eq(team[0].coordinator->outcome.rounds_closed, 2);
    end();
}

/* Answers, parts, records, standings and deaths in any order, of a hundred seeds: nothing is lost or counted twice, and the
 * job ends. Behind a deadline agents are left out, of the others none. */
Test(round_collect, any_order_and_any_death)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct dice dice = {seed};
        begin();
        greet_all();
        for (int i = 0; i < 4000 && !team[0].coordinator->outcome.finished; i++) {
            const size_t who = (size_t)dice_below(&dice, TEAM);
            const size_t other = 1 + who % COLLECTORS;
            switch (dice_below(&dice, 16)) {
            case 0:
                restart(who);
                break;
            case 1:
            case 2:
                central_greet(&team[who]);
                break;
            case 3:
            case 4:
                if (who == 0) {
                    hand_in(1);
                    hand_in(2);
                } else {
                    follow(who);
                }
                break;
            case 5:
            case 6:
                follow(other);
                break;
            case 7:
            case 8:
                hand_in(other);
                break;
            case 9:
                if (team[other].kept_count > 0) {
                    give_part(other, &team[other].kept[dice_below(&dice, team[other].kept_count)]);
                }
                break;
            default:
                (void)answer(who, (size_t)dice_below(&dice, 2));
                break;
            }
        }
        cr_assert(team[0].coordinator->outcome.finished, "seed %u", (unsigned)seed);
        cr_expect_eq(check_rounds(), ROUNDS * TEAM * CENTRAL_AGENTS, "seed %u", (unsigned)seed);
        end();
    }
}
