/* Dual coordinate descent (Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008; Shalev-Shwartz and
 * Zhang, JMLR 2013) for every loss whose dual is a box, perhaps with a kink at 0:
 *     D(a) = (1/m) sum (a_i y_i - width |a_i|) - lambda ||w(a)||^2,   w(a) = sum c_i phi(x_i),
 * c = a/(2 lambda m). One coordinate is maximised exactly at a time; what stays at an end of its
 * box, with a slope that is steeper than any violation of the last pass, is left out until the end.
 *
 * The gap at (w(a), a) is (1/m) sum [L(f_i) - a_i (y_i - f_i) + width |a_i|], every term at least
 * 0: it is summed on the way at no cost, and in full from fresh w and f only when that sum is low
 * enough. Deviations: the order is drawn from a fixed seed; the stop is by the gap. */

#include "learn/erm_core.h"

#include "learn/dense.h"
#include "learn/features_normal.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double aim = 1.0 / 16; /* of the tolerance: nearly free, as the rate is linear */

struct dual {
    const struct core *core;
    double *w;    /* (d) by features; by Gram, f (m) */
    double *a;    /* (m) */
    double *f;    /* (m), at least (d): for the full gap */
    double *c;    /* (m) for the full gap */
    double *size; /* (m) K_ii */
    size_t *left; /* (m) the records still looked at, the first `count` of them */
    size_t count;
    struct public_random random; /* of the order, which is a matter of speed alone */
    double gap;                  /* of the last pass, by the way */
    double worst;                /* violation of the last pass */
};

static double score(const struct dual *dual, size_t i)
{
    const size_t d = dual->core->d;
    return dual->core->by_gram ? dual->w[i] : dense_dot(dual->w, dual->core->x + i * d, d);
}

static void shift(struct dual *dual, size_t i, double by)
{
    const struct core *core = dual->core;
    const double c = by / (2 * core->lambda * (double)core->m);
    if (core->by_gram) {
        dense_axpy(dual->w, c, core->gram + i * core->m, core->m);
    } else {
        dense_axpy(dual->w, c, core->x + i * core->d, core->d);
    }
}

/* The maximiser of a (y - f0) - width |a| - curve a^2/2 in the box, where f0 is f without a's
 * part. */
static double best(struct loss_box box, double pull, double curve)
{
    const double reach = copysign(fmax(fabs(pull) - box.width, 0), pull);
    if (curve > 0) {
        return fmin(fmax(reach / curve, box.low), box.high);
    }
    return reach > 0 ? box.high : reach < 0 ? box.low : fmin(fmax(0, box.low), box.high);
}

/* Slopes of the coordinate's dual at a, to the right and (as a loss) to the left; both are at most
 * 0 at its maximum, but for the side where the box ends. */
struct slopes {
    double right;
    double left;
};

static struct slopes slopes_at(struct loss_box box, double a, double pull)
{
    struct slopes slopes = {pull - (a >= 0 ? box.width : -box.width),
                            -pull - (a <= 0 ? box.width : -box.width)};
    slopes.right = a < box.high ? slopes.right : -HUGE_VAL;
    slopes.left = a > box.low ? slopes.left : -HUGE_VAL;
    return slopes;
}

/* One pass over the records left. `patience` is the steepest violation of the last pass. */
static void pass(struct dual *dual, double patience)
{
    const struct core *core = dual->core;
    const double curve_of = 1 / (2 * core->lambda * (double)core->m);
    dual->gap = 0;
    dual->worst = 0;
    for (size_t k = 0; k < dual->count; k++) {
        const size_t other = k + public_random_next(&dual->random) % (dual->count - k);
        const size_t i = dual->left[other];
        dual->left[other] = dual->left[k];
        dual->left[k] = i;
        const struct loss_box box = loss_box(core->loss, core->y[i]);
        const double f = score(dual, i);
        const double a = dual->a[i];
        const double pull = core->y[i] - f;
        const struct slopes slopes = slopes_at(box, a, pull);
        dual->gap += loss_value(core->loss, f, core->y[i]) - a * pull + box.width * fabs(a);
        if (fmax(slopes.right, slopes.left) < -patience) {
            dual->count--;
            dual->left[k] = dual->left[dual->count];
            dual->left[dual->count] = i;
            k--;
            continue;
        }
        dual->worst = fmax(dual->worst, fmax(slopes.right, slopes.left));
        const double curve = curve_of * dual->size[i];
        const double next = best(box, pull + curve * a, curve);
        if (next != a) {
            shift(dual, i, next - a);
            dual->a[i] = next;
        }
    }
    dual->gap /= (double)core->m;
}

/* Computes the gap anew, and w (or f) with it. */
static double full_gap(struct dual *dual)
{
    const struct core *core = dual->core;
    const double scale = 1 / (2 * core->lambda * (double)core->m);
    struct dense_sum gap = {0};
    for (size_t i = 0; i < core->m; i++) {
        dual->c[i] = scale * dual->a[i];
    }
    if (core->by_gram) {
        core_scores(dual->f, core, dual->c);
        memcpy(dual->w, dual->f, core->m * sizeof *dual->f);
    } else {
        core_combine(dual->w, dual->f, core, dual->c);
        core_scores(dual->f, core, dual->w);
    }
    for (size_t i = 0; i < core->m; i++) {
        const double width = loss_box(core->loss, core->y[i]).width;
        dense_add(&gap, loss_value(core->loss, dual->f[i], core->y[i]) -
                            dual->a[i] * (core->y[i] - dual->f[i]) + width * fabs(dual->a[i]));
    }
    return gap.value / (double)core->m;
}

/* Runs until the gap is at most target. Returns the gap reached. */
static double descend(struct dual *dual, double target, uint64_t most)
{
    const struct core *core = dual->core;
    double work = (double)core->m * (double)most;
    double trust = 1; /* how far below the target the sum by the way must be */
    double patience = HUGE_VAL;
    double gap = HUGE_VAL;
    while (work > 0) {
        work -= (double)dual->count + 1;
        pass(dual, patience);
        patience = dual->worst > 0 ? dual->worst : HUGE_VAL;
        if (dual->gap <= target * trust || dual->count == 0) {
            gap = full_gap(dual);
            work -= (double)core->m;
            if (gap <= target) {
                return gap;
            }
            trust = dual->count < core->m ? trust : trust / 2;
            dual->count = core->m;
            patience = HUGE_VAL;
        }
    }
    return full_gap(dual);
}

static void start(struct dual *dual)
{
    const struct core *core = dual->core;
    for (size_t i = 0; i < core->m; i++) {
        const double *row = core->by_gram ? NULL : core->x + i * core->d;
        dual->size[i] = core->by_gram ? core->gram[i * core->m + i] : dense_dot(row, row, core->d);
        dual->left[i] = i;
    }
    dual->count = core->m;
}

enum status dual_descend(double *w, bool *certified, const struct core *core, uint64_t most)
{
    const size_t n = core->by_gram ? core->m : core->d;
    struct dual dual = {.core = core, .random = public_random_from(0)};
    enum status status = STATUS_NO_MEMORY;
    dual.w = core_numbers(n, 1);
    dual.a = core_numbers(core->m, 1);
    dual.f = core_numbers(core->m > n ? core->m : n, 1);
    dual.c = core_numbers(core->m, 1);
    dual.size = core_numbers(core->m, 1);
    dual.left = calloc(core->m + 1, sizeof *dual.left);
    if (dual.w != NULL && dual.a != NULL && dual.f != NULL && dual.c != NULL && dual.size != NULL &&
        dual.left != NULL) {
        start(&dual);
        const double rounding = core_rounding(core);
        const double target =
            fmax(core->tolerance * aim, fmin(rounding, core->tolerance - rounding));
        *certified = descend(&dual, target, most) + rounding <= core->tolerance;
        memcpy(w, core->by_gram ? dual.c : dual.w, n * sizeof *w);
        status = STATUS_OK;
    }
    core_numbers_free(dual.w, n);
    core_numbers_free(dual.a, core->m);
    core_numbers_free(dual.f, core->m > n ? core->m : n);
    core_numbers_free(dual.c, core->m);
    core_numbers_free(dual.size, core->m);
    free(dual.left);
    return status;
}
