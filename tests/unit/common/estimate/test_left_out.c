/* An empty category or group does not prevent a test of the others. The rule that leaves it out does not make these tests reject
 * more often than in 6.5 % of true nulls. Of 4,000 tests at 5 % that is 4.3 standard deviations above; seeds are fixed. */

#include "estimate/cells.h"
#include "estimate/crosstab.h"
#include "estimate/survival_private.h"
#include "estimate/table1.h"

#include <criterion/criterion.h>
#include <math.h>

enum { ROWS = 3, COLUMNS = 2, K = 4, GROUPS = 3, RUNS = 4000 };

/* A Laplace variable of variance 1. */
static double laplace(uint64_t *state)
{
    double z[2];
    double w[2];
    cells_normals(z, state);
    cells_normals(w, state);
    return (z[0] * z[0] + z[1] * z[1] - w[0] * w[0] - w[1] * w[1]) / sqrt(8);
}

Test(left_out, an_empty_category_takes_no_chi_squared_test_from_the_others)
{
    const double with[6] = {60, 140, 100, 100, 0.4, -0.3};
    const double turned[6] = {60, 100, 0.4, 140, 100, -0.3};
    const double without[4] = {60, 140, 100, 100};
    double p[3];
    struct crosstab_kept kept;
    const struct crosstab_cells three = {with, 3, 2, 7, 0.25};
    const struct crosstab_cells across = {turned, 2, 3, 7, 0.25};
    const struct crosstab_cells two = {without, 2, 2, 7, 0.25};
    const double statistic = crosstab_test(&p[0], &two);
    cr_assert(statistic > 10);
    cr_expect(fabs(crosstab_test(&p[1], &three) - statistic) < 1e-9 && p[1] == p[0]);
    cr_expect(fabs(crosstab_test(&p[2], &across) - statistic) < 1e-9 && p[2] == p[0]);
    crosstab_keep(&kept, &three);
    cr_expect(kept.rows == 2 && kept.columns == 2 && kept.row[1] && !kept.row[2]);
}

/* A row of 8 is neither empty nor enough: the test is of all rows or of none. */
Test(left_out, a_category_that_says_something_is_not_left_out)
{
    const double cell[6] = {60, 140, 100, 100, 4, 4};
    double p = 0;
    struct crosstab_kept kept;
    const struct crosstab_cells cells = {cell, 3, 2, 7, 0.01};
    crosstab_keep(&kept, &cells);
    cr_expect(kept.rows == 3 && isnan(crosstab_test(&p, &cells)));
}

/* Rows of 200, 200 and few, a third of each in the second column; noise of deviation 6. */
Test(left_out, chi_squared_tests_of_the_others_keep_their_level)
{
    const double few[] = {0, 20, 40, 55, 130};
    for (size_t f = 0; f < sizeof few / sizeof few[0]; f++) {
        const double size[ROWS] = {200, 200, few[f]};
        uint64_t state = 7 + f;
        int rejected = 0;
        int tested = 0;
        for (int run = 0; run < RUNS; run++) {
            double cell[ROWS * COLUMNS + 1] = {0};
            double p = 0;
            for (size_t i = 0; i < ROWS; i++) {
                double z[2];
                cells_normals(z, &state);
                const double second = round(size[i] / 3 + sqrt(size[i] * 2 / 9) * z[0]);
                cell[2 * i] = size[i] - second + 6 * laplace(&state);
                cell[2 * i + 1] = second + 6 * laplace(&state);
            }
            cell[ROWS * COLUMNS] = 6 * laplace(&state);
            cells_balance(cell, ROWS * COLUMNS + 1, 400 + few[f]);
            (void)crosstab_test(
                &p, &(struct crosstab_cells){cell, ROWS, COLUMNS, ROWS * COLUMNS + 1, 36});
            tested += !isnan(p);
            rejected += !isnan(p) && p < 0.05;
        }
        cr_log_info("chi-squared, third row of %g: %d of %d tests reject", few[f], rejected,
                    tested);
        cr_expect((few[f] > 20 && few[f] < 100) || tested > RUNS / 2, "%g: %d", few[f], tested);
        cr_expect(rejected <= 0.065 * tested + 1, "%g: %d of %d", few[f], rejected, tested);
    }
}

/* Hazards alike, a fifth of those at risk in each interval die and a tenth are last seen. */
static void draw_group(double *cell, double size, uint64_t *state)
{
    double left = size;
    for (size_t j = 0; j < K; j++) {
        double z[2];
        cells_normals(z, state);
        const double dead = fmax(0, round(left * 0.2 + sqrt(left * 0.16) * z[0]));
        const double seen = fmax(0, round(left * 0.1 + sqrt(left * 0.09) * z[1]));
        cell[j] = dead;
        cell[K + j] = seen;
        left = fmax(0, left - dead - seen);
    }
    cell[2 * K] = left;
}

Test(left_out, an_empty_group_takes_no_log_rank_test_from_the_others)
{
    double two[2 * (2 * K + 1) + 1] = {0};
    double three[3 * (2 * K + 1) + 1] = {0};
    struct survival of_two = {.log_rank = NAN};
    struct survival of_three = {.log_rank = NAN};
    uint64_t state = 3;
    draw_group(two, 300, &state);
    draw_group(two + 2 * K + 1, 250, &state);
    for (size_t i = 0; i < 2 * K + 1; i++) { /* the empty one in the middle */
        three[i] = two[i];
        three[2 * (2 * K + 1) + i] = two[2 * K + 1 + i];
    }
    survival_log_rank(&of_two, &(struct survival_cells){two, 2, K, 1, 0, 0});
    survival_log_rank(&of_three, &(struct survival_cells){three, 3, K, 1, 0, 0});
    cr_assert(!isnan(of_two.log_rank) && of_two.tested == 2);
    cr_expect(fabs(of_three.log_rank - of_two.log_rank) < 1e-9 && of_three.tested == 2);
    cr_expect(fabs(of_three.log_rank_p - of_two.log_rank_p) < 1e-12);
    cr_expect(of_three.is_tested[0] && !of_three.is_tested[1] && of_three.is_tested[2]);
    const struct survival_cells cells = {three, 3, K, 1, 4, 0};
    cr_expect(survival_is_hidden(&cells, 1) && !survival_is_hidden(&cells, 2));
}

Test(left_out, log_rank_tests_of_the_others_keep_their_level)
{
    enum { WIDTH = 2 * K + 1, M = GROUPS * WIDTH + 1 };
    const double few[] = {0, 45, 75, 90, 200};
    for (size_t f = 0; f < sizeof few / sizeof few[0]; f++) {
        const double size[GROUPS] = {300, few[f], 300};
        uint64_t state = 70 + f;
        int rejected = 0;
        int tested = 0;
        for (int run = 0; run < RUNS; run++) {
            double cell[M] = {0};
            struct survival out = {.log_rank = NAN, .log_rank_p = NAN};
            const struct survival_cells cells = {cell, GROUPS, K, 1, 36, 0};
            for (size_t g = 0; g < GROUPS; g++) {
                draw_group(cell + g * WIDTH, size[g], &state);
            }
            for (size_t i = 0; i < M; i++) {
                cell[i] += 6 * laplace(&state);
            }
            survival_balance(cell, &cells, 600 + few[f]);
            survival_log_rank(&out, &cells);
            tested += !isnan(out.log_rank_p);
            rejected += !isnan(out.log_rank_p) && out.log_rank_p < 0.05;
        }
        cr_log_info("log-rank, second group of %g: %d of %d tests reject", few[f], rejected,
                    tested);
        cr_expect(tested > RUNS / 2, "%g: %d", few[f], tested);
        cr_expect(rejected <= 0.065 * tested + 1, "%g: %d of %d", few[f], rejected, tested);
    }
}

/* All but one in a thousand, or all, are in the second half of many levels, whose noise is as large as what the others hold. */
Test(left_out, shares_near_one_are_covered)
{
    enum { LEVELS = 32, STUDIES = 2000 };
    const double share[] = {1, 0.999};
    for (size_t s = 0; s < 2; s++) {
        uint64_t state = 11 + s;
        int covered = 0;
        int of_noise = 0;
        for (int run = 0; run < STUDIES; run++) {
            struct table1_column column = {
                .levels = LEVELS, .groups = 1, .variance = 16, .size_variance = 16 * (LEVELS + 1)};
            bool in[TABLE1_LEVELS_MAX] = {false};
            bool of[TABLE1_LEVELS_MAX] = {false};
            double z[2];
            cells_normals(z, &state);
            const double without =
                s == 0 ? 0 : fmin(fmax(round(2 + sqrt(2) * z[0]), 0), 8); /* of 2,000 */
            for (size_t k = 0; k <= LEVELS; k++) {
                column.cell[k] = 4 * laplace(&state);
                column.cell[k] += k < LEVELS / 2 ? without / (LEVELS / 2)
                                  : k < LEVELS   ? (2000 - without) / (LEVELS / 2)
                                                 : 0;
                in[k % LEVELS] = k % LEVELS >= LEVELS / 2;
                of[k % LEVELS] = true;
            }
            const struct table1_figure own = table1_part(&column, in, of);
            const double wilson = ESTIMATE_Z * ESTIMATE_Z / (2200 + ESTIMATE_Z * ESTIMATE_Z);
            cr_assert(own.estimate.high - own.estimate.low > wilson);
            cr_assert(own.noise_high - own.noise_low > own.estimate.noise / 2);
            covered += own.estimate.low <= share[s] && share[s] <= own.estimate.high;
            of_noise += own.noise_low <= 1 - without / 2000 && 1 - without / 2000 <= own.noise_high;
        }
        cr_log_info("share %g: %d and %d of %d", share[s], covered, of_noise, STUDIES);
        cr_expect(covered >= 0.935 * STUDIES && of_noise >= 0.935 * STUDIES, "%g: %d and %d",
                  share[s], covered, of_noise);
    }
}
