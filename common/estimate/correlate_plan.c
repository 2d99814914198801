/* correlate_plan.c - how many parts a correlation has, and what to expect of it. */

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/correlate_private.h"

#include <math.h>

static const double planned_deviation = 1.0 / 3; /* of values in [-1, 1] */

/* How many parts there may be, and the t distribution's 97.5 % points. */
static const struct {
    size_t parts;
    double point;
} choices[] = {{8, 2.364624251592784}, {16, 2.131449545559323}, {32, 2.039513446396408}};
enum { CHOICES = sizeof choices / sizeof choices[0] };

double correlate_point(size_t parts)
{
    for (size_t i = 0; i < CHOICES; i++) {
        if (choices[i].parts == parts) {
            return choices[i].point;
        }
    }
    CHECK(parts == 1);
    return ESTIMATE_Z;
}

/* Of columns of mean 0 that are not correlated: the noise's part, one over the variance of either column. */
static double planned_width(const struct correlate_public *known, size_t parts)
{
    const double n = known->records;
    const double square = planned_deviation * planned_deviation;
    const double noise = (double)parts * known->variance / (n * n * square * square);
    const double point = correlate_point(parts);
    return parts == 1 ? sqrt(ESTIMATE_Z * ESTIMATE_Z / square / n +
                             ESTIMATE_Z_NOISE * ESTIMATE_Z_NOISE * noise)
                      : point * sqrt(1 / n + noise);
}

size_t correlate_plan(const struct correlate_public *known)
{
    const double n = known->records;
    const double square = planned_deviation * planned_deviation;
    size_t best = 1;
    double least = INFINITY;
    if (known->variance / (n * square * square) > 1) {
        return 1;
    }
    for (size_t i = 0; i < CHOICES && n >= 2 * correlate_records_of_part * (double)choices[i].parts;
         i++) {
        const double width = planned_width(known, choices[i].parts);
        best = width < least ? choices[i].parts : best;
        least = fmin(width, least);
    }
    return best;
}

/* Of two normal variables the smaller one is that much below the mean, on average; unit: their deviations. */
static const double smaller_of_two = 0.5641895835477563;

/* The pair of columns of a plan: what correlate_pair is expected to make of it, by sums as they are in the mean. Noise makes one
 * column's variance smaller than the other's: the smaller one decides whether the pair is shown, and how near the limit it is. */
static struct table1_figure expected_pair(const struct correlate_public *known, double n,
                                          size_t parts)
{
    enum { COLUMNS = 2, CELLS = 1 + COLUMNS + COLUMNS * (COLUMNS + 1) / 2 };
    const double square = planned_deviation * planned_deviation;
    const double p = (double)parts;
    const double off = sqrt((n * square * square + p * known->variance) * (p - 1)) / p;
    const double apart = smaller_of_two * 2 / n * sqrt(p * known->variance * (1 + square * square));
    const bool is_two[COLUMNS] = {false};
    double cell[CORRELATE_PARTS_MAX * CELLS] = {0};
    for (size_t part = 0; part < parts; part++) {
        double *own = cell + part * CELLS;
        own[0] = n / p / 2;
        own[correlate_place(COLUMNS, 0, 0)] = n / p * (square - apart) / 2;
        own[correlate_place(COLUMNS, 1, 1)] = n / p * (square + apart) / 2;
        own[correlate_place(COLUMNS, 0, 1)] = part % 2 == 0 ? off : -off; /* of one part: 0 */
    }
    const struct correlate_moments moments = {.cell = cell,
                                              .columns = COLUMNS,
                                              .parts = parts,
                                              .is_two = is_two,
                                              .variance = known->variance,
                                              .records = n};
    struct correlate all;
    correlate_init(&all, &moments);
    return correlate_pair(&all, 0, 1);
}

static bool is_given(const struct correlate_public *known, double n, size_t parts)
{
    return !isnan(expected_pair(known, n, parts).estimate.value);
}

double correlate_expect(double *records, const struct correlate_public *known, size_t parts)
{
    enum { DOUBLINGS = 60, HALVINGS = 20 };
    double fewer = 1;
    double enough = 2;
    for (int i = 0; i < DOUBLINGS && !is_given(known, enough, parts); i++) {
        fewer = enough;
        enough *= 2;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = sqrt(fewer * enough);
        *(is_given(known, middle, parts) ? &enough : &fewer) = middle;
    }
    *records = enough;
    const struct estimate own = expected_pair(known, known->records, parts).estimate;
    return isnan(own.value) ? NAN : (own.high - own.low) / 2;
}

double correlate_expect_count(double variance, size_t parts)
{
    return ESTIMATE_Z_NOISE * 2 * sqrt((double)parts * variance);
}
