/* `query`: statistical questions; quantiles ask on, round by round, where the releases before lead. */

#include "job/kind.h"

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    const char *text[QUERY_SET_MAX];
    struct why why = {{0}};

    for (size_t i = 0; i < draft->query_count; i++) {
        text[i] = draft->query[i];
    }
    if (draft->grid_bits < QUERY_BITS_MIN) {
        return stage_refuse(drafting, index, "grid_bits", "is 0: a query needs at least 1");
    }
    enum status status = query_set_init(&stage->queries, text, draft->query_count, draft->grid_bits,
                                        &drafting->job->schema, &why);
    if (status == STATUS_INVALID) {
        return stage_refuse(drafting, index, "queries", why.text);
    }
    stage->batch = draft->batch;
    stage->rounds = stage->queries.round_count;
    stage->charge.epsilon_micro = status == STATUS_OK ? stage->epsilon_micro / stage->rounds : 0;
    return status;
}

static size_t answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                           size_t expert_count)
{
    (void)job;
    (void)expert_count;
    return query_set_cells(&stage->queries, within);
}

static enum status bounds(struct round_bounds *out, const struct job *job,
                          const struct stage *stage, uint32_t within, uint64_t record_count,
                          size_t expert_count, struct why *why)
{
    (void)job;
    (void)record_count;
    (void)expert_count;
    (void)why;
    out->sensitivity = query_set_sensitivity_l1(&stage->queries, within);
    out->high = (int64_t)stage->batch
                << stage->grid_bits; /* below 2^30 * 2^40; checked at the sum */
    out->low = -out->high;
    return STATUS_OK;
}

const struct stage_kind stage_query = {.task = TASK_QUERY,
                                       .input = INPUT_STATE,
                                       .strategies = 1u << STRATEGY_ANSWER,
                                       .trusts = 1u << TRUST_LOCAL | 1u << TRUST_CENTRAL,
                                       .units =
                                           1u << UNIT_RECORD | 1u << UNIT_ROUND | 1u << UNIT_AGENT,
                                       .build = build,
                                       .answer_count = answer_count,
                                       .bounds = bounds};
