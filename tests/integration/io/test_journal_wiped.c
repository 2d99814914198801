/* A program that begins anew reads what opens its masked answers: the copies are wiped. */

#include "io/journal.h"

#include "scratch.h"
#include "tests/support/given_back.h"

#include <criterion/criterion.h>

static struct scratch scratch;
static struct why why;
static uint64_t words[64];

static enum status nothing(UNUSED void *self, UNUSED uint64_t sequence, UNUSED struct slice body,
                           struct slice blob)
{
    cr_assert_eq(blob.size, sizeof words);
    awaited = blob.data;
    return STATUS_OK;
}

Test(journal_wiped, a_blob_that_was_read_is_wiped)
{
    const struct journal_sqlite_options options = {.folder = scratch.folder, .kind = "agent"};
    struct journal journal;
    uint64_t sequence = 0;
    scratch_make(&scratch);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        words[i] = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
    }
    cr_assert_eq(journal_sqlite_open(&journal, &options, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(journal.append(journal.self, &sequence, (struct slice){"one", 3},
                                (struct slice){words, sizeof words}),
                 STATUS_OK);
    look_for(words);
    cr_assert_eq(journal.each(journal.self, nothing, NULL, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(returned, 1);
    cr_expect_eq(found, 0);
    journal_close(&journal);
    scratch_remove(&scratch);
}
