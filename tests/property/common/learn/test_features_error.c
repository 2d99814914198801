/* The distance between inner products of features and their kernel, at points where they are not
 * exact. Seeds are fixed. With random seeds the bound of Fourier's features would be exceeded with
 * a probability of at most 1e-6. */

#include "learn/features.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 3, PLAIN = COLUMNS + 1, RECORDS = 20, LANDMARKS_MAX = 60, WIDEST = 4097 };

struct fixture {
    struct column column[COLUMNS];
    double landmark[LANDMARKS_MAX * COLUMNS];
    struct schema schema;
    double value[RECORDS][COLUMNS];
    double x[RECORDS][PLAIN]; /* without the map */
};

static void apply_all(const struct schema *schema, double *out, const struct fixture *fixture)
{
    struct features *features = NULL;
    struct why why = {{0}};
    cr_assert(schema_check(schema, &why) == STATUS_OK, "%s", why.text);
    cr_assert(features_new(&features, schema, &why) == STATUS_OK);
    for (size_t i = 0; i < RECORDS; i++) {
        features_apply(features, out + i * schema_feature_count(schema), fixture->value[i]);
    }
    features_free(features);
}

static void fixture_init(struct fixture *fixture)
{
    struct seeded_random random;
    seeded_random_init(&random, 61);
    *fixture = (struct fixture){.schema = {.column = fixture->column,
                                           .column_count = COLUMNS,
                                           .label = {.name = "y", .positive = "1", .negative = "0"},
                                           .map = {.landmark = fixture->landmark}}};
    for (size_t j = 0; j < COLUMNS; j++) {
        fixture->column[j].half_width = 1;
        (void)snprintf(fixture->column[j].name, sizeof fixture->column[j].name, "c%zu", j);
    }
    for (size_t i = 0; i < RECORDS * COLUMNS; i++) {
        fixture->value[i / COLUMNS][i % COLUMNS] = 2 * seeded_random_unit(&random) - 1;
    }
    for (size_t i = 0; i < LANDMARKS_MAX * COLUMNS; i++) {
        fixture->landmark[i] = 2 * seeded_random_unit(&random) - 1;
    }
    apply_all(&fixture->schema, fixture->x[0], fixture);
}

static double product(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        sum += a[j] * b[j];
    }
    return sum;
}

/* The largest error over all pairs of records, also as a share of the error that projections may
 * have. */
struct error {
    double most;
    double share;
};

/* Features that project K(x, .) onto what the landmarks span err by the product of what is left of
 * x and of x', which is at most the root of (1 - ||phi||^2) (1 - ||phi'||^2). `stretch` is 1, but
 * where a fault is planted. */
static struct error error_of(const struct fixture *fixture, double stretch)
{
    const struct schema *schema = &fixture->schema;
    const size_t d = schema_feature_count(schema);
    const double square = schema_constant(schema) * schema_constant(schema) / stretch;
    double *z = calloc(RECORDS * d, sizeof *z);
    struct error error = {0};
    cr_assert(z != NULL);
    apply_all(schema, z, fixture);
    for (size_t i = 0; i < RECORDS; i++) {
        const double *a = z + i * d;
        for (size_t k = 0; k < i; k++) {
            const double *b = z + k * d;
            const double kernel =
                kernel_value(schema->map.kernel, fixture->x[i], fixture->x[k], PLAIN);
            const double off = fabs(product(a, b, d - 1) / square - kernel);
            const double left = fmax(1 - product(a, a, d - 1) / square, 0) *
                                fmax(1 - product(b, b, d - 1) / square, 0);
            error.most = fmax(error.most, off);
            error.share = fmax(error.share, off / (sqrt(left) + 1e-9));
        }
    }
    free(z);
    return error;
}

static const struct kernel kernels[] = {{KERNEL_GAUSSIAN, .rate = 1},
                                        {KERNEL_GAUSSIAN, .rate = 8},
                                        {KERNEL_LAPLACIAN, .rate = 1},
                                        {KERNEL_LAPLACIAN, .rate = 4}};
enum { KERNELS = sizeof kernels / sizeof *kernels };

Test(features_error, nystrom_errs_by_no_more_than_what_its_landmarks_leave)
{
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.schema.map.kind = MAP_NYSTROM;
    for (int k = 0; k < KERNELS; k++) {
        double before = 1;
        fixture.schema.map.kernel = kernels[k];
        for (size_t count = 4; count <= LANDMARKS_MAX; count *= 3) {
            fixture.schema.map.landmark_count = count;
            const struct error error = error_of(&fixture, 1);
            cr_log_info("%s %g, %zu landmarks: off by %.4f, %.3f of what is left",
                        kernel_name(kernels[k].kind), kernels[k].rate, count, error.most,
                        error.share);
            cr_assert(error.share <= 1);
            cr_assert(error.most < before, "more landmarks, more exact");
            before = error.most;
        }
        /* Planted, where landmarks leave little: features a twentieth too long. */
        cr_assert(k > 0 || error_of(&fixture, 1.1).share > 1);
    }
}

/* A mean of D/2 numbers of [-1, 1]: Hoeffding's bound for the 190 pairs together. */
Test(features_error, fourier_errs_like_the_root_of_its_frequencies)
{
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.schema.map.kind = MAP_FOURIER;
    fixture.schema.map.seed = 3;
    for (int k = 0; k < KERNELS; k++) {
        fixture.schema.map.kernel = kernels[k];
        for (size_t count = 64; count < WIDEST; count *= 8) {
            const double limit = sqrt(2 * log(2 * 190 / 1e-6) / (0.5 * (double)count));
            fixture.schema.map.feature_count = count;
            const double most = error_of(&fixture, 1).most;
            cr_log_info("%s %g, %zu features: off by %.4f of %.4f", kernel_name(kernels[k].kind),
                        kernels[k].rate, count, most, limit);
            cr_assert(most < limit && most > limit / 10);
        }
        cr_assert(error_of(&fixture, 1.3).most > sqrt(2 * log(2 * 190 / 1e-6) / 2048.0));
    }
}
