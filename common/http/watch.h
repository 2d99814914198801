/* watch.h - the face of a daemon: what is served under which path, for both programs. */

#ifndef HTTP_WATCH_H
#define HTTP_WATCH_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "http/facts.h"
#include "http/http.h"

#include <stdbool.h>
#include <stdint.h>

struct watch;

/* What a program says of itself to a supervisor. */
enum watch_health {
    WATCH_STARTS,    /* from its journal: neither healthy nor ready, for a while */
    WATCH_STANDS_BY, /* another one leads: healthy, and not ready */
    WATCH_WORKS
};

struct watch_options {
    const char *listen;               /* "127.0.0.1:7390" */
    const struct http_secure *secure; /* see http.h */
    uint32_t period_ms;               /* see http.h */
    bool on_grid;
    void *self; /* kept */

    enum watch_health (*health)(void *self);
    /** Returns the facts of this moment, which the caller frees; NULL without memory. */
    struct facts *(*look)(void *self);

    struct slice page;              /* kept */
    const struct http_route *route; /* (route_count) what else there is; copied */
    size_t route_count;
};

/** Serves / (a page), /healthz and /readyz (for supervisors), /metrics, /api/status and the further routes. Fails like http_open. */
MUST_USE enum status watch_open(struct watch **out, const struct watch_options *options,
                                struct why *why);
/** As http_renew. */
MUST_USE enum status watch_renew(struct watch *watch, const struct http_secure *secure,
                                 struct why *why);
void watch_free(struct watch *watch);
const char *watch_address(const struct watch *watch);

/** Those of http.h; self: a struct watch. They fit a driver's guest. */
int watch_descriptor(void *self, int64_t now_ms);
int64_t watch_due_ms(void *self, int64_t now_ms);
void watch_run(void *self, int64_t now_ms);

/* The pages' files, embedded when the program is built: a frame (watch.*) with what a coordinator shows (live.*) or a site
 * (site.*); charts_js is Debian's Chart.js with its licence. */
extern const struct slice watch_css;
extern const struct slice watch_js;
extern const struct slice live_html;
extern const struct slice live_js;
extern const struct slice site_html;
extern const struct slice site_js;
extern const struct slice charts_js;

#endif
