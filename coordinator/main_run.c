/* `hedgerow-coordinator run` and `check`. */

#include "base/exit_code.h"
#include "coordinator/main.h"
#include "coordinator/main_face.h"
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
#include <string.h>

#define PROGRAM "hedgerow-coordinator"

/* What an agent has to read its records in, before rounds go on without it until it is ready. */
enum { SETTLE_MS = 10000 };

struct run {
    struct office office;
    struct daemon daemon;
    struct coordinator *coordinator;
    struct face face;
    struct shelf shelf;
};

static enum status make(void *self, struct machine *machine, struct journal *journal,
                        struct why *why)
{
    struct run *run = self;
    struct journal_sqlite_options journal_options = {.folder = run->office.settings.state,
                                                     .kind = "coordinator"};
    struct coordinator_options options = {.job = &run->office.job,
                                          .text = {run->office.text, run->office.text_size},
                                          .random = &run->daemon.random,
                                          .log = &run->daemon.log,
                                          .dictionaries = {shelf_has, shelf_put, &run->shelf},
                                          .answer_bytes_max =
                                              run->office.settings.message_bytes_max,
                                          .linger_ms = run->office.settings.linger_ms,
                                          .settle_ms = SETTLE_MS};
    run->shelf = (struct shelf){&run->office, &run->daemon.log};
    enum status status = journal_sqlite_open(journal, &journal_options, why);

    if (status != STATUS_OK) {
        return status;
    }
    status = office_make_out(&run->office, why); /* it may be inside the journal's folder */
    if (status != STATUS_OK) {
        journal_close(journal);
        return status;
    }
    status = coordinator_new(&run->coordinator, &options);
    if (status != STATUS_OK) {
        if (status == STATUS_INVALID) {
            why_set(why, "the job's model is larger than message_mb_max of the settings allows");
        }
        journal_close(journal);
        return status;
    }
    *machine = coordinator_machine(run->coordinator);
    face_begin(&run->face, run->coordinator, journal);
    return STATUS_OK;
}

static void unmake(void *self, struct machine *machine, struct journal *journal)
{
    struct run *run = self;
    face_pause(&run->face);
    coordinator_free(run->coordinator);
    run->coordinator = NULL;
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

static enum status drive(struct run *run, int *exit_code, struct why *why)
{
    struct endpoint_options options = {.address = run->office.settings.listen,
                                       .key = &run->office.key,
                                       .log = &run->daemon.log,
                                       .payload_bytes_max = CHUNK_BYTES_MAX};
    struct driver_factory factory = {.self = run, .make = make, .unmake = unmake};
    struct driver_options driver = {.log = &run->daemon.log,
                                    .roster_path = run->office.settings.agents};
    enum status status = endpoint_listen(&driver.endpoint, &options, why);

    if (status != STATUS_OK) {
        return status;
    }
#ifdef HEDGEROW_OBSERVED
    driver.observe = kill_at_observe;
#endif
    log_event(&run->daemon.log, LOG_INFO, "coordinator-started", NULL,
              "job \"%s\", listening on %s", run->office.job.name,
              endpoint_address(driver.endpoint));
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
    bool failed = false;
    enum status status =
        office_publish(&run->office, arguments->seeded, arguments->seed, &failed, why);
    if (status == STATUS_AGAIN) {
        log_event(&run->daemon.log, LOG_INFO, "coordinator-stopped", NULL,
                  "stopped before the job's end; start it again to go on");
        return STATUS_OK;
    }
    if (status == STATUS_OK) { /* a signal after the job's end changes nothing of how it ended */
        *exit_code = failed ? EXIT_CODE_JOB_FAILED : EXIT_CODE_OK;
    }
    if (status == STATUS_OK) {
        log_event(&run->daemon.log, LOG_INFO, "result-written", NULL,
                  "result.json, and the model if there is one, are in %s",
                  run->office.settings.out);
    }
    return status;
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
        status = office_read_job(&run->office, &why);
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
        status = publish(run, arguments, &exit_code, &why);
    }
    exit_code = daemon_end(&run->daemon, PROGRAM, exit_code, status, &why);
    office_free(&run->office);
    return exit_code;
}
