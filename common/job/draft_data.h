/* draft_data.h - the data section of a job's text as struct. Inside job only. */

#ifndef JOB_DRAFT_DATA_H
#define JOB_DRAFT_DATA_H

#include "config/config.h"
#include "learn/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draft_label {
    char name[SCHEMA_NAME_BYTES];
    char positive[SCHEMA_NAME_BYTES];
    char negative[SCHEMA_NAME_BYTES];
    double centre;
    double half_width;
    char (*class_name)[SCHEMA_NAME_BYTES];
    size_t class_count;
    char other[SCHEMA_NAME_BYTES]; /* one of the classes */
};

struct draft_column {
    char name[SCHEMA_NAME_BYTES];
    unsigned transform;
    double centre;
    double half_width;
    char missing[SCHEMA_NAME_BYTES]; /* a number or a category, by the column's kind */
    char other[SCHEMA_NAME_BYTES];   /* one of the categories */
    bool missing_indicator;
    char (*category)[SCHEMA_NAME_BYTES];
    size_t category_count;
};

struct draft_series {
    char name[SCHEMA_NAME_BYTES];
    uint32_t *lag;
    size_t lag_count;
};

struct draft_row {
    char (*value)[SCHEMA_NAME_BYTES]; /* numbers and categories, as in the table */
    size_t value_count;
};

struct draft_map {
    unsigned kind;
    unsigned kernel;
    double gamma;
    uint32_t feature_count;
    uint64_t seed;
    struct draft_row *landmark;
    size_t landmark_count;
};

struct draft_data {
    char set[SCHEMA_NAME_BYTES];
    struct draft_label label;
    struct draft_column *feature;
    size_t feature_count;
    struct draft_series series;
    struct draft_map map;
};

/* The keys of a public record, and of the section, for a struct draft_data. */
extern const struct config_key draft_row_keys[];
extern const struct config_key draft_data_keys[];

/* For a map: the section's, or a stage's own. */
extern const struct config_key draft_map_keys[];

#endif
