/* token_wait.h - which one-time tokens of a list are waited for, and what has become of those that were. */

#ifndef IO_TOKEN_WAIT_H
#define IO_TOKEN_WAIT_H

#include "io/roster.h"

struct token_wait {
    struct roster told;    /* the tokens that are waited for, in the order of their names */
    int64_t first_until_s; /* the first of them expires then; INT64_MAX without any */
};

/** Returns whether a token that is waited for has expired since: the list need not have changed. */
bool token_wait_is_due(const struct token_wait *wait, int64_t now_s);

/**
 * Tells of the tokens that are no longer waited for, each once, and waits for those of the list.
 *
 * roster  in-out  the list; its entries are put in order
 * notify  in      is told of each such name, and whether the list has a key of its own for it
 *
 * Cost: O(n log n) comparisons of the list's n entries.
 */
void token_wait_account(struct token_wait *wait, struct roster *roster, int64_t now_s,
                        void (*notify)(void *self, const char *name, bool enrolled), void *self);

#endif
