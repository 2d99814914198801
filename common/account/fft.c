/* Radix-2 transforms without any reordering: decimation in frequency forward, in time backward, so
 * that what happens between them sees frequencies in bit-reversed order (Cooley and Tukey 1965;
 * Gentleman and Sande 1966).
 *
 * The bound. Every output is a sum of the N inputs, each times a product of roots of unity. Let A
 * be the sum of |inputs| that flow into a value; moduli of exact roots are 1, so A adds up at every
 * butterfly and is the whole sum at the end. Claim: after s stages a value is off by at most
 * ((1 + e)^s - 1) A. One stage computes fl(fl(a + b)) and fl(w' fl(a - b)), or fl(a + fl(w' b)),
 * with |w' - w| <= m: an addition of complex numbers costs a factor 1 + u (each part by itself), a
 * product 1 + sqrt(5) u (Brent, Percival, Zimmermann 2007; without fused operations, which only
 * help), the root 1 + m: 1 + e = (1 + u)(1 + sqrt(5) u)(1 + m). Roots come from sine and cosine of
 * at most pi/4: the angle is off by 2 u pi/4, each function by one unit in the last place: m < 4 u.
 * So e < 8 u with room for second orders. Higham (2002, section 24.1) bounds the Euclidean norm the
 * same way; this one holds for every single value. */

#include "account/fft.h"

#include "base/check.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct fft {
    unsigned log2_size;
    struct fft_value root[]; /* stage of half size m: root[m .. 2m) holds e^(-pi i j/m) */
};

/* e^(-2 pi i j/n), the angle folded into the first eighth of the circle; 0 <= j < n/2 */
static struct fft_value unit_root(size_t j, size_t n)
{
    static const double tau = 6.28318530717958647692;
    size_t quarter = n / 4;
    bool second = n >= 4 && j > quarter;
    size_t k = second ? n / 2 - j : j; /* the mirror image in the imaginary axis */
    bool swap = 8 * k > n;
    double angle = tau * (double)(swap ? quarter - k : k) / (double)n;
    double x = swap ? sin(angle) : cos(angle);
    double y = swap ? cos(angle) : sin(angle);
    return (struct fft_value){second ? -x : x, -y};
}

struct fft *fft_new(unsigned log2_size)
{
    CHECK(log2_size >= 1 && log2_size <= 24);
    size_t size = (size_t)1 << log2_size;
    struct fft *fft = malloc(sizeof *fft + size * sizeof fft->root[0]);
    if (fft == NULL) {
        return NULL;
    }
    fft->log2_size = log2_size;
    fft->root[0] = (struct fft_value){1, 0};
    for (size_t j = 0; j < size / 2; j++) {
        fft->root[size / 2 + j] = unit_root(j, size);
    }
    for (size_t half = size / 4; half >= 1; half /= 2) {
        for (size_t j = 0; j < half; j++) {
            fft->root[half + j] = fft->root[2 * half + 2 * j];
        }
    }
    return fft;
}

void fft_free(struct fft *fft)
{
    free(fft);
}

static struct fft_value times(struct fft_value a, struct fft_value b)
{
    return (struct fft_value){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

void fft_forward(const struct fft *fft, struct fft_value *x)
{
    size_t size = (size_t)1 << fft->log2_size;
    for (size_t half = size / 2; half >= 1; half /= 2) {
        const struct fft_value *root = fft->root + half;
        for (size_t start = 0; start < size; start += 2 * half) {
            struct fft_value *upper = x + start;
            struct fft_value *lower = upper + half;
            for (size_t j = 0; j < half; j++) {
                struct fft_value a = upper[j];
                struct fft_value b = lower[j];
                upper[j] = (struct fft_value){a.re + b.re, a.im + b.im};
                lower[j] = times((struct fft_value){a.re - b.re, a.im - b.im}, root[j]);
            }
        }
    }
}

void fft_backward(const struct fft *fft, struct fft_value *x)
{
    size_t size = (size_t)1 << fft->log2_size;
    for (size_t half = 1; half < size; half *= 2) {
        const struct fft_value *root = fft->root + half;
        for (size_t start = 0; start < size; start += 2 * half) {
            struct fft_value *upper = x + start;
            struct fft_value *lower = upper + half;
            for (size_t j = 0; j < half; j++) {
                struct fft_value conjugate = {root[j].re, -root[j].im};
                struct fft_value a = upper[j];
                struct fft_value b = times(lower[j], conjugate);
                upper[j] = (struct fft_value){a.re + b.re, a.im + b.im};
                lower[j] = (struct fft_value){a.re - b.re, a.im - b.im};
            }
        }
    }
}

/* Reversed, -f has the bits below the highest set one flipped: -f = ~f + 1 keeps the lowest set bit
 * and what is below it, and flips all above. */
size_t fft_mirror(size_t place)
{
    size_t below = place;
    for (unsigned shift = 1; shift < 8 * sizeof below; shift *= 2) {
        below |= below >> shift;
    }
    return place ^ (below >> 1);
}

double fft_error(unsigned log2_size)
{
    return 8.0 * (DBL_EPSILON / 2) * (double)log2_size;
}
