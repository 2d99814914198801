/* Large blobs: files of their own beside the database, one each, named `bulk-` and the record's number.
 *
 * A file is written once, sealed by AES-256 in counter mode under a key of its own, and is on the disk before the commit
 * that makes its record. That commit has the key, in a row as small as any. So a blob goes with its key: forgetting drops
 * the row and wiping overwrites it, and what the file has says nothing more, wherever copies of its blocks may be. The
 * record's digest, which the chain has, tells whether the bytes are whole.
 *
 * A death leaves at most files that no row knows. They are removed after the next durable record, and so are those that
 * were forgotten. */

#include "io/journal_private.h"

#include "base/folder.h"
#include "base/owned.h"
#include "crypto/agree.h"
#include "crypto/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "bulk-";

static enum status path_of(char path[JOURNAL_PATH_BYTES], struct journal_sqlite *journal,
                           uint64_t sequence)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%s%" PRIu64, prefix, sequence);
    return journal_path(path, journal->folder, name, &journal->trouble);
}

static bool write_all(int file, const uint8_t *from, size_t size)
{
    while (size > 0) {
        const ssize_t wrote = write(file, from, size);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote <= 0) {
            return false;
        }
        from += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

/* Each piece is digested - unless digest is NULL -, sealed and written while it is in the processor's cache. */
static bool write_pieces(int file, struct agree_stream *stream, struct digest *digest,
                         struct slice blob)
{
    uint8_t sealed[JOURNAL_PIECE_BYTES];
    struct digest_stream sum;
    const uint8_t *from = blob.data;
    size_t left = blob.size;
    bool good = true;

    digest_stream_init(&sum);
    while (good && left > 0) {
        const size_t size = left < sizeof sealed ? left : sizeof sealed;
        if (digest != NULL) {
            digest_stream_add(&sum, from, size);
        }
        errno = ENOMEM;
        good = agree_stream_xor(stream, sealed, from, size) == STATUS_OK &&
               write_all(file, sealed, size);
        from += size;
        left -= size;
    }
    if (digest != NULL) {
        digest_stream_end(&sum, digest);
    }
    return good;
}

/* The file's name is in the folder for good as well. */
static bool sync_folder(const char *path)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = folder >= 0 && fsync(folder) == 0;
    const int problem = errno;
    if (folder >= 0) {
        (void)close(folder);
    }
    errno = problem;
    return good;
}

enum status journal_bulk_write(struct journal_sqlite *journal, struct digest *key,
                               struct digest *digest, uint64_t sequence, struct slice blob)
{
    char path[JOURNAL_PATH_BYTES];
    const struct random random = random_source_interface(journal->random);
    struct agree_stream *stream = NULL;
    int file = -1;

    enum status status = path_of(path, journal, sequence);
    if (status == STATUS_OK && random_fill(&random, key->byte, sizeof key->byte) != STATUS_OK) {
        why_set(&journal->trouble, "%s cannot be written: the system gives no randomness", path);
        status = STATUS_IO;
    }
    if (status == STATUS_OK) {
        (void)unlink(path); /* what a death left; no record has this number yet */
        status = owned_open(&file, path, O_WRONLY | O_CREAT | O_EXCL, &journal->trouble);
    }
    if (status == STATUS_OK) {
        stream = agree_stream_new(key);
        errno = ENOMEM;
        if (stream == NULL || !write_pieces(file, stream, digest, blob) || fdatasync(file) != 0 ||
            !sync_folder(journal->folder)) {
            why_file(&journal->trouble, path, "written", errno);
            (void)unlink(path);
            status = STATUS_IO;
        }
    }
    agree_stream_free(stream);
    if (file >= 0) {
        (void)close(file);
    }
    return status == STATUS_OK ? STATUS_OK : STATUS_IO;
}

static enum status read_pieces(int file, struct agree_stream *stream, uint8_t *out, uint64_t bytes)
{
    uint64_t used = 0;
    while (used < bytes) {
        const uint64_t left = bytes - used;
        const size_t size = left < JOURNAL_PIECE_BYTES ? (size_t)left : JOURNAL_PIECE_BYTES;
        const ssize_t got = read(file, out + used, size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got == 0 ? STATUS_CORRUPT : STATUS_IO;
        }
        if (agree_stream_xor(stream, out + used, out + used, (size_t)got) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
        used += (uint64_t)got;
    }
    return STATUS_OK;
}

enum status journal_bulk_read(struct journal_sqlite *journal, uint8_t *out, uint64_t sequence,
                              uint64_t bytes, const struct digest *key)
{
    char path[JOURNAL_PATH_BYTES];
    struct stat about;
    int file = -1;

    enum status status = path_of(path, journal, sequence);
    if (status == STATUS_OK) {
        status = owned_open(&file, path, O_RDONLY, &journal->trouble);
    }
    if (status != STATUS_OK) {
        return status == STATUS_INVALID ? STATUS_CORRUPT : status;
    }
    struct agree_stream *stream = agree_stream_new(key);
    if (stream == NULL) {
        status = STATUS_NO_MEMORY;
    } else if (fstat(file, &about) != 0) {
        status = STATUS_IO;
    } else if (about.st_size < 0 || (uint64_t)about.st_size != bytes) {
        status = STATUS_CORRUPT;
    } else {
        status = read_pieces(file, stream, out, bytes);
    }
    if (status == STATUS_IO) {
        why_file(&journal->trouble, path, "read", errno);
    }
    agree_stream_free(stream);
    (void)close(file);
    return status;
}

/* Calls visit for the number of each file. */
static void each_file(const char *folder, void (*visit)(void *self, const char *name, uint64_t),
                      void *self)
{
    char *names = NULL;
    size_t size = 0;
    if (folder_names(&names, &size, folder, NULL) != STATUS_OK) {
        return;
    }
    char *next = names;
    for (char *end = strchr(next, '\n'); end != NULL; end = strchr(next, '\n')) {
        char *rest = NULL;
        *end = '\0';
        if (strncmp(next, prefix, sizeof prefix - 1) == 0) {
            const uint64_t sequence = strtoull(next + sizeof prefix - 1, &rest, 10);
            if (*rest == '\0' && rest != next + sizeof prefix - 1) {
                visit(self, next, sequence);
            }
        }
        next = end + 1;
    }
    free(names);
}

static void remove_stale(void *self, const char *name, uint64_t sequence)
{
    struct journal_sqlite *journal = self;
    char path[JOURNAL_PATH_BYTES];
    if (!journal_sqlite_may_have_bulk(journal, sequence) &&
        journal_path(path, journal->folder, name, NULL) == STATUS_OK) {
        (void)unlink(path); /* one that stays says nothing: its key is gone */
    }
}

void journal_bulk_sweep(struct journal_sqlite *journal)
{
    each_file(journal->folder, remove_stale, journal);
    journal->bulk_is_stale = false;
}

struct counted {
    const char *folder;
    uint64_t bytes;
};

static void count_file(void *self, const char *name, uint64_t sequence)
{
    struct counted *counted = self;
    char path[JOURNAL_PATH_BYTES];
    struct stat about;
    (void)sequence;
    if (journal_path(path, counted->folder, name, NULL) == STATUS_OK && stat(path, &about) == 0) {
        counted->bytes += (uint64_t)about.st_size;
    }
}

uint64_t journal_bulk_bytes(const char *folder)
{
    struct counted counted = {.folder = folder};
    each_file(folder, count_file, &counted);
    return counted.bytes;
}
