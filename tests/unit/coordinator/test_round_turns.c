/* Where sites look by turns: three of the five present sites look first, whatever other sites are on the list. The others keep
 * their groups in the second look, also where the coordinator begins anew before it or in it. The record tells who looked. */

#include "turns.h"

#include "job/round.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Half of the listed sites are present. If places on the list counted, none or all of them would look
 * first. */
Test(round_turns, three_of_five_that_are_here_look_first)
{
    static const size_t here[][5] = {{0, 2, 4, 5, 7}, {1, 3, 6, 8, 9}, {0, 1, 2, 3, 4}};
    for (size_t k = 0; k < 3; k++) {
        turns_begin(0);
        turns_come(here[k], 5);
        size_t first = 0;
        unsigned groups = 0;
        for (size_t i = 0; i < 5; i++) {
            const struct turns_site *site = &turns.site[here[k][i]];
            if (round_is_turn(turns.job.stage, 0, site->slot[0])) {
                first++;
                groups |= 1U << turns_group(site, 0);
            }
        }
        cr_expect(first == 3 && groups == 7, "%zu: %zu look first, groups %x", k, first, groups);
        turns_answer_all(here[k], 5);
        const struct record one = turns_last();
        cr_expect(one.as.round.agent_count == 5 && one.as.round.away_count == 2, "%u are away",
                  one.as.round.away_count);
        groups = 0;
        for (size_t i = 0; i < 5; i++) {
            const struct turns_site *site = &turns.site[here[k][i]];
            groups |= site->looked ? 0 : 1U << turns_group(site, 1);
        }
        cr_expect_eq(groups, 3, "%zu: each has a group of the second look", k);
        turns_answer_all(here[k], 5);
        const struct record two = turns_last();
        cr_expect(two.as.round.agent_count == 5 && two.as.round.away_count == 3);
        cr_expect_not(turns.coordinator->outcome.failed);
        struct record copies[] = {one, two};
        record_free(&copies[0]);
        record_free(&copies[1]);
        turns_end();
    }
}

/* Before the second look or in the middle of it; the sites come back in another order, and one that was not there comes first. */
Test(round_turns, a_site_of_the_second_look_keeps_its_group_after_a_restart)
{
    static const size_t here[] = {1, 3, 4, 6, 7, 8, 9}; /* four look first, three are left */
    static const size_t back[] = {0, 9, 8, 7, 6, 4, 3, 1};
    for (int middle = 0; middle < 2; middle++) {
        uint32_t before[TURNS_LISTED];
        turns_begin(0);
        turns_come(here, 7);
        turns_answer_all(here, 7);
        for (size_t i = 0; i < TURNS_LISTED; i++) {
            before[i] = turns.site[i].slot[1];
        }
        if (middle == 1) {
            turns_answer(here[1]);
        }
        turns_restart();
        turns_come(back, 8);
        size_t left = 0;
        for (size_t i = 0; i < 7; i++) {
            const struct turns_site *site = &turns.site[here[i]];
            if (!site->looked || site->answered[1]) {
                cr_expect_eq(site->slot[1], before[here[i]], "%d: site %zu", middle, here[i]);
            }
            left += !site->looked;
        }
        cr_expect_eq(left, middle == 1 && turns.site[here[1]].answered[1] ? 2 : 3);
        cr_expect(round_is_turn(turns.job.stage, 1, turns.site[0].slot[1]), "the new one looks");
        for (size_t i = 0; i < 7; i++) {
            cr_expect_neq(turns.site[0].slot[1], turns.site[here[i]].slot[1]);
        }
        turns_end();
    }
}

/* A round opens when enough are ready. One that is shared out waits a moment longer for the others, so that slots do not depend on who was
 * first: before a restart and after it they are the same. */
Test(round_turns, sites_get_the_same_slots_in_any_order_of_coming)
{
    static const size_t orders[][7] = {
        {1, 2, 3, 4, 6, 8, 9}, {9, 8, 6, 4, 3, 2, 1}, {6, 1, 9, 3, 2, 8, 4}};
    uint32_t slots[TURNS_LISTED];
    turns_begin(0);
    for (size_t k = 0; k < 3; k++) {
        turns_come(orders[k], 7);
        for (size_t i = 0; i < TURNS_LISTED; i++) {
            cr_expect(k == 0 || turns.site[i].slot[0] == slots[i], "%zu, site %zu", k, i);
            slots[i] = turns.site[i].slot[0];
        }
        turns_answer(orders[k][k]); /* the others have not, when the coordinator dies */
        turns_restart();
    }
    turns_end();
}

Test(round_turns, a_round_waits_no_longer_where_all_are_here)
{
    turns_begin(0);
    for (size_t i = 0; i < TURNS_LISTED; i++) {
        cr_expect_eq(turns.coordinator->phase, PHASE_JOINING, "%zu", i);
        cr_expect_gt(turns.machine.wake_ms(turns.machine.self), turns.now_ms);
        turns_greet(i);
    }
    cr_expect_eq(turns.coordinator->phase, PHASE_OPEN);
    turns_end();
}

/* The answer says whether the site has looked, and not its slot, which may be another one after a restart in the first look. */
Test(round_turns, who_has_looked_is_known_by_the_answers)
{
    static const size_t here[] = {0, 1, 2, 3, 4};
    static const size_t back[] = {1, 2, 3, 4, 5};
    turns_begin(0);
    turns_come(here, 5); /* 0, 2 and 4 are to look */
    turns_answer(0);
    turns_answer(1);
    turns_restart();
    turns_come(back, 5); /* 1, 3 and 5 now; 0 comes later */
    turns_greet(0);
    turns.site[1].slot[0] = 1; /* it has been away, and sends the same again */
    turns.site[0].slot[0] = 0;
    turns_answer_all((const size_t[]){0, 1, 2, 3, 4, 5}, 6);
    const struct record record = turns_last();
    cr_assert_eq(record.as.round.agent_count, 6);
    for (size_t i = 0; i < 6; i++) {
        bool away = false;
        for (uint32_t k = 0; k < record.as.round.away_count; k++) {
            away = away || strcmp(record.as.round.away[k].name, turns_peer(i).name) == 0;
        }
        cr_expect_eq(away, !turns.site[i].looked, "site %zu", i);
    }
    struct record copy = record;
    record_free(&copy);
    turns_end();
}

/* A collector's answers are added up, and it says who of its sites did not look. */
static void bring(const char *looked, const char *away)
{
    static const struct peer far = {"far"};
    const struct coordinator *c = turns.coordinator;
    const struct round_groups groups = round_groups(turns.job.stage, 0);
    const size_t count = c->aggregate.count;
    int64_t *sum = calloc(count, sizeof *sum);
    struct peer agent[2] = {{{0}}};
    struct record part = {.kind = RECORD_PARTIAL};
    uint8_t *body = NULL;
    size_t size = 0;
    cr_assert_not_null(sum);
    sum[groups.count * groups.own] = 90;
    sum[groups.count * groups.own + 1] = 1;
    (void)snprintf(agent[0].name, sizeof agent[0].name, "%s", looked);
    (void)snprintf(agent[1].name, sizeof agent[1].name, "%s", away);
    part.as.partial.job = c->outcome.job_name.id;
    (void)snprintf(part.as.partial.collector, sizeof part.as.partial.collector, "far");
    part.as.partial.agent = agent;
    part.as.partial.agent_count = 2;
    part.as.partial.away = agent + 1;
    part.as.partial.away_count = 1;
    part.as.partial.records = 180;
    part.as.partial.blob_bytes = count * sizeof *sum;
    cr_assert_eq(wire_encode_record(&body, &size, &part), STATUS_OK);
    turns_step((struct event){.kind = EVENT_PARTIAL,
                              .as.partial = {.collector = far,
                                             .body = {body, size},
                                             .blob = {sum, count * sizeof *sum}}});
    free(body);
    free(sum);
}

Test(round_turns, what_a_collector_brings_says_who_looked)
{
    static const size_t here[] = {5, 6, 7, 8, 9};
    turns_begin(1);
    turns_come(here, 5); /* 5, 7 and 9 look */
    bring("far-1", "far-2");
    turns_answer_all(here, 5);
    const struct record record = turns_last();
    static const char *const away[] = {"far-2", "site-6", "site-8"};
    cr_assert(record.as.round.agent_count == 7 && record.as.round.away_count == 3, "%u of %u",
              record.as.round.away_count, record.as.round.agent_count);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_str_eq(record.as.round.away[i].name, away[i]);
    }
    cr_expect_eq(turns.site[6].slot[1], round_turn_slot(1, 1), "behind the collector's");
    cr_expect_eq(turns.site[8].slot[1], round_turn_slot(1, 2));
    struct record copy = record;
    record_free(&copy);
    turns_end();
}
