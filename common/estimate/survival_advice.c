/* survival_advice.c - whether curves and means that were refused would be given if they were asked again. What decides it is
 * many cells that noise moves together, so it is tried: the cells as the truth may be, as often as noise and chance would have
 * them, with the noise of the next release. The draws hide nothing, so a fixed seed serves: the same release always says the
 * same. */

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/survival_private.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 24, FAILURES_MOST = 3 };

/* The normal variables of a trial. */
struct normals {
    uint64_t state;
    double next[2];
    size_t left;
};

static double normal(struct normals *normals)
{
    if (normals->left == 0) {
        cells_normals(normals->next, &normals->state);
        normals->left = 2;
    }
    return normals->next[--normals->left];
}

/* Adds the noise of a release to cells, and makes them agree. cell: (survival_released) */
static void release(double *cell, const struct survival_cells *cells, struct normals *normals)
{
    const double deviation = sqrt(cells->variance);
    double total = 0;
    for (size_t i = 0; i < SURVIVAL_CELLS(cells->groups, cells->intervals); i++) {
        total += cell[i];
    }
    survival_put_sums(cell, cells);
    for (size_t i = 0; i < survival_released(cells->groups, cells->intervals, cells->block); i++) {
        cell[i] += deviation * normal(normals);
    }
    survival_balance(cell, cells, total);
}

/* The part of interval j of k that is in interval i of n. */
static double overlap(size_t j, size_t k, size_t i, size_t n)
{
    const double from = fmax((double)(j * n), (double)(i * k));
    const double to = fmin((double)((j + 1) * n), (double)((i + 1) * k));
    return fmax(to - from, 0) / (double)n;
}

/* Cells in other intervals, as if those of one were even in time. */
static void cut(double *out, const struct survival_cells *next, const double *cell,
                const struct survival_cells *cells)
{
    const size_t k = cells->intervals;
    const size_t n = next->intervals;
    memset(out, 0, SURVIVAL_CELLS(next->groups, n) * sizeof *out);
    for (size_t g = 0; g < cells->groups; g++) {
        const double *from = cell + g * (2 * k + 1);
        double *to = out + g * (2 * n + 1);
        for (size_t j = 0; j < k; j++) {
            for (size_t i = 0; i < n; i++) {
                to[i] += from[j] * overlap(j, k, i, n);
                to[n + i] += from[k + j] * overlap(j, k, i, n);
            }
        }
        to[2 * n] = from[2 * k];
    }
    out[next->groups * (2 * n + 1)] = cell[cells->groups * (2 * k + 1)];
}

/* How many times the records, others. */
static void draw_records(double *cell, size_t count, double times, struct normals *normals)
{
    for (size_t i = 0; i < count; i++) {
        cell[i] = times * cell[i] + sqrt(fmax(times * cell[i], 0)) * normal(normals);
    }
}

/* Numbers of records that do not suffice, and that do: what is between is looked at, as more suffice if fewer do. */
struct known_sizes {
    double few;
    double enough;
};

static bool is_large(struct known_sizes *known, const struct survival_cells *cells, size_t group)
{
    const double records = survival_records(cells, group);
    if (records <= known->few || records >= known->enough) {
        return records >= known->enough;
    }
    const bool is = survival_is_large(cells, group);
    *(is ? &known->enough : &known->few) = records;
    return is;
}

static bool is_whole(struct known_sizes *known, const struct survival_cells *cells, const bool *of)
{
    for (size_t g = 0; g < cells->groups; g++) {
        if (of[g] && (!survival_has_whole(cells, g) || !is_large(known, cells, g))) {
            return false;
        }
    }
    return true;
}

bool survival_is_whole(const struct survival_cells *cells, const bool *of)
{
    struct known_sizes known = {0, INFINITY};
    return is_whole(&known, cells, of);
}

bool survival_would_do(const struct survival_cells *cells, const bool *of,
                       const struct survival_again *again)
{
    struct survival_cells next = *cells;
    struct known_sizes known = {0, INFINITY};
    struct normals normals = {.state = 1};
    size_t failures = 0;
    CHECK(again->intervals <= SURVIVAL_INTERVALS_MAX);
    next.intervals = again->intervals;
    next.block = again->block;
    next.variance = again->variance;
    for (size_t trial = 0; trial < TRIALS && failures <= FAILURES_MOST; trial++) {
        double truth[SURVIVAL_RELEASED_MAX];
        double cell[SURVIVAL_RELEASED_MAX];
        memcpy(truth, cells->cell, SURVIVAL_CELLS(cells->groups, cells->intervals) * sizeof *truth);
        release(truth, cells, &normals);
        cut(cell, &next, truth, cells);
        if (again->times > 1) {
            draw_records(cell, SURVIVAL_CELLS(next.groups, next.intervals), again->times, &normals);
        }
        release(cell, &next, &normals);
        next.cell = cell;
        failures += !is_whole(&known, &next, of);
    }
    return failures <= FAILURES_MOST;
}
