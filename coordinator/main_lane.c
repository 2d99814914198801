#include "coordinator/main_lane.h"

#include "coordinator/main_lead.h"
#include "database/journal_place.h"
#include "io/roster.h"
#include "job/round.h"
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an agent has to read its records in, before rounds go on without it until it is ready. */
enum { SETTLE_MS = 10000 };

enum { TEXT_BYTES = 1100 }; /* of a line of the log, with the job before it */

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

static enum status make_job(struct lane *lane, struct machine *machine, struct journal *journal,
                            struct why *why)
{
    struct run *run = lane->run;
    const struct office *office = lane->office;
    const struct journal_options journal_options = {
        .place = office->settings.state,
        .kind = "coordinator",
        .part = lane->job != NULL ? queue_part(office) : (struct journal_part){.job = 0}};
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
    enum status status = office_judge(office, why);

    *journal = run->led;
    run->led = (struct journal){.self = NULL};
    if (lane->job != NULL) {
        lane_collect(lane);
    }
    if (status == STATUS_OK && lane->job != NULL) {
        status =
            collect_is_collector(office) ? lane_check_led(lane, why) : check_journal(lane, why);
    }
    if (status == STATUS_OK && collect_is_collector(office)) {
        status = collect_open_journal(&lane->collect, journal, why);
    }
    if (status == STATUS_OK && journal->self == NULL) {
        status = journal_open(journal, &journal_options, why);
    }
    if (status != STATUS_OK) {
        journal_close(journal);
        return status;
    }
    if (office->settings.out[0] != '\0') { /* it may be inside the journal's folder */
        status = office_make_out(office, why);
    }
    if (status == STATUS_OK && lane->job != NULL) {
        status = begin_of_queue(lane, why);
    }
    if (status == STATUS_OK) {
        job_free(&lane->older); /* of the last machine: until now the page told of it */
        status = office_read_older(&lane->older, office, journal, why);
    }
    if (status == STATUS_OK) {
        options.job = lane->older.stage_count > 0 ? &lane->older : &office->job;
        options.cancelled = (struct slice){lane->cancel, lane->cancel_size};
        collect_tell_options(&lane->collect, &options);
        status = coordinator_new(&lane->coordinator, &options);
    }
    if (status == STATUS_OK) {
        status = collect_join(&lane->collect, lane->coordinator, journal, why);
    }
    if (status == STATUS_OK && lane->job != NULL && !collect_is_collector(office)) {
        status = lane_tell_led(lane, why);
    }
    if (status != STATUS_OK) {
        drop_cancel(lane);
        collect_leave(&lane->collect);
        coordinator_free(lane->coordinator);
        lane->coordinator = NULL;
        journal_close(journal);
        return status;
    }
    run->own = collect_is_collector(office) ? (struct journal){.self = NULL} : *journal;
    *machine = coordinator_machine(lane->coordinator);
    face_begin(&run->face, (size_t)(lane - run->lane),
               lane->job != NULL ? &lane->job->number : NULL, options.job, office->settings.state,
               lane->coordinator, journal);
    return STATUS_OK;
}

_Static_assert(STAY_JOBS_MAX + 1 == DRIVER_LANES_MAX, "a lane for each job, and one for none");

/* Lane 0 of a queue has no job. */
static bool is_idle(const struct lane *lane)
{
    return lane->run->stays && lane->job == NULL;
}

enum status lane_make(void *self, struct machine *machine, struct journal *journal, struct why *why)
{
    struct lane *lane = self;
    const struct office *office = &lane->run->office;
    if (lane->run->stays && !collect_is_collector(office) && queue_is_lost(office)) {
        why_set(why, "another coordinator leads the queue, or may");
        return STATUS_BUSY;
    }
    return is_idle(lane) ? lane_make_idle(lane->run, machine, journal)
                         : make_job(lane, machine, journal, why);
}

void lane_unmake(void *self, struct machine *machine, struct journal *journal)
{
    struct lane *lane = self;
    struct run *run = lane->run;
    face_pause(&run->face, (size_t)(lane - run->lane));
    collect_leave(&lane->collect);
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
    journal_close(journal);
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

/* Looks which jobs of the queue run. */
enum status lane_choose(struct run *run, struct why *why)
{
    bool before[STAY_JOBS_MAX];
    for (size_t i = 0; i < STAY_JOBS_MAX; i++) {
        before[i] = run->stay.job[i].number != 0;
    }
    const bool collects = collect_is_collector(&run->office);
    const enum status status =
        collects ? stay_collect(&run->stay, why) : stay_choose(&run->stay, why);
    for (size_t i = 0; i < STAY_JOBS_MAX && status == STATUS_OK && !collects; i++) {
        if (run->stay.job[i].number != 0 && !before[i]) {
            lane_warn_of_questions(&run->lane[i + 1]);
        }
    }
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

static enum status choose_next(struct lane *lane, bool *more, struct why *why)
{
    struct run *run = lane->run;
    const enum status status = lane_choose(run, why);
    if (status == STATUS_OK && lane->job != NULL) {
        lane_tell_empty(run);
    }
    face_turn(&run->face);
    *more = status == STATUS_OK && (lane->job == NULL || lane->job->number != 0);
    return status;
}

/* A job is over, or cannot go on, or the queue has changed. A journal that is damaged or gone, and results that cannot be
 * written, stop their own job alone. A journal in a folder that another process has open puts its job off. Where the queue is in a
 * database that is away, or another coordinator's, all stop. */
static enum status next(void *self, enum status ended, bool *more, struct why *why)
{
    struct lane *lane = self;
    struct run *run = lane->run;
    struct stay_job *job = lane->job; /* NULL: the lane of the agents whom no job asks */
    enum status status = ended;
    bool is_aside = false;
    if (job != NULL && collect_is_collector(&run->office)) {
        status = lane_leave(lane, ended, more, why);
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
    *factory = (struct driver_factory){.self = run,
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
    run->lane[0] = (struct lane){.run = run, .office = &run->office, .log = run->daemon.log};
    for (size_t i = 1; i < DRIVER_LANES_MAX; i++) {
        struct lane *lane = &run->lane[i];
        *lane = (struct lane){.run = run, .job = &run->stay.job[i - 1]};
        lane->office = &lane->job->office;
        lane->log = (struct log){write_of_job, lane, run->daemon.log.level};
    }
}
