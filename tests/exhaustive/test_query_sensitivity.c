/* Every pair of records of a toy domain, for every kind of question: the distance between their
 * contributions, in the L1 and in the L2 norm, is at most what is charged. Where the domain can show
 * it, some pair reaches that bound. test_query_faults.c plants faults. */

#include "query/candidates.h"
#include "tests/exhaustive/query_domain.h"

static const char *const question[] = {
    "count: age >= 60 and sex == F",
    "count: death == 1 or not kappa < 2",
    "mean: age",
    "mean: kappa",
    "mean: kappa where sex == F",
    "mean: age where age >= 60 or death == 1",
    "histogram: age by 10",
    "histogram: age at 60, 80",
    "histogram: kappa at 1, 3 where sex == M",
    "histogram: sex",
    "histogram: 'home region' where age < 80",
    "histogram: death",
    "quantile: 0.5 of age",
    "quantile: 0.999 of kappa where sex == F in 3 rounds",
    "quantile: 0.01 of age where death == 1",
    "survival: time age event death by sex, to 98 in 4 intervals",
    "survival: time age event death == 1 by 'home region', to 80 in 4 intervals where kappa < 2",
    "survival: time kappa event sex by age >= 60 and death == 1, to 2 in 4 intervals",
    "survival: time age event death == 0, to 60 in 5 intervals",
    "crosstab: sex x death",
    "crosstab: death x 'home region' x sex where age >= 60",
    "table1: [age, sex] by death in 8 steps",
    "table1: [kappa, 'home region', death] by sex in 9 steps where age >= 60",
    "table1: [age] in 8 steps",
    "evaluate: age for death in 8 levels",
    "evaluate: kappa for sex == F and age < 80 by death in 8 levels where age >= 60",
    "evaluate: kappa for time age event death, to 98 in 4 bins",
    "evaluate: kappa for time age event sex by death, to 80 in 4 bins where age >= 60",
    "regress: death ~ age + sex + kappa in 3 levels",
    "regress: age ~ 'home region' + death where kappa < 2",
    "regress: counts age ~ kappa in 2 levels where sex == M",
    "regress: time age event death ~ sex, to 80 in 3 intervals",
    "regress: death ~ factor(kappa) + sex",
    "regress: age ~ factor(kappa) where sex == M",
    "regress: death ~ whole(kappa) + sex in 3 levels",
    "evaluate: risk for death in 8 levels",
    "evaluate: own for death by sex, cut at 0.5 in 8 levels where kappa < 2",
    "evaluate: days for sex in 16 levels",
    "evaluate: risk for time age event death by sex, to 80 in 4 bins where age >= 60",
    "evaluate: own for time age event death, to 98 in 4 bins",
};

Test(query_sensitivity, is_what_two_records_can_differ_by_and_no_more)
{
    for (size_t i = 0; i < sizeof question / sizeof question[0]; i++) {
        for (unsigned bits = 1; bits <= QUERY_BITS_MAX; bits += 7) {
            const double threshold[] = {50, 74, 1.05, 1.5, 80};
            struct apart most = {0, 0};
            struct apart charged = {0, 0};
            for (size_t t = 0; t < sizeof threshold / sizeof threshold[0]; t++) {
                const struct apart own =
                    farthest_by_two(query_add, question[i], bits, threshold[t], &charged);
                most.l1 = own.l1 > most.l1 ? own.l1 : most.l1;
                most.squared = fmax(most.squared, own.squared);
            }
            cr_expect(most.l1 == charged.l1, "%s at %u bits: %lu of %lu", question[i], bits,
                      most.l1, charged.l1);
            cr_expect(most.squared == charged.squared, "%s at %u bits, L2: %.17g of %.17g",
                      question[i], bits, most.squared, charged.squared);
        }
    }
}

/* A curve's cells and sums of blocks of them: what a record adds to either is less, so that both are no further than plain cells. */
static const char *const in_trees[] = {
    "survival: time age event death by sex, to 98 in 8 intervals",
    "survival: time kappa event sex by age >= 60 and death == 1, to 2 in 6 intervals",
    "survival: time age event death == 1, to 80 in 12 intervals where kappa < 2",
};

static struct query in_blocks(const char *text)
{
    const struct query_public known = {.records = 25000, .variance = 100, .is_gaussian = true};
    struct query query;
    cr_assert(query_parse(&query, slice_of(text), &toy_names, NULL) == STATUS_OK, "%s", text);
    query_plan(&query, &known);
    cr_assert(query.block >= 2, "%s", text);
    return query;
}

Test(query_sensitivity, of_trees_is_what_two_records_can_differ_by_and_at_most_that_of_plain_cells)
{
    for (size_t i = 0; i < sizeof in_trees / sizeof in_trees[0]; i++) {
        const struct query query = in_blocks(in_trees[i]);
        for (unsigned bits = 1; bits <= QUERY_BITS_MAX; bits++) {
            const double one = ldexp(1, (int)bits);
            struct apart charged = {0, 0};
            const struct apart most = farthest_of(query_add, &query, bits, 0, &charged);
            cr_expect(most.l1 == charged.l1 && most.squared == charged.squared,
                      "%s at %u bits: %lu of %lu, %.17g of %.17g", in_trees[i], bits, most.l1,
                      charged.l1, most.squared, charged.squared);
            cr_expect(charged.squared <= 2 * one * one, "%s at %u bits", in_trees[i], bits);
        }
    }
}

/* Planted: a sum counts a record whole, as a plain cell does. */
static void add_whole_sums(int64_t *sum, const struct query *query, unsigned grid_bits,
                           double threshold, const struct row *row)
{
    const size_t cells = SURVIVAL_CELLS(query_groups(query), query->intervals);
    query_add(sum, query, grid_bits, threshold, row);
    for (size_t i = cells; i < query->cell_count; i++) {
        sum[i] = sum[i] > 0 ? INT64_C(1) << grid_bits : 0;
    }
}

/* Planted: sums of all intervals so far, and not of a block's. */
static void add_sums_so_far(int64_t *sum, const struct query *query, unsigned grid_bits,
                            double threshold, const struct row *row)
{
    const size_t cells = SURVIVAL_CELLS(query_groups(query), query->intervals);
    query_add(sum, query, grid_bits, threshold, row);
    for (size_t i = cells + 1; i < query->cell_count; i++) {
        sum[i] += sum[i - 1];
    }
}

Test(query_sensitivity, of_trees_shows_planted_faults)
{
    for (size_t i = 0; i < sizeof in_trees / sizeof in_trees[0]; i++) {
        const struct query query = in_blocks(in_trees[i]);
        struct apart charged = {0, 0};
        cr_expect(farthest_of(add_whole_sums, &query, 8, 0, &charged).squared > charged.squared);
        cr_expect(farthest_of(add_whole_sums, &query, 8, 0, &charged).l1 > charged.l1);
        cr_expect(farthest_of(add_sums_so_far, &query, 8, 0, &charged).squared > charged.squared);
    }
}

/* Numbers and their products are rounded, which is charged a step each: the distance is at most the charge, and at
 * least that of the numbers that are not rounded. */
Test(query_sensitivity, of_correlations_is_reached_but_for_the_rounding)
{
    static const char *const correlated[] = {
        "correlate: [age, sex]",
        "pca: [age, sex, death]",
        "correlate: [kappa, age, death] where sex == F",
        "correlate: [age, sex, kappa, death]",
    };
    for (size_t i = 0; i < sizeof correlated / sizeof correlated[0]; i++) {
        for (unsigned bits = 1; bits <= QUERY_BITS_MAX; bits++) {
            struct query query;
            struct apart charged = {0, 0};
            const struct apart most = farthest_by_two(query_add, correlated[i], bits, 0, &charged);
            cr_assert(query_parse(&query, slice_of(correlated[i]), &toy_names, NULL) == STATUS_OK);
            const uint64_t d = query.variable_count;
            cr_expect(most.l1 <= charged.l1 && most.l1 + d * (d + 3) / 2 >= charged.l1,
                      "%s at %u bits: %lu of %lu", correlated[i], bits, most.l1, charged.l1);
            const double rounded = sqrt((double)(d * (d + 3)) / 2);
            const double l2 = sqrt(charged.squared);
            const double reached = sqrt(most.squared) + rounded; /* squares are rounded up */
            cr_expect(most.squared <= charged.squared &&
                          (reached * reached + 1) * (1 + 1e-9) >= charged.squared,
                      "%s at %u bits, L2: %g of %g", correlated[i], bits, sqrt(most.squared), l2);
        }
    }
}

/* Pairs without missing values. No pair of the domain reaches the sensitivity, and no pair on a finer grid exceeds it. */
Test(query_sensitivity, of_correlations_is_not_passed_by_numbers_between)
{
    enum { STEPS = 25 };
    struct query query;
    cr_assert(query_parse(&query, slice_of("correlate: [age, kappa]"), &toy_names, NULL) ==
              STATUS_OK);
    for (unsigned bits = 1; bits <= QUERY_BITS_MAX; bits += 3) {
        static int64_t contribution[STEPS * STEPS * 6];
        memset(contribution, 0, sizeof contribution);
        for (size_t i = 0; i < STEPS * STEPS; i++) {
            const double cell[TOY_COLUMNS] = {50 + 2 * (double)(i % STEPS), 0,
                                              expm1(0.15 + 0.075 * (double)(i / STEPS)), 0};
            const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = 1};
            query_add(contribution + 6 * i, &query, bits, 0, &row);
        }
        const struct apart most = farthest_two(contribution, STEPS * STEPS, 6);
        const uint64_t charged = query_sensitivity_l1(&query, bits);
        const double squared = query_sensitivity_squared(&query, bits);
        cr_expect(most.l1 <= charged, "%u bits: %lu of %lu", bits, most.l1, charged);
        cr_expect(bits < 10 || (double)most.l1 > 0.98 * (double)charged, "%lu of %lu", most.l1,
                  charged);
        cr_expect(most.squared <= squared, "%u bits: %g of %g", bits, most.squared, squared);
        cr_expect(bits < 10 || most.squared > 0.96 * squared, "%g of %g", most.squared, squared);
    }
}

/* The fourth moments' bound takes each sum's farthest two records, which are not the same for all: the toy's are as near as 0.74 of it, and
 * nearer where the moments' weight is less. */
Test(query_sensitivity, of_fourth_moments_is_not_passed)
{
    static const char *const text[] = {
        "correlate: [age, kappa]",
        "correlate: [kappa, age, death] where sex == F",
        "correlate: [age, sex, kappa, death]",
    };
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        for (unsigned bits = 15; bits <= QUERY_BITS_MAX; bits += 3) {
            for (double variance = 1; variance < 3000; variance *= 16) {
                const struct query_public known = {
                    .records = 25000, .variance = variance, .grid_bits = bits};
                struct query query;
                struct apart charged = {0, 0};
                cr_assert(query_parse(&query, slice_of(text[i]), &toy_names, NULL) == STATUS_OK);
                query_plan(&query, &known);
                cr_assert(query.fourth > 0 && query.fourth <= 1u << (bits - 14));
                const struct apart most = farthest_of(query_add, &query, bits, 0, &charged);
                cr_expect(most.l1 <= charged.l1 && (double)most.l1 > 0.7 * (double)charged.l1,
                          "%s at %u bits, weight %u: %lu of %lu", text[i], bits,
                          (unsigned)query.fourth, most.l1, charged.l1);
                cr_expect(most.squared <= charged.squared && most.squared > 0.7 * charged.squared,
                          "%s at %u bits, weight %u, L2: %g of %g", text[i], bits,
                          (unsigned)query.fourth, most.squared, charged.squared);
            }
        }
    }
}

/* The whole vector: all questions that one record can change at once. */
Test(query_sensitivity, of_a_set_is_reached_by_two_records)
{
    static const char *const text[] = {
        "count: sex == F",
        "mean: age where sex == F and age >= 50",
        "histogram: age at 60, 80",
        "quantile: 0.5 of age in 3 rounds",
        "quantile: 0.25 of kappa in 2 rounds",
        "histogram: 'home region'",
    };
    static struct domain domain;
    static int64_t contribution[DOMAIN_MAX * CELLS_MAX];
    const double threshold[6] = {0, 0, 0, 74, 1.05, 0};
    const uint64_t units_of_round[] = {2 * (1 + 2 + 1 + 1 + 2) + 3, 2 * 2, 2 * 1}; /* 2^(b-1) */
    struct query_set set;
    struct why why = {{0}};
    fill(&domain);
    cr_assert(query_set_init(&set, text, 6, 10, &toy_names, &why) == STATUS_OK, "%s", why.text);
    cr_assert(set.round_count == 3);
    for (uint32_t round = 0; round < 3; round++) {
        const size_t cells = query_set_cells(&set, round);
        memset(contribution, 0, sizeof contribution);
        cr_assert(cells <= CELLS_MAX);
        for (size_t i = 0; i < domain.count; i++) {
            const struct row row = row_of(&domain, i);
            query_set_add(contribution + i * cells, &set, round, threshold, &row);
            for (size_t k = 0; k < cells; k++) {
                cr_assert(llabs(contribution[i * cells + k]) <= 1 << 10);
            }
        }
        cr_expect(query_set_sensitivity_l1(&set, round) == units_of_round[round] << 9);
        const struct apart most = farthest_two(contribution, domain.count, cells);
        cr_expect(most.l1 == query_set_sensitivity_l1(&set, round));
        const double l2 = (double)query_set_sensitivity_l2(&set, round);
        cr_expect(most.squared <= l2 * l2 && most.squared > (l2 - 1) * (l2 - 1), "%g of %g",
                  most.squared, l2 * l2);
    }
    query_set_free(&set);
}

Test(query_sensitivity, of_candidates_is_reached_and_scores_move_by_two)
{
    static const char *const column[] = {"age", "home region", "kappa", "sex"};
    static const char *const predicate[] = {"age >= 65 and sex == F", "death == 1"};
    const struct candidates_request request = {column, 4, 5, predicate, 2};
    static struct domain domain;
    static int64_t contribution[DOMAIN_MAX * CELLS_MAX];
    static int64_t score[DOMAIN_MAX][CELLS_MAX];
    struct candidates candidates;
    struct why why = {{0}};
    fill(&domain);
    cr_assert(candidates_init(&candidates, &toy, &request, &why) == STATUS_OK, "%s", why.text);
    const size_t cells = candidates_cells(&candidates);
    const size_t count = candidates_count(&candidates);
    cr_assert(cells == 6 + 4 + 6 + 2 + 2 && count == 2 * (5 + 3 + 5 + 1 + 2));
    memset(contribution, 0, sizeof contribution);
    for (size_t i = 0; i < domain.count; i++) {
        const struct row row = row_of(&domain, i);
        candidates_add(contribution + i * cells, &candidates, &row);
        candidates_scores(score[i], &candidates, contribution + i * cells, 1);
    }
    /* death == 1 as a predictor of death never errs: only one of the two predicates can move */
    cr_expect(candidates_sensitivity_l1(&candidates) == 2 * 4 + 2);
    cr_expect(farthest(contribution, domain.count, cells) == 2 * 4 + 1);
    for (size_t i = 0; i < domain.count; i++) {
        for (size_t j = 0; j < i; j++) {
            for (size_t k = 0; k < count; k++) {
                cr_assert(llabs(score[i][k] - score[j][k]) <= CANDIDATES_SCORE_SENSITIVITY);
            }
        }
    }
    candidates_free(&candidates);
}
