/* Reading the journal in PostgreSQL: each row is held against its digests before it is shown. */

#include "database/journal_shared_private.h"

#include "crypto/digest.h"

#include <string.h>

enum { ROWS_PER_QUESTION = 64 };

static enum status damaged(struct journal_shared *journal, uint64_t sequence)
{
    return why_fail(
        &journal->trouble, STATUS_CORRUPT,
        "%s: record %llu does not match its digest; remedy: restore the database's latest state",
        journal->place, (unsigned long long)sequence);
}

static enum status failed_to_read(struct journal_shared *journal, const struct why *why)
{
    return why_fail(&journal->trouble, STATUS_IO, "%s: %s", journal->place, why->text);
}

/* Checks one row against its digests and shows it. */
static enum status visit_row(struct journal_shared *journal, struct journal_mark *at,
                             const struct pg_result *rows, size_t row, journal_visit *visit,
                             void *visit_self)
{
    const struct slice body = database_bytes(rows, row, 1);
    const struct slice digest = database_bytes(rows, row, 3);
    const struct slice chain = database_bytes(rows, row, 4);
    const uint64_t blob_bytes = (uint64_t)database_number(rows, row, 2);
    struct journal_mark next = {.sequence = at->sequence + 1};
    struct pg_result *found = NULL;
    struct digest blob_digest;
    struct slice blob = {NULL, 0};
    struct why why = {""};
    enum status status = STATUS_OK;

    if ((uint64_t)database_number(rows, row, 0) != next.sequence || body.size == 0 ||
        digest.size != DIGEST_BYTES || chain.size != DIGEST_BYTES) {
        return damaged(journal, next.sequence);
    }
    memcpy(blob_digest.byte, digest.data, DIGEST_BYTES);
    journal_row_chain(&next.chain, &at->chain, next.sequence, body, blob_bytes, &blob_digest);
    if (memcmp(next.chain.byte, chain.data, DIGEST_BYTES) != 0) {
        return damaged(journal, next.sequence);
    }
    if (blob_bytes > 0) {
        const struct database_value value = database_of_number((int64_t)next.sequence);
        status =
            database_ask(journal->database, &found,
                         "SELECT bytes FROM hedgerow_blob WHERE sequence = $1", &value, 1, &why);
        if (status != STATUS_OK) {
            return failed_to_read(journal, &why);
        }
        blob = database_bytes(found, 0, 0);
    }
    if (blob.size > 0) {
        struct digest is;
        digest_sha256(&is, &blob, 1);
        if (blob.size != blob_bytes || !digest_equal(&is, &blob_digest)) {
            status = damaged(journal, next.sequence);
        }
    }
    if (status == STATUS_OK) {
        status = visit(visit_self, next.sequence, body, blob);
        *at = next;
    }
    database_answer_free(found);
    return status;
}

/* A coordinator that was stopped between opening and reading finds what another leader has added: no damage, and no journal of
 * its own. */
static enum status check_end(struct journal_shared *journal, const struct journal_mark *at)
{
    if (at->sequence > journal->last.sequence) {
        return journal_shared_led_by_another(journal);
    }
    return at->sequence < journal->last.sequence ? damaged(journal, at->sequence + 1) : STATUS_OK;
}

enum status journal_shared_read_on(struct journal_shared *journal, struct journal_mark *at,
                                   journal_visit *visit, void *visit_self, struct why *why)
{
    struct why cause = {""};
    size_t rows = ROWS_PER_QUESTION;
    enum status status = STATUS_OK;

    if (journal->refuses) {
        return why_fail(why, STATUS_UNKNOWN_OUTCOME, "%s", journal->trouble.text);
    }
    while (status == STATUS_OK && rows == ROWS_PER_QUESTION) {
        const struct database_value value[] = {database_of_number((int64_t)at->sequence),
                                               database_of_number(ROWS_PER_QUESTION)};
        struct pg_result *found = NULL;
        status = database_ask(journal->database, &found,
                              "SELECT sequence, body, blob_bytes, blob_digest, chain"
                              " FROM hedgerow_record WHERE sequence > $1"
                              " ORDER BY sequence LIMIT $2",
                              value, 2, &cause);
        if (status != STATUS_OK) {
            status = failed_to_read(journal, &cause);
            break;
        }
        rows = database_rows(found);
        for (size_t row = 0; status == STATUS_OK && row < rows; row++) {
            status = visit_row(journal, at, found, row, visit, visit_self);
        }
        database_answer_free(found);
    }
    if (status == STATUS_OK && journal->lease != NULL) {
        status = check_end(journal, at);
    }
    if (status != STATUS_OK) {
        why_set(why, "%s",
                journal->trouble.text[0] != '\0' ? journal->trouble.text : status_text(status));
    }
    return status;
}

enum status journal_shared_each(void *self, journal_visit *visit, void *visit_self, struct why *why)
{
    struct journal_shared *journal = self;
    struct journal_mark at = {0};
    const enum status status = journal_shared_read_on(journal, &at, visit, visit_self, why);
    journal->read = at;
    return status;
}
