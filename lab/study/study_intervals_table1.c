/* How often the intervals of a Table 1 hold: its records are study_intervals_table1_world.c's. */

#include "lab/study/study_intervals_table1.h"

#include <math.h>
#include <string.h>

/* Figures of a Table 1, of each group and of all. */
enum figure {
    AGE_MEAN,
    AGE_DEVIATION,
    AGE_QUARTILE, /* and median, and upper quartile */
    LEVEL_MEAN = AGE_QUARTILE + 3,
    LEVEL_DEVIATION,
    LEVEL_QUARTILE,
    SHARE = LEVEL_QUARTILE + 3,
    RARE_SHARE,
    FIGURES
};

enum { WIDTHS = 3, CLEAN_EACH = 10 };

enum {
    MEAN,
    MEDIAN,
    DEVIATION
}; /* of a number's widths; a column of categories has each share's */

struct found {
    size_t steps; /* that were planned */
    uint64_t asked[FIGURES];
    struct intervals_rate figure[FIGURES]; /* intervals that hold the truth */
    struct intervals_width width[VARIABLES][WIDTHS][GROUPS + 1];
};

static void judge(struct found *out, enum figure which, const struct table1_figure *figure,
                  double truth)
{
    out->asked[which]++;
    intervals_judge(&out->figure[which], &figure->estimate, truth);
}

static void judge_number(struct found *out, const struct world *world, size_t variable,
                         const struct table1_column *column, size_t group)
{
    const struct truth *truth = &world->truth[variable][group];
    const enum figure first = variable == 0 ? AGE_MEAN : LEVEL_MEAN;
    const struct table1_figure mean = table1_mean(column);
    const struct table1_figure deviation = table1_deviation(column);
    judge(out, first, &mean, truth->mean);
    judge(out, first + 1, &deviation, truth->deviation);
    for (size_t i = 0; i < 3; i++) {
        const struct table1_figure quantile = table1_quantile(column, 0.25 * (double)(i + 1));
        judge(out, first + 2 + (enum figure)i, &quantile, truth->quantile[i]);
    }
}

/* The width of a median's interval from the same release, told how many records there are. A quantile's test needs no other
 * probability. Its ends are steps: without the draw's luck the true cells may end at a whole step less, or more. */
static double median_by_true(const struct table1_column *released, const struct world *world,
                             size_t group)
{
    const double records = (double)(INTERVALS_SITES * world->setting->site_records);
    const double share = table1_world_group(group);
    struct table1_column column = *released;
    double present = 0;
    for (size_t k = 0; k < column.levels; k++) {
        present += column.cell[k];
    }
    for (size_t k = 0; k < column.levels; k++) {
        column.cell[k] *= records * share * table1_world_present() / present;
    }
    if (world->setting->planted < 1) {
        column.variance = column.size_variance = 0;
    }
    const struct estimate median = table1_quantile(&column, 0.5).estimate;
    return intervals_width_of(&median);
}

static void set_widths(double width[WIDTHS], const struct table1_column *column)
{
    struct table1_figure figure[WIDTHS];
    if (column->step != NULL) {
        figure[MEAN] = table1_mean(column);
        figure[MEDIAN] = table1_quantile(column, 0.5);
        figure[DEVIATION] = table1_deviation(column);
    }
    for (size_t i = 0; i < WIDTHS; i++) {
        figure[i] = column->step != NULL ? figure[i] : table1_share(column, i);
        width[i] = intervals_width_of(&figure[i].estimate);
    }
}

static enum status run_one(struct found *out, const struct world *world,
                           struct seeded_random *seeded, bool is_clean)
{
    static double exact_cell[VARIABLES][CELLS_MAX];
    static double cell[VARIABLES][CELLS_MAX];
    struct table1_sizes sizes[2];
    struct table1_block block[2][VARIABLES];
    struct table1_column column;

    table1_world_draw(exact_cell, world, seeded);
    memcpy(cell, exact_cell, sizeof cell);
    const enum status status = table1_world_add_noise(cell, world, seeded);
    table1_world_agree(&sizes[0], block[0], cell, world, world->setting->planted);
    table1_world_agree(&sizes[1], block[1], exact_cell, world, 0);
    for (size_t i = 0; i < (GROUPS + 1) * VARIABLES; i++) {
        const size_t g = i / VARIABLES;
        const size_t v = i % VARIABLES;
        table1_column_of(&column, &block[0][v], &sizes[0], g);
        if (v < 2) {
            judge_number(out, world, v, &column, g);
        }
        for (size_t k = 0; k < CATEGORIES && v == 2; k++) {
            const struct table1_figure share = table1_share(&column, k);
            judge(out, k == 2 ? RARE_SHARE : SHARE, &share, table1_world_category(k));
        }
        if (is_clean) {
            double released[WIDTHS];
            double exact[WIDTHS];
            const double by_true = v < 2 ? median_by_true(&column, world, g) : NAN;
            set_widths(released, &column);
            table1_column_of(&column, &block[1][v], &sizes[1], g);
            set_widths(exact, &column);
            if (v < 2 && isfinite(by_true) && isfinite(released[MEDIAN])) {
                out->width[v][MEDIAN][g].true_logarithms += log(by_true);
            } else if (v < 2) {
                released[MEDIAN] = NAN;
            }
            for (size_t k = 0; k < WIDTHS; k++) {
                intervals_add_width(&out->width[v][k][g], released[k], exact[k]);
            }
        }
    }
    return status;
}

static void set_by_true(struct found *out, const struct world *world)
{
    static double cell[VARIABLES][CELLS_MAX];
    struct table1_sizes sizes;
    struct table1_block block[VARIABLES];
    struct table1_column column;
    table1_world_expect(cell, world);
    table1_world_agree(&sizes, block, cell, world, world->setting->planted < 1 ? 0 : 1);
    for (size_t i = 0; i < (GROUPS + 1) * VARIABLES; i++) {
        double width[WIDTHS];
        table1_column_of(&column, &block[i % VARIABLES], &sizes, i / VARIABLES);
        set_widths(width, &column);
        for (size_t k = 0; k < WIDTHS; k++) {
            out->width[i % VARIABLES][k][i / VARIABLES].by_true =
                i % VARIABLES < 2 && k == MEDIAN ? 0 : width[k];
        }
    }
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    static struct world world;
    struct seeded_random seeded;
    *out = (struct found){.steps = 0};
    enum status status = table1_world_init(&world, setting);
    out->steps = world.steps;
    seeded_random_init(&seeded, setting->seed);
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = run_one(out, &world, &seeded, i % CLEAN_EACH == 0);
    }
    if (status == STATUS_OK) {
        set_by_true(out, &world);
    }
    table1_world_free(&world);
    return status;
}

static const struct intervals_claim claims[] = {
    {"table 1: intervals of means, the worst of all settings", INTERVALS_HOLD},
    {"table 1: intervals of standard deviations, the worst of all settings", INTERVALS_HOLD},
    {"table 1: intervals of medians and quartiles, the worst of all settings", INTERVALS_HOLD},
    {"table 1: intervals of shares, the worst of all settings", INTERVALS_HOLD},
    {"table 1: widths over those that the true cells give", INTERVALS_WIDTH},
};

enum { WIDTH = sizeof claims / sizeof claims[0] - 1 };

/* The claim that a figure counts for. */
static size_t claim_of(size_t figure)
{
    static const size_t of[FIGURES] = {0, 1, 2, 2, 2, 0, 1, 2, 2, 2, 3, 3};
    return of[figure];
}

/* For a figure, all groups together. A quartile has its median's. */
static struct intervals_width width_of(const struct found *found, size_t figure)
{
    static const size_t of[] = {MEAN, DEVIATION, MEDIAN, MEDIAN, MEDIAN};
    const size_t v = figure < LEVEL_MEAN ? 0 : figure < SHARE ? 1 : 2;
    const size_t first = figure == SHARE ? 0 : figure == RARE_SHARE ? 2 : of[figure % LEVEL_MEAN];
    return intervals_together(found->width[v][first], (figure == SHARE ? 2 : 1) * (GROUPS + 1));
}

static double worst_over_true(const struct found *found)
{
    const struct intervals_width *one = &found->width[0][0][0];
    double worst = NAN;
    for (size_t i = 0; i < VARIABLES * WIDTHS * (GROUPS + 1); i++) {
        worst = fmax(worst, intervals_over_true(&one[i]));
    }
    return worst;
}

static void tell(struct intervals_told *told, const struct found *found)
{
    static const struct {
        enum figure of, other;
        const char *shown, *covers;
    } row[] = {{AGE_MEAN, LEVEL_MEAN, "mean ", "means "},
               {AGE_DEVIATION, LEVEL_DEVIATION, ", SD ", "SDs "},
               {AGE_QUARTILE + MEDIAN, LEVEL_QUARTILE + MEDIAN, ", median ", "medians "},
               {SHARE, RARE_SHARE, ", share ", "shares "}};
    const struct intervals_width means = width_of(found, AGE_MEAN);
    const struct intervals_width medians = width_of(found, AGE_QUARTILE + MEDIAN);
    const struct intervals_width shares = width_of(found, SHARE);
    intervals_tell_setting(told, "table 1, ");
    intervals_tell(told, 1, "%zu steps", found->steps);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct intervals_rate *rate = &found->figure[row[i].of];
        intervals_tell_shown(told, 2, row[i].shown, rate, found->asked[row[i].of]);
        intervals_tell_share(told, 3 + i, row[i].covers, rate);
        intervals_tell_share(told, 3 + i, ", ", &found->figure[row[i].other]);
    }
    intervals_tell(told, INTERVALS_OF_WIDTHS, "mean %.2f, median %.2f, share %.2f, true %.2f",
                   intervals_over_exact(&means), intervals_over_exact(&medians),
                   intervals_over_exact(&shares), worst_over_true(found));
}

/* Intervals of quartiles end at steps, so half of the noise would not be noticed. A tenth is planted. */
static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    static struct found found;
    const enum status status = simulate(&found, setting);
    for (size_t i = 0; i < FIGURES && status == STATUS_OK; i++) {
        const struct intervals_width width = width_of(&found, i);
        intervals_take(told, claim_of(i), &found.figure[i], found.asked[i], &width);
    }
    for (size_t i = 0; i < VARIABLES * WIDTHS * (GROUPS + 1); i++) {
        intervals_take_width(told, WIDTH, &(&found.width[0][0][0])[i], setting->runs / CLEAN_EACH);
    }
    tell(told, &found);
    return status;
}

INTERVALS_KIND(table1, .variants = 1, .runs_times = 2, .planted = 0.1);
