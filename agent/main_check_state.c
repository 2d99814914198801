/* The part of `hedgerow-agent check` that asks whether a journal could be kept, and is still there. */

#include "agent/main.h"
#include "io/daemon.h"
#include "io/journal.h"

bool check_state(const struct site *site)
{
    struct why why = {{0}};
    struct ledger *ledger = NULL;
    enum status status = journal_folder_try(site->settings.state, &why);

    if (!daemon_report("state", status, &why)) {
        return false;
    }
    status = site_ledger(site, &ledger, &why);
    ledger_free(ledger);
    if (status == STATUS_NOT_FOUND) {
        why_set(&why, "no journal in %s yet: nothing was spent, if `state` names the right folder",
                site->settings.state);
        status = STATUS_OK;
    }
    return daemon_report("ledger", status, &why);
}
