#include "coordinator/idle.h"

#include "coordinator/hearing.h"
#include "crypto/digest.h"
#include "protocol/wire.h"

#include <stdlib.h>
#include <string.h>

struct idle {
    struct hearing hearing;
    struct digest names;
    bool changed;
    bool finished;
};

static enum status answer_to(struct effects *effects, const struct peer *peer,
                             const struct message *message)
{
    enum status status = wire_send(effects, peer, message, (struct slice){0});
    return status == STATUS_AGAIN ? STATUS_OK : status; /* a full room is a lost message */
}

static enum status on_message(struct idle *idle, const struct event *event, struct effects *effects)
{
    const struct peer *peer = &event->as.message.peer;
    struct message message;
    struct message answer = {.kind = MESSAGE_ENROLLED};
    enum status status =
        wire_decode(&message, event->as.message.control, event->as.message.payload);
    if (status == STATUS_NO_MEMORY) {
        return status;
    }
    if (status != STATUS_OK) {
        hearing_refuse(idle->hearing.log, peer, event->as.message.control, status);
        return STATUS_OK;
    }
    if (message.kind == MESSAGE_HELLO) {
        memcpy(answer.as.enrolled.name, peer->name, sizeof answer.as.enrolled.name);
        status = answer_to(effects, peer, &answer);
    }
    if (status == STATUS_OK && hearing_take(&idle->hearing, peer, &message,
                                            event->as.message.payload, event->now_ms, &answer)) {
        status = answer_to(effects, peer, &answer);
    }
    return status;
}

static void on_file(struct idle *idle, const struct event *event)
{
    struct digest now;
    if (event->as.file.which == FOLLOWED_JOBS) {
        digest_sha256(&now, &event->as.file.text, 1);
        idle->changed = !digest_equal(&now, &idle->names);
    }
}

static enum status idle_step(void *self, const struct event *event, struct effects *effects)
{
    struct idle *idle = self;
    enum status status = STATUS_OK;
    if (event->kind == EVENT_RECORD) {
        return STATUS_CORRUPT; /* its journal is empty */
    }
    if (event->kind == EVENT_FILE) {
        on_file(idle, event);
    } else if (event->kind == EVENT_MESSAGE) {
        status = on_message(idle, event, effects);
    }
    if (status == STATUS_OK && idle->changed && !idle->finished) {
        idle->finished = effects_add(effects, EFFECT_FINISH) != NULL;
    }
    return status;
}

static int64_t idle_wake_ms(UNUSED const void *self)
{
    return INT64_MAX;
}

enum status idle_new(struct idle **out, struct slice names, const struct dictionary_sink *sink,
                     const struct log *log)
{
    struct idle *idle = calloc(1, sizeof *idle);
    if (idle == NULL) {
        return STATUS_NO_MEMORY;
    }
    idle->hearing.sink = *sink;
    idle->hearing.log = log;
    digest_sha256(&idle->names, &names, 1);
    *out = idle;
    return STATUS_OK;
}

void idle_free(struct idle *idle)
{
    if (idle != NULL) {
        hearing_free(&idle->hearing);
    }
    free(idle);
}

struct machine idle_machine(struct idle *idle)
{
    return (struct machine){.self = idle, .step = idle_step, .wake_ms = idle_wake_ms};
}
