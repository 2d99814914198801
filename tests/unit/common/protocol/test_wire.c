#include "protocol/wire.h"
#include "support/known_bytes.h"

#include <criterion/criterion.h>

static struct digest digest_filled(uint8_t byte)
{
    struct digest digest;
    memset(digest.byte, byte, DIGEST_BYTES);
    return digest;
}

static struct slice slice_from(const uint8_t *data, size_t size)
{
    return (struct slice){.data = data, .size = size};
}

static const uint8_t one_byte[1];

/* protoc packs the message to the same bytes, and they read back as the message. */
static void check_known(const char *name, const struct message *message)
{
    uint8_t known[CONTROL_BYTES_MAX];
    uint8_t packed[CONTROL_BYTES_MAX];
    struct message read;
    size_t size = known_bytes(known, sizeof known, TEST_VECTORS "/wire.txt", name);
    bool carries = message_carries(message->kind);
    cr_assert_eq(wire_encode(packed, message), size, "%s", name);
    cr_assert_eq(memcmp(packed, known, size), 0, "%s", name);
    cr_assert_eq(wire_decode(&read, slice_from(known, size), slice_from(one_byte, carries)),
                 STATUS_OK, "%s", name);
    cr_assert_eq(memcmp((const void *)&read, (const void *)message, sizeof read), 0, "%s", name);
}

/* All bytes zero, those between the fields too, so that messages compare by memcmp. */
static void start(struct message *message, enum message_kind kind)
{
    memset(message, 0, sizeof *message);
    message->kind = kind;
}

Test(wire, packs_what_agents_say_as_protoc_does)
{
    struct message m;
    start(&m, MESSAGE_HELLO);
    m.as.hello.version = 9;
    check_known("hello-first", &m);
    m.as.hello.job = digest_filled(0x0a);
    m.as.hello.rounds_closed = 300;
    m.as.hello.ready = true;
    check_known("hello", &m);
    m.as.hello.dictionary = digest_filled(0x7d);
    check_known("hello-showing", &m);
    start(&m, MESSAGE_DICTIONARY);
    m.as.dictionary.digest = digest_filled(0x7d);
    check_known("dictionary", &m);
    start(&m, MESSAGE_SHOW);
    m.as.show.digest = digest_filled(0x7d);
    check_known("show", &m);
    start(&m, MESSAGE_OFFER);
    m.as.offer.job = digest_filled(0x0a);
    m.as.offer.round = 2;
    m.as.offer.invitation = digest_filled(0xb0);
    m.as.offer.answer = digest_filled(0xc1);
    m.as.offer.bytes = 8000000;
    check_known("offer", &m);
    m.as.offer.records = 3000;
    check_known("offer-share", &m);
    m.as.offer.records = 0;
    m.as.offer.bytes = 2000000;
    m.as.offer.shift = 12;
    check_known("offer-rounded", &m);
    start(&m, MESSAGE_CHUNK);
    m.as.chunk.job = digest_filled(0x0a);
    m.as.chunk.round = 2;
    m.as.chunk.offset = 65536;
    check_known("chunk", &m);
    start(&m, MESSAGE_DECLINE);
    m.as.decline.job = digest_filled(0x0a);
    check_known("decline", &m);
    start(&m, MESSAGE_FETCH);
    m.as.fetch.digest = digest_filled(0x7d);
    m.as.fetch.offset = 1;
    m.as.fetch.length = CHUNK_BYTES_SMALL;
    check_known("fetch", &m);
    start(&m, MESSAGE_ENROL);
    m.as.enrol.public_key = digest_filled(0xb0);
    check_known("enrol", &m);
    start(&m, MESSAGE_PRESENT);
    m.as.present.number = UINT64_MAX;
    check_known("present", &m);
}

Test(wire, packs_what_the_coordinator_says_as_protoc_does)
{
    struct message m;
    start(&m, MESSAGE_WELCOME);
    m.as.welcome.version = 9;
    m.as.welcome.job = (struct job_name){.id = digest_filled(0x0a),
                                         .nonce = digest_filled(0xb0),
                                         .text_digest = digest_filled(0xc1),
                                         .text_bytes = JOB_TEXT_BYTES_MAX};
    m.as.welcome.rounds_closed = ROUNDS_MAX;
    check_known("welcome", &m);
    m.as.welcome.older = 1;
    check_known("welcome-older", &m);
    m.as.welcome.older = 2;
    check_known("welcome-five", &m);
    m.as.welcome.older = 3;
    check_known("welcome-six", &m);
    m.as.welcome.older = 4;
    check_known("welcome-seven", &m);
    m.as.welcome.older = 5;
    check_known("welcome-eight", &m);
    start(&m, MESSAGE_INVITE);
    m.as.invite.job = digest_filled(0x0a);
    m.as.invite.deadline_ms = 60000;
    check_known("invite-fit", &m);
    m.as.invite.round = ROUNDS_MAX - 1;
    m.as.invite.input = (struct artifact){.digest = digest_filled(0x7d), .bytes = 88};
    m.as.invite.deadline_ms = 1;
    check_known("invite", &m);
    start(&m, MESSAGE_INVITE);
    m.as.invite.job = digest_filled(0x0a);
    m.as.invite.deadline_ms = 60000;
    m.as.invite.slot = 9999;
    check_known("invite-slot", &m);
    start(&m, MESSAGE_PULL);
    m.as.pull.job = digest_filled(0x0a);
    m.as.pull.round = 2;
    m.as.pull.offset = TRANSFER_BYTES_MAX - 1;
    m.as.pull.length = 1;
    check_known("pull", &m);
    start(&m, MESSAGE_RELEASE);
    m.as.release.job = digest_filled(0x0a);
    m.as.release.round = 2;
    m.as.release.failed = true;
    check_known("release-failed", &m);
    m.as.release.failed = false;
    m.as.release.last = true;
    m.as.release.experts = (struct artifact){.digest = digest_filled(0x7d), .bytes = 88};
    m.as.release.chosen = 3;
    check_known("release", &m);
    start(&m, MESSAGE_PIECE);
    m.as.piece.digest = digest_filled(0x7d);
    m.as.piece.offset = 65536;
    check_known("piece", &m);
    start(&m, MESSAGE_ENROLLED);
    memcpy(m.as.enrolled.name, "hospital-1", sizeof "hospital-1");
    check_known("enrolled", &m);
    start(&m, MESSAGE_CHALLENGE);
    m.as.challenge.number = 300;
    check_known("challenge", &m);
    start(&m, MESSAGE_KEY_IN_USE);
    check_known("key-in-use", &m);
}

Test(wire, packs_legs_and_lines_as_protoc_does)
{
    static const struct {
        const char *name;
        enum message_kind kind;
    } leg[] = {{"keys", MESSAGE_KEYS},           {"roster", MESSAGE_ROSTER},
               {"survivors", MESSAGE_SURVIVORS}, {"signed", MESSAGE_SIGNED},
               {"open", MESSAGE_OPEN},           {"reveal", MESSAGE_REVEAL}};
    struct message m;
    for (size_t i = 0; i < sizeof leg / sizeof leg[0]; i++) {
        start(&m, leg[i].kind);
        m.as.leg.job = digest_filled(0x0a);
        m.as.leg.round = 2;
        m.as.leg.width = leg[i].kind == MESSAGE_ROSTER ? 32 : 0;
        check_known(leg[i].name, &m);
    }
    start(&m, MESSAGE_WANT);
    check_known("want", &m);
    m.as.want.shared = true;
    check_known("want-shared", &m);
    start(&m, MESSAGE_LINE);
    m.as.line.port = 65535;
    memset(m.as.line.id, 0x5e, sizeof m.as.line.id);
    m.as.line.to_coordinator = digest_filled(0xb0);
    m.as.line.to_agent = digest_filled(0xc1);
    check_known("line", &m);
}

static void check_refused(enum status expected, const char *hex)
{
    uint8_t frame[CONTROL_BYTES_MAX];
    struct message message;
    static const struct message zeroed;
    size_t size = strlen(hex) / 2;
    cr_assert_eq(hex_decode(frame, size, hex), STATUS_OK);
    memset(&message, 0xa5, sizeof message);
    cr_assert_eq(wire_decode(&message, slice_from(frame, size), slice_from(NULL, 0)), expected,
                 "%s", hex);
    cr_assert_eq(memcmp((const void *)&message, (const void *)&zeroed, sizeof message), 0);
}

#define TEN "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"

Test(wire, refuses_every_form_but_the_one)
{
    check_refused(STATUS_INVALID, "0a0308"
                                  "8900");                    /* a number longer than needed */
    check_refused(STATUS_INVALID, "0a0408091800");            /* a default written out */
    check_refused(STATUS_INVALID, "0a0408092002");            /* a flag that is neither 0 nor 1 */
    check_refused(STATUS_INVALID, "0a0408090809");            /* a field twice */
    check_refused(STATUS_INVALID, "0a0418010809");            /* fields out of order */
    check_refused(STATUS_INVALID, "0a0408093001");            /* a field we do not know */
    check_refused(STATUS_INVALID, "0a0208090a020809");        /* a body twice */
    check_refused(STATUS_INVALID, "22220a20" TEN "0a020809"); /* two bodies */
    check_refused(STATUS_INVALID, "0a0208091a00");            /* the same, the last empty */
    check_refused(STATUS_INVALID, "0a020809"
                                  "6a00"); /* a part we do not know beside a body */
    check_refused(STATUS_INVALID, "0a8200"
                                  "0809");         /* a length longer than needed */
    check_refused(STATUS_INVALID, "0a0008");       /* something after the body */
    check_refused(STATUS_INVALID, "62040a026100"); /* a zero inside a name */
    check_refused(STATUS_INVALID, "62030a0120");   /* a space in a name */
    check_refused(STATUS_INVALID, "6200");         /* no name */
}

Test(wire, refuses_digests_of_another_length_and_ranges_left)
{
    check_refused(STATUS_INVALID, "22210a1f"
                                  "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a");
    check_refused(STATUS_INVALID, "22230a21" TEN "0a");
    check_refused(STATUS_INVALID,
                  "22220a20"
                  "0000000000000000000000000000000000000000000000000000000000000000");
    check_refused(STATUS_INVALID, "2200");                    /* no job */
    check_refused(STATUS_INVALID, "22260a20" TEN "10c0843d"); /* round 1,000,000 */
    check_refused(STATUS_INVALID, "2a220a20" TEN);            /* no length */
    check_refused(STATUS_INVALID, "2a260a20" TEN "18818010"); /* one byte too long */
    check_refused(STATUS_INVALID, "2a2b0a20" TEN "10808080808020"
                                  "1801");                /* past the end */
    check_refused(STATUS_INVALID, "42240a20" TEN "2001"); /* bytes of no artifact */
}

Test(wire, tells_what_a_later_version_says_from_rubbish)
{
    check_refused(STATUS_UNSUPPORTED, "0a02080a");     /* version 10 */
    check_refused(STATUS_UNSUPPORTED, "0a04080a3001"); /* version 10, with a field of its own */
    check_refused(STATUS_UNSUPPORTED, "0a020808");     /* version 8 */
    check_refused(STATUS_UNSUPPORTED, "0a020804");     /* version 4 */
    check_refused(STATUS_UNSUPPORTED, "0a020802");     /* version 2 */
    check_refused(STATUS_UNSUPPORTED, "0a020801");     /* version 1 */
    check_refused(STATUS_UNSUPPORTED, "d201020801");   /* a kind of message to come */
    check_refused(STATUS_UNSUPPORTED, "0a00");         /* version 0 */
    check_refused(STATUS_INVALID, "00");
    check_refused(STATUS_INVALID, "ff");
}

/* Returns the status of reading a message with a second frame of some bytes. */
static enum status read_with(const struct message *message, size_t bytes)
{
    static const uint8_t payload[WHOLE_BYTES_MAX + 1];
    uint8_t packed[CONTROL_BYTES_MAX];
    struct message read;
    const size_t size = wire_encode(packed, message);
    return wire_decode(&read, slice_from(packed, size), slice_from(payload, bytes));
}

Test(wire, a_small_answer_or_input_comes_whole_or_not_at_all)
{
    for (int kind = 0; kind < 2; kind++) {
        struct message m;
        start(&m, kind == 0 ? MESSAGE_OFFER : MESSAGE_INVITE);
        uint64_t *bytes = kind == 0 ? &m.as.offer.bytes : &m.as.invite.input.bytes;
        if (kind == 0) {
            m.as.offer.job = m.as.offer.invitation = m.as.offer.answer = digest_filled(1);
        } else {
            m.as.invite.job = m.as.invite.input.digest = digest_filled(1);
        }
        const uint64_t size[] = {1, 24, WHOLE_BYTES_MAX};
        for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
            *bytes = size[i];
            cr_expect_eq(read_with(&m, 0), STATUS_OK);
            cr_expect_eq(read_with(&m, size[i]), STATUS_OK);
            cr_expect_eq(read_with(&m, size[i] + 1), STATUS_INVALID);
            cr_expect_eq(read_with(&m, size[i] - 1), size[i] == 1 ? STATUS_OK : STATUS_INVALID);
        }
        *bytes = WHOLE_BYTES_MAX + 1;
        cr_expect_eq(read_with(&m, 0), STATUS_OK);
        cr_expect_eq(read_with(&m, WHOLE_BYTES_MAX + 1), STATUS_INVALID, "pulled or fetched alone");
    }
    struct message fit;
    start(&fit, MESSAGE_INVITE);
    fit.as.invite.job = digest_filled(1);
    cr_expect_eq(read_with(&fit, 0), STATUS_OK);
    cr_expect_eq(read_with(&fit, 1), STATUS_INVALID, "it has no input");
}

/* 1022 bytes that unfold to 511 fields: more than the parse has room for. */
Test(wire, a_frame_that_would_unfold_too_far_is_refused)
{
    uint8_t frame[CONTROL_BYTES_MAX];
    struct message message;
    memset(frame, 0, sizeof frame);
    for (size_t i = 0; i < sizeof frame; i += 2) {
        frame[i] = 0x6a;
    }
    cr_assert_eq(wire_decode(&message, slice_from(frame, sizeof frame), slice_from(NULL, 0)),
                 STATUS_INVALID);
}

Test(wire, an_oversized_frame_is_refused_unread)
{
    struct message message;
    struct slice control = {.data = NULL, .size = CONTROL_BYTES_MAX + 1};
    cr_assert_eq(wire_decode(&message, control, slice_from(NULL, 0)), STATUS_INVALID);
}

Test(wire, send_fills_one_effect_and_stops_when_the_room_is_full)
{
    struct effects effects;
    struct message hello = {.kind = MESSAGE_HELLO, .as.hello.version = 8};
    struct peer peer = {.name = "coordinator"};
    cr_assert_eq(effects_init(&effects, 9), STATUS_OK);
    cr_assert_eq(wire_send(&effects, &peer, &hello, slice_from(one_byte, 1)), STATUS_OK);
    cr_assert_eq(wire_send(&effects, &peer, &hello, slice_from(NULL, 0)), STATUS_OK);
    cr_assert_eq(wire_send(&effects, &peer, &hello, slice_from(NULL, 0)), STATUS_AGAIN);
    cr_assert_eq(effects.count, 2);
    cr_assert_eq(effects.item[0].as.send.control.size, 4);
    cr_assert_eq(effects.item[0].as.send.payload.size, 1);
    cr_assert_eq(effects.item[1].as.send.control.data, effects.control_bytes + 4);
    cr_assert_str_eq(effects.item[1].as.send.peer.name, "coordinator");
    effects_clear(&effects);
    cr_assert_eq(wire_send(&effects, &peer, &hello, slice_from(NULL, 0)), STATUS_OK);
    effects_free(&effects);

    cr_assert_eq(effects_init(&effects, CONTROL_BYTES_MAX * EFFECTS_MAX), STATUS_OK);
    for (int i = 0; i < EFFECTS_MAX; i++) {
        cr_assert_eq(wire_send(&effects, &peer, &hello, slice_from(NULL, 0)), STATUS_OK);
    }
    size_t used = effects.control_used;
    cr_assert_eq(wire_send(&effects, &peer, &hello, slice_from(NULL, 0)), STATUS_AGAIN);
    cr_assert_eq(effects.control_used, used);
    effects_free(&effects);
}

Test(wire, every_part_of_an_invitation_changes_its_bytes)
{
    uint8_t plain[INVITATION_BYTES];
    uint8_t other[INVITATION_BYTES];
    struct digest job = digest_filled(1);
    struct digest another = digest_filled(2);
    struct artifact input = {.digest = digest_filled(3), .bytes = 4};
    struct artifact digest_differs = {.digest = digest_filled(4), .bytes = 4};
    struct artifact bytes_differ = {.digest = digest_filled(3), .bytes = 5};
    invitation_bytes(plain, &job, 7, &input);
    cr_assert_eq(memcmp(plain, "hedgerow invite1\1\1", 18), 0);
    cr_assert_eq(plain[48], 7);
    invitation_bytes(other, &another, 7, &input);
    cr_assert_neq(memcmp(plain, other, sizeof plain), 0);
    invitation_bytes(other, &job, 8, &input);
    cr_assert_neq(memcmp(plain, other, sizeof plain), 0);
    invitation_bytes(other, &job, 7, &digest_differs);
    cr_assert_neq(memcmp(plain, other, sizeof plain), 0);
    invitation_bytes(other, &job, 7, &bytes_differ);
    cr_assert_neq(memcmp(plain, other, sizeof plain), 0);
}

Test(wire, names_are_printable_and_end)
{
    char full[4] = {'a', 'b', 'c', 'd'};
    cr_assert(name_is_valid("a", 2));
    cr_assert(name_is_valid("hospital-1", 11));
    cr_assert_not(name_is_valid("", 1));
    cr_assert_not(name_is_valid("a b", 4));
    cr_assert_not(name_is_valid("a\n", 3));
    cr_assert_not(name_is_valid("\xc3\xa9", 3));
    cr_assert_not(name_is_valid(full, sizeof full));
    for (int kind = 0; kind < MESSAGE_KIND_COUNT; kind++) {
        cr_assert_str_neq(message_kind_name((enum message_kind)kind), "unknown");
    }
    cr_assert_str_eq(message_kind_name(MESSAGE_KIND_COUNT), "unknown");
}

static uint32_t version_of(const char *hex)
{
    uint8_t frame[CONTROL_BYTES_MAX + 1] = {0};
    const size_t size = strlen(hex) / 2;
    cr_assert_eq(hex_decode(frame, size, hex), STATUS_OK);
    return wire_version(slice_from(frame, size));
}

Test(wire, tells_the_version_of_a_program_that_it_does_not_understand)
{
    cr_expect_eq(version_of("0a020807"), 7);
    cr_expect_eq(version_of("0a0408073001"), 7, "with a field that this version does not know");
    cr_expect_eq(version_of("3a020801"), 1, "of a WELCOME");
    cr_expect_eq(version_of("3a060805aa060161"), 5);
    cr_expect_eq(version_of("0a00"), 0);
    cr_expect_eq(version_of("22220a20" TEN), 0, "a DECLINE says none");
    cr_expect_eq(version_of("d201020801"), 0, "nor a kind of message to come");
    cr_expect_eq(version_of("ff"), 0);
    cr_expect_eq(version_of(""), 0);
    const uint8_t long_one[CONTROL_BYTES_MAX + 1] = {0x0a, 0x02, 0x08, 0x07};
    cr_expect_eq(wire_version(slice_from(long_one, sizeof long_one)), 0, "it is not read");
}
