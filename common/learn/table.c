/* Unpacks by zlib's inflate. The stream hands out what could be unpacked before it tells of damage, and
 * zlib's memory comes from one fixed block: it can be wiped, and no record changes its size. */

#include "learn/table.h"

#include "base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <zlib.h>

enum {
    INPUT_BYTES = 64 * 1024,
    STATE_BYTES = 96 * 1024, /* for inflate's state and its window of 32 KiB */
    GZIP_WINDOW = 15 + 16    /* the largest window; a gzip header must come first */
};

#define PIPE_FILES 0x50495045 /* where pipes without a name are: PIPEFS_MAGIC of statfs(2) */

struct unpacking {
    FILE *packed; /* owned */
    z_stream stream;
    bool is_between; /* the next byte begins a member, or is padding */
    int error;       /* 0, or the errno with which reading ends */
    size_t state_size;
    unsigned char input[INPUT_BYTES];
    _Alignas(max_align_t) unsigned char state[STATE_BYTES];
};

_Static_assert(sizeof(struct unpacking) <= TABLE_UNPACK_BYTES, "plans count all that it takes");

static voidpf state_take(voidpf self, uInt count, uInt size)
{
    struct unpacking *unpacking = self;
    const size_t align = _Alignof(max_align_t);
    const size_t wanted = ((size_t)count * size + align - 1) / align * align;
    if (wanted > STATE_BYTES - unpacking->state_size) {
        return Z_NULL;
    }
    unsigned char *taken = unpacking->state + unpacking->state_size;
    unpacking->state_size += wanted;
    return taken;
}

static void state_leave(UNUSED voidpf self, UNUSED voidpf taken)
{
}

/* Reads more packed bytes. Returns whether there are some. */
static bool refill(struct unpacking *unpacking)
{
    z_stream *stream = &unpacking->stream;
    if (stream->avail_in > 0) {
        return true;
    }
    errno = 0;
    stream->next_in = unpacking->input;
    stream->avail_in = (uInt)fread(unpacking->input, 1, INPUT_BYTES, unpacking->packed);
    if (stream->avail_in == 0 && ferror(unpacking->packed) != 0) {
        unpacking->error = errno == 0 ? EIO : errno;
    } else if (stream->avail_in == 0 && !unpacking->is_between) {
        unpacking->error = ENODATA;
    }
    return stream->avail_in > 0;
}

/* Between two members, and after the last, zeros may stand: tapes are padded. */
static bool find_member(struct unpacking *unpacking)
{
    z_stream *stream = &unpacking->stream;
    while (unpacking->is_between && refill(unpacking)) {
        if (*stream->next_in != 0) {
            unpacking->is_between = false;
        } else {
            stream->next_in++;
            stream->avail_in--;
        }
    }
    return !unpacking->is_between && unpacking->error == 0;
}

static void unpack_some(struct unpacking *unpacking)
{
    z_stream *stream = &unpacking->stream;
    if (!find_member(unpacking) || !refill(unpacking)) {
        return;
    }
    const int code = inflate(stream, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
        unpacking->is_between = true;
        unpacking->error = inflateReset(stream) == Z_OK ? 0 : EBADMSG;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
        unpacking->error = code == Z_MEM_ERROR ? ENOMEM : EBADMSG;
    }
}

static ssize_t unpack(void *self, char *out, size_t size)
{
    struct unpacking *unpacking = self;
    z_stream *stream = &unpacking->stream;
    const uInt room = (uInt)(size < (1U << 30) ? size : 1U << 30);
    bool is_over = false;
    stream->next_out = (unsigned char *)out;
    stream->avail_out = room;
    while (stream->avail_out > 0 && unpacking->error == 0 && !is_over) {
        unpack_some(unpacking);
        is_over = unpacking->is_between && stream->avail_in == 0 && feof(unpacking->packed) != 0;
    }
    if (stream->avail_out == room && unpacking->error != 0) {
        errno = unpacking->error == ENODATA ? EBADMSG : unpacking->error;
        return -1;
    }
    return (ssize_t)(room - stream->avail_out);
}

static int unpack_close(void *self)
{
    struct unpacking *unpacking = self;
    const int result = fclose(unpacking->packed);
    (void)inflateEnd(&unpacking->stream);
    bytes_free(unpacking, sizeof *unpacking);
    return result;
}

/* Unpacks everything once, and goes back to the start. */
static enum status unpack_all(struct unpacking *unpacking, const char *path, struct why *why)
{
    char out[16 * 1024];
    ssize_t count = 1;
    while (count > 0) {
        count = unpack(unpacking, out, sizeof out);
    }
    bytes_wipe(out, sizeof out);
    switch (unpacking->error) {
    case 0:
        break;
    case ENODATA:
        return why_refuse(
            why, "%s: the gzip data end too early: the file was not written or copied whole", path);
    case EBADMSG:
        return why_refuse(why, "%s: the gzip data are damaged: make or copy the file again", path);
    case ENOMEM:
        return STATUS_NO_MEMORY;
    default:
        why_set(why, "%s: reading failed: %s", path, strerror(unpacking->error));
        return STATUS_IO;
    }
    if (fseek(unpacking->packed, 0, SEEK_SET) != 0) {
        why_set(why, "%s: a packed table must be a file, not a pipe: unpack it with gunzip", path);
        return STATUS_IO;
    }
    unpacking->stream.avail_in = 0;
    unpacking->is_between = false;
    return inflateReset(&unpacking->stream) == Z_OK ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Puts a stream that unpacks in the file's place. */
static enum status unpack_start(FILE **file, const char *path, struct why *why)
{
    const cookie_io_functions_t calls = {.read = unpack, .close = unpack_close};
    struct unpacking *unpacking = calloc(1, sizeof *unpacking);
    enum status status = STATUS_NO_MEMORY;
    FILE *unpacked = NULL;
    if (unpacking == NULL) {
        return STATUS_NO_MEMORY;
    }
    unpacking->packed = *file;
    unpacking->stream = (z_stream){.zalloc = state_take, .zfree = state_leave, .opaque = unpacking};
    if (inflateInit2(&unpacking->stream, GZIP_WINDOW) == Z_OK) {
        status = unpack_all(unpacking, path, why);
    }
    if (status == STATUS_OK) {
        unpacked = fopencookie(unpacking, "r", calls);
        status = unpacked == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    if (unpacked == NULL) {
        (void)unpack_close(unpacking);
    } else {
        (void)setvbuf(unpacked, NULL, _IONBF, 0);
    }
    *file = unpacked;
    return status;
}

/* A pipe has no place to look at, and is read as it is. */
static bool is_packed(FILE *file)
{
    unsigned char magic[2] = {0};
    return pread(fileno(file), magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           magic[0] == 0x1f && magic[1] == 0x8b;
}

/* Opening a named pipe waits for its writer, and opening some devices for a line: nothing waits here. */
static FILE *open_now(const char *path)
{
    const int number = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    FILE *file = number >= 0 ? fdopen(number, "rb") : NULL;
    if (file == NULL && number >= 0) {
        (void)close(number);
    }
    return file;
}

/* Returns what keeps this from being read as a table; NULL where nothing does. */
static const char *what_is_wrong(mode_t mode, bool once)
{
    if (S_ISREG(mode) || (once && S_ISFIFO(mode))) {
        return NULL;
    }
    return S_ISDIR(mode)    ? "is a folder, not a table"
           : S_ISFIFO(mode) ? "is a pipe, which may never be written or is read only once: write "
                              "the records to a file, and name that file"
                            : "is a device, not a file: write the records to a file, and name "
                              "that file";
}

static enum status judge_kind(FILE *file, const char *path, bool once, struct why *why)
{
    struct stat about;
    struct statfs place;
    if (fstat(fileno(file), &about) != 0 || fstatfs(fileno(file), &place) != 0 ||
        fcntl(fileno(file), F_SETFL, 0) != 0) {
        why_set(why, "%s: cannot be opened: %s", path, strerror(errno));
        return STATUS_IO;
    }
    /* A pipe with a name has no writer, or one that may never write: only one that was made for this program is read. */
    const bool is_unnamed = place.f_type == PIPE_FILES;
    const char *wrong = what_is_wrong(about.st_mode, once && is_unnamed);
    return wrong == NULL ? STATUS_OK : why_refuse(why, "%s: %s", path, wrong);
}

static enum status open_table(FILE **file, const char *path, bool once, struct why *why)
{
    *file = open_now(path);
    if (*file == NULL) {
        why_set(why, "%s: cannot be opened: %s", path, strerror(errno));
        return STATUS_IO;
    }
    (void)setvbuf(*file, NULL, _IONBF, 0);
    const enum status status = judge_kind(*file, path, once, why);
    if (status != STATUS_OK) {
        (void)fclose(*file);
        *file = NULL;
        return status;
    }
    return is_packed(*file) ? unpack_start(file, path, why) : STATUS_OK;
}

enum status table_open(FILE **file, const char *path, struct why *why)
{
    return open_table(file, path, false, why);
}

enum status table_open_once(FILE **file, const char *path, struct why *why)
{
    return open_table(file, path, true, why);
}

bool table_is_packed(const char *path)
{
    FILE *file = open_now(path);
    const bool packed = file != NULL && is_packed(file);
    if (file != NULL) {
        (void)fclose(file);
    }
    return packed;
}
