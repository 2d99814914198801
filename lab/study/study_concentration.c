/* Theorem 1 of Nie and Wang: records drawn independently, an epsilon-DP learner, losses >= 0 whose true
 * mean is at most G: |E(empirical - true)| <= 2 G epsilon, epsilon <= 1.25.
 *
 * The learner that comes nearest to it: one record x, uniform on D values; the learner names a value h,
 * h = x with probability e^epsilon/(e^epsilon + D - 1), else each other one alike: epsilon-DP, tight.
 * The loss of h on a record is 1 where it is that record, else 0: G = 1/D, and the gap is G (D
 * e^epsilon/(e^epsilon + D - 1) - 1), which is G (e^epsilon - 1) for many values: 0.86 of the bound at
 * epsilon 1, above it from 1.257 on. The gaps of this learner are exact.
 *
 * Beside it the exponential mechanism, drawn as the programs draw it, among k hypotheses whose losses on
 * each of m records are fair coins: it overfits as far as its epsilon lets it. G = 1/2. */

#include "lab/study/study.h"

#include "dp/select_private.h"
#include "tests/support/seeded_random.h"

#include <math.h>
#include <stdio.h>

enum { VALUES = 1000000, HYPOTHESES = 64, RUNS = 200000, SIZES = 4, TEXT = 40 };

static const double epsilons[] = {0.1, 0.25, 0.5, 0.75, 1, 1.25};
static const double beyond[] = {1.5, 2};
static const unsigned sizes[SIZES] = {1, 4, 16, 64};

enum {
    EPSILONS = sizeof epsilons / sizeof epsilons[0],
    BEYOND = sizeof beyond / sizeof beyond[0],
    ERRORS = 6 /* standard errors: false alarm below 1e-9 */
};

/* The gap over 2 G epsilon of the exact learner, which runs at `run` and claims `claimed`. */
static double exact_share(double run, double claimed)
{
    const double likely = exp(run) / (exp(run) + VALUES - 1);
    return fabs(VALUES * likely - 1) / (2 * claimed);
}

struct gap {
    double mean;
    double error; /* standard error */
};

/* E(true - empirical) of the exponential mechanism at epsilon = micro/10^6, scores of sensitivity 1. */
static enum status run_learner(struct gap *gap, unsigned records, uint64_t micro, uint64_t runs,
                               struct seeded_random *dice)
{
    const struct random random = seeded_random_interface(dice);
    struct noise_exponential decay;
    double sum = 0;
    double squares = 0;
    enum status status = noise_exponential_init(&decay, micro, 2 * UINT64_C(1000000));
    for (uint64_t run = 0; run < runs && status == STATUS_OK; run++) {
        int64_t loss[HYPOTHESES] = {0};
        size_t chosen = 0;
        for (unsigned i = 0; i < records; i++) {
            const uint64_t coins = seeded_random_word(dice);
            for (size_t h = 0; h < HYPOTHESES; h++) {
                loss[h] += (int64_t)(coins >> h & 1);
            }
        }
        status = select_draw_exponential(&decay, &random, &chosen, loss, HYPOTHESES);
        const double off = 0.5 - (double)loss[chosen < HYPOTHESES ? chosen : 0] / records;
        sum += off;
        squares += off * off;
    }
    gap->mean = sum / (double)runs;
    gap->error = sqrt(fmax(squares / (double)runs - gap->mean * gap->mean, 0) / (double)runs);
    return status;
}

static void exact_part(struct study *study, const struct study_request *request,
                       struct study_chart *chart)
{
    struct study_series *exact =
        study_series(chart, STUDY_MEASURED, 0, "the worst learner, exactly");
    struct study_series *bound = study_series(chart, STUDY_BOUND, 1, "2 G epsilon");
    const bool doubled = request->planted; /* half the noise: twice the epsilon; beyond: within */
    double worst = 0;
    for (size_t i = 0; i < EPSILONS; i++) {
        const double share = exact_share((doubled ? 2 : 1) * epsilons[i], epsilons[i]);
        worst = fmax(worst, share);
        study_point(exact, epsilons[i], 2 * epsilons[i] * share);
        study_point(bound, epsilons[i], 2 * epsilons[i]);
    }
    study_claim(study, STUDY_AT_MOST, worst, 1,
                "theorem 1: the gap of the learner that comes nearest to it, exactly, over 2 G "
                "epsilon, at the worst epsilon up to 1.25");
    for (size_t i = 0; i < BEYOND; i++) {
        study_point(exact, beyond[i], 2 * beyond[i] * exact_share(beyond[i], beyond[i]));
        study_point(bound, beyond[i], 2 * beyond[i]);
    }
    study_claim(study, STUDY_AT_LEAST,
                exact_share(doubled ? 1 : beyond[0], doubled ? 1 : beyond[0]), 1,
                "outside its range the theorem fails: the same at epsilon 1.5");
}

enum status study_concentration(struct study *study, const struct study_request *request,
                                struct why *why)
{
    static const char *const columns[] = {"records", "epsilon", "gap", "standard error",
                                          "2 G epsilon"};
    const uint64_t runs = request->runs == 0 ? RUNS : request->runs;
    struct seeded_random dice;
    enum status status = STATUS_OK;
    double worst = 0;
    (void)snprintf(study->title, sizeof study->title, "How far a private learner can overfit");
    (void)snprintf(
        study->lede, sizeof study->lede,
        "Mean loss on the records learned from, beside the true mean: they differ by at most "
        "2 G epsilon in the mean, G the mean loss, whatever the learner does, if it is "
        "epsilon-DP with epsilon at most 1.25.");
    seeded_random_init(&dice, request->seed);
    study_columns(&study->table, sizeof columns / sizeof columns[0], columns);
    struct study_chart *chart = study_chart(
        study,
        &(struct study_chart){.title = "Gap against epsilon, in units of G",
                              .text = "G: the true mean loss. The worst learner remembers its only "
                                      "record as well as epsilon lets it, and passes the bound at "
                                      "1.26, where the theorem ends; the exponential mechanism "
                                      "picks among 64 hypotheses that are all coins.",
                              .x_title = "epsilon",
                              .y_title = "gap / G"});
    exact_part(study, request, chart);
    const bool doubled = request->planted;
    for (size_t s = 0; s < SIZES; s++) {
        char name[STUDY_NAME_BYTES];
        (void)snprintf(name, sizeof name, "exponential mechanism, %u record%s", sizes[s],
                       sizes[s] == 1 ? "" : "s");
        /* those between lie between: the table has them */
        struct study_series *line = s == 0 || s + 1 == SIZES
                                        ? study_series(chart, STUDY_MEASURED, (unsigned)s + 2, name)
                                        : NULL;
        for (size_t i = 0; i < EPSILONS && status == STATUS_OK; i++) {
            struct gap gap = {0, 0};
            char text[5][TEXT];
            /* the wrong form: scores that are told half of their sensitivity many times over */
            const uint64_t micro = (uint64_t)(1e6 * epsilons[i]) * (doubled ? 32 : 1);
            status = run_learner(&gap, sizes[s], micro, runs, &dice);
            worst = fmax(worst, (fabs(gap.mean) + ERRORS * gap.error) / epsilons[i]);
            if (line != NULL) {
                study_point(line, epsilons[i], 2 * gap.mean);
            }
            (void)snprintf(text[0], TEXT, "%u", sizes[s]);
            (void)snprintf(text[1], TEXT, "%g", epsilons[i]);
            (void)snprintf(text[2], TEXT, "%.5f", gap.mean);
            (void)snprintf(text[3], TEXT, "%.5f", gap.error);
            (void)snprintf(text[4], TEXT, "%.3f", epsilons[i]);
            study_row(&study->table, 5,
                      (const char *const[]){text[0], text[1], text[2], text[3], text[4]});
        }
        study_progress(request, "concentration: %u records", sizes[s]);
    }
    if (status != STATUS_OK) {
        why_set(why, "the exponential mechanism cannot be drawn");
        return status;
    }
    study_claim(
        study, STUDY_AT_MOST, worst, 1,
        "theorem 1: the exponential mechanism as drawn, the worst gap and %d standard errors over "
        "2 G epsilon",
        ERRORS);
    return STATUS_OK;
}
