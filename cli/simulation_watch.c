/* Starts the processes and shows what the coordinator logs. Its log is a file of JSON lines that
 * this process reads as it grows: a slow terminal holds nobody up, and the log is there afterwards.
 */

#include "cli/simulation.h"

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
    SPARE_BYTES = 65536,
    ARGUMENTS_MAX = 8
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

void simulation_show_line(FILE *out, const char *line)
{
    json_t *entry = json_loads(line, 0, NULL);
    const char *event = json_string_value(json_object_get(entry, "event"));
    const char *level = json_string_value(json_object_get(entry, "level"));
    const char *text = json_string_value(json_object_get(entry, "text"));

    if (event != NULL && level != NULL && text != NULL) {
        bool wrong = strcmp(level, "warning") == 0 || strcmp(level, "error") == 0;
        if (strcmp(event, "round-closed") == 0) {
            show_round(out, entry, text);
        } else if (wrong && strcmp(event, "not-private") != 0) {
            (void)fprintf(out, "  %s: %s\n", level, text);
        }
        (void)fflush(out);
    }
    json_decref(entry);
}

/* The last thing that a process had to complain about, or the last line that is no JSON. */
static void last_words(const struct simulation *simulation, const char *name, char *words,
                       size_t size)
{
    char path[SIMULATION_PATH_BYTES];
    struct tail *tail = calloc(1, sizeof *tail);

    words[0] = '\0';
    if (tail == NULL || !simulation_path(simulation, path, "logs/%s.log", name)) {
        free(tail);
        return;
    }
    tail->file = fopen(path, "rbe");
    while (tail_line(tail)) {
        json_t *entry = json_loads(tail->line, 0, NULL);
        const char *level = json_string_value(json_object_get(entry, "level"));
        const char *text = json_string_value(json_object_get(entry, "text"));
        if (entry == NULL && tail->line[0] != '\0') {
            (void)snprintf(words, size, "%.*s", (int)size - 1, tail->line);
        } else if (text != NULL && level != NULL &&
                   (strcmp(level, "error") == 0 || strcmp(level, "warning") == 0)) {
            (void)snprintf(words, size, "%.*s", (int)size - 1, text);
        }
        json_decref(entry);
    }
    if (tail->file != NULL) {
        (void)fclose(tail->file);
    }
    free(tail);
}

static bool disk_is_full(const struct simulation *simulation)
{
    struct statvfs disk;
    return statvfs(simulation->out, &disk) == 0 && disk.f_bavail < SPARE_BYTES / disk.f_frsize + 1;
}

/* A process that could write nothing into its log left no word. The likely reason is a full disk. */
static void explain(const struct simulation *simulation, char *words, size_t size)
{
    if (disk_is_full(simulation)) {
        (void)snprintf(words, size, "no space is left on the disk of %s", simulation->out);
    } else if (words[0] == '\0') {
        (void)snprintf(words, size, "it left no word in its log");
    }
}

/* The seed of one process: the coordinator's, then the agents'. */
static uint64_t seed_of(const struct simulation *simulation, size_t number)
{
    return simulation->seed * (SIMULATION_AGENTS_MAX + 1) + number;
}

static const char *coordinator_program(const struct simulation *simulation)
{
    return simulation->seeded ? "hedgerow-coordinator-seeded" : "hedgerow-coordinator";
}

static const char *agent_program(const struct simulation *simulation)
{
    return simulation->seeded ? "hedgerow-agent-seeded" : "hedgerow-agent";
}

enum status simulation_programs(struct simulation *simulation)
{
    char path[SIMULATION_PATH_BYTES];
    enum status status =
        children_program(path, sizeof path, coordinator_program(simulation), &simulation->why);
    return status != STATUS_OK
               ? status
               : children_program(path, sizeof path, agent_program(simulation), &simulation->why);
}

static enum status start(struct simulation *simulation, const char *program, const char *name,
                         const char *settings, size_t number)
{
    char path[SIMULATION_PATH_BYTES];
    char config[SIMULATION_PATH_BYTES];
    char log[SIMULATION_PATH_BYTES];
    char seed[32];
    char run[] = "run";
    char config_option[] = "--config";
    char seed_option[] = "--simulate-seed";
    char *argument[ARGUMENTS_MAX] = {path, run, config_option, config};

    enum status status = children_program(path, sizeof path, program, &simulation->why);
    if (status != STATUS_OK) {
        return status;
    }
    if (!simulation_path(simulation, config, "%s", settings) ||
        !simulation_path(simulation, log, "logs/%s.log", name)) {
        return STATUS_NO_MEMORY;
    }
    if (simulation->seeded) {
        (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)seed_of(simulation, number));
        argument[4] = seed_option;
        argument[5] = seed;
    }
    return children_start(&simulation->children, name, log, argument, &simulation->why);
}

static enum status start_all(struct simulation *simulation)
{
    enum status status = start(simulation, coordinator_program(simulation), "coordinator",
                               "coordinator/coordinator.yml", 0);
    for (size_t i = 1; i <= simulation->agent_count && status == STATUS_OK; i++) {
        char name[CHILD_NAME_BYTES];
        char settings[128];
        simulation_agent_name(simulation, name, i - 1);
        (void)snprintf(settings, sizeof settings, "agents/%s/agent.yml", name);
        status = start(simulation, agent_program(simulation), name, settings, i);
    }
    return status;
}

/* Tells, once, of agents that have ended badly; the job goes on without them as long as it can. */
static void tell_of_dead(struct simulation *simulation, bool *told)
{
    for (size_t i = 1; i < simulation->children.count; i++) {
        const struct child *child = &simulation->children.child[i];
        if (!child->running && child->code != 0 && !told[i]) {
            char words[1024];
            told[i] = true;
            last_words(simulation, child->name, words, sizeof words);
            explain(simulation, words, sizeof words);
            (void)fprintf(simulation->progress, "  %s ended with code %d: %s\n", child->name,
                          child->code, words);
            (void)fflush(simulation->progress);
        }
    }
}

/* What the agents say of the job, as their logs grow. */
struct declines {
    struct tail *log; /* (agents) */
    bool *is_out;     /* (agents) it takes no part in the job */
    size_t count;
    char first[WHY_BYTES]; /* who was the first, and why */
};

static enum status declines_new(struct declines *declines, const struct simulation *simulation)
{
    declines->log = calloc(simulation->agent_count, sizeof *declines->log);
    declines->is_out = calloc(simulation->agent_count, sizeof *declines->is_out);
    for (size_t i = 0; declines->log != NULL && i < simulation->agent_count; i++) {
        char name[CHILD_NAME_BYTES];
        char path[SIMULATION_PATH_BYTES];
        simulation_agent_name(simulation, name, i);
        if (simulation_path(simulation, path, "logs/%s.log", name)) {
            declines->log[i].file = fopen(path, "rbe");
        }
    }
    return declines->log == NULL || declines->is_out == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static void declines_free(struct declines *declines, size_t agents)
{
    for (size_t i = 0; declines->log != NULL && i < agents; i++) {
        if (declines->log[i].file != NULL) {
            (void)fclose(declines->log[i].file);
        }
    }
    free(declines->log);
    free(declines->is_out);
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
static void tell_of_declined(struct simulation *simulation, struct declines *declines)
{
    for (size_t i = 0; i < simulation->agent_count; i++) {
        while (tail_line(&declines->log[i])) {
            json_t *entry = json_loads(declines->log[i].line, 0, NULL);
            const char *text = json_string_value(json_object_get(entry, "text"));
            if (says_no(entry) && text != NULL && !declines->is_out[i]) {
                char name[CHILD_NAME_BYTES];
                simulation_agent_name(simulation, name, i);
                declines->is_out[i] = true;
                if (declines->count++ == 0) {
                    (void)snprintf(declines->first, sizeof declines->first, "%s: %.400s", name,
                                   text);
                }
                (void)fprintf(simulation->progress, "  %s takes no part: %s\n", name, text);
                (void)fflush(simulation->progress);
            }
            json_decref(entry);
        }
    }
}

/* No round can take longer than its deadline and its patience, so a run that does is stuck. */
static int64_t patience_ms(const struct job *job)
{
    return (int64_t)job->join_deadline_ms +
           (int64_t)job_round_count(job) * ((int64_t)job->deadline_ms + job->patience_ms) +
           SPARE_MS;
}

static enum exit_code declined_code(struct simulation *simulation, const struct declines *declines)
{
    why_set(&simulation->why, "%zu of %zu agents decline the job (cohort.minimum: %u); %.380s",
            declines->count, simulation->agent_count, simulation->job.cohort_min, declines->first);
    return EXIT_CODE_REFUSED;
}

static enum exit_code coordinator_code(struct simulation *simulation,
                                       const struct declines *declines)
{
    const struct child *coordinator = &simulation->children.child[0];
    char words[WHY_BYTES];
    if (coordinator->code == 0) {
        return EXIT_CODE_OK;
    }
    if (coordinator->code == EXIT_CODE_JOB_FAILED && declines->count > 0) {
        return declined_code(simulation, declines);
    }
    last_words(simulation, coordinator->name, words, sizeof words);
    explain(simulation, words, sizeof words);
    why_set(&simulation->why, "the coordinator ended with code %d: %.300s (see %s/logs)",
            coordinator->code, words, simulation->out);
    return coordinator->code == EXIT_CODE_JOB_FAILED ? EXIT_CODE_JOB_FAILED : EXIT_CODE_INTERNAL;
}

/* Agents that could still answer. Those of a simulation that have ended do not come back, and nobody edits
 * their policies. */
static size_t agents_left(const struct simulation *simulation, const struct declines *declines)
{
    size_t left = 0;
    for (size_t i = 1; i < simulation->children.count; i++) {
        const struct child *child = &simulation->children.child[i];
        left += (child->running || child->code == 0) && !declines->is_out[i - 1] ? 1 : 0;
    }
    return left;
}

/* With too few agents left, waiting for the job's patience serves nobody: the round that may have all its
 * answers already gets its deadline. Where agents decline, nobody needs to wait for them. */
static bool is_hopeless(struct simulation *simulation, const struct declines *declines,
                        int64_t *short_ms)
{
    size_t left = agents_left(simulation, declines);
    *short_ms = left < simulation->job.cohort_min ? *short_ms + TURN_MS : 0;
    const int64_t deadline_ms = declines->count > 0 ? 0 : simulation->job.deadline_ms;
    if (left > 0 && *short_ms <= deadline_ms + SHORT_SPARE_MS) {
        return false;
    }
    why_set(&simulation->why, "%s%s; the logs are in %s/logs",
            left == 0 ? "all agents have ended"
                      : "too few agents are left for the job (cohort.minimum)",
            disk_is_full(simulation) ? ": no space is left on the disk" : "", simulation->out);
    return true;
}

static enum exit_code watch(struct simulation *simulation, struct tail *tail,
                            struct declines *declines)
{
    bool told[CHILDREN_MAX] = {false};
    const struct child *coordinator = &simulation->children.child[0];
    int64_t waited = 0;
    int64_t short_ms = 0;
    bool asked_to_stop = false;

    while (coordinator->running && !asked_to_stop && waited < patience_ms(&simulation->job)) {
        asked_to_stop = children_wait(&simulation->children, TURN_MS);
        waited += TURN_MS;
        while (tail_line(tail)) {
            simulation_show_line(simulation->progress, tail->line);
        }
        tell_of_dead(simulation, told);
        tell_of_declined(simulation, declines);
        if (coordinator->running && is_hopeless(simulation, declines, &short_ms)) {
            children_stop(&simulation->children, GRACE_MS);
            return declines->count > 0 ? declined_code(simulation, declines) : EXIT_CODE_JOB_FAILED;
        }
    }
    for (waited = 0; !asked_to_stop && !coordinator->running && coordinator->code == 0 &&
                     children_running(&simulation->children) > 0 && waited < AGENTS_END_MS;
         waited += TURN_MS) {
        asked_to_stop = children_wait(&simulation->children, TURN_MS);
    }
    bool ended = !coordinator->running;
    children_stop(&simulation->children, GRACE_MS);
    while (tail_line(tail)) {
        simulation_show_line(simulation->progress, tail->line);
    }
    if (asked_to_stop) {
        why_set(&simulation->why, "stopped before the end; the logs are in %s/logs",
                simulation->out);
        return EXIT_CODE_INTERRUPTED;
    }
    if (!ended) {
        why_set(&simulation->why, "the job did not end within its deadlines; see %s/logs",
                simulation->out);
        return EXIT_CODE_INTERNAL;
    }
    tell_of_dead(simulation, told);
    tell_of_declined(simulation, declines);
    return coordinator_code(simulation, declines);
}

enum exit_code simulation_watch(struct simulation *simulation)
{
    char path[SIMULATION_PATH_BYTES];
    enum exit_code code = EXIT_CODE_INTERNAL;
    struct tail *tail = calloc(1, sizeof *tail);
    struct declines declines = {.count = 0};

    children_signals();
    simulation->children.count = 0;
    if (tail == NULL || start_all(simulation) != STATUS_OK ||
        !simulation_path(simulation, path, "logs/coordinator.log")) {
        children_stop(&simulation->children, GRACE_MS);
        free(tail);
        return EXIT_CODE_INTERNAL;
    }
    tail->file = fopen(path, "rbe");
    if (declines_new(&declines, simulation) == STATUS_OK) {
        code = watch(simulation, tail, &declines);
    } else {
        children_stop(&simulation->children, GRACE_MS);
    }
    declines_free(&declines, simulation->agent_count);
    if (tail->file != NULL) {
        (void)fclose(tail->file);
    }
    free(tail);
    return code;
}
