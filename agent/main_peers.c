/* `hedgerow-agent enrol` and `peers add|list|digest|remove`: who admits this site's key, and the institutions that this site
 * takes for independent ones. */

#include "agent/main.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/owned.h"
#include "io/daemon.h"
#include "io/probe.h"
#include "masks/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = MASKS_NAME_BYTES + 2 * DIGEST_BYTES + 4 };

static const char HEADING[] =
    "# The institutions that this site takes for independent ones under trust distributed: NAME\n"
    "# SIGNING-KEY, this site's own line included. Approved by a person of this site.\n"
    "# Better changed with `hedgerow-agent peers add|remove`; compared with `peers digest`.\n";

enum status site_read_peers(struct site *site, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    const char *path = site->peers_path;
    enum status status = owned_source(path, why);

    if (status == STATUS_OK) {
        status = file_read(&text, &size, path, PEERS_TEXT_BYTES_MAX, why);
    }
    if (status == STATUS_NOT_FOUND) {
        why_set(why, "%s does not exist; remedy: hedgerow-agent peers add NAME --key FILE.pub",
                path);
    }
    if (status == STATUS_OK) {
        status = masks_peers_parse(&site->peers, (struct slice){text, size}, path, why);
    }
    free(text);
    return status;
}

static enum status write_peers(const struct site *site, struct why *why)
{
    const size_t room = sizeof HEADING + site->peers.count * LINE_BYTES;
    char hex[KEY_HEX_BYTES];
    char *text = malloc(room);
    size_t used = sizeof HEADING - 1;
    if (text == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(text, HEADING, sizeof HEADING);
    for (size_t i = 0; i < site->peers.count; i++) {
        hex_encode(hex, site->peers.peer[i].signing_key.byte, KEY_BYTES);
        used +=
            (size_t)snprintf(text + used, room - used, "%s %s\n", site->peers.peer[i].name, hex);
    }
    const enum status status = file_replace(site->peers_path, (struct slice){text, used}, why);
    free(text);
    return status;
}

/* A signing key: 64 digits, or the public key file that has it. */
static enum status read_key(struct digest *key, const char *given, struct why *why)
{
    if (strlen(given) == KEY_HEX_BYTES - 1 && strchr(given, '/') == NULL &&
        strspn(given, "0123456789abcdefABCDEF") == KEY_HEX_BYTES - 1) {
        return key_public_parse(key, given, why);
    }
    return key_signing_public_read(key, given, why);
}

static enum status add(struct site *site, const struct arguments *arguments, struct why *why)
{
    struct digest key;
    enum status status = read_key(&key, arguments->key, why);
    if (status == STATUS_OK) {
        status = masks_peers_add(&site->peers, arguments->name, &key, why);
    }
    if (status == STATUS_OK) {
        status = write_peers(site, why);
    }
    if (status == STATUS_OK) {
        (void)printf("%s: listed in %s\n", arguments->name, site->peers_path);
    }
    return status;
}

static enum status take_away(struct site *site, const struct arguments *arguments, struct why *why)
{
    size_t removed = 0;
    for (size_t i = site->peers.count; i-- > 0;) {
        const struct digest key = site->peers.peer[i].signing_key;
        if (strcmp(site->peers.peer[i].name, arguments->name) == 0) {
            removed += masks_peers_remove(&site->peers, &key);
        }
    }
    if (removed == 0) {
        why_set(why, "%s lists no %s; see: hedgerow-agent peers list", site->peers_path,
                arguments->name);
        return STATUS_NOT_FOUND;
    }
    const enum status status = write_peers(site, why);
    if (status == STATUS_OK) {
        (void)printf("%s: removed from %s\n", arguments->name, site->peers_path);
    }
    return status;
}

static enum status list(struct site *site, const struct arguments *arguments, struct why *why)
{
    char hex[KEY_HEX_BYTES];
    (void)arguments;
    (void)why;
    for (size_t i = 0; i < site->peers.count; i++) {
        hex_encode(hex, site->peers.peer[i].signing_key.byte, KEY_BYTES);
        (void)printf("%-32s  %s\n", site->peers.peer[i].name, hex);
    }
    return STATUS_OK;
}

static enum status tell_digest(struct site *site, const struct arguments *arguments,
                               struct why *why)
{
    struct digest digest;
    char hex[KEY_HEX_BYTES];
    (void)arguments;
    (void)why;
    masks_peers_digest(&digest, &site->peers);
    hex_encode(hex, digest.byte, DIGEST_BYTES);
    (void)printf("%s\n", hex);
    return STATUS_OK;
}

/* Reads settings, policy and list, and does one thing to the list. may_begin: a list that is not there is empty. */
static int with_peers(const struct arguments *arguments, bool may_begin,
                      enum status (*act)(struct site *site, const struct arguments *arguments,
                                         struct why *why))
{
    struct why why = {{0}};
    struct site *site = calloc(1, sizeof *site);
    if (site == NULL) {
        return daemon_complain(PROGRAM, STATUS_NO_MEMORY, &why);
    }
    enum status status = site_read_settings(site, arguments->config, &why);
    if (status == STATUS_OK) {
        status = site_read_policy(site, &why);
    }
    if (status == STATUS_OK && site->peers_path[0] == '\0') {
        status = why_refuse(&why, "%s names no list of peers; remedy: add the line `peers: peers`",
                            site->settings.policy);
    }
    if (status == STATUS_OK) {
        status = site_read_peers(site, &why);
        status = status == STATUS_NOT_FOUND && may_begin ? STATUS_OK : status;
    }
    if (status == STATUS_OK) {
        status = act(site, arguments, &why);
    }
    site_free(site);
    free(site);
    return status == STATUS_OK ? EXIT_CODE_OK : daemon_complain(PROGRAM, status, &why);
}

int main_peers_add(const struct arguments *arguments)
{
    return with_peers(arguments, true, add);
}

int main_peers_remove(const struct arguments *arguments)
{
    return with_peers(arguments, false, take_away);
}

int main_peers_list(const struct arguments *arguments)
{
    return with_peers(arguments, false, list);
}

int main_peers_digest(const struct arguments *arguments)
{
    return with_peers(arguments, false, tell_digest);
}

int main_enrol(const struct arguments *arguments)
{
    struct site site = {0};
    struct token token = {0};
    struct why why = {{0}};
    struct why unsigned_why = {{0}};
    enum status status = STATUS_INVALID;

    status = site_read_settings(&site, arguments->config, &why);
    if (status == STATUS_OK) {
        status = site_read_own_key(&site, &why);
    }
    if (status == STATUS_OK) {
        status = token_read(&token, false, arguments->token, &why);
    }
    if (status == STATUS_OK && site_read_signing_key(&site, &unsigned_why) != STATUS_OK) {
        daemon_note("key", "%s", unsigned_why.text); /* which other trusts can do without */
    }
    if (status == STATUS_OK) {
        status = probe_enrol(&token, &site.key, &site.signing.public_key, NULL,
                             (int)arguments->timeout_s * 1000, &why);
    }
    if (status == STATUS_OK) {
        (void)printf("the coordinator admits this site's key; the token for %s has done its work: "
                     "delete %s\n",
                     token.name, arguments->token);
    }
    token_wipe(&token);
    site_free(&site);
    if (status == STATUS_AGAIN) {
        (void)fprintf(stderr, PROGRAM ": %s\n", why.text);
        return EXIT_CODE_UNREACHABLE;
    }
    return status == STATUS_OK ? EXIT_CODE_OK : daemon_complain(PROGRAM, status, &why);
}
