/* A database that is slow for one job of a queue. Its statement waits at the server. Neither the lease nor another job waits for
 * it. A new leader does. This test needs a database. */

#include "io/clock.h"
#include "queue_bench.h"

#include "tests/support/journal_seen.h"
#include "tests/support/quiet_fork.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* LONG_S is longer than a lease lasts (lease.h), and shorter than a statement may last (database.c). */
enum { LONG_S = 7, SHORT_S = 3, STEP_MS = 100, LEAST = 10, CODE_LATE = 17 };

static enum status put(struct journal *to, const char *body)
{
    uint64_t sequence = 0;
    return to->append(to->self, &sequence, (struct slice){body, strlen(body)},
                      (struct slice){NULL, 0});
}

struct slow {
    struct journal *journal;
    enum status status;
    int64_t took_ms;
    atomic_bool done;
};

static void *put_slowly(void *self)
{
    struct slow *slow = self;
    const int64_t began_ms = clock_now_ms();
    slow->status = put(slow->journal, "slow");
    slow->took_ms = clock_now_ms() - began_ms;
    atomic_store(&slow->done, true);
    return NULL;
}

/* Planted: a write updated the lease's row, and every other write and the renewal of the lease waited for it. */
Test(queue_slow, one_jobs_slow_statement_holds_up_neither_another_job_nor_the_lease,
     .init = bench_begin_shared, .fini = bench_end, .timeout = 120)
{
    struct office own[2];
    struct journal journal[2];
    pthread_t thread;
    size_t written = 0;
    bool lost = false;
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq(bench_add(), i + 1);
        cr_assert_eq(bench_open_journal(&journal[i], &own[i], i + 1), STATUS_OK, "%s", why.text);
    }
    struct slow slow = {.journal = &journal[0]};
    bench_hold_records(1, LONG_S);
    cr_assert_eq(pthread_create(&thread, NULL, put_slowly, &slow), 0);
    bench_await_held();
    while (!atomic_load(&slow.done)) {
        cr_assert_eq(put(&journal[1], "b"), STATUS_OK, "%s", journal[1].trouble(journal[1].self));
        cr_assert_eq(queue_of(&office)->mark_begun(&office, 2, &why), STATUS_OK, "%s", why.text);
        written += atomic_load(&slow.done) ? 0 : 1;
        lost = lost || queue_of(&office)->is_lost(&office);
        (void)poll(NULL, 0, STEP_MS);
    }
    (void)pthread_join(thread, NULL);
    cr_expect_eq(slow.status, STATUS_OK, "%s", journal[0].trouble(journal[0].self));
    cr_expect_gt(slow.took_ms, 1000 * (LONG_S - 2), "it took %d ms", (int)slow.took_ms);
    cr_expect_geq(written, LEAST, "%zu records of the other job", written);
    cr_expect_not(lost);
    cr_expect_eq(put(&journal[0], "next"), STATUS_OK, "its term holds");
    cr_expect_str_eq(read_seen(&journal[0], STATUS_OK, &why).text, "1:slow:0 2:next:0 ");
    for (size_t i = 0; i < 2; i++) {
        journal_close(&journal[i]);
        office_free(&own[i]);
    }
}

/* A leader whose process is stopped while its statement is at the server, and woken again: it ends with CODE_LATE where the
 * statement was answered, and nothing that follows was written. */
static void lead_and_be_stopped(bool has_key)
{
    struct office old = {.settings = office.settings};
    struct office own;
    struct journal journal;
    bool fits =
        queue_open(&old, &why) == STATUS_OK && queue_of(&old)->lead(&old, &why) == STATUS_OK;
    own = office_like(&old);
    fits = fits && queue_take(&own, 1, &why) == STATUS_OK;
    const struct journal_options options = {
        .place = own.settings.state, .kind = "coordinator", .part = queue_of(&own)->part(&own)};
    fits = fits && journal_open(&journal, &options, &why) == STATUS_OK &&
           put(&journal, "first") == STATUS_OK;
    if (!fits) {
        _exit(1);
    }
    if (!has_key) {
        bench_psql("DROP INDEX hedgerow_lease_term");
    }
    bench_hold_records(1, SHORT_S);
    const bool answered = put(&journal, "slow") == STATUS_OK;
    const bool fenced = put(&journal, "late") == STATUS_IO && queue_of(&old)->is_lost(&old);
    _exit(answered && fenced ? CODE_LATE : 2);
}

/* From one that is stopped in the middle of a statement. Returns how many milliseconds that took. */
static int64_t take_the_lead(pid_t *old, bool has_key)
{
    queue_of(&office)->close(&office);
    cr_assert_eq(queue_open(&office, &why), STATUS_OK, "%s", why.text); /* it makes the key */
    *old = quiet_fork();
    if (*old == 0) {
        lead_and_be_stopped(has_key);
    }
    bench_await_held();
    cr_assert_eq(kill(*old, SIGSTOP), 0);
    const int64_t began_ms = clock_now_ms();
    bench_psql("UPDATE hedgerow_lease SET until = '-infinity'");
    cr_assert_eq(queue_of(&office)->lead(&office, &why), STATUS_OK, "%s", why.text);
    return clock_now_ms() - began_ms;
}

Test(queue_slow, who_takes_the_lead_waits_for_a_statement_that_has_begun,
     .init = bench_begin_shared, .fini = bench_end, .timeout = 120)
{
    struct office own;
    struct journal journal;
    pid_t old = 0;
    int result = 0;
    cr_assert_eq(bench_add(), 1);
    const int64_t took_ms = take_the_lead(&old, true);
    cr_expect_gt(took_ms, 500, "it took %d ms", (int)took_ms);
    cr_assert_eq(bench_open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(read_seen(&journal, STATUS_OK, &why).text, "1:first:0 2:slow:0 ");
    cr_assert_eq(kill(old, SIGCONT), 0);
    cr_assert_eq(waitpid(old, &result, 0), old);
    cr_expect(WIFEXITED(result) && WEXITSTATUS(result) == CODE_LATE, "%d", result);
    cr_expect_eq(put(&journal, "mine"), STATUS_OK);
    cr_expect_str_eq(read_seen(&journal, STATUS_OK, &why).text, "1:first:0 2:slow:0 3:mine:0 ");
    journal_close(&journal);
    office_free(&own);
}

/* Planted: without the key on the term nobody waits, and a record comes in under a term that is over. */
Test(queue_slow, the_key_is_what_makes_the_next_leader_wait, .init = bench_begin_shared,
     .fini = bench_end, .timeout = 120)
{
    struct office own;
    struct journal journal;
    pid_t old = 0;
    int result = 0;
    cr_assert_eq(bench_add(), 1);
    (void)take_the_lead(&old, false);
    cr_assert_eq(bench_open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(read_seen(&journal, STATUS_OK, &why).text, "1:first:0 ");
    cr_assert_eq(kill(old, SIGCONT), 0);
    cr_assert_eq(waitpid(old, &result, 0), old);
    journal_close(&journal);
    office_free(&own);
    cr_assert_eq(bench_open_journal(&journal, &own, 1), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(read_seen(&journal, STATUS_OK, &why).text, "1:first:0 2:slow:0 ");
    journal_close(&journal);
    office_free(&own);
}
