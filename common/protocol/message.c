#include "protocol/message.h"

const char *message_kind_name(enum message_kind kind)
{
    static const char *const name[MESSAGE_KIND_COUNT] = {
        [MESSAGE_HELLO] = "hello",         [MESSAGE_OFFER] = "offer",
        [MESSAGE_CHUNK] = "chunk",         [MESSAGE_DECLINE] = "decline",
        [MESSAGE_FETCH] = "fetch",         [MESSAGE_ENROL] = "enrol",
        [MESSAGE_WELCOME] = "welcome",     [MESSAGE_INVITE] = "invite",
        [MESSAGE_PULL] = "pull",           [MESSAGE_RELEASE] = "release",
        [MESSAGE_PIECE] = "piece",         [MESSAGE_ENROLLED] = "enrolled",
        [MESSAGE_CHALLENGE] = "challenge", [MESSAGE_KEY_IN_USE] = "key-in-use",
        [MESSAGE_PRESENT] = "present",     [MESSAGE_DICTIONARY] = "dictionary",
        [MESSAGE_SHOW] = "show",           [MESSAGE_KEYS] = "keys",
        [MESSAGE_ROSTER] = "roster",       [MESSAGE_SURVIVORS] = "survivors",
        [MESSAGE_SIGNED] = "signed",       [MESSAGE_OPEN] = "open",
        [MESSAGE_REVEAL] = "reveal",       [MESSAGE_WANT] = "want",
        [MESSAGE_LINE] = "line",
    };
    return (unsigned)kind < MESSAGE_KIND_COUNT ? name[kind] : "unknown";
}

bool name_is_valid(const char *text, size_t size)
{
    size_t length = 0;
    while (length < size && text[length] > ' ' && text[length] <= '~') {
        length++;
    }
    return length > 0 && length < size && text[length] == '\0';
}

static bool is_there(const struct digest *digest)
{
    return !digest_is_none(digest);
}

static bool job_name_is_valid(const struct job_name *job)
{
    return is_there(&job->id) && is_there(&job->nonce) && is_there(&job->text_digest) &&
           job->text_bytes >= 1 && job->text_bytes <= JOB_TEXT_BYTES_MAX;
}

static bool artifact_is_valid(const struct artifact *artifact)
{
    return artifact->bytes <= TRANSFER_BYTES_MAX &&
           is_there(&artifact->digest) == (artifact->bytes > 0);
}

static bool piece_is_valid(uint64_t offset, uint64_t length)
{
    return length >= 1 && length <= CHUNK_BYTES_MAX && offset <= TRANSFER_BYTES_MAX - length;
}

static bool small_is_valid(uint64_t length)
{
    return length >= 1 && length <= CHUNK_BYTES_SMALL;
}

static bool round_is_valid(const struct digest *job, uint32_t round)
{
    return is_there(job) && round < ROUNDS_MAX;
}

static bool leg_is_valid(const struct message *message, size_t payload_bytes)
{
    return round_is_valid(&message->as.leg.job, message->as.leg.round) &&
           small_is_valid(payload_bytes);
}

static bool body_is_valid(const struct message *message, size_t payload_bytes)
{
    switch (message->kind) {
    case MESSAGE_HELLO:
        return message->as.hello.version == PROTOCOL_VERSION &&
               message->as.hello.rounds_closed <= ROUNDS_MAX;
    case MESSAGE_OFFER:
        return round_is_valid(&message->as.offer.job, message->as.offer.round) &&
               is_there(&message->as.offer.invitation) && is_there(&message->as.offer.answer) &&
               message->as.offer.bytes >= 1 && message->as.offer.bytes <= TRANSFER_BYTES_MAX &&
               message->as.offer.records <= OFFER_RECORDS_MAX &&
               message->as.offer.shift <= WORD_SHIFT_MAX;
    case MESSAGE_CHUNK:
        return round_is_valid(&message->as.chunk.job, message->as.chunk.round) &&
               piece_is_valid(message->as.chunk.offset, payload_bytes);
    case MESSAGE_DECLINE:
        return round_is_valid(&message->as.decline.job, message->as.decline.round);
    case MESSAGE_FETCH:
        return is_there(&message->as.fetch.digest) &&
               piece_is_valid(message->as.fetch.offset, message->as.fetch.length);
    case MESSAGE_ENROL:
        return is_there(&message->as.enrol.public_key);
    case MESSAGE_WELCOME:
        return message->as.welcome.version == PROTOCOL_VERSION &&
               job_name_is_valid(&message->as.welcome.job) &&
               message->as.welcome.rounds_closed <= ROUNDS_MAX &&
               message->as.welcome.older <= JOB_AGE_MOST;
    case MESSAGE_INVITE:
        return round_is_valid(&message->as.invite.job, message->as.invite.round) &&
               artifact_is_valid(&message->as.invite.input);
    case MESSAGE_PULL:
        return round_is_valid(&message->as.pull.job, message->as.pull.round) &&
               piece_is_valid(message->as.pull.offset, message->as.pull.length);
    case MESSAGE_RELEASE:
        return round_is_valid(&message->as.release.job, message->as.release.round) &&
               artifact_is_valid(&message->as.release.experts);
    case MESSAGE_PIECE:
        return is_there(&message->as.piece.digest) &&
               piece_is_valid(message->as.piece.offset, payload_bytes);
    case MESSAGE_ENROLLED:
        return name_is_valid(message->as.enrolled.name, sizeof message->as.enrolled.name);
    case MESSAGE_CHALLENGE:
        return message->as.challenge.number != 0;
    case MESSAGE_PRESENT:
        return message->as.present.number != 0;
    case MESSAGE_KEY_IN_USE:
        return true;
    case MESSAGE_DICTIONARY:
        return is_there(&message->as.dictionary.digest) && small_is_valid(payload_bytes);
    case MESSAGE_SHOW:
        return is_there(&message->as.show.digest);
    case MESSAGE_ROSTER:
        return (message->as.leg.width == 32 || message->as.leg.width == 64) &&
               leg_is_valid(message, payload_bytes);
    case MESSAGE_KEYS:
    case MESSAGE_SURVIVORS:
    case MESSAGE_SIGNED:
    case MESSAGE_OPEN:
    case MESSAGE_REVEAL:
        return message->as.leg.width == 0 && leg_is_valid(message, payload_bytes);
    case MESSAGE_WANT:
        return true;
    case MESSAGE_LINE:
        return message->as.line.port >= 1 && message->as.line.port <= UINT16_MAX &&
               is_there(&message->as.line.to_coordinator) && is_there(&message->as.line.to_agent) &&
               !digest_equal(&message->as.line.to_coordinator, &message->as.line.to_agent);
    case MESSAGE_KIND_COUNT:
        break;
    }
    return false;
}

static bool is_leg(enum message_kind kind)
{
    return kind >= MESSAGE_KEYS && kind <= MESSAGE_REVEAL;
}

bool message_carries(enum message_kind kind)
{
    return kind == MESSAGE_CHUNK || kind == MESSAGE_PIECE || kind == MESSAGE_DICTIONARY ||
           is_leg(kind);
}

size_t message_whole_bytes(const struct message *message)
{
    const uint64_t bytes = message->kind == MESSAGE_OFFER    ? message->as.offer.bytes
                           : message->kind == MESSAGE_INVITE ? message->as.invite.input.bytes
                                                             : 0;
    return bytes <= WHOLE_BYTES_MAX ? (size_t)bytes : 0;
}

bool message_is_valid(const struct message *message, size_t payload_bytes)
{
    return (message_carries(message->kind) || payload_bytes == 0 ||
            payload_bytes == message_whole_bytes(message)) &&
           body_is_valid(message, payload_bytes);
}
