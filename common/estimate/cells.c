/* cells.c - the arithmetic that every estimate shares. The draws of band_width integrate a normal density. They hide
 * nothing, so a fixed seed serves: the same release always gives the same band. */

#include "estimate/cells.h"

#include "base/check.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DRAWS = 2000, BESIDE = 8, WIDTH_MAX = 64, RECORDS_LEAST = 16, RECORDS_LOG2_MAX = 30 };

static const double band_least = 2.0;

void cells_balance(double *cell, size_t m, double total)
{
    double excess = -total;
    for (size_t i = 0; i < m; i++) {
        excess += cell[i];
    }
    for (size_t i = 0; i < m; i++) {
        cell[i] -= excess / (double)m;
    }
}

double cells_covariance(double product, double sum_a, double sum_b, size_t m, double variance)
{
    return variance * (product - sum_a * sum_b / (double)m);
}

bool cells_is_hidden(double count, double variance, double all)
{
    const double half_a_record = 0.5;
    const double few = 0.1;
    const double noise = fmax(half_a_record, ESTIMATE_Z_NOISE * sqrt(fmax(0, variance)));
    return count <= noise && count + noise <= few * all;
}

/* Q(a + 1, x) = Q(a, x) + x^a e^-x / gamma(a + 1), from Q(1/2, x) = erfc(sqrt x) and Q(1, x) = e^-x. */
double chi_squared_above(double x, size_t freedom)
{
    CHECK(freedom >= 1);
    if (!(x > 0)) {
        return 1;
    }
    const double half = x / 2;
    const bool is_odd = freedom % 2 == 1;
    double above = is_odd ? erfc(sqrt(half)) : exp(-half);
    for (size_t next = is_odd ? 1 : 2; next < freedom; next += 2) {
        const double a = (double)next / 2;
        above += exp(a * log(half) - half - lgamma(a + 1));
    }
    return fmin(above, 1);
}

double normal_mean_above(double a)
{
    return 2 * exp(-a * a / 2) / sqrt(2 * 3.14159265358979323846) / erfc(-a / sqrt(2));
}

double normal_shown(double over)
{
    double low = -2;
    double high = over;
    for (int step = 0; step < 60; step++) {
        const double middle = (low + high) / 2;
        *(middle + normal_mean_above(middle) < over ? &low : &high) = middle;
    }
    return low;
}

double normal_shown_most(double above)
{
    static const double upper_hundredth = 2.6652142;
    return upper_hundredth * fmin(fmax((3 - above) / 2, 0), 1);
}

size_t cholesky(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) {
                sum -= a[i * n + k] * a[j * n + k];
            }
            if (j < i) {
                a[i * n + j] = sum / a[j * n + j];
            } else if (sum > 0 && isfinite(sum)) {
                a[i * n + i] = sqrt(sum);
            } else {
                return i + 1;
            }
        }
    }
    return 0;
}

double cholesky_form(const double *factor, double *x, size_t n)
{
    double form = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            x[i] -= factor[i * n + k] * x[k];
        }
        x[i] /= factor[i * n + i];
        form += x[i] * x[i];
    }
    return form;
}

void cells_solve(const double *factor, double *x, size_t n)
{
    (void)cholesky_form(factor, x, n);
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) {
            x[i] -= factor[k * n + i] * x[k];
        }
        x[i] /= factor[i * n + i];
    }
}

/* splitmix64 (Steele, Lea, Flood 2014), in (0, 1). */
static double next_unit(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

void cells_normals(double *out, uint64_t *state)
{
    const double radius = sqrt(-2 * log(next_unit(state)));
    const double angle = 2 * 3.14159265358979323846 * next_unit(state);
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

/* The value that stands at `rank` in rising order (Wirth 1976, by Hoare's partition). Changes the order. */
static double select_rank(double *value, ptrdiff_t count, ptrdiff_t rank)
{
    ptrdiff_t low = 0;
    ptrdiff_t high = count - 1;
    while (low < high) {
        const double pivot = value[rank];
        ptrdiff_t i = low;
        ptrdiff_t j = high;
        while (i <= j) {
            for (; value[i] < pivot; i++) {
            }
            for (; value[j] > pivot; j--) {
            }
            if (i <= j) {
                const double other = value[i];
                value[i++] = value[j];
                value[j--] = other;
            }
        }
        low = j < rank ? i : low;
        high = rank < i ? j : high;
    }
    return value[rank];
}

double cells_fewest_records(bool (*is_given)(double records, const void *of), const void *of)
{
    double high = RECORDS_LEAST;
    while (!is_given(high, of)) {
        high *= 2;
        if (high > ldexp(1, RECORDS_LOG2_MAX)) {
            return NAN;
        }
    }
    double low = high / 2;
    while (high > 1.05 * low) {
        const double middle = (low + high) / 2;
        *(is_given(middle, of) ? &high : &low) = middle;
    }
    return ceil(high);
}

/* Every band reads the same normals, so a process draws them once and never changes them: 1 MB, 3 ms. They stand in the order
 * of cells_normals; a band of n points reads the first DRAWS * ceil(n / 2) pairs. */
static double band_pair[DRAWS * WIDTH_MAX / 2][2];
static pthread_once_t band_once = PTHREAD_ONCE_INIT;

static void draw_band_pairs(void)
{
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof band_pair / sizeof band_pair[0]; i++) {
        cells_normals(band_pair[i], &state);
    }
}

/* The largest of a draw's n points over their deviations, for BESIDE draws that are computed side by side. */
static void band_most(double most[static BESIDE], size_t first, const double *column,
                      const double *deviation, size_t n)
{
    double sum[WIDTH_MAX][BESIDE] = {{0}};
    for (size_t lane = 0; lane < BESIDE; lane++) {
        most[lane] = 0;
    }
    for (size_t k = 0; k < n; k++) {
        double z[BESIDE];
        for (size_t lane = 0; lane < BESIDE; lane++) {
            z[lane] = band_pair[(first + lane) * ((n + 1) / 2) + k / 2][k % 2];
        }
        for (size_t i = k; i < n; i++) {
            for (size_t lane = 0; lane < BESIDE; lane++) {
                sum[i][lane] += column[k * n + i] * z[lane];
            }
        }
        for (size_t lane = 0; lane < BESIDE; lane++) {
            const double over = fabs(sum[k][lane]) / deviation[k];
            most[lane] = most[lane] < over ? over : most[lane];
        }
    }
}

double band_width(const double *factor, size_t n)
{
    double most[DRAWS];
    double deviation[WIDTH_MAX];
    double column[WIDTH_MAX * WIDTH_MAX]; /* factor's columns, so that sums grow side by side */

    CHECK(n <= WIDTH_MAX);
    CHECK(pthread_once(&band_once, draw_band_pairs) == 0);
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t k = 0; k <= i; k++) {
            square += factor[i * n + k] * factor[i * n + k];
            column[k * n + i] = factor[i * n + k];
        }
        deviation[i] = sqrt(square);
    }
    for (size_t draw = 0; draw < DRAWS; draw += BESIDE) {
        band_most(most + draw, draw, column, deviation, n);
    }
    return fmax(select_rank(most, DRAWS, DRAWS / 100 * 96), band_least);
}
