#include "crypto/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static enum status read_all(char *text, size_t size, size_t *used, int file, const char *path,
                            struct why *why)
{
    size_t have = 0;
    while (have < size) {
        ssize_t got = read(file, text + have, size - have);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            why_set(why, "%s cannot be read: %s", path, strerror(errno));
            return STATUS_IO;
        }
        if (got == 0) {
            break;
        }
        have += (size_t)got;
    }
    if (have == size) {
        why_set(why, "%s is larger than the %zu bytes such a file may have", path, size - 1);
        return STATUS_INVALID;
    }
    text[have] = '\0';
    if (strlen(text) != have) {
        why_set(why, "%s is not a text file: it holds a zero byte", path);
        return STATUS_INVALID;
    }
    *used = have;
    return STATUS_OK;
}

enum status small_file_read(char *text, size_t size, size_t *used, const char *path,
                            enum small_file_kind kind, struct why *why)
{
    enum status status = STATUS_OK;
    struct stat about;

    text[0] = '\0';
    *used = 0;
    /* Without O_NONBLOCK a named pipe in the file's place would hold the program for ever. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        why_set(why, "%s cannot be opened: %s", path, strerror(errno));
        return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO;
    }
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        why_set(why, "%s is not a regular file", path);
        status = STATUS_INVALID;
    } else if (kind == SMALL_FILE_SECRET && (about.st_mode & 077) != 0) {
        why_set(why,
                "%s must hold a secret, and others than its owner may read it; remedy: chmod 600 "
                "%s, if it is the right file",
                path, path);
        status = STATUS_INVALID;
    } else {
        status = read_all(text, size, used, file, path, why);
    }
    (void)close(file);
    if (status != STATUS_OK) {
        bytes_wipe(text, size);
        *used = 0;
    }
    return status;
}

/* A new name is only durable when its folder is. */
static int sync_folder_of(const char *path)
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
    if (file < 0) {
        return -1;
    }
    int result = fsync(file);
    (void)close(file);
    return result;
}

static int write_all(int file, struct slice text)
{
    const char *from = text.data;
    size_t left = text.size;
    while (left > 0) {
        ssize_t put = write(file, from, left);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return -1;
        }
        from += put;
        left -= (size_t)put;
    }
    return fsync(file);
}

enum status small_file_create(const char *path, struct slice text, enum small_file_kind kind,
                              struct why *why)
{
    mode_t mode = kind == SMALL_FILE_SECRET ? 0600 : 0644;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0) {
        if (errno == EEXIST) {
            why_set(why, "%s exists, and is never replaced; remedy: another name, or move it",
                    path);
            return STATUS_EXISTS;
        }
        why_file(why, path, "made", errno);
        return STATUS_IO;
    }
    /* The process's umask may be narrower than what a public file is for. */
    bool failed = fchmod(file, mode) != 0 || write_all(file, text) != 0;
    int cause = errno;
    failed = (close(file) != 0) || failed;
    if (failed || sync_folder_of(path) != 0) {
        why_file(why, path, "written", failed ? cause : errno);
        (void)unlink(path);
        return STATUS_IO;
    }
    return STATUS_OK;
}

enum status small_file_replace(const char *path, struct slice text, struct why *why)
{
    char fresh[PATH_BYTES];
    struct stat about;
    mode_t mode = 0600;

    if ((size_t)snprintf(fresh, sizeof fresh, "%s.new.%ld", path, (long)getpid()) >= sizeof fresh) {
        why_set(why, "%s: the path is too long", path);
        return STATUS_IO;
    }
    bool had = lstat(path, &about) == 0;
    if (had && !S_ISREG(about.st_mode)) {
        why_set(why, "%s is %s; remedy: name the file itself", path,
                S_ISLNK(about.st_mode) ? "a symbolic link, which is never replaced"
                                       : "not a regular file");
        return STATUS_INVALID;
    }
    if (had) {
        mode = about.st_mode & 0777;
    }
    (void)unlink(fresh);
    int file = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        why_file(why, fresh, "made", errno);
        return STATUS_IO;
    }
    /* root may edit what the service's own account must go on reading. */
    bool failed = had && geteuid() == 0 && fchown(file, about.st_uid, about.st_gid) != 0;
    failed = failed || fchmod(file, mode) != 0 || write_all(file, text) != 0;
    int cause = errno;
    failed = (close(file) != 0) || failed;
    if (!failed && rename(fresh, path) != 0) {
        cause = errno;
        failed = true;
    }
    if (failed || sync_folder_of(path) != 0) {
        why_file(why, path, "replaced", failed ? cause : errno);
        (void)unlink(fresh);
        return STATUS_IO;
    }
    return STATUS_OK;
}

char *small_file_line(char **rest)
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
