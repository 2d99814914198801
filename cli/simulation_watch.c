/* Starts the processes and shows what the coordinator logs. Its log is a file of JSON lines that
 * this process reads as it grows: a slow terminal delays nothing, and the log remains.
 */

#include "cli/simulation.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

enum {
    LINE_BYTES_MAX = 32768,
    TURN_MS = 50,
    GRACE_MS = 5000,
    AGENTS_END_MS = 20000,
    SPARE_MS = 60000,
    SHORT_SPARE_MS = 2000,
    SPARE_BYTES = 65536
};

/* A log as it grows: whole lines only. */
struct tail {
    FILE *file;
    char line[LINE_BYTES_MAX];
    size_t used;
};

/* Reads on to the next whole line; false when there is none yet. */
static bool tail_line(struct tail *tail)
{
    int c;
    while (tail->file != NULL && (c = fgetc(tail->file)) != EOF) {
        if (c == '\n') {
            tail->line[tail->used] = '\0';
            tail->used = 0;
            return true;
        }
        if (tail->used < LINE_BYTES_MAX - 1) {
            tail->line[tail->used++] = (char)c;
        }
    }
    if (tail->file != NULL) {
        clearerr(tail->file); /* more may come */
    }
    return false;
}

/* A closed round as a row of a table, from the fields of its entry. The text beside them is for people, and
 * its words may change. An entry that lacks one of the fields is shown by its text. */
static void show_round(FILE *out, const json_t *entry, const char *text)
{
    const char *stage = json_string_value(json_object_get(entry, "stage"));
    const char *model = json_string_value(json_object_get(entry, "model"));
    const json_t *round = json_object_get(entry, "round");
    const json_t *rounds = json_object_get(entry, "rounds");
    const json_t *agents = json_object_get(entry, "agents");
    const json_t *epsilon = json_object_get(entry, "epsilon");
    char at[32];

    if (stage == NULL || model == NULL || !json_is_number(round) || !json_is_number(rounds) ||
        !json_is_number(agents) || !json_is_number(epsilon)) {
        (void)fprintf(out, "  %s\n", text);
        return;
    }
    (void)snprintf(at, sizeof at, "%.0f/%.0f", json_number_value(round), json_number_value(rounds));
    (void)fprintf(out, "  %-10s %7s %7.0f %8.6g  %s\n", stage, at, json_number_value(agents),
                  json_number_value(epsilon), model);
}

static bool is_wrong(const char *level)
{
    return level != NULL && (strcmp(level, "warning") == 0 || strcmp(level, "error") == 0);
}

void simulation_show_line(FILE *out, const char *line)
{
    json_t *entry = json_loads(line, 0, NULL);
    const char *event = json_string_value(json_object_get(entry, "event"));
    const char *level = json_string_value(json_object_get(entry, "level"));
    const char *text = json_string_value(json_object_get(entry, "text"));

    if (event != NULL && level != NULL && text != NULL) {
        if (strcmp(event, "round-closed") == 0) {
            show_round(out, entry, text);
        } else if (is_wrong(level) && strcmp(event, "not-private") != 0) {
            (void)fprintf(out, "  %s: %s\n", level, text);
        }
        (void)fflush(out);
    }
    json_decref(entry);
}

/* The processes of one simulation: the coordinator is child 0, agent i is child i + 1. */
struct run {
    const struct simulation_plan *plan;
    struct children children;
    struct tail *log;          /* (agent_count + 1) of each child, as it grows; owned */
    bool told[CHILDREN_MAX];   /* that the child has ended badly */
    bool is_out[CHILDREN_MAX]; /* the child takes no part in the job */
    size_t declined;           /* agents that are out */
    char first[WHY_BYTES];     /* who was the first of these, and why */
};

/* The last thing that a process had to complain about, or the last line that is no JSON. A process that could
 * write nothing into its log left no word. The likely reason is a full disk. */
static bool disk_is_full(const char *out)
{
    struct statvfs disk;
    return statvfs(out, &disk) == 0 && disk.f_bavail < SPARE_BYTES / disk.f_frsize + 1;
}

static void last_words(const char *out, const char *name, char *words, size_t size)
{
    char path[SIMULATION_PATH_BYTES];
    struct tail *tail = calloc(1, sizeof *tail);

    (void)snprintf(words, size, "it left no word in its log");
    if (tail == NULL) {
        return;
    }
    simulation_path(path, out, "logs/%s.log", name);
    tail->file = fopen(path, "rbe");
    while (tail_line(tail)) {
        json_t *entry = json_loads(tail->line, 0, NULL);
        const char *level = json_string_value(json_object_get(entry, "level"));
        const char *text = json_string_value(json_object_get(entry, "text"));
        if (entry == NULL && tail->line[0] != '\0') {
            (void)snprintf(words, size, "%.*s", (int)size - 1, tail->line);
        } else if (text != NULL && is_wrong(level)) {
            (void)snprintf(words, size, "%.*s", (int)size - 1, text);
        }
        json_decref(entry);
    }
    if (tail->file != NULL) {
        (void)fclose(tail->file);
    }
    free(tail);
    if (disk_is_full(out)) {
        (void)snprintf(words, size, "no space is left on the disk of %s", out);
    }
}

static const char *program_of(bool seeded, bool coordinator)
{
    return coordinator ? (seeded ? "hedgerow-coordinator-seeded" : "hedgerow-coordinator")
                       : (seeded ? "hedgerow-agent-seeded" : "hedgerow-agent");
}

enum status simulation_programs(bool seeded, struct why *why)
{
    char path[SIMULATION_PATH_BYTES];
    enum status status = children_program(path, sizeof path, program_of(seeded, true), why);
    return status != STATUS_OK
               ? status
               : children_program(path, sizeof path, program_of(seeded, false), why);
}

/* Starts the child of this number, and opens its log. Its seed is its own. */
static enum status start(struct run *run, size_t number, struct why *why)
{
    const struct simulation_request *asked = &run->plan->asked;
    const char *name = number == 0 ? "coordinator" : run->plan->agent[number - 1].name;
    char path[SIMULATION_PATH_BYTES];
    char config[SIMULATION_PATH_BYTES];
    char log[SIMULATION_PATH_BYTES];
    char seed[32];
    char seed_option[] = "--simulate-seed";
    char *argument[] = {path, (char[]){"run"}, (char[]){"--config"}, config, NULL, NULL, NULL};

    enum status status =
        children_program(path, sizeof path, program_of(asked->seeded, number == 0), why);
    if (status != STATUS_OK) {
        return status;
    }
    simulation_path(config, asked->out, number == 0 ? "%s/coordinator.yml" : "agents/%s/agent.yml",
                    name);
    simulation_path(log, asked->out, "logs/%s.log", name);
    if (asked->seeded) {
        (void)snprintf(seed, sizeof seed, "%" PRIu64,
                       asked->seed * (SIMULATION_AGENTS_MAX + 1) + (uint64_t)number);
        argument[4] = seed_option;
        argument[5] = seed;
    }
    status = children_start(&run->children, name, log, argument, why);
    run->log[number].file = status == STATUS_OK ? fopen(log, "rbe") : NULL;
    return status;
}

/* Tells, once, of agents that have ended badly; the job goes on without them as long as it can. */
static void tell_of_dead(struct run *run)
{
    const struct simulation_request *asked = &run->plan->asked;
    for (size_t i = 1; i < run->children.count; i++) {
        const struct child *child = &run->children.child[i];
        const bool declined = run->is_out[i] && child->code == EXIT_CODE_REFUSED; /* told already */
        if (!child->running && child->code != 0 && !run->told[i] && !declined) {
            char words[1024];
            run->told[i] = true;
            last_words(asked->out, child->name, words, sizeof words);
            (void)fprintf(asked->progress, "  %s ended with code %d: %s\n", child->name,
                          child->code, words);
            (void)fflush(asked->progress);
        }
    }
}

/* Whether the entry says that the agent takes no part: by the event's name, as texts are for people. */
static bool says_no(const json_t *entry)
{
    static const char *const event[] = {"job-refused", "job-too-large", "slot-too-short",
                                        "budget-exhausted", "task-refused"};
    const char *name = json_string_value(json_object_get(entry, "event"));
    bool found = false;
    for (size_t i = 0; name != NULL && i < sizeof event / sizeof event[0]; i++) {
        found = found || strcmp(name, event[i]) == 0;
    }
    return found;
}

/* In a deployment a site's reason stays at the site. Here all sites are one person's. */
static void tell_of_declined(struct run *run)
{
    FILE *progress = run->plan->asked.progress;
    for (size_t i = 1; i < run->children.count; i++) {
        const char *name = run->children.child[i].name;
        while (tail_line(&run->log[i])) {
            json_t *entry = json_loads(run->log[i].line, 0, NULL);
            const char *text = json_string_value(json_object_get(entry, "text"));
            if (says_no(entry) && text != NULL && !run->is_out[i]) {
                run->is_out[i] = true;
                if (run->declined++ == 0) {
                    (void)snprintf(run->first, sizeof run->first, "%s: %.400s", name, text);
                }
                (void)fprintf(progress, "  %s takes no part: %s\n", name, text);
                (void)fflush(progress);
            }
            json_decref(entry);
        }
    }
}

/* Shows what was logged since the last time. */
static void show_news(struct run *run)
{
    while (tail_line(&run->log[0])) {
        simulation_show_line(run->plan->asked.progress, run->log[0].line);
    }
}

/* No round can take longer than its deadline and its patience, so a run that does is stuck. */
static int64_t patience_ms(const struct job *job)
{
    return (int64_t)job->join_deadline_ms + job->patience_ms +
           (int64_t)job_round_count(job) * ((int64_t)job->deadline_ms + job->patience_ms) +
           SPARE_MS;
}

static enum exit_code declined_code(const struct run *run, struct why *why)
{
    why_set(why, "%zu of %zu agents decline the job (cohort.minimum: %u); %.380s", run->declined,
            run->plan->agent_count, run->plan->job.cohort_min, run->first);
    return EXIT_CODE_REFUSED;
}

static enum exit_code coordinator_code(const struct run *run, struct why *why)
{
    const struct child *coordinator = &run->children.child[0];
    const char *out = run->plan->asked.out;
    char words[WHY_BYTES];
    if (coordinator->code == 0) {
        return EXIT_CODE_OK;
    }
    if (coordinator->code == EXIT_CODE_JOB_FAILED && run->declined > 0) {
        return declined_code(run, why);
    }
    last_words(out, coordinator->name, words, sizeof words);
    why_set(why, "the coordinator ended with code %d: %.300s (see %s/logs)", coordinator->code,
            words, out);
    return coordinator->code == EXIT_CODE_JOB_FAILED ? EXIT_CODE_JOB_FAILED : EXIT_CODE_INTERNAL;
}

/* Agents that could still answer. In a simulation agents that have ended do not come back, and nobody
 * edits their policies. */
static size_t agents_left(const struct run *run)
{
    size_t left = 0;
    for (size_t i = 1; i < run->children.count; i++) {
        const struct child *child = &run->children.child[i];
        left += (child->running || child->code == 0) && !run->is_out[i] ? 1 : 0;
    }
    return left;
}

/* With too few agents left it is useless to wait for the job's patience: the round, which may have all
 * its answers already, gets its deadline. Agents that decline are not waited for. */
static bool is_hopeless(const struct run *run, int64_t *short_ms, struct why *why)
{
    const struct job *job = &run->plan->job;
    const size_t left = agents_left(run);
    *short_ms = left < job->cohort_min ? *short_ms + TURN_MS : 0;
    const int64_t deadline_ms = run->declined > 0 ? 0 : job->deadline_ms;
    if (left > 0 && *short_ms <= deadline_ms + SHORT_SPARE_MS) {
        return false;
    }
    why_set(why, "%s%s; the logs are in %s/logs",
            left == 0 ? "all agents have ended"
                      : "too few agents are left for the job (cohort.minimum)",
            disk_is_full(run->plan->asked.out) ? ": no space is left on the disk" : "",
            run->plan->asked.out);
    return true;
}

static enum exit_code watch(struct run *run, struct why *why)
{
    const struct child *coordinator = &run->children.child[0];
    const char *out = run->plan->asked.out;
    int64_t waited = 0;
    int64_t short_ms = 0;
    bool asked_to_stop = false;

    while (coordinator->running && !asked_to_stop && waited < patience_ms(&run->plan->job)) {
        asked_to_stop = children_wait(&run->children, TURN_MS);
        waited += TURN_MS;
        show_news(run);
        tell_of_declined(run);
        tell_of_dead(run);
        if (coordinator->running && is_hopeless(run, &short_ms, why)) {
            children_stop(&run->children, GRACE_MS);
            return run->declined > 0 ? declined_code(run, why) : EXIT_CODE_JOB_FAILED;
        }
    }
    for (waited = 0; !asked_to_stop && !coordinator->running && coordinator->code == 0 &&
                     children_running(&run->children) > 0 && waited < AGENTS_END_MS;
         waited += TURN_MS) {
        asked_to_stop = children_wait(&run->children, TURN_MS);
    }
    const bool ended = !coordinator->running;
    children_stop(&run->children, GRACE_MS);
    show_news(run);
    if (asked_to_stop) {
        why_set(why, "stopped before the end; the logs are in %s/logs", out);
        return EXIT_CODE_INTERRUPTED;
    }
    if (!ended) {
        why_set(why, "the job did not end within its deadlines; see %s/logs", out);
        return EXIT_CODE_INTERNAL;
    }
    tell_of_declined(run);
    tell_of_dead(run);
    return coordinator_code(run, why);
}

enum exit_code simulation_watch(const struct simulation_plan *plan, struct why *why)
{
    struct run run = {.plan = plan};
    enum exit_code code = EXIT_CODE_INTERNAL;

    children_signals();
    run.log = calloc(plan->agent_count + 1, sizeof *run.log);
    enum status status = run.log == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (size_t i = 0; i <= plan->agent_count && status == STATUS_OK; i++) {
        status = start(&run, i, why);
    }
    if (status == STATUS_OK) {
        code = watch(&run, why);
    } else {
        children_stop(&run.children, GRACE_MS);
    }
    for (size_t i = 0; run.log != NULL && i <= plan->agent_count; i++) {
        if (run.log[i].file != NULL) {
            (void)fclose(run.log[i].file);
        }
    }
    free(run.log);
    return code;
}
