/* Processes: their ends are noticed, stubborn ones are ended, what they print is read. */

#include "cli/children.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char null_log[] = "/dev/null";

static void start(struct children *children, const char *script)
{
    char shell[] = "/bin/sh";
    char option[] = "-c";
    char text[256];
    char *const argument[] = {shell, option, text, NULL};
    struct why why = {""};
    (void)snprintf(text, sizeof text, "%s", script);
    cr_assert(children_start(children, "child", null_log, argument, &why) == STATUS_OK, "%s",
              why.text);
}

Test(children, that_end_are_noticed_with_their_code)
{
    struct children children = {.count = 0};
    children_signals();
    start(&children, "exit 4");
    start(&children, "kill -9 $$");
    for (int i = 0; i < 5000 && children_running(&children) > 0; i++) {
        cr_assert(!children_wait(&children, 20));
    }
    cr_assert(children_running(&children) == 0);
    cr_assert(children.child[0].code == 4);
    cr_assert(children.child[1].code == 128 + SIGKILL);
}

Test(children, that_do_not_listen_are_ended)
{
    struct children children = {.count = 0};
    children_signals();
    start(&children, "trap '' TERM; while :; do sleep 0.05; done");
    start(&children, "sleep 1000");
    (void)children_wait(&children, 300);
    cr_assert(children_running(&children) == 2);
    children_stop(&children, 200);
    cr_assert(children_running(&children) == 0);
    cr_assert(kill(children.child[0].pid, 0) != 0 && kill(children.child[1].pid, 0) != 0);
}

Test(children, are_left_when_the_parent_is_asked_to_stop)
{
    struct children children = {.count = 0};
    children_signals();
    cr_assert(kill(getpid(), SIGTERM) == 0);
    cr_assert(children_wait(&children, 1000), "the request is told, and does not kill");
    cr_assert(!children_wait(&children, 1));
}

Test(children, output_is_read_whole)
{
    char shell[] = "/bin/sh";
    char option[] = "-c";
    char good[] = "printf abc; printf def";
    char bad[] = "printf abc; exit 3";
    char long_text[] = "printf 0123456789";
    char text[8];
    char *argument[] = {shell, option, good, NULL};
    struct why why = {""};
    cr_assert(children_output(text, sizeof text, argument, &why) == STATUS_OK, "%s", why.text);
    cr_assert_str_eq(text, "abcdef");
    argument[2] = bad;
    cr_assert(children_output(text, sizeof text, argument, &why) == STATUS_IO);
    argument[2] = long_text;
    cr_assert(children_output(text, sizeof text, argument, &why) == STATUS_OK ||
              text[sizeof text - 1] == '\0');
    cr_assert(strncmp(text, "0123456", 7) == 0);
}

Test(children, program_that_is_missing_is_named)
{
    char path[4096];
    struct why why = {""};
    cr_assert(children_program(path, sizeof path, "no-such-program", &why) == STATUS_NOT_FOUND);
    cr_assert(strstr(why.text, "no-such-program") != NULL);
}
