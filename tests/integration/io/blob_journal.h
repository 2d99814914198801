/* blob_journal.h - an agent's journal over SQLite in a folder of its own, and bytes for its blobs. */

#ifndef TESTS_IO_BLOB_JOURNAL_H
#define TESTS_IO_BLOB_JOURNAL_H

#include "io/journal.h"

#include "scratch.h"

#include <criterion/criterion.h>

static struct scratch scratch;
static struct why why;
static struct journal journal;

/* Opens it, in the place of one that is open. */
static inline enum status open_journal(void)
{
    struct journal_sqlite_options options = {.folder = scratch.folder, .kind = "agent"};
    journal_close(&journal);
    return journal_sqlite_open(&journal, &options, &why);
}

static inline void teardown(void)
{
    journal_close(&journal);
    scratch_remove(&scratch);
}

/* So that no blob of some size is a part of another that begins elsewhere. */
static inline void fill_bytes(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    }
}

#endif
