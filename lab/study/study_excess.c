/* Excess error against records, with lambda and epsilon by learn/rules.h. The law is known: a record's
 * features are one of a list of public points, drawn alike, and y = f(x) + or - a fixed amount, f(x) =
 * <w, x>: the best model is f for every loss that is even. The true error of any other is a mean over
 * the list, and each answer pi(f_z(x)) + b has a draw of its own. f lies in the space of the kernel, so r = 1/2 (||L_K^-1/2 f|| = ||w||) and beta = 1.
 * Nie and Wang 2017, theorems 2 and 3, and "Perturbation of convex risk minimization". */

#include "lab/study/study.h"

#include "dp/mechanism.h"
#include "learn/dense.h"
#include "learn/erm.h"
#include "learn/rules.h"
#include "tests/support/seeded_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 2048, FEATURES = 2, GRID_BITS = 24, RUNS = 12, TEXT = 32 };
enum { RECORDS_LEAST = 128, RECORDS_MOST = 262144, SIZES_MAX = 12 };

/* What the theory leaves out of a slope: its constants' lower-order terms, at these sizes. */
#define SLOPE_SLACK 0.05

static const struct family {
    enum rule rule;
    struct loss loss;
    double exponent;     /* r, or beta */
    double epsilon;      /* given, or 0 */
    double target_noise; /* y = f(x) + or - this */
    const char *name;
} families[] = {
    {RULE_LEAST_SQUARES_FIXED, {LOSS_SQUARED, 0}, 0.5, 1, 0.25, "least squares, epsilon 1"},
    {RULE_LEAST_SQUARES_BALANCED, {LOSS_SQUARED, 0}, 0.5, 0, 0.25, "least squares, balanced"},
    {RULE_LIPSCHITZ, {LOSS_HUBER, 0.5}, 1, 0, 0.25, "Lipschitz loss: Huber(1/2)"},
    {RULE_LIPSCHITZ, {LOSS_ABSOLUTE, 0}, 1, 0, 0, "Lipschitz loss: absolute, sharp"}};

enum { FAMILIES = sizeof families / sizeof families[0] };

struct law {
    double *x; /* (POINTS, FEATURES), owned */
    double f[POINTS];
    double norm; /* ||w||_2 */
};

static enum status draw_law(struct law *law, struct seeded_random *dice)
{
    static const double w[FEATURES] = {0.6, -0.4};
    law->norm = sqrt(dense_dot(w, w, FEATURES));
    law->x = calloc((size_t)POINTS * FEATURES, sizeof *law->x);
    for (size_t i = 0; i < POINTS && law->x != NULL; i++) {
        double *x = law->x + i * FEATURES;
        for (size_t j = 0; j < FEATURES; j++) {
            x[j] = (2 * seeded_random_unit(dice) - 1) * schema_scale(FEATURES);
        }
        law->f[i] = dense_dot(w, x, FEATURES);
    }
    return law->x == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

/* The true error of an answer at a point, less the best one's. */
static double excess_at(const struct law *law, size_t point, double answer,
                        const struct family *family)
{
    const double f = law->f[point];
    const double off = family->target_noise;
    return (loss_value(family->loss, answer, f + off) + loss_value(family->loss, answer, f - off)) /
               2 -
           loss_value(family->loss, f, f + off);
}

struct sample {
    double *x;
    double *y;
    size_t records;
};

/* One run: a sample, the fit, an answer with its own noise at every point of the law. */
static enum status run_once(double *excess, const struct law *law, const struct family *family,
                            const struct rule_choice *choice, struct sample *sample,
                            struct seeded_random *dice, struct why *why)
{
    const struct random random = seeded_random_interface(dice);
    const struct erm_problem problem = {.loss = family->loss,
                                        .lambda = choice->lambda,
                                        .tolerance = 1e-5,
                                        .record_count = sample->records,
                                        .feature_count = FEATURES};
    const struct dataset data = {
        .record_count = sample->records, .feature_count = FEATURES, .x = sample->x, .y = sample->y};
    const struct rule_fit fit = {.loss = problem.loss,
                                 .records = (double)sample->records,
                                 .bound = 1,
                                 .kappa = 1,
                                 .lambda = choice->lambda};
    double w[FEATURES];
    int64_t noise[POINTS];
    struct rule_sensitivity moves;
    struct noise_laplace laplace;
    struct noise_scale scale = {0, 0};
    for (size_t i = 0; i < sample->records; i++) {
        const size_t point = (size_t)seeded_random_below(dice, POINTS);
        for (size_t j = 0; j < FEATURES; j++) {
            sample->x[i * FEATURES + j] = law->x[point * FEATURES + j];
        }
        sample->y[i] = law->f[point] + (seeded_random_unit(dice) < 0.5 ? family->target_noise
                                                                       : -family->target_noise);
    }
    enum status status = erm_solve(w, &problem, &data, why);
    if (status == STATUS_OK) {
        status = rule_sensitivity(&moves, &fit, why);
    }
    if (status == STATUS_OK) {
        const double sensitivity = ceil(ldexp(moves.by_slope.value, GRID_BITS)) + 1;
        status =
            mechanism_scale(&scale, (uint64_t)sensitivity, (uint64_t)(1e6 * choice->epsilon), why);
    }
    if (status == STATUS_OK) {
        status = noise_laplace_init(&laplace, scale);
    }
    if (status == STATUS_OK) {
        status = noise_laplace_draw(&laplace, &random, noise, POINTS);
    }
    *excess = 0;
    for (size_t i = 0; i < POINTS && status == STATUS_OK; i++) {
        const double f = dense_dot(w, law->x + i * FEATURES, FEATURES);
        const double answer = fmax(-1, fmin(1, f)) + ldexp((double)noise[i], -GRID_BITS);
        *excess += excess_at(law, i, answer, family) / POINTS;
    }
    return status;
}

struct curve {
    double records[SIZES_MAX];
    double excess[SIZES_MAX];
    double error[SIZES_MAX]; /* standard error */
    double rate[SIZES_MAX];
    double bound[SIZES_MAX]; /* least squares: with its constant; else NAN */
    size_t count;
};

/* The error a theorem promises: beyond the best one's, plus 2 epsilon of the best one's when fixed. */
static enum status promise(double *bound, const struct family *family, const struct law *law,
                           double records, struct why *why)
{
    const struct rule_terms terms = {.records = records,
                                     .exponent = family->exponent,
                                     .epsilon = family->epsilon,
                                     .kappa = 1,
                                     .bound = 1,
                                     .source_norm = law->norm};
    struct stated stated = {NAN, NULL};
    enum status status = STATUS_OK;
    if (family->rule != RULE_LIPSCHITZ) {
        status = rule_error(&stated, family->rule, &terms, why);
    }
    *bound = stated.value + 2 * family->epsilon * family->target_noise * family->target_noise;
    return status;
}

static enum status measure(struct curve *curve, const struct family *family, const struct law *law,
                           bool wrong, const struct study_request *request, struct why *why)
{
    const uint64_t most = request->rounds == 0 ? RECORDS_MOST : request->rounds;
    const uint64_t runs = request->runs == 0 ? RUNS : request->runs;
    struct sample sample = {.records = 0};
    struct seeded_random dice;
    enum status status = STATUS_NO_MEMORY;
    sample.x = calloc(most * FEATURES, sizeof *sample.x);
    sample.y = calloc(most, sizeof *sample.y);
    seeded_random_init(&dice, request->seed + 1);
    if (sample.x != NULL && sample.y != NULL) {
        status = STATUS_OK;
    }
    for (uint64_t m = RECORDS_LEAST; m <= most && curve->count < SIZES_MAX && status == STATUS_OK;
         m *= 2) {
        struct rule_choice choice;
        const size_t at = curve->count++;
        double sum = 0;
        double squares = 0;
        status =
            rule_choose(&choice, family->rule, (double)m, family->exponent, family->epsilon, why);
        choice.lambda = wrong ? pow((double)m, -0.6) : choice.lambda;
        sample.records = (size_t)m;
        for (uint64_t run = 0; run < runs && status == STATUS_OK; run++) {
            double excess = 0;
            status = run_once(&excess, law, family, &choice, &sample, &dice, why);
            sum += excess;
            squares += excess * excess;
        }
        const double n = (double)runs;
        curve->records[at] = (double)m;
        curve->excess[at] = sum / n;
        curve->error[at] = sqrt(fmax(squares / n - sum / n * (sum / n), 0) / (n - 1));
        curve->rate[at] = choice.rate.value;
        if (status == STATUS_OK) {
            status = promise(&curve->bound[at], family, law, (double)m, why);
        }
    }
    free(sample.y);
    free(sample.x);
    return status;
}

/* The slope of ln excess against ln records, by least squares. */
static double slope(const struct curve *curve, const double *y)
{
    double mean[2] = {0, 0};
    double product = 0;
    double square = 0;
    for (size_t i = 0; i < curve->count; i++) {
        mean[0] += log(curve->records[i]) / (double)curve->count;
        mean[1] += log(y[i]) / (double)curve->count;
    }
    for (size_t i = 0; i < curve->count; i++) {
        const double x = log(curve->records[i]) - mean[0];
        product += x * (log(y[i]) - mean[1]);
        square += x * x;
    }
    return product / square;
}

static void show(struct study *study, const struct family *family, const struct curve *curve)
{
    struct study_chart words = {
        .text = "Mean over samples and noise. The dashed rate starts at the first point: what is "
                "measured must not be less steep.",
        .x_title = "records",
        .y_title = "excess error",
        .x_log = true,
        .y_log = true};
    (void)snprintf(words.title, sizeof words.title, "%s", family->name);
    struct study_chart *chart = study_chart(study, &words);
    struct study_series *measured = study_series(chart, STUDY_MEASURED, 0, "excess error");
    struct study_series *rate = study_series(chart, STUDY_BOUND, 1, "the papers' rate");
    struct study_series *bound =
        family->rule == RULE_LIPSCHITZ
            ? NULL
            : study_series(chart, STUDY_BOUND, 2, "the theorem with its constant");
    for (size_t i = 0; i < curve->count; i++) {
        char text[5][TEXT];
        study_point(measured, curve->records[i], curve->excess[i]);
        study_point(rate, curve->records[i], curve->rate[i] / curve->rate[0] * curve->excess[0]);
        if (bound != NULL) {
            study_point(bound, curve->records[i], curve->bound[i]);
        }
        (void)snprintf(text[0], TEXT, "%.0f", curve->records[i]);
        (void)snprintf(text[1], TEXT, "%.5g", curve->excess[i]);
        (void)snprintf(text[2], TEXT, "%.2g", curve->error[i]);
        (void)snprintf(text[3], TEXT, "%.5g", curve->rate[i]);
        (void)snprintf(text[4], TEXT, bound == NULL ? "-" : "%.4g", curve->bound[i]);
        study_row(&study->table, 6,
                  (const char *const[]){family->name, text[0], text[1], text[2], text[3], text[4]});
    }
}

/* Planted: lambda = m^(-3/5), for which the noise falls too slowly. */
static enum status claim(struct study *study, const struct family *family, const struct law *law,
                         const struct curve *right, const struct study_request *request,
                         struct why *why)
{
    struct curve wrong = {.count = 0};
    enum status status = STATUS_OK;
    const bool has_bound = family->rule != RULE_LIPSCHITZ;
    double most = 0;
    if (request->planted) {
        status = measure(&wrong, family, law, true, request, why);
    }
    const struct curve *curve = request->planted ? &wrong : right;
    study_claim(study, STUDY_AT_MOST, slope(curve, curve->excess),
                slope(right, right->rate) + SLOPE_SLACK,
                "%s: the slope of ln error against ln m, beside the rate's and %g", family->name,
                SLOPE_SLACK);
    for (size_t i = 0; i < curve->count; i++) {
        most = fmax(most, curve->excess[i] / curve->bound[i]);
    }
    if (has_bound) {
        study_claim(study, STUDY_AT_MOST, most, 1,
                    "%s: error over the theorem's with its constant, the worst m", family->name);
    }
    return status;
}

enum status study_excess(struct study *study, const struct study_request *request, struct why *why)
{
    static const char *const columns[] = {"rule",           "records", "excess error",
                                          "standard error", "rate",    "bound"};
    struct law law = {.norm = 0};
    struct seeded_random dice;
    (void)snprintf(study->title, sizeof study->title, "Error against records, beside the rates");
    (void)snprintf(
        study->lede, sizeof study->lede,
        "One institution learns a known law from m of its records, answers with noise, and picks "
        "lambda and epsilon by the papers' rules. The error beyond the best model's must fall at "
        "least as fast as the papers say.");
    if (request->rounds != 0 && request->rounds < 2 * RECORDS_LEAST) {
        return why_refuse(why, "--rounds: excess needs %d records or more", 2 * RECORDS_LEAST);
    }
    study_columns(&study->table, sizeof columns / sizeof columns[0], columns);
    seeded_random_init(&dice, request->seed);
    enum status status = draw_law(&law, &dice);
    for (size_t i = 0; i < FAMILIES && status == STATUS_OK; i++) {
        struct curve curve = {.count = 0};
        status = measure(&curve, &families[i], &law, false, request, why);
        if (status == STATUS_OK) {
            show(study, &families[i], &curve);
            status = claim(study, &families[i], &law, &curve, request, why);
        }
        study_progress(request, "excess: %s", families[i].name);
    }
    free(law.x);
    return status;
}
