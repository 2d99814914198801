#include "cli/plan_job.h"

#include "cli/json_print.h"
#include "cli/plan.h"
#include "config/config.h"
#include "config/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *path;
    uint64_t agents;
    uint64_t records;
    bool json;
};

/* A whole answer: the plan, and the same job under the other trust, where there is one. */
struct answer {
    struct job_source source;
    struct job_plan plan;
    struct job_plan other;
    bool has_other;
    struct why no_other;
};

static void print_epsilon(struct price price)
{
    (void)printf("epsilon %.6g", (double)price.epsilon_micro * 1e-6);
    if (price.delta_atto > 0) {
        (void)printf(" at delta %.3g", (double)price.delta_atto * 1e-18);
    }
}

/* What an agent's ledger will hold. */
static void print_charge(const struct terms *terms)
{
    (void)printf("  %u charge%s of ", terms->passes, terms->passes == 1 ? "" : "s");
    if (terms->charge.epsilon_micro == 0) {
        (void)printf("sigma %.6g", terms->sigma);
    } else {
        (void)printf("epsilon %.6g", (double)terms->charge.epsilon_micro * 1e-6);
    }
    if (terms->sampling < 1) {
        (void)printf(" on %.6g of the records", terms->sampling);
    }
    (void)printf(": ");
    print_epsilon(terms->price);
    (void)printf(" by itself\n");
}

static void print_stage(const struct job_plan *plan, size_t index)
{
    const struct stage *stage = &plan->job.stage[index];
    const struct terms *terms = &plan->stage[index];
    (void)printf("\nstage %zu: %s, %s; %s\n", index + 1, task_name(stage->task),
                 strategy_name(stage->strategy), terms->mechanism);
    print_charge(terms);
    for (size_t i = 0; i < terms->line_count; i++) {
        const struct terms_line *line = &terms->line[i];
        (void)printf("  %-78s ", line->what);
        if (isfinite(line->noise)) {
            (void)printf("+- %.3g %s", line->noise, line->unit);
        } else {
            (void)printf("at most %.3g %s", line->bar, line->unit);
        }
        (void)printf("%s\n", line->burden > 1 ? "  DROWNED" : "");
    }
    if (isfinite(terms->regret)) {
        (void)printf("  expected regret at most %.4f a round; without privacy %.4f\n",
                     terms->regret, terms->regret_free);
    }
}

static void print_warning(const struct answer *answer, size_t stage)
{
    struct job_advice advice[PLAN_ADVICE_MAX];
    const struct terms_line *worst = job_plan_worst(&answer->plan, stage);
    if (worst == NULL || worst->burden <= 1) {
        return;
    }
    (void)printf(
        "\nWARNING: the noise of stage %zu drowns its signal (%s):\n  it is %.2g times what "
        "counts as drowned: %s.\n",
        stage + 1, worst->what, worst->burden, worst->measure);
    const size_t count = job_advise(advice, &answer->source, &answer->plan, stage);
    for (size_t i = 0; i < count; i++) {
        (void)printf("  %-66s -> %s%s\n", advice[i].change, advice[i].figure,
                     advice[i].burden > 1 ? ", which is still too much" : "");
    }
    if (count == 0) {
        (void)printf("  Nothing that was tried helps: epsilon, records, agents, lambda, trust.\n");
    }
}

/* Comparisons that tell no two records apart: allowed, and mostly a slip of the pen. */
static void print_notes(const struct job *job, size_t stage)
{
    const struct query_set *set = &job->stage[stage].queries;
    for (size_t i = 0; i < set->count; i++) {
        struct why note = {""};
        if (query_has_note(&set->query[i], &note)) {
            (void)printf("\nNOTE: stage %zu: %s\n", stage + 1, note.text);
        }
    }
}

static const char *trust_of(const struct job_plan *plan)
{
    return job_trust_name(plan->job.trust);
}

static bool other_is_better(const struct answer *answer)
{
    return answer->has_other && job_plan_burden(&answer->other) < job_plan_burden(&answer->plan);
}

static void print_line_under(const struct job_plan *plan, size_t stage)
{
    const struct terms_line *worst = job_plan_worst(plan, stage);
    char text[64] = "-";
    if (worst != NULL && isfinite(worst->noise)) {
        (void)snprintf(text, sizeof text, "+- %.3g %.40s", worst->noise, worst->unit);
    } else if (worst != NULL) {
        (void)snprintf(text, sizeof text, "at most %.3g %.40s", worst->bar, worst->unit);
    }
    (void)printf("  %-28s", text);
}

static void print_trusts(const struct answer *answer)
{
    const struct job_plan *plan = &answer->plan;
    if (!answer->has_other) {
        (void)printf("\nUnder the other trust there is no such job: %s\n", answer->no_other.text);
        return;
    }
    (void)printf("\n%-20s  %-28s  %s\n", "noise by trust", trust_of(plan),
                 trust_of(&answer->other));
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        (void)printf("  %zu %-16s", i + 1, task_name(plan->job.stage[i].task));
        print_line_under(plan, i);
        print_line_under(&answer->other, i);
        if (isfinite(plan->stage[i].regret)) {
            (void)printf("  regret at most %.4f, %.4f", plan->stage[i].regret,
                         answer->other.stage[i].regret);
        }
        (void)printf("\n");
    }
    const struct job_plan *better = other_is_better(answer) ? &answer->other : plan;
    (void)printf("Trust %s drowns less in noise here%s.\n", trust_of(better),
                 better->job.trust == TRUST_CENTRAL
                     ? "; it asks every agent to send exact sums to the coordinator"
                     : ", and asks nobody to be trusted with exact sums");
}

static void print_text(const struct answer *answer)
{
    const struct job_plan *plan = &answer->plan;
    const struct job *job = &plan->job;
    (void)printf("%s, trust %s, %zu agents with %llu records each\n", job->name, trust_of(plan),
                 plan->size.agents, (unsigned long long)plan->size.records);
    for (size_t i = 0; i < job->stage_count; i++) {
        print_stage(plan, i);
    }
    (void)printf("\nin all, for any one %s of an agent: ", job_unit_name(job->unit));
    print_epsilon(plan->price);
    (void)printf("; the job's limit: ");
    print_epsilon((struct price){job->epsilon_micro, job->delta_atto});
    (void)printf("%s\n", plan->admitted ? "" : ". NO LEDGER WILL ADMIT IT");
    print_trusts(answer);
    for (size_t i = 0; i < job->stage_count; i++) {
        print_warning(answer, i);
        print_notes(job, i);
    }
}

static bool put_price(json_t *object, struct price price)
{
    return plan_set(object, "epsilon", plan_real((double)price.epsilon_micro * 1e-6)) &&
           plan_set(object, "delta", plan_real((double)price.delta_atto * 1e-18));
}

static json_t *price_json(struct price price)
{
    json_t *object = json_object();
    if (object != NULL && !put_price(object, price)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static bool add(json_t *array, json_t *value, bool good)
{
    return json_array_append_new(array, value) == 0 && good;
}

static json_t *line_json(const struct terms_line *line)
{
    json_t *object = json_object();
    bool good = plan_set(object, "what", json_string(line->what));
    good = plan_set(object, "unit", json_string(line->unit)) && good;
    good = plan_set(object, "noise", plan_real(line->noise)) && good;
    good = plan_set(object, "bar", plan_real(line->bar)) && good;
    good = plan_set(object, "burden", plan_real(line->burden)) && good;
    good = plan_set(object, "drowned_when", json_string(line->measure)) && good;
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *advice_json(const struct answer *answer, size_t stage)
{
    struct job_advice advice[PLAN_ADVICE_MAX];
    const struct terms_line *worst = job_plan_worst(&answer->plan, stage);
    json_t *array = json_array();
    bool good = array != NULL;
    if (worst == NULL || worst->burden <= 1) {
        return array;
    }
    const size_t count = job_advise(advice, &answer->source, &answer->plan, stage);
    for (size_t i = 0; i < count && good; i++) {
        good = add(array,
                   json_pack("{s:s, s:s, s:f, s:b}", "change", advice[i].change, "noise",
                             advice[i].figure, "burden", advice[i].burden, "enough",
                             advice[i].burden <= 1),
                   good);
    }
    if (!good) {
        json_decref(array);
        return NULL;
    }
    return array;
}

static json_t *stage_json(const struct answer *answer, const struct job_plan *plan, size_t index)
{
    const struct stage *stage = &plan->job.stage[index];
    const struct terms *terms = &plan->stage[index];
    const struct terms_line *worst = job_plan_worst(plan, index);
    json_t *object = json_object();
    json_t *lines = json_array();
    bool good = object != NULL && lines != NULL;
    for (size_t i = 0; i < terms->line_count && good; i++) {
        good = add(lines, line_json(&terms->line[i]), good);
    }
    good = plan_set(object, "task", json_string(task_name(stage->task))) && good;
    good = plan_set(object, "strategy", json_string(strategy_name(stage->strategy))) && good;
    good = plan_set(object, "mechanism", json_string(terms->mechanism)) && good;
    good = plan_set(object, "passes", json_integer(terms->passes)) && good;
    good = plan_set(object, "charge_epsilon",
                    terms->charge.epsilon_micro == 0
                        ? json_null()
                        : plan_real((double)terms->charge.epsilon_micro * 1e-6)) &&
           good;
    good = plan_set(object, "charge_sigma", plan_real(terms->sigma)) && good;
    good = plan_set(object, "sampling", plan_real(terms->sampling)) && good;
    good = put_price(object, terms->price) && good;
    good = plan_set(object, "regret_bound", plan_real(terms->regret)) && good;
    good = plan_set(object, "regret_bound_without_privacy", plan_real(terms->regret_free)) && good;
    good = plan_set(object, "releases", json_incref(lines)) && good;
    good = plan_set(object, "drowned", json_boolean(worst != NULL && worst->burden > 1)) && good;
    if (plan == &answer->plan) {
        good = plan_set(object, "advice", advice_json(answer, index)) && good;
    }
    json_decref(lines);
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *plan_json(const struct answer *answer, const struct job_plan *plan)
{
    json_t *object = json_object();
    json_t *stages = json_array();
    bool good = object != NULL && stages != NULL;
    for (size_t i = 0; i < plan->job.stage_count && good; i++) {
        good = add(stages, stage_json(answer, plan, i), good);
    }
    good = plan_set(object, "job", json_string(plan->job.name)) && good;
    good = plan_set(object, "trust", json_string(trust_of(plan))) && good;
    good = plan_set(object, "agents", json_integer((json_int_t)plan->size.agents)) && good;
    good = plan_set(object, "records", json_integer((json_int_t)plan->size.records)) && good;
    good = plan_set(object, "price", price_json(plan->price)) && good;
    good = plan_set(object, "limit",
                    price_json((struct price){plan->job.epsilon_micro, plan->job.delta_atto})) &&
           good;
    good = plan_set(object, "admitted", json_boolean(plan->admitted)) && good;
    good = plan_set(object, "burden", plan_real(job_plan_burden(plan))) && good;
    good = plan_set(object, "stages", json_incref(stages)) && good;
    json_decref(stages);
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static enum status print_json(const struct answer *answer)
{
    json_t *object = plan_json(answer, &answer->plan);
    bool good = object != NULL;
    if (answer->has_other) {
        good = good && plan_set(object, "other_trust", plan_json(answer, &answer->other));
    } else {
        good = good && plan_set(object, "other_trust", json_null()) &&
               plan_set(object, "no_other_trust", json_string(answer->no_other.text));
    }
    good =
        good &&
        plan_set(object, "better_trust",
                 json_string(trust_of(other_is_better(answer) ? &answer->other : &answer->plan)));
    if (!good) {
        json_decref(object);
        object = NULL;
    }
    return json_print(object);
}

static enum status check_records(const struct answer *answer, const struct request *request,
                                 struct why *why)
{
    const uint64_t needed = job_records_min(&answer->plan.job);
    if (request->records > 0 && request->records < needed) {
        why_set(why, "--records %llu: the job needs %llu of each agent: lower batch or rounds",
                (unsigned long long)request->records, (unsigned long long)needed);
        return STATUS_INVALID;
    }
    if (request->agents > 0 && request->agents < answer->plan.job.cohort_min) {
        why_set(why, "--agents %llu: the job wants at least %u (cohort.minimum)",
                (unsigned long long)request->agents, answer->plan.job.cohort_min);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static enum status answer_job(struct answer *answer, const struct request *request, struct why *why)
{
    enum status status = job_plan_make(&answer->plan, &answer->source, NULL, why);
    if (status == STATUS_OK) {
        status = check_records(answer, request, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    answer->has_other = job_plan_other_trust(&answer->other, &answer->source, &answer->plan,
                                             &answer->no_other) == STATUS_OK;
    if (request->json) {
        return print_json(answer);
    }
    print_text(answer);
    return STATUS_OK;
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
    struct answer *answer = calloc(1, sizeof *answer);
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
        job_plan_free(&answer->other);
    }
    free(answer);
    free(text);
    return status == STATUS_OK ? EXIT_CODE_OK : plan_fail(command, status, &why);
}

const struct command command_plan_job = {
    .name = "plan job",
    .summary = "what a job will charge, and how much noise its answers will carry",
    .help =
        "usage: hedgerow plan job JOB.yml [--agents N] [--records N] [--json]\n\n"
        "Before anything is spent: what every agent will be charged for each stage, the noise on\n"
        "everything that is released, in its own unit, the regret to expect, and the whole price\n"
        "beside the job's limit. Warns where the noise drowns the signal, the most common mistake,\n"
        "and says what would help, each suggestion planned as a job of its own. Compares the two\n"
        "trusts. No record is read.\n\n"
        "  JOB.yml      the job, for example compose/hospitals/job.yml\n"
        "  --agents N   that answer every round (the job's cohort.minimum)\n"
        "  --records N  of each agent, at least (what the job says, or its stages need)\n"
        "  --json       the same as one object; burden above 1 is drowned, as drowned_when says\n\n"
        "example:\n"
        "  hedgerow plan job compose/hospitals/job.yml --agents 5\n",
    .run = run,
};
