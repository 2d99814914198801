/* Principal components: against R, what noise does, and what is refused. */

#include "estimate/pca.h"

#include "tests/support/seeded_random.h"
#include "vectors.h"

#include <math.h>

enum { COLUMNS = 4, CELLS = 1 + COLUMNS * (COLUMNS + 3) / 2, DRAWS = 1000 };

static const bool is_two[COLUMNS] = {[3] = true};

static struct pca pca_with(const double *cell, size_t columns, double variance)
{
    const struct correlate_moments moments = {cell, columns, 0, is_two, variance, 2 * cell[0]};
    struct correlate all;
    struct pca out;
    correlate_init(&all, &moments);
    pca_of(&out, &all);
    cr_expect_eq(pca_is_given(&all), out.is_given);
    return out;
}

Test(pca, without_noise_is_r_s)
{
    const json_t *known = vectors("correlate");
    double cell[CELLS];
    double value[COLUMNS];
    double loading[COLUMNS * COLUMNS];
    cr_assert(vector_read(cell, CELLS, known, "cells") == CELLS);
    cr_assert(vector_read(value, COLUMNS, known, "eigenvalues") == COLUMNS);
    cr_assert(vector_read(loading, COLUMNS * COLUMNS, known, "loadings") == COLUMNS * COLUMNS);
    const struct pca pca = pca_with(cell, COLUMNS, 0);
    cr_assert(pca.is_given);
    for (size_t k = 0; k < COLUMNS; k++) {
        double largest = 0;
        double sign = 0;
        cr_expect(fabs(pca.share[k] - value[k] / COLUMNS) < 1e-9, "%g", pca.share[k]);
        for (size_t i = 0; i < COLUMNS; i++) {
            const double own = loading[k * COLUMNS + i];
            sign = fabs(own) > largest ? (own > 0 ? 1 : -1) : sign;
            largest = fmax(largest, fabs(own));
        }
        for (size_t i = 0; i < COLUMNS; i++) {
            cr_expect(fabs(pca.loading[k][i] - sign * loading[k * COLUMNS + i]) < 1e-9);
        }
    }
}

/* Three columns of variance 0.1 that are correlated alike. */
static void cells_of(double *cell, double records, double r)
{
    cell[0] = records / 2;
    cell[1] = cell[2] = cell[3] = 0;
    cell[4] = cell[7] = cell[9] = records * 0.1 / 2;
    cell[5] = cell[6] = cell[8] = records * 0.1 * r;
}

/* Noise of 20 on sums of 20,000 records is 0.01 on a correlation. A share of 0.6 then has 0.009 at most: sqrt(1 + 2 * 0.4^2) *
 * 0.01 on each of three correlations, a third of each. Of 1,000 draws none may be beyond 8 of these; by chance one is with a
 * probability below 1e-11. */
Test(pca, a_share_moves_by_less_than_is_told_and_shares_sum_to_one)
{
    struct seeded_random seeded;
    double exact[10];
    double sum = 0;
    seeded_random_init(&seeded, 3);
    cells_of(exact, 20000, 0.4);
    for (int draw = 0; draw < DRAWS; draw++) {
        double cell[10];
        for (size_t k = 0; k < 10; k++) {
            cell[k] = exact[k] + 20 * seeded_random_normal(&seeded);
        }
        const struct pca pca = pca_with(cell, 3, 400);
        cr_assert(pca.is_given);
        cr_assert(fabs(pca.share[0] + pca.share[1] + pca.share[2] - 1) < 1e-12);
        cr_assert(pca.share[0] >= pca.share[1] && pca.share[1] >= pca.share[2] &&
                  pca.share[2] >= 0);
        cr_assert(fabs(pca.share[0] - 0.6) < 8 * 0.013, "%g", pca.share[0]);
        sum += pca.share[0] / DRAWS;
    }
    cr_expect(fabs(sum - 0.6) < 0.003, "mean %g", sum);
}

Test(pca, refuses_what_noise_hides_and_loadings_of_components_alike)
{
    double cell[10];
    cells_of(cell, 20000, 0.4);
    const struct pca clear = pca_with(cell, 3, 100);
    cr_expect(clear.is_given && clear.has_loadings[0]);
    cr_expect(!clear.has_loadings[1] && !clear.has_loadings[2], "two are alike");
    for (size_t i = 0; i < 3; i++) {
        cr_expect(fabs(clear.loading[0][i] - 1 / sqrt(3)) < 1e-9);
    }
    const struct pca drowned = pca_with(cell, 3, 1e6);
    cr_expect(!drowned.is_given && !drowned.has_loadings[0]);
}

/* Noise may make a matrix that is none of correlations: 0.9, 0.9 and -0.5. */
Test(pca, sets_what_is_below_zero_to_zero)
{
    double cell[10];
    cells_of(cell, 20000, 0.9);
    cell[8] = -20000 * 0.1 * 0.5;
    const struct pca pca = pca_with(cell, 3, 1);
    cr_expect(pca.share[2] == 0 && fabs(pca.share[0] + pca.share[1] - 1) < 1e-12);
}

Test(pca, expects_less_noise_of_more_records)
{
    double few = 0;
    double many = 0;
    const double wide =
        pca_expect(&many, &(struct correlate_public){.records = 1000, .variance = 500}, 4);
    const double narrow =
        pca_expect(&few, &(struct correlate_public){.records = 25000, .variance = 5}, 4);
    cr_expect(narrow < wide && few < many && narrow < 0.02, "%g %g", narrow, wide);
}
