/* Experts that the agent holds already are not fetched again. A peer says which they are and how large. A
 * wrong size must not make the agent read beyond them, and nothing may replace them during a computation. */

#define ASKED_STAGES                                                                               \
    "  - {task: losses, loss: zero_one, rounds: 2, batch: 2, share: 1, grid_bits: 10,\n"           \
    "     forecasters: [{name: a, features: [a]}]}\n"

#include "tests/unit/agent/asked.h"

Test(participant_held, the_same_experts_are_fetched_once)
{
    init();
    ask_and_wait(0);
    cr_assert(bench.offers == 1 && bench.fetches == 1);
    const struct message invite = invitation(1);
    say(&invite, (struct slice){0});
    wait_until(bench.now_ms + SLOT_MS);
    wait_until(bench.now_ms + SLOT_MS);
    cr_expect(bench.offers == 2 && bench.fetches == 1 && bench.declines == 0);
    restart(); /* the answer is in the journal: nothing is computed, and no expert is needed */
    say(&invite, (struct slice){0});
    wait_until(bench.now_ms + SLOT_MS);
    cr_expect(bench.offers == 1 && bench.fetches == 0);
    end();
}

Test(participant_held, a_larger_size_under_a_known_digest_is_not_believed)
{
    static const double more[10 * WIDTH] = {0.25, -0.5};
    init();
    ask_and_wait(0);
    const size_t works = bench.works;
    struct message invite = invitation(1);
    struct message piece = {.kind = MESSAGE_PIECE};
    invite.as.invite.input.bytes = sizeof more;
    piece.as.piece.digest = invite.as.invite.input.digest;
    say(&invite, (struct slice){0});
    cr_expect_eq(bench.fetches, 2, "they are asked for");
    cr_expect_eq(bench.works, works, "and nothing is computed without them");
    say(&piece, (struct slice){more, sizeof more});
    cr_expect(bench.declines == 0 && bench.fetches == 3 && bench.works == works, "once more");
    say(&piece, (struct slice){more, sizeof more});
    cr_expect(bench.declines == 1 && bench.works == works && bench.offers == 1);
    cr_expect(strstr(bench.said, "experts-forged") != NULL);
    end();
}

Test(participant_held, a_last_model_does_not_take_the_experts_place_under_a_computation)
{
    static const double last[WIDTH] = {1, 1};
    init();
    ask_and_wait(0);
    struct message release = {.kind = MESSAGE_RELEASE, .as.release.job = bench.job.id};
    const struct slice bytes = {last, sizeof last};
    release.as.release.last = true;
    release.as.release.experts.bytes = sizeof last;
    digest_sha256(&release.as.release.experts.digest, &bytes, 1);
    say(&release, (struct slice){0});
    cr_assert_eq(bench.fetches, 2, "the last model is asked for");

    /* The next round's computation begins, and is not over when the model comes. */
    const struct message invite = invitation(1);
    uint8_t control[CONTROL_BYTES_MAX];
    struct event event = {.kind = EVENT_MESSAGE};
    event.as.message.control = (struct slice){control, wire_encode(control, &invite)};
    step(&event);
    cr_assert(bench.is_working);
    struct message piece = {.kind = MESSAGE_PIECE};
    piece.as.piece.digest = release.as.release.experts.digest;
    event.as.message.control = (struct slice){control, wire_encode(control, &piece)};
    event.as.message.payload = bytes;
    step(&event);
    cr_expect(bench.is_working, "and nothing has happened");
    cr_expect(strstr(bench.said, "job-ended") == NULL);
    settle();
    wait_until(bench.now_ms + SLOT_MS);
    wait_until(bench.now_ms + SLOT_MS);
    cr_expect_eq(bench.offers, 2);
    end();
}
