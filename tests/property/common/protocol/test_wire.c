/* Laws of the wire on random inputs; the seeds are fixed, and an assertion's message tells the
 * kind. */

#include "protocol/wire.h"
#include "support/any_message.h"

#include <criterion/criterion.h>

enum { TRIALS = 2000 };

static const uint8_t payload_bytes[CHUNK_BYTES_MAX + 1];

static struct slice payload_of(size_t size)
{
    return (struct slice){.data = payload_bytes, .size = size};
}

static bool is_zeroed(const void *data, size_t size)
{
    const uint8_t *byte = data;
    for (size_t i = 0; i < size; i++) {
        if (byte[i] != 0) {
            return false;
        }
    }
    return true;
}

/* A frame is either refused, and leaves zeros, or is exactly what its content packs to. The frame
 * is copied to the heap, so that a sanitizer sees a read past its end. */
static enum status decode_is_strict(const uint8_t *frame, size_t size, size_t payload_size)
{
    struct message message;
    uint8_t *copy = malloc(size + (size == 0));
    memcpy(copy, frame, size);
    memset(&message, 0xa5, sizeof message);
    enum status status =
        wire_decode(&message, (struct slice){.data = copy, .size = size}, payload_of(payload_size));
    if (status != STATUS_OK) {
        cr_assert(status == STATUS_INVALID || status == STATUS_UNSUPPORTED);
        cr_assert(is_zeroed(&message, sizeof message));
    } else {
        uint8_t again[CONTROL_BYTES_MAX];
        cr_assert(message_is_valid(&message, payload_size));
        cr_assert_eq(wire_encode(again, &message), size);
        cr_assert_eq(memcmp(again, frame, size), 0);
    }
    free(copy);
    return status;
}

Test(wire, every_message_round_trips)
{
    struct dice dice = {.state = 1};
    for (int trial = 0; trial < TRIALS; trial++) {
        for (int kind = 0; kind < MESSAGE_KIND_COUNT; kind++) {
            struct message sent;
            struct message received;
            size_t size = 0;
            uint8_t frame[CONTROL_BYTES_MAX];
            any_message(&dice, (enum message_kind)kind, &sent, &size);
            struct slice control = {.data = frame, .size = wire_encode(frame, &sent)};
            cr_assert_eq(wire_decode(&received, control, payload_of(size)), STATUS_OK, "%s",
                         message_kind_name(sent.kind));
            cr_assert_eq(memcmp((const void *)&sent, (const void *)&received, sizeof sent), 0, "%s",
                         message_kind_name(sent.kind));
        }
    }
}

Test(wire, payload_is_there_exactly_where_the_kind_has_one)
{
    struct dice dice = {.state = 2};
    for (int kind = 0; kind < MESSAGE_KIND_COUNT; kind++) {
        struct message sent;
        size_t size = 0;
        uint8_t frame[CONTROL_BYTES_MAX];
        any_message(&dice, (enum message_kind)kind, &sent, &size);
        size_t frame_size = wire_encode(frame, &sent);
        cr_assert_eq(decode_is_strict(frame, frame_size, size), STATUS_OK);
        const size_t whole = message_whole_bytes(&sent); /* which it may have or not */
        const size_t wrong = whole > 0 ? whole + 1 : size == 0;
        cr_assert_eq(decode_is_strict(frame, frame_size, wrong), STATUS_INVALID);
        cr_assert_eq(decode_is_strict(frame, frame_size, CHUNK_BYTES_MAX + 1), STATUS_INVALID);
    }
}

Test(wire, cut_and_lengthened_frames_are_refused)
{
    struct dice dice = {.state = 3};
    for (int kind = 0; kind < MESSAGE_KIND_COUNT; kind++) {
        struct message sent;
        size_t size = 0;
        uint8_t frame[CONTROL_BYTES_MAX + 1] = {0};
        any_message(&dice, (enum message_kind)kind, &sent, &size);
        size_t whole = wire_encode(frame, &sent);
        for (size_t cut = 0; cut <= CONTROL_BYTES_MAX + 1; cut++) {
            cr_assert(cut == whole || decode_is_strict(frame, cut, size) != STATUS_OK);
        }
        for (int next = 0; next < 256; next++) {
            frame[whole] = (uint8_t)next;
            cr_assert_neq(decode_is_strict(frame, whole + 1, size), STATUS_OK);
        }
    }
}

Test(wire, flipped_bits_are_refused_or_are_another_message_in_its_one_form)
{
    struct dice dice = {.state = 4};
    size_t accepted = 0;
    for (int trial = 0; trial < 20; trial++) {
        for (int kind = 0; kind < MESSAGE_KIND_COUNT; kind++) {
            struct message sent;
            size_t size = 0;
            uint8_t frame[CONTROL_BYTES_MAX];
            any_message(&dice, (enum message_kind)kind, &sent, &size);
            size_t whole = wire_encode(frame, &sent);
            for (size_t bit = 0; bit < 8 * whole; bit++) {
                frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
                accepted += decode_is_strict(frame, whole, size) == STATUS_OK;
                frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
        }
    }
    cr_assert_gt(accepted, 1000, "a flipped bit of a digest is another digest");
}

Test(wire, random_bytes_never_crash)
{
    struct dice dice = {.state = 5};
    for (int trial = 0; trial < 50000; trial++) {
        uint8_t frame[CONTROL_BYTES_MAX];
        size_t size = any_number(&dice, 0, sizeof frame);
        dice_fill(&dice, frame, size);
        if (size > 2 && dice_one_in(&dice, 2)) {
            frame[0] = (uint8_t)(8 * (1 + dice_below(&dice, MESSAGE_KIND_COUNT)) + 2);
            frame[1] = (uint8_t)(size - 2);
        }
        (void)decode_is_strict(frame, size, dice_below(&dice, 3));
    }
}

static bool peers_equal(const struct peer *a, uint32_t count, const struct peer *b,
                        uint32_t other_count)
{
    return count == other_count && (count == 0 || memcmp(a, b, count * sizeof *a) == 0);
}

static bool records_equal(const struct record *a, const struct record *b)
{
    struct record left = *a;
    struct record right = *b;
    bool same = true;
    if (a->kind != b->kind) {
        return false;
    }
    if (a->kind == RECORD_JOB) {
        same = a->as.job.text == NULL || b->as.job.text == NULL
                   ? a->as.job.text == b->as.job.text
                   : memcmp(a->as.job.text, b->as.job.text, a->as.job.job.text_bytes) == 0;
        left.as.job.text = right.as.job.text = NULL;
    } else if (a->kind == RECORD_ROUND) {
        uint32_t sums = a->as.round.sum_count;
        same = sums == b->as.round.sum_count &&
               peers_equal(a->as.round.agent, a->as.round.agent_count, b->as.round.agent,
                           b->as.round.agent_count) &&
               peers_equal(a->as.round.away, a->as.round.away_count, b->as.round.away,
                           b->as.round.away_count) &&
               (sums == 0 || memcmp(a->as.round.sum, b->as.round.sum, sums * sizeof(int64_t)) == 0);
        left.as.round.agent = right.as.round.agent = NULL;
        left.as.round.away = right.as.round.away = NULL;
        left.as.round.sum = right.as.round.sum = NULL;
    } else if (a->kind == RECORD_PARTIAL) {
        same = peers_equal(a->as.partial.agent, a->as.partial.agent_count, b->as.partial.agent,
                           b->as.partial.agent_count) &&
               peers_equal(a->as.partial.away, a->as.partial.away_count, b->as.partial.away,
                           b->as.partial.away_count);
        left.as.partial.agent = right.as.partial.agent = NULL;
        left.as.partial.away = right.as.partial.away = NULL;
    }
    return same && memcmp((const void *)&left, (const void *)&right, sizeof left) == 0;
}

static enum status record_is_strict(const uint8_t *body, size_t size)
{
    struct record record;
    memset(&record, 0xa5, sizeof record);
    enum status status = wire_decode_record(&record, (struct slice){.data = body, .size = size});
    if (status == STATUS_OK) {
        uint8_t *again = NULL;
        size_t again_size = 0;
        cr_assert_eq(wire_encode_record(&again, &again_size, &record), STATUS_OK);
        cr_assert_eq(again_size, size);
        cr_assert_eq(memcmp(again, body, size), 0);
        free(again);
        record_free(&record);
    } else {
        cr_assert_eq(status, STATUS_CORRUPT);
    }
    cr_assert(is_zeroed(&record, sizeof record));
    return status;
}

Test(wire, every_record_round_trips)
{
    struct dice dice = {.state = 6};
    for (int trial = 0; trial < 200; trial++) {
        for (int kind = RECORD_JOB; kind < RECORD_KIND_COUNT; kind++) {
            struct record kept;
            struct record read;
            uint8_t *body = NULL;
            size_t size = 0;
            any_record(&dice, (enum record_kind)kind, &kept);
            cr_assert_eq(wire_encode_record(&body, &size, &kept), STATUS_OK);
            cr_assert_eq(wire_decode_record(&read, (struct slice){.data = body, .size = size}),
                         STATUS_OK);
            cr_assert(records_equal(&kept, &read), "kind %d", kind);
            record_free(&kept);
            record_free(&read);
            free(body);
        }
    }
}

Test(wire, damaged_records_are_refused_or_are_another_record_in_its_one_form)
{
    struct dice dice = {.state = 7};
    for (int trial = 0; trial < 60; trial++) {
        struct record kept;
        uint8_t *body = NULL;
        size_t size = 0;
        any_record(&dice, (enum record_kind)(trial % RECORD_KIND_COUNT), &kept);
        cr_assert_eq(wire_encode_record(&body, &size, &kept), STATUS_OK);
        for (int damage = 0; damage < 300; damage++) {
            size_t at = dice_below(&dice, damage % 2 == 0 && size > 100 ? 100 : size);
            uint8_t before = body[at];
            body[at] = (uint8_t)(before ^ 1u << dice_below(&dice, 8));
            (void)record_is_strict(body, size);
            body[at] = before;
            (void)record_is_strict(body, at);
        }
        record_free(&kept);
        free(body);
    }
}
