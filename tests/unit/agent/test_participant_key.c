/* Two agents with one key: the first one says that it is there, and the second one ends before anything is
 * charged. */

#include "asked.h"

#include "base/exit_code.h"

static const struct message in_use = {.kind = MESSAGE_KEY_IN_USE};

/* What the last step did. */
static const struct effect *last_finish(void)
{
    const struct effect *found = NULL;
    for (size_t i = 0; i < bench.effects.count; i++) {
        found = bench.effects.item[i].kind == EFFECT_FINISH ? &bench.effects.item[i] : found;
    }
    return found;
}

/* Steps and returns the number of the PRESENT that it sent; 0: none. */
static uint64_t presence(struct event *event)
{
    uint64_t number = 0;
    step(event);
    for (size_t i = 0; i < bench.effects.count; i++) {
        const struct effect *effect = &bench.effects.item[i];
        struct message heard;
        if (effect->kind == EFFECT_SEND) {
            cr_assert_eq(wire_decode(&heard, effect->as.send.control, effect->as.send.payload),
                         STATUS_OK);
            if (heard.kind == MESSAGE_PRESENT) {
                cr_expect_eq(number, 0, "one at a time");
                number = heard.as.present.number;
            }
        }
    }
    return number;
}

static uint64_t challenge_at(int64_t now_ms, uint64_t number)
{
    const struct message challenge = {.kind = MESSAGE_CHALLENGE, .as.challenge.number = number};
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};
    event.as.message.control = (struct slice){control, wire_encode(control, &challenge)};
    bench.now_ms = now_ms;
    return presence(&event);
}

static uint64_t tick_at(int64_t now_ms)
{
    bench.now_ms = now_ms;
    return presence(&(struct event){.kind = EVENT_TICK});
}

/* Begins a computation and leaves it under way. */
static void begin_to_compute(void)
{
    const struct message invite = invitation(0);
    struct message piece = {.kind = MESSAGE_PIECE};
    struct event event = {.kind = EVENT_MESSAGE, .as.message.payload = {state, sizeof state}};
    uint8_t frame[CONTROL_BYTES_MAX];
    say(&invite, (struct slice){0});
    piece.as.piece.digest = invite.as.invite.input.digest;
    event.as.message.control = (struct slice){frame, wire_encode(frame, &piece)};
    step(&event);
    cr_assert(bench.is_working);
}

Test(key, an_agent_says_at_most_once_a_second_that_it_is_there, .init = init, .fini = end)
{
    const int64_t began_ms = bench.now_ms;
    cr_expect_eq(challenge_at(began_ms, 41), 41, "the first at once");
    for (int64_t ms = 1; ms < 1000; ms++) {
        cr_expect_eq(challenge_at(began_ms + ms, 41 + (uint64_t)ms), 0);
    }
    cr_expect_eq(bench.machine.wake_ms(bench.machine.self), began_ms + 1000);
    cr_expect_eq(tick_at(began_ms + 1000), 1040, "the latest");
    cr_expect_eq(tick_at(began_ms + 2000), 0, "once");
    cr_expect_eq(challenge_at(began_ms + 2300, 0), 0, "no question has this number");
    cr_expect_eq(challenge_at(began_ms + 2300, 7), 7);
}

/* A coordinator that lies must not learn from delays of the answers when a computation ended. */
Test(key, the_answer_to_a_challenge_does_not_show_when_a_computation_ends, .init = init,
     .fini = end)
{
    bench.policy.answer_slot_ms = 5000;
    const int64_t invited_ms = bench.now_ms;
    begin_to_compute();
    for (uint64_t second = 1; second < 4; second++) {
        const int64_t tick_ms = invited_ms + (int64_t)second * 1000;
        cr_expect_eq(challenge_at(tick_ms - 1000, 10 * second), 0, "not in the very moment");
        cr_expect_eq(challenge_at(tick_ms - 650, 10 * second + 1), 0);
        if (second == 2) {
            bench.is_working = false;
            bench.machine.work(bench.machine.self);
            bench.now_ms = tick_ms - 321;
            cr_expect_eq(presence(&(struct event){.kind = EVENT_WORKED}), 0);
        }
        cr_expect_eq(tick_at(tick_ms - 1), 0);
        cr_expect_eq(bench.machine.wake_ms(bench.machine.self), tick_ms);
        cr_expect_eq(tick_at(tick_ms), 10 * second + 1);
    }
}

Test(key, an_agent_whose_key_is_in_use_ends_with_a_code_of_its_own, .init = init, .fini = end)
{
    say(&in_use, (struct slice){0});
    const struct effect *finish = last_finish();
    cr_assert_not_null(finish);
    cr_expect_eq(finish->as.finish.exit_code, EXIT_CODE_KEY_IN_USE);
    cr_expect_eq(finish->as.finish.exit_code, 8);
    cr_expect_not_null(strstr(bench.said, "key-in-use: the coordinator says that another agent is "
                                          "connected with this site's key"));
    cr_expect_not_null(strstr(bench.said, "remedy"));
    size_t records = bench.journal_count;
    ask_and_wait(0);
    cr_expect_eq(bench.journal_count, records, "nothing is charged after that");
    cr_expect_eq(bench.offers, 0);
    restart(); /* the code stops no supervisor that ignores it: the journal goes on */
    ask_and_wait(0);
    cr_expect_eq(bench.offers, 1);
}

/* A coordinator that lies must not learn from the moment of the end when a computation ended. */
Test(key, the_end_does_not_show_when_a_computation_ends, .init = init, .fini = end)
{
    uint8_t frame[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};

    begin_to_compute();
    event.as.message.control = (struct slice){frame, wire_encode(frame, &in_use)};
    step(&event);
    cr_expect_null(last_finish(), "it is deaf while it computes");
    settle();
    cr_expect_null(last_finish(), "and until the slot");
    wait_until(bench.now_ms + SLOT_MS);
    wait_until(bench.now_ms + SLOT_MS);
    cr_expect_eq(bench.offers, 1);
    say(&in_use, (struct slice){0});
    cr_expect_not_null(last_finish(), "it is told again then");
}
