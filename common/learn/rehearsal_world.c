/* rehearsal_world.c - columns and factors of the prior that rehearsal.h states, and rows. */

#include "learn/rehearsal_world.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/standin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FACTORS = REHEARSAL_FACTORS, NUMBERS_OF_FORM = 3 };

#define ONE_CAUSE      0.5 /* of the tables: their labels follow the largest factor alone, or move it */
#define ONE_CAUSE_MANY 0.25 /* of those of several classes, which are grades of one thing then */
#define DECAY_MOST     4.0
#define OWN_MOST                                                                                   \
    6.0 /* columns whose worth of variance the columns have for themselves, all together */
#define PART_LEAST 0.25 /* of their spread, that columns have in wide ranges */
#define PART_MOST  2.5  /* and in narrow ones */

/* By Marsaglia's polar method: a table has too many of them for the exact one. */
void rehearsal_normals(double *x, size_t count, struct public_random *random)
{
    for (size_t i = 0; i < count; i += 2) {
        double a = 0;
        double b = 0;
        double square = 0;
        do {
            a = rehearsal_uniform(random, -1, 1);
            b = rehearsal_uniform(random, -1, 1);
            square = a * a + b * b;
        } while (square >= 1 || square == 0);
        const double factor = sqrt(-2 * log(square) / square);
        x[i] = a * factor;
        if (i + 1 < count) {
            x[i + 1] = b * factor;
        }
    }
}

double rehearsal_weight(struct public_random *random)
{
    const double weight = public_random_normal(random);
    return rehearsal_uniform(random, 0, 1) < 0.5 ? 0 : weight;
}

static void draw_latent(struct rehearsal_latent *latent, double common, const double *importance,
                        struct public_random *random)
{
    double square = 0;
    for (size_t f = 0; f < FACTORS; f++) {
        latent->load[f] = importance[f] * public_random_normal(random);
        square += latent->load[f] * latent->load[f];
    }
    for (size_t f = 0; f < FACTORS; f++) {
        latent->load[f] *= sqrt(common / square);
    }
    latent->own = sqrt(1 - common);
    latent->weight = rehearsal_weight(random);
}

void rehearsal_world_factors(struct rehearsal_world *world, struct public_random *random)
{
    for (size_t f = 0; f < FACTORS; f++) {
        world->factor[f] = world->importance[f] * public_random_normal(random);
        world->factor[f] *= world->one_cause && f > 0 ? 0 : 1;
    }
}

static void change_ranges(struct rehearsal_world *world, enum rehearsal_ranges ranges,
                          struct public_random *random)
{
    const bool wide = ranges == RANGES_WIDE;
    const double part =
        exp(rehearsal_uniform(random, wide ? log(PART_LEAST) : 0, wide ? 0 : log(PART_MOST)));
    for (size_t j = 0; j < world->d; j++) {
        double *form = world->form + NUMBERS_OF_FORM * j;
        form[1] *= part;
        if (wide) {
            form[0] = fmax(0.4, 0.9 - form[1]) * rehearsal_uniform(random, -1, 1);
        }
    }
}

static void draw_columns(struct rehearsal_world *world, bool many, struct public_random *random)
{
    const double least = 1 - fmin(0.8, OWN_MOST / (double)world->d);
    const double common = rehearsal_uniform(random, least, 0.98);
    const double decay = rehearsal_uniform(random, 0, DECAY_MOST);
    for (size_t f = 0; f < FACTORS; f++) {
        world->importance[f] = pow((double)f + 1, -decay);
        world->factor[f] = world->importance[f] * public_random_normal(random);
    }
    world->one_cause = rehearsal_uniform(random, 0, 1) < (many ? ONE_CAUSE_MANY : ONE_CAUSE);
    for (size_t f = 1; world->one_cause && f < FACTORS; f++) {
        world->factor[f] = 0;
    }
    world->factors_share = world->one_cause ? 1 : rehearsal_uniform(random, 0, 1);
    for (size_t j = 0; j < world->d; j++) {
        double *form = world->form + NUMBERS_OF_FORM * j;
        draw_latent(&world->latent[j], common, world->importance, random);
        form[0] = rehearsal_uniform(random, -0.4, 0.4); /* mean, or a category's threshold */
        form[1] = 0.2 * exp(rehearsal_uniform(random, 0, 1.0986)); /* spread: 0.2 to 0.6 */
        form[2] = rehearsal_uniform(random, 0, 1) < 1.0 / 3
                      ? 0.7
                      : 0.0; /* skewness of a log-normal number */
    }
}

/* The standard deviation of the latent numbers' sum with the weights w (d). */
static double deviation_of(const double *w, const struct rehearsal_world *world)
{
    double factor[FACTORS] = {0};
    double square = 0;
    for (size_t j = 0; j < world->d; j++) {
        const struct rehearsal_latent *latent = &world->latent[j];
        dense_axpy(factor, w[j], latent->load, FACTORS);
        square += latent->own * latent->own * w[j] * w[j];
    }
    return sqrt(fmax(square + dense_dot(factor, factor, FACTORS), 1e-12));
}

/* Adds to w (d) what columns weigh by their factors, or by themselves: of a standard deviation. */
static void add_part(double *w, const struct rehearsal_world *world, bool factors, double deviation)
{
    double part[STANDIN_FEATURES_MAX] = {0};
    double most = 0;
    CHECK(world->d <= STANDIN_FEATURES_MAX);
    for (size_t j = 0; j < world->d; j++) {
        part[j] = factors ? dense_dot(world->latent[j].load, world->factor, FACTORS)
                          : world->latent[j].weight;
        most = fmax(most, fabs(part[j]));
    }
    part[0] += most == 0 ? 1 : 0;
    dense_axpy(w, deviation / deviation_of(part, world), part, world->d);
}

/* If several classes follow one cause, each has a place along it: scores are as those of normal classes in a row. */
static void draw_scores(struct rehearsal_world *world, size_t outputs, struct public_random *random)
{
    for (size_t o = 0; o < outputs; o++) {
        double *w = world->weight + o * world->d;
        if (o > 0 && !world->one_cause) {
            rehearsal_world_factors(world, random);
            for (size_t j = 0; j < world->d; j++) {
                world->latent[j].weight = rehearsal_weight(random);
            }
        }
        add_part(w, world, true, sqrt(world->factors_share));
        add_part(w, world, false, sqrt(1 - world->factors_share));
        const bool placed = outputs > 1 && world->one_cause;
        world->place[o] = placed ? public_random_normal(random) : 1;
        const double scale = world->place[o] / deviation_of(w, world);
        for (size_t j = 0; j < world->d; j++) {
            w[j] *= scale;
        }
    }
}

void rehearsal_world_free(struct rehearsal_world *world)
{
    free(world->latent);
    free(world->form);
    free(world->weight);
    free(world->mean);
}

enum status rehearsal_world_init(struct rehearsal_world *world, const struct rehearsal_table *table,
                                 enum rehearsal_ranges ranges, struct public_random *random)
{
    const size_t d = table->d;
    *world =
        (struct rehearsal_world){.d = d,
                                 .latent = calloc(d, sizeof *world->latent),
                                 .form = calloc(NUMBERS_OF_FORM * d, sizeof *world->form),
                                 .weight = calloc(table->outputs * (d + 1), sizeof *world->weight)};
    if (world->latent == NULL || world->form == NULL || world->weight == NULL) {
        rehearsal_world_free(world);
        return STATUS_NO_MEMORY;
    }
    world->place = world->weight + table->outputs * d;
    draw_columns(world, table->outputs > 1, random);
    if (ranges != RANGES_FIT) {
        change_ranges(world, ranges, random);
    }
    draw_scores(world, table->outputs, random);
    return STATUS_OK;
}

double rehearsal_number_of(double latent, const double *form)
{
    const double skew = form[2];
    const double x = skew > 0 ? (exp(skew * latent) - 1.28) / 1.02 : latent; /* mean 0, spread 1 */
    return fmin(fmax(form[0] + form[1] * x, -1), 1);
}

/* Fills a column's numbers at z and returns how many they are. latent, form: of its first number. */
static size_t put_column(double *z, const struct column *column, const double *latent,
                         const double *form)
{
    size_t count = 1;
    if (column->kind == COLUMN_NUMBER) {
        z[0] = rehearsal_number_of(latent[0], form);
    } else if (column->category_count == 2) {
        z[0] = latent[0] > 2.5 * form[0] ? 1 : -1;
    } else {
        size_t best = 0;
        count = column->category_count;
        for (size_t c = 0; c < count; c++) {
            z[c] = -1;
            best = latent[c] + 2.5 * form[NUMBERS_OF_FORM * c] >
                           latent[best] + 2.5 * form[NUMBERS_OF_FORM * best]
                       ? c
                       : best;
        }
        z[best] = 1;
    }
    if (column->has_indicator) {
        z[count] = latent[count] > 1.6 ? 1 : -1;
        count++;
    }
    return count;
}

/* Draws a class. Its scores are the logarithms of the classes' chances. x: (P) factors and own parts */
static void move(double *x, double *score, const struct rehearsal_world *world,
                 struct public_random *random)
{
    const size_t width = FACTORS + world->d;
    double place = rehearsal_uniform(random, 0, 1);
    double told[SCHEMA_CATEGORIES_MAX];
    size_t own = 0;
    while (own + 1 < world->classes && place >= world->share[own]) {
        place -= world->share[own++];
    }
    dense_axpy(x, 1, world->mean + own * width, width);
    for (size_t c = 0; c < world->classes; c++) {
        const double *mean = world->mean + c * width;
        told[c] =
            dense_dot(mean, x, width) - dense_dot(mean, mean, width) / 2 + log(world->share[c]);
    }
    if (world->classes == 2) {
        score[0] = told[1] - told[0];
    } else {
        memcpy(score, told, world->classes * sizeof *score);
    }
    for (size_t i = 0; i < width; i++) {
        x[i] = (x[i] - world->centre[i]) / world->spread[i];
    }
}

void rehearsal_world_row(double *z, double *score, double *latent,
                         const struct rehearsal_world *world, const struct schema *schema,
                         struct public_random *random)
{
    double *column = latent + FACTORS;
    size_t at = 0;
    rehearsal_normals(latent, FACTORS, random);
    rehearsal_normals(column, world->d, random);
    if (world->label_first) {
        move(latent, score, world, random);
    }
    for (size_t j = 0; j < world->d; j++) {
        const struct rehearsal_latent *own = &world->latent[j];
        column[j] = own->own * column[j] + dense_dot(own->load, latent, FACTORS);
    }
    for (size_t i = 0; i < schema->lag_count; i++) {
        z[at] = rehearsal_number_of(column[at], world->form + NUMBERS_OF_FORM * at);
        at++;
    }
    for (size_t c = 0; c < schema->column_count; c++) {
        at +=
            put_column(z + at, &schema->column[c], column + at, world->form + NUMBERS_OF_FORM * at);
    }
    CHECK(at == world->d);
    z[at] = 1;
}
