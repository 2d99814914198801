/* flchain_schema.h - the schema of compose/hospitals/flchain.csv, as the tests need it. */

#ifndef TESTS_FLCHAIN_SCHEMA_H
#define TESTS_FLCHAIN_SCHEMA_H

#include "learn/schema.h"

enum { FLCHAIN_COLUMNS = 7 };

static const struct column flchain_column[FLCHAIN_COLUMNS] = {
    {.name = "age", .kind = COLUMN_NUMBER, .centre = 74, .half_width = 24},
    {.name = "sex", .kind = COLUMN_CATEGORY, .category_count = 2, .category = {"F", "M"}},
    {.name = "kappa", .transform = TRANSFORM_LOG1P, .centre = 1.05, .half_width = 0.9},
    {.name = "lambda", .transform = TRANSFORM_LOG1P, .centre = 1.05, .half_width = 0.9},
    {.name = "creatinine", .centre = 1.1, .half_width = 0.4, .has_missing = true, .missing = 1},
    {.name = "mgus", .kind = COLUMN_CATEGORY, .category_count = 2, .category = {"0", "1"}},
    {.name = "sample.yr", .centre = 1999, .half_width = 4},
};

/* The caller owns the copy: schema_free. */
static inline enum status flchain_schema(struct schema *schema)
{
    struct column column[FLCHAIN_COLUMNS];
    for (int i = 0; i < FLCHAIN_COLUMNS; i++) {
        column[i] = flchain_column[i];
    }
    const struct schema borrowed = {
        .column = column,
        .column_count = FLCHAIN_COLUMNS,
        .label = {.name = "death", .positive = "1", .negative = "0"},
    };
    return schema_copy(schema, &borrowed);
}

#endif
