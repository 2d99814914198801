/* journal_fixture.h - an agent's journal over SQLite in a folder of its own, for tests. */

#ifndef TESTS_JOURNAL_FIXTURE_H
#define TESTS_JOURNAL_FIXTURE_H

#include "io/journal.h"

#include "scratch.h"
#include "tests/support/journal_seen.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scratch scratch;
static struct why why;
static struct journal journal;

static inline enum status open_kind(struct journal *out, const char *kind, bool read_only)
{
    struct journal_sqlite_options options = {
        .folder = scratch.folder, .kind = kind, .read_only = read_only};
    why.text[0] = '\0';
    return journal_sqlite_open(out, &options, &why);
}

static inline enum status reopen(void)
{
    journal_close(&journal);
    return open_kind(&journal, "agent", false);
}

static inline void setup(void)
{
    scratch_make(&scratch);
    cr_assert_eq(open_kind(&journal, "agent", false), STATUS_OK, "%s", why.text);
}

static inline void teardown(void)
{
    journal_close(&journal);
    scratch_remove(&scratch);
}

static inline enum status put(const char *body, const void *blob, size_t blob_size)
{
    uint64_t sequence = 0;
    return journal.append(journal.self, &sequence, (struct slice){body, strlen(body)},
                          (struct slice){blob, blob_size});
}

static inline struct seen read_all(struct journal *from, enum status expected)
{
    return read_seen(from, expected, &why);
}

#endif
