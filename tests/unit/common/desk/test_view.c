/* What came from another machine, on a terminal. */

#include "desk/view.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

Test(view, control_characters_do_not_reach_the_terminal)
{
    static const struct {
        const char *text;
        const char *shown;
    } item[] = {
        {"plain", "plain"},
        {"\x1b[2J\x07", "?[2J?"},
        {"a\nb\tc\x7f", "a?b?c?"},
        {"\xc2\x9b"
         "31m",
         "??31m"},                            /* CSI as one character */
        {"M\xc3\xbcnchen", "M\xc3\xbcnchen"}, /* letters stay */
        {"\xe2\x80\x93", "\xe2\x80\x93"},     /* a dash, whose bytes look like C1 */
        {"", ""},
    };
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        char text[VIEW_TEXT_BYTES];
        json_t *object = json_pack("{s:s}", "job", item[i].text);
        cr_expect_str_eq(view_text(text, object, "job"), item[i].shown, "%zu: %s", i, text);
        cr_expect_str_eq(view_text(text, object, "other"), "");
        json_decref(object);
    }
}

Test(view, a_member_that_is_missing_or_of_another_kind_is_nothing)
{
    char text[VIEW_TEXT_BYTES];
    json_t *object = json_pack("{s:i, s:s, s:n}", "job", 7, "rounds", "many", "epsilon");
    cr_expect_str_eq(view_text(text, object, "job"), "");
    cr_expect_eq(view_number(object, "rounds"), 0);
    cr_expect_eq(view_number(object, "epsilon"), 0);
    cr_expect_eq(view_number(NULL, "epsilon"), 0);
    json_decref(object);
}

static void show(const json_t *job, char *out, size_t size)
{
    FILE *read = cr_get_redirected_stdout();
    view_job(job);
    (void)fflush(stdout);
    const size_t used = fread(out, 1, size - 1, read);
    out[used] = '\0';
}

/* A price is a whole number of its last place, whatever double it travels as. */
Test(view, prices_are_exact_and_the_time_left_is_told, .init = cr_redirect_stdout)
{
    char said[4096];
    json_t *job =
        json_pack("{s:i, s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f}", "number", 7, "job", "study",
                  "state", "running", "rounds", 2, "rounds_planned", 5, "epsilon", 0.1 + 0.2,
                  "epsilon_planned", 1e-6, "delta", (double)100000000000 * 1e-18, "delta_planned",
                  (double)50000000000000000 * 1e-18, "seconds_left", 600.0);
    show(job, said, sizeof said);
    json_decref(job);
    cr_expect_not_null(strstr(said, "paid       epsilon 0.3, delta 0.0000001\n"), "%s", said);
    cr_expect_not_null(strstr(said, "planned    epsilon 0.000001, delta 0.05\n"), "%s", said);
    cr_expect_not_null(strstr(said, "left       about 10 min, at the pace so far\n"), "%s", said);
}
