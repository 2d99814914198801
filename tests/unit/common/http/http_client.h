/* http_client.h - a server with some routes and clients on the same thread, for tests. The clock is the test's own. */

#ifndef TESTS_HTTP_CLIENT_H
#define TESTS_HTTP_CLIENT_H

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

static inline char *make_count(void *self, unsigned *code)
{
    char *text = malloc(32);
    (void)self, (void)code;
    (void)snprintf(text, 32, "made %u\n", ++made);
    return text;
}

static inline char *make_sick(void *self, unsigned *code)
{
    *code = 503;
    return make_count(self, code);
}

static inline char *make_nothing(void *self, unsigned *code)
{
    (void)self, (void)code;
    return NULL;
}

static inline char *make_long(void *self, unsigned *code)
{
    char *text = malloc(LONG_BYTES + 1);
    (void)self, (void)code;
    memset(text, 'x', LONG_BYTES);
    text[LONG_BYTES] = '\0';
    return text;
}

static char last_given[256];

static inline char *make_act(void *self, const char *const value[static HTTP_GIVEN_MAX],
                             unsigned *code)
{
    (void)snprintf(last_given, sizeof last_given, "%s|%s|%s", value[0] ? value[0] : "-",
                   value[1] ? value[1] : "-", value[2] ? value[2] : "-");
    return make_count(self, code);
}

static inline char *find_seven(void *self, const char *behind)
{
    unsigned code = 200;
    return strcmp(behind, "7") == 0 ? make_count(self, &code) : NULL;
}

static const struct http_route route[] = {
    {.path = "/act", .type = "text/plain", .act = make_act, .given = {"X-First", "X-Second"}},
    {.path = "/", .type = "text/plain", .text = {"fixed\n", 6}},
    {.path = "/made", .type = "text/plain", .make = make_count},
    {.path = "/sick", .type = "text/plain", .make = make_sick},
    {.path = "/nothing", .type = "text/plain", .make = make_nothing},
    {.path = "/long", .type = "text/plain", .make = make_long},
    {.path = "/found/", .type = "text/plain", .find = find_seven},
};

static inline struct http *open_at(const char *listen_at, bool on_grid, uint32_t period_ms)
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

static inline int dial(const struct http *http)
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

static inline void say(int client, const char *text)
{
    cr_assert_eq(send(client, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Appends what has come to answer (ANSWER_BYTES); returns whether the server has closed. */
static inline bool hear(int client, char *answer)
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

/* Runs the server for a time, period by period, or until the client's answer is whole. Returns the time of the
 * end. */
static inline int64_t run_until_closed(struct http *http, int64_t now_ms, int64_t longest_ms,
                                       int client, char *answer)
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
static inline const char *ask(struct http *http, int64_t *now_ms, const char *request)
{
    static char answer[ANSWER_BYTES];
    answer[0] = '\0';
    const int client = dial(http);
    say(client, request);
    *now_ms = run_until_closed(http, *now_ms + PERIOD_MS, 4 * PERIOD_MS, client, answer);
    (void)close(client);
    return answer;
}

static inline void expect_code(struct http *http, int64_t *now_ms, const char *request,
                               const char *code)
{
    const char *answer = ask(http, now_ms, request);
    cr_expect(strncmp(answer, "HTTP/1.", 7) == 0 && strncmp(answer + 9, code, 3) == 0,
              "%s\ngave: %s", request, answer);
}

#endif
