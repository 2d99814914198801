/* How a released figure and its noise are printed in 80 columns, and that a question is printed once for all
 * its lines. */

#include "cli/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *beside(const char *what, const char *noise)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    command_beside(out, 2, what, noise);
    (void)fclose(out);
    return text;
}

static char *lines(const char *const *line, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct command_question question = {0};
    for (size_t i = 0; i < count; i++) {
        const char *part =
            command_part(out, 2, &question, line[i], i + 1 < count ? line[i + 1] : NULL);
        (void)fprintf(out, "%*s%s\n", question.bytes > 0 ? 4 : 2, "", part);
    }
    (void)fclose(out);
    return text;
}

Test(command, what_is_released_is_broken_at_spaces_and_its_noise_follows_the_last_line)
{
    static const struct {
        const char *what;
        const char *noise;
        const char *expected;
    } item[] = {
        {"age", "+- 1 year", "  age                                                  +- 1 year\n"},
        {"", "+- 1", "                                                       +- 1\n"},
        {"one two three four five six seven eight nine ten eleven twelve", "+- 1",
         "  one two three four five six seven eight nine ten\n"
         "    eleven twelve                                      +- 1\n"},
        {"a figure of forty letters, all of them in", "a noise of forty letters, all of them so",
         "  a figure of forty letters, all of them in\n"
         "                                       a noise of forty letters, all of them so\n"},
        {"aVeryLongWordThatFitsNoLineOfThisWidthAndStaysWholeAsItIs", "+- 1",
         "  aVeryLongWordThatFitsNoLineOfThisWidthAndStaysWholeAsItIs +- 1\n"},
    };
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        char *text = beside(item[i].what, item[i].noise);
        cr_expect_str_eq(text, item[i].expected);
        free(text);
    }
}

Test(command, no_line_is_longer_than_a_terminal_where_a_word_can_be_broken_off)
{
    char what[161];
    for (size_t size = 0; size + 1 < sizeof what; size++) {
        for (size_t i = 0; i < size; i++) {
            what[i] = i % 7 == 6 ? ' ' : 'w';
        }
        what[size] = '\0';
        char noise[] = "at most 0.0358 share (95 %)  DROWNED";
        for (size_t bytes = 1; bytes < sizeof noise; bytes++) {
            char *text = beside(what, noise + sizeof noise - 1 - bytes);
            for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
                cr_assert_lt(strcspn(line, "\n"), 80, "%s", line);
            }
            free(text);
        }
    }
}

Test(command, a_question_is_said_once_for_all_lines_that_have_it)
{
    static const char *const some[] = {"mean: age by sex: F", "mean: age by sex: M", "count: x",
                                       "mean: age: all"};
    char *text = lines(some, 4);
    cr_expect_str_eq(text, "  mean: age by sex\n    F\n    M\n  count: x\n  mean: age: all\n");
    free(text);
    static const char *const two[] = {"mean: a: F", "mean: a: M", "mean: b: F", "mean: b: M", "x"};
    text = lines(two, 5);
    cr_expect_str_eq(text, "  mean: a\n    F\n    M\n  mean: b\n    F\n    M\n  x\n");
    free(text);
    static const char *const single[] = {"mean: a", "mean: a", "mean: a: part"};
    text = lines(single, 3);
    cr_expect_str_eq(text, "  mean: a\n  mean: a\n  mean: a: part\n");
    free(text);
}
