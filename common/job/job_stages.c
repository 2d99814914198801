/* The stages of a draft against each other and against the whole price. What one task has that the
 * others have not is in its folder of common/task. */

#include "base/text.h"
#include "task/task.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_TOTAL_MAX = 1000000 }; /* the protocol's ROUNDS_MAX */

#define BIT(value) (1u << (unsigned)(value))

bool task_reads(enum task task, unsigned shared)
{
    return (task_text(task)->reads & shared) != 0;
}

/* "is for a fit or predict stage: remove it", of the tasks that read a shared key, or of one. */
static enum status refuse_foreign(const struct drafting *drafting, size_t index, const char *key,
                                  unsigned tasks, const char *more)
{
    char list[256] = "";
    for (unsigned task = 0; task < TASK_COUNT; task++) {
        const unsigned later = tasks >> task >> 1;
        if ((tasks & BIT(task)) == 0) {
            continue;
        }
        const char *name = task_name(task);
        const bool vowel = strchr("aeiou", name[0]) != NULL;
        const char *before = list[0] != '\0' ? "" : vowel ? "an " : "a ";
        const char *after = later == 0 ? "" : (later & (later - 1)) == 0 ? " or " : ", ";
        text_add(list, sizeof list, "%s%s%s", before, name, after);
    }
    char path[CONFIG_PATH_BYTES];
    return config_refuse(drafting->config, drafting->why, draft_path(path, "stages", index, key),
                         "is for %s stage%s: remove it", list, more);
}

static enum status refuse_absent(const struct drafting *drafting, size_t index,
                                 const struct config_key *key)
{
    char path[CONFIG_PATH_BYTES];
    (void)draft_path(path, "stages", index, key->name);
    if (key->doc != NULL) {
        return config_refuse(drafting->config, drafting->why, path, "is missing: add %s", key->doc);
    }
    return config_refuse(drafting->config, drafting->why, path,
                         "is missing: add it, for example `%s: %s`", key->name, key->example);
}

/* Keys that several tasks read. */
static enum status check_shared(const struct drafting *drafting, size_t index, enum task task)
{
    static const struct {
        const char *key;
        unsigned bit;
        const char *foreign; /* NULL: the tasks that read it, by name */
        const char *more;
    } rule[] = {{"loss", SHARED_LOSS, "is for tasks that learn or judge by one: remove it", ""},
                {"lambdas", SHARED_LAMBDAS, NULL, ""},
                {"tolerance", SHARED_TOLERANCE, NULL, ""},
                {"experts", SHARED_EXPERTS, NULL, ""},
                {"rounds", SHARED_ROUNDS, NULL, " (others have as many as they need)"},
                {"batch", SHARED_BATCH, "is for tasks that read one batch a round: remove it", ""},
                {"map", SHARED_MAP, "is for a stage that learns: remove it", ""},
                {"noise", SHARED_NOISE, NULL, ""}};
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        const bool there = stage_has(drafting, index, rule[i].key);
        unsigned tasks = 0;
        for (unsigned t = 0; t < TASK_COUNT; t++) {
            tasks |= task_reads((enum task)t, rule[i].bit) ? BIT(t) : 0;
        }
        if (there && (tasks & BIT(task)) == 0) {
            return rule[i].foreign != NULL
                       ? stage_refuse(drafting, index, rule[i].key, rule[i].foreign)
                       : refuse_foreign(drafting, index, rule[i].key, tasks, rule[i].more);
        }
        const struct config_key *key = draft_stage_keys;
        while (strcmp(key->name, rule[i].key) != 0) {
            key++;
        }
        if (!there && (task_text(task)->needs & rule[i].bit) != 0) {
            return refuse_absent(drafting, index, key);
        }
    }
    return STATUS_OK;
}

/* A key that a task does not read would be a wish that nobody hears: it is refused. */
static enum status check_keys(const struct drafting *drafting, size_t index)
{
    const enum task task = drafting->job->stage[index].task;
    enum status status = check_shared(drafting, index, task);
    for (unsigned t = 0; t < TASK_COUNT && status == STATUS_OK; t++) {
        const struct config_key *key = task_text((enum task)t)->own;
        for (; key != NULL && key->name != NULL && status == STATUS_OK; key++) {
            const bool there = stage_has(drafting, index, key->name);
            if (there && t != task) {
                status = refuse_foreign(drafting, index, key->name, BIT(t), "");
            } else if (!there && t == task && key->required) {
                status = refuse_absent(drafting, index, key);
            }
        }
    }
    return status;
}

static enum status check_loss(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = draft_stage(drafting, index);
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
    stage->strategy = (enum strategy)draft_stage(drafting, index)->strategy;
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
    const struct draft_stage *draft = draft_stage(drafting, index);
    struct stage *stage = &drafting->job->stage[index];
    const struct task_text *kind = task_text((enum task)draft->task);

    stage->task = (enum task)draft->task;
    stage->grid_bits = draft->grid_bits;
    stage->loss = (struct loss){(enum loss_kind)draft->loss, draft->loss_parameter};
    /* At most 10^9 * 10^9: it fits. */
    stage->epsilon_micro =
        drafting->job->epsilon_micro * stage_share_nano(drafting, index) / SHARE_ONE;
    stage->batches = 1;
    if (kind->stage_bytes > 0) {
        stage->own = calloc(1, kind->stage_bytes);
        if (stage->own == NULL) {
            return STATUS_NO_MEMORY;
        }
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
    const bool gaussian = stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN;
    const bool has_share = stage_has(drafting, index, "share");
    if (status == STATUS_OK && gaussian && has_share) {
        return stage_refuse(
            drafting, index, "share",
            "is not read with gaussian noise, which gets the epsilon and delta that the other "
            "stages leave: remove it");
    }
    if (status == STATUS_OK && !gaussian && !kind->takes_rest && !has_share) {
        return stage_refuse(drafting, index, "share",
                            "is missing: add it, for example `share: 0.5`");
    }
    if (status == STATUS_OK && !gaussian && stage->charge.epsilon_micro == 0) {
        if (kind->takes_rest && !has_share) {
            return config_refuse(drafting->config, drafting->why, "privacy.epsilon",
                                 "leaves each answer of stage %zu less than a millionth: raise it",
                                 index + 1);
        }
        return stage_refuse(drafting, index, "share", STAGE_SHARE_TOO_SMALL);
    }
    return status;
}

/* Where the job does not bound the records of an agent, a stage may need a bound. Set before any stage is built: stages
 * are built alike in whatever order they are. */
static void take_records_most(const struct drafting *drafting)
{
    struct job *job = drafting->job;
    if (job->records_most > 0) {
        return;
    }
    for (size_t i = 0; i < drafting->draft->stage_count; i++) {
        const uint64_t most =
            task_text((enum task)draft_stage(drafting, i)->task)->records_most_default;
        job->records_most = most > job->records_most ? most : job->records_most;
    }
    if (job->records_most > 0 && job->records_most < job->records_least) {
        job->records_most = job->records_least;
    }
}

enum status job_stages_build(const struct drafting *drafting)
{
    const struct draft *draft = drafting->draft;
    struct job *job = drafting->job;
    uint64_t share_nano = 0;
    uint64_t rounds = 0;
    job->stage = calloc(draft->stage_count, sizeof *job->stage);
    if (job->stage == NULL) {
        return STATUS_NO_MEMORY;
    }
    job->stage_count = draft->stage_count;
    take_records_most(drafting);
    enum status status = job_stages_check_rest(drafting);
    if (status == STATUS_OK) {
        status = job_maps_build(drafting);
    }
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < draft->stage_count; i++) {
        share_nano += stage_share_nano(drafting, i);
        if (share_nano > SHARE_ONE) {
            return stage_refuse(drafting, i, "share",
                                "makes the shares' sum more than 1: lower them, or raise "
                                "privacy.epsilon");
        }
        status = build_stage(drafting, i);
        if (status != STATUS_OK) {
            return status;
        }
        rounds += job->stage[i].rounds;
        job->schema.keeps_raw = job->schema.keeps_raw || task_text(job->stage[i].task)->keeps_raw;
        if (rounds > ROUNDS_TOTAL_MAX) {
            return stage_refuse(drafting, i, "rounds",
                                "makes more than 1000000 rounds in all: lower it");
        }
    }
    job_take_shares(job, job_records_min(job));
    status = stage_set_draws(drafting);
    return status == STATUS_OK ? job_stages_plan(drafting) : status;
}
