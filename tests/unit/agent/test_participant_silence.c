/* A coordinator from which nothing comes: a new connection gets twice as long, for one that is crowded has to answer all
 * who come anew. Not longer: after a restart all are to be back soon. */

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
