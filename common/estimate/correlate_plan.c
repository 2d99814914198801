/* correlate_plan.c - what weight a correlation's fourth moments have, and what to expect of it. */

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/correlate_private.h"

#include <math.h>

static const double planned_deviation = 1.0 / 3; /* of values in [-1, 1] */
static const double planned_correlation = 0.5;

/* How many times as long as need be an interval by the bound may be. */
static const double bound_longer_most = 1.08;

/* Of the deviation of a cell's noise. */
static const double weight_most = 0.5;

/* Answers whether the bound on the sampling error will do. By psi = x y - r (x^2 + y^2)/2 of normal columns, in standard
 * deviations: its square is (1 - r^2)^2 in the mean, and it is largest where the columns are at opposite ends of the range. */
static bool does_bound(const struct correlate_public *known)
{
    const double n = known->records;
    const double r = planned_correlation;
    const double square = planned_deviation * planned_deviation;
    const double noise = (1 + 2 * r * r) * known->variance / (n * n * square * square);
    const double left = 1 - r * r;
    const double bound = left * (1 + r) / square / n;
    return noise + bound <= bound_longer_most * bound_longer_most * (noise + left * left / n);
}

/* What noise a cell has with fourth moments of a weight, as a deviation. */
static double deviation_with(const struct correlate_public *known, uint32_t fourth)
{
    const double d1 = (double)(known->columns + 1);
    const double by = 1 / (double)fourth;
    const double l1 = (double)correlate_fourth_moves(known->columns) / 4 * by;
    const double l2 = sqrt((double)correlate_fourth_squared(known->columns)) / 4 * by;
    const double alone = known->is_gaussian ? d1 : d1 * d1 / 2;
    const double moves = known->moves > 0 ? known->moves : alone;
    const double growth =
        known->is_gaussian ? sqrt(moves * moves + l2 * l2) / moves : (moves + l1) / moves;
    return sqrt(known->variance) * growth;
}

uint32_t correlate_plan(const struct correlate_public *known, uint32_t most)
{
    uint32_t fourth = 1;
    if (most == 0 || does_bound(known)) {
        return 0;
    }
    while (2 * fourth <= most && 2 * fourth <= weight_most * deviation_with(known, 2 * fourth)) {
        fourth *= 2;
    }
    return fourth;
}

size_t correlate_plan_parts(const struct correlate_public *known)
{
    /* How many there may be, and the t distribution's 97.5 % points. */
    static const struct {
        double parts;
        double point;
    } choices[] = {{8, 2.364624251592784}, {16, 2.131449545559323}, {32, 2.039513446396408}};
    const double n = known->records;
    const double square = planned_deviation * planned_deviation;
    size_t best = 1;
    double least = INFINITY;
    if (known->variance / (n * square * square) > 1) {
        return 1;
    }
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const double parts = choices[i].parts;
        const double noise = parts * known->variance / (n * n * square * square);
        const double width = choices[i].point * sqrt(1 / n + noise);
        if (n >= 2 * correlate_records_least * parts && width < least) {
            best = (size_t)parts;
            least = width;
        }
    }
    return best;
}

/* E z^power of a normal number. */
static double moment_of(double mean, double variance, unsigned power)
{
    const double square = mean * mean;
    const double moment[] = {1, mean, square + variance, mean * (square + 3 * variance),
                             square * square + 6 * square * variance + 3 * variance * variance};
    return moment[power];
}

void correlate_fill(double *cell, const struct correlate_like *like, uint32_t fourth)
{
    enum { COLUMNS = 2, ORDER = 4 };
    const size_t both[COLUMNS] = {0, 1};
    const struct correlate_moments moments = {.columns = COLUMNS, .fourth = fourth};
    cell[0] = like->records / 2;
    for (unsigned a = 0; a <= ORDER; a++) {
        for (unsigned b = 0; a + b <= ORDER; b++) {
            const double sum = like->records * moment_of(like->mean[0], like->variance[0], a) *
                               moment_of(like->mean[1], like->variance[1], b);
            if (a + b == 1) {
                cell[1 + b] = sum;
            } else if (a + b == 2) {
                cell[correlate_place(COLUMNS, b / 2, a == 2 ? 0 : 1)] = a == b ? sum : sum / 2;
            } else if (a + b > 2 && fourth > 0) {
                const unsigned power[COLUMNS] = {a, b};
                double times = 1;
                const size_t place = correlate_fourth_place(&times, &moments, both, power);
                cell[place] = sum * times;
            }
        }
    }
}

/* For two normal variables the smaller one is that much below the mean, on average; unit: their deviations. */
static const double smaller_of_two = 0.5641895835477563;

/* The pair of columns of a plan: what correlate_pair is expected to make of it, by sums as they are in the mean. Noise makes one
 * column's variance smaller than the other's: the smaller one decides whether the pair is shown, and how near the limit it is. */
static struct table1_figure expected_pair(const struct correlate_public *known, double n,
                                          uint32_t fourth)
{
    const double square = planned_deviation * planned_deviation;
    const double apart = smaller_of_two * 2 / n * sqrt(known->variance * (1 + square * square));
    const struct correlate_like like = {.records = n, .variance = {square - apart, square + apart}};
    const bool is_two[] = {false, false};
    double cell[CORRELATE_CELLS_OF_TWO];
    const struct correlate_moments moments = {.cell = cell,
                                              .columns = 2,
                                              .fourth = fourth,
                                              .is_two = is_two,
                                              .variance = known->variance,
                                              .records = n};
    struct correlate all;
    correlate_fill(cell, &like, fourth);
    correlate_init(&all, &moments);
    return correlate_pair(&all, 0, 1);
}

static bool is_given(const struct correlate_public *known, double n, uint32_t fourth)
{
    return !isnan(expected_pair(known, n, fourth).estimate.value);
}

double correlate_expect(double *records, const struct correlate_public *known, uint32_t fourth)
{
    enum { DOUBLINGS = 60, HALVINGS = 20 };
    double fewer = 1;
    double enough = 2;
    for (int i = 0; i < DOUBLINGS && !is_given(known, enough, fourth); i++) {
        fewer = enough;
        enough *= 2;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = sqrt(fewer * enough);
        *(is_given(known, middle, fourth) ? &enough : &fewer) = middle;
    }
    *records = enough;
    const struct estimate own = expected_pair(known, known->records, fourth).estimate;
    return isnan(own.value) ? NAN : (own.high - own.low) / 2;
}

double correlate_expect_count(double variance)
{
    return ESTIMATE_Z_NOISE * 2 * sqrt(variance);
}
