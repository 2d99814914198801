/* query_answers.c - what released sums say, a row for each kind of question. */

#include "query/query_answers.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/text.h"
#include "dp/encode.h"
#include "estimate/cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double doubt = 0.05; /* of each bar */

/* bar and error in grid steps. */
static void write_count(struct query_answer *answer, const struct query_run *run, int64_t sum,
                        double bar)
{
    const unsigned bits = run->set->grid_bits;
    const double n = (double)run->record_count;
    const double value = decode_value(sum, bits);
    const double width = ldexp(bar, -(int)bits);
    answer->value = cells_within(value, 0, n);
    answer->low = cells_within(value - width, 0, n);
    answer->high = cells_within(value + width, 0, n);
    answer->error = ldexp(query_noise_deviation(&run->noise), -(int)bits);
    answer->sampling = n > 0 ? sqrt(answer->value * (1 - answer->value / n)) : 0;
    answer->records = n;
    (void)snprintf(answer->unit, sizeof answer->unit, "records");
}

static void answer_mean(struct query_answer *answer, const struct answering *answering)
{
    const struct query_run *run = answering->run;
    const struct query *query = answering->query;
    const int64_t *sum = answering->sum;
    const double bar = query->is_partial ? answering->bar_of_ratio : answering->bar;
    const unsigned bits = run->set->grid_bits;
    const double width = query->high - query->low;
    const double numerator = decode_value(sum[0], bits);
    const double records =
        query->is_partial ? decode_value(sum[1], bits) : (double)run->record_count;
    const double ratio = query->is_partial ? 0.5 : 0;
    const double steps = ldexp(bar, -(int)bits);
    const double half_step = ldexp(0.5, -(int)bits); /* each record's value was rounded by less */
    double u = 0;
    double low = -0.5;
    double high = 0.5;
    answer->error = width / 2;
    answer->sampling = width / 2;
    if (records > 0) {
        const double deviation = ldexp(query_noise_deviation(&run->noise), -(int)bits);
        u = cells_within(numerator / records, -0.5, 0.5);
        low = cells_within((numerator - steps) / records - half_step, -0.5, 0.5);
        high = cells_within((numerator + steps) / records + half_step, -0.5, 0.5);
        answer->error =
            fmin(width / 2, width * deviation * sqrt(1 + (ratio > 0 ? u * u : 0)) / records);
        answer->sampling = fmin(width / 2, width * sqrt((0.25 - u * u) / records));
    }
    answer->value = query->low + width * (u + 0.5);
    answer->low = query->low + width * (low + 0.5);
    answer->high = query->low + width * (high + 0.5);
    (void)snprintf(answer->unit, sizeof answer->unit, "%s", query->column.name);
    (void)snprintf(answer->note, sizeof answer->note,
                   "values are clamped to %.6g .. %.6g; a missing one counts as %.6g", query->low,
                   query->high, query_imputed(&query->column));
    answer->records = (double)run->record_count;
}

static void answer_quantile(struct query_answer *answer, const struct answering *answering)
{
    const struct query_run *run = answering->run;
    const struct query *query = answering->query;
    const struct bisection *bisection = answering->bisection;
    answer->records = (double)run->record_count;
    answer->value = predicate_value(&query->column, bisection_threshold(bisection));
    answer->low = predicate_value(&query->column, bisection->bar_low);
    answer->high = predicate_value(&query->column, bisection->bar_high);
    answer->error = NAN;
    answer->sampling = NAN;
    (void)snprintf(answer->unit, sizeof answer->unit, "%s", query->column.name);
}

static void answer_count(struct query_answer *answer, const struct answering *answering)
{
    write_count(answer, answering->run, answering->sum[0], answering->bar);
}

static void answer_histogram(struct query_answer *answer, const struct answering *answering)
{
    const struct query *query = answering->query;
    for (size_t cell = 0; cell < query->cell_count; cell++) {
        char name[192] = "";
        query_cell_name(name, sizeof name, query, cell);
        query_part_name(answer[cell].name, query, "%s", name);
        write_count(&answer[cell], answering->run, answering->sum[cell], answering->bar);
    }
}

/* What a person should know of the question's values, behind what is said of them. What plans and checks alone warn of, the answer
 * shows by itself. */
static void add_note(struct query_answer *answer, const struct query *query)
{
    struct why note = {""};
    if (query->where.outside_at != 0 && query_has_note(query, &note)) {
        const size_t used = strlen(answer->note);
        query_say(answer, "%s%s", used > 0 ? "; " : "", note.text);
    }
}

void query_part_name(char name[static QUERY_NAME_BYTES], const struct query *query,
                     const char *format, ...)
{
    va_list arguments;
    (void)snprintf(name, QUERY_NAME_BYTES, "%s: ", query->text);
    va_start(arguments, format);
    text_add_list(name, QUERY_NAME_BYTES, format, arguments);
    va_end(arguments);
}

void query_say(struct query_answer *answer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_add_list(answer->note, sizeof answer->note, format, arguments);
    va_end(arguments);
}

static size_t one_answer(UNUSED const struct query *query)
{
    return 1;
}

static size_t cell_answers(const struct query *query)
{
    return query->cell_count;
}

static const struct query_answers_row rows[QUERY_KINDS] = {
    [QUERY_COUNT] = {one_answer, answer_count, NULL, NULL},
    [QUERY_MEAN] = {one_answer, answer_mean, NULL, NULL},
    [QUERY_HISTOGRAM] = {cell_answers, answer_histogram, NULL, NULL},
    [QUERY_QUANTILE] = {one_answer, answer_quantile, NULL, NULL},
    [QUERY_SURVIVAL] = {survival_answers, answer_survival, survival_points, point_survival},
    [QUERY_CROSSTAB] = {crosstab_answers, answer_crosstab, NULL, NULL},
    [QUERY_TABLE1] = {table1_answers, answer_table1, NULL, NULL},
    [QUERY_EVALUATE] = {evaluate_answers, answer_evaluate, evaluate_points, point_evaluate},
    [QUERY_CORRELATE] = {correlate_answers, answer_correlate, NULL, NULL},
    [QUERY_PCA] = {pca_answers, answer_pca, NULL, NULL},
    [QUERY_REGRESS] = {regress_answers, answer_regress, NULL, NULL},
    [QUERY_CONCORDANCE] = {concordance_answers, answer_concordance, NULL, NULL},
};

size_t query_run_answer_count(const struct query_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        count += rows[set->query[i].kind].count(&set->query[i]);
    }
    return count;
}

static size_t point_count(const struct query *query)
{
    return rows[query->kind].point_count != NULL ? rows[query->kind].point_count(query) : 0;
}

size_t query_run_point_count(const struct query_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        count += point_count(&set->query[i]);
    }
    return count;
}

void query_run_answers(struct query_answer *answer, const struct query_run *run)
{
    const struct query_set *set = run->set;
    CHECK(run->round == set->round_count);
    struct answering answering = {.run = run,
                                  .sum = run->sum,
                                  .bar = query_noise_bar(&run->noise, 0, doubt),
                                  .bar_of_ratio = query_noise_bar(&run->noise, 0.5, doubt)};
    for (size_t i = 0; i < set->count; i++) {
        const struct query *query = &set->query[i];
        const size_t count = rows[query->kind].count(query);
        answering.query = query;
        answering.bisection = &run->bisection[i];
        for (size_t j = 0; j < count; j++) {
            answer[j] = (struct query_answer){.total_low = NAN, .total_high = NAN};
            (void)snprintf(answer[j].name, sizeof answer[j].name, "%s", query->text);
        }
        rows[query->kind].write(answer, &answering);
        for (size_t j = 0; j < count; j++) {
            add_note(&answer[j], query);
            letters_mend(answer[j].name);
            letters_mend(answer[j].note);
        }
        answer += count;
        answering.sum += query->cell_count;
    }
}

void query_run_points(struct query_point *point, const struct query_run *run)
{
    const struct query_set *set = run->set;
    struct answering answering = {.run = run, .sum = run->sum};
    CHECK(run->round == set->round_count);
    for (size_t i = 0; i < set->count; i++) {
        const struct query *query = &set->query[i];
        answering.query = query;
        if (point_count(query) > 0) {
            rows[query->kind].points(point, &answering);
        }
        point += point_count(query);
        answering.sum += query->cell_count;
    }
}
