/* The journal over SQLite in WAL mode with synchronous=FULL, but for what is forgotten. One transaction holds a record and the
 * pieces of its blob, or the key of the file that has it (journal_bulk.c), so that a crash leaves both or neither, and
 * memory stays at one piece. It also drops the blobs of a KiB or more that were forgotten since the record before: a round
 * forgets an answer, and in two transactions the answer that follows would write twice as many pages.
 *
 * Before COMMIT is asked for, a failure is certain: nothing was recorded. Once it is asked for,
 * only SQLITE_OK is an answer; anything else leaves the outcome unknown, and the handle then
 * refuses everything, because going on could spend a privacy budget twice. */

#include "io/journal_private.h"

#include "base/check.h"
#include "crypto/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum status journal_sqlite_failure(struct journal_sqlite *journal, const char *doing)
{
    int code = sqlite3_errcode(journal->database);
    const char *text = sqlite3_errmsg(journal->database);

    const int problem = sqlite3_system_errno(journal->database);

    if ((code & 0xff) == SQLITE_IOERR &&
        (problem == ENOSPC || problem == EDQUOT || problem == EFBIG)) {
        code =
            SQLITE_FULL; /* no room for the index beside its log, which SQLite does not call full */
    }
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return why_fail(&journal->trouble, STATUS_CORRUPT,
                        "%s/journal.db is damaged (%s); remedy: put a good copy of the "
                        "latest one back",
                        journal->folder, text);
    case SQLITE_FULL:
        return why_fail(&journal->trouble, STATUS_IO,
                        "%s/journal.db cannot be %s: the disk is full; remedy: make room",
                        journal->folder, doing);
    case SQLITE_NOMEM:
        return why_fail(&journal->trouble, STATUS_NO_MEMORY,
                        "%s/journal.db cannot be %s: no memory", journal->folder, doing);
    default:
        return why_fail(&journal->trouble, STATUS_IO, "%s/journal.db cannot be %s: %s",
                        journal->folder, doing, text);
    }
}

/* Runs a statement that gives no rows. */
static bool perform(struct journal_sqlite *journal, enum journal_statement which)
{
    sqlite3_stmt *statement = journal->statement[which];
    int result = sqlite3_step(statement);
    /* Read the outcome from step alone: reset repeats the same error. */
    (void)sqlite3_reset(statement);
    return result == SQLITE_DONE;
}

static bool insert_piece(struct journal_sqlite *journal, uint64_t sequence, uint64_t number,
                         struct slice bytes)
{
    sqlite3_stmt *statement = journal->statement[STATEMENT_ADD_PIECE];
    const bool done =
        sqlite3_bind_int64(statement, 1, journal_piece_id(sequence, number)) == SQLITE_OK &&
        sqlite3_bind_blob64(statement, 2, bytes.data, bytes.size, SQLITE_STATIC) == SQLITE_OK &&
        perform(journal, STATEMENT_ADD_PIECE);
    return sqlite3_clear_bindings(statement) == SQLITE_OK && done;
}

static bool insert_pieces(struct journal_sqlite *journal, uint64_t sequence, struct slice blob)
{
    const uint8_t *from = blob.data;
    size_t left = blob.size;
    bool done = true;

    for (uint64_t number = 0; done && left > 0; number++) {
        const size_t size = left < JOURNAL_PIECE_BYTES ? left : JOURNAL_PIECE_BYTES;
        done = insert_piece(journal, sequence, number, (struct slice){from, size});
        from += size;
        left -= size;
    }
    return done;
}

static bool insert_record(struct journal_sqlite *journal, const struct journal_mark *next,
                          struct slice body, struct slice blob, const struct digest *blob_digest)
{
    uint8_t place[JOURNAL_PLACE_BYTES];
    struct slice digest = journal_row_shorten(place, body, blob, blob_digest);
    sqlite3_stmt *statement = journal->statement[STATEMENT_ADD];
    bool done =
        sqlite3_bind_int64(statement, 1, (int64_t)next->sequence) == SQLITE_OK &&
        sqlite3_bind_blob64(statement, 2, body.data, body.size, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_int64(statement, 3, (int64_t)blob.size) == SQLITE_OK &&
        sqlite3_bind_blob64(statement, 4, digest.data, digest.size, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_blob(statement, 5, next->chain.byte, DIGEST_BYTES, SQLITE_STATIC) ==
            SQLITE_OK &&
        perform(journal, STATEMENT_ADD);
    return sqlite3_clear_bindings(statement) == SQLITE_OK && done;
}

/* Nothing was recorded for certain, unless even taking back fails. */
static enum status give_up(struct journal_sqlite *journal)
{
    enum status status = journal_sqlite_failure(journal, "written");
    journal->refuses = true;
    if (sqlite3_get_autocommit(journal->database) == 0 && !perform(journal, STATEMENT_ROLLBACK)) {
        status = STATUS_UNKNOWN_OUTCOME;
    }
    return status == STATUS_UNKNOWN_OUTCOME ? status : STATUS_IO;
}

static enum status commit(struct journal_sqlite *journal)
{
    if (perform(journal, STATEMENT_COMMIT)) {
        return STATUS_OK;
    }
    (void)journal_sqlite_failure(journal, "committed to");
    journal->refuses = true;
    return STATUS_UNKNOWN_OUTCOME;
}

static enum status refuse(struct journal_sqlite *journal)
{
    CHECK(!journal->read_only);
    return journal->refuses ? STATUS_UNKNOWN_OUTCOME : STATUS_OK;
}

/* Moves SQLite's log into the database and empties it, unless somebody reads the journal. */
static enum status empty_log(struct journal_sqlite *journal)
{
    const int result =
        sqlite3_wal_checkpoint_v2(journal->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    journal->log_has_secrets = result != SQLITE_OK;
    if (result == SQLITE_OK || (result & 0xff) == SQLITE_BUSY || (result & 0xff) == SQLITE_LOCKED) {
        return STATUS_OK;
    }
    (void)journal_sqlite_failure(journal, "overwritten");
    return STATUS_IO;
}

/* Drops the blobs that are to be forgotten with the transaction that is open. */
static bool drop_later(struct journal_sqlite *journal)
{
    sqlite3_stmt *drop = journal->statement[STATEMENT_DROP_PIECES];
    bool good = true;
    for (size_t i = 0; good && i < journal->later_count; i++) {
        if (journal_sqlite_may_have_bulk(journal, journal->later[i])) {
            journal->bulk_is_stale = true;
            journal->bulk_replaced = journal->later[i];
        }
        good =
            journal_bind_pieces(drop, journal->later[i]) && perform(journal, STATEMENT_DROP_PIECES);
    }
    return good;
}

static enum status append_known(void *self, uint64_t *sequence, struct slice body,
                                struct slice blob, const struct digest *digest)
{
    struct journal_sqlite *journal = self;
    struct journal_mark next = {.sequence = journal->last.sequence + 1};
    struct digest blob_digest;
    struct digest key;
    const bool is_bulk = blob.size >= JOURNAL_BULK_BYTES;

    enum status status = refuse(journal);
    if (status != STATUS_OK) {
        return status;
    }
    CHECK(body.size > 0 && body.size <= JOURNAL_BODY_BYTES_MAX);
    if (digest != NULL) {
        blob_digest = *digest;
    } else if (!is_bulk) {
        digest_tree(&blob_digest, blob);
    }
    if (is_bulk && journal_bulk_write(journal, &key, digest == NULL ? &blob_digest : NULL,
                                      next.sequence, blob) != STATUS_OK) {
        journal->refuses = true;
        return STATUS_IO;
    }
    journal_row_chain(&next.chain, &journal->last.chain, next.sequence, body, blob.size,
                      &blob_digest);
    if (!perform(journal, STATEMENT_BEGIN) || !drop_later(journal) ||
        !insert_record(journal, &next, body, blob, &blob_digest) ||
        !(is_bulk ? insert_piece(journal, next.sequence, JOURNAL_BULK_NUMBER,
                                 (struct slice){key.byte, sizeof key.byte})
                  : insert_pieces(journal, next.sequence, blob))) {
        return give_up(journal);
    }
    status = commit(journal);
    if (status != STATUS_OK) {
        return status;
    }
    journal->last = next;
    journal->later_count = 0;
    *sequence = next.sequence;
    if (journal->log_has_secrets && empty_log(journal) != STATUS_OK) {
        journal->refuses = true; /* this record is durable */
    }
    if (!is_bulk) {
        journal_bulk_drop_spare(journal);
    } else if (journal->bulk_replaced != 0) {
        journal->bulk_spare = journal->bulk_replaced;
    }
    journal->bulk_replaced = 0;
    if (journal->bulk_is_stale) {
        journal_bulk_sweep(journal);
    }
    /* The record is durable whether or not the mark follows; an old mark only guards less.
     */
    if (journal_mark_write(journal->mark_file, &next) != STATUS_OK) {
        why_set(&journal->trouble, "%s/mark cannot be written", journal->folder);
    }
    return STATUS_OK;
}

static enum status append(void *self, uint64_t *sequence, struct slice body, struct slice blob)
{
    return append_known(self, sequence, body, blob, NULL);
}

/* Nobody needs to wait for the disk: the next record's sync covers what is forgotten before it, and what a power failure
 * brings back is forgotten at the next start. */
static bool wait_for_disk(struct journal_sqlite *journal, bool wait)
{
    return sqlite3_exec(journal->database,
                        wait ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", NULL, NULL,
                        NULL) == SQLITE_OK;
}

/* Forgets what the next record was to forget, without one. */
static enum status forget_now(struct journal_sqlite *journal)
{
    if (journal->later_count == 0) {
        return STATUS_OK;
    }
    if (!wait_for_disk(journal, false) || !perform(journal, STATEMENT_BEGIN) ||
        !drop_later(journal)) {
        return give_up(journal);
    }
    const enum status status = commit(journal);
    journal->later_count = 0;
    if (!wait_for_disk(journal, true)) {
        (void)journal_sqlite_failure(journal, "set to wait for the disk");
        journal->refuses = true;
        return STATUS_UNKNOWN_OUTCOME;
    }
    return status;
}

static enum status forget(void *self, uint64_t sequence)
{
    struct journal_sqlite *journal = self;

    enum status status = refuse(journal);
    if (status != STATUS_OK || sequence == 0 || sequence > journal->last.sequence) {
        return status;
    }
    if (journal->later_count == JOURNAL_LATER_MAX) {
        status = forget_now(journal);
    }
    if (status != STATUS_OK) {
        return status;
    }
    journal->later[journal->later_count++] = sequence;
    /* What is short may be a key: of a masked round, or of a file. It goes at once. */
    return journal_sqlite_blob_is_short(journal, sequence) ? forget_now(journal) : STATUS_OK;
}

static enum status settle(void *self)
{
    struct journal_sqlite *journal = self;
    const enum status status = refuse(journal);
    return status == STATUS_OK ? forget_now(journal) : status;
}

/* What is forgotten is not shown. */
static enum status each(void *self, journal_visit *visit, void *visit_self, struct why *why)
{
    struct journal_sqlite *journal = self;
    const enum status status = journal->refuses ? STATUS_OK : forget_now(journal);
    if (status != STATUS_OK) {
        why_set(why, "%s", journal->trouble.text);
        return status;
    }
    return journal_sqlite_each(journal, visit, visit_self, why);
}

static enum status wipe(void *self, uint64_t sequence)
{
    struct journal_sqlite *journal = self;
    enum status status = refuse(journal);
    if (status != STATUS_OK) {
        return status;
    }
    status = forget(self, sequence);
    if (status == STATUS_OK) {
        status = forget_now(journal);
    }
    if (status == STATUS_OK) {
        status = empty_log(journal);
        journal->refuses = status != STATUS_OK;
    }
    return status;
}

static const char *trouble(const void *self)
{
    const struct journal_sqlite *journal = self;
    return journal->trouble.text;
}

static void close_face(void *self)
{
    struct journal_sqlite *journal = self;
    if (!journal->refuses) {
        (void)!forget_now(journal); /* else the next start asks for it again */
        journal_bulk_drop_spare(journal);
    }
    journal_sqlite_end(journal);
}

void journal_sqlite_end(struct journal_sqlite *journal)
{
    if (journal == NULL) {
        return;
    }
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        (void)sqlite3_finalize(journal->statement[i]);
    }
    (void)sqlite3_close_v2(journal->database);
    if (journal->mark_file >= 0) {
        (void)close(journal->mark_file);
    }
    if (journal->lock >= 0) {
        (void)close(journal->lock); /* last: nobody may enter before the database is closed */
    }
    random_source_free(journal->random);
    free(journal);
}

struct journal journal_sqlite_face(struct journal_sqlite *journal)
{
    return (struct journal){.self = journal,
                            .append = append,
                            .append_known = append_known,
                            .forget = forget,
                            .settle = settle,
                            .wipe = wipe,
                            .each = each,
                            .trouble = trouble,
                            .close = close_face};
}

void journal_close(struct journal *journal)
{
    if (journal != NULL && journal->close != NULL) {
        journal->close(journal->self);
        memset(journal, 0, sizeof *journal);
    }
}
