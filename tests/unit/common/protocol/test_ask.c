/* The operators' frames: a packed frame is read again, any other text is refused, and no frame belongs to both
 * protocols. */

#include "protocol/ask.h"
#include "protocol/wire.h"
#include "support/any_message.h"

#include <criterion/criterion.h>
#include <string.h>

enum { FRAMES = 20000, FIELDS = 6 };

static const uint8_t payload[ASK_PAYLOAD_BYTES_MAX + 1];

static struct ask good(enum ask_verb verb)
{
    struct ask ask = {.verb = verb, .number = 7};
    switch ((int)verb) {
    case ASK_ENROL:
    case ASK_SUBMIT:
        ask.id.byte[3] = 1;
        break;
    case ASK_JOBS:
    case ASK_AGENTS:
        ask.from = 4;
        break;
    case ASK_WATCH:
        ask.from = ASK_FROM_MAX;
        ask.job = ASK_JOB_MAX;
        break;
    case ASK_READ:
        ask.file = ASK_FILES_MAX - 1;
        ask.from = 65536;
        ask.job = 2;
        break;
    case ASK_STATUS:
    case ASK_RESULT:
    case ASK_CANCEL:
        ask.job = 1;
        break;
    default:
        break;
    }
    return ask;
}

static size_t payload_of(enum ask_verb verb)
{
    return verb == ASK_SUBMIT ? ASK_PAYLOAD_BYTES_MAX : 0;
}

Test(ask, every_question_comes_back)
{
    for (enum ask_verb verb = ASK_ENROL; verb < ASK_VERB_END; verb++) {
        uint8_t frame[ASK_FRAME_BYTES_MAX];
        struct ask got;
        const struct ask ask = good(verb);
        const size_t size = ask_encode(frame, &ask);
        cr_assert_eq(ask_decode(&got, (struct slice){frame, size},
                                (struct slice){payload, payload_of(verb)}),
                     STATUS_OK, "%s", ask_verb_name(verb));
        cr_expect_eq(got.verb, ask.verb);
        cr_expect(got.number == ask.number && got.job == ask.job && got.from == ask.from &&
                  got.file == ask.file && digest_equal(&got.id, &ask.id));
    }
}

/* A field that the verb has not, or one that it lacks. */
Test(ask, a_question_has_its_fields_and_no_others)
{
    for (enum ask_verb verb = ASK_ENROL; verb < ASK_VERB_END; verb++) {
        const size_t bytes = payload_of(verb);
        int refused = 0;
        cr_assert(ask_is_valid(&(struct ask){0}, 0) == false);
        for (int field = 0; field < FIELDS; field++) {
            struct ask ask = good(verb);
            size_t with = bytes;
            switch (field) {
            case 0:
                ask.number = 0;
                break;
            case 1:
                ask.job = ask.job == 0 ? 1 : 0;
                break;
            case 2:
                ask.id = digest_is_none(&ask.id) ? (struct digest){{1}} : (struct digest){{0}};
                break;
            case 3:
                ask.from = ask.from == 0 ? 1 : ASK_FROM_MAX + 1;
                break;
            case 4:
                ask.file = ask.file == 0 ? 1 : ASK_FILES_MAX;
                break;
            default:
                with = bytes == 0 ? 1 : bytes + 1;
                break;
            }
            uint8_t frame[ASK_FRAME_BYTES_MAX];
            struct ask got;
            const size_t size = ask_encode(frame, &ask);
            refused += ask_decode(&got, (struct slice){frame, size},
                                  (struct slice){payload, with}) == STATUS_INVALID
                           ? 1
                           : 0;
        }
        cr_expect_eq(refused, FIELDS, "%s: %d of %d", ask_verb_name(verb), refused, (int)FIELDS);
    }
}

Test(ask, another_version_is_told_apart)
{
    uint8_t frame[ASK_FRAME_BYTES_MAX];
    struct ask got;
    const struct ask ask = good(ASK_WHO);
    const size_t size = ask_encode(frame, &ask);
    for (size_t i = 0; i + 1 < size; i++) {
        if (frame[i] == 0x08 && frame[i + 1] == ASK_VERSION) { /* field 1, a number */
            frame[i + 1] = ASK_VERSION + 1;
            cr_expect_eq(ask_decode(&got, (struct slice){frame, size}, (struct slice){payload, 0}),
                         STATUS_UNSUPPORTED);
            return;
        }
    }
    cr_assert_fail("no version in the frame");
}

Test(ask, an_answer_comes_back_and_nothing_longer)
{
    uint8_t frame[ASK_FRAME_BYTES_MAX + 1] = {0};
    struct told got;
    const struct told told = {.number = UINT64_MAX, .code = 5};
    const size_t size = told_encode(frame, &told);
    cr_assert_eq(told_decode(&got, (struct slice){frame, size},
                             (struct slice){payload, ASK_PAYLOAD_BYTES_MAX}),
                 STATUS_OK);
    cr_expect(got.number == UINT64_MAX && got.code == 5);
    cr_expect_eq(told_decode(&got, (struct slice){frame, size},
                             (struct slice){payload, ASK_PAYLOAD_BYTES_MAX + 1}),
                 STATUS_INVALID);
    cr_expect_eq(told_decode(&got, (struct slice){frame, size + 1}, (struct slice){payload, 0}),
                 STATUS_INVALID);
    cr_expect_eq(got.number, 0);
    cr_expect_eq(told_decode(&got, (struct slice){frame, sizeof frame}, (struct slice){payload, 0}),
                 STATUS_INVALID);
}

/* An agent's key that reached the desk, and an operator's that reached the agents' port, would say nothing there. */
Test(ask, no_frame_is_of_both_protocols)
{
    struct dice dice = {.state = 4711};
    struct ask ask;
    struct told told;
    struct message message;
    for (int i = 0; i < FRAMES; i++) {
        uint8_t frame[CONTROL_BYTES_MAX];
        size_t with = 0;
        any_message(&dice, (enum message_kind)dice_below(&dice, MESSAGE_KIND_COUNT), &message,
                    &with);
        const size_t size = wire_encode(frame, &message);
        const struct slice control = {frame, size};
        cr_assert_neq(ask_decode(&ask, control, (struct slice){payload, 0}), STATUS_OK);
        cr_assert_neq(ask_decode(&ask, control, (struct slice){payload, 1}), STATUS_OK);
        cr_assert_neq(told_decode(&told, control, (struct slice){payload, 0}), STATUS_OK);
    }
    for (enum ask_verb verb = ASK_ENROL; verb < ASK_VERB_END; verb++) {
        uint8_t frame[ASK_FRAME_BYTES_MAX];
        ask = good(verb);
        const size_t size = ask_encode(frame, &ask);
        cr_expect_neq(wire_decode(&message, (struct slice){frame, size},
                                  (struct slice){payload, payload_of(verb)}),
                      STATUS_OK);
    }
}

/* Whatever bytes are read as a question pack to the same bytes: single bits of good frames changed. */
Test(ask, one_form_alone_is_read)
{
    int read = 0;
    for (enum ask_verb verb = ASK_ENROL; verb < ASK_VERB_END; verb++) {
        uint8_t frame[ASK_FRAME_BYTES_MAX];
        uint8_t again[ASK_FRAME_BYTES_MAX];
        const struct ask ask = good(verb);
        const size_t size = ask_encode(frame, &ask);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            struct ask got;
            frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (ask_decode(&got, (struct slice){frame, size},
                           (struct slice){payload, payload_of(verb)}) == STATUS_OK) {
                read++;
                cr_expect_eq(ask_encode(again, &got), size);
                cr_expect_eq(memcmp(again, frame, size), 0);
            }
            frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
    cr_expect_gt(read, 20, "too few changed frames were good ones: %d", read);
}
