/* full_disk.c - loaded into a program before its libraries (LD_PRELOAD): a disk that is full for some files. While
 * the file that FULL_DISK names exists, it holds a part of a path, and writes to files with this part in their path
 * fail with ENOSPC. So a program meets a full disk at one file and at one moment, without a mount. */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* These take the place of the C library's own. */
ssize_t write(int file, const void *bytes, size_t size);
ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset);
ssize_t pwrite64(int file, const void *bytes, size_t size, off_t offset);
long syscall(long number, ...);

static bool is_full(int file)
{
    char part[PATH_BYTES];
    char path[PATH_BYTES];
    char link[64];
    const char *list = getenv("FULL_DISK");
    const int from = list == NULL ? -1 : open(list, O_RDONLY | O_CLOEXEC);
    const ssize_t size = from < 0 ? -1 : read(from, part, sizeof part - 1);
    if (from >= 0) {
        (void)close(from);
    }
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = size <= 0 ? -1 : readlink(link, path, sizeof path - 1);
    if (length <= 0) {
        return false;
    }
    part[size] = '\0';
    path[length] = '\0';
    return strstr(path, part) != NULL;
}

ssize_t write(int file, const void *bytes, size_t size)
{
    if (is_full(file)) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, file, bytes, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    if (is_full(file)) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off_t offset)
{
    return pwrite(file, bytes, size, offset);
}
