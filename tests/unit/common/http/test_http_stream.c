/* Answers that last: the server and its clients take turns on one thread, and the clock is the test's own. */

#include "tests/unit/common/http/stream_client.h"

#include <limits.h>

Test(http_stream, tells_at_once_and_again_when_there_is_news)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    struct client client = dial(http, LISTEN);
    run(http, &now_ms, 4 * PERIOD_MS, &client);
    cr_expect_not_null(strstr(client.heard, "Content-Type: text/event-stream"));
    cr_expect_not_null(strstr(client.heard, "data: {\"version\": 1,\ndata: \"told\": 1}\n\n"), "%s",
                       client.heard);
    run(http, &now_ms, 4000, &client);
    cr_expect_eq(count(client.heard, "version"), 1, "nothing is new");
    program.version = 2;
    run(http, &now_ms, STREAM_NEWS_MS + 2 * PERIOD_MS, &client);
    cr_expect_eq(count(client.heard, "\"version\": 2"), 1, "%s", client.heard);
    for (int i = 0; i < 100; i++) { /* a hundred rounds in five seconds are ten events at most */
        program.version++;
        run(http, &now_ms, PERIOD_MS, &client);
    }
    cr_expect_leq(count(client.heard, "version"), 2 + 5000 / STREAM_NEWS_MS);
    run(http, &now_ms, 2 * STREAM_NEWS_MS, &client);
    cr_expect_eq(count(client.heard, "\"version\": 102"), 1, "the latest is always told");
    cr_expect_not(client.ended);
    hang_up(&client);
    http_free(http);
}

Test(http_stream, a_listener_outlives_the_deadline_of_requests_and_hears_that_the_program_lives)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    struct client client = dial(http, LISTEN);
    run(http, &now_ms, 60000, &client);
    cr_expect_not(client.ended);
    cr_expect_geq(count(client.heard, "event: beat\ndata: .\n\n"), 60000 / STREAM_BEAT_MS - 2);
    hang_up(&client);
    http_free(http);
}

Test(http_stream, who_does_not_read_is_cut_and_delays_nobody)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    program.is_long = true;
    struct client deaf = dial(http, LISTEN);
    struct client other = dial(http, LISTEN);
    for (int i = 0; i < 400 && now_ms < START_MS + 2 * HTTP_STALLED_MS; i++) {
        program.version++;
        run(http, &now_ms, PERIOD_MS, &other);
    }
    for (int i = 0; i < 300 && !deaf.ended; i++) { /* what the system holds comes first */
        (void)poll(NULL, 0, 10);
        hear(&deaf);
    }
    cr_expect(deaf.ended, "it is cut");
    cr_expect_lt(deaf.used, LONG_BYTES / 2, "little was kept for it");
    cr_expect_not(other.ended);
    cr_expect_geq(other.used, ANSWER_BYTES - 1);
    hang_up(&deaf);
    hang_up(&other);
    http_free(http);
}

Test(http_stream, those_who_left_make_room_at_once)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    struct client client[HTTP_STREAMS_MAX];
    for (size_t i = 0; i < HTTP_STREAMS_MAX; i++) {
        client[i] = dial(http, LISTEN);
    }
    run(http, &now_ms, 4 * PERIOD_MS, NULL);
    struct client late = dial(http, LISTEN);
    run(http, &now_ms, 4 * PERIOD_MS, &late);
    cr_expect_not_null(strstr(late.heard, "HTTP/1.1 503 "), "%s", late.heard);
    hang_up(&late);
    for (size_t i = 0; i < HTTP_STREAMS_MAX; i++) {
        hang_up(&client[i]);
    }
    run(http, &now_ms, 4 * PERIOD_MS, NULL);
    late = dial(http, LISTEN);
    run(http, &now_ms, 4 * PERIOD_MS, &late);
    cr_expect_not_null(strstr(late.heard, "data: {"), "%s", late.heard);
    late.ended = false;
    struct client plain = dial(http, "GET /fixed HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    run(http, &now_ms, 4 * PERIOD_MS, &plain);
    cr_expect_not_null(strstr(plain.heard, "fixed"));
    hang_up(&plain);
    hang_up(&late);
    http_free(http);
}

/* libmicrohttpd aborts the process where a suspended connection is left. */
Test(http_stream, is_stopped_with_listeners_and_tells_them)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    struct client client = dial(http, LISTEN);
    run(http, &now_ms, 1000, &client);
    http_free(http);
    hear(&client);
    cr_expect(client.ended);
    hang_up(&client);
}

/* A client that asks at the very end is heard in the last turn. If there were nothing to tell it, its connection would
 * stay suspended. */
Test(http_stream, is_stopped_while_one_begins_to_listen)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    struct client client = dial(http, "GET /events HTTP/1.1\r\n");
    run(http, &now_ms, 1000, NULL);
    cr_assert_eq(send(client.socket, "Host: 127.0.0.1\r\n\r\n", 19, MSG_NOSIGNAL), 19);
    program.is_silent = true;
    http_free(http);
    hear(&client);
    cr_expect(client.ended);
    hang_up(&client);
}

Test(http_stream, without_listeners_nothing_is_made)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    struct client client = dial(http, LISTEN);
    run(http, &now_ms, 1000, &client);
    hang_up(&client);
    run(http, &now_ms, 1000, NULL);
    const unsigned before = program.told;
    for (int i = 0; i < 100; i++) {
        program.version++;
        run(http, &now_ms, 500, NULL);
    }
    cr_expect_eq(program.told, before);
    cr_expect_eq(http_due_ms(http, now_ms), INT64_MAX, "the program may sleep");
    http_free(http);
}

static void write_file(size_t size)
{
    (void)snprintf(file_path, sizeof file_path, "/tmp/hedgerow-stream.XXXXXX");
    const int file = mkstemp(file_path);
    char *bytes = malloc(size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)('a' + i % 23);
    }
    cr_assert_eq(write(file, bytes, size), (ssize_t)size);
    (void)close(file);
    free(bytes);
}

Test(http_stream, gives_a_file_whole_and_as_a_download)
{
    enum { SIZE = 300000 };
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    write_file(SIZE);
    struct client client = dial(http, "GET /files/7/data HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    run(http, &now_ms, 3000, &client);
    cr_expect(client.ended);
    cr_expect_not_null(
        strstr(client.heard, "Content-Disposition: attachment; filename=\"job-7-data\""), "%.400s",
        client.heard);
    const char *body = strstr(client.heard, "\r\n\r\n") + 4;
    cr_assert_eq(client.used - (size_t)(body - client.heard), SIZE);
    for (size_t i = 0; i < SIZE; i++) {
        cr_assert_eq(body[i], (char)('a' + i % 23));
    }
    hang_up(&client);
    (void)unlink(file_path);
    http_free(http);
}

#define FILE_7 "GET /files/7/data HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

/* Another thread reads it from a server that is slow. Meanwhile others are answered, and the port asks once a period. */
Test(http_stream, a_file_that_is_on_its_way_is_waited_for)
{
    enum { SIZE = 1000, TURNS = 200 }; /* longer than other requests may last */
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    write_file(SIZE);
    file_later = TURNS;
    file_asked = 0;
    struct client client = dial(http, FILE_7);
    run(http, &now_ms, (int64_t)PERIOD_MS * TURNS / 2, &client);
    cr_assert(!client.ended && client.used == 0);
    cr_expect(file_asked > TURNS / 4 && file_asked <= TURNS / 2 + 2, "asked %u times", file_asked);
    struct client other = dial(http, "GET /fixed HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    run(http, &now_ms, 200, &other);
    cr_expect(other.ended);
    run(http, &now_ms, (int64_t)PERIOD_MS * TURNS, &client);
    cr_expect(client.ended);
    const char *body = strstr(client.heard, "\r\n\r\n");
    cr_assert_not_null(body);
    cr_expect_eq(client.used - (size_t)(body + 4 - client.heard), SIZE);
    run(http, &now_ms, 1000, NULL);
    cr_expect_eq(http_due_ms(http, now_ms + PERIOD_MS), INT64_MAX, "the program may sleep");
    hang_up(&client);
    hang_up(&other);
    (void)unlink(file_path);
    http_free(http);
}

/* It was waited for longer than other requests may last, and then there is none: that is still told. */
Test(http_stream, who_has_waited_long_hears_that_there_is_no_such_file)
{
    enum { TURNS = 4 * HTTP_REQUEST_MS / PERIOD_MS };
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    file_later = TURNS;
    file_is_gone = true;
    struct client client = dial(http, FILE_7);
    run(http, &now_ms, (int64_t)PERIOD_MS * (TURNS + 20), &client);
    cr_expect_not_null(strstr(client.heard, " 404 "), "%s", client.heard);
    cr_expect(client.ended);
    run(http, &now_ms, 1000, NULL);
    cr_expect_eq(http_due_ms(http, now_ms + PERIOD_MS), INT64_MAX, "the program may sleep");
    file_is_gone = false;
    hang_up(&client);
    http_free(http);
}

/* A client that leaves meanwhile gives its place to others before its time is over. */
Test(http_stream, who_leaves_while_a_file_is_on_its_way_gives_up_the_place)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    struct client client[HTTP_WAITING_MAX];
    write_file(1);
    file_later = UINT_MAX;
    for (size_t i = 0; i < HTTP_WAITING_MAX; i++) {
        client[i] = dial(http, FILE_7);
    }
    run(http, &now_ms, 1000, NULL);
    for (size_t i = 0; i < HTTP_WAITING_MAX; i++) {
        hang_up(&client[i]);
    }
    run(http, &now_ms, 2000, NULL);
    struct client next = dial(http, FILE_7);
    run(http, &now_ms, 1000, &next);
    cr_expect(!next.ended && next.used == 0, "%s", next.heard);
    file_later = 0;
    run(http, &now_ms, 1000, &next);
    cr_expect_not_null(strstr(next.heard, " 200 "), "%s", next.heard);
    hang_up(&next);
    (void)unlink(file_path);
    http_free(http);
}

Test(http_stream, a_file_that_does_not_come_is_waited_for_by_few_and_not_for_ever)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    struct client client[HTTP_WAITING_MAX + 1];
    write_file(1);
    file_later = UINT_MAX;
    for (size_t i = 0; i < HTTP_WAITING_MAX; i++) {
        client[i] = dial(http, FILE_7);
    }
    run(http, &now_ms, 1000, NULL);
    client[HTTP_WAITING_MAX] = dial(http, FILE_7);
    run(http, &now_ms, 1000, &client[HTTP_WAITING_MAX]);
    cr_expect_not_null(strstr(client[HTTP_WAITING_MAX].heard, " 503 "));
    hang_up(&client[0]); /* one leaves */
    run(http, &now_ms, HTTP_WAITS_MS - 5000, NULL);
    hear(&client[1]);
    cr_expect_not(client[1].ended, "it waits");
    run(http, &now_ms, 6000, NULL);
    for (size_t i = 1; i < HTTP_WAITING_MAX; i++) {
        hear(&client[i]);
        cr_expect(client[i].ended && client[i].used == 0, "%zu", i);
    }
    cr_expect_eq(http_due_ms(http, now_ms + PERIOD_MS), INT64_MAX, "no connection is left");
    file_later = 0;
    struct client next = dial(http, FILE_7);
    run(http, &now_ms, 1000, &next);
    cr_expect_not_null(strstr(next.heard, " 200 "));
    for (size_t i = 1; i <= HTTP_WAITING_MAX; i++) {
        hang_up(&client[i]);
    }
    hang_up(&next);
    (void)unlink(file_path);
    http_free(http);
}

/* libmicrohttpd aborts the process where a suspended connection is left. */
Test(http_stream, is_stopped_while_files_are_on_their_way)
{
    for (int turns = 0; turns < 4; turns++) {
        struct http *http = open_http();
        int64_t now_ms = START_MS;
        file_later = UINT_MAX;
        struct client client = dial(http, FILE_7);
        struct client left = dial(http, FILE_7);
        run(http, &now_ms, (int64_t)turns * PERIOD_MS, NULL);
        hang_up(&left);
        http_free(http);
        hear(&client);
        cr_expect(client.ended, "%d", turns);
        hang_up(&client);
    }
}

Test(http_stream, who_does_not_read_a_file_is_cut)
{
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    write_file(8 << 20);
    struct client client = dial(http, "GET /files/7/data HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    run(http, &now_ms, HTTP_STALLED_MS + 10 * PERIOD_MS, NULL);
    for (int i = 0; i < 300 && !client.ended; i++) { /* what the system holds comes first */
        (void)poll(NULL, 0, 10);
        hear(&client);
    }
    cr_expect(client.ended);
    cr_expect_lt(client.used, 1 << 19);
    hang_up(&client);
    (void)unlink(file_path);
    http_free(http);
}

Test(http_stream, opens_no_other_path)
{
    static const char *const path[] = {"/files/",         "/files",          "/files/7/data?x",
                                       "/files/7/data/",  "/files/7%2fdata", "/files/../7/data",
                                       "/files/./7/data", "/files//7/data",  "/files/7/dat%61",
                                       "/events?from=1",  "/events/"};
    struct http *http = open_http();
    int64_t now_ms = START_MS;
    write_file(10);
    for (size_t i = 0; i < sizeof path / sizeof path[0]; i++) {
        char request[128];
        (void)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                       path[i]);
        struct client client = dial(http, request);
        run(http, &now_ms, 4 * PERIOD_MS, &client);
        cr_expect_not_null(strstr(client.heard, "HTTP/1.1 404 "), "%s gave %s", path[i],
                           client.heard);
        hang_up(&client);
    }
    (void)unlink(file_path);
    http_free(http);
}
