/* The coordinator's own page: what its log tells of the job, its rounds and its agents. No number of records is in it: a site may
 * have released none. */

#include "coordinator/main_face_table.h"
#include "coordinator/main_queue_store.h"

#include "base/log.h"
#include "database/journal_place.h"
#include "io/clock.h"
#include "io/journal.h"

#include <inttypes.h>
#include <stdio.h>

enum { PERIOD_MS = 50, NUMBER_BYTES = 24, JOB_MS = 2000 };

bool face_has_job(const struct face_run *run)
{
    return run->coordinator != NULL ||
           (run->place != NULL && run->number != 0 && *run->place == run->number);
}

struct coordinator_view face_look(const struct face_run *run)
{
    return run->coordinator != NULL ? coordinator_look(run->coordinator) : run->view;
}

size_t face_list_running(uint32_t number[static DRIVER_LANES_MAX], const struct face *face)
{
    size_t count = 0;
    for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
        if (face_has_job(&face->run[i])) {
            number[count++] = face->run[i].number;
        }
    }
    return count;
}

struct face_run *face_running(struct face *face, uint32_t number)
{
    for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
        if (face_has_job(&face->run[i]) && face->run[i].number == number) {
            return &face->run[i];
        }
    }
    return NULL;
}

/* Whether a job is told of before another one. */
static bool is_before(const struct face_run *run, const struct face_run *other)
{
    return (run->round_count == 0) != (other->round_count == 0) ? other->round_count == 0
                                                                : run->newest_ms > other->newest_ms;
}

struct face_run *face_shown(struct face *face)
{
    struct face_run *shown = NULL;
    struct face_run *kept = face_running(face, face->shown);
    for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
        struct face_run *run = &face->run[i];
        if (face_has_job(run) && (shown == NULL || is_before(run, shown))) {
            shown = run;
        }
    }
    if (kept != NULL && (kept->round_count == 0) == (shown->round_count == 0) &&
        shown->newest_ms - kept->newest_ms < FACE_STAY_MS) {
        shown = kept;
    }
    face->shown = shown != NULL ? shown->number : 0;
    return shown;
}

/* What the journal of a job that runs says is the machine's to tell: the file would be read whole at every look. */
static void look_at_machine(struct face_job *told, const struct face_run *run)
{
    const struct coordinator_view view = face_look(run);
    *told = (struct face_job){
        .job = {.number = run->number,
                .state = QUEUE_RUNNING,
                .rounds = view.closed,
                .planned = view.planned,
                .seconds_left = view.over ? -1
                                          : queue_seconds_left(view.closed, view.planned,
                                                               run->first_ms, run->last_ms)},
        .looked_ms = clock_now_ms(),
        .ran = true};
    (void)snprintf(told->job.name, sizeof told->job.name, "%s", run->job->name);
}

static void look_at_folder(struct face_job *kept, const struct face *face, uint32_t number)
{
    struct why ignored = {{0}};
    if (kept->job.number == number && !kept->ran && clock_now_ms() - kept->looked_ms < JOB_MS) {
        return;
    }
    *kept = (struct face_job){.job = {.number = number}};
    if (queue_show(&kept->job, face->office, number, &ignored) != STATUS_OK) {
        kept->job = (struct queue_job){.number = number};
    }
    (void)!face_look_for_files(kept, face->office); /* it is asked again, as all of it is */
    kept->looked_ms = clock_now_ms();
}

/* Where the reader has nothing of the job that is newer, what was told last stays. */
static void look_at_seen(struct face_job *kept, const struct face *face, uint32_t number)
{
    const struct face_job *read = &face->seen->listed[number % FACE_JOBS];
    const bool ran_since =
        kept->job.number == number && kept->ran && face->seen->read_ms < kept->looked_ms;
    if (read->job.number == number && !ran_since) {
        *kept = *read;
    }
}

/* told: out. Returns whether anything is known of the job. */
static bool look_at_job(struct face_job *told, struct face *face, uint32_t number)
{
    struct face_job *kept = &face->listed[number % FACE_JOBS];
    const struct face_run *run = face_running(face, number);
    if (run != NULL) {
        look_at_machine(told, run);
        if (kept->job.number <= number) { /* an old one that runs has its place beside the latest */
            *kept = *told;
        }
        return true;
    }
    if (face->reader != NULL) {
        look_at_seen(kept, face, number);
    } else {
        look_at_folder(kept, face, number);
    }
    *told = *kept;
    return told->job.number == number;
}

static void add_results(struct facts *facts, const struct face_job *told, const char *digits)
{
    for (size_t i = 0; told->job.filed && face_results[i] != NULL; i++) {
        const char *const label[] = {digits, told->job.name, face_results[i]};
        if (told->file[i]) {
            facts_add(facts, ROW_RESULTS, 1, label);
        }
    }
}

static void add_job(struct facts *facts, const struct face_job *told, struct face *face)
{
    const struct queue_job *job = &told->job;
    char digits[NUMBER_BYTES];
    char rounds[2 * NUMBER_BYTES];
    char agents[2 * NUMBER_BYTES] = "";
    char left[NUMBER_BYTES] = "";
    char waits[FACE_WAITS_BYTES] = "";
    const struct face_run *run = face_running(face, job->number);
    const char *const label[] = {
        digits, queue_state_name(job->state), rounds, agents, left, waits, job->name, job->because};
    (void)snprintf(digits, sizeof digits, "%" PRIu32, job->number);
    (void)snprintf(rounds, sizeof rounds, "%" PRIu32 " of %" PRIu32, job->rounds, job->planned);
    if (run != NULL && run->coordinator != NULL) {
        const struct coordinator_view view = coordinator_look(run->coordinator);
        face_waits(waits, run);
        (void)snprintf(agents, sizeof agents, "%zu of %zu ready", view.ready, view.agent_count);
    }
    if (job->seconds_left >= 0) {
        (void)snprintf(left, sizeof left, "%.0f", job->seconds_left);
    }
    facts_add(facts, ROW_QUEUE, 1, label);
    add_results(facts, told, digits);
}

struct counted {
    size_t waiting;
    size_t aside;
};

/* Whether a job that has begun cannot go on. */
static bool is_stopped(const struct queue_job *job, const struct queue_entry *entry, bool runs)
{
    return !job->filed &&
           (job->state == QUEUE_ASIDE ||
            (!runs && entry->begun && !entry->over && !job->stuck && job->state > QUEUE_RUNNING));
}

/* row: whether the page lists it. */
static void add_entry(struct facts *facts, struct counted *counted, struct face *face,
                      const struct queue_entry *entry, bool row)
{
    struct face_job told;
    bool runs = face_running(face, entry->number) != NULL ||
                (entry->begun && (face->stands_by || face->office->settings.collector[0] !=
                                                         '\0')); /* where another one leads */
    bool stopped = false;
    if (row && look_at_job(&told, face, entry->number)) {
        add_job(facts, &told, face);
        runs = runs || told.ran; /* when it was told last */
        stopped = is_stopped(&told.job, entry, runs);
    }
    counted->aside += stopped ? 1 : 0;
    counted->waiting += runs || stopped || entry->over ? 0 : 1;
}

/* The latest ones, and all that run. */
static void add_listed(struct facts *facts, struct face *face, const struct queue_list *list)
{
    struct counted counted = {.waiting = 0};
    for (size_t i = list->count; i-- > 0;) {
        const struct queue_entry *entry = &list->entry[i];
        add_entry(facts, &counted, face, entry,
                  list->count - i <= FACE_JOBS || face_running(face, entry->number) != NULL);
    }
    facts_set(facts, ROW_WAITING, (double)counted.waiting);
    facts_set(facts, ROW_ASIDE, (double)counted.aside);
}

/* What the reader has of a queue in a database. Returns whether it has anything. */
static bool ask_reader(struct face *face)
{
    uint32_t running[DRIVER_LANES_MAX];
    const size_t count = face_list_running(running, face);
    face->seen = face_reader_ask(face->reader, running, count);
    return face->seen != NULL;
}

static void add_queue(struct facts *facts, struct face *face)
{
    struct queue_list list = {.count = 0};
    struct why ignored = {{0}};
    if (face->reader != NULL) {
        if (ask_reader(face)) {
            add_listed(facts, face, &face->seen->list);
        }
    } else if (face->office->settings.jobs[0] != '\0' &&
               queue_of(face->office)->list(&list, face->office, &ignored) == STATUS_OK) {
        add_listed(facts, face, &list);
        queue_list_free(&list);
    }
}

static void add_fetches(struct facts *facts, const struct face *face)
{
    struct endpoint_fetches fetches = {.waiting_bytes = 0};
    if (face->endpoint != NULL) {
        endpoint_fetches(face->endpoint, &fetches);
        facts_set(facts, ROW_FETCH_BYTES, (double)fetches.waiting_bytes);
        facts_set(facts, ROW_FETCH_AGENTS, (double)fetches.agents_waiting);
        facts_set(facts, ROW_FETCH_HELD, (double)fetches.held);
        facts_set(facts, ROW_FETCH_REPEATED, (double)fetches.repeated);
        facts_set(facts, ROW_FETCH_CUT, (double)fetches.not_taken);
    }
}

static enum watch_health health(void *self)
{
    struct face *face = self;
    return face_shown(face) != NULL || face->idle || face->began ? WATCH_WORKS
           : face->stands_by                                     ? WATCH_STANDS_BY
                                                                 : WATCH_STARTS;
}

/* For a queue each job that runs has a journal of its own. */
static uint64_t own_journal_bytes(const struct face *face)
{
    return face->office->settings.jobs[0] != '\0' || journal_is_shared(face->office->settings.state)
               ? FACTS_UNKNOWN
               : journal_size(face->office->settings.state);
}

static struct facts *gather(struct face *face, const struct face_run *shown)
{
    const struct driver_counts *counts = &face->host.counts;
    const struct facts_common common = {.program = "hedgerow-coordinator",
                                        .started_ms = face->started_ms,
                                        .messages_in = counts->messages_in,
                                        .messages_out = counts->messages_out,
                                        .bytes_in = counts->bytes_in,
                                        .bytes_out = counts->bytes_out,
                                        .journal_bytes = own_journal_bytes(face)};
    struct facts *facts = facts_new(face_family, FACE_ROWS);
    if (facts == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
        if (face_has_job(&face->run[i])) {
            face_add_run(facts, &face->run[i], &face->run[i] == shown);
        }
    }
    facts_show_job(facts, shown != NULL ? shown->number : face->ended.number);
    face_add_ended(facts, face);
    face_add_agents(facts, face);
    add_queue(facts, face);
    add_fetches(facts, face);
    facts_add_common(facts, ROW_COMMON, &common);
    return facts;
}

static struct facts *look(void *self)
{
    struct face *face = self;
    return gather(face, face_shown(face));
}

char *face_status(struct face *face, const struct face_run *shown)
{
    struct facts *facts = gather(face, shown);
    char *text = facts == NULL ? NULL : facts_json(facts);
    facts_free(facts);
    return text;
}

enum status face_open(struct face *face, const struct office *office, const struct log *log,
                      struct why *why)
{
    const struct http_route route[] = {
        {.path = "/charts.js", .type = "text/javascript; charset=utf-8", .text = charts_js},
        {.path = "/live.js", .type = "text/javascript; charset=utf-8", .text = live_js},
        {.path = "/api/events",
         .type = "text/event-stream",
         .tell = face_tell,
         .version = face_version,
         .self = face},
        {.path = "/api/jobs/", .type = "application/json", .find = face_tell_job, .self = face},
        {.path = "/results/",
         .type = "application/octet-stream",
         .open = face_open_result,
         .self = face}};
    const struct watch_options options = {.period_ms = PERIOD_MS,
                                          .self = face,
                                          .health = health,
                                          .look = look,
                                          .page = live_html,
                                          .route = route,
                                          .route_count = sizeof route / sizeof route[0]};
    *face = (struct face){.office = office, .started_ms = clock_wall_ms()};
    if (office->settings.http.listen[0] != '\0' && office->settings.jobs[0] != '\0' &&
        queue_of(office)->shared && face_reader_new(&face->reader, office) != STATUS_OK) {
        why_set(why, "no memory or no thread for the page");
        return STATUS_NO_MEMORY;
    }
    return page_host_open(&face->host, &office->settings.http, log, options, why);
}
