/* Kernels: each gives what the plain one gives, and the plain one what MPFR says, trial by trial;
 * the error that the acceptance's fixed-point exponential may have is never exceeded. */

#include "noise/laplace_private.h"
#include "tests/support/noise_draw.h"
#include "tests/support/script.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { TRIALS = 1024, WORDS = TRIAL_WORDS * TRIALS };

static const struct noise_scale scales[] = {
    {1, 16},
    {1, 1},
    {22, 7},
    {31, 1},
    {32, 1},
    {UINT64_MAX, UINT64_MAX / 33},
    {63, 1},
    {1000000, 7},
    {1024, 1},
    {UINT64_C(1) << 20, 1},
    {UINT64_MAX, 1 << 24},
    {UINT64_C(1) << 40, 1},
};

enum { SCALES = sizeof scales / sizeof scales[0] };

/* Words of every kind: anything, and those at the edges of the digits' cells, of the sign, of 0 and
 * of what the acceptance's fixed point leaves open. Three seeds in four have one such trial alone, so
 * that it alone decides whether the block is left open. */
static void make_words(uint64_t *word, const struct noise_geometric *noise, uint64_t seed)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, seed);
    const size_t alone = seed % 4 == 0 ? TRIALS : seeded_random_below(&seeded, TRIALS);
    for (size_t i = 0; i < WORDS; i++) {
        word[i] = seeded_random_word(&seeded);
        if (alone < TRIALS && i % TRIALS != alone) {
            continue;
        }
        uint64_t kind = seeded_random_below(&seeded, 8);
        if (kind < 4 && i < 2 * TRIALS) {
            uint64_t cell = word[i] >> 59;
            uint64_t edge = noise->digit[i / TRIALS].cell[cell] >> THRESHOLD_SHIFT;
            word[i] = ((cell << 46) + edge - (kind & 1)) << 13 | (word[i] & 8191);
        }
        if (kind == 2 || kind == 4) {
            word[i] &= UINT64_C(0xfffffffffffff000); /* no low part */
        }
        if (kind == 5) {
            word[i] |= UINT64_C(0xffffffffff000000);
        }
        if (kind >= 6 && i >= 2 * TRIALS && noise->low_bits > 0) {
            uint64_t low = noise_low_of(noise, word[i - 2 * TRIALS], word[i - TRIALS], word[i]) >>
                           (LOW_BITS_MAX - noise->low_bits);
            double u = 0x1p52 * exp(-(double)low * (double)noise->scale.denominator /
                                    (double)noise->scale.numerator);
            u += (double)seeded_random_below(&seeded, 2 * TIE_UNITS + 5) - (TIE_UNITS + 2);
            u = u < 0x1.fffffffffffffp51 ? u : 0x1.fffffffffffffp51;
            word[i] = (uint64_t)u << 12 | (word[i] & 4095);
        }
    }
}

/* Whether a kernel gives the same as the plain one, undecided or not; *open counts the latter. */
static bool same_as_plain(const struct noise_kernel *kernel, const struct noise_geometric *noise,
                          enum trial_kind kind, const uint64_t *word, size_t trials, size_t *open)
{
    int64_t expected[TRIALS];
    int64_t values[TRIALS];
    size_t expected_count = 0;
    size_t count = 0;
    bool expected_decided =
        noise_kernel_plain.run(noise, kind, expected, &expected_count, word, trials);
    bool decided = kernel->run(noise, kind, values, &count, word, trials);
    *open += decided ? 0 : 1;
    return decided == expected_decided && count == expected_count &&
           memcmp(values, expected, count * sizeof *values) == 0;
}

/* 10^7 trials for each kernel. */
Test(noise_kernel, every_kernel_gives_what_the_plain_one_gives)
{
    enum { ROUNDS = 820, FULL_ROUNDS = 780 };
    static uint64_t word[WORDS];
    size_t kernels = 0;
    size_t open = 0;
    cr_assert_eq(noise_kernel_at(0), &noise_kernel_plain);
    for (size_t k = 1; noise_kernel_at(k) != NULL; k++) {
        kernels++;
        for (size_t i = 0; i < SCALES; i++) {
            struct noise_geometric noise;
            cr_assert_eq(noise_geometric_init(&noise, scales[i]), STATUS_OK);
            for (uint64_t seed = 0; seed < ROUNDS; seed++) {
                size_t trials =
                    seed < FULL_ROUNDS ? TRIALS : TRIAL_BLOCK * (seed - FULL_ROUNDS + 1);
                make_words(word, &noise, seed);
                cr_assert(
                    same_as_plain(noise_kernel_at(k), &noise, seed / 4 % 2, word, trials, &open),
                    "%s, scale %zu, seed %lu", noise_kernel_at(k)->name, i, (unsigned long)seed);
            }
        }
    }
    cr_log_info("%zu kernels beside the plain one", kernels);
    cr_assert_geq(open, kernels * SCALES * ROUNDS / 4, "blocks that are left open");
    cr_assert_leq(open, kernels * SCALES * ROUNDS * 3 / 4, "and blocks that are not");
}

Test(noise_kernel, the_fastest_that_the_processor_has_is_taken)
{
    struct noise_geometric noise;
    size_t kernels = 1;
    size_t expected = 1;
    while (noise_kernel_at(kernels) != NULL) {
        kernels++;
    }
#ifdef __x86_64__
    bool has_avx512 = __builtin_cpu_supports("avx512f") != 0;
    expected += has_avx512 ? 1 : 0;
    expected += has_avx512 && __builtin_cpu_supports("avx512ifma") != 0 ? 1 : 0;
#endif
    cr_assert_eq(kernels, expected);
    cr_assert_eq(noise_geometric_init(&noise, (struct noise_scale){1, 1}), STATUS_OK);
    cr_assert_eq(noise.kernel, noise_kernel_at(kernels - 1));
}

/* Kernels with a fault each. */

static bool with_a_lower_factor(const struct noise_geometric *noise, enum trial_kind kind,
                                int64_t *values, size_t *accepted, const uint64_t *word,
                                size_t trials)
{
    struct noise_geometric wrong = *noise;
    wrong.factor -= wrong.factor / 4;
    return noise_kernel_plain.run(&wrong, kind, values, accepted, word, trials);
}

static bool with_digits_in_the_wrong_order(const struct noise_geometric *noise,
                                           enum trial_kind kind, int64_t *values, size_t *accepted,
                                           const uint64_t *word, size_t trials)
{
    struct noise_geometric wrong = *noise;
    wrong.digit[0] = noise->digit[1];
    wrong.digit[1] = noise->digit[0];
    return noise_kernel_plain.run(&wrong, kind, values, accepted, word, trials);
}

static bool without_signs(const struct noise_geometric *noise, UNUSED enum trial_kind kind,
                          int64_t *values, size_t *accepted, const uint64_t *word, size_t trials)
{
    return noise_kernel_plain.run(noise, TRIAL_GEOMETRIC, values, accepted, word, trials);
}

static bool without_the_last_trial(const struct noise_geometric *noise, enum trial_kind kind,
                                   int64_t *values, size_t *accepted, const uint64_t *word,
                                   size_t trials)
{
    bool decided = noise_kernel_plain.run(noise, kind, values, accepted, word, trials);
    *accepted -= *accepted > 0 ? 1 : 0;
    return decided;
}

Test(noise_kernel, a_faulty_kernel_is_told_from_the_plain_one)
{
    static const struct noise_kernel faulty[] = {{"factor", with_a_lower_factor},
                                                 {"digits", with_digits_in_the_wrong_order},
                                                 {"signs", without_signs},
                                                 {"last", without_the_last_trial}};
    static uint64_t word[WORDS];
    size_t open = 0;
    struct noise_geometric noise;
    cr_assert_eq(noise_geometric_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    make_words(word, &noise, 4);
    cr_assert(same_as_plain(&noise_kernel_plain, &noise, TRIAL_LAPLACE, word, TRIALS, &open));
    for (size_t i = 0; i < sizeof faulty / sizeof faulty[0]; i++) {
        cr_expect_not(same_as_plain(&faulty[i], &noise, TRIAL_LAPLACE, word, TRIALS, &open), "%s",
                      faulty[i].name);
    }
}

static enum status no_fill(UNUSED void *self, UNUSED void *out, UNUSED size_t bytes)
{
    return STATUS_NO_RANDOM;
}

/* The words are random, so that nothing is left open, and nothing is drawn. */
Test(noise_kernel, kernels_decide_every_trial_as_mpfr_does)
{
    static uint64_t word[WORDS];
    struct random none = {.fill = no_fill};
    for (size_t i = 0; i < SCALES; i++) {
        struct noise_geometric noise;
        struct seeded_random seeded;
        int64_t careful[TRIALS];
        int64_t values[TRIALS];
        size_t careful_count = 0;
        size_t count = 0;
        enum trial_kind kind = i % 2 == 0 ? TRIAL_LAPLACE : TRIAL_GEOMETRIC;
        cr_assert_eq(noise_geometric_init(&noise, scales[i]), STATUS_OK);
        seeded_random_init(&seeded, i);
        for (size_t j = 0; j < WORDS; j++) {
            word[j] = seeded_random_word(&seeded);
        }
        cr_assert_eq(
            noise_trial_careful(&noise, &none, kind, careful, &careful_count, word, TRIALS),
            STATUS_OK);
        cr_assert(noise.kernel->run(&noise, kind, values, &count, word, TRIALS));
        cr_assert_eq(count, careful_count);
        cr_assert_arr_eq(values, careful, count * sizeof *values);
        cr_assert(kind == TRIAL_LAPLACE || noise.low_bits > 0 || count == TRIALS);
    }
}

/* 2^52 exp(-low/s), rounded down. */
static uint64_t true_exponential(const struct noise_geometric *noise, uint64_t low)
{
    mpfr_t exponential;
    mpfr_init2(exponential, 200);
    mpfr_set_ui(exponential, low, MPFR_RNDN);
    mpfr_mul_ui(exponential, exponential, noise->scale.denominator, MPFR_RNDN);
    mpfr_div_ui(exponential, exponential, noise->scale.numerator, MPFR_RNDN);
    mpfr_neg(exponential, exponential, MPFR_RNDN);
    mpfr_exp(exponential, exponential, MPFR_RNDN);
    mpfr_mul_2ui(exponential, exponential, FRACTION_BITS, MPFR_RNDN);
    uint64_t whole = mpfr_get_ui(exponential, MPFR_RNDD);
    mpfr_clear(exponential);
    return whole;
}

enum outcome { REFUSED, ACCEPTED, OPEN };

/* The kernel's result for one trial with this low part (< 2^low_bits) and this u. Its digits are 0
 * but where the word of a 0 would be left over. */
static enum outcome outcome_of(const struct noise_geometric *noise, uint64_t low, uint64_t u)
{
    uint64_t word[TRIAL_WORDS * TRIAL_BLOCK];
    int64_t values[TRIAL_BLOCK];
    size_t count = 0;
    uint64_t pieces = low << (LOW_BITS_MAX - noise->low_bits);
    for (size_t i = 0; i < TRIAL_BLOCK; i++) { /* all alike */
        word[i] = (UINT64_C(1) << 62) | (pieces & 4095);
        word[TRIAL_BLOCK + i] = (UINT64_C(1) << 45) | (pieces >> 12 & 4095);
        word[2 * TRIAL_BLOCK + i] = u << 12 | pieces >> 24;
    }
    if (!noise->kernel->run(noise, TRIAL_GEOMETRIC, values, &count, word, TRIAL_BLOCK)) {
        return OPEN;
    }
    cr_assert(count == 0 || (count == TRIAL_BLOCK &&
                             (uint64_t)values[0] % (UINT64_C(1) << noise->low_bits) == low));
    return count == 0 ? REFUSED : ACCEPTED;
}

/* How many units the kernel's exponential is from the truth (rounded down): from where its open
 * interval [E - 64, E + 64) begins, found by bisection. */
static int64_t error_of(const struct noise_geometric *noise, uint64_t low)
{
    int64_t whole = (int64_t)true_exponential(noise, low);
    int64_t below = -1000;
    int64_t from = 0;
    cr_assert_eq(outcome_of(noise, low, (uint64_t)(whole + below)), ACCEPTED);
    cr_assert_neq(outcome_of(noise, low, (uint64_t)whole), ACCEPTED, "low %lu", (unsigned long)low);
    while (from - below > 1) {
        int64_t middle = (from + below) / 2 - ((from + below) % 2 < 0 ? 1 : 0);
        if (outcome_of(noise, low, (uint64_t)(whole + middle)) == ACCEPTED) {
            below = middle;
        } else {
            from = middle;
        }
    }
    return from + TIE_UNITS;
}

/* The largest error over a scale's low parts. */
static int64_t worst_error(const struct noise_geometric *noise)
{
    struct seeded_random seeded;
    int64_t worst = 0;
    uint64_t end = UINT64_C(1) << noise->low_bits;
    seeded_random_init(&seeded, 77);
    for (uint64_t i = 0; i < 400; i++) {
        uint64_t low = end <= 400 ? i % end : i == 0 ? end - 1 : seeded_random_below(&seeded, end);
        if (low * noise->scale.denominator < noise->scale.numerator >> 40) {
            continue; /* too near 1 for a u of 52 bits beyond it */
        }
        int64_t error = low == 0 ? 0 : error_of(noise, low);
        worst = error * error > worst * worst ? error : worst;
    }
    return worst;
}

/* laplace_kernel_plain.c proves |E - e| < 36; rounding e down is worth one more. */
Test(noise_kernel, the_exponential_is_as_near_as_the_proof_says)
{
    for (size_t k = 0; noise_kernel_at(k) != NULL; k++) {
        for (size_t i = 0; i < SCALES; i++) {
            struct noise_geometric noise;
            cr_assert_eq(noise_geometric_init(&noise, scales[i]), STATUS_OK);
            noise.kernel = noise_kernel_at(k);
            if (noise.low_bits > 0) {
                int64_t worst = worst_error(&noise);
                cr_expect(worst > -37 && worst < 37, "%s, scale %zu: %ld units", noise.kernel->name,
                          i, (long)worst);
                noise.factor -= 1000; /* 63 units too much at the end: the check can fail */
                worst = worst_error(&noise);
                cr_expect(noise.low_bits < 6 || worst > 37, "%ld", (long)worst);
            }
        }
    }
    mpfr_free_cache();
}

/* One value asks for 16 trials. The first one's acceptance word is the truth's first 52 bits: only
 * the bits that are drawn after the block tell. */
Test(noise_kernel, a_vector_with_a_tie_takes_the_exact_decision)
{
    enum { ASKED = 16, BLOCK = TRIAL_WORDS * ASKED };
    for (size_t k = 0; noise_kernel_at(k) != NULL; k++) {
        for (int refuse = 0; refuse < 2; refuse++) {
            struct noise_laplace noise;
            uint64_t word[BLOCK + 1] = {0};
            int64_t value = 0;
            uint64_t low = 777;
            cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){1000000, 7}), STATUS_OK);
            noise.magnitude.kernel = noise_kernel_at(k);
            uint64_t pieces = low << (LOW_BITS_MAX - noise.magnitude.low_bits);
            for (size_t i = 0; i < ASKED; i++) {
                bool first = i == 0; /* the others have another low part, and are accepted */
                word[i] = (UINT64_C(1) << 62) | (pieces & 4095);
                word[ASKED + i] = (UINT64_C(1) << 45) | (pieces >> 12 & 4095);
                word[2 * ASKED + i] = (first ? true_exponential(&noise.magnitude, low) : 1) << 12 |
                                      (first ? pieces >> 24 : 0);
            }
            word[BLOCK] = refuse == 1 ? UINT64_MAX : 0;
            struct script script = {.count = BLOCK + 1};
            memcpy(script.word, word, sizeof word);
            struct random random = {.fill = script_fill, .self = &script};
            cr_assert_eq(noise_laplace_draw(&noise, &random, &value, 1), STATUS_OK);
            cr_assert_eq(script.used, BLOCK + 1);
            uint64_t drawn = (uint64_t)value % (UINT64_C(1) << noise.magnitude.low_bits);
            cr_assert_eq(drawn == low, refuse == 0);
        }
    }
}

/* If a digit's word is left over, the digit comes from the words after the block. */
Test(noise_kernel, a_vector_with_a_digit_left_over_takes_the_exact_draw)
{
    enum { ASKED = 16, BLOCK = 2 * ASKED };
    struct noise_geometric noise;
    uint64_t left_word = 0;
    cr_assert_eq(noise_geometric_init(&noise, (struct noise_scale){20, 1}), STATUS_OK);
    for (uint64_t cell = 0; cell < NOISE_BASE; cell++) { /* the first word of the left-over ones */
        uint64_t threshold = noise.digit[0].cell[cell] >> THRESHOLD_SHIFT;
        if ((noise.digit[0].cell[cell] >> OUTCOME_BITS & 63) == NOISE_LEFT) {
            left_word = cell << 59;
        } else if ((noise.digit[0].cell[cell] & 63) == NOISE_LEFT) {
            left_word = cell << 59 | threshold << 13;
        }
    }
    cr_assert_eq(noise_digit_of(&noise.digit[0], left_word), NOISE_LEFT);
    for (size_t k = 0; noise_kernel_at(k) != NULL; k++) {
        for (int largest = 0; largest < 2; largest++) {
            uint64_t word[BLOCK + 2];
            int64_t value = -1;
            for (size_t i = 0; i < ASKED; i++) {
                word[i] = i == 0 ? left_word : UINT64_C(1) << 62;
                word[ASKED + i] = UINT64_C(1) << 45;
            }
            word[BLOCK] = largest == 1 ? noise.digit[0].left - 1 : 0; /* the whole part of V */
            word[BLOCK + 1] = largest == 1 ? UINT64_MAX : 0;          /* its fraction */
            struct script script = {.count = BLOCK + 2};
            memcpy(script.word, word, sizeof word);
            struct random random = {.fill = script_fill, .self = &script};
            noise.kernel = noise_kernel_at(k);
            cr_assert_eq(noise_geometric_draw(&noise, &random, &value, 1), STATUS_OK);
            cr_assert_eq(script.used, BLOCK + 2);
            uint64_t upper = noise_digit_of(&noise.digit[1], word[ASKED]);
            uint64_t lower = largest == 1 ? NOISE_BASE - 1 : 0;
            cr_assert_eq((uint64_t)value, upper * NOISE_BASE + lower, "%ld", (long)value);
        }
    }
}
