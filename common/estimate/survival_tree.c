/* survival_tree.c - cells that were released with the sums of blocks of them: trees of two levels, one of a group's deaths and one of
 * its censorings and those still there. Least squares (Hay, Rastogi, Miklau and Suciu 2010) make a block's cells x_i agree with its
 * sum s: each moves by (s - sum x) / (1 + b), b = cells of the block. Their noise then has the covariance v (I - 11'/(1 + b)), that of
 * two figures being v times what survival_inner sums; and of what all cells add up to v / (1 + b) for each cell, a cell's weight. */

#include "estimate/survival_private.h"

static size_t blocks_of(size_t cells, size_t block)
{
    return block == 0 ? 0 : (cells + block - 1) / block;
}

size_t survival_released(size_t groups, size_t intervals, size_t block)
{
    return SURVIVAL_CELLS(groups, intervals) +
           groups * (blocks_of(intervals, block) + blocks_of(intervals + 1, block));
}

/* A block of a group's cells. */
struct span {
    size_t first;
    size_t end;
};

/* Of the deaths first, then of the rest. */
static struct span span_of(const struct survival_cells *cells, size_t at)
{
    const size_t k = cells->intervals;
    const size_t of_deaths = blocks_of(k, cells->block);
    const size_t first = at < of_deaths ? at * cells->block : k + (at - of_deaths) * cells->block;
    const size_t last = at < of_deaths ? k : 2 * k + 1;
    return (struct span){first, first + cells->block < last ? first + cells->block : last};
}

static size_t spans_of(const struct survival_cells *cells)
{
    return blocks_of(cells->intervals, cells->block) +
           blocks_of(cells->intervals + 1, cells->block);
}

static double sum_over(const double *value, struct span span)
{
    double sum = 0;
    for (size_t i = span.first; i < span.end; i++) {
        sum += value[i];
    }
    return sum;
}

double survival_inner(const struct survival_cells *cells, const double *a, const double *b)
{
    const size_t spans = spans_of(cells);
    double sum = 0;
    for (size_t i = 0; i < 2 * cells->intervals + 1; i++) {
        sum += a[i] * b[i];
    }
    for (size_t at = 0; at < spans; at++) {
        const struct span span = span_of(cells, at);
        sum -= sum_over(a, span) * sum_over(b, span) / (double)(1 + span.end - span.first);
    }
    return sum;
}

double survival_weigh(const struct survival_cells *cells, const double *a)
{
    const size_t spans = spans_of(cells);
    double sum = 0;
    if (spans == 0) {
        return sum_over(a, (struct span){0, 2 * cells->intervals + 1});
    }
    for (size_t at = 0; at < spans; at++) {
        const struct span span = span_of(cells, at);
        sum += sum_over(a, span) / (double)(1 + span.end - span.first);
    }
    return sum;
}

/* The weights of all cells, with the last one's, which is in no block. */
static double weight_of_all(const struct survival_cells *cells)
{
    const size_t spans = spans_of(cells);
    double own = spans == 0 ? (double)(2 * cells->intervals + 1) : 0;
    for (size_t at = 0; at < spans; at++) {
        const struct span span = span_of(cells, at);
        own += (double)(span.end - span.first) / (double)(1 + span.end - span.first);
    }
    return 1 + (double)cells->groups * own;
}

double survival_covariance(const struct survival_cells *cells, double inner, double weighed_a,
                           double weighed_b)
{
    return cells->variance * (inner - weighed_a * weighed_b / weight_of_all(cells));
}

void survival_put_sums(double *cell, const struct survival_cells *cells)
{
    const size_t width = 2 * cells->intervals + 1;
    double *sum = cell + cells->groups * width + 1;
    for (size_t g = 0; g < cells->groups; g++) {
        for (size_t at = 0; at < spans_of(cells); at++) {
            *sum++ = sum_over(cell + g * width, span_of(cells, at));
        }
    }
}

static void agree(double *own, const struct survival_cells *cells, const double *sum)
{
    for (size_t at = 0; at < spans_of(cells); at++) {
        const struct span span = span_of(cells, at);
        const double by = (sum[at] - sum_over(own, span)) / (double)(1 + span.end - span.first);
        for (size_t i = span.first; i < span.end; i++) {
            own[i] += by;
        }
    }
}

/* From each cell of a group by its weight. */
static void take_off(double *own, const struct survival_cells *cells, double each)
{
    const size_t spans = spans_of(cells);
    for (size_t i = 0; spans == 0 && i < 2 * cells->intervals + 1; i++) {
        own[i] -= each;
    }
    for (size_t at = 0; at < spans; at++) {
        const struct span span = span_of(cells, at);
        for (size_t i = span.first; i < span.end; i++) {
            own[i] -= each / (double)(1 + span.end - span.first);
        }
    }
}

void survival_balance(double *cell, const struct survival_cells *cells, double total)
{
    const size_t width = 2 * cells->intervals + 1;
    const size_t m = cells->groups * width;
    const size_t spans = spans_of(cells);
    const double *sum = cell + m + 1;
    double excess = cell[m] - total;
    for (size_t g = 0; g < cells->groups; g++) {
        agree(cell + g * width, cells, sum + g * spans);
        excess += sum_over(cell + g * width, (struct span){0, width});
    }
    const double each = excess / weight_of_all(cells);
    cell[m] -= each;
    for (size_t g = 0; g < cells->groups; g++) {
        take_off(cell + g * width, cells, each);
    }
}
