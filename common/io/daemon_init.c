#include "io/daemon.h"

#include "base/exit_code.h"
#include "crypto/small_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

static enum status path_of(char path[static PATH_BYTES], const char *folder, const char *name,
                           struct why *why)
{
    const int size = snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    if (size < 0 || size >= PATH_BYTES) {
        return why_refuse(why, "%s: the path is too long", folder);
    }
    return STATUS_OK;
}

/* Half a set of files would look like a whole one. */
static enum status check_free(const char *folder, const struct daemon_file *file, size_t count,
                              struct why *why)
{
    char path[PATH_BYTES];
    struct stat about;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = path_of(path, folder, file[i].name, why);
        if (status == STATUS_OK && lstat(path, &about) == 0) {
            why_set(why, "%s exists, and is never replaced; remedy: another folder, or move it",
                    path);
            status = STATUS_EXISTS;
        }
    }
    return status;
}

static enum status write_files(const char *folder, const struct daemon_file *file, size_t count,
                               struct why *why)
{
    char path[PATH_BYTES];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = file[i].text == NULL ? STATUS_NO_MEMORY : path_of(path, folder, file[i].name, why);
        if (status == STATUS_OK) {
            status = small_file_create(path, (struct slice){file[i].text, strlen(file[i].text)},
                                       SMALL_FILE_PUBLIC, why);
        }
        if (status == STATUS_OK) {
            (void)printf("wrote %s\n", path);
        }
    }
    return status;
}

int daemon_init(const char *program, const char *folder, struct daemon_file *file, size_t count,
                const char *next)
{
    struct why why = {""};
    enum status status = STATUS_OK;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        why_set(&why, "the folder %s cannot be made: %s", folder, strerror(errno));
        status = STATUS_IO;
    }
    if (status == STATUS_OK) {
        status = check_free(folder, file, count, &why);
    }
    if (status == STATUS_OK) {
        status = write_files(folder, file, count, &why);
    }
    for (size_t i = 0; i < count; i++) {
        free(file[i].text);
    }
    if (status != STATUS_OK) {
        return daemon_complain(program, status, &why);
    }
    (void)fputs(next, stdout);
    return EXIT_CODE_OK;
}
