/* rehearsal_table.c - rows and labels of the prior that rehearsal.h states. */

#include "learn/rehearsal_table.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/metrics.h"
#include "learn/rehearsal_world.h"

#include <math.h>
#include <stdlib.h>

enum { LABELS_MOST = 16, NUMBERS_MOST = 4 };

/* Labels of all difficulties: the best classifier of balanced classes errs on 0.05 to 46 % (unit/common/learn/test_rehearsal). Half
 * of the tables have one cause, as the tumours have, and half have columns of their own beside the factors, as most tables have. Nine
 * priors were compared by what bands hold (statistical/common/learn/test_learn_expected). */
#define STRENGTH_LEAST 0.2 /* standard deviation of the score */
#define STRENGTH_MOST  1000.0
#define CLASS_LEAST    0.05 /* of the records, of two classes */
#define UNEVEN_MOST    0.6 /* of several: the standard deviation of their intercepts, over a score's */
#define TOLD_LEAST                                                                                 \
    (-4.0) /* of a number: logarithm of the variance that columns tell, over the rest */
#define TOLD_MOST    5.0
#define SPREAD_LEAST 0.1 /* of a number in its range, whose half width is 1 */
#define SPREAD_MOST  0.9
#define GOLDEN       0.6180339887498949
#define SILVER       0.4142135623730950 /* multiples of either, less what is whole, are spread evenly */

void rehearsal_table_free(struct rehearsal_table *table)
{
    free(table->z);
    free(table->score);
}

enum status rehearsal_table_init(struct rehearsal_table *table)
{
    const size_t all = table->rows + REHEARSAL_TEST_ROWS;
    const bool several = table->kind == LABEL_CLASSES;
    table->draws = table->kind != LABEL_NUMBER    ? 0
                   : table->labels < NUMBERS_MOST ? table->labels
                                                  : NUMBERS_MOST;
    const size_t each = (several ? 2 : 1) * table->outputs + table->draws + 2;
    table->z = calloc(all * (table->d + 1), sizeof *table->z);
    table->score = calloc(all * each, sizeof *table->score);
    if (table->z == NULL || table->score == NULL) {
        rehearsal_table_free(table);
        return STATUS_NO_MEMORY;
    }
    table->lean = table->score + all * table->outputs;
    table->spare = table->lean + all;
    table->y = table->spare + all;
    table->share = table->y + all * table->draws;
    return STATUS_OK;
}

double rehearsal_uniform(struct public_random *random, double low, double high)
{
    return low + (high - low) * ldexp((double)(public_random_next(random) >> 11), -53);
}

static double spread_of(const double *x, size_t count)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    const double mean = sum / (double)count;
    return sqrt(fmax(squares / (double)count - mean * mean, 1e-12));
}

int rehearsal_by_size(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

double rehearsal_chance(double score)
{
    return 1 / (1 + exp(-score));
}

/* The labels of `labels` records that are alike but for them; of many, their share is as good as its chance. */
static double draw_lean(double chance, size_t labels, struct public_random *random)
{
    double positive = 0;
    for (size_t i = 0; i < labels && labels <= LABELS_MOST; i++) {
        positive += rehearsal_uniform(random, 0, 1) < chance ? 1 : 0;
    }
    return 2 * (labels <= LABELS_MOST ? positive / (double)labels : chance) - 1;
}

/* Scales the scores, and moves them so far that the second class has its share. */
static void scale_scores(struct rehearsal_table *table, double strength, double positive)
{
    const size_t all = table->rows + REHEARSAL_TEST_ROWS;
    const double scale = strength / spread_of(table->score, all);
    for (size_t i = 0; i < all; i++) {
        table->score[i] *= scale;
        table->spare[i] = table->score[i];
    }
    qsort(table->spare, all, sizeof *table->spare, rehearsal_by_size);
    const double edge = table->spare[(size_t)((1 - positive) * (double)(all - 1))];
    for (size_t i = 0; i < all; i++) {
        table->score[i] -= edge;
    }
}

static void put_two(struct rehearsal_table *table, struct public_random *random)
{
    for (size_t i = 0; i < table->rows; i++) {
        table->lean[i] = draw_lean(rehearsal_chance(table->score[i]), table->labels, random);
    }
}

/* Along one cause each class is the likeliest near its place. */
static void scale_many(struct rehearsal_table *table, const struct rehearsal_world *world,
                       double strength, struct public_random *random)
{
    double intercept[SCHEMA_CATEGORIES_MAX];
    const double uneven = (1 + strength) * rehearsal_uniform(random, 0, UNEVEN_MOST);
    for (size_t c = 0; c < table->outputs; c++) {
        const double place = world->place[c];
        intercept[c] = world->one_cause ? -strength * place * place / 2
                                        : uneven * public_random_normal(random);
    }
    for (size_t i = 0; i < table->rows + REHEARSAL_TEST_ROWS; i++) {
        double *score = table->score + i * table->outputs;
        for (size_t c = 0; c < table->outputs; c++) {
            score[c] = strength * score[c] + intercept[c];
        }
    }
}

/* Shares of labels for the rows to learn from, chances for the others. */
static void put_many(struct rehearsal_table *table, struct public_random *random)
{
    const size_t k = table->outputs;
    for (size_t i = 0; i < table->rows + REHEARSAL_TEST_ROWS; i++) {
        const double *score = table->score + i * k;
        double *share = table->share + i * k;
        const double top = score[metrics_largest(score, k)];
        double chance[SCHEMA_CATEGORIES_MAX];
        double sum = 0;
        for (size_t c = 0; c < k; c++) {
            chance[c] = exp(score[c] - top);
            sum += chance[c];
        }
        const bool draws = i < table->rows && table->labels <= LABELS_MOST;
        for (size_t c = 0; c < k; c++) {
            share[c] = draws ? 0 : chance[c] / sum;
        }
        for (size_t l = 0; draws && l < table->labels; l++) {
            double place = rehearsal_uniform(random, 0, sum);
            size_t own = 0;
            while (own + 1 < k && place >= chance[own]) {
                place -= chance[own++];
            }
            share[own] += 1 / (double)table->labels;
        }
    }
}

/* A number in its range: what columns tell, and what nobody knows. */
static void put_numbers(struct rehearsal_table *table, double place, struct public_random *random)
{
    const double told = rehearsal_chance(TOLD_LEAST + (TOLD_MOST - TOLD_LEAST) * place);
    const double spread = rehearsal_uniform(random, SPREAD_LEAST, SPREAD_MOST);
    const double form[] = {rehearsal_uniform(random, -0.4, 0.4), spread,
                           rehearsal_uniform(random, 0, 1) < 1.0 / 3 ? 0.7 : 0.0};
    for (size_t i = 0; i < table->rows + REHEARSAL_TEST_ROWS; i++) {
        double *y = table->y + i * table->draws;
        double sum = 0;
        rehearsal_normals(y, table->draws, random);
        for (size_t l = 0; l < table->draws; l++) {
            y[l] = rehearsal_number_of(sqrt(told) * table->score[i] + sqrt(1 - told) * y[l], form);
            sum += y[l];
        }
        table->lean[i] = sum / (double)table->draws;
    }
}

/* Which part of the range of strengths a table is from, and of two classes which share the second one has. */
struct kind_of {
    double place;
    double positive;
    bool label_first;
};

static void put_labels(struct rehearsal_table *table, const struct rehearsal_world *world,
                       const struct kind_of *of, struct public_random *random)
{
    const double strength = STRENGTH_LEAST * pow(STRENGTH_MOST / STRENGTH_LEAST, of->place);
    switch (table->kind) {
    case LABEL_SIGN:
        if (!of->label_first) {
            scale_scores(table, strength, of->positive);
        }
        put_two(table, random);
        break;
    case LABEL_CLASSES:
        if (!of->label_first) {
            scale_many(table, world, strength, random);
        }
        put_many(table, random);
        break;
    case LABEL_NUMBER:
        put_numbers(table, of->place, random);
        break;
    }
}

enum status rehearsal_table_draw(struct rehearsal_table *table, const struct schema *schema,
                                 size_t index, size_t count, struct public_random *random)
{
    static const enum rehearsal_ranges ranges[] = {RANGES_FIT, RANGES_FIT, RANGES_NARROW,
                                                   RANGES_WIDE};
    struct rehearsal_world world;
    double *latent = malloc((REHEARSAL_FACTORS + table->d) * sizeof *latent);
    const double jitter = rehearsal_uniform(random, 0, 1) / (double)count;
    const double place = fmod((double)index * SILVER + jitter, 1);
    const double balance = fmod((double)index * GOLDEN + rehearsal_uniform(random, 0, 0.1), 1);
    const struct kind_of of = {.place = place,
                               .positive = CLASS_LEAST + (1 - 2 * CLASS_LEAST) * balance,
                               .label_first = table->kind == LABEL_SIGN      ? index % 2 == 1
                                              : table->kind == LABEL_CLASSES ? index % 4 != 0
                                                                             : false};
    enum status status = latent == NULL
                             ? STATUS_NO_MEMORY
                             : rehearsal_world_init(&world, table, ranges[index % 8 / 2], random);
    if (status == STATUS_OK) {
        if (of.label_first) {
            const double strength = STRENGTH_LEAST * pow(STRENGTH_MOST / STRENGTH_LEAST, place);
            status = rehearsal_world_label_first(&world, table, strength, of.positive, random);
        }
        for (size_t i = 0; status == STATUS_OK && i < table->rows + REHEARSAL_TEST_ROWS; i++) {
            double *score = table->score + i * table->outputs;
            rehearsal_world_row(table->z + i * (table->d + 1), score, latent, &world, schema,
                                random);
            for (size_t o = 0; !of.label_first && o < table->outputs; o++) {
                score[o] =
                    dense_dot(world.weight + o * table->d, latent + REHEARSAL_FACTORS, table->d);
            }
        }
        if (status == STATUS_OK) {
            put_labels(table, &world, &of, random);
        }
        rehearsal_world_free(&world);
    }
    free(latent);
    return status;
}

double rehearsal_table_share(const struct rehearsal_table *table, size_t row, size_t c)
{
    CHECK(table->kind != LABEL_NUMBER);
    const double lean = table->lean[row];
    return table->kind == LABEL_CLASSES ? table->share[row * table->outputs + c]
           : c == 1                     ? (1 + lean) / 2
                                        : (1 - lean) / 2;
}

/* The class that a model says, of several. */
static size_t said(const double *w, const double *z, const struct rehearsal_table *table)
{
    const size_t width = table->d + 1;
    double f[SCHEMA_CATEGORIES_MAX];
    for (size_t c = 0; c < table->outputs; c++) {
        f[c] = dense_dot(w + c * width, z, width);
    }
    return metrics_largest(f, table->outputs);
}

double rehearsal_table_accuracy(const double *w, const struct rehearsal_table *table)
{
    double sum = 0;
    for (size_t i = table->rows; i < table->rows + REHEARSAL_TEST_ROWS; i++) {
        const double *z = table->z + i * (table->d + 1);
        if (table->kind == LABEL_CLASSES) {
            sum += table->share[i * table->outputs + said(w, z, table)];
            continue;
        }
        const double p = rehearsal_chance(table->score[i]);
        const double f = dense_dot(w, z, table->d + 1);
        sum += f > 0 ? p : f < 0 ? 1 - p : 0;
    }
    return sum / REHEARSAL_TEST_ROWS;
}

double rehearsal_table_differ(const double *a, const double *b, const struct rehearsal_table *table)
{
    const size_t width = table->d + 1;
    double count = 0;
    for (size_t i = table->rows; i < table->rows + REHEARSAL_TEST_ROWS; i++) {
        const double *z = table->z + i * width;
        const bool other = table->kind == LABEL_CLASSES
                               ? said(a, z, table) != said(b, z, table)
                               : (dense_dot(a, z, width) > 0) != (dense_dot(b, z, width) > 0);
        count += other ? 1 : 0;
    }
    return count / REHEARSAL_TEST_ROWS;
}
