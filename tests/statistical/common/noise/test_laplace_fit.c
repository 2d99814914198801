/* Goodness of fit of the samplers, and the power of the test that says so.
 *
 * Every comparison is chi-square over bins with 10 or more expected counts, and rejects below p =
 * 1e-9; there are fewer than 300 comparisons that must pass, so a false alarm has a probability
 * below 3e-7 for a fresh seed, and the seeds are fixed. Every sampler with a planted fault must be
 * rejected: that is the twin which shows that the test has power. */

#include "noise/laplace_private.h"
#include "tests/support/chi_square.h"
#include "tests/support/noise_draw.h"
#include "tests/support/reference_laplace.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#define REJECT_BELOW 1e-9

enum { EDGES = 12, BINS = 2 * EDGES + 1, RESIDUES_MAX = 33, VALUES = 200000 };

/* Fills values with noise that claims to be of this scale. */
typedef void (*sampler)(struct noise_scale scale, const struct random *random, int64_t *values,
                        size_t count);

static double scale_of(struct noise_scale scale)
{
    return (double)scale.numerator / (double)scale.denominator;
}

/* P(Z >= k) for k >= 1. */
static double tail(double s, double k)
{
    return exp(-k / s) / (1 + exp(-1 / s));
}

/* p-value of the values by size and sign. */
static double fit_by_size(double s, const int64_t *values, size_t count)
{
    static const double part[EDGES] = {0.02, 0.1, 0.25, 0.45, 0.7, 1, 1.4, 1.9, 2.5, 3.3, 4.5, 6};
    int64_t edge[EDGES];
    size_t edges = 0;
    for (size_t i = 0; i < EDGES; i++) {
        int64_t next = (int64_t)ceil(part[i] * s);
        bool enough =
            edges == 0 ||
            (double)count * (tail(s, (double)edge[edges - 1]) - tail(s, (double)next)) >= 10;
        if (next >= 1 && enough && (double)count * tail(s, (double)next) >= 10) {
            edge[edges++] = next;
        }
    }
    size_t bins = 2 * edges + 1;
    uint64_t seen[BINS] = {0};
    double expected[BINS];
    for (size_t i = 0; i < count; i++) {
        uint64_t size = values[i] < 0 ? 0 - (uint64_t)values[i] : (uint64_t)values[i];
        size_t bin = 0;
        while (bin < edges && size >= (uint64_t)edge[bin]) {
            bin++;
        }
        seen[values[i] < 0 ? edges - bin : edges + bin]++;
    }
    expected[edges] = (double)count * (1 - 2 * tail(s, (double)edge[0]));
    for (size_t bin = 1; bin <= edges; bin++) {
        double above = bin < edges ? tail(s, (double)edge[bin]) : 0;
        double mass = (double)count * (tail(s, (double)edge[bin - 1]) - above);
        expected[edges + bin] = expected[edges - bin] = mass;
    }
    return chi_square_p(seen, expected, bins);
}

/* p-value of the values modulo n: 32 is the lowest digit, 33 mixes all of them, as 32 is -1 there.
 * P(Z = r mod n) = tanh(1/(2s)) (p^r + p^(n-r)) / (1 - p^n). */
static double fit_by_residue(double s, const int64_t *values, size_t count, int n)
{
    uint64_t seen[RESIDUES_MAX] = {0};
    double expected[RESIDUES_MAX];
    for (size_t i = 0; i < count; i++) {
        int64_t residue = values[i] % n;
        seen[residue < 0 ? residue + n : residue]++;
    }
    for (int r = 0; r < n; r++) {
        double ways = exp(-r / s) + exp(-(n - r) / s);
        expected[r] = (double)count * tanh(0.5 / s) * ways / -expm1(-n / s);
    }
    return chi_square_p(seen, expected, (size_t)n);
}

/* Draws with a seed; returns whether the values pass for discrete Laplace of the claimed scale. */
static bool passes_as(sampler sample, struct noise_scale drawn, struct noise_scale claimed,
                      size_t count, uint64_t seed)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    int64_t *values = calloc(count, sizeof *values);
    double s = scale_of(claimed);
    cr_assert_not_null(values);
    seeded_random_init(&seeded, seed);
    sample(drawn, &random, values, count);
    double by_size = fit_by_size(s, values, count);
    bool wide = s >= 5; /* else residues are too rare */
    double by_digit = wide ? fit_by_residue(s, values, count, 32) : 1;
    double by_all_digits = wide ? fit_by_residue(s, values, count, 33) : 1;
    double by_parity = wide ? fit_by_residue(s, values, count, 2) : 1;
    free(values);
    return by_size >= REJECT_BELOW && by_digit >= REJECT_BELOW && by_all_digits >= REJECT_BELOW &&
           by_parity >= REJECT_BELOW;
}

static bool passes(sampler sample, struct noise_scale scale, size_t count, uint64_t seed)
{
    return passes_as(sample, scale, scale, count, seed);
}

static void exact(struct noise_scale scale, const struct random *random, int64_t *values,
                  size_t count)
{
    struct noise_laplace noise;
    cr_assert_eq(noise_laplace_init(&noise, scale), STATUS_OK);
    cr_assert_eq(noise_laplace_draw(&noise, random, values, count), STATUS_OK);
}

static void reference(struct noise_scale scale, const struct random *random, int64_t *values,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(noise_reference_draw(scale, random, &values[i]), STATUS_OK);
    }
}

/* Tables with only a part of every mass, so that most digits take the exact path. */
static void mostly_left_over(struct noise_scale scale, const struct random *random, int64_t *values,
                             size_t count)
{
    struct noise_laplace noise;
    cr_assert_eq(noise_laplace_init(&noise, scale), STATUS_OK);
    for (size_t position = 0; position < NOISE_DIGITS; position++) {
        struct noise_digit *digit = &noise.magnitude.digit[position];
        for (size_t d = 0; d < NOISE_BASE; d++) {
            uint64_t kept = d % 3 == 0 ? 0 : digit->mass[d] / 3;
            digit->left += digit->mass[d] - kept;
            digit->mass[d] = kept;
        }
        noise_digit_cells(digit);
    }
    cr_assert_eq(noise_laplace_draw(&noise, random, values, count), STATUS_OK);
}

/* By the plain kernel, whatever the processor has. */
static void plain(struct noise_scale scale, const struct random *random, int64_t *values,
                  size_t count)
{
    struct noise_laplace noise;
    cr_assert_eq(noise_laplace_init(&noise, scale), STATUS_OK);
    noise.magnitude.kernel = &noise_kernel_plain;
    cr_assert_eq(noise_laplace_draw(&noise, random, values, count), STATUS_OK);
}

/* A fair sign for geometric noise, "minus zero" refused: how it becomes Laplace noise. */
static void signed_geometric(struct noise_scale scale, const struct random *random, int64_t *values,
                             size_t count)
{
    struct noise_geometric noise;
    size_t done = 0;
    cr_assert_eq(noise_geometric_init(&noise, scale), STATUS_OK);
    while (done < count) {
        uint8_t sign[256];
        int64_t drawn[256];
        cr_assert_eq(noise_geometric_draw(&noise, random, drawn, 256), STATUS_OK);
        cr_assert_eq(random_fill(random, sign, sizeof sign), STATUS_OK);
        for (size_t i = 0; i < 256 && done < count; i++) {
            cr_assert_geq(drawn[i], 0);
            values[done] = sign[i] % 2 == 0 ? drawn[i] : -drawn[i];
            done += sign[i] % 2 == 0 || drawn[i] > 0 ? 1 : 0;
        }
    }
}

static const struct noise_scale scales[] = {
    {1, 8},
    {1, 4},
    {1, 3},
    {1, 1},
    {2, 1},
    {5, 1},
    {10, 1},
    {22, 7},
    {31, 1},
    {32, 1},
    {50, 1},
    {1000, 1},
    {1024, 1},
    {10, 3},
    {355, 113},
    {1000000, 7},
    {UINT64_C(1) << 20, 1},
    {UINT64_C(1000000000000), 30001},
    {UINT64_C(1) << 40, 1},
};

enum { SCALES = sizeof scales / sizeof scales[0] };

Test(noise_fit, the_formula_agrees_with_independent_vectors)
{
    json_t *root = json_load_file(TEST_VECTORS "/dp_vectors.json", 0, NULL);
    size_t index;
    json_t *row;
    int compared = 0;
    cr_assert_not_null(root);
    json_array_foreach(json_object_get(root, "j_pmf"), index, row)
    {
        const char *key;
        json_t *value;
        if (strcmp(json_string_value(json_object_get(row, "dist")), "discrete_laplace") != 0) {
            continue;
        }
        double s = json_number_value(json_object_get(row, "scale"));
        json_object_foreach(json_object_get(row, "tail_ge"), key, value)
        {
            double known = json_number_value(value);
            cr_assert_float_eq(tail(s, strtod(key, NULL)), known, 1e-12 * known);
            compared++;
        }
        json_object_foreach(json_object_get(row, "pmf"), key, value)
        {
            double k = strtod(key, NULL);
            double known = json_number_value(value);
            double formula = k == 0 ? 1 - 2 * tail(s, 1) : tail(s, k) - tail(s, k + 1);
            cr_assert_float_eq(formula, known, 1e-11 * known);
            compared++;
        }
    }
    cr_assert_eq(compared, 6 * 13);
    json_decref(root);
}

Test(noise_fit, the_sampler_draws_discrete_laplace_at_every_scale)
{
    for (size_t i = 0; i < SCALES; i++) {
        cr_expect(passes(exact, scales[i], VALUES, 100 + i), "scale %g", scale_of(scales[i]));
    }
}

Test(noise_fit, the_plain_kernel_draws_discrete_laplace_at_every_scale)
{
    for (size_t i = 0; i < SCALES; i++) {
        cr_expect(passes(plain, scales[i], VALUES, 600 + i), "scale %g", scale_of(scales[i]));
    }
}

Test(noise_fit, geometric_noise_is_the_magnitude_of_it)
{
    for (size_t i = 0; i < SCALES; i++) {
        cr_expect(passes(signed_geometric, scales[i], VALUES, 700 + i), "scale %g",
                  scale_of(scales[i]));
    }
}

Test(noise_fit, the_reference_draws_the_same_distribution)
{
    for (size_t i = 0; i < SCALES; i++) {
        cr_expect(passes(reference, scales[i], VALUES, 200 + i), "scale %g", scale_of(scales[i]));
    }
}

Test(noise_fit, the_exact_path_draws_what_the_tables_leave_over)
{
    static const struct noise_scale few[] = {{1, 3}, {1, 1}, {10, 3}, {1000, 1}};
    for (size_t i = 0; i < 4; i++) {
        cr_expect(passes(mostly_left_over, few[i], 10000, 300 + i), "scale %g", scale_of(few[i]));
    }
}

/* The faults. */

static void one_sided(struct noise_scale scale, const struct random *random, int64_t *values,
                      size_t count)
{
    exact(scale, random, values, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = values[i] < 0 ? -values[i] : values[i];
    }
}

static void a_forgotten_coordinate(struct noise_scale scale, const struct random *random,
                                   int64_t *values, size_t count)
{
    exact(scale, random, values, count);
    for (size_t i = 0; i < count; i += 10) {
        values[i] = 0;
    }
}

static void half_to_even_rounding_of_the_real_one(struct noise_scale scale,
                                                  const struct random *random, int64_t *values,
                                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word[2];
        cr_assert_eq(random_fill(random, word, sizeof word), STATUS_OK);
        double unit = ((double)(word[0] >> 11) + 0.5) * 0x1p-53;
        double drawn = -scale_of(scale) * log(unit);
        values[i] = (int64_t)rint(word[1] & 1 ? drawn : -drawn);
    }
}

static void an_even_lowest_bit(struct noise_scale scale, const struct random *random,
                               int64_t *values, size_t count)
{
    exact(scale, random, values, count);
    for (size_t i = 0; i < count; i++) {
        values[i] -= i % 8 == 0 ? values[i] % 2 : 0; /* in an eighth of the values */
    }
}

/* Low parts are uniform: none is refused. */
static void without_refusals(struct noise_scale scale, const struct random *random, int64_t *values,
                             size_t count)
{
    struct noise_laplace noise;
    cr_assert_eq(noise_laplace_init(&noise, scale), STATUS_OK);
    noise.magnitude.factor = 0;
    cr_assert_eq(noise_laplace_draw(&noise, random, values, count), STATUS_OK);
}

/* The upper digit is always 0. */
static void without_the_upper_digit(struct noise_scale scale, const struct random *random,
                                    int64_t *values, size_t count)
{
    struct noise_laplace noise;
    cr_assert_eq(noise_laplace_init(&noise, scale), STATUS_OK);
    struct noise_digit *digit = &noise.magnitude.digit[1];
    memset(digit->mass, 0, sizeof digit->mass);
    digit->mass[0] = (UINT64_C(1) << DIGIT_BITS) - digit->left;
    noise_digit_cells(digit);
    cr_assert_eq(noise_laplace_draw(&noise, random, values, count), STATUS_OK);
}

/* "Minus zero" counts as a zero: twice too many of them. */
static void with_minus_zero(struct noise_scale scale, const struct random *random, int64_t *values,
                            size_t count)
{
    struct noise_geometric noise;
    cr_assert_eq(noise_geometric_init(&noise, scale), STATUS_OK);
    cr_assert_eq(noise_geometric_draw(&noise, random, values, count), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        uint8_t sign = 0;
        cr_assert_eq(random_fill(random, &sign, 1), STATUS_OK);
        values[i] = sign % 2 == 0 ? values[i] : -values[i];
    }
}

Test(noise_fit, every_planted_fault_is_rejected)
{
    static const struct {
        const char *name;
        sampler fault;
        struct noise_scale scale;
        size_t count;             /* 0: VALUES */
        struct noise_scale drawn; /* another scale than claimed */
    } row[] = {
        {"5 % more, 1/3", exact, {1, 3}, 0, {21, 60}},
        {"5 % more, 1", exact, {1, 1}, 0, {21, 20}},
        {"5 % more, 10", exact, {10, 1}, 0, {210, 20}},
        {"5 % more, 1000", exact, {1000, 1}, 0, {21000, 20}},
        {"5 % more, 2^20", exact, {UINT64_C(1) << 20, 1}, 0, {UINT64_C(21) << 20, 20}},
        {"5 % more, 2^39", exact, {UINT64_C(1) << 39, 1}, 0, {UINT64_C(21) << 39, 20}},
        {"5 % less, 2^40", exact, {UINT64_C(1) << 40, 1}, 0, {(UINT64_C(1) << 40) / 20 * 19, 1}},
        {"half, 1", exact, {1, 1}, 0, {1, 2}},
        {"half, 1000", exact, {1000, 1}, 0, {1000, 2}},
        {"rate, 10", exact, {10, 1}, 0, {1, 10}},
        {"one-sided, 1", one_sided, {1, 1}},
        {"one-sided, 1000", one_sided, {1000, 1}},
        {"forgotten, 1", a_forgotten_coordinate, {1, 1}},
        {"forgotten, 2^20", a_forgotten_coordinate, {UINT64_C(1) << 20, 1}},
        {"rounded real, 1", half_to_even_rounding_of_the_real_one, {1, 1}},
        {"even bit, 1000", an_even_lowest_bit, {1000, 1}},
        {"5 % more, 1/4", exact, {1, 4}, 0, {21, 80}},
        {"5 % more, 22/7", exact, {22, 7}, 0, {462, 140}},
        {"5 % more, 2^10", exact, {1024, 1}, 0, {21504, 20}},
        {"no refusals, 32", without_refusals, {32, 1}, 10 * VALUES},
        {"no refusals, 62", without_refusals, {62, 1}, 20 * VALUES},
        {"no upper digit, 10", without_the_upper_digit, {10, 1}},
        {"no upper digit, 1000", without_the_upper_digit, {1000, 1}},
        {"minus zero, 1", with_minus_zero, {1, 1}},
        {"minus zero, 31", with_minus_zero, {31, 1}},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        size_t count = row[i].count > 0 ? row[i].count : VALUES;
        const struct noise_scale drawn = row[i].drawn.numerator > 0 ? row[i].drawn : row[i].scale;
        cr_expect_not(passes_as(row[i].fault, drawn, row[i].scale, count, 400 + i), "%s",
                      row[i].name);
    }
}

/* Two answers with one grant carry the same noise, which shows in their difference. */
Test(noise_fit, two_draws_are_independent)
{
    enum { PAIRS = VALUES };
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    int64_t *values = calloc(2 * PAIRS, sizeof *values);
    cr_assert_not_null(values);
    for (int reused = 0; reused < 2; reused++) {
        seeded_random_init(&seeded, 500);
        exact((struct noise_scale){1000, 1}, &random, values, 2 * PAIRS);
        double sum = 0;
        for (size_t i = 0; i < PAIRS; i++) { /* neighbours in a vector, or the same one again */
            sum += (double)values[2 * i] * (double)values[2 * i + (reused == 1 ? 0 : 1)];
        }
        /* A product's standard deviation is 2 s^2; 6 of them are exceeded with probability 2e-9. */
        double deviations = fabs(sum) / (2e6 * sqrt(PAIRS));
        cr_expect_eq(deviations > 6, reused == 1, "%g deviations", deviations);
    }
    free(values);
}
