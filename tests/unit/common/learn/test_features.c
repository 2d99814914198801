/* Feature maps: public numbers that are the same everywhere, norms of at most 1 in the reals, inner
 * products that are the kernel's. Planted: each check catches likely wrong variants. All seeds are
 * fixed, so nothing fails by chance; as random checks, each bound is one that chance exceeds with
 * probability below 1e-6. */

#include "learn/features.h"

#include "learn/features_normal.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 5, PLAIN = COLUMNS + 1 };

/* Five numbers, each a value of [-1, 1] as it is. */
static void five_columns(struct schema *schema, struct column *column)
{
    memset(column, 0, COLUMNS * sizeof *column);
    for (int i = 0; i < COLUMNS; i++) {
        snprintf(column[i].name, sizeof column[i].name, "c%d", i);
        column[i].half_width = 1;
    }
    *schema = (struct schema){.column = column,
                              .column_count = COLUMNS,
                              .label = {.name = "y", .positive = "1", .negative = "0"}};
}

static void draw_values(double *value, size_t count, struct seeded_random *random)
{
    for (size_t i = 0; i < count; i++) {
        value[i] = 2 * seeded_random_unit(random) - 1;
    }
}

static struct features *prepared(const struct schema *schema)
{
    struct features *features = NULL;
    struct why why = {{0}};
    cr_assert(schema_check(schema, &why) == STATUS_OK, "%s", why.text);
    cr_assert(features_new(&features, schema, &why) == STATUS_OK, "%s", why.text);
    return features;
}

static struct schema fourier(struct column *column, enum kernel_kind kernel, double rate,
                             size_t count)
{
    struct schema schema;
    five_columns(&schema, column);
    schema.map = (struct feature_map){.kind = MAP_FOURIER,
                                      .kernel = {.kind = kernel, .rate = rate},
                                      .feature_count = count,
                                      .seed = 42};
    return schema;
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Expected values: a second implementation, in exact fractions. */
Test(features, public_numbers_are_the_same_everywhere)
{
    static const double expected[] = {
        0x1.581ce1ff0e4a8p+0, 0x1.836ded897f3e8p+0, -0x1.7eadff448a880p-4, 0x1.5621a78b0616cp+1,
        0x1.039e786c344b8p+0, 0x1.b9deb390b6f68p+0, 0x1.63708fbb4cad0p-1,  -0x1.2966c1e6ebf68p+0};
    struct public_random random = public_random_from(1234567);
    cr_assert(public_random_next(&random) == UINT64_C(6457827717110365317));
    cr_assert(public_random_next(&random) == UINT64_C(3203168211198807973));
    random = public_random_from(42);
    for (int i = 0; i < 8; i++) {
        const double normal = public_random_normal(&random);
        cr_assert(normal == expected[i], "%d: %a", i, normal);
    }
    for (int i = 8; i < 19999; i++) {
        (void)public_random_normal(&random);
    }
    cr_assert(public_random_normal(&random) == -0x1.576005256dda0p-2);
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The largest distance between the empirical distribution and the normal one; sorts. */
static double distance_to_normal(double *x, size_t count)
{
    double largest = 0;
    qsort(x, count, sizeof *x, by_value);
    for (size_t i = 0; i < count; i++) {
        const double p = erfc(-x[i] / sqrt(2)) / 2;
        largest = fmax(largest, fmax(fabs(p - (double)i / (double)count),
                                     fabs(p - (double)(i + 1) / (double)count)));
    }
    return largest;
}

/* Dvoretzky, Kiefer, Wolfowitz and Massart: above sqrt(ln(2/a)/(2n)) with probability at most a. */
Test(features, normal_numbers_are_normal)
{
    enum { COUNT = 400000 };
    const double limit = sqrt(log(2 / 1e-6) / (2.0 * COUNT));
    double *x = malloc(COUNT * sizeof *x);
    double *planted = malloc(COUNT * sizeof *planted);
    struct public_random random = public_random_from(7);
    cr_assert(x != NULL && planted != NULL);
    for (int i = 0; i < COUNT; i++) {
        x[i] = public_random_normal(&random);
    }
    for (int fault = 0; fault < 3; fault++) {
        for (int i = 0; i < COUNT; i++) {
            const double magnitude = floor(fabs(x[i]));
            planted[i] = fault == 0   ? 1.02 * x[i]
                         : fault == 1 ? copysign(magnitude + (double)i / COUNT, x[i])
                                      : fabs(x[i]);
        }
        cr_assert(distance_to_normal(planted, COUNT) > limit, "fault %d", fault);
    }
    const double distance = distance_to_normal(x, COUNT);
    cr_assert(distance < limit, "%g of %g", distance, limit);
    free(x);
    free(planted);
}

/* Frequencies turned into what a planted fault would have made of them. */
enum fault { SOUND, RATE_NOT_DOUBLED, OTHER_KERNEL, SINES_ONLY, FAULTS };

/* Returns phi(a).phi(b) from the frequencies alone, by the formula. */
static double inner(const double *frequency, size_t pairs, const double *a, const double *b,
                    enum fault fault)
{
    double sum = 0;
    for (size_t i = 0; i < pairs; i++) {
        double angle_a = dot(frequency + i * PLAIN, a, PLAIN);
        double angle_b = dot(frequency + i * PLAIN, b, PLAIN);
        if (fault == RATE_NOT_DOUBLED) {
            angle_a *= sqrt(0.5);
            angle_b *= sqrt(0.5);
        }
        sum += fault == SINES_ONLY ? 2 * sin(angle_a) * sin(angle_b)
                                   : cos(angle_a) * cos(angle_b) + sin(angle_a) * sin(angle_b);
    }
    return sum / (double)pairs;
}

/* The largest error over pairs of records; own: of features_apply, and it must be the formula's. */
static double kernel_error(enum kernel_kind kind, double rate, enum fault fault)
{
    enum { FEATURES = 8192, RECORDS = 24 };
    struct column column[COLUMNS];
    struct schema schema = fourier(column, kind, rate, FEATURES);
    struct schema plain = schema;
    struct seeded_random random;
    static double z[RECORDS][FEATURES + 1];
    double x[RECORDS][PLAIN];
    double worst = 0;
    plain.map = (struct feature_map){.kind = MAP_NONE};
    struct features *features = prepared(&schema);
    struct features *plainly = prepared(&plain);
    seeded_random_init(&random, 11);
    for (int i = 0; i < RECORDS; i++) {
        double value[COLUMNS];
        draw_values(value, COLUMNS, &random);
        features_apply(features, z[i], value);
        features_apply(plainly, x[i], value);
    }
    const double c = schema_constant(&schema);
    const struct kernel kernel = {
        fault == OTHER_KERNEL ? (kind == KERNEL_GAUSSIAN ? KERNEL_LAPLACIAN : KERNEL_GAUSSIAN)
                              : kind,
        .rate = rate};
    for (int i = 0; i < RECORDS; i++) {
        for (int j = 0; j < i; j++) {
            const double formula =
                inner(features_frequencies(features), FEATURES / 2, x[i], x[j], fault);
            const double own = dot(z[i], z[j], FEATURES) / (c * c);
            cr_assert(fault == RATE_NOT_DOUBLED || fault == SINES_ONLY ||
                      fabs(own - formula) < 1e-10);
            worst = fmax(worst, fabs(formula - kernel_value(kernel, x[i], x[j], PLAIN)));
        }
    }
    features_free(features);
    features_free(plainly);
    return worst;
}

/* A mean of n = 4096 numbers cos(w.(x - x')) of [-1, 1]: Hoeffding's bound, for 276 pairs together,
 * exceeds t = sqrt(2 ln(2 * 276/1e-6)/n) with probability at most 1e-6. */
Test(features, fourier_inner_products_are_the_kernels)
{
    static const struct kernel kernel[] = {{KERNEL_GAUSSIAN, .rate = 0.5},
                                           {KERNEL_GAUSSIAN, .rate = 5},
                                           {KERNEL_LAPLACIAN, .rate = 0.5},
                                           {KERNEL_LAPLACIAN, .rate = 3}};
    const double limit = sqrt(2 * log(2 * 276 / 1e-6) / 4096);
    for (size_t i = 0; i < sizeof kernel / sizeof kernel[0]; i++) {
        const double error = kernel_error(kernel[i].kind, kernel[i].rate, SOUND);
        cr_assert(error < limit, "kernel %zu: %g of %g", i, error, limit);
    }
    for (enum fault fault = RATE_NOT_DOUBLED; fault < FAULTS; fault++) {
        cr_assert(kernel_error(KERNEL_GAUSSIAN, 0.5, fault) > limit, "fault %d", fault);
    }
    cr_assert(kernel_error(KERNEL_LAPLACIAN, 3, OTHER_KERNEL) > limit);
}

static long double square_norm(const double *x, size_t count)
{
    long double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (long double)x[i] * x[i];
    }
    return sum;
}

/* In long double, whose 11 more bits decide what double could only round. */
Test(features, fourier_norms_are_1_but_never_more)
{
    static const size_t count[] = {2, 4, 10, 200, 16384};
    struct column column[COLUMNS];
    struct seeded_random random;
    double *z = malloc(16385 * sizeof *z);
    bool unpaired_exceeds = false;
    cr_assert(z != NULL);
    seeded_random_init(&random, 5);
    for (size_t n = 0; n < sizeof count / sizeof count[0]; n++) {
        const struct schema schema =
            fourier(column, n % 2 == 0 ? KERNEL_GAUSSIAN : KERNEL_LAPLACIAN, 2, count[n]);
        struct features *features = prepared(&schema);
        cr_assert(schema_feature_count(&schema) == count[n] + 1);
        for (int i = 0; i < 100; i++) {
            double value[COLUMNS];
            draw_values(value, COLUMNS, &random);
            features_apply(features, z, value);
            const long double norm = square_norm(z, count[n] + 1);
            cr_assert(norm <= 1 && norm > 1 - 1e-13L, "%zu: %Lg", count[n], 1 - norm);
            cr_assert(z[count[n]] == schema_constant(&schema));
            /* Planted: the wrong form, with the same angles, one cosine each and a phase. */
            long double unpaired = 0;
            for (size_t j = 0; j < count[n]; j += 2) {
                const double wave = cos(atan2(z[j + 1], z[j]) + 6.28 * seeded_random_unit(&random));
                unpaired += 2 * (long double)wave * wave * 2 / (long double)count[n];
            }
            unpaired_exceeds = unpaired_exceeds || unpaired > 1.001L;
        }
        features_free(features);
    }
    cr_assert(unpaired_exceeds, "the norm's check must see the unpaired form");
    free(z);
}

enum { LANDMARKS = 40 };

static struct schema nystrom(struct column *column, double *landmark, double rate)
{
    struct schema schema;
    struct seeded_random random;
    five_columns(&schema, column);
    seeded_random_init(&random, 17);
    draw_values(landmark, LANDMARKS * COLUMNS, &random);
    schema.map = (struct feature_map){.kind = MAP_NYSTROM,
                                      .kernel = {.kind = KERNEL_GAUSSIAN, .rate = rate},
                                      .landmark_count = LANDMARKS,
                                      .landmark = landmark};
    return schema;
}

Test(features, nystrom_is_exact_on_its_landmarks)
{
    struct column column[COLUMNS];
    double landmark[LANDMARKS * COLUMNS];
    double z[LANDMARKS][LANDMARKS + 1];
    double x[LANDMARKS][PLAIN];
    const struct schema schema = nystrom(column, landmark, 4);
    struct schema plain = schema;
    double worst = 0;
    double unsolved = 0;
    plain.map = (struct feature_map){.kind = MAP_NONE};
    struct features *features = prepared(&schema);
    struct features *plainly = prepared(&plain);
    const double c = schema_constant(&schema);
    for (int i = 0; i < LANDMARKS; i++) {
        features_apply(features, z[i], landmark + i * COLUMNS);
        features_apply(plainly, x[i], landmark + i * COLUMNS);
    }
    for (int i = 0; i < LANDMARKS; i++) {
        for (int j = 0; j <= i; j++) {
            const double truth = kernel_value(schema.map.kernel, x[i], x[j], PLAIN);
            double raw = 0;
            for (int l = 0; l < LANDMARKS; l++) {
                raw += kernel_value(schema.map.kernel, x[i], x[l], PLAIN) *
                       kernel_value(schema.map.kernel, x[j], x[l], PLAIN) / LANDMARKS;
            }
            worst = fmax(worst, fabs(dot(z[i], z[j], LANDMARKS) / (c * c) - truth));
            unsolved = fmax(unsolved, fabs(raw - truth));
        }
    }
    cr_assert(worst < 1e-9, "%g", worst);
    cr_assert(unsolved > 0.1, "the check must see kernels that were not solved for");
    features_free(features);
    features_free(plainly);
}

/* Elsewhere ||phi(x)||^2 = k K^-1 k <= K(x, x) = 1, smaller the farther x is from all landmarks. */
Test(features, nystrom_norms_are_never_more_than_1)
{
    struct column column[COLUMNS];
    double landmark[LANDMARKS * COLUMNS];
    double z[LANDMARKS + 1];
    struct seeded_random random;
    seeded_random_init(&random, 23);
    for (int round = 0; round < 3; round++) {
        const struct schema schema = nystrom(column, landmark,
                                             round == 0   ? 1
                                             : round == 1 ? 4
                                                          : 64);
        struct features *features = prepared(&schema);
        long double least = 1;
        for (int i = 0; i < 2000; i++) {
            double value[COLUMNS];
            draw_values(value, COLUMNS, &random);
            features_apply(features, z, i < LANDMARKS ? landmark + i * COLUMNS : value);
            const long double norm = square_norm(z, LANDMARKS + 1);
            cr_assert(norm <= 1, "%Lg", norm - 1);
            cr_assert(i >= LANDMARKS || norm > 1 - 1e-9L);
            cr_assert(norm > 0.499L && isfinite(z[0]));
            least = norm < least ? norm : least;
        }
        cr_assert(round < 2 || least < 0.9L, "far from every landmark little of phi is left");
        features_free(features);
    }
}

/* Columns at their bounds are the longest: then the norm is 1. */
Test(features, products_are_those_of_columns_and_norms_are_never_more_than_1)
{
    struct column column[COLUMNS];
    struct schema schema;
    struct schema plain;
    struct seeded_random random;
    double x[PLAIN];
    double z[PLAIN + PLAIN * PLAIN];
    long double longest = 0;
    five_columns(&schema, column);
    plain = schema;
    schema.map = (struct feature_map){.kind = MAP_PRODUCTS};
    struct features *features = prepared(&schema);
    struct features *plainly = prepared(&plain);
    const size_t count = schema_feature_count(&schema);
    const size_t d = schema_plain_count(&schema) - 1;
    const double scale = schema_column_scale(&schema);
    cr_assert_eq(count, d + d * (d + 1) / 2 + 1);
    seeded_random_init(&random, 29);
    for (int i = 0; i < 2000; i++) {
        double value[COLUMNS];
        draw_values(value, COLUMNS, &random);
        for (size_t j = 0; j < COLUMNS && i % 2 == 0; j++) {
            value[j] *= column[j].kind == COLUMN_NUMBER ? 1e9 : 1;
        }
        features_apply(features, z, value);
        features_apply(plainly, x, value);
        const double one = schema_column_scale(&plain);
        size_t at = d;
        for (size_t j = 0; j < d; j++) {
            cr_assert_float_eq(z[j] / scale, x[j] / one, 1e-14);
            for (size_t k = j; k < d; k++, at++) {
                cr_assert_float_eq(z[at] / scale, x[j] / one * (x[k] / one), 1e-14);
            }
        }
        cr_assert_eq(z[count - 1], schema_constant(&schema));
        const long double norm = square_norm(z, count);
        cr_assert(norm <= 1, "%Lg", norm - 1);
        longest = norm > longest ? norm : longest;
    }
    cr_assert(longest > 0.9L, "%Lg", longest);
    features_free(features);
    features_free(plainly);
}

Test(features, landmarks_too_near_each_other_are_refused_by_number)
{
    struct column column[COLUMNS];
    double landmark[LANDMARKS * COLUMNS];
    struct features *features = NULL;
    struct why why = {{0}};
    struct schema schema = nystrom(column, landmark, 4);
    memcpy(landmark + 7 * COLUMNS, landmark + 2 * COLUMNS, COLUMNS * sizeof *landmark);
    cr_assert(features_new(&features, &schema, &why) == STATUS_INVALID && features == NULL);
    cr_assert(strstr(why.text, "landmark 8 is too near") != NULL, "%s", why.text);
    cr_assert(schema_check(&schema, &why) == STATUS_INVALID);
    landmark[7 * COLUMNS] += 0.25;
    cr_assert(schema_check(&schema, &why) == STATUS_OK, "%s", why.text);
}

Test(features, a_cell_is_the_transformed_value_on_the_scale_of_its_bounds)
{
    struct column column = {.half_width = 2, .centre = 1};
    cr_assert(features_scaled(&column, 2.5) == 0.75 && features_scaled(&column, 9) == 4 &&
              features_scaled(&column, -9) == -5);
    column.transform = TRANSFORM_LOG1P;
    cr_assert(features_scaled(&column, 2.5) == (log1p(2.5) - 1) / 2 &&
              features_scaled(&column, 1e9) > 1 && features_scaled(&column, -1) == -HUGE_VAL);
}
