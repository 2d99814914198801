/* Cross tables of two columns with two categories each: half of the records in either row, and a share of the second column of 30 %
 * (5 % where it is rare) in the first row. In the second row it is a half more, or the same: a true null. */

#include "estimate/cells.h"
#include "estimate/crosstab.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <string.h>

enum { CELLS = 4 };

static double share_of(size_t row, const struct intervals_setting *setting)
{
    const double first = setting->is_rare ? 0.05 : 0.3;
    return row == 0 || setting->is_null ? first : 1.5 * first;
}

static void draw_cells(double *cell, const struct intervals_setting *setting,
                       struct seeded_random *seeded)
{
    const uint64_t records = INTERVALS_SITES * setting->site_records;
    memset(cell, 0, (CELLS + 1) * sizeof *cell);
    for (uint64_t i = 0; i < records; i++) {
        const size_t row = seeded_random_word(seeded) >> 63;
        cell[2 * row + (seeded_random_unit(seeded) < share_of(row, setting) ? 1 : 0)]++;
    }
}

static void judge(struct intervals_rate *rate, const struct estimate *estimate, double truth)
{
    if (!isnan(estimate->low)) {
        const double high = isnan(estimate->high) ? INFINITY : estimate->high;
        intervals_count(rate, estimate->low <= truth && truth <= high);
    }
}

enum status intervals_crosstab(struct intervals_crosstab *out,
                               const struct intervals_setting *setting)
{
    const double records = (double)(INTERVALS_SITES * setting->site_records);
    const double p = share_of(0, setting);
    const double q = share_of(1, setting);
    struct seeded_random seeded;
    struct intervals_noise noise;

    *out = (struct intervals_crosstab){.runs = setting->runs};
    seeded_random_init(&seeded, setting->seed);
    const struct random random = seeded_random_interface(&seeded);
    enum status status = intervals_noise_init(&noise, setting, &intervals_two_cells);
    const double told = setting->planted * setting->planted * noise.variance;
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        double cell[CELLS + 1];
        double tested = NAN;
        draw_cells(cell, setting, &seeded);
        status = intervals_noise_add(cell, CELLS + 1, &noise, &random);
        cells_balance(cell, CELLS + 1, records);
        const struct crosstab_cells cells = {
            .cell = cell, .rows = 2, .columns = 2, .m = CELLS + 1, .variance = told};
        const struct estimate odds = crosstab_odds_ratio(&cells);
        const struct estimate difference = crosstab_difference(&cells);
        const struct estimate share = crosstab_share(&cells, 1);
        judge(&out->odds, &odds, q / (1 - q) / (p / (1 - p)));
        judge(&out->difference, &difference, q - p);
        judge(&out->share, &share, q);
        (void)crosstab_test(&tested, &cells);
        if (!isnan(tested)) {
            intervals_count(&out->rejected, tested < 0.05);
        }
    }
    intervals_noise_free(&noise);
    return status;
}
