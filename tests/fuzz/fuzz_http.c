/* fuzz_http.c - bytes at the port for HTTP, in up to four pieces, with a turn of the server after each. Whatever the
 * bytes are, the connection ends by its deadline, only a request for the exact path is answered, and the port goes on. */

#include "base/check.h"
#include "http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PERIOD_MS = 50, PIECES = 4, ANSWER_BYTES = 4096 };

static char *make(void *self, unsigned *code)
{
    char *text = calloc(1, 8);
    (void)self, (void)code;
    return text == NULL ? NULL : memcpy(text, "made\n", 5);
}

static char *act(void *self, const char *const value[static HTTP_GIVEN_MAX], unsigned *code)
{
    char *text = calloc(1, 8);
    (void)self, (void)code;
    CHECK(value[0] == NULL || strlen(value[0]) < 16 * 1024);
    return text == NULL ? NULL : memcpy(text, "acted\n", 6);
}

static const struct http_route route[] = {
    {.path = "/made", .type = "text/plain", .make = make},
    {.path = "/act", .type = "text/plain", .act = act, .given = {"X-Given"}}};

/* One server for all inputs, so that a state that one input leaves can harm the next. */
static struct http *server(void)
{
    static struct http *http;
    struct why why = {{0}};
    const struct http_options options = {
        .listen = "127.0.0.1:0", .route = route, .route_count = 2, .period_ms = PERIOD_MS};
    if (http == NULL) {
        CHECK(http_open(&http, &options, &why) == STATUS_OK);
    }
    return http;
}

static int dial(const struct http *http)
{
    const char *colon = strrchr(http_address(http), ':');
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct linger reset = {.l_onoff = 1,
                                 .l_linger = 0}; /* no port waits for its last packet */
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(client >= 0);
    if (connect(client, (struct sockaddr *)&to, sizeof to) !=
        0) { /* libFuzzer's alarm interrupts */
        struct pollfd done = {.fd = client, .events = POLLOUT};
        CHECK(errno == EINTR);
        while (poll(&done, 1, -1) < 0) {
            CHECK(errno == EINTR);
        }
    }
    (void)setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    CHECK(fcntl(client, F_SETFL, O_NONBLOCK) == 0);
    return client;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int64_t now_ms = 1000000;
    static char answer[ANSWER_BYTES];
    struct http *http = server();
    const int client = dial(http);
    const size_t piece = size / PIECES + 1;

    for (size_t at = 0; at < size; at += piece) {
        (void)send(client, data + at, size - at < piece ? size - at : piece, MSG_NOSIGNAL);
        http_run(http, now_ms += PERIOD_MS);
    }
    bool closed = false;
    for (int64_t ms = 0; !closed && ms <= HTTP_REQUEST_MS + 2 * PERIOD_MS; ms += PERIOD_MS) {
        http_run(http, now_ms += PERIOD_MS);
        const ssize_t got = recv(client, answer, sizeof answer, 0);
        closed = got == 0 || (got < 0 && errno != EAGAIN);
        CHECK(got <= 0 || memmem(answer, (size_t)got, "\r\n\r\nmade\n", 9) == NULL ||
              memmem(data, size, " /made", 6) != NULL);
        CHECK(
            got <= 0 || memmem(answer, (size_t)got, "\r\n\r\nacted\n", 10) == NULL ||
            (memmem(data, size, "POST", 4) != NULL && memmem(data, size, " /act", 5) != NULL &&
             memmem(data, size, "http://", 7) != NULL)); /* libmicrohttpd ends a method at a NUL */
    }
    CHECK(closed);
    (void)close(client);
    http_run(http, now_ms += PERIOD_MS);
    return 0;
}
