/* What the coordinator's page tells of a job that runs, and of the agents. */

#include "coordinator/main_face.h"
#include "coordinator/main_face_table.h"
#include "coordinator/main_queue_store.h"
#include "coordinator/outlook.h"
#include "io/clock.h"
#include "io/endpoint.h"
#include "io/journal.h"
#include "job/round.h"
#include "job/terms.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ID_DIGITS = 16, NUMBER_BYTES = 24, STATES_MAX = 32, NAMED_MAX = 1000, READING_MS = 10000 };

const struct fact_family face_family[FACE_ROWS] = {FACE_FACTS(FACT_FAMILY) FACTS_COMMON(true)};

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

static void add_rounds(struct facts *facts, const struct face_run *run, bool listed)
{
    facts_set(facts, ROW_SECONDS, (double)run->duration_ms / 1000);
    const uint64_t rows = listed ? FACE_ROUNDS : 1;
    for (uint64_t i = run->round_count; i > 0 && run->round_count - i < rows; i--) {
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
        if (!listed) {
            break;
        }
        clock_text(when, round->wall_ms);
        (void)snprintf(number, sizeof number, "%" PRIu32, round->round + 1);
        (void)snprintf(agents, sizeof agents, "%" PRIu32, round->agents);
        (void)snprintf(seconds, sizeof seconds, "%.2f", round->duration_ms / 1000.0);
        facts_add(facts, ROW_LATEST, 1, label);
    }
}

/* How long it will take, and what the choice costs: both from what is released. */
static void add_course(struct facts *facts, const struct face_run *run,
                       const struct coordinator_view *view)
{
    if (run->coordinator == NULL) {
        return;
    }
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

static void add_cohort(struct facts *facts, const struct face_run *run,
                       const struct coordinator_view *view)
{
    facts_set(facts, ROW_NEEDED, run->job->cohort_min);
    facts_set(facts, ROW_READY, (double)view->ready_all);
    for (size_t i = 0; run->coordinator != NULL && i < view->collector_count; i++) {
        uint64_t ready = 0;
        const char *name = coordinator_look_collector(run->coordinator, i, &ready);
        facts_set_of(facts, ROW_COLLECTOR, (double)ready, name);
    }
}

void face_add_run(struct facts *facts, struct face_run *run, bool rounds)
{
    const struct coordinator_view view = face_look(run);
    char id[ID_DIGITS + 1] = "";
    const char *const label[] = {run->job->name, id};

    if (!digest_is_none(&view.id)) {
        hex_encode(id, view.id.byte, ID_DIGITS / 2);
    }
    facts_of_job(facts, run->number);
    facts_add(facts, ROW_JOB, 1, label);
    facts_set_state(facts, ROW_PHASE, coordinator_phases, coordinator_phase_count, view.phase);
    if (view.stage[0] != '\0' && !view.failed) {
        facts_set_of(facts, ROW_STAGE, 1, view.stage);
    }
    facts_set(facts, ROW_FAILED, view.failed ? 1 : 0);
    facts_set(facts, ROW_CLOSED, view.closed);
    facts_set(facts, ROW_PLANNED, view.planned);
    add_cohort(facts, run, &view);
    add_price(facts, run, view.closed);
    add_course(facts, run, &view);
    add_rounds(facts, run, rounds);
    if (run->number != 0 && !queue_of(run->face->office)->shared) {
        facts_set(facts, ROW_COMMON + FACTS_COMMON_JOURNAL, (double)journal_size(run->state));
    }
    facts_of_job(facts, 0);
}

void face_add_ended(struct facts *facts, struct face *face)
{
    const struct face_ended *ended = &face->ended;
    if (ended->number == 0 || face_running(face, ended->number) != NULL) {
        return;
    }
    facts_of_job(facts, ended->number);
    facts_set(facts, ROW_FAILED, ended->failed ? 1 : 0);
    if (ended->last_ms != 0) {
        facts_set(facts, ROW_LAST_RELEASE, (double)ended->last_ms / 1000);
    }
    facts_of_job(facts, 0);
}

/* A person that a site asks, or a site that still reads its records: a site says neither, and the second takes seconds. */
void face_waits(char text[static FACE_WAITS_BYTES], const struct face_run *run)
{
    const struct coordinator_view view = face_look(run);
    const bool asked = view.unready > 0 && clock_now_ms() - run->began_ms >= READING_MS;
    char refusing[FACE_WAITS_BYTES / 2];
    text[0] = '\0';
    if (run->coordinator != NULL && !view.over && !view.failed &&
        view.ready_all < run->job->cohort_min) {
        coordinator_look_refusing(run->coordinator, refusing, sizeof refusing);
        (void)snprintf(text, FACE_WAITS_BYTES, "for %s: %zu of %" PRIu32 " ready%s%s",
                       asked ? "approval" : "agents", view.ready_all, run->job->cohort_min,
                       refusing[0] != '\0' ? "; declined by " : "", refusing);
    }
}

static const char WITHOUT_JOB[] = "without a job";

/* What is said of agents. */
struct agents {
    struct facts *facts;
    size_t in_state[STATES_MAX];
    size_t without_job;
    size_t named;
};

static void name_agent(struct agents *agents, const char *name, const char *state)
{
    const char *const label[] = {name, state};
    if (agents->named++ < NAMED_MAX) { /* of more the numbers by state tell */
        facts_add(agents->facts, ROW_AGENT, 1, label);
    }
}

static void add_cohort_of(struct agents *agents, const struct face_run *run)
{
    const struct coordinator_view view = coordinator_look(run->coordinator);
    const int64_t now_ms = clock_now_ms();
    for (size_t i = 0; i < view.agent_count; i++) {
        size_t state = 0;
        const char *name = coordinator_look_agent(run->coordinator, i, now_ms, &state);
        agents->in_state[state]++;
        name_agent(agents, name, coordinator_agent_states[state]);
    }
}

static bool is_asked(const struct face *face, const char *name)
{
    for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
        if (face->run[i].coordinator != NULL && job_asks(face->run[i].job, name)) {
            return true;
        }
    }
    return false;
}

/* Several keys of one name are one agent, and one-time tokens are none. */
static void add_others(struct agents *agents, const struct face *face)
{
    const char *name = NULL;
    const char *next = NULL;
    bool connected = false;
    bool next_connected = false;
    for (size_t i = 0; face->endpoint != NULL; i++) {
        const bool more = endpoint_look(face->endpoint, i, &next, &next_connected);
        if (more && name != NULL && strcmp(name, next) == 0) {
            connected = connected || next_connected;
            continue;
        }
        if (name != NULL && strncmp(name, "token:", 6) != 0 && !is_asked(face, name)) {
            agents->without_job += connected ? 1 : 0;
            agents->in_state[0] += connected ? 0 : 1;
            name_agent(agents, name, connected ? WITHOUT_JOB : coordinator_agent_states[0]);
        }
        if (!more) {
            break;
        }
        name = next;
        connected = next_connected;
    }
}

void face_add_agents(struct facts *facts, const struct face *face)
{
    const bool queue = face->office->settings.jobs[0] != '\0';
    struct agents agents = {.facts = facts};
    bool any = queue;
    for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
        if (face->run[i].coordinator != NULL) {
            add_cohort_of(&agents, &face->run[i]);
            any = true;
        }
    }
    if (queue) {
        add_others(&agents, face);
        facts_set_of(facts, ROW_AGENTS, (double)agents.without_job, WITHOUT_JOB);
    }
    for (size_t i = 0; any && i < coordinator_agent_state_count && i < STATES_MAX; i++) {
        facts_set_of(facts, ROW_AGENTS, (double)agents.in_state[i], coordinator_agent_states[i]);
    }
}

/* What the page draws of forecasts, as JSON: those of outlook.h. Released values alone. */

enum { DIGITS = 7 }; /* of a drawing */

static json_t *numbers(const double *number, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_add(&list, json_number(number[i]));
    }
    return list;
}

static json_t *told_model(const struct outlook_model *model)
{
    json_t *object = json_object();
    json_put(&object, "expert", json_integer((json_int_t)model->expert));
    json_put(&object, "value", numbers(model->value, OUTLOOK_LEVELS));
    json_put(&object, "noise", numbers(model->noise, OUTLOOK_LEVELS));
    return object;
}

static json_t *told_path(const struct outlook_path *path)
{
    json_t *object = json_object();
    json_put(&object, "start", json_number(path->start));
    json_put(&object, "value", numbers(path->value, OUTLOOK_DAYS));
    json_put(&object, "noise", numbers(path->noise, OUTLOOK_DAYS));
    return object;
}

static char *told_outlook(const struct outlook *outlook, const struct label *label)
{
    json_t *models = json_array();
    json_t *paths = json_array();
    json_t *root = json_object();
    for (size_t i = 0; i < outlook->model_count; i++) {
        json_add(&models, told_model(&outlook->model[i]));
    }
    for (size_t i = 0; i < outlook->path_count; i++) {
        json_add(&paths, told_path(&outlook->path[i]));
    }
    json_put(&root, "unit", json_string(label->name));
    json_put(&root, "levels", numbers(outlook->level, OUTLOOK_LEVELS));
    json_put(&root, "models", models);
    json_put(&root, "paths", paths);
    char *text = json_text(root, 0, DIGITS);
    json_decref(root);
    return text;
}

char *face_outlook(const struct outcome *outcome, const struct job *job)
{
    struct outlook outlook;
    if (outlook_make(&outlook, outcome, job) != STATUS_OK || outlook.model_count == 0) {
        return NULL;
    }
    return told_outlook(&outlook, &job->schema.label);
}
