/* A name that is nearly a known one: one slip and letters of another case are tolerated. If two names are
 * equally near, none is guessed. */

#include "base/near.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *const known[] = {"age", "sex", "creatinine", "record", "round",
                                    "rat", "cat", "queries",    ""};

static const struct {
    const char *written, *wanted;
} cases[] = {
    {"Age", "age"},
    {"AGE", "age"},
    {"agee", "age"},
    {"aeg", "age"},
    {"gender", ""},
    {"CREATININE", "creatinine"},
    {"creatinin", "creatinine"},
    {"cretinine ", "creatinine"},
    {"recrod", "record"},
    {"bat", ""},
    {"rounds", "round"},
    {"query", "queries"},
    {"patient", ""},
    {"", ""},
    {"hospital", ""},
};

Test(near, names_the_nearest_and_guesses_nothing_else)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char hint[NEAR_HINT_BYTES];
        struct near near = near_to((struct slice){cases[i].written, strlen(cases[i].written)});
        for (size_t j = 0; known[j][0] != '\0'; j++) {
            near_offer(&near, known[j]);
        }
        const char *name = near_name(&near);
        cr_expect_str_eq(name == NULL ? "" : name, cases[i].wanted, "%s", cases[i].written);
        cr_expect((near_hint(hint, &near)[0] == '\0') == (name == NULL));
    }
}

Test(near, takes_long_names_for_what_they_are)
{
    char name[300];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    struct near near = near_to((struct slice){name, sizeof name - 1});
    near_offer(&near, name);
    near_offer(&near, "x");
    cr_expect_null(near_name(&near));
}
