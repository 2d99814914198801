/* journal_private.h - what the two halves of the SQLite journal share: opening it, and using it. */

#ifndef IO_JOURNAL_PRIVATE_H
#define IO_JOURNAL_PRIVATE_H

#include "io/journal.h"
#include "io/journal_files.h"

#include <sqlite3.h>

/* record: one row a record. chain = SHA-256(chain before || sequence || sizes || body || blob's
 * digest). Version 2 may have that digest as a place in the body, version 1 never. piece: the blob in rows of JOURNAL_PIECE_BYTES; id = sequence << JOURNAL_PIECE_BITS |
 * number. */
enum {
    JOURNAL_PIECE_BITS = 20,
    JOURNAL_VERSION = 2,
    JOURNAL_VERSION_LEAST = 1,
    JOURNAL_APPLICATION = 0x68647277
};

enum journal_statement {
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_ROLLBACK,
    STATEMENT_ADD,
    STATEMENT_ADD_PIECE,
    STATEMENT_DROP_PIECES,
    STATEMENT_ALL,
    STATEMENT_BLOB_SIZE,
    STATEMENT_PIECES,
    STATEMENT_COUNT
};

struct journal_sqlite {
    sqlite3 *database;
    sqlite3_stmt *statement[STATEMENT_COUNT];
    char folder[JOURNAL_PATH_BYTES];
    int lock;      /* -1 when read-only */
    int mark_file; /* -1 when read-only */
    bool read_only;
    bool is_older;        /* its version, than what this program writes */
    bool refuses;         /* after a doubt: only a new opening tells what is there */
    bool log_has_secrets; /* what was wiped is still in SQLite's log: somebody reads the journal */
    struct journal_mark last;
    struct why trouble;
};

/** Sets trouble to what SQLite says about the last call; returns the status for a failed read. */
enum status journal_sqlite_failure(struct journal_sqlite *journal, const char *doing);

/** The chained digest of the next record. */
void journal_row_chain(struct digest *out, const struct digest *before, uint64_t sequence,
                       struct slice body, uint64_t blob_bytes, const struct digest *blob_digest);

enum { JOURNAL_PLACE_BYTES = 4 };

/** How a row has the digest of its blob: not at all where there is none, by its place in the body where that says it
 * already, and else as it is. Returns what to store; it points to place or digest. */
struct slice journal_row_shorten(uint8_t place[JOURNAL_PLACE_BYTES], struct slice body,
                                 struct slice blob, const struct digest *digest);

/** The other way; returns whether the digest could be told. */
MUST_USE bool journal_row_expand(struct digest *out, struct slice stored, struct slice body,
                                 uint64_t blob_bytes);

/** Moves SQLite's log into the database and empties it, unless somebody reads the journal. Fails with STATUS_IO. */
MUST_USE enum status journal_sqlite_empty_log(struct journal_sqlite *journal);

/** The functions of struct journal. */
struct journal journal_sqlite_face(struct journal_sqlite *journal);

/** Gives back whatever is open; journal_sqlite_end(NULL) does nothing. */
void journal_sqlite_end(struct journal_sqlite *journal);

#endif
