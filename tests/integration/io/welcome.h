/* welcome.h - a coordinator whose machine only welcomes, for a driver in a test's own folder. */

#ifndef TESTS_INTEGRATION_IO_WELCOME_H
#define TESTS_INTEGRATION_IO_WELCOME_H

#include "io/driver.h"
#include "protocol/wire.h"
#include "scratch.h"
#include "tests/integration/io/toy_machine.h"

static struct scratch scratch;
static uint32_t welcome_version = PROTOCOL_VERSION;

/* Answers HELLO, and nothing else. */
static inline enum status welcome_step(UNUSED void *self, const struct event *event,
                                       struct effects *effects)
{
    struct message message;
    struct message answer = {
        .kind = MESSAGE_WELCOME,
        .as.welcome = {
            .version = welcome_version,
            .job = {.id = {{1}}, .nonce = {{2}}, .text_digest = {{3}}, .text_bytes = 1}}};
    if (event->kind == EVENT_MESSAGE &&
        wire_decode(&message, event->as.message.control, event->as.message.payload) == STATUS_OK &&
        message.kind == MESSAGE_HELLO) {
        (void)!wire_send(effects, &event->as.message.peer, &answer, (struct slice){NULL, 0});
    }
    return STATUS_OK;
}

static inline int64_t never(UNUSED const void *self)
{
    return INT64_MAX;
}

static inline enum status make(void *self, struct machine *machine, struct journal *journal,
                               struct why *unused)
{
    struct journal_sqlite_options options = {.folder = scratch.folder, .kind = "coordinator"};
    *machine = (struct machine){.self = self, .step = welcome_step, .wake_ms = never};
    return journal_sqlite_open(journal, &options, unused);
}

#endif
