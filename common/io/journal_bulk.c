/* Large blobs: files of their own beside the database, one each, named `bulk-` and the record's number.
 *
 * A file is written once, sealed by AES-256 in counter mode under a key of its own, and is on the disk before the commit
 * that makes its record. That commit has the key, in a row as small as any. So a blob goes with its key: forgetting drops
 * the row and wiping overwrites it, and what the file has says nothing more, wherever copies of its blocks may be. The
 * record's digest, which the chain has, tells whether the bytes are whole.
 *
 * A death leaves at most files that no row knows. They are removed after the next durable record, and so are those that
 * were forgotten. Where one large blob takes the place of another, the file of the one before stays a record longer, and
 * the next blob is written over it: a file that grows takes the disk twice as long.
 *
 * Writes go past the kernel's cache of files where the file system lets them (O_DIRECT): nothing is copied, and a file's end
 * has no pages to drop. That takes a third of the processor's time. */

#define _GNU_SOURCE /* O_DIRECT */

#include "io/journal_private.h"

#include "base/file.h"
#include "base/owned.h"
#include "crypto/agree.h"
#include "crypto/digest.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What goes past the cache lies at a multiple of a block, and is one. Each write waits for the disk: it has to be large. */
enum { BLOCK_BYTES = 4096, WRITE_BYTES = 1024 * 1024 };
static_assert(WRITE_BYTES % JOURNAL_PIECE_BYTES == 0, "a write has whole pieces");

static const char prefix[] = "bulk-";

static enum status path_of(char path[JOURNAL_PATH_BYTES], struct journal_sqlite *journal,
                           uint64_t sequence)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%s%" PRIu64, prefix, sequence);
    return journal_path(path, journal->folder, name, &journal->trouble);
}

static void write_past_cache(int file)
{
    const int flags = fcntl(file, F_GETFL);
    (void)!(flags >= 0 && fcntl(file, F_SETFL, flags | O_DIRECT) == 0);
}

/* Returns whether that is new. */
static bool write_to_cache(int file)
{
    const int flags = fcntl(file, F_GETFL);
    return flags >= 0 && (flags & O_DIRECT) != 0 && fcntl(file, F_SETFL, flags & ~O_DIRECT) == 0;
}

static bool write_all(int file, const uint8_t *from, size_t size)
{
    while (size > 0) {
        const ssize_t wrote = write(file, from, size);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote < 0 && (errno == EINVAL || errno == EOPNOTSUPP) && write_to_cache(file)) {
            continue; /* larger blocks, a write that ended within one, or a file system that took the flag alone */
        }
        if (wrote <= 0) {
            return false;
        }
        from += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

/* Its blocks, and then what the file's end leaves. */
static bool write_blocks(int file, const uint8_t *from, size_t size)
{
    const size_t rest = size % BLOCK_BYTES;
    if (!write_all(file, from, size - rest)) {
        return false;
    }
    if (rest > 0) {
        (void)write_to_cache(file);
    }
    return write_all(file, from + (size - rest), rest);
}

/* Each piece is sealed while it is in the processor's cache. */
static bool write_pieces(int file, struct agree_stream *stream, struct slice blob)
{
    uint8_t *sealed = aligned_alloc(BLOCK_BYTES, WRITE_BYTES);
    const uint8_t *from = blob.data;
    size_t left = blob.size;
    size_t used = 0;
    bool good = sealed != NULL;

    while (good && left > 0) {
        const size_t size = left < JOURNAL_PIECE_BYTES ? left : JOURNAL_PIECE_BYTES;
        errno = ENOMEM;
        good = agree_stream_xor(stream, sealed + used, from, size) == STATUS_OK;
        from += size;
        left -= size;
        used += size;
        if (good && (used == WRITE_BYTES || left == 0)) {
            good = write_blocks(file, sealed, used);
            used = 0;
        }
    }
    free(sealed);
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

void journal_bulk_drop_spare(struct journal_sqlite *journal)
{
    char path[JOURNAL_PATH_BYTES];
    if (journal->bulk_spare != 0 && path_of(path, journal, journal->bulk_spare) == STATUS_OK) {
        (void)unlink(path);
    }
    journal->bulk_spare = 0;
}

/* Opens the spare file under another name. A reader still sees by its name that it is over (journal_bulk_read). One that
 * has a second name is a backup's too, and is not written to; it is judged under the new name, which nobody knows yet. */
static bool open_spare(int *file, struct journal_sqlite *journal, const char *path)
{
    char spare[JOURNAL_PATH_BYTES];
    return journal->bulk_spare != 0 && path_of(spare, journal, journal->bulk_spare) == STATUS_OK &&
           rename(spare, path) == 0 && owned_open(file, path, O_WRONLY, NULL) == STATUS_OK;
}

/* Opens the file of a new record: the spare one, or one that is new. */
static enum status open_new(int *file, struct journal_sqlite *journal, const char *path)
{
    if (open_spare(file, journal, path)) {
        journal->bulk_spare = 0;
        return STATUS_OK;
    }
    journal_bulk_drop_spare(journal);
    /* What a death left, or a spare one that is not to be written to; no record has this number yet. */
    (void)remove(path);
    return owned_open(file, path, O_WRONLY | O_CREAT | O_EXCL, &journal->trouble);
}

/* A spare file may have been longer. */
static bool cut_to(int file, size_t size)
{
    struct stat about;
    return fstat(file, &about) == 0 &&
           ((uint64_t)about.st_size == size || ftruncate(file, (off_t)size) == 0);
}

/* A blob's digest in the making. The disk is waited for several times, and the digest takes about as long. */
struct digesting {
    struct slice blob;
    struct digest *out; /* NULL: nobody wants it */
    pthread_t thread;
    bool beside;
};

static void *make_digest(void *self)
{
    const struct digesting *digesting = self;
    digest_tree(digesting->out, digesting->blob);
    return NULL;
}

static void begin_digest(struct digesting *digesting)
{
    digesting->beside = digesting->out != NULL &&
                        pthread_create(&digesting->thread, NULL, make_digest, digesting) == 0;
}

static void end_digest(struct digesting *digesting)
{
    if (digesting->beside) {
        (void)pthread_join(digesting->thread, NULL);
    } else if (digesting->out != NULL) {
        (void)make_digest(digesting); /* no thread was to be had */
    }
}

static enum status write_file(struct journal_sqlite *journal, struct digest *key, uint64_t sequence,
                              struct slice blob)
{
    char path[JOURNAL_PATH_BYTES];
    const struct random random = random_source_interface(journal->random);
    struct agree_stream *stream = NULL;
    int file = -1;

    enum status status = path_of(path, journal, sequence);
    if (status == STATUS_OK && random_fill(&random, key->byte, sizeof key->byte) != STATUS_OK) {
        status = why_fail(&journal->trouble, STATUS_IO,
                          "%s cannot be written: the system gives no randomness", path);
    }
    if (status == STATUS_OK) {
        status = open_new(&file, journal, path);
    }
    if (status == STATUS_OK) {
        stream = agree_stream_new(key);
        write_past_cache(file);
        errno = ENOMEM;
        if (stream == NULL || !write_pieces(file, stream, blob) || !cut_to(file, blob.size) ||
            fdatasync(file) != 0 || !sync_folder(journal->folder)) {
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

enum status journal_bulk_write(struct journal_sqlite *journal, struct digest *key,
                               struct digest *digest, uint64_t sequence, struct slice blob)
{
    struct digesting digesting = {.blob = blob, .out = digest};
    begin_digest(&digesting);
    const enum status status = write_file(journal, key, sequence, blob);
    end_digest(&digesting);
    return status;
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

/* Returns whether the name is still that of a file: the name goes before the bytes do. */
static bool is_still(const char *path, const struct stat *about)
{
    struct stat now;
    return stat(path, &now) == 0 && now.st_ino == about->st_ino;
}

enum status journal_bulk_read(struct journal_sqlite *journal, uint8_t *out, uint64_t sequence,
                              uint64_t bytes, const struct digest *key)
{
    char path[JOURNAL_PATH_BYTES];
    struct stat about = {0};
    int file = -1;

    enum status status = path_of(path, journal, sequence);
    if (status == STATUS_OK) {
        status = owned_open(&file, path, O_RDONLY, &journal->trouble);
    }
    if (status != STATUS_OK) {
        return status == STATUS_INVALID ? STATUS_CORRUPT : status;
    }
    struct agree_stream *stream = agree_stream_new(key);
    if (fstat(file, &about) != 0) {
        status = STATUS_IO;
    } else if (stream == NULL) {
        status = STATUS_NO_MEMORY;
    } else if (about.st_size < 0 || (uint64_t)about.st_size != bytes) {
        status = STATUS_CORRUPT;
    } else {
        status = read_pieces(file, stream, out, bytes);
    }
    if (status == STATUS_IO) {
        why_file(&journal->trouble, path, "read", errno);
    }
    if (!is_still(path, &about)) {
        status = STATUS_NOT_FOUND; /* what was read may be another blob's */
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
    if (file_names(&names, &size, folder, NULL) != STATUS_OK) {
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
    if (sequence != journal->bulk_spare && !journal_sqlite_may_have_bulk(journal, sequence) &&
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
