/* advice_world.h - made-up records that are asked, for the tests of what refusals advise. */

#ifndef TESTS_UNIT_COMMON_QUERY_ADVICE_WORLD_H
#define TESTS_UNIT_COMMON_QUERY_ADVICE_WORLD_H

#include "dp/filter.h"
#include "query/query_advice.h"
#include "support/sanitized.h"
#include "support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = 6, BITS = 10, CELLS_MOST = 20000, SANITIZED_STUDIES = 4 };

static struct column column[COLUMNS] = {
    {.name = "age", .kind = COLUMN_NUMBER, .centre = 65, .half_width = 35},
    {.name = "futime", .kind = COLUMN_NUMBER, .centre = 2500, .half_width = 2500},
    {.name = "sex", .kind = COLUMN_CATEGORY, .category_count = 2, .category = {"F", "M"}},
    {.name = "kappa", .kind = COLUMN_NUMBER, .centre = 5, .half_width = 5},
    {.name = "risk", .kind = COLUMN_NUMBER, .centre = 0.5, .half_width = 0.5},
    {.name = "ward",
     .kind = COLUMN_CATEGORY,
     .category_count = 4,
     .category = {"a", "b", "c", "d"}},
};
static const struct schema schema = {
    .column = column,
    .column_count = COLUMNS,
    .label = {.name = "death", .positive = "1", .negative = "0"},
};
static const struct query_names names = {.schema = &schema};

struct asked {
    const char *text;
    size_t answer; /* that is followed */
    double records;
    double epsilon;
    uint32_t draws;
    bool is_gaussian; /* with a delta of 1e-5; else Laplace */
};

/* The sigma of Gaussian noise, divided by the sensitivity. */
static double sigma_of(double epsilon)
{
    const struct filter_plan schedule = {
        .limit = {(uint64_t)(epsilon * EPSILON_MICRO_ONE), UINT64_C(10000000000000)},
        .count = 1,
        .sampling_nano = 1000000000};
    uint64_t sigma_micro = 0;
    cr_assert(filter_sigma(&sigma_micro, &schedule, NULL) == STATUS_OK);
    return (double)sigma_micro * 1e-6;
}

static double normal(struct seeded_random *seeded)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += seeded_random_unit(seeded);
    }
    return sum;
}

static double exponential(struct seeded_random *seeded, double mean)
{
    return -mean * log1p(-seeded_random_unit(seeded));
}

static double noise_of(struct seeded_random *seeded, bool is_gaussian)
{
    const double size = is_gaussian ? normal(seeded) : exponential(seeded, 1);
    return is_gaussian || seeded_random_unit(seeded) < 0.5 ? size : -size;
}

static void add_record(int64_t *sum, const struct query_set *set, uint64_t place,
                       struct seeded_random *seeded)
{
    const double u = normal(seeded);
    const double v = normal(seeded);
    const double sex = seeded_random_unit(seeded) < 0.45 ? 1 : 0;
    const double risk = 1 / (1 + exp(1.4 - 1.2 * u));
    const double dies = exponential(seeded, sex > 0 ? 4300 : 7000);
    const double leaves = exponential(seeded, 5500);
    const bool is_score = strstr(set->query[0].text, "risk") != NULL;
    const bool is_event = is_score ? seeded_random_unit(seeded) < risk : dies < leaves;
    const double at = fabs(fmod(1000 * u, 1));                         /* of its own, or nearly */
    const double ward = at < 0.05 ? 3 : floor((at - 0.05) / 0.95 * 3); /* d: 50 of 1,000 */
    const double cell[COLUMNS] = {65 + 10 * u, fmin(dies, leaves), sex, 3 + u + 1.5 * v, risk,
                                  ward};
    const struct row row = {
        .cell = cell, .column_count = COLUMNS, .label = is_event ? 1 : -1, .place = place};
    query_set_add(sum, set, 0, NULL, &row);
}

/* Plans a question that is asked of all records, with a number of draws. Returns how far a record moves its
 * vector; unit: grid steps. */
static double plan(struct query_set *set, const struct asked *asked, double scale, double records)
{
    double moves = 0;
    for (int is_planned = 0; is_planned < 2; is_planned++) {
        moves = asked->is_gaussian ? (double)query_set_sensitivity_l2(set, 0)
                                   : (double)query_set_sensitivity_l1(set, 0);
        const double deviation = ldexp(moves * scale, -BITS) * (asked->is_gaussian ? 1 : sqrt(2));
        if (is_planned == 0) {
            query_set_plan(set,
                           &(struct query_public){records, asked->draws * deviation * deviation,
                                                  asked->is_gaussian, 0});
        }
    }
    cr_assert(query_set_cells(set, 0) <= CELLS_MOST);
    return moves;
}

#endif
