/* A peer that makes an agent warn a thousand times a second must not fill its disk. */

#include "io/daemon.h"

#include <criterion/criterion.h>
#include <string.h>
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
