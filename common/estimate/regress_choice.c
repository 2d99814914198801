/* regress_choice.c - whether a coefficient is given by its information alone, and how it goes with that. */

#include "estimate/cells.h"
#include "estimate/regress.h"
#include "estimate/regress_score.h"
#include "estimate/regress_weights.h"

#include <math.h>
#include <string.h>

/* A fit, A = H^-1 w, and w'A. */
struct at {
    const struct regress_fit *fit;
    double a[REGRESS_TERMS_MAX];
    double inverse;
};

static void set(struct at *out, const struct regress_fit *fit, const double *weight)
{
    *out = (struct at){.fit = fit};
    memcpy(out->a, weight, fit->terms * sizeof *out->a);
    cells_solve(fit->factor, out->a, fit->terms);
    for (size_t i = 0; i < fit->terms; i++) {
        out->inverse += weight[i] * out->a[i];
    }
}

/* Writes by how much a record more in a cell moves w'b and w'Hw. */
static void look(double *moves, double *bends, const struct at *at,
                 const struct regress_point *point, size_t outcome)
{
    const struct regress_design *design = at->fit->cells->design;
    const struct regress_asked asked = {design, at->fit->leaving, at->fit->is_out};
    struct regress_score one;
    double eta[REGRESS_INTERVALS_MAX];
    double along[REGRESS_INTERVALS_MAX] = {0};
    regress_set_eta(eta, design, at->fit->b, point);
    regress_set_eta(along, design, at->a, point);
    regress_score(&one, &asked, eta, outcome);
    *moves = 0;
    *bends = 0;
    for (size_t i = 0; i < one.count; i++) {
        *moves += one.score[i] * along[i];
        *bends += one.curve[i] * along[i] * along[i];
    }
}

/* Sums over cells: once each, for the noise, and as often as there are records, for sampling. */
struct together {
    double moves, tells, square, joint;
    double sampled_square, sampled_joint;
};

static void add(struct together *sum, double moves, double tells, double records)
{
    sum->moves += moves;
    sum->tells += tells;
    sum->square += tells * tells;
    sum->joint += tells * moves;
    sum->sampled_square += records * tells * tells;
    sum->sampled_joint += records * tells * moves;
}

static struct together sum_cells(const struct at *own, const struct at *plain)
{
    const struct regress_design *design = own->fit->cells->design;
    const double *cell = own->fit->cells->cell;
    const double *weight = own->fit->weight;
    struct together sum = {.moves = 0};
    struct regress_point point;
    regress_point_first(&point, design, own->fit->placed);
    do {
        for (size_t y = 0; y < design->outcomes; y++) {
            double moves;
            double tells;
            double other;
            look(&other, &tells, plain, &point, y);
            look(&moves, &other, own, &point, y);
            add(&sum, *weight * moves, *weight * tells / plain->inverse, *cell++);
        }
        weight++;
    } while (regress_point_next(&point, design));
    return sum;
}

struct regress_choice regress_choice(const struct regress_fit *fit, const double *weight)
{
    struct regress_fit plain_fit;
    struct at own;
    struct at plain;
    if (!fit->is_solved || regress_lacks(fit, weight) != REGRESS_LACKS_NOTHING ||
        !regress_make_plain(&plain_fit, fit)) {
        return (struct regress_choice){NAN, NAN, NAN};
    }
    set(&own, fit, weight);
    set(&plain, &plain_fit, weight);
    const struct together sum = sum_cells(&own, &plain);
    const double v = fit->cells->variance;
    const double m = (double)fit->cells->m;
    const double noise = v * fmax(sum.square - sum.tells * sum.tells / m, 0);
    const double deviation = sqrt(noise + fmax(sum.sampled_square, 0));
    const double joint = v * (sum.joint - sum.tells * sum.moves / m) + sum.sampled_joint;
    return (struct regress_choice){sqrt(noise) / REGRESS_NOISE_MOST, deviation,
                                   deviation > 0 ? joint / deviation : 0};
}
