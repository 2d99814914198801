/* Advice by trial: a change of the job is planned as a job of its own, so that what is said of it is what
 * the changed job would do. Where a number helps by growing or falling, the least change that is enough
 * is found by doubling and halving, with two digits. */

#include "cli/plan_job_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLINGS_MAX = 12, HALVINGS = 6 };

/* Plans the changed job. Returns the stage's burden, INFINITY where there is no such job. */
static double weigh(struct job_advice *advice, const struct job_trial *trial,
                    const struct job_changes *changes)
{
    struct job_plan *changed = malloc(sizeof *changed);
    double burden = INFINITY;
    if (changed == NULL) {
        return INFINITY;
    }
    if (job_plan_make(changed, trial->source, changes, NULL) == STATUS_OK) {
        const struct terms_line *worst = job_plan_worst(changed, trial->stage);
        if (worst != NULL && changed->admitted) {
            const bool drawn = !isfinite(worst->noise);
            burden = worst->burden;
            (void)snprintf(advice->figure, sizeof advice->figure, "%s %.3g %.100s",
                           drawn ? "at most" : "+-", drawn ? worst->bar : worst->noise,
                           worst->unit);
        }
        const size_t used = strlen(advice->change);
        if (changed->size.records > trial->plan->size.records && changes->size.records == 0) {
            (void)snprintf(advice->change + used, sizeof advice->change - used,
                           ", which needs %" PRIu64 " records of each agent",
                           changed->size.records);
        }
        job_plan_free(changed);
    }
    free(changed);
    advice->burden = burden;
    return burden;
}

static double weigh_at(struct job_advice *advice, const struct job_trial *trial,
                       const struct job_remedy *remedy, double factor)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    *advice = (struct job_advice){.burden = INFINITY};
    if (changes != NULL && remedy->make(changes, advice->change, trial, factor)) {
        (void)weigh(advice, trial, changes);
    }
    free(changes);
    return advice->burden;
}

/* Finds the least factor that is enough, or else the best one tried. Returns whether it lowers the
 * burden. */
static bool find_least(struct job_advice *advice, const struct job_trial *trial,
                       const struct job_remedy *remedy)
{
    const double burden = job_plan_worst(trial->plan, trial->stage)->burden;
    struct job_advice best = {.burden = burden};
    double bad = 1;
    double good = 1;
    for (int i = 0; i < DOUBLINGS_MAX && best.burden > 1; i++) {
        struct job_advice tried;
        bad = good;
        good *= 2;
        if (!isfinite(weigh_at(&tried, trial, remedy, good))) {
            break;
        }
        best = tried.burden < best.burden ? tried : best; /* a bound's may stay at 1 for a while */
    }
    for (int i = 0; i < HALVINGS && best.burden <= 1; i++) {
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
    return best.burden < burden;
}

enum status job_plan_other_trust(struct job_plan *other, const struct job_source *source,
                                 const struct job_plan *plan, struct why *why)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    char words[PLAN_ADVICE_BYTES] = "";
    if (changes == NULL) {
        return STATUS_NO_MEMORY;
    }
    job_change_trust(changes, words, plan);
    enum status status = job_plan_make(other, source, changes, why);
    free(changes);
    return status;
}

static bool try_trust(struct job_advice *advice, const struct job_trial *trial)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    bool helps = false;
    *advice = (struct job_advice){.burden = INFINITY};
    if (changes != NULL) {
        job_change_trust(changes, advice->change, trial->plan);
        helps = weigh(advice, trial, changes) < job_plan_worst(trial->plan, trial->stage)->burden;
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
        const bool applies = (job_remedies[i].tasks >> (unsigned)plan->job.stage[stage].task) & 1u;
        count += applies && find_least(&advice[count], &trial, &job_remedies[i]);
    }
    count += try_trust(&advice[count], &trial);
    return count;
}
