#include "coordinator/main_lead.h"

#include "database/journal_place.h"

enum { LOOK_MS = 500 };

bool lead_is_lost(enum status status)
{
    return status == STATUS_BUSY || status == STATUS_AGAIN;
}

enum status lead_await(struct journal *journal, const char *place, const struct log *log,
                       void (*wait)(void *self, int64_t wait_ms), void *wait_self, struct why *why)
{
    const struct journal_options options = {.place = place, .kind = "coordinator"};
    enum status told = STATUS_OK;
    enum status status = journal_open(journal, &options, why);

    while (lead_is_lost(status)) {
        if (status != told && status == STATUS_BUSY) {
            log_event(log, LOG_INFO, "standing-by", NULL,
                      "%s; this one takes over when that one falls silent", why->text);
        } else if (status != told) {
            log_event(log, LOG_WARN, "database-away", NULL, "%s; trying again", why->text);
        }
        told = status;
        wait(wait_self, LOOK_MS);
        status = journal_open(journal, &options, why);
    }
    if (status == STATUS_OK) {
        log_event(log, LOG_INFO, "leading", NULL, "this coordinator leads the job");
    }
    return status;
}
