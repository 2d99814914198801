/* rehearsal_table.c - the prior that rehearsal.h states. */

#include "learn/rehearsal_table.h"

#include "base/check.h"
#include "learn/dense.h"

#include <math.h>
#include <stdlib.h>

enum { FACTORS = 8, LABELS_MOST = 16 };

/* Labels of all difficulties: the best classifier of balanced classes errs on 0.05 to 46 % (unit/common/learn/test_rehearsal). Half
 * of the tables have one cause, as the tumours have, and half have columns of their own beside the factors, as most tables have. Nine
 * priors were compared by what bands hold (statistical/common/learn/test_learn_expected). */
#define STRENGTH_LEAST 0.2 /* standard deviation of the score */
#define STRENGTH_MOST  1000.0
#define ONE_CAUSE      0.5  /* of the tables: their labels follow the largest factor alone */
#define CLASS_LEAST    0.05 /* of the records */
#define DECAY_MOST     4.0
#define OWN_MOST                                                                                   \
    6.0 /* columns whose worth of variance the columns have for themselves, all together */
#define GOLDEN 0.6180339887498949

void rehearsal_table_free(struct rehearsal_table *table)
{
    free(table->z);
    free(table->score);
}

enum status rehearsal_table_init(struct rehearsal_table *table, size_t d, size_t rows,
                                 size_t labels)
{
    *table = (struct rehearsal_table){.d = d, .rows = rows, .labels = labels};
    const size_t all = table->rows + REHEARSAL_TEST_ROWS;
    table->z = calloc(all * (d + 1), sizeof *table->z);
    table->score = calloc(3 * all, sizeof *table->score);
    if (table->z == NULL || table->score == NULL) {
        rehearsal_table_free(table);
        return STATUS_NO_MEMORY;
    }
    table->lean = table->score + all;
    table->spare = table->lean + all;
    return STATUS_OK;
}

double rehearsal_uniform(struct public_random *random, double low, double high)
{
    return low + (high - low) * ldexp((double)(public_random_next(random) >> 11), -53);
}

/* count normal numbers, by Marsaglia's polar method: a table has too many of them for the exact one. */
static void normals(double *x, size_t count, struct public_random *random)
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

/* One latent normal number of every column, with the table's factors behind it. */
struct latent {
    double load[FACTORS]; /* of length at most 1 */
    double own;           /* weight of the column's own part */
    double weight;        /* in the score */
};

/* What a table's rows have in common. */
struct world {
    struct latent *latent; /* (d) */
    double *form;          /* (d, 3) what a column makes of its latent number: by kind */
    double factor[FACTORS];
    double factors_share; /* of the score */
};

/* importance: (FACTORS) */
static void draw_latent(struct latent *latent, double common, const double *importance,
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
    latent->weight = public_random_normal(random);
    if (rehearsal_uniform(random, 0, 1) < 0.5) {
        latent->weight = 0;
    }
}

static void draw_world(struct world *world, size_t d, struct public_random *random)
{
    const double common = rehearsal_uniform(random, 1 - fmin(0.8, OWN_MOST / (double)d), 0.98);
    const double decay = rehearsal_uniform(random, 0, DECAY_MOST);
    double importance[FACTORS];
    double square = 0;
    for (size_t f = 0; f < FACTORS; f++) {
        importance[f] = pow((double)f + 1, -decay);
        world->factor[f] = importance[f] * public_random_normal(random);
    }
    const bool one_cause = rehearsal_uniform(random, 0, 1) < ONE_CAUSE;
    for (size_t f = 1; one_cause && f < FACTORS; f++) {
        world->factor[f] = 0;
    }
    world->factors_share = one_cause ? 1 : rehearsal_uniform(random, 0, 1);
    for (size_t j = 0; j < d; j++) {
        double *form = world->form + 3 * j;
        draw_latent(&world->latent[j], common, importance, random);
        form[0] = rehearsal_uniform(random, -0.4, 0.4); /* mean, or a category's threshold */
        form[1] = 0.2 * exp(rehearsal_uniform(random, 0, 1.0986)); /* spread: 0.2 to 0.6 */
        form[2] = rehearsal_uniform(random, 0, 1) < 1.0 / 3
                      ? 0.7
                      : 0.0; /* skewness of a log-normal number */
        square += world->latent[j].weight * world->latent[j].weight;
    }
    world->latent[0].weight += square == 0 ? 1 : 0;
}

/* A number in its range. */
static double number_of(double latent, const double *form)
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
        z[0] = number_of(latent[0], form);
    } else if (column->category_count == 2) {
        z[0] = latent[0] > 2.5 * form[0] ? 1 : -1;
    } else {
        size_t best = 0;
        count = column->category_count;
        for (size_t c = 0; c < count; c++) {
            z[c] = -1;
            best = latent[c] + 2.5 * form[3 * c] > latent[best] + 2.5 * form[3 * best] ? c : best;
        }
        z[best] = 1;
    }
    if (column->has_indicator) {
        z[count] = latent[count] > 1.6 ? 1 : -1;
        count++;
    }
    return count;
}

/* Fills row i and the two parts of its score. latent: (d) scratch */
static void put_row(struct rehearsal_table *table, size_t i, double part[static 2], double *latent,
                    const struct world *world, const struct schema *schema,
                    struct public_random *random)
{
    double factor[FACTORS];
    double *z = table->z + i * (table->d + 1);
    size_t at = 0;
    part[0] = 0;
    part[1] = 0;
    normals(factor, FACTORS, random);
    normals(latent, table->d, random);
    for (size_t j = 0; j < table->d; j++) {
        const struct latent *own = &world->latent[j];
        latent[j] = own->own * latent[j] + dense_dot(own->load, factor, FACTORS);
        part[0] += dense_dot(own->load, world->factor, FACTORS) * latent[j];
        part[1] += own->weight * latent[j];
    }
    for (size_t c = 0; c < schema->column_count; c++) {
        at += put_column(z + at, &schema->column[c], latent + at, world->form + 3 * at);
    }
    CHECK(at == table->d);
    z[at] = 1;
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

/* Scales the scores (their parts: factors in spare, columns in score), moves them, and draws labels. */
static void put_labels(struct rehearsal_table *table, const struct world *world, double strength,
                       double positive, struct public_random *random)
{
    const size_t all = table->rows + REHEARSAL_TEST_ROWS;
    const double a = sqrt(world->factors_share) / spread_of(table->spare, all);
    const double b = sqrt(1 - world->factors_share) / spread_of(table->score, all);
    for (size_t i = 0; i < all; i++) {
        table->score[i] = a * table->spare[i] + b * table->score[i];
    }
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
    for (size_t i = 0; i < table->rows; i++) {
        table->lean[i] = draw_lean(rehearsal_chance(table->score[i]), table->labels, random);
    }
}

enum status rehearsal_table_draw(struct rehearsal_table *table, const struct schema *schema,
                                 size_t index, size_t count, struct public_random *random)
{
    const size_t d = table->d;
    struct world world = {.latent = calloc(d, sizeof *world.latent),
                          .form = calloc(4 * d, sizeof *world.form)};
    enum status status = STATUS_NO_MEMORY;
    if (world.latent != NULL && world.form != NULL) {
        const double place = ((double)index + rehearsal_uniform(random, 0, 1)) / (double)count;
        const double strength = STRENGTH_LEAST * pow(STRENGTH_MOST / STRENGTH_LEAST, place);
        const double balance = fmod((double)index * GOLDEN + rehearsal_uniform(random, 0, 0.1), 1);
        draw_world(&world, d, random);
        for (size_t i = 0; i < table->rows + REHEARSAL_TEST_ROWS; i++) {
            double part[2];
            put_row(table, i, part, world.form + 3 * d, &world, schema, random);
            table->spare[i] = part[0];
            table->score[i] = part[1];
        }
        put_labels(table, &world, strength, CLASS_LEAST + (1 - 2 * CLASS_LEAST) * balance, random);
        status = STATUS_OK;
    }
    free(world.latent);
    free(world.form);
    return status;
}

/* The share of new records that the model w (d + 1) gets right. */
double rehearsal_table_accuracy(const double *w, const struct rehearsal_table *table)
{
    double sum = 0;
    for (size_t i = table->rows; i < table->rows + REHEARSAL_TEST_ROWS; i++) {
        const double p = rehearsal_chance(table->score[i]);
        const double f = dense_dot(w, table->z + i * (table->d + 1), table->d + 1);
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
        count += (dense_dot(a, z, width) > 0) != (dense_dot(b, z, width) > 0) ? 1 : 0;
    }
    return count / REHEARSAL_TEST_ROWS;
}
