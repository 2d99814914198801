/* The server and its clients take turns on one thread, and the clock is the test's own: every deadline is met to the
 * millisecond. */

#define _GNU_SOURCE /* memmem */
#include "http/http.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { START_MS = 1000000, PERIOD_MS = 50, ANSWER_BYTES = 64 * 1024, LONG_BYTES = 16 << 20 };

#define HOST "Host: 127.0.0.1\r\n"

static unsigned made;

static char *make_count(void *self, unsigned *code)
{
    char *text = malloc(32);
    (void)self, (void)code;
    (void)snprintf(text, 32, "made %u\n", ++made);
    return text;
}

static char *make_sick(void *self, unsigned *code)
{
    *code = 503;
    return make_count(self, code);
}

static char *make_nothing(void *self, unsigned *code)
{
    (void)self, (void)code;
    return NULL;
}

static char *make_long(void *self, unsigned *code)
{
    char *text = malloc(LONG_BYTES + 1);
    (void)self, (void)code;
    memset(text, 'x', LONG_BYTES);
    text[LONG_BYTES] = '\0';
    return text;
}

static char last_given[256];

static char *make_act(void *self, const char *const value[static HTTP_GIVEN_MAX], unsigned *code)
{
    (void)snprintf(last_given, sizeof last_given, "%s|%s|%s", value[0] ? value[0] : "-",
                   value[1] ? value[1] : "-", value[2] ? value[2] : "-");
    return make_count(self, code);
}

static const struct http_route route[] = {
    {.path = "/act", .type = "text/plain", .act = make_act, .given = {"X-First", "X-Second"}},
    {.path = "/", .type = "text/plain", .text = {"fixed\n", 6}},
    {.path = "/made", .type = "text/plain", .make = make_count},
    {.path = "/sick", .type = "text/plain", .make = make_sick},
    {.path = "/nothing", .type = "text/plain", .make = make_nothing},
    {.path = "/long", .type = "text/plain", .make = make_long},
};

static struct http *open_at(const char *listen_at, bool on_grid, uint32_t period_ms)
{
    struct http *http = NULL;
    struct why why = {{0}};
    const struct http_options options = {.listen = listen_at,
                                         .route = route,
                                         .route_count = sizeof route / sizeof route[0],
                                         .period_ms = period_ms,
                                         .on_grid = on_grid};
    cr_assert_eq(http_open(&http, &options, &why), STATUS_OK, "%s", why.text);
    made = 0;
    return http;
}

static int dial(const struct http *http)
{
    const char *colon = strrchr(http_address(http), ':');
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(connect(client, (struct sockaddr *)&to, sizeof to), 0);
    cr_assert_eq(fcntl(client, F_SETFL, O_NONBLOCK), 0);
    return client;
}

static void say(int client, const char *text)
{
    cr_assert_eq(send(client, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Appends what has come to answer (ANSWER_BYTES); returns whether the server has closed. */
static bool hear(int client, char *answer)
{
    size_t used = strlen(answer);
    for (;;) {
        const ssize_t got = recv(client, answer + used, ANSWER_BYTES - used - 1, 0);
        if (got <= 0) {
            return got == 0 || errno == ECONNRESET;
        }
        used += (size_t)got;
        answer[used] = '\0';
    }
}

/* Runs the server for so long, a period at a time, or until the client's answer is whole. Returns when that was. */
static int64_t run_until_closed(struct http *http, int64_t now_ms, int64_t longest_ms, int client,
                                char *answer)
{
    const int64_t end_ms = now_ms + longest_ms;
    bool closed = false;
    for (; !closed && now_ms <= end_ms; now_ms += PERIOD_MS) {
        http_run(http, now_ms);
        closed = hear(client, answer);
    }
    cr_assert(closed, "not closed within %d ms: %s", (int)longest_ms, answer);
    return now_ms - PERIOD_MS;
}

/* One request by itself; returns its answer, static. */
static const char *ask(struct http *http, int64_t *now_ms, const char *request)
{
    static char answer[ANSWER_BYTES];
    answer[0] = '\0';
    const int client = dial(http);
    say(client, request);
    *now_ms = run_until_closed(http, *now_ms + PERIOD_MS, 4 * PERIOD_MS, client, answer);
    (void)close(client);
    return answer;
}

static void expect_code(struct http *http, int64_t *now_ms, const char *request, const char *code)
{
    const char *answer = ask(http, now_ms, request);
    cr_expect(strncmp(answer, "HTTP/1.", 7) == 0 && strncmp(answer + 9, code, 3) == 0,
              "%s\ngave: %s", request, answer);
}

Test(http, answers_its_routes_and_lets_nobody_keep_or_frame_them)
{
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    int64_t now_ms = START_MS;
    const char *answer = ask(http, &now_ms, "GET / HTTP/1.1\r\n" HOST "\r\n");
    cr_expect_not_null(strstr(answer, "HTTP/1.1 200 "));
    cr_expect_not_null(strstr(answer, "\r\n\r\nfixed\n"));
    cr_expect_not_null(strstr(answer, "\r\nCache-Control: no-store\r\n"));
    cr_expect_not_null(strstr(answer, "\r\nX-Content-Type-Options: nosniff\r\n"));
    cr_expect_not_null(strstr(answer, "\r\nX-Frame-Options: DENY\r\n"));
    cr_expect_not_null(strstr(answer, "\r\nContent-Security-Policy: default-src 'none'; "));
    cr_expect_not_null(strstr(answer, "frame-ancestors 'none'"));
    cr_expect_null(strstr(answer, "Access-Control"));
    cr_expect_null(strstr(answer, "Set-Cookie"));
    answer = ask(http, &now_ms, "HEAD / HTTP/1.1\r\n" HOST "\r\n");
    cr_expect_not_null(strstr(answer, "HTTP/1.1 200 "));
    cr_expect_str_eq(strstr(answer, "\r\n\r\n"), "\r\n\r\n", "no body");
    expect_code(http, &now_ms, "GET /sick HTTP/1.1\r\n" HOST "\r\n", "503");
    expect_code(http, &now_ms, "GET / HTTP/1.0\r\n" HOST "\r\n", "200");
    expect_code(http, &now_ms, "GET / HTTP/1.1\r\n" HOST "Cookie: a=b; c\r\n\r\n", "200");
    http_free(http);
}

Test(http, answers_nothing_but_the_exact_paths)
{
    static const char *const path[] = {"/Made",
                                       "/made/",
                                       "/made?",
                                       "/made?x=1",
                                       "/%6dade",
                                       "//made",
                                       "/./made",
                                       "/x/../made",
                                       "/made%00",
                                       "/made#x",
                                       "/made;x",
                                       "*",
                                       "http://127.0.0.1/made",
                                       "made",
                                       "/etc/passwd",
                                       "/../../etc/passwd",
                                       "/journal.db",
                                       "/made%3Fx",
                                       "/\xff"};
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    int64_t now_ms = START_MS;
    for (size_t i = 0; i < sizeof path / sizeof path[0]; i++) {
        char request[256];
        (void)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n" HOST "\r\n", path[i]);
        const char *answer = ask(http, &now_ms, request);
        cr_expect_null(strstr(answer, " 200 "), "%s gave %s", path[i], answer);
    }
    cr_expect_eq(made, 0);
    http_free(http);
}

Test(http, refuses_other_hosts_other_pages_methods_and_bodies)
{
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    int64_t now_ms = START_MS;
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421");
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\n" HOST "Host: evil.example\r\n\r\n", "421");
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\nHost: evil.example\r\n" HOST "\r\n", "421");
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\n\r\n", "400");
    expect_code(http, &now_ms, "GET /made HTTP/1.0\r\n\r\n", "421");
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\n" HOST "Origin: http://127.0.0.1\r\n\r\n",
                "403");
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\n" HOST "sec-fetch-site: cross-site\r\n\r\n",
                "403");
    expect_code(http, &now_ms, "POST /made HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc",
                "405");
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", "413");
    expect_code(http, &now_ms,
                "GET /made HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                "413");
    expect_code(http, &now_ms, "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "405");
    cr_expect_eq(made, 0, "nothing was looked at for any of them");
    http_free(http);
}

#define OWN "Origin: http://127.0.0.1\r\n"

Test(http, acts_for_its_own_page_by_the_headers_that_the_route_names)
{
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    int64_t now_ms = START_MS;
    expect_code(http, &now_ms,
                "POST /act HTTP/1.1\r\n" HOST OWN "x-second: b\r\nCookie: c\r\nX-First: a\r\n"
                "Content-Length: 0\r\n\r\n",
                "200");
    cr_expect_str_eq(last_given, "a|b|-");
    expect_code(http, &now_ms, "POST /act HTTP/1.1\r\n" HOST OWN "\r\n", "200");
    cr_expect_str_eq(last_given, "-|-|-");
    cr_expect_eq(made, 2, "each is an act of its own");
    expect_code(http, &now_ms, "POST /act HTTP/1.1\r\n" HOST OWN "X-First: a\r\nX-First: a\r\n\r\n",
                "400");
    expect_code(http, &now_ms, "POST /act HTTP/1.1\r\n" HOST "\r\n", "403");
    expect_code(http, &now_ms, "POST /act HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n",
                "403");
    expect_code(http, &now_ms, "POST /act HTTP/1.1\r\nHost: evil.example\r\n" OWN "\r\n", "421");
    expect_code(http, &now_ms, "POST /act HTTP/1.1\r\n" HOST OWN "Content-Length: 3\r\n\r\nabc",
                "413");
    expect_code(http, &now_ms, "POST /act?x HTTP/1.1\r\n" HOST OWN "\r\n", "403");
    expect_code(http, &now_ms, "GET /act HTTP/1.1\r\n" HOST "\r\n", "405");
    expect_code(http, &now_ms, "POST /made HTTP/1.1\r\n" HOST OWN "\r\n", "403");
    expect_code(http, &now_ms, "OPTIONS /act HTTP/1.1\r\n" HOST "\r\n", "405");
    cr_expect_eq(made, 2, "nothing was done for any of them");
    http_free(http);
}

Test(http, is_made_once_in_a_period_however_often_it_is_asked_for)
{
    enum { CLIENTS = 40 };
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    int client[CLIENTS];
    static char answer[CLIENTS][ANSWER_BYTES];
    for (size_t i = 0; i < CLIENTS; i++) {
        client[i] = dial(http);
        say(client[i], "GET /made HTTP/1.1\r\n" HOST "\r\n");
    }
    http_run(http, START_MS);
    http_run(http, START_MS + PERIOD_MS - 1); /* too early: does nothing */
    cr_expect_eq(made, 1);
    http_run(http, START_MS + PERIOD_MS);
    cr_expect_leq(made, 2);
    for (size_t i = 0; i < CLIENTS; i++) {
        cr_expect(hear(client[i], answer[i]));
        cr_expect_not_null(strstr(answer[i], "made "), "%s", answer[i]);
        (void)close(client[i]);
    }
    http_free(http);
}

Test(http, without_visitors_nothing_is_due)
{
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    int64_t now_ms = START_MS;
    for (int i = 0; i < 5; i++) {
        http_run(http, now_ms += PERIOD_MS);
        cr_expect_eq(http_due_ms(http, now_ms), INT64_MAX);
        cr_expect_geq(http_descriptor(http, now_ms), 0);
    }
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\n" HOST "\r\n", "200");
    http_run(http, now_ms += PERIOD_MS);
    http_run(http, now_ms += PERIOD_MS);
    cr_expect_eq(http_due_ms(http, now_ms), INT64_MAX);
    http_free(http);
}

/* The moment of an answer says nothing of the moment of the question, nor of what the program did. */
Test(http, on_a_grid_nothing_is_looked_at_between_its_points)
{
    struct http *http = open_at("127.0.0.1:0", true, 1000);
    char *answer = calloc(1, ANSWER_BYTES);
    http_run(http, 5000);
    const int client = dial(http);
    say(client, "GET /made HTTP/1.1\r\n" HOST "\r\n");
    for (int64_t now_ms = 5001; now_ms < 6000; now_ms++) {
        cr_assert_eq(http_descriptor(http, now_ms), -1);
        cr_assert_eq(http_due_ms(http, now_ms), 6000);
        http_run(http, now_ms);
    }
    cr_expect_not(hear(client, answer));
    cr_expect_eq(made, 0);
    cr_expect_str_eq(answer, "");
    http_run(http, 6000);
    cr_expect(hear(client, answer));
    cr_expect_not_null(strstr(answer, "made 1"));
    http_run(http, 7003); /* a late turn does not move the grid */
    cr_expect_eq(http_due_ms(http, 7003), 8000);
    (void)close(client);
    free(answer);
    http_free(http);
}

Test(http, a_byte_at_a_time_is_cut_at_the_deadline)
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

Test(http, who_does_not_read_is_cut_at_the_deadline)
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

Test(http, two_hundred_idle_connections_delay_an_honest_one_by_seconds_only)
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

Test(http, endless_headers_garbage_and_bodies_are_ended)
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

/* libmicrohttpd aborts where a suspended connection is stopped; here whatever is open may be. */
Test(http, may_be_ended_with_connections_in_every_state)
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

Test(http, a_client_that_leaves_in_the_middle_is_forgotten)
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
    /* Of a departure that came together with the last bytes libmicrohttpd hears nothing: the deadline ends it. */
    for (int i = 0; i < HTTP_REQUEST_MS / PERIOD_MS + 2; i++) {
        http_run(http, now_ms += PERIOD_MS);
    }
    cr_expect_eq(http_due_ms(http, now_ms + PERIOD_MS), INT64_MAX, "no connection is left");
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\n" HOST "\r\n", "200");
    http_free(http);
}

Test(http, without_memory_for_a_page_the_connection_is_closed)
{
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    int64_t now_ms = START_MS;
    cr_expect_str_eq(ask(http, &now_ms, "GET /nothing HTTP/1.1\r\n" HOST "\r\n"), "");
    expect_code(http, &now_ms, "GET /made HTTP/1.1\r\n" HOST "\r\n", "200");
    http_free(http);
}

Test(http, says_what_is_wrong_with_an_address)
{
    struct http *first = open_at("127.0.0.1:0", false, PERIOD_MS);
    struct http *second = NULL;
    struct why why = {{0}};
    struct http_options options = {.listen = http_address(first), .period_ms = PERIOD_MS};
    cr_expect_eq(http_open(&second, &options, &why), STATUS_BUSY);
    cr_expect_not_null(strstr(why.text, "another program listens there; remedy: "), "%s", why.text);
    cr_expect_null(second);
    options.listen = "0.0.0.0:0";
    cr_expect_eq(http_open(&second, &options, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "no loopback address"), "%s", why.text);
    http_free(first);
    struct http *six = NULL;
    options.listen = "[::1]:0";
    if (http_open(&six, &options, &why) == STATUS_OK) { /* a machine may have no IPv6 */
        cr_expect_eq(strncmp(http_address(six), "[::1]:", 6), 0);
        http_free(six);
    }
}
