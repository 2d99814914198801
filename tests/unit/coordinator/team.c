/* A job that three coordinators serve, each with two agents: one leads, two collect. */

#include "team.h"

#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

const struct peer team_names[COLLECTORS] = {{"east"}, {"west"}};
static const char ASK[] =
    "  - {task: query, queries: [\"count: a >= 0.5\"], batch: 6, share: 0.2, grid_bits: 10}\n"
    "  - {task: query, queries: [\"count: a >= 0.4\"], batch: 6, share: 0.2, grid_bits: 10}\n"
    "  - {task: query, queries: [\"count: a >= 0.3\"], batch: 6, share: 0.2, grid_bits: 10}\n"
    "  - {task: query, queries: [\"count: a >= 0.2\"], batch: 6, share: 0.2, grid_bits: 10}\n"
    "  - {task: query, queries: [\"count: a >= 0.1\"], batch: 6, share: 0.2, grid_bits: 10}\n";

struct central team[TEAM];
static size_t handed[TEAM];    /* parts that the one that leads was given */
static bool parts_shown[TEAM]; /* to a collector, its own, of the round that is next */

void team_begin(void)
{
    central_init_shared(&team[0], ASK, 0, team_names, COLLECTORS, NULL, NULL);
    for (size_t i = 1; i < TEAM; i++) {
        central_init_shared(&team[i], ASK, 2 * i, NULL, 0, team_names[i - 1].name, &team[0]);
        handed[i] = 0;
        parts_shown[i] = false;
    }
}

void team_end(void)
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

void team_give_part(size_t i, const struct kept *kept)
{
    give(&team[0], &team_names[i - 1], kept);
}

static struct standing_of standing(size_t i)
{
    const struct coordinator_view view = coordinator_look(team[i].coordinator);
    return (struct standing_of){.peer = i == 0 ? (struct peer){""} : team_names[i - 1],
                                .ready = view.ready,
                                .open = view.open,
                                .settled = view.settled,
                                .answers = view.answers,
                                .left_ms = view.deadline_ms - team[i].now_ms,
                                .present = true};
}

void team_tell(struct central *one, const struct standing_of *is)
{
    central_tell(one, (struct event){.kind = EVENT_STANDINGS, .as.standings = {is, 1}});
}

void team_hand_in(size_t i)
{
    const struct standing_of is = standing(i);
    while (handed[i] < team[i].kept_count && coordinator_look(team[0].coordinator).open > 0) {
        team_give_part(i, &team[i].kept[handed[i]++]);
    }
    team_tell(&team[0], &is);
}

void team_follow(size_t i)
{
    const struct standing_of lead = standing(0);
    const uint32_t closed = team[i].coordinator->outcome.rounds_closed;
    central_follow(&team[i]);
    parts_shown[i] = parts_shown[i] && team[i].coordinator->outcome.rounds_closed == closed;
    for (size_t k = 0; k < team[i].kept_count && !parts_shown[i]; k++) {
        give(&team[i], &team_names[i - 1], &team[i].kept[k]);
    }
    parts_shown[i] = true;
    team_tell(&team[i], &lead);
}

void team_restart(size_t i)
{
    cr_assert_eq(central_restart(&team[i]), STATUS_OK);
    parts_shown[i] = false;
    for (size_t k = 1; k < TEAM && i == 0; k++) {
        handed[k] = 0; /* it is shown every part again */
    }
}

void team_greet(void)
{
    for (size_t i = 0; i < TEAM; i++) {
        central_greet(&team[i]);
    }
    team_hand_in(1);
    team_hand_in(2);
    team_follow(1);
    team_follow(2);
}

int64_t team_word(size_t agent, uint32_t round)
{
    return (int64_t)(agent + 1) * 1000 + round;
}

bool team_answer(size_t i, size_t agent)
{
    const struct coordinator_view view = coordinator_look(team[i].coordinator);
    if (view.open == 0 || team[i].invite.as.invite.round != view.open - 1) {
        return false;
    }
    const int64_t value = team_word(2 * i + agent, (uint32_t)(view.open - 1));
    central_offer_whole(&team[i], agent, &value, &value, 1);
    return true;
}

struct record team_record(const struct central *bench, size_t i)
{
    struct record record;
    const struct kept *kept = &bench->kept[i];
    cr_assert_eq(wire_decode_record(&record, (struct slice){kept->body, kept->body_size}),
                 STATUS_OK);
    return record;
}

size_t team_check_rounds(void)
{
    size_t named = 0;
    for (size_t i = 1; i < team[0].kept_count; i++) {
        struct record record = team_record(&team[0], i);
        int64_t sum = 0;
        cr_assert(record.kind == RECORD_ROUND && !record.as.round.failed);
        for (size_t j = 0; j < record.as.round.agent_count; j++) {
            const char *name = record.as.round.agent[j].name;
            sum += team_word((size_t)atoi(name + strlen("agent-")), record.as.round.round);
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

void team_answer_all(void)
{
    for (size_t i = TEAM; i-- > 0;) {
        cr_expect(team_answer(i, 0) && team_answer(i, 1));
    }
}
