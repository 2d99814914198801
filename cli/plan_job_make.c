/* A job's plan, and the plan of the same job with changes: its text is changed as `--set` would change it,
 * and read again.
 *
 * Advice by trial: a change of the job is planned as a job of its own, so that what is said of it is what
 * the changed job would do. Where a number helps by growing or falling, the least change that is enough
 * is found by doubling and halving, with two digits. */

#include "base/decimal.h"
#include "base/text.h"
#include "cli/plan_job.h"

#include "config/config.h"
#include "job/trust.h"
#include "report/result.h"
#include "task/task.h"

#include <inttypes.h>
#include <math.h>
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

bool job_plan_is_weak(const struct job_plan *plan)
{
    return plan->job.epsilon_micro > (uint64_t)PLAN_EPSILON_WEAK * 1000000;
}

const char *job_plan_bar_word(const struct terms_line *line)
{
    return line->is_expected ? "about" : "at most";
}

bool job_plan_is_of_sites(const struct terms_line *line)
{
    return line->place.of == TERMS_OF_SITE || line->place.of == TERMS_OF_SITES ||
           line->place.of == TERMS_OF_NEXT;
}

const struct terms_line *job_plan_worst(const struct job_plan *plan, size_t stage)
{
    const struct terms *terms = &plan->stage[stage];
    const struct terms_line *worst = NULL;
    for (size_t i = 0; i < terms->line_count; i++) {
        const struct terms_line *line = &terms->line[i];
        if (isfinite(line->noise_to_signal) &&
            (worst == NULL || line->noise_to_signal > worst->noise_to_signal)) {
            worst = line;
        }
    }
    return worst;
}

double job_plan_noise_to_signal(const struct job_plan *plan)
{
    double noise_to_signal = 0;
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        const struct terms_line *worst = job_plan_worst(plan, i);
        noise_to_signal =
            worst != NULL ? fmax(noise_to_signal, worst->noise_to_signal) : noise_to_signal;
    }
    return noise_to_signal;
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
    const bool says_none =
        needed < 2 || (job_has_shares(&plan->job) && plan->job.records_least <= 1);
    if (plan->size.records == 0 && says_none) {
        return why_refuse(
            why,
            "%s: the job does not say how many records an agent has: write cohort.records, or give "
            "--records N",
            source->name);
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
    if (changes != NULL && changes->cut) {
        return why_refuse(why, "%s: the change is too long", source->name);
    }
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

/* Plans the changed job. Returns the stage's noise-to-signal ratio, INFINITY where there is no such job. */
static double weigh(struct job_advice *advice, const struct job_trial *trial,
                    const struct job_changes *changes)
{
    struct job_plan *changed = malloc(sizeof *changed);
    double noise_to_signal = INFINITY;
    if (changed == NULL) {
        return INFINITY;
    }
    if (job_plan_make(changed, trial->source, changes, NULL) == STATUS_OK) {
        const struct terms_line *worst = job_plan_worst(changed, trial->stage);
        if (worst != NULL && changed->admitted) {
            const bool drawn = !isfinite(worst->noise);
            noise_to_signal = worst->noise_to_signal;
            (void)snprintf(advice->figure, sizeof advice->figure, "no answer");
            if (isfinite(worst->noise) || isfinite(worst->bar)) {
                (void)snprintf(advice->figure, sizeof advice->figure, "%s %s %.100s",
                               drawn ? job_plan_bar_word(worst) : "+-",
                               decimal_short(drawn ? worst->bar : worst->noise, 3).text,
                               worst->unit);
            }
        }
        if (changed->size.records > trial->plan->size.records && changes->size.records == 0) {
            text_add(advice->change, sizeof advice->change,
                     ", which needs %" PRIu64 " records of each agent", changed->size.records);
        }
        job_plan_free(changed);
    }
    free(changed);
    advice->noise_to_signal = noise_to_signal;
    return noise_to_signal;
}

static double weigh_at(struct job_advice *advice, const struct job_trial *trial,
                       const struct job_remedy *remedy, double factor)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    *advice = (struct job_advice){.noise_to_signal = INFINITY};
    if (changes != NULL && remedy->make(changes, advice->change, trial, factor)) {
        (void)weigh(advice, trial, changes);
    }
    free(changes);
    return advice->noise_to_signal;
}

/* Finds the least factor that is enough, or else the best one tried. Returns whether it lowers the
 * noise-to-signal ratio. */
static bool find_least(struct job_advice *advice, const struct job_trial *trial,
                       const struct job_remedy *remedy)
{
    const double noise_to_signal = job_plan_worst(trial->plan, trial->stage)->noise_to_signal;
    struct job_advice best = {.noise_to_signal = noise_to_signal};
    double bad = 1;
    double good = 1;
    for (int i = 0; i < DOUBLINGS_MAX && best.noise_to_signal > 1; i++) {
        struct job_advice tried;
        bad = good;
        good *= 2;
        if (!isfinite(weigh_at(&tried, trial, remedy, good))) {
            break;
        }
        best = tried.noise_to_signal < best.noise_to_signal
                   ? tried
                   : best; /* a bound's may stay at 1 for a while */
    }
    for (int i = 0; i < HALVINGS && best.noise_to_signal <= 1; i++) {
        const double middle = sqrt(bad * good);
        struct job_advice tried;
        if (weigh_at(&tried, trial, remedy, middle) <= 1) {
            good = middle;
            best = tried;
        } else {
            bad = middle;
        }
    }
    *advice = best;
    return best.noise_to_signal < noise_to_signal;
}

enum status job_plan_under(struct job_plan *other, const struct job_source *source,
                           const struct job_plan *plan, enum job_trust trust, struct why *why)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    char words[PLAN_ADVICE_BYTES] = "";
    if (changes == NULL) {
        return STATUS_NO_MEMORY;
    }
    job_change_trust(changes, words, plan, trust);
    enum status status = job_plan_make(other, source, changes, why);
    free(changes);
    return status;
}

static bool try_trust(struct job_advice *advice, const struct job_trial *trial)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    bool helps = false;
    *advice = (struct job_advice){.noise_to_signal = INFINITY};
    if (changes != NULL) {
        job_change_trust(changes, advice->change, trial->plan, trust_of(&trial->plan->job)->rival);
        helps = weigh(advice, trial, changes) <
                job_plan_worst(trial->plan, trial->stage)->noise_to_signal;
    }
    free(changes);
    return helps;
}

size_t job_advise(struct job_advice advice[static PLAN_ADVICE_MAX], const struct job_source *source,
                  const struct job_plan *plan, size_t stage)
{
    const struct job_trial trial = {source, plan, stage};
    size_t count = 0;
    memset(advice, 0, PLAN_ADVICE_MAX * sizeof *advice);
    if (job_plan_worst(plan, stage) == NULL) {
        return 0;
    }
    for (size_t i = 0; i < job_remedy_count && count + 1 < PLAN_ADVICE_MAX; i++) {
        const unsigned helps = HELP_ALWAYS | task_bounds(plan->job.stage[stage].task)->helps;
        count += (job_remedies[i].helps & helps) != 0 &&
                 find_least(&advice[count], &trial, &job_remedies[i]);
    }
    count += try_trust(&advice[count], &trial);
    return count;
}
