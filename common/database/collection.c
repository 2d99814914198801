/* What coordinators of one job write beside its journal; of a queue's job in that job's schema, under the queue's lease:
 *
 *   hedgerow_partial   round, collector, number: a part, a record and a sum. Nobody changes one; numbers rise by 1
 *   hedgerow_standing  name: how it stands, and when it said so last (by the server's clock). The coordinator that leads makes
 *                      a row for each of its collectors, and one ('') for itself
 *
 * Nothing here decides who leads: a coordinator that leads no more may still read parts, and cannot close a round with them. What
 * it writes as the one that leads takes the lease's row first, as the journal does, and changes nothing under another term:
 * one that was stopped and wakes up opens no round that is over, and deletes no part that is to be read. */

#include "database/collection.h"

#include "base/check.h"
#include "crypto/digest.h"
#include "database/database.h"
#include "database/job_schema.h"
#include "database/journal_place.h"
#include "database/journal_shared.h"
#include "protocol/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct collection {
    struct database *database;
    struct peer name;
    int64_t term;           /* of the one that leads */
    struct journal records; /* a collector's, read-only */
    bool begun;
    uint32_t round; /* of collection_parts, which has begun */
    struct {
        struct peer collector;
        int64_t number; /* of the latest part that was shown */
    } shown[COLLECTORS_MAX];
    size_t shown_count;
    bool refuses; /* a part's outcome is unknown */
    struct why trouble;
};

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
    " END IF; END $$";

/* The first value is the term. */
#define HELD "WITH held AS (SELECT FROM hedgerow_lease WHERE term = $1 FOR SHARE)"

static struct database_value number(int64_t value)
{
    return (struct database_value){.number = value, .is_number = true};
}

static struct database_value bytes(struct slice value)
{
    return (struct database_value){.bytes = value};
}

static struct database_value name_of(const struct collection *collection)
{
    return bytes((struct slice){collection->name.name, strlen(collection->name.name)});
}

static enum status has_tables(struct collection *collection, struct why *why)
{
    struct pg_result *answer = NULL;
    enum status status = database_ask(collection->database, &answer,
                                      "SELECT (to_regclass('hedgerow_lease') IS NOT NULL AND"
                                      " to_regclass('hedgerow_standing') IS NOT NULL)::int::bigint",
                                      NULL, 0, why);
    if (status == STATUS_OK && database_number(answer, 0, 0) != 1) {
        why_set(why, "no coordinator with `collectors` has led a job there yet");
        status = STATUS_AGAIN;
    }
    database_answer_free(answer);
    return status;
}

static enum status led_by_another(struct why *why)
{
    why_set(why, "another coordinator leads by now; nothing was written");
    return STATUS_BUSY;
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
    const struct database_value value[] = {number(collection->term),
                                           bytes((struct slice){names, used})}; /* begins with '' */
    struct pg_result *answer = NULL;
    enum status status = database_ask(
        collection->database, &answer,
        HELD ", wanted AS (SELECT unnest(string_to_array(convert_from($2, 'UTF8'), ',')) AS name"
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
        why_set(why, "no memory for collectors");
        return STATUS_NO_MEMORY;
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
    const struct database_value value[] = {number(round), name_of(collection), bytes(body),
                                           bytes(blob),
                                           bytes((struct slice){digest.byte, DIGEST_BYTES})};
    status = database_ask(collection->database, NULL,
                          "INSERT INTO hedgerow_partial"
                          " SELECT $1, convert_from($2, 'UTF8'), 1 + coalesce(max(number), 0),"
                          " $3, $4, $5 FROM hedgerow_partial"
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
        number(collection->term),   name_of(collection),           number((int64_t)own->ready),
        number((int64_t)own->open), number((int64_t)own->settled), number((int64_t)own->answers),
        number(own->left_ms),       number(present ? 1 : 0)};
    struct pg_result *answer = NULL;
    enum status status =
        database_ask(collection->database, &answer,
                     HELD " UPDATE hedgerow_standing SET ready = $3, open = $4, settled = $5,"
                          " answers = $6, left_ms = $7, heard ="
                          " CASE WHEN $8 = 1 THEN clock_timestamp() ELSE '-infinity' END"
                          " WHERE name = convert_from($2, 'UTF8')"
                          " AND (name <> '' OR EXISTS (SELECT FROM held)) RETURNING 1::bigint",
                     value, sizeof value / sizeof value[0], why);
    if (status == STATUS_OK && database_rows(answer) != 1 && leads) {
        status = led_by_another(why);
    } else if (status == STATUS_OK && database_rows(answer) != 1) {
        why_set(why,
                "the coordinator that leads has no collector %s; remedy: its name in `collectors` "
                "of the leader's settings",
                collection->name.name);
        status = STATUS_REFUSED;
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
    const struct database_value value[] = {number(COLLECTORS_MAX + 1), number(PEERS_MAX)};
    struct pg_result *answer = NULL;
    *count = 0;
    const enum status status =
        database_ask(collection->database, &answer,
                     "SELECT name, greatest(0, least(ready, $2)), open, settled, answers,"
                     " left_ms - CASE WHEN heard > '-infinity' THEN"
                     " (extract(epoch FROM clock_timestamp() - heard) * 1000)::bigint ELSE 0 END,"
                     " (heard > clock_timestamp() - interval '10 s')::int::bigint"
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
                                   .present = database_number(answer, i, 6) == 1};
        if (name.size > 0) {
            memcpy(is->peer.name, name.data, name.size);
        }
        (*count)++;
    }
    database_answer_free(answer);
    return status;
}

/* Returns where the number of the latest part stands that was shown of a collector; NULL: there are too many. */
static int64_t *shown_of(struct collection *collection, const struct peer *name)
{
    for (size_t i = 0; i < collection->shown_count; i++) {
        if (strcmp(collection->shown[i].collector.name, name->name) == 0) {
            return &collection->shown[i].number;
        }
    }
    if (collection->shown_count == COLLECTORS_MAX) {
        return NULL;
    }
    collection->shown[collection->shown_count].collector = *name;
    collection->shown[collection->shown_count].number = 0;
    return &collection->shown[collection->shown_count++].number;
}

/* Shows one part. A sum that does not match its digest is not shown with it: who leads says that it is left out. */
static enum status show_part(struct collection *collection, const struct peer *name, int64_t part,
                             collection_visit *visit, void *visit_self, struct why *why)
{
    const struct database_value value[] = {number(collection->round),
                                           bytes((struct slice){name->name, strlen(name->name)}),
                                           number(part)};
    struct pg_result *answer = NULL;
    struct digest is;
    enum status status =
        database_ask(collection->database, &answer,
                     "SELECT body, blob, digest FROM hedgerow_partial WHERE round = $1"
                     " AND collector = convert_from($2, 'UTF8') AND number = $3",
                     value, 3, why);
    if (status == STATUS_OK && database_rows(answer) == 1) {
        struct slice blob = database_bytes(answer, 0, 1);
        const struct slice digest = database_bytes(answer, 0, 2);
        digest_sha256(&is, &blob, 1);
        if (digest.size != DIGEST_BYTES || memcmp(is.byte, digest.data, DIGEST_BYTES) != 0) {
            blob = (struct slice){NULL, 0};
        }
        status = visit(visit_self, name, database_bytes(answer, 0, 0), blob);
    }
    database_answer_free(answer);
    return status;
}

static enum status begin_round(struct collection *collection, uint32_t round, struct why *why)
{
    const struct database_value value[] = {number(collection->term), number(round)};
    collection->begun = true;
    collection->round = round;
    collection->shown_count = 0;
    return collection->name.name[0] != '\0'
               ? STATUS_OK
               : database_ask(collection->database, NULL,
                              HELD " DELETE FROM hedgerow_partial"
                                   " WHERE round < $2 AND EXISTS (SELECT FROM held)",
                              value, 2, why);
}

enum status collection_parts(struct collection *collection, uint32_t round, collection_visit *visit,
                             void *visit_self, struct why *why)
{
    const struct database_value value[] = {number(round), name_of(collection)};
    struct pg_result *answer = NULL;
    enum status status = STATUS_OK;
    if (!collection->begun || round != collection->round) {
        status = begin_round(collection, round, why);
    }
    if (status == STATUS_OK) {
        status = database_ask(
            collection->database, &answer,
            "SELECT p.collector, max(p.number) FROM hedgerow_partial p, hedgerow_standing s"
            " WHERE p.round = $1 AND p.collector = s.name AND s.name <> ''"
            " AND convert_from($2, 'UTF8') IN ('', s.name) GROUP BY p.collector",
            value, 2, why);
    }
    for (size_t i = 0; status == STATUS_OK && i < database_rows(answer); i++) {
        const struct slice text = database_bytes(answer, i, 0);
        struct peer name = {""};
        if (text.size >= sizeof name.name) {
            continue;
        }
        memcpy(name.name, text.data, text.size);
        int64_t *shown = shown_of(collection, &name);
        while (status == STATUS_OK && shown != NULL && *shown < database_number(answer, i, 1)) {
            status = show_part(collection, &name, *shown + 1, visit, visit_self, why);
            *shown += status == STATUS_OK ? 1 : 0;
        }
    }
    database_answer_free(answer);
    return status;
}

enum status collection_clear(struct collection *collection, struct why *why)
{
    const struct database_value value = number(collection->term);
    return database_ask(collection->database, NULL,
                        HELD " DELETE FROM hedgerow_partial WHERE EXISTS (SELECT FROM held)",
                        &value, 1, why);
}
