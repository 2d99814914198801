/* The coordinator's own page: what its log tells of the job, its rounds and its agents. No number of records is in it: a site may
 * have released none. */

#include "coordinator/main_face.h"
#include "coordinator/main_queue.h"

#include "base/log.h"
#include "http/facts_common.h"
#include "io/clock.h"
#include "io/journal.h"
#include "job/round.h"
#include "job/terms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PERIOD_MS = 50, ID_DIGITS = 16, NUMBER_BYTES = 24, STATES_MAX = 32 };

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
    ROW_LATEST,
    ROW_WAITING,
    ROW_QUEUE,
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
    [ROW_LATEST] = {"latest_rounds", FACT_LIST, "The latest rounds, the newest first", {"closed", "round", "stage", "agents", "seconds"}},
    [ROW_WAITING] = {"jobs_waiting", FACT_GAUGE, "Jobs of the queue whose turn has not come", {NULL}},
    [ROW_QUEUE] = {"queue", FACT_LIST, "The latest jobs of the queue, the newest first", {"number", "state", "rounds", "job"}},
    FACTS_COMMON,
};
/* clang-format on */

static double epsilon_of(uint64_t micro)
{
    return micro == UINT64_MAX ? INFINITY : (double)micro / 1e6;
}

static double delta_of(uint64_t atto)
{
    return atto == UINT64_MAX ? INFINITY : (double)atto / 1e18;
}

/* The sum over all rounds is made anew only where another one was closed: it takes as long as the job is. */
static void add_price(struct facts *facts, struct face *face, uint32_t closed)
{
    const struct job *job = &face->office->job;
    if (closed != face->spent_rounds) {
        const struct cost sums = round_cost(job, &job->filter, closed);
        face->spent = terms_price(&job->filter, &sums);
        face->spent_rounds = closed;
    }
    facts_set(facts, ROW_EPSILON_SPENT, epsilon_of(face->spent.epsilon_micro));
    facts_set(facts, ROW_EPSILON_PLANNED, epsilon_of(job->epsilon_micro));
    facts_set(facts, ROW_DELTA_SPENT, delta_of(face->spent.delta_atto));
    facts_set(facts, ROW_DELTA_PLANNED, delta_of(job->delta_atto));
}

static void add_rounds(struct facts *facts, const struct face *face)
{
    facts_set(facts, ROW_SECONDS, (double)face->duration_ms / 1000);
    for (uint64_t i = face->round_count; i > 0 && face->round_count - i < FACE_ROUNDS; i--) {
        const struct face_round *round = &face->round[(i - 1) % FACE_ROUNDS];
        uint32_t within;
        const struct stage *stage = job_stage_of(&face->office->job, round->round, &within);
        char when[CLOCK_TEXT_BYTES];
        char number[NUMBER_BYTES];
        char agents[NUMBER_BYTES];
        char seconds[NUMBER_BYTES];
        const char *const label[] = {when, number, task_name(stage->task), agents, seconds};
        if (i == face->round_count) {
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
        facts_add(facts, ROW_AGENT, 1, label);
    }
    for (size_t i = 0; i < coordinator_agent_state_count && i < STATES_MAX; i++) {
        facts_set_of(facts, ROW_AGENTS, (double)in_state[i], coordinator_agent_states[i]);
    }
}

static void add_machine(struct facts *facts, struct face *face)
{
    const struct coordinator_view view = coordinator_look(face->coordinator);
    char id[ID_DIGITS + 1] = "";
    const char *const label[] = {face->office->job.name, id};

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
    facts_set(facts, ROW_NEEDED, face->office->job.cohort_min);
    add_price(facts, face, view.closed);
    add_agents(facts, face->coordinator, view.agent_count);
}

/* What the journal of the job that runs says is the machine's to tell: the file would be read whole at every look. */
static void look_at_job(struct queue_job *job, const struct face *face, uint32_t number)
{
    struct why ignored = {{0}};
    if (face->coordinator != NULL && number == face->number) {
        const struct coordinator_view view = coordinator_look(face->coordinator);
        *job = (struct queue_job){.number = number,
                                  .state = QUEUE_RUNNING,
                                  .rounds = view.closed,
                                  .planned = view.planned};
        (void)snprintf(job->name, sizeof job->name, "%s", face->office->job.name);
    } else if (queue_look(job, face->office, number, &ignored) != STATUS_OK) {
        *job = (struct queue_job){.number = number};
    }
}

static void add_queue(struct facts *facts, const struct face *face)
{
    struct queue_list list = {.count = 0};
    struct why ignored = {{0}};
    size_t waiting = 0;
    if (face->office->settings.jobs[0] == '\0' ||
        queue_list(&list, face->office, &ignored) != STATUS_OK) {
        return;
    }
    for (size_t i = list.count; i-- > 0;) {
        const uint32_t number = list.number[i];
        const bool running = face->coordinator != NULL && number == face->number;
        waiting += running || queue_holds(face->office, number, "end") ? 0 : 1;
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
        }
    }
    facts_set(facts, ROW_WAITING, (double)waiting);
    queue_list_free(&list);
}

static bool is_ready(void *self)
{
    const struct face *face = self;
    return face->coordinator != NULL || face->idle;
}

static struct facts *look(void *self)
{
    struct face *face = self;
    const struct driver_counts *counts = &face->counts;
    const struct facts_common common = {.program = "hedgerow-coordinator",
                                        .started_ms = face->started_ms,
                                        .messages_in = counts->messages_in,
                                        .messages_out = counts->messages_out,
                                        .bytes_in = counts->bytes_in,
                                        .bytes_out = counts->bytes_out,
                                        .journal_bytes =
                                            journal_size(face->office->settings.state)};
    struct facts *facts = facts_new(family, sizeof family / sizeof family[0]);
    if (facts == NULL) {
        return NULL;
    }
    if (face->coordinator != NULL) {
        add_machine(facts, face);
    }
    add_rounds(facts, face);
    add_queue(facts, face);
    facts_add_common(facts, ROW_COMMON, &common);
    return facts;
}

static void note(void *self, const struct record *record)
{
    struct face *face = self;
    if (record->kind != RECORD_ROUND || record->as.round.failed) {
        return;
    }
    face->duration_ms += record->as.round.duration_ms;
    face->round[face->round_count++ % FACE_ROUNDS] =
        (struct face_round){.wall_ms = record->wall_ms,
                            .round = record->as.round.round,
                            .agents = record->as.round.agent_count,
                            .duration_ms = record->as.round.duration_ms};
}

enum status face_open(struct face *face, const struct office *office, const struct log *log,
                      struct driver_options *driver, struct why *why)
{
    const struct watch_options options = {.listen = office->settings.http.listen,
                                          .period_ms = PERIOD_MS,
                                          .self = face,
                                          .is_ready = is_ready,
                                          .look = look};
    *face = (struct face){.office = office, .started_ms = clock_wall_ms()};
    if (office->settings.http.listen[0] == '\0') {
        return STATUS_OK;
    }
    enum status status = watch_open(&face->watch, &options, why);
    if (status == STATUS_OK) {
        log_event(log, LOG_INFO, "http-listening", NULL, "this machine may look at http://%s/",
                  watch_address(face->watch));
        face->guest = (struct driver_guest){.self = face->watch,
                                            .descriptor = watch_descriptor,
                                            .due_ms = watch_due_ms,
                                            .run = watch_run};
        driver->guest = &face->guest;
        driver->counts = &face->counts;
    }
    return status;
}

void face_close(struct face *face)
{
    watch_free(face->watch);
    face->watch = NULL;
}

/* The journal tells all rounds anew; of another job they are others. */
static void forget_rounds(struct face *face)
{
    face->round_count = 0;
    face->duration_ms = 0;
    face->spent_rounds = 0;
    face->spent = (struct price){0};
}

void face_idle(struct face *face)
{
    forget_rounds(face);
    face->idle = true;
}

void face_begin(struct face *face, const struct coordinator *coordinator, struct journal *journal)
{
    forget_rounds(face);
    face->coordinator = coordinator;
    if (face->watch != NULL) {
        face->journal = (struct journal_watch){.note = note, .self = face};
        journal_watch_begin(&face->journal, journal);
    }
}

void face_pause(struct face *face)
{
    face->coordinator = NULL;
    face->idle = false;
}
