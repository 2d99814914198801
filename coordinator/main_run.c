/* `hedgerow-coordinator run` and `check`. */

#include "base/exit_code.h"
#include "config/config.h"
#include "coordinator/idle.h"
#include "coordinator/main.h"
#include "coordinator/main_desk.h"
#include "coordinator/main_face.h"
#include "coordinator/main_lead.h"
#include "coordinator/main_stay.h"
#include "coordinator/round.h"
#include "database/journal_place.h"
#include "io/daemon.h"
#include "io/driver.h"
#include "io/endpoint.h"
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

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "hedgerow-coordinator"

/* What an agent has to read its records in, before rounds go on without it until it is ready. */
enum { SETTLE_MS = 10000 };

enum { PUBLISH_TRIES = 60, PUBLISH_PAUSE_MS = 1000 };

enum { TEXT_BYTES = 1100 }; /* of a line of the log, with the job before it */

struct run;

/* What stands on a lane of the driver: a job of the queue, the one job of the settings, or, on lane 0 of a queue, nothing
 * but an ear for agents whom no job asks. */
struct lane {
    struct run *run;
    const struct office *office; /* of its job */
    struct stay_job *job;        /* of the queue; NULL: of the settings, or none */
    struct coordinator *coordinator;
    struct log log; /* names the job in what its machine says, where there is a queue */
    char *cancel;   /* what the job's file of that name says, owned; NULL: nothing */
    size_t cancel_size;
};

struct run {
    struct office office;
    struct daemon daemon;
    struct lane lane[DRIVER_LANES_MAX];
    struct idle *idle;
    struct journal led; /* that lead_await opened, until a machine is made for it */
    struct journal own; /* a shared journal while it is open, to ask whether it is lost */
    struct face face;
    struct desk_child desk;
    const char *config; /* the settings' path */
    struct shelf shelf;
    bool stays; /* the settings name a queue */
    struct stay stay;
};

static struct dictionary_sink dictionaries(struct run *run)
{
    run->shelf = (struct shelf){&run->office, &run->daemon.log};
    return (struct dictionary_sink){shelf_has, shelf_put, &run->shelf};
}

/* Programs find the job in a field. A person is told in words, where there are several. */
static void write_of_job(void *self, const struct log_entry *entry)
{
    const struct lane *lane = self;
    const struct log *log = &lane->run->daemon.log;
    struct log_field field[LOG_FIELDS_MAX] = {{.name = "job", .number = lane->job->number}};
    struct log_entry of_job = *entry;
    char text[TEXT_BYTES];
    const size_t kept =
        entry->field_count < LOG_FIELDS_MAX ? entry->field_count : LOG_FIELDS_MAX - 1;
    for (size_t i = 0; i < kept; i++) {
        field[i + 1] = entry->field[i];
    }
    of_job.field = field;
    of_job.field_count = kept + 1;
    if (stay_count(&lane->run->stay) > 1) {
        (void)snprintf(text, sizeof text, "job %u: %s", (unsigned)lane->job->number, entry->text);
        of_job.text = text;
    }
    log->write(log->self, &of_job);
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

/* Tells that no job of the queue runs, where that is so. */
static void tell_empty(struct run *run)
{
    if (stay_count(&run->stay) == 0) {
        log_event(&run->daemon.log, LOG_INFO, "queue-empty", NULL,
                  "no job waits: `" PROGRAM " submit` brings one");
    }
}

/* For the agents whom no job of the queue asks. */
static enum status make_idle(struct run *run, struct machine *machine, struct journal *journal)
{
    const struct dictionary_sink sink = dictionaries(run);
    const struct slice names = {run->stay.list.names, run->stay.list.names_size};
    enum status status = idle_new(&run->idle, names, &sink, &run->daemon.log);
    if (status == STATUS_OK) {
        *machine = idle_machine(run->idle);
        *journal = (struct journal){.each = no_records, .trouble = no_trouble, .close = no_close};
        face_set_idle(&run->face, true);
        tell_empty(run);
    }
    return status;
}

static void drop_cancel(struct lane *lane)
{
    free(lane->cancel);
    lane->cancel = NULL;
    lane->cancel_size = 0;
}

/* A new journal in the place of one that somebody took away meanwhile would begin the job again, and have it paid again. */
static enum status check_journal(const struct lane *lane, struct why *why)
{
    const uint32_t number = lane->job->number;
    if (!queue_was_begun(lane->office, number) ||
        queue_holds(lane->office, number, "state/journal.db")) {
        return STATUS_OK;
    }
    why_set(why, "job %u has begun, and its journal is gone from %s", (unsigned)number,
            lane->office->settings.state);
    return STATUS_CORRUPT;
}

/* What has to stand before the job's machine starts: that it has begun is kept for ever, so that a folder of which a part is
 * gone never begins again; and who has cancelled it, for a round that cannot open is no reason to go on. */
static enum status begin_of_queue(struct lane *lane, struct why *why)
{
    enum status status = queue_mark_begun(lane->office, lane->job->number, why);
    if (status == STATUS_OK && access(lane->job->cancel, F_OK) == 0) {
        status = config_load_owned(&lane->cancel, &lane->cancel_size, lane->job->cancel, why);
    }
    return status;
}

static enum status make_job(struct lane *lane, struct machine *machine, struct journal *journal,
                            struct why *why)
{
    struct run *run = lane->run;
    const struct office *office = lane->office;
    const struct journal_options journal_options = {.place = office->settings.state,
                                                    .kind = "coordinator"};
    struct coordinator_options options = {.job = &office->job,
                                          .text = {office->text, office->text_size},
                                          .random = &run->daemon.random,
                                          .log = &lane->log,
                                          .dictionaries = dictionaries(run),
                                          .answer_bytes_max = office->settings.message_bytes_max,
                                          .whole_bytes_max = WHOLE_BYTES_MAX,
                                          .linger_ms = office->settings.linger_ms,
                                          .shows = office->settings.http.listen[0] != '\0',
                                          .settle_ms = SETTLE_MS};
    enum status status = office_judge(office, why);

    *journal = run->led;
    run->led = (struct journal){.self = NULL};
    if (status == STATUS_OK && lane->job != NULL) {
        status = check_journal(lane, why);
    }
    if (status == STATUS_OK && journal->self == NULL) {
        status = journal_open(journal, &journal_options, why);
    }
    if (status != STATUS_OK) {
        journal_close(journal);
        return status;
    }
    status = office_make_out(office, why); /* it may be inside the journal's folder */
    if (status == STATUS_OK && lane->job != NULL) {
        status = begin_of_queue(lane, why);
    }
    if (status == STATUS_OK) {
        options.cancelled = (struct slice){lane->cancel, lane->cancel_size};
        status = coordinator_new(&lane->coordinator, &options);
    }
    if (status != STATUS_OK) {
        drop_cancel(lane);
        journal_close(journal);
        return status;
    }
    run->own = *journal;
    *machine = coordinator_machine(lane->coordinator);
    face_begin(&run->face, (size_t)(lane - run->lane), lane->job != NULL ? lane->job->number : 0,
               &office->job, lane->coordinator, journal);
    return STATUS_OK;
}

_Static_assert(STAY_JOBS_MAX + 1 == DRIVER_LANES_MAX, "a lane for each job, and one for none");

/* Lane 0 of a queue has no job. */
static bool is_idle(const struct lane *lane)
{
    return lane->run->stays && lane->job == NULL;
}

static enum status make(void *self, struct machine *machine, struct journal *journal,
                        struct why *why)
{
    struct lane *lane = self;
    return is_idle(lane) ? make_idle(lane->run, machine, journal)
                         : make_job(lane, machine, journal, why);
}

static void unmake(void *self, struct machine *machine, struct journal *journal)
{
    struct lane *lane = self;
    struct run *run = lane->run;
    face_pause(&run->face, (size_t)(lane - run->lane));
    coordinator_free(lane->coordinator);
    lane->coordinator = NULL;
    drop_cancel(lane);
    if (is_idle(lane)) {
        face_set_idle(&run->face, false);
        idle_free(run->idle);
        run->idle = NULL;
    }
    run->own = (struct journal){.self = NULL};
    memset(machine, 0, sizeof *machine);
    journal_close(journal);
}

/* Questions that compare with what lies outside a column's public range: allowed, and seldom meant. */
static void warn_of_questions(const struct lane *lane)
{
    const struct job *job = &lane->office->job;
    struct why first = {""};
    size_t count = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct query_set *set = round_queries(&job->stage[i]);
        for (size_t j = 0; j < set->count; j++) {
            count += query_has_note(&set->query[j], count == 0 ? &first : NULL) ? 1 : 0;
        }
    }
    if (count > 0) {
        log_event(&lane->log, LOG_WARN, "question-out-of-range", NULL,
                  "%s; such questions of the job: %zu (`hedgerow plan job` names them)", first.text,
                  count);
    }
}

/* Looks which jobs of the queue run. */
static enum status choose(struct run *run, struct why *why)
{
    bool before[STAY_JOBS_MAX];
    for (size_t i = 0; i < STAY_JOBS_MAX; i++) {
        before[i] = run->stay.job[i].number != 0;
    }
    const enum status status = stay_choose(&run->stay, why);
    for (size_t i = 0; i < STAY_JOBS_MAX && status == STATUS_OK; i++) {
        if (run->stay.job[i].number != 0 && !before[i]) {
            warn_of_questions(&run->lane[i + 1]);
        }
    }
    return status;
}

/* A job is over, or cannot go on, or the queue has changed. A journal that is damaged or gone, and results that cannot be
 * written, stop their own job alone. */
static enum status next(void *self, enum status ended, bool *more, struct why *why)
{
    struct lane *lane = self;
    struct run *run = lane->run;
    struct stay_job *job = lane->job; /* NULL: the lane of the agents whom no job asks */
    enum status status = ended;
    bool is_aside = false;
    if (status == STATUS_OK && job != NULL) {
        status = stay_file(&run->stay, job, why);
        is_aside = status != STATUS_OK && status != STATUS_NO_MEMORY;
    }
    if ((is_aside || stay_is_damage(status)) && job != NULL) {
        status = stay_set_aside(&run->stay, job, status, why);
    }
    if (status == STATUS_OK) {
        status = choose(run, why);
    }
    if (status == STATUS_OK && job != NULL) {
        tell_empty(run);
    }
    *more = status == STATUS_OK && (job == NULL || job->number != 0);
    return status;
}

static bool wants(void *self)
{
    const struct lane *lane = self;
    return lane->job->number != 0;
}

/* A job hears the agents whom it asks. */
static size_t lane_of(void *self, const struct peer *peer)
{
    const struct run *run = self;
    for (size_t i = 1; i < DRIVER_LANES_MAX; i++) {
        if (run->lane[i].job->number != 0 && job_asks(&run->lane[i].office->job, peer->name)) {
            return i;
        }
    }
    return 0;
}

static bool is_lost(void *self)
{
    const struct run *run = self;
    return run->own.self != NULL && journal_is_lost(&run->own);
}

/* What the driver is told of the queue: the folder, and each job's file that cancels it. */
static void follow_queue(struct run *run, struct driver_factory *factory,
                         struct driver_file file[static DRIVER_LANES_MAX], void **lane)
{
    file[0] = (struct driver_file){
        .path = run->office.settings.jobs, .which = FOLLOWED_JOBS, .folder = true};
    lane[0] = &run->lane[0];
    for (size_t i = 1; i < DRIVER_LANES_MAX; i++) {
        file[i] = (struct driver_file){.path = run->lane[i].job->cancel,
                                       .which = FOLLOWED_CANCEL,
                                       .optional = true,
                                       .lane = i};
        lane[i] = &run->lane[i];
    }
    *factory = (struct driver_factory){.self = run,
                                       .lane = lane,
                                       .lane_count = DRIVER_LANES_MAX,
                                       .make = make,
                                       .unmake = unmake,
                                       .next = next,
                                       .wants = wants,
                                       .lane_of = lane_of};
}

/* Listens and runs machines until the end, or until another coordinator leads. */
static enum status serve(struct run *run, int *exit_code, struct why *why)
{
    const char *lines = run->office.settings.lines;
    struct endpoint_options options = {.address = run->office.settings.listen,
                                       .lines = lines[0] == '\0' ? NULL : lines,
                                       .key = &run->office.key,
                                       .log = &run->daemon.log,
                                       .payload_bytes_max = CHUNK_BYTES_MAX};
    struct driver_factory factory = {.self = &run->lane[0], .make = make, .unmake = unmake};
    struct driver_file file[DRIVER_LANES_MAX];
    void *lane[DRIVER_LANES_MAX];
    struct driver_options driver = {.log = &run->daemon.log,
                                    .roster_path = run->office.settings.agents,
                                    .operators_path = run->office.settings.operators.list,
                                    .file = file,
                                    .file_count = run->stays ? DRIVER_LANES_MAX : 0,
                                    .lost = journal_is_shared(run->office.settings.state) ? is_lost
                                                                                          : NULL,
                                    .lost_self = run};
    enum status status = endpoint_listen(&driver.endpoint, &options, why);

    if (status != STATUS_OK) {
        return status;
    }
#ifdef HEDGEROW_OBSERVED
    driver.observe = kill_at_observe;
#endif
    if (run->stays) {
        follow_queue(run, &factory, file, lane);
        log_event(&run->daemon.log, LOG_INFO, "coordinator-started", NULL,
                  "queue %s, listening on %s", run->office.settings.jobs,
                  endpoint_address(driver.endpoint));
    } else {
        log_event(&run->daemon.log, LOG_INFO, "coordinator-started", NULL,
                  "job \"%s\", listening on %s", run->office.job.name,
                  endpoint_address(driver.endpoint));
        warn_of_questions(&run->lane[0]);
    }
    desk_child_begin(&run->desk, &run->office, &run->daemon.log, run->config, &driver);
    face_join(&run->face, &driver);
    status = driver_run(&driver, &factory, exit_code, why);
    desk_child_end(&run->desk);
    endpoint_free(driver.endpoint);
    return status;
}

/* A coordinator that stands by does not listen for agents: they find the one that leads. Its page says so. */
static enum status drive(struct run *run, int *exit_code, struct why *why)
{
    const bool shared = journal_is_shared(run->office.settings.state);
    enum status status = shared ? office_judge(&run->office, why) : STATUS_OK;

    if (status == STATUS_OK) {
        status = face_open(&run->face, &run->office, &run->daemon.log, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    do {
        if (shared) {
            status = lead_await(&run->led, run->office.settings.state, &run->daemon.log,
                                face_stand_by, &run->face, why);
        }
        if (status == STATUS_OK) {
            status = serve(run, exit_code, why);
        }
        journal_close(&run->led);
    } while (shared && lead_is_lost(status));
    face_close(&run->face);
    return status;
}

/* What is in the journal by now: the whole job, or - after a signal - nothing to publish yet. */
static enum status publish(const struct run *run, const struct arguments *arguments, int *exit_code,
                           struct why *why)
{
    struct job_end end;
    enum status status =
        office_publish(&run->office, arguments->seeded, arguments->seed, &end, why);
    for (int i = 0;
         status == STATUS_IO && journal_is_shared(run->office.settings.state) && i < PUBLISH_TRIES;
         i++) { /* the database may be away just now */
        (void)poll(NULL, 0, PUBLISH_PAUSE_MS);
        status = office_publish(&run->office, arguments->seeded, arguments->seed, &end, why);
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

static void set_lanes(struct run *run)
{
    run->lane[0] = (struct lane){.run = run, .office = &run->office, .log = run->daemon.log};
    for (size_t i = 1; i < DRIVER_LANES_MAX; i++) {
        struct lane *lane = &run->lane[i];
        *lane = (struct lane){.run = run, .job = &run->stay.job[i - 1]};
        lane->office = &lane->job->office;
        lane->log = (struct log){write_of_job, lane, run->daemon.log.level};
    }
}

/* What there is to run: the one job, or those of the queue, if it has any. */
static enum status find_job(struct run *run, const struct arguments *arguments, struct why *why)
{
    run->stays = run->office.settings.jobs[0] != '\0';
    set_lanes(run);
    if (!run->stays) {
        return office_read_job(&run->office, why);
    }
    run->stay.office = &run->office;
    run->stay.log = &run->daemon.log;
    run->stay.seeded = arguments->seeded;
    run->stay.seed = arguments->seed;
#ifdef HEDGEROW_OBSERVED
    run->stay.observe = kill_at_observe;
#endif
    enum status status = queue_open(&run->office, why);
    return status == STATUS_OK ? choose(run, why) : status;
}

/* After a signal: jobs whose end is in their journals. */
static enum status file_all(struct run *run, struct why *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < STAY_JOBS_MAX && status == STATUS_OK; i++) {
        status = stay_file(&run->stay, &run->stay.job[i], why);
    }
    return status;
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
        status = run->stays ? file_all(run, &why) : publish(run, arguments, &exit_code, &why);
    }
    exit_code = daemon_end(&run->daemon, PROGRAM, exit_code, status, &why);
    stay_free(&run->stay);
    office_free(&run->office);
    return exit_code;
}
