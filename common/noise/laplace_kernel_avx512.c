/* laplace_kernel_avx512.c - eight trials at a time; the same integers as laplace_kernel_plain.c,
 * which tells the method. A digit's table sits in four registers and is looked up by permutation,
 * so that no address depends on what is drawn. With AVX-512 IFMA the 52-bit products are an
 * instruction each; without, they are put together from 26-bit halves. */

#include "noise/laplace_kernel.h"

#ifdef __x86_64__

#include <assert.h>
#include <immintrin.h>

/* gcc 12's address sanitizer, when it looks for uses after return, gives local registers a stack
 * that is not aligned to 64 bytes (its bug 110027). What these functions read and write is checked
 * all the same where the plain kernel runs over the same buffers. */
#define UNCHECKED __attribute__((no_sanitize("address")))
#define AVX512    UNCHECKED __attribute__((target("avx512f")))
#define IFMA      UNCHECKED __attribute__((target("avx512f,avx512ifma")))
#define PART      static inline __attribute__((always_inline))

enum { LANES = 8, REGISTERS = NOISE_BASE / LANES, HALF_BITS = FRACTION_BITS / 2 };

static_assert(TRIAL_BLOCK % LANES == 0, "a call is whole registers");

struct cells {
    __m512i part[REGISTERS];
};

/* What is the same for all trials of a call. */
struct setting {
    struct cells digit[NOISE_DIGITS];
    __m512i low_mask;  /* of the 36 bits of a low part */
    __m512i sign_mask; /* the bit of a word that is the sign, or none */
    __m512i factor;
    __m128i low_bits;
    __m128i low_missing;
};

/* Eight values, which of them to keep, and whether a digit or a comparison is undecided. */
struct eight {
    __m512i value;
    __mmask8 keep;
    __mmask8 undecided;
};

AVX512 PART struct cells load_cells(const struct noise_digit *digit)
{
    struct cells cells;
    for (size_t i = 0; i < REGISTERS; i++) {
        cells.part[i] = _mm512_loadu_si512(digit->cell + LANES * i);
    }
    return cells;
}

AVX512 PART struct setting load_setting(const struct noise_geometric *noise, enum trial_kind kind)
{
    uint64_t missing = LOW_BITS_MAX - noise->low_bits;
    uint64_t low_mask = ((UINT64_C(1) << noise->low_bits) - 1) << missing;
    return (struct setting){
        .digit = {load_cells(&noise->digit[0]), load_cells(&noise->digit[1])},
        .low_mask = _mm512_set1_epi64((int64_t)low_mask),
        .sign_mask = _mm512_set1_epi64(kind == TRIAL_LAPLACE ? 1 << SIGN_BIT : 0),
        .factor = _mm512_set1_epi64((int64_t)noise->factor),
        .low_bits = _mm_cvtsi64_si128((int64_t)noise->low_bits),
        .low_missing = _mm_cvtsi64_si128((int64_t)missing),
    };
}

AVX512 PART __m512i digit_of(const struct cells *cells, __m512i word)
{
    __m512i index = _mm512_srli_epi64(word, 64 - CELL_BITS); /* permutations take 4 bits of it */
    __m512i first = _mm512_permutex2var_epi64(cells->part[0], index, cells->part[1]);
    __m512i second = _mm512_permutex2var_epi64(cells->part[2], index, cells->part[3]);
    __mmask8 upper_half = _mm512_cmplt_epi64_mask(word, _mm512_setzero_si512());
    __m512i cell = _mm512_mask_mov_epi64(first, upper_half, second);
    __m512i threshold = _mm512_and_si512(cell, _mm512_set1_epi64(-(INT64_C(1) << THRESHOLD_SHIFT)));
    __mmask8 below = _mm512_cmplt_epu64_mask(_mm512_slli_epi64(word, CELL_BITS), threshold);
    cell = _mm512_mask_srli_epi64(cell, below, cell, OUTCOME_BITS);
    return _mm512_and_si512(cell, _mm512_set1_epi64((1 << OUTCOME_BITS) - 1));
}

/* The two digits together, and which of them are left over. */
AVX512 PART __m512i digits_of(const struct setting *setting, __m512i lower_word, __m512i upper_word,
                              __mmask8 *undecided)
{
    __m512i lower = digit_of(&setting->digit[0], lower_word);
    __m512i upper = digit_of(&setting->digit[1], upper_word);
    *undecided =
        _mm512_test_epi64_mask(_mm512_or_si512(lower, upper), _mm512_set1_epi64(NOISE_LEFT));
    return _mm512_add_epi64(lower, _mm512_slli_epi64(upper, CELL_BITS));
}

AVX512 PART __m512i low_of(const struct setting *setting, __m512i lower_word, __m512i upper_word,
                           __m512i acceptance)
{
    __m512i piece = _mm512_set1_epi64((1 << PIECE_BITS) - 1);
    __m512i low = _mm512_and_si512(lower_word, piece);
    __m512i middle = _mm512_slli_epi64(_mm512_and_si512(upper_word, piece), PIECE_BITS);
    __m512i high = _mm512_slli_epi64(_mm512_and_si512(acceptance, piece), 2 * PIECE_BITS);
    low = _mm512_or_si512(_mm512_or_si512(low, middle), high);
    return _mm512_and_si512(low, setting->low_mask);
}

AVX512 PART __m512i product(__m512i a, __m512i b)
{
    __m512i half = _mm512_set1_epi64((1 << HALF_BITS) - 1);
    __m512i a_high = _mm512_srli_epi64(a, HALF_BITS);
    __m512i b_high = _mm512_srli_epi64(b, HALF_BITS);
    __m512i a_low = _mm512_and_si512(a, half);
    __m512i b_low = _mm512_and_si512(b, half);
    __m512i middle = _mm512_srli_epi64(_mm512_mul_epu32(a_low, b_low), HALF_BITS);
    middle = _mm512_add_epi64(middle, _mm512_mul_epu32(a_high, b_low));
    middle = _mm512_add_epi64(middle, _mm512_mul_epu32(a_low, b_high));
    return _mm512_add_epi64(_mm512_mul_epu32(a_high, b_high), _mm512_srli_epi64(middle, HALF_BITS));
}

IFMA PART __m512i product_ifma(__m512i a, __m512i b)
{
    return _mm512_madd52hi_epu64(_mm512_setzero_si512(), a, b);
}

AVX512 PART __m512i constant(size_t k)
{
    return _mm512_set1_epi64((int64_t)trial_taylor[k]);
}

AVX512 PART __m512i exponential(__m512i low, __m512i factor)
{
    __m512i z = product(_mm512_slli_epi64(low, FRACTION_BITS - LOW_BITS_MAX), factor);
    __m512i sum = constant(7);
    sum = _mm512_sub_epi64(constant(6), product(sum, z));
    sum = _mm512_sub_epi64(constant(5), product(sum, z));
    sum = _mm512_sub_epi64(constant(4), product(sum, z));
    sum = _mm512_sub_epi64(constant(3), product(sum, z));
    sum = _mm512_sub_epi64(constant(2), product(sum, z));
    sum = _mm512_sub_epi64(constant(1), product(sum, z));
    return _mm512_sub_epi64(constant(0), product(sum, z));
}

IFMA PART __m512i exponential_ifma(__m512i low, __m512i factor)
{
    __m512i z = product_ifma(_mm512_slli_epi64(low, FRACTION_BITS - LOW_BITS_MAX), factor);
    __m512i sum = constant(7);
    sum = _mm512_sub_epi64(constant(6), product_ifma(sum, z));
    sum = _mm512_sub_epi64(constant(5), product_ifma(sum, z));
    sum = _mm512_sub_epi64(constant(4), product_ifma(sum, z));
    sum = _mm512_sub_epi64(constant(3), product_ifma(sum, z));
    sum = _mm512_sub_epi64(constant(2), product_ifma(sum, z));
    sum = _mm512_sub_epi64(constant(1), product_ifma(sum, z));
    return _mm512_sub_epi64(constant(0), product_ifma(sum, z));
}

/* Puts the low part under the digits and compares its acceptance with the exponential. */
AVX512 PART __m512i put_low(const struct setting *setting, __m512i digits, __m512i low,
                            __m512i acceptance, __m512i exponential, struct eight *eight)
{
    __m512i u = _mm512_srli_epi64(acceptance, 64 - FRACTION_BITS);
    __m512i past = _mm512_add_epi64(_mm512_sub_epi64(u, exponential), _mm512_set1_epi64(TIE_UNITS));
    eight->keep = _mm512_cmplt_epi64_mask(past, _mm512_setzero_si512());
    eight->undecided |= _mm512_cmplt_epu64_mask(past, _mm512_set1_epi64(2 * TIE_UNITS));
    return _mm512_or_si512(_mm512_sll_epi64(digits, setting->low_bits),
                           _mm512_srl_epi64(low, setting->low_missing));
}

AVX512 PART void put_sign(const struct setting *setting, __m512i magnitude, __m512i lower_word,
                          struct eight *eight)
{
    __mmask8 negative = _mm512_test_epi64_mask(lower_word, setting->sign_mask);
    __mmask8 minus_zero = _mm512_mask_testn_epi64_mask(negative, magnitude, magnitude);
    eight->keep &= (__mmask8)~minus_zero;
    eight->value = _mm512_mask_sub_epi64(magnitude, negative, _mm512_setzero_si512(), magnitude);
}

/* Stores whole registers: there is room for all trials, and never more is accepted. */
AVX512 PART size_t store(int64_t *values, const struct eight *eight)
{
    _mm512_storeu_si512(values, _mm512_maskz_compress_epi64(eight->keep, eight->value));
    return (size_t)__builtin_popcount(eight->keep);
}

AVX512 PART __m512i load(const uint64_t *word)
{
    return _mm512_loadu_si512(word);
}

AVX512 static bool run_digits(const struct noise_geometric *noise, enum trial_kind kind,
                              int64_t *values, size_t *accepted, const uint64_t *word,
                              size_t trials)
{
    struct setting setting = load_setting(noise, kind);
    __mmask8 undecided = 0;
    size_t count = 0;
    for (size_t i = 0; i < trials; i += LANES) {
        __m512i lower_word = load(word + i);
        struct eight eight = {.keep = 0xff};
        __m512i magnitude =
            digits_of(&setting, lower_word, load(word + trials + i), &eight.undecided);
        put_sign(&setting, magnitude, lower_word, &eight);
        count += store(values + count, &eight);
        undecided |= eight.undecided;
    }
    *accepted = count;
    return undecided == 0;
}

AVX512 static bool run(const struct noise_geometric *noise, enum trial_kind kind, int64_t *values,
                       size_t *accepted, const uint64_t *word, size_t trials)
{
    if (noise->low_bits == 0) {
        return run_digits(noise, kind, values, accepted, word, trials);
    }
    struct setting setting = load_setting(noise, kind);
    __mmask8 undecided = 0;
    size_t count = 0;
    for (size_t i = 0; i < trials; i += LANES) {
        __m512i lower_word = load(word + i);
        __m512i upper_word = load(word + trials + i);
        __m512i acceptance = load(word + 2 * trials + i);
        struct eight eight = {.keep = 0};
        __m512i digits = digits_of(&setting, lower_word, upper_word, &eight.undecided);
        __m512i low = low_of(&setting, lower_word, upper_word, acceptance);
        __m512i magnitude =
            put_low(&setting, digits, low, acceptance, exponential(low, setting.factor), &eight);
        put_sign(&setting, magnitude, lower_word, &eight);
        count += store(values + count, &eight);
        undecided |= eight.undecided;
    }
    *accepted = count;
    return undecided == 0;
}

IFMA static bool run_ifma(const struct noise_geometric *noise, enum trial_kind kind,
                          int64_t *values, size_t *accepted, const uint64_t *word, size_t trials)
{
    if (noise->low_bits == 0) {
        return run_digits(noise, kind, values, accepted, word, trials);
    }
    struct setting setting = load_setting(noise, kind);
    __mmask8 undecided = 0;
    size_t count = 0;
    for (size_t i = 0; i < trials; i += LANES) {
        __m512i lower_word = load(word + i);
        __m512i upper_word = load(word + trials + i);
        __m512i acceptance = load(word + 2 * trials + i);
        struct eight eight = {.keep = 0};
        __m512i digits = digits_of(&setting, lower_word, upper_word, &eight.undecided);
        __m512i low = low_of(&setting, lower_word, upper_word, acceptance);
        __m512i magnitude = put_low(&setting, digits, low, acceptance,
                                    exponential_ifma(low, setting.factor), &eight);
        put_sign(&setting, magnitude, lower_word, &eight);
        count += store(values + count, &eight);
        undecided |= eight.undecided;
    }
    *accepted = count;
    return undecided == 0;
}

static const struct noise_kernel kernel_avx512 = {.name = "avx512", .run = run};
static const struct noise_kernel kernel_ifma = {.name = "avx512-ifma", .run = run_ifma};

const struct noise_kernel *noise_kernel_at(size_t i)
{
    bool has_avx512 = __builtin_cpu_supports("avx512f") != 0;
    bool has_ifma = has_avx512 && __builtin_cpu_supports("avx512ifma") != 0;
    if (i == 0) {
        return &noise_kernel_plain;
    }
    if (i == 1 && has_avx512) {
        return &kernel_avx512;
    }
    return i == 2 && has_ifma ? &kernel_ifma : NULL;
}

#else

const struct noise_kernel *noise_kernel_at(size_t i)
{
    return i == 0 ? &noise_kernel_plain : NULL;
}

#endif
