/* Changes to the allow-list: each takes the lock beside the file, reads it, and puts a whole new
 * file in its place. Comment lines of people are not kept; the heading is ours. */

#include "io/roster.h"

#include "base/file.h"
#include "base/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char heading[] =
    "# hedgerow's allow-list: the agents this coordinator talks to, followed while it runs.\n"
    "# NAME PUBLIC-KEY, then signing=KEY, or for a one-time token: token-until=UNIX-SECONDS\n"
    "# Better changed with `hedgerow-coordinator agents add|revoke`; deleting a line revokes it.\n";

/* What one change works on, from edit_begin to edit_end. */
struct edit {
    const char *path;
    struct roster *roster;
    int lock;
};

static enum status edit_begin(struct edit *edit, const char *path, struct why *why)
{
    char lock_path[4096];

    *edit = (struct edit){.path = path, .lock = -1};
    edit->roster = calloc(1, sizeof *edit->roster);
    if (edit->roster == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "%s: no memory", path);
    }
    if ((size_t)snprintf(lock_path, sizeof lock_path, "%s.lock", path) >= sizeof lock_path) {
        return why_fail(why, STATUS_IO, "%s: the path is too long", path);
    }
    enum status status = owned_open(&edit->lock, lock_path, O_RDWR | O_CREAT, why);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_IO : status;
    }
    while (flock(edit->lock, LOCK_EX) != 0) {
        if (errno != EINTR) {
            return why_fail(why, STATUS_IO, "%s cannot be locked: %s", lock_path, strerror(errno));
        }
    }
    status = roster_read(edit->roster, path, why);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static void edit_end(struct edit *edit)
{
    if (edit->lock >= 0) {
        (void)close(edit->lock); /* and with it the lock */
    }
    free(edit->roster);
}

static enum status edit_write(const struct edit *edit, struct why *why)
{
    enum { LINE_BYTES = AGENT_NAME_MAX + 2 * KEY_HEX_BYTES + 64 };
    size_t room = sizeof heading + edit->roster->count * LINE_BYTES;
    size_t used = sizeof heading - 1;
    char hex[KEY_HEX_BYTES];

    char *text = malloc(room);
    if (text == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "%s: no memory", edit->path);
    }
    memcpy(text, heading, sizeof heading);
    for (size_t i = 0; i < edit->roster->count; i++) {
        const struct roster_entry *entry = &edit->roster->entry[i];
        hex_encode(hex, entry->key.byte, KEY_BYTES);
        used += (size_t)snprintf(text + used, room - used, "%s %s", entry->name, hex);
        if (!digest_is_none(&entry->signing_key)) {
            hex_encode(hex, entry->signing_key.byte, KEY_BYTES);
            used += (size_t)snprintf(text + used, room - used, " signing=%s", hex);
        }
        if (entry->token_until_s != 0) {
            used += (size_t)snprintf(text + used, room - used, " token-until=%lld",
                                     (long long)entry->token_until_s);
        }
        used += (size_t)snprintf(text + used, room - used, "\n");
    }
    enum status status = file_replace(edit->path, (struct slice){text, used}, why);
    free(text);
    return status;
}

static void remove_at(struct roster *roster, size_t place)
{
    roster->count--;
    memmove(&roster->entry[place], &roster->entry[place + 1],
            (roster->count - place) * sizeof roster->entry[0]);
    memset(&roster->entry[roster->count], 0, sizeof roster->entry[0]);
}

static enum status add_entry(const struct edit *edit, const struct roster_entry *wanted,
                             struct why *why)
{
    struct roster *roster = edit->roster;
    struct peer *peer = NULL;
    size_t peers = 0;
    const char *name = wanted->name;
    const struct digest *key = &wanted->key;

    if (!agent_name_is_valid(name)) {
        return why_refuse(why,
                          "an agent's name is 1 to 32 of a-z 0-9 . _ -, a letter or digit first");
    }
    if (digest_is_none(key)) {
        return why_refuse(why, "the key is empty");
    }
    const struct roster_entry *other = roster_find(roster, key);
    if (other != NULL) {
        return why_fail(why, STATUS_EXISTS, "this key is %s's already", other->name);
    }
    if (roster->count == ROSTER_ENTRIES_MAX) {
        return why_fail(why, STATUS_NO_MEMORY,
                        "%s is full; remedy: revoke keys that are no longer used", edit->path);
    }
    roster->entry[roster->count++] = *wanted;
    const enum status status = roster_peers(&peer, &peers, roster);
    free(peer);
    if (status != STATUS_OK) {
        why_set(why, "no memory for the list's names");
        return status;
    }
    if (peers > PEERS_MAX) {
        return why_fail(why, STATUS_NO_MEMORY, "one coordinator serves at most %d agents",
                        (int)PEERS_MAX);
    }
    return STATUS_OK;
}

/* A name that is too long becomes none, which is refused. */
static struct roster_entry entry_of(const char *name, const struct digest *key)
{
    struct roster_entry entry = {.key = *key};
    const size_t size = strlen(name);
    if (size <= AGENT_NAME_MAX) {
        memcpy(entry.name, name, size);
    }
    return entry;
}

enum status roster_add(const char *path, const char *name, const struct digest *key,
                       struct why *why)
{
    struct edit edit;
    const struct roster_entry entry = entry_of(name, key);
    enum status status = edit_begin(&edit, path, why);
    if (status == STATUS_OK) {
        status = add_entry(&edit, &entry, why);
    }
    if (status == STATUS_OK) {
        status = edit_write(&edit, why);
    }
    edit_end(&edit);
    return status;
}

enum status roster_add_token(const char *path, const char *name, const struct digest *key,
                             int64_t until_s, struct why *why)
{
    struct edit edit;
    struct roster_entry wanted = entry_of(name, key);
    wanted.token_until_s = until_s;
    enum status status = edit_begin(&edit, path, why);
    if (status == STATUS_OK && until_s <= 0) {
        status = why_refuse(why, "a token needs an end of its validity");
    }
    for (size_t i = status == STATUS_OK ? edit.roster->count : 0; i-- > 0;) {
        const struct roster_entry *entry = &edit.roster->entry[i];
        if (entry->token_until_s != 0 && strcmp(entry->name, name) == 0) {
            remove_at(edit.roster, i);
        }
    }
    if (status == STATUS_OK) {
        status = add_entry(&edit, &wanted, why);
    }
    if (status == STATUS_OK) {
        status = edit_write(&edit, why);
    }
    edit_end(&edit);
    return status;
}

enum status roster_revoke(const char *path, const char *name, const struct digest *key,
                          struct why *why)
{
    struct edit edit;
    size_t before = 0;
    enum status status = edit_begin(&edit, path, why);
    if (status == STATUS_OK) {
        before = edit.roster->count;
        for (size_t i = before; i-- > 0;) {
            const struct roster_entry *entry = &edit.roster->entry[i];
            if (strcmp(entry->name, name) == 0 && (key == NULL || digest_equal(&entry->key, key))) {
                remove_at(edit.roster, i);
            }
        }
        if (edit.roster->count == before) {
            status = why_fail(
                why, STATUS_NOT_FOUND,
                "%s lists no such agent or operator%s; `list` in the place of `revoke` shows who is there",
                path, key == NULL ? "" : " with this key");
        }
    }
    if (status == STATUS_OK) {
        status = edit_write(&edit, why);
    }
    edit_end(&edit);
    return status;
}

enum status roster_enrol(const char *path, const struct digest *token_key, const struct digest *key,
                         const struct digest *signing_key, int64_t now_s, struct why *why)
{
    struct edit edit;
    enum status status = edit_begin(&edit, path, why);
    if (status != STATUS_OK) {
        goto done;
    }
    status = STATUS_NOT_FOUND;
    for (size_t i = 0; i < edit.roster->count; i++) {
        struct roster_entry entry = edit.roster->entry[i];
        if (entry.token_until_s == 0 || !digest_equal(&entry.key, token_key)) {
            continue;
        }
        if (entry.token_until_s <= now_s) {
            why_set(why, "the token of %s has expired; remedy, at the coordinator: a new one",
                    entry.name);
            goto done;
        }
        remove_at(edit.roster, i);
        entry.key = *key;
        entry.signing_key = *signing_key;
        entry.token_until_s = 0;
        status = add_entry(&edit, &entry, why);
        if (status == STATUS_OK) {
            status = edit_write(&edit, why);
        }
        goto done;
    }
    why_set(why, "there is no such token: it was spent or revoked");
done:
    edit_end(&edit);
    return status;
}

enum status roster_refuse_other(const char *path, const struct digest *key, struct why *why)
{
    struct roster *roster = calloc(1, sizeof *roster);
    enum status status = roster == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK && path[0] != '\0') {
        status = roster_read(roster, path, why);
    }
    const struct roster_entry *entry = status == STATUS_OK ? roster_find(roster, key) : NULL;
    if (entry != NULL) {
        status = why_fail(
            why, STATUS_EXISTS,
            "this key is %s's on %s: nobody is both an agent and an operator; remedy: another "
            "key",
            entry->name, path);
    }
    free(roster);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}
