/* From records to answers: exact without noise, bars that hold as often as they say with it. */

#include "query/query_run.h"

#include "noise/laplace.h"
#include "tests/support/seeded_random.h"
#include "toy_schema.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { BITS = 16, RECORDS = 600, CELLS_MAX = 16, ANSWERS_MAX = 16 };

static const char *const text[] = {
    "count: age >= 80",
    "mean: age",
    "mean: age where sex == M",
    "histogram: 'home region' where age < 80",
    "quantile: 0.25 of age in 16 rounds",
    "quantile: 0.9 of kappa where sex == F in 10 rounds",
};
enum { QUESTIONS = sizeof text / sizeof text[0], ANSWERS = 8 };

struct table {
    double cell[RECORDS * TOY_COLUMNS];
    double label[RECORDS];
};

static void fill(struct table *table, uint64_t seed)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, seed);
    for (size_t i = 0; i < RECORDS; i++) {
        double *cell = table->cell + i * TOY_COLUMNS;
        const double unit = seeded_random_unit(&seeded);
        cell[0] = 50 + 48 * unit * unit;
        cell[1] = (double)seeded_random_below(&seeded, 2);
        cell[2] = expm1(0.15 + 1.8 * seeded_random_unit(&seeded));
        cell[3] = (double)seeded_random_below(&seeded, 3);
        table->label[i] = seeded_random_below(&seeded, 2) == 1 ? 1 : -1;
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least value at or below which a share of those with that sex (or all, if sex < 0) lies. */
static double quantile_of(const struct table *table, int column, int sex, double share)
{
    static double value[RECORDS];
    size_t count = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        const double *cell = table->cell + i * TOY_COLUMNS;
        if (sex < 0 || cell[1] == sex) {
            value[count++] = cell[column];
        }
    }
    qsort(value, count, sizeof value[0], ascending);
    return value[(size_t)ceil(share * (double)count - 1e-9) - 1];
}

/* The truth of each answer, computed another way. */
static void truth_of(double *truth, const struct table *table)
{
    double men = 0;
    memset(truth, 0, ANSWERS * sizeof *truth);
    for (size_t i = 0; i < RECORDS; i++) {
        const double *cell = table->cell + i * TOY_COLUMNS;
        truth[0] += cell[0] >= 80;
        truth[1] += cell[0] / RECORDS;
        truth[2] += cell[1] == 1 ? cell[0] : 0;
        men += cell[1] == 1;
        if (cell[0] < 80) {
            truth[3 + (int)cell[3]]++;
        }
    }
    truth[2] /= men;
    truth[6] = quantile_of(table, 0, -1, 0.25);
    truth[7] = quantile_of(table, 2, 0, 0.9);
}

/* Runs all rounds, with noise of that scale in each (0: none); `claimed` is what the bars are made
 * from. */
static void run_all(struct query_answer *answer, const struct query_set *set,
                    const struct table *table, const struct noise_laplace *noise,
                    const struct query_noise *claimed, struct seeded_random *seeded)
{
    struct random random = seeded_random_interface(seeded);
    struct query_run run;
    cr_assert(query_run_init(&run, set) == STATUS_OK);
    for (uint32_t round = 0; round < set->round_count; round++) {
        int64_t sum[CELLS_MAX];
        const size_t cells = query_set_cells(set, round);
        memset(sum, 0, cells * sizeof *sum);
        for (size_t i = 0; i < RECORDS; i++) {
            const struct row row = {table->cell + i * TOY_COLUMNS, TOY_COLUMNS, table->label[i]};
            query_set_add(sum, set, round, run.threshold, &row);
        }
        for (uint32_t i = 0; i < claimed->draws && noise != NULL; i++) {
            cr_assert(noise_laplace_add(noise, &random, sum, cells) == STATUS_OK);
        }
        query_run_observe(&run, sum, claimed, RECORDS);
    }
    query_run_answers(answer, &run);
    query_run_free(&run);
}

static void ask(struct query_set *set)
{
    struct why why = {{0}};
    cr_assert(query_set_init(set, text, QUESTIONS, BITS, &toy_names, &why) == STATUS_OK, "%s",
              why.text);
    cr_assert(query_run_answer_count(set) == ANSWERS);
}

Test(query_run, answers_exactly_without_noise)
{
    static struct table table;
    struct query_answer answer[ANSWERS];
    struct query_set set;
    struct seeded_random seeded;
    double truth[ANSWERS];
    const struct query_noise none = {false, 1e-3, 1};
    /* what bisection leaves: 48/2^17 of age, and for kappa that of log1p in its own unit */
    const double near[ANSWERS] = {0, 1e-3, 1e-3, 0, 0, 0, 48 / 131072.0, 7.1 * 1.8 / 2048};
    seeded_random_init(&seeded, 1);
    fill(&table, 7);
    truth_of(truth, &table);
    ask(&set);
    run_all(answer, &set, &table, NULL, &none, &seeded);
    for (size_t i = 0; i < ANSWERS; i++) {
        cr_expect(fabs(answer[i].value - truth[i]) <= near[i] + 1e-9, "%s: %g, not %g",
                  answer[i].name, answer[i].value, truth[i]);
        cr_expect(answer[i].low <= truth[i] + 1e-9 && truth[i] <= answer[i].high + 1e-9, "%s",
                  answer[i].name);
    }
    cr_assert_str_eq(answer[0].name, "count: age >= 80");
    cr_assert_str_eq(answer[0].unit, "records");
    cr_assert_str_eq(answer[2].unit, "age");
    cr_assert_str_eq(answer[4].name, "histogram: 'home region' where age < 80: home region and");
    cr_assert(fabs(answer[0].sampling - sqrt(truth[0] * (1 - truth[0] / RECORDS))) < 1e-6);
    query_set_free(&set);
}

/* How often each truth may lie outside its 95 % bar in these runs. A binomial variable of 1500 and
 * 0.05 exceeds 128 with a probability below 3e-8, so all 16 comparisons together raise a false
 * alarm in less than 1e-6 of all seeds. */
enum { RUNS = 1500, OUTSIDE_MAX = 128 };

/* scale is that of the noise drawn, claimed what the bars are made from; unit: grid steps */
static void count_outside(int *outside, uint64_t scale, const struct query_noise *claimed,
                          uint64_t seed)
{
    static struct table table;
    struct query_answer answer[ANSWERS];
    struct query_set set;
    struct seeded_random seeded;
    double truth[ANSWERS];
    struct noise_laplace noise;
    seeded_random_init(&seeded, seed);
    fill(&table, 7);
    truth_of(truth, &table);
    ask(&set);
    cr_assert(noise_laplace_init(&noise, (struct noise_scale){scale, 1}) == STATUS_OK);
    memset(outside, 0, ANSWERS * sizeof *outside);
    for (int i = 0; i < RUNS; i++) {
        run_all(answer, &set, &table, &noise, claimed, &seeded);
        for (size_t j = 0; j < ANSWERS; j++) {
            cr_assert(answer[j].low <= answer[j].value && answer[j].value <= answer[j].high);
            outside[j] += truth[j] < answer[j].low - 1e-9 || truth[j] > answer[j].high + 1e-9;
        }
    }
    query_set_free(&set);
}

Test(query_run, has_bars_that_hold_as_often_as_they_say)
{
    static const uint32_t draws[] = {1, 5};
    for (size_t i = 0; i < 2; i++) {
        const uint64_t scale = UINT64_C(15) << (BITS - 1); /* the set's 7.5 over epsilon 1 */
        const struct query_noise claimed = {false, (double)scale, draws[i]};
        int outside[ANSWERS];
        count_outside(outside, scale, &claimed, 20 + i);
        for (size_t j = 0; j < ANSWERS; j++) {
            cr_expect(outside[j] <= OUTSIDE_MAX, "%u draws, answer %zu: %d", draws[i], j,
                      outside[j]);
        }
        /* nor are those of a count needlessly wide */
        cr_expect(outside[0] > 30 && outside[4] > 30);
    }
}

/* Planted: bars that forget half the noise, which is far more at once for all but a quantile, whose
 * bars hold for all its rounds together: those forget nine tenths. */
Test(query_run, bars_of_too_little_noise_are_found_out)
{
    const uint64_t scale = UINT64_C(15) << (BITS - 1);
    const struct query_noise half = {false, (double)scale / 2, 1};
    const struct query_noise tenth = {false, (double)scale / 10, 1};
    int outside[ANSWERS];
    count_outside(outside, scale, &half, 30);
    for (size_t j = 0; j < ANSWERS - 2; j++) {
        cr_expect(outside[j] > OUTSIDE_MAX, "answer %zu: %d", j, outside[j]);
    }
    count_outside(outside, scale, &tenth, 31);
    cr_expect(outside[6] > OUTSIDE_MAX && outside[7] > OUTSIDE_MAX, "%d %d", outside[6],
              outside[7]);
}

/* A mean far from the middle of its range: half the noise of its denominator counts, too. */
Test(query_run, bars_of_a_mean_hold_the_noise_of_both_its_parts)
{
    static const char *const mean[] = {"mean: age where sex == M", "mean: age"};
    const struct query_noise noise = {false, 5 << BITS, 3};
    const int64_t sum[3] = {36 << BITS, 100 << BITS, 108 << BITS}; /* 0.36 above the middle */
    const double grid = 1 << BITS;
    const double half_step = 0.5 / grid;
    const double both = query_noise_bar(&noise, 0.5, 0.05) / grid;
    const double one = query_noise_bar(&noise, 0, 0.05) / grid;
    struct query_answer answer[2];
    struct query_set set;
    struct query_run run;
    cr_assert(query_set_init(&set, mean, 2, BITS, &toy_names, NULL) == STATUS_OK);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &noise, 300);
    query_run_answers(answer, &run);
    const double deviation = query_noise_deviation(&noise) / grid;
    cr_expect(both > 1.05 * one);
    cr_expect_float_eq(answer[0].value, 74 + 48 * 0.36, 1e-9);
    cr_expect_float_eq(answer[0].low, 74 + 48 * ((36 - both) / 100 - half_step), 1e-9);
    cr_expect_float_eq(answer[0].high, 98, 1e-9);
    cr_expect_float_eq(answer[0].error, 48 * deviation * sqrt(1 + 0.36 * 0.36) / 100, 1e-9);
    cr_expect_float_eq(answer[0].sampling, 48 * sqrt((0.25 - 0.36 * 0.36) / 100), 1e-9);
    cr_expect_float_eq(answer[1].value, 74 + 48 * 0.36, 1e-9);
    cr_expect_float_eq(answer[1].low, 74 + 48 * ((108 - one) / 300 - half_step), 1e-9);
    cr_expect_float_eq(answer[1].high, 74 + 48 * ((108 + one) / 300 + half_step), 1e-9);
    cr_expect_float_eq(answer[1].error, 48 * deviation / 300, 1e-9);
    query_run_free(&run);
    query_set_free(&set);
}

/* Where the next round asks follows from releases alone: neighbours, even all other records, with
 * the same released sums are asked the same. */
Test(query_run, asks_where_the_releases_say_and_nowhere_else)
{
    struct query_set set;
    struct query_run run;
    struct seeded_random seeded;
    const struct query_noise noise = {false, 1000, 1};
    double low = 50;
    double high = 98;
    seeded_random_init(&seeded, 3);
    ask(&set);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    for (uint32_t round = 0; round < set.round_count; round++) {
        int64_t sum[CELLS_MAX];
        const size_t cells = query_set_cells(&set, round);
        for (size_t i = 0; i < cells; i++) {
            sum[i] = (int64_t)seeded_random_below(&seeded, 200001) - 100000;
        }
        cr_assert(run.threshold[4] == low + (high - low) / 2);
        *(sum[round == 0 ? 7 : 0] >= 0 ? &high : &low) = run.threshold[4];
        query_run_observe(&run, sum, &noise, RECORDS);
    }
    query_run_free(&run);
    query_run_free(NULL);
    query_set_free(&set);
}

/* Planted: a range that is taken from the data tells two neighbours apart before any release. */
Test(query_run, thresholds_from_the_data_would_show)
{
    static struct table table;
    double bounds[2][2];
    for (int neighbour = 0; neighbour < 2; neighbour++) {
        fill(&table, 7);
        table.cell[0] = neighbour == 0 ? 98 : 51;
        bounds[neighbour][0] = quantile_of(&table, 0, -1, 1e-3);
        bounds[neighbour][1] = quantile_of(&table, 0, -1, 1);
        table.cell[0] = 60;
    }
    struct bisection faulty[2];
    bisection_init(&faulty[0], bounds[0][0], bounds[0][1]);
    bisection_init(&faulty[1], bounds[1][0], bounds[1][1]);
    cr_assert(bisection_threshold(&faulty[0]) != bisection_threshold(&faulty[1]));
}

Test(query_run, survives_sums_that_make_no_sense)
{
    struct query_set set;
    struct query_answer answer[ANSWERS];
    const struct query_noise noise = {true, 1000, 3};
    static const int64_t value[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    ask(&set);
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
        for (uint64_t records = 0; records < 2; records++) {
            struct query_run run;
            cr_assert(query_run_init(&run, &set) == STATUS_OK);
            for (uint32_t round = 0; round < set.round_count; round++) {
                int64_t sum[CELLS_MAX];
                for (size_t j = 0; j < CELLS_MAX; j++) {
                    sum[j] = value[(i + j) % 5];
                }
                query_run_observe(&run, sum, &noise, records);
            }
            query_run_answers(answer, &run);
            for (size_t j = 0; j < ANSWERS; j++) {
                cr_assert(isfinite(answer[j].value));
                cr_assert(answer[j].low <= answer[j].value && answer[j].value <= answer[j].high);
            }
            query_run_free(&run);
        }
    }
    query_set_free(&set);
}

/* A question that compares with a value outside a column's public range is answered, and the answer says
 * so. A mean also says what its values were clamped to. */
Test(query_run, says_of_an_answer_that_its_question_lies_outside_the_public_range)
{
    static const char *const asked[] = {"count: age >= 120", "count: age >= 80",
                                        "mean: age where age < 120"};
    static struct table table;
    struct why why = {{0}};
    struct query_set set;
    struct query_answer answer[3];
    const struct query_noise none = {false, 1e-3, 1};
    struct seeded_random seeded;
    seeded_random_init(&seeded, 1);
    fill(&table, 3);
    cr_assert(query_set_init(&set, asked, 3, BITS, &toy_names, &why) == STATUS_OK, "%s", why.text);
    run_all(answer, &set, &table, NULL, &none, &seeded);
    cr_expect(strstr(answer[0].note, "lies outside the column's public range") != NULL);
    cr_expect_str_eq(answer[1].note, "");
    cr_expect(strncmp(answer[2].note, "values are clamped to", 21) == 0);
    cr_expect(strstr(answer[2].note, "few are expected there") != NULL, "%s", answer[2].note);
    query_set_free(&set);
}

/* Cells that are only noise, a little below 0. The released cells tell no size, so the advice rests on the noise alone. */
Test(query_run, a_refusal_says_what_is_enough_also_where_nothing_was_released_of_it)
{
    static const char *const asked[] = {"table1: [age, sex] by death",
                                        "survival: time age event death by sex, to 98",
                                        "crosstab: sex x death",
                                        "evaluate: age for death by sex",
                                        "evaluate: kappa for time age event death, to 98",
                                        "correlate: [age, kappa]",
                                        "pca: [age, kappa]"};
    static int64_t sum[QUERY_CELLS_MAX];
    static struct query_answer answer[256];
    const struct query_noise noise = {.scale = 300 * (1 << BITS), .draws = 3};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        struct query_set set;
        struct query_run run;
        size_t refused = 0;
        cr_assert(query_set_init(&set, &asked[i], 1, BITS, &toy_names, NULL) == STATUS_OK);
        for (size_t k = 0; k < set.query[0].cell_count; k++) {
            sum[k] = k + 1 < set.query[0].cell_count ? -(1 << BITS) : 3000 << BITS;
        }
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &noise, 3000);
        const size_t count = query_run_answer_count(&set);
        cr_assert(count <= sizeof answer / sizeof answer[0]);
        query_run_answers(answer, &run);
        for (size_t k = 0; k < count; k++) {
            const bool is_larger = strstr(answer[k].name, "odds ratio") != NULL ||
                                   strstr(answer[k].name, "test that the columns") != NULL;
            if (isnan(answer[k].value) && !is_larger) {
                cr_expect(strstr(answer[k].note, " would be enough") != NULL, "%s: %s",
                          answer[k].name, answer[k].note);
                refused++;
            }
        }
        cr_expect(refused > 0, "%s", asked[i]);
        query_run_free(&run);
        query_set_free(&set);
    }
}
