/* journal_private.h - what the parts of the SQLite journal share: opening it, and using it. */

#ifndef IO_JOURNAL_PRIVATE_H
#define IO_JOURNAL_PRIVATE_H

#include "crypto/random.h"
#include "io/journal.h"
#include "io/journal_files.h"
#include "io/journal_row.h"

#include <sqlite3.h>

/* record: one row a record. chain = SHA-256(chain before || sequence || sizes || body || blob's
 * digest). Version 2 may have that digest as a place in the body, version 1 never. piece: the blob in rows of
 * JOURNAL_PIECE_BYTES; id = sequence << JOURNAL_PIECE_BITS | number. From version 3 a blob of JOURNAL_BULK_BYTES or more
 * has one row, numbered JOURNAL_BULK_NUMBER: the key of its file (journal_bulk.c). From version 4 a blob's digest is that of its
 * tree (crypto/digest.h); those of before are taken as they are. From version 5 an answer's words of 2 bytes may count steps (dp/encode.h). From
 * version 6 a job says which protocol it was begun under. From version 7 that may be 8, and from version 8 it may be 9, whose jobs
 * earlier programs do not know. From version 8 a state of `learn` may have what gradients told of the columns. */
enum {
    JOURNAL_PIECE_BITS = 20,
    JOURNAL_BULK_NUMBER = (1 << JOURNAL_PIECE_BITS) - 1,
    JOURNAL_BULK_BYTES = 256 * 1024,
    JOURNAL_LATER_MAX = 16,     /* so many blobs may wait to be forgotten with the next record, */
    JOURNAL_LATER_BYTES = 1024, /* each of so many bytes or more */
    JOURNAL_VERSION = 8,
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
    bool bulk_is_stale;   /* files may be there that no record needs */
    uint64_t bulk_replaced; /* the latest that was forgotten since the record before; 0: none */
    uint64_t bulk_spare;    /* whose file no record needs: the next is written over it; 0: none */
    uint64_t later[JOURNAL_LATER_MAX]; /* (later_count) whose blobs the next record forgets */
    size_t later_count;
    struct random_source *random; /* keys of files; NULL when read-only */
    struct journal_mark last;
    struct why trouble;
};

/** Sets trouble to what SQLite says about the last call; returns the status for a failed read. */
enum status journal_sqlite_failure(struct journal_sqlite *journal, const char *doing);

/** Writes a large blob into a file of its own, sealed under a new key; both are durable when it returns, and the key is
 * nowhere else. digest: out, that of the blob's tree, made on a thread meanwhile; NULL: it is known.
 * Fails with STATUS_IO: nothing is left, trouble says why. */
MUST_USE enum status journal_bulk_write(struct journal_sqlite *journal, struct digest *key,
                                        struct digest *digest, uint64_t sequence,
                                        struct slice blob);

/** Reads it into out (bytes). Fails with STATUS_NOT_FOUND (no such file), STATUS_CORRUPT (of another size), STATUS_IO,
 * STATUS_NO_MEMORY. The digest is the caller's to check. */
MUST_USE enum status journal_bulk_read(struct journal_sqlite *journal, uint8_t *out,
                                       uint64_t sequence, uint64_t bytes, const struct digest *key);

/** Removes the files that no row has a key for, but for the spare one. Only after a commit that waited for the disk: a power failure must not
 * bring back a key whose file is gone. */
void journal_bulk_sweep(struct journal_sqlite *journal);
/** Removes the spare one. */
void journal_bulk_drop_spare(struct journal_sqlite *journal);

/** Opens the mark, and reads it. It is made before the database, so that a journal with records always has one beside it; and
 * read before it is looked for, so that a program that begins and goes on writing both is not taken for an older copy. Fails
 * with STATUS_CORRUPT (the mark is missing, or the journal that it tells of is), STATUS_IO. */
MUST_USE enum status journal_sqlite_open_mark(struct journal_sqlite *journal,
                                              struct journal_mark *mark);

/** Judges a journal.db that is absent or has no tables: was one ever begun here? SQLite moves its log into that file late, so
 * that a young journal whose log is gone looks like this. Fails with STATUS_CORRUPT (one was), STATUS_NOT_FOUND (it is to be
 * read). */
MUST_USE enum status journal_sqlite_check_unbegun(struct journal_sqlite *journal,
                                                  const struct journal_mark *mark);

/** Opens journal.db, the owner's alone, and makes it where it may write. */
MUST_USE enum status journal_sqlite_open_database(struct journal_sqlite *journal);

/** The id of a piece of a blob. */
int64_t journal_piece_id(uint64_t sequence, uint64_t number);

/** Binds the range of a record's pieces to a statement's ?1 and ?2. */
bool journal_bind_pieces(sqlite3_stmt *statement, uint64_t sequence);

/** The `each` of struct journal. */
enum status journal_sqlite_each(void *self, journal_visit *visit, void *visit_self,
                                struct why *why);

/** Returns whether a row has the key of this record's file; true too where that cannot be told. */
bool journal_sqlite_may_have_bulk(struct journal_sqlite *journal, uint64_t sequence);

/** Returns whether a record's blob has less than JOURNAL_LATER_BYTES in the database, or that cannot be told. */
bool journal_sqlite_blob_is_short(struct journal_sqlite *journal, uint64_t sequence);

/** The functions of struct journal. */
struct journal journal_sqlite_face(struct journal_sqlite *journal);

/** Gives back whatever is open; journal_sqlite_end(NULL) does nothing. */
void journal_sqlite_end(struct journal_sqlite *journal);

#endif
