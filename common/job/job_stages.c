/* The stages of a draft against each other and against the whole price. */

#include "job/draft.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_TOTAL_MAX = 1000000 }; /* the protocol's ROUNDS_MAX */

static const char STAGES[] = "stages";

static enum status refuse(const struct drafting *drafting, size_t index, const char *key,
                          const char *remedy)
{
    char path[CONFIG_PATH_BYTES];
    return config_refuse(drafting->config, drafting->why, draft_path(path, STAGES, index, key),
                         "%s", remedy);
}

static bool has(const struct drafting *drafting, size_t index, const char *key)
{
    char path[CONFIG_PATH_BYTES];
    return config_has(drafting->config, draft_path(path, STAGES, index, key));
}

/* A key that a task does not read would be a wish that nobody hears: it is refused. */
static enum status check_keys(const struct drafting *drafting, size_t index)
{
    static const struct {
        const char *key;
        enum task task;
        bool required;
        const char *foreign;
        const char *absent;
    } own[] = {
        {"lambdas", TASK_FIT, true, "is for a fit stage: remove it",
         "is missing: add it, for example `lambdas: [0.003]`"},
        {"tolerance", TASK_FIT, false, "is for a fit stage: remove it", ""},
        {"experts", TASK_FIT, false, "is for a fit stage: remove it", ""},
        {"rounds", TASK_LOSSES, true, "is for a losses stage (a fit has one per lambda): remove it",
         "is missing: add it, for example `rounds: 12`"},
        {"batch", TASK_LOSSES, true, "is for a losses stage: remove it",
         "is missing: add it, for example `batch: 100`"},
    };
    const struct draft_stage *draft = &drafting->draft->stage[index];
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        bool there = has(drafting, index, own[i].key);
        if (there && draft->task != own[i].task) {
            return refuse(drafting, index, own[i].key, own[i].foreign);
        }
        if (!there && own[i].required && draft->task == own[i].task) {
            return refuse(drafting, index, own[i].key, own[i].absent);
        }
    }
    return STATUS_OK;
}

static enum status check_loss(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    const struct loss loss = {(enum loss_kind)draft->loss, draft->loss_parameter};
    struct why why = {{0}};
    const bool idle = !loss_has_parameter(loss.kind) && has(drafting, index, "loss_parameter");
    if (idle || loss_check(loss, &why) != STATUS_OK) {
        return refuse(drafting, index, "loss_parameter",
                      idle ? "is not read by this loss: remove it" : why.text);
    }
    return STATUS_OK;
}

/* Copies a list to the job. */
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

static enum status build_fit(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    if (draft->loss == LOSS_ZERO_ONE) {
        return refuse(drafting, index, "loss",
                      "zero_one cannot be minimised: write logistic or hinge");
    }
    if (has_twice(draft->lambda, draft->lambda_count)) {
        return refuse(drafting, index, "lambdas", "holds one lambda twice: it would be paid twice");
    }
    if (!draft->experts.own && has(drafting, index, "experts.own_weight")) {
        return refuse(drafting, index, "experts.own_weight",
                      "weighs experts that `own: false` leaves out: remove it, or set own to true");
    }
    for (size_t i = 0; i < draft->experts.shift_count; i++) {
        if (draft->experts.shift[i] == 0) {
            return refuse(drafting, index, "experts.shifts",
                          "holds 0, which is the average itself: remove it");
        }
    }
    if (has_twice(draft->experts.shift, draft->experts.shift_count)) {
        return refuse(drafting, index, "experts.shifts", "holds one shift twice: remove it");
    }
    stage->rounds = (uint32_t)draft->lambda_count;
    stage->tolerance = draft->tolerance;
    stage->experts_own = draft->experts.own;
    stage->own_weight = draft->experts.own_weight;
    stage->shift_count = draft->experts.shift_count;
    enum status status = keep(&stage->lambda, draft->lambda, draft->lambda_count);
    if (status == STATUS_OK) {
        status = keep(&stage->shift, draft->experts.shift, draft->experts.shift_count);
    }
    return status;
}

static enum status build_losses(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    bool fitted = false;
    for (size_t i = 0; i < index; i++) {
        fitted = fitted || drafting->draft->stage[i].task == TASK_FIT;
    }
    if (!fitted) {
        return refuse(drafting, index, "task",
                      "has no experts to judge: put a fit stage before this one");
    }
    stage->rounds = draft->rounds;
    stage->batch = draft->batch;
    return STATUS_OK;
}

static enum status build_stage(const struct drafting *drafting, size_t index)
{
    static const enum strategy strategy_of[] = {
        [TASK_FIT] = STRATEGY_AVERAGE, [TASK_LOSSES] = STRATEGY_RWM};
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    stage->task = (enum task)draft->task;
    stage->loss = (struct loss){(enum loss_kind)draft->loss, draft->loss_parameter};
    stage->grid_bits = draft->grid_bits;
    stage->strategy = strategy_of[draft->task];
    /* At most 10^9 * 10^9: it fits. */
    stage->epsilon_micro = drafting->job->epsilon_micro * draft->share_nano / SHARE_ONE;
    enum status status = check_loss(drafting, index);
    if (status == STATUS_OK) {
        status = check_keys(drafting, index);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (has(drafting, index, "strategy") && draft->strategy != (unsigned)stage->strategy) {
        return refuse(drafting, index, "strategy",
                      "does not go with the task: fit takes average, losses takes rwm");
    }
    status = draft->task == TASK_FIT ? build_fit(drafting, index) : build_losses(drafting, index);
    if (status == STATUS_OK && job_round_epsilon_micro(stage) == 0) {
        return refuse(drafting, index, "share",
                      "leaves an answer less than a millionth of epsilon: raise it, or list fewer "
                      "lambdas");
    }
    return status;
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
    for (size_t i = 0; i < draft->stage_count; i++) {
        share_nano += draft->stage[i].share_nano;
        if (share_nano > SHARE_ONE) {
            return refuse(drafting, i, "share",
                          "makes the shares' sum more than 1: lower them, or raise "
                          "privacy.epsilon");
        }
        enum status status = build_stage(drafting, i);
        if (status != STATUS_OK) {
            return status;
        }
        rounds += drafting->job->stage[i].rounds;
        if (rounds > ROUNDS_TOTAL_MAX) {
            return refuse(drafting, i, "rounds", "makes more than 1000000 rounds in all: lower it");
        }
    }
    return STATUS_OK;
}
