/* `hedgerow-coordinator agents add|revoke` and `operators add|revoke`: the two allow-lists, while the coordinator runs or
 * not. A key on one list has no right of the other, and none comes onto both. And `enrol`: sites enrol while no job runs. */

#include "base/exit_code.h"
#include "coordinator/hearing.h"
#include "coordinator/main.h"
#include "io/clock.h"
#include "io/daemon.h"
#include "io/endpoint.h"
#include "io/enrolment.h"
#include "io/roster.h"
#include "io/token.h"
#include "protocol/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What one listens on to be reached under any address of the machine is no address to dial. */
static bool is_every_address(const char *address)
{
    static const char *const every[] = {"tcp://0.0.0.0:", "tcp://*:", "tcp://[::]:"};
    for (size_t i = 0; i < sizeof every / sizeof every[0]; i++) {
        if (strncmp(address, every[i], strlen(every[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* One of the two lists. */
struct role {
    bool operators;
    const char *list;
    const char *other; /* the other list; "": there is none */
    const char *listen;
};

static enum status role_of(struct role *role, bool operators, const struct office *office,
                           struct why *why)
{
    const struct coordinator_settings *settings = &office->settings;
    *role = operators ? (struct role){true, settings->operators.list, settings->agents,
                                      settings->operators.listen}
                      : (struct role){false, settings->agents, settings->operators.list,
                                      settings->listen};
    return operators ? office_has_operators(office, why) : STATUS_OK;
}

/* A token of a name that has a key adds a second one: that is how a lost key is replaced, and it may be a slip. */
static enum status tell_second_key(const char *list, const char *name, struct why *why)
{
    struct roster *roster = calloc(1, sizeof *roster);
    bool has_key = false;
    if (roster == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status = roster_read(roster, list, why);
    for (size_t i = 0; status == STATUS_OK && i < roster->count; i++) {
        has_key = has_key ||
                  (roster->entry[i].token_until_s == 0 && strcmp(roster->entry[i].name, name) == 0);
    }
    free(roster);
    if (has_key) {
        (void)printf(
            "%s has a key already, and this token adds a second one; if the first is lost, "
            "revoke it by `revoke %s --key HEX`\n",
            name, name);
    }
    return status;
}

static enum status add_token(const struct office *office, const struct role *role,
                             const struct arguments *arguments, struct why *why)
{
    struct token token = {.operators = role->operators};
    const char *address = arguments->address != NULL ? arguments->address : role->listen;
    enum status status = endpoint_check_address(address, why);

    if (status == STATUS_OK && is_every_address(address)) {
        return why_refuse(
            why,
            "nobody can dial %s; remedy: --address tcp://HOST:PORT, as the other side reaches this "
            "machine",
            address);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (strlen(arguments->name) > AGENT_NAME_MAX || strlen(address) >= sizeof token.address) {
        return why_refuse(why, "the name or the address is too long");
    }
    (void)snprintf(token.name, sizeof token.name, "%s", arguments->name);
    (void)snprintf(token.address, sizeof token.address, "%s", address);
    token.coordinator_key = office->key.public_key;
    token.until_s = (int64_t)time(NULL) + (int64_t)arguments->valid_hours * 3600;
    status = key_pair_generate(&token.key);
    if (status == STATUS_OK) {
        status = token_write(&token, arguments->token, why);
    }
    if (status == STATUS_OK) {
        status = roster_add_token(role->list, arguments->name, &token.key.public_key, token.until_s,
                                  why);
        if (status != STATUS_OK) {
            (void)remove(arguments->token); /* which the list does not know */
        }
    }
    if (status == STATUS_OK) {
        (void)printf("%s: hand %s to the %s over a channel you trust; it admits one enrolment "
                     "within %" PRIu64 " hours, for %s that dials %s\n",
                     arguments->name, arguments->token, role->operators ? "operator" : "site",
                     arguments->valid_hours, role->operators ? "a command" : "an agent", address);
        status = tell_second_key(role->list, arguments->name, why);
    }
    token_wipe(&token);
    return status;
}

/* Reads the settings and does one thing to a list they name. */
static int with_role(const struct arguments *arguments, bool operators,
                     enum status (*act)(struct office *office, const struct role *role,
                                        const struct arguments *arguments, struct why *why))
{
    struct office office = {0};
    struct role role;
    struct why why = {{0}};
    enum status status = office_read_settings(&office, arguments->config, &why);

    if (status == STATUS_OK) {
        status = role_of(&role, operators, &office, &why);
    }
    if (status == STATUS_OK) {
        status = act(&office, &role, arguments, &why);
    }
    office_free(&office);
    return status == STATUS_OK ? EXIT_CODE_OK : daemon_complain(PROGRAM, status, &why);
}

static enum status add(struct office *office, const struct role *role,
                       const struct arguments *arguments, struct why *why)
{
    struct digest key;
    enum status status;

    if (arguments->token != NULL) {
        status = office_read_key(office, why);
        return status == STATUS_OK ? add_token(office, role, arguments, why) : status;
    }
    status = key_public_parse(&key, arguments->key, why);
    if (status == STATUS_OK) {
        status = roster_refuse_other(role->other, &key, why);
    }
    if (status == STATUS_OK) {
        status = roster_add(role->list, arguments->name, &key, why);
    }
    if (status == STATUS_OK) {
        (void)printf("%s: admitted\n", arguments->name);
    }
    return status;
}

static enum status revoke(UNUSED struct office *office, const struct role *role,
                          const struct arguments *arguments, struct why *why)
{
    struct digest key;
    bool one = arguments->key != NULL;
    enum status status = one ? key_public_parse(&key, arguments->key, why) : STATUS_OK;

    if (status == STATUS_OK) {
        status = roster_revoke(role->list, arguments->name, one ? &key : NULL, why);
    }
    if (status == STATUS_OK) {
        (void)printf("%s: revoked\n", arguments->name);
    }
    return status;
}

static int add_to(const struct arguments *arguments, bool operators)
{
    if ((arguments->key == NULL) == (arguments->token == NULL)) {
        return daemon_usage(PROGRAM, operators
                                         ? "operators add takes either --key HEX or --token FILE"
                                         : "agents add takes either --key HEX or --token FILE");
    }
    if (!agent_name_is_valid(arguments->name)) {
        return daemon_usage(PROGRAM, "a name is 1 to 32 characters of a-z 0-9 . _ -, a letter or "
                                     "digit first");
    }
    return with_role(arguments, operators, add);
}

int main_agents_add(const struct arguments *arguments)
{
    return add_to(arguments, false);
}

int main_agents_revoke(const struct arguments *arguments)
{
    return with_role(arguments, false, revoke);
}

int main_operators_add(const struct arguments *arguments)
{
    return add_to(arguments, true);
}

int main_operators_revoke(const struct arguments *arguments)
{
    return with_role(arguments, true, revoke);
}

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
