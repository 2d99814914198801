/* What coordinators of one job write beside its journal; of a queue's job in that job's schema, under the queue's lease:
 *
 *   hedgerow_partial   round, collector, number: a part, a record and a sum. Nobody changes one; numbers rise by 1
 *   hedgerow_standing  name: how it stands, and when it said so last (by the server's clock). The coordinator that leads makes
 *                      a row for each of its collectors, and one ('') for itself
 *
 * Nothing here decides who leads: a coordinator that leads no more may still read parts, and cannot close a round with them. What
 * it writes as the one that leads takes the lease's row first, as the journal does, and changes nothing under another term:
 * one that was stopped and wakes up opens no round that is over, and deletes no part that is to be read. */

#include "database/collection_private.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "database/job_schema.h"
#include "database/journal_place.h"
#include "database/journal_shared.h"
#include "database/lease.h"
#include "protocol/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A collector of lease version 1 that is connected already names no version with its parts, and reads this. */
#define COLLECTOR_GUARD " \"collector is too old for this database: update hedgerow\""

/* One of lease version 2 names it, and reads this once one of version 3 has led. */
#define COLLECTOR_OLDER "collector is older than the one that leads: update hedgerow"

static const char schema[] =
    "DO $$ BEGIN"
    " PERFORM pg_advisory_xact_lock(7522713, 1);"
    " IF to_regclass('hedgerow_standing') IS NULL THEN"
    " CREATE TABLE hedgerow_partial (round bigint NOT NULL, collector text NOT NULL,"
    " number bigint NOT NULL, body bytea NOT NULL, blob bytea NOT NULL, digest bytea NOT NULL,"
    " PRIMARY KEY (round, collector, number));"
    " ALTER TABLE hedgerow_partial ALTER body SET STORAGE EXTERNAL, ALTER blob SET STORAGE EXTERNAL;"
    " CREATE TABLE hedgerow_standing (name text PRIMARY KEY, ready bigint NOT NULL,"
    " open bigint NOT NULL, settled bigint NOT NULL, answers bigint NOT NULL,"
    " left_ms bigint NOT NULL, heard timestamptz NOT NULL);"
    " END IF;"
    " IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'hedgerow_partial'::regclass"
    " AND attname = 'version') THEN"
    " ALTER TABLE hedgerow_partial ADD version bigint, ADD CONSTRAINT" COLLECTOR_GUARD
    " CHECK (version IS NOT NULL) NOT VALID;" /* parts of an earlier leader's round may be there */
    " END IF;"
    " IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'hedgerow_partial'::regclass"
    " AND conname = '" COLLECTOR_OLDER "') THEN"
    " ALTER TABLE hedgerow_partial ADD CONSTRAINT \"" COLLECTOR_OLDER "\""
    " CHECK (version >= " LEASE_VERSION_TEXT ") NOT VALID;" /* likewise */
    " END IF;"
    /* For a collector that does not tell it, nobody is undecided. */
    " IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'hedgerow_standing'::regclass"
    " AND attname = 'undecided') THEN"
    " ALTER TABLE hedgerow_standing ADD undecided bigint NOT NULL DEFAULT 0;"
    " END IF; END $$";

static enum status has_tables(struct collection *collection, struct why *why)
{
    struct pg_result *answer = NULL;
    enum status status = database_ask(collection->database, &answer,
                                      "SELECT (to_regclass('hedgerow_lease') IS NOT NULL AND"
                                      " EXISTS (SELECT FROM pg_attribute WHERE"
                                      " attrelid = to_regclass('hedgerow_standing')"
                                      " AND attname = 'undecided'))::int::bigint",
                                      NULL, 0, why);
    if (status == STATUS_OK && database_number(answer, 0, 0) != 1) {
        status =
            why_fail(why, STATUS_AGAIN,
                     "no coordinator with `collectors` of this version has led a job there yet");
    }
    database_answer_free(answer);
    return status;
}

/* What an earlier version leads has its rounds: this one would answer them as its own. */
static enum status is_led_by_its_equal(struct collection *collection, struct why *why)
{
    struct pg_result *answer = NULL;
    enum status status = database_ask(collection->database, &answer,
                                      "SELECT kind, version FROM hedgerow_lease", NULL, 0, why);
    if (status == STATUS_OK && database_number(answer, 0, 1) < LEASE_VERSION) {
        status = why_fail(
            why, STATUS_AGAIN,
            "an older coordinator leads there (version %lld, this program's is %d); remedy: "
            "update the coordinators that lead, then their collectors",
            (long long)database_number(answer, 0, 1), (int)LEASE_VERSION);
    }
    database_answer_free(answer);
    return status;
}

static enum status led_by_another(struct why *why)
{
    return why_fail(why, STATUS_BUSY, "another coordinator leads by now; nothing was written");
}

/* Rows for those who are to stand there, and no others. */
static enum status list_collectors(const struct collection *collection,
                                   const struct collection_options *options, struct why *why)
{
    char names[(COLLECTORS_MAX + 1) * PEER_NAME_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < options->count; i++) {
        used +=
            (size_t)snprintf(names + used, sizeof names - used, ",%s", options->collectors[i].name);
    }
    const struct database_value value[] = {
        database_of_number(collection->term),
        database_of_bytes((struct slice){names, used})}; /* begins with '' */
    struct pg_result *answer = NULL;
    enum status status = database_ask(
        collection->database, &answer,
        LEASE_HELD
        ", wanted AS (SELECT unnest(string_to_array(convert_from($2, 'UTF8'), ',')) AS name"
        " FROM held),"
        " gone AS (DELETE FROM hedgerow_standing s WHERE EXISTS (SELECT FROM held)"
        " AND NOT EXISTS (SELECT FROM wanted w WHERE w.name = s.name)),"
        " added AS (INSERT INTO hedgerow_standing"
        " SELECT name, 0, 0, 0, 0, 0, '-infinity' FROM wanted ON CONFLICT DO NOTHING)"
        " SELECT count(*) FROM held",
        value, 2, why);
    if (status == STATUS_OK && database_number(answer, 0, 0) != 1) {
        status = led_by_another(why);
    }
    database_answer_free(answer);
    return status;
}

static enum status open_all(struct collection *collection, const struct collection_options *options,
                            struct why *why)
{
    const struct journal_options records = {.place = options->place,
                                            .kind = "coordinator",
                                            .read_only = true,
                                            .part = {.job = options->job}};
    enum status status = database_open(&collection->database, options->place, why);
    if (status == STATUS_OK && options->job > 0) {
        status = job_schema_enter(collection->database, options->job, false, why);
    }
    if (status == STATUS_OK && collection->name.name[0] == '\0') {
        status = database_ask(collection->database, NULL, schema, NULL, 0, why);
        if (status == STATUS_OK) {
            status = list_collectors(collection, options, why);
        }
    } else if (status == STATUS_OK) {
        status = has_tables(collection, why);
        if (status == STATUS_OK) {
            status = is_led_by_its_equal(collection, why);
        }
        if (status == STATUS_OK) {
            status = journal_open(&collection->records, &records, why);
        }
    }
    return status == STATUS_IO || status == STATUS_UNKNOWN_OUTCOME ? STATUS_AGAIN : status;
}

enum status collection_open(struct collection **out, const struct collection_options *options,
                            struct why *why)
{
    struct collection *collection = calloc(1, sizeof *collection);
    *out = NULL;
    if (collection == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "no memory for collectors");
    }
    CHECK(strlen(options->name) < sizeof collection->name.name && options->count <= COLLECTORS_MAX);
    memcpy(collection->name.name, options->name, strlen(options->name) + 1);
    collection->term = options->term;
    const enum status status = open_all(collection, options, why);
    if (status != STATUS_OK) {
        collection_close(collection);
        return status;
    }
    *out = collection;
    return STATUS_OK;
}

void collection_close(struct collection *collection)
{
    if (collection != NULL) {
        journal_close(&collection->records);
        database_close(collection->database);
        free(collection);
    }
}

/* Which round a part is of stands in it. */
static enum status round_of(int64_t *round, struct slice body)
{
    struct record record;
    const enum status status = wire_decode_record(&record, body);
    if (status == STATUS_OK) {
        CHECK(record.kind == RECORD_PARTIAL);
        *round = record.as.partial.round;
        record_free(&record);
    }
    return status;
}

static enum status append(void *self, uint64_t *sequence, struct slice body, struct slice blob)
{
    struct collection *collection = self;
    struct digest digest;
    struct why why = {""};
    int64_t round = 0;
    enum status status = collection->refuses ? STATUS_UNKNOWN_OUTCOME : round_of(&round, body);
    if (status != STATUS_OK) {
        return status;
    }
    digest_sha256(&digest, &blob, 1);
    const struct database_value value[] = {
        database_of_number(round), collection_name(collection), database_of_bytes(body),
        database_of_bytes(blob), database_of_bytes((struct slice){digest.byte, DIGEST_BYTES})};
    status = database_ask(collection->database, NULL,
                          "INSERT INTO hedgerow_partial"
                          " SELECT $1, convert_from($2, 'UTF8'), 1 + coalesce(max(number), 0),"
                          " $3, $4, $5, " LEASE_VERSION_TEXT " FROM hedgerow_partial"
                          " WHERE round = $1 AND collector = convert_from($2, 'UTF8')",
                          value, sizeof value / sizeof value[0], &why);
    if (status != STATUS_OK) {
        why_set(&collection->trouble, "a part of a round: %s", why.text);
    }
    collection->refuses = status != STATUS_OK;
    *sequence = 0;
    return status;
}

static enum status forget(UNUSED void *self, UNUSED uint64_t sequence)
{
    return STATUS_OK; /* the journal is another's */
}

static enum status each(void *self, journal_visit *visit, void *visit_self, struct why *why)
{
    const struct collection *collection = self;
    return collection->records.each(collection->records.self, visit, visit_self, why);
}

static const char *trouble(const void *self)
{
    const struct collection *collection = self;
    return collection->trouble.text;
}

static void end(void *self)
{
    collection_close(self);
}

struct journal collection_journal(struct collection *collection)
{
    CHECK(collection->records.self != NULL);
    return (struct journal){.self = collection,
                            .waits = true,
                            .append = append,
                            .forget = forget,
                            .wipe = forget,
                            .each = each,
                            .trouble = trouble,
                            .close = end};
}

enum status collection_follow(struct collection *collection, journal_visit *visit, void *visit_self,
                              struct why *why)
{
    return journal_shared_follow(&collection->records, visit, visit_self, why);
}

static enum status tell(struct collection *collection, const struct standing_of *own, bool present,
                        struct why *why)
{
    const bool leads = collection->name.name[0] == '\0';
    const struct database_value value[] = {
        database_of_number(collection->term),       collection_name(collection),
        database_of_number((int64_t)own->ready),    database_of_number((int64_t)own->open),
        database_of_number((int64_t)own->settled),  database_of_number((int64_t)own->answers),
        database_of_number(own->left_ms),           database_of_number(present ? 1 : 0),
        database_of_number((int64_t)own->undecided)};
    struct pg_result *answer = NULL;
    enum status status = database_ask(
        collection->database, &answer,
        LEASE_HELD " UPDATE hedgerow_standing SET ready = $3, open = $4, settled = $5,"
                   " answers = $6, left_ms = $7, undecided = $9, heard ="
                   " CASE WHEN $8 = 1 THEN clock_timestamp() ELSE '-infinity' END"
                   " WHERE name = convert_from($2, 'UTF8')"
                   " AND (name <> '' OR EXISTS (SELECT FROM held)) RETURNING 1::bigint",
        value, sizeof value / sizeof value[0], why);
    if (status == STATUS_OK && database_rows(answer) != 1 && leads) {
        status = led_by_another(why);
    } else if (status == STATUS_OK && database_rows(answer) != 1) {
        status = why_fail(
            why, STATUS_REFUSED,
            "the coordinator that leads has no collector %s; remedy: its name in `collectors` "
            "of the leader's settings",
            collection->name.name);
    }
    database_answer_free(answer);
    return status;
}

enum status collection_tell(struct collection *collection, const struct standing_of *own,
                            struct why *why)
{
    return tell(collection, own, true, why);
}

enum status collection_retire(struct collection *collection, struct why *why)
{
    const struct standing_of none = {.ready = 0};
    return tell(collection, &none, false, why);
}

enum status collection_ask(struct collection *collection, struct standing_of *of, size_t *count,
                           struct why *why)
{
    const struct database_value value[] = {database_of_number(COLLECTORS_MAX + 1),
                                           database_of_number(PEERS_MAX)};
    struct pg_result *answer = NULL;
    *count = 0;
    const enum status status =
        database_ask(collection->database, &answer,
                     "SELECT name, greatest(0, least(ready, $2)), open, settled, answers,"
                     " left_ms - CASE WHEN heard > '-infinity' THEN"
                     " (extract(epoch FROM clock_timestamp() - heard) * 1000)::bigint ELSE 0 END,"
                     " (heard > clock_timestamp() - interval '10 s')::int::bigint,"
                     " greatest(0, least(undecided, $2))"
                     " FROM hedgerow_standing ORDER BY name LIMIT $1",
                     value, 2, why);
    for (size_t i = 0; status == STATUS_OK && i < database_rows(answer); i++) {
        const struct slice name = database_bytes(answer, i, 0);
        struct standing_of *is = &of[*count];
        if (name.size >= sizeof is->peer.name) {
            continue;
        }
        *is = (struct standing_of){.ready = (uint64_t)database_number(answer, i, 1),
                                   .open = (uint64_t)database_number(answer, i, 2),
                                   .settled = (uint64_t)database_number(answer, i, 3),
                                   .answers = (uint64_t)database_number(answer, i, 4),
                                   .left_ms = database_number(answer, i, 5),
                                   .present = database_number(answer, i, 6) == 1,
                                   .undecided = (uint64_t)database_number(answer, i, 7)};
        if (name.size > 0) {
            memcpy(is->peer.name, name.data, name.size);
        }
        (*count)++;
    }
    database_answer_free(answer);
    return status;
}
