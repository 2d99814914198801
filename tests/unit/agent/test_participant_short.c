/* A job that wants its state short: an agent is asked at weights of 4 bytes a number, and answers for exactly these. */

#define ASKED_STAGES                                                                               \
    "  - {task: update, loss: logistic, rounds: 2, batch: 2, batches: 2, clip: 1, rate: 1,\n"      \
    "     share: 1, grid_bits: 30, state_bits: 32}\n"

#include "agent/participant_state.h"
#include "dp/encode.h"
#include "task/update/stage.h"
#include "tests/unit/agent/asked.h"

#include <math.h>

/* What 4 bytes hold exactly: a wrong reading of them would show. */
static const float first[WIDTH] = {0.25F, -0.5F};
static const float second[WIDTH] = {-1.625F, 0.1F};

static struct message invitation_at(const void *weights, size_t bytes)
{
    struct message invite = invitation(0);
    const struct slice slice = {weights, bytes};
    invite.as.invite.input.bytes = bytes;
    digest_sha256(&invite.as.invite.input.digest, &slice, 1);
    return invite;
}

static void ask_at(const void *weights, size_t bytes)
{
    const struct message invite = invitation_at(weights, bytes);
    struct message piece = {.kind = MESSAGE_PIECE};
    piece.as.piece.digest = invite.as.invite.input.digest;
    say(&invite, (struct slice){0});
    if (bench.fetches > 0) {
        say(&piece, (struct slice){weights, bytes});
    }
    wait_until(bench.now_ms + SLOT_MS);
    wait_until(bench.now_ms + SLOT_MS);
}

/* An agent's answer at these weights, and the sum of the gradients there, without noise. */
static void answer_at(int64_t answer[WIDTH], int64_t exact[WIDTH], const float weights[WIDTH])
{
    double wide[WIDTH];
    uint32_t within;
    init();
    bench.whole_bytes_max = 0;
    ask_at(weights, WIDTH * sizeof *weights);
    cr_assert_eq(bench.offers, 1, "%s", bench.said);
    const struct entry *entry = &bench.journal[bench.journal_count - 1];
    memset(answer, 0, WIDTH * sizeof *answer);
    decode_words_add_plainly(answer, entry->blob, WIDTH, (unsigned)(entry->blob_size / WIDTH));

    const struct participant *p = bench.participant;
    const struct stage *stage = job_stage_of(&p->job, 0, &within);
    const struct gradient_rows rows = {
        .x = p->data.x, .y = p->data.y, .row = p->order, .row_count = stage->batch};
    for (size_t i = 0; i < WIDTH; i++) {
        wide[i] = weights[i];
    }
    cr_assert_eq(gradient_sum(exact, &update_stage(stage)->gradient, wide, &rows), STATUS_OK);
    end();
}

/* The noise of both is the same: each agent has the same random words. */
Test(participant_short, the_answer_is_the_gradient_at_the_weights_that_came)
{
    int64_t answer[2][WIDTH];
    int64_t exact[2][WIDTH];
    answer_at(answer[0], exact[0], first);
    answer_at(answer[1], exact[1], second);
    for (size_t i = 0; i < WIDTH; i++) {
        cr_expect_eq(answer[0][i] - answer[1][i], exact[0][i] - exact[1][i]);
        cr_expect_neq(exact[0][i], exact[1][i]);
    }
}

Test(participant_short, a_state_of_8_bytes_a_number_is_refused)
{
    init();
    ask_and_wait(0);
    cr_expect_eq(bench.offers, 0);
    cr_expect_eq(bench.declines, 1);
    cr_expect(strstr(bench.said, "input-refused") != NULL);
    end();
}

Test(participant_short, it_is_the_same_question_after_a_restart)
{
    init();
    ask_at(first, sizeof first);
    const size_t kept = bench.journal_count;
    const struct digest answer = bench.offer.as.offer.answer;
    restart();
    ask_at(first, sizeof first);
    cr_expect_eq(bench.offers, 1);
    cr_expect(digest_equal(&bench.offer.as.offer.answer, &answer));
    cr_expect_eq(bench.journal_count, kept, "nothing is charged again");
    end();
}

Test(participant_short, a_number_that_is_none_is_refused)
{
    const float bad[WIDTH] = {0.25F, NAN};
    init();
    ask_at(bad, sizeof bad);
    cr_expect_eq(bench.offers, 0);
    cr_expect_eq(bench.declines, 1);
    cr_expect(strstr(bench.said, "experts-forged") != NULL);
    end();
}
