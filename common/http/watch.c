#include "http/watch.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum { ROUTES = 7 }; /* of every program */

struct watch {
    struct watch_options options;
    struct http_route route[HTTP_ROUTES_MAX];
    struct http *http;
};

static char *copy(const char *text)
{
    char *out = malloc(strlen(text) + 1);
    if (out != NULL) {
        memcpy(out, text, strlen(text) + 1);
    }
    return out;
}

/* Healthy is what need not be started anew. */
static char *make_health(void *self, unsigned *code)
{
    const struct watch *watch = self;
    const enum watch_health health = watch->options.health(watch->options.self);
    *code = health == WATCH_STARTS ? 503 : 200;
    return copy(health == WATCH_WORKS       ? "ok\n"
                : health == WATCH_STANDS_BY ? "standing by\n"
                                            : "starting from the journal\n");
}

/* Ready is what agents find here: one that stands by does not listen for them. */
static char *make_ready(void *self, unsigned *code)
{
    const struct watch *watch = self;
    char *text = make_health(self, code);
    *code = watch->options.health(watch->options.self) == WATCH_WORKS ? 200 : 503;
    return text;
}

static char *make_metrics(void *self, unsigned *code)
{
    const struct watch *watch = self;
    struct facts *facts = watch->options.look(watch->options.self);
    char *text = facts == NULL ? NULL : facts_metrics(facts);
    facts_free(facts);
    (void)code;
    return text;
}

static char *make_status(void *self, unsigned *code)
{
    const struct watch *watch = self;
    struct facts *facts = watch->options.look(watch->options.self);
    char *text = facts == NULL ? NULL : facts_json(facts);
    facts_free(facts);
    (void)code;
    return text;
}

enum status watch_open(struct watch **out, const struct watch_options *options, struct why *why)
{
    *out = NULL;
    struct watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "http.listen: no memory for the pages");
    }
    watch->options = *options;
    const struct http_route route[ROUTES] = {
        {.path = "/", .type = "text/html; charset=utf-8", .text = options->page},
        {.path = "/watch.css", .type = "text/css; charset=utf-8", .text = watch_css},
        {.path = "/watch.js", .type = "text/javascript; charset=utf-8", .text = watch_js},
        {.path = "/healthz",
         .type = "text/plain; charset=utf-8",
         .make = make_health,
         .anyone = true},
        {.path = "/readyz",
         .type = "text/plain; charset=utf-8",
         .make = make_ready,
         .anyone = true},
        {.path = "/metrics",
         .type = "text/plain; version=0.0.4; charset=utf-8",
         .make = make_metrics},
        {.path = "/api/status", .type = "application/json", .make = make_status},
    };
    CHECK(options->route_count <= HTTP_ROUTES_MAX - ROUTES);
    memcpy(watch->route, route, sizeof route);
    for (size_t i = 0; i < options->route_count; i++) {
        watch->route[ROUTES + i] = options->route[i];
    }
    const struct http_options http = {.listen = options->listen,
                                      .secure = options->secure,
                                      .route = watch->route,
                                      .route_count = ROUTES + options->route_count,
                                      .self = watch,
                                      .period_ms = options->period_ms,
                                      .on_grid = options->on_grid};
    enum status status = http_open(&watch->http, &http, why);
    if (status != STATUS_OK) {
        free(watch);
        return status;
    }
    *out = watch;
    return STATUS_OK;
}

enum status watch_renew(struct watch *watch, const struct http_secure *secure, struct why *why)
{
    return http_renew(watch->http, secure, why);
}

void watch_free(struct watch *watch)
{
    if (watch != NULL) {
        http_free(watch->http);
        free(watch);
    }
}

const char *watch_address(const struct watch *watch)
{
    return http_address(watch->http);
}

int watch_descriptor(void *self, int64_t now_ms)
{
    const struct watch *watch = self;
    return http_descriptor(watch->http, now_ms);
}

int64_t watch_due_ms(void *self, int64_t now_ms)
{
    const struct watch *watch = self;
    return http_due_ms(watch->http, now_ms);
}

void watch_run(void *self, int64_t now_ms)
{
    const struct watch *watch = self;
    http_run(watch->http, now_ms);
}
