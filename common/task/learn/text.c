/* `learn`: a linear model of classes or of a number from the schema and epsilon alone. What it does is planned here, from the job's
 * text: whether it looks at the moments first, and how many steps follow. All rounds are charged alike.
 *
 * The plan is in arithmetic that is rounded alike on every machine (no logarithm): an agent and the coordinator read
 * the same plan from the same text. */

#include "job/reach.h"
#include "job/round.h"
#include "job/trust.h"
#include "learn/tuned.h"
#include "task/learn/plan.h"
#include "task/learn/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

enum {
    BENDS_STEPS =
        4, /* the first of a linear model, one that tries products, and some with those that stay */
    SCORES_MOST = 16, /* models of a query stage: its MODELS_MAX */
    RECORDS_MOST = 1000000
};

/* Whether a query judges models whose weights stand in the text: they are for columns, not for what a map makes of these. */
static bool has_written_models(const struct drafting *drafting)
{
    bool has = false;
    for (size_t i = 0; i < drafting->draft->stage_count && !has; i++) {
        for (size_t j = 0; j < SCORES_MOST && !has; j++) {
            char key[32];
            (void)snprintf(key, sizeof key, "models[%zu].columns", j);
            has = stage_has(drafting, i, key);
        }
    }
    return has;
}

/* Products of columns are tried where the noise of a step is at most this. Above it, on Shuttle and Satellite, they cost 0.4 to 0.6
 * points. And where columns and products of the records that a site has at least are at most a quarter of a gigabyte: reading
 * them takes three times that, and more records take more. */
#define BENDS_NOISE   TUNED(BENDS_NOISE, 0.1)
#define BENDS_NUMBERS 0x1p25

/* Records of one round that a unit is in: a day of a series is in that of every lag, an agent in all of its own. */
static double moved(const struct job *job, const struct stage *stage)
{
    return (double)(job->unit == UNIT_RECORD ? reach_of(job, stage).records : stage->batch);
}

static struct learn_prospect prospect_of(const struct drafting *drafting,
                                         const struct learn_stage *own, double moved, double share)
{
    const struct job *job = drafting->job;
    const bool gaussian = own->tune.gaussian;
    const double epsilon = (double)job->epsilon_micro * 1e-6 * share;
    return (struct learn_prospect){.gaussian = gaussian,
                                   .d = (double)own->tune.feature_count,
                                   .units =
                                       (double)job->cohort_min * (double)job->records_least / moved,
                                   .sites = job->unit == UNIT_RECORD ? (double)job->cohort_min : 1,
                                   .noises = trust_of(job)->one_noise ? 1 : (double)job->cohort_min,
                                   .epsilon = epsilon,
                                   .rho = gaussian ? learn_rho(epsilon, job->delta_atto) : 0,
                                   .age = drafting->age};
}

/* What the stage may be. */
static enum status check(const struct drafting *drafting, size_t index)
{
    const struct job *job = drafting->job;
    const struct schema *schema = &job->stage[index].schema;
    if (job->unit == UNIT_ROUND) {
        return config_refuse(drafting->config, drafting->why, "privacy.unit",
                             "is round, and a learn stage looks at the same records in every "
                             "round: write unit: agent, which is what that protects");
    }
    if (schema->map.kind != MAP_NONE && schema->map.kind != MAP_PRODUCTS) {
        return stage_refuse(drafting, index, "task",
                            "learns on the columns themselves, and a map replaces them: remove the "
                            "map, or write update");
    }
    if (stage_has(drafting, index, "grid_bits")) {
        return stage_refuse(drafting, index, "grid_bits",
                            "follows from the noise in a learn stage: remove it");
    }
    if (stage_has(drafting, index, "loss") && schema->label.kind != LABEL_NUMBER) {
        return stage_refuse(drafting, index, "loss",
                            "follows from the label in a learn stage of classes: remove it");
    }
    if (stage_has(drafting, index, "loss") && !selftune_serves(&job->stage[index].loss)) {
        return stage_refuse(drafting, index, "loss",
                            "is not served by a learn stage: write squared, huber or pinball "
                            "(absolute is pinball with loss_parameter: 0.5), or write update");
    }
    if (schema_plain_count(schema) - 1 > SELFTUNE_FEATURES_MAX) {
        return stage_refuse(drafting, index, "task",
                            "learns on 256 columns at most, categories counted singly: remove "
                            "some, or write update");
    }
    if (!config_has(drafting->config, "cohort.records")) {
        return stage_refuse(drafting, index, "task",
                            "plans by the fewest records that an agent may have: write "
                            "cohort.records, for example `cohort: {records: 500}`");
    }
    return STATUS_OK;
}

/* Whether a later stage judges experts. */
static bool is_judged(const struct drafting *drafting, size_t index)
{
    for (size_t i = index + 1; i < drafting->draft->stage_count; i++) {
        const enum task task = (enum task)draft_stage(drafting, i)->task;
        if (task_bounds(task)->input == INPUT_EXPERTS) {
            return true;
        }
    }
    return false;
}

/* All records of every agent; for an agent, whose noise is for all of its own, as many as each has. */
static void take_records(const struct job *job, struct stage *stage)
{
    unsigned *bits = &learn_stage(stage)->look_bits;
    *bits = LEARN_LOOK_BITS;
    stage->batch = (uint32_t)job->records_least;
    for (uint64_t n = 1; job->unit != UNIT_RECORD && n < stage->batch; n *= 2) {
        *bits -= *bits > LEARN_LOOK_BITS_LEAST ? 1 : 0;
    }
    if (job->unit == UNIT_RECORD) {
        stage->batch_nano = PORTION_ONE;
        stage->records_most = job->records_most;
        stage->batch = round_batch(stage, job->records_least);
    }
}

static void take_schema(struct learn_stage *own, const struct drafting *drafting, size_t index)
{
    const struct job *job = drafting->job;
    own->groups = 1;
    own->is_number = job->schema.label.kind == LABEL_NUMBER;
    own->tune.feature_count = schema_plain_count(&job->schema) - 1;
    own->tune.output_count = schema_output_count(&job->schema);
    own->tune.gaussian = job->delta_atto > 0 && !stage_has(drafting, index, "share");
}

static void plan_classes(struct learn_stage *own, const struct learn_prospect *prospect)
{
    own->tune.sight = learn_sight(prospect);
    own->tune.quantile = 0.3;
    own->tune.steps = learn_steps(prospect, own);
    own->groups = learn_groups(prospect, own);
    own->groups_second = learn_second(prospect, own);
}

/* Returns whether programs before version 9 plan other rounds. */
static bool plan_number(struct learn_stage *own, const struct learn_prospect *prospect,
                        struct loss loss)
{
    struct learn_stage older = *own;
    const double noise = learn_deviation(prospect, 1, 1, 1);
    learn_plan_number(own, noise, learn_number_noisier(loss), prospect->age);
    learn_plan_number(&older, noise, learn_number_noisier(loss), JOB_OF_8);
    return older.tune.sight != own->tune.sight || older.tune.steps != own->tune.steps;
}

/* Whether a later stage learns, too: it may go on from the model, as an `update` does from one of the map that it has itself. */
static bool is_learned_on(const struct drafting *drafting, size_t index)
{
    for (size_t i = index + 1; i < drafting->draft->stage_count; i++) {
        if (task_reads((enum task)draft_stage(drafting, i)->task, SHARED_MAP)) {
            return true;
        }
    }
    return false;
}

/* Products of columns are tried where the noise of a step, that of steps(), is small: so linear tables lose hardly anything. Only
 * for unit record, where a unit moves one record. Returns NULL if they are tried, else why not. */
static const char *why_unbent(const struct drafting *drafting, size_t index,
                              const struct learn_stage *own, const struct learn_prospect *prospect)
{
    const struct job *job = drafting->job;
    const double d = prospect->d;
    const double numbers = (double)job->records_least * (d + d * (d + 1) / 2);
    return job->unit != UNIT_RECORD         ? "a unit is more than one record"
           : d > SELFTUNE_BENDS_MAX         ? "there are more than 21 columns"
           : numbers > BENDS_NUMBERS        ? "they would take a site too much memory"
           : is_learned_on(drafting, index) ? "a later stage learns on from the model"
           : has_written_models(drafting)   ? "a query judges models whose weights the job has"
           : own->tune.sight != SIGHT_PRODUCTS || own->tune.steps < BENDS_STEPS ||
                   learn_deviation(prospect, 2, 2, 1) * learn_step_length(own) > BENDS_NOISE
               ? "noise is too large for them"
               : NULL;
}

/* Products of columns are part of the model, so of the schema's map, and that is laid out before stages are built. */
static enum map_kind map(const struct drafting *drafting, size_t index)
{
    struct learn_stage own = {.judged = false};
    take_schema(&own, drafting, index);
    if (own.is_number || own.tune.feature_count < 1) {
        return MAP_NONE;
    }
    const double share = (double)stage_share_nano(drafting, index) / SHARE_ONE;
    const struct learn_prospect prospect = prospect_of(drafting, &own, 1, share);
    plan_classes(&own, &prospect);
    return why_unbent(drafting, index, &own, &prospect) == NULL ? MAP_PRODUCTS : MAP_NONE;
}

static enum status build(const struct drafting *drafting, size_t index)
{
    struct job *job = drafting->job;
    struct stage *stage = &job->stage[index];
    struct learn_stage *own = stage->own;
    const enum status status = check(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    own->judged = is_judged(drafting, index);
    take_schema(own, drafting, index);
    if (!stage_has(drafting, index, "loss")) {
        stage->loss = (struct loss){.kind = own->is_number ? LOSS_SQUARED : LOSS_LOGISTIC};
    }
    stage->grid_bits = LEARN_STEP_BITS;
    take_records(job, stage);
    const double share = (double)stage_share_nano(drafting, index) / SHARE_ONE;
    const struct learn_prospect prospect = prospect_of(drafting, own, moved(job, stage), share);
    if (own->is_number) {
        stage->differs_older = plan_number(own, &prospect, stage->loss);
    } else {
        plan_classes(own, &prospect);
        stage->differs_older = learn_takes_three(&prospect, own) || own->groups > 1;
        own->weights = learn_weigh(&prospect, own);
        own->tune.bends = stage->schema.map.kind == MAP_PRODUCTS;
        own->unbent = own->tune.bends ? NULL : why_unbent(drafting, index, own, &prospect);
    }
    if (own->judged && job_age_version(drafting->age) >= 8) {
        own->iterate = learn_iterate_of(own);
    }
    stage->differs_older = stage->differs_older || own->iterate != ITERATE_NONE;
    stage->turns = own->groups_second > 0 ? ROUND_TURNS : 0;
    stage->rounds = own->tune.steps + stage->turns;
    stage->rounds += stage->turns == 0 && own->tune.sight != SIGHT_NONE ? 1 : 0;
    if (own->tune.gaussian) {
        stage->epsilon_micro = 0;
        return stage_take_gaussian(drafting, index);
    }
    stage->charge.epsilon_micro = stage->epsilon_micro / reach_passes(job, stage, stage->rounds);
    return STATUS_OK;
}

const struct task_text task_text_learn = {
    .strategies = 1u << STRATEGY_AVERAGE,
    .units = 1u << UNIT_RECORD | 1u << UNIT_ROUND | 1u << UNIT_AGENT, /* a round: to refuse it */
    .reads = SHARED_LOSS | SHARED_MAP, /* a map: to refuse it, and for a block of its own */
    .takes_rest = true,
    .records_most_default = RECORDS_MOST,
    .sums_remedy = "lower cohort.records and cohort.records_most, or raise privacy.epsilon",
    .stage_bytes = sizeof(struct learn_stage),
    .map = map,
    .build = build};
