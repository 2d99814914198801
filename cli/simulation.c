#include "cli/simulation.h"

#include "learn/model.h"
#include "report/file.h"
#include "report/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum status write_text(struct simulation *simulation, const char *name, const char *text)
{
    char path[SIMULATION_PATH_BYTES];
    if (!simulation_path(simulation, path, "%s", name)) {
        return STATUS_NO_MEMORY;
    }
    return file_write(path, (struct slice){text, strlen(text)}, 0644, &simulation->why);
}

static enum status copy_model(struct simulation *simulation)
{
    char path[SIMULATION_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    enum status status = STATUS_NO_MEMORY;
    if (simulation_path(simulation, path, "coordinator/out/model.json")) {
        status = file_read(&text, &size, path, MODEL_FILE_BYTES_MAX, &simulation->why);
    }
    if (status == STATUS_OK) {
        status = write_text(simulation, "model.json", text);
    }
    free(text);
    return status;
}

static enum status write_results(struct simulation *simulation)
{
    char *json = NULL;
    char *html = NULL;
    enum status status = result_to_json(&json, &simulation->result);
    if (status == STATUS_OK) {
        status = write_text(simulation, "result.json", json);
    }
    if (status == STATUS_OK && simulation->result.chosen != RESULT_NONE) {
        status = copy_model(simulation);
    }
    if (status == STATUS_OK) {
        status = html_report(&html, &simulation->result);
    }
    if (status == STATUS_OK) {
        status = write_text(simulation, "report.html", html);
    }
    free(html);
    free(json);
    return status;
}

/* Without an AUC, which is for two classes, a dash. */
static void show_line(FILE *out, const char *name, double accuracy, double auc)
{
    (void)fprintf(out, "  %-56s  %5.1f%%   ", name, 100.0 * accuracy);
    if (isfinite(auc)) {
        (void)fprintf(out, "%.3f\n", auc);
    } else {
        (void)fputs("-\n", out);
    }
}

static void show_quality(FILE *out, const struct result *result)
{
    const char *chosen = result->expert[result->chosen].name;
    char line[RESULT_NAME_BYTES + 32];
    (void)snprintf(line, sizeof line, "chosen: %s", chosen);
    if (isfinite(result->error.root_mean_square)) {
        (void)fprintf(out, "\n  %-49s %12s %13s\n", "on the held-out fifth (simulator only)",
                      "RMS error", "mean absolute");
        (void)fprintf(out, "  %-49s %12.4g %13.4g\n", line, result->error.root_mean_square,
                      result->error.mean_absolute);
        (void)fprintf(out, "  %-49s %12.4g\n", "pooled least squares, not private",
                      result->error.pooled);
        (void)fprintf(out, "  %-49s %12.4g\n", "always their mean", result->error.constant);
        return;
    }
    (void)fprintf(out, "\n  %-56s accuracy    AUC\n", "on the held-out fifth (simulator only)");
    show_line(out, line, result->accuracy, result->auc);
    show_line(out, "pooled, not private (simulator only)", result->baseline.pooled_accuracy,
              result->baseline.pooled_auc);
    show_line(out, "majority class", result->baseline.majority, isfinite(result->auc) ? 0.5 : NAN);
    (void)snprintf(line, sizeof line, "the chosen one's standard error, of %llu records",
                   (unsigned long long)result->baseline.records_held);
    show_line(out, line, result_accuracy_error(result), result_auc_error(result));
}

void simulation_show(const struct simulation *simulation)
{
    const struct result *result = &simulation->result;
    FILE *out = simulation->progress;
    if (result->chosen != RESULT_NONE) {
        show_quality(out, result);
    }
    simulation_show_terms(out, result);
    (void)fprintf(out, "\n  %-56s    spent   left\n",
                  simulation->stream != NULL ? "epsilon, by each agent's ledger"
                                             : "epsilon, by each hospital's ledger");
    for (size_t i = 0; i < result->agent_count; i++) {
        (void)fprintf(out, "  %-56s %8.4f %6.4f\n", result->agent[i].name,
                      result->agent[i].epsilon_spent, result->agent[i].epsilon_left);
    }
    if (result->agent_count > 0 && result->agent[0].delta_spent > 0) {
        (void)fprintf(out,
                      "  spent: at delta %.3g; left: of the site's own epsilon, at its own delta\n",
                      result->agent[0].delta_spent);
    }
    if (isfinite(result->regret.bound) && isfinite(result->regret.average)) {
        (void)fprintf(
            out,
            "\n  regret: the choice cost %.4f more loss a round than always the best expert,\n"
            "  by the released losses; at most %.4f is expected\n",
            result->regret.average, result->regret.bound);
    }
    if (isfinite(result->regret.bound) && !isfinite(result->regret.average)) {
        (void)fprintf(
            out,
            "\n  regret: the choice is expected to cost at most %.4f more loss a round than\n"
            "  always the best expert; under trust central nobody may know what it cost\n",
            result->regret.bound);
    }
    if (!result->private) {
        (void)fprintf(out,
                      "\n  NOT PRIVATE: made with --seed %" PRIu64
                      ", so anyone can draw the noise again\n",
                      simulation->seed);
    }
    (void)fprintf(out, "\n  %s/report.html, result.json, %slogs/\n", simulation->out,
                  result->chosen != RESULT_NONE ? "model.json, " : "");
    (void)fflush(out);
}

static void announce(const struct simulation *simulation)
{
    (void)fprintf(
        simulation->progress,
        "%s%s: %zu agents and a coordinator,\n%zu records to learn from, %zu held out%s\n",
        simulation->seeded ? "NOT PRIVATE (--seed) " : "", simulation->job.name,
        simulation->agent_count, simulation->record_count - simulation->held_count,
        simulation->held_count, simulation->stream != NULL ? ", of each stream" : "");
    (void)fprintf(simulation->progress, "\n  %-10s %7s %7s %8s  %s\n", "stage", "round", "agents",
                  "epsilon", "model so far");
    (void)fflush(simulation->progress);
}

/* Also after a failure: what was written is known best now. Its own failure changes nothing, as the list
 * from before stays. */
static void list_at_last(struct simulation *simulation)
{
    const struct why why = simulation->why;
    if (simulation_list_files(simulation, false) != STATUS_OK) {
        simulation->why = why;
    }
}

enum exit_code simulation_run(struct simulation *simulation)
{
    enum exit_code code = EXIT_CODE_OK;
    bool is_held = false;
    enum status status;

    simulation->why.text[0] = '\0';
    simulation->lock = -1;
    result_init(&simulation->result);
    status = simulation_programs(simulation);
    if (status == STATUS_OK) {
        status = simulation_load(simulation);
    }
    if (status == STATUS_OK && simulation->job.cohort_min > simulation->agent_count) {
        why_set(&simulation->why, "%s wants at least %u agents (cohort.minimum), and there are %zu",
                simulation->job_path, simulation->job.cohort_min, simulation->agent_count);
        return EXIT_CODE_JOB_FAILED;
    }
    if (status == STATUS_OK) {
        status = simulation_folder(simulation);
        is_held = status == STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = simulation_split(simulation);
    }
    if (status == STATUS_OK) {
        status = simulation_settings(simulation);
    }
    if (status == STATUS_OK) {
        status = simulation_list_files(simulation, true);
    }
    if (status == STATUS_OK) {
        announce(simulation);
        code = simulation_watch(simulation);
        if (code != EXIT_CODE_OK) {
            list_at_last(simulation);
            return code;
        }
        status = simulation_collect(simulation);
    }
    if (status == STATUS_OK) {
        status = simulation_answers(simulation);
    }
    if (status == STATUS_OK) {
        status = simulation_judge(simulation);
    }
    if (status == STATUS_OK) {
        status = write_results(simulation);
    }
    if (status != STATUS_OK && simulation->why.text[0] == '\0') {
        why_set(&simulation->why, "%s", status_text(status));
    }
    if (is_held) {
        list_at_last(simulation);
    }
    return exit_code_of(status);
}

void simulation_free(struct simulation *simulation)
{
    result_free(&simulation->result);
    job_free(&simulation->job);
    if (simulation->lock >= 0) {
        (void)close(simulation->lock);
    }
    simulation->lock = -1;
    free(simulation->stream);
    simulation->stream = NULL;
    free(simulation->job_text);
    simulation->job_text = NULL;
    simulation->job_size = 0;
}
