/* The plan of a survival question: intervals, trees of sums, expected widths, and how large groups have to be. */

#include "estimate/survival.h"
#include "estimate/survival_private.h"

#include <criterion/criterion.h>
#include <math.h>

static void near(double got, double expected, double by, const char *what, size_t at)
{
    cr_expect(fabs(got - expected) <= by, "%s %zu: %.10g is not %.10g", what, at, got, expected);
}

/* The variances of the curve's logarithm, of equal epsilon. With Laplace noise no number of intervals that may be asked has trees;
 * with Gaussian noise from 6 on they are worth it. */
Test(survival_plan, trees_are_chosen_where_their_noise_has_a_fifth_less_variance)
{
    const struct survival_public known = {.records = 6000, .groups = 2, .variance = 100};
    double before = HUGE_VAL;
    for (size_t k = SURVIVAL_INTERVALS_MIN; k <= SURVIVAL_INTERVALS_MAX; k++) {
        double laplace = 0;
        double gaussian = 0;
        cr_expect(survival_choose(&laplace, &known, k, false) == 0, "%zu intervals", k);
        const size_t block = survival_choose(&gaussian, &known, k, true);
        near(gaussian, laplace / 2, 1e-12, "ratio", k);
        cr_expect(laplace > 0.87 && laplace < before, "%zu intervals: %g", k, laplace);
        cr_expect((block > 0) == (k >= 6), "%zu intervals: %g, blocks of %zu", k, gaussian, block);
        before = laplace;
    }
    double ratio = 0;
    cr_expect(survival_choose(&ratio, &known, 20, true) == 6);
    near(ratio, 0.570, 0.001, "ratio", 20);
    const struct survival_public none = {.records = 10, .groups = 1, .variance = 1e6};
    cr_expect(survival_choose(&ratio, &none, 10, true) == 0 && isnan(ratio));
}

Test(survival_plan, plans_trees_for_gaussian_noise_alone)
{
    static const double records[] = {200, 1000, 5000, 25000, 1000000};
    static const double deviation[] = {1, 10, 100};
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 3; j++) {
            const struct survival_public known = {
                .records = records[i], .groups = 2, .variance = deviation[j] * deviation[j]};
            const struct survival_release laplace = survival_plan(&known, false);
            const struct survival_release gaussian = survival_plan(&known, true);
            cr_expect(laplace.block == 0);
            cr_expect(gaussian.intervals + 1 >= laplace.intervals &&
                      gaussian.intervals <= laplace.intervals);
            cr_expect(gaussian.block == 0 || gaussian.intervals >= 6);
            cr_log_info("%g records, deviation %g: %zu; %zu in blocks of %zu", records[i],
                        deviation[j], laplace.intervals, gaussian.intervals, gaussian.block);
        }
    }
}

Test(survival_plan, more_noise_plans_fewer_intervals_and_expects_wider_ones)
{
    struct survival_public known = {.records = 5000, .groups = 2, .variance = 40};
    const size_t exact = survival_plan(&known, false).intervals;
    const struct survival_expected narrow = survival_expect(&known, exact);
    known.variance = 4000;
    const size_t noisy = survival_plan(&known, false).intervals;
    const struct survival_expected wide = survival_expect(&known, noisy);
    cr_expect(noisy < exact && exact <= SURVIVAL_INTERVALS_MAX, "%zu, %zu", noisy, exact);
    cr_expect(wide.survival > narrow.survival && wide.group > narrow.group);
    cr_expect(narrow.band > 1.2 * narrow.survival && narrow.band < 2 * narrow.survival);
    cr_expect(wide.band > narrow.band && wide.ratio > narrow.ratio);
    cr_expect(narrow.median > 0 && narrow.median < 0.1 && !(wide.median < narrow.median));
    known.variance = 1e9;
    const struct survival_expected none = survival_expect(&known, 10);
    cr_expect(isnan(none.survival) && isnan(none.band) && isnan(none.median) && isnan(none.ratio));
    /* Schoenfeld 1981: D deaths of two equal groups tell log ratios of 2 (1.96 + 0.84)/sqrt(D). */
    known.variance = 1e-6;
    near(log(survival_expect(&known, 20).ratio), 2 * 2.8016 / sqrt(2650), 0.01, "log ratio", 0);
    known.groups = 3;
    cr_expect(isnan(survival_expect(&known, 20).ratio), "no two groups");
}

/* Groups a tenth larger than the named size have the figure, groups a tenth smaller do not. */
Test(survival_plan, tells_the_smallest_group_of_each_figure)
{
    for (size_t block = 0; block < 5; block += 4) {
        struct survival_public known = {
            .records = 3000, .groups = 2, .variance = 900, .block = block};
        const struct survival_expected told = survival_expect(&known, 12);
        cr_assert(told.group > 0 && told.median_group > 0 && told.test_group > 0);
        cr_expect(told.group == survival_smallest(&known, 12));
        const struct survival_public few = {
            .groups = 2, .records = 100, .variance = known.variance};
        cr_expect(!survival_expect_small(&few, 12, 0.1).is_tested, "ten records are too few");
        for (int more = 0; more < 2; more++) {
            const double by = more == 1 ? 2.2 : 1.8;
            known.records = by * told.median_group;
            cr_expect(isnan(survival_expect(&known, 12).median) == (more == 0), "%d", more);
            cr_expect(survival_suffices(by / 2 * told.group, &known, 12) == (more == 1));
            double cell[SURVIVAL_CELLS_MAX];
            struct survival tested = {.log_rank = NAN};
            known.records = by * told.test_group;
            survival_expect_cells(cell, &known, 12);
            survival_log_rank(&tested,
                              &(struct survival_cells){cell, 2, 12, 1, known.variance, block});
            cr_expect(isnan(tested.log_rank) == (more == 0), "%d", more);
        }
        known.variance *= 4;
        const struct survival_expected noisier = survival_expect(&known, 12);
        cr_expect(noisier.median_group > told.median_group && noisier.test_group > told.test_group);
    }
    const struct survival_public one = {.records = 3000, .groups = 1, .variance = 900};
    cr_expect(isnan(survival_expect(&one, 12).test_group), "of one group there is no test");
}

/* If two groups have one size, both plans are equal. A smaller group has the figures that the answer's rules
 * allow. */
Test(survival_plan, expects_of_a_small_group_what_its_own_records_tell)
{
    const struct survival_public known = {.records = 6000, .groups = 2, .variance = 25};
    const struct survival_expected alike = survival_expect(&known, 12);
    const struct survival_small half = survival_expect_small(&known, 12, 0.5);
    near(half.survival / alike.survival, 1, 0.01, "share", 0);
    near(half.band / alike.band, 1, 0.001, "band", 0);
    near(half.mean / alike.mean, 1, 0.001, "mean", 0);
    near(half.median / alike.median, 1, 0.001, "median", 0);
    near(half.mean_difference / alike.mean, sqrt(2), 0.02, "difference", 0);
    near(half.ratio / alike.ratio, 1, 1e-9, "ratio", 0);
    double before = 0;
    for (int i = 5; i >= 1; i--) {
        const struct survival_small small = survival_expect_small(&known, 12, 0.1 * i);
        cr_expect(small.survival > before, "a share of %d tenths", i);
        cr_expect(small.mean_difference > small.mean && small.mean_difference < 2 * small.mean);
        cr_expect(small.band > small.survival && small.ratio >= half.ratio && small.is_tested);
        before = small.survival;
    }
    for (int more = 0; more < 2; more++) {
        const double share = (more == 1 ? 1.06 : 0.94) * alike.group / known.records;
        const struct survival_small small = survival_expect_small(&known, 12, share);
        const double told[] = {
            small.survival,         small.band, small.mean, small.median, small.mean_difference,
            small.median_difference};
        for (size_t i = 0; i < 4; i++) {
            cr_expect(isnan(told[i]) == (more == 0), "figure %zu, %d: %g", i, more, told[i]);
        }
        cr_expect(more == 1 || (isnan(told[4]) && isnan(told[5])));
    }
    /* Without noise: the log rank of a tenth of the records against the rest, half of whom die. */
    const struct survival_public quiet = {.records = 10000, .groups = 2, .variance = 1e-6};
    near(log(survival_expect_small(&quiet, 20, 0.1).ratio), 2.8016 / sqrt(5000 * 0.09), 0.02,
         "log ratio", 0);
    const struct survival_public three = {.records = 9000, .groups = 3, .variance = 25};
    cr_expect(isnan(survival_expect_small(&three, 12, 0.1).ratio), "no two groups");
}
