/* A score of two groups, 70 and 30 % of the records, that foretells when an event comes. The score is normal; the hazard is constant
 * and grows with it, more in the first group. Censoring is uniform over twice the time. A quarter of the records have the event
 * by the end or, where it is rare, 7 %. The truth is the C-index of the expected cells: of binned scores and times. */

#include "estimate/cells.h"
#include "estimate/concordance.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 2, FINE = 400 };

static const double first_share = 0.7;
static const double centre = 0.5;
static const double spread = 0.18;
static const double slope[GROUPS] = {6, 3}; /* of the logarithm of the hazard */
static const double hazard[] = {0.3, 0.07}; /* at the centre; the second: rare */
static const double censoring_end = 2;

static double hazard_of(size_t group, double score, size_t variant)
{
    return hazard[variant] * exp(slope[group] * (score - centre));
}

static size_t bin_of(double score, size_t bins)
{
    return (size_t)fmin(fmax(floor(score * (double)bins), 0), (double)bins - 1);
}

/* By the midpoints of scores that are even over ten deviations and of short times. */
static enum status make_source(struct intervals_source *out, size_t bins, size_t variant)
{
    static double cell[CONCORDANCE_CELLS_MAX];
    const size_t own = bins * (2 * bins + 1);
    intervals_source_init(out, GROUPS * own);
    memset(cell, 0, sizeof cell);
    for (size_t i = 0; i < GROUPS * 4 * FINE; i++) {
        const size_t group = i % GROUPS;
        const size_t step = i / GROUPS;
        const double z = 10 * ((double)step + 0.5) / (4 * FINE) - 5; /* deviations */
        const double chance = exp(-z * z / 2) * (group == 0 ? first_share : 1 - first_share);
        const double score = centre + spread * z;
        const double h = hazard_of(group, score, variant);
        double *at = cell + group * own + bin_of(score, bins);
        for (size_t j = 0; j < FINE; j++) {
            const double t = ((double)j + 0.5) / FINE;
            const double alive = chance * exp(-h * t);
            const size_t row = j * bins / FINE;
            at[row * bins] += alive * h * (1 - t / censoring_end) / FINE;
            at[(bins + row) * bins] += alive / censoring_end / FINE;
        }
        at[2 * bins * bins] += chance * exp(-h) * (1 - 1 / censoring_end);
    }
    for (size_t c = 0; c < GROUPS * own; c++) {
        intervals_source_put(out, cell[c], c, 0);
    }
    return intervals_source_ready(out);
}

struct found {
    size_t bins; /* that were planned */
    struct intervals_rate index;
    struct intervals_rate noise;  /* of the noise alone that hold the index without noise */
    double truth;                 /* of the first group */
    struct intervals_width width; /* likewise */
};

static enum status run_one(struct found *out, const double *truth,
                           struct intervals_studies *studies)
{
    static double exact[CONCORDANCE_CELLS_MAX];
    static double cell[CONCORDANCE_CELLS_MAX];
    const size_t count = CONCORDANCE_CELLS(GROUPS, out->bins);
    const enum status status = intervals_studies_draw(cell, exact, count, studies);
    cells_balance(cell, count, (double)studies->records);
    const struct concordance_cells released = {cell, GROUPS, out->bins, studies->told};
    const struct concordance_cells clean = {exact, GROUPS, out->bins, 0};
    for (size_t g = 0; g <= GROUPS; g++) {
        const struct table1_figure index = concordance_index(&released, g);
        if (isnan(index.estimate.value)) {
            continue;
        }
        const struct estimate without = concordance_index(&clean, g).estimate;
        intervals_judge(&out->index, &index.estimate, truth[g]);
        intervals_count(&out->noise,
                        index.noise_low <= without.value && without.value <= index.noise_high);
        if (g == 0) {
            intervals_add_width(&out->width, intervals_width_of(&index.estimate),
                                intervals_width_of(&without));
        }
    }
    return status;
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    static double expected[CONCORDANCE_CELLS_MAX];
    double truth[GROUPS + 1] = {0};
    struct intervals_studies studies;
    enum status status = intervals_studies_init(&studies, setting, &intervals_two_cells);
    const struct table1_public known = {(double)studies.records, GROUPS, studies.noise.variance};

    *out = (struct found){.bins = concordance_plan(&known)};
    struct concordance_cells cells = {expected, GROUPS, out->bins, 0};
    if (status == STATUS_OK) {
        status = make_source(&studies.source, out->bins, setting->variant);
    }
    intervals_studies_expect(expected, CONCORDANCE_CELLS(GROUPS, out->bins), &studies);
    for (size_t g = 0; g <= GROUPS && status == STATUS_OK; g++) {
        truth[g] = concordance_index(&cells, g).estimate.value;
    }
    out->truth = truth[0];
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = run_one(out, truth, &studies);
    }
    if (status == STATUS_OK) {
        cells.variance = studies.told_truth;
        const struct estimate by_true = concordance_index(&cells, 0).estimate;
        out->width.by_true = intervals_width_of(&by_true);
    }
    intervals_studies_free(&studies);
    return status;
}

enum { INDEX, NOISE, WIDTH };

static const struct intervals_claim claims[] = {
    [INDEX] = {"scores: intervals of the C-index, the worst of all settings", INTERVALS_HOLD},
    [NOISE] = {"scores: intervals of the noise alone that hold the C-index without noise",
               INTERVALS_HOLD},
    [WIDTH] = {"scores: widths of the C-index over those that the true cells give",
               INTERVALS_WIDTH},
};

static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    struct found found;
    const size_t asked = (GROUPS + 1) * setting->runs;
    const enum status status = simulate(&found, setting);
    intervals_take(told, INDEX, &found.index, asked, &found.width);
    intervals_take(told, NOISE, &found.noise, asked, NULL);
    intervals_take_width(told, WIDTH, &found.width, setting->runs);
    intervals_tell_setting(told, "C-index, ");
    intervals_tell(told, 0, "%s", setting->variant == 1 ? ", rare" : "");
    intervals_tell(told, 1, "%zu bins", found.bins);
    intervals_tell_shown(told, 2, "", &found.index, asked);
    intervals_tell_share(told, 3, "", &found.index);
    intervals_tell_share(told, 5, "of noise ", &found.noise);
    intervals_tell(told, 6, "the truth is %.3f", found.truth);
    intervals_tell_width(told, "", &found.width);
    return status;
}

INTERVALS_KIND(concordance, .variants = 2, .runs_times = 1, .planted = 0.5);
