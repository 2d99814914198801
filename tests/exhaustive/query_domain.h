/* query_domain.h - a toy domain of records, and how far apart what two of them add to a question is. It holds each
 * cell's ends, what lies on and beside each edge, and values that no data set should hold. */

#ifndef TESTS_QUERY_DOMAIN_H
#define TESTS_QUERY_DOMAIN_H

#include "query/query_set.h"
#include "tests/unit/common/query/toy_schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 4 };
enum { AGES = 11, KAPPAS = 4, DOMAIN_MAX = AGES * 2 * KAPPAS * 3 * 2, CELLS_MAX = 128 };

struct domain {
    double cell[DOMAIN_MAX][TOY_COLUMNS];
    double label[DOMAIN_MAX];
    double feature[DOMAIN_MAX][FEATURES];
    size_t count;
};

static inline void fill(struct domain *domain)
{
    const double age[AGES] = {50, 59.999, 60, 65, 74, 79.999, 80 - 1e-9, 80, 98 - 1e-12, 98.0, NAN};
    const double kappa[KAPPAS] = {0, 0.5, 2, 9}; /* from below the range to above it */
    domain->count = 0;
    for (int i = 0; i < DOMAIN_MAX; i++) {
        double *cell = domain->cell[i];
        cell[0] = age[i % AGES];
        cell[1] = i / AGES % 2;
        cell[2] = kappa[i / AGES / 2 % KAPPAS];
        cell[3] = i / AGES / 2 / KAPPAS % 3 - 1; /* -1: an unlisted text */
        domain->label[i] = i / AGES / 2 / KAPPAS / 3 == 0 ? -1 : 1;
        domain->feature[i][0] = isnan(cell[0]) ? 0 : (cell[0] - 74) / 48;
        domain->feature[i][1] = cell[1] - 0.5;
        domain->feature[i][2] = (fmin(cell[2], 2) - 1) / 2;
        domain->feature[i][3] = 0.5;
        domain->count++;
    }
}

/* Models that an evaluate judges: a risk and a number that the job writes, and one that goes with the round, as large as an
 * agent takes it. */
static const double weight_of_risk[FEATURES] = {4, 1, -2, 0.5};
static const double weight_of_round[FEATURES] = {1e300, -1e300, 0, 1};
static const struct query_score judged[] = {
    {.name = "risk", .weight = weight_of_risk},
    {.name = "days", .is_number = true, .centre = 30, .half_width = 20, .weight = weight_of_risk},
    {.name = "own"},
};

static inline struct row row_of(const struct domain *domain, size_t i)
{
    return (struct row){.cell = domain->cell[i],
                        .column_count = TOY_COLUMNS,
                        .label = domain->label[i],
                        .feature = domain->feature[i],
                        .feature_count = FEATURES,
                        .model = weight_of_round};
}

static const struct query_names names = {&toy, judged, sizeof judged / sizeof judged[0]};

/* The largest distances: in the L1 norm, and squared in the L2 norm, below 2^53 and so exact. */
struct apart {
    uint64_t l1;
    double squared;
};

/* contribution is (count, cells) */
static inline struct apart farthest_two(const int64_t *contribution, size_t count, size_t cells)
{
    struct apart most = {0, 0};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            struct apart own = {0, 0};
            for (size_t k = 0; k < cells; k++) {
                const int64_t gap =
                    llabs(contribution[i * cells + k] - contribution[j * cells + k]);
                own.l1 += (uint64_t)gap;
                own.squared += (double)gap * (double)gap;
            }
            most.l1 = own.l1 > most.l1 ? own.l1 : most.l1;
            most.squared = fmax(most.squared, own.squared);
        }
    }
    return most;
}

static inline uint64_t farthest(const int64_t *contribution, size_t count, size_t cells)
{
    return farthest_two(contribution, count, cells).l1;
}

typedef void (*adder)(int64_t *sum, const struct query *query, unsigned grid_bits, double threshold,
                      const struct row *row);

static inline struct apart farthest_of(adder add, const struct query *query, unsigned bits,
                                       double threshold, struct apart *charged)
{
    static struct domain domain;
    static int64_t contribution[DOMAIN_MAX * CELLS_MAX];
    fill(&domain);
    cr_assert(query->cell_count <= CELLS_MAX);
    memset(contribution, 0, sizeof contribution);
    for (size_t i = 0; i < domain.count; i++) {
        const struct row row = row_of(&domain, i);
        add(contribution + i * query->cell_count, query, bits, threshold, &row);
    }
    charged->l1 = query_sensitivity_l1(query, bits);
    charged->squared = query_sensitivity_squared(query, bits);
    return farthest_two(contribution, domain.count, query->cell_count);
}

static inline struct apart farthest_by_two(adder add, const char *text, unsigned bits,
                                           double threshold, struct apart *charged)
{
    struct query query;
    struct why why = {{0}};
    cr_assert(query_parse(&query, slice_of(text), &names, &why) == STATUS_OK, "%s: %s", text,
              why.text);
    return farthest_of(add, &query, bits, threshold, charged);
}

static inline uint64_t farthest_by(adder add, const char *text, unsigned bits, double threshold,
                                   uint64_t *charged)
{
    struct apart both;
    const uint64_t most = farthest_by_two(add, text, bits, threshold, &both).l1;
    *charged = both.l1;
    return most;
}

static inline bool is_seen_in_l2(adder add, const char *text, double threshold)
{
    struct apart charged;
    return farthest_by_two(add, text, 8, threshold, &charged).squared > charged.squared;
}

#endif
