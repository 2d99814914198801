/* near.h - which of some known names a mistyped one was meant to be. */

#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>

enum { NEAR_LETTERS_MAX = 64, NEAR_HINT_BYTES = NEAR_LETTERS_MAX + 32 };

/* The nearest of the names that have been offered. */
struct near {
    struct slice text; /* what was written; borrowed */
    const char *name;  /* borrowed; NULL: none is near */
    size_t distance;
    bool is_tied; /* another name is as near */
};

/** Begins with what was written. */
struct near near_to(struct slice text);

/** Offers a known name: it is near when it differs in case alone, or by one slip (a letter more, less or
 * another, two swapped), in longer words by two or more. */
void near_offer(struct near *near, const char *name);

/** Returns the nearest name; NULL where none is near, or two are alike. A wrong guess misleads more than
 * none. */
const char *near_name(const struct near *near);

/** Writes `; did you mean "NAME"?`, or nothing. Returns out. */
const char *near_hint(char out[static NEAR_HINT_BYTES], const struct near *near);

#endif
