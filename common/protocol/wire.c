/* A frame is accepted when its content, packed again, gives the same bytes. That one rule refuses
 * fields that come twice (protocol buffers let the last win), fields we do not know, defaults
 * written out, numbers written longer than needed, flags other than 0 and 1, and text with a zero
 * inside. */

#include "protocol/wire.h"

#include "base/check.h"
#include "protocol/wire_fields.h"

#include <stdalign.h>
#include <stddef.h>
#include <string.h>
#include <wire.pb-c.h>

/* Six times what the largest valid frame takes; a frame that would unfold to more is refused. */
enum { ARENA_BYTES = 4096 };

#define FIELD(type, member, own) WIRE_FIELD(type, member, struct message, as.own)

/* clang-format off */
static const struct wire_field HELLO[] = {
    FIELD(Wire__Hello, version, hello.version),
    FIELD(Wire__Hello, job, hello.job),
    FIELD(Wire__Hello, rounds_closed, hello.rounds_closed),
    FIELD(Wire__Hello, ready, hello.ready),
    FIELD(Wire__Hello, dictionary, hello.dictionary),
};
static const struct wire_field OFFER[] = {
    FIELD(Wire__Offer, job, offer.job),
    FIELD(Wire__Offer, round, offer.round),
    FIELD(Wire__Offer, invitation, offer.invitation),
    FIELD(Wire__Offer, answer, offer.answer),
    FIELD(Wire__Offer, bytes, offer.bytes),
    FIELD(Wire__Offer, records, offer.records),
    FIELD(Wire__Offer, shift, offer.shift),
};
static const struct wire_field CHUNK[] = {
    FIELD(Wire__Chunk, job, chunk.job),
    FIELD(Wire__Chunk, round, chunk.round),
    FIELD(Wire__Chunk, offset, chunk.offset),
};
static const struct wire_field DECLINE[] = {
    FIELD(Wire__Decline, job, decline.job),
    FIELD(Wire__Decline, round, decline.round),
};
static const struct wire_field FETCH[] = {
    FIELD(Wire__Fetch, digest, fetch.digest),
    FIELD(Wire__Fetch, offset, fetch.offset),
    FIELD(Wire__Fetch, length, fetch.length),
};
static const struct wire_field ENROL[] = {
    FIELD(Wire__Enrol, public_key, enrol.public_key),
    FIELD(Wire__Enrol, signing_key, enrol.signing_key),
};
static const struct wire_field WELCOME[] = {
    FIELD(Wire__Welcome, version, welcome.version),
    FIELD(Wire__Welcome, job, welcome.job.id),
    FIELD(Wire__Welcome, nonce, welcome.job.nonce),
    FIELD(Wire__Welcome, text, welcome.job.text_digest),
    FIELD(Wire__Welcome, text_bytes, welcome.job.text_bytes),
    FIELD(Wire__Welcome, rounds_closed, welcome.rounds_closed),
    FIELD(Wire__Welcome, older, welcome.older),
};
static const struct wire_field INVITE[] = {
    FIELD(Wire__Invite, job, invite.job),
    FIELD(Wire__Invite, round, invite.round),
    FIELD(Wire__Invite, input, invite.input.digest),
    FIELD(Wire__Invite, input_bytes, invite.input.bytes),
    FIELD(Wire__Invite, deadline_ms, invite.deadline_ms),
    FIELD(Wire__Invite, slot, invite.slot),
};
static const struct wire_field PULL[] = {
    FIELD(Wire__Pull, job, pull.job),
    FIELD(Wire__Pull, round, pull.round),
    FIELD(Wire__Pull, offset, pull.offset),
    FIELD(Wire__Pull, length, pull.length),
};
static const struct wire_field RELEASE[] = {
    FIELD(Wire__Release, job, release.job),
    FIELD(Wire__Release, round, release.round),
    FIELD(Wire__Release, last, release.last),
    FIELD(Wire__Release, failed, release.failed),
    FIELD(Wire__Release, experts, release.experts.digest),
    FIELD(Wire__Release, experts_bytes, release.experts.bytes),
    FIELD(Wire__Release, chosen, release.chosen),
};
static const struct wire_field PIECE[] = {
    FIELD(Wire__Piece, digest, piece.digest),
    FIELD(Wire__Piece, offset, piece.offset),
};
static const struct wire_field ENROLLED[] = {FIELD(Wire__Enrolled, name, enrolled.name)};
static const struct wire_field CHALLENGE[] = {FIELD(Wire__Challenge, number, challenge.number)};
static const struct wire_field PRESENT[] = {FIELD(Wire__Present, number, present.number)};
static const struct wire_field DICTIONARY[] = {FIELD(Wire__Dictionary, digest, dictionary.digest)};
static const struct wire_field SHOW[] = {FIELD(Wire__Show, digest, show.digest)};
static const struct wire_field LEG[] = {
    FIELD(Wire__Leg, job, leg.job),
    FIELD(Wire__Leg, round, leg.round),
    FIELD(Wire__Leg, width, leg.width),
};
static const struct wire_field WANT[] = {FIELD(Wire__Want, shared, want.shared)};
static const struct wire_field LINE[] = {
    FIELD(Wire__Line, port, line.port),
    FIELD(Wire__Line, id, line.id),
    FIELD(Wire__Line, to_coordinator, line.to_coordinator),
    FIELD(Wire__Line, to_agent, line.to_agent),
};

static const struct wire_body BODIES[] = {
    [MESSAGE_HELLO] = {&wire__hello__descriptor, WIRE_FIELDS(HELLO)},
    [MESSAGE_OFFER] = {&wire__offer__descriptor, WIRE_FIELDS(OFFER)},
    [MESSAGE_CHUNK] = {&wire__chunk__descriptor, WIRE_FIELDS(CHUNK)},
    [MESSAGE_DECLINE] = {&wire__decline__descriptor, WIRE_FIELDS(DECLINE)},
    [MESSAGE_FETCH] = {&wire__fetch__descriptor, WIRE_FIELDS(FETCH)},
    [MESSAGE_ENROL] = {&wire__enrol__descriptor, WIRE_FIELDS(ENROL)},
    [MESSAGE_WELCOME] = {&wire__welcome__descriptor, WIRE_FIELDS(WELCOME)},
    [MESSAGE_INVITE] = {&wire__invite__descriptor, WIRE_FIELDS(INVITE)},
    [MESSAGE_PULL] = {&wire__pull__descriptor, WIRE_FIELDS(PULL)},
    [MESSAGE_RELEASE] = {&wire__release__descriptor, WIRE_FIELDS(RELEASE)},
    [MESSAGE_PIECE] = {&wire__piece__descriptor, WIRE_FIELDS(PIECE)},
    [MESSAGE_ENROLLED] = {&wire__enrolled__descriptor, WIRE_FIELDS(ENROLLED)},
    [MESSAGE_CHALLENGE] = {&wire__challenge__descriptor, WIRE_FIELDS(CHALLENGE)},
    [MESSAGE_KEY_IN_USE] = {&wire__key_in_use__descriptor, NULL, 0},
    [MESSAGE_PRESENT] = {&wire__present__descriptor, WIRE_FIELDS(PRESENT)},
    [MESSAGE_DICTIONARY] = {&wire__dictionary__descriptor, WIRE_FIELDS(DICTIONARY)},
    [MESSAGE_SHOW] = {&wire__show__descriptor, WIRE_FIELDS(SHOW)},
    [MESSAGE_KEYS] = {&wire__leg__descriptor, WIRE_FIELDS(LEG)},
    [MESSAGE_ROSTER] = {&wire__leg__descriptor, WIRE_FIELDS(LEG)},
    [MESSAGE_SURVIVORS] = {&wire__leg__descriptor, WIRE_FIELDS(LEG)},
    [MESSAGE_SIGNED] = {&wire__leg__descriptor, WIRE_FIELDS(LEG)},
    [MESSAGE_OPEN] = {&wire__leg__descriptor, WIRE_FIELDS(LEG)},
    [MESSAGE_REVEAL] = {&wire__leg__descriptor, WIRE_FIELDS(LEG)},
    [MESSAGE_WANT] = {&wire__want__descriptor, WIRE_FIELDS(WANT)},
    [MESSAGE_LINE] = {&wire__line__descriptor, WIRE_FIELDS(LINE)},
};
/* clang-format on */
static_assert(sizeof BODIES / sizeof BODIES[0] == MESSAGE_KIND_COUNT, "a row for each message");

/* Any of protobuf-c's structs above; wire_encode checks that it is large enough. */
union packed_body {
    ProtobufCMessage base;
    Wire__Release release;
    uint8_t room[192];
};

/* The body's number is the kind, counted from 1; and every member of the envelope's union is a
 * pointer to a struct that starts as all of protobuf-c's do. */
static_assert((int)WIRE__ENVELOPE__BODY_HELLO == (int)MESSAGE_HELLO + 1, "first number");
static_assert((int)WIRE__ENVELOPE__BODY_ENROL == (int)MESSAGE_ENROL + 1, "last from agents");
static_assert((int)WIRE__ENVELOPE__BODY_ENROLLED == (int)MESSAGE_ENROLLED + 1, "enrolled");
static_assert((int)WIRE__ENVELOPE__BODY_PRESENT == (int)MESSAGE_PRESENT + 1, "present");
static_assert((int)WIRE__ENVELOPE__BODY_SHOW == (int)MESSAGE_SHOW + 1, "show");
static_assert((int)WIRE__ENVELOPE__BODY_LINE == (int)MESSAGE_LINE + 1, "last number");

size_t wire_encode(uint8_t *out, const struct message *message)
{
    struct message copy = *message;
    union packed_body body;
    Wire__Envelope envelope = WIRE__ENVELOPE__INIT;
    CHECK(message->kind < MESSAGE_KIND_COUNT);
    CHECK(BODIES[copy.kind].descriptor->sizeof_message <= sizeof body);
    wire_put_fields(&body.base, &copy, &BODIES[copy.kind]);
    envelope.body_case = (Wire__Envelope__BodyCase)(message->kind + 1);
    envelope.hello = (Wire__Hello *)&body;
    CHECK(wire__envelope__get_packed_size(&envelope) <= CONTROL_BYTES_MAX);
    return wire__envelope__pack(&envelope, out);
}

static enum status take(struct message *message, struct slice control, size_t payload_bytes)
{
    alignas(max_align_t) uint8_t room[ARENA_BYTES];
    struct wire_arena arena = {.room = room, .size = sizeof room};
    ProtobufCAllocator allocator = wire_arena_allocator(&arena);
    const Wire__Envelope *envelope = wire__envelope__unpack(&allocator, control.size, control.data);
    if (envelope == NULL) {
        return STATUS_INVALID;
    }
    if (envelope->base.n_unknown_fields > 0) {
        return envelope->body_case == WIRE__ENVELOPE__BODY__NOT_SET ? STATUS_UNSUPPORTED
                                                                    : STATUS_INVALID;
    }
    if (envelope->body_case == WIRE__ENVELOPE__BODY__NOT_SET) {
        return STATUS_INVALID;
    }
    message->kind = (enum message_kind)((int)envelope->body_case - 1);
    if (!wire_take_fields(message, &envelope->hello->base, &BODIES[message->kind])) {
        return STATUS_INVALID;
    }
    if ((message->kind == MESSAGE_HELLO && message->as.hello.version != PROTOCOL_VERSION) ||
        (message->kind == MESSAGE_WELCOME && message->as.welcome.version != PROTOCOL_VERSION)) {
        return STATUS_UNSUPPORTED;
    }
    uint8_t again[CONTROL_BYTES_MAX];
    if (!message_is_valid(message, payload_bytes) || wire_encode(again, message) != control.size ||
        memcmp(again, control.data, control.size) != 0) {
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

enum status wire_decode(struct message *message, struct slice control, struct slice payload)
{
    memset(message, 0, sizeof *message);
    if (control.size == 0 || control.size > CONTROL_BYTES_MAX) {
        return STATUS_INVALID;
    }
    enum status status = take(message, control, payload.size);
    if (status != STATUS_OK) {
        memset(message, 0, sizeof *message);
    }
    return status;
}

uint32_t wire_version(struct slice control)
{
    alignas(max_align_t) uint8_t room[ARENA_BYTES];
    struct wire_arena arena = {.room = room, .size = sizeof room};
    ProtobufCAllocator allocator = wire_arena_allocator(&arena);
    const Wire__Envelope *envelope =
        control.size > CONTROL_BYTES_MAX
            ? NULL
            : wire__envelope__unpack(&allocator, control.size, control.data);
    if (envelope != NULL && envelope->body_case == WIRE__ENVELOPE__BODY_HELLO) {
        return envelope->hello->version;
    }
    if (envelope != NULL && envelope->body_case == WIRE__ENVELOPE__BODY_WELCOME) {
        return envelope->welcome->version;
    }
    return 0;
}

bool wire_is(struct slice control, enum message_kind kind)
{
    /* The frame begins with its body's number, as the tag of a field with a length. */
    const unsigned tag = ((unsigned)kind + 1) << 3 | 2;
    const uint8_t *byte = control.data;
    return tag < 0x80
               ? control.size >= 1 && byte[0] == tag
               : control.size >= 2 && byte[0] == ((tag & 0x7f) | 0x80) && byte[1] == tag >> 7;
}

enum status wire_send(struct effects *effects, const struct peer *peer,
                      const struct message *message, struct slice payload)
{
    uint8_t packed[CONTROL_BYTES_MAX];
    size_t size = wire_encode(packed, message);
    if (size > effects->control_size - effects->control_used) {
        return STATUS_AGAIN;
    }
    struct effect *effect = effects_add(effects, EFFECT_SEND);
    if (effect == NULL) {
        return STATUS_AGAIN;
    }
    uint8_t *control = effects->control_bytes + effects->control_used;
    memcpy(control, packed, size);
    effects->control_used += size;
    effect->as.send.peer = *peer;
    effect->as.send.control = (struct slice){.data = control, .size = size};
    effect->as.send.payload = payload;
    return STATUS_OK;
}

void invitation_bytes(uint8_t out[INVITATION_BYTES], const struct digest *job, uint32_t round,
                      const struct artifact *input)
{
    static const char label[] = "hedgerow invite1"; /* 16 bytes tell it from all that is hashed */
    memcpy(out, label, 16);
    memcpy(out + 16, job->byte, DIGEST_BYTES);
    store_u32(out + 16 + DIGEST_BYTES, round);
    memcpy(out + 20 + DIGEST_BYTES, input->digest.byte, DIGEST_BYTES);
    store_u64(out + 20 + 2 * DIGEST_BYTES, input->bytes);
}
