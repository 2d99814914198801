/* The coordinator's own page: what its log tells of the job, its rounds and its agents. No number of records is in it: a site may
 * have released none. */

#include "coordinator/main_face.h"
#include "coordinator/main_queue_place.h"

#include "base/log.h"
#include "database/journal_place.h"
#include "http/facts_common.h"
#include "io/clock.h"
#include "io/journal.h"
#include "job/round.h"
#include "job/terms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    PERIOD_MS = 50,
    ID_DIGITS = 16,
    NUMBER_BYTES = 24,
    STATES_MAX = 32,
    NAMED_MAX = 1000,
    JOB_MS = 2000
};

enum face_fact {
    ROW_JOB,
    ROW_PHASE,
    ROW_STAGE,
    ROW_FAILED,
    ROW_CLOSED,
    ROW_PLANNED,
    ROW_NEEDED,
    ROW_EPSILON_SPENT,
    ROW_EPSILON_PLANNED,
    ROW_DELTA_SPENT,
    ROW_DELTA_PLANNED,
    ROW_LAST_RELEASE,
    ROW_LAST_SECONDS,
    ROW_SECONDS,
    ROW_LAST_AGENTS,
    ROW_AGENTS,
    ROW_AGENT,
    ROW_COLLECTOR,
    ROW_FETCH_BYTES,
    ROW_FETCH_AGENTS,
    ROW_FETCH_HELD,
    ROW_FETCH_REPEATED,
    ROW_FETCH_CUT,
    ROW_LATEST,
    ROW_LEFT,
    ROW_REGRET,
    ROW_REGRET_BOUND,
    ROW_WAITING,
    ROW_ASIDE,
    ROW_QUEUE,
    ROW_RESULTS,
    ROW_COMMON
};

/* clang-format off */
static const struct fact_family family[] = {
    [ROW_JOB] = {"job_info", FACT_INFO, "The job", {"job", "id"}},
    [ROW_PHASE] = {"job_phase", FACT_GAUGE, "1 for what the coordinator does with the job", {"phase"}},
    [ROW_STAGE] = {"stage_info", FACT_INFO, "The stage that is under way or next", {"stage"}},
    [ROW_FAILED] = {"job_failed", FACT_GAUGE, "1 once the job has failed", {NULL}},
    [ROW_CLOSED] = {"rounds_closed_total", FACT_COUNTER, "Rounds of the job that were closed and released", {NULL}},
    [ROW_PLANNED] = {"rounds_planned", FACT_GAUGE, "Rounds that the job has", {NULL}},
    [ROW_NEEDED] = {"agents_needed", FACT_GAUGE, "Agents that a round needs: the job's cohort.minimum", {NULL}},
    [ROW_EPSILON_SPENT] = {"epsilon_spent", FACT_GAUGE, "What each record has spent so far in this job", {NULL}},
    [ROW_EPSILON_PLANNED] = {"epsilon_planned", FACT_GAUGE, "The job's epsilon", {NULL}},
    [ROW_DELTA_SPENT] = {"delta_spent", FACT_GAUGE, "What each record has spent so far in this job", {NULL}},
    [ROW_DELTA_PLANNED] = {"delta_planned", FACT_GAUGE, "The job's delta", {NULL}},
    [ROW_LAST_RELEASE] = {"last_release_timestamp_seconds", FACT_GAUGE, "When the latest round was released, in seconds since 1970", {NULL}},
    [ROW_LAST_SECONDS] = {"last_round_seconds", FACT_GAUGE, "How long the latest round took, from its opening to its closing", {NULL}},
    [ROW_SECONDS] = {"round_seconds_total", FACT_COUNTER, "How long all closed rounds took together", {NULL}},
    [ROW_LAST_AGENTS] = {"last_round_agents", FACT_GAUGE, "Agents whose answers the latest round has", {NULL}},
    [ROW_AGENTS] = {"agents", FACT_GAUGE, "Agents of the allow-list by what they do in the open round", {"state"}},
    [ROW_AGENT] = {"agent_info", FACT_INFO, "What each agent does in the open round", {"agent", "state"}},
    [ROW_COLLECTOR] = {"collector_agents_ready", FACT_GAUGE, "Agents of each collector that are ready; 0 while it says nothing", {"collector"}},
    [ROW_FETCH_BYTES] = {"fetch_waiting_bytes", FACT_GAUGE, "Bytes that were sent to agents and have not reached them, while agents fetch", {NULL}},
    [ROW_FETCH_AGENTS] = {"fetch_waiting_agents", FACT_GAUGE, "Agents that wait for their turn to be sent a piece", {NULL}},
    [ROW_FETCH_HELD] = {"fetches_held_total", FACT_COUNTER, "Pieces that were asked for and had to wait for their turn", {NULL}},
    [ROW_FETCH_REPEATED] = {"fetches_repeated_total", FACT_COUNTER, "Pieces that were asked for again while they waited, and were not sent twice", {NULL}},
    [ROW_FETCH_CUT] = {"fetches_not_taken_total", FACT_COUNTER, "Connections that were cut as their agents did not take their pieces", {NULL}},
    [ROW_LATEST] = {"latest_rounds", FACT_LIST, "The latest rounds, the newest first", {"closed", "round", "stage", "agents", "seconds"}},
    [ROW_LEFT] = {"job_left_seconds", FACT_GAUGE, "How long the rounds that are left take at the pace so far", {NULL}},
    [ROW_REGRET] = {"regret_average", FACT_GAUGE, "What the choice has cost so far: loss a round above the best candidate's, from released losses", {NULL}},
    [ROW_REGRET_BOUND] = {"regret_bound", FACT_GAUGE, "What that is expected to be at most", {NULL}},
    [ROW_WAITING] = {"jobs_waiting", FACT_GAUGE, "Jobs of the queue whose turn has not come", {NULL}},
    [ROW_ASIDE] = {"jobs_set_aside", FACT_GAUGE, "Jobs of the queue that have begun and cannot go on unless a person acts", {NULL}},
    [ROW_QUEUE] = {"queue", FACT_LIST, "The latest jobs of the queue, the newest first", {"number", "state", "rounds", "job"}},
    [ROW_RESULTS] = {"results", FACT_LIST, "Files of the latest finished jobs, for download", {"number", "job", "file"}},
    FACTS_COMMON,
};
/* clang-format on */

static void add_price(struct facts *facts, struct face_run *run, uint32_t closed)
{
    const struct job *job = run->job;
    if (closed != run->spent_rounds) {
        const struct cost sums = round_cost(job, &job->filter, closed);
        run->spent = terms_price(&job->filter, &sums);
        run->spent_rounds = closed;
    }
    facts_set(facts, ROW_EPSILON_SPENT, facts_epsilon(run->spent.epsilon_micro));
    facts_set(facts, ROW_EPSILON_PLANNED, facts_epsilon(job->epsilon_micro));
    facts_set(facts, ROW_DELTA_SPENT, facts_delta(run->spent.delta_atto));
    facts_set(facts, ROW_DELTA_PLANNED, facts_delta(job->delta_atto));
}

static void add_rounds(struct facts *facts, const struct face_run *run)
{
    facts_set(facts, ROW_SECONDS, (double)run->duration_ms / 1000);
    for (uint64_t i = run->round_count; i > 0 && run->round_count - i < FACE_ROUNDS; i--) {
        const struct face_round *round = &run->round[(i - 1) % FACE_ROUNDS];
        uint32_t within;
        const struct stage *stage = job_stage_of(run->job, round->round, &within);
        char when[CLOCK_TEXT_BYTES];
        char number[NUMBER_BYTES];
        char agents[NUMBER_BYTES];
        char seconds[NUMBER_BYTES];
        const char *const label[] = {when, number, task_name(stage->task), agents, seconds};
        if (i == run->round_count) {
            facts_set(facts, ROW_LAST_RELEASE, (double)round->wall_ms / 1000);
            facts_set(facts, ROW_LAST_SECONDS, round->duration_ms / 1000.0);
            facts_set(facts, ROW_LAST_AGENTS, round->agents);
        }
        clock_text(when, round->wall_ms);
        (void)snprintf(number, sizeof number, "%" PRIu32, round->round + 1);
        (void)snprintf(agents, sizeof agents, "%" PRIu32, round->agents);
        (void)snprintf(seconds, sizeof seconds, "%.2f", round->duration_ms / 1000.0);
        facts_add(facts, ROW_LATEST, 1, label);
    }
}

static void add_agents(struct facts *facts, const struct coordinator *coordinator, size_t count)
{
    size_t in_state[STATES_MAX] = {0};
    const int64_t now_ms = clock_now_ms();
    for (size_t i = 0; i < count; i++) {
        size_t state = 0;
        const char *name = coordinator_look_agent(coordinator, i, now_ms, &state);
        const char *const label[] = {name, coordinator_agent_states[state]};
        in_state[state]++;
        if (i < NAMED_MAX) { /* of more the numbers by state tell */
            facts_add(facts, ROW_AGENT, 1, label);
        }
    }
    for (size_t i = 0; i < coordinator_agent_state_count && i < STATES_MAX; i++) {
        facts_set_of(facts, ROW_AGENTS, (double)in_state[i], coordinator_agent_states[i]);
    }
}

/* How long it will take, and what the choice costs: both from what is released. */
static void add_course(struct facts *facts, const struct face_run *run,
                       const struct coordinator_view *view)
{
    const struct outcome *outcome = coordinator_look_outcome(run->coordinator);
    const double left_s = outcome->finished ? -1
                                            : queue_seconds_left(view->closed, view->planned,
                                                                 run->first_ms, run->last_ms);
    const double regret = outcome_regret_average(outcome);
    const double bound = outcome_regret_bound(outcome).tight;
    if (left_s >= 0) {
        facts_set(facts, ROW_LEFT, left_s);
    }
    if (!isnan(regret)) {
        facts_set(facts, ROW_REGRET, regret);
    }
    if (!isnan(bound)) {
        facts_set(facts, ROW_REGRET_BOUND, bound);
    }
}

static void add_machine(struct facts *facts, struct face_run *run)
{
    const struct coordinator_view view = coordinator_look(run->coordinator);
    char id[ID_DIGITS + 1] = "";
    const char *const label[] = {run->job->name, id};

    if (!digest_is_none(&view.id)) {
        hex_encode(id, view.id.byte, ID_DIGITS / 2);
    }
    facts_add(facts, ROW_JOB, 1, label);
    facts_set_state(facts, ROW_PHASE, coordinator_phases, coordinator_phase_count, view.phase);
    if (view.stage[0] != '\0' && !view.failed) {
        facts_set_of(facts, ROW_STAGE, 1, view.stage);
    }
    facts_set(facts, ROW_FAILED, view.failed ? 1 : 0);
    facts_set(facts, ROW_CLOSED, view.closed);
    facts_set(facts, ROW_PLANNED, view.planned);
    facts_set(facts, ROW_NEEDED, run->job->cohort_min);
    add_price(facts, run, view.closed);
    add_course(facts, run, &view);
    add_agents(facts, run->coordinator, view.agent_count);
    for (size_t i = 0; i < view.collector_count; i++) {
        uint64_t ready = 0;
        const char *name = coordinator_look_collector(run->coordinator, i, &ready);
        facts_set_of(facts, ROW_COLLECTOR, (double)ready, name);
    }
}

static const struct face_run *running(const struct face *face, uint32_t number)
{
    for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
        if (face->run[i].coordinator != NULL && face->run[i].number == number) {
            return &face->run[i];
        }
    }
    return NULL;
}

struct face_run *face_shown(struct face *face)
{
    struct face_run *shown = NULL;
    for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
        struct face_run *run = &face->run[i];
        if (run->coordinator != NULL && (shown == NULL || run->number < shown->number)) {
            shown = run;
        }
    }
    return shown;
}

static void look_for_files(struct face_job *kept, const struct face *face)
{
    struct why ignored = {{0}};
    for (size_t i = 0; face_results[i] != NULL; i++) {
        int64_t size = -1;
        kept->file[i] = kept->job.filed &&
                        queue_result_size(&size, face->office, kept->job.number, face_results[i],
                                          &ignored) == STATUS_OK &&
                        size >= 0;
    }
}

/* What the journal of a job that runs says is the machine's to tell: the file would be read whole at every look. */
static void look_at_job(struct queue_job *job, struct face *face, uint32_t number)
{
    struct why ignored = {{0}};
    struct face_job *kept = &face->listed[number % FACE_JOBS];
    const int64_t now_ms = clock_now_ms();
    const struct face_run *run = running(face, number);
    if (run != NULL) {
        const struct coordinator_view view = coordinator_look(run->coordinator);
        *job = (struct queue_job){.number = number,
                                  .state = QUEUE_RUNNING,
                                  .rounds = view.closed,
                                  .planned = view.planned};
        (void)snprintf(job->name, sizeof job->name, "%s", run->job->name);
        return;
    }
    if (kept->job.number != number || now_ms - kept->looked_ms >= JOB_MS) {
        if (queue_look(&kept->job, face->office, number, &ignored) != STATUS_OK) {
            kept->job = (struct queue_job){.number = number};
        }
        look_for_files(kept, face);
        kept->looked_ms = clock_now_ms();
    }
    *job = kept->job;
}

static void add_results(struct facts *facts, const struct face *face, const struct queue_job *job,
                        const char *digits)
{
    const struct face_job *kept = &face->listed[job->number % FACE_JOBS];
    for (size_t i = 0; job->filed && face_results[i] != NULL; i++) {
        const char *const label[] = {digits, job->name, face_results[i]};
        if (kept->file[i]) {
            facts_add(facts, ROW_RESULTS, 1, label);
        }
    }
}

static void add_queue(struct facts *facts, struct face *face)
{
    struct queue_list list = {.count = 0};
    struct why ignored = {{0}};
    size_t waiting = 0;
    size_t aside = 0;
    if (face->office->settings.jobs[0] == '\0' ||
        queue_list(&list, face->office, &ignored) != STATUS_OK) {
        return;
    }
    for (size_t i = list.count; i-- > 0;) {
        const uint32_t number = list.entry[i].number;
        const bool runs = running(face, number) != NULL ||
                          (face->stands_by && list.entry[i].begun); /* where another one leads */
        bool stopped = !runs && !list.entry[i].over && list.entry[i].begun;
        if (list.count - i <= FACE_JOBS) {
            char digits[NUMBER_BYTES];
            char rounds[2 * NUMBER_BYTES];
            struct queue_job job;
            look_at_job(&job, face, number);
            const char *const label[] = {digits, queue_state_name(job.state), rounds, job.name};
            (void)snprintf(digits, sizeof digits, "%" PRIu32, number);
            (void)snprintf(rounds, sizeof rounds, "%" PRIu32 " of %" PRIu32, job.rounds,
                           job.planned);
            facts_add(facts, ROW_QUEUE, 1, label);
            add_results(facts, face, &job, digits);
            stopped = !job.filed && (job.state == QUEUE_ASIDE ||
                                     (stopped && !job.stuck && job.state > QUEUE_RUNNING));
        }
        aside += stopped ? 1 : 0;
        waiting += runs || stopped || list.entry[i].over ? 0 : 1;
    }
    facts_set(facts, ROW_WAITING, (double)waiting);
    facts_set(facts, ROW_ASIDE, (double)aside);
    queue_list_free(&list);
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
    return face_shown(face) != NULL || face->idle ? WATCH_WORKS
           : face->stands_by                      ? WATCH_STANDS_BY
                                                  : WATCH_STARTS;
}

static struct facts *look(void *self)
{
    struct face *face = self;
    const struct driver_counts *counts = &face->host.counts;
    const struct facts_common common = {.program = "hedgerow-coordinator",
                                        .started_ms = face->started_ms,
                                        .messages_in = counts->messages_in,
                                        .messages_out = counts->messages_out,
                                        .bytes_in = counts->bytes_in,
                                        .bytes_out = counts->bytes_out,
                                        .journal_bytes =
                                            journal_is_shared(face->office->settings.state) ||
                                                    queue_is_shared(face->office)
                                                ? FACTS_UNKNOWN
                                                : journal_size(face->office->settings.state)};
    struct facts *facts = facts_new(family, sizeof family / sizeof family[0]);
    if (facts == NULL) {
        return NULL;
    }
    struct face_run *shown = face_shown(face);
    if (shown != NULL) {
        add_machine(facts, shown);
        add_rounds(facts, shown);
    }
    add_queue(facts, face);
    add_fetches(facts, face);
    facts_add_common(facts, ROW_COMMON, &common);
    return facts;
}

char *face_status(struct face *face)
{
    struct facts *facts = look(face);
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
    return page_host_open(&face->host, &office->settings.http, log, options, why);
}
