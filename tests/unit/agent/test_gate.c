#include "agent/gate.h"

#include "crypto/digest.h"
#include "dp/encode.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "tests/unit/agent/some_gate.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static enum status answer(struct gate *gate, uint32_t round, uint64_t epsilon_micro, int64_t value,
                          struct record *record, struct slice *blob)
{
    struct private_vector vector = vector_of(value);
    struct gate_request request = request_of(round, epsilon_micro);
    return gate_answer(gate, record, blob, &vector, &request, NULL);
}

Test(gate, an_answer_is_paid_for_and_sealed_until_it_is_committed)
{
    struct gate *gate = new_gate(1000000);
    struct gate_answer_view view;
    struct record record;
    struct slice blob;
    struct digest digest;

    cr_assert_eq(answer(gate, 0, 400000, 3, &record, &blob), STATUS_OK);
    cr_assert(has_spent(gate, 1000000, 400000));
    cr_assert_eq(record.as.answer.charge.epsilon_micro, 400000);
    cr_assert_not(gate_latest(gate, &view), "uncommitted bytes must not be readable");
    digest_sha256(&digest, &blob, 1);
    cr_assert(digest_equal(&digest, &record.as.answer.answer));
    cr_assert_eq(record.as.answer.answer_bytes, 8 * COUNT);
    gate_committed(gate, 17);
    cr_assert(gate_latest(gate, &view));
    cr_assert(view.sequence == 17 && view.bytes.size == 8 * COUNT);
    cr_assert(digest_equal(&view.digest, &digest));
    gate_free(gate);
}

/* The noise and the values are the same for each width of words. The digest is over the bytes that
 * are sent. */
Test(gate, narrow_words_stand_for_the_same_answer)
{
    int64_t first[COUNT] = {0};
    for (unsigned word_bytes = 8; word_bytes >= 2; word_bytes /= 2) {
        struct gate *gate = new_gate(1000000);
        struct private_vector vector = vector_of(3);
        struct gate_request request = request_of(0, 400000);
        struct record record;
        struct slice blob;
        struct digest digest;
        int64_t value[COUNT] = {0};
        request.word_bytes = word_bytes;
        cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, NULL), STATUS_OK);
        cr_assert_eq(blob.size, word_bytes * COUNT);
        cr_expect_eq(record.as.answer.answer_bytes, word_bytes * COUNT);
        digest_sha256(&digest, &blob, 1);
        cr_expect(digest_equal(&digest, &record.as.answer.answer));
        decode_words_add(value, blob.data, COUNT, word_bytes);
        if (word_bytes == 8) {
            memcpy(first, value, sizeof first);
        }
        cr_expect_arr_eq(value, first, sizeof first, "words of %u bytes", word_bytes);
        gate_free(gate);
    }
}

/* Bounds of 10 and 64 scales of 4000 are beyond 2^15, also in steps of 4. */
Test(gate, words_too_narrow_for_bounds_and_noise_are_refused_unpaid)
{
    for (unsigned shift = 0; shift <= 2; shift += 2) {
        struct gate *gate = new_gate(1000000);
        struct private_vector vector = vector_of(3);
        struct gate_request request = request_of(0, 1000);
        struct record record;
        struct slice blob;
        struct why why = {""};
        request.word_bytes = 2;
        request.shift = shift;
        cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, &why), STATUS_INVALID);
        cr_expect_not_null(strstr(why.text, "do not fit"), "%s", why.text);
        cr_expect(has_spent(gate, 1000000, 0));
        vector = vector_of(3);
        request.word_bytes = 4;
        request.shift = 0;
        cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, &why), STATUS_OK);
        gate_free(gate);
    }
}

/* The same noise is drawn, so that each word is that answer's, rounded to a multiple of 8. */
Test(gate, a_long_answer_is_rounded_after_its_noise_and_before_it_is_sealed)
{
    int64_t exact[COUNT] = {0};
    for (unsigned shift = 0; shift <= 3; shift += 3) {
        struct gate *gate = new_gate(1000000);
        struct private_vector vector = vector_of(3);
        struct gate_request request = request_of(0, 1000);
        struct record record;
        struct slice blob;
        struct digest digest;
        int64_t value[COUNT] = {0};
        request.word_bytes = shift == 0 ? 8 : 2;
        request.shift = shift;
        cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, NULL), STATUS_OK);
        cr_assert_eq(blob.size, request.word_bytes * COUNT);
        digest_sha256(&digest, &blob, 1);
        cr_expect(digest_equal(&digest, &record.as.answer.answer));
        cr_expect_eq(record.as.answer.shift, shift);
        cr_expect(has_spent(gate, 1000000, 1000));
        decode_words_add(value, blob.data, COUNT, request.word_bytes);
        if (shift == 0) {
            memcpy(exact, value, sizeof exact);
        }
        encode_round(exact, COUNT, shift);
        cr_expect_arr_eq(value, exact, sizeof exact, "shift %u", shift);
        gate_free(gate);
    }
}

/* A later reader of the journal need not know by which rules the answer was rounded. */
Test(gate, an_answer_says_its_steps_after_a_restart)
{
    struct gate *gate = new_gate(1000000);
    struct private_vector vector = vector_of(3);
    struct gate_request request = request_of(0, 1000);
    struct gate_answer_view view = {0};
    struct record record;
    struct slice blob;
    request.word_bytes = 2;
    request.shift = 3;
    cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, NULL), STATUS_OK);
    uint8_t bytes[2 * COUNT];
    memcpy(bytes, blob.data, sizeof bytes);
    gate_free(gate);
    gate = new_gate(1000000);
    cr_assert_eq(gate_restore(gate, &record, 1, (struct slice){bytes, sizeof bytes}), STATUS_OK);
    cr_assert(gate_latest(gate, &view));
    cr_expect_eq(view.shift, 3);
    gate_free(gate);
}

Test(gate, a_round_is_answered_once_whatever_is_asked)
{
    struct gate *gate = new_gate(10000000);
    struct record record;
    struct slice blob;

    cr_assert_eq(answer(gate, 3, 100000, 1, &record, &blob), STATUS_OK);
    gate_committed(gate, 1);
    cr_assert_eq(answer(gate, 3, 100000, 1, &record, &blob), STATUS_INVALID);
    cr_assert_eq(answer(gate, 2, 100000, 1, &record, &blob), STATUS_INVALID);
    cr_assert(has_spent(gate, 10000000, 100000), "a refusal costs nothing");
    struct private_vector vector = vector_of(1);
    struct gate_request paid = request_of(3, 100000);
    paid.charge.pass.byte[0] = 99; /* rows that the ledger would admit */
    cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &paid, NULL), STATUS_INVALID);
    cr_assert(has_spent(gate, 10000000, 100000));
    cr_assert_eq(answer(gate, 4, 100000, 1, &record, &blob), STATUS_OK);
    gate_free(gate);
}

Test(gate, a_spent_budget_lets_nothing_out)
{
    struct gate *gate = new_gate(500000);
    struct charge charge = request_of(1, 200000).charge;
    struct gate_answer_view view;
    struct record record;
    struct slice blob = {0};

    cr_assert_eq(answer(gate, 0, 400000, 1, &record, &blob), STATUS_OK);
    gate_committed(gate, 1);
    cr_assert_not(gate_covers(gate, &charge, &(struct occasion){.job = {{1}}}, NULL));
    blob = (struct slice){0};
    cr_assert_eq(answer(gate, 1, 200000, 1, &record, &blob), STATUS_EXHAUSTED);
    cr_assert_eq(blob.size, 0);
    cr_assert(gate_latest(gate, &view) && view.round == 0);
    cr_assert(has_spent(gate, 500000, 400000), "a refusal costs nothing");
    gate_free(gate);
}

Test(gate, what_cannot_run_is_not_paid_for)
{
    struct gate *gate = new_gate(UINT64_C(100000000));
    struct record record;
    struct slice blob;
    /* epsilon 80 on a sensitivity of 4 asks for a scale below what the sampler offers */
    cr_assert_eq(answer(gate, 0, 80000000, 1, &record, &blob), STATUS_INVALID);
    cr_assert(has_spent(gate, UINT64_C(100000000), 0));
    gate_free(gate);
}

Test(gate, a_failing_source_leaves_no_answer)
{
    struct gate *gate = new_gate(1000000);
    struct gate_answer_view view;
    struct record record;
    struct slice blob = {0};

    seeded.failing_after = 1;
    cr_assert_eq(answer(gate, 0, 100000, 1, &record, &blob), STATUS_NO_RANDOM);
    cr_assert_eq(blob.size, 0);
    cr_assert_not(gate_latest(gate, &view));
    gate_free(gate);
}

/* What lies outside the public bounds is clipped BEFORE the noise: two vectors that differ only
 * there give the same bytes from the same stream. */
Test(gate, values_are_clipped_to_their_public_bounds)
{
    struct gate *inside = new_gate(1000000);
    struct record record;
    struct slice blob;
    uint8_t first[8 * COUNT];

    cr_assert_eq(answer(inside, 0, 100000, 10, &record, &blob), STATUS_OK);
    memcpy(first, blob.data, sizeof first);
    gate_free(inside);
    struct gate *outside = new_gate(1000000);
    cr_assert_eq(answer(outside, 0, 100000, 1000000, &record, &blob), STATUS_OK);
    cr_assert_arr_eq(first, blob.data, sizeof first);
    gate_free(outside);
}

/* Noise for a sensitivity of 4: at epsilon 1/2 of scale 8, at sigma 3 of sigma 12. From the samplers, without the mechanism, which is
 * tested too. */
static void add_by_hand(int64_t *values, const struct random *random, bool gaussian)
{
    struct noise_laplace laplace;
    struct noise_gaussian normal;
    if (gaussian) {
        cr_assert_eq(noise_gaussian_init(&normal, (struct noise_scale){12, 1}), STATUS_OK);
        cr_assert_eq(noise_gaussian_add(&normal, random, values, COUNT), STATUS_OK);
        noise_gaussian_free(&normal);
    } else {
        cr_assert_eq(noise_laplace_init(&laplace, (struct noise_scale){8, 1}), STATUS_OK);
        cr_assert_eq(noise_laplace_add(&laplace, random, values, COUNT), STATUS_OK);
    }
}

/* The bytes are the vector with noise for the whole of the stated sensitivity, from the same stream: less noise, or a coordinate
 * without, would be other bytes. */
Test(gate, what_leaves_has_the_noise_of_its_charge_laplace_and_gaussian)
{
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        const struct price limit = {UINT64_MAX, DELTA_ATTO_ONE / 10};
        struct gate *gate = NULL;
        struct private_vector vector = vector_of(7);
        struct gate_request request = request_of(0, 500000);
        int64_t expected[COUNT] = {7, 7, 7, 7};
        struct seeded_random twin;
        struct record record;
        struct slice blob;
        if (gaussian == 1) {
            request.charge.mechanism = MECHANISM_DISCRETE_GAUSSIAN;
            request.charge.epsilon_micro = 0;
            request.charge.sigma_micro = 3000000;
        }
        seeded_random_init(&seeded, 7);
        seeded_random_init(&twin, 7);
        source = seeded_random_interface(&seeded);
        const struct random same = seeded_random_interface(&twin);
        cr_assert_eq(gate_new(&gate, &(struct allowances){.total = limit}, &source), STATUS_OK);
        add_by_hand(expected, &same, gaussian == 1);
        cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, NULL), STATUS_OK);
        cr_assert_eq(blob.size, sizeof expected);
        for (size_t i = 0; i < COUNT; i++) {
            cr_expect_eq((int64_t)load_u64((const uint8_t *)blob.data + 8 * i), expected[i]);
        }
        gate_free(gate);
    }
}

Test(gate, recovery_brings_back_charge_cursor_and_the_same_bytes)
{
    struct gate *gate = new_gate(1000000);
    struct gate_answer_view view;
    struct record record;
    struct slice blob;
    uint8_t bytes[8 * COUNT];

    cr_assert_eq(answer(gate, 5, 300000, 2, &record, &blob), STATUS_OK);
    memcpy(bytes, blob.data, sizeof bytes);
    gate_free(gate); /* a crash right after the commit */

    gate = new_gate(1000000);
    cr_assert_eq(gate_restore(gate, &record, 4, (struct slice){bytes, sizeof bytes}), STATUS_OK);
    cr_assert(has_spent(gate, 1000000, 300000));
    cr_assert_eq(gate_last_round(gate, &record.as.answer.job), 5);
    cr_assert(gate_latest(gate, &view) && view.sequence == 4);
    cr_assert_arr_eq(view.bytes.data, bytes, sizeof bytes);
    cr_assert(gate_drop(gate));
    cr_assert_not(gate_drop(gate));
    cr_assert(gate_latest(gate, &view) && view.bytes.size == 0);
    cr_assert(has_spent(gate, 1000000, 300000), "dropping bytes gives nothing back");
    gate_free(gate);
}

Test(gate, recovered_bytes_must_match_their_digest)
{
    struct gate *gate = new_gate(1000000);
    struct record record;
    struct slice blob;
    uint8_t bytes[8 * COUNT];

    cr_assert_eq(answer(gate, 0, 300000, 2, &record, &blob), STATUS_OK);
    memcpy(bytes, blob.data, sizeof bytes);
    gate_free(gate);
    gate = new_gate(1000000);
    bytes[3] ^= 1;
    cr_assert_eq(gate_restore(gate, &record, 1, (struct slice){bytes, sizeof bytes}),
                 STATUS_CORRUPT);
    gate_free(gate);
}

Test(gate, jobs_have_cursors_of_their_own_and_one_budget)
{
    struct gate *gate = new_gate(500000);
    struct private_vector vector = vector_of(1);
    struct gate_request other = request_of(0, 300000);
    struct record record;
    struct slice blob;

    cr_assert_eq(answer(gate, 7, 300000, 1, &record, &blob), STATUS_OK);
    gate_committed(gate, 1);
    other.job.byte[0] = 2;
    other.charge.pass.byte[0] = 99;
    cr_assert_eq(gate_last_round(gate, &other.job), -1);
    cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &other, NULL), STATUS_EXHAUSTED);
    gate_free(gate);
}

static struct gate *gate_of(const struct allowances *allowances)
{
    struct gate *gate = NULL;
    seeded_random_init(&seeded, 7);
    source = seeded_random_interface(&seeded);
    cr_assert_eq(gate_new(&gate, allowances, &source), STATUS_OK);
    return gate;
}

static enum status answer_on(struct gate *gate, uint32_t round, uint64_t epsilon_micro, int64_t day,
                             struct record *record)
{
    struct private_vector vector = vector_of(1);
    struct gate_request request = request_of(round, epsilon_micro);
    struct slice blob;
    request.wall_ms = day * 86400000;
    enum status status = gate_answer(gate, record, &blob, &vector, &request, NULL);
    if (status == STATUS_OK) {
        record->wall_ms = request.wall_ms; /* as the participant stamps it */
        gate_committed(gate, round + 1);
    }
    return status;
}

/* Records that change while a job runs are another pass, paid for again: then its text's price was
 * too little, and its allowance is what holds. Also after a restart. */
Test(gate, a_job_never_costs_more_than_its_allowance)
{
    struct allowances allowances = {.total = {5000000, 0}, .job = {1000000, 0}};
    struct gate *gate = gate_of(&allowances);
    struct record first;
    struct record second;
    struct charge charge = request_of(2, 600000).charge;

    cr_assert_eq(answer_on(gate, 0, 600000, 0, &first), STATUS_OK);
    cr_assert_eq(answer_on(gate, 1, 600000, 0, &second), STATUS_EXHAUSTED);
    gate_free(gate);
    gate = gate_of(&allowances);
    cr_assert_eq(gate_restore(gate, &first, 1, (struct slice){0}), STATUS_OK);
    cr_assert_not(gate_covers(gate, &charge, &(struct occasion){.job = {{1}}}, NULL));
    cr_assert(gate_covers(gate, &charge, &(struct occasion){.job = {{2}}}, NULL), "another job");
    cr_assert_eq(answer_on(gate, 1, 600000, 0, &second), STATUS_EXHAUSTED);
    cr_assert_eq(answer_on(gate, 1, 400000, 0, &second), STATUS_OK);
    gate_free(gate);
}

Test(gate, an_allowance_of_days_outlasts_a_restart_and_ends_in_time)
{
    struct allowances allowances = {
        .total = {5000000, 0}, .window = {1000000, 0}, .window_days = 30};
    struct gate *gate = gate_of(&allowances);
    struct record record;

    cr_assert_eq(answer_on(gate, 0, 1000000, 100, &record), STATUS_OK);
    gate_free(gate);
    gate = gate_of(&allowances);
    cr_assert_eq(gate_restore(gate, &record, 1, (struct slice){0}), STATUS_OK);
    cr_assert_eq(answer_on(gate, 1, 1, 1, &record), STATUS_EXHAUSTED, "a clock set back");
    cr_assert_eq(answer_on(gate, 1, 1, 130, &record), STATUS_EXHAUSTED);
    cr_assert_eq(answer_on(gate, 1, 1000000, 131, &record), STATUS_OK);
    gate_free(gate);
}

/* If a noisy answer's bytes are gone, it is not made again: a second draw would be a second
 * release. */
Test(gate, a_noisy_answer_is_never_repeated)
{
    struct gate *gate = new_gate(1000000);
    struct record record;
    struct slice blob;
    cr_assert_eq(answer(gate, 4, 300000, 1, &record, &blob), STATUS_OK);
    gate_free(gate);
    gate = new_gate(1000000);
    cr_assert_eq(gate_restore(gate, &record, 3, (struct slice){0}), STATUS_OK);
    cr_assert_not(gate_can_repeat(gate, &record.as.answer.job, 4));
    gate_free(gate);
}

/* In a round with shared-out columns the answer gets the noise of any answer. Then each number is put at its
 * place in the sum. */
Test(gate, a_part_of_a_shared_round_is_placed_after_the_noise)
{
    enum { GROUPS = 3, GROUP = 1, WHOLE = GROUPS * (COUNT + 2) };
    int64_t plain[COUNT] = {0};
    int64_t placed[WHOLE] = {0};
    for (int shared = 0; shared < 2; shared++) {
        struct gate *gate = new_gate(1000000);
        struct private_vector vector = vector_of(3);
        struct gate_request request = request_of(0, 400000);
        struct record record;
        struct slice blob;
        if (shared > 0) {
            vector.groups = (struct round_groups){.count = GROUPS, .own = COUNT};
            vector.group = GROUP;
        }
        cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, NULL), STATUS_OK);
        cr_assert_eq(blob.size, 8 * (size_t)(shared > 0 ? WHOLE : COUNT));
        decode_words_add(shared > 0 ? placed : plain, blob.data, shared > 0 ? WHOLE : COUNT, 8);
        cr_expect(has_spent(gate, 1000000, 400000));
        gate_free(gate);
    }
    for (size_t i = 0; i < WHOLE; i++) {
        const bool own = i >= GROUP * COUNT && i < (GROUP + 1) * COUNT;
        const int64_t wanted = own                                   ? plain[i - GROUP * COUNT]
                               : i == GROUPS * COUNT + 2 * GROUP     ? 5 /* row_count */
                               : i == GROUPS * COUNT + 2 * GROUP + 1 ? 1
                                                                     : 0;
        cr_expect_eq(placed[i], wanted, "%zu", i);
    }
}

/* A site that is away looks at nothing: neither numbers nor noise leave, and no group counts it. */
Test(gate, of_an_agent_whose_turn_it_is_not_zeros_leave)
{
    enum { GROUPS = 3, WHOLE = GROUPS * (COUNT + 2) };
    struct gate *gate = new_gate(1000000);
    struct private_vector vector = vector_of(3);
    struct gate_request request = request_of(0, 400000);
    struct record record;
    struct slice blob;
    int64_t placed[WHOLE] = {0};
    vector.groups = (struct round_groups){.count = GROUPS, .own = COUNT};
    vector.group = 1;
    vector.away = true;
    cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, NULL), STATUS_OK);
    cr_assert_eq(blob.size, 8 * (size_t)WHOLE);
    decode_words_add(placed, blob.data, WHOLE, 8);
    for (size_t i = 0; i < WHOLE; i++) {
        cr_expect_eq(placed[i], 0, "%zu", i);
    }
    gate_free(gate);
}
