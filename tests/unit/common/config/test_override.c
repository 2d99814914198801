#include "config/config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "# Größe: a comment that is not ASCII\n"
                           "hedgerow: 1\n"
                           "name: old      # kept\n"
                           "empty:\n"
                           "privacy: {epsilon: 1, unit: record}\n"
                           "stages:\n"
                           "  - task: fit\n"
                           "    lambdas: [0.1, 0.2]\n"
                           "  - {}\n"
                           "block:\n"
                           "  - 1\n"
                           "  - 2\n"
                           "after: 'ü'\n";

static char *set(const char *assignment, struct why *why)
{
    char *out = NULL;
    size_t size = 0;
    enum status status =
        config_override(&out, &size, (struct slice){text, strlen(text)}, "x.yml", assignment, why);
    cr_assert_eq(status == STATUS_OK, out != NULL);
    cr_assert(out == NULL || strlen(out) == size);
    return out;
}

/* Expects the text with `from` replaced by `to` and nothing else changed. */
static void expect_changed(const char *assignment, const char *from, const char *to)
{
    char wanted[2048];
    struct why why = {{0}};
    const char *at = strstr(text, from);
    cr_assert_not_null(at);
    (void)snprintf(wanted, sizeof wanted, "%.*s%s%s", (int)(at - text), text, to,
                   at + strlen(from));
    char *out = set(assignment, &why);
    cr_assert_not_null(out, "%s: %s", assignment, why.text);
    cr_expect_str_eq(out, wanted, "%s gave\n%s", assignment, out);
    free(out);
}

Test(override, replaces_one_value_and_keeps_every_other_byte)
{
    expect_changed("name=new", "name: old ", "name: new ");
    expect_changed("name=\"two words\"", "name: old ", "name: \"two words\" ");
    expect_changed("privacy.epsilon=0.25", "epsilon: 1,", "epsilon: 0.25,");
    expect_changed("stages.0.task=losses", "task: fit", "task: losses");
    expect_changed("stages[0].lambdas[1]=3", "0.2]", "3]");
    expect_changed("stages.0.lambdas=[1, 2, 3]", "[0.1, 0.2]", "[1, 2, 3]");
    expect_changed("block.1=7", "  - 2", "  - 7");
    expect_changed("after=x", "'ü'", "x");
    expect_changed("empty=5", "empty:\n", "empty: 5\n");
}

Test(override, adds_a_key_to_a_table_that_is_there)
{
    expect_changed("privacy.delta=1e-5", "{epsilon", "{delta: 1e-5, epsilon");
    expect_changed("stages.0.share=0.5", "task: fit", "share: 0.5\n    task: fit");
    expect_changed("stages.1.share=0.5", "{}", "{share: 0.5}");
    expect_changed("seed=3", "hedgerow: 1", "seed: 3\nhedgerow: 1");
}

Test(override, of_the_result_gives_the_first_text_back)
{
    struct why why = {{0}};
    char *once = set("privacy.epsilon=2", &why);
    char *back = NULL;
    size_t size = 0;
    cr_assert_not_null(once);
    cr_assert_eq(config_override(&back, &size, (struct slice){once, strlen(once)}, "x.yml",
                                 "privacy.epsilon=1", &why),
                 STATUS_OK);
    cr_assert_str_eq(back, text);
    free(once);
    free(back);
}

Test(override, refuses_what_would_change_anything_else)
{
    static const struct {
        const char *assignment;
        const char *message;
    } list[] = {
        {"", "--set: write it like --set privacy.epsilon=2"},
        {"privacy.epsilon", "--set: write it like --set privacy.epsilon=2"},
        {"=2", "--set: write it like --set privacy.epsilon=2"},
        {"privacy.epsilon=", "--set privacy.epsilon: what stands after '=' is not a value"},
        {"privacy.epsilon=2 # 3",
         "--set privacy.epsilon: the value must be on one line, without '#'"},
        {"privacy.epsilon=2\nevil: 1",
         "--set privacy.epsilon: the value must be on one line, without '#'"},
        {"privacy.epsilon=2, unit: x",
         "--set privacy.epsilon: write a list as [a, b], a table as {a: b}"},
        {"privacy.epsilon=2}", "--set privacy.epsilon: does not fit there"},
        {"privacy.epsilon=a, b", "--set privacy.epsilon: does not fit there: put it in quotes"},
        {"name=a: b", "--set name: write a list as [a, b], a table as {a: b}"},
        {"name=[a", "--set name: what stands after '=' is not a value"},
        {"name=&a b", "--set name: what stands after '=' is not a value"},
        {"block=[3]", "--set block: is a list or table over several lines: set its items"},
        {"block.2=3", "--set block.2: there is no such key in the file, and no table to add it to"},
        {"stages.2.share=1",
         "--set stages.2.share: there is no such key in the file, and no table to add it to"},
        {"stages.7=1",
         "--set stages.7: there is no such key in the file, and no table to add it to"},
        {"name.deep=1",
         "--set name.deep: there is no such key in the file, and no table to add it to"},
        {"nowhere.key=1",
         "--set nowhere.key: there is no such key in the file, and no table to add it to"},
        {"a: b, c=1", "--set a: b, c: there is no such key in the file, and no table to add it to"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct why why = {{0}};
        char *out = set(list[i].assignment, &why);
        cr_expect_null(out, "%s gave\n%s", list[i].assignment, out);
        cr_expect_str_eq(why.text, list[i].message, "%s gave: %s", list[i].assignment, why.text);
        free(out);
    }
}

Test(override, refuses_a_text_that_is_no_yaml)
{
    char *out = NULL;
    size_t size = 0;
    struct why why = {{0}};
    cr_assert_eq(config_override(&out, &size, (struct slice){"a: [", 4}, "x.yml", "a=1", &why),
                 STATUS_INVALID);
    cr_assert_null(out);
}
