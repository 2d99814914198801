/* The page as its reader sees it, once its scripts ran (rendered.h): what comes from outside is text in it and never
 * markup; it says when it is not private. */

#include "job/trust.h"
#include "report/result_fields.h"

#include "drawn.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(html, escapes_text)
{
    struct result result = example_result();
    (void)snprintf(result.job, sizeof result.job, "%s", "<b a=\"'\">&\n\x01$&{seed}");
    char *page = made(&result);
    cr_assert(
        strstr(page, "\"job\": \"\\u003cb a=\\\"'\\\"\\u003e\\u0026\\n\\u0001$\\u0026{seed}\"") !=
        NULL);
    free(page);
    page = drawn(&result);
    cr_assert(
        strstr(page, "<span>&lt;b a=\"'\"&gt;&amp;\xef\xbf\xbd\xef\xbf\xbd$&amp;{seed}</span>") !=
            NULL,
        "%s", page);
    free(page);
    result_free(&result);
}

Test(html, lets_no_name_become_markup)
{
    static const char hostile[] = "</script></title><script>alert(1)</script>\"'<img src=x>";
    struct result clean = example_result();
    struct result result = example_result();
    char *before = made(&clean);
    (void)snprintf(result.job, sizeof result.job, "%s", hostile);
    (void)snprintf(result.expert[0].name, RESULT_NAME_BYTES, "%s", hostile);
    (void)snprintf(result.agent[0].name, RESULT_NAME_BYTES, "%s", hostile);
    (void)snprintf(result.round[0].stage, RESULT_NAME_BYTES, "%s", hostile);
    (void)snprintf(result.round[2].note, strlen("age >= 71.5") + 1, "%s", "<img x>");
    (void)snprintf(result.answer[0].name, RESULT_TEXT_BYTES, "%s", hostile);
    (void)snprintf(result.answer[0].note, RESULT_TEXT_BYTES, "%s", hostile);
    (void)snprintf(result.answer[0].unit, RESULT_NAME_BYTES, "%s", hostile);
    (void)snprintf(result.release[0].task, RESULT_NAME_BYTES, "%s", hostile);
    (void)snprintf(result.release[0].what, RESULT_TEXT_BYTES, "%s", hostile);
    (void)snprintf(result.release[0].unit, RESULT_NAME_BYTES, "%s", hostile);
    (void)snprintf(result.release[0].mechanism, RESULT_NAME_BYTES, "%s", hostile);
    (void)snprintf(result.privacy.trust, RESULT_NAME_BYTES, "%s", hostile);
    (void)snprintf(result.privacy.sent, RESULT_TEXT_BYTES, "%s", hostile);
    (void)snprintf(result.privacy.noise, RESULT_TEXT_BYTES, "%s", hostile);
    (void)snprintf(result.privacy.unit, RESULT_NAME_BYTES, "%s", hostile);
    (void)snprintf(result.version, sizeof result.version, "<script>");
    char *after = made(&result);
    cr_assert(strstr(after, "alert(1)") != NULL, "the names are there at all");
    cr_assert(strstr(after, "<img") == NULL);
    cr_assert(occurrences(after, "<script") == occurrences(before, "<script"));
    cr_assert(occurrences(after, "</script") == occurrences(before, "</script"));
    cr_assert(occurrences(after, "</title") == 1);
    after = rendered(after);
    cr_assert(occurrences(after, "alert(1)") > 15, "and shown, each where it belongs");
    cr_assert(strstr(after, "<img") == NULL && strstr(after, "<script") == NULL);
    cr_assert(strstr(after, "</script") == NULL && occurrences(after, "</title") == 1);
    free(before);
    free(after);
    result_free(&clean);
    result_free(&result);
}

Test(html, shows_answers_with_their_bars_and_what_they_cost)
{
    struct result result = example_result();
    char *page = drawn(&result);
    cr_assert(strstr(page, "count: age &gt;= 60") != NULL);
    cr_assert(strstr(page, "<td>970.5 to 1030.5</td>") != NULL);
    cr_assert(strstr(page, "exact <span class=\"tag\">simulator only</span>") != NULL);
    cr_assert(strstr(page, "<td>987</td>") != NULL);
    cr_assert(occurrences(page, "<circle class=\"told\"") == EXAMPLE_ANSWERS);
    cr_assert(occurrences(page, "<line class=\"exact\"") == 1);
    cr_assert(strstr(page, "\xc2\xb1 12.5 records") != NULL);
    cr_assert(strstr(page, "at most 30.5 records (95 %)") != NULL);
    cr_assert(strstr(page, "0.6250, \xce\xb4 = 0.000977") != NULL, "no epsilon without its delta");
    cr_assert(strstr(page, "age &gt;= 71.5") != NULL);
    cr_assert(strstr(page, "nan") == NULL && strstr(page, "NaN") == NULL &&
              strstr(page, "undefined") == NULL);
    free(page);
    result.answer[0].exact = NAN;
    result.point[0].exact = NAN;
    result.answer[0].low = INFINITY;
    page = drawn(&result);
    cr_assert(strstr(page, "exact <span") == NULL, "a deployment has no such column");
    cr_assert(strstr(page, "inf ") == NULL && strstr(page, "\"inf") == NULL &&
              strstr(page, "Infinity") == NULL);
    free(page);
    result_free(&result);
}

static void trust_in(struct result *result, enum job_trust trust)
{
    (void)snprintf(result->privacy.trust, RESULT_NAME_BYTES, "%s", trust_at(trust)->name);
    (void)snprintf(result->privacy.sent, RESULT_TEXT_BYTES, "%s", trust_at(trust)->sent);
    (void)snprintf(result->privacy.noise, RESULT_TEXT_BYTES, "%s", trust_at(trust)->noise);
}

Test(html, promises_no_more_than_the_trust_gives)
{
    struct result result = example_result();
    char *page = drawn(&result);
    cr_assert(strstr(page, "The trust was \xe2\x80\x9clocal\xe2\x80\x9d.") != NULL,
              "a file of before does not say who adds the noise");
    free(page);
    trust_in(&result, TRUST_LOCAL);
    page = drawn(&result);
    cr_assert(strstr(page, "adds its noise itself") != NULL);
    cr_assert(strstr(page, "answers that carry noise") != NULL);
    free(page);
    trust_in(&result, TRUST_CENTRAL);
    result.regret.average = NAN;
    for (size_t i = 0; i < result.round_count; i++) {
        free(result.round[i].loss);
        free(result.round[i].weight);
        result.round[i].loss = NULL;
        result.round[i].weight = NULL;
    }
    page = drawn(&result);
    cr_assert(strstr(page, "adds its noise itself") == NULL);
    cr_assert(strstr(page, "answers that carry noise") == NULL);
    cr_assert(strstr(page, "exact sums") != NULL);
    cr_assert(strstr(page, "at most 0.5000 worse per round") != NULL, "the bound is shown");
    cr_assert(strstr(page, "nobody may know") != NULL);
    cr_assert(strstr(page, "compared") != NULL && strstr(page, " built ") == NULL,
              "a job may have written some of the candidates down");
    free(page);
    result_free(&result);
}

static void reserve(struct result *result, size_t rounds, size_t experts)
{
    result_init(result);
    example_reserve(result, "rounds", rounds);
    example_reserve(result, "experts", experts);
    example_reserve(result, "per_agent", 1);
}

Test(html, of_questions_alone_speaks_of_no_model)
{
    struct result result;
    reserve(&result, 3, 0);
    example_answers(&result);
    result.finished = true;
    char *page = drawn(&result);
    cr_assert(strstr(page, "answered questions together") != NULL);
    cr_assert(strstr(page, "no model was asked for") != NULL);
    cr_assert(strstr(page, "How good is it?") == NULL && strstr(page, "Accuracy</span>") == NULL);
    cr_assert(strstr(page, "id=\"chart-accuracy\"") == NULL);
    cr_assert(occurrences(page, "class=\"picture\"") == 1 + result.answer_count,
              "the column's head as well: both go on a narrow screen");
    cr_assert(strstr(page, "<span class=\"drawn\"> In the drawing") != NULL, "and so does this");
    free(page);
    result_free(&result);
}

Test(html, of_a_selection_alone_speaks_of_no_answers)
{
    struct result result;
    reserve(&result, 3, 0);
    result.round_count = 1;
    result.round[0].note = strdup("age >= 75");
    result.finished = true;
    char *page = drawn(&result);
    cr_assert(strstr(page, "selected together from what the job lists; no model") != NULL);
    cr_assert(strstr(page, "1</div><div class=\"beside\">age &gt;= 75</div>") != NULL);
    cr_assert(strstr(page, "each with its error bar") == NULL, "there is no answer");
    free(page);
    result_free(&result);
}

/* That the policy admits the page's own scripts, render.js demands of every page here. */
Test(html, loads_nothing)
{
    struct result result = example_result();
    char *page = made(&result);
    cr_assert(strstr(page, "default-src 'none'") != NULL);
    cr_assert(strstr(page, "unsafe-inline") == NULL && strstr(page, "unsafe-eval") == NULL);
    cr_assert(occurrences(page, "'sha256-") == 3);
    cr_assert(strstr(page, " src=") == NULL && strstr(page, "<link") == NULL);
    cr_assert(strstr(page, "@import") == NULL && strstr(page, "url(") == NULL);
    cr_assert(strstr(page, "innerHTML") == NULL && strstr(page, "insertAdjacentHTML") == NULL);
    cr_assert(strstr(page, "Chart.js v3.9.1") != NULL);
    cr_assert(strstr(page, "Permission is hereby granted") != NULL);
    cr_assert(strstr(page, "@data@") == NULL && strstr(page, "_hash@") == NULL);
    free(page);
    result_free(&result);
}

Test(html, shows_its_figures_as_json_where_no_script_runs)
{
    struct result result = example_result();
    char *page = made(&result);
    cr_assert(strstr(page, "<noscript><p class=\"alarm\">") != NULL);
    cr_assert(strstr(page, "#data:not([hidden]) { display: block;") != NULL);
    cr_assert(strstr(page, "<div id=\"page\" hidden>") != NULL, "no half page beside it");
    free(page);
    result_free(&result);
}

Test(html, says_so_when_it_is_not_private)
{
    struct result result = example_result();
    char *page = drawn(&result);
    cr_assert(strstr(page, "NOT PRIVATE") == NULL);
    free(page);
    result.private = false;
    result.has_seed = true;
    page = drawn(&result);
    cr_assert(strstr(page, "<title>NOT PRIVATE") != NULL);
    cr_assert(strstr(page, "role=\"alert\"><strong>NOT PRIVATE</strong>") != NULL);
    free(page);
    result_free(&result);
}

Test(html, marks_what_only_a_simulator_knows)
{
    struct result result = example_result();
    char *page = drawn(&result);
    cr_assert(strstr(page, "chart-accuracy\"") != NULL);
    cr_assert(occurrences(page, "class=\"tag\">simulator only") >= 4);
    free(page);
    result.simulated = false;
    result.accuracy = NAN;
    result.auc = NAN;
    result.baseline.majority = NAN;
    result.baseline.pooled_accuracy = NAN;
    result.answer[0].exact = NAN;
    result.point[0].exact = NAN;
    page = drawn(&result);
    cr_assert(strstr(page, "id=\"chart-accuracy\"") == NULL);
    cr_assert(strstr(page, "id=\"chart-mean-losses\"") != NULL);
    cr_assert(strstr(page, "class=\"tag\">simulator only") == NULL);
    free(page);
    result_free(&result);
}

Test(html, draws_an_empty_result)
{
    struct result result;
    result_init(&result);
    char *page = drawn(&result);
    cr_assert(strstr(page, "What the words mean") != NULL);
    cr_assert(strstr(page, "undefined") == NULL && strstr(page, "NaN") == NULL);
    free(page);
}

Test(html, tells_the_standard_errors_of_what_was_held_out)
{
    struct result result = example_result();
    result.accuracy = 0.8;
    result.auc = 0.5;
    result.baseline.majority = 0.6;
    result.baseline.records_held = 100;
    char *page = drawn(&result);
    cr_assert(strstr(page, "right on 80.0% (standard error 4.0%; of the AUC 0.059).") != NULL);
    free(page);
    result_free(&result);
}

Test(html, leaves_the_models_out)
{
    struct result result = example_result();
    result.expert[0].model[0] = 0.123456789;
    char *page = made(&result);
    cr_assert(strstr(page, "0.123456789") == NULL);
    cr_assert(result.expert[0].model[0] == 0.123456789, "the result itself is untouched");
    free(page);
    result_free(&result);
}

Test(html, tells_the_error_where_the_label_is_a_number)
{
    struct result result = example_result();
    result.accuracy = NAN;
    result.auc = NAN;
    result.baseline.majority = NAN;
    result.error.root_mean_square = 4.5;
    result.error.mean_absolute = 3.25;
    result.error.constant = 6.75;
    result.error.pooled = 2.125;
    char *page = drawn(&result);
    cr_assert(strstr(page, "<dd>Least squares on all records") != NULL);
    cr_assert(strstr(page, "logistic regression") == NULL &&
              strstr(page, "Logistic regression") == NULL && strstr(page, "<dt>AUC") == NULL);
    cr_assert(strstr(page, "Root mean square error") != NULL);
    cr_assert(occurrences(page, "4.500") >= 2 && occurrences(page, "2.125") >= 2);
    cr_assert(strstr(page, "id=\"chart-accuracy\"") == NULL);
    cr_assert(strstr(page, "Unknown, by design") == NULL);
    free(page);
    result_free(&result);
}

Test(html, a_histogram_has_columns_and_no_bar_is_behind_a_dot)
{
    struct result result = example_result();
    (void)snprintf(result.answer[0].name, RESULT_TEXT_BYTES, "histogram: age by 6: age [50, 54)");
    char *page = drawn(&result);
    cr_assert(occurrences(page, "<rect class=\"column\"") == 1);
    cr_assert(occurrences(page, "<circle class=\"told\"") == EXAMPLE_ANSWERS - 1);
    const char *table = strstr(page, "What was asked, and the answers");
    cr_assert(table != NULL);
    const char *dot = strstr(table, "<circle class=\"told\"");
    const char *bar = dot == NULL ? NULL : strstr(dot, "<path class=\"bar\"");
    const char *end = dot == NULL ? NULL : strstr(dot, "</svg>");
    cr_assert(bar != NULL && end != NULL && bar < end, "what is drawn later is in front");
    free(page);
    result_free(&result);
}

Test(html, says_what_the_choice_was_worth)
{
    struct result result = example_result();
    char *page = drawn(&result);
    cr_assert(strstr(page,
                     "is right on 79.0% of the records held out, one drawn at random on 78.5%, "
                     "and the best on 79.0%: the choice was worth 0.5 points") != NULL);
    cr_assert(strstr(page, "less than two standard errors") != NULL);
    cr_assert(strstr(page, "&quot;errors&quot;:[null,0.01026") != NULL,
              "the script has what it draws");
    free(page);
    /* A deployment knows the released losses alone. */
    for (size_t i = 0; i < result.expert_count; i++) {
        result.expert[i].accuracy = NAN;
    }
    result.accuracy = NAN;
    for (size_t i = 1; i < result.round_count; i++) {
        result.round[i].loss[1] = 0.35;
    }
    page = drawn(&result);
    cr_assert(strstr(page, "errs by 0.0500 less a record than one drawn at random") != NULL);
    free(page);
    /* Under trust central not even those. */
    for (size_t i = 0; i < result.round_count; i++) {
        free(result.round[i].loss);
        result.round[i].loss = NULL;
    }
    page = drawn(&result);
    cr_assert(strstr(page, "Nobody may know: no loss of a candidate was released. The candidates "
                           "played are expected to be at most 0.5000 worse") != NULL);
    free(page);
    result_free(&result);
}

Test(html, shows_how_far_the_noise_may_have_moved_a_weight)
{
    struct result result = example_result();
    char *page = drawn(&result);
    cr_assert(strstr(page, "last weight") != NULL && strstr(page, "without the noise") == NULL);
    free(page);
    result.round[result.round_count - 1].weight[0] = 0.75;
    result.round[result.round_count - 1].weight[1] = 0.25;
    result.expert[0].weight_low = 0.5;
    result.expert[0].weight_high = 0.875;
    page = drawn(&result);
    cr_assert(strstr(page, "last weight (without the noise, about 95 %)") != NULL);
    cr_assert(strstr(page, "75.0% (50.0% to 87.5%)") != NULL);
    cr_assert(strstr(page, "<td>25.0%</td>") != NULL, "one without a bar has none");
    free(page);
    result.round[result.round_count - 1].weight[0] = 1;
    result.expert[0].weight_low = 0;
    result.expert[0].weight_high = 1;
    page = drawn(&result);
    cr_assert(strstr(page, "100.0% (it may be the noise alone)") != NULL);
    free(page);
    result.expert[0].weight_low = 0.9999;
    page = drawn(&result);
    cr_assert(strstr(page, "100.0% (the same without noise)") != NULL);
    free(page);
    result_free(&result);
}

Test(html, says_why_the_weights_stayed_close_together)
{
    struct result result = example_result();
    (void)snprintf(result.release[0].unit, RESULT_NAME_BYTES, "loss");
    result.release[0].noise = 0.03;
    char *page = drawn(&result);
    cr_assert(strstr(page, "these losses cannot tell which one is best") != NULL);
    free(page);
    for (size_t i = 1; i < result.round_count; i++) {
        result.round[i].weight[0] = 0.9;
        result.round[i].weight[1] = 0.1;
    }
    page = drawn(&result);
    cr_assert(strstr(page, "stayed close together") == NULL);
    free(page);
    result_free(&result);
}

/* A new figure is a row of result_fields.c: its column is in the page without another change. */
static size_t expect_labels(const char *page, const struct field *table, const char *id)
{
    char place[128];
    size_t count = 0;
    (void)snprintf(place, sizeof place, "<table id=\"%s\"", id);
    const char *at = strstr(page, place);
    const char *end = at == NULL ? NULL : strstr(at, "</table>");
    for (const struct field *row = table; row->key != NULL; row++) {
        if (row->page.label != NULL) {
            (void)snprintf(place, sizeof place, ">%s", row->page.label);
            const char *found = at == NULL ? NULL : strstr(at, place);
            cr_expect(found != NULL && found < end, "%s.%s has no place", id, row->key);
            count++;
        }
        if (row->row != NULL) {
            count += expect_labels(page, row->row, row->key);
        }
    }
    return count;
}

Test(html, has_a_place_for_every_row_with_a_label)
{
    struct result result = example_result();
    result.error.root_mean_square = 4.5;
    char *page = drawn(&result);
    cr_assert(expect_labels(page, result_fields, "result") >= 35);
    free(page);
    result_free(&result);
}

Test(html, shows_the_first_rows_of_what_may_be_long)
{
    enum { MANY = 1500 };
    struct result result;
    reserve(&result, 1, MANY);
    result.chosen = 0;
    result.baseline.majority = 0.5;
    result.baseline.pooled_accuracy = 0.75;
    result.round[0].loss = result_numbers(MANY);
    result.round[0].weight = result_numbers(MANY);
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(result.expert[i].name, RESULT_NAME_BYTES, "expert %zu", i);
        result.expert[i].accuracy = i == 0 ? 1 : 0.5;
        result.round[0].loss[i] = 0.25;
        result.round[0].weight[i] = 1.0 / MANY;
    }
    char *page = drawn(&result);
    cr_assert(strstr(page, "The first 1000 of 1500; result.json has all.") != NULL);
    cr_assert(strstr(page, ">pooled, not private, simulator only<") != NULL, "below them");
    cr_assert(strstr(page, ">expert 999<") != NULL && strstr(page, ">expert 1000<") == NULL);
    cr_assert(strstr(page, "and the best on 100.0%: the choice was worth 50.0 points") != NULL);
    free(page);
    result_free(&result);
}
