/* What an agent says when it is asked out of turn, twice, or something else: the same bytes for the same
 * question, nothing for another, and nothing that is not asked for by its name. */

#include "tests/unit/agent/asked.h"

#include <math.h>

Test(participant_asked, the_same_question_gets_the_same_answer_and_another_one_nothing)
{
    init();
    ask_and_wait(0);
    cr_assert(bench.offers == 1 && bench.declines == 0);
    const struct digest first = bench.offer.as.offer.answer;
    restart();
    struct message other = invitation(0);
    other.as.invite.input.digest.byte[0] ^= 1;
    say(&other, (struct slice){0});
    wait_until(bench.now_ms + 2 * SLOT_MS);
    cr_assert(bench.offers == 0 && bench.declines == 1, "another question under the same number");
    restart();
    const struct message same = invitation(0);
    say(&same, (struct slice){0});
    wait_until(bench.now_ms); /* at once, as one that is computed: its time is public */
    cr_assert(bench.offers == 1 && digest_equal(&bench.offer.as.offer.answer, &first));
    cr_assert_eq(bench.works, 1, "the records were read, and nothing computed");
    end();
}

Test(participant_asked, only_the_latest_of_the_answered_rounds_is_answered_again)
{
    init();
    ask_and_wait(0);
    ask_and_wait(1);
    cr_assert_eq(bench.offers, 2);
    restart();
    ask_and_wait(0);
    cr_assert(bench.offers == 0 && bench.declines == 1);
    end();
}

Test(participant_asked, a_round_that_is_closed_is_not_begun)
{
    init();
    struct message release = {.kind = MESSAGE_RELEASE, .as.release.job = bench.job.id};
    say(&release, (struct slice){0});
    ask_and_wait(0);
    cr_assert(bench.offers == 0 && bench.declines == 1 && bench.works == 1);
    cr_assert_eq(bench.journal_count, 0, "nothing is spent");
    end();
}

Test(participant_asked, an_input_of_another_shape_is_not_fetched)
{
    static const uint64_t bytes[] = {0, 8, 24, 1 << 20};
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        init();
        struct message invite = invitation(0);
        invite.as.invite.input.bytes = bytes[i];
        if (bytes[i] == 0) {
            invite.as.invite.input = (struct artifact){0};
        }
        say(&invite, (struct slice){0});
        cr_assert(bench.declines == 1 && bench.fetches == 0 && bench.works == 1, "%u bytes",
                  (unsigned)bytes[i]);
        end();
    }
}

Test(participant_asked, an_input_that_is_not_what_was_named_or_no_number_is_not_computed_with)
{
    const double forged[WIDTH] = {0.25, -0.625};
    const double unnumbered[WIDTH] = {0.25, NAN};
    const struct slice bytes = {unnumbered, sizeof unnumbered};
    init();
    struct message invite = invitation(0);
    struct message piece = {.kind = MESSAGE_PIECE};
    piece.as.piece.digest = invite.as.invite.input.digest;
    send_state(&invite, forged);
    cr_expect(bench.fetches == 2 && bench.declines == 0 && bench.works == 1, "fetched once more");
    cr_expect(bench.doubts == 1 && bench.doubted_after == 1, "by another way: told before it");
    say(&piece, (struct slice){forged, sizeof forged});
    cr_expect(bench.fetches == 2 && bench.declines == 1 && bench.works == 1, "forged");
    cr_expect_eq(bench.doubts, 1);
    end();
    init();
    send_state(&invite, forged);
    say(&piece, (struct slice){state, sizeof state});
    cr_expect(bench.fetches == 2 && bench.declines == 0 && bench.works == 2, "right now");
    end();
    init();
    digest_sha256(&invite.as.invite.input.digest, &bytes, 1);
    send_state(&invite, unnumbered);
    cr_expect(bench.fetches == 1 && bench.declines == 1 && bench.works == 1, "not a number");
    cr_expect_eq(bench.doubts, 0, "it is what the coordinator named");
    end();
}

static size_t chunks_after(const struct message *pull)
{
    const size_t before = bench.chunks;
    say(pull, (struct slice){0});
    return bench.chunks - before;
}

Test(participant_asked, an_answer_is_pulled_once_offered_within_its_bounds_and_under_its_name)
{
    init();
    struct message pull = {.kind = MESSAGE_PULL, .as.pull.job = bench.job.id};
    pull.as.pull.length = 8 * WIDTH;
    ask_and_wait(0);
    cr_assert_eq(chunks_after(&pull), 1);
    struct message wrong = pull;
    wrong.as.pull.job.byte[0] ^= 1;
    cr_expect_eq(chunks_after(&wrong), 0, "of another job");
    wrong = pull;
    wrong.as.pull.round = 1;
    cr_expect_eq(chunks_after(&wrong), 0, "of another round");
    wrong = pull;
    wrong.as.pull.length = 8 * WIDTH + 1;
    cr_expect_eq(chunks_after(&wrong), 0, "beyond its end");
    wrong = pull;
    wrong.as.pull.offset = 8;
    cr_expect_eq(chunks_after(&wrong), 0, "beyond its end, from the middle");
    restart();
    const struct message same = invitation(0);
    say(&same, (struct slice){0});
    cr_expect_eq(chunks_after(&pull), 1, "at once, as its time is public");
    end();
}
