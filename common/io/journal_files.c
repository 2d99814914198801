/* The mark file holds two copies at fixed places, written in turn, each with its own digest: a torn
 * write spoils one of them at most. */

#include "io/journal_files.h"
#include "io/journal.h"
#include "io/lock.h"

#include "base/owned.h"
#include "crypto/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARK_BYTES = 8 + 2 * DIGEST_BYTES, MARK_DISTANCE = 512 };

enum status journal_folder_prepare(const char *folder, struct why *why)
{
    struct stat about;
    const bool made = mkdir(folder, 0700) == 0;

    if (!made && errno != EEXIST) {
        /* Only the last folder is made: a mistyped path must not quietly begin a new ledger. */
        return why_fail(
            why, STATUS_IO, "the folder %s cannot be made: %s%s", folder, strerror(errno),
            errno == ENOENT ? "; remedy: make the folder above it, if the path is right" : "");
    }
    enum status status = owned_folder(&about, folder, why);
    if (status != STATUS_OK) {
        if (made) {
            (void)rmdir(folder);
        }
        return status;
    }
    /* Others could only read names and sizes here. A folder that others can write to is refused above, as they
     * could have planted files. */
    if ((about.st_mode & 077) != 0 && chmod(folder, 0700) != 0) {
        return why_fail(why, STATUS_IO, "the folder %s is open to others; remedy: chmod 700 %s",
                        folder, folder);
    }
    if (access(folder, R_OK | W_OK | X_OK) != 0) {
        return why_fail(why, STATUS_IO, "the folder %s cannot be written: %s", folder,
                        strerror(errno));
    }
    return STATUS_OK;
}

/* access() does not tell of a full disk, or of one that cannot be written. */
static enum status try_file(const char *folder, struct why *why)
{
    char path[JOURNAL_PATH_BYTES];
    int file = -1;
    enum status status = journal_path(path, folder, "try", why);

    if (status == STATUS_OK) {
        status = owned_open(&file, path, O_RDWR | O_CREAT, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (pwrite(file, "try", 3, 0) != 3 || fsync(file) != 0) {
        why_file(why, folder, "written", errno);
        status = STATUS_IO;
    }
    (void)close(file);
    (void)unlink(path);
    return status;
}

enum status journal_folder_try(const char *folder, struct why *why)
{
    struct stat about;
    bool made = stat(folder, &about) != 0;
    enum status status = journal_folder_prepare(folder, why);

    made = made && status == STATUS_OK;
    if (status == STATUS_OK) {
        status = try_file(folder, why);
    }
    if (made) {
        (void)rmdir(folder);
    }
    return status;
}

enum status journal_path(char out[JOURNAL_PATH_BYTES], const char *folder, const char *name,
                         struct why *why)
{
    int size = snprintf(out, JOURNAL_PATH_BYTES, "%s/%s", folder, name);
    if (size < 0 || size >= JOURNAL_PATH_BYTES) {
        return why_refuse(why, "the path of the journal's folder is too long");
    }
    return STATUS_OK;
}

/* The lock's path, and what is said where another process has it. */
struct lock_of {
    char path[JOURNAL_PATH_BYTES];
    char what[JOURNAL_PATH_BYTES];
    struct lock_words words;
};

static enum status name_lock(struct lock_of *of, const char *folder, struct why *why)
{
    (void)snprintf(of->what, sizeof of->what, "the journal in %s", folder);
    of->words = (struct lock_words){of->what, "stop that process"};
    return journal_path(of->path, folder, "lock", why);
}

enum status journal_lock(int *lock, const char *folder, struct why *why)
{
    struct lock_of of;
    *lock = -1;
    const enum status status = name_lock(&of, folder, why);
    return status == STATUS_OK ? lock_take(lock, of.path, &of.words, why) : status;
}

static void mark_digest(struct digest *out, const uint8_t bytes[MARK_BYTES])
{
    digest_sha256(out, &(struct slice){bytes, 8 + DIGEST_BYTES}, 1);
}

/* Returns 1 for a whole copy, 0 for none written yet, -1 for a spoilt one or a failing disk. */
static int read_copy(struct journal_mark *mark, int file, int place)
{
    uint8_t bytes[MARK_BYTES] = {0};
    struct digest sum;

    ssize_t got = pread(file, bytes, sizeof bytes, (off_t)place * MARK_DISTANCE);
    bool blank = true;
    for (size_t i = 0; i < sizeof bytes; i++) {
        blank = blank && bytes[i] == 0;
    }
    if (got >= 0 && blank) {
        return 0;
    }
    mark_digest(&sum, bytes);
    if (got != MARK_BYTES || memcmp(sum.byte, bytes + 8 + DIGEST_BYTES, DIGEST_BYTES) != 0) {
        return -1;
    }
    mark->sequence = load_u64(bytes);
    memcpy(mark->chain.byte, bytes + 8, DIGEST_BYTES);
    return 1;
}

enum status journal_mark_open(int *file, struct journal_mark *mark, const char *folder,
                              enum journal_mark_use use, struct why *why)
{
    char path[JOURNAL_PATH_BYTES];
    struct journal_mark copy[2] = {{0}};

    *file = -1;
    memset(mark, 0, sizeof *mark);
    enum status status = journal_path(path, folder, "mark", why);
    if (status != STATUS_OK) {
        return status;
    }
    static const int flags[] = {
        [MARK_READ] = O_RDONLY, [MARK_WRITE] = O_RDWR, [MARK_MAKE] = O_RDWR | O_CREAT};
    int opened = -1;
    status = owned_open(&opened, path, flags[use], why);
    if (status != STATUS_OK) {
        return status;
    }
    int state[2] = {read_copy(&copy[0], opened, 0), read_copy(&copy[1], opened, 1)};
    if (state[0] < 1 && state[1] < 1 && (state[0] < 0 || state[1] < 0)) {
        why_set(why,
                "%s is damaged. It guards against an older journal.db being taken for the "
                "latest; once sure of that, empty it",
                path);
        (void)close(opened);
        return STATUS_CORRUPT;
    }
    *mark = copy[1].sequence > copy[0].sequence ? copy[1] : copy[0];
    *file = opened;
    return STATUS_OK;
}

enum status journal_mark_write(int file, const struct journal_mark *mark)
{
    uint8_t bytes[MARK_BYTES];
    struct digest sum;

    store_u64(bytes, mark->sequence);
    memcpy(bytes + 8, mark->chain.byte, DIGEST_BYTES);
    mark_digest(&sum, bytes);
    memcpy(bytes + 8 + DIGEST_BYTES, sum.byte, DIGEST_BYTES);
    off_t place = (off_t)(mark->sequence % 2) * MARK_DISTANCE;
    return pwrite(file, bytes, sizeof bytes, place) == MARK_BYTES ? STATUS_OK : STATUS_IO;
}

uint64_t journal_size(const char *folder)
{
    static const char *const name[] = {"journal.db", "journal.db-wal"};
    uint64_t bytes = journal_bulk_bytes(folder);
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        char path[JOURNAL_PATH_BYTES];
        struct stat about;
        if (journal_path(path, folder, name[i], NULL) == STATUS_OK && stat(path, &about) == 0) {
            bytes += (uint64_t)about.st_size;
        }
    }
    return bytes;
}
