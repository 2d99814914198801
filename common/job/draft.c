#include "job/draft.h"

#include "base/check.h"
#include "config/keys.h"
#include "dp/charge.h"
#include "task/task.h"

#include <stdalign.h>
#include <stdio.h>

/* The only neighbours there are; the text says so, because epsilon means nothing without. */
static const char *neighbours_choice(unsigned index)
{
    return index == 0 ? "replace_one" : NULL;
}

static const struct config_foreign other_files[] = {
    {"data_sets", "this is a data dictionary, not a job: `hedgerow init job` makes a job from it"},
    {NULL, NULL}};

/* clang-format off */
#define KEY_OF struct draft_privacy
static const struct config_key privacy_keys[] = {
    KEY_CHOICE("unit", unit, job_unit_name, REQUIRED("record")),
    KEY_CHOICE("neighbours", neighbours, neighbours_choice, REQUIRED("replace_one")),
    KEY_CHOICE("trust", trust, job_trust_name, REQUIRED("local")),
    KEY_FIXED("epsilon", epsilon_micro, EPSILON_DECIMALS, 1, 1000 * EPSILON_MICRO_ONE, REQUIRED("1")),
    KEY_FIXED("delta", delta_atto, DELTA_DECIMALS, 0, DELTA_ATTO_ONE / 10, DEFAULT("0", "0")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_cohort
static const struct config_key cohort_keys[] = {
    KEY_WHOLE("minimum", minimum, 1, JOB_AGENTS_MAX, REQUIRED("3")),
    KEY_WHOLE("honest", honest, 0, JOB_AGENTS_SURE, OPTIONAL("13")),
    KEY_WHOLE("dishonest", dishonest, 0, JOB_AGENTS_SURE, OPTIONAL("8")),
    KEY_WHOLE("records", records, 1, 1000000000, DEFAULT("1", "1000")),
    KEY_WHOLE("records_most", records_most, 1, 1000000000, OPTIONAL("5000")),
    KEY_EXACT("join_deadline_s", join_deadline_ms, 3, 100, 604800000, DEFAULT("60", "60")),
    KEY_EXACT("deadline_s", deadline_ms, 3, 100, 604800000, REQUIRED("30")),
    KEY_EXACT("patience_s", patience_ms, 3, 0, 604800000, DEFAULT("3600", "3600")),
    KEY_LIST("agents", agent, agent_count, JOB_AGENTS_MAX, NAME, OPTIONAL("[north, south, west]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft
static const struct config_key draft_keys[] = {
    KEY_NAME("job", name, REQUIRED("hospitals-mortality")),
    KEY_TABLE("data", data, draft_data_keys, REQUIRED("{label: ..., features: ...}")),
    KEY_TABLE("privacy", privacy, privacy_keys,
        REQUIRED("{unit: record, neighbours: replace_one, trust: local, epsilon: 1}")),
    KEY_TABLE("cohort", cohort, cohort_keys, REQUIRED("{minimum: 3, deadline_s: 30}")),
    KEY_TABLES("stages", stage, stage_count, JOB_STAGES_MAX, draft_stage_keys,
        REQUIRED("[{task: fit, loss: logistic, lambdas: [0.003], share: 1}]")),
    KEY_END_BUT(other_files),
};
#undef KEY_OF
/* clang-format on */

const char *draft_path(char path[static CONFIG_PATH_BYTES], const char *list, size_t index,
                       const char *key)
{
    (void)snprintf(path, CONFIG_PATH_BYTES, "%s[%zu]%s%s", list, index, key[0] != '\0' ? "." : "",
                   key);
    return path;
}

/* The keys that stages of several tasks have, and the table made of them and of each task's own. */

static const char *loss_choice(unsigned index)
{
    return index < LOSS_KINDS ? loss_name((enum loss_kind)index) : NULL;
}

/* clang-format off */
#define KEY_OF struct draft_experts
static const struct config_key experts_keys[] = {
    KEY_FLAG("own", own, DEFAULT("false", "true")),
    KEY_NUMBER("own_weight", own_weight, 0.001, 1000, DEFAULT("1", "0.6")),
    KEY_NUMBERS("shifts", shift, shift_count, JOB_SHIFTS_MAX, -100, 100, OPTIONAL("[-0.5, 0.5]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_stage
const struct config_key draft_stage_keys[] = {
    KEY_CHOICE("task", task, task_name, REQUIRED("fit")),
    KEY_CHOICE("strategy", strategy, strategy_name, OPTIONAL("rwm")),
    KEY_CHOICE("loss", loss, loss_choice, OPTIONAL("logistic")),
    KEY_NUMBER("loss_parameter", loss_parameter, 0, 2, DEFAULT("0", "0.5")),
    KEY_EXACT("share", share_nano, SHARE_PLACES, 1, SHARE_ONE, OPTIONAL("0.5")),
    KEY_WHOLE("grid_bits", grid_bits, 0, 40, DEFAULT("20", "20")),
    KEY_NUMBERS("lambdas", lambda, lambda_count, JOB_LAMBDAS_MAX, 1e-9, 1e6, OPTIONAL("[0.003]")),
    KEY_NUMBER("tolerance", tolerance, 1e-12, 1, DEFAULT("0.000001", "0.000001")),
    KEY_TABLE("experts", experts, experts_keys, OPTIONAL("{own: true, shifts: [-0.5, 0.5]}")),
    KEY_WHOLE("rounds", rounds, 1, 100000, DEFAULT("1", "12")),
    KEY_PORTION("batch", batch, 1, 1000000000, DEFAULT("1", "100")),
    KEY_CHOICE("noise", noise, job_noise_name, DEFAULT("laplace", "gaussian")),
    KEY_TABLE("map", map, draft_map_keys, OPTIONAL("{kind: fourier, kernel: gaussian, gamma: 1, features: 200, seed: 42}")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

/* A task's keys fill the part of a stage that begins at `base`. Whether a stage cannot do without one is for the task to
 * say: job_stages.c. */
static void add_keys(struct draft_tables *tables, size_t *count, const struct config_key *keys,
                     size_t base)
{
    for (; keys != NULL && keys->name != NULL; keys++) {
        CHECK(*count < DRAFT_KEYS_MAX);
        struct config_key *key = &tables->stage[(*count)++];
        *key = *keys;
        key->required = base == 0 && keys->required;
        key->offset += base;
        key->count_offset += keys->list ? base : 0;
    }
}

static size_t aligned(size_t bytes)
{
    const size_t step = alignof(max_align_t);
    return (bytes + step - 1) / step * step;
}

void draft_tables_init(struct draft_tables *tables)
{
    size_t count = 0;
    size_t roots = 0;
    *tables = (struct draft_tables){.stage_bytes = aligned(sizeof(struct draft_stage))};
    add_keys(tables, &count, draft_stage_keys, 0);
    for (unsigned task = 0; task < TASK_COUNT; task++) {
        const struct task_text *text = task_text((enum task)task);
        tables->own[task] = tables->stage_bytes;
        tables->stage_bytes += aligned(text->own_bytes);
        add_keys(tables, &count, text->own, tables->own[task]);
    }
    const struct config_key *key = draft_keys;
    for (; key->name != NULL; key++) {
        CHECK(roots + 1 < sizeof tables->root / sizeof *tables->root);
        tables->root[roots] = *key;
        if (key->keys == draft_stage_keys) {
            tables->root[roots].size = tables->stage_bytes;
            tables->root[roots].keys = tables->stage;
        }
        roots++;
    }
    tables->root[roots].foreign = key->foreign;
}

static const unsigned char *stage_at(const struct drafting *drafting, size_t index)
{
    return (const unsigned char *)drafting->draft->stage + index * drafting->tables->stage_bytes;
}

const struct draft_stage *draft_stage(const struct drafting *drafting, size_t index)
{
    return (const struct draft_stage *)(const void *)stage_at(drafting, index);
}

const void *draft_own(const struct drafting *drafting, size_t index)
{
    return stage_at(drafting, index) + drafting->tables->own[draft_stage(drafting, index)->task];
}
