/* The keys of one stage, all tasks' together; which task reads which is in job_stages.c. */

#include "config/keys.h"

#include "dp/charge.h"
#include "job/draft.h"

static const char *task_choice(unsigned index)
{
    return task_name((enum task)index);
}

static const char *strategy_choice(unsigned index)
{
    return strategy_name((enum strategy)index);
}

static const char *loss_choice(unsigned index)
{
    return index < LOSS_KINDS ? loss_name((enum loss_kind)index) : NULL;
}

static const char *noise_choice(unsigned index)
{
    return job_noise_name((enum job_noise)index);
}

static const char *horizon_choice(unsigned index)
{
    static const char *const name[] = {"known", "doubling", NULL};
    return name[index];
}

static const char *iterates_choice(unsigned index)
{
    static const char *const name[] = {[AVERAGE_NONE] = "last",
                                       [AVERAGE_TAIL] = "tail",
                                       [AVERAGE_POLYNOMIAL] = "polynomial",
                                       [AVERAGE_POLYNOMIAL + 1] = NULL};
    return name[index];
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
/* clang-format on */

/* All but the linear one, whose models can leave as weights: that is fit. */
static const char *kernel_choice(unsigned index)
{
    return KERNEL_GAUSSIAN + index < KERNEL_KINDS
               ? kernel_name((enum kernel_kind)(KERNEL_GAUSSIAN + index))
               : NULL;
}

/* clang-format off */
#define KEY_OF struct draft_kernel
static const struct config_key kernel_keys[] = {
    KEY_CHOICE("kind", kind, kernel_choice, DEFAULT("gaussian", "gaussian")),
    KEY_NUMBER("gamma", gamma, 1e-6, 1e6, OPTIONAL("1")),
    KEY_WHOLE("degree", degree, 1, KERNEL_DEGREE_MAX, OPTIONAL("2")),
    KEY_NUMBER("offset", offset, 0, 1000, OPTIONAL("1")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_candidates
static const struct config_key candidates_keys[] = {
    KEY_TEXTS("stumps", column, column_count, CANDIDATES_COLUMNS_MAX, OPTIONAL("[age, kappa]")),
    KEY_WHOLE("thresholds", threshold_count, 1, CANDIDATES_THRESHOLDS_MAX, DEFAULT("10", "20")),
    KEY_TEXTS("predicates", predicate, predicate_count, CANDIDATES_PREDICATES_MAX,
        OPTIONAL("[\"age >= 80 and sex == M\"]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_forecaster
static const struct config_key forecaster_keys[] = {
    KEY_TEXT("name", name, REQUIRED("as last week")),
    KEY_TEXTS("features", feature, feature_count, SCHEMA_LAGS_MAX, REQUIRED("[lag_7]")),
    KEY_NUMBERS("weights", weight, weight_count, SCHEMA_LAGS_MAX, -1000, 1000, OPTIONAL("[1]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_conjunction
static const struct config_key conjunction_keys[] = {
    KEY_TEXT("positive", positive, OPTIONAL("\"death == 1\"")),
    KEY_TEXTS("features", feature, feature_count, QUERY_SET_MAX, OPTIONAL("[\"age >= 65\", \"sex == M\"]")),
    KEY_NUMBER("tolerance", tolerance, 1e-9, 1, DEFAULT("0.01", "0.01")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_stage
const struct config_key draft_stage_keys[] = {
    KEY_CHOICE("task", task, task_choice, REQUIRED("fit")),
    KEY_CHOICE("strategy", strategy, strategy_choice, OPTIONAL("rwm")),
    KEY_CHOICE("loss", loss, loss_choice, OPTIONAL("logistic")),
    KEY_NUMBER("loss_parameter", loss_parameter, 0, 2, DEFAULT("0", "0.5")),
    KEY_EXACT("share", share_nano, SHARE_PLACES, 1, SHARE_ONE, OPTIONAL("0.5")),
    KEY_WHOLE("grid_bits", grid_bits, 0, 40, DEFAULT("20", "20")),
    KEY_NUMBERS("lambdas", lambda, lambda_count, JOB_LAMBDAS_MAX, 1e-9, 1e6, OPTIONAL("[0.003]")),
    KEY_NUMBER("tolerance", tolerance, 1e-12, 1, DEFAULT("0.000001", "0.000001")),
    KEY_TABLE("experts", experts, experts_keys, OPTIONAL("{own: true, shifts: [-0.5, 0.5]}")),
    KEY_WHOLE("rounds", rounds, 1, 100000, DEFAULT("1", "12")),
    KEY_PORTION("batch", batch, 1, 1000000000, DEFAULT("1", "100")),
    KEY_CHOICE("noise", noise, noise_choice, DEFAULT("laplace", "gaussian")),
    KEY_NUMBER("clip", clip, 1e-9, 1e9, OPTIONAL("1")),
    KEY_NUMBER("clip_all", clip_all, 1e-9, 1e9, OPTIONAL("0.25")),
    KEY_CHOICE("horizon", horizon, horizon_choice, DEFAULT("known", "doubling")),
    KEY_NUMBER("rate", rate, 1e-9, 1e9, OPTIONAL("16")),
    KEY_NUMBER("decay", decay, 0, 1, DEFAULT("0", "0.5")),
    KEY_NUMBER("momentum", momentum, 0, 0.9999, DEFAULT("0.9", "0.9")),
    KEY_NUMBER("radius", radius, 0, 1e9, DEFAULT("0", "30")),
    KEY_CHOICE("iterates", iterates, iterates_choice, DEFAULT("last", "tail")),
    KEY_EXACT("sampling", sampling_nano, SAMPLING_DECIMALS, 1, SAMPLING_NANO_ONE, DEFAULT("1", "0.05")),
    KEY_WHOLE("batches", batches, 1, 100000, DEFAULT("1", "4")),
    KEY_TEXTS("queries", query, query_count, QUERY_SET_MAX, OPTIONAL("[\"count: age >= 65\", \"mean: age\"]")),
    KEY_TABLE("conjunction", conjunction, conjunction_keys,
        OPTIONAL("{positive: \"death == 1\", features: [\"age >= 65\", \"sex == M\"]}")),
    KEY_TABLE("candidates", candidates, candidates_keys, OPTIONAL("{stumps: [age, kappa], thresholds: 20}")),
    KEY_WHOLE("first", first, 0, 1000000000, DEFAULT("0", "1400")),
    KEY_TABLES("forecasters", forecaster, forecaster_count, JOB_FORECASTERS_MAX, forecaster_keys,
        OPTIONAL("[{name: as last week, features: [lag_7]}]")),
    KEY_WHOLE("t0", t0, 1, 1000000000, DEFAULT("1", "200")),
    KEY_NUMBER("theta", theta, 0.5, 1, DEFAULT("0.75", "0.75")),
    KEY_TABLE("kernel", kernel, kernel_keys, OPTIONAL("{kind: gaussian, gamma: 1}")),
    KEY_TABLE("map", map, draft_map_keys,
        OPTIONAL("{kind: fourier, kernel: gaussian, gamma: 1, features: 200, seed: 42}")),
    KEY_ROWS("points", point, point_count, JOB_POINTS_MAX, draft_row_keys, OPTIONAL("[[70, F], [50, M]]")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */
