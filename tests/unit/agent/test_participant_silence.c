/* A coordinator that sends nothing: a new connection waits twice as long, because a busy coordinator has to answer all
 * agents that come back. It waits no longer, so that all are back soon after a restart. */

#include "timed.h"

#include <criterion/criterion.h>
#include <string.h>

enum { SILENCE_MS = 100000, TURN_MS = 25000 }; /* of timed.c */

/* Lets time pass until the connection is built anew; returns how long that took. */
static int64_t silence(struct timed *bench)
{
    const int64_t began_ms = bench->now_ms;
    bench->logged[0] = '\0';
    while (strstr(bench->logged, "coordinator-silent") == NULL) {
        cr_assert_lt(bench->now_ms - began_ms, 100 * SILENCE_MS);
        bench->now_ms += TURN_MS;
        timed_tick(bench);
    }
    return bench->now_ms - began_ms;
}

Test(silence, is_borne_twice_as_long_on_a_new_connection)
{
    static struct timed bench;
    timed_init(&bench, 10);
    cr_expect_eq(silence(&bench), SILENCE_MS);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(silence(&bench), 2 * SILENCE_MS, "at most");
    }
    struct message welcome = timed_welcome(&bench.job);
    timed_give(&bench, &welcome, (struct slice){0});
    cr_expect_eq(silence(&bench), SILENCE_MS, "once something was heard");
    timed_free(&bench);
}

/* A coordinator of version 5 or before does not answer an agent of another version at all. */
Test(silence, of_two_in_a_row_says_that_the_coordinator_may_be_older)
{
    static struct timed bench;
    timed_init(&bench, 10);
    (void)silence(&bench);
    cr_expect_null(strstr(bench.told, "older"), "%s", bench.told);
    (void)silence(&bench);
    cr_expect_not_null(strstr(bench.told, "an older hedgerow"), "%s", bench.told);
    timed_free(&bench);
}

Test(silence, does_not_end_with_a_word_of_another_version)
{
    static struct timed bench;
    timed_init(&bench, 10);
    struct message welcome = timed_welcome(&bench.job);
    welcome.as.welcome.version = PROTOCOL_VERSION - 1;
    bench.now_ms += SILENCE_MS - 1;
    timed_give(&bench, &welcome, (struct slice){0});
    cr_expect_str_eq(bench.told, "the coordinator speaks version 8 of the protocol, this agent "
                                 "version 9; remedy: upgrade the coordinator");
    cr_expect_leq(silence(&bench), TURN_MS, "another address may have one of this version");
    welcome.as.welcome.version = PROTOCOL_VERSION + 1;
    timed_give(&bench, &welcome, (struct slice){0});
    cr_expect_str_eq(bench.told, "the coordinator speaks version 10 of the protocol, this agent "
                                 "version 9; remedy: upgrade this agent");
    timed_free(&bench);
}
