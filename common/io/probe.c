#include "io/probe.h"

#include "io/clock.h"
#include "protocol/message.h"
#include "protocol/wire.h"

#include <inttypes.h>

enum { REPEAT_MS = 400, TURN_MS = 100, PROOF_MS = 1000 };

/* One question, repeated until one kind of answer comes. */
struct question {
    struct message ask;
    enum message_kind wanted;
    enum message_kind or_else; /* does as well */
    bool once;                 /* a refusal is an answer: do not wait for a change of mind */
    struct message answer;
    uint32_t other; /* the version that a coordinator of another one speaks */
};

static enum status ask_once(struct endpoint *endpoint, struct question *question)
{
    struct endpoint_message from;
    enum status status = endpoint_poll(endpoint, NULL, 0, TURN_MS);
    while (status == STATUS_OK && endpoint_receive(endpoint, &from) == STATUS_OK) {
        const enum status read = wire_decode(&question->answer, from.control, from.payload);
        question->other = read == STATUS_UNSUPPORTED ? wire_version(from.control) : 0;
        if (question->other > 0) {
            return STATUS_UNSUPPORTED;
        }
        if (read == STATUS_OK && (question->answer.kind == question->wanted ||
                                  question->answer.kind == question->or_else ||
                                  question->answer.kind == MESSAGE_KEY_IN_USE)) {
            return STATUS_OK;
        }
    }
    return status == STATUS_OK ? STATUS_AGAIN : status;
}

static enum status converse(struct question *question, const struct endpoint_options *options,
                            int timeout_ms, struct why *why)
{
    uint8_t control[CONTROL_BYTES_MAX];
    static const struct peer coordinator = {"coordinator"};
    struct endpoint *endpoint = NULL;

    enum status status = endpoint_dial(&endpoint, options, why);
    if (status != STATUS_OK) {
        return status;
    }
    size_t size = wire_encode(control, &question->ask);
    int64_t until_ms = clock_now_ms() + timeout_ms;
    int64_t asked_ms = clock_now_ms() - REPEAT_MS;
    do {
        if (clock_now_ms() - asked_ms >= REPEAT_MS) {
            asked_ms = clock_now_ms();
            (void)!endpoint_send(endpoint, &coordinator, (struct slice){control, size},
                                 (struct slice){NULL, 0});
        }
        status = ask_once(endpoint, question);
    } while (status == STATUS_AGAIN && clock_now_ms() < until_ms &&
             !(question->once && endpoint_was_refused(endpoint)));
    if (status == STATUS_UNSUPPORTED) {
        why_set(why,
                "the coordinator speaks version %" PRIu32 " of the protocol, this agent version "
                "%u; remedy: upgrade %s",
                question->other, (unsigned)PROTOCOL_VERSION,
                question->other < PROTOCOL_VERSION ? "the coordinator" : "this agent");
    } else if (status != STATUS_OK) {
        const char *trouble = endpoint_trouble(endpoint);
        if (trouble[0] != '\0') {
            why_set(why, "%s", trouble);
        } else {
            why_set(why,
                    "%s did not answer within %d ms; remedy: is the coordinator running, is this "
                    "its address, and has it the same hedgerow (version-differs in its log)?",
                    options->address, timeout_ms);
        }
    }
    endpoint_free(endpoint);
    return status;
}

enum status probe_reach(const struct endpoint_options *options, int timeout_ms, struct why *why)
{
    struct question question = {
        .ask = {.kind = MESSAGE_HELLO, .as.hello = {.version = PROTOCOL_VERSION}},
        .wanted = MESSAGE_WELCOME,
        .or_else = MESSAGE_ENROLLED}; /* a coordinator without a job: it enrols sites */

    enum status status = converse(&question, options, timeout_ms, why);
    if (status == STATUS_OK && question.answer.kind == MESSAGE_KEY_IN_USE) {
        why_set(why, "an agent with this key is connected now");
    }
    return status;
}

/* Whether or not an answer came: a site is enrolled once it is let in under its own key. An answer may have
 * been lost, and the coordinator may not have read a new token yet, so both keys are tried by
 * turns. */
enum status probe_enrol(const struct token *token, const struct key_pair *own,
                        const struct digest *signing_key, const struct log *log, int timeout_ms,
                        struct why *why)
{
    struct question question = {
        .ask = {.kind = MESSAGE_ENROL,
                .as.enrol = {.public_key = own->public_key, .signing_key = *signing_key}},
        .wanted = MESSAGE_ENROLLED,
        .or_else = MESSAGE_ENROLLED,
        .once = true};
    struct endpoint_options options = {.address = token->address,
                                       .key = &token->key,
                                       .log = log,
                                       .payload_bytes_max = CHUNK_BYTES_MAX,
                                       .coordinator_key = token->coordinator_key};
    int64_t until_ms = clock_now_ms() + timeout_ms;
    int64_t left_ms = timeout_ms;
    struct why first = {""};
    enum status status = STATUS_AGAIN;

    while (status == STATUS_AGAIN && left_ms > 0) {
        options.key = &token->key;
        enum status asked = converse(&question, &options, (int)left_ms, &first);
        if (asked != STATUS_OK && asked != STATUS_AGAIN) {
            why_set(why, "%s", first.text);
            return asked;
        }
        options.key = own;
        left_ms = until_ms - clock_now_ms();
        bool patient = asked == STATUS_OK && left_ms > PROOF_MS;
        status = probe_reach(&options, patient ? (int)left_ms : PROOF_MS, why);
        left_ms = until_ms - clock_now_ms();
    }
    if (status == STATUS_AGAIN) {
        why_set(why,
                "not enrolled: %s (a token is good for one enrolment and until its end; for a new "
                "one, there: hedgerow-coordinator agents add %s --token FILE)",
                first.text, token->name);
    }
    return status;
}
