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

double correlate_expect(double *records, const struct correlate_public *known, size_t parts)
{
    const double n = known->records;
    const double square = planned_deviation * planned_deviation;
    const double noise = sqrt((double)parts * known->variance);
    const double factor =
        fmax(fmax(2 * correlate_size_over_noise * noise, correlate_records_of_part * (double)parts),
             2 * sqrt(1 + square * square) * noise / square / correlate_variance_noise_most) /
        n;
    *records = n * factor;
    return factor < 1 ? planned_width(known, parts) : NAN;
}
