/* fft.h - discrete Fourier transforms of a power of two, with a proven bound on their rounding. */

#ifndef COMPOSITION_FFT_H
#define COMPOSITION_FFT_H

#include "base/status.h"

#include <stddef.h>

struct fft_value {
    double re;
    double im;
};

/* The roots of unity of every stage. */
struct fft;

/** Returns the tables for transforms of 2^log2_size values, 1 <= log2_size <= 24; NULL without
 * memory. The caller frees them with fft_free. */
struct fft *fft_new(unsigned log2_size);
void fft_free(struct fft *fft);

/**
 * Transforms x into X_f = sum over j of x_j e^(-2 pi i f j/N), X_f at the place of f's bits
 * reversed; and back, without the factor 1/N, from that order into the natural one.
 *
 * x  in/out  (2^log2_size) finite
 * Ensures each value is within fft_error(log2_size) times the sum of the absolute values put in.
 * Cost: N log2 N / 2 butterflies, no allocation.
 */
void fft_forward(const struct fft *fft, struct fft_value *x);
void fft_backward(const struct fft *fft, struct fft_value *x);

/**
 * The same for N = 2 2^log2_size REAL numbers, of which x holds two in every value: X_f for 0 <= f <
 * N/2 at the place of f's bits reversed, X_(N/2) at the end. The other frequencies are conjugates.
 *
 * x  in/out  (2^log2_size + 1) real: finite; the last value counts on the way back alone
 * Ensures each value (back: number) is within fft_real_error(log2_size) times the sum of the absolute
 * values of the N numbers (back: of all N frequencies).
 * Cost: that of fft_forward for half the numbers, and one pass more.
 */
void fft_real_forward(const struct fft *fft, struct fft_value *x);
void fft_real_backward(const struct fft *fft, struct fft_value *x);

/** Returns the place of frequency -f when f is at `place`: what the transform of real numbers
 * repeats there, conjugated. */
size_t fft_mirror(size_t place);

/** The bounds on rounding, relative to the sum of the absolute values of the input. */
double fft_error(unsigned log2_size);
double fft_real_error(unsigned log2_size);

#endif
