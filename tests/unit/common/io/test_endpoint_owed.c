/* A piece that is asked for again while it waits is not sent twice, and one that is lost is. What waits is the same whatever is
 * repeated. An agent that takes too little is cut if it delays others, and not if all take little. */

#include "io/endpoint_lines.h"
#include "owed_rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum {
    PIECE = 64 * 1024,
    LARGE = 128 * 1024,
    ALL = 1 << 30,
    TAKE_MS = 30000,
    CROSSED_MS = 250, /* a little more than endpoint_owed.c has */
    SECOND_MS = 1000
};

static struct rig rig;

static struct endpoint_fetches counted(void)
{
    struct endpoint_fetches fetches;
    endpoint_fetches(&rig.endpoint, &fetches);
    return fetches;
}

Test(owed, a_piece_that_waits_is_not_sent_twice)
{
    rig_init(&rig, ALL, TAKE_MS);
    cr_assert(rig_fetch(&rig, 0, 0, LARGE));
    cr_assert(rig_fetch(&rig, 0, LARGE, LARGE));
    const uint64_t waiting = counted().waiting_bytes;
    for (uint64_t i = 0; i < 10; i++) {
        rig_wait(2 * SECOND_MS);
        cr_expect_not(rig_fetch(&rig, 0, LARGE, LARGE));
        cr_expect_not(rig_fetch(&rig, 0, PIECE, PIECE), "a part of what waits");
        cr_expect_eq(counted().repeated, 2 * (i + 1));
    }
    cr_expect_eq(counted().waiting_bytes, waiting);
    cr_expect_eq(rig.agent[0].pieces, 2);
    cr_expect_eq(counted().held, 0);
    cr_expect(rig_fetch(&rig, 1, 0, LARGE), "what another one was given is not its piece");
    cr_expect(rig_fetch(&rig, 0, 2 * LARGE, PIECE), "it goes on");
    rig_free(&rig);
}

/* The agent's machine has taken it, and the agent asks: it was lost there. A FETCH that was under way meanwhile is not that. */
Test(owed, a_piece_that_was_taken_and_is_missed_comes_again)
{
    rig_init(&rig, ALL, TAKE_MS);
    cr_assert(rig_fetch(&rig, 0, 0, PIECE));
    rig_wait(5 * SECOND_MS);
    cr_expect_not(rig_fetch(&rig, 0, 0, PIECE));
    rig_wait(CROSSED_MS / 4);
    (void)rig_take(&rig, 0, ALL);
    cr_expect_not(rig_fetch(&rig, 0, 0, PIECE), "the two have crossed");
    rig_wait(CROSSED_MS);
    cr_expect(rig_fetch(&rig, 0, 0, PIECE));
    cr_expect_eq(rig.agent[0].pieces, 2);
    rig_free(&rig);
}

Test(owed, what_a_connection_has_lost_comes_again_at_once)
{
    rig_init(&rig, ALL, TAKE_MS);
    cr_assert(rig_fetch(&rig, 0, 0, PIECE));
    cr_assert_not(rig_fetch(&rig, 0, 0, PIECE));
    endpoint_owed_begin(&rig.endpoint, &rig.admitted[0], rig.admitted[0].descriptor);
    cr_expect(rig_fetch(&rig, 0, 0, PIECE));
    rig_free(&rig);
}

/* This agent has a small part of a narrow link: what it was given arrives, but slowly. */
Test(owed, what_is_taken_slowly_is_not_sent_twice)
{
    rig_init(&rig, ALL, TAKE_MS);
    for (uint64_t i = 0; i < 3; i++) {
        rig_give(&rig, 0, i * LARGE, LARGE);
    }
    for (int i = 0; i < 6; i++) {
        cr_assert_eq(rig_take(&rig, 0, PIECE / 2), PIECE / 2);
        rig_wait(40 * SECOND_MS);
        cr_expect_not(rig_fetch(&rig, 0, 2 * LARGE, LARGE), "look %d", i);
    }
    rig_wait(61 * SECOND_MS);
    cr_expect(rig_fetch(&rig, 0, 2 * LARGE, LARGE), "it comes no more");
    rig_free(&rig);
}

/* Also with wrong counts a piece does not wait for ever. */
Test(owed, what_seems_to_wait_for_a_minute_comes_again)
{
    rig_init(&rig, ALL, TAKE_MS);
    cr_assert(rig_fetch(&rig, 0, 0, PIECE));
    rig_wait(59 * SECOND_MS);
    cr_expect_not(rig_fetch(&rig, 0, 0, PIECE));
    rig_wait(2 * SECOND_MS);
    cr_expect(rig_fetch(&rig, 0, 0, PIECE));
    rig_free(&rig);
}

/* Agent 0 has all that may wait. */
static void fill(void)
{
    rig_init(&rig, LARGE, TAKE_MS);
    cr_assert(rig_fetch(&rig, 0, 0, LARGE));
}

Test(owed, a_fetch_that_is_held_back_and_repeated_adds_nothing)
{
    fill();
    for (uint64_t i = 0; i < 10; i++) {
        cr_assert_not(rig_fetch(&rig, 1, 0, LARGE));
        cr_assert_not(rig_fetch(&rig, 1, PIECE, PIECE));
        rig_wait(2 * SECOND_MS);
        rig_turn(&rig);
    }
    cr_expect_eq(counted().held, 1);
    cr_expect_eq(counted().repeated, 19);
    cr_expect_eq(counted().agents_waiting, 1);
    cr_expect_eq(rig.agent[1].pieces, 0);
    (void)rig_take(&rig, 0, ALL);
    rig_wait(SECOND_MS);
    rig_turn(&rig);
    cr_expect_eq(rig.agent[1].pieces, 1, "once");
    cr_expect_eq(counted().agents_waiting, 0);
    cr_assert_not(rig_fetch(&rig, 1, 0, LARGE));
    cr_expect_eq(rig.agent[1].pieces, 1, "nor when it was given");
    rig_free(&rig);
}

/* The first of three messages that were asked for is lost, and the others are held back. */
Test(owed, a_lost_piece_comes_before_those_that_are_held_back)
{
    fill();
    cr_assert_not(rig_fetch(&rig, 1, PIECE, PIECE));
    cr_assert_not(rig_fetch(&rig, 1, 2 * PIECE, PIECE));
    cr_assert_not(rig_fetch(&rig, 1, 0, PIECE));
    cr_assert_not(rig_fetch(&rig, 1, PIECE, PIECE));
    for (uint64_t i = 0; i < 2; i++) {
        (void)rig_take(&rig, 0, ALL);
        (void)rig_take(&rig, 1, ALL);
        rig_wait(SECOND_MS);
        rig_turn(&rig);
    }
    cr_expect_eq(rig.agent[1].pieces, 2);
    cr_expect_eq(rig.agent[1].offset, PIECE);
    rig_free(&rig);
}

/* Agents 0 to 5 have some MiB each that they were sent, and 7 waits for its turn from the first span on. */
enum { TAKERS = 6 };

static void begin_spans(void)
{
    rig_init(&rig, PIECE, TAKE_MS);
    rig_closed = false;
    for (size_t i = 0; i < TAKERS; i++) {
        for (uint64_t j = 0; j < 40; j++) {
            rig_give(&rig, i, j * LARGE, LARGE);
        }
    }
    cr_assert_not(rig_fetch(&rig, TAKERS + 1, 0, LARGE));
    rig_turn(&rig);
}

static void span(const uint64_t take[static TAKERS])
{
    for (size_t i = 0; i < TAKERS; i++) {
        cr_assert_eq(rig_take(&rig, i, take[i]), take[i]);
    }
    for (int i = 0; i <= TAKE_MS / 500; i++) {
        rig_wait(500);
        rig_turn(&rig);
    }
}

static bool is_cut(size_t i)
{
    return rig.endpoint.listening.connection[rig.admitted[i].descriptor].cut;
}

Test(owed, nobody_is_cut_where_all_take_little_alike)
{
    static const uint64_t little[TAKERS] = {16384, 24576, 16384, 20480, 16384, 24576};
    begin_spans();
    for (int i = 0; i < 10; i++) {
        span(little);
        cr_expect_eq(counted().not_taken, 0, "span %d", i);
    }
    rig_free(&rig);
}

Test(owed, who_takes_far_less_than_the_others_is_cut)
{
    static const uint64_t much[TAKERS] = {40000, 40000, 40000, 0, 40000, 40000};
    begin_spans();
    span(much);
    cr_expect_eq(counted().not_taken, 0, "once may be bad luck");
    span(much);
    cr_expect_eq(counted().not_taken, 1);
    cr_expect(is_cut(3));
    rig_free(&rig);
}

Test(owed, who_does_not_read_is_cut_though_nobody_takes_anything)
{
    static const uint64_t none[TAKERS] = {0};
    begin_spans();
    rig_closed = true;
    span(none);
    cr_expect_eq(counted().not_taken, TAKERS);
    rig_free(&rig);
}

/* Windows that stay open, and nothing is acknowledged: after eight spans that is over. */
Test(owed, who_takes_nothing_for_long_is_cut_whatever_it_shows)
{
    static const uint64_t none[TAKERS] = {0};
    begin_spans();
    for (int i = 0; i < 7; i++) {
        span(none);
        cr_assert_eq(counted().not_taken, 0, "span %d", i);
    }
    span(none);
    cr_expect_eq(counted().not_taken, TAKERS);
    rig_free(&rig);
}

Test(owed, who_takes_enough_in_each_span_is_not_cut_for_others_that_take_more)
{
    static const uint64_t enough[TAKERS] = {65536, 400000, 400000, 400000, 400000, 400000};
    begin_spans();
    rig_closed = true;
    span(enough);
    cr_expect_not(is_cut(0));
    rig_free(&rig);
}

/* Agent 7 goes, so that nobody waits, and asks again after a while. */
static void rest(void)
{
    rig.admitted[TAKERS + 1].connected = false;
    rig_wait(500);
    rig_turn(&rig);
    cr_assert_eq(counted().agents_waiting, 0);
    rig_wait(2 * SECOND_MS);
    rig_turn(&rig);
    rig.admitted[TAKERS + 1].connected = true;
    cr_assert_not(rig_fetch(&rig, TAKERS + 1, 0, LARGE));
    rig_turn(&rig);
}

Test(owed, what_was_so_before_a_rest_cuts_nobody)
{
    static const uint64_t much[TAKERS] = {40000, 40000, 40000, 0, 40000, 40000};
    begin_spans();
    span(much);
    rest();
    span(much);
    cr_expect_eq(counted().not_taken, 0, "it was behind once since");
    span(much);
    cr_expect_eq(counted().not_taken, 1);
    cr_expect(is_cut(3));
    rig_free(&rig);
}

/* Agent 7 has asked for more than its share, so it waits for itself alone. No slow agent is cut for that. */
Test(owed, nobody_is_cut_while_nobody_waits_for_others)
{
    static const uint64_t none[TAKERS] = {0};
    rig_init(&rig, ALL, TAKE_MS);
    rig_closed = true;
    for (size_t i = 0; i < TAKERS; i++) {
        rig_give(&rig, i, 0, LARGE);
    }
    uint64_t offset = 0;
    while (rig_fetch(&rig, TAKERS + 1, offset, LARGE)) {
        offset += LARGE;
    }
    cr_assert_eq(counted().agents_waiting, 1);
    for (int i = 0; i < 3; i++) {
        span(none);
        cr_expect_eq(counted().not_taken, 0);
        cr_expect_eq(counted().agents_waiting, 1);
    }
    rig_free(&rig);
}

/* Agent 1 needs more room than there is, and agent 2, who came later, less. */
Test(owed, who_asks_for_little_does_not_come_before_those_who_wait)
{
    rig_init(&rig, 3 * LARGE, TAKE_MS);
    rig_give(&rig, 0, 0, LARGE);
    rig_give(&rig, 0, LARGE, LARGE);
    cr_assert_not(rig_fetch(&rig, 1, 0, 2 * LARGE));
    cr_expect_not(rig_fetch(&rig, 2, 0, PIECE));
    rig_wait(SECOND_MS);
    rig_turn(&rig);
    cr_expect_eq(rig.agent[1].pieces + rig.agent[2].pieces, 0);
    (void)rig_take(&rig, 0, ALL);
    rig_wait(SECOND_MS);
    rig_turn(&rig);
    cr_expect_eq(rig.agent[1].pieces, 1);
    cr_expect_eq(rig.agent[2].pieces, 1);
    rig_free(&rig);
}

/* Also while nobody waits, so that nothing calls for a look. */
Test(owed, what_has_arrived_is_told_as_waiting_no_longer)
{
    rig_init(&rig, ALL, TAKE_MS);
    cr_assert(rig_fetch(&rig, 0, 0, LARGE));
    cr_expect_gt(counted().waiting_bytes, PIECE);
    (void)rig_take(&rig, 0, ALL);
    rig_wait(SECOND_MS);
    rig_turn(&rig);
    cr_expect_eq(counted().waiting_bytes, 0);
    rig_free(&rig);
}

/* Otherwise a first model goes over CURVE from its first piece to its last, and each piece waits twice for each
 * agent. */
Test(owed, a_large_transfer_that_begins_waits_a_moment_for_a_line_that_is_being_opened)
{
    rig_init(&rig, ALL, TAKE_MS);
    struct lines *lines = calloc(1, sizeof *lines);
    cr_assert_not_null(lines);
    rig.endpoint.lines = lines;
    for (size_t i = 0; i < 3; i++) {
        lines->held[i] =
            (struct held){.used = true, .key = rig.admitted[i].entry.key, .given_ms = rig_now_ms()};
    }
    cr_expect(rig_fetch(&rig, 4, 0, LARGE), "it was given no line");
    cr_expect(rig_fetch(&rig, 0, 0, 1000), "a small text");
    cr_expect(rig_fetch(&rig, 1, LARGE, LARGE), "it has begun before");
    cr_expect_not(rig_fetch(&rig, 2, 0, LARGE));
    cr_expect_not(rig_fetch(&rig, 2, LARGE, LARGE), "nor what follows");
    rig_wait(LINE_COMES_MS - 50);
    rig_turn(&rig);
    cr_expect_eq(rig.agent[2].pieces, 0);
    rig_wait(100);
    rig_turn(&rig);
    cr_expect_eq(rig.agent[2].pieces, 2, "the line does not come: it goes on without");
    cr_expect_eq(rig.agent[2].offset, LARGE);
    rig.endpoint.lines = NULL;
    free(lines);
    rig_free(&rig);
}
