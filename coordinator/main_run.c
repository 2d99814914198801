/* `hedgerow-coordinator run` and `check`. */

#include "base/exit_code.h"
#include "coordinator/main.h"
#include "coordinator/main_lane.h"
#include "coordinator/main_lead.h"
#include "database/journal_place.h"
#include "io/endpoint.h"
#include "io/process.h"
#include "io/variant.h"
#include "learn/blas.h"
#include "protocol/message.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>

enum { PUBLISH_TRIES = 60, PUBLISH_PAUSE_MS = 1000, AGAIN_PAUSE_MS = 500 };

/* Whether other coordinators share the job, or the queue. */
static bool is_shared(const struct run *run)
{
    return run->stays ? queue_is_shared(&run->office)
                      : journal_is_shared(run->office.settings.state);
}

/* Listens and runs machines until the end, or until another coordinator leads. */
static enum status serve(struct run *run, bool *listens, int *exit_code, struct why *why)
{
    const char *lines = run->office.settings.lines;
    struct endpoint_options options = {.address = run->office.settings.listen,
                                       .lines = lines[0] == '\0' ? NULL : lines,
                                       .key = &run->office.key,
                                       .log = &run->daemon.log,
                                       .payload_bytes_max = CHUNK_BYTES_MAX};
    struct driver_factory factory = {
        .self = &run->lane[0], .make = lane_make, .unmake = lane_unmake};
    struct driver_file file[DRIVER_LANES_MAX];
    void *lane[DRIVER_LANES_MAX];
    struct driver_options driver = {
        .log = &run->daemon.log,
        .work_at_once = office_at_once(&run->office),
        .roster_path = run->office.settings.agents,
        .operators_path = run->office.settings.operators.list,
        .file = file,
        .file_count = run->stays ? DRIVER_LANES_MAX : 0,
        .lost = is_shared(run) && !collect_is_collector(&run->office) ? lane_is_lost : NULL,
        .lost_self = run};
    enum status status = endpoint_listen(&driver.endpoint, &options, why);

    *listens = status == STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    driver.observe = program_variant.observe;
    if (run->stays) {
        char place[QUEUE_PATH_BYTES];
        queue_describe(place, &run->office);
        lane_follow_queue(run, &factory, file, lane);
        log_event(&run->daemon.log, LOG_INFO, "coordinator-started", NULL,
                  "queue %s, listening on %s", place, endpoint_address(driver.endpoint));
    } else {
        log_event(&run->daemon.log, LOG_INFO, "coordinator-started", NULL,
                  "job \"%s\", listening on %s", run->office.job.name,
                  endpoint_address(driver.endpoint));
        lane_warn_of_questions(&run->lane[0]);
    }
    lane_follow_others(run, &driver);
    desk_child_join(&run->desk, &driver);
    face_join(&run->face, &driver);
    declined_join(&run->declined, run, &driver);
    status = driver_run(&driver, &factory, exit_code, why);
    face_part(&run->face);
    endpoint_free(driver.endpoint);
    return status;
}

static enum status open_led(void *self, struct why *why)
{
    struct run *run = self;
    const struct journal_options options = {.place = run->office.settings.state,
                                            .kind = "coordinator"};
    return journal_open(&run->led, &options, why);
}

/* A coordinator that takes the lead of a queue sees first what it has come to. */
static enum status lead_queue(void *self, struct why *why)
{
    struct run *run = self;
    stay_forget(&run->stay);
    const enum status status = queue_lead(&run->office, why);
    return status == STATUS_OK ? lane_choose(run, why) : status;
}

/* A collector leads nothing: it waits for the database alone. */
static enum status follow_queue(void *self, struct why *why)
{
    struct run *run = self;
    stay_forget(&run->stay);
    return lane_choose(run, why);
}

/* Its page says that it stands by, and its desk is open. */
static void stand_by(void *self, int64_t wait_ms)
{
    struct run *run = self;
    face_stand_by(&run->face, wait_ms);
    desk_child_look(&run->desk);
}

/* Waits until there is something to do here, or a signal says that there is not. */
static enum status await_turn(struct run *run, struct why *why)
{
    const bool collects = collect_is_collector(&run->office);
    const struct lead_options options = {.attempt = !run->stays ? open_led
                                                    : collects  ? follow_queue
                                                                : lead_queue,
                                         .self = run,
                                         .log = &run->daemon.log,
                                         .what = collects     ? NULL
                                                 : run->stays ? "the queue"
                                                              : "the job",
                                         .wait = stand_by,
                                         .wait_self = run};
    if (collects && !run->stays) {
        return collect_await(&run->lane[0].collect, face_stand_by, &run->face, why);
    }
    return is_shared(run) ? lead_await(&options, &run->signal, why) : STATUS_OK;
}

/* A coordinator that stands by does not listen for agents: they find the one that leads. */
static enum status lead_and_serve(struct run *run, int *exit_code, struct why *why)
{
    bool listens = false;
    enum status status;
    do {
        status = await_turn(run, why);
        if (status == STATUS_OK && run->signal == 0) {
            status = serve(run, &listens, exit_code, why);
        } else if (status == STATUS_OK) {
            *exit_code = run->signal == SIGINT ? EXIT_CODE_INTERRUPTED : EXIT_CODE_OK;
        }
        journal_close(&run->led);
        collect_leave(&run->lane[0].collect);
        for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
            lane_part(&run->lane[i]);
        }
        if (run->stays && status == STATUS_AGAIN) { /* it may answer, and refuse the same again */
            stand_by(run, AGAIN_PAUSE_MS);
        }
    } while (is_shared(run) && listens && lead_is_lost(status));
    return status;
}

static enum status drive(struct run *run, int *exit_code, struct why *why)
{
    enum status status =
        run->stays ? collect_judge_names(&run->office, why) : office_judge(&run->office, why);
    if (status == STATUS_OK && !run->stays && !is_shared(run)) {
        status =
            open_led(run, why); /* before it listens: a second program is told of the journal */
    }
    if (status == STATUS_OK) {
        status = face_open(&run->face, &run->office, &run->daemon.log, why);
    }
    if (status != STATUS_OK) {
        journal_close(&run->led);
        return status;
    }
    desk_child_begin(&run->desk, &run->office, &run->daemon.log, run->config);
    status = lead_and_serve(run, exit_code, why);
    desk_child_end(&run->desk);
    face_close(&run->face);
    return status;
}

/* What is in the journal by now: the whole job, or - after a signal - nothing to publish yet. */
static enum status publish(const struct run *run, const struct arguments *arguments, int *exit_code,
                           struct why *why)
{
    struct job_end end;
    enum status status =
        office_publish(&run->office, NULL, arguments->seeded, arguments->seed, &end, why);
    for (int i = 0;
         status == STATUS_IO && journal_is_shared(run->office.settings.state) && i < PUBLISH_TRIES;
         i++) { /* the database may be away just now */
        (void)poll(NULL, 0, PUBLISH_PAUSE_MS);
        status = office_publish(&run->office, NULL, arguments->seeded, arguments->seed, &end, why);
    }
    if (status == STATUS_AGAIN) {
        log_event(&run->daemon.log, LOG_INFO, "coordinator-stopped", NULL,
                  "stopped before the job's end; start it again to go on");
        return STATUS_OK;
    }
    if (status == STATUS_OK) { /* a signal after the job's end changes nothing of how it ended */
        *exit_code = end.failed ? EXIT_CODE_JOB_FAILED : EXIT_CODE_OK;
        log_event(&run->daemon.log, LOG_INFO, "result-written", NULL,
                  "result.json, report.html and the model, if there is one, are in %s",
                  run->office.settings.out);
    }
    return status;
}

/* What there is to run: the one job, or those of the queue, if it has any. */
static enum status find_job(struct run *run, const struct arguments *arguments, struct why *why)
{
    run->stays = run->office.settings.jobs[0] != '\0';
    lane_set_all(run);
    if (!run->stays) {
        lane_collect(&run->lane[0]);
        return office_read_job(&run->office, why);
    }
    run->stay.office = &run->office;
    run->stay.log = &run->log;
    run->stay.seeded = arguments->seeded;
    run->stay.seed = arguments->seed;
    run->stay.observe = program_variant.observe;
    enum status status = queue_open(&run->office, why);
    if ((status == STATUS_OK || status == STATUS_AGAIN) && collect_is_collector(&run->office)) {
        queue_collect(&run->office);
    }
    if (is_shared(run)) { /* one that is away is tried again, and the leader chooses */
        return status == STATUS_AGAIN ? STATUS_OK : status;
    }
    if (status == STATUS_OK) { /* before it says a word of a job, or listens */
        status = queue_lead(&run->office, why);
    }
    return status == STATUS_OK ? lane_choose(run, why) : status;
}

/* After a signal: jobs whose end is in their journals; one that was put off may have none yet. The next leader files what
 * cannot be filed here. */
static enum status file_all(struct run *run, struct why *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < STAY_JOBS_MAX && status == STATUS_OK; i++) {
        struct queue_kept kept = {.begun = true};
        const struct stay_job *job = &run->stay.job[i];
        status = stay_file_behind(&run->stay, &run->stay.job[i], why);
        if (status == STATUS_NOT_FOUND &&
            queue_peek(&kept, &run->office, job->number, why) == STATUS_OK) {
            status = kept.begun ? status : STATUS_OK;
        }
    }
    return lead_is_lost(status) ? STATUS_OK : status;
}

int main_run(const struct arguments *arguments)
{
    static struct run only;
    struct run *run = &only;
    struct why why = {{0}};
    int exit_code = EXIT_CODE_INTERNAL;
    run->config = arguments->config;
    enum status status = office_read_settings(&run->office, arguments->config, &why);

    if (status == STATUS_OK) {
        blas_reserve(office_at_once(&run->office));
        status = daemon_start(&run->daemon, &run->office.settings.log,
                              run->office.settings.memory_bytes_max, &why);
    }
    process_return_memory();
    if (status == STATUS_OK) {
        status = office_read_key(&run->office, &why);
    }
    if (status == STATUS_OK) {
        status = find_job(run, arguments, &why);
    }
    if (status == STATUS_OK && arguments->seeded) {
        status = daemon_seed(&run->daemon, run->office.settings.simulated, "the choices come",
                             arguments->seed, &why);
    }
    if (status == STATUS_OK) {
        status = drive(run, &exit_code, &why);
    }
    if (status == STATUS_OK && run->signal == 0) {
        daemon_let_hurry(&run->daemon);
        status = collect_is_collector(&run->office) ? STATUS_OK
                 : run->stays                       ? file_all(run, &why)
                                                    : publish(run, arguments, &exit_code, &why);
    }
    exit_code = daemon_end(&run->daemon, PROGRAM, exit_code, status, &why);
    stay_free(&run->stay);
    queue_close(&run->office);
    office_free(&run->office);
    return exit_code;
}
