/* A frequency of exp(-g ||x - x'||^2) is sqrt(2 g) times a standard normal vector z; one of
 * exp(-g ||x - x'||) is g z/|u| with one more normal number u, as E exp(-a^2/(2 u^2)) = exp(-a) for
 * a >= 0. Products, quotients and the square root are IEEE 754's, rounded alike everywhere.
 *
 * Legend: n values, p plain features, d features, k landmarks, D Fourier features. */

#include "learn/features.h"

#include "base/bytes.h"
#include "learn/blocks.h"
#include "learn/dense.h"
#include "learn/features_normal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Landmarks whose residual is less of a unit vector than this are refused: what they would add is
 * below what their equations still determine. */
static const double residual_min = 0x1p-20;

/* One block's map. */
struct features_map {
    struct schema schema; /* with this map alone; borrows */
    struct block block;
    double *frequency; /* fourier: (D/2, p) */
    double *landmark;  /* nystrom: (k, p) */
    double *root;      /* nystrom: (k, k) L, lower */
};

struct features {
    size_t plain_count;
    double *plain;            /* (p) scratch */
    struct features_map *map; /* (map_count) */
    size_t map_count;
};

static double transformed(const struct column *column, double value)
{
    if (column->transform == TRANSFORM_LOG1P) {
        return value > -1 ? log1p(value) : -HUGE_VAL;
    }
    return value;
}

double features_scaled(const struct column *column, double value)
{
    if (isnan(value) && !column->has_missing) {
        return 0;
    }
    return (transformed(column, isnan(value) ? column->missing : value) - column->centre) /
           column->half_width;
}

/* Returns the index of the category that stands for the value, or category_count: for none. */
static size_t category_of(const struct column *column, double value)
{
    if (isnan(value) && column->has_missing) {
        return (size_t)column->missing;
    }
    if (value >= 0 && value < (double)column->category_count) {
        return (size_t)value;
    }
    return column->has_other ? column->other : column->category_count;
}

static double clamped(double scaled)
{
    return fmin(fmax(scaled, -1), 1);
}

double features_label(const struct label *label, double value)
{
    return isnan(value) ? 0 : dense_flushed(clamped((value - label->centre) / label->half_width));
}

/* Writes a category's features. Returns how many. */
static size_t write_category(double *out, const struct column *column, size_t found, double scale)
{
    const bool is_listed = found < column->category_count;
    if (column->category_count == 2) {
        out[0] = !is_listed ? 0 : found == 1 ? scale : -scale;
        return 1;
    }
    for (size_t i = 0; i < column->category_count; i++) {
        out[i] = !is_listed ? 0 : found == i ? scale : -scale;
    }
    return column->category_count;
}

/* Whether the cell holds a value of its column. */
static bool is_there(const struct column *column, double value)
{
    return column->kind == COLUMN_NUMBER ? !isnan(value)
                                         : value >= 0 && value < (double)column->category_count;
}

/* Writes the plain vector (p). */
static void write_plain(const struct schema *schema, double *out, const double *value)
{
    const double scale = schema_scale(schema_plain_count(schema));
    for (size_t i = 0; i < schema->lag_count; i++) {
        *out = dense_flushed(scale * features_label(&schema->label, value[i]));
        out++;
    }
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->column[i];
        const double raw = value[schema->lag_count + i];
        if (column->kind == COLUMN_NUMBER) {
            *out = dense_flushed(scale * clamped(features_scaled(column, raw)));
            out++;
        } else {
            out += write_category(out, column, category_of(column, raw), scale);
        }
        if (column->has_indicator) {
            *out = is_there(column, raw) ? -scale : scale;
            out++;
        }
    }
    *out = scale;
}

static enum status make_fourier(struct features_map *made, size_t p)
{
    const struct feature_map *map = &made->schema.map;
    const size_t pairs = map->feature_count / 2;
    struct public_random random = public_random_from(map->seed);
    made->frequency = calloc(pairs * p, sizeof *made->frequency);
    if (made->frequency == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < pairs; i++) {
        const double scale = map->kernel.kind == KERNEL_GAUSSIAN
                                 ? sqrt(2 * map->kernel.rate)
                                 : map->kernel.rate / fabs(public_random_normal(&random));
        for (size_t j = 0; j < p; j++) {
            made->frequency[i * p + j] = scale * public_random_normal(&random);
        }
    }
    return STATUS_OK;
}

/* Writes z = L^-1 z over the first count rows. */
static void forward(const double *root, size_t stride, double *z, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        z[i] = dense_flushed((z[i] - dense_dot(root + i * stride, z, i)) / root[i * stride + i]);
    }
}

/* Row i of L solves L_{<i} r = K_{<i, i}; what is left of K_ii = 1 is the diagonal's square. */
static enum status factorise(struct features_map *made, size_t p, struct why *why)
{
    const struct feature_map *map = &made->schema.map;
    const size_t k = map->landmark_count;
    for (size_t i = 0; i < k; i++) {
        double *row = made->root + i * k;
        for (size_t j = 0; j < i; j++) {
            row[j] = kernel_value(map->kernel, made->landmark + i * p, made->landmark + j * p, p);
        }
        forward(made->root, k, row, i);
        const double residual = 1 - dense_dot(row, row, i);
        if (!(residual >= residual_min)) {
            return why_refuse(
                why, "landmark %zu is too near to those before it: remove it, or raise gamma",
                i + 1);
        }
        row[i] = sqrt(residual);
    }
    return STATUS_OK;
}

static enum status make_nystrom(struct features_map *made, size_t p, struct why *why)
{
    const struct schema *schema = &made->schema;
    const size_t k = schema->map.landmark_count;
    const size_t n = schema_value_count(schema);
    made->landmark = calloc(k * p, sizeof *made->landmark);
    made->root = calloc(k * k, sizeof *made->root);
    if (made->landmark == NULL || made->root == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < k; i++) {
        write_plain(schema, made->landmark + i * p, schema->map.landmark + i * n);
    }
    return factorise(made, p, why);
}

static enum status make_map(struct features_map *made, size_t p, struct why *why)
{
    switch (made->schema.map.kind) {
    case MAP_NONE:
    case MAP_PRODUCTS:
        break;
    case MAP_FOURIER:
        return make_fourier(made, p);
    case MAP_NYSTROM:
        return make_nystrom(made, p, why);
    }
    return STATUS_OK;
}

enum status features_new(struct features **out, const struct schema *schema, struct why *why)
{
    struct features *features = calloc(1, sizeof *features);
    enum status status = STATUS_NO_MEMORY;
    *out = NULL;
    if (features == NULL) {
        return STATUS_NO_MEMORY;
    }
    features->plain_count = schema_plain_count(schema);
    features->plain = calloc(features->plain_count, sizeof *features->plain);
    features->map = calloc(block_count(schema), sizeof *features->map);
    if (features->plain != NULL && features->map != NULL) {
        features->map_count = block_count(schema);
        status = STATUS_OK;
    }
    for (size_t i = 0; i < features->map_count && status == STATUS_OK; i++) {
        struct features_map *made = &features->map[i];
        made->schema = block_schema(schema, i);
        made->block = block_at(schema, i);
        status = make_map(made, features->plain_count, why);
    }
    if (status != STATUS_OK) {
        features_free(features);
        return status;
    }
    *out = features;
    return STATUS_OK;
}

void features_free(struct features *features)
{
    if (features == NULL) {
        return;
    }
    bytes_free(features->plain, features->plain_count * sizeof *features->plain);
    for (size_t i = 0; i < features->map_count; i++) {
        free(features->map[i].frequency);
        free(features->map[i].landmark);
        free(features->map[i].root);
    }
    free(features->map);
    free(features);
}

static void apply_fourier(const struct features_map *made, double *out, const double *plain,
                          size_t p)
{
    const size_t pairs = made->schema.map.feature_count / 2;
    /* A cosine and a sine err by less than 2^-52 of themselves each, the factor and the product by
     * less than 2^-51 together: 16 DBL_EPSILON is more than what the squares of these come to. */
    const double factor = (1 - 16 * DBL_EPSILON) * schema_scale(2) / sqrt((double)pairs);
    for (size_t i = 0; i < pairs; i++) {
        const double angle = dense_dot(made->frequency + i * p, plain, p);
        out[2 * i] = dense_flushed(factor * cos(angle));
        out[2 * i + 1] = dense_flushed(factor * sin(angle));
    }
}

static void apply_nystrom(const struct features_map *made, double *out, const double *plain,
                          size_t p)
{
    const struct feature_map *map = &made->schema.map;
    const size_t k = map->landmark_count;
    for (size_t i = 0; i < k; i++) {
        out[i] = dense_flushed(kernel_value(map->kernel, plain, made->landmark + i * p, p));
    }
    forward(made->root, k, out, k);
    /* The norm as computed errs by at most k + 2 roundings. Whatever the equations' condition has
     * done to the vector, it is inside the unit ball after this. */
    const double norm = sqrt(dense_dot(out, out, k)) * (1 + (double)(k + 8) * DBL_EPSILON);
    const double factor = (1 - 16 * DBL_EPSILON) * schema_scale(2) / fmax(norm, 1);
    for (size_t i = 0; i < k; i++) {
        out[i] = dense_flushed(factor * out[i]);
    }
}

/* Columns in -1 .. 1 to the last bit, so none of the numbers is above the scale. */
static void apply_products(const struct features_map *made, double *out, const double *plain,
                           size_t p)
{
    const size_t d = p - 1;
    const double scale = schema_column_scale(&made->schema);
    const double one = schema_scale(p);
    double *product = out + d;
    for (size_t i = 0; i < d; i++) {
        out[i] = clamped(plain[i] / one);
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i; j < d; j++) {
            *product++ = dense_flushed(scale * dense_flushed(out[i] * out[j]));
        }
    }
    for (size_t i = 0; i < d; i++) {
        out[i] = dense_flushed(scale * out[i]);
    }
}

static void apply_map(const struct features_map *made, double *out, const double *plain, size_t p)
{
    switch (made->schema.map.kind) {
    case MAP_NONE:
        memcpy(out, plain, p * sizeof *out);
        return;
    case MAP_FOURIER:
        apply_fourier(made, out, plain, p);
        break;
    case MAP_NYSTROM:
        apply_nystrom(made, out, plain, p);
        break;
    case MAP_PRODUCTS:
        apply_products(made, out, plain, p);
        break;
    }
    out[made->block.count - 1] = schema_constant(&made->schema);
}

void features_apply(struct features *features, double *out, const double *value)
{
    write_plain(&features->map[0].schema, features->plain, value);
    for (size_t i = 0; i < features->map_count; i++) {
        const struct features_map *made = &features->map[i];
        apply_map(made, out + made->block.first, features->plain, features->plain_count);
    }
}

const double *features_frequencies(const struct features *features)
{
    return features->map[0].frequency;
}
