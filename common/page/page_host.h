/* page_host.h - a daemon's page by its settings: where it listens, with which certificate and token, and its turns
 * in the driver's loop. */

#ifndef PAGE_PAGE_HOST_H
#define PAGE_PAGE_HOST_H

#include "base/log.h"
#include "config/settings.h"
#include "http/watch.h"
#include "io/driver.h"
#include "page/http_files.h"

/* Starts zeroed. Stays where it is while it is open. */
struct page_host {
    struct watch *watch; /* NULL: nothing listens */
    const struct http_settings *settings;
    const struct log *log;
    struct http_files files; /* where others than this machine may look */
    struct driver_counts counts;
    struct driver_guest guest;
};

/**
 * Begins to listen where the settings say so, and tells the log the address; without http.listen nothing happens.
 *
 * settings  in  kept
 * log       in  kept
 * options   in  as watch_open; listen and secure are set here
 *
 * Fails like watch_open and http_files_read; nothing then stays open.
 */
MUST_USE enum status page_host_open(struct page_host *host, const struct http_settings *settings,
                                    const struct log *log, struct watch_options options,
                                    struct why *why);

/** For `check`: listens for a moment as page_host_open would, and answers nobody. Fails likewise. */
MUST_USE enum status page_host_try(const struct http_settings *settings, struct why *why);

/** Puts the page into a driver's options as its first guest, if it listens. */
void page_host_join(struct page_host *host, struct driver_options *driver);

/** Answers for some time, while no driver runs. */
void page_host_wait(struct page_host *host, int64_t wait_ms);

/** Stops to listen, and wipes the files. A host that is not open is left as it is. */
void page_host_close(struct page_host *host);

#endif
