#include "coordinator/main_lane.h"

#include "database/journal_place.h"
#include "io/roster.h"
#include "io/worker.h"
#include "job/round.h"
#include "query/query.h"

#include <stdio.h>

enum { TEXT_BYTES = 1100 }; /* of a line of the log, with the job before it */

/* A line of the log on its way to the loop's thread, which alone counts lines, and knows which jobs run. */
struct line {
    void *self;
    const struct log_entry *entry;
};

/* Programs find the job in a field. A person is told in words, where there are several. */
static void write_line_of_job(void *self)
{
    const struct line *line = self;
    const struct lane *lane = line->self;
    const struct log_entry *entry = line->entry;
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

static void write_line(void *self)
{
    const struct line *line = self;
    const struct run *run = line->self;
    run->daemon.log.write(run->daemon.log.self, line->entry);
}

/* What is said while the driver stops, when the loop takes nothing any more, is lost: it changes nothing. */
static void write_of_job(void *self, const struct log_entry *entry)
{
    struct line line = {self, entry};
    (void)!worker_on_owner(write_line_of_job, &line);
}

static void write_of_run(void *self, const struct log_entry *entry)
{
    struct line line = {self, entry};
    (void)!worker_on_owner(write_line, &line);
}

void lane_warn_of_questions(const struct lane *lane)
{
    const struct job *job = &lane->office->job;
    struct why first = {""};
    size_t count = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct query_set *set = round_queries(&job->stage[i]);
        for (size_t j = 0; j < set->count; j++) {
            const struct query *query = &set->query[j];
            count +=
                query->where.outside_at != 0 && query_has_note(query, count == 0 ? &first : NULL)
                    ? 1
                    : 0;
        }
    }
    if (count > 0) {
        log_event(&lane->log, LOG_WARN, "question-out-of-range", NULL,
                  "%s; such questions of the job: %zu (`hedgerow plan job` names them)", first.text,
                  count);
    }
}

/* Which jobs ran before the choice, and are warned of no more. */
struct chosen {
    struct run *run;
    bool before[STAY_JOBS_MAX];
};

static void note_running(void *self)
{
    struct chosen *chosen = self;
    for (size_t i = 0; i < STAY_JOBS_MAX; i++) {
        chosen->before[i] = chosen->run->stay.job[i].number != 0;
    }
}

static void warn_of_new(void *self)
{
    const struct chosen *chosen = self;
    for (size_t i = 0; i < STAY_JOBS_MAX; i++) {
        if (chosen->run->stay.job[i].number != 0 && !chosen->before[i]) {
            lane_warn_of_questions(&chosen->run->lane[i + 1]);
        }
    }
}

/* Looks which jobs of the queue run. */
enum status lane_choose(struct run *run, struct why *why)
{
    struct chosen chosen = {.run = run};
    const bool collects = collect_is_collector(&run->office);
    (void)pthread_mutex_lock(&run->choosing);
    enum status status = worker_on_owner(note_running, &chosen) ? STATUS_OK : STATUS_BUSY;
    if (status == STATUS_OK) {
        status = collects ? stay_collect(&run->stay, why) : stay_choose(&run->stay, why);
    }
    if (status == STATUS_OK && !collects && !worker_on_owner(warn_of_new, &chosen)) {
        status = STATUS_BUSY;
    }
    (void)pthread_mutex_unlock(&run->choosing);
    return status;
}

/* Its results are made beside the loop: the answers of a regression take a while. The job's place is kept meanwhile. */
static void wind_up(void *self)
{
    struct lane *lane = self;
    if (lane->job != NULL && lane->job->number != 0 && !collect_is_collector(lane->office)) {
        stay_publish(&lane->run->stay, lane->job);
    }
}

struct going_on {
    struct lane *lane;
    bool chosen;
    bool more;
};

static void tell_empty(const struct run *run)
{
    if (stay_count(&run->stay) == 0 && collect_is_collector(&run->office)) {
        log_event(&run->daemon.log, LOG_INFO, "queue-empty", NULL,
                  "no job is led: this collector waits for one");
    } else if (stay_count(&run->stay) == 0 && run->stay.aside_count > 0) {
        log_event(&run->daemon.log, LOG_INFO, "queue-empty", NULL,
                  "no job runs; set aside: %zu, as job-set-aside says", run->stay.aside_count);
    } else if (stay_count(&run->stay) == 0) {
        log_event(&run->daemon.log, LOG_INFO, "queue-empty", NULL,
                  "no job waits: `" PROGRAM " submit` brings one");
    }
}

static void look_for_more(void *self)
{
    struct going_on *on = self;
    const struct lane *lane = on->lane;
    if (on->chosen && lane->job != NULL) {
        tell_empty(lane->run);
    }
    face_turn(&lane->run->face);
    on->more = on->chosen && (lane->job == NULL || lane->job->number != 0);
}

static enum status choose_next(struct lane *lane, bool *more, struct why *why)
{
    const enum status status = lane_choose(lane->run, why);
    struct going_on on = {.lane = lane, .chosen = status == STATUS_OK};
    if (!worker_on_owner(look_for_more, &on)) {
        return STATUS_BUSY;
    }
    *more = on.more;
    return status;
}

struct leaving {
    struct lane *lane;
    enum status ended;
    bool *more;
    struct why *why;
    enum status status;
};

static void leave(void *self)
{
    struct leaving *leaving = self;
    leaving->status = lane_leave(leaving->lane, leaving->ended, leaving->more, leaving->why);
}

/* A job is over, or cannot go on, or the queue has changed. A journal that is damaged or gone, and results that cannot be
 * written, stop their own job alone. A journal in a folder that another process has open puts its job off. Where the queue is in a
 * database that is away, or another coordinator's, all stop. For such a queue it runs on a thread of the lane's. */
static enum status next(void *self, enum status ended, bool *more, struct why *why)
{
    struct lane *lane = self;
    struct run *run = lane->run;
    struct stay_job *job = lane->job; /* NULL: the lane of the agents that no job asks */
    enum status status = ended;
    bool is_aside = false;
    struct leaving leaving = {.lane = lane, .ended = ended, .more = more, .why = why};
    lane_part(lane);
    if (job != NULL && collect_is_collector(&run->office)) {
        status = worker_on_owner(leave, &leaving) ? leaving.status : STATUS_BUSY;
        return status == STATUS_OK && !*more ? choose_next(lane, more, why) : status;
    }
    if (status == STATUS_BUSY && job != NULL && !queue_of(&run->office)->shared) {
        bool over = false; /* another process has this job's journal; the others go on */
        status = stay_end_put_off(&run->stay, job, &over, why);
        if (!over) {
            *more = status == STATUS_OK;
            return status;
        }
    } else if (status == STATUS_OK && job != NULL) {
        status = stay_file(&run->stay, job, why);
        is_aside = status != STATUS_OK && status != STATUS_NO_MEMORY && !lead_is_lost(status);
    } else if (status == STATUS_IO && job != NULL && queue_of(&run->office)->shared) {
        is_aside = !queue_of(&run->office)
                        ->is_lost(&run->office); /* the server refuses this job's statements */
        status = is_aside ? status : STATUS_AGAIN;
    }
    if ((is_aside || stay_is_damage(status)) && job != NULL) {
        status = lane_set_aside(lane, status, why);
    }
    return status == STATUS_OK ? choose_next(lane, more, why) : status;
}

static bool wants(void *self)
{
    const struct lane *lane = self;
    return lane->job->number != 0;
}

/* A job hears the agents that it asks. */
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

bool lane_is_lost(void *self)
{
    const struct run *run = self;
    return run->stays ? queue_of(&run->office)->is_lost(&run->office)
                      : run->own.self != NULL && journal_is_lost(&run->own);
}

/* How the driver is told of it. */
static struct driver_file file_of(struct queue_followed *followed, enum followed which)
{
    return (struct driver_file){
        .path = followed->path, .which = which, .read = followed->read, .self = followed};
}

void lane_follow_queue(struct run *run, struct driver_factory *factory,
                       struct driver_file file[static DRIVER_LANES_MAX], void **lane)
{
    queue_of(&run->office)->follow(&run->followed, &run->office, 0);
    file[0] = file_of(&run->followed, FOLLOWED_JOBS);
    file[0].folder = true;
    lane[0] = &run->lane[0];
    for (size_t i = 1; i < DRIVER_LANES_MAX; i++) {
        struct queue_followed *cancel = &run->lane[i].job->cancel;
        cancel->read = run->followed.read; /* what is followed changes with the job, how does not */
        file[i] = file_of(cancel, FOLLOWED_CANCEL);
        file[i].optional = true;
        file[i].lane = i;
        lane[i] = &run->lane[i];
    }
    *factory = (struct driver_factory){.waits = queue_of(&run->office)->shared,
                                       .self = run,
                                       .lane = lane,
                                       .lane_count = DRIVER_LANES_MAX,
                                       .make = lane_make,
                                       .unmake = lane_unmake,
                                       .wind_up = wind_up,
                                       .next = next,
                                       .wants = wants,
                                       .lane_of = lane_of};
}

void lane_set_all(struct run *run)
{
    (void)pthread_mutex_init(&run->choosing, NULL);
    run->log = (struct log){write_of_run, run, run->daemon.log.level};
    run->lane[0] = (struct lane){.run = run, .office = &run->office, .log = run->log};
    for (size_t i = 1; i < DRIVER_LANES_MAX; i++) {
        struct lane *lane = &run->lane[i];
        *lane = (struct lane){.run = run, .job = &run->stay.job[i - 1]};
        lane->office = &lane->job->office;
        lane->log = (struct log){write_of_job, lane, run->daemon.log.level};
    }
}

/* The lane of the agents that no job of the queue asks. It has no journal. */

struct dictionary_sink lane_dictionaries(struct run *run)
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

enum status lane_make_idle(struct run *run, struct machine *machine, struct journal *journal)
{
    const struct dictionary_sink sink = lane_dictionaries(run);
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
