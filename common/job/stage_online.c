/* `online`: kernel regression on every agent's stream of records, in their public order, released on
 * the doubling schedule of learn/online.h, one release a round. The whole stream is one pass and is
 * paid for once: release j is charged for the rows (t_{j-1}, t_j] that entered since the one before,
 * all with the stage's whole epsilon, of which a ledger counts the largest once.
 *
 * Why that is enough. Let F = online_stream_factor(rounds), c = 1 + lags, Delta_j =
 * online_sensitivity_l1(t_j), and let release j have the noise of discrete Laplace with scale
 * c ceil(F Delta_j)/epsilon. One row of the file takes part in at most c records. Replace these one
 * after the other: every stream on the way is a stream of records within their bounds, so each step
 * is one replaced record, at some position s in (t_{i-1}, t_i]. It moves no release before i, and
 * release j >= i by m(s, j) steps at most, where sum_{j >= i} m(s, j)/Delta_j <= F by what F is the
 * largest of. By the triangle inequality the row loses at most
 *
 *     sum over the c records of sum_j m(s, j) epsilon/(c ceil(F Delta_j)) <= c (epsilon/c) = epsilon.
 *
 * An agent that misses a release has released less. Without the factor F a row that came early pays
 * for every later release anew: up to 1/(1 - 2^-(1 - theta)) times epsilon. */

#include "base/check.h"
#include "job/kind.h"

#include <float.h>
#include <math.h>

static const uint64_t records_max = 1000000000; /* as many as a batch may have */

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    const struct schema *schema = &stage->schema;
    uint64_t times[ONLINE_RELEASES_MAX];
    size_t count = 0;
    struct why why = {{0}};
    const bool has_theta = draft->theta > 0.5 && draft->theta < 1;

    if (schema_output_count(schema) > 1) {
        return stage_refuse(drafting, index, "task",
                            "learns one number or two classes, and the label has more classes: "
                            "write fit");
    }
    stage->loss = (struct loss){.kind = LOSS_SQUARED};
    stage->online = (struct online_problem){.theta = draft->theta,
                                            .t0 = draft->t0,
                                            .kappa = 1,
                                            .bound = 1,
                                            .grid_bits = stage->grid_bits,
                                            .feature_count = schema_feature_count(schema)};
    if (online_check(&stage->online, &why) != STATUS_OK) {
        return stage_refuse(drafting, index, has_theta ? "t0" : "theta", why.text);
    }
    online_release_times(&stage->online, records_max, times, &count);
    if (draft->rounds > count) {
        return stage_refuse(drafting, index, "rounds",
                            "puts the last release behind 1000000000 records, as each waits for "
                            "twice as many as the one before: lower it, or t0");
    }
    stage->rounds = draft->rounds;
    stage->batches = draft->rounds; /* releases are charged for different rows: one pass */
    stage->charge.epsilon_micro = stage->epsilon_micro;
    return STATUS_OK;
}

static uint64_t time_of(const struct stage *stage, uint32_t within)
{
    uint64_t times[ONLINE_RELEASES_MAX];
    size_t count = 0;
    online_release_times(&stage->online, records_max, times, &count);
    CHECK(within < count);
    return times[within];
}

static struct round_rows rows(const struct stage *stage, uint32_t within)
{
    const uint64_t first = within == 0 ? 0 : time_of(stage, within - 1);
    return (struct round_rows){first, time_of(stage, within) - first};
}

static size_t answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                           size_t expert_count)
{
    (void)job;
    (void)within;
    (void)expert_count;
    return round_stage_width(stage);
}

static enum status bounds(struct round_bounds *out, const struct job *job,
                          const struct stage *stage, uint32_t within, uint64_t record_count,
                          size_t expert_count, struct why *why)
{
    const uint64_t time = time_of(stage, within);
    uint64_t sensitivity = 0;
    uint64_t range = 0;
    (void)job;
    (void)record_count;
    (void)expert_count;
    enum status status = online_sensitivity_l1(&stage->online, time, &sensitivity, why);
    if (status == STATUS_OK) {
        status = online_range(&stage->online, time, &range, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const double factor = online_stream_factor(&stage->online, stage->rounds);
    /* Below 2^53 times 52. */
    out->sensitivity = (uint64_t)ceil((double)sensitivity * factor * (1 + 2 * DBL_EPSILON));
    out->high = (int64_t)range;
    out->low = -out->high;
    return STATUS_OK;
}

const struct stage_kind stage_online = {.task = TASK_ONLINE,
                                        .input = INPUT_NONE,
                                        .strategies = 1u << STRATEGY_AVERAGE,
                                        .trusts = 1u << TRUST_LOCAL | 1u << TRUST_CENTRAL,
                                        .units = 1u << UNIT_RECORD,
                                        .build = build,
                                        .rows = rows,
                                        .answer_count = answer_count,
                                        .bounds = bounds};
