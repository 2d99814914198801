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

static enum exit_code run(const struct command *command, int count, char **argument)
{
    struct request request = {.path = NULL};
    struct why why = {""};
    char *text = NULL;
    size_t size = 0;
    const struct option option[] = {{.text = &request.path, .required = true, .what = "JOB.yml"},
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
                                    {.name = "--json", .flag = &request.json}};

    if (options_read(option, sizeof option / sizeof *option, count, argument, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    struct job_answer *answer = calloc(1, sizeof *answer);
    enum status status =
        answer == NULL ? STATUS_NO_MEMORY : config_load(&text, &size, request.path, &why);
    if (status == STATUS_OK) {
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

const struct command command_plan_job = {
    .name = "plan job",
    .summary = "what a job will charge, and how much noise its answers will carry",
    .help =
        "usage: hedgerow plan job JOB.yml [--agents N] [--records N] [--json]\n\n"
        "Before anything is spent: what every agent will be charged for each stage, the noise on\n"
        "everything that is released, in its own unit, the regret to expect, and the whole price\n"
        "beside the job's limit. Warns where the noise is larger than what it hides, the most common\n"
        "mistake, and says what would help, each suggestion planned as a job of its own. Compares the three\n"
        "trusts. No record is read. A `learn` stage is rehearsed on made-up tables, which tells what\n"
        "accuracy to expect.\n\n"
        "  JOB.yml      the job, for example compose/hospitals/job.yml\n"
        "  --agents N   that answer every round (the job's cohort.minimum)\n"
        "  --records N  of each agent, at least (what the job says, or its stages need)\n"
        "  --json       the same as one object\n\n"
        "The object: job, unit, trust, agents, records; price and limit {epsilon, delta}, admitted;\n"
        "weak, epsilon is above 10; burden, the largest of all; coordinator_bytes, about the memory that the\n"
        "coordinator takes; other_trust, the same without advice, or null beside the sentence\n"
        "no_other_trust; better_trust, null where they cannot be compared; trusts, each with trust,\n"
        "trusted (who, with what), messages, round_trips and commits of a round with one site, dishonest, noise of each stage (one standard\n"
        "deviation, of what drowns first), no_such_job (why, or null); and for each of stages: task, strategy, mechanism, rounds,\n"
        "batch (records that an agent looks at in a round; 0: all), passes (charges), charge_epsilon or\n"
        "charge_sigma of one, sampling; epsilon, delta of the stage by\n"
        "itself; regret_bound, regret_bound_without_privacy; best_is_broadcast, the chance that the best\n"
        "expert is, where it leads by 1/100; best_changed_is_broadcast, the same if that is another one\n"
        "changed, which begins with less weight, or null; memory_bytes and operations that a round takes an agent at\n"
        "most; slot_ms, the answer_slot_ms that will do at 10^9 operations a second (`hedgerow-agent check\n"
        "--job` measures a site's own speed), null where an answer needs no slot; drowned; notes;\n"
        "expected, with tables, without_privacy and plans, each with epsilon, trust, accuracy and lost,\n"
        "which have mean, low, high and error, and half_a_point: least, the records of each agent or the agents\n"
        "that would lose half a point on half of the tables (null: none up to most, that were tried); or null, of a\n"
        "learn stage beside the reason no_expected; advice, each with change, noise, burden, enough;\n"
        "releases, each with what, unit, noise (one standard deviation), bar (95 % stay within), burden\n"
        "(above 1: drowned) and drowned_when. null: there is none.\n\n"
        "example:\n"
        "  hedgerow plan job compose/hospitals/job.yml --agents 5\n"
        "  hedgerow plan job compose/sensors/job.yml --agents 20 --json\n",
    .run = run,
};
