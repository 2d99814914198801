/* A Gram matrix of inner products is one call of BLAS; the Gaussian's distances follow from it by
 * ||a||^2 + ||b||^2 - 2 <a, b>, whose cancellation costs a few units of 2^-53 of norms at most 1,
 * and no more in its exponent. The Laplacian takes the root of a distance, which would make 1e-8 of
 * that: its distances are summed from differences. */

#include "learn/kernel.h"

#include "base/check.h"
#include "learn/dense.h"

#include <cblas.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static double square_distance(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return sum;
}

static double power(double base, unsigned degree)
{
    double product = 1;
    for (unsigned i = 0; i < degree; i++) {
        product *= base;
    }
    return product;
}

enum status kernel_check(struct kernel kernel, struct why *why)
{
    const bool rated = kernel.kind == KERNEL_GAUSSIAN || kernel.kind == KERNEL_LAPLACIAN;
    const bool polynomial = kernel.kind == KERNEL_POLYNOMIAL;
    const char *remedy = NULL;
    if (rated ? !(kernel.rate >= 1e-6 && kernel.rate <= 1e6) : kernel.rate != 0) {
        remedy = rated ? "the kernel's rate must lie between 1e-6 and 1e6"
                       : "this kernel has no rate: remove it";
    } else if (polynomial ? !(kernel.offset >= 0 && kernel.offset <= 100) : kernel.offset != 0) {
        remedy = polynomial ? "the kernel's offset must lie between 0 and 100"
                            : "this kernel has no offset: remove it";
    } else if (polynomial ? kernel.degree < 1 || kernel.degree > KERNEL_DEGREE_MAX
                          : kernel.degree != 0) {
        remedy = polynomial ? "the kernel's degree must lie between 1 and 16"
                            : "this kernel has no degree: remove it";
    }
    if (remedy != NULL) {
        return why_refuse(why, "%s", remedy);
    }
    return STATUS_OK;
}

double kernel_kappa(struct kernel kernel)
{
    if (kernel.kind != KERNEL_POLYNOMIAL) {
        return 1;
    }
    return sqrt(power(1 + kernel.offset, kernel.degree)) * (1 + 32 * DBL_EPSILON);
}

double kernel_rounding(struct kernel kernel, size_t d)
{
    return ((double)d + 8) * (1 + (double)kernel.degree + 4 * kernel.rate);
}

double kernel_value(struct kernel kernel, const double *a, const double *b, size_t d)
{
    switch (kernel.kind) {
    case KERNEL_LINEAR:
        return dense_dot(a, b, d);
    case KERNEL_GAUSSIAN:
        return exp(-kernel.rate * square_distance(a, b, d));
    case KERNEL_LAPLACIAN:
        return exp(-kernel.rate * sqrt(square_distance(a, b, d)));
    case KERNEL_POLYNOMIAL:
        return power(dense_dot(a, b, d) + kernel.offset, kernel.degree);
    }
    CHECK(false);
}

/* Turns the inner products right of the diagonal of row i into the kernel's values; the diagonal
 * still holds the squared norms. */
static void turn_row(double *row, struct kernel kernel, const double *g, size_t i, size_t m)
{
    const double square = row[i];
    for (size_t j = i + 1; j < m; j++) {
        if (kernel.kind == KERNEL_GAUSSIAN) {
            row[j] = exp(-kernel.rate * fmax(square + g[j * m + j] - 2 * row[j], 0));
        } else {
            row[j] = power(row[j] + kernel.offset, kernel.degree);
        }
    }
}

static void mirror(double *g, size_t m)
{
    enum { TILE = 64 };
    for (size_t top = 0; top < m; top += TILE) {
        for (size_t left = 0; left <= top; left += TILE) {
            for (size_t i = top; i < m && i < top + TILE; i++) {
                for (size_t j = left; j < i && j < left + TILE; j++) {
                    g[i * m + j] = g[j * m + i];
                }
            }
        }
    }
}

void kernel_gram_upper(double *g, struct kernel kernel, const double *x, size_t m, size_t d)
{
    CHECK(m <= INT_MAX && d <= INT_MAX);
    if (kernel.kind == KERNEL_LAPLACIAN) {
        for (size_t i = 0; i < m; i++) {
            for (size_t j = i; j < m; j++) {
                g[i * m + j] = kernel_value(kernel, x + i * d, x + j * d, d);
            }
        }
        return;
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, (int)m, (int)d, 1, x, (int)d, 0, g,
                (int)m);
    for (size_t i = 0; i < m && kernel.kind != KERNEL_LINEAR; i++) {
        turn_row(g + i * m, kernel, g, i, m);
        g[i * m + i] =
            kernel.kind == KERNEL_GAUSSIAN ? 1 : power(g[i * m + i] + kernel.offset, kernel.degree);
    }
}

void kernel_gram(double *g, struct kernel kernel, const double *x, size_t m, size_t d)
{
    kernel_gram_upper(g, kernel, x, m, d);
    mirror(g, m);
}

const char *kernel_name(enum kernel_kind kind)
{
    static const char *const name[] = {[KERNEL_LINEAR] = "linear",
                                       [KERNEL_GAUSSIAN] = "gaussian",
                                       [KERNEL_LAPLACIAN] = "laplacian",
                                       [KERNEL_POLYNOMIAL] = "polynomial"};
    CHECK((unsigned)kind < KERNEL_KINDS);
    return name[kind];
}

enum status kernel_from_name(enum kernel_kind *kind, const char *name)
{
    for (int i = 0; i < KERNEL_KINDS; i++) {
        if (strcmp(name, kernel_name((enum kernel_kind)i)) == 0) {
            *kind = (enum kernel_kind)i;
            return STATUS_OK;
        }
    }
    return STATUS_NOT_FOUND;
}
