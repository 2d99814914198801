/* journal_row.h - what binds a journal's records to each other and to their blobs, whatever keeps them. */

#ifndef IO_JOURNAL_ROW_H
#define IO_JOURNAL_ROW_H

#include "base/bytes.h"
#include "io/journal_files.h"

#include <stdbool.h>
#include <stdint.h>

enum { JOURNAL_PLACE_BYTES = 4 };

/** The chained digest of the next record: SHA-256(chain before || sequence || sizes || body || blob's digest). */
void journal_row_chain(struct digest *out, const struct digest *before, uint64_t sequence,
                       struct slice body, uint64_t blob_bytes, const struct digest *blob_digest);

/** How a row has the digest of its blob: not at all where there is none, by its place in the body where that says it
 * already, and else as it is. Returns what to store; it points to place or digest. */
struct slice journal_row_shorten(uint8_t place[JOURNAL_PLACE_BYTES], struct slice body,
                                 struct slice blob, const struct digest *digest);

/** The other way; returns whether the digest could be told. */
MUST_USE bool journal_row_expand(struct digest *out, struct slice stored, struct slice body,
                                 uint64_t blob_bytes);

#endif
