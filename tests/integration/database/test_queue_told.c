/* A coordinator with a queue in a database follows changes, and lists who declines, on other threads. The loop waits for
 * neither. */

#include "coordinator/main_queue_store.h"
#include "queue_bench.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HELD_S = 4, TRIES = 600, TRY_MS = 50 };

static void hold(const char *table)
{
    char command[128];
    snprintf(command, sizeof command, "LOCK TABLE %s IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(%d)",
             table, HELD_S);
    bench_psql(command);
}

static void *hold_jobs(UNUSED void *self)
{
    hold("hedgerow_job");
    return NULL;
}

static void *hold_declined(UNUSED void *self)
{
    hold("hedgerow_declined");
    return NULL;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Planted: the loop asked itself what has changed, and waited for the server with its rounds. */
Test(queue_told, a_server_that_stalls_holds_up_nobody_who_follows, .init = bench_begin_shared,
     .fini = bench_end)
{
    static struct queue_followed followed;
    struct queue_list list;
    pthread_t holder;
    char *text = NULL;
    size_t size = 0;
    double slowest = 0;
    cr_assert_eq(bench_add(), 1);
    cr_assert_eq(queue_of(&office)->list(&list, &office, &why), STATUS_OK, "%s", why.text);
    queue_of(&office)->follow(&followed, &office, 0);
    cr_assert_eq(followed.read(&followed, &text, &size, &why), STATUS_OK, "%s", why.text);
    cr_expect(size == list.names_size && memcmp(text, list.names, size) == 0);
    free(text);
    cr_assert_eq(pthread_create(&holder, NULL, hold_jobs, NULL), 0);
    for (double began = now_s(); now_s() < began + HELD_S + 1;) {
        const double since = now_s();
        cr_assert_eq(followed.read(&followed, &text, &size, &why), STATUS_OK, "%s", why.text);
        slowest = now_s() - since > slowest ? now_s() - since : slowest;
        free(text);
        (void)poll(NULL, 0, TRY_MS);
    }
    (void)pthread_join(holder, NULL);
    cr_expect_lt(slowest, HELD_S / 2.0, "the table was held for %d s", (int)HELD_S);
    cr_assert_eq(bench_add(), 2);
    bool told = false;
    for (int i = 0; i < TRIES && !told; i++) {
        (void)poll(NULL, 0, TRY_MS);
        cr_assert_eq(followed.read(&followed, &text, &size, &why), STATUS_OK, "%s", why.text);
        told = size != list.names_size || memcmp(text, list.names, size) != 0;
        free(text);
    }
    cr_expect(told, "and what comes behind it is heard of");
    queue_list_free(&list);
}

/* Waits until a job's decliners are these, as anybody reads them. */
static void expect_declined(const struct office *reader, uint32_t number, const char *expected)
{
    char names[QUEUE_BY_BYTES] = "?";
    for (int i = 0; i < TRIES && strcmp(names, expected) != 0; i++) {
        (void)poll(NULL, 0, i == 0 ? 0 : TRY_MS);
        queue_of(reader)->declined(names, reader, number);
    }
    cr_expect_str_eq(names, expected);
}

static void tell_declined(const struct office *teller, uint32_t number, const char *names)
{
    cr_assert_eq(queue_of(teller)->put_declined(teller, number, names, &why), STATUS_OK, "%s",
                 why.text);
}

static const char thirty_one_seconds_later[] =
    "UPDATE hedgerow_declined SET told = told - interval '31 seconds'";

/* Each coordinator of a job tells of its own agents. An agent that went from one to the other is named once. */
Test(queue_told, who_declines_is_told_by_each_and_read_by_all, .init = bench_begin_shared,
     .fini = bench_end)
{
    struct office collector = {.settings = office.settings};
    struct office reader = {.settings = office.settings};
    bench_psql("DROP TABLE hedgerow_declined"); /* the queue of an earlier hedgerow */
    cr_assert_eq(queue_open(&collector, &why), STATUS_OK, "%s", why.text);
    queue_of(&collector)->collect(&collector);
    cr_assert_eq(queue_open(&reader, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(bench_add(), 1);
    cr_assert_eq(bench_add(), 2);
    expect_declined(&reader, 1, "");
    tell_declined(&office, 1, "west");
    tell_declined(&collector, 1, "east, ...");
    tell_declined(&collector, 2, "north");
    expect_declined(&reader, 1, "east, west, ...");
    expect_declined(&reader, 2, "north");
    tell_declined(&office, 1, "east, west");
    tell_declined(&collector, 1, "east");
    expect_declined(&reader, 1, "east, west");
    tell_declined(&office, 1, "");
    expect_declined(&reader, 1, "east");
    tell_declined(&collector, 1, "");
    expect_declined(&reader, 1, "");
    expect_declined(&reader, 2, "north");
    queue_of(&collector)->close(&collector);
    queue_of(&reader)->close(&reader);
}

Test(queue_told, many_who_decline_are_told_as_far_as_there_is_room, .init = bench_begin_shared,
     .fini = bench_end)
{
    struct office collector = {.settings = office.settings};
    char names[2][QUEUE_BY_BYTES] = {"", ""};
    cr_assert_eq(queue_open(&collector, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(bench_add(), 1);
    for (int i = 0; i < 20; i++) {
        const size_t used = strlen(names[i % 2]);
        snprintf(names[i % 2] + used, QUEUE_BY_BYTES - used, "%ssite-%02d", used > 0 ? ", " : "",
                 i);
    }
    tell_declined(&office, 1, names[0]);
    tell_declined(&collector, 1, names[1]);
    char all[QUEUE_BY_BYTES] = "site-00";
    for (int i = 1; i < 13; i++) {
        snprintf(all + strlen(all), QUEUE_BY_BYTES - strlen(all), ", site-%02d", i);
    }
    strcat(all, ", ...");
    cr_assert_lt(strlen(all), QUEUE_BY_BYTES);
    expect_declined(&collector, 1, all);
    queue_of(&collector)->close(&collector);
}

/* What a coordinator that died has told runs out. One that lives tells it again. */
Test(queue_told, who_declines_is_forgotten_with_the_coordinator_that_told_it,
     .init = bench_begin_shared, .fini = bench_end)
{
    struct office dead = {.settings = office.settings};
    cr_assert_eq(queue_open(&dead, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(bench_add(), 1);
    tell_declined(&dead, 1, "east");
    expect_declined(&office, 1, "east");
    queue_of(&dead)->close(&dead);
    expect_declined(&office, 1, "east");
    bench_psql(thirty_one_seconds_later);
    expect_declined(&office, 1, "");
    tell_declined(&office, 1, "west");
    expect_declined(&office, 1, "west");
    bench_psql("SELECT 1 / (count(*) = 1)::int FROM hedgerow_declined"); /* the old row is gone */
    bench_psql(thirty_one_seconds_later);
    expect_declined(&office, 1, "");
    expect_declined(&office, 1, "west"); /* within JOBS_DECLINED_MS */
}

/* If the loop wrote them itself, all rounds would wait for the server. */
Test(queue_told, telling_who_declines_does_not_wait, .init = bench_begin_shared, .fini = bench_end)
{
    pthread_t holder;
    double slowest = 0;
    cr_assert_eq(bench_add(), 1);
    tell_declined(&office, 1, "east");
    expect_declined(&office, 1, "east");
    cr_assert_eq(pthread_create(&holder, NULL, hold_declined, NULL), 0);
    for (double began = now_s(); now_s() < began + HELD_S - 1;) {
        const double since = now_s();
        tell_declined(&office, 1, now_s() - began < 1 ? "west" : "north");
        slowest = now_s() - since > slowest ? now_s() - since : slowest;
        (void)poll(NULL, 0, TRY_MS);
    }
    cr_expect_lt(slowest, HELD_S / 2.0, "the table was held for %d s", (int)HELD_S);
    (void)pthread_join(holder, NULL);
    expect_declined(&office, 1, "north");
}
