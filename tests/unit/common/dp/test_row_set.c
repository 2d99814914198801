#include "dp/row_set.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>

enum { ROWS = 64 };

static void add(struct row_set *set, uint64_t first, uint64_t end)
{
    cr_assert_eq(row_set_reserve(set), STATUS_OK);
    row_set_add(set, (struct row_range){.first = first, .end = end});
}

Test(row_set, rows_in_order_stay_one_range)
{
    struct row_set set = {0};
    for (uint64_t i = 0; i < 100000; i++) {
        cr_assert_not(row_set_overlaps(&set, (struct row_range){.first = 3 * i, .end = 3 * i + 3}));
        add(&set, 3 * i, 3 * i + 3);
        cr_assert_eq(set.count, 1);
    }
    cr_assert_eq(set.capacity, 2, "one range and room for one more");
    row_set_free(&set);
    cr_assert_eq(set.count, 0);
}

Test(row_set, the_last_row_counts)
{
    struct row_set set = {0};
    add(&set, UINT64_MAX - 1, UINT64_MAX);
    cr_assert(row_set_overlaps(&set, (struct row_range){.first = 0, .end = UINT64_MAX}));
    cr_assert_not(row_set_overlaps(&set, (struct row_range){.first = 0, .end = UINT64_MAX - 1}));
    row_set_free(&set);
}

/* Beside a map of single rows, on ranges that overlap, touch, contain and miss each other. */
Test(row_set, agrees_with_a_map_of_rows)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 11);
    for (int run = 0; run < 2000; run++) {
        bool map[ROWS] = {false};
        struct row_set set = {0};
        for (int step = 0; step < 20; step++) {
            uint64_t first = seeded_random_below(&seeded, ROWS);
            uint64_t end = first + 1 + seeded_random_below(&seeded, (ROWS - first) / 3 + 1);
            end = end > ROWS ? ROWS : end;
            bool there = false;
            for (uint64_t row = first; row < end; row++) {
                there = there || map[row];
            }
            cr_assert_eq(row_set_overlaps(&set, (struct row_range){.first = first, .end = end}),
                         there);
            add(&set, first, end);
            for (uint64_t row = first; row < end; row++) {
                map[row] = true;
            }
            size_t ranges = 0;
            for (uint64_t row = 0; row < ROWS; row++) {
                ranges += map[row] && (row == 0 || !map[row - 1]);
                cr_assert_eq(
                    row_set_overlaps(&set, (struct row_range){.first = row, .end = row + 1}),
                    map[row]);
            }
            cr_assert_eq(set.count, ranges, "touching ranges are one");
        }
        row_set_free(&set);
    }
}
