/* scalar.h - one value of a table of keys: from its text to its member. Inside config only. */

#ifndef CONFIG_SCALAR_H
#define CONFIG_SCALAR_H

#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>

enum { SCALAR_PROBLEM_BYTES = 256 };

/**
 * Stores a value in its member.
 *
 * member   out
 * problem  out  when refused: what is wrong and what to do, without the place
 *
 * Returns whether the value is one of the key's.
 */
bool scalar_store(const struct config_key *key, void *member, const char *text, bool quoted,
                  char problem[static SCALAR_PROBLEM_BYTES]);

/** Finds a name among the key's choices. Returns whether it is there. */
bool scalar_choice(const struct config_key *key, unsigned *index, const char *text,
                   char problem[static SCALAR_PROBLEM_BYTES]);

/** Says whether a value and the next key are the two parts of a number that was written with a comma,
 * such as 0 and 5; problem as above. */
bool scalar_comma(const struct config_key *key, const char *text, const char *behind,
                  char problem[static SCALAR_PROBLEM_BYTES]);

/** Says which of some names a mistyped one was meant to be. name is (count); problem as above. */
void scalar_suggest(char problem[static SCALAR_PROBLEM_BYTES], const char *what, const char *text,
                    const char *const *name, size_t count);

#endif
