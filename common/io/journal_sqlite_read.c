/* How the journal over SQLite is read: each record is checked against its digests before it is shown. */

#include "io/journal_private.h"

#include "crypto/digest.h"

#include <stdlib.h>
#include <string.h>

int64_t journal_piece_id(uint64_t sequence, uint64_t number)
{
    return (int64_t)((sequence << JOURNAL_PIECE_BITS) | number);
}

bool journal_bind_pieces(sqlite3_stmt *statement, uint64_t sequence)
{
    return sqlite3_bind_int64(statement, 1, journal_piece_id(sequence, 0)) == SQLITE_OK &&
           sqlite3_bind_int64(statement, 2, journal_piece_id(sequence + 1, 0)) == SQLITE_OK;
}

static enum status damaged(struct journal_sqlite *journal, uint64_t sequence)
{
    return why_fail(&journal->trouble, STATUS_CORRUPT,
                    "%s/journal.db: record %llu does not match its digest; remedy: put a "
                    "good copy of the latest journal.db back",
                    journal->folder, (unsigned long long)sequence);
}

bool journal_sqlite_may_have_bulk(struct journal_sqlite *journal, uint64_t sequence)
{
    sqlite3_stmt *size = journal->statement[STATEMENT_BLOB_SIZE];
    const int64_t bulk = journal_piece_id(sequence, JOURNAL_BULK_NUMBER);
    const bool has_none = sqlite3_bind_int64(size, 1, bulk) == SQLITE_OK &&
                          sqlite3_bind_int64(size, 2, bulk + 1) == SQLITE_OK &&
                          sqlite3_step(size) == SQLITE_ROW && sqlite3_column_int64(size, 1) != bulk;
    (void)sqlite3_reset(size);
    return !has_none;
}

bool journal_sqlite_blob_is_short(struct journal_sqlite *journal, uint64_t sequence)
{
    sqlite3_stmt *size = journal->statement[STATEMENT_BLOB_SIZE];
    const bool is_long = journal_bind_pieces(size, sequence) && sqlite3_step(size) == SQLITE_ROW &&
                         sqlite3_column_int64(size, 0) >= JOURNAL_LATER_BYTES;
    (void)sqlite3_reset(size);
    return !is_long;
}

/* Reads the blob that has a file, whose key is the one piece. Beside a program that writes, the file may be gone since
 * the row was read: forgotten. */
static enum status read_bulk(struct journal_sqlite *journal, uint8_t *memory, size_t *used,
                             uint64_t sequence, uint64_t bytes)
{
    sqlite3_stmt *pieces = journal->statement[STATEMENT_PIECES];
    struct digest key = {{0}};
    enum status status = STATUS_CORRUPT;

    if (sqlite3_step(pieces) == SQLITE_ROW && sqlite3_column_bytes(pieces, 0) == DIGEST_BYTES) {
        memcpy(key.byte, sqlite3_column_blob(pieces, 0), DIGEST_BYTES);
        status = journal_bulk_read(journal, memory, sequence, bytes, &key);
    }
    (void)sqlite3_reset(pieces);
    bytes_wipe(&key, sizeof key);
    if (status == STATUS_NOT_FOUND && journal->read_only) {
        *used = 0;
        return STATUS_OK;
    }
    if (status == STATUS_NOT_FOUND || status == STATUS_CORRUPT) {
        return why_fail(
            &journal->trouble, STATUS_CORRUPT,
            "%s/bulk-%llu, which has the blob of record %llu of journal.db, is missing or damaged; "
            "remedy: put a good copy of the latest state folder back",
            journal->folder, (unsigned long long)sequence, (unsigned long long)sequence);
    }
    *used = (size_t)bytes;
    return status;
}

/* Reads a blob into memory of its own (caller frees); an empty slice when it was forgotten. */
static enum status read_blob(struct journal_sqlite *journal, struct slice *out, uint8_t **memory,
                             uint64_t sequence, uint64_t blob_bytes)
{
    sqlite3_stmt *size = journal->statement[STATEMENT_BLOB_SIZE];
    sqlite3_stmt *pieces = journal->statement[STATEMENT_PIECES];
    uint64_t there = 0;
    bool is_bulk = false;
    size_t used = 0;
    int result = SQLITE_ERROR;

    if (journal_bind_pieces(size, sequence) && (result = sqlite3_step(size)) == SQLITE_ROW) {
        is_bulk = sqlite3_column_int64(size, 1) == journal_piece_id(sequence, JOURNAL_BULK_NUMBER);
        there = is_bulk ? blob_bytes : (uint64_t)sqlite3_column_int64(size, 0);
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
    if (*memory == NULL || !journal_bind_pieces(pieces, sequence)) {
        return why_fail(&journal->trouble, STATUS_NO_MEMORY,
                        "%s/journal.db: no memory for record %llu", journal->folder,
                        (unsigned long long)sequence);
    }
    if (is_bulk) {
        const enum status status = read_bulk(journal, *memory, &used, sequence, blob_bytes);
        *out = (struct slice){*memory, used};
        return status;
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
        status = digest_is_of(&blob_digest, blob) ? STATUS_OK : damaged(journal, next.sequence);
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

enum status journal_sqlite_each(void *self, journal_visit *visit, void *visit_self, struct why *why)
{
    struct journal_sqlite *journal = self;
    struct journal_mark at = {0};
    enum status status = STATUS_OK;
    int result = SQLITE_DONE;

    if (journal->refuses) {
        return why_fail(why, STATUS_UNKNOWN_OUTCOME, "%s", journal->trouble.text);
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
