#include "cli/command.h"
#include "cli/simulation.h"
#include "config/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT_MAX = 10000 };

struct request {
    struct simulation_request simulation;
    struct option_many set;
    uint64_t agents;
    bool counted; /* --agents is there */
    uint64_t repeat;
    bool json;
};

/* The mean and its standard error over several runs. */
struct study {
    const char *name;
    double last;
    double sum;
    double squares;
    uint64_t count;
};

static void study_add(struct study *study, const char *name, double value)
{
    study->name = name;
    study->last = value;
    study->sum += value;
    study->squares += value * value;
    study->count++;
}

static void study_show(FILE *out, const struct study *study)
{
    double n = (double)study->count;
    double mean = study->sum / n;
    double variance = n > 1.0 ? fmax(0.0, (study->squares - n * mean * mean) / (n - 1.0)) : NAN;
    if (!isfinite(mean)) {
        return; /* several classes have no AUC */
    }
    (void)fprintf(out, "  %-10s %.4f, standard error %.4f\n", study->name, mean,
                  sqrt(variance / n));
}

static enum exit_code print_result(const struct result *result)
{
    char *text = NULL;
    if (result_to_json(&text, result) != STATUS_OK) {
        return EXIT_CODE_INTERNAL;
    }
    (void)puts(text);
    free(text);
    return EXIT_CODE_OK;
}

/* A job of questions alone has no model, and none of these. */
static void show_figures(FILE *out, const struct study study[static 2])
{
    for (size_t i = 0; i < 2; i++) {
        if (isfinite(study[i].last)) {
            (void)fprintf(out, "%s%s %.4f", i == 0 ? "  " : ", ", study[i].name, study[i].last);
        }
    }
    (void)fputs("\n", out);
}

static enum exit_code once(const struct command *command, const struct request *request,
                           uint64_t seed, struct study study[static 2])
{
    struct simulation_request asked = request->simulation;
    struct result result;
    struct why why;
    asked.seed = seed;
    enum exit_code code = simulation_run(&result, &asked, &why);
    if (code != EXIT_CODE_OK) {
        (void)command_fail(command, code, "%s", why.text);
    } else {
        const bool is_number = isfinite(result.error.root_mean_square);
        study_add(&study[0], is_number ? "rms error" : "accuracy",
                  is_number ? result.error.root_mean_square : result.accuracy);
        study_add(&study[1], is_number ? "mean error" : "AUC",
                  is_number ? result.error.mean_absolute : result.auc);
        if (request->repeat == 1) {
            simulation_show(&result, &asked);
        } else {
            show_figures(asked.progress, study);
        }
        if (request->json) {
            code = print_result(&result);
        }
    }
    result_free(&result);
    return code;
}

enum exit_code run_simulate(const struct command *command, int count, char **argument)
{
    struct request request = {.agents = SIMULATION_AGENTS, .repeat = 1};
    struct simulation_request *simulation = &request.simulation;
    struct study study[2] = {{.count = 0}, {.count = 0}};
    struct why why = {""};
    const struct option option[] = {
        {.text = &simulation->job_path, .required = true, .what = "JOB"},
        {.name = "--out", .text = &simulation->out, .required = true, .what = "DIR"},
        {COMMAND_NUMBER("--agents", &request.agents, 1, SIMULATION_AGENTS_MAX, "N"),
         .given = &request.counted},
        {COMMAND_NUMBER("--seed", &simulation->seed, 0, 1000000000000000, "N"),
         .given = &simulation->seeded},
        {.name = "--set", .many = &request.set, .what = "KEY=VALUE"},
        {.name = "--data", .text = &simulation->data_path, .what = "F.csv"},
        {.name = "--streams", .text = &simulation->streams_path, .what = "S.csv"},
        {COMMAND_NUMBER("--repeat", &request.repeat, 1, REPEAT_MAX, "N")},
        {.name = "--json", .flag = &request.json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    if (request.counted && simulation->streams_path != NULL) {
        return command_fail(command, EXIT_CODE_USAGE,
                            "--agents: there are as many as --streams names; leave one out");
    }
    for (size_t i = 0; i < request.set.count; i++) {
        if (strchr(request.set.value[i], '=') == NULL) {
            return command_fail(command, EXIT_CODE_USAGE,
                                "--set %s: write it like --set privacy.epsilon=2",
                                request.set.value[i]);
        }
    }
    simulation->agent_count = (size_t)request.agents;
    simulation->set = request.set.value;
    simulation->set_count = request.set.count;
    simulation->progress = request.json ? stderr : stdout;
    for (uint64_t i = 0; i < request.repeat; i++) {
        enum exit_code code = once(command, &request, simulation->seed + i, study);
        if (code != EXIT_CODE_OK) {
            return code;
        }
    }
    if (request.repeat > 1) {
        (void)fprintf(simulation->progress, "\nmean of %llu runs%s\n",
                      (unsigned long long)request.repeat,
                      simulation->seeded ? " (seeded: NOT PRIVATE)" : "");
        study_show(simulation->progress, &study[0]);
        study_show(simulation->progress, &study[1]);
    }
    return EXIT_CODE_OK;
}
