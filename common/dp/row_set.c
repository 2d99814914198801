#include "dp/row_set.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

void row_set_free(struct row_set *set)
{
    free(set->range);
    *set = (struct row_set){0};
}

/* Returns the first range that ends after row (or at it, if touching counts). */
static size_t row_set_find(const struct row_set *set, uint64_t row, bool touching)
{
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t end = set->range[middle].end;
        if (end > row || (touching && end == row)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

bool row_set_overlaps(const struct row_set *set, struct row_range range)
{
    size_t found = row_set_find(set, range.first, false);
    return found < set->count && set->range[found].first < range.end;
}

enum status row_set_reserve(struct row_set *set)
{
    if (set->count < set->capacity) {
        return STATUS_OK;
    }
    size_t capacity = set->capacity == 0 ? 1 : 2 * set->capacity;
    if (capacity > SIZE_MAX / sizeof *set->range) {
        return STATUS_NO_MEMORY;
    }
    struct row_range *range = realloc(set->range, capacity * sizeof *range);
    if (range == NULL) {
        return STATUS_NO_MEMORY;
    }
    set->range = range;
    set->capacity = capacity;
    return STATUS_OK;
}

void row_set_add(struct row_set *set, struct row_range range)
{
    CHECK(set->count < set->capacity);
    size_t first = row_set_find(set, range.first, true);
    size_t end = first;
    for (; end < set->count && set->range[end].first <= range.end; end++) {
        range.first = set->range[end].first < range.first ? set->range[end].first : range.first;
        range.end = set->range[end].end > range.end ? set->range[end].end : range.end;
    }
    memmove(&set->range[first + 1], &set->range[end], (set->count - end) * sizeof range);
    set->count = set->count - (end - first) + 1;
    set->range[first] = range;
}
