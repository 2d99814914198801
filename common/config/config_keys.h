/* config_keys.h - which keys of a table are there, and which should be. Inside config only. */

#ifndef CONFIG_CONFIG_KEYS_H
#define CONFIG_CONFIG_KEYS_H

#include "config/config.h"
#include "config/tree.h"

#include <stdint.h>

enum { KEYS_MAX = 64 };

/** Refuses a key that no table of keys has, with what its reader should write. Returns STATUS_INVALID. */
enum status keys_refuse_unknown(const struct tree *tree, size_t id, const struct config_key *keys,
                                struct why *why);

/** Refuses a table in braces where a comma ends a value that should go on. Fails with STATUS_INVALID. */
MUST_USE enum status keys_check_commas(const struct tree *tree, size_t id,
                                       const struct config_key *keys, struct why *why);

/** Refuses a table that lacks required keys, or has two where one replaces the other; fills the node's target with what its text leaves
 * out. seen: a bit for each key that is there. Fails with STATUS_INVALID. */
MUST_USE enum status keys_complete(const struct tree *tree, size_t id,
                                   const struct config_key *keys, uint64_t seen, struct why *why);

#endif
