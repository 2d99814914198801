/* study_intervals.h - simulated studies with known truth, for the coverage of intervals. Inside the study alone. */

#ifndef STUDY_INTERVALS_H
#define STUDY_INTERVALS_H

#include "base/status.h"
#include "estimate/evaluate.h"
#include "estimate/regress.h"
#include "lab/study/study.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "tests/support/seeded_random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Five sites of equal size. */
struct intervals_setting {
    uint64_t site_records;
    double epsilon;
    unsigned draws;   /* local trust: 5; central: 1 */
    bool is_gaussian; /* with a delta of 1e-5; else Laplace */
    bool is_null;     /* both groups alike */
    bool is_rare;     /* of a cross table: 5 % instead of 30 % */
    bool is_wide;     /* of correlations: eight columns in one question, instead of two */
    size_t runs;
    uint64_t seed;
    double planted; /* of the noise, the share that the analysis is told; 1 but in tests */
};

enum { INTERVALS_SITES = 5 };

#define INTERVALS_COVERS_LEAST 0.935
#define INTERVALS_REJECTS_MOST 0.065

enum { INTERVALS_TEXT = 80 };

/** Writes one of the sizes, epsilons, trusts and kinds of noise, in this order from the slowest but for the noise: Laplace first. Returns
 * false behind the last that is asked for. */
bool intervals_setting_at(struct intervals_setting *out, const struct study_request *request,
                          size_t at);

/** Writes what a row says of its setting: "local, Gaussian, 5 x 200, epsilon 1". */
void intervals_setting_name(char text[static INTERVALS_TEXT], const char *kind,
                            const struct intervals_setting *setting);

/* How far one record moves a release. */
struct intervals_moves {
    double l1;
    double l2;
};

/* One cell, and another: of a histogram. */
static const struct intervals_moves intervals_two_cells = {2, 1.4142135623730951};

/* The noise of a release. */
struct intervals_noise {
    bool is_gaussian;
    unsigned draws;
    double variance; /* of a cell, all draws together */
    struct noise_laplace laplace;
    struct noise_gaussian gaussian;
};

/** Prepares it; intervals_noise_free. It is not to be copied. Fails with STATUS_INVALID (no such noise), STATUS_NO_MEMORY. */
MUST_USE enum status intervals_noise_init(struct intervals_noise *out,
                                          const struct intervals_setting *setting,
                                          const struct intervals_moves *moves);
void intervals_noise_free(struct intervals_noise *noise);

/** Adds it to released cells (count). Fails with STATUS_NO_MEMORY. */
MUST_USE enum status intervals_noise_add(double *cell, size_t count,
                                         const struct intervals_noise *noise,
                                         const struct random *random);

/* Counts of yes among how many. */
struct intervals_rate {
    uint64_t yes;
    uint64_t all;
};

/** Returns the share, NAN of none; and counts one. */
double intervals_share(const struct intervals_rate *rate);
void intervals_count(struct intervals_rate *rate, bool yes);

/** Takes the share if it is less, and of a tenth of the runs or more: fewer are too few to count. */
void intervals_take_least(double *least, const struct intervals_rate *rate, size_t runs);

struct intervals_survival {
    size_t intervals;            /* that were planned */
    struct intervals_rate shown; /* points */
    struct intervals_rate point; /* intervals of points that hold the truth */
    double worst_point; /* the least share over points that nine runs in ten show; NAN: none */
    struct intervals_rate band;
    struct intervals_rate noise; /* intervals of the noise that hold the curve without noise */
    struct intervals_rate mean;
    struct intervals_rate difference;
    struct intervals_rate median;
    struct intervals_rate rejected; /* log-rank tests below 5 % */
    double
        width_free; /* of intervals at the end, over those of the same records without noise; mean */
    double width_true; /* over those that the true cells give */
};

/** Simulates survival studies. Fails with STATUS_INVALID (no such noise), STATUS_NO_MEMORY. */
MUST_USE enum status intervals_survival(struct intervals_survival *out,
                                        const struct intervals_setting *setting);

struct intervals_crosstab {
    size_t runs;
    struct intervals_rate share; /* intervals that hold the truth */
    struct intervals_rate difference;
    struct intervals_rate odds;
    struct intervals_rate rejected; /* chi-squared tests below 5 % */
};

/** Simulates cross tables. Fails likewise. */
MUST_USE enum status intervals_crosstab(struct intervals_crosstab *out,
                                        const struct intervals_setting *setting);

/* Figures of a Table 1, of each group and of all. */
enum intervals_figure {
    INTERVALS_AGE_MEAN,
    INTERVALS_AGE_DEVIATION,
    INTERVALS_AGE_QUARTILE, /* and median, and upper quartile */
    INTERVALS_LEVEL_MEAN = INTERVALS_AGE_QUARTILE + 3,
    INTERVALS_LEVEL_DEVIATION,
    INTERVALS_LEVEL_QUARTILE,
    INTERVALS_SHARE = INTERVALS_LEVEL_QUARTILE + 3,
    INTERVALS_RARE_SHARE,
    INTERVALS_FIGURES
};

struct intervals_table1 {
    size_t runs;
    size_t steps; /* that were planned */
    uint64_t asked[INTERVALS_FIGURES];
    struct intervals_rate figure[INTERVALS_FIGURES]; /* intervals that hold the truth */
    double width[3];      /* of intervals that are shown: means, medians, shares; summed */
    double width_free[3]; /* of the same records without noise */
};

/** Simulates tables of a paper's first page. Fails likewise. */
MUST_USE enum status intervals_table1(struct intervals_table1 *out,
                                      const struct intervals_setting *setting);

struct intervals_evaluate {
    size_t levels; /* that were planned */
    struct intervals_rate auc;
    struct intervals_rate cut;   /* accuracy and sensitivity */
    struct intervals_rate band;  /* calibration */
    struct intervals_rate large; /* calibration in the large */
    struct intervals_rate
        benefit[EVALUATE_BANDS]; /* net benefit from each eighth on but the first */
    double width;                /* of the first group's AUC; summed */
    double width_free;           /* of the same records without noise */
};

/** Simulates scores judged by an event. Fails likewise. */
MUST_USE enum status intervals_evaluate(struct intervals_evaluate *out,
                                        const struct intervals_setting *setting);

/* Of the settings that show a tenth of the answers or more. */
struct intervals_worst_scores {
    double auc, cut, band, large, benefit;
};

/** Runs all settings of scores, a row each; and claims what was found. */
MUST_USE enum status intervals_scores(struct study *study, struct intervals_worst_scores *worst,
                                      const struct study_request *request, size_t runs);
void intervals_claim_scores(struct study *study, const struct intervals_worst_scores *worst,
                            double allowed);

/* Pairs of columns: study_intervals_correlate.c says which. */
enum intervals_pair {
    INTERVALS_EVEN,
    INTERVALS_SKEWED,
    INTERVALS_TWO_VALUES,
    INTERVALS_CLOSE,
    INTERVALS_NULL, /* independent, as the next */
    INTERVALS_NULL_SKEWED,
    INTERVALS_UNCORRELATED, /* and dependent */
    INTERVALS_PAIRS
};

struct intervals_correlate {
    size_t columns;
    size_t parts;                                    /* that were planned */
    struct intervals_rate pair[INTERVALS_PAIRS];     /* intervals that hold the truth */
    struct intervals_rate noise[INTERVALS_PAIRS];    /* that hold the correlation without noise */
    struct intervals_rate rejected[INTERVALS_PAIRS]; /* tests below 5 % */
    double width[INTERVALS_PAIRS];                   /* half of each interval; summed */
};

/** Simulates correlations. Fails likewise. */
MUST_USE enum status intervals_correlate(struct intervals_correlate *out,
                                         const struct intervals_setting *setting);

/* Of the settings that show a tenth of the answers or more. */
struct intervals_worst_pairs {
    double covers[INTERVALS_PAIRS];
    double noise;
    double rejected; /* of independent columns */
};

/** Runs all settings of correlations, a row each; and claims what was found. */
MUST_USE enum status intervals_pairs(struct study *study, struct intervals_worst_pairs *worst,
                                     const struct study_request *request, size_t runs);
void intervals_claim_pairs(struct study *study, const struct intervals_worst_pairs *worst,
                           double allowed);

enum { INTERVALS_SLOPES = 4 };

struct intervals_regress {
    size_t levels; /* of a number, that were planned */
    uint64_t asked;
    struct intervals_rate slope[INTERVALS_SLOPES]; /* intervals that hold the truth */
    struct intervals_rate rejected;                /* tests below 5 %, of a slope of 0 */
    double width;                                  /* of intervals that are shown; summed */
    double width_free;                             /* of the same records without noise */
};

/** Simulates regressions; is_wide: of the design that confirms. Fails likewise. */
MUST_USE enum status intervals_regress(struct intervals_regress *out,
                                       const struct intervals_setting *setting,
                                       enum regress_family family);

enum { INTERVALS_FAMILIES = REGRESS_HAZARD + 1 };

/* Of the settings that show a tenth of the answers or more. */
struct intervals_worst_models {
    double covers[INTERVALS_FAMILIES];
    double rejected;
};

/** Runs all settings of regressions, a row each; and claims what was found. */
MUST_USE enum status intervals_models(struct study *study, struct intervals_worst_models *worst,
                                      const struct study_request *request, size_t runs);
void intervals_claim_models(struct study *study, const struct intervals_worst_models *worst,
                            double allowed);

/* Effects that differ between sites: study_intervals_between.c. */
enum intervals_effect {
    INTERVALS_SITE_SHARE,
    INTERVALS_DIFFERENCE,
    INTERVALS_LOG_ODDS,
    INTERVALS_EFFECTS
};

struct intervals_between_setting {
    size_t sites;
    uint64_t site_records; /* 0: sites of unequal size */
    double epsilon;        /* of each site's own noise */
    bool has_spread;       /* sites differ */
    size_t runs;
    uint64_t seed;
    double planted; /* as above */
};

struct intervals_between {
    size_t runs;
    struct intervals_rate alone;    /* intervals of a site that hold its own effect */
    struct intervals_rate mean;     /* of the mean over sites that hold it */
    struct intervals_rate fixed;    /* of fixed effects, which are not told */
    struct intervals_rate next;     /* that hold the effect of another site */
    struct intervals_rate rejected; /* tests below 5 % */
    double width;                   /* of the mean's; summed */
    double spread;                  /* that is found; summed */
};

/** Simulates studies of several sites. Fails likewise. */
MUST_USE enum status intervals_between(struct intervals_between *out,
                                       const struct intervals_between_setting *setting,
                                       enum intervals_effect effect);

/* Of the settings that show a tenth of the answers or more. */
struct intervals_worst_between {
    double alone[INTERVALS_EFFECTS];
    double mean[INTERVALS_EFFECTS];
    double next[INTERVALS_EFFECTS];
    double rejected[INTERVALS_EFFECTS]; /* of sites that are alike */
};

/** Runs all settings of sites, a row each; and claims what was found. */
MUST_USE enum status intervals_sites(struct study *study, struct intervals_worst_between *worst,
                                     const struct study_request *request, size_t runs);
void intervals_claim_sites(struct study *study, const struct intervals_worst_between *worst,
                           double allowed);

#endif
