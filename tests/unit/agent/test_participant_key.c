/* Two agents with one key: the one that is there says so, and the one that is told of the other ends before
 * anything is charged. */

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

Test(key, an_agent_says_that_it_is_there_also_in_a_computation, .init = init, .fini = end)
{
    struct message heard;
    struct message challenge = {.kind = MESSAGE_CHALLENGE, .as.challenge.number = 41};
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};
    event.as.message.control = (struct slice){control, wire_encode(control, &challenge)};
    for (int computing = 0; computing < 2; computing++) {
        bench.is_working = computing == 1;
        step(&event);
        cr_assert_eq(bench.effects.count, 1);
        cr_assert_eq(bench.effects.item[0].kind, EFFECT_SEND);
        cr_assert_eq(wire_decode(&heard, bench.effects.item[0].as.send.control, (struct slice){0}),
                     STATUS_OK);
        cr_expect_eq(heard.kind, MESSAGE_PRESENT);
        cr_expect_eq(heard.as.present.number, 41);
        if (computing == 0) {
            const struct message invite = invitation(0);
            struct message piece = {.kind = MESSAGE_PIECE};
            struct event bytes = {.kind = EVENT_MESSAGE,
                                  .as.message.payload = {state, sizeof state}};
            uint8_t frame[CONTROL_BYTES_MAX];
            say(&invite, (struct slice){0});
            piece.as.piece.digest = invite.as.invite.input.digest;
            bytes.as.message.control = (struct slice){frame, wire_encode(frame, &piece)};
            step(&bytes); /* not settled: the computation goes on */
            cr_assert(bench.is_working);
        }
    }
    settle();
}

Test(key, an_agent_whose_key_is_in_use_ends_with_a_code_of_its_own, .init = init, .fini = end)
{
    say(&in_use, (struct slice){0});
    const struct effect *finish = last_finish();
    cr_assert_not_null(finish);
    cr_expect_eq(finish->as.finish.exit_code, EXIT_CODE_KEY_IN_USE);
    cr_expect_eq(finish->as.finish.exit_code, 8);
    cr_expect_not_null(strstr(bench.said, "key-in-use: another agent is connected with this site's "
                                          "key"));
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
    const struct message invite = invitation(0);
    struct message piece = {.kind = MESSAGE_PIECE};
    uint8_t frame[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE, .as.message.payload = {state, sizeof state}};

    say(&invite, (struct slice){0});
    piece.as.piece.digest = invite.as.invite.input.digest;
    event.as.message.control = (struct slice){frame, wire_encode(frame, &piece)};
    step(&event);
    cr_assert(bench.is_working);
    event = (struct event){.kind = EVENT_MESSAGE};
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
