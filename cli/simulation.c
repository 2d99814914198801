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

enum status simulation_write(struct simulation *simulation)
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
        (void)fprintf(out, "\n  %-56s root mean square error\n",
                      "on the held-out fifth (simulator only)");
        (void)fprintf(out, "  %-56s  %10.4g (mean absolute %.4g)\n", line,
                      result->error.root_mean_square, result->error.mean_absolute);
        (void)fprintf(out, "  %-56s  %10.4g\n",
                      "pooled least squares, not private (simulator only)", result->error.pooled);
        (void)fprintf(out, "  %-56s  %10.4g\n", "always their mean", result->error.constant);
        return;
    }
    (void)fprintf(out, "\n  %-56s accuracy    AUC\n", "on the held-out fifth (simulator only)");
    show_line(out, line, result->accuracy, result->auc);
    show_line(out, "pooled, not private (simulator only)", result->baseline.pooled_accuracy,
              result->baseline.pooled_auc);
    show_line(out, "majority class", result->baseline.majority, isfinite(result->auc) ? 0.5 : NAN);
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
            out, "\n  regret %.4f per round, at most %.4f expected (the textbook's form: %.4f)\n",
            result->regret.average, result->regret.bound, result->regret.textbook);
    }
    if (isfinite(result->regret.bound) && !isfinite(result->regret.average)) {
        (void)fprintf(
            out,
            "\n  regret at most %.4f per round expected (the textbook's form: %.4f); under "
            "trust\n  central nobody may know what was reached\n",
            result->regret.bound, result->regret.textbook);
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
    (void)fprintf(simulation->progress,
                  "%s%s: %zu agents and a coordinator, %zu records to learn from, %zu held out%s\n",
                  simulation->seeded ? "NOT PRIVATE (--seed) " : "", simulation->job.name,
                  simulation->agent_count, simulation->record_count - simulation->held_count,
                  simulation->held_count, simulation->stream != NULL ? ", of each stream" : "");
    (void)fflush(simulation->progress);
}

enum exit_code simulation_run(struct simulation *simulation)
{
    enum exit_code code = EXIT_CODE_OK;
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
    }
    if (status == STATUS_OK) {
        status = simulation_split(simulation);
    }
    if (status == STATUS_OK) {
        status = simulation_settings(simulation);
    }
    if (status == STATUS_OK) {
        announce(simulation);
        code = simulation_watch(simulation);
        if (code != EXIT_CODE_OK) {
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
        status = simulation_write(simulation);
    }
    if (status != STATUS_OK && simulation->why.text[0] == '\0') {
        why_set(&simulation->why, "%s", status_text(status));
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
