#include "query/score.h"

#include "base/check.h"
#include "learn/dense.h"

#include <math.h>
#include <string.h>

struct column query_score_column(const struct query_score *score)
{
    struct column column = {.kind = COLUMN_NUMBER, .centre = 0.5, .half_width = 0.5};
    memcpy(column.name, score->name, sizeof column.name);
    if (score->is_number) {
        column.centre = score->centre;
        column.half_width = score->half_width;
    }
    return column;
}

double query_score_value(const struct query_score *score, const struct row *row)
{
    const double *weight = score->weight != NULL ? score->weight : row->model;
    CHECK(row->feature != NULL && weight != NULL);
    return dense_dot(weight, row->feature, row->feature_count);
}

double query_score_edge(const struct query_score *score, double edge)
{
    return score->is_number ? (edge - score->centre) / score->half_width : log(edge / (1 - edge));
}

size_t query_score_feature(size_t *count, const struct schema *schema, size_t column)
{
    size_t first = schema->lag_count;
    CHECK(column < schema->column_count);
    for (size_t i = 0; i < column; i++) {
        first += schema_column_features(&schema->column[i]);
    }
    *count = schema_column_features(&schema->column[column]);
    return first;
}
