/* Inputs that come with the invitation, and answers that go with their offer. */

#include "tests/unit/agent/asked.h"

static void begin_anew(uint64_t whole_bytes_max)
{
    bench.whole_bytes_max = whole_bytes_max;
    bench.journal_count = 0;
    restart();
}

Test(participant_whole, an_input_with_its_invitation_is_not_fetched)
{
    init();
    const size_t fetches = bench.fetches;
    const size_t works = bench.works;
    const struct message invite = invitation(0);
    say(&invite, (struct slice){state, sizeof state});
    cr_assert_eq(bench.fetches, fetches);
    cr_assert_eq(bench.works, works + 1);
    wait_until(bench.now_ms + SLOT_MS);
    wait_until(bench.now_ms + SLOT_MS);
    cr_assert_eq(bench.offers, 1);

    /* The same question without its input has the same answer. */
    const struct digest answer = bench.offer.as.offer.answer;
    say(&invite, (struct slice){0});
    cr_assert_eq(bench.offers, 2);
    cr_assert(digest_equal(&bench.offer.as.offer.answer, &answer));
    end();
}

Test(participant_whole, an_input_that_is_not_what_its_digest_says_is_declined)
{
    const double other[WIDTH] = {0.25, -0.5000001};
    init();
    const size_t works = bench.works;
    const struct message invite = invitation(0);
    say(&invite, (struct slice){other, sizeof other});
    cr_assert_eq(bench.declines, 1);
    cr_assert_eq(bench.works, works);
    cr_assert_eq(bench.journal_count, 0, "nothing was charged");
    end();
}

Test(participant_whole, a_small_answer_goes_with_its_offer_and_is_the_durable_one)
{
    init();
    begin_anew(WHOLE_BYTES_MAX);
    ask_and_wait(0);
    cr_assert_eq(bench.offers, 1);
    cr_assert_eq(bench.offered_bytes, bench.offer.as.offer.bytes);
    const struct slice sent = {bench.offered, bench.offered_bytes};
    struct digest digest;
    digest_sha256(&digest, &sent, 1);
    cr_assert(digest_equal(&digest, &bench.offer.as.offer.answer));
    const struct entry *entry = &bench.journal[bench.journal_count - 1];
    cr_assert_eq(entry->blob_size, sent.size);
    cr_assert_arr_eq(entry->blob, sent.data, sent.size);

    /* It can be pulled as well. */
    struct message pull = {.kind = MESSAGE_PULL};
    pull.as.pull.job = bench.job.id;
    pull.as.pull.length = (uint32_t)bench.offered_bytes;
    say(&pull, (struct slice){0});
    cr_assert_eq(bench.chunks, 1);
    end();
}

Test(participant_whole, a_larger_answer_does_not)
{
    init();
    begin_anew(1);
    ask_and_wait(0);
    cr_assert_eq(bench.offers, 1);
    cr_assert_eq(bench.offered_bytes, 0);
    end();
}

/* Once its round is closed, neither an offer nor its bytes leave. */
Test(participant_whole, an_answer_that_was_dropped_does_not_leave)
{
    init();
    begin_anew(WHOLE_BYTES_MAX);
    ask_and_wait(0);
    struct message release = {.kind = MESSAGE_RELEASE, .as.release.job = bench.job.id};
    say(&release, (struct slice){0});
    bench.offered_bytes = 0;
    ask_and_wait(0);
    cr_assert_eq(bench.offers, 1);
    cr_assert_eq(bench.offered_bytes, 0);
    end();
}
