/* The journal in PostgreSQL: opening it, and writing. Any number of coordinators share one; one of them leads by a lease.
 *
 *   hedgerow_lease    one row: kind, version, term, who leads, until when (by the server's clock)
 *   hedgerow_record   sequence, body, blob_bytes, blob_digest, chain: as in the SQLite journal, with SHA-256 for every blob
 *   hedgerow_blob     sequence, bytes: until it is forgotten
 *
 * Opening raises the term. Every statement that writes holds the lease's row first and goes on only if the term is still its
 * own (LEASE_HELD): any number of them at once, and nobody raises the term meanwhile. So a leader that was stopped and wakes up writes nothing, whatever its clock says: `until` decides alone who may
 * try to lead. The same settles a commit whose outcome is unknown. Opening again waits for the row, so the old statement has
 * either ended, and its record is there, or has yet to begin, and will find another term.
 *
 * The journals of a queue's jobs (jobs.h) have the queue's lease in common: hedgerow_lease is the queue's, and record and blob
 * are in a schema of the job's, which stands first in the search path of the journal's connection. Opening one of them does
 * not raise the term. So a commit whose outcome is unknown makes the lease doubtful (lease_doubt): the leader has to take the
 * lead anew, which raises it. */

#include "database/journal_shared_private.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "database/job_schema.h"
#include "database/jobs.h"

#include <stdlib.h>
#include <string.h>

/* Two coordinators may begin at once: the first makes the tables while the second waits. */
#define LOCKED "DO $$ BEGIN PERFORM pg_advisory_xact_lock(7522713, 1);"
#define RECORDS                                                                                    \
    " CREATE TABLE hedgerow_record (sequence bigint PRIMARY KEY, body bytea NOT NULL,"             \
    " blob_bytes bigint NOT NULL, blob_digest bytea NOT NULL, chain bytea NOT NULL);"              \
    " CREATE TABLE hedgerow_blob (sequence bigint PRIMARY KEY, bytes bytea NOT NULL);"             \
    " ALTER TABLE hedgerow_record ALTER body SET STORAGE EXTERNAL;"                                \
    " ALTER TABLE hedgerow_blob ALTER bytes SET STORAGE EXTERNAL;"                                 \
    " CREATE FUNCTION hedgerow_stays() RETURNS trigger LANGUAGE plpgsql AS"                        \
    " 'BEGIN RAISE EXCEPTION ''a journal is append-only''; END';"                                  \
    " CREATE TRIGGER stays BEFORE UPDATE OR DELETE OR TRUNCATE ON hedgerow_record"                 \
    " EXECUTE FUNCTION hedgerow_stays();"                                                          \
    " CREATE TRIGGER unchanged BEFORE UPDATE OR TRUNCATE ON hedgerow_blob"                         \
    " EXECUTE FUNCTION hedgerow_stays();"

static const char schema[] = LOCKED " IF to_regclass('hedgerow_lease') IS NULL THEN"
                                    " CREATE TABLE hedgerow_lease (" LEASE_COLUMNS ");" RECORDS
                                    " END IF;" LEASE_KEY " END $$";
/* In a job's schema, which stands first in the path. */
static const char schema_of_job[] =
    LOCKED " IF to_regclass('hedgerow_record') IS NULL THEN" RECORDS " END IF; END $$";

static enum status refuse(struct journal_shared *journal)
{
    CHECK(journal->lease != NULL);
    return journal->refuses ? STATUS_UNKNOWN_OUTCOME : STATUS_OK;
}

enum status journal_shared_led_by_another(struct journal_shared *journal)
{
    return why_fail(&journal->trouble, STATUS_IO,
                    "%s: another coordinator leads by now; nothing was written", journal->place);
}

/* Performs a statement that begins with LEASE_HELD and answers with one number: whether the term was ours. */
static enum status perform(struct journal_shared *journal, const char *statement,
                           const struct database_value *value, size_t count)
{
    struct pg_result *answer = NULL;
    struct why why = {""};
    enum status status = database_ask(journal->database, &answer, statement, value, count, &why);
    const bool is_led_by_another = status == STATUS_OK && database_number(answer, 0, 0) != 1;

    if (status != STATUS_OK) {
        why_set(&journal->trouble, "%s: %s", journal->place, why.text);
    } else if (is_led_by_another) {
        status = journal_shared_led_by_another(journal);
    }
    database_answer_free(answer);
    journal->refuses = status != STATUS_OK;
    if (journal->job > 0 && (status == STATUS_UNKNOWN_OUTCOME || is_led_by_another)) {
        lease_doubt(journal->lease);
    }
    return status;
}

static enum status append(void *self, uint64_t *sequence, struct slice body, struct slice blob)
{
    static const char statement[] =
        LEASE_HELD ", added AS (INSERT INTO hedgerow_record"
                   " SELECT $2, $3, $4, $5, $6 FROM held RETURNING 1),"
                   " kept AS (INSERT INTO hedgerow_blob SELECT $2, $7 FROM held WHERE $4 > 0)"
                   " SELECT count(*) FROM added";
    struct journal_shared *journal = self;
    struct journal_mark next = {.sequence = journal->last.sequence + 1};
    struct digest digest;

    enum status status = refuse(journal);
    if (status != STATUS_OK) {
        return status;
    }
    CHECK(body.size > 0 && body.size <= JOURNAL_BODY_BYTES_MAX);
    digest_sha256(&digest, &blob, 1);
    journal_row_chain(&next.chain, &journal->last.chain, next.sequence, body, blob.size, &digest);
    const struct database_value value[] = {
        database_of_number(journal->term),
        database_of_number((int64_t)next.sequence),
        database_of_bytes(body),
        database_of_number((int64_t)blob.size),
        database_of_bytes((struct slice){digest.byte, DIGEST_BYTES}),
        database_of_bytes((struct slice){next.chain.byte, DIGEST_BYTES}),
        database_of_bytes(blob.size > 0 ? blob : (struct slice){"", 0}),
    };
    status = perform(journal, statement, value, sizeof value / sizeof value[0]);
    if (status == STATUS_OK) {
        journal->last = next;
        *sequence = next.sequence;
    }
    return status;
}

static enum status forget(void *self, uint64_t sequence)
{
    static const char statement[] =
        LEASE_HELD ", gone AS (DELETE FROM hedgerow_blob WHERE sequence = $2"
                   " AND EXISTS (SELECT FROM held)) SELECT count(*) FROM held";
    struct journal_shared *journal = self;

    enum status status = refuse(journal);
    if (status != STATUS_OK || sequence == 0 || sequence > journal->last.sequence) {
        return status;
    }
    const struct database_value value[] = {database_of_number(journal->term),
                                           database_of_number((int64_t)sequence)};
    return perform(journal, statement, value, sizeof value / sizeof value[0]);
}

/* A server keeps old rows and its own log: nothing here could overwrite them. A coordinator's records hold no secret. */
static enum status wipe(void *self, UNUSED uint64_t sequence)
{
    struct journal_shared *journal = self;
    why_set(&journal->trouble, "%s: a database cannot overwrite a secret", journal->place);
    journal->refuses = true;
    return STATUS_IO;
}

enum status journal_shared_follow(const struct journal *journal, journal_visit *visit,
                                  void *visit_self, struct why *why)
{
    struct journal_shared *shared = journal->self;
    CHECK(journal->append == append && shared->lease == NULL);
    return journal_shared_read_on(shared, &shared->read, visit, visit_self, why);
}

static const char *trouble(const void *self)
{
    const struct journal_shared *journal = self;
    return journal->trouble.text;
}

static void end(void *self)
{
    struct journal_shared *journal = self;
    if (journal != NULL) {
        if (journal->job == 0) {
            lease_free(journal->lease); /* first: it gives the lease back */
        }
        database_close(journal->database);
        free(journal);
    }
}

/* Whose journal is it, and of which version? */
static enum status recognise(struct journal_shared *journal, const char *kind, struct why *why)
{
    struct pg_result *answer = NULL;
    enum status status = database_ask(journal->database, &answer,
                                      "SELECT kind, version FROM hedgerow_lease", NULL, 0, why);
    if (status == STATUS_OK) {
        const struct slice found = database_bytes(answer, 0, 0);
        if (found.size != strlen(kind) || memcmp(found.data, kind, found.size) != 0) {
            status = why_refuse(why,
                                "it has the journal of another program (%.*s); remedy: give "
                                "each program a database of its own",
                                (int)found.size, (const char *)found.data);
        } else if (database_number(answer, 0, 1) > LEASE_VERSION) {
            status =
                why_fail(why, STATUS_UNSUPPORTED,
                         "its journal has version %lld, this program knows %d; remedy: use the "
                         "hedgerow that wrote it, or a later one",
                         (long long)database_number(answer, 0, 1), (int)LEASE_VERSION);
        }
    }
    database_answer_free(answer);
    return status;
}

/* Makes the tables where they are missing, with a lease that nobody holds: a job's of a queue alone, which has the lease. A
 * server that does not wait for its disk would lose what it has acknowledged. */
static enum status prepare(struct journal_shared *journal, const char *kind, struct why *why)
{
    const struct database_value value[] = {database_of_words(kind),
                                           database_of_number(LEASE_VERSION)};
    enum status status = database_is_durable(journal->database, why);

    if (status == STATUS_OK && journal->job > 0) {
        return database_ask(journal->database, NULL, schema_of_job, NULL, 0, why);
    }
    if (status == STATUS_OK) {
        status = database_ask(journal->database, NULL, schema, NULL, 0, why);
    }
    if (status == STATUS_OK) {
        status = database_ask(journal->database, NULL,
                              "INSERT INTO hedgerow_lease (kind, version, term, holder, until)"
                              " VALUES (convert_from($1, 'UTF8'), $2, 0, '', '-infinity')"
                              " ON CONFLICT DO NOTHING",
                              value, 2, why);
    }
    return status;
}

static enum status is_begun(struct journal_shared *journal, struct why *why)
{
    struct pg_result *answer = NULL;
    enum status status = database_ask(
        journal->database, &answer,
        journal->job > 0 ? "SELECT (to_regclass('hedgerow_record') IS NOT NULL)::int::bigint"
                         : "SELECT (to_regclass('hedgerow_lease') IS NOT NULL)::int::bigint",
        NULL, 0, why);
    if (status == STATUS_OK && database_number(answer, 0, 0) != 1) {
        status = why_fail(why, STATUS_NOT_FOUND, "there is no journal in it yet");
    }
    database_answer_free(answer);
    return status;
}

static enum status find_end(struct journal_shared *journal, struct why *why)
{
    struct pg_result *answer = NULL;
    enum status status = database_ask(
        journal->database, &answer,
        "SELECT sequence, chain FROM hedgerow_record ORDER BY sequence DESC LIMIT 1", NULL, 0, why);
    if (status == STATUS_OK && database_rows(answer) == 1) {
        const struct slice chain = database_bytes(answer, 0, 1);
        journal->last.sequence = (uint64_t)database_number(answer, 0, 0);
        if (chain.size == DIGEST_BYTES) {
            memcpy(journal->last.chain.byte, chain.data, DIGEST_BYTES);
        }
    }
    database_answer_free(answer);
    return status;
}

static enum status open_all(struct journal_shared *journal, const struct journal_options *options,
                            struct why *why)
{
    const struct journal_part *part = &options->part;
    enum status status = database_open(&journal->database, options->place, why);

    journal->job = part->job;
    if (status == STATUS_OK && part->job > 0) {
        status = job_schema_enter(journal->database, part->job, !options->read_only, why);
    }
    if (status == STATUS_OK) {
        status = options->read_only ? is_begun(journal, why) : prepare(journal, options->kind, why);
    }
    if (status == STATUS_OK) {
        status = recognise(journal, part->job > 0 ? JOBS_KIND : options->kind, why);
    }
    if (status == STATUS_OK && part->job > 0 && !options->read_only) {
        journal->lease = part->lease;
        journal->term = part->term;
    } else if (status == STATUS_OK && !options->read_only) {
        status =
            lease_take(&journal->lease, &journal->term, journal->database, options->place, why);
    }
    if (status == STATUS_OK) {
        status = find_end(journal, why);
    }
    /* While a journal is opened nothing is written, and the opener tries again. What the server refuses about one job of a
     * queue, the others do not wait for. */
    const bool is_refused = status == STATUS_IO && part->job > 0;
    return (status == STATUS_IO && !is_refused) || status == STATUS_UNKNOWN_OUTCOME ? STATUS_AGAIN
                                                                                    : status;
}

enum status journal_shared_open(struct journal *out, const struct journal_options *options,
                                struct why *why)
{
    struct journal_shared *journal = calloc(1, sizeof *journal);
    struct why cause = {""};

    memset(out, 0, sizeof *out);
    if (journal == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "no memory for the journal");
    }
    database_describe(journal->place, sizeof journal->place, options->place);
    enum status status = open_all(journal, options, &cause);
    if (status != STATUS_OK) {
        if (strncmp(cause.text, journal->place, strlen(journal->place)) == 0) {
            why_set(why, "%s", cause.text);
        } else {
            why_set(why, "%s: %s", journal->place, cause.text);
        }
        end(journal);
        return status;
    }
    *out = (struct journal){.self = journal,
                            .waits = true,
                            .append = append,
                            .forget = forget,
                            .wipe = wipe,
                            .each = journal_shared_each,
                            .trouble = trouble,
                            .close = end};
    return STATUS_OK;
}

int64_t journal_term(const struct journal *journal)
{
    const struct journal_shared *shared = journal->self;
    CHECK(journal->append == append && shared->lease != NULL);
    return shared->term;
}

bool journal_is_lost(const struct journal *journal)
{
    const struct journal_shared *shared = journal->self;
    CHECK(journal->append == append);
    return lease_is_lost(shared->lease);
}
