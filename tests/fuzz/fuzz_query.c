/* Any bytes as a question: what is accepted adds no more than its sensitivity to any sum, and what is
 * refused is refused with a sentence. */

#include "query/query.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth) {
        abort();
    }
}

static uint64_t norm_of(const struct query *query, const struct row *row)
{
    int64_t sum[QUERY_CELLS_MAX] = {0};
    uint64_t norm = 0;
    query_add(sum, query, 8, 1, row);
    for (size_t i = 0; i < QUERY_CELLS_MAX; i++) {
        demand(sum[i] == 0 || i < query->cell_count);
        norm += (uint64_t)llabs(sum[i]);
    }
    return norm;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct column column[] = {
        {.name = "a", .kind = COLUMN_NUMBER, .centre = 1, .half_width = 2},
        {.name = "b", .transform = TRANSFORM_LOG1P, .centre = 1, .half_width = 1},
        {.name = "c d", .kind = COLUMN_CATEGORY, .category_count = 3, .category = {"x", "y", "1"}}};
    const struct schema schema = {
        .column = column, .column_count = 3, .label = {.name = "l", "1", "0"}};
    const double cell[2][3] = {{-1, 2, 0}, {NAN, INFINITY, 2}};
    struct query query;
    struct why why = {{0}};

    if (query_parse(&query, (struct slice){data, size}, &(struct query_names){.schema = &schema},
                    &why) != STATUS_OK) {
        demand(why.text[0] != '\0');
        return 0;
    }
    demand(query.cell_count >= 1 && query.cell_count <= QUERY_CELLS_MAX);
    for (int i = 0; i < 2; i++) {
        const struct row row = {.cell = cell[i], .column_count = 3, .label = 1 - 2 * i};
        demand(norm_of(&query, &row) <= query_sensitivity_l1(&query, 8));
    }
    if (query.kind == QUERY_HISTOGRAM) {
        char name[32];
        query_cell_name(name, sizeof name, &query, query.cell_count - 1);
        demand(name[0] != '\0');
    }
    return 0;
}
