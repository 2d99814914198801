/* Clients that are slow, many or broken: each is cut at its deadline, and an honest one waits for seconds at most. */

#define _GNU_SOURCE /* memmem */
#include "http_client.h"

Test(http_hostile, a_byte_at_a_time_is_cut_at_the_deadline)
{
    static const char request[] = "GET /made HTTP/1.1\r\n" HOST "X: ";
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    char *answer = calloc(1, ANSWER_BYTES);
    const int client = dial(http);
    int64_t now_ms = START_MS;
    bool closed = false;
    http_run(http, now_ms);
    for (size_t i = 0; !closed; i++) {
        (void)send(client, i < sizeof request - 1 ? &request[i] : "y", 1, MSG_NOSIGNAL);
        now_ms += PERIOD_MS;
        http_run(http, now_ms);
        closed = hear(client, answer);
        cr_assert_leq(now_ms, START_MS + HTTP_REQUEST_MS + 2 * PERIOD_MS);
    }
    cr_expect_geq(now_ms, START_MS + HTTP_REQUEST_MS);
    cr_expect_eq(made, 0);
    (void)close(client);
    free(answer);
    http_free(http);
}

Test(http_hostile, who_does_not_read_is_cut_at_the_deadline)
{
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    const int client = dial(http);
    static char bytes[65536];
    say(client, "GET /long HTTP/1.1\r\n" HOST "\r\n");
    size_t got = 0;
    for (int64_t now_ms = START_MS; now_ms <= START_MS + HTTP_REQUEST_MS + PERIOD_MS;
         now_ms += PERIOD_MS) {
        http_run(http, now_ms);
    }
    /* What the system holds still comes, and then the end. */
    cr_assert_eq(fcntl(client, F_SETFL, 0), 0);
    for (ssize_t more = 1; more > 0; got += (size_t)more) {
        more = recv(client, bytes, sizeof bytes, 0);
        more = more < 0 ? 0 : more;
    }
    cr_expect_gt(got, 1000);
    cr_expect_lt(got, LONG_BYTES, "it was cut");
    (void)close(client);
    http_free(http);
}

Test(http_hostile, two_hundred_idle_connections_delay_an_honest_one_by_seconds_only)
{
    enum { IDLE = 200 };
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    char *answer = calloc(1, ANSWER_BYTES);
    int idle[IDLE];
    for (size_t i = 0; i < IDLE; i++) {
        idle[i] = dial(http);
        if (i % 2 == 0) {
            say(idle[i], "GET /made HTTP/1.1\r\nHost: 127");
        }
    }
    http_run(http, START_MS);
    const int client = dial(http);
    say(client, "GET /made HTTP/1.1\r\n" HOST "\r\n");
    const int64_t then =
        run_until_closed(http, START_MS + PERIOD_MS, HTTP_REQUEST_MS, client, answer);
    cr_expect_not_null(strstr(answer, "made 1"), "%s", answer);
    /* Every HTTP_CROWDED_MS the places of HTTP_CONNECTIONS_MAX are free again. */
    cr_expect_leq(then,
                  START_MS + (IDLE / HTTP_CONNECTIONS_MAX + 1) * (HTTP_CROWDED_MS + 3 * PERIOD_MS));
    for (size_t i = 0; i < IDLE; i++) {
        (void)close(idle[i]);
    }
    (void)close(client);
    free(answer);
    http_free(http);
}

/* Sends as much as is taken; returns whether the server has closed within the deadline. */
static void flood(struct http *http, const char *begin, const char *again)
{
    const int client = dial(http);
    const size_t size = strlen(again);
    char byte[512];
    bool closed = false;
    int64_t now_ms = START_MS;
    if (send(client, begin, strlen(begin), MSG_NOSIGNAL) < 0) {
        closed = true;
    }
    while (!closed && now_ms <= START_MS + HTTP_REQUEST_MS + 2 * PERIOD_MS) {
        for (size_t i = 0; i < 1000 && send(client, again, size, MSG_NOSIGNAL) > 0; i++) {
        }
        http_run(http, now_ms);
        now_ms += PERIOD_MS;
        ssize_t got;
        while ((got = recv(client, byte, sizeof byte, 0)) > 0) {
            cr_expect_null(memmem(byte, (size_t)got, "made", 4));
        }
        closed = got == 0 || errno != EAGAIN;
    }
    cr_expect(closed, "%s", begin);
    (void)close(client);
}

Test(http_hostile, endless_headers_garbage_and_bodies_are_ended)
{
    static const char *const begin[][2] = {
        {"GET /made HTTP/1.1\r\n" HOST "X: ", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"},
        {"GET /made HTTP/1.1\r\n" HOST, "X: y\r\n"},
        {"GET /made HTTP/1.1\r\n" HOST "X: y\r\n", " folded folded\r\n"},
        {"GET /", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
        {"", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"},
        {"\x16\x03\x01\x02", "\x01\xfc\x03\x03\xff\xfe"},
        {"\xff\x7f\x80", "\x01\x02\x03\xfe\xff"},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x01\x04\x08"},
        {"GET /made HTTP/9.9\r\n" HOST "\r\n", "GET /made"},
        {"POST /made HTTP/1.1\r\n" HOST "Content-Length: 99999999\r\n\r\n", "body body body"},
        {"POST /made HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999\r\n\r\n", "body"},
        {"POST /made HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", "body"},
        {"POST /made HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n"},
        {"POST /made HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 9999999\r\n\r\n",
         "body"},
    };
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++) {
        http_free(http);
        http = open_at("127.0.0.1:0", false, PERIOD_MS);
        flood(http, begin[i][0], begin[i][1]);
    }
    int64_t now_ms = START_MS + 2 * HTTP_REQUEST_MS;
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\n" HOST "\r\n", "200");
    http_free(http);
}

/* libmicrohttpd aborts if a suspended connection is stopped. Here any connection may be open. */
Test(http_hostile, may_be_ended_with_connections_in_every_state)
{
    static const char *const said[] = {"",
                                       "GET /ma",
                                       "GET /made HTTP/1.1\r\nHost: ",
                                       "GET /made HTTP/1.1\r\n" HOST "\r\n",
                                       "GET /long HTTP/1.1\r\n" HOST "\r\n",
                                       "POST /made HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\nab",
                                       "\xff\xff"};
    for (int runs = 0; runs < 4; runs++) {
        struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
        int client[2 * sizeof said / sizeof said[0]];
        const size_t count = sizeof said / sizeof said[0];
        for (size_t i = 0; i < 2 * count; i++) {
            client[i] = dial(http);
            say(client[i], said[i % count]);
            if (i >= count) {
                (void)shutdown(client[i], SHUT_WR); /* half open */
            }
        }
        for (int i = 0; i < runs; i++) {
            http_run(http, START_MS + i * (int64_t)PERIOD_MS);
        }
        http_free(http);
        for (size_t i = 0; i < 2 * count; i++) {
            (void)close(client[i]);
        }
    }
    http_free(NULL);
}

Test(http_hostile, a_client_that_leaves_in_the_middle_is_forgotten)
{
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    int64_t now_ms = START_MS;
    for (int i = 0; i < 3 * HTTP_CONNECTIONS_MAX; i++) {
        const int client = dial(http);
        struct linger reset = {.l_onoff = 1, .l_linger = 0};
        say(client, i % 2 == 0 ? "GET /made HTTP/1.1\r\n" HOST "\r\n" : "GET /ma");
        if (i % 3 == 0) {
            (void)setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        }
        (void)close(client);
        http_run(http, now_ms += PERIOD_MS);
    }
    /* If a client leaves together with its last bytes, libmicrohttpd does not notice. The deadline ends the
     * connection. */
    for (int i = 0; i < HTTP_REQUEST_MS / PERIOD_MS + 2; i++) {
        http_run(http, now_ms += PERIOD_MS);
    }
    cr_expect_eq(http_due_ms(http, now_ms + PERIOD_MS), INT64_MAX, "no connection is left");
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\n" HOST "\r\n", "200");
    http_free(http);
}
