/* Payloads that are sealed once and go over several lines, with an attacker in the middle who controls a wire, and another agent
 * that has the keys of such payloads. Records keep their order. A payload that this agent forges comes out as the payload of that
 * message, and its digest has to show the forgery. */

#include "io/shared.h"

#include "crypto/random.h"
#include "crypto/seal.h"
#include "line_wire.h"

#include <string.h>

enum {
    SEALED = PAYLOAD + SEAL_TAG_BYTES,
    HEADER = 4 + 2 + CONTROL + DIGEST_BYTES + 4 + SEAL_TAG_BYTES,
    RECORD = HEADER + SEALED
};

static struct random_source *source;
static struct random random_now;
static struct shared shared;
static uint8_t payload[MESSAGES][PAYLOAD];

static void init(void)
{
    source = random_source_new();
    cr_assert_not_null(source);
    random_now = random_source_interface(source);
    for (unsigned i = 0; i < MESSAGES; i++) {
        wire_fill(payload[i], i);
    }
}

static void fini(void)
{
    shared_clear(&shared);
    random_source_free(source);
}

static struct shared_piece *sealed(unsigned number, size_t takers)
{
    const struct digest of = {{9}};
    struct shared_piece *piece = shared_seal(&shared, &random_now, &of, number,
                                             (struct slice){payload[number], PAYLOAD}, takers, 1);
    cr_assert_not_null(piece);
    return piece;
}

static enum status say(struct line *line, unsigned number)
{
    const uint8_t control[CONTROL] = {'m', (uint8_t)number};
    return line_send_shared(line, (struct slice){control, sizeof control},
                            &sealed(number, 1000)->sealed);
}

/* Returns the number of the message that came, -1: none, -2: the line has ended, -3: another payload came with it. */
static int hear(struct line *line)
{
    struct slice control;
    struct slice came;
    bool is_shared = false;
    const enum status status = line_receive(line, &control, &came, &is_shared);
    if (status != STATUS_OK) {
        return status == STATUS_AGAIN ? -1 : -2;
    }
    cr_assert(control.size == CONTROL && came.size == PAYLOAD && is_shared);
    const int number = ((const uint8_t *)control.data)[1];
    const bool same = memcmp(came.data, payload[number], PAYLOAD) == 0;
    line_done(line);
    return same ? number : -3;
}

static void start(struct wire *wire)
{
    wire_start(wire, RECORD, say);
    line_take_shared(wire->receiver);
}

static uint8_t *record(struct wire *wire, unsigned number)
{
    return wire->bytes + (size_t)number * RECORD;
}

TestSuite(line_shared, .init = init, .fini = fini);

Test(line_shared, messages_come_whole_and_in_their_order_among_others)
{
    struct wire wire;
    start(&wire);
    for (unsigned i = 0; i < MESSAGES; i++) {
        wire_pass(&wire, i);
        cr_expect_eq(hear(wire.receiver), (int)i);
        cr_expect_eq(hear(wire.receiver), -1);
    }
    uint8_t plain[4 + 2 + 1 + 3 + SEAL_TAG_BYTES];
    struct slice control;
    struct slice came;
    bool is_shared = true;
    cr_assert_eq(line_send(wire.sender, (struct slice){"c", 1}, (struct slice){"abc", 3}),
                 STATUS_OK);
    wire_read(wire.from_sender, plain, sizeof plain);
    wire_pass_bytes(&wire, plain, sizeof plain);
    cr_assert_eq(line_receive(wire.receiver, &control, &came, &is_shared), STATUS_OK);
    cr_expect(slice_is(control, "c") && slice_is(came, "abc") && !is_shared);
    wire_stop(&wire);
}

Test(line_shared, a_message_comes_out_with_its_last_byte_alone)
{
    static const size_t cut[] = {1, 4, HEADER - 1, HEADER, HEADER + 1, RECORD - 17, RECORD - 1};
    struct wire wire;
    start(&wire);
    wire_pass_in_pieces(&wire, cut, sizeof cut / sizeof cut[0], hear);
    wire_stop(&wire);
}

Test(line_shared, a_dropped_a_swapped_and_a_replayed_message_end_it)
{
    static const unsigned order[][2] = {{0, 2}, {1, 0}, {0, 0}};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        struct wire wire;
        start(&wire);
        wire_pass(&wire, order[i][0]);
        if (order[i][0] == 0) {
            cr_expect_eq(hear(wire.receiver), 0);
            wire_pass(&wire, order[i][1]);
        }
        wire_expect_end(&wire, hear);
        wire_stop(&wire);
    }
}

/* The record is right, and what follows it is another message's payload, or one that an earlier sealing of the same made. */
Test(line_shared, a_payload_in_anothers_place_ends_it)
{
    for (int i = 0; i < 2; i++) {
        struct wire wire;
        start(&wire);
        uint8_t *other = malloc(SEALED);
        cr_assert_not_null(other);
        memcpy(other, record(&wire, 1) + HEADER, SEALED);
        if (i == 1) {
            shared_clear(&shared);
            memcpy(other, sealed(0, 2)->sealed.text->byte, SEALED);
        }
        memcpy(record(&wire, 0) + HEADER, other, SEALED);
        wire_pass(&wire, 0);
        wire_expect_end(&wire, hear);
        free(other);
        wire_stop(&wire);
    }
}

Test(line_shared, a_payload_that_is_cut_short_or_left_out_never_comes_out)
{
    struct wire wire;
    start(&wire);
    wire_pass_bytes(&wire, wire.bytes, HEADER); /* the next record is taken for its payload */
    wire_pass(&wire, 1);
    wire_expect_end(&wire, hear);
    wire_stop(&wire);
    start(&wire);
    wire_pass_bytes(&wire, wire.bytes, RECORD - 1);
    cr_expect_eq(hear(wire.receiver), -1);
    cr_assert_eq(shutdown(wire.to_receiver, SHUT_WR), 0);
    cr_expect_eq(hear(wire.receiver), -2);
    wire_stop(&wire);
}

Test(line_shared, a_flipped_bit_anywhere_ends_it)
{
    static const size_t place[] = {0,           1,
                                   3,           4,
                                   6,           14,
                                   20,          HEADER - 17,
                                   HEADER - 1,  HEADER,
                                   RECORD - 17, RECORD - 16,
                                   RECORD - 1,  4 + 2 + CONTROL + DIGEST_BYTES};
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        struct wire wire;
        start(&wire);
        wire.bytes[place[i]] ^= 0x01;
        wire_pass(&wire, 0);
        if (hear(wire.receiver) == -1) { /* a longer one is waited for */
            wire_pass(&wire, 1);
        }
        cr_expect_eq(hear(wire.receiver), -2, "byte %zu", place[i]);
        wire_stop(&wire);
        start(
            &wire); /* the mark alone: a record of HEADER bytes is then a message of another form */
        wire.bytes[3] ^= 0x80;
        wire_pass(&wire, 0);
        cr_expect_eq(hear(wire.receiver), -2);
        wire_stop(&wire);
    }
}

/* A fellow who has the payload's key, and the wire. The message is the one that was sent; its payload is his. */
Test(line_shared, a_fellows_payload_comes_out_as_that_messages_and_no_others)
{
    struct wire wire;
    uint8_t *his = malloc(SEALED);
    cr_assert_not_null(his);
    start(&wire);
    struct seal *seal = seal_new(&sealed(1, 1000)->sealed.key);
    const struct slice text = {payload[3], PAYLOAD};
    cr_assert_not_null(seal);
    cr_assert_eq(seal_close(seal, his, (struct slice){NULL, 0}, &text, 1), STATUS_OK);
    memcpy(record(&wire, 1) + HEADER, his, SEALED);
    wire_pass(&wire, 0);
    cr_expect_eq(hear(wire.receiver), 0);
    wire_pass(&wire, 1);
    cr_expect_eq(hear(wire.receiver), -3);
    wire_pass(&wire, 2);
    cr_expect_eq(hear(wire.receiver), 2, "the line goes on");
    seal_free(seal);
    free(his);
    wire_stop(&wire);
}

Test(line_shared, an_agent_that_has_not_asked_for_shared_pieces_ends)
{
    struct wire wire;
    start(&wire);
    line_free(wire.receiver);
    (void)close(wire.to_receiver);
    wire.receiver = wire_end(&wire.to_receiver, 2, 1);
    wire_pass(&wire, 0);
    wire_expect_end(&wire, hear);
    wire_stop(&wire);
}

Test(line_shared, what_does_not_fit_is_lost_whole_and_the_line_goes_on)
{
    struct wire wire;
    uint8_t *bytes = malloc(RECORD);
    unsigned kept = 0;
    enum status status;
    cr_assert_not_null(bytes);
    start(&wire);
    for (unsigned i = 0; i < MESSAGES; i++) {
        wire_pass(&wire, i);
        cr_expect_eq(hear(wire.receiver), (int)i);
    }
    while ((status = say(wire.sender, kept % MESSAGES)) == STATUS_OK) {
        kept++;
        cr_assert_lt(kept, 200);
    }
    cr_expect(status == STATUS_AGAIN && line_waits(wire.sender));
    for (unsigned i = 0; i < kept; i++) {
        for (size_t got = 0; got < RECORD;) {
            cr_assert_eq(line_flush(wire.sender), STATUS_OK);
            const ssize_t now = read(wire.from_sender, bytes + got, RECORD - got);
            cr_assert_gt(now, 0);
            got += (size_t)now;
        }
        wire_pass_bytes(&wire, bytes, RECORD);
        cr_expect_eq(hear(wire.receiver), (int)(i % MESSAGES));
    }
    cr_expect_not(line_waits(wire.sender));
    cr_assert_eq(say(wire.sender, 2), STATUS_OK);
    wire_read(wire.from_sender, bytes, RECORD);
    wire_pass_bytes(&wire, bytes, RECORD);
    cr_expect_eq(hear(wire.receiver), 2);
    free(bytes);
    wire_stop(&wire);
}

Test(line_shared, a_piece_is_sealed_once_for_all_its_takers_and_goes_with_the_last)
{
    enum { TAKERS = 5 };
    for (int i = 0; i < TAKERS; i++) {
        struct shared_piece *piece = sealed(0, TAKERS);
        cr_expect_eq(shared.sealed, 1);
        shared_taken(&shared, piece);
    }
    cr_expect_eq(shared.bytes, 0, "nothing is left of it");
    struct shared_piece *again = sealed(0, TAKERS);
    cr_expect_eq(shared.sealed, 2);
    cr_expect_eq(again->takers, TAKERS);
}

/* Large models wait for many agents at once: a copy for each would be a multiple of the model. */
Test(line_shared, a_payload_that_waits_in_many_lines_is_there_once)
{
    enum { LINES = 4 };
    struct wire wire[LINES];
    struct shared_piece *piece = NULL;
    for (size_t i = 0; i < LINES; i++) {
        start(&wire[i]);
        while (!line_waits(wire[i].sender)) {
            cr_assert_eq(say(wire[i].sender, 1), STATUS_OK);
        }
        piece = sealed(0, LINES + 1);
        const size_t before = line_waiting_bytes(wire[i].sender);
        cr_assert_eq(say(wire[i].sender, 0), STATUS_OK);
        cr_expect_eq(line_waiting_bytes(wire[i].sender), before + RECORD);
        cr_expect_eq(sealed(0, LINES + 1), piece);
        cr_expect_eq(piece->sealed.text->holders, i + 2, "the line holds it and has no copy");
    }
    struct line_text *text = piece->sealed.text;
    text->holders++; /* so that it can be looked at to the end */
    shared_clear(&shared);
    cr_expect_eq(text->holders, LINES + 1, "it stays for those who have it waiting");
    for (size_t i = 0; i < LINES; i++) {
        wire_stop(&wire[i]);
    }
    cr_expect_eq(text->holders, 1);
    line_text_drop(text);
}

/* As after a restart: whatever is sealed again has another key, so that no nonce of a key comes twice. */
Test(line_shared, what_is_sealed_again_and_every_other_piece_has_another_key)
{
    enum { KEYS = 8 };
    struct digest key[KEYS];
    for (unsigned i = 0; i < KEYS; i++) {
        if (i % MESSAGES == 0) {
            shared_clear(&shared);
        }
        key[i] = sealed(i % MESSAGES, 2)->sealed.key;
        for (unsigned j = 0; j < i; j++) {
            cr_expect_not(digest_equal(&key[i], &key[j]));
        }
    }
}

Test(line_shared, what_is_kept_is_bounded_in_bytes_pieces_and_time)
{
    const struct digest of = {{3}};
    const struct slice small = {payload[0], 100};
    for (uint64_t i = 0; i < 3 * SHARED_PIECES_MAX; i++) {
        cr_assert_not_null(shared_seal(&shared, &random_now, &of, i, small, 2, 1000 + (int64_t)i));
    }
    cr_expect_eq(shared.bytes, SHARED_PIECES_MAX * (100 + SEAL_TAG_BYTES));
    uint8_t *large = calloc(1, CHUNK_BYTES_MAX);
    cr_assert_not_null(large);
    for (uint64_t i = 0; i < 40; i++) {
        cr_assert_not_null(shared_seal(&shared, &random_now, &of, 1000 + i,
                                       (struct slice){large, CHUNK_BYTES_MAX}, 2, 5000));
        cr_expect_leq(shared.bytes, SHARED_BYTES_MAX);
    }
    shared_tend(&shared, 5000 + SHARED_MS);
    cr_expect_gt(shared.bytes, 0);
    shared_tend(&shared, 5001 + SHARED_MS);
    cr_expect_eq(shared.bytes, 0);
    free(large);
}
