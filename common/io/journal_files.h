/* journal_files.h - what stands beside a journal's database: its folder, the lock that keeps a
 * second program out, and the mark that tells how far the journal has been. */

#ifndef IO_JOURNAL_FILES_H
#define IO_JOURNAL_FILES_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdint.h>

enum { JOURNAL_PATH_BYTES = 4096 };

/** Makes the folder (0700) when it is missing, and closes it to readers. Fails with STATUS_INVALID when it belongs
 * to another account or others may write it (somebody may have planted files in it), with STATUS_IO. */
MUST_USE enum status journal_folder_prepare(const char *folder, struct why *why);

/** Joins a folder and a file's name. Fails with STATUS_INVALID when it is too long. */
MUST_USE enum status journal_path(char out[JOURNAL_PATH_BYTES], const char *folder,
                                  const char *name, struct why *why);

/** Takes the lock and writes the own process id to it; *lock is held until closed. Fails with
 * STATUS_BUSY (why names the holder), as owned_open does, or STATUS_IO. */
MUST_USE enum status journal_lock(int *lock, const char *folder, struct why *why);

/* How far a journal has been: the number and the chained digest of its last record. */
struct journal_mark {
    uint64_t sequence; /* 0: not known */
    struct digest chain;
};

enum journal_mark_use { MARK_READ, MARK_WRITE, MARK_MAKE };

/** Opens the mark file, making an empty one for MARK_MAKE, and reads it. Fails with STATUS_NOT_FOUND,
 * STATUS_CORRUPT (neither of its two copies is whole), STATUS_INVALID (a link, or others may change it), STATUS_IO. */
MUST_USE enum status journal_mark_open(int *file, struct journal_mark *mark, const char *folder,
                                       enum journal_mark_use use, struct why *why);

/** Writes the mark. It goes to the disk lazily: an old mark is safe, a mark of the future is not.
 */
MUST_USE enum status journal_mark_write(int file, const struct journal_mark *mark);

/** Returns how many bytes the files of large blobs in a folder take (journal_bulk.c). */
uint64_t journal_bulk_bytes(const char *folder);

#endif
