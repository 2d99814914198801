#include "agent/spending.h"

#include <stdbool.h>
#include <string.h>

static const int64_t grain_least_ms = 1000;
static const int64_t grain_most_ms = INT64_C(1000) * 86400 * 32;

static bool is_same(const struct spending *spending, const struct spending_point *a,
                    const struct spending_point *b)
{
    return spending->grain_ms > 0 && a->job == b->job &&
           a->wall_ms / spending->grain_ms == b->wall_ms / spending->grain_ms;
}

/* Points that became one stand where the last one stood. */
static void merge(struct spending *spending)
{
    size_t kept = 0;
    for (size_t i = 0; i < spending->count; i++) {
        if (kept > 0 && is_same(spending, &spending->point[kept - 1], &spending->point[i])) {
            kept--;
        }
        spending->point[kept++] = spending->point[i];
    }
    spending->count = kept;
}

static void make_room(struct spending *spending)
{
    while (spending->count == SPENDING_POINTS && spending->grain_ms < grain_most_ms) {
        spending->grain_ms = spending->grain_ms == 0 ? grain_least_ms : 2 * spending->grain_ms;
        merge(spending);
    }
    if (spending->count == SPENDING_POINTS) {
        spending->point[1].job = SPENDING_MIXED;
        memmove(spending->point, spending->point + 1,
                (SPENDING_POINTS - 1) * sizeof spending->point[0]);
        spending->count--;
    }
}

void spending_add(struct spending *spending, const struct spending_point *told)
{
    struct spending_point *last =
        spending->count > 0 ? &spending->point[spending->count - 1] : NULL;
    struct spending_point next = *told;
    const struct spending_point *point = &next;
    if (last != NULL && next.wall_ms < last->wall_ms) {
        next.wall_ms = last->wall_ms;
    }
    if (last != NULL && is_same(spending, last, point)) {
        *last = *point;
        return;
    }
    if (spending->count == SPENDING_POINTS) {
        make_room(spending);
        if (spending->count > 0 &&
            is_same(spending, &spending->point[spending->count - 1], point)) {
            spending->point[spending->count - 1] = *point;
            return;
        }
    }
    spending->point[spending->count++] = *point;
}
