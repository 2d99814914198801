#include "learn/rehearsal_look.h"

#include "learn/dense.h"
#include "learn/rehearsal_step.h"
#include "learn/selftune_second.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The noise on one number: Laplace numbers, or a normal one, of that deviation. */
double rehearsal_noise(const struct rehearsal *plan, double deviation, struct public_random *random)
{
    double sum = 0;
    if (plan->noises == 0 || plan->noises > 16) { /* the sum of many is as good as normal */
        return deviation * public_random_normal(random);
    }
    for (unsigned i = 0; i < plan->noises; i++) {
        const double u = rehearsal_uniform(random, -1, 1);
        sum += (u < 0 ? 1 : -1) * log(fmax(1 - fabs(u), 0x1p-53));
    }
    return deviation * sum / sqrt(2.0 * plan->noises);
}

static size_t groups_of(const struct rehearsal *plan)
{
    return plan->groups > 1 ? plan->groups : 1;
}

/* A look of a part of the sites, at some columns less a middle. */
struct view {
    double part;
    size_t groups;
    size_t column[SELFTUNE_FEATURES_MAX];
    size_t columns;
    double mu[SELFTUNE_FEATURES_MAX];
    double sum_deviation; /* of the noise of all of its sites */
};

/* At all columns: of all sites, or of those that look first. */
static void view_all(struct view *out, const struct rehearsal *plan)
{
    *out = (struct view){.part = plan->groups_second > 0 ? plan->part_first : 1,
                         .groups = groups_of(plan),
                         .columns = plan->tune.feature_count};
    for (size_t j = 0; j < out->columns; j++) {
        out->column[j] = j;
    }
    out->sum_deviation = plan->look_sum * sqrt(out->part);
}

/* At the columns that the first look has chosen: a site's weight is dealt out to fewer of them. */
static void view_some(struct view *out, const struct rehearsal *plan, const double *state)
{
    const size_t d = plan->tune.feature_count;
    *out = (struct view){.part = 1 - plan->part_first, .groups = plan->groups_second};
    out->columns = selftune_chosen(out->column, state, &plan->tune);
    memcpy(out->mu, state + selftune_shown_count(&plan->tune) - 2 * d, d * sizeof *out->mu);
    const size_t first = (d + groups_of(plan) - 1) / groups_of(plan);
    const size_t own = (out->columns + out->groups - 1) / out->groups;
    out->sum_deviation = plan->look_sum * sqrt(out->part) * (double)own / (double)first;
}

/* What the clip leaves of a record where a site looks at every groups-th column alone. */
static double kept_of(const struct rehearsal *plan, const struct view *view, const double *z,
                      size_t group)
{
    const size_t d = plan->tune.feature_count;
    double norm = 0;
    double columns = 0;
    for (size_t at = group; at < view->columns; at += view->groups) {
        const double x = z[view->column[at]] - view->mu[view->column[at]];
        norm += plan->tune.gaussian ? x * x : fabs(x);
        columns++;
    }
    norm = plan->tune.gaussian ? sqrt(norm) : norm;
    return fmin(1, plan->reach * (columns / (double)d) / fmax(norm, 0x1p-60));
}

/* The records that a row stands for, by their class. */
struct weights {
    double of[SELFTUNE_OUTPUTS_MAX];
    size_t count;
};

static struct weights weights_of(const struct rehearsal *plan, const struct rehearsal_table *table,
                                 size_t row, double scale)
{
    struct weights weights = {.count = selftune_class_count(&plan->tune)};
    for (size_t c = 0; c < weights.count; c++) {
        weights.of[c] = scale * rehearsal_table_share(table, row, c);
    }
    return weights;
}

/* Adds to the classes' sums and to the sums of squares after them, which tell how far chance moves them. */
static void add_clipped(double *look, const struct rehearsal *plan, const struct view *view,
                        const double *z, const struct weights *weights)
{
    const size_t d = plan->tune.feature_count;
    const size_t k = weights->count;
    double *sum = look + 2 * k;
    for (size_t g = 0; g < view->groups; g++) {
        const double kept = kept_of(plan, view, z, g);
        for (size_t c = 0; c < k; c++) {
            look[k + c] += weights->of[c] * kept / (double)view->groups;
        }
        for (size_t at = g; at < view->columns; at += view->groups) {
            const size_t j = view->column[at];
            const double x = kept * (z[j] - view->mu[j]);
            for (size_t c = 0; c < k; c++) {
                sum[c * d + j] += weights->of[c] * x;
                sum[(k + c) * d + j] += weights->of[c] * x * x;
            }
        }
    }
}

/* Adds the records of a row with the columns z to a look's sums. scale: how many they are */
static void add_records(double *look, const struct rehearsal *plan, const struct view *view,
                        const double *z, const struct weights *weights, double scale)
{
    const size_t d = plan->tune.feature_count;
    const size_t k = weights->count;
    const bool products = plan->tune.sight == SIGHT_PRODUCTS;
    const size_t sums = selftune_sum_count(&plan->tune);
    double *next = look + k;
    dense_axpy(look, 1, weights->of, k);
    if (plan->tune.sight == SIGHT_SUMS) {
        add_clipped(look, plan, view, z, weights);
        return;
    }
    for (size_t c = 0; sums > d && c < k; c++) {
        dense_axpy(next + c * d, weights->of[c], z, d);
    }
    if (sums == d) {
        dense_axpy(next, scale, z, d);
    }
    next += sums;
    for (size_t i = 0; i < d; i++) {
        const size_t pairs = products ? d - i : 1;
        dense_axpy(next, scale * z[i], z + i, pairs);
        next += pairs;
    }
}

/* Where fewer sites tell of a column its noise is larger, and chance moves it farther. square: (K, d) of the sums that it follows; then
 * (2, d) to write in. */
static void add_chance(struct selftune_look *seen, double *square, const struct rehearsal *plan,
                       const struct view *view, struct public_random *random)
{
    const size_t d = plan->tune.feature_count;
    const size_t count = selftune_class_count(&plan->tune) * d;
    const double groups = (double)view->groups;
    double *sum = square - count;
    double *factor = square + count;
    for (size_t i = 0; groups > 1 && i < count; i++) {
        sum[i] += sqrt((groups - view->part) * square[i]) * public_random_normal(random);
    }
    for (size_t j = 0; j < d; j++) {
        factor[j] = HUGE_VAL;
        factor[d + j] = 0;
    }
    for (size_t at = 0; at < view->columns; at++) {
        factor[view->column[at]] = sqrt(groups);
        factor[d + view->column[at]] = 1 / groups;
    }
    seen->factor = factor;
    seen->part = factor + d;
}

/* look: counts (K), of sums alone what is kept (K), sums, products or squares, behind one another, and behind sums alone (K + 2) d
 * more */
static void play_look(struct selftune_look *out, double *look, const struct rehearsal *plan,
                      const struct view *view, const struct rehearsal_table *table,
                      struct public_random *random)
{
    const bool clips = plan->tune.sight == SIGHT_SUMS;
    const size_t k = selftune_class_count(&plan->tune);
    double *kept = clips ? look + k : NULL;
    double *sum = look + k + (clips ? k : 0);
    double *product = sum + selftune_sum_count(&plan->tune);
    const size_t count = (size_t)(product - look) + selftune_product_count(&plan->tune);
    const double records = plan->records * view->part;
    const double scale = records / (double)table->rows;
    const double noises = sqrt(view->part);
    memset(look, 0, (count + (clips ? k * plan->tune.feature_count : 0)) * sizeof *look);
    for (size_t i = 0; i < table->rows; i++) {
        const struct weights weights = weights_of(plan, table, i, scale);
        add_records(look, plan, view, table->z + i * (table->d + 1), &weights, scale);
    }
    for (size_t i = 0; i < count; i++) {
        const double deviation = i < k            ? plan->look_count * noises
                                 : look + i < sum ? plan->look_kept * noises
                                 : look + i < product
                                     ? view->sum_deviation * sqrt((double)view->groups)
                                     : plan->look_product;
        look[i] += rehearsal_noise(plan, deviation, random);
    }
    *out = (struct selftune_look){.record_count = records,
                                  .count = look,
                                  .kept = kept,
                                  .sum = sum,
                                  .product = product,
                                  .count_deviation = plan->look_count * noises,
                                  .kept_deviation = plan->look_kept * noises,
                                  .sum_deviation = view->sum_deviation,
                                  .product_deviation = plan->look_product};
    if (clips) {
        add_chance(out, look + count, plan, view, random);
    }
}

/* A number's: its label is one more column, the first. look: sums (D), products or squares, and (D) to write in */
static enum status look_at_number(double *state, double *look, const struct rehearsal *plan,
                                  const struct rehearsal_table *table, struct public_random *random)
{
    const size_t width = table->d + 1;
    const bool products = plan->tune.sight == SIGHT_PRODUCTS;
    const size_t count = width + (products ? width * (width + 1) / 2 : width);
    const double scale = plan->records / (double)(table->rows * table->draws);
    const struct selftune_number number = rehearsal_number(plan);
    double *z = look + count;
    memset(look, 0, count * sizeof *look);
    for (size_t i = 0; i < table->rows * table->draws; i++) {
        double *next = look + width;
        z[0] = table->y[i];
        memcpy(z + 1, table->z + i / table->draws * width, table->d * sizeof *z);
        dense_axpy(look, scale, z, width);
        for (size_t j = 0; j < width; j++) {
            const size_t pairs = products ? width - j : 1;
            dense_axpy(next, scale * z[j], z + j, pairs);
            next += pairs;
        }
    }
    for (size_t i = 0; i < count; i++) {
        look[i] += rehearsal_noise(plan, i < width ? plan->look_sum : plan->look_product, random);
    }
    const struct selftune_number_look seen = {.record_count = plan->records,
                                              .sum = look,
                                              .product = look + width,
                                              .sum_deviation = plan->look_sum,
                                              .product_deviation = plan->look_product};
    return selftune_number_take_look(state, &number, &seen);
}

/* Both looks, where two sets of sites look. */
static enum status play_two(double *state, double *look, const struct rehearsal *plan,
                            struct view *view, const struct rehearsal_table *table,
                            struct public_random *random)
{
    struct selftune_look seen;
    const size_t d = plan->tune.feature_count;
    const size_t first = (d + groups_of(plan) - 1) / groups_of(plan); /* columns of a site */
    const double part = 1 - plan->part_first;
    const struct selftune_second second = {.records = plan->records,
                                           .part = part,
                                           .groups = (double)plan->groups_second,
                                           .deviation = plan->look_sum *
                                                        sqrt(part * (double)plan->groups_second) /
                                                        (plan->records * part * (double)first)};
    double *told = calloc(selftune_told_count(&plan->tune), sizeof *told);
    if (told == NULL) {
        return STATUS_NO_MEMORY;
    }
    view_all(view, plan);
    play_look(&seen, look, plan, view, table, random);
    enum status status = selftune_take_first(state, told, &plan->tune, &seen, &second);
    if (status == STATUS_OK) {
        view_some(view, plan, state);
        play_look(&seen, look, plan, view, table, random);
        status = selftune_take_second(state, told, &plan->tune, &seen);
    }
    free(told);
    return status;
}

enum status rehearsal_look(double *state, double *look, const struct rehearsal *plan,
                           const struct rehearsal_table *table, struct public_random *random)
{
    struct selftune_look seen;
    struct view view;
    if (plan->tune.sight == SIGHT_NONE) {
        return STATUS_OK;
    }
    if (plan->kind == LABEL_NUMBER) {
        return look_at_number(state, look, plan, table, random);
    }
    if (plan->groups_second > 0) {
        return play_two(state, look, plan, &view, table, random);
    }
    view_all(&view, plan);
    play_look(&seen, look, plan, &view, table, random);
    return selftune_take_look(state, &plan->tune, &seen);
}

size_t rehearsal_look_numbers(const struct rehearsal *plan)
{
    const size_t width = plan->tune.feature_count + 1;
    const size_t classes = plan->kind == LABEL_NUMBER ? 1 : selftune_class_count(&plan->tune);
    return 2 * classes * (width + 1) + width * (width + 1) / 2 + 3 * width;
}
