/* journal.h - the append-only memory of a program: records, each with an optional large blob. What
 * append acknowledged survives a crash at any moment. Interface first, then the SQLite journal. */

#ifndef IO_JOURNAL_H
#define IO_JOURNAL_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stdint.h>

/* Gets one record, oldest first. blob has size 0 when there is none or it was forgotten. Any
 * status but STATUS_OK ends the reading. */
typedef enum status journal_visit(void *self, uint64_t sequence, struct slice body,
                                  struct slice blob);

struct journal {
    void *self;

    /* A write waits for a server: a program that must not wait calls append, append_known, forget and wipe on a thread, one at
     * a time, and nothing else meanwhile. */
    bool waits;

    /**
     * Makes one record durable before it returns.
     *
     * sequence  out  1, 2, 3, ... without a gap
     * body      in   1 .. JOURNAL_BODY_BYTES_MAX bytes
     * blob      in   may be empty; stored in pieces, so that the extra memory is one piece
     *
     * Fails with STATUS_IO when it is certain that nothing was recorded (a full disk), with
     * STATUS_UNKNOWN_OUTCOME otherwise; after either the journal refuses everything with
     * STATUS_UNKNOWN_OUTCOME: close it and open it again, recovery decides.
     */
    enum status (*append)(void *self, uint64_t *sequence, struct slice body, struct slice blob);

    /** As append, for a blob whose digest_tree the caller has: it is not computed again. A wrong one makes the record
     * damaged for every reader. NULL where the journal computes it in any case. */
    enum status (*append_known)(void *self, uint64_t *sequence, struct slice body,
                                struct slice blob, const struct digest *digest);

    /** Is told what append has made durable, before anything follows from it; on the thread of the journal's owner, not on one that
     * writes. NULL: nobody watches. */
    void (*told)(void *self, struct slice body, struct slice blob);

    /** Drops the blob of a record; its body, and the digest of the blob, stay. Durable with the next
     * append: a death before it may bring the blob back, and until then or settle another program that reads may see it, if
     * the journal's file itself has a KiB or more of it. Unknown sequences and repeated calls do
     * nothing. Fails like append. */
    enum status (*forget)(void *self, uint64_t sequence);

    /** Drops what was forgotten and waits for the next append. A program that goes on calls it now and then, so that nothing
     * waits long where no append follows. NULL: nothing ever waits. Fails like append. */
    enum status (*settle)(void *self);

    /** Drops a blob that is a secret: its bytes, or the key of its sealed file, are overwritten in the journal's files, and the
     * log that they may still be in is emptied. While another program reads the journal this waits for the next append. After a
     * death it may be asked for again: the blob is gone then, and the log is emptied. Fails like append. */
    enum status (*wipe)(void *self, uint64_t sequence);

    /** Reads every record, checking each against its digest. Fails with STATUS_CORRUPT, STATUS_IO,
     * STATUS_NO_MEMORY, or what visit returned; why tells the operator which file and what to do.
     */
    enum status (*each)(void *self, journal_visit *visit, void *visit_self, struct why *why);

    /** Returns why the last call failed; an empty text when none has. */
    const char *(*trouble)(const void *self);

    /** Gives everything back; the struct is then all zero. */
    void (*close)(void *self);
};

enum { JOURNAL_BODY_BYTES_MAX = 64 * 1024 * 1024, JOURNAL_PIECE_BYTES = 64 * 1024 };

/** Closes and zeroes; does nothing on a zeroed journal. */
void journal_close(struct journal *journal);

/** Tries whether a journal's folder can be made, or is there, and can be written. Leaves no file. Fails as opening the
 * journal would, with STATUS_INVALID or STATUS_IO. */
MUST_USE enum status journal_folder_try(const char *folder, struct why *why);

/** Returns how many bytes the journal of a folder takes on the disk, with its log; 0 where there is none. */
uint64_t journal_size(const char *folder);

struct journal_sqlite_options {
    const char *folder; /* made when missing, 0700 */
    const char *kind;   /* "coordinator" or "agent": one is never taken for the other */
    bool read_only; /* beside a running program: takes no lock, changes nothing, needs no mark */
};

/**
 * Opens, or makes, the journal of a folder. Files: `journal.db` (with SQLite's -wal and -shm),
 * `bulk-N` (the large blob of record N, sealed; journal_bulk.c), `lock` (held while open), `mark`
 * (how far the journal has been: a copied older journal.db is refused).
 *
 * Fails with STATUS_BUSY (why names the process that holds it), STATUS_NOT_FOUND (read_only and no
 * journal), STATUS_UNSUPPORTED (a later version), STATUS_INVALID (another program's or kind's
 * file; a folder or file that is another account's, that others may write, or that is a link), STATUS_CORRUPT (damaged, or older than the mark), STATUS_IO, STATUS_NO_MEMORY.
 */
MUST_USE enum status journal_sqlite_open(struct journal *out,
                                         const struct journal_sqlite_options *options,
                                         struct why *why);

/** Opens a folder's journal beside a program that may be running, reads every record and closes it.
 * Fails as opening and `each` do. */
MUST_USE enum status journal_sqlite_read(const char *folder, const char *kind, journal_visit *visit,
                                         void *visit_self, struct why *why);

#endif
