#include "dictionary/dictionary.h"

#include <criterion/criterion.h>
#include <string.h>

static const char text[] = "hedgerow: 1\n"
                           "data_sets:\n"
                           "  - records: 1200\n"
                           "    columns:\n"
                           "      - {name: age, kind: number, unit: years, low: 0, high: 120}\n"
                           "      - {name: sex, kind: category, categories: [F, M]}\n"
                           "      - {name: note, kind: category}\n"
                           "      - {name: kappa, kind: number}\n";

Test(dictionary, of_a_site_tells_columns_kinds_and_records)
{
    struct dictionary d;
    struct why why = {{0}};
    cr_assert_eq(dictionary_parse(&d, (struct slice){text, strlen(text)}, "data.yml", &why),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(d.record_count, 1200);
    cr_assert_eq(d.column_count, 4);
    const struct dictionary_column *age = dictionary_find(&d, "age");
    const struct dictionary_column *sex = dictionary_find(&d, "sex");
    cr_assert(age->kind == DICTIONARY_NUMBER && age->low == 0 && age->high == 120);
    cr_assert_str_eq(age->unit, "years");
    cr_assert(sex->kind == DICTIONARY_CATEGORY && sex->category_count == 2);
    cr_assert_str_eq(sex->category[1], "M");
    cr_assert_eq(dictionary_find(&d, "note")->category_count, 0);
    cr_assert_eq(dictionary_find(&d, "kappa")->high, DICTIONARY_BOUND_MAX);
    cr_assert_null(dictionary_find(&d, "Age"));
    dictionary_free(&d);
    dictionary_free(&d);
}

Test(dictionary, names_the_separator_by_word_or_as_it_stands)
{
    static const struct {
        const char *line;
        char separator;
    } written[] = {{"", ','},
                   {"separator: comma", ','},
                   {"separator: semicolon", ';'},
                   {"separator: ;", ';'},
                   {"separator: \";\"", ';'},
                   {"separator: tab", '\t'},
                   {"separator: \",\"", ','}};
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        char changed[512];
        struct dictionary d;
        struct why why = {{0}};
        (void)snprintf(changed, sizeof changed,
                       "hedgerow: 1\ndata_sets:\n  - records: 12\n    %s\n    columns:\n"
                       "      - {name: age, kind: number}\n",
                       written[i].line);
        cr_assert_eq(dictionary_parse(&d, (struct slice){changed, strlen(changed)}, "d", &why),
                     STATUS_OK, "%s", why.text);
        cr_expect_eq(d.separator, written[i].separator, "%s", written[i].line);
        dictionary_free(&d);
    }
}

static const struct {
    const char *from, *to, *wanted;
} wrong[] = {
    {"  - records: 1200\n", "  - records: 1200\n    separator: semicolons\n",
     "data.yml:4:16: data_sets[0].separator: \"semicolons\" is not a choice; did you mean "
     "\"semicolon\"?"},
    {"  - records: 1200\n", "  - records: 1200\n    separator: \"|\"\n",
     "data.yml:4:16: data_sets[0].separator: \"|\" is not a choice; known here: comma, semicolon, "
     "tab, ,, ;"},
    {"  - records: 1200\n    columns", "  - columns",
     "data.yml:3:5: data_sets[0]: has no \"records\": add it, for example `records: 1200`"},
    {"1200", "1",
     "data.yml:3:14: data_sets[0].records: \"1\" is out of range: write a number from 2 to "
     "1000000000"},
    {"kind: number, unit", "unit",
     "data.yml:5:9: data_sets[0].columns[0]: has no \"kind\": add it, for example `kind: number`"},
    {"kind: category}", "kind: text}",
     "data.yml:7:28: data_sets[0].columns[2].kind: \"text\" is not a choice; known here: number, "
     "category"},
    {"name: kappa", "name: age",
     "data.yml:8:16: data_sets[0].columns[3].name: is listed twice: "
     "remove one"},
    {"low: 0", "low: 120", "data.yml:5:64: data_sets[0].columns[0].high: must be above low"},
    {"kind: category, categories", "kind: number, categories",
     "data.yml:6:47: data_sets[0].columns[1].categories: is for a column of categories: remove it, "
     "or write kind: category"},
    {"kind: category}", "kind: category, unit: m}",
     "data.yml:7:44: data_sets[0].columns[2].unit: is for a column of numbers: remove it, or write "
     "kind: number"},
    {"[F, M]", "[F, F]", "data.yml:6:49: data_sets[0].columns[1].categories: lists \"F\" twice"},
    {"data_sets:\n  - records", "columns: 3\ndata_sets:\n  - records",
     "data.yml:2:1: columns: \"columns\" is not a key here; known here: data_sets"},
};

Test(dictionary, that_is_wrong_is_refused_with_its_place)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char changed[1024];
        struct dictionary d;
        struct why why = {{0}};
        const char *at = strstr(text, wrong[i].from);
        cr_assert_not_null(at, "%s", wrong[i].from);
        (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, wrong[i].to,
                       at + strlen(wrong[i].from));
        cr_expect_eq(
            dictionary_parse(&d, (struct slice){changed, strlen(changed)}, "data.yml", &why),
            STATUS_INVALID, "%s", wrong[i].to);
        cr_expect_str_eq(why.text, wrong[i].wanted);
        cr_expect_null(d.column);
    }
}
