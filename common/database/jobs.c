/* A queue in PostgreSQL:
 *
 *   hedgerow_lease     one row, as a journal's: who leads the queue
 *   hedgerow_queue     one row: the latest number that was given
 *   hedgerow_job       number, text, who submitted it; who cancelled it; whether it has begun; under which term it is led; why
 *                      it is set aside, and under which term; how it ended
 *   hedgerow_result    job, name, piece, bytes: the files of its results, in pieces of 1 MiB
 *   hedgerow_declined  job, coordinator, names of its agents that decline the job, and when it said so (jobs_declined.c)
 *   NAME_job_7.*       the journal of job 7, in a schema of its own (job_schema.h, journal_shared.c)
 *
 * A submission has an id of its own, which the database keeps once: a statement whose outcome is unknown is performed again.
 * So is every other one here, and none does more the second time. What the leader alone may do finds its term in the lease's
 * row, and holds that row until it is committed. */

#include "database/jobs_private.h"

#include <stdlib.h>

static const char schema[] =
    "DO $$ BEGIN"
    " PERFORM pg_advisory_xact_lock(7522713, 1);"
    " IF to_regclass('hedgerow_lease') IS NULL THEN"
    " CREATE TABLE hedgerow_lease (" LEASE_COLUMNS ");"
    " INSERT INTO hedgerow_lease (kind, version, term, holder, until)"
    " VALUES ('" JOBS_KIND "', " LEASE_VERSION_TEXT ", 0, '', '-infinity');"
    " CREATE TABLE hedgerow_queue (one boolean PRIMARY KEY DEFAULT true CHECK (one),"
    " last bigint NOT NULL);"
    " INSERT INTO hedgerow_queue (last) VALUES (0);"
    " CREATE TABLE hedgerow_job (number bigint PRIMARY KEY, text bytea NOT NULL,"
    " submitter text NOT NULL, submission bytea NOT NULL, submitted text NOT NULL,"
    " cancel text, begun boolean NOT NULL DEFAULT false, ending bytea,"
    " UNIQUE (submitter, submission));"
    " CREATE TABLE hedgerow_result (job bigint, name text, piece bigint, bytes bytea NOT NULL,"
    " PRIMARY KEY (job, name, piece));"
    " ALTER TABLE hedgerow_result ALTER bytes SET STORAGE EXTERNAL;"
    " END IF;"
    " IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('hedgerow_job')"
    " AND attname = 'led') AND to_regclass('hedgerow_job') IS NOT NULL THEN"
    " ALTER TABLE hedgerow_job ADD led bigint;" /* not in a queue of an earlier hedgerow */
    " END IF;"
    " IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('hedgerow_job')"
    " AND attname = 'aside') AND to_regclass('hedgerow_job') IS NOT NULL THEN"
    " ALTER TABLE hedgerow_job ADD aside text, ADD aside_term bigint;" /* likewise */
    " END IF;"
    " IF to_regclass('hedgerow_declined') IS NULL AND to_regclass('hedgerow_job') IS NOT NULL THEN"
    " CREATE TABLE hedgerow_declined (job bigint, holder bytea, names text NOT NULL,"
    " told timestamptz NOT NULL, PRIMARY KEY (job, holder));" /* likewise */
    " END IF;" LEASE_KEY " END $$";

enum status jobs_new(struct jobs **out, const char *url, struct why *why)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    *out = NULL;
    if (jobs == NULL || strlen(url) >= sizeof jobs->url) {
        why_set(why, "no memory for the queue, or its URL is too long");
        free(jobs);
        return STATUS_NO_MEMORY;
    }
    memcpy(jobs->url, url, strlen(url));
    database_describe(jobs->place, sizeof jobs->place, url);
    *out = jobs;
    return STATUS_OK;
}

enum status jobs_beside(struct jobs **out, const struct jobs *of, struct why *why)
{
    const enum status status = jobs_new(out, of->url, why);
    if (status == STATUS_OK) {
        (*out)->lease = of->lease;
        (*out)->borrows = true;
        (*out)->term = of->term;
        (*out)->collects = of->collects;
    }
    return status;
}

static void unlead(struct jobs *jobs)
{
    if (!jobs->borrows) {
        lease_free(jobs->lease);
    }
    jobs->lease = NULL;
}

void jobs_free(struct jobs *jobs)
{
    if (jobs != NULL) {
        jobs_unfollow(jobs);
        unlead(jobs);
        database_close(jobs->database);
        free(jobs);
    }
}

/* Whose is it, and of which version? */
static enum status recognise(struct jobs *jobs, struct why *why)
{
    struct pg_result *answer = NULL;
    enum status status = database_ask(jobs->database, &answer,
                                      "SELECT kind, version FROM hedgerow_lease", NULL, 0, why);
    if (status == STATUS_OK) {
        const struct slice kind = database_bytes(answer, 0, 0);
        if (kind.size != strlen(JOBS_KIND) || memcmp(kind.data, JOBS_KIND, kind.size) != 0) {
            status = why_refuse(why, "it has the journal of one job; remedy: give the queue a "
                                     "database of its own");
        } else if (database_number(answer, 0, 1) > LEASE_VERSION) {
            status = why_fail(
                why, STATUS_UNSUPPORTED,
                "its queue has version %lld, this program knows %d; remedy: use the hedgerow "
                "that wrote it, or a later one",
                (long long)database_number(answer, 0, 1), (int)LEASE_VERSION);
        }
    }
    database_answer_free(answer);
    return status;
}

static void disconnect(struct jobs *jobs)
{
    database_close(jobs->database);
    jobs->database = NULL;
}

void jobs_rest(struct jobs *jobs)
{
    disconnect(jobs);
}

static enum status connect(struct jobs *jobs, struct why *why)
{
    if (jobs->database != NULL) {
        return STATUS_OK;
    }
    enum status status = database_open(&jobs->database, jobs->url, why);
    if (status == STATUS_OK) {
        status = job_schema_find(jobs->own, jobs->database, why);
    }
    if (status == STATUS_OK) {
        status = database_is_durable(jobs->database, why);
    }
    if (status == STATUS_OK) {
        status = database_ask(jobs->database, NULL, schema, NULL, 0, why);
    }
    if (status == STATUS_OK) {
        status = recognise(jobs, why);
    }
    if (status != STATUS_OK) {
        disconnect(jobs);
    }
    return status;
}

/* What the server says of itself is told with its name, once. */
static enum status tell(const struct jobs *jobs, enum status status, const struct why *cause,
                        struct why *why)
{
    if (status != STATUS_OK && strncmp(cause->text, jobs->place, strlen(jobs->place)) == 0) {
        why_set(why, "%s", cause->text);
    } else if (status != STATUS_OK) {
        why_set(why, "%s: %s", jobs->place, cause->text);
    }
    return status == STATUS_IO || status == STATUS_UNKNOWN_OUTCOME ? STATUS_AGAIN : status;
}

static enum status ask(struct jobs *jobs, struct pg_result **answer, const char *statement,
                       const struct database_value *value, size_t count, struct why *cause)
{
    enum status status = STATUS_UNKNOWN_OUTCOME;
    for (int i = 0; i < 2 && status == STATUS_UNKNOWN_OUTCOME; i++) {
        status = connect(jobs, cause);
        if (status != STATUS_OK) {
            return status == STATUS_IO ? STATUS_AGAIN : status;
        }
        status = database_ask(jobs->database, answer, statement, value, count, cause);
        if (status == STATUS_UNKNOWN_OUTCOME) {
            disconnect(jobs);
        }
    }
    return status;
}

enum status jobs_ask(struct jobs *jobs, struct pg_result **answer, const char *statement,
                     const struct database_value *value, size_t count, struct why *why)
{
    struct why cause = {""};
    const enum status status = ask(jobs, answer, statement, value, count, &cause);
    return tell(jobs, status, &cause, why);
}

enum status jobs_ask_of_job(struct jobs *jobs, struct pg_result **answer, const char *statement,
                            const struct database_value *value, size_t count, struct why *why)
{
    struct why cause = {""};
    const enum status status = ask(jobs, answer, statement, value, count, &cause);
    const enum status told = tell(jobs, status, &cause, why);
    return status == STATUS_IO ? STATUS_IO : told;
}

enum status jobs_ready(struct jobs *jobs, struct why *why)
{
    return jobs_ask(jobs, NULL, "SELECT 1", NULL, 0, why);
}

enum status jobs_lead(struct jobs *jobs, struct why *why)
{
    struct why cause = {""};
    unlead(jobs);
    enum status status = jobs_may_lead(jobs, why);
    if (status == STATUS_OK) {
        status = lease_take(&jobs->lease, &jobs->term, jobs->database, jobs->url, &cause);
        if (status == STATUS_UNKNOWN_OUTCOME) {
            disconnect(jobs);
        }
        status = tell(jobs, status, &cause, why);
    }
    return status;
}

void jobs_collect(struct jobs *jobs)
{
    jobs->collects = true;
}

bool jobs_is_lost(const struct jobs *jobs)
{
    return jobs->lease == NULL || lease_is_lost(jobs->lease);
}

struct journal_part jobs_part(const struct jobs *jobs, uint32_t number)
{
    return (struct journal_part){.job = number, .lease = jobs->lease, .term = jobs->term};
}

static enum status led_by_another(const struct jobs *jobs, struct why *why)
{
    return why_fail(why, STATUS_BUSY, "%s: another coordinator leads by now; nothing was written",
                    jobs->place);
}

/* Performs a statement that begins with LEASE_HELD and answers with how many lease rows it held, and how many jobs' rows it found. */
static enum status perform(struct jobs *jobs, const char *statement,
                           const struct database_value *value, size_t count, struct why *why)
{
    struct pg_result *answer = NULL;
    if (jobs->lease == NULL) {
        return led_by_another(jobs, why);
    }
    enum status status = jobs_ask(jobs, &answer, statement, value, count, why);
    if (status == STATUS_OK && database_number(answer, 0, 0) != 1) {
        status = led_by_another(jobs, why);
    } else if (status == STATUS_OK && database_number(answer, 0, 1) == 0) {
        status = why_fail(why, STATUS_NOT_FOUND, "%s: the job is not there any more", jobs->place);
    }
    database_answer_free(answer);
    return status;
}

/* $1 is the term, $2 the job's number. */
#define SET_OF_JOB(what)                                                                           \
    LEASE_HELD ", done AS (UPDATE hedgerow_job SET " what                                          \
               " WHERE number = $2 AND EXISTS (SELECT FROM held) RETURNING 1)"                     \
               " SELECT count(*), (SELECT count(*) FROM done) FROM held"

enum status jobs_set_led(struct jobs *jobs, uint32_t number, bool led, struct why *why)
{
    const struct database_value value[] = {database_of_number(jobs->term),
                                           database_of_number(number),
                                           database_of_number(led ? 1 : 0)};
    return perform(jobs, SET_OF_JOB("led = CASE WHEN $3 = 1 THEN $1 END"), value, 3, why);
}

enum status jobs_put_aside(struct jobs *jobs, uint32_t number, const char *because, struct why *why)
{
    const struct database_value value[] = {database_of_number(jobs->term),
                                           database_of_number(number), database_of_words(because)};
    return perform(jobs, SET_OF_JOB("aside = convert_from($3, 'UTF8'), aside_term = $1"), value, 3,
                   why);
}

enum status jobs_mark_begun(struct jobs *jobs, uint32_t number, struct why *why)
{
    const struct database_value value[] = {database_of_number(jobs->term),
                                           database_of_number(number)};
    return perform(jobs, SET_OF_JOB("begun = true"), value, 2, why);
}

enum status jobs_put_end(struct jobs *jobs, uint32_t number, struct slice text, struct why *why)
{
    const struct database_value value[] = {database_of_number(jobs->term),
                                           database_of_number(number), database_of_bytes(text)};
    return perform(jobs, SET_OF_JOB("ending = $3"), value, 3, why);
}

/* One that is there may have been longer. */
static enum status cut_result(struct jobs *jobs, uint32_t number, const char *name, uint64_t pieces,
                              struct why *why)
{
    const struct database_value value[] = {database_of_number(jobs->term),
                                           database_of_number(number), database_of_words(name),
                                           database_of_number((int64_t)pieces)};
    return perform(jobs,
                   LEASE_HELD ", done AS (DELETE FROM hedgerow_result WHERE job = $2"
                              " AND name = convert_from($3, 'UTF8') AND piece >= $4"
                              " AND EXISTS (SELECT FROM held))"
                              " SELECT count(*), 1::bigint FROM held",
                   value, 4, why);
}

enum status jobs_put_result(struct jobs *jobs, uint32_t number, const char *name,
                            struct slice bytes, struct why *why)
{
    const uint8_t *data = bytes.data;
    uint64_t piece = 0;
    enum status status = STATUS_OK;
    for (size_t at = 0; at < bytes.size && status == STATUS_OK; at += JOBS_PIECE_BYTES) {
        const size_t left = bytes.size - at;
        const size_t size = left < JOBS_PIECE_BYTES ? left : JOBS_PIECE_BYTES;
        const struct database_value value[] = {database_of_number(jobs->term),
                                               database_of_number(number), database_of_words(name),
                                               database_of_number((int64_t)piece++),
                                               database_of_bytes((struct slice){data + at, size})};
        status = perform(jobs,
                         LEASE_HELD
                         ", done AS (INSERT INTO hedgerow_result"
                         " SELECT $2, convert_from($3, 'UTF8'), $4, $5 FROM held"
                         " ON CONFLICT (job, name, piece) DO UPDATE SET bytes = excluded.bytes)"
                         " SELECT count(*), 1::bigint FROM held",
                         value, 5, why);
    }
    return status == STATUS_OK ? cut_result(jobs, number, name, piece, why) : status;
}
