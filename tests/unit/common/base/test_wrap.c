#include "base/text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *wrapped(int used, int indent, const char *text)
{
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    cr_assert_not_null(file);
    text_wrap(file, used, indent, "%s", text);
    (void)fclose(file);
    return out;
}

Test(wrap, breaks_at_spaces_and_fits_80_columns)
{
    char words[512] = "";
    for (int i = 0; i < 40; i++) {
        (void)strcat(words, i == 0 ? "word" : " word56789");
    }
    char *out = wrapped(21, 21, words);
    size_t count = 0;
    for (char *line = strtok(out, "\n"); line != NULL; line = strtok(NULL, "\n"), count++) {
        const size_t used = count == 0 ? 21 : 0;
        cr_expect_leq(strlen(line) + used, 79);
        cr_expect_geq(strlen(line) + used, count == 7 ? 0 : 60);
        cr_expect(count == 0 || strncmp(line, "                     w", 22) == 0);
    }
    cr_expect_eq(count, 8, "%zu", count);
    free(out);
}

Test(wrap, keeps_a_word_that_is_longer_than_a_line)
{
    char text[128] = "";
    (void)memset(text, 'p', 100);
    (void)strcpy(text + 100, " end");
    char *out = wrapped(0, 2, text);
    cr_expect_eq(strcspn(out, "\n"), 100);
    cr_expect_str_eq(out + 100, "\n  end\n");
    free(out);
}
