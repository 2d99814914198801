/* The drawing of a ledger: it has bounded size, its end is exact, its beginning coarser, and each charge is shown for
 * its own job. */

#include "agent/spending.h"

#include <criterion/criterion.h>

static struct spending spending;
static int64_t latest_ms;

static void add(int64_t wall_ms, uint32_t job, uint64_t used_micro)
{
    spending_add(&spending, &(struct spending_point){wall_ms, job, used_micro});
    cr_assert_leq(spending.count, (size_t)SPENDING_POINTS);
    const struct spending_point *last = &spending.point[spending.count - 1];
    latest_ms = wall_ms > latest_ms ? wall_ms : latest_ms;
    cr_assert(last->wall_ms == latest_ms && last->job == job && last->used_micro == used_micro);
}

/* What the points say that a job was charged. */
static uint64_t charged(uint32_t job)
{
    uint64_t sum = 0;
    uint64_t before = 0;
    for (size_t i = 0; i < spending.count; i++) {
        cr_assert_geq(spending.point[i].used_micro, before);
        sum += spending.point[i].job == job ? spending.point[i].used_micro - before : 0;
        before = spending.point[i].used_micro;
    }
    return sum;
}

Test(spending, few_charges_stay_as_they_are)
{
    for (unsigned i = 0; i < SPENDING_POINTS; i++) {
        add(i, 0, i + 1);
    }
    cr_expect_eq(spending.count, (size_t)SPENDING_POINTS);
    cr_expect_eq(charged(0), (uint64_t)SPENDING_POINTS);
}

Test(spending, a_hundred_thousand_charges_fit_and_each_job_keeps_its_own)
{
    uint64_t used = 0;
    for (unsigned i = 0; i < 100000; i++) {
        used += 1 + i % 3;
        add(INT64_C(1700000000000) + (int64_t)i * 4000, i / 10000, used);
    }
    for (uint32_t job = 0; job < 10; job++) {
        uint64_t own = 0;
        for (unsigned i = 0; i < 10000; i++) {
            own += 1 + (job * 10000 + i) % 3;
        }
        cr_expect_eq(charged(job), own, "job %u", (unsigned)job);
    }
    cr_expect_eq(charged(SPENDING_MIXED), 0u);
    cr_expect_gt(spending.count, (size_t)SPENDING_POINTS / 4, "the drawing has become too coarse");
}

/* A clock that stands still or runs backwards, and more jobs than points. */
Test(spending, many_jobs_are_mixed_at_the_beginning_alone)
{
    for (unsigned i = 0; i < 3000; i++) {
        add(INT64_C(1700000000000) - i, i, 2 * (i + 1));
    }
    cr_expect_eq(charged(2999), 2u);
    cr_expect_eq(charged(2999 - (SPENDING_POINTS - 2)), 2u);
    cr_expect_eq(charged(SPENDING_MIXED), 2u * (3000 - (SPENDING_POINTS - 1)));
}

/* A drawing does not go back. Planted: the points did, after a clock had been ahead for a while. */
Test(spending, a_clock_that_was_set_back_moves_no_point_back)
{
    add(1000, 0, 1);
    add(90000, 0, 2);
    add(2000, 1, 3);
    add(95000, 1, 4);
    cr_assert_eq(spending.count, 4);
    for (size_t i = 1; i < spending.count; i++) {
        cr_expect_geq(spending.point[i].wall_ms, spending.point[i - 1].wall_ms);
    }
    cr_expect_eq(spending.point[2].wall_ms, 90000);
}
