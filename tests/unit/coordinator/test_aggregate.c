#include "coordinator/aggregate.h"

#include "crypto/digest.h"
#include "dp/encode.h"
#include "protocol/message.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 3, AGENTS = 5 };

static const struct encode_form wide = {.word_bytes = 8, .sum_bytes = 8};
static const struct encode_form short_words = {.word_bytes = 2, .shift = 12, .sum_bytes = 4};

static struct digest digest_of(const uint8_t *bytes, size_t size)
{
    struct slice slice = {bytes, size};
    struct digest digest;
    digest_sha256(&digest, &slice, 1);
    return digest;
}

/* Moves a whole answer through a staging vector; digest may be of something else. */
static enum status move_words(struct aggregate *aggregate, const char *name, const int64_t *value,
                              unsigned word_bytes, const struct digest *digest, int64_t *kept)
{
    struct staging *staging = NULL;
    struct peer peer = {{0}};
    uint8_t bytes[8 * COUNT];
    uint64_t offset;
    uint32_t length;

    strcpy(peer.name, name);
    encode_words(bytes, value, COUNT, word_bytes);
    struct digest own = digest_of(bytes, COUNT * word_bytes);
    cr_assert_eq(aggregate_pull(aggregate, &staging, &peer, COUNT * word_bytes, 0), STATUS_OK);
    cr_assert(transfer_ask(&staging->transfer, &offset, &length));
    cr_assert(transfer_accept(&staging->transfer, offset, (struct slice){bytes, length}, 1));
    cr_assert(transfer_is_whole(&staging->transfer));
    const struct slice answer = {staging->transfer.data, (size_t)staging->transfer.bytes};
    const enum status status =
        aggregate_add(aggregate, answer, digest != NULL ? digest : &own, kept);
    aggregate_drop(staging);
    return status;
}

static enum status move(struct aggregate *aggregate, const char *name, const int64_t *value,
                        const struct digest *digest, int64_t *kept)
{
    return move_words(aggregate, name, value, 8, digest, kept);
}

Test(aggregate, words_of_every_size_are_added_with_their_signs)
{
    const int64_t value[COUNT] = {-30000, 1, 32767};
    struct aggregate aggregate = {0};
    int64_t kept[COUNT];

    cr_assert_eq(aggregate_begin(&aggregate, COUNT, &wide), STATUS_OK);
    for (unsigned word_bytes = 2; word_bytes <= 8; word_bytes *= 2) {
        cr_assert_eq(move_words(&aggregate, "a", value, word_bytes, NULL, kept), STATUS_OK);
        cr_expect_arr_eq(kept, value, sizeof kept);
    }
    for (size_t i = 0; i < COUNT; i++) {
        cr_expect_eq(aggregate.sum[i], 3 * value[i]);
    }
    aggregate_free(&aggregate);
}

Test(aggregate, the_sum_does_not_depend_on_the_order_and_wraps)
{
    struct seeded_random seeded;
    int64_t value[AGENTS][COUNT];
    struct aggregate first = {0};
    struct aggregate second = {0};

    seeded_random_init(&seeded, 5);
    for (size_t i = 0; i < AGENTS * COUNT; i++) {
        value[i / COUNT][i % COUNT] = (int64_t)seeded_random_word(&seeded);
    }
    cr_assert_eq(aggregate_begin(&first, COUNT, &wide), STATUS_OK);
    cr_assert_eq(aggregate_begin(&second, COUNT, &wide), STATUS_OK);
    for (size_t i = 0; i < AGENTS; i++) {
        cr_assert_eq(move(&first, "a", value[i], NULL, NULL), STATUS_OK);
        cr_assert_eq(move(&second, "a", value[AGENTS - 1 - i], NULL, NULL), STATUS_OK);
    }
    cr_assert_arr_eq(first.sum, second.sum, COUNT * sizeof *first.sum);
    aggregate_free(&first);
    aggregate_free(&second);
}

Test(aggregate, bytes_that_do_not_match_their_digest_change_nothing)
{
    struct aggregate aggregate = {0};
    const int64_t value[COUNT] = {1, 2, 3};
    struct digest wrong = {{1}};
    int64_t before[COUNT];

    cr_assert_eq(aggregate_begin(&aggregate, COUNT, &wide), STATUS_OK);
    cr_assert_eq(move(&aggregate, "a", value, NULL, NULL), STATUS_OK);
    memcpy(before, aggregate.sum, sizeof before);
    cr_assert_eq(move(&aggregate, "b", value, &wrong, NULL), STATUS_CORRUPT);
    cr_assert_arr_eq(before, aggregate.sum, sizeof before);
    struct peer peer = {"b"};
    cr_assert_null(aggregate_find(&aggregate, &peer));
    aggregate_free(&aggregate);
}

Test(aggregate, keeps_an_answer_as_it_came)
{
    struct aggregate aggregate = {0};
    const int64_t value[COUNT] = {-16, INT64_MIN, INT64_MAX};
    int64_t kept[COUNT];

    cr_assert_eq(aggregate_begin(&aggregate, COUNT, &wide), STATUS_OK);
    cr_assert_eq(move(&aggregate, "a", value, NULL, kept), STATUS_OK);
    cr_assert_arr_eq(kept, value, sizeof value);
    aggregate_free(&aggregate);
}

Test(aggregate, staging_is_bounded_and_two_for_large_vectors)
{
    struct aggregate aggregate = {0};
    struct staging *staging;
    struct peer peer = {"a"};

    cr_assert_eq(aggregate_begin(&aggregate, STAGING_BYTES_SMALL / 8 + 1, &wide), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 8 * aggregate.count, 0), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 8 * aggregate.count, 0), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 8 * aggregate.count, 0), STATUS_AGAIN);
    /* Answers may be wider than the text says. Planted: four of them had more than `plan job` tells of memory. */
    cr_assert_eq(aggregate_begin(&aggregate, STAGING_BYTES_SMALL / 8 + 1, &short_words), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 8 * aggregate.count, 0), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 8 * aggregate.count, 0), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 8 * aggregate.count, 0), STATUS_AGAIN);
    cr_assert_eq(aggregate_begin(&aggregate, 4, &wide), STATUS_OK);
    for (int i = 0; i < STAGING_MAX; i++) {
        cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 8 * aggregate.count, 0),
                     STATUS_OK);
    }
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 8 * aggregate.count, 0), STATUS_AGAIN);
    aggregate_free(&aggregate);
}

static void take_until(const struct aggregate *aggregate, struct staging *staging,
                       uint64_t received, int64_t now_ms)
{
    static const uint8_t zeros[CHUNK_BYTES_MAX];
    uint64_t offset;
    uint32_t length;
    while (staging->transfer.received < received) {
        cr_assert(transfer_ask(&staging->transfer, &offset, &length));
        cr_assert(transfer_accept(&staging->transfer, offset, (struct slice){zeros, length}, 1));
        aggregate_note_piece(aggregate, staging, now_ms);
    }
}

/* Two of them and the sum are three accumulators, before anything else that a coordinator has. */
Test(aggregate, the_second_half_of_a_large_answer_waits_for_another_for_a_moment)
{
    const size_t count = 2 * STAGING_BYTES_SMALL / 8;
    const struct peer peer[] = {{"a"}, {"b"}};
    struct aggregate aggregate = {0};
    struct staging *first;
    struct staging *second;

    cr_assert_eq(aggregate_begin(&aggregate, count, &wide), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &first, &peer[0], 8 * count, 1), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &second, &peer[1], 8 * count, 1), STATUS_OK);
    take_until(&aggregate, first, 4 * count - 1, 5000);
    take_until(&aggregate, second, 2 * count, 5010);
    cr_expect_eq(aggregate_holds_until_ms(&aggregate, first), INT64_MIN);
    cr_expect_eq(aggregate_holds_until_ms(&aggregate, second), INT64_MIN, "its first half");
    take_until(&aggregate, second, 4 * count, 5020);
    take_until(&aggregate, first, 6 * count, 5030);
    cr_expect_eq(aggregate_holds_until_ms(&aggregate, first), INT64_MIN, "it is ahead");
    cr_expect_eq(aggregate_holds_until_ms(&aggregate, second), 5020 + STAGING_HELD_MS,
                 "no longer, whatever the other sends");
    aggregate_drop(first);
    cr_expect_eq(aggregate_holds_until_ms(&aggregate, second), INT64_MIN);
    cr_assert_eq(aggregate_pull(&aggregate, &first, &peer[0], 8 * count, 6000), STATUS_OK);
    cr_expect_eq(aggregate_holds_until_ms(&aggregate, second), INT64_MIN, "it is new");
    aggregate_free(&aggregate);
}

Test(aggregate, large_answers_of_narrower_words_do_not_wait)
{
    const size_t count = STAGING_BYTES_SMALL;
    const struct peer peer[] = {{"a"}, {"b"}};
    struct aggregate aggregate = {0};
    struct staging *first;
    struct staging *second;

    cr_assert_eq(aggregate_begin(&aggregate, count, &short_words), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &first, &peer[0], 2 * count, 1), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &second, &peer[1], 2 * count, 1), STATUS_OK);
    take_until(&aggregate, first, 3 * count / 2, 5000);
    take_until(&aggregate, second, 3 * count / 2, 5000);
    cr_expect_eq(aggregate_holds_until_ms(&aggregate, first), INT64_MIN);
    cr_expect_eq(aggregate_holds_until_ms(&aggregate, second), INT64_MIN);
    aggregate_free(&aggregate);
}

/* Planted: room that is not wiped would hold an exact answer, and room of another size would be overrun. */
Test(aggregate, the_room_of_an_answer_serves_the_next_and_holds_nothing_of_it)
{
    const size_t count = STAGING_BYTES_SMALL;
    const struct peer peer = {"a"};
    struct aggregate aggregate = {0};
    struct staging *staging;

    cr_assert_eq(aggregate_begin(&aggregate, count, &short_words), STATUS_OK);
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 2 * count, 1), STATUS_OK);
    take_until(&aggregate, staging, 2 * count, 1);
    const uint8_t *room = staging->transfer.data;
    memset(staging->transfer.data, 7, 2 * count);
    aggregate_clear(&aggregate, staging);
    cr_assert_eq(staging->spare, room);
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 2 * count, 1), STATUS_OK);
    cr_expect_eq(staging->transfer.data, room);
    cr_expect_null(staging->spare);
    for (size_t i = 0; i < 2 * count; i++) {
        cr_assert_eq(room[i], 0);
    }
    take_until(&aggregate, staging, 2 * count, 1);
    aggregate_clear(&aggregate, staging);
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 4 * count, 1), STATUS_OK);
    cr_expect_null(staging->spare, "it is for another size");
    take_until(&aggregate, staging, 4 * count, 1);
    aggregate_clear(&aggregate, staging);
    cr_assert_eq(aggregate_pull(&aggregate, &staging, &peer, 8 * count, 1), STATUS_OK);
    take_until(&aggregate, staging, 8 * count, 1);
    aggregate_clear(&aggregate, staging);
    cr_expect_null(staging->spare, "of the widest words nothing stays");
    aggregate_free(&aggregate);
}

/* Half an answer never touches the sum: only what comes next in order is taken. */
Test(aggregate, pieces_out_of_order_doubled_or_of_another_size_are_not_taken)
{
    struct transfer transfer = {0};
    static uint8_t piece[CHUNK_BYTES_SMALL];
    uint64_t offset;
    uint32_t length;

    cr_assert_eq(transfer_begin(&transfer, 2 * (uint64_t)CHUNK_BYTES_SMALL + 8, CHUNK_BYTES_MAX, 0),
                 STATUS_OK);
    cr_assert_not(transfer_accept(&transfer, 0, (struct slice){piece, sizeof piece}, 1), "unasked");
    cr_assert(transfer_ask(&transfer, &offset, &length));
    cr_assert(offset == 0 && length == CHUNK_BYTES_SMALL);
    cr_assert(transfer_ask(&transfer, &offset, &length));
    cr_assert_not(
        transfer_accept(&transfer, CHUNK_BYTES_SMALL, (struct slice){piece, sizeof piece}, 1));
    cr_assert_not(transfer_accept(&transfer, 0, (struct slice){piece, sizeof piece - 1}, 1));
    cr_assert(transfer_accept(&transfer, 0, (struct slice){piece, sizeof piece}, 1));
    cr_assert_not(transfer_accept(&transfer, 0, (struct slice){piece, sizeof piece}, 1), "doubled");
    transfer_retry(&transfer, 5);
    cr_assert_not(
        transfer_accept(&transfer, CHUNK_BYTES_SMALL, (struct slice){piece, sizeof piece}, 6),
        "after a retry it must be asked for again");
    cr_assert(transfer_ask(&transfer, &offset, &length));
    cr_assert_eq(offset, CHUNK_BYTES_SMALL);
    cr_assert(transfer_accept(&transfer, offset, (struct slice){piece, length}, 7));
    cr_assert(transfer_ask(&transfer, &offset, &length));
    cr_assert(offset == 2 * (uint64_t)CHUNK_BYTES_SMALL && length == 8);
    cr_assert(transfer_accept(&transfer, offset, (struct slice){piece, 8}, 8));
    cr_assert(transfer_is_whole(&transfer));
    cr_assert_not(transfer_ask(&transfer, &offset, &length));
    transfer_drop(&transfer);
}

Test(aggregate, a_large_answer_is_checked_by_its_tree_or_by_the_sha256_of_before)
{
    enum { LARGE = DIGEST_LEAF_BYTES / 8 + 1 };
    static uint8_t bytes[8 * LARGE];
    const struct slice answer = {bytes, sizeof bytes};
    struct aggregate aggregate = {0};
    struct digest tree;
    struct digest plain = digest_of(bytes, sizeof bytes);

    digest_tree(&tree, answer);
    cr_assert_not(digest_equal(&tree, &plain));
    cr_assert_eq(aggregate_begin(&aggregate, LARGE, &wide), STATUS_OK);
    cr_expect_eq(aggregate_add(&aggregate, answer, &tree, NULL), STATUS_OK);
    cr_expect_eq(aggregate_add(&aggregate, answer, &plain, NULL), STATUS_OK);
    bytes[sizeof bytes - 1] ^= 1;
    cr_expect_eq(aggregate_add(&aggregate, answer, &tree, NULL), STATUS_CORRUPT);
    cr_expect_eq(aggregate_add(&aggregate, answer, &plain, NULL), STATUS_CORRUPT);
    cr_expect_eq(aggregate.sum[LARGE - 1], 0);
    aggregate_free(&aggregate);
}

/* Both kinds of sum, and both beside each other when an agent of before repeats an answer of wider words. Planted: from then on
 * each answer was added word by word to a wide sum, which takes five times as long. */
Test(aggregate, a_narrow_sum_counts_steps_and_has_a_wide_one_beside_it_for_wider_words)
{
    const int64_t steps[COUNT] = {-30000, 1, 32767};
    const int64_t grid[COUNT] = {5, -1, INT32_MAX};
    for (size_t at = 0; at < 4; at++) { /* the wider answer comes at each place, or never */
        struct aggregate aggregate = {0};
        int64_t kept[COUNT];
        int64_t *sum = NULL;
        cr_assert_eq(aggregate_begin(&aggregate, COUNT, &short_words), STATUS_OK);
        for (size_t i = 0; i < 3; i++) {
            cr_assert_eq(i == at ? move_words(&aggregate, "a", grid, 4, NULL, kept)
                                 : move_words(&aggregate, "a", steps, 2, NULL, kept),
                         STATUS_OK);
            for (size_t j = 0; j < COUNT; j++) {
                cr_expect_eq(kept[j], i == at ? grid[j] : steps[j] * 4096);
            }
            cr_expect_eq(aggregate.sum == NULL, i < at);
            cr_assert_not_null(aggregate.narrow);
            cr_expect_eq(aggregate.narrow[1], (int32_t)(i + 1 - (i >= at)), "of short words alone");
        }
        cr_assert_eq(aggregate_take(&aggregate, &sum), STATUS_OK);
        cr_assert_not(aggregate_is_open(&aggregate));
        for (size_t j = 0; j < COUNT; j++) {
            cr_expect_eq(sum[j], (at < 3 ? 2 : 3) * 4096 * steps[j] + (at < 3 ? grid[j] : 0));
        }
        free(sum);
    }
}

/* The sum of the largest number of answers with the widest short words fits. */
Test(aggregate, a_narrow_sum_has_room_for_every_agent_there_may_be)
{
    const int64_t value[COUNT] = {INT16_MAX, INT16_MIN, 0};
    struct aggregate aggregate = {0};
    cr_assert_eq(aggregate_begin(&aggregate, COUNT, &short_words), STATUS_OK);
    for (size_t i = 0; i < PEERS_MAX; i++) {
        cr_assert_eq(move_words(&aggregate, "a", value, 2, NULL, NULL), STATUS_OK);
    }
    for (size_t j = 0; j < COUNT; j++) {
        cr_expect_eq(aggregate_value(&aggregate, j), 4096 * PEERS_MAX * value[j]);
    }
    aggregate_free(&aggregate);
}

/* Planted: a collector's part was as narrow as its sum, and a leader of before refused it: its sites had paid for nothing. */
Test(aggregate, parts_have_words_of_8_bytes_whatever_their_sums_have)
{
    const int64_t steps[COUNT] = {-7, 8, 30000};
    const int64_t grid[COUNT] = {1, 2, INT64_C(1) << 40};
    for (unsigned part_is_wide = 0; part_is_wide < 2; part_is_wide++) {
        for (unsigned leader_is_wide = 0; leader_is_wide < 2; leader_is_wide++) {
            struct aggregate part = {0};
            struct aggregate leader = {0};
            uint8_t *packed = NULL;
            size_t size = 0;
            int64_t zero[COUNT] = {0};
            cr_assert_eq(aggregate_begin(&part, COUNT, &short_words), STATUS_OK);
            cr_assert_eq(aggregate_begin(&leader, COUNT, &short_words), STATUS_OK);
            cr_assert_eq(move_words(&part, "a", steps, 2, NULL, NULL), STATUS_OK);
            cr_assert_eq(move_words(&leader, "b", steps, 2, NULL, NULL), STATUS_OK);
            if (part_is_wide) {
                cr_assert_eq(move_words(&part, "c", grid, 8, NULL, NULL), STATUS_OK);
            }
            if (leader_is_wide) {
                cr_assert_eq(move_words(&leader, "d", zero, 8, NULL, NULL), STATUS_OK);
            }
            cr_assert_eq(aggregate_pack(&part, &packed, &size), STATUS_OK);
            cr_expect_eq(size, 8 * COUNT);
            cr_assert(aggregate_fits(&leader, size));
            cr_assert_eq(aggregate_add_part(&leader, (struct slice){packed, size}), STATUS_OK);
            for (size_t j = 0; j < COUNT; j++) {
                cr_expect_eq(aggregate_value(&part, j), 0, "a further part begins");
                cr_expect_eq(aggregate_value(&leader, j),
                             2 * 4096 * steps[j] + (part_is_wide ? grid[j] : 0));
            }
            free(packed);
            aggregate_free(&part);
            aggregate_free(&leader);
        }
    }
    struct aggregate narrow = {0};
    cr_assert_eq(aggregate_begin(&narrow, COUNT, &short_words), STATUS_OK);
    cr_expect(aggregate_fits(&narrow, 8 * COUNT));
    cr_expect_not(aggregate_fits(&narrow, 4 * COUNT));
    aggregate_free(&narrow);
}
