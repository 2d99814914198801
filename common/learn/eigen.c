/* eigen.c - LAPACK's dsyevd with its best workspace. It is not asked about what is no number, for which it may never end. */

#include "learn/eigen.h"

#include "base/check.h"
#include "learn/lapack.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static bool are_numbers(const double *a, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (isnan(a[i])) {
            return false;
        }
    }
    return true;
}

enum status eigen_symmetric(double *a, double *value, size_t n)
{
    CHECK(n <= INT_MAX);
    if (n == 0 || !are_numbers(a, n * n)) {
        return STATUS_INVALID;
    }
    const int order = (int)n;
    const int ask = -1;
    double best = 0;
    int best_whole = 0;
    int info = 0;
    dsyevd_("V", "U", &order, a, &order, value, &best, &ask, &best_whole, &ask, &info, 1, 1);
    CHECK(info == 0 && best >= 1 && best <= INT_MAX && best_whole >= 1);
    const int count = (int)best;
    double *work = calloc((size_t)count, sizeof *work);
    int *whole = calloc((size_t)best_whole, sizeof *whole);
    enum status status = STATUS_NO_MEMORY;
    if (work != NULL && whole != NULL) {
        dsyevd_("V", "U", &order, a, &order, value, work, &count, whole, &best_whole, &info, 1, 1);
        CHECK(info >= 0);
        status = info == 0 ? STATUS_OK : STATUS_INVALID;
    }
    free(work);
    free(whole);
    return status;
}
