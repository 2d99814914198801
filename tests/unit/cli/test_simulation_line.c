/* What `hedgerow simulate` shows of the coordinator's log: the fields decide, whatever the text says. */

#include "cli/simulation.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* What is shown of a line, in static memory. */
static const char *shown(const char *line)
{
    static char text[1024];
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);
    cr_assert_not_null(out);
    simulation_show_line(out, line);
    (void)fclose(out);
    (void)snprintf(text, sizeof text, "%s", written);
    free(written);
    return text;
}

static const char *closed(const char *prose)
{
    char line[1024];
    (void)snprintf(
        line, sizeof line,
        "{\"time\":\"t\",\"level\":\"info\",\"event\":\"round-closed\",\"stage\":\"losses\","
        "\"round\":7,\"rounds\":60,\"agents\":5,\"epsilon\":0.034567,\"delta\":0,"
        "\"seconds\":0.01,\"model\":\"ridge 0.1, average\",\"text\":\"%s\"}",
        prose);
    return shown(line);
}

Test(simulation_line, a_round_is_shown_from_its_fields_whatever_its_text_says)
{
    static const char *const prose[] = {
        "losses round 7 of 60: 5 agents, epsilon 0.034567 so far, 0.01 s, model: ridge 0.1, average",
        "losses     round  9/99  agents  1  epsilon 8  0.01 s  model: another one",
        "runde sieben ist zu Ende", ""};
    for (size_t i = 0; i < sizeof prose / sizeof prose[0]; i++) {
        cr_expect_str_eq(closed(prose[i]),
                         "  losses        7/60       5 0.034567  ridge 0.1, average\n", "%s",
                         prose[i]);
    }
}

Test(simulation_line, a_round_without_its_fields_is_shown_by_its_text)
{
    cr_expect_str_eq(shown("{\"level\":\"info\",\"event\":\"round-closed\",\"stage\":\"losses\","
                           "\"round\":\"7\",\"text\":\"as it is\"}"),
                     "  as it is\n");
}

Test(simulation_line, what_is_wrong_is_shown_and_the_rest_is_not)
{
    cr_expect_str_eq(shown("{\"level\":\"warning\",\"event\":\"x\",\"text\":\"look\"}"),
                     "  warning: look\n");
    cr_expect_str_empty(
        shown("{\"level\":\"warning\",\"event\":\"not-private\",\"text\":\"look\"}"));
    cr_expect_str_empty(shown("{\"level\":\"info\",\"event\":\"joined\",\"text\":\"look\"}"));
    cr_expect_str_empty(shown("no JSON"));
    cr_expect_str_empty(shown("[1]"));
}
