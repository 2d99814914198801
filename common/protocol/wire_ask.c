/* The operators' frames. As in wire.c a frame is accepted when its content, packed again, gives the same bytes. */

#include "protocol/ask.h"

#include "base/check.h"
#include "protocol/wire_fields.h"

#include <operator.pb-c.h>
#include <stdalign.h>
#include <string.h>

/* A valid frame unfolds to an envelope, a body and a digest. */
enum { ARENA_BYTES = 1024 };

enum has { JOB = 1, ID = 2, FROM = 4, FILE_NUMBER = 8, TEXT = 16 };
enum {
    NOTHING = 0,
    ID_AND_TEXT = ID | TEXT,
    JOB_AND_FROM = JOB | FROM,
    JOB_AND_FILE = JOB | FROM | FILE_NUMBER
};

static const struct {
    const char *name;
    unsigned has;
} verbs[ASK_VERB_END] = {[ASK_NONE] = {"none", NOTHING},
#define VERB_ROW(name_, text_, has_) [name_] = {text_, has_},
                         ASK_VERBS(VERB_ROW)
#undef VERB_ROW
};

const char *ask_verb_name(enum ask_verb verb)
{
    return verb < ASK_VERB_END ? verbs[verb].name : verbs[ASK_NONE].name;
}

bool ask_is_valid(const struct ask *ask, size_t payload_bytes)
{
    if (ask->verb <= ASK_NONE || ask->verb >= ASK_VERB_END || ask->number == 0) {
        return false;
    }
    const unsigned has = verbs[ask->verb].has;
    return ((has & JOB) != 0 ? ask->job >= 1 && ask->job <= ASK_JOB_MAX : ask->job == 0) &&
           ((has & ID) != 0) == !digest_is_none(&ask->id) &&
           ask->from <= ((has & FROM) != 0 ? ASK_FROM_MAX : 0) &&
           ask->file < ((has & FILE_NUMBER) != 0 ? ASK_FILES_MAX : 1) &&
           ((has & TEXT) != 0 ? payload_bytes >= 1 && payload_bytes <= ASK_PAYLOAD_BYTES_MAX
                              : payload_bytes == 0);
}

/* clang-format off */
#define FIELD(member, own) WIRE_FIELD(Operator__Ask, member, struct ask, own)
static const struct wire_field ASK[] = {
    FIELD(number, number),
    FIELD(verb, verb),
    FIELD(job, job),
    FIELD(id, id),
    FIELD(from, from),
    FIELD(file, file),
};
/* clang-format on */
static const struct wire_body ASK_BODY = {&operator__ask__descriptor, WIRE_FIELDS(ASK)};

size_t ask_encode(uint8_t *out, const struct ask *ask)
{
    struct ask copy = *ask;
    Operator__Ask body;
    Operator__Envelope envelope = OPERATOR__ENVELOPE__INIT;
    wire_put_fields(&body.base, &copy, &ASK_BODY);
    body.version = ASK_VERSION;
    envelope.body_case = OPERATOR__ENVELOPE__BODY_ASK;
    envelope.ask = &body;
    CHECK(operator__envelope__get_packed_size(&envelope) <= ASK_FRAME_BYTES_MAX);
    return operator__envelope__pack(&envelope, out);
}

size_t told_encode(uint8_t *out, const struct told *told)
{
    Operator__Told body = OPERATOR__TOLD__INIT;
    Operator__Envelope envelope = OPERATOR__ENVELOPE__INIT;
    body.number = told->number;
    body.code = told->code;
    envelope.body_case = OPERATOR__ENVELOPE__BODY_TOLD;
    envelope.told = &body;
    CHECK(operator__envelope__get_packed_size(&envelope) <= ASK_FRAME_BYTES_MAX);
    return operator__envelope__pack(&envelope, out);
}

/* The frame's one body, NULL where it has another or more than that. It lies in the arena. */
static const Operator__Envelope *unpack(struct wire_arena *arena, struct slice control,
                                        Operator__Envelope__BodyCase wanted)
{
    ProtobufCAllocator allocator = wire_arena_allocator(arena);
    const Operator__Envelope *envelope =
        control.size == 0 || control.size > ASK_FRAME_BYTES_MAX
            ? NULL
            : operator__envelope__unpack(&allocator, control.size, control.data);
    return envelope != NULL && envelope->base.n_unknown_fields == 0 && envelope->body_case == wanted
               ? envelope
               : NULL;
}

static enum status take_ask(struct ask *out, struct slice control, size_t payload_bytes)
{
    alignas(max_align_t) uint8_t room[ARENA_BYTES];
    struct wire_arena arena = {.room = room, .size = sizeof room};
    uint8_t again[ASK_FRAME_BYTES_MAX];
    const Operator__Envelope *envelope = unpack(&arena, control, OPERATOR__ENVELOPE__BODY_ASK);
    if (envelope == NULL) {
        return STATUS_INVALID;
    }
    const Operator__Ask *ask = envelope->ask;
    if (ask->version != ASK_VERSION) {
        return STATUS_UNSUPPORTED;
    }
    return wire_take_fields(out, &ask->base, &ASK_BODY) && ask_is_valid(out, payload_bytes) &&
                   ask_encode(again, out) == control.size &&
                   memcmp(again, control.data, control.size) == 0
               ? STATUS_OK
               : STATUS_INVALID;
}

enum status ask_decode(struct ask *out, struct slice control, struct slice payload)
{
    memset(out, 0, sizeof *out);
    const enum status status = take_ask(out, control, payload.size);
    if (status != STATUS_OK) {
        memset(out, 0, sizeof *out);
    }
    return status;
}

enum status told_decode(struct told *out, struct slice control, struct slice payload)
{
    alignas(max_align_t) uint8_t room[ARENA_BYTES];
    struct wire_arena arena = {.room = room, .size = sizeof room};
    uint8_t again[ASK_FRAME_BYTES_MAX];
    const Operator__Envelope *envelope = unpack(&arena, control, OPERATOR__ENVELOPE__BODY_TOLD);
    memset(out, 0, sizeof *out);
    if (envelope == NULL || payload.size > ASK_PAYLOAD_BYTES_MAX) {
        return STATUS_INVALID;
    }
    const struct told told = {.number = envelope->told->number, .code = envelope->told->code};
    if (told.number == 0 || told.code > ASK_CODE_MAX || told_encode(again, &told) != control.size ||
        memcmp(again, control.data, control.size) != 0) {
        return STATUS_INVALID;
    }
    *out = told;
    return STATUS_OK;
}
