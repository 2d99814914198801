/* peers.h - the institutions that a site takes for independent ones in masked sums, each with the key that it signs
 * by. A text that a person of the site approves, its own line in it. Never learned from a coordinator. */

#ifndef MASKS_PEERS_H
#define MASKS_PEERS_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    MASKS_NAME_BYTES = 40,
    MASKS_NAME_MAX = 32,
    PEERS_LINES_MAX = 512,
    PEERS_TEXT_BYTES_MAX = 64 * 1024
};

/* For an institution; one with a new key beside its old one has two lines. */
struct masks_peer {
    char name[MASKS_NAME_BYTES]; /* zeros after its end */
    struct digest signing_key;
};

struct masks_peers {
    struct masks_peer peer[PEERS_LINES_MAX]; /* (count) ordered by name, then key */
    size_t count;
};

/** Returns whether a name may be an institution's: 1 .. MASKS_NAME_MAX of a-z 0-9 . _ -, a letter or digit first. */
bool masks_name_is_valid(const char *name);

/** Reads lines "NAME KEY"; '#' begins a comment line. path is only named. Fails with STATUS_INVALID: why names path
 * and line; peers is then empty. A key stands there once. */
MUST_USE enum status masks_peers_parse(struct masks_peers *peers, struct slice text,
                                       const char *path, struct why *why);

/** Adds a line. Fails with STATUS_INVALID (the name), STATUS_EXISTS (the key), STATUS_NO_MEMORY (full). */
MUST_USE enum status masks_peers_add(struct masks_peers *peers, const char *name,
                                     const struct digest *signing_key, struct why *why);

/** Removes a line of that key. Returns whether there was one. */
bool masks_peers_remove(struct masks_peers *peers, const struct digest *signing_key);

/** Returns the institution that signs by this key, or NULL. */
const struct masks_peer *masks_peers_find(const struct masks_peers *peers,
                                          const struct digest *signing_key);

/** The digest that people compare: of names and keys alone, whatever the order of the lines. */
void masks_peers_digest(struct digest *out, const struct masks_peers *peers);

#endif
