/* rehearsal_first.c - classes that come before the columns, of the prior that rehearsal.h states. */

#include "learn/rehearsal_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FACTORS = REHEARSAL_FACTORS, ERROR_POINTS = 400, BISECTIONS = 60 };

/* For several classes that move more than one factor: the part of the tables on which none moves a column by
 * itself. */
#define FACTORS_ALONE 0.5

/* The standard deviation of the logarithms of several classes' shares, at most; 0 on half of the tables. */
#define UNEVEN_MOST 1.2

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

/* How far normal classes of variance 1 are apart from each of their neighbours where the best classifier errs about as often. */
static double distance_of(double strength, double neighbours)
{
    const double error = error_of(strength) / neighbours;
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

static double apart(const double *a, const double *b, size_t count)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        squares += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(squares);
}

/* Half of the classes have their nearest other one within that distance, by count numbers of their means from `first` on. */
static double usual_distance(const struct rehearsal_world *world, size_t first, size_t count)
{
    double nearest[SCHEMA_CATEGORIES_MAX];
    const size_t width = FACTORS + world->d;
    for (size_t c = 0; c < world->classes; c++) {
        const double *own = world->mean + c * width + first;
        nearest[c] = HUGE_VAL;
        for (size_t b = 0; b < world->classes; b++) {
            const double far =
                b == c ? HUGE_VAL : apart(own, world->mean + b * width + first, count);
            nearest[c] = fmin(nearest[c], far);
        }
    }
    qsort(nearest, world->classes, sizeof *nearest, rehearsal_by_size);
    return nearest[world->classes / 2];
}

/* Where most classes have one mean, as by a column or two that tells nothing of them, the means stay as they are. */
static void scale_means(struct rehearsal_world *world, size_t first, size_t count, double wanted)
{
    const size_t width = FACTORS + world->d;
    const double usual = usual_distance(world, first, count);
    const double scale = usual > 1e-3 ? wanted / usual : 1;
    for (size_t c = 0; c < world->classes; c++) {
        for (size_t i = first; i < first + count; i++) {
            world->mean[c * width + i] *= scale;
        }
    }
}

static void draw_shares(struct rehearsal_world *world, double positive,
                        struct public_random *random)
{
    const double uneven = fmax(rehearsal_uniform(random, -UNEVEN_MOST, UNEVEN_MOST), 0);
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

/* The variances over all records; within a class they are 1. */
static void find_spread(struct rehearsal_world *world)
{
    const size_t width = FACTORS + world->d;
    for (size_t i = 0; i < width; i++) {
        double squares = 1;
        for (size_t c = 0; c < world->classes; c++) {
            world->centre[i] += world->share[c] * world->mean[c * width + i];
        }
        for (size_t c = 0; c < world->classes; c++) {
            const double off = world->mean[c * width + i] - world->centre[i];
            squares += world->share[c] * off * off;
        }
        world->spread[i] = sqrt(squares);
    }
}

enum status rehearsal_world_label_first(struct rehearsal_world *world,
                                        const struct rehearsal_table *table, double strength,
                                        double positive, struct public_random *random)
{
    const size_t width = FACTORS + world->d;
    world->label_first = true;
    world->classes = table->outputs > 1 ? table->outputs : 2;
    world->mean = calloc((world->classes + 2) * width, sizeof *world->mean);
    if (world->mean == NULL) {
        return STATUS_NO_MEMORY;
    }
    world->centre = world->mean + world->classes * width;
    world->spread = world->centre + width;
    draw_shares(world, positive, random);
    if (world->classes > 2 && rehearsal_uniform(random, 0, 1) < FACTORS_ALONE) {
        world->factors_share = 1;
    }
    for (size_t c = 0; c < world->classes; c++) {
        double *mean = world->mean + c * width;
        rehearsal_world_factors(world, random);
        memcpy(mean, world->factor, sizeof world->factor);
        for (size_t j = 0; j < world->d; j++) {
            mean[FACTORS + j] = rehearsal_weight(random);
        }
    }
    scale_means(world, 0, FACTORS, sqrt(world->factors_share));
    scale_means(world, FACTORS, world->d, sqrt(1 - world->factors_share));
    scale_means(world, 0, width, distance_of(strength, world->classes > 2 ? 2 : 1));
    find_spread(world);
    return STATUS_OK;
}
