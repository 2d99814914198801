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
 * Fails with STATUS_INVALID, STATUS_UNSUPPORTED (unknown kind, or another version). Allocates nothing:
 * the parse has a fixed room on the stack, and a frame that would unfold to more is STATUS_INVALID.
 */
MUST_USE enum status wire_decode(struct message *message, struct slice control,
                                 struct slice payload);

/**
 * Packs a message into the effects' room and appends the EFFECT_SEND that carries it.
 * payload is borrowed as machine.h says. Fails with STATUS_AGAIN when the room is full.
 */
MUST_USE enum status wire_send(struct effects *effects, const struct peer *peer,
                               const struct message *message, struct slice payload);

/** Returns which version of the protocol a HELLO or a WELCOME says that it speaks, also one that wire_decode does not know; 0
 * where the frame says none. For words to a person: nothing else of such a frame is read. */
uint32_t wire_version(struct slice control);

/** Returns whether a frame says that it is of this kind; what else is in it wire_decode judges. */
bool wire_is(struct slice control, enum message_kind kind);

/** Packs a message to out (CONTROL_BYTES_MAX); returns the size. For drivers and tests. What is packed
 * is not judged: wire_decode of the peer refuses what message_is_valid would. */
size_t wire_encode(uint8_t *out, const struct message *message);

/* What an invitation binds: a label, job, round and input, not the deadline. The agent and the
 * coordinator name an invitation by the SHA-256 of these bytes. */
enum { INVITATION_BYTES = 16 + DIGEST_BYTES + 4 + DIGEST_BYTES + 8 };
void invitation_bytes(uint8_t out[INVITATION_BYTES], const struct digest *job, uint32_t round,
                      const struct artifact *input);

/** Reads one journal record; the same strictness. Zeroed on failure, which is STATUS_CORRUPT or
 * STATUS_NO_MEMORY. The result points into memory of its own: record_free. */
MUST_USE enum status wire_decode_record(struct record *record, struct slice body);

/** Packs a journal record into memory of its own (caller frees). Fails with STATUS_NO_MEMORY. CHECKs
 * that the record is one that wire_decode_record would accept. */
MUST_USE enum status wire_encode_record(uint8_t **out, size_t *size, const struct record *record);

#endif
