/* encode.h - from real numbers to integers on a public grid of step 2^-bits, and the integer bounds
 * that give a vector its sensitivity. From here to the wire there is no floating point. */

#ifndef DP_ENCODE_H
#define DP_ENCODE_H

#include "base/status.h"
#include "base/why.h"
#include "noise/scale.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENCODE_BITS_MAX = 52 };
#define ENCODE_MAX (INT64_C(1) << 62) /* encoded values lie within -ENCODE_MAX .. ENCODE_MAX */

/**
 * floor(x / g + 1/2) for g = 2^-bits, exactly: adding a multiple of g to x adds as many steps.
 *
 * bits  in  0 .. ENCODE_BITS_MAX, CHECKed
 *
 * Ensures the same answer for the same x everywhere. Saturates; NaN counts as +infinity (as a loss
 * it is the worst), so that nothing about a record can stop or fail the program. The same instructions
 * and addresses whatever x is.
 */
int64_t encode_value(double x, unsigned bits);

/**
 * The same for a vector: out (count) from x (count).
 *
 * Privacy: rounding can part two numbers by one more step than they are apart, and no more:
 * |encode(a) - encode(b)| < |a - b|/g + 1, so an encoded vector's L1 distance is below the real
 * one's in steps plus count, and its L2 distance below the real one's in steps plus sqrt(count), by
 * the triangle inequality.
 */
void encode_vector(int64_t *out, const double *x, size_t count, unsigned bits);

/** value * 2^-bits, rounded to the nearest double. */
double decode_value(int64_t value, unsigned bits);

/**
 * Bounds every coordinate: low <= values[i] <= high. Idempotent.
 * Privacy: replacing one record moves a sum of such vectors by at most count * (high - low) in L1.
 */
void clip_box(int64_t *values, size_t count, int64_t low, int64_t high);

/**
 * Bounds the L1 norm: keeps values when their absolute sum is at most bound, else shrinks every one
 * to trunc(value * bound / sum) in 128-bit integers. Idempotent.
 *
 * bound  in  >= 0
 *
 * Ensures sum |values[i]| <= bound. The same instructions and addresses whatever the values are.
 * Privacy: replacing one record moves a sum of such vectors by at most 2 * bound in L1.
 */
void clip_l1(int64_t *values, size_t count, int64_t bound);

/**
 * Bounds the L2 norm: keeps values when the sum of their squares is at most bound^2, else shrinks
 * every one to trunc(value * bound / norm), norm rounded up, in 128-bit integers. Idempotent.
 *
 * bound  in  >= 0
 *
 * Ensures sum values[i]^2 <= bound^2, whatever the values: nothing overflows. As even as clip_l1.
 * Privacy: replacing one record moves a sum of such vectors by at most 2 * bound in L2.
 */
void clip_l2(int64_t *values, size_t count, int64_t bound);

/**
 * Returns how far a noisy value may be from zero: bound + 64 * ceil(scale), or UINT64_MAX where that is more. A noise
 * beyond 64 scales has a probability below 2^-90 for Laplace noise and its shares, and below 2^-2900 for Gaussian noise,
 * whose sigma stands for the scale. scale zeroed: there is no noise.
 */
uint64_t encode_reach(uint64_t bound, struct noise_scale scale);

/**
 * Returns how far a sum of answers with shares of noise may be from zero: agents * bound + (128 + agents / shares) *
 * ceil(scale), or UINT64_MAX where that is more. A sum is beyond it with a probability below 2^-90. For Laplace noise: such a
 * sum has at most the exponential moments of `agents / shares` whole ones, each at most 4/3 at 1/(2 scale), so that the noise is
 * beyond t scales with at most 2 (4/3)^(agents / shares) e^(-t/2). For Gaussian noise sigma stands for the scale, and much less
 * is beyond.
 *
 * agents  in  of the sum
 * shares  in  >= 1: how many make one whole noise
 */
uint64_t encode_sum_reach(uint64_t agents, uint64_t bound, uint64_t shares,
                          struct noise_scale scale);

/* Where answers travel and are kept, each number is a word of 2, 4 or 8 bytes: its lowest ones in two's complement,
 * little-endian. Which size it is follows from public bounds alone. A noisy number may be rounded to a multiple of 2^shift
 * first, and its word then counts such steps. */
struct encode_form {
    unsigned word_bytes; /* 2, 4 or 8: of a number of an answer */
    unsigned
        shift; /* a word of that size stands for 2^shift times its value, words of other sizes for their value */
    unsigned
        sum_bytes; /* 4 or 8: of a number of the answers' sum, which counts steps where it has 4 */
};

/** Returns the smallest size of words that hold every value up to reach, of both signs. */
unsigned encode_word_bytes(uint64_t reach);

/**
 * Returns the shift by which noisy values up to reach fit into words of 2 bytes, or 0 where they fit without one or where
 * rounding would add too much: a step is at most a sixteenth of the scale of the least noise. Rounding then adds at most
 * step^2 / 12 of variance: a 3,000th of Gaussian noise's, and half of that of Laplace noise's.
 */
unsigned encode_shift(uint64_t reach, struct noise_scale least);

/** Returns whether words of this size and shift hold every value up to reach, of both signs and rounded. */
bool encode_fits(uint64_t reach, unsigned word_bytes, unsigned shift);

/**
 * Divides values (count) by 2^shift, rounded to the nearest, half to even: no value is moved by more than half a step, and on
 * average none is moved. The same instructions and addresses whatever the values are.
 *
 * Privacy: of noisy values it is post-processing.
 */
void encode_round(int64_t *values, size_t count, unsigned shift);

/** Returns the size of a word if `count` words have that many bytes in all, or 0 if it is none of the
 * three sizes. */
unsigned encode_word_bytes_of(uint64_t bytes, size_t count);

/** Writes words (count * word_bytes) from values (count). What does not fit is reduced modulo 2^(8 word_bytes): of a noisy
 * value that is post-processing. The same instructions and addresses whatever the values are. */
void encode_words(uint8_t *out, const int64_t *values, size_t count, unsigned word_bytes);

void encode_words_plainly(uint8_t *out, const int64_t *values, size_t count, unsigned word_bytes);

/** Adds what words (count * word_bytes) stand for to sum (count), modulo 2^64. */
void decode_words_add(int64_t *sum, const uint8_t *words, size_t count, unsigned word_bytes);
void decode_words_add_plainly(int64_t *sum, const uint8_t *words, size_t count,
                              unsigned word_bytes);

/** The same modulo 2^32, of words of 2 or 4 bytes. */
void decode_words_add_narrow(int32_t *sum, const uint8_t *words, size_t count, unsigned word_bytes);
void decode_words_add_narrow_plainly(int32_t *sum, const uint8_t *words, size_t count,
                                     unsigned word_bytes);

/**
 * Decides at a job's start, by public parameters alone, whether the sum over the agents of clipped
 * values and their noise fits into int64: agents * encode_reach <= INT64_MAX.
 *
 * bound  in  >= 0: the largest absolute value of one coordinate of one agent's exact answer
 * scale  in  of the noise of one agent: Laplace scale, or sigma
 *
 * Fails with STATUS_INVALID; why (may be NULL) says what to make smaller.
 */
MUST_USE enum status encode_sum_fits(uint64_t agents, uint64_t bound, struct noise_scale scale,
                                     struct why *why);

#endif
