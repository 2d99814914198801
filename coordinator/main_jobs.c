/* `hedgerow-coordinator submit`, `jobs`, `status`, `watch`, `result` and `cancel`: the queue, while the coordinator runs or
 * not. All that passes between them and it stands in the queue. `agents list` asks in the same way. */

#include "coordinator/main.h"
#include "coordinator/main_acts.h"
#include "io/daemon.h"

#include <stdio.h>

enum { LOOK_MS = 200 };

typedef enum exit_code desk_command(const struct desk_port *port,
                                    const struct desk_request *request, struct why *why);

/* Reads the settings, answers for the queue where there must be one, and runs a command. */
static int with_acts(const struct arguments *arguments, bool queue, bool operators,
                     desk_command *run)
{
    struct office office = {0};
    struct why why = {{0}};
    const struct desk_request request = {.path = arguments->job,
                                         .job = arguments->job,
                                         .out = arguments->out,
                                         .id = arguments->id,
                                         .wait = arguments->wait,
                                         .stream = arguments->stream,
                                         .json = arguments->json};
    enum status status = office_read_settings(&office, arguments->config, &why);
    if (status == STATUS_OK && queue) {
        status = queue_open(&office, &why);
    }
    if (status == STATUS_OK && operators) {
        status = office_has_operators(&office, &why);
    }
    struct acts acts = {.office = &office,
                        .list =
                            operators ? office.settings.operators.list : office.settings.agents};
    const struct desk_port port = {
        .self = &acts, .program = PROGRAM, .look_ms = LOOK_MS, .ask = acts_ask};
    int code = status == STATUS_OK      ? (int)run(&port, &request, &why)
               : status == STATUS_AGAIN ? (int)EXIT_CODE_UNREACHABLE
                                        : (int)exit_code_of(status);
    (void)fflush(stdout);
    if (status != STATUS_OK || why.text[0] != '\0') {
        (void)fprintf(stderr, PROGRAM ": %s\n",
                      why.text[0] != '\0' ? why.text : status_text(status));
    }
    queue_of(&office)->close(&office);
    office_free(&office);
    return code;
}

#define COMMAND(name, queue, operators, run)                                                       \
    int name(const struct arguments *arguments)                                                    \
    {                                                                                              \
        return with_acts(arguments, queue, operators, run);                                        \
    }

COMMAND(main_submit, true, false, desk_submit)
COMMAND(main_jobs, true, false, desk_jobs)
COMMAND(main_status, true, false, desk_status)
COMMAND(main_watch, true, false, desk_watch)
COMMAND(main_result, true, false, desk_result)
COMMAND(main_cancel, true, false, desk_cancel)
COMMAND(main_agents_list, false, false, desk_agents)
COMMAND(main_operators_list, false, true, desk_agents)
