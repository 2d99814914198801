/* journal_seen.h - what reading a journal shows, as one line of text, for tests. */

#ifndef TESTS_JOURNAL_SEEN_H
#define TESTS_JOURNAL_SEEN_H

#include "io/journal.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* What a reading showed: "1:body:blob-bytes " for each record. */
struct seen {
    char text[4096];
    unsigned count;
    unsigned stop_at;
    const uint8_t *blob; /* what each blob must be */
};

/* A visit of journal.each; self: a struct seen. */
static inline enum status look(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    struct seen *seen = self;
    char part[160];
    snprintf(part, sizeof part, "%llu:%.*s:%zu ", (unsigned long long)sequence, (int)body.size,
             (const char *)body.data, blob.size);
    if (strlen(seen->text) + strlen(part) < sizeof seen->text) {
        strcat(seen->text, part);
    }
    if (blob.size > 0 && seen->blob != NULL) {
        cr_expect_eq(memcmp(blob.data, seen->blob, blob.size), 0);
    }
    seen->count++;
    return seen->count == seen->stop_at ? STATUS_REFUSED : STATUS_OK;
}

static inline struct seen read_seen(struct journal *from, enum status expected, struct why *why)
{
    struct seen seen = {.text = ""};
    cr_expect_eq(from->each(from->self, look, &seen, why), expected, "%s", why->text);
    return seen;
}

#endif
