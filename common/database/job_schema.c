#include "database/job_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STATEMENT_BYTES = 256 };

enum status job_schema_find(char own[static JOB_SCHEMA_OWN_BYTES], struct database *database,
                            struct why *why)
{
    struct pg_result *answer = NULL;
    enum status status =
        database_ask(database, &answer, "SELECT current_schema()::text", NULL, 0, why);
    const struct slice name =
        status == STATUS_OK ? database_bytes(answer, 0, 0) : (struct slice){NULL, 0};
    if (status == STATUS_OK && name.size == 0) {
        status =
            why_refuse(why, "it has no schema for the queue; remedy: a search_path whose first "
                            "schema is there");
    } else if (status == STATUS_OK &&
               (name.size >= JOB_SCHEMA_OWN_BYTES || memchr(name.data, '"', name.size) != NULL)) {
        status = why_refuse(why,
                            "the name of its schema has a quotation mark, or more than %d bytes; "
                            "remedy: a schema with another name",
                            JOB_SCHEMA_OWN_BYTES - 1);
    } else if (status == STATUS_OK) {
        memcpy(own, name.data, name.size);
        own[name.size] = '\0';
    }
    database_answer_free(answer);
    return status;
}

void job_schema_name(char name[static JOB_SCHEMA_BYTES], const char *own, uint32_t job)
{
    (void)snprintf(name, JOB_SCHEMA_BYTES, "\"%.*s_job_%" PRIu32 "\"", JOB_SCHEMA_OWN_BYTES - 1,
                   own, job);
}

enum status job_schema_enter(struct database *database, uint32_t job, bool make, struct why *why)
{
    char own[JOB_SCHEMA_OWN_BYTES];
    char name[JOB_SCHEMA_BYTES];
    char statement[STATEMENT_BYTES];
    char path[JOB_SCHEMA_BYTES + JOB_SCHEMA_OWN_BYTES + 4];
    enum status status = job_schema_find(own, database, why);
    if (status != STATUS_OK) {
        return status;
    }
    job_schema_name(name, own, job);
    (void)snprintf(path, sizeof path, "%s,\"%s\"", name, own);
    if (make) {
        (void)snprintf(statement, sizeof statement, "CREATE SCHEMA IF NOT EXISTS %s", name);
        status = database_ask(database, NULL, statement, NULL, 0, why);
    }
    const struct database_value value = {.bytes = {path, strlen(path)}};
    return status == STATUS_OK
               ? database_ask(database, NULL,
                              "SELECT set_config('search_path', convert_from($1, 'UTF8'), false)",
                              &value, 1, why)
               : status;
}

enum status database_is_durable(struct database *database, struct why *why)
{
    static const char statement[] =
        "SELECT (current_setting('fsync')::bool AND current_setting('full_page_writes')::bool"
        " AND current_setting('synchronous_commit') NOT IN ('off', 'local'))::int::bigint";
    struct pg_result *answer = NULL;
    enum status status = database_ask(database, &answer, statement, NULL, 0, why);

    if (status == STATUS_OK && database_number(answer, 0, 0) != 1) {
        status = why_refuse(
            why, "it does not make a commit durable before it acknowledges it; remedy: fsync, "
                 "full_page_writes and synchronous_commit on in postgresql.conf");
    }
    database_answer_free(answer);
    return status;
}
