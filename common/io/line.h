/* line.h - one plain TCP connection that carries whole messages, each sealed by AES-256-GCM (crypto/seal.h). CURVE's cipher
 * takes six times as long. Its two keys, one a direction, come over CURVE and serve this connection alone.
 *
 *     number of bytes (4) | sealed: size of the control frame (2), control frame, payload | tag (16)
 *
 * A payload that goes to many is sealed once for all of them (io/shared.h), and follows the record that has its key. The number
 * of bytes then has its highest bit set:
 *
 *     number of bytes (4) | sealed: size (2), control frame, key (32), bytes that follow (4) | tag (16) | sealed payload | tag (16)
 *
 * Whatever is not the next message of the other end ends the line, and so does a message that is longer than one may
 * be. Nothing here waits. */

#ifndef IO_LINE_H
#define IO_LINE_H

#include "base/bytes.h"
#include "base/status.h"
#include "protocol/message.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    LINE_ID_BYTES = LINE_NAME_BYTES, /* the end that connects shows which line this is to be, */
    LINE_PROOF_BYTES = 16,           /* and that it has the keys; the other end shows that, too */
    LINE_HAIL_BYTES = LINE_ID_BYTES + LINE_PROOF_BYTES,
    LINE_WAITING_RECORDS = 3 /* as much as this many of the largest messages may wait to be sent */
};

/* Sealed bytes that may wait in many lines at once, all on one thread. They go with the last that holds them. */
struct line_text {
    size_t holders;
    size_t size;
    uint8_t byte[]; /* (size) */
};

/** Returns a text that the caller holds; NULL without memory. */
struct line_text *line_text_new(size_t size);
/** The caller does not hold it any more. */
void line_text_drop(struct line_text *text);

struct line_keys {
    struct digest in;
    struct digest out;
};

/* A payload under a key of its own. Every holder of the key could forge one. So the control frame says what the payload has
 * to be, and its reader checks that. */
struct line_shared {
    struct digest key;
    struct line_text *text; /* the payload, sealed, with its tag */
};

struct line;

/** Returns a line over a connected descriptor that does not block, which it owns from then on; NULL without memory: the
 * descriptor is then closed. */
struct line *line_new(int descriptor, const struct line_keys *keys, size_t payload_bytes_max);
void line_free(struct line *line);
int line_descriptor(const struct line *line);

/** Makes a proof of the keys, about an id: the first thing that is sealed in this direction. */
MUST_USE enum status line_prove(struct line *line, uint8_t proof[static LINE_PROOF_BYTES],
                                const uint8_t id[static LINE_ID_BYTES]);
/** Checks the other end's. Fails with STATUS_INVALID. */
MUST_USE enum status line_check(struct line *line, const uint8_t proof[static LINE_PROOF_BYTES],
                                const uint8_t id[static LINE_ID_BYTES]);

/** Sends a message, or keeps it until there is room. Fails with STATUS_AGAIN when too much waits: the message is
 * lost, and the line goes on; with STATUS_IO when the line has ended. */
MUST_USE enum status line_send(struct line *line, struct slice control, struct slice payload);

/** Sends a message whose payload is sealed already; the line holds that until it has left. Fails like line_send. */
MUST_USE enum status line_send_shared(struct line *line, struct slice control,
                                      const struct line_shared *payload);

/** The other end may send such ones from now on; before they end the line. */
void line_take_shared(struct line *line);

/** Sends of what waits as much as there is room for. Fails with STATUS_IO. */
MUST_USE enum status line_flush(struct line *line);
bool line_waits(const struct line *line);
/** Returns how many bytes wait for room. */
size_t line_waiting_bytes(const struct line *line);

/** Takes the next message; control and payload are valid until line_done. shared: out, whether the payload was sealed for others,
 * too; may be NULL. Fails with STATUS_AGAIN when none is whole, with
 * STATUS_IO when the line has ended, STATUS_INVALID when something else came. */
MUST_USE enum status line_receive(struct line *line, struct slice *control, struct slice *payload,
                                  bool *shared);
void line_done(struct line *line);

#endif
