/* regress_plan.c - what to expect of a regression before anything is asked, and how many levels its numbers have. */

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/regress.h"

#include <math.h>
#include <string.h>

/* Records are seldom even over the points: the factor may be twice as large. */
static const double factor_most = 0.5;

/* The share of each outcome where slopes are 0. */
void regress_expect_outcomes(double *share, const struct regress_design *design)
{
    static const double event = 0.2;
    const size_t k = design->intervals;
    if (design->family == REGRESS_LOGISTIC) {
        share[0] = 1 - event;
        share[1] = event;
    } else if (design->family == REGRESS_HAZARD) {
        for (size_t i = 0; i < k; i++) {
            share[i] =
                pow(1 - event, (double)i / (double)k) - pow(1 - event, (double)(i + 1) / (double)k);
            share[k + i] = 0;
        }
        share[2 * k] = 1 - event;
    } else {
        double all = 0;
        for (size_t y = 0; y < design->outcomes; y++) {
            const double place = 6 * ((double)y / (double)(design->outcomes - 1) - 0.5);
            share[y] = exp(-place * place / 2);
            all += share[y];
        }
        for (size_t y = 0; y < design->outcomes; y++) {
            share[y] /= all;
        }
    }
}

/* weight: (terms) */
static struct table1_figure expect_sum(const struct regress_design *design, const double *weight,
                                       double records, double variance)
{
    const size_t points = regress_points(design);
    const size_t count = points * design->outcomes;
    double share[REGRESS_OUTCOMES_MAX];
    double cell[REGRESS_CELLS_MAX];
    const struct regress_cells cells = {design, cell, count + 1, variance};
    struct regress_fit fit;
    CHECK(count <= REGRESS_CELLS_MAX && design->outcomes <= REGRESS_OUTCOMES_MAX);
    regress_expect_outcomes(share, design);
    for (size_t c = 0; c < count; c++) {
        cell[c] = records / (double)points * share[c % design->outcomes];
    }
    regress_solve(&fit, &cells);
    return regress_figure(&fit, weight);
}

static double half_of(const struct table1_figure *figure)
{
    return (figure->estimate.high - figure->estimate.low) / 2;
}

static struct regress_expected expected_of(const struct regress_design *design,
                                           const double *weight, double records, double variance)
{
    const struct table1_figure figure = expect_sum(design, weight, records, variance);
    return (struct regress_expected){.half = half_of(&figure), .factor = figure.factor};
}

/* weight: (REGRESS_TERMS_MAX) of the predictor's first slope; out */
static void weigh_slope(double *weight, const struct regress_design *design, size_t predictor)
{
    size_t term = design->intervals;
    memset(weight, 0, REGRESS_TERMS_MAX * sizeof *weight);
    for (size_t i = 0; i < predictor; i++) {
        const struct regress_predictor *before = &design->predictor[i];
        term += before->is_number ? 1 : before->levels - 1;
    }
    weight[term] = 1;
}

struct regress_expected regress_expect(const struct regress_design *design, size_t predictor,
                                       double records, double variance)
{
    double weight[REGRESS_TERMS_MAX];
    weigh_slope(weight, design, predictor);
    return expected_of(design, weight, records, variance);
}

struct regress_expected regress_expect_sum(const struct regress_design *design,
                                           const double *weight, double records, double variance)
{
    return expected_of(design, weight, records, variance);
}

/* What is asked of some number of records. */
struct asked_of_fit {
    const struct regress_design *design;
    const double *weight;
    double variance;
    double doubt;
};

static bool has_figure(double records, const void *of)
{
    const struct asked_of_fit *asked = of;
    const struct regress_expected expected =
        expected_of(asked->design, asked->weight, records, asked->variance);
    return !isnan(expected.half) && expected.factor < asked->doubt;
}

double regress_fewest(const struct regress_design *design, size_t predictor, double variance,
                      double doubt)
{
    double weight[REGRESS_TERMS_MAX];
    weigh_slope(weight, design, predictor);
    return regress_fewest_of_sum(design, weight, variance, doubt);
}

double regress_fewest_of_sum(const struct regress_design *design, const double *weight,
                             double variance, double doubt)
{
    const struct asked_of_fit asked = {design, weight, variance, doubt};
    return cells_fewest_records(has_figure, &asked);
}

/* The level's edges are even over the atoms and half of the gap beyond them. Each level has one at least. */
static void share_atoms(struct regress_predictor *predictor)
{
    const double *atom = predictor->atom;
    const size_t last = predictor->atoms - 1;
    const double low = atom[0] - (atom[1] - atom[0]) / 2;
    const double high = atom[last] + (atom[last] - atom[last - 1]) / 2;
    size_t next = 0;
    predictor->levels = predictor->levels < predictor->atoms ? predictor->levels : predictor->atoms;
    for (size_t k = 0; k < predictor->levels; k++) {
        const double edge = low + (high - low) * (double)(k + 1) / (double)predictor->levels;
        const size_t kept = predictor->levels - k - 1; /* one for each level behind */
        double sum = atom[next];
        size_t count = 1;
        while (next + count + kept <= last && (kept == 0 || atom[next + count] < edge)) {
            sum += atom[next + count++];
        }
        next += count;
        predictor->atom_end[k] = next;
        predictor->value[k] = sum / (double)count;
    }
}

void regress_set_even(struct regress_predictor *predictor)
{
    if (predictor->atoms > 0) {
        share_atoms(predictor);
        return;
    }
    for (size_t k = 0; k < predictor->levels; k++) {
        predictor->value[k] = (double)(2 * k + 1) / (double)predictor->levels - 1;
    }
}

static void set_numbers(struct regress_predictor *predictor, size_t predictors, size_t levels)
{
    for (size_t i = 0; i < predictors; i++) {
        if (predictor[i].is_number) {
            predictor[i].levels = levels;
            regress_set_even(&predictor[i]);
        }
    }
}

size_t regress_plan(const struct regress_design *design, struct regress_predictor *predictor,
                    double records, double variance)
{
    size_t best = REGRESS_PLAN_LEAST;
    double least = INFINITY;
    for (size_t levels = REGRESS_PLAN_LEAST; levels <= REGRESS_PLAN_MOST; levels++) {
        set_numbers(predictor, design->predictors, levels);
        if (regress_points(design) * design->outcomes > REGRESS_CELLS_MAX) {
            break;
        }
        const struct regress_expected expected = regress_expect(design, 0, records, variance);
        const double error = hypot(expected.half / ESTIMATE_Z, 1 / (double)(levels * levels));
        if (expected.factor <= factor_most && error < least) {
            least = error;
            best = levels;
        }
    }
    set_numbers(predictor, design->predictors, best);
    return best;
}
