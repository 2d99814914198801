#include "page/page_host.h"

#include "io/clock.h"

#include <poll.h>

static struct http_secure secure_of(const struct page_host *host, const struct http_files *files)
{
    return (struct http_secure){files->certificate, files->key, files->token,
                                host->settings->names};
}

/* Uses the certificate's files again, after a person has replaced them. */
static enum status renew(void *self, const struct http_files *fresh, struct why *why)
{
    const struct page_host *host = self;
    const struct http_secure secure = secure_of(host, fresh);
    return watch_renew(host->watch, &secure, why);
}

static void run(void *self, int64_t now_ms)
{
    struct page_host *host = self;
    watch_run(host->watch, now_ms);
    http_files_follow(&host->files, host->settings, host->log, now_ms, renew, host);
}

static int descriptor(void *self, int64_t now_ms)
{
    const struct page_host *host = self;
    return watch_descriptor(host->watch, now_ms);
}

static int64_t due_ms(void *self, int64_t now_ms)
{
    const struct page_host *host = self;
    return watch_due_ms(host->watch, now_ms);
}

enum status page_host_open(struct page_host *host, const struct http_settings *settings,
                           const struct log *log, struct watch_options options, struct why *why)
{
    struct http_secure secure;
    const bool others = settings->certificate[0] != '\0';
    enum status status = STATUS_OK;
    *host = (struct page_host){.settings = settings, .log = log};
    if (settings->listen[0] == '\0') {
        return STATUS_OK;
    }
    options.listen = settings->listen;
    options.secure = NULL;
    if (others) {
        status = http_files_read(&host->files, settings, why);
        secure = secure_of(host, &host->files);
        options.secure = &secure;
    }
    if (status == STATUS_OK) {
        status = watch_open(&host->watch, &options, why);
    }
    if (status != STATUS_OK) {
        page_host_close(host);
        return status;
    }
    log_event(log, LOG_INFO, "http-listening", NULL, "%s may look at http%s://%s/",
              others ? "who has the token" : "this machine", others ? "s" : "",
              watch_address(host->watch));
    return STATUS_OK;
}

enum status page_host_try(const struct http_settings *settings, struct why *why)
{
    enum { PERIOD_MS = 1000 };
    struct page_host host;
    const enum status status =
        page_host_open(&host, settings, NULL, (struct watch_options){.period_ms = PERIOD_MS}, why);
    page_host_close(&host);
    return status;
}

void page_host_join(struct page_host *host, struct driver_options *driver)
{
    if (host->watch != NULL) {
        host->guest = (struct driver_guest){
            .self = host, .descriptor = descriptor, .due_ms = due_ms, .run = run};
        driver->guest[0] = &host->guest;
        driver->counts = &host->counts;
    }
}

void page_host_wait(struct page_host *host, int64_t wait_ms)
{
    const int64_t end_ms = clock_now_ms() + wait_ms;
    for (int64_t now_ms = clock_now_ms(); now_ms < end_ms; now_ms = clock_now_ms()) {
        struct pollfd ready = {.fd = -1, .events = POLLIN};
        int64_t until_ms = end_ms;
        if (host->watch != NULL) {
            ready.fd = descriptor(host, now_ms);
            const int64_t next_ms = due_ms(host, now_ms);
            until_ms = next_ms < end_ms ? next_ms : end_ms;
        }
        (void)poll(&ready, 1, until_ms > now_ms ? (int)(until_ms - now_ms) : 0);
        if (host->watch != NULL) {
            run(host, clock_now_ms());
        }
    }
}

void page_host_close(struct page_host *host)
{
    watch_free(host->watch);
    host->watch = NULL;
    http_files_wipe(&host->files);
}
