#include "report/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static enum status read_all(char **text, size_t *size, int file, size_t bytes_max)
{
    size_t room = 64 * 1024;
    char *buffer = malloc(room);
    size_t used = 0;

    while (buffer != NULL) {
        ssize_t got = read(file, buffer + used, room - used - 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            free(buffer);
            return STATUS_IO;
        }
        if (got == 0) {
            buffer[used] = '\0';
            *text = buffer;
            *size = used;
            return STATUS_OK;
        }
        used += (size_t)got;
        if (used > bytes_max) {
            free(buffer);
            return STATUS_INVALID;
        }
        if (room - used < 2) {
            char *larger = realloc(buffer, room * 2);
            if (larger == NULL) {
                free(buffer);
            }
            buffer = larger;
            room *= 2;
        }
    }
    return STATUS_NO_MEMORY;
}

enum status file_read(char **text, size_t *size, const char *path, size_t bytes_max,
                      struct why *why)
{
    enum status status = STATUS_OK;
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    *text = NULL;
    *size = 0;
    if (file < 0) {
        status = errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO;
        why_set(why, "%s: cannot be opened: %s", path, strerror(errno));
        return status;
    }
    if (fstat(file, &info) == 0 && S_ISDIR(info.st_mode)) {
        why_set(why, "%s: is a folder, not a file", path);
        status = STATUS_INVALID;
        goto done;
    }
    status = read_all(text, size, file, bytes_max);
    if (status == STATUS_INVALID) {
        why_set(why, "%s: larger than %zu bytes", path, bytes_max);
    } else if (status != STATUS_OK) {
        why_set(why, "%s: cannot be read: %s", path, status_text(status));
    }
done:
    (void)close(file);
    return status;
}

static bool write_all(int file, struct slice bytes)
{
    const char *next = bytes.data;
    size_t left = bytes.size;
    while (left > 0) {
        ssize_t put = write(file, next, left);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        next += put;
        left -= (size_t)put;
    }
    return true;
}

/* The rename itself must reach the disk, which syncing its folder does. */
static void sync_folder_of(const char *path)
{
    char folder[PATH_BYTES];
    (void)snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        (void)snprintf(folder, sizeof folder, ".");
    } else {
        slash[slash == folder ? 1 : 0] = '\0';
    }
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        (void)fsync(file);
        (void)close(file);
    }
}

enum status file_write(const char *path, struct slice bytes, unsigned mode, struct why *why)
{
    char temporary[PATH_BYTES];
    int file = -1;
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary) {
        why_set(why, "a path is longer than %d bytes", PATH_BYTES);
        return STATUS_IO;
    }
    file = mkstemp(temporary);
    if (file < 0) {
        why_file(why, path, "written", errno);
        return STATUS_IO;
    }
    bool good = fchmod(file, (mode_t)mode) == 0 && write_all(file, bytes) && fsync(file) == 0;
    int problem = errno;
    if (close(file) != 0 && good) {
        good = false;
        problem = errno;
    }
    if (good && rename(temporary, path) != 0) {
        good = false;
        problem = errno;
    }
    if (!good) {
        (void)unlink(temporary);
        why_file(why, path, "written", problem);
        return STATUS_IO;
    }
    sync_folder_of(path);
    return STATUS_OK;
}
