#include "coordinator/main_lane.h"

#include "coordinator/main_lead.h"
#include "database/journal_place.h"
#include "io/roster.h"
#include "io/worker.h"
#include "job/round.h"
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an agent has to read its records in, before rounds go on without it until it is ready. */
enum { SETTLE_MS = 10000 };

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

static void drop_cancel(struct lane *lane)
{
    free(lane->cancel);
    lane->cancel = NULL;
    lane->cancel_size = 0;
}

/* Opening a journal waits a moment where another process has it, for that may only look. A job that is put off is tried again
 * each second: the loop, and so all other jobs, would wait each time. So it looks first, which waits for nothing.
 * A new journal in the place of one that somebody took away meanwhile would begin the job again, and have it paid again. */
static enum status check_journal(const struct lane *lane, struct why *why)
{
    char place[QUEUE_PATH_BYTES];
    char by[QUEUE_BY_BYTES];
    const uint32_t number = lane->job->number;
    struct queue_kept kept;
    queue_held(by, lane->office, number);
    if (by[0] != '\0') {
        why_set(why, "the journal in %s is in use by %s; remedy: stop that process",
                lane->office->settings.state, by);
        return STATUS_BUSY;
    }
    const enum status status = queue_peek(&kept, lane->office, number, why);
    if (status != STATUS_OK || !kept.begun || kept.journal) {
        return status;
    }
    queue_describe(place, lane->office);
    why_set(why, "job %u has begun, and its journal is gone from %s", (unsigned)number, place);
    return STATUS_CORRUPT;
}

/* What has to stand before the job's machine starts: that it has begun is kept for ever, so that a folder of which a part is
 * gone never begins again; and who has cancelled it, for a round that cannot open is no reason to go on. */
static enum status begin_of_queue(struct lane *lane, struct why *why)
{
    if (collect_is_collector(lane->office)) {
        return STATUS_OK; /* the leader does both */
    }
    enum status status = queue_mark_begun(lane->office, lane->job->number, why);
    return status == STATUS_OK ? queue_cancelled(&lane->cancel, &lane->cancel_size, lane->office,
                                                 lane->job->number, why)
                               : status;
}

/* A machine on its way, in steps: what waits for a database runs on the lane's thread, the rest on the loop's. */
struct making {
    struct lane *lane;
    struct machine *machine;
    struct journal *journal;
    struct job older;
    enum status status;
};

static void begin_to_collect(void *self)
{
    struct making *making = self;
    lane_collect(making->lane);
}

static void check_led(void *self)
{
    struct making *making = self;
    struct why why = {{0}};
    making->status = lane_check_led(making->lane, &why);
}

/* A collector has a job while somebody leads it. */
static enum status check_lane(struct making *making, struct why *why)
{
    struct lane *lane = making->lane;
    if (lane->job == NULL) {
        return STATUS_OK;
    }
    if (!worker_on_owner(begin_to_collect, making)) {
        return STATUS_BUSY;
    }
    if (!collect_is_collector(lane->office)) {
        return check_journal(lane, why);
    }
    if (!worker_on_owner(check_led, making)) {
        return STATUS_BUSY;
    }
    if (making->status != STATUS_OK) {
        why_set(why, "no coordinator leads job %u", (unsigned)lane->job->number);
    }
    return making->status;
}

/* All that may wait: the journal, and what stands in the queue before the machine starts. */
static enum status open_job(struct making *making, struct why *why)
{
    struct lane *lane = making->lane;
    struct journal *journal = making->journal;
    const struct office *office = lane->office;
    const struct journal_options options = {
        .place = office->settings.state,
        .kind = "coordinator",
        .part = lane->job != NULL ? queue_part(office) : (struct journal_part){.job = 0}};
    enum status status = office_judge(office, why);

    /* Lanes of a queue come here on threads of their own; it has no such journal. */
    *journal = (struct journal){.self = NULL};
    if (!lane->run->stays) {
        *journal = lane->run->led;
        lane->run->led = (struct journal){.self = NULL};
    }
    if (status == STATUS_OK) {
        status = check_lane(making, why);
    }
    if (status == STATUS_OK && collect_is_collector(office)) {
        status = collect_open_journal(&lane->collect, journal, why);
    }
    if (status == STATUS_OK && journal->self == NULL) {
        status = journal_open(journal, &options, why);
    }
    if (status == STATUS_OK &&
        office->settings.out[0] != '\0') { /* it may be inside the journal's folder */
        status = office_make_out(office, why);
    }
    if (status == STATUS_OK && lane->job != NULL) {
        status = begin_of_queue(lane, why);
    }
    if (status == STATUS_OK) {
        status = office_read_older(&making->older, office, journal, why);
    }
    if (status == STATUS_OK) {
        status = collect_open(&lane->collect, journal, why);
    }
    if (status == STATUS_OK && lane->job != NULL && !collect_is_collector(office)) {
        status = lane_tell_led(lane, why);
    }
    return status;
}

/* On the loop's thread: the page sees the machine from here on. */
static void make_machine(void *self)
{
    struct making *making = self;
    struct lane *lane = making->lane;
    struct run *run = lane->run;
    const struct office *office = lane->office;
    struct coordinator_options options = {.job = &office->job,
                                          .text = {office->text, office->text_size},
                                          .random = &run->daemon.random,
                                          .log = &lane->log,
                                          .dictionaries = lane_dictionaries(run),
                                          .answer_bytes_max = office->settings.message_bytes_max,
                                          .whole_bytes_max = WHOLE_BYTES_MAX,
                                          .linger_ms = office->settings.linger_ms,
                                          .shows = office->settings.http.listen[0] != '\0',
                                          .settle_ms = SETTLE_MS};
    job_free(&lane->older); /* of the last machine: until now the page told of it */
    lane->older = making->older;
    making->older = (struct job){.stage_count = 0};
    options.job = lane->older.stage_count > 0 ? &lane->older : &office->job;
    options.cancelled = (struct slice){lane->cancel, lane->cancel_size};
    collect_tell_options(&lane->collect, &options);
    making->status = coordinator_new(&lane->coordinator, &options);
    if (making->status != STATUS_OK) {
        return;
    }
    collect_join(&lane->collect, lane->coordinator);
    if (!run->stays) {
        run->own = collect_is_collector(office) ? (struct journal){.self = NULL} : *making->journal;
    }
    *making->machine = coordinator_machine(lane->coordinator);
    face_begin(&run->face, (size_t)(lane - run->lane),
               lane->job != NULL ? &lane->job->number : NULL, options.job, office->settings.state,
               lane->coordinator, making->journal);
}

static enum status make_job(struct lane *lane, struct machine *machine, struct journal *journal,
                            struct why *why)
{
    struct making making = {.lane = lane, .machine = machine, .journal = journal};
    enum status status = open_job(&making, why);
    if (status == STATUS_OK) {
        status = worker_on_owner(make_machine, &making) ? making.status : STATUS_BUSY;
    }
    job_free(&making.older);
    if (status != STATUS_OK) {
        drop_cancel(lane);
        collect_leave(&lane->collect);
        journal_close(journal);
        *journal = (struct journal){.self = NULL};
    }
    return status;
}

_Static_assert(STAY_JOBS_MAX + 1 == DRIVER_LANES_MAX, "a lane for each job, and one for none");

/* Lane 0 of a queue has no job. */
static bool is_idle(const struct lane *lane)
{
    return lane->run->stays && lane->job == NULL;
}

static void make_idle(void *self)
{
    struct making *making = self;
    making->status = lane_make_idle(making->lane->run, making->machine, making->journal);
}

void lane_part(struct lane *lane)
{
    collect_part(&lane->collect);
    journal_close(&lane->left);
    lane->left = (struct journal){.self = NULL};
}

/* Its connection to the queue is needed seldom. */
static void let_go(const struct lane *lane)
{
    if (lane->job != NULL && lane->job->number != 0) {
        queue_rest(lane->office);
    }
}

enum status lane_make(void *self, struct machine *machine, struct journal *journal, struct why *why)
{
    struct lane *lane = self;
    const struct office *office = &lane->run->office;
    struct making idle = {.lane = lane, .machine = machine, .journal = journal};
    lane_part(lane);
    if (lane->run->stays && !collect_is_collector(office) && queue_is_lost(office)) {
        why_set(why, "another coordinator leads the queue, or may");
        return STATUS_BUSY;
    }
    if (is_idle(lane)) {
        return worker_on_owner(make_idle, &idle) ? idle.status : STATUS_BUSY;
    }
    const enum status status = make_job(lane, machine, journal, why);
    let_go(lane);
    return status;
}

void lane_unmake(void *self, struct machine *machine, struct journal *journal)
{
    struct lane *lane = self;
    struct run *run = lane->run;
    face_pause(&run->face, (size_t)(lane - run->lane));
    collect_detach(&lane->collect);
    if (lane->coordinator != NULL) {
        coordinator_tell_unheard(lane->coordinator);
    }
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
    lane->left = *journal;
    memset(journal, 0, sizeof *journal);
    if (!run->stays || !queue_is_shared(&run->office)) {
        lane_part(lane);
    }
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

static void look_for_more(void *self)
{
    struct going_on *on = self;
    const struct lane *lane = on->lane;
    if (on->chosen && lane->job != NULL) {
        lane_tell_empty(lane->run);
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
 * database that is away, or another coordinator's, all stop. Of such a queue it runs on a thread of the lane's. */
static enum status next(void *self, enum status ended, bool *more, struct why *why)
{
    struct lane *lane = self;
    struct run *run = lane->run;
    struct stay_job *job = lane->job; /* NULL: the lane of the agents whom no job asks */
    enum status status = ended;
    bool is_aside = false;
    struct leaving leaving = {.lane = lane, .ended = ended, .more = more, .why = why};
    lane_part(lane);
    if (job != NULL && collect_is_collector(&run->office)) {
        status = worker_on_owner(leave, &leaving) ? leaving.status : STATUS_BUSY;
        return status == STATUS_OK && !*more ? choose_next(lane, more, why) : status;
    }
    if (status == STATUS_BUSY && job != NULL && !queue_is_shared(&run->office)) {
        bool over = false; /* another process has this job's journal; the others go on */
        status = stay_end_put_off(&run->stay, job, &over, why);
        if (!over) {
            *more = status == STATUS_OK;
            return status;
        }
    } else if (status == STATUS_OK && job != NULL) {
        status = stay_file(&run->stay, job, why);
        is_aside = status != STATUS_OK && status != STATUS_NO_MEMORY && !lead_is_lost(status);
    } else if (status == STATUS_IO && job != NULL && queue_is_shared(&run->office)) {
        is_aside = !queue_is_lost(&run->office); /* the server refuses this job's statements */
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

bool lane_is_lost(void *self)
{
    const struct run *run = self;
    return run->stays ? queue_is_lost(&run->office)
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
    queue_follow(&run->followed, &run->office, 0);
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
    *factory = (struct driver_factory){.waits = queue_is_shared(&run->office),
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
