/* `hedgerow plan job`: the request, and the answer that it takes. */

#include "cli/plan_job.h"
#include "cli/command.h"

#include "base/text.h"
#include "cli/plan_job_table.h"
#include "config/config.h"
#include "config/options.h"
#include "job/round.h"
#include "task/task.h"
#include "json/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *path;
    uint64_t agents;
    uint64_t records;
    uint64_t link_mbit;
    bool json;
};

static enum status check_records(const struct job_answer *answer, const struct request *request,
                                 struct why *why)
{
    const uint64_t needed = job_records_min(&answer->plan.job);
    if (request->records > 0 && request->records < needed) {
        return why_refuse(why, "--records %llu: the job needs %llu of each agent: lower %s",
                          (unsigned long long)request->records, (unsigned long long)needed,
                          needed == answer->plan.job.records_least ? "cohort.records"
                                                                   : "batch or rounds");
    }
    if (request->agents > 0 && request->agents < answer->plan.job.cohort_min) {
        return why_refuse(why, "--agents %llu: the job wants at least %u (cohort.minimum)",
                          (unsigned long long)request->agents, answer->plan.job.cohort_min);
    }
    return STATUS_OK;
}

static enum status answer_job(struct job_answer *answer, const struct request *request,
                              struct why *why)
{
    enum status status = job_plan_make(&answer->plan, &answer->source, NULL, why);
    if (status == STATUS_OK) {
        status = check_records(answer, request, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = job_asks_again(&answer->agains, &answer->plan.job);
    if (status != STATUS_OK) {
        return status;
    }
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        answer->has[i] = (enum job_trust)i != answer->plan.job.trust &&
                         job_plan_under(&answer->under[i], &answer->source, &answer->plan,
                                        (enum job_trust)i, &answer->none[i]) == STATUS_OK;
    }
    if (request->json) {
        return job_answer_json(answer);
    }
    return job_answer_print(answer);
}

enum exit_code run_plan_job(const struct command *command, int count, char **argument)
{
    struct request request = {.link_mbit = PLAN_LINK_MBIT};
    struct why why = {""};
    char *text = NULL;
    size_t size = 0;
    const struct option option[] = {
        {.text = &request.path, .required = true, .what = "JOB.yml"},
        {COMMAND_NUMBER("--agents", &request.agents, 1, JOB_AGENTS_MAX, "N")},
        {COMMAND_NUMBER("--records", &request.records, 2, 1000000000000, "N")},
        {COMMAND_NUMBER("--link", &request.link_mbit, 1, 1000000, "MBIT")},
        {.name = "--json", .flag = &request.json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    struct job_answer *answer = calloc(1, sizeof *answer);
    enum status status =
        answer == NULL ? STATUS_NO_MEMORY : config_load(&text, &size, request.path, &why);
    if (status == STATUS_OK) {
        answer->link_mbit = (double)request.link_mbit;
        answer->source = (struct job_source){
            .text = {text, size},
            .name = request.path,
            .size = {.agents = (size_t)request.agents, .records = request.records}};
        status = answer_job(answer, &request, &why);
    }
    if (answer != NULL) {
        job_plan_free(&answer->plan);
        for (unsigned i = 0; i < TRUST_COUNT; i++) {
            job_plan_free(&answer->under[i]);
        }
    }
    free(answer);
    free(text);
    return command_end(command, status, &why);
}

/* What a plan says of the questions themselves: those that are asked twice, and those that are seldom meant so. */

static void warn(UNUSED void *self, const char *text)
{
    (void)putchar('\n');
    text_wrap(stdout, 0, 2, "WARNING: %s.", text);
}

/* Comparisons with constants where few cells are expected: allowed, and mostly a slip of the pen. */
static void print_of_stage(const struct job *job, size_t stage)
{
    const struct query_set *set = round_queries(&job->stage[stage]);
    struct why by_site = {""};
    struct why before = {""};
    if (stage_has_site_note(job, &job->stage[stage], &by_site)) {
        for (size_t i = 0; i < stage && strcmp(before.text, by_site.text) != 0; i++) {
            (void)stage_has_site_note(job, &job->stage[i], &before);
        }
    }
    if (strcmp(before.text, by_site.text) != 0) { /* once for all stages */
        (void)putchar('\n');
        text_wrap_in(stdout, TABLE_WIDTH, 0, 2, "NOTE: stage %zu%s: %s", stage + 1,
                     stage + 1 < job->stage_count ? ", and others like it" : "", by_site.text);
    }
    for (size_t i = 0; i < set->count; i++) {
        struct why note = {""};
        if (query_has_note(&set->query[i], &note)) {
            (void)putchar('\n');
            text_wrap(stdout, 0, 2, "NOTE: stage %zu: %s", stage + 1, note.text);
        }
    }
}

void job_answer_print_notes(const struct job_answer *answer)
{
    job_again_tell(&answer->agains, &answer->plan.job, warn, NULL);
    for (size_t i = 0; i < answer->plan.job.stage_count; i++) {
        print_of_stage(&answer->plan.job, i);
    }
}

json_t *job_answer_notes(const struct job_answer *answer, const struct job_plan *plan, size_t stage)
{
    const struct job *job = &plan->job;
    const struct query_set *set = round_queries(&job->stage[stage]);
    json_t *array = json_array();
    struct why note = {""};
    if (stage_has_site_note(job, &job->stage[stage], &note)) {
        json_add(&array, json_string(note.text));
    }
    for (size_t i = 0; i < answer->agains.count && i < JOB_AGAIN_MAX; i++) {
        const struct job_again *again = &answer->agains.again[i];
        if (again->later.stage == stage) {
            job_again_say(&note, job, again);
            json_add(&array, json_string(note.text));
        }
    }
    for (size_t i = 0; i < set->count; i++) {
        if (query_has_note(&set->query[i], &note)) {
            json_add(&array, json_string(note.text));
        }
    }
    return array;
}
