#include "report/study.h"

#include "rendered.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct study *example(void)
{
    static const char *const columns[] = {"kind", "figure"};
    static const char *const row[] = {"<i>&\"'", "0.5"};
    struct study *study = calloc(1, sizeof *study);
    cr_assert(study != NULL);
    (void)strcpy(study->name, "example");
    (void)strcpy(study->title, "An <example> & more");
    (void)strcpy(study->lede, "What it is about.");
    study->seed = 7;
    study_claim(study, STUDY_AT_MOST, 0.5, 1, "a </script><script> of %d", 3);
    study_claim(study, STUDY_AT_LEAST, 2, 2, "another");
    struct study_chart *chart = study_chart(
        study,
        &(struct study_chart){.title = "<b>", .x_title = "x", .y_title = "y", .y_log = true});
    struct study_series *line = study_series(chart, STUDY_MEASURED, 4, "line");
    study_point(line, 1, 0.25);
    study_point(line, 2, NAN);
    (void)study_series(chart, STUDY_BOUND, 5, "empty");
    study_columns(&study->table, 2, columns);
    study_row(&study->table, 2, row);
    study_columns(&study->summary, 2, columns);
    study_row(&study->summary, 2, (const char *const[]){"the <worst>", "0.25"});
    return study;
}

Test(study, holds_when_every_claim_does_and_there_is_one)
{
    struct study *study = calloc(1, sizeof *study);
    cr_assert(study != NULL && !study_holds(study));
    study_claim(study, STUDY_AT_MOST, 1, 1, "equal");
    study_claim(study, STUDY_AT_LEAST, 1, 1, "equal");
    cr_assert(study_holds(study));
    study_claim(study, STUDY_AT_MOST, HUGE_VAL, HUGE_VAL, "equal, at infinity");
    cr_assert(study_holds(study));
    study_claim(study, STUDY_AT_MOST, 1.0000001, 1, "above");
    cr_assert(!study->claim[3].holds && !study_holds(study));
    free(study);
}

Test(study, no_number_holds_neither_way)
{
    struct study *study = calloc(1, sizeof *study);
    cr_assert(study != NULL);
    study_claim(study, STUDY_AT_MOST, NAN, 1, "measured");
    study_claim(study, STUDY_AT_LEAST, NAN, 1, "measured");
    study_claim(study, STUDY_AT_MOST, 1, NAN, "bound");
    study_claim(study, STUDY_AT_LEAST, 1, NAN, "bound");
    for (size_t i = 0; i < 4; i++) {
        cr_assert(!study->claim[i].holds);
    }
    free(study);
}

Test(study, json_says_all_and_that_it_is_not_private)
{
    struct study *study = example();
    char *text = NULL;
    cr_assert(study_to_json(&text, study) == STATUS_OK);
    json_t *root = json_loads(text, 0, NULL);
    cr_assert(root != NULL);
    cr_assert(json_is_false(json_object_get(root, "private")));
    cr_assert(json_is_true(json_object_get(root, "holds")));
    cr_assert(json_integer_value(json_object_get(root, "seed")) == 7);
    const json_t *claim = json_array_get(json_object_get(root, "claims"), 0);
    cr_assert_str_eq(json_string_value(json_object_get(claim, "sentence")),
                     "a </script><script> of 3");
    cr_assert_str_eq(json_string_value(json_object_get(claim, "relation")), "at most");
    cr_assert(json_real_value(json_object_get(claim, "measured")) == 0.5);
    const json_t *chart = json_array_get(json_object_get(root, "charts"), 0);
    const json_t *lines = json_object_get(chart, "series");
    cr_assert(json_array_size(lines) == 2 && json_is_true(json_object_get(chart, "y_log")));
    const json_t *points = json_object_get(json_array_get(lines, 0), "points");
    cr_assert(json_real_value(json_array_get(json_array_get(points, 0), 1)) == 0.25);
    cr_assert(json_is_null(json_array_get(json_array_get(points, 1), 1)));
    const json_t *rows = json_object_get(json_object_get(root, "table"), "rows");
    cr_assert_str_eq(json_string_value(json_array_get(json_array_get(rows, 0), 0)), "<i>&\"'");
    const json_t *worst = json_object_get(json_object_get(root, "summary"), "rows");
    cr_assert_str_eq(json_string_value(json_array_get(json_array_get(worst, 0), 1)), "0.25");
    json_decref(root);
    free(text);
    free(study);
}

Test(study, text_that_is_no_utf8_is_refused_wherever_it_stands)
{
    for (int where = 0; where < 7; where++) {
        struct study *study = example();
        char *const place[] = {study->title,
                               study->claim[1].sentence,
                               study->chart[0].title,
                               study->chart[0].series[1].name,
                               study->table.cell[0][1],
                               study->table.column[1],
                               study->summary.cell[0][0]};
        char *text = NULL;
        place[where][0] = (char)0xff;
        cr_expect(study_to_json(&text, study) == STATUS_INVALID && text == NULL, "%d", where);
        cr_expect(study_report(&text, study) == STATUS_INVALID && text == NULL, "%d", where);
        free(study);
    }
}

/* That the policy admits the page's own scripts alone, render.js demands. */
Test(study, page_escapes_every_text_and_admits_its_own_scripts_alone)
{
    struct study *study = example();
    char *page = NULL;
    cr_assert(study_report(&page, study) == STATUS_OK);
    cr_assert(strstr(page, "default-src 'none'") != NULL && strstr(page, "unsafe") == NULL);
    cr_assert(strstr(page, "</script><script> of") == NULL && strstr(page, "<i>") == NULL);
    page = rendered(page);
    cr_assert(strstr(page, "NOT PRIVATE") != NULL && strstr(page, "2 of 2 claims hold") != NULL);
    cr_assert(strstr(page, "An &lt;example&gt; &amp; more") != NULL);
    cr_assert(strstr(page, "a &lt;/script&gt;&lt;script&gt; of 3") != NULL);
    cr_assert(strstr(page, "<i>") == NULL && strstr(page, "<b>") != NULL); /* the brand's own */
    cr_assert(strstr(page, "&lt;i&gt;&amp;\"'</") != NULL, "the table's cell");
    cr_assert(strstr(page, "the &lt;worst&gt;</") != NULL && strstr(page, "The worst of each"));
    cr_assert(strstr(page, "<h3>&lt;b&gt;</h3>") != NULL);
    cr_assert(strstr(page, "<script") == NULL);
    cr_assert(strstr(page, "id=\"chart-0\"") != NULL && strstr(page, "id=\"chart-1\"") == NULL);
    free(page);
    study_claim(study, STUDY_AT_MOST, 2, 1, "false");
    cr_assert(study_report(&page, study) == STATUS_OK);
    page = rendered(page);
    cr_assert(strstr(page, "2 of 3 claims hold") != NULL && strstr(page, "<strong>NO</strong>"));
    free(page);
    study->summary.row_count = 0;
    cr_assert(study_report(&page, study) == STATUS_OK);
    page = rendered(page);
    cr_assert(strstr(page, "The worst of each") == NULL);
    free(page);
    free(study);
}
