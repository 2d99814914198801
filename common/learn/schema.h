/* schema.h - what a table of records looks like, by public knowledge alone: columns, bounds,
 * categories, what a missing value becomes. Nothing here is ever computed from the records. */

#ifndef LEARN_SCHEMA_H
#define LEARN_SCHEMA_H

#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>

enum { SCHEMA_NAME_BYTES = 64, SCHEMA_CATEGORIES_MAX = 32, SCHEMA_COLUMNS_MAX = 4096 };

enum column_kind {
    COLUMN_NUMBER,  /* x -> clamp((transform(x) - centre)/half_width, -1, 1): one feature */
    COLUMN_CATEGORY /* two categories: -1 and +1, one feature; more: one feature each, -1 or +1 */
};

enum column_transform { TRANSFORM_NONE, TRANSFORM_LOG1P };

struct column {
    char name[SCHEMA_NAME_BYTES]; /* as in the file's header line */
    enum column_kind kind;
    enum column_transform transform;
    double centre;     /* unit: the transformed column */
    double half_width; /* > 0, unit: the transformed column */
    bool has_missing;  /* whether a missing value (empty or NA) is allowed */
    double missing;    /* what it becomes, unit: the raw column; for a category its index */
    size_t category_count;
    char category[SCHEMA_CATEGORIES_MAX][SCHEMA_NAME_BYTES];
};

struct label {
    char name[SCHEMA_NAME_BYTES];
    char positive[SCHEMA_NAME_BYTES]; /* the text that means y = +1 */
    char negative[SCHEMA_NAME_BYTES]; /* the text that means y = -1 */
};

struct schema {
    struct column *column; /* (column_count), owned */
    size_t column_count;
    struct label label;
};

/** Returns d, the number of features: of all columns, and the constant feature, which is the last.
 * The vector is divided by sqrt(d), so that its Euclidean norm is at most 1 (kappa = 1). */
size_t schema_feature_count(const struct schema *schema);

/** Returns the factor every feature is multiplied by: 1/sqrt(d), rounded down, so that d features
 * of
 * [-1, 1] have a norm of at most 1 in the reals, not only nearly. It is the constant feature's
 * value. */
double schema_scale(size_t feature_count);

/**
 * Checks what a schema may be: names present and distinct, no column that is the label, finite
 * numbers, half_width > 0, 2 to SCHEMA_CATEGORIES_MAX distinct categories, a missing value that is
 * in range, at most SCHEMA_COLUMNS_MAX columns. Fails with STATUS_INVALID; `why` names the column.
 */
MUST_USE enum status schema_check(const struct schema *schema, struct why *why);

/** Copies a schema; out owns its copy. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status schema_copy(struct schema *out, const struct schema *from);

/** Frees what the schema owns and zeroes it. */
void schema_free(struct schema *schema);

#endif
