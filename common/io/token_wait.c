#include "io/token_wait.h"

#include <stdlib.h>
#include <string.h>

/* By name; of one name the own keys come before the tokens. */
static int by_name(const void *a, const void *b)
{
    const struct roster_entry *left = a;
    const struct roster_entry *right = b;
    const int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->token_until_s != 0) - (right->token_until_s != 0);
}

static int by_name_then_key(const void *a, const void *b)
{
    const int order = by_name(a, b);
    return order != 0 ? order
                      : memcmp(((const struct roster_entry *)a)->key.byte,
                               ((const struct roster_entry *)b)->key.byte, KEY_BYTES);
}

static const struct roster_entry *find(const struct roster *roster, const struct roster_entry *what,
                                       int (*compare)(const void *, const void *))
{
    return bsearch(what, roster->entry, roster->count, sizeof *roster->entry, compare);
}

static bool waits(const struct roster_entry *entry, int64_t now_s)
{
    return entry != NULL && entry->token_until_s > now_s;
}

static bool has_own_key(const struct roster *roster, const struct roster_entry *token)
{
    struct roster_entry own = *token;
    own.token_until_s = 0;
    return find(roster, &own, by_name) != NULL;
}

bool token_wait_is_due(const struct token_wait *wait, int64_t now_s)
{
    return now_s >= wait->first_until_s;
}

void token_wait_account(struct token_wait *wait, struct roster *roster, int64_t now_s,
                        void (*notify)(void *self, const char *name, bool enrolled), void *self)
{
    qsort(roster->entry, roster->count, sizeof *roster->entry, by_name_then_key);
    for (size_t i = 0; i < wait->told.count; i++) {
        const struct roster_entry *token = &wait->told.entry[i];
        if (!waits(find(roster, token, by_name_then_key), now_s)) {
            notify(self, token->name, has_own_key(roster, token));
        }
    }
    wait->told.count = 0;
    wait->first_until_s = INT64_MAX;
    for (size_t i = 0; i < roster->count; i++) {
        const struct roster_entry *entry = &roster->entry[i];
        if (waits(entry, now_s)) {
            wait->told.entry[wait->told.count++] = *entry;
            wait->first_until_s = entry->token_until_s < wait->first_until_s ? entry->token_until_s
                                                                             : wait->first_until_s;
        }
    }
}
