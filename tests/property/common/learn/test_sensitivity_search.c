/* A search for the worst neighbours: small steps over the records, the replaced one, the labels and
 * the point that is answered, keeping what moves a fit's weights or a kernel machine's answer
 * further. For every loss, with every way from records to features and every kernel, nothing that
 * it finds exceeds the bound, and most of it is reached. Seeds are fixed: nothing here can fail by
 * chance. */

#include "learn/features.h"
#include "learn/kernel_machine.h"
#include "learn/sensitivity.h"

#include "attack_data.h"

#include <string.h>

enum { RECORDS_MAX = 8, CELLS = 2, FEATURES_MAX = 8, STARTS = 12, STEPS = 150 };

static const struct loss every[] = {
    {LOSS_LOGISTIC, 0},  {LOSS_HINGE, 0},    {LOSS_PINBALL, 0.1},
    {LOSS_PINBALL, 0.5}, {LOSS_ABSOLUTE, 0}, {LOSS_INSENSITIVE, 0.25},
    {LOSS_HUBER, 0.5},   {LOSS_HUBER, 2},    {LOSS_SQUARED, 0},
};
enum { EVERY = sizeof every / sizeof *every };

/* Records are the vectors themselves, or made by a schema; answers are a kernel machine's. */
enum way { FREE, PLAIN, FOURIER, NYSTROM, WAYS };
static const char *const way_name[] = {"free", "plain", "fourier", "nystrom"};

static const struct kernel kernels[] = {
    {.kind = KERNEL_LINEAR},
    {.kind = KERNEL_GAUSSIAN, .rate = 4},
    {.kind = KERNEL_LAPLACIAN, .rate = 2},
    {.kind = KERNEL_POLYNOMIAL, .offset = 0.5, .degree = 2},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

struct record {
    double cell[CELLS]; /* within [-1, 1] */
    double label;       /* within [-1, 1]; of two classes its sign */
};

/* The last record replaces the first. */
struct pair {
    struct record record[RECORDS_MAX + 1];
    double point[CELLS];
};

struct target {
    struct loss loss;
    size_t record_count;
    double lambda;
    struct features *features; /* NULL: free */
    size_t feature_count;
    const struct kernel *kernel; /* NULL: a fit */
    double radius;               /* of free records; 1, but where a fault is planted */
};

static void to_ball(double *x, const double *cell, double radius)
{
    const double norm = sqrt(cell[0] * cell[0] + cell[1] * cell[1]);
    for (size_t j = 0; j < CELLS; j++) {
        x[j] = radius * cell[j] / fmax(norm, 1) * (1 - 1e-15);
    }
}

static void put(const struct target *target, double *x, double *y, const struct record *record)
{
    if (target->features != NULL) {
        features_apply(target->features, x, record->cell);
    } else {
        to_ball(x, record->cell, target->radius);
    }
    *y = loss_is_classification(target->loss) ? copysign(1, record->label) : record->label;
}

static double fit_moved(const struct target *target, const struct dataset data[2])
{
    const struct erm_problem problem = {target->loss, target->lambda, 1e-6, target->record_count,
                                        target->feature_count};
    double w[2][FEATURES_MAX];
    double bound = 0;
    struct why why = {{0}};
    cr_assert(sensitivity_fit_l2(&bound, &problem, &why) == STATUS_OK, "%s", why.text);
    for (int side = 0; side < 2; side++) {
        cr_assert(erm_solve(w[side], &problem, &data[side], NULL) == STATUS_OK);
    }
    return distance_between(w[0], w[1], target->feature_count) / bound;
}

static double answer_moved(const struct target *target, const struct dataset data[2],
                           const double *point)
{
    const struct kernel_problem problem = {.loss = target->loss,
                                           .kernel = *target->kernel,
                                           .lambda = target->lambda,
                                           .tolerance = 1e-6,
                                           .record_count = target->record_count,
                                           .feature_count = CELLS};
    double f[2] = {0};
    double x[CELLS];
    double bound = 0;
    to_ball(x, point, 1);
    cr_assert(sensitivity_predict(&bound, &problem, NULL) == STATUS_OK);
    for (int side = 0; side < 2; side++) {
        struct kernel_model model;
        cr_assert(kernel_fit(&model, &problem, &data[side], NULL) == STATUS_OK);
        kernel_predict(&f[side], &model, x, 1);
        kernel_model_free(&model);
    }
    return fabs(f[0] - f[1]) / bound;
}

/* Returns how far the pair moves the result, as a share of the bound. */
static double share_of(const struct target *target, const struct pair *pair)
{
    const size_t m = target->record_count;
    const size_t d = target->feature_count;
    double x[2][RECORDS_MAX * FEATURES_MAX];
    double y[2][RECORDS_MAX];
    struct dataset data[2];
    for (size_t i = 0; i < m; i++) {
        put(target, x[0] + i * d, &y[0][i], &pair->record[i]);
    }
    memcpy(x[1], x[0], sizeof x[0]);
    memcpy(y[1], y[0], sizeof y[0]);
    put(target, x[1], &y[1][0], &pair->record[m]);
    for (int side = 0; side < 2; side++) {
        data[side] =
            (struct dataset){.record_count = m, .feature_count = d, .x = x[side], .y = y[side]};
    }
    return target->kernel == NULL ? fit_moved(target, data)
                                  : answer_moved(target, data, pair->point);
}

static double stepped(double value, double length, struct seeded_random *random)
{
    const double next = value + length * (2 * seeded_random_unit(random) - 1);
    return seeded_random_below(random, 8) == 0 ? copysign(1, next) : fmin(fmax(next, -1), 1);
}

/* Moves about a third of all numbers. */
static void step(struct pair *pair, size_t m, double length, struct seeded_random *random)
{
    for (size_t i = 0; i <= m; i++) {
        double *number = pair->record[i].cell;
        for (size_t j = 0; j < CELLS; j++) {
            number[j] = seeded_random_below(random, 3) == 0 ? stepped(number[j], length, random)
                                                            : number[j];
        }
        if (seeded_random_below(random, 3) == 0) {
            pair->record[i].label = stepped(pair->record[i].label, length, random);
        }
    }
    for (size_t j = 0; j < CELLS; j++) {
        pair->point[j] = stepped(pair->point[j], length, random);
    }
}

static double climbed(struct target *target, uint64_t seed)
{
    static const size_t count[] = {1, 2, 3, RECORDS_MAX};
    struct seeded_random random;
    double most = 0;
    seeded_random_init(&random, seed);
    for (size_t start = 0; start < STARTS; start++) {
        struct pair best = {0};
        double share = 0;
        target->record_count = count[start % 4];
        target->lambda = pow(10, 2.5 * seeded_random_unit(&random) - 0.5);
        for (int i = 0; i < STEPS; i++) {
            struct pair next = best;
            step(&next, target->record_count, i < 20 ? 2 : 40.0 / (20 + 4 * i), &random);
            const double reached = share_of(target, &next);
            if (reached >= share) {
                best = next;
                share = reached;
            }
        }
        most = fmax(most, share);
    }
    return most;
}

static struct column column[CELLS] = {{.name = "a", .half_width = 1},
                                      {.name = "b", .half_width = 1}};
static double landmark[] = {-0.8, 0.3, 0.9, 0.7, 0.1, -0.9};

static struct schema schema_of(enum way way)
{
    struct schema schema = {.column = column,
                            .column_count = CELLS,
                            .label = {.name = "y", .positive = "1", .negative = "0"}};
    if (way == FOURIER) {
        schema.map = (struct feature_map){.kind = MAP_FOURIER,
                                          .kernel = {.kind = KERNEL_GAUSSIAN, .rate = 2},
                                          .feature_count = 6,
                                          .seed = 1};
    } else if (way == NYSTROM) {
        schema.map = (struct feature_map){.kind = MAP_NYSTROM,
                                          .kernel = {.kind = KERNEL_LAPLACIAN, .rate = 2},
                                          .landmark_count = 3,
                                          .landmark = landmark};
    }
    return schema;
}

/* What the search reaches at least: nearly all of the bound, so that one a tenth too small would be
 * caught. Not of three losses, whose slopes seldom reach their constants on so few records (the
 * logistic one's does on a thousand: test_fit_sensitivity). */
static void check_share(const struct target *target, double share, const char *way)
{
    const struct loss loss = target->loss;
    const bool rare = loss.kind == LOSS_LOGISTIC || loss.parameter == 0.1 || loss.parameter == 2;
    cr_log_info("%s, %s %g: up to %.3f of the bound", way, loss_name(loss.kind), loss.parameter,
                share);
    cr_assert(share <= 1, "%s, %s %g: %g", way, loss_name(loss.kind), loss.parameter, share);
    cr_assert(share > (rare ? 0.48 : 0.85), "%s, %s: %g", way, loss_name(loss.kind), share);
}

Test(sensitivity_search, no_neighbours_move_a_fit_further_than_its_bound)
{
    for (enum way way = FREE; way < WAYS; way++) {
        const struct schema schema = schema_of(way);
        struct target target = {
            .feature_count = way == FREE ? CELLS : schema_feature_count(&schema), .radius = 1};
        struct why why = {{0}};
        cr_assert(way == FREE || features_new(&target.features, &schema, &why) == STATUS_OK);
        for (int k = 0; k < EVERY; k++) {
            target.loss = every[k];
            check_share(&target, climbed(&target, 51), way_name[way]);
        }
        features_free(target.features);
    }
}

Test(sensitivity_search, no_neighbours_move_an_answer_further_than_its_bound)
{
    for (int j = 0; j < KERNELS; j++) {
        struct target target = {.feature_count = CELLS, .kernel = &kernels[j], .radius = 1};
        for (int k = 0; k < EVERY; k++) {
            target.loss = every[k];
            check_share(&target, climbed(&target, 52), kernel_name(kernels[j].kind));
        }
    }
}

/* Planted: features a tenth longer than kappa. */
Test(sensitivity_search, records_longer_than_their_norm_are_caught)
{
    for (int k = 0; k < EVERY; k++) {
        struct target target = {.loss = every[k], .feature_count = CELLS, .radius = 1.1};
        const bool rare = every[k].kind == LOSS_LOGISTIC || every[k].parameter == 2;
        cr_assert(rare || climbed(&target, 51) > 1, "%s", loss_name(every[k].kind));
    }
}
