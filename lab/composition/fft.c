/* Radix-2 transforms without any reordering, from the natural order to that of bits reversed, and
 * back (Cooley and Tukey 1965; Gentleman and Sande 1966). Seen as remainders of polynomials (Fiduccia
 * 1972): block B of 2 h values is the remainder modulo z^(2h) - e^(-2 pi i v), v the bits of B
 * reversed behind the binary point; its halves become the remainders modulo z^h -+ w, w = e^(-pi i
 * v). One root serves a whole block, and the roots of few blocks are the first ones of the same
 * table. Two stages go over the memory at once (the second one's roots are w' and -i w', w' = e^(-pi
 * i v/2)), and a chunk that fits the cache is done to its end before the next one.
 *
 * The bound. Every output is a sum of the N inputs, each times a product of roots of unity. Let A
 * be the sum of |inputs| that flow into a value; moduli of exact roots are 1, so A adds up at every
 * butterfly and is the whole sum at the end. Claim: after s stages a value is off by at most
 * ((1 + e)^s - 1) A. One stage computes fl(a -+ fl(w' b)), or back fl(a + b) and fl(w' fl(a - b)),
 * with |w' - w| <= m: an addition of complex numbers costs a factor 1 + u (each part by itself), a
 * product 1 + sqrt(5) u (Brent, Percival, Zimmermann 2007; without fused operations, which only
 * help), the root 1 + m: 1 + e = (1 + u)(1 + sqrt(5) u)(1 + m). Roots come from sine and cosine of
 * at most pi/4: the angle is off by 2 u pi/4, each function by one unit in the last place: m < 4 u.
 * So e < 7.3 u. Higham (2002, section 24.1) bounds the Euclidean norm the same way; this one holds
 * for every single value.
 *
 * N real numbers, as N/2 complex ones z_j = x_2j + i x_(2j+1): with Z their transform, E = (Z_f +
 * conj Z_-f)/2 and O = (Z_f - conj Z_-f)/(2 i) are those of the even and of the odd numbers, and X_f
 * = E + w O, w = e^(-2 pi i f/N), X_(N/2-f) = conj(E - w O). Let A = sum |x_j| >= sum |z_j|. Each Z
 * is off by d <= ((1 + e)^s - 1) A, so E and O by d each, and the exact ones have |E| + |O| <= A: X_f
 * is off by 2 d, and by less than (2 + 7.3) u A for the roundings here. Back, with a = X_f, b = conj
 * X_(N/2-f): Z_f = (a + b) + i conj(w) (a - b), Z_-f likewise with other signs; |a + b| + |a - b| <=
 * 2 (|a| + |b|), so over all f they sum to at most twice B, the sum of all N |X|: d <= 2 ((1 + e)^s -
 * 1) B, and the roundings here come to 2 (2 + 7.3) u B at most. Both are below 16 u (s + 2), in units
 * of A or B. */

#include "lab/composition/fft.h"

#include "base/check.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A chunk has at most this many values: 128 KiB of them and a little of the table. */
enum { CHUNK = 1 << 13 };

struct fft {
    unsigned log2_size;
    struct fft_value root[]; /* (size) e^(-pi i v), v = 0.b0 b1 b2 ... of the index ... b2 b1 b0 */
};

/* The bits of the index after the binary point, in reversed order. */
static double behind_point(uint32_t index)
{
    uint32_t v = index;
    v = (v >> 1 & 0x55555555U) | (v & 0x55555555U) << 1;
    v = (v >> 2 & 0x33333333U) | (v & 0x33333333U) << 2;
    v = (v >> 4 & 0x0f0f0f0fU) | (v & 0x0f0f0f0fU) << 4;
    v = (v >> 8 & 0x00ff00ffU) | (v & 0x00ff00ffU) << 8;
    v = v >> 16 | v << 16;
    return ldexp((double)v, -32);
}

/* Angles of at most pi/4 are computed; the rest of the half circle are mirror images of those. */
static void fill_roots(struct fft_value *root, size_t size)
{
    static const double pi = 3.14159265358979323846;
    root[0] = (struct fft_value){1, 0};
    root[1] = (struct fft_value){0, -1};
    for (size_t i = 2; i < size; i += i == 2 ? 2 : 4) { /* v <= 1/4 */
        double angle = pi * behind_point((uint32_t)i);
        root[i] = (struct fft_value){cos(angle), -sin(angle)};
    }
    for (size_t i = 6; i < size; i += 4) { /* 1/4 < v < 1/2: from 1/2 - v */
        struct fft_value other = root[2 * fft_mirror(i / 2)];
        root[i] = (struct fft_value){-other.im, -other.re};
    }
    for (size_t i = 3; i < size; i += 2) { /* 1/2 < v: from 1 - v */
        struct fft_value other = root[fft_mirror(i)];
        root[i] = (struct fft_value){-other.re, other.im};
    }
}

struct fft *fft_new(unsigned log2_size)
{
    CHECK(log2_size >= 1 && log2_size <= 24);
    size_t size = (size_t)1 << log2_size;
    struct fft *fft = malloc(sizeof *fft + size * sizeof fft->root[0]);
    if (fft != NULL) {
        fft->log2_size = log2_size;
        fill_roots(fft->root, size);
    }
    return fft;
}

void fft_free(struct fft *fft)
{
    free(fft);
}

static inline struct fft_value times(struct fft_value a, struct fft_value b)
{
    return (struct fft_value){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline struct fft_value plus(struct fft_value a, struct fft_value b)
{
    return (struct fft_value){a.re + b.re, a.im + b.im};
}

static inline struct fft_value minus(struct fft_value a, struct fft_value b)
{
    return (struct fft_value){a.re - b.re, a.im - b.im};
}

static inline struct fft_value conjugate(struct fft_value a)
{
    return (struct fft_value){a.re, -a.im};
}

static inline struct fft_value turned(struct fft_value a) /* times i */
{
    return (struct fft_value){-a.im, a.re};
}

/* Two stages of the block of 4 quarters; w is its root, w2 that of its first half. */
static inline void split_twice(struct fft_value *x, size_t quarter, struct fft_value w,
                               struct fft_value w2)
{
    struct fft_value *restrict x0 = x;
    struct fft_value *restrict x1 = x + quarter;
    struct fft_value *restrict x2 = x + 2 * quarter;
    struct fft_value *restrict x3 = x + 3 * quarter;
    for (size_t j = 0; j < quarter; j++) {
        struct fft_value b2 = times(x2[j], w);
        struct fft_value b3 = times(x3[j], w);
        struct fft_value upper = times(plus(x1[j], b3), w2);
        struct fft_value lower = turned(times(minus(x1[j], b3), w2));
        struct fft_value first = plus(x0[j], b2);
        struct fft_value second = minus(x0[j], b2);
        x0[j] = plus(first, upper);
        x1[j] = minus(first, upper);
        x2[j] = minus(second, lower);
        x3[j] = plus(second, lower);
    }
}

static inline void join_twice(struct fft_value *x, size_t quarter, struct fft_value w,
                              struct fft_value w2)
{
    struct fft_value *restrict x0 = x;
    struct fft_value *restrict x1 = x + quarter;
    struct fft_value *restrict x2 = x + 2 * quarter;
    struct fft_value *restrict x3 = x + 3 * quarter;
    w = conjugate(w);
    w2 = conjugate(w2);
    for (size_t j = 0; j < quarter; j++) {
        struct fft_value first = plus(x0[j], x1[j]);
        struct fft_value second = plus(x2[j], x3[j]);
        struct fft_value upper = times(minus(x0[j], x1[j]), w2);
        struct fft_value lower = times(turned(minus(x2[j], x3[j])), w2);
        x0[j] = plus(first, second);
        x1[j] = plus(upper, lower);
        x2[j] = times(minus(first, second), w);
        x3[j] = times(minus(upper, lower), w);
    }
}

/* All stages of what is `length` long, block `number` among those of its length. */
static void split_chunk(struct fft_value *x, size_t length, const struct fft_value *root,
                        size_t number)
{
    size_t blocks = 1;
    for (; length >= 4; length /= 4, blocks *= 4) {
        size_t block = number * blocks;
        for (size_t i = 0; i < blocks; i++) {
            split_twice(x + i * length, length / 4, root[block + i], root[2 * (block + i)]);
        }
    }
    for (size_t i = 0; length == 2 && i < blocks; i++) {
        struct fft_value b = times(x[2 * i + 1], root[number * blocks + i]);
        x[2 * i + 1] = minus(x[2 * i], b);
        x[2 * i] = plus(x[2 * i], b);
    }
}

static void join_chunk(struct fft_value *x, size_t length, const struct fft_value *root,
                       size_t number, bool odd)
{
    size_t blocks = length / 2;
    for (size_t i = 0; odd && i < blocks; i++) {
        struct fft_value a = x[2 * i];
        x[2 * i] = plus(a, x[2 * i + 1]);
        x[2 * i + 1] = times(minus(a, x[2 * i + 1]), conjugate(root[number * blocks + i]));
    }
    for (size_t joined = odd ? 8 : 4; joined <= length; joined *= 4) {
        blocks = length / joined;
        size_t block = number * blocks;
        for (size_t i = 0; i < blocks; i++) {
            join_twice(x + i * joined, joined / 4, root[block + i], root[2 * (block + i)]);
        }
    }
}

void fft_forward(const struct fft *fft, struct fft_value *x)
{
    size_t size = (size_t)1 << fft->log2_size;
    size_t length = size;
    for (; length > CHUNK; length /= 4) {
        for (size_t i = 0; i < size / length; i++) {
            split_twice(x + i * length, length / 4, fft->root[i], fft->root[2 * i]);
        }
    }
    for (size_t i = 0; i < size / length; i++) {
        split_chunk(x + i * length, length, fft->root, i);
    }
}

void fft_backward(const struct fft *fft, struct fft_value *x)
{
    size_t size = (size_t)1 << fft->log2_size;
    size_t length = size;
    while (length > CHUNK) {
        length /= 4;
    }
    for (size_t i = 0; i < size / length; i++) {
        join_chunk(x + i * length, length, fft->root, i, fft->log2_size % 2 == 1);
    }
    for (length *= 4; length <= size; length *= 4) {
        for (size_t i = 0; i < size / length; i++) {
            join_twice(x + i * length, length / 4, fft->root[i], fft->root[2 * i]);
        }
    }
}

void fft_real_forward(const struct fft *fft, struct fft_value *x)
{
    size_t size = (size_t)1 << fft->log2_size;
    fft_forward(fft, x);
    x[size] = (struct fft_value){x[0].re - x[0].im, 0};
    x[0] = (struct fft_value){x[0].re + x[0].im, 0};
    x[1] = conjugate(x[1]); /* its own mirror image, and w = -i */
    for (size_t start = 2; start < size; start *= 2) {
        for (size_t i = start; i < start + start / 2; i++) {
            struct fft_value *other = &x[3 * start - 1 - i]; /* as fft_mirror says */
            struct fft_value even = plus(x[i], conjugate(*other));
            struct fft_value odd = times(minus(x[i], conjugate(*other)), fft->root[i]);
            even = (struct fft_value){even.re / 2, even.im / 2};
            odd = (struct fft_value){odd.im / 2, -odd.re / 2};
            x[i] = plus(even, odd);
            *other = conjugate(minus(even, odd));
        }
    }
}

void fft_real_backward(const struct fft *fft, struct fft_value *x)
{
    size_t size = (size_t)1 << fft->log2_size;
    x[0] = (struct fft_value){x[0].re + x[size].re, x[0].re - x[size].re};
    x[1] = (struct fft_value){2 * x[1].re, -2 * x[1].im};
    for (size_t start = 2; start < size; start *= 2) {
        for (size_t i = start; i < start + start / 2; i++) {
            struct fft_value *other = &x[3 * start - 1 - i]; /* as fft_mirror says */
            struct fft_value even = plus(x[i], conjugate(*other));
            struct fft_value odd =
                turned(times(minus(x[i], conjugate(*other)), conjugate(fft->root[i])));
            x[i] = plus(even, odd);
            *other = conjugate(minus(even, odd));
        }
    }
    fft_backward(fft, x);
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

double fft_real_error(unsigned log2_size)
{
    return 2 * fft_error(log2_size + 2);
}
