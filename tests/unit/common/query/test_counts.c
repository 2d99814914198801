/* Counts as they are shown: none below 0, totals are the sums of their parts, and no count is farther from the truth than the
 * released one. */

#include "query/query_answers.h"
#include "query/query_set.h"
#include "support/seeded_random.h"
#include "toy_question.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { BITS = 10, CELLS_MOST = 4096, ANSWERS_MOST = 400 };

static double laplace(struct seeded_random *seeded)
{
    const double size = -log1p(-seeded_random_unit(seeded));
    return seeded_random_unit(seeded) < 0.5 ? size : -size;
}

Test(counts, are_the_nearest_that_can_be)
{
    double x[4] = {5, -3, 2, 8};
    query_agree(x, 4, 10); /* 5, 2 and 8 less 5/3 each */
    cr_expect(fabs(x[0] - 10.0 / 3) < 1e-12 && x[1] == 0 && fabs(x[2] - 1.0 / 3) < 1e-12);
    double y[3] = {1, -40, 3};
    query_agree(y, 3, 2); /* 1 and 3 less 1 */
    cr_expect(fabs(y[0]) < 1e-12 && y[1] == 0 && fabs(y[2] - 2) < 1e-12);
    query_agree(y, 3, 0);
    cr_expect(y[0] == 0 && y[1] == 0 && y[2] == 0);
    double one[1] = {-2};
    query_agree(one, 1, 7);
    cr_expect(one[0] == 7);
    double same[3] = {4, 0, 6.5};
    query_agree(same, 3, 10.5);
    cr_expect(same[0] == 4 && same[1] == 0 && same[2] == 6.5);
}

/* The counts are nearer to the truth than counts that are cut off at 0: each time, in the mean, and also for tables with
 * mostly empty cells. */
Test(counts, are_never_farther_from_the_truth)
{
    enum { CELLS = 65, STUDIES = 200 };
    struct seeded_random seeded;
    seeded_random_init(&seeded, 1);
    for (double empty = 0; empty < 1; empty += 0.3) {
        double cut = 0;
        double agreed = 0;
        for (int study = 0; study < STUDIES; study++) {
            double exact[CELLS];
            double told[CELLS];
            double all = 0;
            double excess = 0;
            double far = 0;
            double near = 0;
            for (size_t i = 0; i < CELLS; i++) {
                const double u = seeded_random_unit(&seeded);
                exact[i] = seeded_random_unit(&seeded) < empty ? 0 : floor(60 * u * u);
                told[i] = exact[i] + 6 * laplace(&seeded);
                all += exact[i];
                excess += told[i] - exact[i];
            }
            for (size_t i = 0; i < CELLS; i++) {
                told[i] -= excess / CELLS;
                far += (told[i] - exact[i]) * (told[i] - exact[i]);
                cut += (fmax(told[i], 0) - exact[i]) * (fmax(told[i], 0) - exact[i]);
            }
            query_agree(told, CELLS, all);
            for (size_t i = 0; i < CELLS; i++) {
                cr_assert(told[i] >= 0);
                near += (told[i] - exact[i]) * (told[i] - exact[i]);
            }
            cr_expect(near <= far, "%g %g", near, far);
            agreed += near;
        }
        cr_expect(agreed < 0.99 * cut, "%g of %g", agreed, cut);
    }
}

/* Asks a question of made-up sums, which noise has moved. Returns how many answers there are. */
static size_t ask(struct query_answer *answer, struct query_set *set, const char *const *text,
                  const int64_t *sum, double scale, uint64_t records)
{
    struct query_run run;
    cr_assert(query_set_init(set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    const size_t count = query_run_answer_count(set);
    cr_assert(count <= ANSWERS_MOST);
    cr_assert(query_run_init(&run, set) == STATUS_OK);
    query_run_observe(&run, sum, &(struct query_noise){.scale = ldexp(scale, BITS), .draws = 1},
                      records);
    query_run_answers(answer, &run);
    query_run_free(&run);
    for (size_t i = 0; i < count; i++) {
        cr_expect(isnan(answer[i].low) ||
                  (answer[i].low <= answer[i].value && answer[i].value <= answer[i].high));
    }
    return count;
}

static int64_t noisy(double exact, double scale, struct seeded_random *seeded)
{
    return llround(ldexp(exact + scale * laplace(seeded), BITS));
}

/* Most cells of a table of three columns hold nobody, and noise makes them fewer than none. */
Test(counts, of_a_cross_table_agree)
{
    static const char *const text[] = {"crosstab: sex x 'home region' x death"};
    static struct query_answer answer[ANSWERS_MOST];
    static int64_t sum[13];
    struct seeded_random seeded;
    seeded_random_init(&seeded, 2);
    for (int study = 0; study < 20; study++) {
        struct query_set set;
        size_t negative = 0;
        for (size_t i = 0; i < 13; i++) {
            sum[i] = noisy(i == 3 ? 60 : i == 8 ? 30 : 0, 3, &seeded);
            negative += sum[i] < 0;
        }
        cr_assert(ask(answer, &set, text, sum, 3, 90) == 12 + 2 + 3 + 2 && negative > 0);
        double all[7] = {0};
        for (size_t cell = 0; cell < 12; cell++) {
            cr_assert(answer[cell].value >= 0);
            for (size_t f = 0, first = 0; f < 3;
                 first += set.query[0].factor[f++].column.category_count) {
                all[first + query_table_level(&set.query[0], cell, f)] += answer[cell].value;
            }
        }
        for (size_t i = 0; i < 7; i++) {
            cr_expect(fabs(all[i] - answer[12 + i].value) < 1e-9, "%s: %g", answer[12 + i].name,
                      all[i]);
        }
        cr_expect(all[0] + all[1] < 90 + 1e-9);
        query_set_free(&set);
    }
}

static double count_of(const struct query_answer *answer, size_t count, const char *variable,
                       const char *figure, const char *group)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(answer[i].variable, variable) == 0 && strcmp(answer[i].figure, figure) == 0 &&
            strcmp(answer[i].group, group) == 0) {
            return answer[i].value;
        }
    }
    cr_assert_fail("%s %s %s", variable, figure, group);
    return NAN;
}

/* One group of three is empty, and nobody lacks a value: each group's categories and missing ones are its records, and those of all
 * are the groups'. */
Test(counts, of_a_table1_agree)
{
    static const char *const text[] = {"table1: [sex, age] by 'home region' in 8 steps"};
    static const char *const groups[] = {"north", "and", "3"};
    static struct query_answer answer[ANSWERS_MOST];
    static int64_t sum[CELLS_MOST];
    struct seeded_random seeded;
    seeded_random_init(&seeded, 3);
    for (int study = 0; study < 20; study++) {
        struct query_set set;
        cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
        size_t at = 0;
        for (size_t v = 0; v < 2; v++) {
            const struct query_variable *variable = &set.query[0].variable[v];
            const double part = ldexp((double)query_part_of(variable, 1 << BITS), -BITS);
            for (size_t g = 0; g < 3; g++) {
                for (size_t k = 0; k <= variable->levels; k++) {
                    const double each = k < 2 && g < 2 ? 40 : 0;
                    sum[at++] = noisy(part * each, 2, &seeded);
                }
            }
            sum[at++] = noisy(0, 2, &seeded);
        }
        query_set_free(&set);
        const size_t count = ask(answer, &set, text, sum, 2, 160);
        double all = 0;
        double categories[3] = {0};
        double missing = 0;
        for (size_t g = 0; g < 3; g++) {
            const double size = count_of(answer, count, "", "records", groups[g]);
            double of_group = 0;
            static const char *const figure[] = {"F", "M", "missing"};
            for (size_t k = 0; k < 3; k++) {
                const double own = count_of(answer, count, "sex", figure[k], groups[g]);
                of_group += own;
                categories[k] += own;
            }
            cr_expect(fabs(of_group - size) < 1e-9, "%g %g", of_group, size);
            const double own = count_of(answer, count, "age", "missing", groups[g]);
            cr_expect(own < size + 1e-9);
            missing += own;
            all += size;
        }
        cr_expect(fabs(all - count_of(answer, count, "", "records", "all")) < 1e-9 &&
                  all < 160 + 1e-9);
        cr_expect(fabs(categories[0] - count_of(answer, count, "sex", "F", "all")) < 1e-9);
        cr_expect(fabs(categories[2] - count_of(answer, count, "sex", "missing", "all")) < 1e-9);
        cr_expect(fabs(missing - count_of(answer, count, "age", "missing", "all")) < 1e-9);
        query_set_free(&set);
    }
}

/* The second group is empty. */
Test(counts, of_scores_agree)
{
    static const char *const texts[] = {
        "evaluate: age for death by sex in 8 levels",
        "evaluate: age for time kappa event death by sex, to 4 in 4 bins"};
    static struct query_answer answer[ANSWERS_MOST];
    static int64_t sum[CELLS_MOST];
    struct seeded_random seeded;
    seeded_random_init(&seeded, 4);
    for (int study = 0; study < 40; study++) {
        struct query_set set;
        const bool has_time = study % 2 == 1;
        const char *variable = has_time ? "with the event" : "age";
        const char *figure = has_time ? "up to 4" : "missing";
        cr_assert(query_set_init(&set, &texts[study % 2], 1, BITS, &toy_names, NULL) == STATUS_OK);
        const size_t cells = query_set_cells(&set, 0);
        for (size_t i = 0; i < cells; i++) {
            sum[i] = noisy(i < cells / 2 ? 4 : 0, 2, &seeded);
        }
        query_set_free(&set);
        const size_t count = ask(answer, &set, &texts[study % 2], sum, 2, 4 * (cells / 2));
        const double first = count_of(answer, count, "", "records", "F");
        const double second = count_of(answer, count, "", "records", "M");
        const double own = count_of(answer, count, variable, figure, "F");
        const double other = count_of(answer, count, variable, figure, "M");
        cr_expect(fabs(first + second - count_of(answer, count, "", "records", "all")) < 1e-9);
        cr_expect(fabs(own + other - count_of(answer, count, variable, figure, "all")) < 1e-9);
        cr_expect(own < first + 1e-9 && other < second + 1e-9);
        query_set_free(&set);
    }
}
