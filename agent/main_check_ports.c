/* What `hedgerow-agent check` asks of the network: the coordinator, and the port of its own page. */

#include "agent/main.h"
#include "io/daemon.h"
#include "io/journal_files.h"
#include "io/lock.h"
#include "io/probe.h"
#include "page/page_host.h"
#include "protocol/message.h"

static enum status reach(const struct site *site, const struct arguments *arguments,
                         struct why *why)
{
    struct endpoint_options options = {.address = site->settings.address,
                                       .written_in = arguments->config,
                                       .key = &site->key,
                                       .payload_bytes_max = CHUNK_BYTES_MAX,
                                       .coordinator_key = site->coordinator_key};
    return probe_reach(&options, (int)arguments->timeout_s * 1000, why);
}

/* Whether this site's agent runs; holder: out, its process. */
static bool find_running(char holder[static LOCK_HOLDER_BYTES], const struct site *site)
{
    char lock[JOURNAL_PATH_BYTES];
    struct why ignored = {{0}};
    return journal_path(lock, site->settings.state, "lock", &ignored) == STATUS_OK &&
           lock_holder(holder, lock);
}

/* A second connection under the key would be taken for a thief's: the agent that runs here speaks for the site. */
bool check_coordinator(const struct site *site, const struct arguments *arguments)
{
    char holder[LOCK_HOLDER_BYTES];
    struct why why = {{0}};
    if (find_running(holder, site)) {
        daemon_note(
            "coordinator",
            "not asked, because this site's agent runs (process %s); its log and its page say "
            "whether it is connected",
            holder);
        return true;
    }
    return daemon_report("coordinator", reach(site, arguments, &why), &why);
}

/* An agent that runs has the port. */
bool check_page(const struct site *site)
{
    char holder[LOCK_HOLDER_BYTES];
    struct why why = {{0}};
    if (site->settings.http.listen[0] == '\0' || find_running(holder, site)) {
        return true;
    }
    return daemon_report("page", page_host_try(&site->settings.http, &why), &why);
}
