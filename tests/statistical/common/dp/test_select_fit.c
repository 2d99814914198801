/* Goodness of fit of the selections against every row of k_selection_pmf, and the power of the test
 * that says so.
 *
 * Every comparison is chi-square over outcomes of which 10 or more are expected (the rarer ones
 * together, with the rarest of the others if need be) and rejects below p = 1e-9; fewer than 100
 * comparisons must pass, so a false alarm has a probability below 1e-7 for a fresh seed, and the
 * seeds are fixed. Each row has a twin that draws with an epsilon 5 % too large and must be
 * rejected. The number of draws is such that the twin's noncentrality is POWER. Where all scores
 * are equal epsilon does not matter: the twin of such a row takes its first outcome for 5 %
 * better. */

#include "dp/select_private.h"
#include "tests/support/chi_square.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define REJECT_BELOW 1e-9
#define POWER        110.0
#define EQUAL_ROW    4e-4 /* at least what 5 % more of one in three are worth, a draw */

enum { SCORES_MAX = 8, DRAWS_LEAST = 100000 };

/* A row of the vectors, as losses in tenths: eta = epsilon / (2 sensitivity), in millionths. */
struct row {
    int64_t loss[SCORES_MAX];
    size_t count;
    uint64_t epsilon_micro;
    uint64_t sensitivity; /* in tenths */
    double share[2][SCORES_MAX];
};

static double loss_of(const struct row *row, size_t i)
{
    int64_t best = row->loss[0];
    for (size_t j = 1; j < row->count; j++) {
        best = row->loss[j] < best ? row->loss[j] : best;
    }
    return (double)(row->loss[i] - best);
}

/* The two formulas, in double. */
static void shares_of(const struct row *row, double times, double share[2][SCORES_MAX])
{
    double coin[SCORES_MAX];
    double sum = 0;
    double eta = times * (double)row->epsilon_micro * 1e-6 / (2 * (double)row->sensitivity);
    for (size_t i = 0; i < row->count; i++) {
        coin[i] = exp(-eta * loss_of(row, i));
        sum += coin[i];
        share[1][i] = 0;
    }
    for (unsigned fell = 1; fell < 1U << row->count; fell++) {
        double product = 1;
        double count = 0;
        for (size_t i = 0; i < row->count; i++) {
            product *= (fell >> i & 1) == 1 ? coin[i] : 1 - coin[i];
            count += fell >> i & 1;
        }
        for (size_t i = 0; i < row->count; i++) {
            share[1][i] += (fell >> i & 1) == 1 ? product / count : 0;
        }
    }
    for (size_t i = 0; i < row->count; i++) {
        share[0][i] = coin[i] / sum;
    }
}

/* p-value of counts; outcomes with too small expected counts are joined. */
static double fit(const double *share, const uint64_t *seen, size_t count, uint64_t draws)
{
    uint64_t number[SCORES_MAX + 1] = {0};
    double expected[SCORES_MAX + 1] = {0};
    size_t bins = 0;
    size_t rarest = 0;
    uint64_t rare_number = 0;
    double rare_expected = 0;
    for (size_t i = 0; i < count; i++) {
        if (share[i] * (double)draws < 10) {
            rare_number += seen[i];
            rare_expected += share[i] * (double)draws;
            continue;
        }
        number[bins] = seen[i];
        expected[bins] = share[i] * (double)draws;
        rarest = expected[bins] < expected[rarest] ? bins : rarest;
        bins++;
    }
    size_t into = rare_expected >= 10 ? bins++ : rarest;
    number[into] += rare_number;
    expected[into] += rare_expected;
    return chi_square_p(number, expected, bins);
}

/* How many draws give an epsilon 5 % too large this noncentrality. */
static uint64_t draws_for(const struct row *row, int kind)
{
    double wrong[2][SCORES_MAX];
    double each = 0;
    shares_of(row, 1.05, wrong);
    for (size_t i = 0; i < row->count; i++) {
        double off = wrong[kind][i] - row->share[kind][i];
        each += row->share[kind][i] > 1e-5 ? off * off / row->share[kind][i] : 0;
    }
    double draws = POWER / (each > 1e-9 ? each : EQUAL_ROW);
    return draws > DRAWS_LEAST ? (uint64_t)draws : DRAWS_LEAST;
}

typedef enum status (*draw)(const struct noise_exponential *decay, const struct random *random,
                            size_t *chosen, const int64_t *scores, size_t count);

static const draw draw_of[2] = {select_draw_exponential, select_draw_flip};

/* p-value, against the row's probabilities, of draws by another row's scores and epsilon. */
static double p_of(const struct row *row, const struct row *drawn, int kind, uint64_t draws,
                   uint64_t seed)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    struct noise_exponential decay;
    uint64_t seen[SCORES_MAX] = {0};
    seeded_random_init(&seeded, seed);
    cr_assert_eq(
        noise_exponential_init(&decay, drawn->epsilon_micro, (uint128)2000000 * row->sensitivity),
        STATUS_OK);
    for (uint64_t i = 0; i < draws; i++) {
        size_t chosen = SIZE_MAX;
        cr_assert(draw_of[kind](&decay, &random, &chosen, drawn->loss, row->count) == STATUS_OK &&
                  chosen < row->count);
        seen[chosen]++;
    }
    return fit(row->share[kind], seen, row->count, draws);
}

static struct row row_from(json_t *json)
{
    static const char *const name[2] = {"exponential_mechanism", "permute_and_flip"};
    struct row row = {.count = json_array_size(json_object_get(json, "scores"))};
    cr_assert(row.count >= 2 && row.count <= SCORES_MAX);
    row.epsilon_micro = (uint64_t)llround(1e6 * json_number_value(json_object_get(json, "eps")));
    row.sensitivity =
        (uint64_t)llround(10 * json_number_value(json_object_get(json, "sensitivity")));
    for (size_t i = 0; i < row.count; i++) {
        json_t *score = json_array_get(json_object_get(json, "scores"), i);
        row.loss[i] = -llround(10 * json_number_value(score)); /* there larger is better */
        for (int kind = 0; kind < 2; kind++) {
            row.share[kind][i] =
                json_number_value(json_array_get(json_object_get(json, name[kind]), i));
        }
    }
    return row;
}

/* Calls visit for every row; returns how many there are. */
static size_t for_every_row(void (*visit)(const struct row *row, size_t index))
{
    json_t *root = json_load_file(TEST_VECTORS "/dp_vectors.json", 0, NULL);
    size_t index;
    json_t *json;
    cr_assert_not_null(root);
    json_t *rows = json_object_get(root, "k_selection_pmf");
    json_array_foreach(rows, index, json)
    {
        struct row row = row_from(json);
        visit(&row, index);
    }
    size_t count = json_array_size(rows);
    json_decref(root);
    return count;
}

static void formula_agrees(const struct row *row, size_t index)
{
    double share[2][SCORES_MAX];
    shares_of(row, 1, share);
    for (int kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < row->count; i++) {
            double known = row->share[kind][i];
            cr_expect(fabs(share[kind][i] - known) <= 1e-12 * known, "row %zu outcome %zu", index,
                      i);
        }
    }
}

Test(select_fit, the_formulas_agree_with_independent_vectors)
{
    cr_assert_geq(for_every_row(formula_agrees), 15);
}

static void row_fits(const struct row *row, size_t index)
{
    for (int kind = 0; kind < 2; kind++) {
        double p = p_of(row, row, kind, draws_for(row, kind), 500 + index);
        cr_expect(p >= REJECT_BELOW, "row %zu mechanism %d p %g", index, kind, p);
    }
}

Test(select_fit, both_mechanisms_draw_every_row)
{
    (void)for_every_row(row_fits);
}

/* A row whose draws must not fit this one: epsilon 5 % larger; where scores are equal, the first
 * outcome's weight times e^0.05, which is a loss of -1 at an eta of 0.05. */
static struct row twin_of(const struct row *row)
{
    struct row twin = *row;
    bool equal = true;
    for (size_t i = 0; i < row->count; i++) {
        equal = equal && row->loss[i] == row->loss[0];
    }
    twin.epsilon_micro = equal ? 100000 * row->sensitivity : row->epsilon_micro * 21 / 20;
    twin.loss[0] -= equal ? 1 : 0;
    return twin;
}

static void twin_does_not_fit(const struct row *row, size_t index)
{
    struct row twin = twin_of(row);
    for (int kind = 0; kind < 2; kind++) {
        double p = p_of(row, &twin, kind, draws_for(row, kind), 600 + index);
        cr_expect(p < REJECT_BELOW, "row %zu mechanism %d p %g", index, kind, p);
    }
}

Test(select_fit, a_twin_of_every_row_is_rejected)
{
    cr_assert_geq(for_every_row(twin_does_not_fit), 15);
}

/* Permute-and-flip is report-noisy-max with exponential noise (Ding et al., arXiv 2105.07260): the
 * noise of scale 1/eta on continuous scores, against the vectors of permute-and-flip. Its twin has
 * Laplace noise of the same scale. */
static double p_of_noisy(const struct row *row, bool two_sided, uint64_t seed)
{
    enum { DRAWS = 400000 };
    struct seeded_random seeded;
    uint64_t seen[SCORES_MAX] = {0};
    double scale = 2 * (double)row->sensitivity / ((double)row->epsilon_micro * 1e-6);
    seeded_random_init(&seeded, seed);
    for (int run = 0; run < DRAWS; run++) {
        size_t chosen = 0;
        double least = INFINITY;
        for (size_t i = 0; i < row->count; i++) {
            double noise = scale * log1p(-seeded_random_unit(&seeded));
            bool negate = two_sided && seeded_random_below(&seeded, 2) == 1;
            double noisy = (double)row->loss[i] + (negate ? -noise : noise);
            chosen = noisy < least ? i : chosen;
            least = noisy < least ? noisy : least;
        }
        seen[chosen]++;
    }
    return fit(row->share[1], seen, row->count, DRAWS);
}

static void noisy_fits(const struct row *row, size_t index)
{
    bool telling = row->epsilon_micro == 1000000 && row->loss[0] != row->loss[1];
    if (telling) {
        double p = p_of_noisy(row, false, 700 + index);
        cr_expect(p >= REJECT_BELOW, "row %zu p %g", index, p);
        p = p_of_noisy(row, true, 800 + index);
        cr_expect(p < REJECT_BELOW, "row %zu p %g", index, p);
    }
}

Test(select_fit, permute_and_flip_is_noisy_max_with_exponential_noise)
{
    (void)for_every_row(noisy_fits);
}
