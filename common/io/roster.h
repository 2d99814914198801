/* roster.h - the allow-list: which key is which agent's. A text file that people can read and the
 * coordinator follows while it runs; changed only as a whole. */

#ifndef IO_ROSTER_H
#define IO_ROSTER_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "crypto/key.h"
#include "protocol/machine.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    AGENT_NAME_MAX = 32,
    ROSTER_ENTRIES_MAX = 2 * PEERS_MAX,
    ROSTER_FILE_BYTES_MAX = 4 * 1024 * 1024
};

struct roster_entry {
    char name[AGENT_NAME_MAX + 1];
    struct digest key;
    struct digest
        signing_key;       /* none: not told. Sites go by their own list of peers, not by this */
    int64_t token_until_s; /* 0: the agent's own key. Else a one-time token's, valid until (Unix
                              time) */
};

/* Several lines may bear one name: an agent's old and new key, or its token. A key occurs once. */
struct roster {
    struct roster_entry entry[ROSTER_ENTRIES_MAX];
    size_t count;
};

/** Returns whether a name may be an agent's: 1 .. AGENT_NAME_MAX of a-z 0-9 . _ -, a letter or
 * digit first. */
bool agent_name_is_valid(const char *name);

/** Reads the file's text strictly; out is whole, or empty on failure. Fails with STATUS_INVALID;
 * why names path and line. path is only named. */
MUST_USE enum status roster_parse(struct roster *out, struct slice text, const char *path,
                                  struct why *why);

/** Reads the file; one that is missing is STATUS_NOT_FOUND. Fails with STATUS_IO, STATUS_INVALID.
 */
MUST_USE enum status roster_read(struct roster *out, const char *path, struct why *why);

/** Returns the entry of a key, or NULL. Takes the same time for every key of the list. */
const struct roster_entry *roster_find(const struct roster *roster, const struct digest *key);

/** Refuses a key that is on a list, as an own key or a token's: nobody is both an agent and an operator. path "": there is no
 * such list. Fails with STATUS_EXISTS; with STATUS_IO, STATUS_INVALID where the list cannot be read. */
MUST_USE enum status roster_refuse_other(const char *path, const struct digest *key,
                                         struct why *why);

/** Lists the names of agents with a key of their own, sorted, each once: (count), the array is the caller's. Fails with
 * STATUS_NO_MEMORY. */
MUST_USE enum status roster_peers(struct peer **peer, size_t *count, const struct roster *roster);

/* Each of the following reads, changes and replaces the file under its lock, atomically, on disk
 * when it returns. A missing file is an empty one. */

/** Adds a key; a name's other keys stay until revoked. Fails with STATUS_EXISTS (the key is
 * listed), STATUS_INVALID (the name), STATUS_NO_MEMORY (full), STATUS_IO. */
MUST_USE enum status roster_add(const char *path, const char *name, const struct digest *key,
                                struct why *why);

/** Adds a one-time token's key, replacing an earlier token of the same name. Fails like roster_add.
 */
MUST_USE enum status roster_add_token(const char *path, const char *name, const struct digest *key,
                                      int64_t until_s, struct why *why);

/** Removes a name's keys and tokens, or only one key (key may be NULL). Fails with
 * STATUS_NOT_FOUND. */
MUST_USE enum status roster_revoke(const char *path, const char *name, const struct digest *key,
                                   struct why *why);

/** Spends a token: its line becomes the agent's own key, with its signing half (may be none). Fails with STATUS_NOT_FOUND (no such
 * token, or expired at now_s), STATUS_EXISTS (the key is another line's). */
MUST_USE enum status roster_enrol(const char *path, const struct digest *token_key,
                                  const struct digest *key, const struct digest *signing_key,
                                  int64_t now_s, struct why *why);

/* Follows the file by content, so that two changes within one second are two changes. */
struct roster_watch {
    const char *path; /* kept */
    struct digest seen;
    bool unreadable;
};

/** Reads the file again. Returns STATUS_OK with *changed; a broken file fails (once per content)
 * and leaves roster as it is. */
MUST_USE enum status roster_watch_look(struct roster_watch *watch, struct roster *roster,
                                       bool *changed, struct why *why);

/** Lets the next look say that the file has changed. */
void roster_watch_again(struct roster_watch *watch);

#endif
