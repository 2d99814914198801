/* What can be changed about a job so that its noise hides less: each change as `--set` would write it. A
 * change that does not fit is dropped as a whole, because half of it would be another job. */

#include "base/text.h"
#include "cli/plan_job.h"

#include "base/decimal.h"
#include "config/config.h"
#include "job/trust.h"
#include "masks/masks.h"
#include "task/online/stage.h"
#include "task/task.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* A list under way, as YAML. */
struct list {
    char text[PLAN_SET_BYTES - PLAN_PATH_BYTES];
    size_t used;
    size_t count;
    bool cut;
};

static void list_add(struct list *list, double value)
{
    const size_t room = sizeof list->text - list->used;
    const int size =
        snprintf(list->text + list->used, room, "%s%.9g", list->count > 0 ? ", " : "", value);
    list->cut = list->cut || size < 0 || (size_t)size >= room;
    list->used += list->cut ? 0 : (size_t)size;
    list->count++;
}

static void change(struct job_changes *changes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void change(struct job_changes *changes, const char *format, ...)
{
    va_list arguments;
    if (changes->count == PLAN_CHANGES_MAX) {
        changes->cut = true;
        return;
    }
    char *set = changes->set[changes->count++];
    va_start(arguments, format);
    const int size = vsnprintf(set, PLAN_SET_BYTES, format, arguments);
    va_end(arguments);
    changes->cut = changes->cut || size < 0 || size >= PLAN_SET_BYTES;
}

double job_change_rounded(double x)
{
    const double step = pow(10, floor(log10(x)) - 1);
    return ceil(x / step - 1e-9) * step;
}

static double fewer(size_t count, double factor)
{
    return ceil((double)count / factor);
}

static const struct stage *stage_of(const struct job_trial *trial)
{
    return &trial->plan->job.stage[trial->stage];
}

static bool larger_epsilon(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                           const struct job_trial *trial, double factor)
{
    const double epsilon =
        job_change_rounded((double)trial->plan->job.epsilon_micro * 1e-6 * factor);
    change(changes, "privacy.epsilon=%.6f", epsilon);
    text_add(words, PLAN_ADVICE_BYTES, "privacy.epsilon: %.6g", epsilon);
    return true;
}

/* The fewest records never pass the most. */
void job_change_records(struct job_changes *changes, const struct job *job, double records)
{
    if (job_has_shares(job) && records > (double)job->records_most) {
        change(changes, "cohort.records_most=%.0f", records);
    }
    change(changes, "cohort.records=%.0f", records);
}

static bool more_records(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                         const struct job_trial *trial, double factor)
{
    const struct job_plan *plan = trial->plan;
    const struct stage *stage = stage_of(trial);
    const double old_records = (double)plan->size.records;
    if (stage->batch == 0 || stage->batch_nano > 0) {
        const double records = job_change_rounded(old_records * factor);
        changes->size.records = (uint64_t)records;
        if (trust_of(&plan->job)->one_noise ||
            (job_has_shares(&plan->job) && records > (double)plan->job.records_most)) {
            job_change_records(changes, &plan->job, records);
        }
        text_add(words, PLAN_ADVICE_BYTES, "%.0f records of each agent", records);
        return true;
    }
    const double batch = job_change_rounded((double)stage->batch * factor);
    const double needed = (double)stage->first + batch * (double)stage->batches;
    change(changes, "stages[%zu].batch=%.0f", trial->stage, batch);
    if (plan->job.records_least > 0) {
        job_change_records(changes, &plan->job, fmax(old_records, needed));
    }
    text_add(words, PLAN_ADVICE_BYTES, "batch: %.0f", batch);
    return true;
}

static bool more_agents(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                        const struct job_trial *trial, double factor)
{
    const double agents =
        fmin(ceil((double)trial->plan->size.agents * factor), (double)JOB_AGENTS_SURE);
    changes->size.agents = (size_t)agents;
    if (trust_of(&trial->plan->job)->one_noise) {
        change(changes, "cohort.minimum=%.0f", agents);
    }
    text_add(words, PLAN_ADVICE_BYTES, "%.0f agents%s", agents,
             trust_of(&trial->plan->job)->one_noise ? " (set cohort.minimum to the same number)"
                                                    : "");
    return true;
}

void job_change_agents(struct job_changes *changes, double agents)
{
    changes->size.agents = (size_t)agents;
    change(changes, "cohort.minimum=%.0f", agents);
}

/* Capped at 1, as least squares asks; what meets there is one release. */
static bool larger_lambda(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                          const struct job_trial *trial, double factor)
{
    const struct stage *stage = stage_of(trial);
    struct list list = {.used = 0};
    double last = 0;
    for (size_t i = 0; i < stage->lambda_count; i++) {
        const double lambda =
            fmax(stage->lambda[i], fmin(job_change_rounded(stage->lambda[i] * factor), 1));
        if (list.count == 0 || lambda != last) {
            list_add(&list, lambda);
        }
        last = lambda;
    }
    changes->cut = changes->cut || list.cut;
    change(changes, "stages[%zu].lambdas=[%s]", trial->stage, list.text);
    text_add(words, PLAN_ADVICE_BYTES, "lambdas: [%.160s%s]", list.text,
             list.used > 160 ? " .." : "");
    return true;
}

/* Every lambda is a release and takes its part of the share: evenly fewer, the largest among them. */
static bool fewer_lambdas(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                          const struct job_trial *trial, double factor)
{
    const struct stage *stage = stage_of(trial);
    const double count = fewer(stage->lambda_count, factor);
    struct list list = {.used = 0};
    double lambda = 0;
    if (count >= (double)stage->lambda_count) {
        return false;
    }
    for (size_t i = 0; i < (size_t)count; i++) {
        /* Also where a list does not rise, its largest is kept. */
        const size_t end = (i + 1) * stage->lambda_count / (size_t)count;
        lambda = 0;
        for (size_t j = i * stage->lambda_count / (size_t)count; j < end; j++) {
            lambda = fmax(lambda, stage->lambda[j]);
        }
        list_add(&list, lambda);
    }
    changes->cut = changes->cut || list.cut;
    change(changes, "stages[%zu].lambdas=[%s]", trial->stage, list.text);
    text_add(words, PLAN_ADVICE_BYTES, "fewer releases: lambdas: [%.140s%s]", list.text,
             list.used > 140 ? " .." : "");
    return true;
}

/* The whole table of experts anew, with the first that many shifts: without own models there is no weight of
 * theirs either. */
static void change_experts(struct job_changes *changes, const struct job_plan *plan, size_t index,
                           size_t shifts)
{
    const struct stage *stage = &plan->job.stage[index];
    struct list list = {.used = 0};
    for (size_t i = 0; i < shifts; i++) {
        list_add(&list, stage->shift[i]);
    }
    changes->cut = changes->cut || list.cut;
    change(changes, "stages[%zu].experts={own: false%s%s%s}", index,
           shifts > 0 ? ", shifts: [" : "", list.text, shifts > 0 ? "]" : "");
}

/* The agents' own models go, and moved thresholds and lambdas of every stage before become fewer. */
static bool fewer_experts(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                          const struct job_trial *trial, double factor)
{
    const struct job_plan *plan = trial->plan;
    const struct stage *judging = stage_of(trial);
    bool found = false;
    if (round_input(judging, 0) != INPUT_EXPERTS) {
        return false;
    }
    text_add(words, PLAN_ADVICE_BYTES, "fewer experts:");
    for (size_t i = 0; i < trial->stage; i++) {
        const struct stage *stage = &plan->job.stage[i];
        const size_t lambdas = (size_t)fewer(stage->lambda_count, factor);
        const size_t shifts = (size_t)floor((double)stage->shift_count / factor);
        if (!stage->experts_own && shifts == stage->shift_count && lambdas == stage->lambda_count) {
            continue;
        }
        text_add(words, PLAN_ADVICE_BYTES, "%s stage %zu with", found ? ";" : "", i + 1);
        const bool fewer_shifts = stage->experts_own || shifts < stage->shift_count;
        if (fewer_shifts) {
            change_experts(changes, plan, i, shifts);
            text_add(words, PLAN_ADVICE_BYTES, " %s%zu of %zu shifts",
                     stage->experts_own ? "own: false, " : "", shifts, stage->shift_count);
        }
        if (lambdas < stage->lambda_count) {
            struct job_trial before = {trial->source, plan, i};
            char said[PLAN_ADVICE_BYTES] = "";
            (void)fewer_lambdas(changes, said, &before, factor);
            text_add(words, PLAN_ADVICE_BYTES, "%s %zu of %zu lambdas", fewer_shifts ? "," : "",
                     lambdas, stage->lambda_count);
        }
        found = true;
    }
    return found;
}

/* As many records in fewer rounds: each one's share of the budget or its batch grows by more than what
 * fewer rounds average out. */
static bool fewer_rounds(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                         const struct job_trial *trial, double factor)
{
    const struct stage *stage = stage_of(trial);
    const double rounds = fewer(stage->rounds, factor);
    if (rounds >= (double)stage->rounds) {
        return false;
    }
    change(changes, "stages[%zu].rounds=%.0f", trial->stage, rounds);
    text_add(words, PLAN_ADVICE_BYTES, "rounds: %.0f", rounds);
    return true;
}

/* Likewise, of as many records in all. */
static bool fewer_larger_rounds(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                                const struct job_trial *trial, double factor)
{
    const struct stage *stage = stage_of(trial);
    const double rounds = fewer(stage->rounds, factor);
    if (!fewer_rounds(changes, words, trial, factor)) {
        return false;
    }
    if (stage->batch_nano > 0) {
        char share[32];
        const double nano = (double)stage->batch_nano * (double)stage->rounds / rounds;
        decimal_format(share, sizeof share, (uint64_t)fmin(nano, PORTION_ONE), PORTION_PLACES);
        change(changes, "stages[%zu].batch=%s %%", trial->stage, share);
        text_add(words, PLAN_ADVICE_BYTES, ", batch: %s %%, of the same records", share);
    } else {
        const double batch = floor((double)stage->batch * (double)stage->rounds / rounds);
        change(changes, "stages[%zu].batch=%.0f", trial->stage, batch);
        text_add(words, PLAN_ADVICE_BYTES, ", batch: %.0f, of the same records", batch);
    }
    return true;
}

static bool later_releases(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                           const struct job_trial *trial, double factor)
{
    const struct job_plan *plan = trial->plan;
    const struct stage *stage = stage_of(trial);
    const double old_t0 = (double)online_stage(stage)->stream.t0;
    const double t0 = job_change_rounded(old_t0 * factor);
    change(changes, "stages[%zu].t0=%.0f", trial->stage, t0);
    if (plan->job.records_least > 0) {
        const double last = (double)(round_records(stage) - 1) / old_t0; /* release, in t0 */
        job_change_records(changes, &plan->job,
                           fmax((double)plan->job.records_least, last * t0 + 1));
    }
    text_add(words, PLAN_ADVICE_BYTES, "t0: %.0f", t0);
    return true;
}

static bool fewer_features(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                           const struct job_trial *trial, double factor)
{
    const struct stage *stage = stage_of(trial);
    const struct feature_map *map = &stage->schema.map;
    char key[64] = "data.map.features";
    const double features = 2 * fewer(map->feature_count / 2, factor);
    if (map->kind != MAP_FOURIER || features >= (double)map->feature_count) {
        return false;
    }
    if (stage->has_own_map) {
        (void)snprintf(key, sizeof key, "stages[%zu].map.features", trial->stage);
    }
    change(changes, "%s=%.0f", key, features);
    text_add(words, PLAN_ADVICE_BYTES, "%s: %.0f", stage->has_own_map ? "map.features" : key,
             features);
    return true;
}

/* A stage that is rehearsed plans by the fewest records that an agent may have. */
static bool plans_by_records(const struct job *job)
{
    for (size_t i = 0; i < job->stage_count; i++) {
        if (terms_can_rehearse(job, i)) {
            return true;
        }
    }
    return false;
}

/* The sites that masked sums count on, of those that are planned. A quarter is dishonest. The number of shares in
 * a noise is the largest that needs no more survivors than signatures, or than the job's own minimum if that is
 * larger. Or no masked sum at all. */
static void change_masks(struct job_changes *changes, char words[static PLAN_PATH_BYTES],
                         const struct job_plan *plan, bool masked)
{
    const uint64_t dishonest = masked ? job_change_dishonest(plan->size.agents) : 0;
    struct masks_quorum quorum = {.honest = 0};
    const uint64_t minimum = plan->job.cohort_min;
    if (masked && masks_quorum_make(&quorum, plan->size.agents, dishonest, 0, NULL) == STATUS_OK) {
        if (quorum.opens_at >= minimum) {
            change(changes, "cohort.minimum=%" PRIu64, quorum.opens_at);
        } else if (minimum > plan->size.agents ||
                   masks_quorum_make(&quorum, plan->size.agents, dishonest, minimum - dishonest,
                                     NULL) != STATUS_OK) {
            quorum = (struct masks_quorum){.honest = 0};
        }
    }
    change(changes, "cohort.dishonest=%" PRIu64, dishonest);
    change(changes, "cohort.honest=%" PRIu64, (uint64_t)quorum.honest);
    if (masked) {
        (void)snprintf(words, PLAN_PATH_BYTES, ", cohort.dishonest: %" PRIu64, dishonest);
    }
}

uint64_t job_change_dishonest(uint64_t sites)
{
    return sites >= 8 ? sites / 4 : 1;
}

void job_change_trust(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                      const struct job_plan *plan, enum job_trust trust)
{
    const struct trust *other = trust_at(trust);
    bool without_own = false;
    bool without_sites = false;
    char dishonest[PLAN_PATH_BYTES] = "";
    change(changes, "privacy.trust=%s", other->name);
    if (other->masked != trust_of(&plan->job)->masked) {
        change_masks(changes, dishonest, plan, other->masked);
    }
    if (other->one_noise && !plans_by_records(&plan->job)) { /* a fair comparison has one plan */
        job_change_records(changes, &plan->job, (double)plan->size.records);
    }
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        const struct stage *stage = &plan->job.stage[i];
        if (!other->own_answers && stage->experts_own) {
            change_experts(changes, plan, i, stage->shift_count);
            without_own = true;
        }
        if (!other->own_answers && stage->by_site) {
            change(changes, "stages[%zu].by_site=false", i);
            without_sites = true;
        }
        const struct task_text *text = task_text(stage->task);
        if (text->strategy_where != NULL) {
            change(changes, "stages[%zu].strategy=%s", i,
                   strategy_name(text->strategy_where(stage->strategy, other->exact_answers)));
        }
    }
    text_add(words, PLAN_ADVICE_BYTES, "trust: %s%s%s%s", other->name, dishonest,
             without_own ? ", own: false" : "", without_sites ? ", by_site: false" : "");
}

const struct job_remedy job_remedies[] = {{HELP_ALWAYS, larger_epsilon},
                                          {HELP_RECORDS, more_records},
                                          {HELP_LATER_RELEASES, later_releases},
                                          {HELP_ALWAYS, more_agents},
                                          {HELP_LAMBDA, larger_lambda},
                                          {HELP_LAMBDA, fewer_lambdas},
                                          {HELP_FEWER_EXPERTS, fewer_experts},
                                          {HELP_FEWER_ROUNDS, fewer_rounds},
                                          {HELP_FEWER_LARGER_ROUNDS, fewer_larger_rounds},
                                          {HELP_FEATURES, fewer_features}};
const size_t job_remedy_count = sizeof job_remedies / sizeof *job_remedies;
