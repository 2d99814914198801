/* A frame is accepted when its content, packed again, gives the same bytes. That one rule refuses
 * fields that come twice (protocol buffers let the last win), fields we do not know, defaults
 * written out, numbers written longer than needed, flags other than 0 and 1, and text with a zero
 * inside. */

#include "protocol/wire.h"

#include "base/check.h"
#include "protocol/wire_arena.h"
#include "protocol/wire_fields.h"

#include <stdalign.h>
#include <wire.pb-c.h>

/* Six times what the largest valid frame takes; a frame that would unfold to more is refused. */
enum { ARENA_BYTES = 4096 };

/* A message on its way out: the structs that protobuf-c packs, pointing into a copy of the message.
 */
struct packing {
    struct message copy;
    Wire__Envelope envelope;
    union {
        Wire__Hello hello;
        Wire__Offer offer;
        Wire__Chunk chunk;
        Wire__Decline decline;
        Wire__Fetch fetch;
        Wire__Enrol enrol;
        Wire__Welcome welcome;
        Wire__Invite invite;
        Wire__Pull pull;
        Wire__Release release;
        Wire__Piece piece;
        Wire__Enrolled enrolled;
        Wire__Challenge challenge;
        Wire__KeyInUse key_in_use;
        Wire__Present present;
        Wire__Dictionary dictionary;
        Wire__Show show;
        Wire__Leg leg;
        Wire__Want want;
        Wire__Line line;
    } body;
};

/* Every member of the envelope's union is a pointer. */
static bool take_leg(struct message *message, const Wire__Envelope *envelope)
{
    message->kind = (enum message_kind)((int)envelope->body_case - 1);
    message->as.leg.round = envelope->keys->round;
    return wire_take_digest(&message->as.leg.job, &envelope->keys->job);
}

static bool take_from_agent(struct message *message, const Wire__Envelope *envelope)
{
    switch ((int)envelope->body_case) {
    case WIRE__ENVELOPE__BODY_HELLO:
        message->kind = MESSAGE_HELLO;
        message->as.hello.version = envelope->hello->version;
        message->as.hello.rounds_closed = envelope->hello->rounds_closed;
        message->as.hello.ready = envelope->hello->ready != 0;
        return wire_take_digest(&message->as.hello.job, &envelope->hello->job) &&
               wire_take_digest(&message->as.hello.dictionary, &envelope->hello->dictionary);
    case WIRE__ENVELOPE__BODY_OFFER:
        message->kind = MESSAGE_OFFER;
        message->as.offer.round = envelope->offer->round;
        message->as.offer.bytes = envelope->offer->bytes;
        message->as.offer.records = envelope->offer->records;
        return wire_take_digest(&message->as.offer.job, &envelope->offer->job) &&
               wire_take_digest(&message->as.offer.invitation, &envelope->offer->invitation) &&
               wire_take_digest(&message->as.offer.answer, &envelope->offer->answer);
    case WIRE__ENVELOPE__BODY_CHUNK:
        message->kind = MESSAGE_CHUNK;
        message->as.chunk.round = envelope->chunk->round;
        message->as.chunk.offset = envelope->chunk->offset;
        return wire_take_digest(&message->as.chunk.job, &envelope->chunk->job);
    case WIRE__ENVELOPE__BODY_DECLINE:
        message->kind = MESSAGE_DECLINE;
        message->as.decline.round = envelope->decline->round;
        return wire_take_digest(&message->as.decline.job, &envelope->decline->job);
    case WIRE__ENVELOPE__BODY_FETCH:
        message->kind = MESSAGE_FETCH;
        message->as.fetch.offset = envelope->fetch->offset;
        message->as.fetch.length = envelope->fetch->length;
        return wire_take_digest(&message->as.fetch.digest, &envelope->fetch->digest);
    case WIRE__ENVELOPE__BODY_ENROL:
        message->kind = MESSAGE_ENROL;
        return wire_take_digest(&message->as.enrol.public_key, &envelope->enrol->public_key) &&
               wire_take_digest(&message->as.enrol.signing_key, &envelope->enrol->signing_key);
    case WIRE__ENVELOPE__BODY_PRESENT:
        message->kind = MESSAGE_PRESENT;
        message->as.present.number = envelope->present->number;
        return true;
    case WIRE__ENVELOPE__BODY_DICTIONARY:
        message->kind = MESSAGE_DICTIONARY;
        return wire_take_digest(&message->as.dictionary.digest, &envelope->dictionary->digest);
    case WIRE__ENVELOPE__BODY_WANT:
        message->kind = MESSAGE_WANT;
        return true;
    case WIRE__ENVELOPE__BODY_KEYS:
    case WIRE__ENVELOPE__BODY_SIGNED:
    case WIRE__ENVELOPE__BODY_REVEAL:
        return take_leg(message, envelope);
    default:
        return false;
    }
}

static bool take_welcome(struct message *message, const Wire__Welcome *welcome)
{
    struct job_name *job = &message->as.welcome.job;
    message->kind = MESSAGE_WELCOME;
    message->as.welcome.version = welcome->version;
    message->as.welcome.rounds_closed = welcome->rounds_closed;
    job->text_bytes = welcome->text_bytes;
    return wire_take_digest(&job->id, &welcome->job) &&
           wire_take_digest(&job->nonce, &welcome->nonce) &&
           wire_take_digest(&job->text_digest, &welcome->text);
}

static bool take_release(struct message *message, const Wire__Release *release)
{
    message->kind = MESSAGE_RELEASE;
    message->as.release.round = release->round;
    message->as.release.last = release->last != 0;
    message->as.release.failed = release->failed != 0;
    message->as.release.experts.bytes = release->experts_bytes;
    message->as.release.chosen = release->chosen;
    return wire_take_digest(&message->as.release.job, &release->job) &&
           wire_take_digest(&message->as.release.experts.digest, &release->experts);
}

static bool take_line(struct message *message, const Wire__Line *line)
{
    message->kind = MESSAGE_LINE;
    message->as.line.port = line->port;
    if (line->id.len != sizeof message->as.line.id) {
        return false;
    }
    memcpy(message->as.line.id, line->id.data, sizeof message->as.line.id);
    return wire_take_digest(&message->as.line.to_coordinator, &line->to_coordinator) &&
           wire_take_digest(&message->as.line.to_agent, &line->to_agent);
}

static bool take_from_coordinator(struct message *message, const Wire__Envelope *envelope)
{
    switch ((int)envelope->body_case) {
    case WIRE__ENVELOPE__BODY_WELCOME:
        return take_welcome(message, envelope->welcome);
    case WIRE__ENVELOPE__BODY_INVITE:
        message->kind = MESSAGE_INVITE;
        message->as.invite.round = envelope->invite->round;
        message->as.invite.input.bytes = envelope->invite->input_bytes;
        message->as.invite.deadline_ms = envelope->invite->deadline_ms;
        return wire_take_digest(&message->as.invite.job, &envelope->invite->job) &&
               wire_take_digest(&message->as.invite.input.digest, &envelope->invite->input);
    case WIRE__ENVELOPE__BODY_PULL:
        message->kind = MESSAGE_PULL;
        message->as.pull.round = envelope->pull->round;
        message->as.pull.offset = envelope->pull->offset;
        message->as.pull.length = envelope->pull->length;
        return wire_take_digest(&message->as.pull.job, &envelope->pull->job);
    case WIRE__ENVELOPE__BODY_RELEASE:
        return take_release(message, envelope->release);
    case WIRE__ENVELOPE__BODY_PIECE:
        message->kind = MESSAGE_PIECE;
        message->as.piece.offset = envelope->piece->offset;
        return wire_take_digest(&message->as.piece.digest, &envelope->piece->digest);
    case WIRE__ENVELOPE__BODY_ENROLLED:
        message->kind = MESSAGE_ENROLLED;
        return wire_take_text(message->as.enrolled.name, sizeof message->as.enrolled.name,
                              envelope->enrolled->name);
    case WIRE__ENVELOPE__BODY_CHALLENGE:
        message->kind = MESSAGE_CHALLENGE;
        message->as.challenge.number = envelope->challenge->number;
        return true;
    case WIRE__ENVELOPE__BODY_KEY_IN_USE:
        message->kind = MESSAGE_KEY_IN_USE;
        return true;
    case WIRE__ENVELOPE__BODY_SHOW:
        message->kind = MESSAGE_SHOW;
        return wire_take_digest(&message->as.show.digest, &envelope->show->digest);
    case WIRE__ENVELOPE__BODY_LINE:
        return take_line(message, envelope->line);
    case WIRE__ENVELOPE__BODY_ROSTER:
    case WIRE__ENVELOPE__BODY_SURVIVORS:
    case WIRE__ENVELOPE__BODY_OPEN:
        return take_leg(message, envelope);
    default:
        return false;
    }
}

static void put_leg(struct packing *packing)
{
    wire__leg__init(&packing->body.leg);
    packing->body.leg.job = wire_put_digest(&packing->copy.as.leg.job);
    packing->body.leg.round = packing->copy.as.leg.round;
}

static void put_from_agent(struct packing *packing)
{
    struct message *copy = &packing->copy;
    switch ((int)copy->kind) {
    case MESSAGE_HELLO:
        wire__hello__init(&packing->body.hello);
        packing->body.hello.version = copy->as.hello.version;
        packing->body.hello.job = wire_put_digest(&copy->as.hello.job);
        packing->body.hello.rounds_closed = copy->as.hello.rounds_closed;
        packing->body.hello.ready = copy->as.hello.ready;
        packing->body.hello.dictionary = wire_put_digest(&copy->as.hello.dictionary);
        break;
    case MESSAGE_OFFER:
        wire__offer__init(&packing->body.offer);
        packing->body.offer.job = wire_put_digest(&copy->as.offer.job);
        packing->body.offer.round = copy->as.offer.round;
        packing->body.offer.invitation = wire_put_digest(&copy->as.offer.invitation);
        packing->body.offer.answer = wire_put_digest(&copy->as.offer.answer);
        packing->body.offer.bytes = copy->as.offer.bytes;
        packing->body.offer.records = copy->as.offer.records;
        break;
    case MESSAGE_CHUNK:
        wire__chunk__init(&packing->body.chunk);
        packing->body.chunk.job = wire_put_digest(&copy->as.chunk.job);
        packing->body.chunk.round = copy->as.chunk.round;
        packing->body.chunk.offset = copy->as.chunk.offset;
        break;
    case MESSAGE_DECLINE:
        wire__decline__init(&packing->body.decline);
        packing->body.decline.job = wire_put_digest(&copy->as.decline.job);
        packing->body.decline.round = copy->as.decline.round;
        break;
    case MESSAGE_FETCH:
        wire__fetch__init(&packing->body.fetch);
        packing->body.fetch.digest = wire_put_digest(&copy->as.fetch.digest);
        packing->body.fetch.offset = copy->as.fetch.offset;
        packing->body.fetch.length = copy->as.fetch.length;
        break;
    case MESSAGE_ENROL:
        wire__enrol__init(&packing->body.enrol);
        packing->body.enrol.public_key = wire_put_digest(&copy->as.enrol.public_key);
        packing->body.enrol.signing_key = wire_put_digest(&copy->as.enrol.signing_key);
        break;
    case MESSAGE_PRESENT:
        wire__present__init(&packing->body.present);
        packing->body.present.number = copy->as.present.number;
        break;
    case MESSAGE_DICTIONARY:
        wire__dictionary__init(&packing->body.dictionary);
        packing->body.dictionary.digest = wire_put_digest(&copy->as.dictionary.digest);
        break;
    case MESSAGE_WANT:
        wire__want__init(&packing->body.want);
        break;
    default:
        CHECK(false);
    }
}

static void put_job_so_far(struct packing *packing)
{
    struct message *copy = &packing->copy;
    if (copy->kind == MESSAGE_WELCOME) {
        wire__welcome__init(&packing->body.welcome);
        packing->body.welcome.version = copy->as.welcome.version;
        packing->body.welcome.job = wire_put_digest(&copy->as.welcome.job.id);
        packing->body.welcome.nonce = wire_put_digest(&copy->as.welcome.job.nonce);
        packing->body.welcome.text = wire_put_digest(&copy->as.welcome.job.text_digest);
        packing->body.welcome.text_bytes = copy->as.welcome.job.text_bytes;
        packing->body.welcome.rounds_closed = copy->as.welcome.rounds_closed;
    } else {
        wire__release__init(&packing->body.release);
        packing->body.release.job = wire_put_digest(&copy->as.release.job);
        packing->body.release.round = copy->as.release.round;
        packing->body.release.last = copy->as.release.last;
        packing->body.release.failed = copy->as.release.failed;
        packing->body.release.experts = wire_put_digest(&copy->as.release.experts.digest);
        packing->body.release.experts_bytes = copy->as.release.experts.bytes;
        packing->body.release.chosen = copy->as.release.chosen;
    }
}

static void put_from_coordinator(struct packing *packing)
{
    struct message *copy = &packing->copy;
    switch ((int)copy->kind) {
    case MESSAGE_WELCOME:
    case MESSAGE_RELEASE:
        put_job_so_far(packing);
        break;
    case MESSAGE_INVITE:
        wire__invite__init(&packing->body.invite);
        packing->body.invite.job = wire_put_digest(&copy->as.invite.job);
        packing->body.invite.round = copy->as.invite.round;
        packing->body.invite.input = wire_put_digest(&copy->as.invite.input.digest);
        packing->body.invite.input_bytes = copy->as.invite.input.bytes;
        packing->body.invite.deadline_ms = copy->as.invite.deadline_ms;
        break;
    case MESSAGE_PULL:
        wire__pull__init(&packing->body.pull);
        packing->body.pull.job = wire_put_digest(&copy->as.pull.job);
        packing->body.pull.round = copy->as.pull.round;
        packing->body.pull.offset = copy->as.pull.offset;
        packing->body.pull.length = copy->as.pull.length;
        break;
    case MESSAGE_PIECE:
        wire__piece__init(&packing->body.piece);
        packing->body.piece.digest = wire_put_digest(&copy->as.piece.digest);
        packing->body.piece.offset = copy->as.piece.offset;
        break;
    case MESSAGE_ENROLLED:
        wire__enrolled__init(&packing->body.enrolled);
        packing->body.enrolled.name = copy->as.enrolled.name;
        break;
    case MESSAGE_CHALLENGE:
        wire__challenge__init(&packing->body.challenge);
        packing->body.challenge.number = copy->as.challenge.number;
        break;
    case MESSAGE_KEY_IN_USE:
        wire__key_in_use__init(&packing->body.key_in_use);
        break;
    case MESSAGE_SHOW:
        wire__show__init(&packing->body.show);
        packing->body.show.digest = wire_put_digest(&copy->as.show.digest);
        break;
    case MESSAGE_LINE:
        wire__line__init(&packing->body.line);
        packing->body.line.port = copy->as.line.port;
        packing->body.line.id = (ProtobufCBinaryData){LINE_NAME_BYTES, copy->as.line.id};
        packing->body.line.to_coordinator = wire_put_digest(&copy->as.line.to_coordinator);
        packing->body.line.to_agent = wire_put_digest(&copy->as.line.to_agent);
        break;
    default:
        CHECK(false);
    }
}

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
    struct packing packing = {.copy = *message, .envelope = WIRE__ENVELOPE__INIT};
    if (message_is_leg(message->kind)) {
        put_leg(&packing);
    } else if (message_is_from_agent(message->kind)) {
        put_from_agent(&packing);
    } else {
        put_from_coordinator(&packing);
    }
    packing.envelope.body_case = (Wire__Envelope__BodyCase)(message->kind + 1);
    packing.envelope.hello = &packing.body.hello;
    CHECK(wire__envelope__get_packed_size(&packing.envelope) <= CONTROL_BYTES_MAX);
    return wire__envelope__pack(&packing.envelope, out);
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
    int kind = (int)envelope->body_case - 1;
    if (message_is_from_agent((enum message_kind)kind)
            ? !take_from_agent(message, envelope)
            : !take_from_coordinator(message, envelope)) {
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
