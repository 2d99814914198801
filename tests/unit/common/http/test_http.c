/* The server and its clients take turns on one thread, and the clock is the test's own: every deadline is met to the
 * millisecond. */

#include "http_client.h"

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

/* The rest after the path comes as it was sent: nothing decodes it, and a query is not part of it. */
Test(http, finds_the_very_names_of_a_route)
{
    static const char *const other[] = {"/found/",   "/found/8",     "/found/07",  "/found/7/",
                                        "/found/7?", "/found/7?x=1", "/found/%37", "/found//7",
                                        "/found",    "/found/../7",  "/found/7#x", "/Found/7"};
    struct http *http = open_at("127.0.0.1:0", false, PERIOD_MS);
    int64_t now_ms = START_MS;
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        char request[256];
        (void)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n" HOST "\r\n", other[i]);
        expect_code(http, &now_ms, request, "404");
    }
    cr_expect_eq(made, 0);
    const char *answer = ask(http, &now_ms, "GET /found/7 HTTP/1.1\r\n" HOST "\r\n");
    cr_expect_not_null(strstr(answer, "HTTP/1.1 200 "), "%s", answer);
    cr_expect_not_null(strstr(answer, "\r\n\r\nmade 1\n"));
    cr_expect_not_null(strstr(answer, "\r\nCache-Control: no-store\r\n"));
    cr_expect_null(strstr(answer, "Content-Disposition"), "it is no download");
    expect_code(http, &now_ms, "POST /found/7 HTTP/1.1\r\n" HOST "\r\n", "405");
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

/* The time of an answer depends neither on the time of the question nor on what the program did. */
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
