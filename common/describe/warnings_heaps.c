/* warnings_heaps.c - numbers of which one value holds a large share of the cells, where a question takes them to lie smoothly. */

#include "describe/warnings.h"

#include <math.h>
#include <stdlib.h>

static const double share_most = 0.1; /* of the cells, that are one number */
enum { VALUES_MOST = 20 };            /* so many different ones are few */

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

struct heap {
    double value;  /* the most frequent one */
    size_t cells;  /* that it holds */
    size_t values; /* different ones */
};

/* value: (count) rising */
static struct heap largest_heap(const double *value, size_t count)
{
    struct heap out = {.value = NAN};
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && value[i] != value[i - 1]) {
            first = i;
        }
        out.values += first == i ? 1 : 0;
        if (i - first + 1 > out.cells) {
            out.cells = i - first + 1;
            out.value = value[i];
        }
    }
    return out;
}

enum status warnings_of_heap(struct warnings *warnings, const struct dataset *data,
                             const struct schema *schema, size_t column)
{
    double *value = malloc((data->record_count + 1) * sizeof *value);
    size_t count = 0;
    struct why text = {""};
    if (value == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < data->record_count && data->raw != NULL; i++) {
        const double cell = data->raw[i * data->column_count + column];
        if (!isnan(cell)) {
            value[count++] = cell;
        }
    }
    qsort(value, count, sizeof *value, compare);
    const struct heap heap = largest_heap(value, count);
    if (count > VALUES_MOST &&
        (heap.values <= VALUES_MOST || (double)heap.cells >= share_most * (double)count)) {
        why_set(&text,
                "%zu of %zu numbers of column \"%s\" are %.6g, and %zu values are different: a "
                "regression may take them to lie smoothly over the range, and its intervals may "
                "then miss. "
                "If they are whole numbers, write whole(%s). If the heap is at a limit of "
                "detection, let the public range begin there",
                heap.cells, count, schema->column[column].name, heap.value, heap.values,
                schema->column[column].name);
        warnings->count++;
        warnings->say(text.text);
    }
    free(value);
    return STATUS_OK;
}
