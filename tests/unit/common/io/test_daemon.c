/* A peer that makes an agent warn a thousand times a second must not fill its disk. */

#include "io/clock.h"
#include "io/daemon.h"
#include "io/driver.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Test(daemon, repeated_warnings_become_one_line_and_a_count)
{
    const struct log_settings settings = {.level = LOG_INFO, .format = LOG_FORMAT_JSON};
    struct daemon daemon;
    struct why why = {{0}};
    char text[8192] = {0};
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    cr_assert(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    cr_assert_eq(daemon_start(&daemon, &settings, 0, &why), STATUS_OK);
    for (int i = 0; i < 1000; i++) {
        log_event(&daemon.log, LOG_WARN, "frame-refused", "hospital-1", "number %d", i);
    }
    log_event(&daemon.log, LOG_WARN, "frame-refused", "hospital-2", "another peer");
    log_event(&daemon.log, LOG_INFO, "round-closed", NULL, "one");
    log_event(&daemon.log, LOG_INFO, "round-closed", NULL, "two");
    daemon_stop(&daemon);
    (void)close(ends[1]);
    (void)close(STDERR_FILENO);
    cr_assert_gt(read(ends[0], text, sizeof text - 1), 0);
    cr_assert_not_null(strstr(text, "number 0"));
    cr_assert_null(strstr(text, "number 1"));
    cr_assert_not_null(strstr(text, "999 more times"));
    cr_assert_not_null(strstr(text, "another peer"));
    cr_assert(strstr(text, "one") != NULL && strstr(text, "two") != NULL);
}

/* What the coordinator offers is told at level info: a hundred thousand offers are a bounded file all the same. */
Test(daemon, a_hundred_thousand_entries_of_every_level_are_a_bounded_log)
{
    enum { ENTRIES = 100000, LINE_BYTES_MAX = 256 };
    static const enum log_level level[] = {LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR};
    for (size_t i = 0; i < sizeof level / sizeof level[0]; i++) {
        const struct log_settings settings = {.level = LOG_DEBUG, .format = LOG_FORMAT_JSON};
        struct daemon daemon;
        struct why why = {{0}};
        char path[] = "/tmp/hedgerow-daemon-XXXXXX";
        int file = mkstemp(path);
        cr_assert_geq(file, 0);
        int before = dup(STDERR_FILENO);
        cr_assert(dup2(file, STDERR_FILENO) == STDERR_FILENO);
        cr_assert_eq(daemon_start(&daemon, &settings, 0, &why), STATUS_OK);
        for (int line = 0; line < ENTRIES; line++) {
            log_event(&daemon.log, level[i], "job-offered", "coordinator", "number %d", line);
        }
        daemon_stop(&daemon);
        cr_assert(dup2(before, STDERR_FILENO) == STDERR_FILENO);
        cr_expect_lt(lseek(file, 0, SEEK_END), (LOG_LIMIT_BURST + 60) * LINE_BYTES_MAX);
        unlink(path);
        close(file);
        close(before);
    }
}

/* Before its loop a program checks files, after it it writes results. A signal at these times ends nothing. */
Test(daemon, a_signal_waits_for_who_hears_of_it)
{
    static const int asked[] = {SIGTERM, SIGINT};
    const struct log_settings settings = {.level = LOG_INFO, .format = LOG_FORMAT_JSON};
    struct daemon daemon;
    struct why why = {{0}};
    sigset_t pending;
    cr_assert_eq(daemon_start(&daemon, &settings, 0, &why), STATUS_OK);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        cr_assert_eq(raise(asked[i]), 0);
        cr_assert_eq(sigpending(&pending), 0);
        cr_expect_eq(sigismember(&pending, asked[i]), 1);
    }
    daemon_stop(&daemon);
}

static void sleep_ms(int64_t ms)
{
    for (const int64_t until_ms = clock_now_ms() + ms; clock_now_ms() < until_ms;) {
        (void)usleep(1000);
    }
}

/* Returns the exit code of a program that makes results for some time and gets the signal at these times, or
 * -1 if it is killed. */
static int code_of_hurried(int signal, const int64_t *at_ms, size_t count, int64_t results_ms)
{
    enum { MADE = 17 };
    int result = 1;
    const pid_t child = quiet_fork();
    if (child == 0) {
        const struct log_settings settings = {.level = LOG_INFO, .format = LOG_FORMAT_JSON};
        struct daemon daemon;
        struct why why = {{0}};
        const int64_t began_ms = clock_now_ms();
        if (daemon_start(&daemon, &settings, 0, &why) != STATUS_OK) {
            _exit(1);
        }
        daemon_let_hurry(&daemon);
        for (size_t i = 0; i < count; i++) {
            sleep_ms(began_ms + at_ms[i] - clock_now_ms());
            (void)kill(getpid(), signal);
        }
        sleep_ms(began_ms + results_ms - clock_now_ms());
        daemon_stop(&daemon);
        _exit(MADE);
    }
    cr_assert_eq(waitpid(child, &result, 0), child);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

/* One signal, or two at once, leave time for the results. A later one ends the program at once. */
Test(daemon, who_asks_again_while_results_are_made_does_not_wait)
{
    enum { LATE_MS = STOP_AGAIN_MS + 200, RESULTS_MS = 500, FOREVER_MS = 60000, MADE = 17 };
    const int64_t begun_ms = clock_now_ms();
    cr_expect_eq(code_of_hurried(SIGTERM, (const int64_t[]){10}, 1, RESULTS_MS), MADE);
    cr_expect_eq(code_of_hurried(SIGTERM, (const int64_t[]){10, 100}, 2, RESULTS_MS), MADE);
    cr_expect_eq(code_of_hurried(SIGTERM, (const int64_t[]){10, LATE_MS}, 2, FOREVER_MS), 0);
    cr_expect_eq(code_of_hurried(SIGINT, (const int64_t[]){10, LATE_MS}, 2, FOREVER_MS), 130);
    cr_expect_lt(clock_now_ms() - begun_ms, FOREVER_MS / 2);
}

static int lists(const struct arguments *arguments)
{
    (void)arguments;
    return puts("hospital-1") >= 0 ? 0 : 3;
}

/* A person who writes a ledger's list to a file must hear that the disk was full. */
Test(daemon, a_command_whose_words_are_lost_does_not_end_well)
{
    static const struct daemon_command commands[] = {{"list", NULL, lists, {{0}}}};
    const struct daemon_program program = {"hedgerow-trial", "help", "usage", commands, 1};
    char program_name[] = "hedgerow-trial";
    char list[] = "list";
    char help[] = "--help";
    const int file = open("/dev/full", O_WRONLY);
    cr_assert_geq(file, 0);
    for (int full = 0; full < 2; full++) {
        for (int i = 0; i < 2; i++) {
            int result = -1;
            const pid_t child = quiet_fork();
            if (child == 0) {
                const int out = full ? file : open("/dev/null", O_WRONLY);
                if (dup2(out, STDOUT_FILENO) != STDOUT_FILENO) {
                    _exit(99);
                }
                char *argument[] = {program_name, i == 0 ? list : help, NULL};
                _exit(daemon_main(&program, NULL, 2, argument));
            }
            cr_assert_eq(waitpid(child, &result, 0), child);
            cr_expect_eq(WIFEXITED(result) ? WEXITSTATUS(result) : -1, full);
        }
    }
    (void)close(file);
}
