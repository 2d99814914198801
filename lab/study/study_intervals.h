/* study_intervals.h - simulated studies with known truth, for the coverage of intervals. Inside the study alone. */

#ifndef STUDY_INTERVALS_H
#define STUDY_INTERVALS_H

#include "base/status.h"
#include "lab/study/study.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "noise/share.h"
#include "tests/support/seeded_random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Five sites of equal size, but between sites. */
struct intervals_setting {
    uint64_t site_records;
    double epsilon;
    unsigned draws;   /* local trust and distributed: 5; central: 1 */
    unsigned shares;  /* distributed: each draw is a share; so many are one noise; else 0 */
    bool is_gaussian; /* with a delta of 1e-5; else Laplace */
    size_t variant;   /* which study of its kind */
    size_t sites;     /* of a study between sites; there site_records 0: of unequal size. 1: one of
                         five is alone, with its own noise */
    bool has_spread;  /* there: sites differ */
    size_t runs;
    bool is_short; /* chance is allowed for, as runs are too few to show that the bounds hold */
    uint64_t seed;
    double planted; /* of the noise, the share that the analysis is told; 1 but in tests */
};

enum {
    INTERVALS_SITES = 5,
    INTERVALS_TEXT = 80,
    INTERVALS_COLUMNS = 8,
    INTERVALS_CLAIMS_MAX = 64,
    INTERVALS_TRUSTS = 3,
    INTERVALS_NOISES = 2
};
enum { INTERVALS_OF_TESTS = 6, INTERVALS_OF_WIDTHS }; /* the last columns */

/** Returns how many records a study has: of all five sites, or of the one that is alone. */
uint64_t intervals_records(const struct intervals_setting *setting);

/** Returns who adds a setting's noise, below INTERVALS_TRUSTS; and the word for it. */
size_t intervals_trust(const struct intervals_setting *setting);
const char *intervals_trust_name(size_t trust);

/** Writes one of the sizes, epsilons, trusts and kinds of noise, in this order from the slowest but for the noise: Laplace
 * first. Returns false after the last that is asked for. */
bool intervals_setting_at(struct intervals_setting *out, const struct study_request *request,
                          size_t at);

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
    unsigned shares;
    double variance; /* of a cell, all draws together */
    struct noise_laplace laplace;
    struct noise_share share;
    struct noise_gaussian gaussian; /* or a part of it */
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

/* What a record may be: it adds 1 - above to a cell, and above to the next. */
struct intervals_atom {
    double chance;
    double above;
    double keep; /* the chance of itself where it is hit, else of other */
    uint32_t cell;
    uint32_t other;
};

/* What records are drawn from, and of what the expected cells follow. */
struct intervals_source {
    struct intervals_atom *atom; /* (count) */
    size_t count;
    size_t room;
};

/** Prepares it: init, put for each atom, ready, which makes the chances one; free, also after a failure. ready fails with
 * STATUS_NO_MEMORY, for init as well. */
void intervals_source_init(struct intervals_source *out, size_t room);
void intervals_source_put(struct intervals_source *source, double chance, size_t cell,
                          double above);
MUST_USE enum status intervals_source_ready(struct intervals_source *source);
void intervals_source_free(struct intervals_source *source);

/** Adds that many records to the cells. */
void intervals_source_draw(double *cell, const struct intervals_source *source, uint64_t records,
                           struct seeded_random *seeded);

/** Adds what that many records are on average. */
void intervals_source_expect(double *cell, const struct intervals_source *source, double records);

/* A setting's studies: what their records are drawn from, and the noise on their cells. Not to be copied. */
struct intervals_studies {
    uint64_t records;
    struct intervals_source source; /* the caller makes it, after init */
    struct intervals_noise noise;
    struct seeded_random seeded;
    struct random random;
    double told;       /* the variance of the noise on a cell that the analysis is told */
    double told_truth; /* where the cells are those that are on average */
};

/** Prepares all but the source; intervals_studies_free, also after a failure. Fails as intervals_noise_init. */
MUST_USE enum status intervals_studies_init(struct intervals_studies *out,
                                            const struct intervals_setting *setting,
                                            const struct intervals_moves *moves);
void intervals_studies_free(struct intervals_studies *studies);

/** Draws a study's cells (count): without noise, and released. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status intervals_studies_draw(double *cell, double *exact, size_t count,
                                            struct intervals_studies *studies);

/** Writes what the cells (count) are on average. */
void intervals_studies_expect(double *cell, size_t count, const struct intervals_studies *studies);

/* Counts of yes among how many. */
struct intervals_rate {
    uint64_t yes;
    uint64_t all;
};

/** Returns the share, NAN of none; and counts one. */
double intervals_share(const struct intervals_rate *rate);
void intervals_count(struct intervals_rate *rate, bool yes);

struct estimate;

/** Counts whether an interval holds the truth, if it is given; and returns how wide it is. */
void intervals_judge(struct intervals_rate *rate, const struct estimate *estimate, double truth);
double intervals_width_of(const struct estimate *estimate);

/** Returns how wide intervals of 1.96 true standard deviations are on average: those of these estimates (count), as far as the
 * intervals are between low and high. */
double intervals_true_width(const double *value, size_t count, double low, double high);

/* Widths of intervals that are shown, and of the same records' without noise: summed. */
struct intervals_width {
    double released;
    double exact;
    double logarithms; /* of released */
    double squares;    /* of these */
    uint64_t count;
    uint64_t exact_count;
    double
        by_true; /* that the true cells give with the same noise admitted; 0: each release has its own */
    double true_logarithms; /* of these; summed */
};

/* The worst of the settings. */
enum intervals_measure {
    INTERVALS_HOLD,   /* the truth: a share, at least */
    INTERVALS_REJECT, /* tests a true null: a share, at most */
    INTERVALS_WIDTH   /* over that of the true cells, at most */
};

/* The worst that was taken of a claim. */
struct intervals_worst {
    double measured; /* a share, or a width over that of the true cells; NAN: nothing */
    double shown;    /* the part of what was asked that is shown there */
    double
        over_exact; /* and the widths there over those without noise, and of the true cells; NAN: */
    double over_true; /* none are compared */
};

/** Takes one if it is worse, or the first. Returns whether. */
bool intervals_add_worst(struct intervals_worst *worst, const struct intervals_worst *own,
                         enum intervals_measure measure);

/* What a setting has of a claim. */
struct intervals_taken {
    struct intervals_worst worst;
    uint64_t fewest; /* answers that a share which was taken is of */
    /* Likewise of shares where a hundredth to a tenth are shown: the worst is what chance leaves possible. */
    double rare_worst;
    uint64_t rare_fewest;
    struct intervals_rate rare;   /* all of these together */
    struct intervals_rate hardly; /* and where fewer are shown, which is not judged */
};

/* A setting's row, and what it has of each claim of the kind. */
struct intervals_told {
    char text[INTERVALS_COLUMNS][INTERVALS_TEXT]; /* empty: nothing is told there */
    const struct intervals_kind *kind;
    const struct intervals_setting *setting;
    struct intervals_taken taken[INTERVALS_CLAIMS_MAX];
};

/** Empties it. */
void intervals_told_clear(struct intervals_told *told);

/* Each writes behind what a column has: any words; of the setting "local, Gaussian, 5 x 200, epsilon 1", in the first column; a
 * share, 0.951; of what was asked the part that is shown, 0.87; of tests, in their column, both; in theirs a width over that
 * without noise and over that of the true cells, 1.31, 1.02. */
void intervals_tell(struct intervals_told *told, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void intervals_tell_setting(struct intervals_told *told, const char *kind);
void intervals_tell_share(struct intervals_told *told, size_t column, const char *words,
                          const struct intervals_rate *rate);
void intervals_tell_shown(struct intervals_told *told, size_t column, const char *words,
                          const struct intervals_rate *rate, size_t asked);
void intervals_tell_tests(struct intervals_told *told, const struct intervals_rate *rejected);
void intervals_tell_width(struct intervals_told *told, const char *words,
                          const struct intervals_width *width);

/** Returns what chance leaves possible of a chance that `yes` of `all` were seen of: its upper limit where is_upper, else its
 * lower one. Beyond it, that few or that many have a chance of less than 0.001. */
double intervals_limit(uint64_t yes, uint64_t all, bool is_upper);

/** Takes a share for a claim. Where less than a tenth of what was asked is shown, its limit counts; where less than a hundredth
 * is, it is only counted. Answers of one study are not independent: this many studies' worth of them make the limit. width: of
 * the same intervals, told beside; NULL: none. */
void intervals_take(struct intervals_told *told, size_t claim, const struct intervals_rate *rate,
                    size_t asked, const struct intervals_width *width);

/** Adds one, unless an end is open or not given. */
void intervals_add_width(struct intervals_width *width, double released, double exact);

/** The same where nothing was solved without noise. */
void intervals_add_released(struct intervals_width *width, double released);

/** Returns the widths of several (count) together, each beside that of its own true cells. */
struct intervals_width intervals_together(const struct intervals_width *width, size_t count);

/** Return the mean width over that without noise, and the geometric mean of widths over that of the true cells: where noise nearly
 * hides an answer, a few of its intervals are so wide that they would make the mean. */
double intervals_over_exact(const struct intervals_width *width);
double intervals_over_true(const struct intervals_width *width);

/** Takes a setting's width over that of the true cells, if nine in ten of what was asked are shown. For a short run it is the
 * least that chance leaves possible, four standard errors less. */
void intervals_take_width(struct intervals_told *told, size_t claim,
                          const struct intervals_width *width, size_t asked);

struct intervals_claim {
    const char *text;
    enum intervals_measure measure;
};

/* A kind of study. A new one is a file, and a line of `kinds` in study_intervals.c. */
struct intervals_kind {
    const char *name;  /* in --only */
    size_t variants;   /* studies of each setting */
    size_t runs_times; /* cheap ones are simulated more often, as more settings may be the worst */
    double planted;    /* of the noise, in tests */

    /** Writes a setting; moves *at to the next that is asked for. Returns false after the last. NULL: intervals_setting_at */
    bool (*at)(struct intervals_setting *out, const struct study_request *request, size_t *at);

    /** Simulates a setting's studies; writes the row and takes the claims. Fails with STATUS_INVALID (no such noise),
     * STATUS_NO_MEMORY. */
    enum status (*run)(struct intervals_told *told, const struct intervals_setting *setting);

    const struct intervals_claim *claim; /* (claim_count), at most INTERVALS_CLAIMS_MAX */
    size_t claim_count;
};

/* The worst settings of a claim, and their names: of each trust and noise. */
struct intervals_summary {
    struct intervals_worst worst[INTERVALS_TRUSTS][INTERVALS_NOISES];
    char setting[INTERVALS_TRUSTS][INTERVALS_NOISES][INTERVALS_TEXT];
};

/** Makes it one of no setting; adds a setting to those of the kind's claims (claim_count); tells them, a row each, in the study's
 * summary. */
void intervals_summary_clear(struct intervals_summary *summary);
void intervals_summary_add(struct intervals_summary *summary, const struct intervals_told *told);
void intervals_summary_tell(struct study *study, const struct intervals_kind *kind,
                            const struct intervals_summary *summary);

/* Defines the kind of a file that has `run` and `claims`; the other members follow its name. */
#define INTERVALS_KIND(own, ...)                                                                   \
    const struct intervals_kind intervals_##own = {.name = #own,                                   \
                                                   .run = run,                                     \
                                                   .claim = claims,                                \
                                                   .claim_count =                                  \
                                                       sizeof claims / sizeof claims[0],           \
                                                   __VA_ARGS__}

extern const struct intervals_kind intervals_survival, intervals_crosstab, intervals_table1,
    intervals_evaluate, intervals_concordance, intervals_correlate, intervals_between,
    intervals_regress, intervals_tables, intervals_groups, intervals_medians;

#endif
