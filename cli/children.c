/* prctl(PR_SET_PDEATHSIG) is Linux's: a simulation that is killed takes its processes with it. */

#include "cli/children.h"

#include "base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT_RUN = 127 };

enum status children_program(char *path, size_t size, const char *name, struct why *why)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        why_set(why, "the path of this program cannot be read; remedy: mount /proc");
        return STATUS_IO;
    }
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    CHECK(slash != NULL);
    slash[1] = '\0';
    if (snprintf(path, size, "%s%s", self, name) >= (int)size || access(path, X_OK) != 0) {
        why_set(why, "%s%s is not there: %s", self, name,
                strstr(name, "-seeded") == NULL
                    ? "build or install all of hedgerow's programs"
                    : "a program whose seed is known is never installed; run the one in a build");
        return STATUS_NOT_FOUND;
    }
    return STATUS_OK;
}

/* Between fork and exec: only what is safe there. */
_Noreturn static void become(pid_t parent, int out, int errors, char *const *argument)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int empty = open("/dev/null", O_RDONLY);
    if (getppid() != parent || empty < 0 || dup2(empty, STDIN_FILENO) < 0 ||
        dup2(out, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0) {
        _exit(CANNOT_RUN);
    }
    (void)execv(argument[0], argument);
    _exit(CANNOT_RUN);
}

enum status children_start(struct children *children, const char *name, const char *log_path,
                           char *const *argument, struct why *why)
{
    if (children->count == CHILDREN_MAX) {
        return STATUS_NO_MEMORY;
    }
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (log < 0) {
        why_set(why, "%s: cannot be written: %s", log_path, strerror(errno));
        return STATUS_IO;
    }
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        /* A process group of its own: Ctrl-C reaches the simulation alone, which stops the others.
         */
        (void)setpgid(0, 0);
        become(parent, log, log, argument);
    }
    (void)close(log);
    if (pid < 0) {
        why_set(why, "a process for %s cannot be started: %s", name, strerror(errno));
        return STATUS_IO;
    }
    struct child *child = &children->child[children->count++];
    *child = (struct child){.pid = pid, .running = true};
    (void)snprintf(child->name, sizeof child->name, "%s", name);
    return STATUS_OK;
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum status children_output(char *text, size_t size, char *const *argument, struct why *why)
{
    int ends[2];
    int status = 0;
    size_t used = 0;
    ssize_t got = 0;

    if (pipe(ends) != 0) {
        why_set(why, "%s: %s", argument[0], strerror(errno));
        return STATUS_IO;
    }
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        become(parent, ends[1], STDERR_FILENO, argument);
    }
    (void)close(ends[1]);
    while (
        pid > 0 && used < size - 1 &&
        ((got = read(ends[0], text + used, size - 1 - used)) > 0 || (got < 0 && errno == EINTR))) {
        used += got > 0 ? (size_t)got : 0;
    }
    text[used] = '\0';
    (void)close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || code_of(status) != 0) {
        why_set(why, "%s did not end well (%d)", argument[0], pid < 0 ? -1 : code_of(status));
        return STATUS_IO;
    }
    return STATUS_OK;
}

static void signals_of_interest(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGHUP);
    (void)sigaddset(set, SIGCHLD);
}

void children_signals(void)
{
    sigset_t set;
    signals_of_interest(&set);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

static void reap(struct children *children)
{
    for (size_t i = 0; i < children->count; i++) {
        struct child *child = &children->child[i];
        int status = 0;
        if (child->running && waitpid(child->pid, &status, WNOHANG) == child->pid) {
            child->running = false;
            child->code = code_of(status);
        }
    }
}

bool children_wait(struct children *children, int wait_ms)
{
    sigset_t set;
    struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = (wait_ms % 1000) * 1000000L};
    signals_of_interest(&set);
    int number = sigtimedwait(&set, NULL, &wait);
    reap(children);
    return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

size_t children_running(const struct children *children)
{
    size_t running = 0;
    for (size_t i = 0; i < children->count; i++) {
        running += children->child[i].running;
    }
    return running;
}

static void tell(const struct children *children, int signal_number)
{
    for (size_t i = 0; i < children->count; i++) {
        if (children->child[i].running) {
            (void)kill(children->child[i].pid, signal_number);
        }
    }
}

void children_stop(struct children *children, int grace_ms)
{
    enum { TURN_MS = 20 };
    reap(children);
    tell(children, SIGTERM);
    for (int waited = 0; waited < grace_ms && children_running(children) > 0; waited += TURN_MS) {
        (void)children_wait(children, TURN_MS);
    }
    tell(children, SIGKILL);
    for (size_t i = 0; i < children->count; i++) {
        struct child *child = &children->child[i];
        int status = 0;
        if (child->running && waitpid(child->pid, &status, 0) == child->pid) {
            child->code = code_of(status);
        }
        child->running = false;
    }
}
