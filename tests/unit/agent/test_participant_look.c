/* What a page shows of the agent, every millisecond, must not tell when a computation on the records ended: only in which
 * public slot. */

#include "timed.h"

#include "dp/ledger.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { END_MS = 400 };

/* What is seen in one millisecond. */
struct seen {
    struct participant_view view;
    char job[JOB_NAME_BYTES]; /* the view's own is borrowed */
    uint64_t spent_micro;
    size_t jobs;
};

static struct seen look(const struct timed *bench)
{
    struct seen seen = {.view =
                            participant_look(bench->participant, bench->wall_ms + bench->now_ms)};
    seen.spent_micro = ledger_balance(seen.view.ledger, ALLOWANCE_TOTAL).spent.epsilon_micro;
    seen.jobs = ledger_job_count(seen.view.ledger);
    (void)snprintf(seen.job, sizeof seen.job, "%s", seen.view.job);
    return seen;
}

static bool is_same(const struct seen *a, const struct seen *b)
{
    return strcmp(a->view.phase, b->view.phase) == 0 &&
           strcmp(a->view.round_phase, b->view.round_phase) == 0 && strcmp(a->job, b->job) == 0 &&
           digest_equal(&a->view.id, &b->view.id) && a->view.round == b->view.round &&
           a->view.in_round == b->view.in_round && a->spent_micro == b->spent_micro &&
           a->jobs == b->jobs;
}

/* Looks all the time while the records are loaded, or a fit is computed, for a given time. */
static void watch(struct seen seen[END_MS], bool loading, int64_t work_ms)
{
    static struct timed bench;
    timed_init(&bench, 10);
    bench.work_takes_ms = loading ? work_ms : 0;
    timed_join(&bench);
    if (!loading) {
        bench.now_ms = SLOT_MS;
        timed_tick(&bench);
        const struct message invite = timed_invitation(&bench, 0, NULL);
        bench.work_takes_ms = work_ms;
        timed_give(&bench, &invite, (struct slice){0});
    }
    for (size_t ms = 0; ms < END_MS; ms++) {
        seen[ms] = look(&bench);
        bench.now_ms++;
        timed_settle(&bench);
        timed_tick(&bench);
        timed_settle(&bench);
    }
    timed_free(&bench);
}

/* Returns the first millisecond in which two lengths of a computation look different, or END_MS. */
static size_t first_difference(bool loading, int64_t a_ms, int64_t b_ms)
{
    static struct seen a[END_MS];
    static struct seen b[END_MS];
    watch(a, loading, a_ms);
    watch(b, loading, b_ms);
    for (size_t ms = 0; ms < END_MS; ms++) {
        if (!is_same(&a[ms], &b[ms])) {
            return ms;
        }
    }
    return END_MS;
}

Test(participant_look, a_page_does_not_show_when_a_computation_ended)
{
    cr_expect_eq(first_difference(false, 110, 190), END_MS, "within one slot: %zu",
                 first_difference(false, 110, 190));
    cr_expect_eq(first_difference(false, 1, 99), END_MS);
    cr_expect_eq(first_difference(true, 110, 190), END_MS);
    /* Planted: one slot more is seen, and at the slot. */
    const size_t seen_at = first_difference(false, 50, 150);
    cr_expect(seen_at >= SLOT_MS - 1 && seen_at <= SLOT_MS + 1, "seen at %zu ms", seen_at);
    const size_t loaded_at = first_difference(true, 50, 150);
    cr_expect(loaded_at >= SLOT_MS - 1 && loaded_at <= SLOT_MS + 1, "seen at %zu ms", loaded_at);
}

Test(participant_look, shows_charges_and_phases_as_they_come)
{
    static struct seen seen[END_MS];
    watch(seen, false, 50);
    cr_expect_str_eq(seen[0].view.phase, "ready");
    cr_expect_str_eq(seen[0].view.round_phase, "working");
    cr_expect_eq(seen[0].spent_micro, 0);
    cr_expect_str_eq(seen[END_MS - 1].view.round_phase, "offered");
    cr_expect_gt(seen[END_MS - 1].spent_micro, 0);
    cr_expect_eq(seen[END_MS - 1].jobs, 1);
    watch(seen, true, 50);
    cr_expect_str_eq(seen[0].view.phase, "reading the records");
    cr_expect_str_eq(seen[END_MS - 1].view.phase, "ready");
}

/* Looking counts a window of days as of now; what is spent next must not notice. */
Test(participant_look, changes_nothing_that_a_step_sees)
{
    static struct timed looked;
    static struct timed alone;
    static struct timed *const bench[] = {&looked, &alone};
    for (size_t i = 0; i < 2; i++) {
        timed_init(bench[i], 10);
        timed_join(bench[i]);
        bench[i]->now_ms = SLOT_MS;
        timed_tick(bench[i]);
        const struct message invite = timed_invitation(bench[i], 0, NULL);
        timed_give(bench[i], &invite, (struct slice){0});
        for (int ms = 0; ms < END_MS; ms++) {
            bench[i]->now_ms++;
            if (i == 0) {
                (void)participant_look(bench[i]->participant, INT64_MAX / 2);
            }
            timed_settle(bench[i]);
            timed_tick(bench[i]);
            timed_settle(bench[i]);
        }
    }
    cr_assert_eq(looked.sent_count, alone.sent_count);
    cr_assert_eq(looked.body_count, alone.body_count);
    for (size_t i = 0; i < looked.body_count; i++) {
        cr_expect(looked.body_size[i] == alone.body_size[i] &&
                      memcmp(looked.body[i], alone.body[i], looked.body_size[i]) == 0,
                  "record %zu", i);
    }
    timed_free(&looked);
    timed_free(&alone);
}
