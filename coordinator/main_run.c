/* `hedgerow-coordinator run` and `check`. */

#include "base/exit_code.h"
#include "config/config.h"
#include "coordinator/idle.h"
#include "coordinator/main.h"
#include "coordinator/main_face.h"
#include "coordinator/main_stay.h"
#include "coordinator/round.h"
#include "io/daemon.h"
#include "io/driver.h"
#include "io/endpoint.h"
#include "io/journal.h"
#include "io/roster.h"
#include "job/round.h"
#include "protocol/message.h"
#include "query/query.h"
#ifdef HEDGEROW_SEEDED
#include "tests/support/seeded_random.h"
#define RANDOM seeded_random_of_program
#else
#define RANDOM NULL
#endif
#ifdef HEDGEROW_OBSERVED
#include "tests/support/kill_at.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "hedgerow-coordinator"

/* What an agent has to read its records in, before rounds go on without it until it is ready. */
enum { SETTLE_MS = 10000 };

struct run {
    struct office office;
    struct daemon daemon;
    struct coordinator *coordinator; /* NULL while no job runs */
    struct idle *idle;
    char *cancel; /* what the running job's file of that name says, owned; NULL: nothing */
    size_t cancel_size;
    struct face face;
    struct shelf shelf;
    bool stays; /* the settings name a queue */
    struct stay stay;
};

static struct dictionary_sink dictionaries(struct run *run)
{
    run->shelf = (struct shelf){&run->office, &run->daemon.log};
    return (struct dictionary_sink){shelf_has, shelf_put, &run->shelf};
}

static enum status no_records(UNUSED void *self, UNUSED journal_visit *visit,
                              UNUSED void *visit_self, UNUSED struct why *why)
{
    return STATUS_OK;
}

static const char *no_trouble(UNUSED const void *self)
{
    return "";
}

static void no_close(UNUSED void *self)
{
}

/* While no job of the queue can run. */
static enum status make_idle(struct run *run, struct machine *machine, struct journal *journal)
{
    const struct dictionary_sink sink = dictionaries(run);
    const struct slice names = {run->stay.list.names, run->stay.list.names_size};
    enum status status = idle_new(&run->idle, names, &sink, &run->daemon.log);
    if (status == STATUS_OK) {
        *machine = idle_machine(run->idle);
        *journal = (struct journal){.each = no_records, .trouble = no_trouble, .close = no_close};
        face_idle(&run->face);
        log_event(&run->daemon.log, LOG_INFO, "queue-empty", NULL,
                  "no job waits: `" PROGRAM " submit` brings one");
    }
    return status;
}

static void drop_cancel(struct run *run)
{
    free(run->cancel);
    run->cancel = NULL;
    run->cancel_size = 0;
}

/* What has to stand before the job's machine starts: that it has begun is kept for ever, so that a folder of which a part is
 * gone never begins again; and who has cancelled it, for a round that cannot open is no reason to go on. */
static enum status begin_of_queue(struct run *run, struct why *why)
{
    enum status status = queue_mark_begun(&run->office, run->stay.number, why);
    if (status == STATUS_OK && access(run->stay.cancel, F_OK) == 0) {
        status = config_load_owned(&run->cancel, &run->cancel_size, run->stay.cancel, why);
    }
    return status;
}

static enum status make_job(struct run *run, struct machine *machine, struct journal *journal,
                            struct why *why)
{
    struct journal_sqlite_options journal_options = {.folder = run->office.settings.state,
                                                     .kind = "coordinator"};
    struct coordinator_options options = {.job = &run->office.job,
                                          .text = {run->office.text, run->office.text_size},
                                          .random = &run->daemon.random,
                                          .log = &run->daemon.log,
                                          .dictionaries = dictionaries(run),
                                          .answer_bytes_max =
                                              run->office.settings.message_bytes_max,
                                          .linger_ms = run->office.settings.linger_ms,
                                          .settle_ms = SETTLE_MS};
    enum status status = office_judge(&run->office, why);

    if (status == STATUS_OK) {
        status = journal_sqlite_open(journal, &journal_options, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = office_make_out(&run->office, why); /* it may be inside the journal's folder */
    if (status == STATUS_OK && run->stays) {
        status = begin_of_queue(run, why);
    }
    if (status == STATUS_OK) {
        options.cancelled = (struct slice){run->cancel, run->cancel_size};
        status = coordinator_new(&run->coordinator, &options);
    }
    if (status != STATUS_OK) {
        drop_cancel(run);
        journal_close(journal);
        return status;
    }
    *machine = coordinator_machine(run->coordinator);
    face_begin(&run->face, run->coordinator, journal);
    run->face.number = run->stay.number;
    return STATUS_OK;
}

static enum status make(void *self, struct machine *machine, struct journal *journal,
                        struct why *why)
{
    struct run *run = self;
    return run->stays && run->stay.number == 0 ? make_idle(run, machine, journal)
                                               : make_job(run, machine, journal, why);
}

static void unmake(void *self, struct machine *machine, struct journal *journal)
{
    struct run *run = self;
    face_pause(&run->face);
    coordinator_free(run->coordinator);
    run->coordinator = NULL;
    drop_cancel(run);
    idle_free(run->idle);
    run->idle = NULL;
    memset(machine, 0, sizeof *machine);
    journal_close(journal);
}

/* Questions that compare with what lies outside a column's public range: allowed, and seldom meant. */
static void warn_of_questions(struct run *run)
{
    const struct job *job = &run->office.job;
    struct why first = {""};
    size_t count = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct query_set *set = round_queries(&job->stage[i]);
        for (size_t j = 0; j < set->count; j++) {
            count += query_has_note(&set->query[j], count == 0 ? &first : NULL) ? 1 : 0;
        }
    }
    if (count > 0) {
        log_event(&run->daemon.log, LOG_WARN, "question-out-of-range", NULL,
                  "%s; such questions of the job: %zu (`hedgerow plan job` names them)", first.text,
                  count);
    }
}

/* The job that ran is over, or the queue has changed while none could. */
static enum status next(void *self, UNUSED int exit_code, bool *more, struct why *why)
{
    struct run *run = self;
    enum status status = stay_file(&run->stay, why);
    if (status == STATUS_OK) {
        status = stay_choose(&run->stay, why);
    }
    if (status == STATUS_OK && run->stay.number > 0) {
        warn_of_questions(run);
    }
    *more = status == STATUS_OK;
    return status;
}

static enum status drive(struct run *run, int *exit_code, struct why *why)
{
    struct endpoint_options options = {.address = run->office.settings.listen,
                                       .key = &run->office.key,
                                       .log = &run->daemon.log,
                                       .payload_bytes_max = CHUNK_BYTES_MAX};
    struct driver_factory factory = {
        .self = run, .make = make, .unmake = unmake, .next = run->stays ? next : NULL};
    const struct driver_file file[] = {
        {.path = run->stay.cancel, .which = FOLLOWED_CANCEL, .optional = true},
        {.path = run->office.settings.jobs, .which = FOLLOWED_JOBS, .folder = true}};
    struct driver_options driver = {.log = &run->daemon.log,
                                    .roster_path = run->office.settings.agents,
                                    .file = file,
                                    .file_count = run->stays ? sizeof file / sizeof file[0] : 0};
    enum status status = endpoint_listen(&driver.endpoint, &options, why);

    if (status != STATUS_OK) {
        return status;
    }
#ifdef HEDGEROW_OBSERVED
    driver.observe = kill_at_observe;
#endif
    if (run->stays) {
        log_event(&run->daemon.log, LOG_INFO, "coordinator-started", NULL,
                  "queue %s, listening on %s", run->office.settings.jobs,
                  endpoint_address(driver.endpoint));
    } else {
        log_event(&run->daemon.log, LOG_INFO, "coordinator-started", NULL,
                  "job \"%s\", listening on %s", run->office.job.name,
                  endpoint_address(driver.endpoint));
    }
    warn_of_questions(run);
    status = face_open(&run->face, &run->office, &run->daemon.log, &driver, why);
    if (status == STATUS_OK) {
        status = driver_run(&driver, &factory, exit_code, why);
    }
    face_close(&run->face);
    endpoint_free(driver.endpoint);
    return status;
}

/* What is in the journal by now: the whole job, or - after a signal - nothing to publish yet. */
static enum status publish(const struct run *run, const struct arguments *arguments, int *exit_code,
                           struct why *why)
{
    struct job_end end;
    enum status status =
        office_publish(&run->office, arguments->seeded, arguments->seed, &end, why);
    if (status == STATUS_AGAIN) {
        log_event(&run->daemon.log, LOG_INFO, "coordinator-stopped", NULL,
                  "stopped before the job's end; start it again to go on");
        return STATUS_OK;
    }
    if (status == STATUS_OK) { /* a signal after the job's end changes nothing of how it ended */
        *exit_code = end.failed ? EXIT_CODE_JOB_FAILED : EXIT_CODE_OK;
        log_event(&run->daemon.log, LOG_INFO, "result-written", NULL,
                  "result.json, and the model if there is one, are in %s",
                  run->office.settings.out);
    }
    return status;
}

/* What there is to run: the one job, or the first of the queue, if it has any. */
static enum status find_job(struct run *run, const struct arguments *arguments, struct why *why)
{
    run->stays = run->office.settings.jobs[0] != '\0';
    if (!run->stays) {
        return office_read_job(&run->office, why);
    }
    run->stay = (struct stay){.office = &run->office,
                              .log = &run->daemon.log,
                              .seeded = arguments->seeded,
                              .seed = arguments->seed};
#ifdef HEDGEROW_OBSERVED
    run->stay.observe = kill_at_observe;
#endif
    enum status status = queue_open(&run->office, why);
    return status == STATUS_OK ? stay_choose(&run->stay, why) : status;
}

int main_run(const struct arguments *arguments)
{
    static struct run only;
    struct run *run = &only;
    struct why why = {{0}};
    int exit_code = EXIT_CODE_INTERNAL;
    enum status status = office_read_settings(&run->office, arguments->config, &why);

    if (status == STATUS_OK) {
        status = daemon_start(&run->daemon, &run->office.settings.log,
                              run->office.settings.memory_bytes_max, &why);
    }
    if (status == STATUS_OK) {
        status = office_read_key(&run->office, &why);
    }
    if (status == STATUS_OK) {
        status = find_job(run, arguments, &why);
    }
    if (status == STATUS_OK && arguments->seeded) {
        const struct daemon_seeding seeding = {RANDOM, run->office.settings.simulated,
                                               "the choices come"};
        status = daemon_seed(&run->daemon, &seeding, arguments->seed, &why);
    }
    if (status == STATUS_OK) {
        status = drive(run, &exit_code, &why);
    }
    if (status == STATUS_OK) {
        status =
            run->stays ? stay_file(&run->stay, &why) : publish(run, arguments, &exit_code, &why);
    }
    exit_code = daemon_end(&run->daemon, PROGRAM, exit_code, status, &why);
    stay_free(&run->stay);
    office_free(&run->office);
    return exit_code;
}
