/* watch.h - the face of a daemon: what is served under which path, for both programs. */

#ifndef HTTP_WATCH_H
#define HTTP_WATCH_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "http/facts.h"

#include <stdbool.h>
#include <stdint.h>

struct watch;

struct watch_options {
    const char *listen; /* "127.0.0.1:7390" */
    uint32_t period_ms; /* see http.h */
    bool on_grid;
    void *self; /* kept */

    /** Returns whether the program does its work; false while it starts again from its journal. */
    bool (*is_ready)(void *self);
    /** Returns the facts of this moment, which the caller frees; NULL without memory. */
    struct facts *(*look)(void *self);
};

/** Serves / (a page), /healthz, /metrics and /api/status. Fails like http_open. */
MUST_USE enum status watch_open(struct watch **out, const struct watch_options *options,
                                struct why *why);
void watch_free(struct watch *watch);
const char *watch_address(const struct watch *watch);

/** Those of http.h; self: a struct watch. They fit a driver's guest. */
int watch_descriptor(void *self, int64_t now_ms);
int64_t watch_due_ms(void *self, int64_t now_ms);
void watch_run(void *self, int64_t now_ms);

/* The page's files, embedded when the program is built. */
extern const struct slice watch_html;
extern const struct slice watch_css;
extern const struct slice watch_js;

#endif
