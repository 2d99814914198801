/* `losses`: the experts judged on fresh records, round by round. Under local trust the noisy sums
 * feed the RWM; under central trust the coordinator plays on exact ones, and the draws are what is
 * paid for (plays.c). */

#include "config/keys.h"
#include "job/reach.h"
#include "job/trust.h"
#include "task/losses/stage.h"
#include "task/task.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MOST = 100000, BATCH_MOST = 1000000000 }; /* as the keys' ranges: job/draft.c */

struct draft_forecaster {
    char name[JOB_NAME_BYTES];
    char (*feature)[SCHEMA_NAME_BYTES];
    size_t feature_count;
    double *weight;
    size_t weight_count;
};

struct draft_losses {
    unsigned horizon;
    uint64_t first;
    struct draft_forecaster *forecaster;
    size_t forecaster_count;
};

static const char *horizon_choice(unsigned index)
{
    static const char *const name[] = {"known", "doubling", NULL};
    return name[index];
}

/* clang-format off */
#define KEY_OF struct draft_forecaster
static const struct config_key forecaster_keys[] = {
    KEY_TEXT("name", name, REQUIRED("as last week")),
    KEY_TEXTS("features", feature, feature_count, SCHEMA_LAGS_MAX, .required = true, OPTIONAL("[lag_7]")),
    KEY_NUMBERS("weights", weight, weight_count, SCHEMA_LAGS_MAX, -1000, 1000, OPTIONAL("[1]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_losses
static const struct config_key keys[] = {
    KEY_WHOLE("first", first, 0, 1000000000, DEFAULT("0", "1400")),
    KEY_TABLES("forecasters", forecaster, forecaster_count, JOB_FORECASTERS_MAX, forecaster_keys,
               OPTIONAL("[{name: as last week, features: [lag_7]}]")),
    KEY_CHOICE("horizon", horizon, horizon_choice, DEFAULT("known", "doubling")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

/* Experts that a job writes down: mixtures of features, in the label's scale. A model is <w, x> with
 * x = feature * scale in the block of plain features, so that weights of 1/scale give back the feature itself. */
static enum status refuse_forecasters(const struct drafting *drafting, size_t index,
                                      const char *remedy)
{
    return stage_refuse(drafting, index, "forecasters", remedy);
}

static enum status fill_forecaster(double *weight, const struct drafting *drafting, size_t index,
                                   const struct draft_forecaster *from)
{
    const struct schema *schema = &drafting->job->schema;
    const double scale = schema_scale(schema_plain_count(schema));
    const double share = 1 / (double)from->feature_count;
    if (from->weight_count > 0 && from->weight_count != from->feature_count) {
        return refuse_forecasters(drafting, index,
                                  "holds one with other than a weight for each feature: write "
                                  "as many, or none for the features' mean");
    }
    for (size_t i = 0; i < from->feature_count; i++) {
        const int feature = schema_find_feature(schema, from->feature[i]);
        if (feature < 0) {
            return refuse_forecasters(drafting, index,
                                      "names something that is no feature by itself: write a "
                                      "number's column or a lag, for example lag_7");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(from->feature[i], from->feature[j]) == 0) {
                return refuse_forecasters(drafting, index,
                                          "names one feature twice: add the weights up");
            }
        }
        weight[feature] += (from->weight_count > 0 ? from->weight[i] : share) / scale;
    }
    return STATUS_OK;
}

static enum status set_forecasters(const struct drafting *drafting, size_t index)
{
    const struct draft_losses *draft = draft_own(drafting, index);
    struct stage *stage = &drafting->job->stage[index];
    struct losses_stage *losses = losses_stage(stage);
    const size_t width = round_width(drafting->job);
    enum status status = STATUS_OK;

    if (draft->forecaster_count == 0) {
        return STATUS_OK;
    }
    if (schema_output_count(&drafting->job->schema) > 1) {
        return refuse_forecasters(drafting, index,
                                  "give one number, and the label has several classes: remove "
                                  "them");
    }
    losses->forecaster = calloc(draft->forecaster_count, sizeof *losses->forecaster);
    losses->forecaster_weights =
        calloc(draft->forecaster_count * width, sizeof *losses->forecaster_weights);
    if (losses->forecaster == NULL || losses->forecaster_weights == NULL) {
        return STATUS_NO_MEMORY;
    }
    losses->forecaster_count = draft->forecaster_count;
    for (size_t i = 0; i < draft->forecaster_count && status == STATUS_OK; i++) {
        memcpy(losses->forecaster[i], draft->forecaster[i].name, JOB_NAME_BYTES);
        for (size_t j = 0; j < i && status == STATUS_OK; j++) {
            if (strcmp(losses->forecaster[i], losses->forecaster[j]) == 0) {
                status =
                    refuse_forecasters(drafting, index, "holds one name twice: give each its own");
            }
        }
        if (status == STATUS_OK) {
            status = fill_forecaster(losses->forecaster_weights + i * width, drafting, index,
                                     &draft->forecaster[i]);
        }
    }
    return status;
}

/* Makes room for the games: there is something to choose, and eta is not free. */
static enum status prepare_games(const struct drafting *drafting, size_t index)
{
    struct stage *stage = &drafting->job->stage[index];
    struct losses_stage *own = losses_stage(stage);
    if (job_experts_at(drafting->job, index, 1) < 2) {
        return stage_refuse(drafting, index, "task",
                            "has one expert, and nothing to choose: add lambdas or shifts");
    }
    if (own->doubling && stage->strategy == STRATEGY_EPOCHS) {
        return stage_refuse(drafting, index, "horizon",
                            "is for strategies whose eta follows from the number of rounds; epochs "
                            "picks anew when they have doubled, and never knows it: remove it");
    }
    own->plays.game_count = own->doubling ? hedge_segment_count(stage->rounds) : 1;
    own->plays.game = calloc(own->plays.game_count, sizeof *own->plays.game);
    return own->plays.game == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Whole batches that a pass over that many records has, as many as a stage may have rounds. */
static uint32_t batches_in(uint64_t records, uint64_t batch)
{
    return (uint32_t)(records / batch < ROUNDS_MOST ? records / batch : ROUNDS_MOST);
}

/* A batch that the job does not write: all records in these rounds. A share reaches also those that only some agents
 * have; where a share cannot be, it is a number that every agent has. */
static enum status choose_batch(struct config_portion *batch, const struct drafting *drafting,
                                size_t index, uint64_t records)
{
    const struct job *job = drafting->job;
    const struct stage *stage = &job->stage[index];
    if (job->unit == UNIT_ROUND) {
        return stage_refuse(drafting, index, "batch",
                            "is missing, and under unit round it says how many records are "
                            "protected together: add it, for example `batch: 100`");
    }
    if (stage->rounds == 0 || records < stage->rounds) {
        return stage_refuse(
            drafting, index, "rounds",
            "leaves a round without records: cohort.records, less what `first` "
            "passes over, is fewer. Lower rounds, or write a larger cohort.records");
    }
    const uint32_t share = PORTION_ONE / stage->rounds;
    const uint64_t count = records / stage->rounds;
    const bool is_share = job->unit == UNIT_RECORD && job->records_most > 0 && stage->first == 0 &&
                          records >= (PORTION_ONE + share - 1) / share; /* a record in each */
    *batch =
        is_share
            ? (struct config_portion){.share_nano = share}
            : (struct config_portion){.count = (uint32_t)(count < BATCH_MOST ? count : BATCH_MOST)};
    return STATUS_OK;
}

/* Rounds and batch, from public numbers alone where the job leaves them out.
 *
 * The choice has the least noise. Let a stage look at n records in T rounds. A pass is charged once, so every round's
 * noise is that of the whole share, and the noise of all losses together grows as sqrt(T): one round. Under central
 * trust one round leaves all of the share to the last pick. With a batch that is given, T rounds look at T batches, and
 * the noise on the mean loss falls as 1/sqrt(T): as many rounds as surely have records. Under unit agent and local trust
 * every round is charged: one round. */
static enum status take_rounds(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = draft_stage(drafting, index);
    const struct job *job = drafting->job;
    struct stage *stage = &drafting->job->stage[index];
    struct config_portion batch = draft->batch;
    const bool has_rounds = stage_has(drafting, index, "rounds");
    const bool has_batch = stage_has(drafting, index, "batch");
    const uint64_t records =
        job->records_least > stage->first ? job->records_least - stage->first : 0;
    const bool each_paid = job->unit == UNIT_AGENT && !trust_of(job)->exact_answers;

    stage->rounds = has_rounds ? draft->rounds : 1;
    if ((!has_rounds || !has_batch) && !config_has(drafting->config, "cohort.records")) {
        return stage_refuse(drafting, index, has_rounds ? "batch" : "rounds",
                            "is missing, and follows from the fewest records that an agent may "
                            "have: write cohort.records, for example `cohort: {records: 500}`, or "
                            "write rounds and batch");
    }
    if (!has_batch) {
        const enum status status = choose_batch(&batch, drafting, index, records);
        if (status != STATUS_OK) {
            return status;
        }
    } else if (!has_rounds && !each_paid) {
        stage->rounds = batch.share_nano > 0 ? batches_in(PORTION_ONE, batch.share_nano)
                                             : batches_in(records, batch.count);
        if (stage->rounds == 0) {
            return stage_refuse(drafting, index, "batch",
                                "is more than cohort.records, less what `first` passes over: lower "
                                "batch, or write a larger cohort.records");
        }
    }
    stage->batches = stage->rounds; /* every round looks at other records: one pass, paid once */
    return stage_take_portion(drafting, index, batch);
}

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_losses *own = draft_own(drafting, index);
    struct job *job = drafting->job;
    const bool exact = trust_of(job)->exact_answers;
    struct stage *stage = &job->stage[index];

    enum status status = set_forecasters(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    if (job_experts_at(job, index, 1) == 0) {
        return stage_refuse(drafting, index, "task",
                            "has no experts to judge: put a fit stage before this one, or write "
                            "forecasters into it");
    }
    if (!exact && stage->strategy != STRATEGY_RWM) {
        return stage_refuse(drafting, index, "strategy",
                            "draws from exact losses, which needs trust central: write rwm, whose "
                            "eta is free on noisy ones");
    }
    if (exact && schema_is_series(&job->schema)) {
        return stage_refuse(drafting, index, "task",
                            "of a series needs trust local: one day is in several records, and the "
                            "coins of a play are priced for one");
    }
    stage->first = own->first;
    status = take_rounds(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    stage->charge.epsilon_micro = stage->epsilon_micro / reach_passes(job, stage, stage->rounds);
    losses_stage(stage)->doubling = own->horizon != 0;
    /* Games are planned when all stages are known: stage_set_draws. */
    return exact ? prepare_games(drafting, index) : STATUS_OK;
}

static void free_stage(void *own)
{
    struct losses_stage *stage = own;
    free(stage->forecaster);
    free(stage->forecaster_weights);
    free(stage->plays.game);
}

static enum strategy strategy_where(enum strategy strategy, bool exact_answers)
{
    return exact_answers ? strategy : STRATEGY_RWM;
}

const struct task_text task_text_losses = {
    .strategies = 1u << STRATEGY_RWM | 1u << STRATEGY_THEOREM | 1u << STRATEGY_DARTBOARD |
                  1u << STRATEGY_EPOCHS,
    .units = 1u << UNIT_RECORD | 1u << UNIT_ROUND | 1u << UNIT_AGENT,
    .reads = SHARED_LOSS | SHARED_ROUNDS | SHARED_BATCH,
    .needs = SHARED_LOSS,
    .own = keys,
    .own_bytes = sizeof(struct draft_losses),
    .strategy_where = strategy_where,
    .stage_bytes = sizeof(struct losses_stage),
    .free_stage = free_stage,
    .build = build};
