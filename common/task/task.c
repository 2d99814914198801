/* The tables of what tasks say of themselves, and what the texts of several share. */

#include "task/task.h"

#include "base/check.h"
#include "experts/rwm.h"
#include "job/trust.h"
#include "query/query_between.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char STAGES[] = "stages";

const struct task_text *task_text(enum task task)
{
#define TASK_ENTRY(NAME, name) &task_text_##name,
    static const struct task_text *const text[] = {TASK_LIST(TASK_ENTRY)};
#undef TASK_ENTRY
    CHECK(task < TASK_COUNT);
    return text[task];
}

const struct task_bounds *task_bounds(enum task task)
{
#define TASK_ENTRY(NAME, name) &task_bounds_##name,
    static const struct task_bounds *const bounds[] = {TASK_LIST(TASK_ENTRY)};
#undef TASK_ENTRY
    CHECK(task < TASK_COUNT);
    return bounds[task];
}

enum status stage_refuse(const struct drafting *drafting, size_t index, const char *key,
                         const char *remedy)
{
    char path[CONFIG_PATH_BYTES];
    return config_refuse(drafting->config, drafting->why, draft_path(path, STAGES, index, key),
                         "%s", remedy);
}

bool stage_has(const struct drafting *drafting, size_t index, const char *key)
{
    char path[CONFIG_PATH_BYTES];
    return config_has(drafting->config, draft_path(path, STAGES, index, key));
}

uint64_t stage_share_nano(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = draft_stage(drafting, index);
    uint64_t others = 0;
    if (!task_text((enum task)draft->task)->takes_rest || stage_has(drafting, index, "share")) {
        return draft->share_nano;
    }
    for (size_t i = 0; i < drafting->draft->stage_count; i++) {
        others += i == index ? 0 : draft_stage(drafting, i)->share_nano;
    }
    return others < SHARE_ONE ? SHARE_ONE - others : 0;
}

/* Copies a list to the job. Fails with STATUS_NO_MEMORY. */
static enum status keep(double **out, const double *list, size_t count)
{
    *out = NULL;
    if (count == 0) {
        return STATUS_OK;
    }
    *out = malloc(count * sizeof **out);
    if (*out == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(*out, list, count * sizeof **out);
    return STATUS_OK;
}

static bool has_twice(const double *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (list[i] == list[j]) {
                return true;
            }
        }
    }
    return false;
}

enum status stage_take_portion(const struct drafting *drafting, size_t index,
                               struct config_portion batch)
{
    const struct job *job = drafting->job;
    struct stage *stage = &drafting->job->stage[index];
    stage->batch = batch.count;
    stage->batch_nano = batch.share_nano;
    if (batch.share_nano == 0) {
        return STATUS_OK;
    }
    if (job->unit != UNIT_RECORD) {
        return stage_refuse(
            drafting, index, "batch",
            "is a share, which needs unit: record: the noise of a whole batch would "
            "differ from agent to agent. Write a number");
    }
    if (job->records_most == 0) {
        return stage_refuse(
            drafting, index, "batch",
            "is a share, and nothing bounds the records that one agent may say its answer is about: "
            "write cohort.records_most, the most that may count for one agent, for example `5000`");
    }
    stage->records_most = job->records_most;
    const uint64_t all = (uint64_t)batch.share_nano * stage->batches;
    if (all > PORTION_ONE) {
        return stage_refuse(drafting, index, "batch",
                            "makes one pass more than all records: lower the share, or the number "
                            "of rounds or batches");
    }
    if (all == PORTION_ONE && stage->first > 0) {
        return stage_refuse(drafting, index, "batch",
                            "makes one pass all records, and leaves none for `first` to pass over: "
                            "lower the share");
    }
    if (round_is_drawn(job, stage) && round_batch(stage, job->records_least) == 0) {
        return stage_refuse(drafting, index, "batch",
                            "is a share, and under trust central draws are planned for the fewest "
                            "records that an agent may have: write cohort.records");
    }
    const uint64_t least = round_records_least(stage);
    stage->batch = round_batch(stage, least > job->records_least ? least : job->records_least);
    return STATUS_OK;
}

enum status stage_take_batch(const struct drafting *drafting, size_t index)
{
    return stage_take_portion(drafting, index, draft_stage(drafting, index)->batch);
}

enum status stage_build_lambdas(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = draft_stage(drafting, index);
    struct stage *stage = &drafting->job->stage[index];
    if (has_twice(draft->lambda, draft->lambda_count)) {
        return stage_refuse(drafting, index, "lambdas", "holds one lambda twice: remove one");
    }
    stage->lambda_count = draft->lambda_count;
    return keep(&stage->lambda, draft->lambda, draft->lambda_count);
}

enum status stage_build_experts(const struct drafting *drafting, size_t index)
{
    const struct draft_experts *draft = &draft_stage(drafting, index)->experts;
    struct stage *stage = &drafting->job->stage[index];
    if (!draft->own && stage_has(drafting, index, "experts.own_weight")) {
        return stage_refuse(drafting, index, "experts.own_weight",
                            "weighs experts that `own: false` leaves out: remove it, or set own to "
                            "true");
    }
    if (draft->own && !task_reads(stage->task, SHARED_OWN_EXPERTS)) {
        return stage_refuse(drafting, index, "experts.own",
                            "is for a fit or predict stage, whose agents learn alone: remove it");
    }
    if (draft->own && !trust_of(drafting->job)->own_answers) {
        return stage_refuse(drafting, index, "experts.own",
                            "needs trust local: otherwise only the noisy average is released");
    }
    if (draft->shift_count > 0 && schema_output_count(&drafting->job->schema) > 1) {
        return stage_refuse(drafting, index, "experts.shifts",
                            "moves the threshold between two classes, and the label has more: "
                            "remove it");
    }
    for (size_t i = 0; i < draft->shift_count; i++) {
        if (draft->shift[i] == 0) {
            return stage_refuse(drafting, index, "experts.shifts",
                                "holds 0, which is the average itself: remove it");
        }
    }
    if (has_twice(draft->shift, draft->shift_count)) {
        return stage_refuse(drafting, index, "experts.shifts", "holds one shift twice: remove it");
    }
    stage->experts_own = draft->own;
    stage->own_weight = draft->own_weight;
    stage->shift_count = draft->shift_count;
    return keep(&stage->shift, draft->shift, draft->shift_count);
}

enum status stage_check_learnable(const struct drafting *drafting, size_t index)
{
    const bool number = drafting->job->schema.label.kind == LABEL_NUMBER;
    return loss_is_learnable(drafting->job->stage[index].loss)
               ? STATUS_OK
               : stage_refuse(drafting, index, "loss",
                              number ? "judges experts, and none can be learned by it: write "
                                       "squared or huber"
                                     : "judges experts, and none can be learned by it: write "
                                       "logistic or hinge");
}

enum status stage_build_fits(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = draft_stage(drafting, index);
    struct stage *stage = &drafting->job->stage[index];
    enum status status = stage_check_learnable(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    stage->rounds = (uint32_t)draft->lambda_count;
    stage->tolerance = draft->tolerance;
    stage->charge.epsilon_micro = stage->epsilon_micro / stage->rounds; /* each is a release */
    status = stage_build_lambdas(drafting, index);
    if (status == STATUS_OK) {
        status = stage_build_experts(drafting, index);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (trust_of(drafting->job)->one_noise && !config_has(drafting->config, "cohort.records")) {
        return config_refuse(
            drafting->config, drafting->why, "cohort.records",
            "is missing: under this trust the noise of a fit follows from the fewest records that "
            "an agent has: add it, for example `records: 500`");
    }
    return STATUS_OK;
}

size_t task_experts_of_fit(const struct stage *stage, size_t agent_count)
{
    return 1 + stage->shift_count + (stage->experts_own && agent_count >= 2 ? agent_count : 0);
}

enum status stage_take_gaussian(const struct drafting *drafting, size_t index)
{
    if (drafting->job->delta_atto == 0) {
        return stage_refuse(drafting, index, "noise",
                            "gaussian needs a privacy.delta above 0: add one, or write laplace");
    }
    drafting->job->stage[index].charge.mechanism = MECHANISM_DISCRETE_GAUSSIAN;
    return STATUS_OK;
}

bool stage_has_site_note(const struct job *job, const struct stage *stage, struct why *note)
{
    const bool has_effects = query_between_count(round_queries(stage)) > 0;
    if (stage->by_site) {
        why_set(note, "by_site: each site's own noisy answer, and how many records it is about, is "
                      "published under the site's name; its charge and its noise stay as they are");
    } else if (has_effects && !trust_of(job)->own_answers) {
        why_set(note,
                "under trust %s the answers of all sites together are released alone: no answer by "
                "site, and nothing on how much sites differ; trust local with by_site: true tells "
                "both, with more noise",
                trust_of(job)->name);
    }
    return stage->by_site || (has_effects && !trust_of(job)->own_answers);
}

/* The prior weight of a model that is another one changed, where a later stage judges both on noisy losses.
 *
 * Randomised weighted majority picks the expert of the largest weight(i) exp(-eta loss(i)). Without a prior the noise alone
 * lets a worse model win as often as not. With weight exp(-eta t) a changed model wins where its loss is lower by more than
 * t. Let t be DOUBT standard deviations of the noise on a difference of two losses, with the fewest agents that the job
 * allows: all of it is public. eta falls with the root of the rounds, and the noise of their sum grows with it, so the
 * weight is the same for any number of rounds. */

#define DOUBT 2.0

/* The first later stage that judges experts by losses that are released. NULL: none. */
static const struct stage *judge_of(const struct job *job, const struct stage *maker)
{
    for (const struct stage *stage = maker + 1; stage < job->stage + job->stage_count; stage++) {
        if (task_bounds(stage->task)->input == INPUT_EXPERTS) {
            return round_is_drawn(job, stage) ? NULL : stage;
        }
    }
    return NULL;
}

double task_doubt(const struct job *job, const struct stage *maker)
{
    const struct stage *judge = judge_of(job, maker);
    struct round_bounds bounds;
    if (judge == NULL || judge->batch == 0) {
        return 1;
    }
    const size_t agents = job->cohort_min;
    const size_t experts = job_experts_at(job, (size_t)(judge - job->stage), agents);
    if (experts < 2 ||
        round_bounds(&bounds, job, judge, 0, job_records_min(job), experts, NULL) != STATUS_OK) {
        return 1;
    }
    const struct query_noise noise = round_noise(job, judge, &bounds, agents);
    const double one = ldexp(query_noise_deviation(&noise), -(int)judge->grid_bits) /
                       ((double)agents * (double)judge->batch);
    return exp(-rwm_eta_free(experts, 1) * DOUBT * sqrt(2) * one);
}
