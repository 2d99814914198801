/* `hedgerow-coordinator agents add|revoke|list`: the allow-list, while the coordinator runs or not.
 */

#include "base/exit_code.h"
#include "coordinator/main.h"
#include "io/daemon.h"
#include "io/endpoint.h"
#include "io/roster.h"
#include "io/token.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRAM "hedgerow-coordinator"

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

static enum status add_token(const struct office *office, const struct arguments *arguments,
                             struct why *why)
{
    struct token token = {0};
    const char *address = arguments->address != NULL ? arguments->address : office->settings.listen;
    enum status status = endpoint_check_address(address, why);

    if (status == STATUS_OK && is_every_address(address)) {
        return why_refuse(
            why,
            "no site can dial %s; remedy: --address tcp://HOST:PORT, as the site reaches this "
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
        status = roster_add_token(office->settings.agents, arguments->name, &token.key.public_key,
                                  token.until_s, why);
        if (status != STATUS_OK) {
            (void)remove(arguments->token); /* which the list does not know */
        }
    }
    if (status == STATUS_OK) {
        (void)printf("%s: hand %s to the site over a channel you trust; it admits one enrolment "
                     "within %" PRIu64 " hours, for an agent that dials %s\n",
                     arguments->name, arguments->token, arguments->valid_hours, address);
    }
    token_wipe(&token);
    return status;
}

/* "" of an agent whose key has no signing half, or that did not tell it. */
static const char *signing_text(char text[static KEY_HEX_BYTES], const struct roster_entry *entry)
{
    text[0] = '\0';
    if (!digest_is_none(&entry->signing_key)) {
        hex_encode(text, entry->signing_key.byte, KEY_BYTES);
    }
    return text;
}

static enum status list_json(const struct roster *roster)
{
    json_t *list = json_array();
    for (size_t i = 0; i < roster->count; i++) {
        char hex[KEY_HEX_BYTES];
        char signing[KEY_HEX_BYTES];
        hex_encode(hex, roster->entry[i].key.byte, KEY_BYTES);
        json_add(&list, json_pack("{s:s, s:s, s:s, s:b, s:I}", "agent", roster->entry[i].name,
                                  "key", hex, "signing", signing_text(signing, &roster->entry[i]),
                                  "token", roster->entry[i].token_until_s != 0, "valid_until",
                                  (json_int_t)roster->entry[i].token_until_s));
    }
    enum status status = list == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK && json_dumpf(list, stdout, JSON_INDENT(2)) != 0) {
        status = STATUS_IO;
    }
    json_decref(list);
    (void)putchar('\n');
    return status;
}

static enum status list(struct office *office, const struct arguments *arguments, struct why *why)
{
    bool json = arguments->json;
    struct roster *roster = calloc(1, sizeof *roster);
    enum status status =
        roster == NULL ? STATUS_NO_MEMORY : roster_read(roster, office->settings.agents, why);
    if (status == STATUS_NOT_FOUND) {
        status = STATUS_OK; /* no file is an empty list */
    }
    if (status == STATUS_OK && json) {
        status = list_json(roster);
    }
    for (size_t i = 0; status == STATUS_OK && !json && i < roster->count; i++) {
        char hex[KEY_HEX_BYTES];
        char signing[KEY_HEX_BYTES];
        hex_encode(hex, roster->entry[i].key.byte, KEY_BYTES);
        (void)signing_text(signing, &roster->entry[i]);
        (void)printf("%-32s  %s%s%s%s\n", roster->entry[i].name, hex,
                     signing[0] != '\0' ? "  signs by " : "", signing,
                     roster->entry[i].token_until_s != 0 ? "  (one-time token)" : "");
    }
    free(roster);
    return status;
}

/* Reads the settings and does one thing to the list they name. */
static int with_office(const struct arguments *arguments,
                       enum status (*act)(struct office *office, const struct arguments *arguments,
                                          struct why *why))
{
    struct office office = {0};
    struct why why = {{0}};
    enum status status = office_read_settings(&office, arguments->config, &why);

    if (status == STATUS_OK) {
        status = act(&office, arguments, &why);
    }
    office_free(&office);
    return status == STATUS_OK ? EXIT_CODE_OK : daemon_complain(PROGRAM, status, &why);
}

static enum status add(struct office *office, const struct arguments *arguments, struct why *why)
{
    struct digest key;
    enum status status;

    if (arguments->token != NULL) {
        status = office_read_key(office, why);
        return status == STATUS_OK ? add_token(office, arguments, why) : status;
    }
    status = key_public_parse(&key, arguments->key, why);
    if (status == STATUS_OK) {
        status = roster_add(office->settings.agents, arguments->name, &key, why);
    }
    if (status == STATUS_OK) {
        (void)printf("%s: admitted\n", arguments->name);
    }
    return status;
}

static enum status revoke(struct office *office, const struct arguments *arguments, struct why *why)
{
    struct digest key;
    bool one = arguments->key != NULL;
    enum status status = one ? key_public_parse(&key, arguments->key, why) : STATUS_OK;

    if (status == STATUS_OK) {
        status = roster_revoke(office->settings.agents, arguments->name, one ? &key : NULL, why);
    }
    if (status == STATUS_OK) {
        (void)printf("%s: revoked\n", arguments->name);
    }
    return status;
}

int main_agents_list(const struct arguments *arguments)
{
    return with_office(arguments, list);
}

int main_agents_add(const struct arguments *arguments)
{
    if ((arguments->key == NULL) == (arguments->token == NULL)) {
        return daemon_usage(PROGRAM, "agents add takes either --key HEX or --token FILE");
    }
    if (!agent_name_is_valid(arguments->name)) {
        return daemon_usage(PROGRAM, "a name is 1 to 32 characters of a-z 0-9 . _ -, a letter or "
                                     "digit first");
    }
    return with_office(arguments, add);
}

int main_agents_revoke(const struct arguments *arguments)
{
    return with_office(arguments, revoke);
}
