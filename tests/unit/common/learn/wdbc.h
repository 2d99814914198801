/* wdbc.h - tests/vectors/wdbc.csv as tests/vectors/erm.json takes it: each of the 30 features
 * scaled to [-1, 1] by its own smallest and largest value, a constant, all divided by sqrt(31). */

#ifndef TESTS_WDBC_H
#define TESTS_WDBC_H

#include "base/decimal.h"
#include "learn/csv.h"
#include "learn/dataset.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { WDBC_COLUMNS = 30 };

static inline void wdbc_bounds(struct column *column)
{
    struct csv *csv = NULL;
    bool done = false;
    FILE *file = fopen(TEST_VECTORS "/wdbc.csv", "r");
    double low[WDBC_COLUMNS];
    double high[WDBC_COLUMNS];
    cr_assert(file != NULL && csv_new(&csv, file, "wdbc.csv", ',') == STATUS_OK);
    cr_assert(csv_next(csv, &done, NULL) == STATUS_OK && !done);
    for (size_t i = 0; i < WDBC_COLUMNS; i++) {
        const struct slice name = csv_field(csv, i);
        memcpy(column[i].name, name.data, name.size);
    }
    for (size_t record = 0; csv_next(csv, &done, NULL) == STATUS_OK && !done; record++) {
        for (size_t i = 0; i < WDBC_COLUMNS; i++) {
            double value = 0;
            cr_assert(decimal_cell(&value, csv_field(csv, i)) == STATUS_OK);
            low[i] = record == 0 || value < low[i] ? value : low[i];
            high[i] = record == 0 || value > high[i] ? value : high[i];
        }
    }
    for (size_t i = 0; i < WDBC_COLUMNS; i++) {
        column[i].centre = (low[i] + high[i]) / 2;
        column[i].half_width = (high[i] - low[i]) / 2;
    }
    csv_free(csv);
    fclose(file);
}

static inline struct dataset wdbc_load(void)
{
    struct dataset data;
    struct why why = {{0}};
    struct column *column = calloc(WDBC_COLUMNS, sizeof *column);
    cr_assert(column != NULL);
    wdbc_bounds(column);
    const struct schema schema = {
        .column = column,
        .column_count = WDBC_COLUMNS,
        .label = {.name = "benign", .positive = "1", .negative = "0"},
    };
    FILE *file = fopen(TEST_VECTORS "/wdbc.csv", "r");
    cr_assert(file != NULL);
    cr_assert(dataset_read(&data, file, "wdbc.csv", &schema,
                           &(struct dataset_options){.use = DATASET_LEARN}, &why) == STATUS_OK,
              "%s", why.text);
    cr_assert(dataset_count(&data).clamped == 0);
    fclose(file);
    free(column);
    return data;
}

#endif
