/* standin_move.c - standin_move(): Newton's method, each of whose equations conjugate gradients solve: the Hessian is never
 * formed. Undamped, Newton's method diverges where the ridge is small and the solution far away. Such a ridge is refused
 * anyway, so the method stops once that is sure. */

#include "base/check.h"
#include "learn/dense.h"
#include "learn/standin_private.h"
#include "learn/tuned.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEWTON_STEPS_MAX = 10, CONJUGATE_STEPS_MAX = 40 };

/* A move further than this trusts the rows too much. Shorter ones do not reach the model in the steps that there are. */
#define RADIUS      TUNED(RADIUS, 3.0)

#define RIDGE_MOST  1e6
#define STEP_ENOUGH 1e-8
#define REST_ENOUGH 1e-4          /* of an equation, of its beginning */
#define UP          (1 + 0x1p-20) /* above all roundings of a comparison */

/* One equation of standin_move(). A vector has m blocks of D numbers, one for each output. */
struct equation {
    const struct standin *standin;
    const double *from;   /* (m, D) */
    const double *kept;   /* (N) w */
    const double *target; /* (m, D) mean w u p - g */
    double *ridge;        /* (m, D) */
    const double *more;   /* (d, d) NULL: nothing */
    double steepest;      /* no second moment of the columns' weighed gradients is above that */
    double by[STANDIN_OUTPUTS_MAX]; /* what more is multiplied by */
    double *p;                      /* (N, m) */
    double *score;                  /* (N, m) */
    double *rest;                   /* (m, D) the left-hand side less the right one */
    double *step;                   /* (m, D) */
    double *conjugate;              /* (3, m, D) */
};

static double distance(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

/* Whether the solution is further than RADIUS from `from` in some block, seen from the rest r at some v.
 * As r grows with v, <r, v - solution> >= 0; within the radius that is at most
 * <r, v - from> + RADIUS sum |r_o|. */
static bool leads_too_far(const struct equation *equation, const double *v)
{
    const size_t width = equation->standin->width;
    double most = 0;
    for (size_t o = 0; o < equation->standin->outputs; o++) {
        const double *r = equation->rest + o * width;
        for (size_t j = 0; j < width; j++) {
            most += r[j] * (v[o * width + j] - equation->from[o * width + j]);
        }
        most += RADIUS * UP * cblas_dnrm2((int)width, r, 1);
    }
    return most < 0;
}

/* Pulls v's blocks back to twice the radius: from there the method converges where it else diverges. */
static void pull_back(const struct equation *equation, double *v)
{
    const size_t width = equation->standin->width;
    for (size_t o = 0; o < equation->standin->outputs; o++) {
        const double *from = equation->from + o * width;
        double *block = v + o * width;
        const double length = distance(block, from, width);
        for (size_t j = 0; length > 2 * RADIUS && j < width; j++) {
            block[j] = from[j] + (block[j] - from[j]) * (2 * RADIUS / length);
        }
    }
}

/* out (m, D) += by more (x - from); from NULL: 0 */
static void add_more(double *out, const struct equation *equation, const double *x,
                     const double *from)
{
    const size_t width = equation->standin->width;
    const size_t d = width - 1;
    for (size_t o = 0; equation->more != NULL && o < equation->standin->outputs; o++) {
        for (size_t j = o * width; j < o * width + d; j++) {
            const double length = equation->by[o] * (x[j] - (from == NULL ? 0 : from[j]));
            dense_axpy(out + o * width, length, equation->more + (j - o * width) * d, d);
        }
    }
}

/* rest = mean w u p(v) + ridge (v - from) + by more (v - from) - target */
static void find_rest(struct equation *equation, const double *v)
{
    const struct standin *standin = equation->standin;
    const size_t m = standin->outputs;
    standin_probabilities(equation->p, standin, v);
    for (size_t i = 0; i < standin->count * m; i++) {
        equation->score[i] = equation->kept[i / m] * equation->p[i];
    }
    standin_combine(equation->rest, standin, equation->score);
    for (size_t j = 0; j < m * standin->width; j++) {
        equation->rest[j] += equation->ridge[j] * (v[j] - equation->from[j]) - equation->target[j];
    }
    add_more(equation->rest, equation, v, equation->from);
}

/* out (m, D) = the Hessian times x: mean w u J <u, x> + ridge x + by more x, J = diag p - p p', or p (1 - p). */
static void multiply(double *out, const struct equation *equation, const double *x)
{
    const struct standin *standin = equation->standin;
    const size_t m = standin->outputs;
    standin_scores(equation->score, standin, x);
    for (size_t i = 0; i < standin->count; i++) {
        const double *p = equation->p + i * m;
        double *t = equation->score + i * m;
        const double mean =
            dense_dot(p, t, m); /* also of one output, whose other label standin_scores 0 */
        for (size_t o = 0; o < m; o++) {
            t[o] = equation->kept[i] * p[o] * (t[o] - mean);
        }
    }
    standin_combine(out, standin, equation->score);
    for (size_t j = 0; j < m * standin->width; j++) {
        out[j] += equation->ridge[j] * x[j];
    }
    add_more(out, equation, x, NULL);
}

/* curve (m): about the diagonal of the Hessian without ridges in each block, as the mean of u u' is I where no column is scaled.
 * p: (N, m) the rows' probabilities */
static void find_curve(double *curve, const struct equation *equation, const double *p)
{
    const struct standin *standin = equation->standin;
    const size_t m = standin->outputs;
    for (size_t o = 0; o < m; o++) {
        double sum = 0;
        for (size_t i = 0; i < standin->count; i++) {
            const double chance = p[i * m + o];
            sum += equation->kept[i] * chance * (1 - chance);
        }
        curve[o] = sum / (double)standin->count;
    }
}

/* step = the Hessian's inverse times rest, by conjugate gradients; rest is used up. */
static void find_step(struct equation *equation)
{
    const size_t width = equation->standin->width;
    const size_t count = equation->standin->outputs * width;
    CHECK(width > 0);
    double curve[STANDIN_OUTPUTS_MAX];
    double *rest = equation->rest;
    double *scaled = equation->conjugate;
    double *along = scaled + count;
    double *turned = along + count;
    double power = 0;
    find_curve(curve, equation, equation->p);
    memset(equation->step, 0, count * sizeof *equation->step);
    const double enough = REST_ENOUGH * cblas_dnrm2((int)count, rest, 1);
    for (int i = 0; i < CONJUGATE_STEPS_MAX && cblas_dnrm2((int)count, rest, 1) > enough; i++) {
        for (size_t j = 0; j < count; j++) {
            scaled[j] = rest[j] / (curve[j / width] + equation->ridge[j]);
        }
        const double next = dense_dot(rest, scaled, count);
        for (size_t j = 0; j < count; j++) {
            along[j] = scaled[j] + (i == 0 ? 0 : next / power * along[j]);
        }
        power = next;
        multiply(turned, equation, along);
        const double length = power / dense_dot(along, turned, count);
        dense_axpy(equation->step, length, along, count);
        dense_axpy(rest, -length, turned, count);
    }
}

/* Whether a block of v is further than RADIUS from where it was. */
static bool is_far(const struct equation *equation, const double *v, size_t output)
{
    const size_t width = equation->standin->width;
    return distance(v + output * width, equation->from + output * width, width) > RADIUS;
}

static bool any_is_far(const struct equation *equation, const double *v)
{
    for (size_t o = 0; o < equation->standin->outputs; o++) {
        if (is_far(equation, v, o)) {
            return true;
        }
    }
    return false;
}

/* Solves it by Newton's method from `from`; v out (m, D). If it may not go `anywhere`, returns false as
 * soon as the solution is known to be too far away, and where the steps were too few: more ridge needs
 * fewer. */
static bool solve(double *v, struct equation *equation, bool anywhere)
{
    const size_t count = equation->standin->outputs * equation->standin->width;
    double largest = HUGE_VAL;
    memcpy(v, equation->from, count * sizeof *v);
    for (int i = 0; i < NEWTON_STEPS_MAX && largest >= STEP_ENOUGH; i++) {
        find_rest(equation, v);
        if (!anywhere && leads_too_far(equation, v)) {
            return false;
        }
        find_step(equation);
        dense_axpy(v, -1, equation->step, count);
        if (!anywhere) {
            pull_back(equation, v);
        }
        largest = fabs(equation->step[cblas_idamax((int)count, equation->step, 1)]);
    }
    return anywhere || (largest < STEP_ENOUGH && !any_is_far(equation, v));
}

/* Triples the ridges of the blocks that are too far, or of all if none is. */
static void raise_ridges(struct equation *equation, const double *v)
{
    const size_t width = equation->standin->width;
    const bool all = !any_is_far(equation, v);
    for (size_t o = 0; o < equation->standin->outputs; o++) {
        if (all || is_far(equation, v, o)) {
            cblas_dscal((int)width, 3, equation->ridge + o * width, 1);
        }
    }
}

/* The smallest ridge of each output; of these the largest. */
static double largest_least(const struct equation *equation)
{
    const size_t width = equation->standin->width;
    double most = 0;
    for (size_t o = 0; o < equation->standin->outputs; o++) {
        double least = HUGE_VAL;
        for (size_t j = o * width; j < (o + 1) * width; j++) {
            least = fmin(least, equation->ridge[j]);
        }
        most = fmax(most, least);
    }
    return most;
}

/* Tries larger ridges until the move is short. No eigenvalue of mean w J u u' is above 1/2 (one output: 1/4), as the mean of u
 * u' is I, or less where columns are scaled, and none of `more` is above its trace. So the move is at least |g| over the sum of these
 * and of the ridge, and ridges for which that is too far need not be tried. */
static void move(double *v, struct equation *equation, const double *g)
{
    const size_t m = equation->standin->outputs;
    const int count = (int)(m * equation->standin->width);
    const double norm = cblas_dnrm2(count, g, 1);
    for (;;) {
        const double most = equation->ridge[cblas_idamax(count, equation->ridge, 1)];
        const bool last = largest_least(equation) > RIDGE_MOST;
        const bool near = norm <= sqrt((double)m) * RADIUS * UP * (equation->steepest + most);
        if ((last || near) && solve(v, equation, last)) {
            return;
        }
        raise_ridges(equation, v);
    }
}

/* How much of a change of a row's standin_probabilities the clipped gradients show, w. With k_y the share of its gradient that the
 * clip leaves under label y, a change e_y of their chances moves the mean gradient by
 *     sum e_y k_y (p - y) u,
 * of output o by -e_o (k_o (1 - p_o) + p_o k), if k is the mean of k_y over the other labels. That is exact for two labels.
 * For more, w is the mean over o, each weighed by p_o (1 - p_o). */
static double kept_of(const struct standin *standin, size_t row, double clip)
{
    const size_t m = standin->outputs;
    const double *p = standin->p + row * m;
    double squares = 0;
    double sum = 0;
    for (size_t label = 0; label < standin_label_count(standin); label++) {
        const double chance = standin_chance(p, m, label);
        squares += chance * chance;
    }
    for (size_t label = 0; label < standin_label_count(standin); label++) {
        const double chance = standin_chance(p, m, label);
        const double kept =
            fmin(1, clip / fmax(standin_gradient_norm(standin, row, label), STANDIN_TINY));
        sum += chance * kept * (1 - 2 * chance + squares);
    }
    return sum / fmax(1 - squares, STANDIN_CURVE_LEAST);
}

void standin_kept_curvature(double *h, const struct standin *standin, double clip)
{
    const size_t m = standin->outputs;
    memset(h, 0, m * sizeof *h);
    for (size_t i = 0; i < standin->count; i++) {
        const double kept = kept_of(standin, i, clip);
        for (size_t o = 0; o < m; o++) {
            const double p = standin->p[i * m + o];
            h[o] += kept * p * (1 - p) / (double)standin->count;
        }
    }
    for (size_t o = 0; o < m; o++) {
        h[o] = fmax(h[o], STANDIN_CURVE_LEAST);
    }
}

/* by, and how steep the equation is at most. */
static void set_more(struct equation *equation)
{
    const size_t d = equation->standin->width - 1;
    double trace = 0;
    double most = 0;
    equation->steepest = equation->standin->outputs == 1 ? 0.25 : 0.5;
    if (equation->more == NULL) {
        return;
    }
    find_curve(equation->by, equation, equation->standin->p);
    for (size_t o = 0; o < equation->standin->outputs; o++) {
        most = fmax(most, equation->by[o]);
    }
    for (size_t i = 0; i < d; i++) {
        trace += equation->more[i * d + i];
    }
    equation->steepest += most * trace;
}

enum status standin_move(double *v, struct standin *standin, const double *g, double clip,
                         double *ridge, const double *more)
{
    const size_t n = standin->count;
    const size_t m = standin->outputs;
    const size_t count = m * standin->width;
    double *own = calloc(7 * count, sizeof *own);
    double *kept = standin->spare;
    if (own == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct equation equation = {.standin = standin,
                                .from = own,
                                .kept = kept,
                                .target = own + count,
                                .ridge = ridge,
                                .more = more,
                                .p = kept + n,
                                .score = kept + n + n * m,
                                .rest = own + 2 * count,
                                .step = own + 3 * count,
                                .conjugate = own + 4 * count};
    for (size_t i = 0; i < n; i++) {
        kept[i] = kept_of(standin, i, clip);
        for (size_t o = 0; o < m; o++) {
            equation.score[i * m + o] = kept[i] * standin->p[i * m + o];
        }
    }
    standin_combine(own + count, standin, equation.score);
    dense_axpy(own + count, -1, g, count);
    memcpy(own, v, count * sizeof *v);
    set_more(&equation);
    move(v, &equation, g);
    free(own);
    return STATUS_OK;
}
