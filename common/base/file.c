#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, ROOM_BYTES = 64 * 1024 };

/* Reads on until size bytes are used or the file ends. */
static enum status fill(char *text, size_t size, size_t *used, int file)
{
    while (*used < size) {
        const ssize_t got = read(file, text + *used, size - *used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return STATUS_IO;
        }
        if (got == 0) {
            break;
        }
        *used += (size_t)got;
    }
    return STATUS_OK;
}

static enum status read_all(char **text, size_t *size, int file, size_t bytes_max)
{
    char *buffer = NULL;
    size_t used = 0;
    for (size_t room = ROOM_BYTES;; room *= 2) {
        char *larger = realloc(buffer, room);
        enum status status = STATUS_NO_MEMORY;
        if (larger != NULL) {
            buffer = larger;
            status = fill(buffer, room - 1, &used, file);
        }
        if (status == STATUS_OK && used > bytes_max) {
            status = STATUS_INVALID;
        }
        if (status != STATUS_OK) {
            free(buffer);
            return status;
        }
        if (used < room - 1) {
            buffer[used] = '\0';
            *text = buffer;
            *size = used;
            return STATUS_OK;
        }
    }
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
        status = why_refuse(why, "%s: is a folder, not a file", path);
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

static enum status read_text(char *text, size_t size, size_t *used, int file, const char *path,
                             struct why *why)
{
    if (fill(text, size, used, file) != STATUS_OK) {
        return why_fail(why, STATUS_IO, "%s cannot be read: %s", path, strerror(errno));
    }
    if (*used == size) {
        return why_refuse(why, "%s is larger than the %zu bytes such a file may have", path,
                          size - 1);
    }
    text[*used] = '\0';
    if (strlen(text) != *used) {
        return why_refuse(why, "%s is not a text file: it holds a zero byte", path);
    }
    return STATUS_OK;
}

enum status file_read_text(char *text, size_t size, size_t *used, const char *path,
                           enum file_kind kind, struct why *why)
{
    enum status status = STATUS_OK;
    struct stat about;

    text[0] = '\0';
    *used = 0;
    /* Without O_NONBLOCK a named pipe in the file's place would hold the program for ever. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        status = errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO;
        why_set(why, "%s cannot be opened: %s", path, strerror(errno));
        return status;
    }
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        status = why_refuse(why, "%s is not a regular file", path);
    } else if (kind == FILE_SECRET && (about.st_mode & 077) != 0) {
        status = why_refuse(
            why,
            "%s must hold a secret, and others than its owner may read it; remedy: chmod 600 "
            "%s, if it is the right file",
            path, path);
    } else {
        status = read_text(text, size, used, file, path, why);
    }
    (void)close(file);
    if (status != STATUS_OK) {
        bytes_wipe(text, size);
        *used = 0;
    }
    return status;
}

/* A new name is only durable when its folder is. */
static bool sync_folder_of(const char *path)
{
    char folder[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        (void)snprintf(folder, sizeof folder, ".");
    } else {
        (void)snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path),
                       path);
    }
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = file >= 0 && fsync(file) == 0;
    const int problem = errno;
    if (file >= 0) {
        (void)close(file);
    }
    errno = problem;
    return good;
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

/* Takes file. The process's umask may be narrower than mode. Returns an errno, 0 when all is on disk. */
static int put(int file, struct slice bytes, mode_t mode)
{
    int problem = fchmod(file, mode) == 0 && write_all(file, bytes) && fsync(file) == 0 ? 0 : errno;
    if (close(file) != 0 && problem == 0) {
        problem = errno;
    }
    return problem;
}

enum status file_create(const char *path, struct slice text, enum file_kind kind, struct why *why)
{
    mode_t mode = kind == FILE_SECRET ? 0600 : 0644;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0) {
        if (errno == EEXIST) {
            return why_fail(why, STATUS_EXISTS,
                            "%s exists already; choose another name, or move the file", path);
        }
        why_file(why, path, "made", errno);
        return STATUS_IO;
    }
    int problem = put(file, text, mode);
    if (problem == 0 && !sync_folder_of(path)) {
        problem = errno;
    }
    if (problem != 0) {
        why_file(why, path, "written", problem);
        (void)unlink(path);
        return STATUS_IO;
    }
    return STATUS_OK;
}

/* owner: NULL, the account that runs. */
static enum status replace(const char *path, struct slice bytes, mode_t mode,
                           const struct stat *owner, struct why *why)
{
    char fresh[PATH_BYTES];
    if (snprintf(fresh, sizeof fresh, "%s.XXXXXX", path) >= (int)sizeof fresh) {
        return why_fail(why, STATUS_IO, "a path is longer than %d bytes", PATH_BYTES);
    }
    int file = mkstemp(fresh);
    if (file < 0) {
        why_file(why, path, "written", errno);
        return STATUS_IO;
    }
    int problem = owner == NULL || fchown(file, owner->st_uid, owner->st_gid) == 0 ? 0 : errno;
    const int put_problem = put(file, bytes, mode);
    problem = problem == 0 ? put_problem : problem;
    if (problem == 0 && rename(fresh, path) != 0) {
        problem = errno;
    }
    if (problem != 0) {
        (void)unlink(fresh);
        why_file(why, path, "written", problem);
        return STATUS_IO;
    }
    return STATUS_OK;
}

/* A rename would put a file in the place of /dev/null, or of the link /dev/stdout. */
static enum status may_replace(const char *path, struct stat *about, bool *had, struct why *why)
{
    *had = lstat(path, about) == 0;
    if (*had && !S_ISREG(about->st_mode)) {
        return why_refuse(why, "%s is %s; remedy: name the file itself", path,
                          S_ISLNK(about->st_mode) ? "a symbolic link, which is never replaced"
                                                  : "not a regular file");
    }
    return STATUS_OK;
}

enum status file_write(const char *path, struct slice bytes, unsigned mode, struct why *why)
{
    struct stat about;
    bool had = false;
    if (may_replace(path, &about, &had, why) != STATUS_OK) {
        return STATUS_IO;
    }
    enum status status = replace(path, bytes, (mode_t)mode, NULL, why);
    if (status == STATUS_OK && !sync_folder_of(path)) {
        why_file(why, path, "written", errno);
        status = STATUS_IO;
    }
    return status;
}

enum status file_replace(const char *path, struct slice text, struct why *why)
{
    struct stat about;
    bool had = false;
    enum status status = may_replace(path, &about, &had, why);
    if (status != STATUS_OK) {
        return status;
    }
    /* root may edit what the service's own account must go on reading. */
    status = replace(path, text, had ? about.st_mode & 0777 : 0600,
                     had && geteuid() == 0 ? &about : NULL, why);
    if (status == STATUS_OK && !sync_folder_of(path)) {
        why_file(why, path, "replaced", errno);
        status = STATUS_IO;
    }
    return status;
}

char *file_line(char **rest)
{
    char *line = *rest;
    if (*line == '\0') {
        return NULL;
    }
    size_t size = strcspn(line, "\n");
    *rest = line + size + (line[size] == '\n' ? 1 : 0);
    while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\r')) {
        size--;
    }
    line[size] = '\0';
    return line;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strchr(entry->d_name, '\n') == NULL;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

enum status file_names(char **text, size_t *size, const char *path, struct why *why)
{
    struct dirent **entry = NULL;
    size_t used = 0;
    *text = NULL;
    *size = 0;
    const int count = scandir(path, &entry, is_shown, by_bytes);
    if (count < 0) {
        const enum status status = errno == ENOENT   ? STATUS_NOT_FOUND
                                   : errno == ENOMEM ? STATUS_NO_MEMORY
                                                     : STATUS_IO;
        why_file(why, path, "read", errno);
        return status;
    }
    for (int i = 0; i < count; i++) {
        used += strlen(entry[i]->d_name) + 1;
    }
    *text = malloc(used + 1);
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(entry[i]->d_name);
        if (*text != NULL) {
            memcpy(*text + *size, entry[i]->d_name, length);
            (*text)[*size + length] = '\n';
            *size += length + 1;
        }
        free(entry[i]);
    }
    free(entry);
    if (*text == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "%s: no memory for the names in it", path);
    }
    (*text)[*size] = '\0';
    return STATUS_OK;
}
