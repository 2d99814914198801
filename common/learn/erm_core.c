/* The fast method, and behind it the sure one. What both need. */

#include "learn/erm_core.h"

#include "base/bytes.h"
#include "base/check.h"
#include "learn/dense.h"

#include <cblas.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

double *core_numbers(size_t rows, size_t columns)
{
    if (rows > SIZE_MAX / sizeof(double) / (columns + 1) - 1) {
        return NULL;
    }
    return calloc(rows * columns + 1, sizeof(double));
}

void core_numbers_free(double *number, size_t count)
{
    if (number != NULL) {
        bytes_wipe(number, count * sizeof *number);
    }
    free(number);
}

void core_scores(double *f, const struct core *core, const double *w)
{
    CHECK(core->m <= INT_MAX && core->d <= INT_MAX);
    if (core->by_gram) {
        cblas_dsymv(CblasRowMajor, CblasLower, (int)core->m, 1, core->gram, (int)core->m, w, 1, 0,
                    f, 1);
    } else {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)core->m, (int)core->d, 1, core->x,
                    (int)core->d, w, 1, 0, f, 1);
    }
}

void core_combine(double *w, const struct core *core, const double *c)
{
    CHECK(!core->by_gram && core->m <= INT_MAX && core->d <= INT_MAX);
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)core->m, (int)core->d, 1, core->x, (int)core->d, c,
                1, 0, w, 1);
}

double core_square(const struct core *core, const double *w, const double *f)
{
    return core->by_gram ? dense_dot(w, f, core->m) : dense_dot(w, w, core->d);
}

struct core_box core_box(struct loss loss, double y)
{
    switch (loss.kind) {
    case LOSS_HINGE:
        return y > 0 ? (struct core_box){0, 1, 0} : (struct core_box){-1, 0, 0};
    case LOSS_PINBALL:
        return (struct core_box){loss.parameter - 1, loss.parameter, 0};
    case LOSS_ABSOLUTE:
        return (struct core_box){-1, 1, 0};
    case LOSS_INSENSITIVE:
        return (struct core_box){-1, 1, loss.parameter};
    case LOSS_LOGISTIC:
    case LOSS_ZERO_ONE:
    case LOSS_HUBER:
    case LOSS_SQUARED:
        break;
    }
    CHECK(false);
}

/* Least squares: F does not grow, so mean (f-y)^2 <= 1 and the mean size of its slopes is at most 2. */
double core_slope(struct loss loss)
{
    return loss.kind == LOSS_SQUARED ? 2 : loss_lipschitz(loss, 1, 1, 1);
}

enum status core_solve(double *w, const struct core *core, struct why *why)
{
    struct erm_plan plan;
    bool certified = false;
    enum status status = core_plan(&plan, core, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = loss_is_smooth(core->loss) ? newton_descend(w, &certified, core)
                                        : dual_descend(w, &certified, core);
    if (status == STATUS_OK && !certified) {
        return core_solve_slowly(w, core, why);
    }
    if (status != STATUS_OK) {
        why_set(why, "not enough memory for the fit");
    }
    return status;
}
