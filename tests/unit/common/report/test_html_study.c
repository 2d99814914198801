/* How the page draws what studies ask: curves, matrices, effects by site, Table 1. */

#include "drawn.h"

#include <math.h>
#include <stdio.h>

Test(html_study, draws_curves_with_bands_and_numbers_at_risk)
{
    struct result result = example_result();
    char *page = drawn(&result);
    cr_assert(occurrences(page, "<svg class=\"curves\"") == 1, "one question");
    cr_assert(strstr(page, "0.375, \xce\xb4 = 0.000977 for all answers of this stage;") != NULL);
    cr_assert(occurrences(page, "<path class=\"curve\"") == 2, "of two groups");
    cr_assert(occurrences(page, "<path class=\"without\"") == 1);
    cr_assert(strstr(page, "At risk, about") != NULL && strstr(page, ">100</text>") != NULL);
    cr_assert(strstr(page, "<td>0.688 to 0.813</td>") != NULL);
    free(page);
    for (size_t i = 2; i < EXAMPLE_POINTS; i++) {
        result.point[i].value = NAN;
    }
    (void)snprintf(result.answer[0].name, RESULT_TEXT_BYTES,
                   "survival: time t event d, to 4: median M");
    (void)snprintf(result.answer[0].note, RESULT_TEXT_BYTES, "not enough data for this question");
    page = drawn(&result);
    cr_assert(occurrences(page, "<path class=\"curve\"") == 1);
    cr_assert(strstr(page, "No curve of M: not enough data for this question") != NULL);
    free(page);
    result.point_count = 0;
    page = drawn(&result);
    cr_assert(strstr(page, "<svg class=\"curves\"") == NULL && strstr(page, "Survival") == NULL);
    free(page);
    result.point_count = EXAMPLE_POINTS;
    result_free(&result);
}

Test(html_study, draws_correlations_as_a_matrix)
{
    struct result result = example_result();
    for (size_t i = 0; i < 2; i++) {
        struct result_answer *answer = &result.answer[i];
        (void)snprintf(answer->name, RESULT_TEXT_BYTES, "correlate: [age, <b>]: age with <b>%s",
                       i == 0 ? "" : ", test that it is 0");
        (void)snprintf(answer->variable, RESULT_NAME_BYTES, "age");
        (void)snprintf(answer->group, RESULT_TEXT_BYTES, "<b>");
        (void)snprintf(answer->figure, RESULT_NAME_BYTES, i == 0 ? "correlation" : "p-value");
        answer->value = i == 0 ? 0.375 : 0.015625;
        answer->total_low = 0.25;
        answer->total_high = 0.5;
        answer->exact = NAN;
    }
    char *page = drawn(&result);
    cr_assert(occurrences(page, "<table class=\"matrix\"") == 1);
    cr_assert(strstr(page, "<h3>correlate: [age, &lt;b&gt;]</h3>") != NULL);
    cr_assert(strstr(page, "<strong>0.38</strong><br><small>0.25 to 0.50</small>") != NULL);
    cr_assert(strstr(page, ">p = 0.016</td>") != NULL && strstr(page, "<b>]") == NULL);
    cr_assert(strstr(page, "What was asked, and the answers") == NULL, "nothing else is listed");
    free(page);
    result.answer[0].value = NAN;
    (void)snprintf(result.answer[0].note, RESULT_TEXT_BYTES, "not enough data");
    page = drawn(&result);
    cr_assert(occurrences(page, "not enough data.") == 1 && strstr(page, "0.25 to 0.50") == NULL);
    free(page);
    result_free(&result);
}

Test(html_study, draws_effects_by_site_as_a_forest)
{
    struct result result = example_result();
    char *page = drawn(&result);
    cr_assert(occurrences(page, "<table class=\"forest\"") == 1, "one effect");
    cr_assert(occurrences(page, "<rect class=\"told\"") == 2, "of two sites");
    cr_assert(occurrences(page, "<path class=\"told\"") == 1 &&
              occurrences(page, "<line class=\"next\"") == 1);
    cr_assert(strstr(page, "&lt;site 3&gt;") != NULL && strstr(page, "<site") == NULL);
    cr_assert(strstr(page, "<small>0.875 to 2.25</small>") != NULL);
    cr_assert(strstr(page, "0.875 to \xe2\x80\xa6") != NULL, "an end that is not known");
    cr_assert(strstr(page, "<td class=\"lacking\" colspan=\"2\"><small>not enough data") != NULL &&
              strstr(page, ">50%<") != NULL);
    cr_assert(strstr(page, "I\xc2\xb2 = 25%") != NULL && strstr(page, "p = 0.34") != NULL);
    free(page);
    /* Fewer than three sites: the others are told, and why there is no mean. */
    struct result_effect *effect = &result.effect[0];
    effect->value = effect->low = effect->high = effect->spread = effect->p = NAN;
    effect->next_low = effect->next_high = NAN;
    (void)snprintf(effect->note, RESULT_TEXT_BYTES, "2 of 3 sites have enough data");
    page = drawn(&result);
    cr_assert(strstr(page, "<path class=\"told\"") == NULL &&
              strstr(page, "Between sites:") == NULL);
    cr_assert(strstr(page, "2 of 3 sites have enough data. ") != NULL);
    free(page);
    effect->sites = 2;
    effect->note[0] = '\0';
    page = drawn(&result);
    cr_assert(strstr(page, "Fewer than 3 sites are not joined. ") != NULL);
    free(page);
    (void)snprintf(effect->note, RESULT_TEXT_BYTES, "a curve that stays above one half has none");
    page = drawn(&result);
    cr_assert(strstr(page, "<small>none") != NULL && strstr(page, "not enough data") == NULL);
    free(page);
    (void)snprintf(effect->note, RESULT_TEXT_BYTES, "2 of 3 sites have enough data");
    /* None: the effect is named, and nothing is drawn. */
    for (size_t i = 0; i < result.site_count; i++) {
        result.site[i].value = NAN;
    }
    page = drawn(&result);
    cr_assert(strstr(page, "class=\"forest\"") == NULL);
    cr_assert(strstr(page, "No institution has an answer") != NULL &&
                  strstr(page, "<li>crosstab: a x b: odds ratio of b 1<br><small>2 of 3 sites have "
                               "enough data.</small></li>") != NULL,
              "each with its reason");
    free(page);
    result.effect_count = 0;
    page = drawn(&result);
    cr_assert(strstr(page, "class=\"forest\"") == NULL &&
              strstr(page, "Do the institutions differ") == NULL);
    free(page);
    result.effect_count = 1;
    result_free(&result);
}

Test(html_study, draws_a_table_1_by_site_with_sites_across)
{
    struct result result = example_result();
    struct result_effect *effect = &result.effect[0];
    (void)snprintf(effect->table, RESULT_TEXT_BYTES, "table1: [<i>]");
    (void)snprintf(effect->row, RESULT_TEXT_BYTES, "<i>, mean");
    char *page = drawn(&result);
    cr_assert(strstr(page, "class=\"forest\"") == NULL, "no forest");
    cr_assert(strstr(page, "<h3>table1: [&lt;i&gt;], by site</h3>") != NULL);
    cr_assert(strstr(page, "<th scope=\"row\">&lt;i&gt;, mean</th>") != NULL);
    cr_assert(strstr(page, "&lt;site 3&gt;") != NULL && strstr(page, "<i>") == NULL);
    cr_assert(strstr(page, "1.25 to 1.8</small>") != NULL, "the mean over sites");
    cr_assert(strstr(page, ">25%</td>") != NULL && strstr(page, ">0.34</td>") != NULL);
    cr_assert(strstr(page, ">\xe2\x80\x93</td>") != NULL, "a site that is refused");
    free(page);
    result_free(&result);
}

Test(html_study, draws_a_table_1_as_papers_do)
{
    struct result result = example_result();
    char *page = drawn(&result);
    cr_assert(strstr(page, "Who was studied?") == NULL);
    free(page);
    example_table1(&result);
    page = drawn(&result);
    cr_assert(occurrences(page, "<table class=\"table1\"") == 1, "one question");
    cr_assert(strstr(page, "<th scope=\"col\">alive</th><th scope=\"col\">dead</th>") != NULL);
    cr_assert(strstr(page, ">61.25 (8.5)<br") != NULL, "a mean with its deviation");
    cr_assert(strstr(page, "45.94 to 76.56; 6.375 to 10.6") != NULL, "their intervals");
    cr_assert(strstr(page, ">40 (40.0%)<br") != NULL, "a count with its share");
    cr_assert(strstr(page, "40 to 40; 30.0% to 50.0%</small>") != NULL);
    cr_assert(strstr(page, "\xe2\x80\x93)<br") != NULL, "what is refused is a dash");
    cr_assert(strstr(page, "standard deviation, dead: not enough data") != NULL, "and says why");
    cr_assert(strstr(page, "&lt;sex>") != NULL || strstr(page, "&lt;sex&gt;") != NULL);
    cr_assert(strstr(page, "What was asked, and the answers") == NULL, "nothing is told twice");
    free(page);
    result.answer[6].value = -0.3;
    result.answer[6].low = -0.4;
    page = drawn(&result);
    cr_assert(strstr(page, ">0 (40.0%)<br") != NULL, "a zero has no sign");
    cr_assert(strstr(page, "0 to 40; 30.0% to 50.0%</small>") != NULL &&
              strstr(page, "-0 to") == NULL);
    free(page);
    result.answer[6].value = -63.4;
    result.answer[6].low = -63.4;
    page = drawn(&result);
    cr_assert(strstr(page, ">0 (40.0%)<br") != NULL, "nor has a count that noise made less");
    cr_assert(strstr(page, "<small>0 to 40; 30.0% to 50.0%</small>") != NULL &&
              strstr(page, "<small>-63") == NULL);
    free(page);
    result_free(&result);
}

Test(html_study, copies_of_a_table_1_escape_what_each_format_reads)
{
    struct result result = example_result();
    example_table1(&result);
    for (size_t i = 6; i < 10; i++) {
        (void)snprintf(result.answer[i].variable, RESULT_NAME_BYTES, "<a_b>*c|d\\");
    }
    char *page = drawn(&result);
    cr_assert(strstr(page, "| &amp;#60;a\\_b&amp;#62;\\*c\\|d\\\\ | F |") != NULL, "Markdown");
    cr_assert(strstr(page, "&lt;th&gt;&amp;#60;a_b&amp;#62;*c|d\\&lt;/th&gt;") != NULL, "HTML");
    cr_assert(
        strstr(page, "\\textless{}a\\_b\\textgreater{}*c\\textbar{}d\\textbackslash{} &amp; F") !=
            NULL,
        "LaTeX, by names: \\symbol{60} is another sign in its own fonts");
    free(page);
    result_free(&result);
}
