/* The list of steps. */

#include "cli/simulation.h"

#include "base/file.h"
#include "learn/model.h"
#include "report/html.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum status write_text(const char *out, const char *name, const char *text, struct why *why)
{
    char path[SIMULATION_PATH_BYTES];
    simulation_path(path, out, "%s", name);
    return file_write(path, (struct slice){text, strlen(text)}, 0644, why);
}

static enum status copy_model(const char *out, struct why *why)
{
    char path[SIMULATION_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    simulation_path(path, out, "coordinator/out/model.json");
    enum status status = file_read(&text, &size, path, MODEL_FILE_BYTES_MAX, why);
    if (status == STATUS_OK) {
        status = write_text(out, "model.json", text, why);
    }
    free(text);
    return status;
}

static enum status write_results(const struct result *result, const char *out, struct why *why)
{
    char *json = NULL;
    char *html = NULL;
    enum status status = result_to_json(&json, result);
    if (status == STATUS_OK) {
        status = write_text(out, "result.json", json, why);
    }
    if (status == STATUS_OK && result->chosen != RESULT_NONE) {
        status = copy_model(out, why);
    }
    if (status == STATUS_OK) {
        status = html_report(&html, result);
    }
    if (status == STATUS_OK) {
        status = write_text(out, "report.html", html, why);
    }
    free(html);
    free(json);
    return status;
}

static void announce(const struct simulation_plan *plan)
{
    FILE *out = plan->asked.progress;
    (void)fprintf(
        out, "%s%s: %zu agents and a coordinator,\n%zu records to learn from, %zu held out%s\n",
        plan->asked.seeded ? "NOT PRIVATE (--seed) " : "", plan->job.name, plan->agent_count,
        plan->record_count - plan->held_count, plan->held_count,
        plan->asked.streams_path != NULL ? ", of each stream" : "");
    (void)fprintf(out, "\n  %-10s %7s %7s %8s  %s\n", "stage", "round", "agents", "epsilon",
                  "model so far");
    (void)fflush(out);
}

/* What the processes left, judged and written down. */
static enum status conclude(struct result *result, const struct simulation_plan *plan,
                            struct why *why)
{
    struct simulation_records records = {NULL, NULL};
    struct digest job_id;
    bool knows_id = false;
    enum status status = simulation_collect(result, &job_id, &knows_id, plan, why);
    if (status == STATUS_OK) {
        status = simulation_records_read(&records, plan, why);
    }
    if (status == STATUS_OK && knows_id) {
        status = simulation_answers(result, plan, &records, &job_id, why);
    }
    if (status == STATUS_OK) {
        status = simulation_judge(result, plan, &records, why);
    }
    simulation_records_free(&records, plan);
    return status == STATUS_OK ? write_results(result, plan->asked.out, why) : status;
}

/* In the folder that was made for it, and that the lock holds. */
static enum exit_code run_in_folder(struct result *result, int lock,
                                    const struct simulation_plan *plan, struct why *why)
{
    enum exit_code code = EXIT_CODE_OK;
    enum status status = simulation_split(plan, why);
    if (status == STATUS_OK) {
        status = simulation_settings(plan, why);
    }
    if (status == STATUS_OK) {
        status = simulation_folder_list(lock, plan, true, why);
    }
    if (status == STATUS_OK) {
        announce(plan);
        code = simulation_watch(plan, why);
    }
    if (status == STATUS_OK && code == EXIT_CODE_OK) {
        status = conclude(result, plan, why);
    }
    if (status != STATUS_OK && why->text[0] == '\0') {
        why_set(why, "%s", status_text(status));
    }
    /* Also after a failure: what was written is known best now. Its own failure changes nothing, as the list
     * from before stays. */
    (void)!simulation_folder_list(lock, plan, false, NULL);
    return code != EXIT_CODE_OK ? code : exit_code_of(status);
}

/* The job may name the agents that it asks. */
static enum status check_asked(const struct simulation_plan *plan, struct why *why)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->agent_count; i++) {
        count += job_asks(&plan->job, plan->agent[i].name) ? 1 : 0;
    }
    return count >= plan->job.cohort_min
               ? STATUS_OK
               : why_refuse(why,
                            "%s asks agents by name (cohort.agents), and %zu of them are simulated "
                            "(%s, ...), %u are needed; remedy: leave the key out here, or simulate "
                            "agents of these names",
                            plan->asked.job_path, count, plan->agent[0].name, plan->job.cohort_min);
}

enum exit_code simulation_run(struct result *result, const struct simulation_request *request,
                              struct why *why)
{
    enum exit_code code = EXIT_CODE_INTERNAL;
    struct simulation_plan *plan = calloc(1, sizeof *plan);
    int lock = -1;

    why->text[0] = '\0';
    result_init(result);
    enum status status =
        plan == NULL ? STATUS_NO_MEMORY : simulation_programs(request->seeded, why);
    if (status == STATUS_OK) {
        status = simulation_folder_check(&lock, request->out, why);
    }
    if (status == STATUS_OK) {
        status = simulation_load(plan, request, why);
    }
    if (status == STATUS_OK && plan->job.cohort_min > plan->agent_count) {
        why_set(why,
                "%s needs at least %u agents (cohort.minimum), and %zu are simulated; remedy: more "
                "agents, or --set cohort.minimum=%zu",
                request->job_path, plan->job.cohort_min, plan->agent_count, plan->agent_count);
        code = EXIT_CODE_JOB_FAILED;
        goto done;
    }
    if (status == STATUS_OK) {
        status = check_asked(plan, why);
    }
    if (status == STATUS_OK) {
        status = simulation_folder_make(&lock, plan, why);
    }
    if (status == STATUS_OK) {
        code = run_in_folder(result, lock, plan, why);
        goto done;
    }
    if (why->text[0] == '\0') {
        why_set(why, "%s", status_text(status));
    }
    code = exit_code_of(status);
done:
    if (lock >= 0) {
        (void)close(lock);
    }
    if (plan != NULL) {
        simulation_plan_free(plan);
    }
    free(plan);
    return code;
}
