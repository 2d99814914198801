#include "base/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum status owned_judge(const struct stat *about, const char *path, struct why *why)
{
    if (about->st_uid != geteuid() && about->st_uid != 0) {
        return why_refuse(
            why,
            "%s belongs to the account %lu, which could change it, and this program runs as %lu; "
            "remedy: run it as that account, or chown %lu %s",
            path, (unsigned long)about->st_uid, (unsigned long)geteuid(), (unsigned long)geteuid(),
            path);
    }
    if ((about->st_mode & 022) != 0) {
        return why_refuse(
            why,
            "%s may be changed by others (mode %03o); remedy: look who has written there, then "
            "chmod %s %s",
            path, (unsigned)(about->st_mode & 0777), S_ISDIR(about->st_mode) ? "700" : "go-w",
            path);
    }
    return STATUS_OK;
}

enum status owned_open(int *file, const char *path, int flags, struct why *why)
{
    struct stat about;
    enum status status = STATUS_OK;

    /* Without O_NONBLOCK a named pipe in the file's place would hold the program for ever. */
    *file = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (*file < 0 && errno == ELOOP) {
        return why_refuse(
            why,
            "%s is a symbolic link, and a program's own files are never reached through one; "
            "remedy: look who made it, and remove it",
            path);
    }
    if (*file < 0) {
        status = errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO;
        why_set(why, "%s cannot be opened: %s", path, strerror(errno));
        return status;
    }
    if (fstat(*file, &about) != 0) {
        status = why_fail(why, STATUS_IO, "%s cannot be opened: %s", path, strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        status = why_refuse(why, "%s is not a regular file", path);
    } else if (about.st_nlink > 1) {
        status = why_refuse(
            why,
            "%s has a second name (a hard link), by which it could be changed; remedy: look "
            "who made it, and put a copy in its place",
            path);
    } else {
        status = owned_judge(&about, path, why);
    }
    if (status != STATUS_OK) {
        (void)close(*file);
        *file = -1;
    }
    return status;
}

/* Somebody who may write a folder may put another file in the place of one in it, unless the folder is sticky: then only who
 * owns file or folder may. */
static enum status judge_place_of(const char *path, struct why *why)
{
    struct stat about;
    enum status status = STATUS_OK;
    char *copy = strdup(path);
    if (copy == NULL) {
        return STATUS_NO_MEMORY;
    }
    const char *folder = dirname(copy);
    if (stat(folder, &about) != 0) {
        status =
            why_fail(why, STATUS_IO, "the folder %s cannot be opened: %s", folder, strerror(errno));
    } else if ((about.st_mode & 022) != 0 && (about.st_mode & S_ISVTX) == 0) {
        status = why_refuse(
            why,
            "%s: others may write its folder %s (mode %03o) and so replace it; remedy: look who has "
            "written there, then chmod go-w %s",
            path, folder, (unsigned)(about.st_mode & 0777), folder);
    } else {
        about.st_mode &= ~(mode_t)022;
        status = owned_judge(&about, folder, why);
    }
    free(copy);
    return status;
}

/* The same for every way to it: where it stands, and where a link leads. */
static enum status judge_places_of(const char *path, struct why *why)
{
    char *whole = realpath(path, NULL);
    if (whole == NULL) {
        why_set(why, "%s cannot be opened: %s", path, strerror(errno));
        return errno == ENOMEM ? STATUS_NO_MEMORY : STATUS_IO;
    }
    enum status status = judge_place_of(path, why);
    if (status == STATUS_OK) {
        status = judge_place_of(whole, why);
    }
    free(whole);
    return status;
}

enum status owned_folder(struct stat *about, const char *path, struct why *why)
{
    if (stat(path, about) != 0) {
        enum status status = errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO;
        why_set(why, "the folder %s cannot be opened: %s", path, strerror(errno));
        return status;
    }
    if (!S_ISDIR(about->st_mode)) {
        return why_refuse(why, "%s is not a folder", path);
    }
    enum status status = owned_judge(about, path, why);
    return status == STATUS_OK ? judge_places_of(path, why) : status;
}

enum status owned_source(const char *path, struct why *why)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        return STATUS_OK;
    }
    if (S_ISFIFO(about.st_mode) && strncmp(path, "/dev/", 5) != 0 &&
        strncmp(path, "/proc/", 6) != 0) {
        return why_refuse(why, "%s is a named pipe, on which a program could wait for ever", path);
    }
    if (!S_ISREG(about.st_mode)) {
        return STATUS_OK;
    }
    enum status status = owned_judge(&about, path, why);
    return status == STATUS_OK ? judge_places_of(path, why) : status;
}
