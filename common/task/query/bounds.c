/* How far a record moves the answers' cells. */

#include "query/predicate.h"
#include "query/query_between.h"
#include "query/query_run.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

enum { QUANTILE_STEPS = 1024 }; /* of a record */
enum { WORK_CELL_FLOPS = 8 };   /* each cell is gone through for each record */

static size_t answer_count(const struct round_asked *asked)
{
    return query_set_cells(&query_stage(asked->stage)->queries, asked->within);
}

static enum status bounds(struct round_bounds *out, const struct round_asked *asked)
{
    const struct query_set *set = &query_stage(asked->stage)->queries;
    out->sensitivity = asked->stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN
                           ? query_set_sensitivity_l2(set, asked->within)
                           : query_set_sensitivity_l1(set, asked->within);
    out->high = (int64_t)asked->stage->batch << asked->stage->grid_bits; /* at most 2^30 * 2^24 */
    out->low = -out->high;
    return STATUS_OK;
}

static enum status need(struct work_need *out, const struct work_view *view)
{
    const double cells = (double)query_set_cells(&query_stage(view->stage)->queries, 0);
    out->flops =
        view->rows * ((double)query_stage(view->stage)->queries.count * WORK_PREDICATE_FLOPS +
                      WORK_CELL_FLOPS * cells);
    out->flops += view->rows * 2 * (double)query_stage(view->stage)->score_count *
                  (double)schema_feature_count(&view->job->schema);
    out->bytes = WORK_NUMBER * 3 * cells;
    return STATUS_OK;
}

/* A mean's numerator is divided by the records that match; how many is not public. */
static enum status describe_mean(const struct query_asking *asking)
{
    const struct query *query = asking->query;
    struct terms_line *line = terms_add_line(asking->terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    const double width = query->high - query->low;
    const double matching = query->is_partial ? asking->records / 2 : asking->records;
    const double ratio = query->is_partial ? 0.5 : 0;
    (void)snprintf(line->unit, sizeof line->unit, "%s", query->column.name);
    line->noise = width * asking->deviation * sqrt(1 + ratio * ratio) / matching;
    line->bar =
        width * asking->step * query_noise_bar(asking->noise, ratio, TERMS_BAR_MISSES) / matching;
    line->noise_to_signal = line->bar / (TERMS_TENTH * width);
    line->measure = "the 95 % bar is a tenth of the column's public range";
    (void)snprintf(line->what, sizeof line->what, "%s%s", query->text,
                   query->is_partial ? ", if half of the records match" : "");
    query_say_needed(line, "a group", matching * line->noise_to_signal, 0, true);
    return STATUS_OK;
}

/* The interval that exact counts leave, whose noise may have been anything within the bar: of values that are even over the
 * range. */
static enum status describe_quantile(const struct query_asking *asking, double bar, double needed)
{
    const struct query *query = asking->query;
    const double matching = query->is_partial ? asking->records / 2 : asking->records;
    const struct column *column = &query->column;
    const double low = column->centre - column->half_width;
    const struct query_group all = {.who = "a group", .column = TERMS_OF_ALL};
    struct bisection bisection;
    bisection_init(&bisection, low, low + 2 * column->half_width);
    for (uint32_t i = 0; i < query->rounds; i++) {
        const double share =
            (bisection_threshold(&bisection) - low) / (2 * column->half_width) - query->share;
        bisection_observe(&bisection, (int64_t)(share * matching * QUANTILE_STEPS),
                          bar * QUANTILE_STEPS);
    }
    const double width =
        predicate_value(column, bisection.bar_high) - predicate_value(column, bisection.bar_low);
    const struct query_half half = {"quantile, of even values",
                                    column->name,
                                    "half of the interval is a tenth",
                                    width / 2,
                                    TERMS_TENTH,
                                    needed,
                                    true};
    return query_add_half(asking, &half, &all, "quantile, of values that are even over the range%s",
                          query->is_partial ? ", if half of the records match" : "");
}

static enum status describe_counts(const struct query_asking *asking)
{
    const struct query *query = asking->query;
    const bool is_quantile = query->kind == QUERY_QUANTILE;
    struct terms_line *line = terms_add_line(asking->terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->unit, sizeof line->unit, "records");
    line->noise = asking->deviation;
    line->bar =
        asking->step *
        query_noise_bar(asking->noise, 0, TERMS_BAR_MISSES / (is_quantile ? query->rounds : 1));
    line->noise_to_signal = line->bar / (TERMS_TENTH * asking->records);
    line->measure = "the 95 % bar is a tenth of the records";
    /* A count says something where it cannot be none. */
    const double needed = is_quantile ? line->bar / TERMS_TENTH : line->bar;
    (void)snprintf(line->what, sizeof line->what, "%s%s", query->text,
                   is_quantile                      ? ": each round's count"
                   : query->kind == QUERY_HISTOGRAM ? ": each cell"
                                                    : "");
    query_say_needed(line, "a group", needed, 0, true);
    query_place(line, query, "", TERMS_OF_NONE, 0, 0);
    line->place.question *= is_quantile;
    if (!is_quantile) {
        return STATUS_OK;
    }
    /* For a round, either side: query_run_observe. */
    const double side = fmin(2 * TERMS_BAR_MISSES / query->rounds, 0.5);
    return describe_quantile(asking, asking->step * query_noise_bar(asking->noise, 0, side),
                             needed);
}

static enum status (*const describers[QUERY_KINDS])(const struct query_asking *asking) = {
    [QUERY_COUNT] = describe_counts,           [QUERY_MEAN] = describe_mean,
    [QUERY_HISTOGRAM] = describe_counts,       [QUERY_QUANTILE] = describe_counts,
    [QUERY_SURVIVAL] = query_terms_survival,   [QUERY_CROSSTAB] = query_terms_crosstab,
    [QUERY_TABLE1] = query_terms_table1,       [QUERY_EVALUATE] = query_terms_evaluate,
    [QUERY_CORRELATE] = query_terms_correlate, [QUERY_PCA] = query_terms_pca,
    [QUERY_REGRESS] = query_terms_regress,     [QUERY_CONCORDANCE] = query_terms_evaluate,
};

/* What each question tells of all agents' sum; by_site: of each agent's own answer. */
static enum status describe_all(struct terms *terms, const struct terms_setting *setting,
                                bool by_site, struct why *why)
{
    const struct stage *stage = setting->stage;
    const struct query_set *set = &query_stage(stage)->queries;
    struct terms_setting of = *setting;
    struct query_noise noise = {0};
    of.agents = by_site ? 1 : setting->agents;
    enum status status = terms_noise(&noise, &of, 0, why);
    struct query_asking asking = {.terms = terms,
                                  .noise = &noise,
                                  .step = ldexp(1, -(int)stage->grid_bits),
                                  .records = (double)of.agents * (double)stage->batch};
    asking.deviation = asking.step * query_noise_deviation(&noise);
    for (size_t i = 0; i < set->count && status == STATUS_OK; i++) {
        asking.query = &set->query[i];
        if (!by_site) {
            status = describers[asking.query->kind](&asking);
        } else if (query_effect_count(asking.query) > 0) {
            status = query_terms_site(&asking, setting->agents);
        }
    }
    return status;
}

static enum status describe(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    const enum status status = describe_all(terms, setting, false, why);
    return status == STATUS_OK && setting->stage->by_site ? describe_all(terms, setting, true, why)
                                                          : status;
}

/* The bisections of quantiles begin at the columns' public ranges. */
static enum round_input input_of(const struct stage *stage, uint32_t within)
{
    return within == 0 && !query_set_wants_model(&query_stage(stage)->queries) ? INPUT_NONE
                                                                               : INPUT_STATE;
}

/* Or the model that is judged, over the blocks of all maps. */
static size_t state_count(const struct stage *stage)
{
    return query_set_wants_model(&query_stage(stage)->queries) ? stage->block.all
                                                               : query_stage(stage)->queries.count;
}

static const struct query_set *queries(const struct stage *stage)
{
    return &query_stage(stage)->queries;
}

const struct task_bounds task_bounds_query = {.queries = queries,
                                              .input_of = input_of,
                                              .state_count = state_count,
                                              .helps = HELP_RECORDS,
                                              .time_is_public = true,
                                              .answer_count = answer_count,
                                              .bounds = bounds,
                                              .need = need,
                                              .describe = describe};
