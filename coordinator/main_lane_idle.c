/* The lane of the agents whom no job of the queue asks. It has no journal. */

#include "coordinator/main_lane.h"

#define PROGRAM "hedgerow-coordinator"

struct dictionary_sink lane_dictionaries(struct run *run)
{
    run->shelf = (struct shelf){&run->office, &run->daemon.log};
    return (struct dictionary_sink){shelf_has, shelf_put, &run->shelf};
}

static enum status no_records(UNUSED void *self, UNUSED journal_visit *visit,
                              UNUSED void *visit_self, UNUSED struct why *why)
{
    return STATUS_OK;
}

static const char *no_trouble(UNUSED const void *self)
{
    return "";
}

static void no_close(UNUSED void *self)
{
}

void lane_tell_empty(const struct run *run)
{
    if (stay_count(&run->stay) == 0 && collect_is_collector(&run->office)) {
        log_event(&run->daemon.log, LOG_INFO, "queue-empty", NULL,
                  "no job is led: this collector waits for one");
    } else if (stay_count(&run->stay) == 0 && run->stay.aside_count > 0) {
        log_event(&run->daemon.log, LOG_INFO, "queue-empty", NULL,
                  "no job runs; set aside: %zu, as job-set-aside says", run->stay.aside_count);
    } else if (stay_count(&run->stay) == 0) {
        log_event(&run->daemon.log, LOG_INFO, "queue-empty", NULL,
                  "no job waits: `" PROGRAM " submit` brings one");
    }
}

enum status lane_make_idle(struct run *run, struct machine *machine, struct journal *journal)
{
    const struct dictionary_sink sink = lane_dictionaries(run);
    const struct slice names = {run->stay.list.names, run->stay.list.names_size};
    enum status status = idle_new(&run->idle, names, &sink, &run->daemon.log);
    if (status == STATUS_OK) {
        *machine = idle_machine(run->idle);
        *journal = (struct journal){.each = no_records, .trouble = no_trouble, .close = no_close};
        face_set_idle(&run->face, true);
        lane_tell_empty(run);
    }
    return status;
}
