/* `hedgerow-coordinator enrol`: sites enrol while no job runs. */

#include "base/exit_code.h"
#include "coordinator/hearing.h"
#include "coordinator/main.h"
#include "io/clock.h"
#include "io/daemon.h"
#include "io/endpoint.h"
#include "io/enrolment.h"
#include "protocol/message.h"

#include <stdio.h>

static void notify(UNUSED void *self, const char *name, bool enrolled)
{
    (void)printf("%s: %s\n", name, enrolled ? "enrolled" : "its token has expired or was revoked");
    (void)fflush(stdout);
}

struct stay {
    struct shelf shelf;
    struct hearing hearing;
    const struct endpoint *endpoint;
};

static void begin(void *self)
{
    const struct stay *here = self;
    (void)printf("listening on %s until every one-time token is spent or has expired\n",
                 endpoint_address(here->endpoint));
    (void)fflush(stdout);
}

static bool hear(void *self, const struct peer *site, const struct message *message,
                 struct slice payload, struct message *answer)
{
    struct stay *here = self;
    return hearing_take(&here->hearing, site, message, payload, clock_now_ms(), answer);
}

static enum status stay(const struct office *office, const struct daemon *daemon, int *exit_code,
                        struct why *why)
{
    struct endpoint_options options = {.address = office->settings.listen,
                                       .key = &office->key,
                                       .log = &daemon->log,
                                       .payload_bytes_max = CHUNK_BYTES_MAX};
    struct stay here = {.shelf = {office, &daemon->log}};
    struct enrolment_options enrolment = {
        .log = &daemon->log,
        .list = {office->settings.agents, office->settings.operators.list},
        .begin = begin,
        .notify = notify,
        .hear = hear,
        .self = &here};
    enum status status = endpoint_listen(&enrolment.endpoint, &options, why);

    if (status != STATUS_OK) {
        return status;
    }
    here.hearing.sink = (struct dictionary_sink){shelf_has, shelf_put, &here.shelf};
    here.hearing.log = &daemon->log;
    here.endpoint = enrolment.endpoint;
    status = enrolment_run(&enrolment, exit_code, why);
    endpoint_free(enrolment.endpoint);
    hearing_free(&here.hearing);
    return status;
}

int main_enrol(const struct arguments *arguments)
{
    struct office office = {0};
    struct daemon daemon = {0};
    struct why why = {{0}};
    int exit_code = EXIT_CODE_OK;
    enum status status = office_read_settings(&office, arguments->config, &why);

    if (status == STATUS_OK) {
        status =
            daemon_start(&daemon, &office.settings.log, office.settings.memory_bytes_max, &why);
    }
    if (status == STATUS_OK) {
        status = office_read_key(&office, &why);
    }
    if (status == STATUS_OK) {
        status = stay(&office, &daemon, &exit_code, &why);
    }
    if (status != STATUS_OK) {
        exit_code = daemon_complain(PROGRAM, status, &why);
    }
    daemon_stop(&daemon);
    office_free(&office);
    return exit_code;
}
