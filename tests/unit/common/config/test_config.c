#include "example.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(config, fills_every_type_and_the_fallbacks)
{
    struct example x;
    struct config *config = NULL;
    struct why why = {{0}};
    cr_assert_eq(example_read(&x, &config,
                              "# a comment\n"
                              "hedgerow: 1\n"
                              "title: \"a: title\"\n"
                              "id: some-id.2\n"
                              "count: 7\n"
                              "micro: 0.1234569\n"
                              "share: 0.125\n"
                              "colours: [green, red]\n"
                              "inner: {rate: -5e-1}\n"
                              "items:\n"
                              "  - {column: no}\n"
                              "  - column: 'b c'\n"
                              "    size: 9\n"
                              "rates:\n"
                              "- 0\n"
                              "- 1.0\n"
                              "rows:\n"
                              "  - [1, 2, 3]\n"
                              "  - - 4\n",
                              &why),
                 STATUS_OK, "%s", why.text);
    cr_assert_str_eq(x.title, "a: title");
    cr_assert_str_eq(x.id, "some-id.2");
    cr_assert_eq(x.count, 7);
    cr_assert_eq(x.micro, 123456);
    cr_assert_eq(x.share, 125);
    cr_assert_eq(x.colour, 2);
    cr_assert(x.set[0] && x.set[1] && !x.set[2]);
    cr_assert_eq(x.inner.rate, -0.5);
    cr_assert(x.inner.on);
    cr_assert_eq(x.absent.rate, 0.25);
    cr_assert(x.absent.on);
    cr_assert_eq(x.item_count, 2);
    cr_assert_str_eq(x.item[0].column, "no", "a text is never taken for a truth value");
    cr_assert_eq(x.item[0].size, 3);
    cr_assert_str_eq(x.item[1].column, "b c");
    cr_assert_eq(x.item[1].size, 9);
    cr_assert_eq(x.rate_count, 2);
    cr_assert_eq(x.rate[1], 1.0);
    cr_assert(x.row_count == 2 && x.row[0].cell_count == 3 && x.row[1].cell_count == 1);
    cr_assert(x.row[0].cell[2] == 3 && x.row[1].cell[0] == 4);
    cr_assert(config_has(config, "rows[0][2]") && !config_has(config, "rows[1][1]"));
    cr_assert(config_has(config, "items[1].size"));
    cr_assert(config_has(config, "items.1.size"));
    cr_assert_not(config_has(config, "items[0].size"));
    cr_assert_not(config_has(config, "items[2]"));
    cr_assert_not(config_has(config, "count.0"));
    config_free(config);
}

Test(config, refuse_points_at_what_should_hold_a_missing_value)
{
    struct example x;
    struct config *config = NULL;
    struct why why = {{0}};
    cr_assert_eq(example_read(&x, &config, "hedgerow: 1\ncount: 7\nitems:\n  - column: a\n", &why),
                 STATUS_OK);
    cr_assert_eq(config_refuse(config, &why, "items[0].size", "%s", "is missing"), STATUS_INVALID);
    cr_assert_str_eq(why.text, "x.yml:4:5: items[0].size: is missing");
    cr_assert_eq(config_refuse(config, NULL, "count", "%s", "no listener"), STATUS_INVALID);
    config_free(config);
}

Test(config, load_reads_a_file_and_names_what_it_cannot)
{
    char *text = NULL;
    size_t size = 0;
    struct why why = {{0}};
    cr_assert_eq(config_load(&text, &size, "/nonexistent/x.yml", &why), STATUS_IO);
    cr_assert_str_eq(why.text, "/nonexistent/x.yml: cannot be opened: No such file or directory");
    cr_assert_eq(config_load(&text, &size, "/tmp", &why), STATUS_INVALID);
    cr_assert_str_eq(why.text, "/tmp: is a folder, not a file");
    cr_assert_eq(config_load(&text, &size, "/dev/zero", &why), STATUS_INVALID);
    cr_assert_null(text);
    cr_assert_eq(config_load(&text, &size, "/dev/null", &why), STATUS_OK);
    cr_assert_eq(size, 0);
    free(text);
}
