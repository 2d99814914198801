/* `hedgerow --at NAME COMMAND`: the queue of a coordinator on another machine. */

#include "cli/at.h"

#include "cli/command.h"
#include "config/options.h"
#include "io/clock.h"
#include "io/token.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 1000, TURN_MS = 1000, REST_MS = 400, PATIENCE_S = 30 };

typedef enum exit_code desk_command(const struct desk_port *port,
                                    const struct desk_request *request, struct why *why);

struct asked {
    const char *at;
    const char *token;
    struct desk_request request;
};

static enum exit_code end(const struct command *command, enum exit_code code, const struct why *why)
{
    return why->text[0] != '\0' ? command_fail(command, code, "%s", why->text) : code;
}

static enum exit_code with_port(const struct command *command, const struct asked *asked,
                                desk_command *run)
{
    struct at at;
    struct why why = {""};
    char program[AT_NAME_MAX + 32];
    if (at_check_name(asked->at, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    enum status status = at_find(&at, asked->at, &why);
    if (status == STATUS_OK) {
        status = at_read(&at, &why);
    }
    (void)snprintf(program, sizeof program, "hedgerow --at %s", at.name);
    const struct desk_port port = {.self = &at,
                                   .program = program,
                                   .look_ms = LOOK_MS,
                                   .ask = at_port_ask,
                                   .refused = at_was_refused,
                                   .remember = at_remember,
                                   .forget = at_forget};
    (void)signal(SIGPIPE, SIG_IGN);
    const enum exit_code code =
        status == STATUS_OK ? run(&port, &asked->request, &why) : exit_code_of(status);
    at_free(&at);
    return end(command, code, &why);
}

#define AT                                                                                         \
    {                                                                                              \
        .name = "--at", .text = &asked.at, .required = true, .what = "NAME"                        \
    }
#define JSON                                                                                       \
    {                                                                                              \
        .name = "--json", .flag = &asked.request.json                                              \
    }

static enum exit_code read_and_run(const struct command *command, const struct option *option,
                                   size_t options, struct asked *asked, int count, char **argument,
                                   desk_command *run)
{
    struct why why = {""};
    if (options_read(option, options, count, argument, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    return with_port(command, asked, run);
}

static enum exit_code run_submit(const struct command *command, int count, char **argument)
{
    struct asked asked = {.at = NULL};
    const struct option option[] = {
        AT,
        JSON,
        {.text = &asked.request.path, .required = true, .what = "JOB.yml"},
        {.name = "--id", .text = &asked.request.id, .what = "ID"},
        {.name = "--wait", .flag = &asked.request.wait},
        {.name = "--stream", .flag = &asked.request.stream}};
    return read_and_run(command, option, sizeof option / sizeof option[0], &asked, count, argument,
                        desk_submit);
}

enum exit_code run_at_desk(const struct command *command, int count, char **argument)
{
    static const struct {
        const char *name;
        desk_command *run;
        size_t options; /* the first of those below */
    } rows[] = {{"jobs", desk_jobs, 2},   {"agents", desk_agents, 2}, {"status", desk_status, 3},
                {"watch", desk_watch, 3}, {"cancel", desk_cancel, 3}, {"result", desk_result, 4}};
    struct asked asked = {.at = NULL};
    const struct option option[] = {
        AT,
        JSON,
        {.text = &asked.request.job, .required = true, .what = "NUMBER"},
        {.name = "--out", .text = &asked.request.out, .required = true, .what = "DIR"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, command->name) == 0) {
            return read_and_run(command, option, rows[i].options, &asked, count, argument,
                                rows[i].run);
        }
    }
    return run_submit(command, count, argument);
}

/* The answer to ENROL may be lost, and the token is then spent: a site is enrolled once it is let in under its own key. Both
 * keys are tried by turns. */
static enum exit_code enrol(struct at *at, const struct token *token, struct why *why)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_S * 1000;
    const struct ask ask = {.verb = ASK_ENROL, .id = at->key.public_key};
    const struct ask proof = {.verb = ASK_WHO};
    struct why first = {""};
    enum exit_code code = EXIT_CODE_UNREACHABLE;
    while (code == EXIT_CODE_UNREACHABLE && clock_now_ms() < until_ms) {
        struct desk_answer answer;
        (void)at_ask(at, &token->key, 4 * TURN_MS, &ask, (struct slice){NULL, 0}, &answer, &first);
        free(answer.data);
        at_hang_up(at);
        code = at_ask(at, &at->key, 4 * TURN_MS, &proof, (struct slice){NULL, 0}, &answer, why);
        free(answer.data);
        at_hang_up(at);
        if (code ==
            EXIT_CODE_UNREACHABLE) { /* the list may not have been read since the token was made */
            (void)poll(NULL, 0, REST_MS);
        }
    }
    if (code == EXIT_CODE_UNREACHABLE) {
        why_set(
            why,
            "not enrolled: %.300s (a token is good for one enrolment, until it expires; for a new "
            "one, at the coordinator: hedgerow-coordinator operators add %s --token FILE)",
            first.text, token->name);
    }
    return code;
}

enum exit_code run_enrol(const struct command *command, int count, char **argument)
{
    struct asked asked = {.at = NULL};
    const struct option option[] = {
        AT, JSON, {.name = "--token", .text = &asked.token, .required = true, .what = "FILE"}};
    struct at at;
    struct token token = {.until_s = 0};
    struct why why = {""};
    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        at_check_name(asked.at, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    enum status status = at_find(&at, asked.at, &why);
    if (status == STATUS_OK) {
        status = token_read(&token, true, asked.token, &why);
    }
    if (status == STATUS_OK) {
        status = at_prepare(&at, token.address, &token.coordinator_key, &why);
    }
    const enum exit_code code =
        status == STATUS_OK ? enrol(&at, &token, &why) : exit_code_of(status);
    if (code == EXIT_CODE_OK && asked.request.json) {
        const enum status printed = command_print_json(json_pack(
            "{s:s, s:s, s:s}", "operator", token.name, "at", at.name, "settings", at.path));
        why.text[0] = '\0';
        (void)printed;
    } else if (code == EXIT_CODE_OK) {
        why.text[0] = '\0';
        (void)printf("%s admits this operator as %s; the token has done its work: delete %s\n"
                     "settings and key: %s, %s\n",
                     at.name, token.name, asked.token, at.path, at.key_path);
    }
    token_wipe(&token);
    at_free(&at);
    return code == EXIT_CODE_OK ? code : end(command, code, &why);
}
