/* `hedgerow plan job`: the request, and the answer that it takes. */

#include "cli/plan_job.h"
#include "cli/plan.h"
#include "config/config.h"
#include "config/options.h"

#include <stdlib.h>

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
        {.name = "--agents",
         .number = &request.agents,
         .min = 1,
         .max = JOB_AGENTS_MAX,
         .what = "N"},
        {.name = "--records",
         .number = &request.records,
         .min = 2,
         .max = 1000000000000,
         .what = "N"},
        {.name = "--link", .number = &request.link_mbit, .min = 1, .max = 1000000, .what = "MBIT"},
        {.name = "--json", .flag = &request.json}};

    if (options_read(option, sizeof option / sizeof *option, count, argument, &why) != STATUS_OK) {
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
