/* Ridge regression by learn/erm.h, whose least squares is one Cholesky factorisation, right to some
 * twelve digits. The tolerance is what it must reach, and its promise does not matter here: nothing
 * private is at stake. */

#include "learn/distil.h"

#include "base/check.h"
#include "learn/erm.h"

#include <math.h>
#include <stdlib.h>

static const double lambda_least = 1e-4;
static const double tolerance = 1e-3;

static struct erm_problem problem_of(const struct distil *problem)
{
    const double count = (double)problem->point_count;
    const double noise = fmin(problem->deviation * problem->deviation, 1) / count;
    return (struct erm_problem){.loss = {.kind = LOSS_SQUARED},
                                .lambda = fmax(noise, lambda_least),
                                .tolerance = tolerance,
                                .record_count = problem->point_count,
                                .feature_count = problem->feature_count};
}

enum status distil_check(const struct distil *problem, struct why *why)
{
    const struct erm_problem erm = problem_of(problem);
    struct erm_plan plan;
    return erm_plan(&plan, &erm, why);
}

double distil_flops(const struct distil *problem)
{
    const double q = (double)problem->point_count;
    const double d = (double)problem->feature_count;
    return fmin(q, d) * q * d;
}

enum status distil(double *w, const struct distil *problem, const double *answer)
{
    const size_t q = problem->point_count;
    const size_t d = problem->feature_count;
    const struct erm_problem erm = problem_of(problem);
    struct dataset data = {.record_count = q, .feature_count = d};
    enum status status = STATUS_NO_MEMORY;

    CHECK(distil_check(problem, NULL) == STATUS_OK && problem->deviation >= 0);
    data.x = calloc(q * d, sizeof *data.x);
    data.y = calloc(q, sizeof *data.y);
    if (data.x != NULL && data.y != NULL) {
        for (size_t j = 0; j < q * d; j++) {
            data.x[j] = problem->point[j];
        }
        for (size_t j = 0; j < q; j++) {
            data.y[j] = fmin(fmax(answer[j], -1), 1);
        }
        status = erm_solve(w, &erm, &data, NULL);
    }
    free(data.x);
    free(data.y);
    CHECK(status == STATUS_OK || status == STATUS_NO_MEMORY);
    return status;
}
