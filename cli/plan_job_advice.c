/* Advice by trial: the job's text is changed as `--set` would change it, read again and planned
 * again, so that what is said of a change is what the changed job would do. Where a number helps by
 * growing, the least that is enough is found by doubling and halving, with two digits. */

#include "cli/plan_job.h"

#include "config/config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLINGS_MAX = 12, HALVINGS = 6 };

void job_plan_free(struct job_plan *plan)
{
    for (size_t i = 0; i < JOB_STAGES_MAX; i++) {
        terms_free(&plan->stage[i]);
    }
    job_free(&plan->job);
    memset(plan, 0, sizeof *plan);
}

const struct terms_line *job_plan_worst(const struct job_plan *plan, size_t stage)
{
    const struct terms *terms = &plan->stage[stage];
    const struct terms_line *worst = NULL;
    for (size_t i = 0; i < terms->line_count; i++) {
        const struct terms_line *line = &terms->line[i];
        if (isfinite(line->burden) && (worst == NULL || line->burden > worst->burden)) {
            worst = line;
        }
    }
    return worst;
}

double job_plan_burden(const struct job_plan *plan)
{
    double burden = 0;
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        const struct terms_line *worst = job_plan_worst(plan, i);
        burden = worst != NULL ? fmax(burden, worst->burden) : burden;
    }
    return burden;
}

static enum status change_text(char **text, size_t *size, const struct job_source *source,
                               const struct job_changes *changes, struct why *why)
{
    enum status status = STATUS_OK;
    *size = source->text.size;
    *text = malloc(*size + 1);
    if (*text == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(*text, source->text.data, *size);
    (*text)[*size] = '\0';
    for (size_t i = 0; changes != NULL && i < changes->count && status == STATUS_OK; i++) {
        char *changed = NULL;
        size_t changed_size = 0;
        status = config_override(&changed, &changed_size, (struct slice){*text, *size},
                                 source->name, changes->set[i], why);
        if (status == STATUS_OK) {
            free(*text);
            *text = changed;
            *size = changed_size;
        }
    }
    return status;
}

static enum status choose_size(struct job_plan *plan, const struct job_source *source,
                               const struct job_changes *changes, struct why *why)
{
    const uint64_t needed = job_records_min(&plan->job);
    plan->size = source->size;
    if (changes != NULL && changes->size.agents > 0) {
        plan->size.agents = changes->size.agents;
    }
    if (changes != NULL && changes->size.records > 0) {
        plan->size.records = changes->size.records;
    }
    if (plan->size.agents == 0) {
        plan->size.agents = plan->job.cohort_min;
    }
    if (plan->size.records == 0 && needed < 2) {
        why_set(why,
                "%s: nothing in the job says how many records an agent has: say so with "
                "--records N",
                source->name);
        return STATUS_INVALID;
    }
    plan->size.records = plan->size.records < needed ? needed : plan->size.records;
    return STATUS_OK;
}

enum status job_plan_make(struct job_plan *plan, const struct job_source *source,
                          const struct job_changes *changes, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    memset(plan, 0, sizeof *plan);
    enum status status = change_text(&text, &size, source, changes, why);
    if (status == STATUS_OK) {
        status = job_parse(&plan->job, (struct slice){text, size}, source->name, why);
    }
    free(text);
    if (status == STATUS_OK) {
        status = choose_size(plan, source, changes, why);
    }
    for (size_t i = 0; status == STATUS_OK && i < plan->job.stage_count; i++) {
        status = terms_of_stage(&plan->stage[i], &plan->job, i, plan->size, why);
    }
    if (status != STATUS_OK) {
        job_plan_free(plan);
        return status;
    }
    const struct job *job = &plan->job;
    const struct cost sums = round_cost(job, &job->filter, job_round_count(job));
    plan->price = terms_price(&job->filter, &sums);
    plan->admitted = filter_admits(&job->filter, &sums);
    return STATUS_OK;
}

static void change(struct job_changes *changes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void change(struct job_changes *changes, const char *format, ...)
{
    va_list arguments;
    if (changes->count < PLAN_CHANGES_MAX) {
        va_start(arguments, format);
        (void)vsnprintf(changes->set[changes->count++], PLAN_ADVICE_BYTES, format, arguments);
        va_end(arguments);
    }
}

/* Advice of one kind: how the job looks with its number `factor` times as large. */
struct trial {
    const struct job_source *source;
    const struct job_plan *plan;
    size_t stage;
    void (*make)(struct job_changes *changes, struct job_advice *advice, const struct trial *trial,
                 double factor);
};

/* Plans the changed job. Returns the stage's burden, INFINITY where there is no such job. */
static double weigh(struct job_advice *advice, const struct job_source *source,
                    const struct job_changes *changes, size_t stage)
{
    struct job_plan *changed = malloc(sizeof *changed);
    double burden = INFINITY;
    if (changed == NULL) {
        return INFINITY;
    }
    if (job_plan_make(changed, source, changes, NULL) == STATUS_OK) {
        const struct terms_line *worst = job_plan_worst(changed, stage);
        if (worst != NULL) {
            const bool drawn = !isfinite(worst->noise);
            burden = worst->burden;
            (void)snprintf(advice->figure, sizeof advice->figure, "%s %.3g %.100s",
                           drawn ? "at most" : "+-", drawn ? worst->bar : worst->noise,
                           worst->unit);
        }
        job_plan_free(changed);
    }
    free(changed);
    advice->burden = burden;
    return burden;
}

static double weigh_at(struct job_advice *advice, const struct trial *trial, double factor)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    double burden = INFINITY;
    if (changes != NULL) {
        trial->make(changes, advice, trial, factor);
        burden = weigh(advice, trial->source, changes, trial->stage);
    }
    free(changes);
    return burden;
}

/* Finds the least factor that is enough, or else the last one tried. Returns false where no such job
 * can be planned at all. */
static bool find_least(struct job_advice *advice, const struct trial *trial)
{
    struct job_advice best = {.burden = INFINITY};
    double bad = 1;
    double good = 1;
    for (int i = 0; i < DOUBLINGS_MAX && best.burden > 1; i++) {
        bad = good;
        good *= 2;
        if (!isfinite(weigh_at(advice, trial, good))) {
            break;
        }
        best = *advice;
    }
    *advice = best;
    if (!(best.burden <= 1)) {
        return isfinite(best.burden);
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = sqrt(bad * good);
        struct job_advice tried = {.burden = INFINITY};
        if (weigh_at(&tried, trial, middle) <= 1) {
            good = middle;
            *advice = tried;
        } else {
            bad = middle;
        }
    }
    return true;
}

/* Up, to two digits. */
static double rounded(double x)
{
    const double step = pow(10, floor(log10(x)) - 1);
    return ceil(x / step - 1e-9) * step;
}

static void larger_epsilon(struct job_changes *changes, struct job_advice *advice,
                           const struct trial *trial, double factor)
{
    const double epsilon = rounded((double)trial->plan->job.epsilon_micro * 1e-6 * factor);
    change(changes, "privacy.epsilon=%.6g", epsilon);
    (void)snprintf(advice->change, sizeof advice->change, "privacy.epsilon: %.6g", epsilon);
}

static void more_records(struct job_changes *changes, struct job_advice *advice,
                         const struct trial *trial, double factor)
{
    const struct job_plan *plan = trial->plan;
    const struct stage *stage = &plan->job.stage[trial->stage];
    const double old_records = (double)plan->size.records;
    if (stage->batch == 0) {
        const double records = rounded(old_records * factor);
        changes->size.records = (uint64_t)records;
        if (plan->job.trust == TRUST_CENTRAL) {
            change(changes, "cohort.records=%.0f", records);
        }
        (void)snprintf(advice->change, sizeof advice->change, "%.0f records of each agent",
                       records);
        return;
    }
    const double batch = rounded((double)stage->batch * factor);
    const double all = fmax(old_records, batch * (double)stage->batches);
    change(changes, "stages[%zu].batch=%.0f", trial->stage, batch);
    if (plan->job.records_least > 0) {
        change(changes, "cohort.records=%.0f", all);
    }
    (void)snprintf(advice->change, sizeof advice->change,
                   "batch: %.0f, which needs %.0f records of each agent", batch, all);
}

static void more_agents(struct job_changes *changes, struct job_advice *advice,
                        const struct trial *trial, double factor)
{
    const double agents =
        fmin(ceil((double)trial->plan->size.agents * factor), (double)JOB_AGENTS_MAX);
    changes->size.agents = (size_t)agents;
    if (trial->plan->job.trust == TRUST_CENTRAL) {
        change(changes, "cohort.minimum=%.0f", agents);
    }
    (void)snprintf(advice->change, sizeof advice->change, "%.0f agents", agents);
}

static void larger_lambda(struct job_changes *changes, struct job_advice *advice,
                          const struct trial *trial, double factor)
{
    const struct stage *stage = &trial->plan->job.stage[trial->stage];
    char list[PLAN_ADVICE_BYTES - 64];
    size_t used = 0;
    for (uint32_t i = 0; i < stage->rounds && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.6g", i > 0 ? ", " : "",
                                 fmin(rounded(stage->lambda[i] * factor), 1));
    }
    change(changes, "stages[%zu].lambdas=[%s]", trial->stage, list);
    (void)snprintf(advice->change, sizeof advice->change, "lambdas: [%s]", list);
}

/* The whole table of experts anew: without own models there is no weight of theirs either. */
static void leave_own_out(struct job_changes *changes, const struct job_plan *plan, size_t index)
{
    const struct stage *stage = &plan->job.stage[index];
    char shifts[PLAN_ADVICE_BYTES - 64] = "";
    size_t used = 0;
    for (size_t i = 0; i < stage->shift_count && used < sizeof shifts; i++) {
        used += (size_t)snprintf(shifts + used, sizeof shifts - used, "%s%.6g",
                                 i == 0 ? ", shifts: [" : ", ", stage->shift[i]);
    }
    change(changes, "stages[%zu].experts={own: false%s%s}", index, shifts, used > 0 ? "]" : "");
}

/* Without every agent's own model among the experts. */
static bool fewer_experts(struct job_advice *advice, const struct job_source *source,
                          const struct job_plan *plan, size_t stage)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    bool found = false;
    for (size_t i = 0; changes != NULL && i < stage; i++) {
        if (plan->job.stage[i].experts_own) {
            leave_own_out(changes, plan, i);
            found = true;
        }
    }
    if (found) {
        found = isfinite(weigh(advice, source, changes, stage));
        (void)snprintf(advice->change, sizeof advice->change,
                       "fewer experts (own: false, which leaves out every agent's own model)");
    }
    free(changes);
    return found;
}

static void other_trust(struct job_changes *changes, const struct job_plan *plan)
{
    const bool central = plan->job.trust != TRUST_CENTRAL;
    change(changes, "privacy.trust=%s", central ? "central" : "local");
    if (central) {
        change(changes, "cohort.records=%llu", (unsigned long long)plan->size.records);
    }
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        const struct stage *stage = &plan->job.stage[i];
        if (central && stage->experts_own) {
            leave_own_out(changes, plan, i);
        }
        if (stage->task == TASK_SELECT) {
            change(changes, "stages[%zu].strategy=%s", i,
                   strategy_name(central ? STRATEGY_PERMUTE_AND_FLIP : STRATEGY_NOISY_MIN));
        }
        if (stage->task == TASK_LOSSES && !central) {
            change(changes, "stages[%zu].strategy=%s", i, strategy_name(STRATEGY_RWM));
        }
    }
}

enum status job_plan_other_trust(struct job_plan *other, const struct job_source *source,
                                 const struct job_plan *plan, struct why *why)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    if (changes == NULL) {
        return STATUS_NO_MEMORY;
    }
    other_trust(changes, plan);
    enum status status = job_plan_make(other, source, changes, why);
    free(changes);
    return status;
}

static bool try_trust(struct job_advice *advice, const struct job_source *source,
                      const struct job_plan *plan, size_t stage)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    bool helps = false;
    if (changes != NULL) {
        other_trust(changes, plan);
        helps = weigh(advice, source, changes, stage) < job_plan_worst(plan, stage)->burden;
        (void)snprintf(advice->change, sizeof advice->change, "trust: %s",
                       plan->job.trust == TRUST_CENTRAL ? "local" : "central");
    }
    free(changes);
    return helps;
}

size_t job_advise(struct job_advice advice[static PLAN_ADVICE_MAX], const struct job_source *source,
                  const struct job_plan *plan, size_t stage)
{
    const enum task task = plan->job.stage[stage].task;
    const struct trial trials[] = {{source, plan, stage, larger_epsilon},
                                   {source, plan, stage, more_records},
                                   {source, plan, stage, more_agents},
                                   {source, plan, stage, larger_lambda}};
    const size_t trial_count = sizeof trials / sizeof *trials -
                               (task == TASK_FIT && plan->job.stage[stage].lambda != NULL ? 0 : 1);
    size_t count = 0;
    memset(advice, 0, PLAN_ADVICE_MAX * sizeof *advice);
    if (job_plan_worst(plan, stage) == NULL) {
        return 0;
    }
    for (size_t i = 0; i < trial_count; i++) {
        count += find_least(&advice[count], &trials[i]) &&
                 advice[count].burden < job_plan_worst(plan, stage)->burden;
    }
    count += try_trust(&advice[count], source, plan, stage);
    count += task == TASK_LOSSES && fewer_experts(&advice[count], source, plan, stage);
    return count;
}
