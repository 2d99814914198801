/* One effect at several sites against R, and what is refused. */

#include "estimate/between.h"
#include "estimate/cells.h"

#include "tests/support/seeded_random.h"
#include "vectors.h"

#include <math.h>

enum { STUDIES = 4000 };

static void near(double got, double expected, double by, const char *what)
{
    cr_expect(fabs(got - expected) <= by, "%s: %.10g is not %.10g", what, got, expected);
}

static size_t read_sites(struct between_site *site, const char *key, bool has_noise)
{
    double y[8];
    double v[8];
    const size_t count = vector_read(y, 8, vectors("between"), key);
    (void)vector_read(v, 8, vectors("between"), "v");
    for (size_t i = 0; i < count; i++) {
        const double half = v[i] / 2;
        site[i] = (struct between_site){.value = y[i],
                                        .sampling = sqrt(has_noise ? half : v[i]),
                                        .noise = has_noise ? sqrt(half) : 0};
    }
    return count;
}

/* An end is Hartung and Knapp's, or further out as what tau^2 may be has it: there it is rounded outwards. */
static void is_end(double got, double expected, const char *what)
{
    near(got, fmax(expected, 0), expected > 0 ? 0.015 : 1e-7, what);
    cr_expect(got > expected - 1e-7, "%s: %g is less than %g", what, got, expected);
}

static void check(const char *key, const char *joined)
{
    struct between_site site[8];
    struct between out;
    double known[8];
    double ends[2];
    double weights = 0;
    const size_t count = read_sites(site, key, false);
    cr_assert(vector_read(known, 8, vectors("between"), joined) == 8);
    between_sites(&out, site, count, false);
    near(out.value, known[0], 1e-8, "mean");
    cr_assert(vector_read(ends, 2, vectors("between_mean"), key) == 2);
    is_end(known[1] - out.low, known[1] - ends[0], "low");
    is_end(out.high - known[2], ends[1] - known[2], "high");
    near(out.error, known[3], 1e-8, "error");
    near(out.spread, known[4], 1e-7, "tau");
    near(out.share, known[5], 1e-7, "I^2");
    near(out.statistic, known[6], 1e-10, "Q");
    near(out.p, known[7], 1e-10, "p");
    for (size_t i = 0; i < count; i++) {
        weights += site[i].weight;
    }
    near(weights, 1, 1e-12, "weights");
    cr_expect(out.next_low < out.low && out.next_high > out.high);
}

Test(between, joined_sites_are_r_s)
{
    check("y", "joined");
    check("alike", "joined_alike");
}

Test(between, fewer_than_three_sites_are_not_joined)
{
    struct between_site site[8];
    struct between out;
    (void)read_sites(site, "y", true);
    site[1].value = NAN; /* not given: left out */
    between_sites(&out, site, 3, false);
    cr_expect(out.sites == 2 && isnan(out.value) && isnan(out.low) && isnan(out.p));
    cr_expect(isnan(site[0].weight) && isnan(out.next_high));
    between_sites(&out, site, 4, false);
    cr_expect(out.sites == 3 && isfinite(out.value) && isnan(site[1].weight));
}

/* Three sites, the noise of the first as large as what they differ by: Student's t with two degrees of freedom holds in 0.93
 * of 4,000 studies there (standard error 0.004). */
Test(between, the_mean_s_interval_holds_where_noise_hides_one_of_three_sites)
{
    static const double noise[3] = {0.0375, 0.0075, 0.0015};
    static const double sampling[3] = {0.0106, 0.0047, 0.0021};
    struct seeded_random seeded;
    int held = 0;
    int by_t = 0;
    seeded_random_init(&seeded, 7);
    for (int study = 0; study < STUDIES; study++) {
        struct between_site site[3];
        struct between out;
        for (size_t i = 0; i < 3; i++) {
            const double unit = seeded_random_unit(&seeded) - 0.5;
            const double laplace = -copysign(log(1 - 2 * fabs(unit)), unit) / sqrt(2);
            const double own = hypot(0.02, sampling[i]) * seeded_random_normal(&seeded);
            site[i] = (struct between_site){
                .value = own + noise[i] * laplace, .sampling = sampling[i], .noise = noise[i]};
        }
        between_sites(&out, site, 3, false);
        held += out.low <= 0 && out.high >= 0;
        by_t += fabs(out.value) <= 4.302653 * out.error;
    }
    cr_expect(held > 0.95 * STUDIES && by_t < 0.94 * STUDIES, "%d, %d", held, by_t);
}

/* The same answers are farther apart than what noise is left out of accounts for. */
Test(between, noise_is_not_taken_for_differences_between_sites)
{
    struct between_site with[8];
    struct between_site without[8];
    struct between out;
    struct between naive;
    const size_t count = read_sites(with, "y", true);
    (void)read_sites(without, "y", true);
    for (size_t i = 0; i < count; i++) {
        without[i].noise = 0;
    }
    between_sites(&out, with, count, false);
    between_sites(&naive, without, count, false);
    cr_expect(naive.spread > out.spread && naive.share > out.share && naive.p < out.p);
}

/* Its tails are heavier: the same Q says less against sites that are alike. Of three sites of pure noise Q
 * has the variance 4 + 3 (3) (2/3)^2 = 8, that of twice a chi-squared with one degree of freedom. */
Test(between, the_test_allows_for_the_tails_of_the_noise)
{
    struct between_site site[3] = {{.value = 0}, {.value = 1}, {.value = 2}};
    struct between out;
    for (size_t i = 0; i < 3; i++) {
        site[i].noise = 0.5;
    }
    between_sites(&out, site, 3, false);
    near(out.statistic, 8, 1e-12, "Q");
    near(out.p, chi_squared_above(4, 1), 1e-12, "p");
    cr_expect(out.p > 2 * chi_squared_above(8, 2));
}

Test(between, where_sampling_is_a_bound_the_mean_alone_is_told)
{
    struct between_site site[8];
    struct between out;
    const size_t count = read_sites(site, "y", true);
    between_sites(&out, site, count, true);
    cr_expect(isfinite(out.low) && isfinite(out.high));
    cr_expect(isnan(out.spread) && isnan(out.share) && isnan(out.p) && isnan(out.next_low));
}

/* R: prop.test(30, 100, correct = FALSE)$conf.int, and 0.30 of all 3 sites' records. */
Test(between, a_share_has_wilson_s_interval_and_the_variance_of_all_sites_share)
{
    const struct between_sum sum[3] = {{30, 100}, {20, 100}, {40, 100}};
    struct between_site site[3];
    between_shares(site, sum, 3, 0);
    near(site[0].low, 0.2189489, 1e-7, "low");
    near(site[0].high, 0.3958485, 1e-7, "high");
    near(site[1].sampling, sqrt(0.3 * 0.7 / 100), 1e-12, "sampling");
    between_shares(site, sum, 3, 200); /* the noise is 0.14 of a share */
    near(site[0].noise, sqrt(200) / 100, 1e-12, "noise");
    cr_expect(site[0].low < 0.01 && site[0].high > 0.59);
    between_shares(site, sum, 3, 500);
    cr_expect(isnan(site[0].value), "the noise is above a fifth");
}

Test(between, effects_of_tables_without_noise_are_the_tables_own)
{
    const double one[5] = {70, 30, 50, 50, 0};
    const double two[5] = {140, 60, 100, 100, 0};
    struct crosstab_cells table[3] = {{.cell = one, .rows = 2, .columns = 2, .m = 5},
                                      {.cell = two, .rows = 2, .columns = 2, .m = 5},
                                      {.cell = two, .rows = 2, .columns = 2, .m = 5}};
    struct between_site site[3];
    between_differences(site, table, 3);
    near(site[0].value, 0.2, 1e-12, "difference");
    near(site[0].sampling, sqrt(0.3 * 0.7 / 100 + 0.25 / 100), 1e-12, "its sampling");
    cr_expect(site[0].low > 0.05 && site[0].low < 0.08 && site[0].high < 0.34);
    between_odds(site, table, 3);
    near(site[1].value, log(60.5 / 140.5) * -1, 0.01, "log odds ratio");
    near(site[1].sampling, sqrt(1. / 140 + 1. / 60 + 2. / 100), 1e-6, "its sampling");
    cr_expect(exp(site[1].low) > 1.5 && exp(site[1].high) < 3.6);
    table[0].variance = 100; /* four deviations are 40, a cell holds 30 */
    between_odds(site, table, 3);
    cr_expect(isnan(site[0].value) && isfinite(site[1].value));
}
