/* Conjunctions from noisy answers: the promise holds as often as the sample size says. */

#include "query/conjunction.h"
#include "query/query_set.h"

#include "noise/laplace.h"
#include "tests/support/seeded_random.h"
#include "toy_schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

/* Six features; the target is that the second and the fifth hold. */
enum { FEATURES = 6, RUNS = 30, RECORDS_MAX = 51000 };

static struct column column[FEATURES];
static const struct schema schema = {
    .column = column, .column_count = FEATURES, .label = {"sick", "yes", "no"}};
static const char *const feature[FEATURES] = {"c0 == 1", "c1 == 1",     "c2 == 1",
                                              "c3 == 1", "not c4 == 0", "c5 == 1 or c0 == 0"};

static void name_columns(void)
{
    for (int i = 0; i < FEATURES; i++) {
        column[i] =
            (struct column){.kind = COLUMN_CATEGORY, .category_count = 2, .category = {"0", "1"}};
        snprintf(column[i].name, sizeof column[i].name, "c%d", i);
    }
}

static void fill(double *cell, double *label, struct seeded_random *seeded)
{
    for (int i = 0; i < FEATURES; i++) {
        cell[i] = seeded_random_unit(seeded) < 0.8 ? 1 : 0;
    }
    cell[2] = seeded_random_unit(seeded) < 0.02 ? 0 : 1; /* hardly ever fails */
    *label = cell[1] == 1 && cell[4] == 1 ? 1 : -1;
}

/* Section 6 of the mathematics: n records make J answers exact to tau with probability 1 - beta. */
static size_t records_for(double tau, double epsilon, double beta)
{
    const double noise = 2 * FEATURES * log(2 * FEATURES / beta) / (epsilon * tau);
    const double sampling = 2 * log(4 * FEATURES / beta) / (tau * tau);
    return (size_t)ceil(fmax(noise, sampling));
}

typedef size_t (*learner)(bool *kept, const double *share, size_t count, double tolerance);

/* How often the promise is broken in RUNS runs. */
static int broken(learner learn, double tau, double epsilon, double beta, uint64_t scale)
{
    static double cell[FEATURES];
    char text[FEATURES][QUERY_TEXT_BYTES];
    const char *line[FEATURES];
    struct predicate predicate[FEATURES];
    struct query_set set;
    struct noise_laplace noise;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    const size_t records = records_for(tau, epsilon, beta);
    int failures = 0;
    name_columns();
    seeded_random_init(&seeded, 77);
    for (size_t j = 0; j < FEATURES; j++) {
        struct why why = {{0}};
        cr_assert(conjunction_question(text[j], feature[j], "sick == yes", &schema, &why) ==
                      STATUS_OK,
                  "%s", why.text);
        cr_assert(predicate_parse(&predicate[j], slice_of(feature[j]), &schema, NULL) == STATUS_OK);
        line[j] = text[j];
    }
    cr_assert(query_set_init(&set, line, FEATURES, 1, &(struct query_names){.schema = &schema},
                             NULL) == STATUS_OK);
    cr_assert(query_set_sensitivity_l1(&set, 0) == FEATURES * 2);
    cr_assert(noise_laplace_init(&noise, (struct noise_scale){scale, 1}) == STATUS_OK);
    cr_assert(records <= RECORDS_MAX);
    for (int run = 0; run < RUNS; run++) {
        int64_t sum[FEATURES] = {0};
        double share[FEATURES];
        bool kept[FEATURES];
        double label = 0;
        double missed = 0;
        double wrong = 0;
        const struct row row = {.cell = cell, .column_count = FEATURES};
        for (size_t i = 0; i < records; i++) {
            fill(cell, &label, &seeded);
            struct row with_label = row;
            with_label.label = label;
            query_set_add(sum, &set, 0, NULL, &with_label);
        }
        cr_assert(noise_laplace_add(&noise, &random, sum, FEATURES) == STATUS_OK);
        for (size_t j = 0; j < FEATURES; j++) {
            share[j] = (double)sum[j] / 2 / (double)records;
        }
        (void)learn(kept, share, FEATURES, tau);
        for (int i = 0; i < RECORDS_MAX; i++) { /* fresh records, to judge it by */
            fill(cell, &label, &seeded);
            bool holds = true; /* all kept ones */
            for (size_t j = 0; j < FEATURES; j++) {
                holds = holds && (!kept[j] || predicate_holds(&predicate[j], &row));
            }
            missed += label > 0 && !holds;
            wrong += label < 0 && holds;
        }
        failures += !kept[1] || !kept[4] || wrong > 0 || missed / RECORDS_MAX > 2 * FEATURES * tau;
    }
    query_set_free(&set);
    return failures;
}

/* Planted: keeps what fails often; keeps only what never failed at all; keeps everything. */
static size_t learn_reversed(bool *kept, const double *share, size_t count, double tolerance)
{
    for (size_t i = 0; i < count; i++) {
        kept[i] = share[i] > tolerance;
    }
    return 0;
}

static size_t learn_without_tolerance(bool *kept, const double *share, size_t count,
                                      UNUSED double tolerance)
{
    for (size_t i = 0; i < count; i++) {
        kept[i] = share[i] <= 0;
    }
    return 0;
}

static size_t learn_all(bool *kept, UNUSED const double *share, size_t count,
                        UNUSED double tolerance)
{
    for (size_t i = 0; i < count; i++) {
        kept[i] = true;
    }
    return count;
}

/* beta = 1e-3 and 30 runs: three failures have a probability below C(30, 3) 1e-9 < 5e-6 by a bound
 * that is itself loose by orders of magnitude; seeds are fixed. */
Test(conjunction, is_learned_as_well_as_promised)
{
    const uint64_t scale = 2 * FEATURES; /* grid steps of 1/2, epsilon 1 */
    cr_expect(broken(conjunction_learn, 0.02, 1, 1e-3, scale) <= 2);
    cr_expect(broken(learn_reversed, 0.02, 1, 1e-3, scale) > 2);
    cr_expect(broken(learn_without_tolerance, 0.02, 1, 1e-3, scale) > 2);
    cr_expect(broken(learn_all, 0.02, 1, 1e-3, scale) > 2);
    /* noise as if epsilon were a hundredth */
    cr_expect(broken(conjunction_learn, 0.02, 1, 1e-3, 100 * scale) > 2);
}

Test(conjunction, questions_are_made_of_whole_predicates)
{
    char text[QUERY_TEXT_BYTES];
    char longest[QUERY_TEXT_BYTES + 1];
    struct why why = {{0}};
    name_columns();
    cr_assert(conjunction_question(text, "c0 == 1 or c1 == 1", "sick == yes", &schema, &why) ==
              STATUS_OK);
    cr_assert_str_eq(text, "count: (sick == yes) and not (c0 == 1 or c1 == 1)");
    cr_assert(conjunction_question(text, "c0 == 1) or (c1 == 1", "sick == yes", &schema, &why) ==
              STATUS_INVALID);
    cr_assert(text[0] == '\0' && strstr(why.text, "character 8") != NULL);
    cr_assert(conjunction_question(text, "c0 == 1", "sick == maybe", &schema, &why) ==
              STATUS_INVALID);
    strcpy(longest, "c0 == 1");
    memset(longest + 7, ' ', QUERY_TEXT_BYTES - 20);
    longest[QUERY_TEXT_BYTES - 13] = '\0';
    cr_assert(conjunction_question(text, longest, "sick == yes", &schema, &why) == STATUS_INVALID);
    cr_assert(text[0] == '\0' && strstr(why.text, "too long together") != NULL);
}
