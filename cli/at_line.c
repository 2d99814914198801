/* The line to the desk: one question at a time, asked again until its answer comes. A key has one line. A command that hears that
 * another one of this operator wants it hangs up for a moment, so that several take turns. */

#include "cli/at.h"

#include "crypto/random.h"
#include "desk/view.h"
#include "io/clock.h"
#include "protocol/wire.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT_MS = 2000, TURN_MS = 100, PATIENCE_MS = 30000, GIVE_WAY_MS = 1500 };

static enum status open_line(struct at *at, const struct key_pair *key, struct why *why)
{
    const struct endpoint_options options = {.address = at->address,
                                             .written_in = at->path,
                                             .key = key,
                                             .payload_bytes_max = ASK_PAYLOAD_BYTES_MAX,
                                             .coordinator_key = at->coordinator_key,
                                             .operators = true};
    if (at->endpoint != NULL) {
        return STATUS_OK;
    }
    /* Numbers begin anywhere, so that no answer to an earlier command is taken for one of this. */
    enum status status = random_once(&at->number, sizeof at->number);
    if (status != STATUS_OK) {
        why_set(why, "the operating system's random source cannot be read");
        return status;
    }
    at->number >>= 1; /* it only grows from here */
    return endpoint_dial(&at->endpoint, &options, why);
}

void at_hang_up(struct at *at)
{
    endpoint_free(at->endpoint);
    at->endpoint = NULL;
}

enum heard { NOTHING, ANSWER, ANOTHER_ASKS };

static bool is_challenge(const struct endpoint_message *from)
{
    struct message message;
    return wire_decode(&message, from->control, from->payload) == STATUS_OK &&
           message.kind == MESSAGE_CHALLENGE;
}

/* Takes the answer to the latest question; others are of questions that were asked again, and answered by then. */
static enum heard hear(struct at *at, struct told *told, struct slice *payload)
{
    struct endpoint_message from;
    enum heard heard = NOTHING;
    while (heard != ANSWER && endpoint_receive(at->endpoint, &from) == STATUS_OK) {
        if (told_decode(told, from.control, from.payload) == STATUS_OK &&
            told->number == at->number) {
            *payload = from.payload;
            heard = ANSWER;
        } else if (is_challenge(&from)) {
            heard = ANOTHER_ASKS;
        }
    }
    return heard;
}

/* A sentence of the coordinator's, without what would command the terminal. */
static enum exit_code refuse(const struct told *told, struct slice payload, struct why *why)
{
    char text[WHY_BYTES];
    const size_t size = payload.size < sizeof text - 1 ? payload.size : sizeof text - 1;
    memcpy(text, payload.data != NULL ? payload.data : "", size);
    text[size] = '\0';
    view_clean(text);
    why_set(why, "%s", size > 0 ? text : "the coordinator refused, and did not say why");
    return (enum exit_code)told->code;
}

static enum exit_code give_up(const struct at *at, struct why *why)
{
    const char *trouble = endpoint_trouble(at->endpoint);
    if (trouble[0] != '\0') {
        why_set(why, "%s", trouble);
    } else {
        why_set(
            why,
            "%s does not answer; remedy: check that the coordinator runs with `operators` in its "
            "settings, and that this is the address of its desk",
            at->address);
    }
    return EXIT_CODE_UNREACHABLE;
}

static enum status give_way(struct at *at, const struct key_pair *key, struct why *why)
{
    at_hang_up(at);
    (void)poll(NULL, 0, GIVE_WAY_MS);
    return open_line(at, key, why);
}

bool at_was_refused(void *self)
{
    const struct at *at = self;
    return at->endpoint != NULL && endpoint_was_refused(at->endpoint);
}

enum exit_code at_ask(struct at *at, const struct key_pair *key, int patience_ms,
                      const struct ask *ask, struct slice text, struct desk_answer *answer,
                      struct why *why)
{
    static const struct peer coordinator = {"coordinator"};
    uint8_t control[ASK_FRAME_BYTES_MAX];
    struct ask numbered = *ask;
    struct told told;
    struct slice payload = {NULL, 0};
    *answer = (struct desk_answer){.data = NULL};
    enum status status = open_line(at, key, why);
    if (status != STATUS_OK) {
        return exit_code_of(status);
    }
    numbered.number = ++at->number;
    size_t size = ask_encode(control, &numbered);
    const int64_t until_ms = clock_now_ms() + patience_ms;
    int64_t asked_ms = clock_now_ms() - REPEAT_MS;
    for (enum heard heard = NOTHING; (heard = hear(at, &told, &payload)) != ANSWER;) {
        if (heard == ANOTHER_ASKS) {
            status = give_way(at, key, why);
            if (status != STATUS_OK) {
                return exit_code_of(status);
            }
            numbered.number = ++at->number;
            size = ask_encode(control, &numbered);
            asked_ms = clock_now_ms() - REPEAT_MS;
        }
        const int64_t now_ms = clock_now_ms();
        if (now_ms >= until_ms || endpoint_was_refused(at->endpoint)) {
            return give_up(at, why);
        }
        if (now_ms - asked_ms >= REPEAT_MS) {
            asked_ms = now_ms;
            (void)!endpoint_send(at->endpoint, &coordinator, (struct slice){control, size}, text);
        }
        status = endpoint_poll(at->endpoint, NULL, 0, TURN_MS);
        if (status != STATUS_OK) {
            why_set(why, "the connection cannot be waited for");
            return exit_code_of(status);
        }
    }
    if (told.code != EXIT_CODE_OK) {
        return refuse(&told, payload, why);
    }
    answer->data = malloc(payload.size + 1);
    if (answer->data == NULL) {
        return EXIT_CODE_INTERNAL;
    }
    memcpy(answer->data, payload.data != NULL ? payload.data : "", payload.size);
    answer->size = payload.size;
    return EXIT_CODE_OK;
}

enum exit_code at_port_ask(void *self, const struct ask *ask, struct slice text,
                           struct desk_answer *answer, struct why *why)
{
    struct at *at = self;
    return at_ask(at, &at->key, PATIENCE_MS, ask, text, answer, why);
}
