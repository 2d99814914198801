#include "http/facts.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN, COUNTED, NAMED, WORDS, ROWS, EACH, EACH_STATE, EACH_ROW };

static const struct fact_family family[] = {
    [PLAIN] = {"plain", FACT_GAUGE, false, "A figure", {NULL}},
    [COUNTED] = {"counted_total", FACT_COUNTER, false, "Back\\slash and\nline", {"way"}},
    [NAMED] = {"named", FACT_GAUGE, false, "Names", {"phase"}},
    [WORDS] = {"words_info", FACT_INFO, false, "Words", {"a", "b"}},
    [ROWS] = {"rows", FACT_LIST, false, "Rows", {"x"}},
    [EACH] = {"each", FACT_GAUGE, true, "A figure of each job", {NULL}},
    [EACH_STATE] = {"each_state", FACT_GAUGE, true, "States of each job", {"state"}},
    [EACH_ROW] = {"each_row", FACT_LIST, true, "Rows of each job", {"x"}},
};

static struct facts *empty(void)
{
    struct facts *facts = facts_new(family, sizeof family / sizeof family[0]);
    cr_assert_not_null(facts);
    return facts;
}

/* The format's own words: prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4. */
Test(facts, are_written_in_prometheus_text_format_byte_for_byte)
{
    static const char *const words[] = {"say \"so\"", "back\\slash"};
    static const char *const names[] = {"on", "off"};
    struct facts *facts = empty();
    facts_set_of(facts, COUNTED, 3, "in");
    facts_set(facts, PLAIN, 0.5);
    facts_set_of(facts, COUNTED, 1e18, "out");
    facts_set_state(facts, NAMED, names, 2, "off");
    facts_add(facts, WORDS, 1, words);
    facts_set_of(facts, ROWS, 1, "only on the page");
    char *text = facts_metrics(facts);
    cr_assert_not_null(text);
    cr_expect_str_eq(text, "# HELP hedgerow_plain A figure\n"
                           "# TYPE hedgerow_plain gauge\n"
                           "hedgerow_plain 0.5\n"
                           "# HELP hedgerow_counted_total Back\\\\slash and\\nline\n"
                           "# TYPE hedgerow_counted_total counter\n"
                           "hedgerow_counted_total{way=\"in\"} 3\n"
                           "hedgerow_counted_total{way=\"out\"} 1e+18\n"
                           "# HELP hedgerow_named Names\n"
                           "# TYPE hedgerow_named gauge\n"
                           "hedgerow_named{phase=\"on\"} 0\n"
                           "hedgerow_named{phase=\"off\"} 1\n"
                           "# HELP hedgerow_words_info Words\n"
                           "# TYPE hedgerow_words_info gauge\n"
                           "hedgerow_words_info{a=\"say \\\"so\\\"\",b=\"back\\\\slash\"} 1\n");
    free(text);
    facts_free(facts);
}

/* What a person reads may be long; what stands before it in a row, and in the metrics, is a name. */
Test(facts, the_last_word_of_a_row_may_be_long)
{
    char words[2 * FACT_TEXT_BYTES];
    struct facts *facts = empty();
    memset(words, 'w', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    facts_set_of(facts, ROWS, 1, words);
    facts_set_of(facts, COUNTED, 1, words);
    char *text = facts_json(facts);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *of = json_object_get(root, "facts");
    const json_t *row = json_array_get(json_object_get(of, "rows"), 0);
    const json_t *counted = json_array_get(json_object_get(of, "counted_total"), 0);
    cr_expect_eq(json_string_length(json_object_get(row, "x")), FACT_TEXT_BYTES - 1);
    cr_expect_eq(json_string_length(json_object_get(counted, "way")), FACT_LABEL_BYTES - 1);
    json_decref(root);
    free(text);
    facts_free(facts);
}

Test(facts, without_any_are_an_empty_text_and_whole_json)
{
    struct facts *facts = empty();
    char *text = facts_metrics(facts);
    cr_assert_str_eq(text, "");
    free(text);
    text = facts_json(facts);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(root);
    cr_expect(json_is_null(json_object_get(json_object_get(root, "facts"), "plain")));
    cr_expect_eq(json_array_size(json_object_get(json_object_get(root, "facts"), "rows")), 0);
    json_decref(root);
    free(text);
    facts_free(facts);
}

Test(facts, that_have_no_bound_are_inf_and_null)
{
    struct facts *facts = empty();
    facts_set(facts, PLAIN, INFINITY);
    facts_set_of(facts, COUNTED, NAN, "a");
    facts_set_of(facts, COUNTED, -INFINITY, "b");
    char *text = facts_metrics(facts);
    cr_expect_not_null(strstr(text, "hedgerow_plain +Inf\n"));
    cr_expect_not_null(strstr(text, "{way=\"a\"} NaN\n"));
    cr_expect_not_null(strstr(text, "{way=\"b\"} -Inf\n"));
    free(text);
    text = facts_json(facts);
    json_t *root = json_loads(text, 0, NULL);
    cr_assert_not_null(root);
    cr_expect(json_is_null(json_object_get(json_object_get(root, "facts"), "plain")));
    json_decref(root);
    free(text);
    facts_free(facts);
}

static const json_t *member(const json_t *object, const char *first, const char *second)
{
    return json_object_get(json_object_get(object, first), second);
}

/* Two jobs with numbers, and what is of none. */
static struct facts *of_two_jobs(void)
{
    struct facts *facts = empty();
    facts_set(facts, PLAIN, 4);
    facts_of_job(facts, 3);
    facts_set(facts, EACH, 0.5);
    facts_set_of(facts, EACH_STATE, 1, "open");
    facts_set_of(facts, EACH_ROW, 1, "of job 3");
    facts_of_job(facts, 12);
    facts_set(facts, EACH, 2);
    facts_of_job(facts, 0);
    facts_set_of(facts, COUNTED, 3, "in");
    return facts;
}

Test(facts, of_jobs_have_the_number_as_their_first_label)
{
    struct facts *facts = of_two_jobs();
    char *text = facts_metrics(facts);
    cr_assert_not_null(text);
    cr_expect_not_null(strstr(text, "\nhedgerow_plain 4\n"));
    cr_expect_not_null(strstr(text, "{way=\"in\"} 3\n"));
    cr_expect_not_null(strstr(text, "# TYPE hedgerow_each gauge\n"
                                    "hedgerow_each{job_number=\"3\"} 0.5\n"
                                    "hedgerow_each{job_number=\"12\"} 2\n"
                                    "# HELP hedgerow_each_state"));
    cr_expect_not_null(strstr(text, "\nhedgerow_each_state{job_number=\"3\",state=\"open\"} 1\n"));
    free(text);
    facts_free(facts);
}

Test(facts, of_jobs_are_all_in_the_json_and_those_of_one_in_its_usual_place)
{
    struct facts *facts = of_two_jobs();
    facts_show_job(facts, 12);
    char *text = facts_json(facts);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(root, "%s", text);
    const json_t *jobs = json_object_get(root, "jobs");
    cr_assert_eq(json_array_size(jobs), 2);
    const json_t *first = json_array_get(jobs, 0);
    cr_expect_eq(json_integer_value(json_object_get(first, "job_number")), 3);
    cr_expect_float_eq(json_real_value(member(first, "facts", "each")), 0.5, 1e-12);
    cr_expect_eq(json_array_size(member(first, "facts", "each_state")), 1);
    cr_expect_null(member(first, "facts", "each_row"), "its lists are told where it is shown");
    cr_expect_null(member(first, "facts", "plain"), "of no job");
    cr_expect_eq(json_integer_value(json_object_get(root, "shown")), 12);
    cr_expect_eq(json_integer_value(member(root, "facts", "each")), 2);
    cr_expect_eq(json_integer_value(member(root, "facts", "plain")), 4);
    cr_expect_eq(json_array_size(member(root, "facts", "each_row")), 0, "another job's");
    json_decref(root);
    free(text);
    facts_free(facts);
}

/* The only job of a program has no number: its figures are as they were before there were several. */
Test(facts, of_the_only_job_have_no_number)
{
    struct facts *facts = empty();
    facts_set(facts, EACH, 7);
    char *text = facts_metrics(facts);
    cr_expect_not_null(strstr(text, "\nhedgerow_each 7\n"));
    free(text);
    text = facts_json(facts);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(root);
    cr_expect_eq(json_integer_value(member(root, "facts", "each")), 7);
    cr_expect_eq(json_array_size(json_object_get(root, "jobs")), 0);
    cr_expect(json_is_null(json_object_get(root, "shown")));
    json_decref(root);
    free(text);
    facts_free(facts);
}

/* A job's name and a site's come from elsewhere. */
Test(facts, with_hostile_labels_stay_one_line_and_whole_text)
{
    static const char *const hostile[] = {"\"} 1\nhedgerow_plain 7\n", "\xff\xfe not UTF-8",
                                          "\x01\x1b[31m\x7f",
                                          "</script><img src=x onerror=alert(1)>", "caf\xc3\xa9"};
    char wide[1000];
    struct facts *facts = empty();
    memset(wide, 'w', sizeof wide);
    memcpy(wide + 126, "\xc3\xa9", 3); /* cut in the middle of a letter */
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        facts_set_of(facts, COUNTED, (double)i, hostile[i]);
    }
    facts_set_of(facts, COUNTED, 9, wide);
    char *text = facts_metrics(facts);
    size_t lines = 0;
    for (const char *at = text; *at != '\0'; at++) {
        cr_expect((unsigned char)*at >= ' ' || *at == '\n');
        lines += *at == '\n' ? 1 : 0;
    }
    cr_expect_eq(lines, 2 + 6, "%s", text);
    cr_expect_null(strstr(text, "\nhedgerow_plain"));
    cr_expect_not_null(strstr(text, "caf\xc3\xa9"));
    free(text);
    text = facts_json(facts);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(root, "%s", text);
    cr_expect_eq(json_array_size(json_object_get(json_object_get(root, "facts"), "counted_total")),
                 6);
    json_decref(root);
    free(text);
    facts_free(facts);
}

Test(facts, beyond_the_room_are_nothing_and_not_a_part)
{
    struct facts *facts = empty();
    for (size_t i = 0; i < FACTS_MAX + 1; i++) {
        facts_set(facts, PLAIN, 1);
    }
    cr_expect_null(facts_metrics(facts));
    cr_expect_null(facts_json(facts));
    facts_free(facts);
}
