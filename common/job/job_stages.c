/* The stages of a draft against each other and against the whole price. What one task has that the
 * others have not is in its folder
 * of common/task. */

#include "dp/schedule.h"
#include "job/reach.h"
#include "task/task.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_TOTAL_MAX = 1000000 }; /* the protocol's ROUNDS_MAX */

#define BIT(value) (1u << (unsigned)(value))
#define LOOKING                                                                                    \
    (BIT(TASK_LOSSES) | BIT(TASK_QUERY) | BIT(TASK_SELECT) | BIT(TASK_UPDATE) |                    \
     BIT(TASK_STATISTICS))
#define JUDGED   (BIT(TASK_FIT) | BIT(TASK_LOSSES) | BIT(TASK_UPDATE) | BIT(TASK_PREDICT))
#define FITTING  (BIT(TASK_FIT) | BIT(TASK_PREDICT))
#define SOLVING  (FITTING | BIT(TASK_STATISTICS))
#define LEARNING (SOLVING | BIT(TASK_UPDATE))
#define MAPPED   (SOLVING | BIT(TASK_ONLINE) | BIT(TASK_UPDATE))

/* A key that a task does not read would be a wish that nobody hears: it is refused. */
static enum status check_keys(const struct drafting *drafting, size_t index)
{
    static const struct {
        const char *key;
        unsigned tasks;    /* that read it */
        unsigned required; /* that cannot do without */
        const char *foreign;
        const char *absent;
    } rule[] = {
        {"loss", JUDGED | BIT(TASK_SELECT), JUDGED,
         "is for tasks that learn or judge by one: remove it",
         "is missing: add it, for example `loss: logistic`"},
        {"lambdas", SOLVING, SOLVING, "is for a fit, statistics or predict stage: remove it",
         "is missing: add it, for example `lambdas: [0.003]`"},
        {"tolerance", FITTING, 0, "is for a fit or predict stage: remove it", ""},
        {"experts", LEARNING, 0, "is for a fit, predict, statistics or update stage: remove it",
         ""},
        {"kernel", BIT(TASK_PREDICT), BIT(TASK_PREDICT), "is for a predict stage: remove it",
         "is missing: add it, for example `kernel: {kind: gaussian, gamma: 1}`"},
        {"points", BIT(TASK_PREDICT), BIT(TASK_PREDICT), "is for a predict stage: remove it",
         "is missing: add PUBLIC records, for example `points: [[70, F], [50, M]]`"},
        {"rounds", BIT(TASK_LOSSES) | BIT(TASK_ONLINE) | BIT(TASK_UPDATE),
         BIT(TASK_LOSSES) | BIT(TASK_ONLINE) | BIT(TASK_UPDATE),
         "is for a losses, online or update stage (others have as many as they need): remove it",
         "is missing: add it, for example `rounds: 12`"},
        {"batch", LOOKING, LOOKING, "is for tasks that look at so many records: remove it",
         "is missing: add it, for example `batch: 100`"},
        {"queries", BIT(TASK_QUERY), 0, "is for a query stage: remove it", ""},
        {"conjunction", BIT(TASK_QUERY), 0, "is for a query stage: remove it", ""},
        {"candidates", BIT(TASK_SELECT), 0, "is for a select stage: remove it", ""},
        {"first", BIT(TASK_LOSSES), 0, "is for a losses stage: remove it", ""},
        {"forecasters", BIT(TASK_LOSSES), 0, "is for a losses stage: remove it", ""},
        {"t0", BIT(TASK_ONLINE), BIT(TASK_ONLINE), "is for an online stage: remove it",
         "is missing: add it, for example `t0: 200`, after how many records the first release is"},
        {"theta", BIT(TASK_ONLINE), 0, "is for an online stage: remove it", ""},
        {"map", MAPPED, 0, "is for a stage that learns: remove it", ""},
        {"noise", BIT(TASK_UPDATE) | BIT(TASK_STATISTICS), 0,
         "is for an update or statistics stage: remove it", ""},
        {"clip", BIT(TASK_UPDATE), BIT(TASK_UPDATE), "is for an update stage: remove it",
         "is missing: add it, for example `clip: 1`"},
        {"sampling", BIT(TASK_UPDATE), 0, "is for an update stage: remove it", ""},
        {"horizon", BIT(TASK_LOSSES), 0, "is for a losses stage: remove it", ""},
        {"clip_all", BIT(TASK_UPDATE), 0, "is for an update stage: remove it", ""},
        {"batches", BIT(TASK_UPDATE), 0, "is for an update stage: remove it", ""},
        {"rate", BIT(TASK_UPDATE), BIT(TASK_UPDATE), "is for an update stage: remove it",
         "is missing: add it, for example `rate: 16`"},
        {"decay", BIT(TASK_UPDATE), 0, "is for an update stage: remove it", ""},
        {"momentum", BIT(TASK_UPDATE), 0, "is for an update stage: remove it", ""},
        {"radius", BIT(TASK_UPDATE), 0, "is for an update stage: remove it", ""},
        {"iterates", BIT(TASK_UPDATE), 0, "is for an update stage: remove it", ""},
    };
    const unsigned task = BIT(drafting->draft->stage[index].task);
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        bool there = stage_has(drafting, index, rule[i].key);
        if (there && (rule[i].tasks & task) == 0) {
            return stage_refuse(drafting, index, rule[i].key, rule[i].foreign);
        }
        if (!there && (rule[i].required & task) != 0) {
            return stage_refuse(drafting, index, rule[i].key, rule[i].absent);
        }
    }
    return STATUS_OK;
}

static enum status check_loss(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    const struct loss loss = {(enum loss_kind)draft->loss, draft->loss_parameter};
    struct why why = {{0}};
    const bool idle =
        !loss_has_parameter(loss.kind) && stage_has(drafting, index, "loss_parameter");
    if (idle || loss_check(loss, &why) != STATUS_OK) {
        return stage_refuse(drafting, index, "loss_parameter",
                            idle ? "is not read by this loss: remove it" : why.text);
    }
    if (!stage_has(drafting, index, "loss") || loss.kind == LOSS_LINEAR) {
        return STATUS_OK; /* linear reads no label */
    }
    const bool number = drafting->job->schema.label.kind == LABEL_NUMBER;
    if (number ? loss_is_classification(loss)
               : loss_is_regression(loss) && loss.kind != LOSS_SQUARED) {
        return stage_refuse(drafting, index, "loss",
                            number ? "is for classes, and the label is a number: write squared, "
                                     "huber, absolute, insensitive or pinball"
                                   : "is for numbers, and the label is a class: write logistic, "
                                     "hinge or zero_one");
    }
    return STATUS_OK;
}

/* The task's strategies: the one that is named must be among them. */
static enum status choose_strategy(const struct drafting *drafting, size_t index)
{
    struct stage *stage = &drafting->job->stage[index];
    const unsigned offered = task_text(stage->task)->strategies;
    stage->strategy = (enum strategy)drafting->draft->stage[index].strategy;
    if (!stage_has(drafting, index, "strategy")) {
        unsigned first = 0;
        while ((offered & BIT(first)) == 0) {
            first++;
        }
        stage->strategy = (enum strategy)first;
    }
    if ((offered & BIT(stage->strategy)) == 0) {
        return stage_refuse(
            drafting, index, "strategy",
            "does not go with the task: fit, online, predict and statistics take average, losses takes rwm (under trust central also "
            "theorem, dartboard, epochs), query takes "
            "answer, select takes noisy_min, exponential or permute_and_flip, "
            "update takes average, momentum or adam");
    }
    return STATUS_OK;
}

static enum status build_stage(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    const struct task_text *kind = task_text((enum task)draft->task);

    stage->task = (enum task)draft->task;
    stage->grid_bits = draft->grid_bits;
    stage->loss = (struct loss){(enum loss_kind)draft->loss, draft->loss_parameter};
    /* At most 10^9 * 10^9: it fits. */
    stage->epsilon_micro = drafting->job->epsilon_micro * draft->share_nano / SHARE_ONE;
    stage->batches = 1;
    if ((kind->trusts & BIT(drafting->job->trust)) == 0) {
        return stage_refuse(drafting, index, "task",
                            "cannot be done under privacy.trust: see docs/PRIVACY.md");
    }
    if ((kind->units & BIT(drafting->job->unit)) == 0) {
        return stage_refuse(drafting, index, "task",
                            "answers about single records, and privacy.unit is more: write unit: "
                            "record, or another task");
    }
    enum status status = check_keys(drafting, index);
    if (status == STATUS_OK) {
        status = check_loss(drafting, index);
    }
    if (status == STATUS_OK) {
        status = choose_strategy(drafting, index);
    }
    if (status == STATUS_OK) {
        status = kind->build(drafting, index);
    }
    const bool gaussian = draft->noise == JOB_NOISE_GAUSSIAN;
    if (status == STATUS_OK && gaussian && stage_has(drafting, index, "share")) {
        return stage_refuse(drafting, index, "share",
                            "is not read with gaussian noise, which takes what the other stages "
                            "leave of epsilon and delta: remove it");
    }
    if (status == STATUS_OK && !gaussian && !stage_has(drafting, index, "share")) {
        return stage_refuse(drafting, index, "share",
                            "is missing: add it, for example `share: 0.5`");
    }
    if (status == STATUS_OK && stage->charge.mechanism != MECHANISM_DISCRETE_GAUSSIAN &&
        stage->charge.epsilon_micro == 0) {
        return stage_refuse(drafting, index, "share", STAGE_SHARE_TOO_SMALL);
    }
    return status;
}

/* Draws under central trust may be charged as a Gaussian, too, whose sigma stands. */
static bool waits_for_sigma(const struct stage *stage)
{
    return stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN && stage->charge.sigma_micro == 0;
}

enum status stage_set_sigma(const struct drafting *drafting)
{
    struct job *job = drafting->job;
    struct charge fixed[JOB_STAGES_MAX];
    struct schedule schedule = {.limit = {job->epsilon_micro, job->delta_atto}, .fixed = fixed};
    struct stage *found = NULL;
    struct why why = {{0}};

    for (size_t i = 0; i < job->stage_count; i++) {
        struct stage *stage = &job->stage[i];
        if (!waits_for_sigma(stage)) {
            struct charge *charge = &fixed[schedule.fixed_count++];
            *charge = stage->charge;
            charge->count = charge_count(charge) * reach_passes(job, stage, stage->rounds);
            charge->pass = (struct digest){{1}};
            charge->row_count = 1;
            continue;
        }
        if (found != NULL) {
            return stage_refuse(drafting, i, "noise",
                                "is gaussian in a second stage, and one takes all that is left: "
                                "write laplace here or there");
        }
        found = stage;
    }
    if (found == NULL) {
        return STATUS_OK;
    }
    schedule.count = reach_passes(job, found, found->rounds);
    schedule.sampling_nano = charge_sampling_nano(&found->charge);
    if (schedule_sigma(&found->charge.sigma_micro, &schedule, &why) != STATUS_OK) {
        return stage_refuse(drafting, (size_t)(found - job->stage), "noise", why.text);
    }
    return STATUS_OK;
}

enum status job_stages_build(const struct drafting *drafting)
{
    const struct draft *draft = drafting->draft;
    uint64_t share_nano = 0;
    uint64_t rounds = 0;
    drafting->job->stage = calloc(draft->stage_count, sizeof *drafting->job->stage);
    if (drafting->job->stage == NULL) {
        return STATUS_NO_MEMORY;
    }
    drafting->job->stage_count = draft->stage_count;
    enum status status = job_maps_build(drafting);
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < draft->stage_count; i++) {
        share_nano += draft->stage[i].share_nano;
        if (share_nano > SHARE_ONE) {
            return stage_refuse(drafting, i, "share",
                                "makes the shares' sum more than 1: lower them, or raise "
                                "privacy.epsilon");
        }
        status = build_stage(drafting, i);
        if (status != STATUS_OK) {
            return status;
        }
        rounds += drafting->job->stage[i].rounds;
        drafting->job->schema.keeps_raw = drafting->job->schema.keeps_raw ||
                                          draft->stage[i].task == TASK_QUERY ||
                                          draft->stage[i].task == TASK_SELECT;
        if (rounds > ROUNDS_TOTAL_MAX) {
            return stage_refuse(drafting, i, "rounds",
                                "makes more than 1000000 rounds in all: lower it");
        }
    }
    job_take_shares(drafting->job, job_records_min(drafting->job));
    status = stage_set_draws(drafting);
    return status == STATUS_OK ? stage_set_sigma(drafting) : status;
}
