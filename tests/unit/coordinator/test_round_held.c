/* Large answers of 8 bytes a number wait for each other in their second halves, so that no two are whole beside the sum. An agent
 * that is ahead and stops does not delay the others for long, and gets no longer turn by it. */

#include "tests/unit/coordinator/waiting.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { ANSWER = 2 * 1024 * 1024, STEP_MS = 10 };

static const struct staging *staging_of(const struct waiting *rig, size_t i)
{
    return &rig->coordinator->aggregate.staging[i];
}

static uint64_t received(const struct waiting *rig, size_t i)
{
    return staging_of(rig, i)->transfer.received;
}

static struct member *member_of(struct waiting *rig, size_t agent)
{
    struct peer peer = {{0}};
    (void)snprintf(peer.name, sizeof peer.name, "site-%02zu", agent);
    return cohort_find(&rig->coordinator->cohort, &peer);
}

/* Lets an agent send this much and no more. Returns whether it did. */
static bool stop_at(struct waiting *rig, size_t agent, uint64_t bytes)
{
    for (size_t i = 0; i < STAGING_LARGE; i++) {
        const struct staging *staging = staging_of(rig, i);
        if (transfer_is_active(&staging->transfer) && member_of(rig, agent) != NULL &&
            strcmp(staging->peer.name, member_of(rig, agent)->peer.name) == 0 &&
            staging->transfer.received >= bytes) {
            rig->agent[agent].bytes_per_s = rig->agent[agent].credit = 0;
            return true;
        }
    }
    return false;
}

Test(round_held, two_at_one_rate_are_not_whole_at_the_same_time)
{
    static struct waiting rig;
    uint64_t most = 0;
    waiting_init(&rig, 3, "minimum: 3, deadline_s: 60, patience_s: 0", true);
    rig.agent[2].offers_ms = 3000;
    while (cohort_count(&rig.coordinator->cohort, STANDING_ANSWERED) < 2 && rig.now_ms < 3000) {
        cr_assert_not(waiting_run(&rig, 1, STEP_MS));
        const uint64_t both = received(&rig, 0) + received(&rig, 1);
        most = both > most ? both : most;
    }
    cr_expect_lt(rig.now_ms, 1500, "as soon as the other was whole, not when its time is over");
    cr_expect_lt(most, 2 * (uint64_t)ANSWER - 2 * (uint64_t)CHUNK_BYTES_MAX);
    cr_expect_gt(most, (uint64_t)ANSWER, "they come beside each other");
    waiting_free(&rig);
}

/* The agent that is ahead stops. Then only the clock wakes the coordinator. */
Test(round_held, one_that_waits_in_vain_goes_on_after_half_a_second)
{
    static struct waiting rig;
    int64_t stopped_ms = 0;
    waiting_init(&rig, 3, "minimum: 3, deadline_s: 60, patience_s: 0", true);
    rig.agent[1].bytes_per_s = 3.5e6;
    rig.agent[2].mute = true;
    while (rig.now_ms < 5000 && member_of(&rig, 1)->standing != STANDING_ANSWERED) {
        cr_assert_not(waiting_run(&rig, 1, STEP_MS));
        if (stopped_ms == 0 && stop_at(&rig, 0, ANSWER * 6 / 10)) {
            stopped_ms = rig.now_ms;
            for (size_t agent = 0; agent < 3; agent++) {
                rig.agent[agent].hello_ms = rig.now_ms + 5000;
            }
        }
    }
    cr_assert_gt(stopped_ms, 0);
    cr_expect_gt(rig.now_ms, stopped_ms + STAGING_HELD_MS, "it has waited");
    cr_expect_lt(rig.now_ms, stopped_ms + STAGING_HELD_MS + 700, "no longer than that: %d ms",
                 (int)(rig.now_ms - stopped_ms));
    waiting_free(&rig);
}

/* Twelve send half an answer at once and then nothing, as long as they may. A turn is 1.25 s, for two at a time. */
Test(round_held, an_agent_that_stops_in_its_second_half_gains_no_longer_turn)
{
    enum { COLLUDERS = 12, HONEST = 4, DEADLINE_MS = 20000 };
    static struct waiting rig;
    waiting_init(&rig, COLLUDERS + HONEST, "minimum: 4, deadline_s: 20, patience_s: 0", true);
    for (size_t agent = 0; agent < COLLUDERS + HONEST; agent++) {
        rig.agent[agent].bytes_per_s = 2e7;
        rig.agent[agent].offers_ms = agent < COLLUDERS ? 0 : 200;
    }
    while (rig.now_ms < DEADLINE_MS &&
           cohort_count(&rig.coordinator->cohort, STANDING_ANSWERED) < HONEST) {
        cr_assert_not(waiting_run(&rig, 1, STEP_MS));
        for (size_t agent = 0; agent < COLLUDERS; agent++) {
            (void)stop_at(&rig, agent, ANSWER * 6 / 10);
        }
    }
    cr_expect_lt(rig.now_ms, DEADLINE_MS / 2, "they take at most half of the deadline: %d ms",
                 (int)rig.now_ms);
    waiting_free(&rig);
}

/* Each needs nearly all of its turn of 2.5 s. To wait for another must not cost it its place. */
Test(round_held, one_that_is_just_fast_enough_keeps_its_place)
{
    enum { AGENTS = 16 };
    static struct waiting rig;
    waiting_init(&rig, AGENTS, "minimum: 16, deadline_s: 40, patience_s: 0", true);
    for (size_t agent = 0; agent < AGENTS; agent++) {
        rig.agent[agent].bytes_per_s = ANSWER / (agent % 2 == 0 ? 2.25 : 2.2);
    }
    cr_assert(waiting_run(&rig, 1, 40000));
    cr_expect_eq(rig.round[0].as.round.agent_count, AGENTS);
    cr_expect_not(waiting_said(&rig, "answer-stalled", ""), "%s", rig.said);
    waiting_free(&rig);
}
