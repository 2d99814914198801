/* How places for answers that last are shared out between the addresses of those who listen. */

#include "tests/unit/common/http/stream_client.h"

static size_t count_left(struct client *client, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        hear(&client[i]);
        left += client[i].ended ? 0 : 1;
    }
    return left;
}

/* An address that has all places keeps half of them once another one comes, and its oldest clients leave. A third
 * address takes from both. */
Test(http_stream_share, an_address_that_has_all_gives_way_to_others)
{
    enum { ALL = HTTP_STREAMS_MAX };
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    struct client greedy[ALL], other[ALL];
    for (size_t i = 0; i < ALL; i++) {
        greedy[i] = dial(http, LISTEN);
        run(http, &now_ms, 2 * PERIOD_MS, &greedy[i]);
    }
    for (size_t i = 0; i < ALL; i++) {
        other[i] = dial_from(http, 2, LISTEN);
        run(http, &now_ms, 12 * PERIOD_MS, &other[i]);
        cr_expect_eq(count_left(greedy, ALL), i < ALL / 2 ? ALL - 1 - i : ALL / 2, "after %zu", i);
        cr_expect_not_null(strstr(other[i].heard, i < ALL / 2 ? "data: {" : "HTTP/1.1 503 "),
                           "%zu: %s", i, other[i].heard);
    }
    cr_expect(greedy[ALL / 2 - 1].ended && !greedy[ALL / 2].ended, "the oldest went");
    struct client third = dial_from(http, 3, LISTEN);
    run(http, &now_ms, 12 * PERIOD_MS, &third);
    cr_expect_not_null(strstr(third.heard, "data: {"), "%s", third.heard);
    struct client again = dial(http, LISTEN);
    run(http, &now_ms, 12 * PERIOD_MS, &again);
    cr_expect_not_null(strstr(again.heard, "HTTP/1.1 503 "), "it has its share: %s", again.heard);
    hang_up(&again);
    hang_up(&third);
    for (size_t i = 0; i < ALL; i++) {
        hang_up(&greedy[i]);
        hang_up(&other[i]);
    }
    http_free(http);
}

/* Several that come in one turn find places although those who gave way are not gone yet. */
Test(http_stream_share, those_who_come_at_once_find_places)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    struct client greedy[HTTP_STREAMS_MAX], other[3];
    for (size_t i = 0; i < HTTP_STREAMS_MAX; i++) {
        greedy[i] = dial(http, LISTEN);
    }
    run(http, &now_ms, 4 * PERIOD_MS, NULL);
    for (size_t i = 0; i < 3; i++) {
        other[i] = dial_from(http, 2, LISTEN);
    }
    run(http, &now_ms, 12 * PERIOD_MS, NULL);
    for (size_t i = 0; i < 3; i++) {
        hear(&other[i]);
        cr_expect_not_null(strstr(other[i].heard, "data: {"), "%s", other[i].heard);
    }
    cr_expect_eq(count_left(greedy, HTTP_STREAMS_MAX), HTTP_STREAMS_MAX - 3);
    for (size_t i = 0; i < HTTP_STREAMS_MAX; i++) {
        hang_up(&greedy[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        hang_up(&other[i]);
    }
    http_free(http);
}
