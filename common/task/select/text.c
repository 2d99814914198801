/* `select`: the best of a finite class, by its errors on the records: candidates that the job lists, or
 * the experts there are. */

#include "config/keys.h"
#include "job/trust.h"
#include "task/select/stage.h"
#include "task/task.h"

struct draft_candidates {
    char (*column)[SCHEMA_NAME_BYTES];
    size_t column_count;
    uint32_t threshold_count;
    char (*predicate)[QUERY_TEXT_BYTES];
    size_t predicate_count;
};

struct draft_select {
    struct draft_candidates candidates;
};

/* clang-format off */
#define KEY_OF struct draft_candidates
static const struct config_key candidates_keys[] = {
    KEY_TEXTS("stumps", column, column_count, CANDIDATES_COLUMNS_MAX, OPTIONAL("[age, kappa]")),
    KEY_WHOLE("thresholds", threshold_count, 1, CANDIDATES_THRESHOLDS_MAX, DEFAULT("10", "20")),
    KEY_TEXTS("predicates", predicate, predicate_count, CANDIDATES_PREDICATES_MAX, OPTIONAL("[\"age >= 80 and sex == M\"]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_select
static const struct config_key keys[] = {
    KEY_TABLE("candidates", candidates, candidates_keys, OPTIONAL("{stumps: [age, kappa], thresholds: 20}")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

static enum status build_candidates(const struct drafting *drafting, size_t index)
{
    const struct draft_select *own = draft_own(drafting, index);
    const struct draft_candidates *draft = &own->candidates;
    struct stage *stage = &drafting->job->stage[index];
    const char *column[CANDIDATES_COLUMNS_MAX];
    const char *predicate[CANDIDATES_PREDICATES_MAX];
    const struct candidates_request request = {column, draft->column_count, draft->threshold_count,
                                               predicate, draft->predicate_count};
    struct why why = {{0}};

    for (size_t i = 0; i < request.column_count; i++) {
        column[i] = draft->column[i];
    }
    for (size_t i = 0; i < request.predicate_count; i++) {
        predicate[i] = draft->predicate[i];
    }
    if (stage_has(drafting, index, "grid_bits")) {
        return stage_refuse(drafting, index, "grid_bits",
                            "is not read where candidates' errors are counted: remove it");
    }
    stage->grid_bits = 0; /* errors are whole numbers */
    enum status status =
        candidates_init(&select_stage(stage)->candidates, &drafting->job->schema, &request, &why);
    if (status == STATUS_INVALID) {
        return stage_refuse(drafting, index, "candidates", why.text);
    }
    if (status == STATUS_OK && stage_has(drafting, index, "candidates.thresholds") &&
        !candidates_have_thresholds(&select_stage(stage)->candidates)) {
        return stage_refuse(drafting, index, "candidates.thresholds",
                            "is for stumps of numbers, and there are none: remove it");
    }
    return status;
}

static enum strategy strategy_where(UNUSED enum strategy strategy, bool exact_answers)
{
    return exact_answers ? STRATEGY_PERMUTE_AND_FLIP : STRATEGY_NOISY_MIN;
}

static enum status build(const struct drafting *drafting, size_t index)
{
    struct stage *stage = &drafting->job->stage[index];
    const bool exact = trust_of(drafting->job)->exact_answers;

    if (!stage_has(drafting, index, "strategy")) {
        stage->strategy = strategy_where(stage->strategy, exact);
    }
    if (exact == (stage->strategy == STRATEGY_NOISY_MIN)) {
        return stage_refuse(drafting, index, "strategy",
                            exact ? "is for trust local: write permute_and_flip or exponential"
                                  : "draws from exact scores, which needs trust central: write "
                                    "noisy_min");
    }
    stage->rounds = 1;
    const enum status status = stage_take_batch(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    stage->charge.epsilon_micro = stage->epsilon_micro;
    if (stage->strategy == STRATEGY_EXPONENTIAL) {
        stage->charge.mechanism = MECHANISM_EXPONENTIAL;
    }
    select_stage(stage)->among_experts = stage_has(drafting, index, "loss");
    if (select_stage(stage)->among_experts == stage_has(drafting, index, "candidates")) {
        return stage_refuse(
            drafting, index, "candidates",
            "and loss exclude each other, and one must be there: write `candidates: "
            "{stumps: [age]}` to select among those, or `loss: zero_one` to select "
            "among the experts so far");
    }
    for (size_t i = 0; select_stage(stage)->among_experts; i++) {
        if (i == index) {
            return stage_refuse(drafting, index, "loss",
                                "judges experts, and there are none: put a stage that makes some "
                                "before this one");
        }
        if (job_makes_experts(&drafting->job->stage[i])) {
            return STATUS_OK;
        }
    }
    return build_candidates(drafting, index);
}

static void free_stage(void *own)
{
    struct select_stage *stage = own;
    candidates_free(&stage->candidates);
}

const struct task_text task_text_select = {
    .strategies =
        1u << STRATEGY_NOISY_MIN | 1u << STRATEGY_EXPONENTIAL | 1u << STRATEGY_PERMUTE_AND_FLIP,
    .units = 1u << UNIT_RECORD | 1u << UNIT_ROUND | 1u << UNIT_AGENT,
    .reads = SHARED_LOSS | SHARED_BATCH,
    .needs = SHARED_BATCH,
    .keeps_raw = true,
    .strategy_where = strategy_where,
    .own = keys,
    .own_bytes = sizeof(struct draft_select),
    .stage_bytes = sizeof(struct select_stage),
    .free_stage = free_stage,
    .build = build};
