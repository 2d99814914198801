/* query_answers_crosstab_advice.c - with how much more a cross table's figure would be given. As for survival it is tried: the cells as
 * the truth may be, with the noise of the next release. A fixed seed, as the draws hide nothing. */

#include "base/check.h"
#include "estimate/cells.h"
#include "query/query_advice.h"

#include <math.h>

enum { TRIALS = 24, FAILURES_MOST = 4, CELLS_MOST = CROSSTAB_CELLS_MAX + 1 };

struct refused {
    const struct crosstab_cells *cells;
    crosstab_is_given *given;
    size_t row;
};

/* Adds normal variables of this deviation, and takes off what they add to the total. */
static void add_noise(double *cell, size_t m, double each, uint64_t *state)
{
    double total = 0;
    double normal[2];
    for (size_t i = 0; i < m; i++) {
        total += cell[i];
        if (i % 2 == 0) {
            cells_normals(normal, state);
        }
        cell[i] += each * normal[i % 2];
    }
    cells_balance(cell, m, total);
}

/* So many times the records, others. */
static void draw_records(double *cell, size_t m, double times, uint64_t *state)
{
    double normal[2];
    for (size_t i = 0; i < m; i++) {
        cells_normals(normal, state);
        cell[i] = times * cell[i] + sqrt(fmax(times * cell[i], 0)) * normal[0];
    }
}

static bool does(const struct advised *advised, const void *of)
{
    const struct refused *refused = of;
    const size_t m = refused->cells->m;
    struct crosstab_cells next = *refused->cells;
    double cell[CELLS_MOST];
    uint64_t state = 1;
    size_t failures = 0;
    CHECK(m <= CELLS_MOST);
    next.cell = cell;
    next.variance = advised->variance;
    for (size_t trial = 0; trial < TRIALS && failures <= FAILURES_MOST; trial++) {
        for (size_t i = 0; i < m; i++) {
            cell[i] = refused->cells->cell[i];
        }
        add_noise(cell, m, sqrt(refused->cells->variance), &state);
        if (advised->times > 1) {
            draw_records(cell, m, advised->times, &state);
        }
        add_noise(cell, m, sqrt(next.variance), &state);
        failures += !refused->given(&next, refused->row);
    }
    return failures <= FAILURES_MOST;
}

double crosstab_advice(const struct answering *answering, const struct crosstab_cells *cells,
                       crosstab_is_given *given, size_t row)
{
    return advice_factor(answering, does, &(struct refused){cells, given, row});
}

double crosstab_advice_of(const struct answering *answering, const struct crosstab_cells *cells,
                          crosstab_is_given *given, bool is_of_records)
{
    return advice_factor_of(answering, does, &(struct refused){cells, given, 0}, is_of_records);
}
