/* Candidates: their scores are twice the errors of what their names mean. */

#include "query/candidates.h"

#include "dp/select.h"
#include "noise/laplace.h"
#include "tests/support/paid_grant.h"
#include "tests/support/seeded_random.h"
#include "toy_schema.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECORDS = 500, COUNT_MAX = 100, CELLS_MAX = 100 };

static const char *const column[] = {"age", "home region", "kappa", "sex"};
static const char *const predicate[] = {"age >= 65 and sex == F", "kappa > 2 or death == 1"};
static const struct candidates_request request = {column, 4, 7, predicate, 2};

struct table {
    double cell[RECORDS * TOY_COLUMNS];
    double label[RECORDS];
};

static struct row row_of(const struct table *table, size_t i)
{
    return (struct row){.cell = table->cell + i * TOY_COLUMNS,
                        .column_count = TOY_COLUMNS,
                        .label = table->label[i]};
}

/* Death above 74 years, but for one in ten. */
static void fill(struct table *table, uint64_t seed)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, seed);
    for (size_t i = 0; i < RECORDS; i++) {
        double *cell = table->cell + i * TOY_COLUMNS;
        cell[0] = 50 + (double)seeded_random_below(&seeded, 17) * 3;
        cell[1] = (double)seeded_random_below(&seeded, 3) - 1; /* -1: an unlisted text */
        cell[2] = expm1(0.15 + 1.8 * seeded_random_unit(&seeded));
        cell[3] = (double)seeded_random_below(&seeded, 4) - 1;
        const bool flips = seeded_random_below(&seeded, 10) == 0;
        table->label[i] = (cell[0] >= 74) != flips ? 1 : -1;
    }
}

static void build(struct candidates *candidates)
{
    struct why why = {{0}};
    cr_assert(candidates_init(candidates, &toy, &request, &why) == STATUS_OK, "%s", why.text);
    cr_assert(candidates_cells(candidates) == 8 + 4 + 8 + 2 + 2);
    cr_assert(candidates_count(candidates) == 2 * (7 + 3 + 7 + 1 + 2));
}

static void sum_up(int64_t *sum, const struct candidates *candidates, const struct table *table)
{
    memset(sum, 0, CELLS_MAX * sizeof *sum);
    for (size_t i = 0; i < RECORDS; i++) {
        const struct row row = row_of(table, i);
        candidates_add(sum, candidates, &row);
    }
}

/* What the candidate's name says, read as a predicate; names are for people, who need no quotes. */
static struct predicate meant_by(const struct candidates *candidates, size_t k)
{
    struct predicate meant;
    char name[CANDIDATES_NAME_BYTES];
    char text[CANDIDATES_NAME_BYTES + 8];
    candidates_name(name, sizeof name, candidates, k);
    const char *region = strstr(name, "home region");
    (void)snprintf(text, sizeof text, "%s%s", region == NULL ? name : "'home region'",
                   region == NULL ? "" : region + strlen("home region"));
    if (strstr(text, "= and") != NULL) {
        (void)snprintf(text, sizeof text, "'home region' %s 'and'", k % 2 == 0 ? "==" : "!=");
    }
    cr_assert(predicate_parse(&meant, slice_of(text), &toy, NULL) == STATUS_OK, "%s", text);
    return meant;
}

Test(candidates, score_twice_the_errors_of_what_their_names_mean)
{
    static struct table table;
    struct candidates candidates;
    int64_t sum[CELLS_MAX];
    int64_t score[COUNT_MAX];
    build(&candidates);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        fill(&table, seed);
        sum_up(sum, &candidates, &table);
        candidates_scores(score, &candidates, sum, RECORDS);
        for (size_t k = 0; k < candidates_count(&candidates); k++) {
            const struct predicate meant = meant_by(&candidates, k);
            int64_t errors = 0;
            for (size_t i = 0; i < RECORDS; i++) {
                const struct row row = row_of(&table, i);
                errors += predicate_holds(&meant, &row) != (table.label[i] > 0);
            }
            cr_assert(score[k] == 2 * errors, "candidate %zu: %ld, not %ld", k, score[k],
                      2 * errors);
        }
        /* age >= 74 errs on one in ten, 50 of them with a standard deviation of 6.7: 6 more is 90 */
        cr_assert(score[candidates_best(score, candidates_count(&candidates))] <= 2 * 90);
    }
    candidates_free(&candidates);
}

/* The first threshold of each column lies inside the range, the middle one in the middle. */
Test(candidates, are_named_by_thresholds_inside_the_public_range)
{
    struct candidates candidates;
    char name[CANDIDATES_NAME_BYTES];
    build(&candidates);
    static const char *const expected[] = {"age >= 56", "age < 56", "age >= 62", "age < 62",
                                           "age >= 68", "age < 68", "age >= 74", "age < 74",
                                           "age >= 80", "age < 80"};
    for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++) {
        candidates_name(name, sizeof name, &candidates, k);
        cr_expect_str_eq(name, expected[k]);
    }
    candidates_free(&candidates);
}

/* Central trust: exact scores, private picks. With n = 500, epsilon 1 and 40 candidates the errors of
 * the one picked are within 2 (ln 40 + ln(1/beta))/epsilon of the least, with beta = 1e-6/40 for 40
 * picks: 42.4. Planted: a sensitivity a hundred times too large picks worse than that. */
Test(candidates, are_selected_privately_near_the_best)
{
    static struct table table;
    struct candidates candidates;
    int64_t sum[CELLS_MAX];
    int64_t score[COUNT_MAX];
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    seeded_random_init(&seeded, 11);
    build(&candidates);
    const size_t count = candidates_count(&candidates);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        size_t chosen = 0;
        fill(&table, seed);
        sum_up(sum, &candidates, &table);
        candidates_scores(score, &candidates, sum, RECORDS);
        const int64_t least = score[candidates_best(score, count)];
        struct grant *grant = paid_grant(MECHANISM_PURE, 1000000);
        cr_assert(select_permute_and_flip(&grant, &random, &chosen, score, count,
                                          CANDIDATES_SCORE_SENSITIVITY) == STATUS_OK);
        cr_assert(score[chosen] <= least + 2 * 43);
        grant = paid_grant(MECHANISM_EXPONENTIAL, 1000000);
        cr_assert(select_exponential(&grant, &random, &chosen, score, count,
                                     CANDIDATES_SCORE_SENSITIVITY) == STATUS_OK);
        cr_assert(score[chosen] <= least + 2 * 43);
    }
    bool is_worse = false;
    for (int i = 0; i < 20; i++) {
        size_t chosen = 0;
        struct grant *grant = paid_grant(MECHANISM_PURE, 1000000);
        cr_assert(select_permute_and_flip(&grant, &random, &chosen, score, count,
                                          100 * CANDIDATES_SCORE_SENSITIVITY) == STATUS_OK);
        is_worse = is_worse || score[chosen] > score[candidates_best(score, count)] + 2 * 43;
    }
    cr_assert(is_worse);
    candidates_free(&candidates);
}

/* Local trust: scores from noisy cells are unbiased, and vary as the header promises: a stump's score
 * sums up T + 1 = 8 cells' noise, with 2 s^2 each. Over 4000 draws the mean of the squares of what is
 * nearly normal errs by less than 6 standard deviations, sqrt(2/4000) each (more for the heavier
 * tails: kurtosis 3 + 3/8), so 0.16 of it; false alarms below 1e-6 over both. */
Test(candidates, from_noisy_cells_err_as_promised)
{
    enum { DRAWS = 4000 };
    static struct table table;
    struct candidates candidates;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    struct noise_laplace noise;
    int64_t sum[CELLS_MAX];
    int64_t exact[COUNT_MAX];
    int64_t score[COUNT_MAX];
    double squares[2] = {0, 0};
    const uint64_t scale = 50;
    seeded_random_init(&seeded, 12);
    build(&candidates);
    fill(&table, 1);
    sum_up(sum, &candidates, &table);
    candidates_scores(exact, &candidates, sum, RECORDS);
    cr_assert(noise_laplace_init(&noise, (struct noise_scale){scale, 1}) == STATUS_OK);
    for (int i = 0; i < DRAWS; i++) {
        int64_t noisy[CELLS_MAX];
        memcpy(noisy, sum, sizeof noisy);
        cr_assert(noise_laplace_add(&noise, &random, noisy, candidates_cells(&candidates)) ==
                  STATUS_OK);
        candidates_scores(score, &candidates, noisy, RECORDS);
        for (int j = 0; j < 2; j++) {
            const double difference = (double)(score[6 + j] - exact[6 + j]);
            squares[j] += difference * difference / DRAWS;
        }
        cr_assert(score[6] + score[7] == 2 * RECORDS);
    }
    const double promised = 8 * 2.0 * scale * scale;
    for (int j = 0; j < 2; j++) {
        cr_assert(fabs(squares[j] / promised - 1) < 0.16, "%g", squares[j] / promised);
    }
    const struct query_noise one = {false, (double)scale, 1};
    cr_assert(fabs(candidates_error_deviation(&candidates, 6, &one) - sqrt(promised) / 2) < 1e-9);
    cr_assert(candidates_error_deviation(&candidates, candidates_count(&candidates) - 1, &one) ==
              query_noise_deviation(&one));
    candidates_free(&candidates);
}

static void refused(struct candidates_request wrong, const char *hint)
{
    struct candidates candidates;
    struct why why = {{0}};
    cr_assert(candidates_init(&candidates, &toy, &wrong, &why) == STATUS_INVALID);
    cr_expect(strstr(why.text, hint) != NULL, "%s", why.text);
    cr_assert(candidates.column == NULL && candidates.predicate == NULL);
}

Test(candidates, are_refused_with_a_sentence)
{
    static const char *const twice[] = {"age", "age"};
    static const char *const unknown[] = {"ago"};
    static const char *const broken[] = {"age >="};
    static const char *const same[] = {"age >= 60", "sex == F", "age >= 60"};
    refused((struct candidates_request){NULL, 0, 5, NULL, 0}, "1 to");
    refused((struct candidates_request){twice, 2, 5, NULL, 0}, "twice");
    refused((struct candidates_request){unknown, 1, 5, NULL, 0},
            "has no such column; did you mean \"age\"?");
    refused((struct candidates_request){column, 1, 0, NULL, 0}, "thresholds");
    refused((struct candidates_request){column, 1, 1001, NULL, 0}, "1000 thresholds");
    refused((struct candidates_request){NULL, 0, 0, broken, 1}, "character 7");
    refused((struct candidates_request){NULL, 0, 0, same, 3}, "age >= 60: it is there twice");
    struct schema schema = toy;
    struct candidates candidates;
    struct why why = {{0}};
    schema.label.kind = LABEL_NUMBER;
    cr_assert(candidates_init(&candidates, &schema, &request, &why) == STATUS_INVALID);
    cr_assert(strstr(why.text, "two classes") != NULL);
    candidates_free(NULL);
}

Test(candidates, wrap_sums_that_make_no_sense)
{
    struct candidates candidates;
    int64_t sum[CELLS_MAX];
    int64_t score[COUNT_MAX];
    build(&candidates);
    for (size_t i = 0; i < CELLS_MAX; i++) {
        sum[i] = i % 2 == 0 ? INT64_MIN : INT64_MAX;
    }
    candidates_scores(score, &candidates, sum, UINT64_MAX);
    cr_assert(candidates_best(score, candidates_count(&candidates)) < COUNT_MAX);
    candidates_free(&candidates);
}
