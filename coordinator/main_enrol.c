/* `hedgerow-coordinator enrol`: sites enrol while no job runs. */

#include "base/exit_code.h"
#include "coordinator/main.h"
#include "coordinator/shown.h"
#include "io/clock.h"
#include "io/daemon.h"
#include "io/endpoint.h"
#include "io/enrolment.h"
#include "protocol/message.h"

#include <stdio.h>
#include <string.h>

#define PROGRAM "hedgerow-coordinator"

static void notify(UNUSED void *self, const char *name, bool enrolled)
{
    (void)printf("%s: %s\n", name, enrolled ? "enrolled" : "its token has expired or was revoked");
    (void)fflush(stdout);
}

/* What is known of the dictionaries of the sites that have come. Sites beyond the table are not asked. */
struct hearing {
    struct shelf shelf;
    const struct endpoint *endpoint;
    struct {
        struct peer peer;
        struct shown shown;
    } site[PEERS_MAX];
    size_t count;
};

static void begin(void *self)
{
    const struct hearing *hearing = self;
    (void)printf("listening on %s until every one-time token is spent or has expired\n",
                 endpoint_address(hearing->endpoint));
    (void)fflush(stdout);
}

static struct shown *find(struct hearing *hearing, const struct peer *peer)
{
    size_t i = 0;
    while (i < hearing->count && strcmp(hearing->site[i].peer.name, peer->name) != 0) {
        i++;
    }
    if (i == PEERS_MAX) {
        return NULL;
    }
    if (i == hearing->count) {
        hearing->site[i].peer = *peer;
        hearing->count++;
    }
    return &hearing->site[i].shown;
}

static bool hear(void *self, const struct peer *site, const struct message *message,
                 struct slice payload, struct message *answer)
{
    struct hearing *hearing = self;
    const struct dictionary_sink sink = {shelf_has, shelf_put, &hearing->shelf};
    struct shown *shown = find(hearing, site);
    if (shown != NULL && message->kind == MESSAGE_HELLO) {
        *answer = (struct message){.kind = MESSAGE_SHOW, .as.show = {message->as.hello.dictionary}};
        return shown_ask(shown, &sink, site, &message->as.hello.dictionary, clock_now_ms());
    }
    if (shown != NULL && message->kind == MESSAGE_DICTIONARY &&
        shown_take(shown, &sink, hearing->shelf.log, site, &message->as.dictionary.digest,
                   payload) != STATUS_OK) {
        log_event(hearing->shelf.log, LOG_ERROR, "dictionary-not-kept", site->name,
                  "too little memory to read its data dictionary");
    }
    return false;
}

static enum status stay(const struct office *office, const struct daemon *daemon, int *exit_code,
                        struct why *why)
{
    struct endpoint_options options = {.address = office->settings.listen,
                                       .key = &office->key,
                                       .log = &daemon->log,
                                       .payload_bytes_max = CHUNK_BYTES_MAX};
    struct hearing hearing = {.shelf = {office, &daemon->log}};
    struct enrolment_options enrolment = {.log = &daemon->log,
                                          .roster_path = office->settings.agents,
                                          .begin = begin,
                                          .notify = notify,
                                          .hear = hear,
                                          .self = &hearing};
    enum status status = endpoint_listen(&enrolment.endpoint, &options, why);

    if (status != STATUS_OK) {
        return status;
    }
    hearing.endpoint = enrolment.endpoint;
    status = enrolment_run(&enrolment, exit_code, why);
    endpoint_free(enrolment.endpoint);
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
