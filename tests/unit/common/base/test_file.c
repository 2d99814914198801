#include "base/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void scratch(char folder[static 64])
{
    (void)snprintf(folder, 64, "/tmp/hedgerow-file-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
}

static size_t entries(const char *folder)
{
    size_t count = 0;
    DIR *open_folder = opendir(folder);
    cr_assert(open_folder != NULL);
    while (readdir(open_folder) != NULL) {
        count++;
    }
    (void)closedir(open_folder);
    return count - 2;
}

Test(file, is_replaced_whole_and_leaves_nothing_beside_it)
{
    char folder[64];
    char path[128];
    char *text = NULL;
    size_t size = 0;
    struct stat info;
    struct why why = {""};
    scratch(folder);
    (void)snprintf(path, sizeof path, "%s/result.json", folder);
    cr_assert(file_write(path, (struct slice){"first, and longer", 17}, 0644, &why) == STATUS_OK);
    cr_assert(file_write(path, (struct slice){"second", 6}, 0600, &why) == STATUS_OK);
    cr_assert(file_read(&text, &size, path, 6, &why) == STATUS_OK, "%s", why.text);
    cr_assert(size == 6 && strcmp(text, "second") == 0);
    cr_assert(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    cr_assert(entries(folder) == 1);
    free(text);
    cr_assert(file_read(&text, &size, path, 5, &why) == STATUS_INVALID && text == NULL);
    cr_assert(unlink(path) == 0 && rmdir(folder) == 0);
}

/* In place of the C library's: a disk that fails for folders alone. */
static bool folders_fail;

int fsync(int file)
{
    struct stat info;
    if (folders_fail && fstat(file, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EIO;
        return -1;
    }
    return 0;
}

Test(file, whose_folder_is_not_synced_is_not_said_to_be_written)
{
    char folder[64];
    char path[128];
    struct why why = {""};
    scratch(folder);
    (void)snprintf(path, sizeof path, "%s/end", folder);
    folders_fail = true;
    cr_expect(file_write(path, (struct slice){"new", 3}, 0600, &why) == STATUS_IO);
    cr_expect(strstr(why.text, "end cannot be written") != NULL, "%s", why.text);
    folders_fail = false;
    cr_expect(file_write(path, (struct slice){"new", 3}, 0600, &why) == STATUS_OK, "%s", why.text);
    cr_assert(unlink(path) == 0 && rmdir(folder) == 0);
}

/* As root a rename would leave a file in the place of /dev/null, and every program would fill it. */
Test(file, does_not_take_the_place_of_a_pipe_a_device_or_a_link)
{
    char folder[64];
    char pipe[128];
    char link[128];
    struct stat info;
    struct why why = {""};
    scratch(folder);
    (void)snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    (void)snprintf(link, sizeof link, "%s/stdout", folder);
    cr_assert(mkfifo(pipe, 0600) == 0 && symlink("nowhere", link) == 0);
    cr_expect(file_write(pipe, (struct slice){"x", 1}, 0644, &why) == STATUS_IO);
    cr_expect(strstr(why.text, "pipe is not a regular file") != NULL, "%s", why.text);
    cr_expect(file_write(link, (struct slice){"x", 1}, 0644, &why) == STATUS_IO);
    cr_expect(strstr(why.text, "a symbolic link") != NULL, "%s", why.text);
    cr_expect(stat(pipe, &info) == 0 && S_ISFIFO(info.st_mode));
    cr_expect(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    cr_expect(entries(folder) == 2);
    cr_assert(unlink(pipe) == 0 && unlink(link) == 0 && rmdir(folder) == 0);
}

Test(file, that_is_large_is_read_whole)
{
    char folder[64];
    char path[128];
    char *text = NULL;
    size_t size = 0;
    enum { LARGE = 300 * 1000 + 7 };
    char *bytes = malloc(LARGE);
    scratch(folder);
    (void)snprintf(path, sizeof path, "%s/large", folder);
    for (size_t i = 0; i < LARGE; i++) {
        bytes[i] = (char)(i * 31 % 251);
    }
    cr_assert(file_write(path, (struct slice){bytes, LARGE}, 0600, NULL) == STATUS_OK);
    cr_assert(file_read(&text, &size, path, LARGE, NULL) == STATUS_OK);
    cr_assert(size == LARGE && memcmp(text, bytes, LARGE) == 0);
    free(text);
    free(bytes);
    cr_assert(unlink(path) == 0 && rmdir(folder) == 0);
}

Test(file, says_what_is_in_the_way)
{
    char folder[64];
    char path[128];
    char *text = NULL;
    size_t size = 0;
    struct why why = {""};
    scratch(folder);
    cr_assert(file_read(&text, &size, "/nowhere/at/all", 10, &why) == STATUS_NOT_FOUND);
    cr_assert(strstr(why.text, "/nowhere/at/all") != NULL);
    cr_assert(file_read(&text, &size, folder, 10, &why) == STATUS_INVALID);
    (void)snprintf(path, sizeof path, "%s/no/such/folder", folder);
    cr_assert(file_write(path, (struct slice){"x", 1}, 0600, &why) == STATUS_IO);
    cr_assert(file_write(folder, (struct slice){"x", 1}, 0600, &why) == STATUS_IO);
    cr_assert(entries(folder) == 0);
    cr_assert(rmdir(folder) == 0);
}
