/* `select`: the best of a finite class, by its errors on the records. */

#include "job/kind.h"

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    const char *column[CANDIDATES_COLUMNS_MAX];
    const char *predicate[CANDIDATES_PREDICATES_MAX];
    const struct candidates_request request = {column, draft->candidates.column_count,
                                               draft->candidates.threshold_count, predicate,
                                               draft->candidates.predicate_count};
    const bool central = drafting->job->trust == TRUST_CENTRAL;
    struct why why = {{0}};

    for (size_t i = 0; i < request.column_count; i++) {
        column[i] = draft->candidates.column[i];
    }
    for (size_t i = 0; i < request.predicate_count; i++) {
        predicate[i] = draft->candidates.predicate[i];
    }
    if (central && !stage_has(drafting, index, "strategy")) {
        stage->strategy = STRATEGY_PERMUTE_AND_FLIP;
    }
    if (central == (stage->strategy == STRATEGY_NOISY_MIN)) {
        return stage_refuse(drafting, index, "strategy",
                            central ? "is for trust local: write permute_and_flip or exponential"
                                    : "draws from exact scores, which needs trust central: write "
                                      "noisy_min");
    }
    enum status status =
        candidates_init(&stage->candidates, &drafting->job->schema, &request, &why);
    if (status == STATUS_INVALID) {
        return stage_refuse(drafting, index, "candidates", why.text);
    }
    stage->rounds = 1;
    stage->batch = draft->batch;
    stage->grid_bits = 0; /* errors are whole numbers */
    stage->charge.epsilon_micro = stage->epsilon_micro;
    if (stage->strategy == STRATEGY_EXPONENTIAL) {
        stage->charge.mechanism = MECHANISM_EXPONENTIAL;
    }
    return status;
}

static size_t answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                           size_t expert_count)
{
    (void)job;
    (void)within;
    (void)expert_count;
    return candidates_cells(&stage->candidates);
}

static enum status bounds(struct round_bounds *out, const struct job *job,
                          const struct stage *stage, uint32_t within, uint64_t record_count,
                          size_t expert_count, struct why *why)
{
    (void)within;
    (void)record_count;
    (void)expert_count;
    (void)why;
    out->sensitivity = round_is_drawn(job, stage) ? CANDIDATES_SCORE_SENSITIVITY
                                                  : candidates_sensitivity_l1(&stage->candidates);
    out->high = (int64_t)stage->batch;
    out->low = -out->high;
    return STATUS_OK;
}

const struct stage_kind stage_select = {.task = TASK_SELECT,
                                        .input = INPUT_NONE,
                                        .is_drawn = true,
                                        .strategies = 1u << STRATEGY_NOISY_MIN |
                                                      1u << STRATEGY_EXPONENTIAL |
                                                      1u << STRATEGY_PERMUTE_AND_FLIP,
                                        .trusts = 1u << TRUST_LOCAL | 1u << TRUST_CENTRAL,
                                        .build = build,
                                        .answer_count = answer_count,
                                        .bounds = bounds};
