/* The sum of many losses by Fourier transforms of tilted distributions (tilting as in Gruebel and
 * Hermesmeier 1999: the tail becomes the middle, so errors are relative to the tail).
 *
 * A part's tilted distribution p_i = e^(ln mass_i + tilt i step - C), C near the ln of its tilted mass, is
 * folded into N places; the product of the powers of the transforms is the transform of the sum's
 * tilted distribution, folded. What is wrong with it, all of it added to the bound:
 *
 * - Masses: a distribution is off by the factor 1 + e in total, so the sum's by at most the product of
 *   (1 + e)^count, less one, in total variation.
 * - Folding: what lies outside the window, by Chernoff's bound on the tilted distribution at both ends. It
 * appears at wrong places, and is missing at its own.
 * - Transforms: fft_real_error bounds each value, since the masses sum to 1. Powers and products
 *   carry a bound on |error| along with every value; the mean of the bounds, and fft_real_error of the
 *   way back, are within what each mass is off.
 * - e^C: C itself is a number chosen, not computed; count C is off by its rounding alone. */

#include "lab/composition/pld_private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define ROUNDING  (DBL_EPSILON / 2)
#define ERROR_MAX 1e100
#define NOTHING   1e-30 /* a frequency that has become so small is left at 0 */

/* A complex number within `error` of the one that is meant. */
struct near {
    struct fft_value value;
    double size; /* at least |value| */
    double error;
};

static struct near near_of(struct fft_value value, double error)
{
    double square = value.re * value.re + value.im * value.im;
    return (struct near){value, sqrt(square) * (1 + 4 * ROUNDING) + 1e-150, error};
}

static struct near product(struct near a, struct near b)
{
    struct fft_value value = {a.value.re * b.value.re - a.value.im * b.value.im,
                              a.value.re * b.value.im + a.value.im * b.value.re};
    double size = a.size * b.size;
    double error = a.size * b.error + b.size * a.error + a.error * b.error + 6 * ROUNDING * size;
    return (struct near){value, size, fmin(error, ERROR_MAX)};
}

static struct near power_by_squaring(struct near base, uint64_t count)
{
    struct near result = {{1, 0}, 1, 0};
    for (; count > 0; count >>= 1) {
        if (count & 1) {
            result = product(result, base);
        }
        base = product(base, base);
    }
    return result;
}

/* By polar coordinates: the error of count ln|z| and of count arg z is count times a few roundings.
 */
static struct near power_by_angle(struct near base, double count)
{
    if (count * log(base.size + base.error) < -80) {
        return (struct near){{0, 0}, 0, 1e-34};
    }
    double log_size = log(base.value.re * base.value.re + base.value.im * base.value.im) / 2;
    double size = exp(count * log_size);
    double angle = count * atan2(base.value.im, base.value.re);
    double grown = count * log1p(base.error / base.size);
    double error = grown < 1 ? size * expm1(grown) : exp(count * log(base.size + base.error));
    error += size * (count * (16 + 4 * fabs(log_size)) + 8) * ROUNDING;
    if (!(base.size > 1e-140)) {
        size = 0;
        error = exp(count * log(1e-140 + base.error));
    }
    return (struct near){{size * cos(angle), size * sin(angle)}, size, fmin(error, ERROR_MAX)};
}

static struct near power(struct near base, double count)
{
    if (count <= 64) {
        return power_by_squaring(base, (uint64_t)count);
    }
    return power_by_angle(base, count);
}

/* Where the real number of this index is among N = size of them, two in every value. */
static double *real_at(struct fft_value *x, size_t index, size_t size)
{
    struct fft_value *value = &x[(index & (size - 1)) / 2];
    return index % 2 == 0 ? &value->re : &value->im;
}

/* Folds the tilted distribution of a part into x, real numbers; returns the error of its masses all
 * together. */
static double fold(struct fft_value *x, size_t size, const struct pld_run *run, double tilt,
                   double log_mass)
{
    double slope = tilt * run->grid.step;
    double error = 0;
    double total = 0;
    for (size_t i = 0; i <= size / 2; i++) {
        x[i] = (struct fft_value){0, 0};
    }
    for (size_t i = 0; i < run->count; i++) {
        double along = slope * (double)i;
        double exponent = run->log_mass[i] + along - log_mass;
        if (exponent < -80) {
            error += exponent > -INFINITY ? 1e-34 : 0;
            continue;
        }
        double mass = exp(exponent);
        *real_at(x, i, size) += mass;
        total += mass;
        error += mass * (2 * fabs(run->log_mass[i]) + 3 * along + 2 * fabs(log_mass) + 8);
    }
    size_t folds = size == 0 ? 0 : run->count / size + 2;
    return run->error * total + ROUNDING * (error + (double)folds * total);
}

/* Multiplies the transform of the sum by the power of that of one part; x holds the part's. */
static void multiply(struct fft_value *sum, double *error, const struct fft_value *x, size_t count,
                     double x_error, double runs)
{
    double growth = exp(fmin(runs * (x_error + DBL_EPSILON), 500)); /* of what is left at 0 */
    for (size_t i = 0; i < count; i++) {
        struct near so_far = near_of(sum[i], error[i]);
        if (so_far.size + so_far.error < NOTHING) {
            sum[i] = (struct fft_value){0, 0};
            error[i] = (so_far.size + so_far.error) * growth;
            continue;
        }
        struct near next = product(so_far, power(near_of(x[i], x_error), runs));
        sum[i] = next.value;
        error[i] = next.error;
    }
}

/* The mean of the errors, and of the sizes, over all N = size frequencies: all but the first and
 * the last of those kept stand for themselves and for their conjugates. */
static void average(double *mean_error, double *mean_size, const struct fft_value *sum,
                    const double *error, size_t size)
{
    double errors = 0;
    double sizes = 0;
    for (size_t i = 0; i <= size / 2; i++) {
        double times = i == 0 || i == size / 2 ? 1 : 2;
        errors += times * error[i];
        sizes += times * near_of(sum[i], 0).size;
    }
    *mean_error = errors / (double)size * (1 + 1e-9);
    *mean_size = sizes / (double)size * (1 + 1e-9);
}

struct workspace {
    struct fft *fft;
    struct fft_value *sum;
    struct fft_value *part;
    double *error;
};

static void workspace_free(struct workspace *work)
{
    fft_free(work->fft);
    free(work->sum);
    free(work->part);
    free(work->error);
}

static enum status workspace_init(struct workspace *work, unsigned log2_size)
{
    size_t count = ((size_t)1 << log2_size) / 2 + 1;
    *work = (struct workspace){fft_new(log2_size - 1), calloc(count, sizeof *work->sum),
                               calloc(count, sizeof *work->part), calloc(count, sizeof(double))};
    if (work->fft == NULL || work->sum == NULL || work->part == NULL || work->error == NULL) {
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

static void compose(struct pld_sum *sum, struct workspace *work, const struct pld_mix *mix,
                    unsigned log2_size)
{
    size_t size = (size_t)1 << log2_size;
    double rounding = fft_real_error(log2_size - 1) * (1 + 1e-9);
    double log_error = 0; /* of the masses: ln of the product of (1 + e)^count */
    double mean_error = 0;
    double mean_size = 0;

    for (size_t i = 0; i <= size / 2; i++) {
        work->sum[i] = (struct fft_value){1, 0};
    }
    for (size_t i = 0; i < mix->count; i++) {
        const struct pld_run *run = &mix->runs[i];
        double count = mix->parts[i].count;
        struct pld_mix one = {&mix->parts[i], 1, &mix->runs[i], mix->step, 0, mix->tilt,
                              mix->optimistic};
        double log_mass = pld_mix_moments(NULL, &one, mix->tilt) / count;
        log_error += count * log1p(fold(work->part, size, run, mix->tilt, log_mass));
        fft_real_forward(work->fft, work->part);
        multiply(work->sum, work->error, work->part, size / 2 + 1, rounding, count);
        sum->log_mass += count * log_mass;
        sum->log_error += ROUNDING * (4 * count * fabs(log_mass) + fabs(sum->log_mass));
    }
    average(&mean_error, &mean_size, work->sum, work->error, size);
    fft_real_backward(work->fft, work->sum);
    sum->cell_error = mean_error + rounding * mean_size;
    sum->mass_error = 2 * expm1(log_error) + 2 * exp(-PLD_OUTSIDE);
}

/* Adds up what the distributions say of themselves. */
static void note(struct pld_sum *sum, const struct pld_mix *mix)
{
    double kept = 0;
    for (size_t i = 0; i < mix->count; i++) {
        const struct pld_run *run = &mix->runs[i];
        double count = mix->parts[i].count;
        kept += count * log1p(-fmin(run->infinite, 1));
        sum->slip += count * run->slip;
        sum->drift += count * run->drift * (1 + 1e-9);
        sum->variance += count * run->variance * (1 + 1e-9);
        sum->reach = run->variance > 0 ? fmax(sum->reach, 2 * run->reach) : sum->reach;
    }
    sum->infinite = -expm1(kept);
    sum->slip += 8 * ROUNDING * (fabs(mix->offset) + (double)mix->count * fabs(mix->offset));
}

enum status pld_sum_init(struct pld_sum *sum, const struct pld_mix *mix, unsigned log2_size_max)
{
    struct pld_moments at = {0, 0, 0, 0};
    struct workspace work = {NULL, NULL, NULL, NULL};
    unsigned log2_size = 5;
    double up = 0;
    double down = 0;

    pld_mix_window(&at, &up, &down, mix);
    *sum = (struct pld_sum){.step = mix->step, .offset = mix->offset, .tilt = mix->tilt};
    while (log2_size < log2_size_max && ldexp(1, (int)log2_size) < (up + down) / mix->step + 4) {
        log2_size++;
    }
    size_t size = (size_t)1 << log2_size;
    double spare = (double)size - 4 - (up + down) / mix->step;
    enum status status = workspace_init(&work, log2_size);
    sum->mass = calloc(size, sizeof *sum->mass);
    if (sum->mass == NULL) {
        status = STATUS_NO_MEMORY;
    }
    if (status != STATUS_OK) {
        goto done;
    }
    sum->count = size;
    sum->first = floor((at.mean - down) / mix->step - fmax(spare, 0) / 2) - 1;
    compose(sum, &work, mix, log2_size);
    if (spare < 0) {
        sum->mass_error = 1; /* the window does not hold it: no bound but Chernoff's */
    }
    note(sum, mix);
    double turn = fmod(sum->first, (double)size);
    size_t from = (size_t)(turn < 0 ? turn + (double)size : turn);
    for (size_t i = 0; i < size; i++) {
        sum->mass[i] = *real_at(work.sum, from + i, size) / (double)size;
    }
done:
    workspace_free(&work);
    if (status != STATUS_OK) {
        pld_sum_free(sum);
    }
    return status;
}

void pld_sum_free(struct pld_sum *sum)
{
    free(sum->mass);
    sum->mass = NULL;
}
