/* Every row of j_pmf has a power twin: the sampler fits the row's probabilities, and the same sampler
 * told a scale that is 5 % wrong does not. Whatever values the row knows are the bins: P(|Z| in [a, b))
 * from its tails where it has them, else from single probabilities; what is left is one more.
 *
 * Every comparison is chi-square over bins with 10 or more expected counts, and rejects below p =
 * 1e-9; 23 must pass, so a false alarm has a probability below 3e-8 for a fresh seed, and the seeds
 * are fixed. The least noncentrality of a twin is 184, where a rejection needs some 55.
 *
 * At a scale of 1/16 hardly anything but 0 is drawn: no sample of a sane size tells scales apart. There,
 * and at every other scale, the tables that turn words into digits are counted out and compared with the
 * probabilities exactly; those of a wrong scale must fail. */

#include "noise/gaussian.h"
#include "noise/laplace_private.h"
#include "noise/share.h"
#include "tests/support/chi_square.h"
#include "tests/support/noise_draw.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#define REJECT_BELOW 1e-9

enum { BINS_MAX = 16, VALUES = 200000, LONG_ROUNDS = 40, ROUNDS = 5 };

/* What is drawn. */
enum law { LAW_LAPLACE, LAW_GAUSSIAN, LAW_SHARE, LAW_HALF_SHARE };

/* Sizes from <= |z| < to have this probability together. */
struct bin {
    int64_t from;
    int64_t to;
    double probability;
};

struct row {
    enum law law;
    double scale;
    uint64_t shares;
    struct bin bins[BINS_MAX];
    size_t count;
};

static double number(const json_t *json, const char *key)
{
    json_t *value = json_object_get(json, key);
    cr_assert(json_is_number(value), "%s", key);
    return json_number_value(value);
}

static void add(struct row *row, int64_t from, int64_t to, double probability)
{
    cr_assert_lt(row->count, BINS_MAX);
    row->bins[row->count++] = (struct bin){from, to, probability};
}

/* Bins between the tails; the vectors list them from the middle outwards. */
static void read_tails(struct row *row, json_t *tails)
{
    const char *key;
    json_t *value;
    double before = 0.5;
    int64_t from = 0;
    json_object_foreach(tails, key, value)
    {
        int64_t to = strtoll(key, NULL, 10);
        double tail = json_number_value(value);
        cr_assert(to > from && tail < before);
        /* P(0) = 1 - 2 P(Z >= 1); both signs of the rest */
        add(row, from, to, from == 0 ? 1 - 2 * tail : 2 * (before - tail));
        before = tail;
        from = to;
    }
}

static void read_singles(struct row *row, json_t *singles, bool signs)
{
    const char *key;
    json_t *value;
    json_object_foreach(singles, key, value)
    {
        int64_t z = strtoll(key, NULL, 10);
        add(row, z, z + 1, json_number_value(value) * (signs && z != 0 ? 2 : 1));
    }
}

/* A row of an unknown distribution fails the test. */
static struct row read_row(const json_t *json, enum law law)
{
    const char *name = json_string_value(json_object_get(json, "dist"));
    struct row row = {.law = law, .shares = 1};
    cr_assert_not_null(name);
    if (strcmp(name, "negative_binomial_share") == 0) {
        row.scale = number(json, "scale");
        row.shares = (uint64_t)number(json, "n_shares");
        row.law = law == LAW_HALF_SHARE ? law : LAW_SHARE;
        bool both = row.law == LAW_SHARE;
        read_singles(&row, json_object_get(json, both ? "difference_of_two_pmf" : "pmf"), both);
        return row;
    }
    bool gaussian = strcmp(name, "discrete_gaussian") == 0;
    cr_assert(gaussian || strcmp(name, "discrete_laplace") == 0, "%s", name);
    row.law = gaussian ? LAW_GAUSSIAN : LAW_LAPLACE;
    row.scale = number(json, gaussian ? "sigma" : "scale");
    read_tails(&row, json_object_get(json, "tail_ge"));
    double middle = number(json_object_get(json, "pmf"), "0");
    cr_assert(fabs(row.bins[0].probability - middle) <= 1e-12 * middle);
    return row;
}

/* What draws a row's law; only the one that it needs is prepared. */
struct sampler {
    struct noise_laplace laplace;
    struct noise_gaussian gaussian;
    struct noise_share share;
    enum law law;
};

static void sampler_init(struct sampler *sampler, const struct row *row, struct noise_scale scale,
                         uint64_t shares)
{
    sampler->law = row->law;
    switch (row->law) {
    case LAW_LAPLACE:
        cr_assert_eq(noise_laplace_init(&sampler->laplace, scale), STATUS_OK);
        break;
    case LAW_GAUSSIAN:
        cr_assert_eq(noise_gaussian_init(&sampler->gaussian, scale), STATUS_OK);
        break;
    case LAW_SHARE:
    case LAW_HALF_SHARE:
    default:
        cr_assert_eq(noise_share_init(&sampler->share, scale, shares), STATUS_OK);
        break;
    }
}

static void sampler_free(struct sampler *sampler)
{
    if (sampler->law == LAW_GAUSSIAN) {
        noise_gaussian_free(&sampler->gaussian);
    } else if (sampler->law != LAW_LAPLACE) {
        noise_share_free(&sampler->share);
    }
}

static void sampler_draw(const struct sampler *sampler, const struct random *random,
                         int64_t *values, size_t count)
{
    static uint64_t drawn[VALUES];
    enum status status = STATUS_OK;
    switch (sampler->law) {
    case LAW_LAPLACE:
        status = noise_laplace_draw(&sampler->laplace, random, values, count);
        break;
    case LAW_GAUSSIAN:
        status = noise_gaussian_draw(&sampler->gaussian, random, values, count);
        break;
    case LAW_SHARE:
        status = noise_share_draw(&sampler->share, random, values, count);
        break;
    case LAW_HALF_SHARE:
    default:
        cr_assert_leq(count, VALUES);
        status = noise_table_draw(&sampler->share.table, random, drawn, count);
        for (size_t i = 0; i < count; i++) {
            values[i] = (int64_t)drawn[i];
        }
        break;
    }
    cr_assert_eq(status, STATUS_OK);
}

static size_t bin_of(const struct row *row, int64_t value)
{
    int64_t size = value < 0 ? -value : value;
    size_t bin = 0;
    while (bin < row->count && !(size >= row->bins[bin].from && size < row->bins[bin].to)) {
        bin++;
    }
    return bin;
}

/* p-value of counts; bins with an expected count below 10 join the rest. */
static double p_of(const struct row *row, const uint64_t *seen, double draws)
{
    uint64_t number_of[BINS_MAX + 1];
    double expected[BINS_MAX + 1];
    uint64_t rest_seen = seen[row->count];
    double rest = draws;
    size_t bins = 0;
    for (size_t i = 0; i < row->count; i++) {
        double mean = draws * row->bins[i].probability;
        if (mean < 10) {
            rest_seen += seen[i];
            continue;
        }
        number_of[bins] = seen[i];
        expected[bins++] = mean;
        rest -= mean;
    }
    if (rest >= 10) {
        number_of[bins] = rest_seen;
        expected[bins++] = rest;
    }
    return chi_square_p(number_of, expected, bins);
}

/* p-value of the row's law, drawn at `times`/20 of its scale, as one of `shares` shares. */
static double fit(const struct row *row, uint64_t times, uint64_t shares, uint64_t seed)
{
    static int64_t values[VALUES];
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    uint64_t seen[BINS_MAX + 1] = {0};
    struct sampler sampler;
    size_t rounds = row->shares >= 100 ? LONG_ROUNDS : ROUNDS;
    struct noise_scale scale = {(uint64_t)llround(row->scale * 10) * times, 200};

    seeded_random_init(&seeded, seed);
    sampler_init(&sampler, row, scale, shares);
    for (size_t round = 0; round < rounds; round++) {
        sampler_draw(&sampler, &random, values, VALUES);
        for (size_t i = 0; i < VALUES; i++) {
            seen[bin_of(row, values[i])]++;
        }
    }
    sampler_free(&sampler);
    return p_of(row, seen, (double)rounds * VALUES);
}

static void expect_row(const struct row *row, size_t index)
{
    double p = fit(row, 20, row->shares, 1000 + index);
    cr_expect(p >= REJECT_BELOW, "row %zu law %d: p %g", index, (int)row->law, p);
    p = fit(row, 21, row->shares, 2000 + index);
    cr_expect(p < REJECT_BELOW, "row %zu law %d, 5 %% more: p %g", index, (int)row->law, p);
    bool few = row->shares <= 10; /* one of 100 shares is hardly another than one of 101 */
    if (few && (row->law == LAW_SHARE || row->law == LAW_HALF_SHARE)) {
        p = fit(row, 20, row->shares + 1, 3000 + index);
        cr_expect(p < REJECT_BELOW, "row %zu, one share more: p %g", index, p);
    }
}

Test(every_row, fits_and_a_scale_five_percent_wrong_does_not)
{
    json_t *root = json_load_file(TEST_VECTORS "/dp_vectors.json", 0, NULL);
    size_t index = 0;
    size_t compared = 0;
    const json_t *json;
    cr_assert_not_null(root);
    json_array_foreach(json_object_get(root, "j_pmf"), index, json)
    {
        struct row row = read_row(json, LAW_LAPLACE);
        expect_row(&row, index);
        compared++;
        if (row.law == LAW_SHARE) {
            row = read_row(json, LAW_HALF_SHARE);
            expect_row(&row, index + 500);
        }
    }
    cr_assert_eq(compared, 17);
    json_decref(root);
}

/* How many of the 2^51 words of a digit mean each outcome, as the kernels read the cells. */
static void count_words(uint64_t words[NOISE_BASE + 1], const struct noise_digit *digit)
{
    const uint64_t full = UINT64_C(1) << (DIGIT_BITS - CELL_BITS);
    const uint64_t outcome = (1 << OUTCOME_BITS) - 1;
    memset(words, 0, (NOISE_BASE + 1) * sizeof *words);
    for (size_t i = 0; i < NOISE_BASE; i++) {
        uint64_t cell = digit->cell[i];
        uint64_t threshold = cell >> THRESHOLD_SHIFT;
        words[cell >> OUTCOME_BITS & outcome] += threshold;
        words[cell & outcome] += full - threshold;
    }
}

/* Whether words < 2^51 P(digit) < words + 2 for all digits, P = r^d (1 - r)/(1 - r^32) with r = e^(-unit
 * denominator/numerator); the upper digit goes on for ever, so that there P = r^d (1 - r). */
static bool words_are_right(const struct noise_geometric *noise, struct noise_scale scale,
                            size_t position)
{
    uint64_t words[NOISE_BASE + 1];
    bool right = true;
    mpfr_t r;
    mpfr_t probability;
    mpfr_t factor;

    count_words(words, &noise->digit[position]);
    mpfr_inits2(400, r, probability, factor, NULL);
    mpfr_set_ui_2exp(r, 1, (long)(noise->low_bits + CELL_BITS * position), MPFR_RNDN);
    mpfr_mul_ui(r, r, scale.denominator, MPFR_RNDN);
    mpfr_div_ui(r, r, scale.numerator, MPFR_RNDN);
    mpfr_neg(r, r, MPFR_RNDN);
    mpfr_exp(r, r, MPFR_RNDN);
    mpfr_ui_sub(probability, 1, r, MPFR_RNDN);
    if (position + 1 < NOISE_DIGITS) {
        mpfr_pow_ui(factor, r, NOISE_BASE, MPFR_RNDN);
        mpfr_ui_sub(factor, 1, factor, MPFR_RNDN);
        mpfr_div(probability, probability, factor, MPFR_RNDN);
    }
    mpfr_mul_2ui(probability, probability, DIGIT_BITS, MPFR_RNDN);
    for (size_t d = 0; d < NOISE_BASE; d++) {
        right = right && mpfr_cmp_ui(probability, words[d]) >= 0 &&
                mpfr_cmp_ui(probability, words[d] + 2) < 0;
        mpfr_mul(probability, probability, r, MPFR_RNDN);
    }
    mpfr_clears(r, probability, factor, NULL);
    return right;
}

/* Whether the tables prepared for one scale are those of another. */
static bool tables_are_right(struct noise_scale prepared, struct noise_scale scale)
{
    struct noise_geometric noise;
    cr_assert_eq(noise_geometric_init(&noise, prepared), STATUS_OK);
    for (size_t position = 0; position < NOISE_DIGITS; position++) {
        if (!words_are_right(&noise, scale, position)) {
            return false;
        }
    }
    return true;
}

Test(every_row, tables_are_those_of_the_scale_and_five_percent_off_they_are_not)
{
    static const struct noise_scale scales[] = {{1, 16},
                                                {1, 8},
                                                {1, 4},
                                                {1, 3},
                                                {1, 1},
                                                {2, 1},
                                                {5, 1},
                                                {10, 1},
                                                {1000, 1},
                                                {1024, 1},
                                                {355, 113},
                                                {1000000, 7},
                                                {31, 1},
                                                {32, 1},
                                                {50, 1},
                                                {1 << 20, 1},
                                                {UINT64_C(1) << 40, 1}};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        struct noise_scale more = {scales[i].numerator * 21, scales[i].denominator * 20};
        struct noise_scale less = {scales[i].numerator * 19, scales[i].denominator * 20};
        cr_expect(tables_are_right(scales[i], scales[i]), "scale %zu", i);
        if (noise_scale_is_valid(more)) {
            cr_expect_not(tables_are_right(more, scales[i]), "5 %% more, scale %zu", i);
        }
        if (noise_scale_is_valid(less)) {
            cr_expect_not(tables_are_right(less, scales[i]), "5 %% less, scale %zu", i);
        }
        cr_assert(noise_scale_is_valid(more) || noise_scale_is_valid(less));
    }
}

/* Planted: one word of 2^51 too few for a digit is seen. This is the smallest difference. */
Test(every_row, tables_with_two_words_moved_are_refused)
{
    struct noise_geometric noise;
    struct noise_scale scale = {1, 16};
    cr_assert_eq(noise_geometric_init(&noise, scale), STATUS_OK);
    cr_assert(words_are_right(&noise, scale, 0));
    for (size_t i = 0; i < NOISE_BASE; i++) {
        if (noise.digit[0].cell[i] >> THRESHOLD_SHIFT > 2) {
            noise.digit[0].cell[i] -= UINT64_C(2) << THRESHOLD_SHIFT;
            break;
        }
    }
    cr_expect_not(words_are_right(&noise, scale, 0));
}
