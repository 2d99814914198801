#include "base/text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(text, what_does_not_fit_is_cut)
{
    char text[8] = "ab";
    text_add(text, sizeof text, "%s%d", "cd", 5);
    cr_assert_str_eq(text, "abcd5");
    text_add(text, sizeof text, "%s", "6789");
    cr_assert_str_eq(text, "abcd567");
    text_add(text, sizeof text, "%s", "more");
    cr_assert_str_eq(text, "abcd567");
}

Test(text, a_whole_text_is_kept_and_one_that_could_not_be_written_is_not)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    cr_assert(stream != NULL && fputs("whole", stream) >= 0);
    cr_assert(text_close(&text, stream) == STATUS_OK);
    cr_assert_str_eq(text, "whole");
    FILE *full = fopen("/dev/full", "w"); /* each byte that leaves the buffer fails */
    cr_assert(full != NULL && fputs("lost", full) >= 0);
    cr_assert(text_close(&text, full) == STATUS_NO_MEMORY);
    cr_assert(text == NULL);
}

/* As a stream that failed earlier and whose buffer is empty since. */
Test(text, an_earlier_failure_counts)
{
    char *text = strdup("part");
    FILE *full = fopen("/dev/full", "w");
    cr_assert(text != NULL && full != NULL && setvbuf(full, NULL, _IONBF, 0) == 0);
    (void)fputs("lost", full);
    cr_assert(text_close(&text, full) == STATUS_NO_MEMORY && text == NULL);
}
