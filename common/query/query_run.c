#include "query/query_run.h"

#include "base/check.h"

#include <math.h>
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
