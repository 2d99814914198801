/* What the coordinator's commands read first, and the results of a job. */

#include "base/file.h"
#include "base/owned.h"
#include "config/config.h"
#include "coordinator/main.h"
#include "coordinator/main_collect.h"
#include "coordinator/publish.h"
#include "coordinator/round.h"
#include "crypto/digest.h"
#include "database/database.h"
#include "database/journal_place.h"
#include "job/round.h"
#include "job/terms.h"
#include "job/trust.h"
#include "learn/blas.h"
#include "learn/model.h"
#include "protocol/wire.h"
#include "report/html.h"
#include "report/result.h"
#include "task/outcome.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REPORT_FROM_BYTES_MAX = 4 * 1024 * 1024 }; /* of result.json: other jobs wait meanwhile */

/* What is a folder is judged where it is opened. */
static enum status check_url(const char *place, const char *key, const char *path, struct why *why)
{
    struct why cause = {""};
    const enum status status = journal_is_shared(place) ? database_check(place, &cause) : STATUS_OK;
    if (status != STATUS_OK) {
        why_set(why, "%s: %s %s", path, key, cause.text);
    }
    return status;
}

enum status office_read_settings(struct office *office, const char *path, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    enum status status = config_load_owned(&text, &size, path, why);

    if (status == STATUS_OK) {
        status =
            coordinator_settings_parse(&office->settings, (struct slice){text, size}, path, why);
    }
    free(text);
    status = status == STATUS_OK ? check_url(office->settings.state, "state", path, why) : status;
    return status == STATUS_OK ? check_url(office->settings.jobs, "jobs", path, why) : status;
}

enum status office_has_operators(const struct office *office, struct why *why)
{
    return office->settings.operators.listen[0] != '\0'
               ? STATUS_OK
               : why_refuse(why, "the settings have no desk for operators; remedy: add a line "
                                 "`operators: {listen: \"tcp://0.0.0.0:7311\", list: operators}`");
}

enum status office_read_key(struct office *office, struct why *why)
{
    enum status status = owned_source(office->settings.key, why);
    return status == STATUS_OK ? key_secret_read(&office->key, office->settings.key, why) : status;
}

enum status office_read_job(struct office *office, struct why *why)
{
    const enum status status =
        config_load_owned(&office->text, &office->text_size, office->settings.job, why);
    return status == STATUS_OK ? office_parse_job(office, why) : status;
}

enum status office_parse_job(struct office *office, struct why *why)
{
    return job_parse(&office->job, (struct slice){office->text, office->text_size},
                     office->settings.job, why);
}

size_t office_at_once(const struct office *office)
{
    const bool stays = office->settings.jobs[0] != '\0';
    return blas_threads(office->settings.memory_bytes_max,
                        stays ? office->settings.jobs_at_once : 1);
}

struct office office_like(const struct office *office)
{
    return (struct office){.settings = office->settings, .jobs = office->jobs};
}

void office_free(struct office *office)
{
    key_pair_wipe(&office->key);
    job_free(&office->job);
    free(office->text);
    memset(office, 0, sizeof *office);
}

/* What the first record says of who has begun the job. */
static enum status visit_first(void *self, UNUSED uint64_t sequence, struct slice body,
                               UNUSED struct slice blob)
{
    enum job_age *age = self;
    struct record record;
    if (wire_decode_record(&record, body) == STATUS_OK) {
        *age = record.kind == RECORD_JOB
                   ? job_age_of(record.as.job.trees, record.as.job.shares, record.as.job.protocol)
                   : JOB_OF_NOW;
        record_free(&record);
    }
    return STATUS_EXISTS; /* enough was read */
}

/* read: the outcome of reading. Later code tells what is damaged or gone. A database that is away may be back by then, so nothing
 * is concluded from that. */
static enum status parse_older(struct job *out, const struct office *office, enum status read,
                               enum job_age age, struct why *why)
{
    if (read == STATUS_AGAIN || read == STATUS_BUSY || read == STATUS_NO_MEMORY) {
        return read;
    }
    why->text[0] = '\0';
    return age != JOB_OF_NOW ? job_parse_older(out, (struct slice){office->text, office->text_size},
                                               age, office->settings.job, why)
                             : STATUS_OK;
}

enum status office_read_older(struct job *out, const struct office *office,
                              const struct journal *journal, struct why *why)
{
    enum job_age age = JOB_OF_NOW;
    enum status read = STATUS_OK;
    *out = (struct job){.stage_count = 0};
    if (job_differs_older(&office->job)) {
        read = journal->each(journal->self, visit_first, &age, why);
    }
    return parse_older(out, office, read, age, why);
}

struct replay {
    struct outcome outcome;
    struct job older; /* where it is this one */
    const struct job *job;
    struct digest text;
    int64_t first_ms;
    int64_t last_ms;
    uint32_t answers; /* in the latest round */
    char because[RECORD_CAUSE_BYTES];
    void (*show)(void *self, const struct record *round); /* may be NULL */
    void *show_self;
};

static enum status visit(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    struct replay *replay = self;
    struct record record;
    enum status status = wire_decode_record(&record, body);

    if (status == STATUS_OK) {
        replay->first_ms = sequence == 1 ? record.wall_ms : replay->first_ms;
        replay->last_ms = record.wall_ms;
        if (record.kind == RECORD_ROUND) {
            replay->answers = record.as.round.agent_count;
            memcpy(replay->because, record.as.round.cause, sizeof replay->because);
        }
        const bool foreign = record.kind == RECORD_JOB &&
                             !digest_equal(&record.as.job.job.text_digest, &replay->text);
        status =
            foreign ? STATUS_FOREIGN : outcome_add(&replay->outcome, replay->job, &record, blob);
        if (status == STATUS_OK && replay->show != NULL && record.kind == RECORD_ROUND &&
            !record.as.round.failed) {
            replay->show(replay->show_self, &record);
        }
        record_free(&record);
    }
    return status;
}

/* Into the folder of the results. */
static enum status put_file(void *self, const char *name, struct slice bytes, struct why *why)
{
    char path[SETTINGS_PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/%s", (const char *)self, name);
    return file_write(path, bytes, 0644, why);
}

static enum status put_text(const struct office_shelf *shelf, const char *name, const char *text,
                            struct why *why)
{
    return shelf->put(shelf->self, name, (struct slice){text, strlen(text)}, why);
}

/* The result for people, as `hedgerow report` draws it; a result of millions of numbers is no page. */
static enum status write_report(const struct office_shelf *shelf, const struct result *result,
                                size_t result_bytes, struct why *why)
{
    char *page = NULL;
    if (result_bytes > REPORT_FROM_BYTES_MAX) {
        return STATUS_OK;
    }
    enum status status = html_report(&page, result);
    if (status == STATUS_OK) {
        status = put_text(shelf, "report.html", page, why);
    }
    free(page);
    return status;
}

static enum status write_results(const struct office_shelf *shelf, const struct replay *replay,
                                 const struct publish_options *options, struct why *why)
{
    struct result result;
    struct model model = {0};
    char *result_text = NULL;
    char *model_text = NULL;
    enum status status;

    result_init(&result);
    status = publish_result(&result, &replay->outcome, options);
    if (status == STATUS_OK) {
        status = result_to_json(&result_text, &result);
    }
    if (status == STATUS_OK) {
        status = put_text(shelf, "result.json", result_text, why);
    }
    if (status == STATUS_OK) {
        status = write_report(shelf, &result, strlen(result_text), why);
    }
    if (status == STATUS_OK && !replay->outcome.failed) {
        status = publish_model(&model, &replay->outcome, options);
        if (status == STATUS_OK) {
            status = model_to_json(&model_text, &model);
        }
        if (status == STATUS_OK) {
            status = put_text(shelf, "model.json", model_text, why);
        }
        status = status == STATUS_NOT_FOUND ? STATUS_OK : status; /* no stage made a model */
    }
    free(result_text);
    free(model_text);
    model_free(&model);
    result_free(&result);
    return status;
}

enum status office_make_out(const struct office *office, struct why *why)
{
    const char *out = office->settings.out;
    struct stat info;
    if (mkdir(out, 0755) != 0 && errno != EEXIST) {
        if (errno == ENOENT) {
            why_set(why, "%s cannot be made: %s; remedy: make the folder above it", out,
                    strerror(errno));
        } else {
            why_file(why, out, "made", errno);
        }
        return STATUS_IO;
    }
    if (stat(out, &info) != 0 || !S_ISDIR(info.st_mode)) {
        why_set(why, "%s: is not a folder, and the results are to go there; remedy: another `out`",
                out);
        return STATUS_EXISTS;
    }
    if (access(out, W_OK | X_OK) != 0) {
        why_set(why, "%s: cannot be written into: %s", out, strerror(errno));
        return STATUS_IO;
    }
    return STATUS_OK;
}

/* A round that failed was paid by those whose answers are in it. */
static struct job_end end_of(const struct replay *replay)
{
    const struct outcome *outcome = &replay->outcome;
    const struct job *job = replay->job;
    struct job_end end = {.begun = outcome->begun,
                          .finished = outcome->finished,
                          .failed = outcome->failed,
                          .cancelled = outcome->cancelled,
                          .first_ms = replay->first_ms,
                          .last_ms = replay->last_ms,
                          .rounds = outcome->rounds_closed - (outcome->failed ? 1 : 0)};
    const uint32_t paid = end.rounds + (end.failed && replay->answers > 0 ? 1 : 0);
    if (paid > 0) {
        const struct cost sums = round_cost(job, &job->filter, paid);
        end.spent = terms_price(&job->filter, &sums);
    }
    memcpy(end.because, replay->because, sizeof end.because);
    return end;
}

static enum status replay_journal(struct replay *replay, const struct office *office, bool history,
                                  struct why *why)
{
    enum job_age age = JOB_OF_NOW;
    enum status read = STATUS_OK;
    replay->job = &office->job;
    digest_sha256(&replay->text, &(struct slice){office->text, office->text_size}, 1);
    if (job_differs_older(&office->job)) {
        read = journal_read(office->settings.state, office->number, "coordinator", visit_first,
                            &age, why);
    }
    const enum status status = parse_older(&replay->older, office, read, age, why);
    if (status != STATUS_OK) {
        return status;
    }
    replay->job = age != JOB_OF_NOW ? &replay->older : &office->job;
    outcome_init(&replay->outcome, replay->job, history ? OUTCOME_KEEPS : OUTCOME_FORGETS);
    return journal_read(office->settings.state, office->number, "coordinator", visit, replay, why);
}

static void replay_free(struct replay *replay)
{
    outcome_free(&replay->outcome);
    job_free(&replay->older);
}

enum status office_look(const struct office *office, struct job_end *end,
                        void (*show)(void *self, const struct record *round), void *self,
                        struct why *why)
{
    struct replay replay = {.show = show, .show_self = self};
    enum status status = replay_journal(&replay, office, false, why);
    *end = end_of(&replay);
    replay_free(&replay);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status office_publish(const struct office *office, const struct office_shelf *shelf,
                           bool seeded, uint64_t seed, struct job_end *end, struct why *why)
{
    char folder[SETTINGS_PATH_BYTES];
    const struct office_shelf out = {put_file, folder};
    struct replay replay = {.show = NULL};
    memcpy(folder, office->settings.out, sizeof folder);
    enum status status = replay_journal(&replay, office, true, why);
    if (status == STATUS_AGAIN) { /* a database is away, which is not the job's end */
        status = STATUS_IO;
    }
    if (status == STATUS_OK && !replay.outcome.finished) {
        status = STATUS_AGAIN;
    }
    if (status == STATUS_OK) {
        struct publish_options options = {.job = replay.job,
                                          .seeded = seeded,
                                          .seed = seed,
                                          .seconds =
                                              (double)(replay.last_ms - replay.first_ms) / 1000.0};
        status = write_results(shelf == NULL ? &out : shelf, &replay, &options, why);
        status = status == STATUS_AGAIN ? STATUS_IO : status; /* likewise */
    }
    *end = end_of(&replay);
    replay_free(&replay);
    return status;
}

/* After a database is put back to an older state, a round is closed again. Where sites answer with the bytes they have paid
 * for, that reveals nothing. Where the coordinator draws, it would draw again on the same exact sum, for one charge: a
 * folder's mark guards against that, and a database has none. */
static enum status judge_place(const struct office *office, struct why *why)
{
    const bool queue = journal_is_shared(office->settings.jobs);
    return (queue || journal_is_shared(office->settings.state)) &&
                   trust_of(&office->job)->exact_answers
               ? why_refuse(why,
                            "%s: under trust %s the journal cannot be in a database, which may be "
                            "put back to an older state; remedy: a folder as `%s`, or another "
                            "trust",
                            office->settings.job, trust_of(&office->job)->name,
                            queue ? "jobs" : "state")
               : STATUS_OK;
}

enum status office_judge(const struct office *office, struct why *why)
{
    enum status status = judge_place(office, why);
    if (status == STATUS_OK) {
        status = collect_judge(office, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    return coordinator_fits(&office->job, office->settings.message_bytes_max)
               ? STATUS_OK
               : why_refuse(why,
                            "%s: the job's model is larger than message_mb_max of the settings "
                            "allows; remedy: a larger message_mb_max, or fewer features",
                            office->settings.job);
}
