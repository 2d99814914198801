#include "learn/rehearsal_step.h"

#include "learn/dense.h"
#include "learn/metrics.h"
#include "learn/rehearsal_look.h"

#include <math.h>
#include <string.h>

struct selftune_number rehearsal_number(const struct rehearsal *plan)
{
    return (struct selftune_number){.tune = plan->tune, .loss = plan->loss, .noise = plan->planned};
}

static double norm_of(const double *u, size_t count, bool gaussian)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        sum += gaussian ? u[j] * u[j] : fabs(u[j]);
    }
    return gaussian ? sqrt(sum) : sum;
}

/* What a record adds to the gradients, over u: (outputs). */
struct slopes {
    double of[SELFTUNE_OUTPUTS_MAX];
    double missed; /* of a number */
};

static void add_two(struct slopes *slopes, const struct rehearsal_table *table, size_t row,
                    double score, double norm, double clip)
{
    const double chance = rehearsal_chance(score);
    const double positive = (1 + table->lean[row]) / 2;
    const double slope =
        (1 - positive) * fmin(norm * chance, clip) - positive * fmin(norm * (1 - chance), clip);
    slopes->of[0] = slope / norm;
}

/* f: (outputs) scores, then their softmax */
static void add_many(struct slopes *slopes, const struct rehearsal_table *table, size_t row,
                     double *f, double norm, double clip, bool gaussian)
{
    const size_t k = table->outputs;
    const double top = f[metrics_largest(f, k)];
    double sum = 0;
    double squares = 0;
    for (size_t c = 0; c < k; c++) {
        f[c] = exp(f[c] - top);
        sum += f[c];
    }
    for (size_t c = 0; c < k; c++) {
        f[c] /= sum;
        squares += f[c] * f[c];
    }
    double whole = 0;
    for (size_t c = 0; c < k; c++) {
        const double share = table->share[row * k + c];
        if (share > 0) {
            const double off = gaussian ? sqrt(fmax(squares - 2 * f[c] + 1, 0)) : 2 * (1 - f[c]);
            const double kept = share * fmin(1, clip / fmax(off * norm, 0x1p-60));
            whole += kept;
            slopes->of[c] -= kept;
        }
    }
    for (size_t c = 0; c < k; c++) {
        slopes->of[c] += whole * f[c];
    }
}

/* As of answers: the squared loss is halved. */
static double slope_of(const struct loss *loss, double off)
{
    if (loss->kind == LOSS_HUBER) {
        return fmin(fmax(off, -loss->parameter), loss->parameter);
    }
    if (loss->kind == LOSS_PINBALL) {
        return off > 0 ? 1 - loss->parameter : -loss->parameter;
    }
    return off;
}

static void add_number(struct slopes *slopes, const struct rehearsal_table *table, size_t row,
                       const struct loss *loss, double f, double norm, double clip)
{
    const double part = 1 / (double)table->draws;
    for (size_t l = 0; l < table->draws; l++) {
        const double off = f - table->y[row * table->draws + l];
        const double slope = slope_of(loss, off);
        slopes->of[0] += part * slope * fmin(1, clip / fmax(fabs(slope) * norm, 0x1p-60));
        slopes->missed += part * fmin(fabs(off), 1);
    }
}

static struct slopes slopes_of(const struct rehearsal *plan, const struct rehearsal_table *table,
                               size_t row, const double *state, const double *u)
{
    const size_t width = table->d + 1;
    struct slopes slopes = {.missed = 0};
    double f[SELFTUNE_OUTPUTS_MAX] = {0};
    const double norm = norm_of(u, width, plan->tune.gaussian); /* >= 1: u has a constant */
    for (size_t o = 0; o < table->outputs; o++) {
        f[o] = dense_dot(u, state + 1 + o * width, width);
    }
    switch (table->kind) {
    case LABEL_SIGN:
        add_two(&slopes, table, row, f[0], norm, state[0]);
        break;
    case LABEL_CLASSES:
        add_many(&slopes, table, row, f, norm, state[0], plan->tune.gaussian);
        break;
    case LABEL_NUMBER:
        add_number(&slopes, table, row, &plan->loss, f[0], norm, state[0]);
        break;
    }
    return slopes;
}

/* sum: (outputs, d + 1) gradients, the sum of misses, and (d + 1) to write in */
enum status rehearsal_step(double *state, double *sum, uint32_t step, const struct rehearsal *plan,
                           const struct rehearsal_table *table, struct public_random *random)
{
    const size_t width = table->d + 1;
    const size_t count = table->outputs * width;
    const double scale = plan->records / (double)table->rows;
    const double clip = state[0];
    double *u = sum + count + 1;
    memset(sum, 0, (count + 1) * sizeof *sum);
    for (size_t i = 0; i < table->rows; i++) {
        selftune_transform(u, table->z + i * width, state, &plan->tune);
        const struct slopes slopes = slopes_of(plan, table, i, state, u);
        for (size_t o = 0; o < table->outputs; o++) {
            dense_axpy(sum + o * width, scale * slopes.of[o], u, width);
        }
        sum[count] += scale * slopes.missed;
    }
    for (size_t j = 0; j < count; j++) {
        sum[j] += rehearsal_noise(plan, clip * plan->step, random);
    }
    if (table->kind == LABEL_NUMBER) {
        const struct selftune_number number = rehearsal_number(plan);
        const struct selftune_number_release seen = {
            .record_count = plan->records,
            .gradient = sum,
            .deviation = clip * plan->step,
            .size = sum[count] + rehearsal_noise(plan, plan->step_size, random),
            .size_deviation = plan->step_size};
        return selftune_number_take_gradient(state, &number, &seen);
    }
    const struct selftune_release release = {.step = step,
                                             .record_count = plan->records,
                                             .gradient = sum,
                                             .deviation = clip * plan->step};
    return selftune_take_gradient(state, &plan->tune, &release);
}
