/* journal_private.h - what the two halves of the SQLite journal share: opening it, and using it. */

#ifndef IO_JOURNAL_PRIVATE_H
#define IO_JOURNAL_PRIVATE_H

#include "io/journal.h"
#include "io/journal_files.h"

#include <sqlite3.h>

/* record: one row a record. chain = SHA-256(chain before || sequence || sizes || body || blob's
 * digest). piece: the blob in rows of JOURNAL_PIECE_BYTES; id = sequence << JOURNAL_PIECE_BITS |
 * number. */
enum { JOURNAL_PIECE_BITS = 20, JOURNAL_VERSION = 1, JOURNAL_APPLICATION = 0x68647277 };

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
    bool refuses; /* after a doubt: only a new opening tells what is there */
    struct journal_mark last;
    struct why trouble;
};

/** Sets trouble to what SQLite says about the last call; returns the status for a failed read. */
enum status journal_sqlite_failure(struct journal_sqlite *journal, const char *doing);

/** The functions of struct journal. */
struct journal journal_sqlite_face(struct journal_sqlite *journal);

/** Gives back whatever is open; journal_sqlite_end(NULL) does nothing. */
void journal_sqlite_end(struct journal_sqlite *journal);

#endif
