#include "io/process.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPARE_BYTES = 96 << 20 /* threads and what they hold, before a job is there */ };
enum { DESCRIPTORS_WANTED = 16384 /* 10,000 agents */ };

static enum status limit(int resource, rlim_t soft, rlim_t hard, const char *what, struct why *why)
{
    struct rlimit now = {.rlim_cur = soft, .rlim_max = hard};
    if (setrlimit(resource, &now) != 0) {
        return why_fail(why, STATUS_IO, "the limit of %s cannot be set: %s", what, strerror(errno));
    }
    return STATUS_OK;
}

/* What the program has of the address space already. 0: that cannot be told. */
static uint64_t bytes_taken(void)
{
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) {
        return 0;
    }
    if (fgets(line, sizeof line, file) == NULL) {
        line[0] = '\0';
    }
    (void)fclose(file);
    return strtoull(line, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

enum status process_judge_memory(uint64_t memory_mb_max, struct why *why)
{
    struct rlimit now;
    if (memory_mb_max == 0) {
        return STATUS_OK;
    }
    if (getrlimit(RLIMIT_AS, &now) != 0) {
        return why_fail(why, STATUS_IO, "the memory limit cannot be read: %s", strerror(errno));
    }
    const rlim_t bytes = (rlim_t)memory_mb_max * 1024 * 1024;
    if (memory_mb_max > UINT64_MAX / (1024 * 1024) ||
        (now.rlim_max != RLIM_INFINITY && bytes > now.rlim_max)) {
        return why_fail(why, STATUS_IO, "memory_mb_max is more than this system grants (%llu MiB)",
                        (unsigned long long)(now.rlim_max / (1024 * 1024)));
    }
    const uint64_t taken = bytes_taken();
    if (bytes < taken + SPARE_BYTES) {
        const unsigned long long least = (taken + SPARE_BYTES + 999999) / 1000000;
        return why_refuse(
            why,
            "memory_mb_max leaves no room: the program and its numerical library take %llu MB "
            "before any job; remedy: %llu at least, or none",
            (unsigned long long)(taken / 1000000), least + 2);
    }
    return STATUS_OK;
}

enum { LARGE_BYTES = 1024 * 1024 };

void process_return_memory(void)
{
    /* Once a large block was freed, the C library would take the next one from its heap, and keep it there in pieces. */
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
    (void)mallopt(M_ARENA_MAX, 1); /* threads would have heaps of their own */
}

static enum status limit_memory(uint64_t memory_mb_max, struct why *why)
{
    const rlim_t bytes = (rlim_t)memory_mb_max * 1024 * 1024;
    const enum status status = process_judge_memory(memory_mb_max, why);
    if (status != STATUS_OK) {
        return status;
    }
    /* Else each thread that computes takes 64 MiB of the address space for a heap of its own, and keeps it. */
    if (mallopt(M_ARENA_MAX, 1) != 1) {
        return why_fail(why, STATUS_IO, "the memory allocator takes no limit");
    }
    return limit(RLIMIT_AS, bytes, bytes, "memory", why);
}

static enum status raise_descriptors(struct why *why)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) != 0) {
        return why_fail(why, STATUS_IO, "the limit of open files cannot be read: %s",
                        strerror(errno));
    }
    rlim_t wanted = DESCRIPTORS_WANTED;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < wanted) {
        wanted = now.rlim_max;
    }
    return limit(RLIMIT_NOFILE, wanted, now.rlim_max, "open files", why);
}

enum status process_harden(uint64_t memory_mb_max, struct why *why)
{
    (void)umask(077);
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
        return why_fail(why, STATUS_IO, "the process cannot be closed to others: %s",
                        strerror(errno));
    }
    enum status status = limit(RLIMIT_CORE, 0, 0, "core dumps", why);
    if (status == STATUS_OK) {
        status = raise_descriptors(why);
    }
    if (status == STATUS_OK && memory_mb_max > 0) {
        status = limit_memory(memory_mb_max, why);
    }
    return status;
}
