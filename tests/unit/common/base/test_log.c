/* A name that others choose, of an agent or a file, must not forge a second line of the log. */

#include "base/log.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct heard {
    unsigned count;
    char text[2048];
};

static void hear(void *self, const struct log_entry *entry)
{
    struct heard *heard = self;
    heard->count++;
    (void)snprintf(heard->text, sizeof heard->text, "%s", entry->text);
}

Test(log, control_characters_are_shown_as_question_marks)
{
    struct heard heard = {0};
    const struct log log = {.write = hear, .self = &heard, .level = LOG_INFO};
    log_event(&log, LOG_WARN, "x", NULL, "%s", "a\nb\r\x1b[2J\x7f\tc");
    cr_expect_str_eq(heard.text, "a?b??[2J??c");
}

Test(log, long_texts_are_cut_and_low_levels_dropped)
{
    struct heard heard = {0};
    const struct log log = {.write = hear, .self = &heard, .level = LOG_INFO};
    log_event(&log, LOG_ERROR, "x", NULL, "%01500d", 7);
    cr_expect_eq(strlen(heard.text), 1023);
    log_event(&log, LOG_DEBUG, "x", NULL, "unheard");
    log_event(NULL, LOG_ERROR, "x", NULL, "unheard");
    cr_expect_eq(heard.count, 1);
}
