/* toy_schema.h - a small public schema with every kind of column, for the tests of questions. */

#ifndef TESTS_TOY_SCHEMA_H
#define TESTS_TOY_SCHEMA_H

#include "learn/schema.h"
#include "query/query.h"

#include <math.h>
#include <string.h>

enum { TOY_COLUMNS = 4 };

static struct column toy_column[TOY_COLUMNS] = {
    {.name = "age", .kind = COLUMN_NUMBER, .centre = 74, .half_width = 24},
    {.name = "sex", .kind = COLUMN_CATEGORY, .category_count = 2, .category = {"F", "M"}},
    {.name = "kappa", .transform = TRANSFORM_LOG1P, .centre = 1.05, .half_width = 0.9},
    {.name = "home region",
     .kind = COLUMN_CATEGORY,
     .category_count = 3,
     .category = {"north", "and", "3"}},
};

static const struct schema toy = {
    .column = toy_column,
    .column_count = TOY_COLUMNS,
    .label = {.name = "death", .positive = "1", .negative = "0"},
};

static const struct query_names toy_names = {.schema = &toy};

static inline struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

#endif
