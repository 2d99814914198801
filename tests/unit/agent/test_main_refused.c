/* The file `refused` of a site: what was refused and why, as the running agent writes it and the commands read it. */

#include "agent/main_approve.h"
#include "agent/participant.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct site site;
static struct desk *desk;

static void setup(void)
{
    site = (struct site){.settings.state = "/tmp/test_main_refused.XXXXXX"};
    cr_assert_not_null(mkdtemp(site.settings.state));
    desk = calloc(1, sizeof *desk);
    cr_assert_not_null(desk);
    desk->site = &site;
}

static void path_of(char path[static DESK_PATH_BYTES])
{
    (void)snprintf(path, DESK_PATH_BYTES, "%s/refused", site.settings.state);
}

static void teardown(void)
{
    char path[DESK_PATH_BYTES];
    path_of(path);
    (void)unlink(path);
    (void)rmdir(site.settings.state);
    free(desk);
}

TestSuite(main_refused, .init = setup, .fini = teardown);

static void keep(unsigned number, const char *name, const char *words, int64_t wall_ms)
{
    const struct refusal refusal = {
        .text.byte = {(uint8_t)number, 7}, .name = name, .epsilon_micro = 2500000, .why = words};
    struct why why = {{0}};
    cr_assert(site_keep_refusal(&site, &refusal, wall_ms, &why), "%s", why.text);
}

static const struct desk_refusal *find(unsigned number)
{
    const struct digest text = {.byte = {(uint8_t)number, 7}};
    desk_load_refused(desk);
    return desk_refusal_of(desk, &text);
}

Test(main_refused, what_is_kept_is_read_and_is_gone_once_the_text_is_accepted)
{
    cr_assert_null(find(1), "nothing was refused");
    keep(1, "trial", "epsilon 2.5 is above the policy's 2", 1000);
    keep(2, "", "job:3:1: no such key", 2000);
    const struct desk_refusal *one = find(1);
    cr_assert_not_null(one);
    cr_expect_str_eq(one->name, "trial");
    cr_expect_str_eq(one->why, "epsilon 2.5 is above the policy's 2");
    cr_expect_eq(one->epsilon_micro, 2500000);
    cr_expect_eq(one->wall_ms, 1000);
    keep(1, "trial", NULL, 3000);
    cr_expect_null(find(1));
    cr_expect_not_null(find(2), "the other one stays");
    keep(9, "never", NULL, 3000); /* of one that was never refused */
    cr_expect_eq(desk->refused.count, 1);
}

Test(main_refused, a_text_that_is_refused_again_has_its_latest_reason_once)
{
    keep(1, "trial", "the policy allows no fit", 1000);
    keep(1, "trial", "the policy allows no fit", 5000);
    cr_expect_eq(find(1)->wall_ms, 1000, "after each start it is judged again, and nothing is new");
    keep(1, "trial", "the dictionary has no column age", 6000);
    const struct desk_refusal *one = find(1);
    cr_expect_str_eq(one->why, "the dictionary has no column age");
    cr_expect_eq(one->wall_ms, 6000);
    cr_expect_eq(desk->refused.count, 1);
}

/* A coordinator that offers one job after another fills no more than this. The longest reasons that there can be, in letters that
 * JSON writes as two: the file is still read. */
Test(main_refused, the_latest_ones_are_kept_and_the_file_stays_readable)
{
    char words[WHY_BYTES];
    memset(words, '"', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    for (unsigned i = 0; i < REFUSED_MAX + 8U; i++) {
        keep(i, "a-name-of-as-many-letters-as-a-job-may-have-------------------", words, i);
    }
    cr_assert_null(find(7), "the oldest ones gave way");
    cr_assert_not_null(find(8));
    cr_assert_not_null(find(REFUSED_MAX + 7));
    cr_assert_eq(desk->refused.count, REFUSED_MAX);
    cr_expect_str_eq(find(8)->why, words);
}

/* Reasons quote what a coordinator wrote, and people read them on a terminal. */
Test(main_refused, letters_that_steer_a_terminal_or_are_none_are_not_kept)
{
    keep(1, "a\x1b[2Jb", "column \x1b]0;x\a of \xff\xfe, \xe2\x80\xae and \xc3\xa4", 1);
    const struct desk_refusal *one = find(1);
    cr_assert_not_null(one);
    cr_expect_str_eq(one->name, "a?[2Jb");
    cr_expect_null(strpbrk(one->why, "\x1b\a\xff\xfe"), "%s", one->why);
    cr_expect_null(strstr(one->why, "\xe2\x80\xae"), "it would turn the line around: %s", one->why);
    cr_expect_not_null(strstr(one->why, "\xc3\xa4"));
}

Test(main_refused, a_file_that_says_something_else_says_nothing_and_is_written_anew)
{
    static const char *const text[] = {
        "", "none\n", "{}", "[1, null, {\"digest\": \"00\"}]",
        "[{\"digest\": \"00\", \"job\": \"a\", \"epsilon_micro\": 1, \"when_ms\": 1, \"why\": \"b\"}]"};
    char path[DESK_PATH_BYTES];
    path_of(path);
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        FILE *file = fopen(path, "w");
        cr_assert_not_null(file);
        (void)fputs(text[i], file);
        cr_assert_eq(fclose(file), 0);
        cr_expect_null(find(1));
        cr_expect_eq(desk->refused.count, 0, "%s", text[i]);
        keep(1, "trial", "no", 1);
        cr_expect_not_null(find(1));
    }
}
