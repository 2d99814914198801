/* Texts that are refused. The message says where, what is wrong and what to write. */

#include "example.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct refusal {
    const char *text;    /* after the first line `hedgerow: 1` */
    const char *message; /* whole */
};

static const struct refusal refusals[] = {
    {"count: 1\nrows: [[1], 2]\n",
     "x.yml:3:13: rows[1]: is a single value, not a list: write it like [[1, 2]]"},
    {"count: 1\nrows: [[1], []]\n", "x.yml:3:13: rows[1]: is an empty list: write it like [1, 2]"},
    {"count: 1\nrows: [[1], [2, 10]]\n",
     "x.yml:3:17: rows[1][1]: \"10\" is out of range: write a number from 0 to 9"},
    {"count: 1\nrows: [[1, 2, 3, 4]]\n", "x.yml:3:8: rows[0]: has 4 items: at most 3 are read"},
    {"count: 1\nrows: [[1, [2]]]\n",
     "x.yml:3:12: rows[0][1]: is a list, not a single value: write it like [1, 2]"},
    {"count: 1\nrows: [{cell: 1}]\n",
     "x.yml:3:8: rows[0]: is a table, not a list: write it like [[1, 2]]"},
    {"count: 1,5\n", "x.yml:2:8: count: \"1,5\" has a decimal comma, and is no whole number"},
    {"count: 1.5\n", "x.yml:2:8: count: \"1.5\" is not a whole number: write it like 7"},
    {"count: seven\n", "x.yml:2:8: count: \"seven\" is not a whole number: write it like 7"},
    {"count: \"7\"\n",
     "x.yml:2:8: count: \"7\" is a text, because it is in quotes: remove the quotes"},
    {"count: 7\ninner: {rate: '0.5'}\n",
     "x.yml:3:15: inner.rate: \"0.5\" is a text, because it is in quotes: remove the quotes"},
    {"count: 0\n", "x.yml:2:8: count: \"0\" is out of range: write a number from 1 to 100"},
    {"count: -1\n", "x.yml:2:8: count: \"-1\" is out of range: write a number from 1 to 100"},
    {"count: 101\n", "x.yml:2:8: count: \"101\" is out of range: write a number from 1 to 100"},
    {"count: 1e2000\n",
     "x.yml:2:8: count: \"1e2000\" is out of range: write a number from 1 to 100"},
    {"count:\n", "x.yml:2:7: count: has no value: write it like 7"},
    {"count: [7]\n", "x.yml:2:8: count: is a list, not a single value: write it like 7"},
    {"count: {a: 7}\n", "x.yml:2:8: count: is a table, not a single value: write it like 7"},
    {"count: .nan\n", "x.yml:2:8: count: \".nan\" is not a whole number: write it like 7"},
    {"count: 0x7\n", "x.yml:2:8: count: \"0x7\" is not a whole number: write it like 7"},
    {"count: 7\ncuont: 8\n",
     "x.yml:3:1: cuont: \"cuont\" is not a key here; did you mean \"count\"?"},
    {"count: 7\nzebra: 8\n",
     "x.yml:3:1: zebra: \"zebra\" is not a key here; known here: title, id, count, micro, share, colour, colours, inner, absent, items, rates, rows"},
    {"count: 7\ncount: 8\n", "x.yml:3:1: count: is there twice: remove one"},
    {"title: a\n", "x.yml:1:1: has no \"count\": add it, for example `count: 7`"},
    {"count: 7\nmicro: 0.0000001\n",
     "x.yml:3:8: micro: \"0.0000001\" is out of range: write a number from 0.000001 to 2"},
    {"count: 7\nmicro: 2.1\n",
     "x.yml:3:8: micro: \"2.1\" is out of range: write a number from 0.000001 to 2"},
    {"count: 7\nmicro: .inf\n", "x.yml:3:8: micro: \".inf\" is not a number: write it like 0.5"},
    {"count: 7\nmicro: 0,5\n", "x.yml:3:8: micro: \"0,5\" has a decimal comma: write 0.5"},
    {"count: 7\nmicro: \"0,5\"\n", "x.yml:3:8: micro: \"0,5\" has a decimal comma: write 0.5"},
    {"count: 7,0\n", "x.yml:2:8: count: \"7,0\" has a decimal comma, and is no whole number"},
    {"count: 3,200\n", "x.yml:2:8: count: \"3,200\" has a comma: write 3200"},
    {"count: 7\nitems: [{column: a, size: 3,200}]\n",
     "x.yml:3:27: items[0].size: \"3,200\" has a comma: write 3200"},
    {"count: 7\nshare: 0.1234\n",
     "x.yml:3:8: share: \"0.1234\" has more than 3 decimal places: round it"},
    {"count: 7\ncolour: gren\n",
     "x.yml:3:9: colour: \"gren\" is not a choice; did you mean \"green\"?"},
    {"count: 7\ncolour: erd\n",
     "x.yml:3:9: colour: \"erd\" is not a choice; did you mean \"red\"?"},
    {"count: 7\ncolour: bred\n",
     "x.yml:3:9: colour: \"bred\" is not a choice; did you mean \"red\"?"},
    {"count: 7\ncolour: breed\n",
     "x.yml:3:9: colour: \"breed\" is not a choice; known here: red, green, blue"},
    {"count: 7\ncolour: purple\n",
     "x.yml:3:9: colour: \"purple\" is not a choice; known here: red, green, blue"},
    {"count: 7\ncolours: [red, red]\n", "x.yml:3:16: colours[1]: is there twice: remove one"},
    {"count: 7\ncolours: [mauve]\n",
     "x.yml:3:11: colours[0]: \"mauve\" is not a choice; known here: red, green, blue"},
    {"count: 7\ncolours: red\n",
     "x.yml:3:10: colours: is a single value, not a list: write it like [red]"},
    {"count: 7\ncolours: [[red]]\n",
     "x.yml:3:11: colours[0]: is a list, not a single value: write it like [red]"},
    {"count: 7\ninner: {on: yess}\n",
     "x.yml:3:13: inner.on: \"yess\" is neither true nor false: write one of the two"},
    {"count: 7\ninner: {on: yes}\n",
     "x.yml:3:13: inner.on: \"yes\" is neither true nor false: write one of the two"},
    {"count: 7\ninner: {on: \"true\"}\n",
     "x.yml:3:13: inner.on: \"true\" is a text, because it is in quotes: remove the quotes"},
    {"count: 7\ninner: {rate: NaN}\n",
     "x.yml:3:15: inner.rate: \"NaN\" is not a number: write it like 0.5"},
    {"count: 7\ninner: {rate: 1,5}\n",
     "x.yml:3:15: inner.rate: \"1,5\" has a decimal comma: write 1.5"},
    {"count: 7\ninner: {rate: 0.5, 5}\n",
     "x.yml:3:20: inner.5: \"5\" is not a key here; known here: rate, on"},
    {"count: 7\ninner: {on: true, 5}\n",
     "x.yml:3:19: inner.5: \"5\" is not a key here; known here: rate, on"},
    {"count: 7\ninner: {rate: 2}\n",
     "x.yml:3:15: inner.rate: \"2\" is out of range: write a number from -1 to 1"},
    {"count: 7\ninner: {rate: 1e999}\n",
     "x.yml:3:15: inner.rate: \"1e999\" is out of range: write a number from -1 to 1"},
    {"count: 7\ninner: 5\n",
     "x.yml:3:8: inner: is a single value, not a table: write it like {rate: 0.5}"},
    {"count: 7\ninner: {rat: 1}\n",
     "x.yml:3:9: inner.rat: \"rat\" is not a key here; did you mean \"rate\"?"},
    {"count: 7\nitems:\n  - column: a\n    size: 10\n",
     "x.yml:5:11: items[0].size: \"10\" is out of range: write a number from 1 to 9"},
    {"count: 7\nitems:\n  - size: 2\n",
     "x.yml:4:5: items[0]: has no \"column\": add it, for example `column: age`"},
    {"count: 7\nitems:\n  - column: a\n  - column: b\n    colunm: c\n",
     "x.yml:6:5: items[1].colunm: \"colunm\" is not a key here; did you mean \"column\"?"},
    {"count: 7\nitems: []\n", "x.yml:3:8: items: is an empty list: write it like [{column: age}]"},
    {"count: 7\nitems: [{column: a}, {column: a}, {column: a}, {column: a}]\n",
     "x.yml:3:8: items: has 4 items: at most 3 are read"},
    {"count: 7\nitems: [a]\n",
     "x.yml:3:9: items[0]: is a single value, not a table: write it like [{column: age}]"},
    {"count: 7\nitems: {column: a}\n",
     "x.yml:3:8: items: is a table, not a list: write it like [{column: age}]"},
    {"count: 7\nrates: [0.1, 2]\n",
     "x.yml:3:14: rates[1]: \"2\" is out of range: write a number from 0 to 1"},
    {"count: 7\nrates: [0.1, [2]]\n",
     "x.yml:3:14: rates[1]: is a list, not a single value: write it like [0.1, 0.2]"},
    {"count: 7\ntitle: \"\"\n",
     "x.yml:3:8: title: has no value: write it like a title, or remove the key"},
    {"count: 7\ntitle: ~\n",
     "x.yml:3:8: title: has no value: write it like a title, or remove the key"},
    {"count: 7\ntitle: null\n",
     "x.yml:3:8: title: has no value: write it like a title, or remove the key"},
    {"count: 7\ntitle: 1234567890123456\n", "x.yml:3:8: title: is longer than 15 bytes"},
    {"count: 7\nid: -a\n",
     "x.yml:3:5: id: may hold the letters a-z and A-Z, digits, '.', '_' and '-', beginning with a letter or digit: for example some-id"},
    {"count: 7\nid: a/b\n",
     "x.yml:3:5: id: may hold the letters a-z and A-Z, digits, '.', '_' and '-', beginning with a letter or digit: for example some-id"},
    {"count: 7\nid: \"a b\"\n",
     "x.yml:3:5: id: may hold the letters a-z and A-Z, digits, '.', '_' and '-', beginning with a letter or digit: for example some-id"},
    {"count: &a 7\n",
     "x.yml:2:8: anchors (&) and aliases (*) are not read: write the value out, in quotes if it begins so"},
    {"count: 7\nmicro: *a\n",
     "x.yml:3:8: anchors (&) and aliases (*) are not read: write the value out, in quotes if it begins so"},
    {"count: !!int 7\n",
     "x.yml:2:8: tags (!) are not read: leave it out, or put a value that begins so in quotes"},
    {"count: ! 7\n",
     "x.yml:2:8: tags (!) are not read: leave it out, or put a value that begins so in quotes"},
    {"count: 7\ninner: !!map {rate: 1}\n",
     "x.yml:3:8: tags (!) are not read: leave it out, or put a value that begins so in quotes"},
    {"count: 7\nrates: &r [0]\n",
     "x.yml:3:8: anchors (&) and aliases (*) are not read: write the value out, in quotes if it begins so"},
    {"count: 7\n<<: {id: a}\n",
     "x.yml:3:1: <<: \"<<\" is not a key here; known here: title, id, count, micro, share, colour, colours, inner, absent, items, rates, rows"},
    {"count: 7\n---\ncount: 8\n", "x.yml:3:1: a second document begins: keep one per file"},
    {"count: 7\n...\n---\nhedgerow: 1\n", "x.yml:4:1: a second document begins: keep one per file"},
    {"count: 7\ntitle: |\n  a\n",
     "x.yml:3:8: a value goes over several lines: write it on one, close its quotes, and indent keys alike"},
    {"count: 7\ntitle: a\n  b\n",
     "x.yml:3:8: a value goes over several lines: write it on one, close its quotes, and indent keys alike"},
    {"count: 7\ntitle: \"a\\tb\"\n", "x.yml:3:8: a value holds a control character: remove it"},
    {"count: 7\ntitle: \"a\\u0085b\"\n", "x.yml:3:8: a value holds a control character: remove it"},
    {"count: 7\ntitle: \"a\\u2028b\"\n", "x.yml:3:8: a value holds a control character: remove it"},
    {"count: 7\ntitle: \"a\\u2029b\"\n", "x.yml:3:8: a value holds a control character: remove it"},
    {"count: 7\n? [a]\n: 8\n", "x.yml:3:3: a key is one word, not a list or a table"},
    {"count: [7\n",
     "x.yml:3:1: did not find expected ',' or ']' while parsing a flow sequence that begins at line 2: check indentation, brackets and quotes"},
    {"count: 7\n title: x\n",
     "x.yml:2:8: a value goes over several lines: write it on one, close its quotes, and indent keys alike"},
    {"count: 7\n\ttitle: x\n", "x.yml:3:1: the line is indented with a tab: use spaces"},
    {"count: 7\ninner:\n  \trate: 1\n", "x.yml:4:3: the line is indented with a tab: use spaces"},
    {"count: 7\ntitle: \"x\n",
     "x.yml:4:1: found unexpected end of stream while scanning a quoted scalar that begins at line 3: check indentation, brackets and quotes"},
    {"count: 7\ntitle: \377\n",
     "x.yml:3:8: invalid leading UTF-8 octet: save the file as UTF-8 text"},
    {"%TAG ! tag:x,2000:\n",
     "x.yml:3:1: did not find expected <document start>: check indentation, brackets and quotes"},
    {"count: 7\nt\303\257tle: x\n",
     "x.yml:3:1: t??tle: \"t??tle\" is not a key here; did you mean \"title\"?"},
};

Test(config_refusals, refuses_with_place_path_and_remedy)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct example x;
        struct config *config = NULL;
        struct why why = {{0}};
        char text[2048];
        (void)snprintf(text, sizeof text, "hedgerow: 1\n%s", refusals[i].text);
        cr_assert_eq(example_read(&x, &config, text, &why), STATUS_INVALID, "accepted: %s", text);
        cr_expect_str_eq(why.text, refusals[i].message, "%s\ngave: %s", text, why.text);
        config_free(config);
    }
}

Test(config_refusals, refuses_a_text_without_its_version)
{
    static const struct {
        const char *text;
        enum status status;
        const char *message;
    } list[] = {
        {"", STATUS_INVALID,
         "x.yml:1:1: the file is empty: write its keys; docs/JOBS.md and docs/REFERENCE.md "
         "have examples"},
        {"# only this\n", STATUS_INVALID,
         "x.yml:1:1: the file is empty: write its keys; docs/JOBS.md and docs/REFERENCE.md "
         "have examples"},
        {"age,sex,died\n44,F,1\n", STATUS_INVALID,
         "x.yml:1:1: this line is of a table of records; give a YAML text that begins with "
         "`hedgerow: 1`"},
        {"7\n", STATUS_INVALID, "x.yml:1:1: is not a table: begin with `hedgerow: 1`"},
        {"- 7\n", STATUS_INVALID, "x.yml:1:1: is not a table: begin with `hedgerow: 1`"},
        {"count: 7\n", STATUS_INVALID,
         "x.yml:1:1: the version is missing: begin with `hedgerow: 1`"},
        {"count: 7\nhedgerow: [1]\n", STATUS_INVALID,
         "x.yml:2:11: hedgerow: is not a version: write 1"},
        {"hedgerow: one\n", STATUS_INVALID,
         "x.yml:1:11: hedgerow: \"one\" is not a whole number: write it like 1"},
        {"later: key\nhedgerow: 2\n", STATUS_UNSUPPORTED,
         "x.yml:2:11: hedgerow: is version 2, and this program reads version 1: use a matching "
         "program, or rewrite the file"},
        {"hedgerow: 1\nhedgerow: 1\ncount: 7\n", STATUS_INVALID,
         "x.yml:2:1: hedgerow: is there twice: remove one"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct example x;
        struct config *config = NULL;
        struct why why = {{0}};
        cr_expect_eq(example_read(&x, &config, list[i].text, &why), list[i].status, "%s",
                     list[i].text);
        cr_expect_str_eq(why.text, list[i].message, "%s\ngave: %s", list[i].text, why.text);
        config_free(config);
    }
}

/* Makes `unit` repeated, between two ends. */
static char *repeated(const char *before, const char *unit, size_t count, const char *after)
{
    size_t size = strlen(before) + count * strlen(unit) + strlen(after) + 1;
    char *text = malloc(size);
    char *at = stpcpy(text, before);
    for (size_t i = 0; i < count; i++) {
        at = stpcpy(at, unit);
    }
    (void)stpcpy(at, after);
    return text;
}

static void expect_refused(char *text, const char *part)
{
    struct example x;
    struct config *config = NULL;
    struct why why = {{0}};
    cr_expect_eq(example_read(&x, &config, text, &why), STATUS_INVALID);
    cr_expect(strstr(why.text, part) != NULL, "gave: %s", why.text);
    config_free(config);
    free(text);
}

Test(config_refusals, refuses_depth_and_size_before_they_cost)
{
    expect_refused(repeated("hedgerow: 1\ncount: ", "[", 17, ""), "more than 16 levels");
    expect_refused(repeated("hedgerow: 1\ncount: ", "[", 65000, ""), "more than 16 levels");
    expect_refused(repeated("hedgerow: 1\ncount: ", "{a: ", 16000, ""), "more than 16 levels");
    expect_refused(repeated("hedgerow: 1\ncount:\n", "- ", 32000, "1"), "more than 16 levels");
    expect_refused(repeated("hedgerow: 1\ncount: 7\n", "#", 65536, ""), "more than the 65536");
    expect_refused(repeated("hedgerow: 1\ncount: [", "[],", 21000, "]"), "is a list");
    expect_refused(repeated("hedgerow: 1\ncount: {", "a,", 30000, "b}"), "is a table");
}

Test(config_refusals, a_text_of_the_largest_size_is_read)
{
    char *text = repeated("hedgerow: 1\ncount: 7\n", "#", 65536 - 21, "");
    struct example x;
    struct config *config = NULL;
    struct why why = {{0}};
    cr_assert_eq(strlen(text), 65536);
    cr_assert_eq(example_read(&x, &config, text, &why), STATUS_OK, "%s", why.text);
    config_free(config);
    free(text);
}

Test(config_refusals, a_zero_byte_hides_nothing)
{
    static const char text[] = "hedgerow: 1\ncount: 7\0 evil: 1\n";
    struct example x = {0};
    struct config *config = NULL;
    struct why why = {{0}};
    cr_assert_eq(config_open(&config, (struct slice){text, sizeof text - 1}, "x.yml", &why),
                 STATUS_INVALID);
    config_free(config);
    static const char quoted[] = "hedgerow: 1\ncount: 7\ntitle: \"a\\0b\"\n";
    cr_assert_eq(config_open(&config, (struct slice){quoted, sizeof quoted - 1}, "x.yml", &why),
                 STATUS_INVALID);
    cr_assert_str_eq(why.text, "x.yml:3:8: a value holds a control character: remove it");
    cr_assert_eq(x.count, 0);
}

static void refuses(const char *text, size_t size, const char *message)
{
    struct config *config = NULL;
    struct why why = {{0}};
    cr_assert_eq(config_open(&config, (struct slice){text, size}, "x.yml", &why), STATUS_INVALID);
    cr_expect_str_eq(why.text, message);
}

Test(config_refusals, names_marks_that_no_editor_shows)
{
    static const char bom[] = "\357\273\277hedgerow: 1\ncount: 7\n";
    static const char wide[] = "\377\376h\0e\0d\0";
    refuses(
        bom, sizeof bom - 1,
        "x.yml:1:1: the file begins with a byte order mark (BOM), which no editor shows: save it as UTF-8 "
        "without BOM");
    refuses(wide, sizeof wide - 1, "x.yml:1:1: the file is UTF-16: save it as UTF-8");
    static const char inside[] = "hedgerow: 1\n\357\273\277count: 7\n";
    refuses(
        inside, sizeof inside - 1,
        "x.yml:2:1: a byte order mark (BOM), which no editor shows: delete the line and type it "
        "again");
}

/* Planted: one at a time takes as many runs as keys are missing. */
Test(config_refusals, names_all_missing_keys_at_once)
{
    struct both {
        uint32_t first, second, third;
    } both = {0};
    static const struct config_key keys[] = {{.name = "first",
                                              .type = CONFIG_INTEGER,
                                              .required = true,
                                              CONFIG_IN(struct both, first),
                                              .max = 9,
                                              .example = "1"},
                                             {.name = "second",
                                              .type = CONFIG_INTEGER,
                                              CONFIG_IN(struct both, second),
                                              .max = 9,
                                              .example = "2"},
                                             {.name = "third",
                                              .type = CONFIG_INTEGER,
                                              .required = true,
                                              CONFIG_IN(struct both, third),
                                              .max = 9,
                                              .example = "3"},
                                             {.name = NULL}};
    struct config *config = NULL;
    struct why why = {{0}};
    static const char text[] = "hedgerow: 1\n";
    cr_assert_eq(config_open(&config, (struct slice){text, sizeof text - 1}, "x.yml", &why),
                 STATUS_OK);
    cr_assert_eq(config_read(config, &both, keys, &why), STATUS_INVALID);
    cr_expect_str_eq(
        why.text,
        "x.yml:1:1: has no \"first\", \"third\": add them, for example `first: 1`, `third: 3`");
    config_free(config);
}
