
#include "base/file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(folder, is_a_sorted_text_of_its_names)
{
    static const char *const name[] = {"b", "10", "2", ".hidden", "a"};
    char folder[64] = "/tmp/hedgerow-folder-XXXXXX";
    char path[128];
    char *text = NULL;
    size_t size = 0;
    struct why why = {""};
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(file_names(&text, &size, folder, &why), STATUS_OK);
    cr_expect(size == 0 && text[0] == '\0');
    free(text);
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, name[i]);
        cr_assert_eq(file_write(path, (struct slice){"", 0}, 0600, &why), STATUS_OK);
    }
    cr_assert_eq(file_names(&text, &size, folder, &why), STATUS_OK);
    cr_expect_str_eq(text, "10\n2\na\nb\n");
    cr_expect_eq(size, strlen(text));
    free(text);
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, name[i]);
        cr_assert_eq(unlink(path), 0);
    }
    cr_assert_eq(rmdir(folder), 0);
    cr_expect_eq(file_names(&text, &size, folder, &why), STATUS_NOT_FOUND);
    cr_expect_not_null(strstr(why.text, folder));
    cr_expect_null(text);
}
