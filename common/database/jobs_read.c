/* Reading what stands in the database of a queue: its statements change nothing. */

#include "database/jobs_private.h"

#include "io/worker.h"

#include <stdio.h>
#include <stdlib.h>

enum { STATEMENT_BYTES = 256 };

void jobs_take_line(char *line, size_t room, struct slice text)
{
    const char *from = text.data;
    size_t used = 0;
    while (used < text.size && used < room - 1 && from[used] >= ' ' && from[used] <= '~') {
        line[used] = from[used];
        used++;
    }
    line[used] = '\0';
}

struct listed {
    struct jobs *jobs;
    const struct jobs_row *rows;
    size_t count;
    enum status status;
};

static void take_list(void *self)
{
    struct listed *listed = self;
    listed->status = jobs_follow_listed(listed->jobs, listed->rows, listed->count);
}

/* What is followed is taken by the thread that runs machines, which may not be this one. */
static enum status follow_list(struct jobs *jobs, const struct jobs_row *rows, size_t count)
{
    struct listed listed = {.jobs = jobs, .rows = rows, .count = count};
    return worker_on_owner(take_list, &listed) ? listed.status : STATUS_BUSY;
}

enum status jobs_list(struct jobs *jobs, struct jobs_row **rows, size_t *count, struct why *why)
{
    static const char all[] =
        "SELECT number, begun::int::bigint, (ending IS NOT NULL)::int::bigint FROM hedgerow_job"
        " ORDER BY number";
    static const char led[] =
        "SELECT number, 1::bigint, 0::bigint FROM " JOBS_LED " ORDER BY number";
    struct pg_result *answer = NULL;
    *rows = NULL;
    *count = 0;
    enum status status = jobs_ask(jobs, &answer, jobs->collects ? led : all, NULL, 0, why);
    const size_t found = status == STATUS_OK ? database_rows(answer) : 0;
    *rows = status == STATUS_OK ? calloc(found + 1, sizeof **rows) : NULL;
    if (status == STATUS_OK && *rows == NULL) {
        status = STATUS_NO_MEMORY;
    }
    for (size_t i = 0; status == STATUS_OK && i < found; i++) {
        (*rows)[i] = (struct jobs_row){.number = (uint32_t)database_number(answer, i, 0),
                                       .begun = database_number(answer, i, 1) == 1,
                                       .over = database_number(answer, i, 2) == 1};
        *count = i + 1;
    }
    database_answer_free(answer);
    return status == STATUS_OK ? follow_list(jobs, *rows, *count) : status;
}

static enum status no_job(uint32_t number, struct why *why)
{
    return why_fail(why, STATUS_NOT_FOUND, "there is no job %u in the queue: `jobs` lists them",
                    (unsigned)number);
}

enum status jobs_look(struct jobs *jobs, struct jobs_row *row, uint32_t number, struct why *why)
{
    char name[JOB_SCHEMA_BYTES];
    char table[JOB_SCHEMA_BYTES + 32];
    struct pg_result *answer = NULL;
    *row = (struct jobs_row){.number = number};
    enum status status = /* whose schema has to be known */
        jobs->database == NULL ? jobs_ready(jobs, why) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    job_schema_name(name, jobs->own, number);
    (void)snprintf(table, sizeof table, "%s.hedgerow_record", name);
    const struct database_value value[] = {database_of_number(number), database_of_words(table)};
    status = jobs_ask_of_job(jobs, &answer,
                             "SELECT begun::int::bigint, (ending IS NOT NULL)::int::bigint,"
                             " (to_regclass(convert_from($2, 'UTF8')) IS NOT NULL)::int::bigint,"
                             " submitted, coalesce(cancel, ''), CASE WHEN aside_term ="
                             " (SELECT term FROM hedgerow_lease) THEN aside ELSE '' END"
                             " FROM hedgerow_job WHERE number = $1",
                             value, 2, why);
    if (status == STATUS_OK && database_rows(answer) != 1) {
        status = no_job(number, why);
    }
    if (status == STATUS_OK) {
        row->begun = database_number(answer, 0, 0) == 1;
        row->over = database_number(answer, 0, 1) == 1;
        row->journal = database_number(answer, 0, 2) == 1;
        jobs_take_line(row->submitted, sizeof row->submitted, database_bytes(answer, 0, 3));
        const struct slice cancel = database_bytes(answer, 0, 4);
        jobs_take_line(row->cancel, sizeof row->cancel, cancel);
        jobs_take_line(row->aside, sizeof row->aside, database_bytes(answer, 0, 5));
        if (cancel.size > 0 && row->cancel[0] == '\0') {
            (void)snprintf(row->cancel, sizeof row->cancel, "an operator");
        }
    }
    database_answer_free(answer);
    return status;
}

static enum status read_bytes(struct jobs *jobs, char **text, size_t *size, const char *statement,
                              uint32_t number, struct why *why)
{
    const struct database_value value = database_of_number(number);
    struct pg_result *answer = NULL;
    *text = NULL;
    *size = 0;
    enum status status = jobs_ask(jobs, &answer, statement, &value, 1, why);
    if (status == STATUS_OK && database_rows(answer) != 1) {
        status = no_job(number, why);
    }
    if (status == STATUS_OK) {
        const struct slice bytes = database_bytes(answer, 0, 0);
        *text = malloc(bytes.size + 1);
        status = *text != NULL ? STATUS_OK : STATUS_NO_MEMORY;
        if (*text != NULL && bytes.size > 0) {
            memcpy(*text, bytes.data, bytes.size);
        }
        if (*text != NULL) {
            (*text)[bytes.size] = '\0';
            *size = bytes.size;
        }
    }
    database_answer_free(answer);
    return status;
}

enum status jobs_text(struct jobs *jobs, char **text, size_t *size, uint32_t number,
                      struct why *why)
{
    return read_bytes(jobs, text, size, "SELECT text FROM hedgerow_job WHERE number = $1", number,
                      why);
}

enum status jobs_end(struct jobs *jobs, char **text, size_t *size, uint32_t number, struct why *why)
{
    return read_bytes(jobs, text, size,
                      "SELECT ending FROM hedgerow_job WHERE number = $1 AND ending IS NOT NULL",
                      number, why);
}

enum status jobs_find(struct jobs *jobs, uint32_t *number, size_t *open, const char *submitter,
                      const struct digest *id, struct why *why)
{
    struct jobs_found found;
    const enum status status = jobs_find_at(jobs, &found, submitter, id, why);
    *number = found.number;
    *open = found.open;
    return status;
}

enum status jobs_find_at(struct jobs *jobs, struct jobs_found *found, const char *submitter,
                         const struct digest *id, struct why *why)
{
    const struct database_value value[] = {
        database_of_words(submitter), database_of_bytes((struct slice){id->byte, DIGEST_BYTES})};
    struct pg_result *answer = NULL;
    enum status status = jobs_ask(jobs, &answer,
                                  "SELECT coalesce(max(number) FILTER (WHERE submission = $2), 0),"
                                  " count(*) FILTER (WHERE ending IS NULL),"
                                  " (SELECT last FROM hedgerow_queue) FROM hedgerow_job"
                                  " WHERE submitter = convert_from($1, 'UTF8')",
                                  value, 2, why);
    *found = (struct jobs_found){0};
    if (status == STATUS_OK) {
        found->number = (uint32_t)database_number(answer, 0, 0);
        found->open = (size_t)database_number(answer, 0, 1);
        found->last = database_number(answer, 0, 2);
    }
    database_answer_free(answer);
    return status;
}

/* The journal's latest number. A job without a journal has none: its table is not there to be asked. */
static enum status stamp_of_journal(struct jobs *jobs, int64_t *stamp, uint32_t number,
                                    struct why *why)
{
    char name[JOB_SCHEMA_BYTES];
    char statement[STATEMENT_BYTES];
    struct pg_result *answer = NULL;
    job_schema_name(name, jobs->own, number);
    (void)snprintf(statement, sizeof statement,
                   "SELECT coalesce(max(sequence), 0) FROM %s.hedgerow_record", name);
    enum status status = jobs_ask_of_job(jobs, &answer, statement, NULL, 0, why);
    *stamp = status == STATUS_OK ? 1 + database_number(answer, 0, 0) : 0;
    database_answer_free(answer);
    return status;
}

enum status jobs_stamp(struct jobs *jobs, int64_t stamp[static 2], uint32_t number, struct why *why)
{
    const struct database_value value = database_of_number(number);
    struct jobs_row row;
    struct pg_result *answer = NULL;
    stamp[0] = stamp[1] = 0;
    enum status status = jobs_look(jobs, &row, number, why);
    if (status == STATUS_OK) {
        status =
            jobs_ask(jobs, &answer, "SELECT xmin::text::bigint FROM hedgerow_job WHERE number = $1",
                     &value, 1, why);
    }
    if (status == STATUS_OK) {
        stamp[0] = database_number(answer, 0, 0);
    }
    database_answer_free(answer);
    return status == STATUS_OK && row.journal ? stamp_of_journal(jobs, &stamp[1], number, why)
                                              : status;
}

enum status jobs_result_size(struct jobs *jobs, int64_t *size, uint32_t number, const char *name,
                             struct why *why)
{
    const struct database_value value[] = {database_of_number(number), database_of_words(name)};
    struct pg_result *answer = NULL;
    enum status status = jobs_ask(jobs, &answer,
                                  "SELECT coalesce(sum(octet_length(bytes)), -1)"
                                  " FROM hedgerow_result WHERE job = $1"
                                  " AND name = convert_from($2, 'UTF8')",
                                  value, 2, why);
    *size = status == STATUS_OK ? database_number(answer, 0, 0) : -1;
    database_answer_free(answer);
    return status;
}

enum status jobs_read_result(struct jobs *jobs, void *to, size_t *got, size_t room, uint32_t number,
                             const char *name, uint64_t offset, struct why *why)
{
    const struct database_value value[] = {
        database_of_number(number), database_of_words(name),
        database_of_number((int64_t)(offset / JOBS_PIECE_BYTES)),
        database_of_number((int64_t)(offset % JOBS_PIECE_BYTES) + 1),
        database_of_number((int64_t)room)};
    struct pg_result *answer = NULL;
    enum status status = jobs_ask(jobs, &answer,
                                  "SELECT substring(bytes FROM $4::int FOR $5::int)"
                                  " FROM hedgerow_result WHERE job = $1"
                                  " AND name = convert_from($2, 'UTF8') AND piece = $3",
                                  value, 5, why);
    const struct slice bytes =
        status == STATUS_OK ? database_bytes(answer, 0, 0) : (struct slice){NULL, 0};
    *got = bytes.size < room ? bytes.size : room;
    if (*got > 0) {
        memcpy(to, bytes.data, *got);
    }
    database_answer_free(answer);
    return status;
}

/* Without it every job would be set aside as it begins. */
enum status jobs_may_lead(struct jobs *jobs, struct why *why)
{
    struct pg_result *answer = NULL;
    enum status status = jobs_ask(
        jobs, &answer, "SELECT has_database_privilege(current_database(), 'CREATE')::int::bigint",
        NULL, 0, why);
    if (status == STATUS_OK && database_number(answer, 0, 0) != 1) {
        status = why_refuse(why,
                            "%s: this role may not make a schema, which each job has; remedy, by "
                            "who owns the database: GRANT CREATE ON DATABASE",
                            jobs->place);
    }
    database_answer_free(answer);
    return status;
}

void jobs_summary(char line[static JOBS_SUMMARY_BYTES], const struct jobs *jobs,
                  const struct jobs_row *rows, size_t count)
{
    if (!jobs->collects) {
        (void)snprintf(line, JOBS_SUMMARY_BYTES, "%zu up to %u\n", count,
                       count > 0 ? (unsigned)rows[count - 1].number : 0U);
        return;
    }
    size_t used = (size_t)snprintf(line, JOBS_SUMMARY_BYTES, "led");
    for (size_t i = 0; i < count && i < JOBS_LED_MAX; i++) {
        used += (size_t)snprintf(line + used, JOBS_SUMMARY_BYTES - used, " %u",
                                 (unsigned)rows[i].number);
    }
    (void)snprintf(line + used, JOBS_SUMMARY_BYTES - used, "\n");
}

bool jobs_is_led(struct jobs *jobs, uint32_t number)
{
    const char *told = NULL;
    char *rest = NULL;
    struct why ignored = {""};
    if (jobs_follow(jobs, &told, &ignored) != STATUS_OK) {
        return true;
    }
    bool found = false;
    for (told += strlen("led"); *told == ' ' && !found; told = rest) {
        found = strtoul(told, &rest, 10) == number;
    }
    return found;
}
