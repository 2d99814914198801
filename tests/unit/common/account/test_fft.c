#include "lab/composition/fft.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { LOG2_MAX = 9 };

static uint64_t state = 20240501;

static double uniform(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ldexp((double)(state >> 11), -53);
}

static size_t reversed(size_t f, unsigned bits)
{
    size_t r = 0;
    for (unsigned i = 0; i < bits; i++) {
        r = 2 * r + ((f >> i) & 1);
    }
    return r;
}

/* The largest distance from the sum written out (in long double), relative to the sum of |x|. */
static double distance(unsigned bits, double (*draw)(size_t j))
{
    size_t size = (size_t)1 << bits;
    struct fft *fft = fft_new(bits);
    struct fft_value *x = calloc(size, sizeof *x);
    double *original = calloc(size, sizeof *original);
    double total = 0;
    double worst = 0;
    for (size_t j = 0; j < size; j++) {
        original[j] = draw(j);
        x[j].re = original[j];
        total += fabs(original[j]);
    }
    fft_forward(fft, x);
    for (size_t f = 0; f < size; f++) {
        long double re = 0;
        long double im = 0;
        for (size_t j = 0; j < size; j++) {
            long double angle = 2 * 3.14159265358979323846264338328L *
                                (long double)((f * j) % size) / (long double)size;
            re += original[j] * cosl(angle);
            im -= original[j] * sinl(angle);
        }
        struct fft_value got = x[reversed(f, bits)];
        worst = fmax(worst, hypot((double)(got.re - re), (double)(got.im - im)));
    }
    fft_free(fft);
    free(x);
    free(original);
    return worst / total;
}

static double noise(UNUSED size_t j)
{
    return uniform() - 0.5;
}

static double decay(size_t j)
{
    return exp(-(double)j / 7);
}

static double lone(size_t j)
{
    return j == 1;
}

Test(fft, every_value_is_within_the_stated_bound_of_the_sum_written_out)
{
    double (*const draws[])(size_t) = {noise, decay, lone};
    for (unsigned bits = 1; bits <= LOG2_MAX; bits++) {
        for (size_t i = 0; i < sizeof draws / sizeof draws[0]; i++) {
            double d = distance(bits, draws[i]);
            cr_assert(d <= fft_error(bits), "%u bits: %g of %g", bits, d, fft_error(bits));
        }
    }
}

/* The same for N = 2 2^bits real numbers, two in every value. */
static double real_distance(unsigned bits, double (*draw)(size_t j))
{
    size_t half = (size_t)1 << bits;
    struct fft *fft = fft_new(bits);
    struct fft_value *x = calloc(half + 1, sizeof *x);
    double *original = calloc(2 * half, sizeof *original);
    double total = 0;
    double worst = 0;
    for (size_t j = 0; j < 2 * half; j++) {
        original[j] = draw(j);
        *(j % 2 == 0 ? &x[j / 2].re : &x[j / 2].im) = original[j];
        total += fabs(original[j]);
    }
    fft_real_forward(fft, x);
    for (size_t f = 0; f <= half; f++) {
        long double re = 0;
        long double im = 0;
        for (size_t j = 0; j < 2 * half; j++) {
            long double angle = 3.14159265358979323846264338328L *
                                (long double)((f * j) % (2 * half)) / (long double)half;
            re += original[j] * cosl(angle);
            im -= original[j] * sinl(angle);
        }
        struct fft_value got = x[f == half ? half : reversed(f, bits)];
        worst = fmax(worst, hypot((double)(got.re - re), (double)(got.im - im)));
    }
    fft_free(fft);
    free(x);
    free(original);
    return worst / total;
}

Test(fft, real_numbers_two_in_a_value_are_within_their_bound_too)
{
    double (*const draws[])(size_t) = {noise, decay, lone};
    for (unsigned bits = 1; bits < LOG2_MAX; bits++) {
        for (size_t i = 0; i < sizeof draws / sizeof draws[0]; i++) {
            double d = real_distance(bits, draws[i]);
            cr_assert(d <= fft_real_error(bits), "%u bits: %g", bits, d);
            cr_assert(d <= 1e-15, "%u bits: %g", bits, d); /* what it is, far below the bound */
        }
    }
}

Test(fft, way_back_undoes_the_way_there_for_real_numbers)
{
    for (unsigned bits = 1; bits <= 16; bits++) {
        size_t half = (size_t)1 << bits;
        struct fft *fft = fft_new(bits);
        struct fft_value *x = calloc(half + 1, sizeof *x);
        struct fft_value *y = calloc(half + 1, sizeof *y);
        double total = 0;
        double worst = 0;
        for (size_t j = 0; j < half; j++) {
            x[j] = y[j] = (struct fft_value){uniform() - 0.5, uniform() - 0.5};
            total += fabs(x[j].re) + fabs(x[j].im);
        }
        fft_real_forward(fft, y);
        double sizes = fabs(y[0].re) + fabs(y[half].re);
        for (size_t j = 1; j < half; j++) {
            sizes += 2 * hypot(y[j].re, y[j].im);
        }
        cr_assert(y[0].im == 0 && y[half].im == 0);
        fft_real_backward(fft, y);
        for (size_t j = 0; j < half; j++) {
            double size = 2 * (double)half;
            double d = hypot(y[j].re / size - x[j].re, y[j].im / size - x[j].im);
            worst = fmax(worst, d);
        }
        cr_assert(worst <= fft_real_error(bits) * (total + sizes / (2 * (double)half)) * 1.001);
        fft_real_forward(fft, x);
        x[half].re += 1; /* a last frequency that was not there is seen */
        fft_real_backward(fft, x);
        cr_assert(fabs(x[0].re - y[0].re) > 0.9 && fabs(x[0].im - y[0].im) > 0.9);
        fft_free(fft);
        free(x);
        free(y);
    }
}

Test(fft, a_wrong_root_is_beyond_the_bound)
{
    /* the angle of one part in 10^13: a table computed by repeated multiplication is that far off
     */
    double off = 2 * sin(1e-13 * 3.14159265358979 / 2);
    cr_assert(off > fft_error(LOG2_MAX));
    cr_assert(fft_error(LOG2_MAX) < 1e-14);
}

Test(fft, way_back_undoes_the_way_there)
{
    for (unsigned bits = 1; bits <= 16; bits++) {
        size_t size = (size_t)1 << bits;
        struct fft *fft = fft_new(bits);
        struct fft_value *x = calloc(size, sizeof *x);
        struct fft_value *y = calloc(size, sizeof *y);
        double total = 0;
        for (size_t j = 0; j < size; j++) {
            x[j] = y[j] = (struct fft_value){uniform() - 0.5, uniform() - 0.5};
            total += hypot(x[j].re, x[j].im);
        }
        fft_forward(fft, y);
        double sizes = 0;
        for (size_t j = 0; j < size; j++) {
            sizes += hypot(y[j].re, y[j].im);
        }
        fft_backward(fft, y);
        double bound = fft_error(bits) * (total + sizes / (double)size) * 1.001;
        for (size_t j = 0; j < size; j++) {
            double d = hypot(y[j].re / (double)size - x[j].re, y[j].im / (double)size - x[j].im);
            cr_assert(d <= bound);
        }
        fft_free(fft);
        free(x);
        free(y);
    }
}

Test(fft, mirror_is_the_place_of_the_opposite_frequency)
{
    for (unsigned bits = 1; bits <= 10; bits++) {
        size_t size = (size_t)1 << bits;
        for (size_t f = 0; f < size; f++) {
            size_t opposite = (size - f) % size;
            cr_assert(eq(sz, fft_mirror(reversed(f, bits)), reversed(opposite, bits)));
        }
    }
}
