/* The parts of rounds that collectors have handed in: shown, each once, and deleted when their round is over. */

#include "database/collection_private.h"

#include "crypto/digest.h"

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
    const struct database_value value[] = {
        database_of_number(collection->round),
        database_of_bytes((struct slice){name->name, strlen(name->name)}),
        database_of_number(part)};
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
    const struct database_value value[] = {database_of_number(collection->term),
                                           database_of_number(round)};
    collection->begun = true;
    collection->round = round;
    collection->shown_count = 0;
    return collection->name.name[0] != '\0'
               ? STATUS_OK
               : database_ask(collection->database, NULL,
                              LEASE_HELD " DELETE FROM hedgerow_partial"
                                         " WHERE round < $2 AND EXISTS (SELECT FROM held)",
                              value, 2, why);
}

enum status collection_parts(struct collection *collection, uint32_t round, collection_visit *visit,
                             void *visit_self, struct why *why)
{
    const struct database_value value[] = {database_of_number(round), collection_name(collection)};
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
    const struct database_value value = database_of_number(collection->term);
    return database_ask(collection->database, NULL,
                        LEASE_HELD " DELETE FROM hedgerow_partial WHERE EXISTS (SELECT FROM held)",
                        &value, 1, why);
}
