/* The journal over SQLite in WAL mode with synchronous=FULL, but for what is forgotten. One transaction holds a record and the
 * pieces of its blob, so that a crash leaves both or neither, and memory stays at one piece.
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
        why_set(&journal->trouble,
                "%s/journal.db is damaged (%s); remedy: put a good copy of the "
                "latest one back",
                journal->folder, text);
        return STATUS_CORRUPT;
    case SQLITE_FULL:
        why_set(&journal->trouble,
                "%s/journal.db cannot be %s: the disk is full; remedy: make room", journal->folder,
                doing);
        return STATUS_IO;
    case SQLITE_NOMEM:
        why_set(&journal->trouble, "%s/journal.db cannot be %s: no memory", journal->folder, doing);
        return STATUS_NO_MEMORY;
    default:
        why_set(&journal->trouble, "%s/journal.db cannot be %s: %s", journal->folder, doing, text);
        return STATUS_IO;
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

static int64_t piece_id(uint64_t sequence, uint64_t number)
{
    return (int64_t)((sequence << JOURNAL_PIECE_BITS) | number);
}

static bool bind_pieces_of(sqlite3_stmt *statement, uint64_t sequence)
{
    return sqlite3_bind_int64(statement, 1, piece_id(sequence, 0)) == SQLITE_OK &&
           sqlite3_bind_int64(statement, 2, piece_id(sequence + 1, 0)) == SQLITE_OK;
}

static bool insert_pieces(struct journal_sqlite *journal, uint64_t sequence, struct slice blob)
{
    sqlite3_stmt *statement = journal->statement[STATEMENT_ADD_PIECE];
    const uint8_t *from = blob.data;
    size_t left = blob.size;
    bool done = true;

    for (uint64_t number = 0; done && left > 0; number++) {
        size_t size = left < JOURNAL_PIECE_BYTES ? left : JOURNAL_PIECE_BYTES;
        done = sqlite3_bind_int64(statement, 1, piece_id(sequence, number)) == SQLITE_OK &&
               sqlite3_bind_blob64(statement, 2, from, size, SQLITE_STATIC) == SQLITE_OK &&
               perform(journal, STATEMENT_ADD_PIECE);
        from += size;
        left -= size;
    }
    return sqlite3_clear_bindings(statement) == SQLITE_OK && done;
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

static enum status append(void *self, uint64_t *sequence, struct slice body, struct slice blob)
{
    struct journal_sqlite *journal = self;
    struct journal_mark next = {.sequence = journal->last.sequence + 1};
    struct digest blob_digest;

    enum status status = refuse(journal);
    if (status != STATUS_OK) {
        return status;
    }
    CHECK(body.size > 0 && body.size <= JOURNAL_BODY_BYTES_MAX);
    CHECK(blob.size <= ((uint64_t)JOURNAL_PIECE_BYTES << JOURNAL_PIECE_BITS));
    digest_sha256(&blob_digest, &blob, 1);
    journal_row_chain(&next.chain, &journal->last.chain, next.sequence, body, blob.size,
                      &blob_digest);
    if (!perform(journal, STATEMENT_BEGIN) ||
        !insert_record(journal, &next, body, blob, &blob_digest) ||
        !insert_pieces(journal, next.sequence, blob)) {
        return give_up(journal);
    }
    status = commit(journal);
    if (status != STATUS_OK) {
        return status;
    }
    journal->last = next;
    *sequence = next.sequence;
    if (journal->log_has_secrets && journal_sqlite_empty_log(journal) != STATUS_OK) {
        journal->refuses = true; /* this record is durable */
    }
    /* The record is durable whether or not the mark follows; a mark left behind only guards less.
     */
    if (journal_mark_write(journal->mark_file, &next) != STATUS_OK) {
        why_set(&journal->trouble, "%s/mark cannot be written", journal->folder);
    }
    return STATUS_OK;
}

/* Between a round's end and the next answer nobody needs to wait for the disk: the next record's sync covers what is
 * forgotten before it, and what a power failure brings back is forgotten at the next start. */
static bool wait_for_disk(struct journal_sqlite *journal, bool wait)
{
    return sqlite3_exec(journal->database,
                        wait ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", NULL, NULL,
                        NULL) == SQLITE_OK;
}

enum status journal_sqlite_empty_log(struct journal_sqlite *journal)
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

static enum status drop_pieces(struct journal_sqlite *journal, uint64_t sequence)
{
    if (!perform(journal, STATEMENT_BEGIN) ||
        !bind_pieces_of(journal->statement[STATEMENT_DROP_PIECES], sequence) ||
        !perform(journal, STATEMENT_DROP_PIECES)) {
        return give_up(journal);
    }
    return commit(journal);
}

static enum status forget(void *self, uint64_t sequence)
{
    struct journal_sqlite *journal = self;

    enum status status = refuse(journal);
    if (status != STATUS_OK) {
        return status;
    }
    if (sequence == 0 || sequence > journal->last.sequence) {
        return STATUS_OK;
    }
    if (!wait_for_disk(journal, false)) {
        return give_up(journal);
    }
    status = drop_pieces(journal, sequence);
    if (!wait_for_disk(journal, true)) {
        (void)journal_sqlite_failure(journal, "set to wait for the disk");
        journal->refuses = true;
        return STATUS_UNKNOWN_OUTCOME;
    }
    return status;
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
        status = journal_sqlite_empty_log(journal);
        journal->refuses = status != STATUS_OK;
    }
    return status;
}

static enum status damaged(struct journal_sqlite *journal, uint64_t sequence)
{
    why_set(&journal->trouble,
            "%s/journal.db: record %llu does not match its digest; remedy: put a "
            "good copy of the latest journal.db back",
            journal->folder, (unsigned long long)sequence);
    return STATUS_CORRUPT;
}

/* Reads a blob into memory of its own (caller frees); an empty slice when it was forgotten. */
static enum status read_blob(struct journal_sqlite *journal, struct slice *out, uint8_t **memory,
                             uint64_t sequence, uint64_t blob_bytes)
{
    sqlite3_stmt *size = journal->statement[STATEMENT_BLOB_SIZE];
    sqlite3_stmt *pieces = journal->statement[STATEMENT_PIECES];
    uint64_t there = 0;
    size_t used = 0;
    int result = SQLITE_ERROR;

    if (bind_pieces_of(size, sequence) && (result = sqlite3_step(size)) == SQLITE_ROW) {
        there = (uint64_t)sqlite3_column_int64(size, 0);
    }
    (void)sqlite3_reset(size);
    if (result != SQLITE_ROW) {
        return journal_sqlite_failure(journal, "read");
    }
    if (there == 0) {
        return STATUS_OK;
    }
    if (there != blob_bytes) {
        return damaged(journal, sequence);
    }
    *memory = malloc(there);
    if (*memory == NULL || !bind_pieces_of(pieces, sequence)) {
        why_set(&journal->trouble, "%s/journal.db: no memory for record %llu", journal->folder,
                (unsigned long long)sequence);
        return STATUS_NO_MEMORY;
    }
    while ((result = sqlite3_step(pieces)) == SQLITE_ROW) {
        size_t bytes = (size_t)sqlite3_column_bytes(pieces, 0);
        if (bytes > there - used) {
            break;
        }
        if (bytes > 0) {
            memcpy(*memory + used, sqlite3_column_blob(pieces, 0), bytes);
        }
        used += bytes;
    }
    enum status status = STATUS_OK;
    if (result != SQLITE_DONE && result != SQLITE_ROW) {
        status = journal_sqlite_failure(journal, "read");
    } else if (used != there || result == SQLITE_ROW) {
        status = damaged(journal, sequence);
    }
    (void)sqlite3_reset(pieces);
    *out = (struct slice){*memory, used};
    return status;
}

/* Checks the row that STATEMENT_ALL stands at against its digests and shows it. */
static enum status visit_row(struct journal_sqlite *journal, struct journal_mark *at,
                             journal_visit *visit, void *visit_self)
{
    sqlite3_stmt *row = journal->statement[STATEMENT_ALL];
    struct slice blob = {NULL, 0};
    uint8_t *memory = NULL;
    struct digest blob_digest;
    struct digest found;
    struct journal_mark next = {.sequence = at->sequence + 1};

    struct slice body = {sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1)};
    uint64_t blob_bytes = (uint64_t)sqlite3_column_int64(row, 2);
    if ((uint64_t)sqlite3_column_int64(row, 0) != next.sequence || body.size == 0 ||
        sqlite3_column_bytes(row, 4) != DIGEST_BYTES) {
        return damaged(journal, next.sequence);
    }
    struct slice stored = {sqlite3_column_blob(row, 3), (size_t)sqlite3_column_bytes(row, 3)};
    if (!journal_row_expand(&blob_digest, stored, body, blob_bytes)) {
        return damaged(journal, next.sequence);
    }
    memcpy(found.byte, sqlite3_column_blob(row, 4), DIGEST_BYTES);
    journal_row_chain(&next.chain, &at->chain, next.sequence, body, blob_bytes, &blob_digest);
    if (!digest_equal(&found, &next.chain)) {
        return damaged(journal, next.sequence);
    }
    enum status status = read_blob(journal, &blob, &memory, next.sequence, blob_bytes);
    if (status == STATUS_OK && blob.size > 0) {
        digest_sha256(&found, &blob, 1);
        if (!digest_equal(&found, &blob_digest)) {
            status = damaged(journal, next.sequence);
        }
    }
    if (status == STATUS_OK) {
        status = visit(visit_self, next.sequence, body, blob);
        *at = next;
    }
    if (memory != NULL) {
        bytes_wipe(memory, (size_t)blob_bytes); /* it may be what opens masks */
    }
    free(memory);
    return status;
}

static enum status each(void *self, journal_visit *visit, void *visit_self, struct why *why)
{
    struct journal_sqlite *journal = self;
    struct journal_mark at = {0};
    enum status status = STATUS_OK;
    int result = SQLITE_DONE;

    if (journal->refuses) {
        why_set(why, "%s", journal->trouble.text);
        return STATUS_UNKNOWN_OUTCOME;
    }
    journal->trouble.text[0] = '\0';
    /* The open statement holds one snapshot, also for the pieces: a program may append meanwhile.
     */
    while (status == STATUS_OK &&
           (result = sqlite3_step(journal->statement[STATEMENT_ALL])) == SQLITE_ROW) {
        status = visit_row(journal, &at, visit, visit_self);
    }
    if (status == STATUS_OK && result != SQLITE_DONE) {
        status = journal_sqlite_failure(journal, "read");
    }
    (void)sqlite3_reset(journal->statement[STATEMENT_ALL]);
    if (status == STATUS_OK && !journal->read_only && at.sequence != journal->last.sequence) {
        status = damaged(journal, at.sequence + 1);
    }
    if (status != STATUS_OK) {
        why_set(why, "%s",
                journal->trouble.text[0] != '\0' ? journal->trouble.text : status_text(status));
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
    journal_sqlite_end(self);
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
    free(journal);
}

struct journal journal_sqlite_face(struct journal_sqlite *journal)
{
    return (struct journal){.self = journal,
                            .append = append,
                            .forget = forget,
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
