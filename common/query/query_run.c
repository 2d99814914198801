#include "query/query_run.h"

#include "base/check.h"
#include "dp/encode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double doubt = 0.05; /* of each bar */

enum status query_run_init(struct query_run *run, const struct query_set *set)
{
    *run = (struct query_run){.set = set};
    run->threshold = calloc(set->count, sizeof *run->threshold);
    run->bisection = calloc(set->count, sizeof *run->bisection);
    run->sum = calloc(query_set_cells(set, 0), sizeof *run->sum);
    if (run->threshold == NULL || run->bisection == NULL || run->sum == NULL) {
        query_run_free(run);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct query *query = &set->query[i];
        if (query->kind == QUERY_QUANTILE) {
            const struct column *column = &query->column;
            bisection_init(&run->bisection[i], column->centre - column->half_width,
                           column->centre + column->half_width);
            run->threshold[i] = bisection_threshold(&run->bisection[i]);
        }
    }
    return STATUS_OK;
}

void query_run_free(struct query_run *run)
{
    if (run != NULL) {
        free(run->threshold);
        free(run->bisection);
        free(run->sum);
        *run = (struct query_run){0};
    }
}

void query_run_observe(struct query_run *run, const int64_t *sum, const struct query_noise *noise,
                       uint64_t record_count)
{
    const struct query_set *set = run->set;
    CHECK(run->round < set->round_count);
    if (run->round == 0) {
        memcpy(run->sum, sum, query_set_cells(set, 0) * sizeof *sum);
        run->noise = *noise;
        run->record_count = record_count;
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct query *query = &set->query[i];
        if (!query_is_asked(query, run->round)) {
            continue;
        }
        if (query->kind == QUERY_QUANTILE) {
            const double bar = query_noise_bar(noise, 0, fmin(2 * doubt / query->rounds, 0.5));
            bisection_observe(&run->bisection[i], sum[0], bar);
            run->threshold[i] = bisection_threshold(&run->bisection[i]);
        }
        sum += query->cell_count;
    }
    run->round++;
}

size_t query_run_answer_count(const struct query_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        count += set->query[i].kind == QUERY_HISTOGRAM ? set->query[i].cell_count : 1;
    }
    return count;
}

static double within(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* bar and error in grid steps. */
static void answer_count(struct query_answer *answer, const struct query_run *run, int64_t sum,
                         double bar)
{
    const unsigned bits = run->set->grid_bits;
    const double n = (double)run->record_count;
    const double value = decode_value(sum, bits);
    const double width = ldexp(bar, -(int)bits);
    answer->value = within(value, 0, n);
    answer->low = within(value - width, 0, n);
    answer->high = within(value + width, 0, n);
    answer->error = ldexp(query_noise_deviation(&run->noise), -(int)bits);
    answer->sampling = n > 0 ? sqrt(answer->value * (1 - answer->value / n)) : 0;
    answer->records = n;
    (void)snprintf(answer->unit, sizeof answer->unit, "records");
}

static void answer_mean(struct query_answer *answer, const struct query_run *run,
                        const struct query *query, const int64_t *sum, double bar)
{
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
        u = within(numerator / records, -0.5, 0.5);
        low = within((numerator - steps) / records - half_step, -0.5, 0.5);
        high = within((numerator + steps) / records + half_step, -0.5, 0.5);
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

static void answer_quantile(struct query_answer *answer, const struct query_run *run,
                            const struct query *query, const struct bisection *bisection)
{
    answer->records = (double)run->record_count;
    answer->value = predicate_value(&query->column, bisection_threshold(bisection));
    answer->low = predicate_value(&query->column, bisection->bar_low);
    answer->high = predicate_value(&query->column, bisection->bar_high);
    answer->error = NAN;
    answer->sampling = NAN;
    (void)snprintf(answer->unit, sizeof answer->unit, "%s", query->column.name);
}

static size_t answer_cells(struct query_answer *answer, const struct query_run *run,
                           const struct query *query, const int64_t *sum, double bar)
{
    for (size_t cell = 0; cell < query->cell_count; cell++) {
        char name[192] = "";
        if (query->kind == QUERY_HISTOGRAM) {
            query_cell_name(name, sizeof name, query, cell);
        }
        (void)snprintf(answer[cell].name, sizeof answer[cell].name, "%s%s%s", query->text,
                       name[0] != '\0' ? ": " : "", name);
        answer_count(&answer[cell], run, sum[cell], bar);
    }
    return query->cell_count;
}

/* What a person should know of the question itself, behind what is said of its values. */
static void add_note(struct query_answer *answer, const struct query *query)
{
    struct why note = {""};
    if (query_has_note(query, &note)) {
        const size_t used = strlen(answer->note);
        (void)snprintf(answer->note + used, sizeof answer->note - used, "%s%s",
                       used > 0 ? "; " : "", note.text);
    }
}

void query_run_answers(struct query_answer *answer, const struct query_run *run)
{
    const struct query_set *set = run->set;
    const int64_t *sum = run->sum;
    CHECK(run->round == set->round_count);
    const double bar = query_noise_bar(&run->noise, 0, doubt);
    const double bar_of_ratio = query_noise_bar(&run->noise, 0.5, doubt);
    for (size_t i = 0; i < set->count; i++) {
        const struct query *query = &set->query[i];
        *answer = (struct query_answer){0};
        (void)snprintf(answer->name, sizeof answer->name, "%s", query->text);
        struct query_answer *first = answer;
        if (query->kind == QUERY_COUNT || query->kind == QUERY_HISTOGRAM) {
            answer += answer_cells(answer, run, query, sum, bar);
        } else if (query->kind == QUERY_MEAN) {
            answer_mean(answer, run, query, sum, query->is_partial ? bar_of_ratio : bar);
            answer++;
        } else {
            answer_quantile(answer, run, query, &run->bisection[i]);
            answer++;
        }
        for (; first < answer; first++) {
            add_note(first, query);
        }
        sum += query->cell_count;
    }
}

void bisection_init(struct bisection *bisection, double low, double high)
{
    CHECK(isfinite(low) && isfinite(high) && low < high);
    *bisection = (struct bisection){.low = low, .high = high, .bar_low = low, .bar_high = high};
}

double bisection_threshold(const struct bisection *bisection)
{
    return bisection->low + (bisection->high - bisection->low) / 2;
}

void bisection_observe(struct bisection *bisection, int64_t sum, double bar)
{
    const double threshold = bisection_threshold(bisection);
    CHECK(bar >= 0);
    if (sum >= 0) {
        bisection->high = threshold;
    } else {
        bisection->low = threshold;
    }
    if ((double)sum > bar) {
        bisection->bar_high = threshold;
    } else if ((double)sum < -bar) {
        bisection->bar_low = threshold;
    }
    bisection->done++;
}
