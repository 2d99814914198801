#include "coordinator/main_lead.h"

#include <signal.h>

enum { LOOK_MS = 500 };

bool lead_is_lost(enum status status)
{
    return status == STATUS_BUSY || status == STATUS_AGAIN;
}

/* Signals are held back for the driver's loop, which does not run meanwhile. */
static int signal_that_came(void)
{
    sigset_t came;
    (void)sigemptyset(&came);
    (void)sigpending(&came);
    return sigismember(&came, SIGTERM) == 1  ? SIGTERM
           : sigismember(&came, SIGINT) == 1 ? SIGINT
                                             : 0;
}

enum status lead_await(const struct lead_options *options, int *signal, struct why *why)
{
    enum status told = STATUS_OK;
    enum status status = options->attempt(options->self, why);

    *signal = 0;
    while (lead_is_lost(status)) {
        if (status != told && status == STATUS_BUSY) {
            log_event(options->log, LOG_INFO, "standing-by", NULL,
                      "%s; this one takes over when that one falls silent", why->text);
        } else if (status != told) {
            log_event(options->log, LOG_WARN, "database-away", NULL, "%s; trying again", why->text);
        }
        told = status;
        options->wait(options->wait_self, LOOK_MS);
        *signal = signal_that_came();
        if (*signal != 0) {
            log_event(options->log, LOG_INFO, "stopping", NULL, "asked to stop");
            return STATUS_OK;
        }
        status = options->attempt(options->self, why);
    }
    if (status == STATUS_OK && options->what != NULL) {
        log_event(options->log, LOG_INFO, "leading", NULL, "this coordinator leads %s",
                  options->what);
    }
    return status;
}
