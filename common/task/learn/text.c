/* `learn`: a linear model of classes or of a number from the schema and epsilon alone. What it does is planned here, from the job's
 * text: whether it looks at the moments first, and how many steps follow. All rounds are charged alike.
 *
 * The plan is in arithmetic that is rounded alike on every machine (no logarithm): an agent and the coordinator read
 * the same plan from the same text. */

#include "job/reach.h"
#include "job/trust.h"
#include "task/learn/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

/* Every constant below that follows from no bound was chosen on tables. Points are what the rehearsal's made-up tables lose more
 * with the other choice, as in tests/unit/common/task/test_learn_plan. What has no such test says so; all figures are in
 * docs/study-hospitals.md.
 *
 * Under rho the noise of all steps together hardly grows with their number: three steps in place of eight after products lose
 * 0.2 points, and one in place of four after 57 columns' sums 16. */
enum {
    STEPS_MAX_PRODUCTS = 8,
    STEPS_GAUSSIAN = 4,
    STEPS_GAUSSIAN_MANY = 8,
    STEPS_MAX = 16,
    BENDS_STEPS =
        4, /* the first of a linear model, one that tries products, and some with those that stay */
    SCORES_MOST = 16, /* models of a query stage: its MODELS_MAX */
    RECORDS_MOST = 1000000
};

/* Shares of a look's noise: what each part of it gets of epsilon, or of rho. */
static const double share_counts = 0.05;
static const double share_kept = 0.05;
static const double share_sums = 0.2;        /* beside products */
static const double share_class_sums = 0.35; /* of several classes, beside products */

/* Beside sums alone: where shares of classes have more noise than this, counts get more of it, up to that. */
#define COUNTS_NOISE 0.3
static const double share_counts_most = 0.2;

/* Noise on all columns' means together, at most, where a look at squares is worth its price. No made-up table tells squares from
 * sums near that bound; real ones with columns of noise are worse off with squares. */
#define MEANS_NOISE          0.2
#define MEANS_NOISE_GAUSSIAN 0.3

/* Noise of a step, at most, where steps are worth it after sums. Of two classes it is multiplied by the root of the columns: a step
 * has noise on each of them, and the sums' model on those that matter. With 8 columns and 615 records no step loses 4.6 points, and
 * with 57 columns and 3,680 records a step loses 1.7. In between made-up tables and real ones disagree, and the real ones were
 * followed. Of several classes, after squares, four steps in place of none lose up to 20 points above the
 * bound, and four in place of two up to 10 below it. No test: the bounds of several
 * classes, and the Gaussian one. */
#define STEP_OF_TWO      8.0
#define STEP_OF_MANY     0.9
#define STEP_OF_GAUSSIAN 3.5

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
#define BENDS_NOISE   0.1
#define BENDS_NUMBERS 0x1p25

/* What the plan goes by. Deviations are those of a mean over all records, of which a unit moves its own. */
struct prospect {
    bool gaussian;
    double d;
    double units;  /* records over how many of them one unit moves: so many units at least */
    double noises; /* agents that add noise of their own */
    double epsilon;
    double rho;
};

/* At most what (epsilon, delta) leaves as zCDP: the root of epsilon = rho + 2 sqrt(rho ln(1/delta)), with a power of two
 * above 1/delta. */
static double rho_of(double epsilon, uint64_t delta_atto)
{
    double bits = 0;
    for (uint64_t delta = delta_atto; delta < DELTA_ATTO_ONE; delta *= 2) {
        bits++;
    }
    const double log_delta = bits * 0.6931471805599453;
    const double root =
        epsilon / (sqrt(log_delta + epsilon) + sqrt(log_delta)); /* a difference is 0 */
    return root * root;
}

/* l1, l2: how far one record moves the sum. */
static double deviation(const struct prospect *prospect, double l1, double l2, double share)
{
    const double noise = prospect->gaussian ? l2 / sqrt(2 * prospect->rho * share)
                                            : sqrt(2) * l1 / (prospect->epsilon * share);
    return sqrt(prospect->noises) * noise / prospect->units;
}

/* A look at products is worth its price where the noise on their matrix, by its spectral norm, is small beside columns'
 * variances. With 7 columns and 6,300 records squares lose 1.7 points at epsilon 4, and at 0.3 products lose 0.9. One at squares where the noise on means is small beside columns' deviations. Else records are clipped. */
static enum selftune_sight sight(const struct prospect *prospect)
{
    const double d = prospect->d;
    const double noise =
        2 * sqrt(d) * deviation(prospect, (d * d + d) / 2, sqrt(d * d + d / 2), 1.0 / 3);
    if (noise <= (prospect->gaussian ? 1 : 0.4)) {
        return SIGHT_PRODUCTS;
    }
    const double means = sqrt(d) * deviation(prospect, 2 * d, 2 * sqrt(d), 0.5);
    return means <= (prospect->gaussian ? MEANS_NOISE_GAUSSIAN : MEANS_NOISE) ? SIGHT_SQUARES
                                                                              : SIGHT_SUMS;
}

/* Steps correct what the first model got wrong, and each of them brings its noise. `noise` is that of a step that has all of
 * epsilon, in a model's units. The classes' sums are a model already: where noise is large there are no steps after them. After
 * products one step in place of three loses 1.2 points, and eight in place of two 0.8. */
static uint32_t steps(const struct prospect *prospect, const struct learn_stage *own)
{
    const double noise = deviation(prospect, 2, 2, 1) * learn_step_length(own);
    const bool two = own->tune.output_count == 1;
    double wanted = 0;
    if (own->tune.sight == SIGHT_PRODUCTS) {
        wanted =
            prospect->gaussian ? STEPS_GAUSSIAN + 0.02 / (noise * noise) : 1 + sqrt(0.1 / noise);
        return (uint32_t)fmin(wanted, STEPS_MAX_PRODUCTS);
    }
    if (prospect->gaussian) {
        wanted = noise > STEP_OF_GAUSSIAN ? 0 : two ? STEPS_GAUSSIAN : STEPS_GAUSSIAN_MANY;
    } else if (two) {
        const bool none = own->tune.sight == SIGHT_SUMS && noise * sqrt(prospect->d) > STEP_OF_TWO;
        wanted = none ? 0 : 1 + sqrt(0.4 / noise);
    } else if (noise <= STEP_OF_MANY) {
        wanted = own->tune.sight == SIGHT_SQUARES ? 1 + sqrt(1 / noise) : 2;
    }
    return (uint32_t)fmin(wanted, STEPS_MAX);
}

/* Weights of a look's parts, so that a replaced record moves it by 1: bounds.c. */
static struct learn_weights weigh_sums(const struct prospect *prospect,
                                       const struct learn_stage *own)
{
    const double reach = learn_reach(own) * (1 + 0x1p-40);
    if (own->tune.gaussian) {
        const double sum = (1 - share_kept) / 4;
        return (struct learn_weights){.count = sqrt((1 - 2 * sum - 2 * share_kept) / 2),
                                      .kept = sqrt(share_kept),
                                      .sum = sqrt(sum) / reach};
    }
    const double look = 1 / (1 + (double)own->tune.steps);
    const double noise = deviation(prospect, 2, 2, share_counts * look);
    const double count = fmin(fmax(1, noise / COUNTS_NOISE) * share_counts, share_counts_most);
    return (struct learn_weights){
        .count = count / 2, .kept = share_kept / 2, .sum = (1 - count - share_kept) / (2 * reach)};
}

static struct learn_weights weigh_squares(const struct learn_stage *own, double d)
{
    if (own->tune.gaussian) {
        const double sum = sqrt(1 / (4 * d));
        return (struct learn_weights){
            .count = sqrt(0.125), .sum = sum, .product = sum * sqrt(2) * (1 - 0x1p-40)};
    }
    const double sum = (1 - share_counts) / (2 * d);
    return (struct learn_weights){.count = share_counts / 2, .sum = sum, .product = sum / 2};
}

/* Sums and products move together, by `cross` more than one by one. Of several classes each has its sums, which cost twice as much
 * whatever the products do. */
static struct learn_weights weigh_products(const struct learn_stage *own, double d)
{
    const bool two = own->tune.output_count == 1;
    const double sums = two ? share_sums : share_class_sums;
    const double product = 1 - share_counts - sums;
    const double cross = sums * sums / (4 * product);
    if (own->tune.gaussian) {
        const double together = 1 + cross * (1 + 1 / (2 * d));
        const double whole = two ? together : fmax(1, together - share_counts);
        return (struct learn_weights){.count = sqrt(share_counts / 2 / whole),
                                      .sum = sqrt(sums / (2 * d) / whole),
                                      .product = sqrt(product / (d * d + d / 2) / whole)};
    }
    const double whole = two ? 1 + cross : 1;
    return (struct learn_weights){.count = share_counts / 2 / whole,
                                  .sum = sums / (two ? d : 2 * d) / whole,
                                  .product = product / ((d * d + d) / 2) / whole};
}

static struct learn_weights weigh(const struct prospect *prospect, const struct learn_stage *own)
{
    const double d = prospect->d;
    return own->tune.sight == SIGHT_PRODUCTS  ? weigh_products(own, d)
           : own->tune.sight == SIGHT_SQUARES ? weigh_squares(own, d)
                                              : weigh_sums(prospect, own);
}

/* Records of one round that a unit is in: a day of a series is in that of every lag, an agent in all of its own. */
static double moved(const struct job *job, const struct stage *stage)
{
    return (double)(job->unit == UNIT_RECORD ? reach_of(job, stage).records : stage->batch);
}

static struct prospect prospect_of(const struct job *job, const struct learn_stage *own,
                                   double moved, double share)
{
    const bool gaussian = own->tune.gaussian;
    const double epsilon = (double)job->epsilon_micro * 1e-6 * share;
    return (struct prospect){.gaussian = gaussian,
                             .d = (double)own->tune.feature_count,
                             .units = (double)job->cohort_min * (double)job->records_least / moved,
                             .noises = trust_of(job)->one_noise ? 1 : (double)job->cohort_min,
                             .epsilon = epsilon,
                             .rho = gaussian ? rho_of(epsilon, job->delta_atto) : 0};
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
    own->is_number = job->schema.label.kind == LABEL_NUMBER;
    own->tune.feature_count = schema_plain_count(&job->schema) - 1;
    own->tune.output_count = schema_output_count(&job->schema);
    own->tune.gaussian = job->delta_atto > 0 && !stage_has(drafting, index, "share");
}

static void plan_classes(struct learn_stage *own, const struct prospect *prospect)
{
    own->tune.sight = sight(prospect);
    own->tune.quantile = 0.3;
    own->tune.steps = steps(prospect, own);
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

/* Products of columns are tried where the noise of a step, that of steps(), is small: so linear tables lose next to nothing. Only
 * for unit record, where a unit moves one record. Returns NULL if they are tried, else why not. */
static const char *why_unbent(const struct drafting *drafting, size_t index,
                              const struct learn_stage *own, const struct prospect *prospect)
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
                   deviation(prospect, 2, 2, 1) * learn_step_length(own) > BENDS_NOISE
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
    const struct prospect prospect = prospect_of(drafting->job, &own, 1, share);
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
    const struct prospect prospect = prospect_of(job, own, moved(job, stage), share);
    if (own->is_number) {
        learn_plan_number(own, deviation(&prospect, 1, 1, 1), learn_number_noisier(stage->loss));
    } else {
        plan_classes(own, &prospect);
        own->weights = weigh(&prospect, own);
        own->tune.bends = stage->schema.map.kind == MAP_PRODUCTS;
        own->unbent = own->tune.bends ? NULL : why_unbent(drafting, index, own, &prospect);
    }
    stage->rounds = own->tune.steps + (own->tune.sight != SIGHT_NONE ? 1 : 0);
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
