/* An agent whose pieces do not come asks for them again, each time later than before, and not together with others. So
 * hundreds that wait for their turn do not keep a coordinator busy with what it knows already. */

#include "agent/participant_state.h"
#include "tests/unit/agent/asked.h"

enum { FIRST_MS = 2000, LAST_MS = 16000, ASKS = 8 };

/* Lets time pass until it asks again; returns how long that took. */
static int64_t wait_for_fetch(void)
{
    const int64_t began_ms = bench.now_ms;
    const size_t before = bench.fetches;
    while (bench.fetches == before) {
        cr_assert_lt(bench.now_ms - began_ms, 10 * LAST_MS);
        wait_until(bench.machine.wake_ms(bench.machine.self));
    }
    return bench.now_ms - began_ms;
}

static void begin_to_fetch(int64_t later_ms)
{
    init();
    bench.now_ms += later_ms;
    const struct message invite = invitation(0);
    say(&invite, (struct slice){0});
    cr_assert_eq(bench.fetches, 1);
}

Test(participant_fetches, each_time_that_it_asks_again_it_waits_longer_up_to_a_bound)
{
    begin_to_fetch(3);
    cr_expect_eq(wait_for_fetch(), FIRST_MS, "a lost piece is missed soon");
    int64_t least_ms = 2 * FIRST_MS;
    for (int i = 1; i < ASKS; i++) {
        const int64_t waited_ms = wait_for_fetch();
        cr_expect(waited_ms >= least_ms && waited_ms <= least_ms + least_ms / 2,
                  "it waited %lld ms, and %lld or up to half more were due", (long long)waited_ms,
                  (long long)least_ms);
        least_ms = least_ms < LAST_MS ? 2 * least_ms : LAST_MS;
    }
    end();
}

Test(participant_fetches, agents_that_ask_together_do_not_do_so_again)
{
    enum { AGENTS = 8 };
    int64_t waited_ms[AGENTS];
    size_t apart = 0;
    for (uint64_t i = 0; i < AGENTS; i++) {
        begin_to_fetch((int64_t)i);
        (void)wait_for_fetch();
        waited_ms[i] = wait_for_fetch();
        end();
        apart += i > 0 && waited_ms[i] != waited_ms[i - 1];
    }
    cr_expect_gt(apart, AGENTS / 2, "%zu of %d", apart,
                 AGENTS); /* they began a millisecond apart */
}

static void link(bool anew)
{
    step(&(struct event){.kind = EVENT_LINK, .as.link.anew = anew});
}

static bool is_silent(void)
{
    return strstr(bench.said, "coordinator-silent") != NULL;
}

/* In the step that builds it anew there is no connection. */
Test(participant_fetches, a_connection_that_is_built_anew_is_asked_soon)
{
    begin_to_fetch(3);
    for (int i = 0; i < ASKS; i++) {
        (void)wait_for_fetch();
    }
    size_t before = bench.fetches;
    while (!is_silent()) {
        before = bench.fetches;
        wait_until(bench.machine.wake_ms(bench.machine.self));
    }
    cr_expect_eq(bench.fetches, before, "it would be lost");
    cr_expect_leq(wait_for_fetch(), FIRST_MS + FIRST_MS / 2);
    end();
}

/* A coordinator that began anew, or cut it: the transport has built it. */
Test(participant_fetches, a_connection_that_others_have_built_is_asked_at_once)
{
    begin_to_fetch(3);
    for (int i = 0; i < ASKS; i++) {
        (void)wait_for_fetch();
    }
    const size_t before = bench.fetches;
    link(false);
    cr_expect_eq(bench.fetches, before);
    link(true);
    cr_expect_eq(bench.fetches, before + 1);
    cr_expect_leq(wait_for_fetch(), FIRST_MS + FIRST_MS / 2);
    ask_and_wait(0);
    cr_assert_eq(bench.offers, 1);
    const size_t whole = bench.fetches;
    link(true);
    cr_expect_eq(bench.fetches, whole, "it has what it asked for");
    end();
}

/* A piece takes long on a narrow link, and delays all that follows. */
Test(participant_fetches, bytes_of_a_piece_are_a_sign_of_life)
{
    enum { PART_MS = 400000 };
    begin_to_fetch(3);
    for (int i = 0; i < 10; i++) {
        wait_until(bench.now_ms + PART_MS);
        link(false);
    }
    cr_expect_not(is_silent());
    ask_and_wait(0);
    cr_assert_eq(bench.offers, 1, "it has all of it");
    for (int i = 0; i < 10; i++) {
        wait_until(bench.now_ms + PART_MS);
        link(false);
    }
    cr_expect(is_silent(), "it awaits nothing that is large");
    end();
}

/* A path that lets a few bytes through, and never a whole message, is given up. */
Test(participant_fetches, bytes_alone_are_no_sign_of_life_for_ever)
{
    enum { PART_MS = 400000 };
    begin_to_fetch(3);
    for (int i = 0; i < 400 && !is_silent(); i++) {
        wait_until(bench.now_ms + PART_MS);
        link(false);
    }
    cr_expect(is_silent());
    end();
}

/* A seeded generator gives the same noise, however often a piece is asked for. */
Test(participant_fetches, asking_again_takes_nothing_from_the_noise)
{
    begin_to_fetch(3);
    struct seeded_random before = bench.seeded;
    for (int i = 0; i < ASKS; i++) {
        (void)wait_for_fetch();
    }
    cr_expect_eq(seeded_random_word(&bench.seeded), seeded_random_word(&before));
    end();
}

Test(participant_fetches, another_fetch_begins_anew)
{
    begin_to_fetch(3);
    for (int i = 0; i < ASKS; i++) {
        (void)wait_for_fetch();
    }
    ask_and_wait(0);
    cr_assert_eq(bench.offers, 1, "what came late counts");
    const struct message invite = invitation(1);
    free(bench.participant->experts.weights);
    bench.participant->experts = (struct held){.weights = NULL};
    say(&invite, (struct slice){0});
    cr_expect_leq(wait_for_fetch(), FIRST_MS + FIRST_MS / 2);
    restart();
    ask_and_wait(0);
    cr_expect_eq(bench.offers, 1, "and is durable");
    end();
}
