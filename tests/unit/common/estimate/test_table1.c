/* Table 1's figures: groups that agree, the noise's variance, intervals, and what is refused. */

#include "estimate/cells.h"
#include "estimate/table1.h"

#include "tests/support/seeded_random.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 2, STEPS = 16, CATEGORIES = 2, DRAWS = 4000 };
enum { NUMBERS = GROUPS * (STEPS + 1) + 1, TEXTS = GROUPS * (CATEGORIES + 1) + 1 };

struct table {
    double number[NUMBERS];
    double text[TEXTS];
    double step[STEPS];
    struct table1_block block[2];
    struct table1_sizes sizes;
    struct table1_column column;
};

/* 600 and 300 records and 40 in no group; values around steps 6 and 8; noise of either variable. */
static void fill(struct table *t, double variance)
{
    memset(t, 0, sizeof *t);
    for (size_t g = 0; g < GROUPS; g++) {
        const double n = g == 0 ? 600 : 300;
        double *own = t->number + g * (STEPS + 1);
        double sum = 0;
        for (size_t k = 0; k < STEPS; k++) {
            t->step[k] = 10 * (double)k;
            const double z = ((double)k - 6 - 2 * (double)g) / 3;
            own[k] = exp(-z * z / 2);
            sum += own[k];
        }
        for (size_t k = 0; k < STEPS; k++) {
            own[k] *= 0.95 * n / sum;
        }
        own[STEPS] = 0.05 * n;
        t->text[g * (CATEGORIES + 1)] = 0.7 * n;
        t->text[g * (CATEGORIES + 1) + 1] = 0.3 * n;
    }
    t->number[NUMBERS - 1] = t->text[TEXTS - 1] = 40;
    t->block[0] = (struct table1_block){t->number, STEPS, t->step, variance};
    t->block[1] = (struct table1_block){t->text, CATEGORIES, NULL, variance / 4};
}

static const struct table1_column *column_of(struct table *t, size_t which, size_t group)
{
    table1_column_of(&t->column, &t->block[which], &t->sizes, group);
    return &t->column;
}

static double total(const double *cell, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += cell[i];
    }
    return sum;
}

static void add_noise(struct table *t, struct seeded_random *seeded)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        t->number[i] += sqrt(t->block[0].variance) * seeded_random_normal(seeded);
    }
    for (size_t i = 0; i < TEXTS; i++) {
        t->text[i] += sqrt(t->block[1].variance) * seeded_random_normal(seeded);
    }
}

Test(table1, makes_all_variables_agree_on_the_groups_and_these_on_the_records)
{
    struct seeded_random seeded;
    static struct table t;
    seeded_random_init(&seeded, 3);
    fill(&t, 100);
    add_noise(&t, &seeded);
    table1_agree(&t.sizes, t.block, 2, GROUPS, 940);
    for (size_t g = 0; g <= GROUPS; g++) {
        const size_t numbers = g < GROUPS ? STEPS + 1 : 1;
        const size_t texts = g < GROUPS ? CATEGORIES + 1 : 1;
        const double size = t.sizes.size[g];
        cr_expect(fabs(total(t.number + g * (STEPS + 1), numbers) - size) < 1e-9);
        cr_expect(fabs(total(t.text + g * (CATEGORIES + 1), texts) - size) < 1e-9);
    }
    cr_expect(fabs(total(t.number, NUMBERS) - 940) < 1e-9, "the public number");
    cr_expect(fabs(table1_size(&t.sizes, GROUPS).estimate.value - (940 - t.sizes.size[GROUPS])) <
              1e-9);
}

/* Standard deviations of the noise against 4,000 draws: one of them errs by 1.1 %, so 6 % has a false alarm below 1e-7. */
Test(table1, knows_the_noise_of_its_figures)
{
    struct seeded_random seeded;
    static struct table t;
    double sum[8] = {0};
    double square[8] = {0};
    double told[8] = {0};
    seeded_random_init(&seeded, 5);
    for (int draw = 0; draw < DRAWS; draw++) {
        fill(&t, 16);
        add_noise(&t, &seeded);
        table1_agree(&t.sizes, t.block, 2, GROUPS, 940);
        struct table1_figure figure[8];
        for (size_t g = 0; g < 2; g++) {
            const size_t group = g == 0 ? 0 : GROUPS;
            figure[g] = table1_size(&t.sizes, group);
            figure[2 + g] = table1_mean(column_of(&t, 0, group));
            figure[4 + g] = table1_share(column_of(&t, 1, group), 1);
            figure[6 + g] = table1_count(column_of(&t, 0, group), STEPS);
        }
        for (size_t i = 0; i < 8; i++) {
            sum[i] += figure[i].estimate.value;
            square[i] += figure[i].estimate.value * figure[i].estimate.value;
            told[i] += figure[i].estimate.noise / DRAWS;
        }
    }
    for (size_t i = 0; i < 8; i++) {
        const double mean = sum[i] / DRAWS;
        const double found = sqrt(square[i] / DRAWS - mean * mean);
        cr_expect(fabs(found / told[i] - 1) < 0.06, "figure %zu: %g, told %g", i, found, told[i]);
    }
}

/* A number of figures of a table whose cells are as expected. */
static void take(struct table1_figure out[5], struct table *t, double variance)
{
    fill(t, variance);
    table1_agree(&t->sizes, t->block, 2, GROUPS, 940);
    out[0] = table1_share(column_of(t, 1, 0), 1);
    out[1] = table1_mean(column_of(t, 0, 0));
    out[2] = table1_deviation(&t->column);
    out[3] = table1_quantile(&t->column, 0.5);
    out[4] = table1_quantile(&t->column, 0.25);
}

Test(table1, noise_widens_every_interval_and_each_holds_the_value)
{
    static struct table t;
    struct table1_figure figure[5];
    double before[5] = {0};
    for (int noise = 0; noise < 3; noise++) {
        take(figure, &t, 16.0 * noise);
        for (size_t i = 0; i < 5; i++) {
            const struct estimate *own = &figure[i].estimate;
            const double width = own->high - own->low;
            cr_expect(width > before[i] || (i >= 3 && width == before[i]),
                      "figure %zu at noise %d: %g after %g", i, noise, width, before[i]);
            cr_expect(own->low <= own->value && own->value <= own->high,
                      "figure %zu at noise %d: %g in %g .. %g", i, noise, own->value, own->low,
                      own->high);
            cr_expect(own->low <= figure[i].noise_low + 1e-5 &&
                          figure[i].noise_high <= own->high + 1e-5,
                      "figure %zu at noise %d: %g .. %g in %g .. %g", i, noise, figure[i].noise_low,
                      figure[i].noise_high, own->low, own->high);
            before[i] = width;
        }
    }
    take(figure, &t, 0);
    /* R: prop.test(180, 600, correct = FALSE)$conf.int */
    cr_expect(fabs(figure[0].estimate.low - 0.2646995) < 1e-6, "%.9g", figure[0].estimate.low);
    cr_expect(fabs(figure[0].estimate.high - 0.3378452) < 1e-6, "%.9g", figure[0].estimate.high);
}

/* A refused figure is given with the named factor of epsilon, or of records, and not with less. */
Test(table1, says_how_much_more_is_enough)
{
    static struct table t;
    struct table1_figure figure[5];
    struct table1_figure with[5];
    for (double variance = 100; variance < 2e5; variance *= 3) {
        take(figure, &t, variance);
        for (size_t i = 0; i < 5; i++) {
            const double factor = figure[i].factor;
            cr_expect((factor < 1) == !isnan(figure[i].estimate.value));
            take(with, &t, variance / (factor * factor * 1.02));
            cr_expect(!isnan(with[i].estimate.value), "figure %zu: %g is not enough", i, factor);
            take(with, &t, variance / (factor * factor * 0.98));
            cr_expect(isnan(with[i].estimate.value), "figure %zu: less than %g", i, factor);
        }
    }
    fill(&t, 100);
    memset(t.number, 0, sizeof t.number);
    memset(t.text, 0, sizeof t.text);
    table1_agree(&t.sizes, t.block, 2, GROUPS, 940);
    t.column = *column_of(&t, 0, 0);
    memset(t.column.cell, 0, sizeof t.column.cell);
    cr_expect(isnan(table1_mean(&t.column).factor) && isnan(table1_deviation(&t.column).factor));
    cr_expect(isnan(table1_quantile(&t.column, 0.5).factor), "nobody: no factor would do");
}

/* Values at a step, between two, or anywhere: 1,000 values of each pattern, without noise. */
Test(table1, intervals_hold_however_values_lie_between_steps)
{
    static struct table t;
    for (int pattern = 0; pattern < 4; pattern++) {
        double value[1000];
        double mean = 0;
        double square = 0;
        fill(&t, 0);
        memset(t.number, 0, sizeof t.number);
        for (int i = 0; i < 1000; i++) {
            const double even = 20 + 0.1 * i;
            value[i] = pattern == 0   ? floor(even / 10) * 10
                       : pattern == 1 ? floor(even / 10) * 10 + 5
                       : pattern == 2 ? floor(even / 10) * 10 + 9
                                      : even;
            const size_t k = (size_t)(value[i] / 10);
            t.number[k + 1] += value[i] / 10 - (double)k;
            t.number[k] += 1 - (value[i] / 10 - (double)k);
            mean += value[i] / 1000;
            square += value[i] * value[i] / 1000;
        }
        t.text[0] = 1000;
        memset(t.text + 1, 0, sizeof t.text - sizeof t.text[0]);
        table1_agree(&t.sizes, t.block, 2, GROUPS, 1000);
        const struct table1_column *column = column_of(&t, 0, 0);
        const struct table1_figure deviation = table1_deviation(column);
        const double truth = sqrt((square - mean * mean) * 1000 / 999);
        cr_expect(fabs(table1_mean(column).estimate.value - mean) < 1e-9);
        cr_expect(deviation.estimate.low < truth && truth < deviation.estimate.high);
        for (int i = 1; i < 10; i++) {
            const struct table1_figure own = table1_quantile(column, 0.1 * i);
            cr_expect(own.noise_low <= value[100 * i - 1] && value[100 * i] <= own.noise_high,
                      "pattern %d, %d tenths: %g in %g .. %g", pattern, i, value[100 * i],
                      own.noise_low, own.noise_high);
        }
    }
}

/* Values that spread by a sixth of the range, without noise: the normal distribution's own widths, and what the steps add. */
Test(table1, expects_what_the_normal_distribution_says_and_more_with_noise)
{
    struct table1_public known = {.records = 2000, .groups = 2, .variance = 1e-9};
    const double n = 1000;
    const double spread = 1.0 / 6;
    const struct table1_expected exact = table1_expect(&known, true, 64);
    cr_expect(fabs(exact.mean.half - 1.96 * spread / sqrt(n)) < 2e-4, "%g", exact.mean.half);
    cr_expect(fabs(exact.deviation.half - 1.96 * spread / sqrt(2 * n)) < 2e-3, "%g",
              exact.deviation.half);
    const double of_median = 1.96 * spread * sqrt(2 * 3.14159265 * 0.25 / n);
    cr_expect(exact.median.half > of_median && exact.median.half < of_median + 2.0 / 63, "%g",
              exact.median.half);
    cr_expect(exact.quartile.half > of_median && exact.quartile.half < 1.1 * of_median + 2.0 / 63,
              "%g", exact.quartile.half);
    known.variance = 100;
    const struct table1_expected noisy = table1_expect(&known, true, 16);
    cr_expect(noisy.mean.half > exact.mean.half && noisy.deviation.half > exact.deviation.half);
    const double group[] = {noisy.mean.group, noisy.median.group, noisy.quartile.group,
                            noisy.deviation.group};
    for (size_t i = 0; i < 4; i++) {
        for (int more = 0; more < 2; more++) {
            known.records = (more == 1 ? 2.02 : 1.98) * group[i];
            const struct table1_expected own = table1_expect(&known, true, 16);
            const double half[] = {own.mean.half, own.median.half, own.quartile.half,
                                   own.deviation.half};
            cr_expect(isnan(half[i]) == (more == 0), "figure %zu of %g records", i, known.records);
        }
    }
    known.records = 2000;
    known.variance = 1e8;
    const struct table1_expected none = table1_expect(&known, true, 16);
    cr_expect(isnan(none.mean.half) && isnan(none.median.half) && isnan(none.quartile.half) &&
              isnan(none.deviation.half));
}

/* Two variables with unlike noise, drawn many times: how far the numbers of records that both agree on, and one's categories, move. */
Test(table1, expects_the_noise_of_counts_and_of_groups_together)
{
    enum { DRAWS = 4000, OWN = 3, OTHER = 5 };
    static const double deviation[] = {10, 30};
    double cell[2][GROUPS * (OTHER + 1) + 1];
    const struct table1_block block[] = {{cell[0], OWN, NULL, deviation[0] * deviation[0]},
                                         {cell[1], OTHER, NULL, deviation[1] * deviation[1]}};
    double square[4] = {0};
    uint64_t state = 14;
    for (int draw = 0; draw < DRAWS; draw++) {
        struct table1_sizes sizes;
        struct table1_column column;
        for (size_t i = 0; i < 2; i++) {
            for (size_t k = 0; k < GROUPS * (OTHER + 1); k += 2) {
                cells_normals(cell[i] + k, &state);
            }
            double last[2];
            cells_normals(last, &state);
            cell[i][GROUPS * (block[i].levels + 1)] = last[0];
            for (size_t k = 0; k <= GROUPS * (block[i].levels + 1); k++) {
                cell[i][k] *= deviation[i];
            }
        }
        table1_agree(&sizes, block, 2, GROUPS, 0);
        double all = 0;
        for (size_t g = 0; g < GROUPS; g++) {
            all += sizes.size[g];
        }
        square[0] += sizes.size[0] * sizes.size[0];
        square[1] += all * all;
        for (size_t i = 0; i < 2; i++) {
            table1_column_of(&column, &block[1], &sizes, i == 0 ? 0 : GROUPS);
            square[2 + i] += column.cell[2] * column.cell[2];
        }
    }
    const struct table1_counted size = table1_expect_count(block, 2, GROUPS, 2);
    const struct table1_counted count = table1_expect_count(block, 2, GROUPS, 1);
    const double told[] = {size.group, size.all, count.group, count.all};
    for (size_t i = 0; i < 4; i++) {
        const double found = ESTIMATE_Z_NOISE * sqrt(square[i] / DRAWS);
        /* The deviation of 4,000 normal draws errs by 1.1 %: beyond 6 % once in 10^7. */
        cr_expect(fabs(told[i] / found - 1) < 0.06, "%zu: %g, found %g", i, told[i], found);
    }
    cr_expect(size.all < size.group && count.all > count.group);
}

/* All groups together are one group of all records, but that each group's cells carry noise. */
Test(table1, expects_less_of_all_groups_together_than_of_one_without_groups)
{
    const struct table1_public none = {2000, 4, 1e-9};
    const struct table1_public one = {2000, 1, 1e-9};
    const struct table1_public noisy = {2000, 4, 25};
    const struct table1_public less = {2000, 1, 25};
    cr_expect(fabs(table1_expect_all(&none, true, 16).mean.half /
                       table1_expect(&one, true, 16).mean.half -
                   1) < 1e-6);
    cr_expect(fabs(table1_expect_all(&none, false, 3).share.half /
                       table1_expect(&one, false, 3).share.half -
                   1) < 1e-6);
    const double all = table1_expect_all(&noisy, true, 16).mean.half;
    cr_expect(all > 1.1 * table1_expect(&less, true, 16).mean.half, "%g", all);
    cr_expect(all < table1_expect(&noisy, true, 16).mean.half, "%g", all);
}

/* Planted: for a number that hardly varies the bar of the noise was longer than the interval, which also has
 * sampling in it. */
Test(table1, a_deviation_s_interval_reaches_as_far_as_the_noise_s)
{
    double step[64];
    for (size_t k = 0; k < 64; k++) {
        step[k] = (double)k / 6.3;
    }
    for (int off = -3; off <= 3; off++) {
        struct table1_column column = {
            .levels = 64, .step = step, .groups = 1, .variance = 0.01, .size_variance = 0.01};
        column.cell[44] = 450;
        column.cell[45] = 50;
        column.cell[0] = 0.1 * off;
        column.cell[63] = 0.1 * off;
        const struct table1_figure own = table1_deviation(&column);
        cr_assert(!isnan(own.estimate.value));
        cr_expect(own.estimate.low <= own.noise_low && own.noise_high <= own.estimate.high,
                  "%g .. %g, noise %g .. %g", own.estimate.low, own.estimate.high, own.noise_low,
                  own.noise_high);
    }
}

/* Noise on three cells that sum to a public number. sd: of the first two's sum */
static void release(struct table1_column *column, const double *cell, double sd,
                    struct seeded_random *seeded)
{
    double noise[3];
    column->variance = 1.5 * sd * sd;
    for (size_t i = 0; i < 3; i++) {
        noise[i] = sqrt(column->variance) * seeded_random_normal(seeded);
    }
    for (size_t i = 0; i < 3; i++) {
        column->cell[i] = cell[i] + noise[i] - (noise[0] + noise[1] + noise[2]) / 3;
    }
}

/* A category with as many records as 2 to 4 deviations of its noise. If its share is refused with a factor, the share is given in
 * at least 86 of 100 new draws with the epsilon times that factor. Nine in ten are promised; a quarter of 4,000 draws count, and
 * their standard error is 0.01. */
Test(table1, tells_a_factor_that_is_enough)
{
    struct seeded_random seeded;
    uint64_t told = 0;
    uint64_t shown = 0;
    seeded_random_init(&seeded, 71);
    for (int i = 0; i < DRAWS; i++) {
        const bool in[2] = {true, true};
        const double sd = 20;
        const double size = (2 + 2 * (double)(i % 5) / 4) * sd;
        const double cell[3] = {size / 2, size / 2, 5000 - size};
        struct table1_column column = {.levels = 2, .groups = 1};
        struct table1_figure figure = {.factor = 1};
        for (int asked = 0; asked < 2; asked++) {
            const double factor = asked == 0 ? 1 : ceil(10 * table1_factor_told(&figure)) / 10;
            release(&column, cell, sd / factor, &seeded);
            figure = table1_part(&column, in, in);
            if (asked == 1) {
                shown += !isnan(figure.estimate.value);
            } else if (isnan(figure.estimate.value) && !(figure.needed > 0) &&
                       isfinite(table1_factor_told(&figure))) {
                told++;
            } else {
                break;
            }
        }
    }
    cr_assert(told > DRAWS / 4, "%d", (int)told);
    cr_expect((double)shown >= 0.86 * (double)told, "%d of %d", (int)shown, (int)told);
}
