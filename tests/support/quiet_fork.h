/* quiet_fork.h - fork() in a test. The process of a test also has a thread of the framework, and a child
 * inherits the locks of other threads in their present state. The C library handles its own locks. An address
 * sanitizer's allocator does not, and a child could wait for a lock that nobody holds. So this waits until
 * every other thread sleeps: threads that wait for messages hold no lock.
 *
 * For the thread that the process began with; a test with threads that do not sleep has to fork before them. The
 * child ends with its parent, however that ends: an attack or a coordinator does not outlive its test. */

#ifndef TESTS_SUPPORT_QUIET_FORK_H
#define TESTS_SUPPORT_QUIET_FORK_H

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Whether the thread sleeps, or has ended. Its state is the letter after its name in brackets. */
static inline bool quiet_fork_sleeps(const char *thread)
{
    char path[64];
    char line[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", thread);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return true;
    }
    bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    const char *bracket = strrchr(line, ')');
    return !read || (bracket != NULL && bracket[1] == ' ' && bracket[2] == 'S');
}

static inline bool quiet_fork_others_sleep(void)
{
    bool sleep = true;
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL) {
        abort();
    }
    for (struct dirent *one = readdir(folder); one != NULL; one = readdir(folder)) {
        if (one->d_name[0] != '.' && strtol(one->d_name, NULL, 10) != (long)getpid()) {
            sleep = sleep && quiet_fork_sleeps(one->d_name);
        }
    }
    closedir(folder);
    return sleep;
}

static inline pid_t quiet_fork(void)
{
    while (!quiet_fork_others_sleep()) {
        usleep(1000);
    }
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    return child;
}

#endif
