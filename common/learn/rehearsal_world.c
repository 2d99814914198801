/* rehearsal_world.c - columns and factors of the prior that rehearsal.h states, and where the label comes first. */

#include "learn/rehearsal_world.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/standin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FACTORS = REHEARSAL_FACTORS, NUMBERS_OF_FORM = 3, ERROR_POINTS = 400, BISECTIONS = 60 };

#define ONE_CAUSE  0.5 /* of the tables: their labels follow the largest factor alone, or move it */
#define DECAY_MOST 4.0
#define OWN_MOST                                                                                   \
    6.0 /* columns whose worth of variance the columns have for themselves, all together */
#define UNEVEN_MOST 1.2 /* standard deviation of the logarithms of classes' shares */

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

static double draw_weight(struct public_random *random)
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
    latent->weight = draw_weight(random);
}

/* Of the factors of one more score: along one cause it is the same factor, with another weight. */
static void draw_factors(struct rehearsal_world *world, struct public_random *random)
{
    for (size_t f = 0; f < FACTORS; f++) {
        world->factor[f] = world->importance[f] * public_random_normal(random);
        world->factor[f] *= world->one_cause && f > 0 ? 0 : 1;
    }
}

static void draw_columns(struct rehearsal_world *world, struct public_random *random)
{
    const double least = 1 - fmin(0.8, OWN_MOST / (double)world->d);
    const double common = rehearsal_uniform(random, least, 0.98);
    const double decay = rehearsal_uniform(random, 0, DECAY_MOST);
    for (size_t f = 0; f < FACTORS; f++) {
        world->importance[f] = pow((double)f + 1, -decay);
        world->factor[f] = world->importance[f] * public_random_normal(random);
    }
    world->one_cause = rehearsal_uniform(random, 0, 1) < ONE_CAUSE;
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

static void draw_scores(struct rehearsal_world *world, size_t outputs, struct public_random *random)
{
    for (size_t o = 0; o < outputs; o++) {
        double *w = world->weight + o * world->d;
        if (o > 0) {
            draw_factors(world, random);
            for (size_t j = 0; j < world->d; j++) {
                world->latent[j].weight = draw_weight(random);
            }
        }
        add_part(w, world, true, sqrt(world->factors_share));
        add_part(w, world, false, sqrt(1 - world->factors_share));
        const double scale = 1 / deviation_of(w, world);
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
}

enum status rehearsal_world_init(struct rehearsal_world *world, const struct rehearsal_table *table,
                                 struct public_random *random)
{
    const size_t d = table->d;
    *world = (struct rehearsal_world){.d = d,
                                      .latent = calloc(d, sizeof *world->latent),
                                      .form = calloc(NUMBERS_OF_FORM * d, sizeof *world->form),
                                      .weight = calloc(table->outputs * d, sizeof *world->weight)};
    if (world->latent == NULL || world->form == NULL || world->weight == NULL) {
        rehearsal_world_free(world);
        return STATUS_NO_MEMORY;
    }
    draw_columns(world, random);
    draw_scores(world, table->outputs, random);
    return STATUS_OK;
}

/* How often the best classifier of two classes errs that follow a normal score of that standard deviation. */
static double error_of(double strength)
{
    const double most = fmin(40, 8 * strength);
    const double step = most / ERROR_POINTS;
    double sum = 0;
    for (size_t i = 0; i < ERROR_POINTS; i++) {
        const double t = ((double)i + 0.5) * step;
        sum += exp(-t * t / (2 * strength * strength)) * rehearsal_chance(-t);
    }
    return 2 * sum * step / (strength * sqrt(2 * 3.141592653589793));
}

/* How far two normal classes of variance 1 are apart where the best classifier errs as often. */
static double distance_of(double strength)
{
    const double error = error_of(strength);
    double low = 0;
    double high = 20;
    for (size_t i = 0; i < BISECTIONS; i++) {
        const double middle = (low + high) / 2;
        if (erfc(middle / 2 / sqrt(2)) / 2 > error) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static double apart(const double *a, const double *b)
{
    double squares = 0;
    for (size_t f = 0; f < FACTORS; f++) {
        squares += (a[f] - b[f]) * (a[f] - b[f]);
    }
    return sqrt(squares);
}

/* Half of the classes have their nearest other one within that distance. */
static double usual_distance(const struct rehearsal_world *world)
{
    double nearest[SCHEMA_CATEGORIES_MAX];
    for (size_t c = 0; c < world->classes; c++) {
        nearest[c] = HUGE_VAL;
        for (size_t b = 0; b < world->classes; b++) {
            const double far = b == c ? HUGE_VAL : apart(world->mean[c], world->mean[b]);
            nearest[c] = fmin(nearest[c], far);
        }
    }
    qsort(nearest, world->classes, sizeof *nearest, rehearsal_by_size);
    return fmax(nearest[world->classes / 2], 1e-9);
}

static void draw_shares(struct rehearsal_world *world, double positive,
                        struct public_random *random)
{
    const double uneven = rehearsal_uniform(random, 0, UNEVEN_MOST);
    double sum = 0;
    for (size_t c = 0; c < world->classes; c++) {
        world->share[c] = world->classes == 2 ? (c == 1 ? positive : 1 - positive)
                                              : exp(uneven * public_random_normal(random));
        sum += world->share[c];
    }
    for (size_t c = 0; c < world->classes; c++) {
        world->share[c] /= sum;
    }
}

void rehearsal_world_label_first(struct rehearsal_world *world, const struct rehearsal_table *table,
                                 double strength, double positive, struct public_random *random)
{
    world->label_first = true;
    world->classes = table->outputs > 1 ? table->outputs : 2;
    draw_shares(world, positive, random);
    for (size_t c = 0; c < world->classes; c++) {
        draw_factors(world, random);
        memcpy(world->mean[c], world->factor, sizeof world->factor);
    }
    const double scale = distance_of(strength) / usual_distance(world);
    for (size_t f = 0; f < FACTORS; f++) {
        double squares = 1; /* of a class's records */
        for (size_t c = 0; c < world->classes; c++) {
            world->mean[c][f] *= scale;
            world->centre[f] += world->share[c] * world->mean[c][f];
        }
        for (size_t c = 0; c < world->classes; c++) {
            const double off = world->mean[c][f] - world->centre[f];
            squares += world->share[c] * off * off;
        }
        world->spread[f] = sqrt(squares);
    }
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

/* The class's factors, whose scores are the logarithms of the classes' chances; then factors as columns have them. */
static void move_factors(double *factor, double *score, const struct rehearsal_world *world,
                         struct public_random *random)
{
    double place = rehearsal_uniform(random, 0, 1);
    double told[SCHEMA_CATEGORIES_MAX];
    size_t own = 0;
    while (own + 1 < world->classes && place >= world->share[own]) {
        place -= world->share[own++];
    }
    dense_axpy(factor, 1, world->mean[own], FACTORS);
    for (size_t c = 0; c < world->classes; c++) {
        const double *mean = world->mean[c];
        told[c] = dense_dot(mean, factor, FACTORS) - dense_dot(mean, mean, FACTORS) / 2 +
                  log(world->share[c]);
    }
    if (world->classes == 2) {
        score[0] = told[1] - told[0];
    } else {
        memcpy(score, told, world->classes * sizeof *score);
    }
    for (size_t f = 0; f < FACTORS; f++) {
        factor[f] = (factor[f] - world->centre[f]) / world->spread[f];
    }
}

void rehearsal_world_row(double *z, double *score, double *latent,
                         const struct rehearsal_world *world, const struct schema *schema,
                         struct public_random *random)
{
    double factor[FACTORS];
    size_t at = 0;
    rehearsal_normals(factor, FACTORS, random);
    rehearsal_normals(latent, world->d, random);
    if (world->label_first) {
        move_factors(factor, score, world, random);
    }
    for (size_t j = 0; j < world->d; j++) {
        const struct rehearsal_latent *own = &world->latent[j];
        latent[j] = own->own * latent[j] + dense_dot(own->load, factor, FACTORS);
    }
    for (size_t i = 0; i < schema->lag_count; i++) {
        z[at] = rehearsal_number_of(latent[at], world->form + NUMBERS_OF_FORM * at);
        at++;
    }
    for (size_t c = 0; c < schema->column_count; c++) {
        at += put_column(z + at, &schema->column[c], latent + at,
                         world->form + NUMBERS_OF_FORM * at);
    }
    CHECK(at == world->d);
    z[at] = 1;
}
