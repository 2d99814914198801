#include "coordinator/main_desk.h"

#include "base/exit_code.h"
#include "io/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 500, RESTART_MS = 2000, FAREWELL_MS = 1000, STEP_MS = 10, DESCRIPTORS = 4096 };

/* In the new process, which has one thread and may do little before the program begins anew. It dies with the coordinator:
 * what it was about to do is asked for again. */
static void become_desk(const char *config, pid_t parent)
{
    char program[] = "hedgerow-coordinator";
    char command[] = "desk";
    char option[] = "--config";
    char path[SETTINGS_PATH_BYTES];
    const size_t size = strlen(config);
    for (int i = STDERR_FILENO + 1; i < DESCRIPTORS; i++) {
        (void)close(i);
    }
    if (size >= sizeof path || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        _exit(EXIT_CODE_INTERNAL);
    }
    memcpy(path, config, size + 1);
    char *argument[] = {program, command, option, path, NULL};
    (void)execv("/proc/self/exe", argument);
    _exit(EXIT_CODE_INTERNAL);
}

static void start(struct desk_child *child)
{
    const pid_t parent = getpid();
    child->pid = fork();
    if (child->pid == 0) {
        become_desk(child->config, parent);
    }
    if (child->pid < 0) {
        log_event(child->log, LOG_ERROR, "desk-failed", NULL, "the desk cannot be started: %s",
                  strerror(errno));
        child->pid = 0;
    }
}

/* What stops this coordinator may signal all of its processes, as systemd does: the desk is then gone before this one hears of
 * it. */
static void tell_end(const struct desk_child *child, int how)
{
    if (WIFEXITED(how) && WEXITSTATUS(how) == EXIT_CODE_OK) {
        log_event(child->log, LOG_INFO, "desk-ended", NULL,
                  "the desk was asked to stop; unless this coordinator is too, it is started again "
                  "in %d s",
                  RESTART_MS / 1000);
        return;
    }
    log_event(child->log, LOG_ERROR, "desk-ended", NULL,
              "the desk has ended %s %d; it is started again in %d s",
              WIFSIGNALED(how) ? "by signal" : "with code",
              WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how), RESTART_MS / 1000);
}

static int no_descriptor(UNUSED void *self, UNUSED int64_t now_ms)
{
    return -1;
}

static int64_t due(void *self, UNUSED int64_t now_ms)
{
    const struct desk_child *child = self;
    return child->due_ms;
}

static void look(void *self, int64_t now_ms)
{
    struct desk_child *child = self;
    int how = 0;
    if (now_ms < child->due_ms) {
        return;
    }
    child->due_ms = now_ms + LOOK_MS;
    if (child->pid == 0) {
        start(child);
    } else if (waitpid(child->pid, &how, WNOHANG) == child->pid) {
        tell_end(child, how);
        child->pid = 0;
        child->due_ms = now_ms + RESTART_MS;
    }
}

void desk_child_begin(struct desk_child *child, const struct office *office, const struct log *log,
                      const char *config)
{
    if (office->settings.operators.listen[0] == '\0') {
        return;
    }
    *child = (struct desk_child){.log = log, .config = config};
    child->guest = (struct driver_guest){
        .self = child, .descriptor = no_descriptor, .due_ms = due, .run = look};
    start(child);
    child->due_ms = clock_now_ms() + LOOK_MS;
}

void desk_child_join(struct desk_child *child, struct driver_options *driver)
{
    if (child->config != NULL) {
        driver->guest[1] = &child->guest;
    }
}

void desk_child_look(struct desk_child *child)
{
    if (child->config != NULL) {
        look(child, clock_now_ms());
    }
}

void desk_child_end(struct desk_child *child)
{
    if (child->pid == 0) {
        return;
    }
    (void)kill(child->pid, SIGTERM);
    for (int waited = 0; waited < FAREWELL_MS; waited += STEP_MS) {
        if (waitpid(child->pid, NULL, WNOHANG) != 0) {
            child->pid = 0;
            return;
        }
        (void)poll(NULL, 0, STEP_MS);
    }
    (void)kill(child->pid, SIGKILL);
    (void)waitpid(child->pid, NULL, 0);
    child->pid = 0;
}
