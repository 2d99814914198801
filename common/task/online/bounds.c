/* How far a row moves the whole stream, where every release is charged for the rows that entered since the
 * one before.
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
#include "task/online/stage.h"
#include "task/task.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static uint64_t time_of(const struct stage *stage, uint32_t within)
{
    uint64_t times[ONLINE_RELEASES_MAX];
    size_t count = 0;
    online_release_times(&online_stage(stage)->stream, TASK_RECORDS_MAX, times, &count);
    CHECK(within < count);
    return times[within];
}

static struct round_rows rows(const struct stage *stage, uint32_t within)
{
    const uint64_t first = within == 0 ? 0 : time_of(stage, within - 1);
    return (struct round_rows){first, time_of(stage, within) - first};
}

static enum status bounds(struct round_bounds *out, const struct round_asked *asked)
{
    const struct online_stage *own = online_stage(asked->stage);
    const uint64_t time = time_of(asked->stage, asked->within);
    uint64_t sensitivity = 0;
    uint64_t range = 0;
    enum status status = online_sensitivity_l1(&own->stream, time, &sensitivity, asked->why);
    if (status == STATUS_OK) {
        status = online_range(&own->stream, time, &range, asked->why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const double factor = online_stream_factor(&own->stream, asked->stage->rounds);
    /* Below 2^53 times 52. */
    out->sensitivity = (uint64_t)ceil((double)sensitivity * factor * (1 + 2 * DBL_EPSILON));
    out->high = (int64_t)range;
    out->low = -out->high;
    return STATUS_OK;
}

static enum status need(struct work_need *out, const struct work_view *view)
{
    out->flops = view->m * view->d * 10;
    out->bytes = WORK_NUMBER * view->d;
    return STATUS_OK;
}

static enum status describe(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    const struct stage *stage = setting->stage;
    enum status status = STATUS_OK;
    for (uint32_t within = 0; within < stage->rounds && status == STATUS_OK; within++) {
        char what[TERMS_TEXT_BYTES];
        const struct round_rows rows = round_rows(stage, within, setting->records);
        (void)snprintf(what, sizeof what, "one prediction of the average after %" PRIu64 " records",
                       rows.first + rows.count);
        status = terms_describe_score(terms, setting, within, what, why);
    }
    return status;
}

static size_t experts(const struct stage *stage, size_t agent_count)
{
    (void)stage;
    (void)agent_count;
    return 1;
}

const struct task_bounds task_bounds_online = {.input = INPUT_NONE,
                                               .helps = HELP_LATER_RELEASES | HELP_FEATURES,
                                               .rounds_differ = true,
                                               .time_is_public = true,
                                               .rows = rows,
                                               .experts = experts,
                                               .bounds = bounds,
                                               .need = need,
                                               .describe = describe};
