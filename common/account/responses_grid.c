/* The law of the total loss on a grid of step h. A group's losses are binomial; the mass x of a
 * loss l between the grid's a and b = a + h is split so that both its mass under P, x, and
 * under Q, x e^-l, are kept: b gets x (1 - e^(a - l))/(1 - e^-h). Whoever forgets which half it
 * was has the group's pair again, so the split pair is the worse one: an upper bound, whose error
 * is of the order h^2 (as in "connect the dots", Doroshenko et al. 2022).
 *
 * Below: the coin of the split says something of bounded range h about the records, so the split
 * pairs are the responses followed by draws that are h^2/8-zCDP each (Cesar and Rogers 2021). If
 * those cost (e, d), then delta_split(epsilon + e) <= delta(epsilon) + d.
 *
 * Masses cut off at both ends are added to delta, at the upper bound. All sums are of positive
 * terms: the relative error is the number of terms. */

#include "account/law.h"
#include "account/renyi.h"
#include "account/responses.h"
#include "account/rounding.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* What is cut off, in units of delta, or absolute where delta is what is sought. */
#define CUT_SHARE    1e-10
#define CUT_ABSOLUTE 1e-40
/* What the lower bound grants to the coins, as a share of delta. */
#define COIN_SHARE     1e-3

#define CELLS_MAX      ((double)(1 << 21))
#define WORK_MAX       4e9
#define RESOLUTION     4096
#define RESOLUTION_MIN 32

/* What a group's responses can be: hits from first to last, but for what is cut off. */
struct window {
    double first;
    double last;
};

struct grid {
    double *mass; /* (size) of the losses (first + i) step */
    double *next;
    double *group; /* masses of one group */
    size_t size;
    double first;
    double step;
    double cut;  /* how much may be cut off at each end, each time */
    double lost; /* was cut off */
    double terms;
};

static struct window window_of(const struct response *group, double cut)
{
    struct binomial binomial = response_binomial(group);
    double mean = floor(binomial.trials * binomial.p);
    struct window window = {0, binomial.trials};
    if (binomial.trials < 64) {
        return window;
    }
    for (double low = mean, high = binomial.trials; high - low > 1;) {
        double middle = floor((low + high) / 2);
        bool small = law_binomial_tail(&binomial, middle + 1) < log(cut);
        low = small ? low : middle;
        high = small ? middle : high;
        window.last = high;
    }
    for (double low = 0, high = mean; high - low > 1;) {
        double middle = floor((low + high) / 2);
        bool small = law_binomial_tail(&binomial, middle - 1) < log(cut);
        low = small ? middle : low;
        high = small ? high : middle;
        window.first = low;
    }
    return window;
}

/* Fine enough for the spread of the loss, coarse enough for memory and time, and no finer than losses
 * are known to. */
static double step_of(const struct response *groups, size_t count, double cut)
{
    double variance = 0;
    double width = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        struct binomial binomial = response_binomial(&groups[i]);
        struct window window = window_of(&groups[i], cut);
        double loss = 2 * groups[i].epsilon;
        variance += binomial.trials * binomial.p * binomial.q * loss * loss;
        width += (window.last - window.first) * loss;
        sum += binomial.trials * groups[i].epsilon;
    }
    double step = 0;
    double work = INFINITY;
    double fine = RESOLUTION;
    while (fine >= RESOLUTION_MIN && work > WORK_MAX) {
        step = fmax(sqrt(variance) / fine, width / (CELLS_MAX - 4 * (double)count - 4));
        double span = fmin(width, 20 * sqrt(variance) + width / 64) / step;
        work = 0;
        for (size_t i = 0; i < count; i++) {
            struct window window = window_of(&groups[i], cut);
            double hits = window.last - window.first;
            work += fmin(2 * hits + 2, hits * 2 * groups[i].epsilon / step + 2) * span;
        }
        fine *= 0.8;
    }
    return fmax(step, 16 * DBL_EPSILON * sum);
}

/* Writes the group's masses, returns how many cells; *first gets the place of the lowest. */
static size_t lay_out(struct grid *grid, double *first, const struct response *group)
{
    struct binomial binomial = response_binomial(group);
    struct window window = window_of(group, grid->cut);
    double step = grid->step;
    double lowest = (2 * window.first - binomial.trials) * group->epsilon;
    double highest = (2 * window.last - binomial.trials) * group->epsilon;
    *first = floor(lowest / step);
    size_t size = (size_t)(floor(highest / step) - *first) + 2;
    for (size_t i = 0; i < size; i++) {
        grid->group[i] = 0;
    }
    for (uint64_t i = 0; i <= (uint64_t)(window.last - window.first); i++) {
        double hits = window.first + (double)i;
        double place = (2 * hits - binomial.trials) * group->epsilon / step;
        double below = floor(place);
        double mass = exp(law_binomial_log(&binomial, hits));
        double up = mass * (expm1((below - place) * step) / expm1(-step));
        size_t cell = (size_t)(below - *first);
        grid->group[cell] += mass - fmin(up, mass);
        grid->group[cell + 1] += fmin(up, mass);
    }
    grid->terms += (window.last - window.first) + 16 +
                   law_binomial_error(&binomial, window.last) / DBL_EPSILON +
                   law_binomial_error(&binomial, window.first) / DBL_EPSILON;
    grid->lost += binomial.trials < 64 ? 0 : 2 * grid->cut;
    return size;
}

/* Cuts off what is too rare to matter at both ends. */
static void trim(struct grid *grid)
{
    size_t from = 0;
    size_t to = grid->size;
    double low = 0;
    double high = 0;
    while (from + 1 < to && low + grid->mass[from] <= grid->cut) {
        low += grid->mass[from++];
    }
    while (to > from + 1 && high + grid->mass[to - 1] <= grid->cut) {
        high += grid->mass[--to];
    }
    grid->lost += low + high;
    grid->size = to - from;
    grid->first += (double)from;
    for (size_t i = 0; i < grid->size && from > 0; i++) {
        grid->mass[i] = grid->mass[i + from];
    }
}

static void convolve(struct grid *grid, const struct response *response)
{
    double first = 0;
    size_t cells = lay_out(grid, &first, response);
    size_t size = grid->size + cells - 1;
    for (size_t i = 0; i < size; i++) {
        grid->next[i] = 0;
    }
    for (size_t cell = 0; cell < cells; cell++) {
        double factor = grid->group[cell];
        double *restrict to = grid->next + cell;
        const double *restrict from = grid->mass;
        if (factor > 0) {
            grid->terms += 2;
            for (size_t i = 0; i < grid->size; i++) {
                to[i] += factor * from[i];
            }
        }
    }
    double *filled = grid->next;
    grid->next = grid->mass;
    grid->mass = filled;
    grid->size = size;
    grid->first += first;
    trim(grid);
}

/* The epsilon >= 0 at which delta is target. */
static double solve(const struct grid *grid, double target)
{
    double fraction = -expm1(-grid->step);
    double delta = 0;
    double slope = 0;
    for (size_t i = grid->size; i-- > 0 && grid->first + (double)i > 0;) {
        slope = slope * (1 - fraction) + grid->mass[i];
        if (delta + fraction * slope > target) {
            double rest = (target - delta) / slope;
            return fmax(0, (grid->first + (double)i) * grid->step +
                               (rest > 0 ? log1p(-fmin(rest, fraction)) : 0));
        }
        delta += fraction * slope;
    }
    /* Where every loss is far above 0, delta goes on growing below the lowest. */
    double rest = (target - delta) / (slope * (1 - fraction));
    return rest > 0 && rest < 1 ? fmax(0, (grid->first - 1) * grid->step + log1p(-rest)) : 0;
}

static double delta_at(const struct grid *grid, double epsilon)
{
    double delta = 0;
    for (size_t i = grid->size; i-- > 0;) {
        double gap = (grid->first + (double)i) * grid->step - epsilon;
        if (!(gap > 0)) {
            break;
        }
        delta += grid->mass[i] * -expm1(-gap);
    }
    return delta;
}

static struct interval read_off(const struct grid *grid, const struct response *groups,
                                size_t count, struct response_question question)
{
    double error = DBL_EPSILON * (grid->terms + 4 * (double)grid->size + 64);
    double rho = (double)count * grid->step * grid->step / 8;
    double shift = 0; /* losses are off by a few units of rounding of themselves, or of a cell */
    for (size_t i = 0; i < count; i++) {
        shift += (double)groups[i].count * groups[i].epsilon;
    }
    shift *= 16 * DBL_EPSILON;
    if (question.wants_epsilon) {
        double coins = zcdp_to_epsilon(rho, COIN_SHARE * question.at);
        double low = solve(grid, 1 + COIN_SHARE + error) - coins - shift;
        return (struct interval){fmax(low, 0), solve(grid, 1 - error - 2 * grid->lost) + shift};
    }
    double high = delta_at(grid, question.at - shift) * (1 + error) + 2 * grid->lost;
    double coins = zcdp_to_epsilon(rho, fmin(COIN_SHARE * high, 0.5));
    double low = delta_at(grid, question.at + coins + shift) * (1 - error) - COIN_SHARE * high;
    return (struct interval){fmax(low, 0), fmin(high, 1)};
}

enum status responses_grid(struct interval *out, const struct response *groups, size_t count,
                           struct response_question question)
{
    double unit = question.wants_epsilon ? question.at : 1;
    double share = question.wants_epsilon ? CUT_SHARE : CUT_ABSOLUTE;
    double cut = share * unit / (8 * (double)count);
    size_t cells = (size_t)CELLS_MAX + 16;
    struct grid grid = {.step = step_of(groups, count, cut), .cut = cut, .size = 1};
    enum status status = STATUS_NO_MEMORY;

    grid.mass = malloc(cells * sizeof *grid.mass);
    grid.next = malloc(cells * sizeof *grid.next);
    grid.group = malloc(cells * sizeof *grid.group);
    if (grid.mass != NULL && grid.next != NULL && grid.group != NULL) {
        grid.mass[0] = 1;
        for (size_t i = 0; i < count; i++) {
            convolve(&grid, &groups[i]);
        }
        for (size_t i = 0; i < grid.size; i++) {
            grid.mass[i] /= unit;
        }
        grid.lost /= unit;
        *out = read_off(&grid, groups, count, question);
        status = STATUS_OK;
    }
    free(grid.mass);
    free(grid.next);
    free(grid.group);
    return status;
}
