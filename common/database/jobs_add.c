/* What operators do with a queue in a database (jobs.c): they add jobs and cancel them, whoever leads. */

#include "crypto/random.h"
#include "database/jobs_private.h"

enum { ADD_TRIES = 100 };

enum status jobs_draw(struct digest *id, struct why *why)
{
    const enum status status = random_once(id->byte, DIGEST_BYTES);
    if (status != STATUS_OK) {
        why_set(why, "the operating system's random source cannot be read");
    }
    return status;
}

/* Adds it where nobody has added any since: so what was found then is still so, but for jobs that ended. */
static enum status add_behind(struct jobs *jobs, bool *added, const struct jobs_new_job *job,
                              const struct digest *id, int64_t last, struct why *why)
{
    const struct database_value value[] = {
        database_of_bytes(job->text), database_of_words(job->submitter),
        database_of_bytes((struct slice){id->byte, DIGEST_BYTES}),
        database_of_words(job->submitted), database_of_number(last)};
    struct pg_result *answer = NULL;
    const enum status status =
        jobs_ask(jobs, &answer,
                 "WITH next AS (UPDATE hedgerow_queue SET last = last + 1 WHERE last = $5"
                 " RETURNING last)"
                 " INSERT INTO hedgerow_job (number, text, submitter, submission, submitted)"
                 " SELECT last, $1, convert_from($2, 'UTF8'), $3, convert_from($4, 'UTF8')"
                 " FROM next ON CONFLICT (submitter, submission) DO NOTHING RETURNING number",
                 value, 5, why);
    *added = status == STATUS_OK && database_rows(answer) == 1;
    database_answer_free(answer);
    return status;
}

enum status jobs_add(struct jobs *jobs, uint32_t *number, const struct jobs_new_job *job,
                     struct why *why)
{
    struct digest id = {{0}};
    enum status status = job->id == NULL ? jobs_draw(&id, why) : STATUS_OK;
    id = job->id == NULL ? id : *job->id;
    *number = 0;
    for (int i = 0; i < ADD_TRIES && status == STATUS_OK; i++) {
        struct jobs_found found;
        bool added = false;
        status = jobs_find_at(jobs, &found, job->submitter, &id, why);
        if (status == STATUS_OK && found.number > 0) {
            *number = found.number;
            return job->id != NULL ? STATUS_EXISTS : STATUS_OK;
        }
        if (status == STATUS_OK && job->open_most > 0 && found.open >= job->open_most) {
            return why_fail(why, STATUS_REFUSED, "%s: %zu jobs of %s are open", jobs->place,
                            found.open, job->submitter);
        }
        if (status == STATUS_OK && found.last >= JOBS_NUMBER_MAX) {
            return why_refuse(why, "%s: no number is free behind %d; remedy: another database",
                              jobs->place, (int)JOBS_NUMBER_MAX);
        }
        if (status == STATUS_OK) {
            status = add_behind(jobs, &added, job, &id, found.last, why);
        }
        if (added) {
            *number = (uint32_t)(found.last + 1);
            return STATUS_OK;
        }
    }
    if (status == STATUS_OK) {
        status = why_fail(why, STATUS_AGAIN, "%s: many submit at the same time", jobs->place);
    }
    return status;
}

enum status jobs_cancel(struct jobs *jobs, uint32_t number, const char *line, struct why *why)
{
    const struct database_value value[] = {database_of_number(number), database_of_words(line)};
    struct pg_result *answer = NULL;
    enum status status =
        jobs_ask(jobs, &answer,
                 "UPDATE hedgerow_job SET cancel = coalesce(cancel, convert_from($2, 'UTF8'))"
                 " WHERE number = $1 AND ending IS NULL RETURNING number",
                 value, 2, why);
    if (status == STATUS_OK && database_rows(answer) != 1) {
        status = why_refuse(why, "job %u is over or does not exist: there is nothing to cancel",
                            (unsigned)number);
    }
    database_answer_free(answer);
    return status;
}
