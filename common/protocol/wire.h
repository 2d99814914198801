/* wire.h - control frames: protocol buffers on the wire, plain structs in the programs. */

#ifndef PROTOCOL_WIRE_H
#define PROTOCOL_WIRE_H

#include "protocol/machine.h"
#include "protocol/message.h"
#include "protocol/record.h"

/**
 * Reads a control frame. Every field is checked: lengths, ranges, missing or repeated parts, trailing
 * or unknown bytes, payload present exactly where the kind has one.
 *
 * message  out  whole, or zeroed on failure
 * control  in   the first frame; more than CONTROL_BYTES_MAX is refused unread
 * payload  in   the second frame; a CHUNK or PIECE has 1 .. CHUNK_BYTES_MAX bytes, others none
 *
 * Fails with STATUS_INVALID, STATUS_UNSUPPORTED (unknown kind), STATUS_NO_MEMORY. Allocates at most a
 * fixed amount whatever the frame says.
 */
MUST_USE enum status wire_decode(struct message *message, struct slice control,
                                 struct slice payload);

/**
 * Packs a message into the effects' room and appends the EFFECT_SEND that carries it.
 * payload is borrowed as machine.h says. Fails with STATUS_AGAIN when the room is full.
 */
MUST_USE enum status wire_send(struct effects *effects, const struct peer *peer,
                               const struct message *message, struct slice payload);

/** Packs a message to out (CONTROL_BYTES_MAX); returns the size. For drivers and tests. */
size_t wire_encode(uint8_t *out, const struct message *message);

/** The digest of what an invitation binds: SHA-256 over job, round and input. The deadline is not in
 * it. */
/* lives in crypto users: agent/ and coordinator/ call invitation_bytes and hash it. */
enum { INVITATION_BYTES = 16 + DIGEST_BYTES + 4 + DIGEST_BYTES + 8 };
void invitation_bytes(uint8_t out[INVITATION_BYTES], const struct digest *job, uint32_t round,
                      const struct artifact *input);

/** Reads one journal record; the same strictness. Fails with STATUS_CORRUPT. The result points into
 * memory of its own: record_free. */
MUST_USE enum status wire_decode_record(struct record *record, struct slice body);

/** Packs a journal record into memory of its own (caller frees). Fails with STATUS_NO_MEMORY. */
MUST_USE enum status wire_encode_record(uint8_t **out, size_t *size, const struct record *record);

#endif
