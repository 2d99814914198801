/* How far a record moves the answers' cells. */

#include "estimate/cells.h"
#include "estimate/correlate.h"
#include "estimate/crosstab.h"
#include "estimate/evaluate.h"
#include "estimate/pca.h"
#include "query/query_between.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

enum { WORK_CELL_FLOPS = 8 }; /* each cell is gone through for each record */

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
    out->bytes = WORK_NUMBER * 3 * cells;
    return STATUS_OK;
}

/* Of the first row's share, where all cells are alike. */
static enum status describe_table(struct terms *terms, const struct query *query,
                                  const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const size_t rows = query->factor[0].column.category_count;
    double cell[CROSSTAB_CELLS_MAX];
    struct terms_line *line = terms_add_line(terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->what, sizeof line->what, "%s: each cell", query->text);
    (void)snprintf(line->unit, sizeof line->unit, "records");
    line->noise = deviation;
    line->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    line->noise_to_signal = line->bar * (double)query_table_cells(query) / records;
    line->measure = "the 95 % bar is the mean cell";
    if (query->factor_count != 2 || query->factor[1].column.category_count != 2) {
        return STATUS_OK;
    }
    line = terms_add_line(terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < 2 * rows; i++) {
        cell[i] = records / (2 * (double)rows);
    }
    const struct estimate share =
        crosstab_share(&(struct crosstab_cells){.cell = cell,
                                                .rows = rows,
                                                .columns = 2,
                                                .m = query->cell_count,
                                                .variance = deviation * deviation},
                       0);
    (void)snprintf(line->what, sizeof line->what,
                   "%s: half of a share's 95 %% interval, if all cells are alike", query->text);
    (void)snprintf(line->unit, sizeof line->unit, "share");
    line->bar = (share.high - share.low) / 2;
    line->noise_to_signal = isnan(line->bar) ? 2 : line->bar / TERMS_TENTH;
    line->measure = "half of the interval is a tenth";
    return STATUS_OK;
}

/* How many records a group needs, for the end of a line. */
static void say_group(char text[static 64], double records)
{
    (void)snprintf(text, 64, "no group is large enough");
    if (isfinite(records)) {
        (void)snprintf(text, 64, "a group needs about %.0f records", ceil(records));
    }
}

/* The interval's half-width counts: sampling and noise together. */
static enum status describe_survival(struct terms *terms, const struct query *query,
                                     const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const struct survival_public known = {
        .records = records, .groups = query_groups(query), .variance = deviation * deviation};
    const struct survival_expected expected = survival_expect(&known, query->intervals);
    struct terms_line *cell = terms_add_line(terms);
    struct terms_line *share = cell != NULL ? terms_add_line(terms) : NULL;
    struct terms_line *mean = share != NULL ? terms_add_line(terms) : NULL;
    if (mean == NULL) {
        return STATUS_NO_MEMORY;
    }
    cell = mean - 2;
    share = mean - 1;
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu cells of %zu intervals",
                   query->text, query->cell_count, query->intervals);
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    char group[64];
    say_group(group, expected.group);
    (void)snprintf(share->what, sizeof share->what,
                   "%s: half of the share's 95 %% interval at the end, if half die; %s",
                   query->text, group);
    (void)snprintf(share->unit, sizeof share->unit, "share");
    share->bar = expected.survival;
    share->noise_to_signal = isnan(expected.survival) ? 2 : expected.survival / TERMS_TENTH;
    share->measure = "half of the interval is a tenth";
    (void)snprintf(mean->what, sizeof mean->what, "%s: the same of a mean up to the end",
                   query->text);
    (void)snprintf(mean->unit, sizeof mean->unit, "%s", query->column.name);
    mean->bar = expected.mean * query->end;
    mean->noise_to_signal = isnan(expected.mean) ? 2 : expected.mean / TERMS_TENTH;
    mean->measure = "half of the interval is a tenth of the time";
    return STATUS_OK;
}

/* Of each variable the answer that needs most: a share, or a mean; groups alike. */
static enum status describe_table1(struct terms *terms, const struct query *query,
                                   const struct query_noise *noise, double step, double records)
{
    const double one = 1 / step;
    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        const bool is_number = variable->column.kind == COLUMN_NUMBER;
        const double part = (double)query_part_of(variable, (uint64_t)one);
        const double deviation = query_noise_deviation(noise) / part;
        const struct table1_expected expected =
            table1_expect(&(struct table1_public){.records = records,
                                                  .groups = query_groups(query),
                                                  .variance = deviation * deviation},
                          is_number, variable->levels);
        struct terms_line *cell = terms_add_line(terms);
        struct terms_line *line = cell != NULL ? terms_add_line(terms) : NULL;
        char group[64];
        if (line == NULL) {
            return STATUS_NO_MEMORY;
        }
        cell = line - 1;
        (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu cells of %s", query->text,
                       query_variable_cells(query, variable), variable->column.name);
        (void)snprintf(cell->unit, sizeof cell->unit, "records");
        cell->noise = deviation;
        cell->bar = query_noise_bar(noise, 0, TERMS_BAR_MISSES) / part;
        say_group(group, expected.group);
        const double range =
            is_number ? variable->step[variable->levels - 1] - variable->step[0] : 1;
        const double half = is_number ? expected.mean : expected.share;
        (void)snprintf(
            line->what, sizeof line->what,
            "%s: half of the 95 %% interval of %s, if all groups are alike; %s", query->text,
            is_number ? "a mean of values that spread by a sixth of the range" : "a share", group);
        (void)snprintf(line->unit, sizeof line->unit, "%s",
                       is_number ? variable->column.name : "share");
        line->bar = half * range;
        line->noise_to_signal = isnan(half) ? 2 : half / TERMS_TENTH;
        line->measure = is_number ? "half of the interval is a tenth of the range"
                                  : "half of the interval is a tenth";
    }
    return STATUS_OK;
}

static enum status describe_evaluate(struct terms *terms, const struct query *query,
                                     const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const struct table1_public known = {
        .records = records, .groups = query_groups(query), .variance = deviation * deviation};
    double needed = NAN;
    const double half = evaluate_expect(&needed, &known, query->intervals);
    struct terms_line *cell = terms_add_line(terms);
    struct terms_line *line = cell != NULL ? terms_add_line(terms) : NULL;
    char group[64];
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    cell = line - 1;
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu cells of %zu levels",
                   query->text, query->cell_count, query->intervals);
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    say_group(group, needed);
    (void)snprintf(line->what, sizeof line->what,
                   "%s: half of the AUC's 95 %% interval, if a fifth have the event; %s",
                   query->text, group);
    (void)snprintf(line->unit, sizeof line->unit, "AUC");
    line->bar = half;
    line->noise_to_signal = isnan(half) ? 2 : half / TERMS_TENTH;
    line->measure = "half of the interval is a tenth";
    return STATUS_OK;
}

/* Of two columns as correlate_plan's. */
static enum status describe_correlate(struct terms *terms, const struct query *query,
                                      const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const struct correlate_public known = {.records = records, .variance = deviation * deviation};
    double needed = NAN;
    const double half = correlate_expect(&needed, &known, query->parts);
    struct terms_line *cell = terms_add_line(terms);
    struct terms_line *line = cell != NULL ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    cell = line - 1;
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu sums of %zu part%s", query->text,
                   query->cell_count, query->parts, query->parts > 1 ? "s" : "");
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    (void)snprintf(
        line->what, sizeof line->what,
        "%s: half of the 95 %% interval of a correlation of 0, of values that spread by a "
        "sixth of the range; that needs about %.0f records",
        query->text, ceil(needed));
    (void)snprintf(line->unit, sizeof line->unit, "correlation");
    line->bar = half;
    line->noise_to_signal = isnan(half) ? 2 : half / (2 * TERMS_TENTH);
    line->measure = "half of the interval is a fifth";
    return STATUS_OK;
}

/* How far the noise and the sampling move a component's share, of columns as correlate_plan's. */
static enum status describe_pca(struct terms *terms, const struct query *query,
                                const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const struct correlate_public known = {.records = records, .variance = deviation * deviation};
    double needed = NAN;
    const double edge = pca_expect(&needed, &known, query->variable_count);
    struct terms_line *line = terms_add_line(terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->what, sizeof line->what,
                   "%s: how far an explained share moves, of values that spread by a sixth of the "
                   "range; shares need about %.0f records",
                   query->text, ceil(needed));
    (void)snprintf(line->unit, sizeof line->unit, "share");
    line->noise = edge;
    line->noise_to_signal = records < needed ? 2 : edge / TERMS_TENTH;
    line->measure = "a share moves by a tenth";
    return STATUS_OK;
}

/* A mean's numerator is divided by the records that match; how many is not public. */
static void describe_mean(struct terms_line *line, const struct query *query,
                          const struct query_noise *noise, double step, double records)
{
    const double width = query->high - query->low;
    const double matching = query->is_partial ? records / 2 : records;
    const double ratio = query->is_partial ? 0.5 : 0;
    const char *half = query->is_partial ? ", if half of the records match" : "";
    (void)snprintf(line->what, sizeof line->what, "%s%s", query->text, half);
    (void)snprintf(line->unit, sizeof line->unit, "%s", query->column.name);
    line->noise = width * step * query_noise_deviation(noise) * sqrt(1 + ratio * ratio) / matching;
    line->bar = width * step * query_noise_bar(noise, ratio, TERMS_BAR_MISSES) / matching;
    line->noise_to_signal = line->bar / (TERMS_TENTH * width);
    line->measure = "the 95 % bar is a tenth of the column's public range";
}

static void describe_question(struct terms_line *line, const struct query *query,
                              const struct query_noise *noise, double step, double records)
{
    const bool is_quantile = query->kind == QUERY_QUANTILE;
    if (query->kind == QUERY_MEAN) {
        describe_mean(line, query, noise, step, records);
        return;
    }
    (void)snprintf(line->what, sizeof line->what, "%s%s", query->text,
                   is_quantile                      ? ": each round's count"
                   : query->kind == QUERY_HISTOGRAM ? ": each cell"
                                                    : "");
    (void)snprintf(line->unit, sizeof line->unit, "records");
    line->noise = step * query_noise_deviation(noise);
    line->bar =
        step * query_noise_bar(noise, 0, TERMS_BAR_MISSES / (is_quantile ? query->rounds : 1));
    line->noise_to_signal = line->bar / (TERMS_TENTH * records);
    line->measure = "the 95 % bar is a tenth of the records";
}

/* Of one site as large as the batch: sampling and its own noise. A difference of two shares is twice as uncertain as a share. */
static enum status describe_site(struct terms *terms, const struct query *query,
                                 const struct query_noise *noise, double step, double n)
{
    const bool is_mean = query->kind == QUERY_MEAN;
    const bool is_table = query->kind == QUERY_CROSSTAB;
    const double width = is_mean ? query->high - query->low : 1;
    const double deviation = step * query_noise_deviation(noise) / n;
    const double half =
        (is_table ? 2 : 1) * width * hypot(ESTIMATE_Z / 2 / sqrt(n), ESTIMATE_Z_NOISE * deviation);
    struct terms_line *line = terms_add_line(terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->what, sizeof line->what, "%s: half of one site's 95 %% interval of %s",
                   query->text,
                   is_mean    ? "the mean, of the widest spread"
                   : is_table ? "the shares' difference, if all cells are alike"
                              : "the share, if half match");
    (void)snprintf(line->unit, sizeof line->unit, "%s", is_mean ? query->column.name : "share");
    line->bar = deviation > (is_table ? 0.1 / sqrt(2) : 0.2) ? NAN : half; /* not given */
    line->noise_to_signal = isnan(line->bar) ? 2 : half / width / (2 * TERMS_TENTH);
    line->measure = "half of the interval is a fifth of the range";
    return STATUS_OK;
}

static enum status describe_sites(struct terms *terms, const struct terms_setting *setting,
                                  double step, struct why *why)
{
    const struct query_set *set = &query_stage(setting->stage)->queries;
    struct terms_setting one = *setting;
    struct query_noise noise = {0};
    one.agents = 1;
    enum status status = terms_noise(&noise, &one, 0, why);
    for (size_t i = 0; i < set->count && status == STATUS_OK; i++) {
        if (query_effect_count(&set->query[i]) > 0) {
            status = describe_site(terms, &set->query[i], &noise, step, setting->stage->batch);
        }
    }
    return status;
}

static enum status describe(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    const struct stage *stage = setting->stage;
    const double step = ldexp(1, -(int)stage->grid_bits);
    const double records = (double)setting->agents * (double)stage->batch;
    struct query_noise noise = {0};
    enum status status = terms_noise(&noise, setting, 0, why);
    for (size_t i = 0; i < query_stage(stage)->queries.count && status == STATUS_OK; i++) {
        const struct query *query = &query_stage(stage)->queries.query[i];
        if (query->kind == QUERY_SURVIVAL) {
            status = describe_survival(terms, query, &noise, step, records);
            continue;
        }
        if (query->kind == QUERY_REGRESS) {
            status = query_terms_regress(terms, query, &noise, step, records);
            continue;
        }
        if (query->kind == QUERY_PCA) {
            status = describe_pca(terms, query, &noise, step, records);
            continue;
        }
        if (query->kind == QUERY_CORRELATE) {
            status = describe_correlate(terms, query, &noise, step, records);
            continue;
        }
        if (query->kind == QUERY_EVALUATE) {
            status = describe_evaluate(terms, query, &noise, step, records);
            continue;
        }
        if (query->kind == QUERY_TABLE1) {
            status = describe_table1(terms, query, &noise, step, records);
            continue;
        }
        if (query->kind == QUERY_CROSSTAB) {
            status = describe_table(terms, query, &noise, step, records);
            continue;
        }
        struct terms_line *line = terms_add_line(terms);
        if (line == NULL) {
            return STATUS_NO_MEMORY;
        }
        describe_question(line, query, &noise, step, records);
    }
    return status == STATUS_OK && stage->by_site ? describe_sites(terms, setting, step, why)
                                                 : status;
}

/* The bisections of quantiles begin at the columns' public ranges. */
static enum round_input input_of(UNUSED const struct stage *stage, uint32_t within)
{
    return within == 0 ? INPUT_NONE : INPUT_STATE;
}

static size_t state_count(const struct stage *stage)
{
    return query_stage(stage)->queries.count;
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
