/* schema.h - what a table of records looks like, by public knowledge alone: columns, bounds,
 * categories, what a missing value becomes, what is learned, how records become features. Nothing
 * here is ever computed from the records. */

#ifndef LEARN_SCHEMA_H
#define LEARN_SCHEMA_H

#include "base/status.h"
#include "base/why.h"
#include "learn/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SCHEMA_NAME_BYTES = 64,
    SCHEMA_CATEGORIES_MAX = 32, /* of a column, and classes of a label */
    SCHEMA_COLUMNS_MAX = 4096,
    SCHEMA_LAGS_MAX = 32,
    SCHEMA_LAG_MAX = 1000,            /* in days */
    SCHEMA_MAP_FEATURES_MAX = 16384,  /* of random frequencies, as cosines and sines */
    SCHEMA_MAP_NUMBERS_MAX = 1 << 23, /* frequencies times the plain vector's features */
    SCHEMA_LANDMARKS_MAX = 512,
    SCHEMA_PRODUCTS_COLUMNS_MAX = 21,
    SCHEMA_READER_BYTES = 5 << 19 /* what reading a table takes beside the records, at most */
};

/* A cell that is none of its column's categories gives features of 0. */
enum column_kind {
    COLUMN_NUMBER,  /* x -> clamp((transform(x) - centre)/half_width, -1, 1): one feature */
    COLUMN_CATEGORY /* two categories: -1 and +1, one feature; more: one feature each, -1 or +1 */
};

enum column_transform { TRANSFORM_NONE, TRANSFORM_LOG1P };

struct column {
    char name[SCHEMA_NAME_BYTES]; /* as in the file's header line */
    enum column_kind kind;
    enum column_transform transform;
    double centre;      /* unit: the transformed column */
    double half_width;  /* > 0, unit: the transformed column */
    double missing;     /* what a missing cell becomes (empty, NA, or a text that should be a number
                          and is none), unit: the raw column; for a category its index */
    size_t other;       /* the index of the category that an unlisted text becomes */
    bool has_missing;   /* else a missing number is the centre, a missing category is unlisted */
    bool has_other;     /* categories; else an unlisted text is none of them */
    bool has_indicator; /* one more feature: +1 where the cell is missing or unlisted, else -1 */
    size_t category_count;
    char category[SCHEMA_CATEGORIES_MAX][SCHEMA_NAME_BYTES];
};

/* What the negative class is called where the job does not name it. */
#define SCHEMA_REST "rest"

enum label_kind {
    LABEL_SIGN,   /* two classes: y = +1 for the positive text, -1 for every other text */
    LABEL_NUMBER, /* y = clamp((v - centre)/half_width, -1, 1), so M = 1; 0 for a missing number */
    LABEL_CLASSES /* 3 or more classes, one model each against the rest: y = the class's index */
};

struct label {
    char name[SCHEMA_NAME_BYTES];
    char positive[SCHEMA_NAME_BYTES]; /* sign: the text that means y = +1 */
    char negative[SCHEMA_NAME_BYTES]; /* sign: what the other class is called; SCHEMA_REST: any text
                                         but the positive one is meant */
    enum label_kind kind;
    double centre;      /* number: unit of the column */
    double half_width;  /* number: > 0, unit of the column */
    size_t class_count; /* classes */
    bool has_other;     /* classes; else it is the last one */
    size_t other;       /* the index of the class that an unlisted or missing text becomes */
    char class_name[SCHEMA_CATEGORIES_MAX][SCHEMA_NAME_BYTES];
};

enum map_kind {
    MAP_NONE,
    MAP_FOURIER, /* random frequencies from a public seed */
    MAP_NYSTROM, /* public landmarks */
    MAP_PRODUCTS /* the columns and their products: of `learn`, which chooses it; a job's text cannot say it */
};

struct feature_map {
    enum map_kind kind;
    struct kernel kernel; /* gaussian or laplacian, on the plain vector */
    size_t feature_count; /* fourier: even, a cosine and a sine for each frequency */
    uint64_t seed;        /* fourier: below 2^53 */
    size_t landmark_count;
    double *landmark; /* nystrom: (landmark_count, schema_value_count) raw values; owned */
};

struct schema {
    struct column *column; /* (column_count), owned */
    size_t column_count;
    struct label label;
    size_t lag_count;            /* of a series, whose label is a number; 0: a plain table */
    size_t lag[SCHEMA_LAGS_MAX]; /* in days, rising, from 1 */
    struct feature_map map;
    struct feature_map *more; /* (more_count) maps of further blocks, owned: blocks.h */
    size_t more_count;
    bool keeps_raw; /* a dataset holds its cells too, for queries */
};

/** Returns "none", "fourier", "nystrom" or "products"; NULL after the last. */
const char *map_kind_name(enum map_kind kind);

/** Returns d, the number of features of a record, the constant feature included, which is the last.
 * Their Euclidean norm is at most 1 (kappa = 1). Without a map they are the plain vector; with one,
 * (phi(plain), 1)/sqrt(2). With further maps that is one block, and d the sum over all of them. */
size_t schema_feature_count(const struct schema *schema);

/** Returns what a column in -1 .. 1, or a product of two, is multiplied by in a record's features: without a map, or with
 * products. */
double schema_column_scale(const struct schema *schema);

/** Returns the number of features before the map: one per lag and number, 1 or the number of
 * categories for a category, one per indicator, and the constant; all divided by the square root of their number. */
size_t schema_plain_count(const struct schema *schema);

/** Returns how many features a column has: 1, or of more than two categories one each; and one for an indicator. */
size_t schema_column_features(const struct column *column);

/** Returns how many raw values make a record: one per lag, then one per column. */
size_t schema_value_count(const struct schema *schema);

/** Returns the number of scores a model gives a record: 1, or the number of classes. Its weights
 * are then (outputs, d), row by row. */
size_t schema_output_count(const struct schema *schema);

/** Returns a column's name, and after the last one the label's. schema: a struct schema. */
const char *schema_name_of(const void *schema, size_t column);

/** Returns the index of the class that a text becomes which is none of the label's classes. */
size_t schema_other_class(const struct label *label);

/** Answers whether the rows are one per day in the order of time. They must then stay so. */
bool schema_is_series(const struct schema *schema);

/** Returns how many of a file's first rows give no record: the longest lag, or 0. */
size_t schema_history(const struct schema *schema);

/** Returns the index among a record's features of a number's column or of a lag ("lag_7"), or -1:
 * for categories, unknown names, and where each block has a map, which leaves no feature as it is. */
int schema_find_feature(const struct schema *schema, const char *name);

/** Returns the factor that keeps a vector of count features of [-1, 1] at a norm of at most 1 in
 * the reals, not only nearly: 1/sqrt(count), rounded down. */
double schema_scale(size_t count);

/** Returns the constant feature's value, in the first block: what a threshold's shift is divided by. */
double schema_constant(const struct schema *schema);

/**
 * Checks what a schema may be: names present and distinct, no column that is the label, finite
 * numbers, half_width > 0, 2 to SCHEMA_CATEGORIES_MAX distinct categories (3 for classes), a
 * missing value and an `other` that are in range, rising lags, a map within its limits and landmarks that are
 * apart. Fails with STATUS_INVALID (`why` names the column) or STATUS_NO_MEMORY.
 */
MUST_USE enum status schema_check(const struct schema *schema, struct why *why);

/** Copies a schema; out owns its copy. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status schema_copy(struct schema *out, const struct schema *from);

/** Frees what the schema owns and zeroes it. */
void schema_free(struct schema *schema);

#endif
