/* result.h - what a job came to, as result.json tells it: released values, and beside them, filled
 * in by the simulator alone, statistics of exact records. The report is drawn from this and nothing
 * else.
 */

#ifndef REPORT_RESULT_H
#define REPORT_RESULT_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RESULT_NAME_BYTES = 128,
    RESULT_TEXT_BYTES = 512,
    RESULT_SAID_BYTES_MAX = 1 << 17,
    RESULT_NONE = -1, /* no expert */
    RESULT_ROUNDS_MAX = 100000,
    RESULT_EXPERTS_MAX = 100000,
    RESULT_AGENTS_MAX = 10000,
    RESULT_ANSWERS_MAX = 1 << 20,
    RESULT_POINTS_MAX = 1 << 20,
    RESULT_EFFECTS_MAX = 100000,
    RESULT_SITES_MAX = 1 << 20,
    RESULT_RELEASES_MAX = 100000,
    RESULT_FORECASTS_MAX = 100,
    RESULT_NUMBERS_MAX = 1 << 24, /* losses, weights and models together */
    RESULT_FILE_BYTES_MAX = 512 * 1024 * 1024
};

/* k = expert_count, d = feature_count. A double that is not known is NAN, null in the file. */
struct result_round {
    char stage[RESULT_NAME_BYTES]; /* "fit", "losses" */
    uint32_t round;                /* from 0 through all stages */
    uint32_t stage_number;         /* of the job's stages, from 1; 0: an older file does not tell */
    uint32_t agents;               /* whose answers counted */
    bool failed;
    int64_t chosen; /* index of the expert broadcast after it, or RESULT_NONE */
    double seconds;
    double epsilon; /* spent so far by an agent that answered every round, at the job's delta */
    char *note;     /* what a select round picked, or a learner made of answers; else NULL; owned */
    double *loss;   /* (k) released mean losses, noise included; NULL but in losses rounds; owned */
    double *weight; /* (k) probabilities after the round; NULL but in losses rounds; owned */
    double
        weight_noise; /* of the logarithm of each before they are scaled to sum to 1: the noise's standard deviation; NAN */
    double regret_average; /* over the losses rounds so far */
    double regret_bound;
};

struct result_expert {
    char name[RESULT_NAME_BYTES]; /* no two are the same */
    double lambda;
    double *model;   /* (d) its released weights; NULL when left out; owned */
    double accuracy; /* simulator only, like everything marked so */
    double auc;      /* simulator only */
    double
        weight_low; /* the noise aside, its latest weight is low .. high, about 95 %; NAN: no weights were released */
    double weight_high;
};

struct result_agent {
    char name[RESULT_NAME_BYTES];
    uint32_t answers;     /* that counted */
    double epsilon_spent; /* by its own ledger in a simulation, else by the answers that counted */
    double delta_spent;   /* at which epsilon_spent holds; 0 for a pure sum */
    double epsilon_left;  /* in a simulation under its own policy, which a deployment's coordinator
                             does not know: there, of the job's epsilon */
};

/* An answer to a question, after its last round. Unit: as it says. */
struct result_answer {
    uint32_t round; /* the one that it was known after */
    char name[RESULT_TEXT_BYTES];
    char unit[RESULT_NAME_BYTES];
    char note[RESULT_TEXT_BYTES]; /* what its numbers were before they were summed; may be empty */
    double records;               /* how many were asked; NAN where it is not known */
    double value;
    double error; /* standard error that the noise makes */
    double low;   /* the exact answer lies in low .. high with at least 95 % */
    double high;
    double sampling;  /* standard error as an answer about the population */
    double total_low; /* 95 % interval of sampling and noise together; NAN: the question has none */
    double total_high;
    double exact; /* simulator only: the same question without noise, on the same records */
    char table
        [RESULT_TEXT_BYTES]; /* the question of a table and the answer's place in it; else empty */
    char variable[RESULT_NAME_BYTES];
    char figure[RESULT_NAME_BYTES];
    char group[RESULT_TEXT_BYTES];
};

/* A point of a curve that a question asks for. Points of a curve stand one after another. */
struct result_point {
    uint32_t round;
    char question[RESULT_TEXT_BYTES];
    char curve
        [RESULT_NAME_BYTES]; /* "calibration", "net benefit" and that of treating all; empty: share alive */
    char group[RESULT_TEXT_BYTES]; /* empty without groups */
    double time;                   /* or the score, or the threshold */
    double value;
    double low; /* 95 % interval of sampling and noise, at this point */
    double high;
    double band_low; /* for all points of the curve together */
    double band_high;
    double noise_low; /* of the noise alone */
    double noise_high;
    double at_risk;
    double exact; /* simulator only: the same without noise */
};

/* An effect that a question asks for at each site, over all of them: as another such site's, not as these records'. */
struct result_effect {
    uint32_t round;
    char name[RESULT_TEXT_BYTES]; /* the answer of that name is of all records together */
    char unit[RESULT_NAME_BYTES];
    char note[RESULT_TEXT_BYTES];
    char table
        [RESULT_TEXT_BYTES]; /* of a Table 1 its question, and the effect's row; else both are empty */
    char row[RESULT_TEXT_BYTES];
    uint32_t sites; /* that have enough data */
    double value;   /* the mean over sites, random effects */
    double low;     /* 95 % interval: estimate/between.h */
    double high;
    double error;     /* of a ratio's logarithm, as spread */
    double spread;    /* standard deviation between sites, sampling and noise taken out */
    double share;     /* I^2 */
    double statistic; /* Cochran's Q */
    double p;         /* of the test that all sites are alike */
    double next_low;  /* 95 %: the effect at another such site */
    double next_high;
    double
        needed; /* where sites are left out: records of a site that would be enough; NAN: not known, or
                 * none is */
    double factor; /* likewise, times the epsilon */
};

/* The same effect at one site: its own noisy answer. Sites of an effect stand one after another. */
struct result_site {
    uint32_t round;
    char effect[RESULT_TEXT_BYTES];
    char site[RESULT_NAME_BYTES];
    double records;
    double value; /* NAN: not enough data */
    double low;   /* 95 %, of sampling and noise, this site alone */
    double high;
    double noise; /* standard errors; of a ratio's logarithm */
    double sampling;
    double weight; /* its share of the mean; NAN: it is left out */
};

/* A kind of number that a stage releases: the noise on it, and the stage's price. */
struct result_release {
    uint32_t stage; /* from 0 */
    char task[RESULT_NAME_BYTES];
    char strategy[RESULT_NAME_BYTES];
    char what[RESULT_TEXT_BYTES];
    char unit[RESULT_NAME_BYTES];
    char mechanism[RESULT_NAME_BYTES];
    double noise;    /* standard deviation, at most; NAN for a draw */
    double bar;      /* moved by no more than this with 95 %; NAN where it is not told */
    double sigma;    /* a Gaussian's, over the sensitivity; NAN for others */
    double sampling; /* share of the records in each round; 1 when not sampled */
    uint32_t passes; /* charges */
    double epsilon;  /* of the whole stage by itself */
    double delta;    /* at which epsilon holds; 0 for a pure sum */
};

/* Simulator only: what the chosen model said of a stream's last days held out. Unit: the label's. */
struct result_forecast {
    char stream[RESULT_NAME_BYTES];
    size_t day_count;
    double *truth; /* (day_count), owned */
    double *told;  /* (day_count), owned */
};

struct result {
    char job[RESULT_NAME_BYTES];
    char version[32]; /* of the program that wrote it */
    bool private;     /* false: made with a seed, the noise can be drawn again by anyone */
    bool simulated;   /* true: one machine played all parts */
    bool finished;
    bool has_seed;
    uint64_t seed;
    double seconds;
    struct result_round *round; /* (round_count), owned */
    size_t round_count;
    struct result_expert *expert; /* (expert_count), owned */
    size_t expert_count;
    size_t feature_count;
    struct result_agent *agent; /* (agent_count), owned */
    size_t agent_count;
    struct result_answer *answer; /* (answer_count), owned */
    size_t answer_count;
    struct result_point *point; /* (point_count), owned */
    size_t point_count;
    struct result_effect *effect; /* (effect_count), owned */
    size_t effect_count;
    struct result_site *site; /* (site_count), owned */
    size_t site_count;
    struct result_release *release; /* (release_count), by stage, owned */
    size_t release_count;
    struct result_forecast *forecast; /* (forecast_count), owned */
    size_t forecast_count;
    int64_t chosen;  /* index of the expert the job ends with, or RESULT_NONE */
    double accuracy; /* the chosen one's; simulator only */
    double auc;      /* two classes only; simulator only */
    struct {
        double root_mean_square; /* the chosen one's; NAN unless the label is a number */
        double mean_absolute;
        double pinball;  /* NAN unless the fit is of a quantile */
        double constant; /* root mean square of always answering the records' own mean */
        double pooled;   /* root mean square of least squares on all records in one place */
    } error;             /* simulator only; unit: the label's own */
    struct {
        double majority;        /* simulator only */
        double pooled_accuracy; /* simulator only */
        double pooled_auc;      /* simulator only */
        double pooled_lambda;   /* of the cross-validated penalty; simulator only */
        size_t records_learn;   /* simulator only; 0: not known */
        size_t records_held;    /* simulator only; 0: not known */
    } baseline;
    struct {
        char trust[RESULT_NAME_BYTES];
        char sent[RESULT_TEXT_BYTES];  /* what differs by trust, in words: job/trust.h */
        char noise[RESULT_TEXT_BYTES]; /* likewise */
        char unit[RESULT_NAME_BYTES];
        double epsilon; /* the job's total, for one agent's record */
        double delta;
    } privacy;
    struct {
        double average; /* NAN without a losses round, and under central trust, where only the
                           simulator could know it */
        double bound;
        double textbook; /* the same with the textbook's constant */
        double noise;    /* the part of both that the noise accounts for */
    } regret;
};

/** Starts a result: nothing known, nothing chosen, not private. */
void result_init(struct result *result);

/** Makes room for that many items of a list, by its key in result.json, each unknown; experts get models of feature_count
 * weights. To be called once for a list, after result_init. Fails with STATUS_NO_MEMORY or, over a limit above,
 * STATUS_INVALID. */
MUST_USE enum status result_reserve(struct result *result, const char *list, size_t count);

enum { RESULT_ENOUGH_BYTES = 160 };

/** Writes what would give a site that is left out an answer: how many times the epsilon, or how many records; empty where
 * neither is known. */
void result_say_enough(char text[static RESULT_ENOUGH_BYTES], const struct result_effect *effect,
                       const struct result_site *site);

/** Whether `bar` is what holds with 95 %; that of a play is a mean, what privacy adds to its regret. */
bool result_release_is_bar(const struct result_release *release);

/** Returns a release of the stage whose round it was, which has the stage's price; NULL where a file does not tell. */
const struct result_release *result_stage_of(const struct result *result, uint32_t round);

/** Answers whether a release's bar is what is expected of an interval or a test, and no bound. what: as in a release */
bool result_what_is_expected(const char *what);

/** Returns the standard error of `accuracy`, a share of the records held out; NAN where unknown. */
double result_accuracy_error(const struct result *result);

/**
 * Returns the standard error of `auc` on the records held out; NAN where unknown. Which class is the
 * majority is not in a result, so that it is the larger of two.
 * Source: Hanley and McNeil, "The meaning and use of the area under a receiver operating
 * characteristic (ROC) curve", Radiology 143 (1982), equation 1, with their approximations.
 */
double result_auc_error(const struct result *result);

/** Returns a new array of count doubles, all NAN, or NULL without memory; the caller owns it. */
double *result_numbers(size_t count);

/** Frees what the result owns and starts it anew. */
void result_free(struct result *result);

/** Writes result.json's text; *text is malloc'd, the caller frees it. CHECKs indices. Fails with
 * STATUS_NO_MEMORY, and STATUS_INVALID for a name that is not UTF-8. */
MUST_USE enum status result_to_json(char **text, const struct result *result);

/** Writes what the report's page draws from: {"result": the same without models, with computed figures, "columns": of each
 * list and part, [{"key", "label", "format", "digits"}]}. As result_to_json otherwise. */
MUST_USE enum status result_to_page(char **text, const struct result *result);

/** Reads result.json. Keys it does not know are ignored, so that an older program reads a newer
 * file; a missing key, a wrong type and a number out of range are refused. Fails with
 * STATUS_INVALID, STATUS_NO_MEMORY; the result is then as after result_init. */
MUST_USE enum status result_from_json(struct result *result, struct slice text, const char *name,
                                      struct why *why);

#endif
