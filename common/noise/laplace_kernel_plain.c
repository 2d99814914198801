/* laplace_kernel_plain.c - trials in portable C: integers, no branch and no loop on a drawn value.
 *
 * Let p = exp(-1/s), and G geometric: P(G = k) = (1 - p) p^k. With a fair sign, and "minus zero"
 * thrown away, G is the discrete Laplace variable (Canonne, Kamath, Steinke, NeurIPS 2020,
 * algorithm 2). As p^k is a product over the digits of k in any mixed base, the digits of G are
 * independent. The bases here are 2^low_bits, 32, and an upper digit without end:
 *
 *     G = (32 upper + lower) 2^low_bits + low
 *
 * Low part: uniform, accepted with probability exp(-low/s). Because 16 * 2^low_bits <= s, at least
 * 0.969 of all trials are. A trial takes the same words and the same time whatever becomes of it,
 * and trials are independent, so the number of trials tells nothing about the accepted values.
 *
 * Digits: 32 2^low_bits > s, so the upper digit's scale is below 1 and 32 outcomes leave less than
 * 2^-46 of it. 2^51 words' worth of outcomes are dealt out in whole numbers by Walker's alias
 * table; the few left over mean "ask laplace_exact.c", which draws from exactly what is missing.
 *
 * Acceptance: with z = 16 low/s in [0, 1) and e = 2^52 exp(-z/16), the first 52 bits u of a uniform
 * real U accept when u < E - 64 and refuse when u >= E + 64, where |E - e| < 64; between the two U
 * is told more bits and compared with the true exponential. E is seven steps of Horner's scheme r_k
 * = t_k - floor(r_(k+1) Z / 2^52) with t_k = floor(2^52 / (16^k k!)). Its errors:
 *   - the series ends at k = 7 and alternates: 0 <= e - series < t_8 + 1 = 27;
 *   - each step adds less than one unit (t_k is rounded down by less than 1, and so is what is
 *     subtracted), and hands on what it inherits times z < 1: less than 8 in all;
 *   - Z is below 2^52 z by less than 2 units, worth 2/16 of a unit of E. So |E - e| < 36. */

#include "noise/laplace_kernel.h"

#include "base/wide.h"

/* floor(a b / 2^52), for b given as b * 2^12, so that it is the upper word of a product. */
static inline uint64_t product(uint64_t a, uint64_t b_shifted)
{
    return (uint64_t)(((uint128)a * b_shifted) >> 64);
}

/* E above; low has 36 bits. */
static inline uint64_t exponential(uint64_t low, uint64_t factor)
{
    enum { SHIFT = 64 - FRACTION_BITS };
    uint64_t z = product(low << (FRACTION_BITS - LOW_BITS_MAX), factor << SHIFT) << SHIFT;
    uint64_t sum = trial_taylor[7];
    sum = trial_taylor[6] - product(sum, z);
    sum = trial_taylor[5] - product(sum, z);
    sum = trial_taylor[4] - product(sum, z);
    sum = trial_taylor[3] - product(sum, z);
    sum = trial_taylor[2] - product(sum, z);
    sum = trial_taylor[1] - product(sum, z);
    return trial_taylor[0] - product(sum, z);
}

static bool run(const struct noise_geometric *noise, enum trial_kind kind, int64_t *values,
                size_t *accepted, const uint64_t *word, size_t trials)
{
    const uint64_t *upper_word = word + trials;
    const uint64_t *acceptance = upper_word + trials;
    uint64_t sign_used = kind == TRIAL_LAPLACE ? 1 : 0;
    bool has_low = noise->low_bits > 0;
    uint64_t undecided = 0;
    size_t count = 0;

    for (size_t i = 0; i < trials; i++) {
        uint64_t lower = noise_digit_of(&noise->digit[0], word[i]);
        uint64_t upper = noise_digit_of(&noise->digit[1], upper_word[i]);
        uint64_t magnitude = lower + upper * NOISE_BASE;
        uint64_t keep = 1;
        undecided |= (lower | upper) & NOISE_LEFT;
        if (has_low) { /* public: the same for every trial */
            uint64_t low = noise_low_of(noise, word[i], upper_word[i], acceptance[i]);
            uint64_t past = (acceptance[i] >> (64 - FRACTION_BITS)) -
                            exponential(low, noise->factor) + TIE_UNITS; /* u - E + 64 */
            undecided |= past < 2 * TIE_UNITS;
            keep = past >> 63;
            magnitude = magnitude << noise->low_bits | low >> (LOW_BITS_MAX - noise->low_bits);
        }
        uint64_t negative = (word[i] >> SIGN_BIT) & sign_used;
        keep &= 1 ^ (negative & (magnitude == 0));
        values[count] = (int64_t)((magnitude ^ (0 - negative)) + negative);
        count += keep;
    }
    *accepted = count;
    return undecided == 0;
}

const struct noise_kernel noise_kernel_plain = {.name = "plain", .run = run};
