/* query_answers_evaluate.c - how well a score tells who has an event: in each group and in all. */

#include "estimate/evaluate.h"
#include "query/query_advice.h"
#include "query/query_answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS_LEAST = 2 + EVALUATE_BANDS,
    ROWS_OF_CUT = 3,
    ROWS_MOST = ROWS_LEAST + ROWS_OF_CUT + 2, /* and of a column, and of a risk */
    POINTS_OF_BENEFIT = EVALUATE_BANDS - 1,
    LABEL_BYTES = SCHEMA_NAME_BYTES
};

static size_t rows_of(const struct query *query)
{
    const size_t of_cut = query->cut_band > 0 ? ROWS_OF_CUT : 0;
    return ROWS_LEAST + of_cut + (query->score == NULL ? 1 : 0) + (query_is_risk(query) ? 1 : 0);
}

size_t evaluate_answers(const struct query *query)
{
    return table_columns(query) * (1 + rows_of(query));
}

static double edge_of(const struct query *query, size_t band)
{
    const size_t wide = query->intervals / EVALUATE_BANDS;
    return band == 0                ? query->low
           : band == EVALUATE_BANDS ? query->high
                                    : query->edge[band * wide - 1];
}

void query_score_edges(double *out, const struct query *query)
{
    out[0] = query->low;
    for (size_t k = 1; k < query->intervals; k++) {
        out[k] = query->edge[k - 1];
    }
    out[query->intervals] = query->high;
}

struct row_written {
    const char *variable;
    char label[LABEL_BYTES];
    struct table1_figure figure;
    const char *unit;
    unsigned parts; /* of the records that a share is of; 0: it is none */
};

/* row: (rows_of) */
static void set_rows(struct row_written *row, const struct query *query,
                     const struct table1_column *column)
{
    const char *score = query->column.name;
    *row++ = (struct row_written){score, "AUC", evaluate_auc(column), "AUC", 0};
    if (query->cut_band > 0) {
        const size_t wide = query->intervals / EVALUATE_BANDS;
        const double cut = edge_of(query, query->cut_band);
        const struct evaluate_cut of_cut = evaluate_cut(column, query->cut_band * wide);
        row[0] = (struct row_written){score, "", of_cut.accuracy, "share", EVALUATE_PARTS_ALL};
        row[1] = (struct row_written){score, "", of_cut.sensitivity, "share", EVALUATE_PARTS_WITH};
        row[2] =
            (struct row_written){score, "", of_cut.specificity, "share", EVALUATE_PARTS_WITHOUT};
        (void)snprintf(row[0].label, LABEL_BYTES, "accuracy at %.6g", cut);
        (void)snprintf(row[1].label, LABEL_BYTES, "sensitivity at %.6g", cut);
        (void)snprintf(row[2].label, LABEL_BYTES, "specificity at %.6g", cut);
        row += ROWS_OF_CUT;
    }
    if (query->score == NULL) { /* a model answers for every record */
        *row++ = (struct row_written){score, "missing", table1_count(column, column->levels),
                                      "records", 0};
    }
    *row++ = (struct row_written){"with the event", "of all", evaluate_prevalence(column), "share",
                                  EVALUATE_PARTS_ALL};
    if (query_is_risk(query)) {
        double edge[EVALUATE_LEVELS_MAX + 1];
        query_score_edges(edge, query);
        *row++ =
            (struct row_written){"with the event", "less the mean score",
                                 evaluate_in_the_large(column, edge), "share", EVALUATE_PARTS_ALL};
    }
    for (size_t band = 0; band < EVALUATE_BANDS; band++, row++) {
        const unsigned parts = (1U << band) | (1U << (EVALUATE_BANDS + band));
        *row =
            (struct row_written){"with the event", "", evaluate_band(column, band), "share", parts};
        (void)snprintf(row->label, LABEL_BYTES, "score in %.6g to %.6g", edge_of(query, band),
                       edge_of(query, band + 1));
    }
}

/* The cells of a question, and what they agree on. */
struct scored {
    double cell[SURVIVAL_GROUPS_MAX * (TABLE1_LEVELS_MAX + 1) + 1];
    struct table1_sizes sizes;
    struct table1_block block;
};

static void scored_init(struct scored *out, const struct answering *answering)
{
    const struct query *query = answering->query;
    query_balanced_cells(out->cell, answering);
    out->block = (struct table1_block){out->cell, 2 * query->intervals, NULL,
                                       query_cell_variance(answering->run)};
    table1_agree(&out->sizes, &out->block, 1, query_groups(query),
                 (double)answering->run->record_count);
}

void answer_evaluate(struct query_answer *answer, const struct answering *answering)
{
    const struct query *query = answering->query;
    const size_t rows = rows_of(query);
    struct scored scored;
    scored_init(&scored, answering);
    double told[TABLE_COLUMNS_MAX];
    double missing = 0; /* of all groups */
    table_tell_sizes(answer, told, answering, &scored.sizes);
    answer += table_columns(query);
    for (size_t group = 0; group < table_columns(query); group++) {
        struct row_written row[ROWS_MOST];
        struct table1_column column;
        table1_column_of(&column, &scored.block, &scored.sizes, group);
        const struct table1_figure size = table1_size(&scored.sizes, group);
        set_rows(row, query, &column);
        for (size_t i = 0; i < rows; i++, answer++) {
            const struct table1_figure *figure = &row[i].figure;
            const struct table1_refused refused = {&column, group,        0,
                                                   2,       evaluate_auc, row[i].parts};
            const bool is_refused = isnan(figure->estimate.value) && (i == 0 || row[i].parts != 0);
            const struct advice advice =
                is_refused ? table1_advice(answering, &refused)
                           : advice_of_noise(answering, table1_factor_told(figure));
            table_tell_advised(answer, answering, figure, row[i].unit, &advice);
            table_place(answer, query, row[i].variable, row[i].label, group);
            if (strcmp(row[i].unit, "records") == 0) { /* missing scores */
                const bool is_group = group < query_groups(query);
                const double own = answer->value > told[group] ? told[group] : answer->value;
                missing += is_group ? own : 0;
                query_tell_agreed(answer, is_group || isnan(missing) ? own : missing);
            }
            table_say_empty(answer, answering, &size);
        }
    }
}

size_t evaluate_points(const struct query *query)
{
    const size_t of_benefit = query_is_risk(query) ? 2 * POINTS_OF_BENEFIT : 0;
    return table_columns(query) * (EVALUATE_BANDS + of_benefit);
}

static void set_point(struct query_point *point, const char *curve, double at,
                      const struct table1_figure *figure)
{
    *point = (struct query_point){.time = at,
                                  .value = figure->estimate.value,
                                  .low = figure->estimate.low,
                                  .high = figure->estimate.high,
                                  .band_low = NAN,
                                  .band_high = NAN,
                                  .noise_low = figure->noise_low,
                                  .noise_high = figure->noise_high,
                                  .at_risk = NAN};
    (void)snprintf(point->curve, sizeof point->curve, "%s", curve);
}

/* The calibration, at each band's middle; of a risk the net benefit at each threshold, and that of treating all. */
static size_t set_points(struct query_point *point, const struct query *query,
                         const struct table1_column *column)
{
    const size_t wide = query->intervals / EVALUATE_BANDS;
    size_t count = 0;
    for (size_t band = 0; band < EVALUATE_BANDS; band++) {
        const struct table1_figure share = evaluate_band(column, band);
        const double middle = (edge_of(query, band) + edge_of(query, band + 1)) / 2;
        set_point(&point[count++], "calibration", middle, &share);
    }
    for (size_t i = 0; i < 2 * POINTS_OF_BENEFIT && query_is_risk(query); i++) {
        const size_t band = i % POINTS_OF_BENEFIT + 1;
        const bool all = i >= POINTS_OF_BENEFIT;
        const double threshold = edge_of(query, band);
        const struct table1_figure benefit =
            evaluate_net_benefit(column, all ? 0 : band * wide, threshold);
        set_point(&point[count++], all ? "net benefit, all treated" : "net benefit", threshold,
                  &benefit);
    }
    return count;
}

void point_evaluate(struct query_point *point, const struct answering *answering)
{
    const struct query *query = answering->query;
    struct scored scored;
    scored_init(&scored, answering);
    for (size_t group = 0; group < table_columns(query); group++) {
        struct table1_column column;
        table1_column_of(&column, &scored.block, &scored.sizes, group);
        const size_t count = set_points(point, query, &column);
        for (size_t i = 0; i < count; i++, point++) {
            (void)snprintf(point->question, sizeof point->question, "%s", query->text);
            (void)snprintf(point->group, sizeof point->group, "%s", table_group(query, group));
        }
    }
}
