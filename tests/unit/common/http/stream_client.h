/* stream_client.h - a server whose answers last, and its clients, which take turns on one thread. The clock is the test's own. */

#ifndef TESTS_STREAM_CLIENT_H
#define TESTS_STREAM_CLIENT_H

#include "http/http.h"
#include "http/http_stream.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { START_MS = 1000000, PERIOD_MS = 50, ANSWER_BYTES = 1 << 20, LONG_BYTES = 1 << 20 };

#define LISTEN "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

/* What the program would show. */
static struct {
    uint64_t version;
    unsigned told;
    bool is_long;   /* and differs each time */
    bool is_silent; /* there is nothing */
} program;

static inline char *tell(void *self)
{
    char *text = malloc(LONG_BYTES + 64);
    (void)self;
    program.told++;
    (void)snprintf(text, 64, "{\"version\": %u,\n\"told\": 1}", (unsigned)program.version);
    if (program.is_long) {
        memset(text, 'x', LONG_BYTES);
        (void)snprintf(text + LONG_BYTES, 64, "%u", program.told);
    }
    if (program.is_silent) {
        free(text);
        return NULL;
    }
    return text;
}

static inline uint64_t version(void *self)
{
    (void)self;
    return program.version;
}

static char file_path[64];
static unsigned file_later; /* how often it is still on its way */
static unsigned file_asked;
static bool file_is_gone; /* there is none of that name after all */

static inline int open_file(void *self, const char *behind, uint64_t *size,
                            char name[static HTTP_NAME_BYTES])
{
    (void)self;
    if (strcmp(behind, "7/data") != 0) {
        return -1;
    }
    file_asked++;
    if (file_later > 0) {
        file_later--;
        return HTTP_OPEN_LATER;
    }
    if (file_is_gone) {
        return -1;
    }
    (void)snprintf(name, HTTP_NAME_BYTES, "job-7-data");
    const int file = open(file_path, O_RDONLY | O_CLOEXEC);
    *size = (uint64_t)lseek(file, 0, SEEK_END);
    return file;
}

static const struct http_route route[] = {
    {.path = "/fixed", .type = "text/plain", .text = {"fixed\n", 6}},
    {.path = "/events", .type = "text/event-stream", .tell = tell, .version = version},
    {.path = "/files/", .type = "application/octet-stream", .open = open_file}};

struct client {
    int socket;
    bool ended;
    size_t used;
    char *heard; /* (ANSWER_BYTES) */
};

static inline struct http *open_http(void)
{
    struct http *http = NULL;
    struct why why = {{0}};
    const struct http_options options = {
        .listen = "127.0.0.1:0", .route = route, .route_count = 3, .period_ms = PERIOD_MS};
    cr_assert_eq(http_open(&http, &options, &why), STATUS_OK, "%s", why.text);
    program.version = 1;
    program.told = 0;
    program.is_long = program.is_silent = false;
    return http;
}

/* from: the last byte of the loopback address that it comes from. */
static inline struct client dial_from(const struct http *http, uint32_t from, const char *request)
{
    const int room = 4096;
    const char *colon = strrchr(http_address(http), ':');
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct client client = {.socket = socket(AF_INET, SOCK_STREAM, 0),
                            .heard = calloc(1, ANSWER_BYTES)};
    (void)setsockopt(client.socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    const struct sockaddr_in own = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | from)};
    cr_assert_eq(bind(client.socket, (const struct sockaddr *)&own, sizeof own), 0);
    cr_assert_eq(connect(client.socket, (struct sockaddr *)&to, sizeof to), 0);
    cr_assert_eq(fcntl(client.socket, F_SETFL, O_NONBLOCK), 0);
    cr_assert_eq(send(client.socket, request, strlen(request), MSG_NOSIGNAL),
                 (ssize_t)strlen(request));
    return client;
}

static inline struct client dial(const struct http *http, const char *request)
{
    return dial_from(http, 1, request);
}

/* Reads what has come; what does not fit is counted and dropped. */
static inline void hear(struct client *client)
{
    static char spare[65536];
    for (;;) {
        const size_t room = ANSWER_BYTES - 1 - client->used;
        const ssize_t got = room > 0 ? recv(client->socket, client->heard + client->used, room, 0)
                                     : recv(client->socket, spare, sizeof spare, 0);
        if (got <= 0) {
            client->ended = client->ended || got == 0 || errno == ECONNRESET;
            return;
        }
        client->used += room > 0 ? (size_t)got : 0;
    }
}

static inline void run(struct http *http, int64_t *now_ms, int64_t for_ms, struct client *client)
{
    for (const int64_t end_ms = *now_ms + for_ms; *now_ms < end_ms; *now_ms += PERIOD_MS) {
        http_run(http, *now_ms);
        if (client != NULL) {
            hear(client);
        }
    }
}

static inline void hang_up(struct client *client)
{
    (void)close(client->socket);
    free(client->heard);
}

static inline size_t count(const char *text, const char *word)
{
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        found++;
    }
    return found;
}

#endif
