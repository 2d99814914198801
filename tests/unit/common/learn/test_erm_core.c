/* What the solvers stand on: blocked products against plain loops, and Cholesky. */

#include "learn/dense.h"
#include "learn/erm_core.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { MOST = 1030 };

static void fill(struct seeded_random *random, double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        x[i] = 2 * seeded_random_unit(random) - 1;
    }
}

/* Within the errors that core_terms grants, at sizes around the block's; sums of a thousand terms
 * of up to 1 in a single chain would not always be. */
Test(erm_core, products_by_features_agree_with_plain_loops)
{
    static double x[MOST * 40];
    static double w[MOST];
    static double f[MOST];
    static double back[MOST];
    static double scratch[MOST];
    const size_t shape[][2] = {{1, 1},    {7, 3},     {511, 5},  {512, 8},
                               {513, 40}, {1030, 17}, {40, 1030}};
    struct seeded_random random;
    seeded_random_init(&random, 2);
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
        const size_t m = shape[k][0];
        const size_t d = shape[k][1];
        const struct core core = {.m = m, .d = d, .x = x};
        fill(&random, x, m * d);
        fill(&random, w, d);
        core_scores(f, &core, w);
        for (size_t i = 0; i < m; i++) {
            long double plain = 0;
            for (size_t j = 0; j < d; j++) {
                plain += (long double)x[i * d + j] * w[j];
            }
            cr_assert(fabsl(f[i] - plain) <= (core_terms(d) + 8) * 0x1p-53 * (double)d);
        }
        core_combine(back, scratch, &core, f);
        for (size_t j = 0; j < d; j++) {
            long double plain = 0;
            long double size = 0;
            for (size_t i = 0; i < m; i++) {
                plain += (long double)x[i * d + j] * f[i];
                size += fabsl((long double)x[i * d + j] * f[i]);
            }
            cr_assert(fabsl(back[j] - plain) <= (core_terms(m) + 8) * 0x1p-53 * size);
        }
    }
}

/* What lies below the diagonal is scratch: NaN there must not be seen. */
Test(erm_core, products_by_gram_read_the_upper_triangle_alone)
{
    static double gram[MOST * MOST];
    static double c[MOST];
    static double f[MOST];
    struct seeded_random random;
    seeded_random_init(&random, 3);
    for (size_t m = 1; m <= MOST; m = m < 511 ? m * 8 - 1 : m + 519) {
        const struct core core = {.m = m, .by_gram = true, .gram = gram};
        fill(&random, gram, m * m);
        fill(&random, c, m);
        for (size_t i = 0; i < m; i++) {
            for (size_t j = 0; j < i; j++) {
                gram[i * m + j] = NAN;
            }
        }
        core_scores(f, &core, c);
        for (size_t i = 0; i < m; i++) {
            long double plain = 0;
            for (size_t j = 0; j < m; j++) {
                plain += (long double)gram[i < j ? i * m + j : j * m + i] * c[j];
            }
            cr_assert(fabsl(f[i] - plain) <= (core_terms(m) + 8) * 0x1p-53 * (double)m, "%zu", m);
        }
    }
}

Test(erm_core, cholesky_solves_and_refuses)
{
    enum { N = 37 };
    static double a[N * N];
    static double lower[N * N];
    double x[N];
    double b[N];
    struct seeded_random random;
    seeded_random_init(&random, 4);
    fill(&random, lower, N * N);
    fill(&random, x, N);
    for (size_t i = 0; i < N; i++) {
        b[i] = 0;
        for (size_t j = 0; j < N; j++) {
            double entry = i == j ? 1 : 0;
            for (size_t k = 0; k < N; k++) {
                entry += lower[i * N + k] * lower[j * N + k];
            }
            b[i] += entry * x[j];
            a[i * N + j] = j <= i ? entry : NAN; /* not read */
        }
    }
    cr_assert(cholesky_factor(a, N));
    cholesky_solve(a, b, N);
    for (size_t i = 0; i < N; i++) {
        cr_assert(fabs(b[i] - x[i]) < 1e-11);
    }
    double indefinite[4] = {1, NAN, 2, 1};
    cr_assert_not(cholesky_factor(indefinite, 2));
}
