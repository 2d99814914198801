/* Tables to copy: what is in them, and that no text escapes from its cell. */

#include "report/result_text.h"

#include "example_result.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static char *written(const struct result *result, enum result_format format)
{
    char *text = NULL;
    cr_assert(result_to_text(&text, result, format) == STATUS_OK);
    return text;
}

Test(result_text, has_every_answer_and_its_price_in_each_format)
{
    struct result result = example_result();
    char *text = written(&result, RESULT_MARKDOWN);
    cr_expect(strstr(text, "| name | round | value | unit |") != NULL);
    cr_expect(strstr(text, "| count: age &gt;= 60 | 2 | 1000.5 | records |") != NULL, "%s", text);
    cr_expect(strstr(text, "|---|---:|---:|---|") != NULL);
    cr_expect(strstr(text, "epsilon ") != NULL && strstr(text, "delta ") != NULL);
    cr_expect(strstr(text, "band\\_low") != NULL, "curves too");
    free(text);
    text = written(&result, RESULT_CSV);
    cr_expect(strstr(text, "\"name\",\"round\",\"value\",") == text);
    cr_expect(strstr(text, "\"count: age >= 60\",2,1000.5,\"records\",") != NULL);
    cr_expect(strstr(text, ",\"epsilon\",\"delta\",\"job_epsilon\",\"job_delta\",\"private\"\n") !=
              NULL);
    free(text);
    text = written(&result, RESULT_LATEX);
    cr_expect(strstr(text, "\\begin{tabular}{lrrl") != NULL);
    cr_expect(strstr(text, "count: age \\textgreater{}= 60 & 2 & 1000.5 & records &") != NULL);
    free(text);
    result.answer_count = 0;
    result.point_count = 0;
    result.effect_count = 0;
    result.site_count = 0;
    text = written(&result, RESULT_MARKDOWN);
    cr_expect_str_eq(text, "");
    free(text);
    result.answer_count = EXAMPLE_ANSWERS;
    result.point_count = EXAMPLE_POINTS;
    result.effect_count = 1;
    result.site_count = EXAMPLE_SITES;
    result_free(&result);
}

Test(result_text, lays_effects_out_as_papers_do_and_leaves_programs_their_lists)
{
    struct result result = example_result();
    char *text = written(&result, RESULT_MARKDOWN);
    cr_expect(strstr(text, "crosstab: a x b: odds ratio of b 1\n\n"
                           "| site | records | odds ratio | 95 % interval | weight |\n"
                           "|---|---:|---:|---:|---:|\n"
                           "| &lt;site 1&gt; | 1000 | 1.375 | 0.875 to 2.25 | 50.0 % |\n"
                           "| &lt;site 2&gt; | 1000 | 1.625 | 0.875 to ... | 50.0 % |\n"
                           "| &lt;site 3&gt; | 1000 | not enough data |  |  |\n"
                           "| Mean over sites, random effects |  | 1.5 | 1.25 to 1.8 | 100 % |\n"
                           "| Another such site |  |  | 0.75 to 3 |  |\n"
                           "\n"
                           "Between sites: tau 0.125 (of the logarithm), I^2 25 %; all sites "
                           "alike: Q 4.5, p 0.34.\n") != NULL,
              "%s", text);
    cr_expect(strstr(text, "i\\_squared") == NULL);
    free(text);
    text = written(&result, RESULT_LATEX);
    cr_expect(strstr(text, "\\begin{tabular}{lrrrr}\nsite & records & odds ratio &") != NULL, "%s",
              text);
    free(text);
    text = written(&result, RESULT_CSV);
    cr_expect(strstr(text, "\"i_squared\"") != NULL && strstr(text, "\"weight\"") != NULL);
    free(text);
    result.effect[0].value = NAN;
    result.effect[0].sites = 2;
    text = written(&result, RESULT_MARKDOWN);
    cr_expect(
        strstr(text,
               "| Mean over sites, random effects |  | not joined: fewer than 3 sites |  |  |") !=
        NULL);
    free(text);
    result_free(&result);
}

Test(result_text, lays_a_table_1_by_site_out_as_one_table)
{
    struct result result = example_result();
    struct result_effect two[2] = {result.effect[0], result.effect[0]};
    struct result_effect *const owned = result.effect;
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(two[i].table, sizeof two[i].table, "table1: [age]");
        (void)snprintf(two[i].row, sizeof two[i].row, i == 0 ? "age, mean" : "sex|F");
    }
    two[0].sites = 2;
    two[1].sites = 2;
    two[1].value = NAN;
    two[1].p = NAN;
    result.effect = two;
    result.effect_count = 2;
    char *text = written(&result, RESULT_MARKDOWN);
    const char *head = strstr(text, "table1: \\[age\\], by site.");
    cr_assert(head != NULL, "%s", text);
    cr_expect(strstr(head,
                     "|  | &lt;site 1&gt;, 1000 records | &lt;site 2&gt;, 1000 records | "
                     "&lt;site 3&gt;, 1000 records | mean over sites | tau | I^2 | p, sites "
                     "alike |\n"
                     "|---|---:|---:|---:|---:|---:|---:|---:|\n"
                     "| age, mean | 1.375 (0.875 to 2.25) | 1.625 (0.875 to ...) | not enough "
                     "data | 1.5 (1.25 to 1.8) | 0.125 | 25 % | 0.34 |\n"
                     "| sex\\|F | 1.375 (0.875 to 2.25) | 1.625 (0.875 to ...) | not enough "
                     "data | not joined: fewer than 3 sites | 0.125 | 25 % |  |\n") != NULL,
              "%s", text);
    cr_expect(strstr(head + 40, "by site.") == NULL, "one table");
    free(text);
    /* As medians are: given of each site, and not joined. */
    two[1].sites = 3;
    (void)snprintf(two[1].note, sizeof two[1].note, "sites are not joined");
    text = written(&result, RESULT_MARKDOWN);
    cr_expect(strstr(text, " not enough data | not joined | 0.125 |") != NULL &&
                  strstr(text, "\n\nsites are not joined\n") != NULL,
              "%s", text);
    free(text);
    text = written(&result, RESULT_LATEX);
    cr_expect(
        strstr(text, "\\begin{tabular}{lrrrrrrr}\n & \\textless{}site 1\\textgreater{}, 1000") !=
            NULL,
        "%s", text);
    free(text);
    result.effect = owned;
    result.effect_count = 1;
    result_free(&result);
}

Test(result_text, lays_a_table_1_out_by_group_in_each_format)
{
    struct result result = example_result();
    example_table1(&result);
    result.point_count = 0;
    char *text = written(&result, RESULT_MARKDOWN);
    cr_expect(strstr(text, "|  | alive | 95 % interval | dead | 95 % interval |\n"
                           "|---|---:|---:|---:|---:|\n") != NULL,
              "%s", text);
    cr_expect(strstr(text, "| records | 100 | 100 to 100 | 150 | 150 to 150 |\n") != NULL);
    cr_expect(strstr(text, "| age, mean | 61.25 | 45.94 to 76.56 | 91.88 | 68.91 to 114.8 |\n") !=
              NULL);
    cr_expect(
        strstr(text, "| age, standard deviation | 8.5 | 6.375 to 10.62 | not enough data |  |") !=
        NULL);
    cr_expect(strstr(text, "| &lt;sex&gt;, F, share | 40.0 % | 30.0 % to 50.0 % | 60.0 % |") !=
              NULL);
    cr_expect(strstr(text, "epsilon ") != NULL && strstr(text, "interval\\_low") == NULL);
    free(text);
    text = written(&result, RESULT_CSV);
    cr_expect(
        strstr(text, "\"table1: [age, <sex>] by death\",\"alive\",\"from\",\"to\",\"dead\",") ==
        text);
    cr_expect(strstr(text, "\"age, mean\",61.25,45.9375,76.5625,91.875,68.90625,114.84375,") !=
              NULL);
    cr_expect(strstr(text, "\"age, standard deviation\",8.5,6.375,10.625,,,,") != NULL);
    free(text);
    text = written(&result, RESULT_LATEX);
    cr_expect(strstr(text, "\\begin{tabular}{lrrrr}\n") != NULL, "%s", text);
    cr_expect(strstr(text, "age, mean & 61.25 & 45.94 to 76.56 & 91.88 & 68.91 to 114.8 \\\\\n") !=
              NULL);
    free(text);
    result.point_count = EXAMPLE_POINTS;
    result_free(&result);
}

/* As a regression's: the second group are p-values, which have no interval; what figures are of, and what a missing one lacks,
 * goes with the table. */
Test(result_text, tells_notes_and_gives_p_values_no_interval)
{
    struct result result = example_result();
    example_table1(&result);
    result.point_count = 0;
    for (size_t i = 0; i < result.answer_count; i++) {
        struct result_answer *answer = &result.answer[i];
        if (strcmp(answer->group, "dead") == 0) {
            (void)snprintf(answer->unit, sizeof answer->unit, "p-value");
        }
        if (strcmp(answer->figure, "mean") == 0) {
            (void)snprintf(answer->note, sizeof answer->note, "of <age> rounded to 5 levels");
        }
        if (isnan(answer->value)) {
            (void)snprintf(answer->note, sizeof answer->note, "3 times would be enough");
        }
    }
    char *text = written(&result, RESULT_MARKDOWN);
    cr_expect(strstr(text, "|  | alive | 95 % interval | dead |\n|---|---:|---:|---:|\n") != NULL,
              "%s", text);
    cr_expect(strstr(text, "| age, mean | 61.25 | 45.94 to 76.56 | 91.88 |\n") != NULL, "%s", text);
    cr_expect(
        strstr(text, "\n\nage, mean, alive and 1 more: of &lt;age&gt; rounded to 5 levels\n") !=
            NULL,
        "%s", text);
    cr_expect(strstr(text, "\n\nage, standard deviation, dead: 3 times would be enough\n") != NULL,
              "%s", text);
    free(text);
    text = written(&result, RESULT_LATEX);
    cr_expect(strstr(text, "\\begin{tabular}{lrrr}\n") != NULL, "%s", text);
    cr_expect(strstr(text, "rounded to 5 levels") != NULL);
    free(text);
    text = written(&result, RESULT_CSV);
    cr_expect(strstr(text, ",\"private\",\"note\"\n") != NULL, "%s", text);
    cr_expect(strstr(text, ",\"of <age> rounded to 5 levels\"\n") != NULL, "%s", text);
    free(text);
    result.point_count = EXAMPLE_POINTS;
    result_free(&result);
}

/* A count near none that noise made less than 0. */
Test(result_text, a_zero_has_no_sign)
{
    struct result result = example_result();
    example_table1(&result);
    result.point_count = 0;
    result.answer[6].value = -0.3;
    result.answer[6].low = -0.4;
    result.answer[6].high = 0.2;
    char *text = written(&result, RESULT_MARKDOWN);
    cr_expect(strstr(text, "| &lt;sex&gt;, F | 0 | 0 to 0 |") != NULL, "%s", text);
    free(text);
    result.answer[6].value = -63.4;
    result.answer[6].low = -63.4;
    result.answer[6].high = 21;
    text = written(&result, RESULT_MARKDOWN);
    cr_expect(strstr(text, "| &lt;sex&gt;, F | 0 | 0 to 21 |") != NULL, "%s", text);
    free(text);
    text = written(&result, RESULT_CSV);
    cr_expect(strstr(text, ",-63.399999999999999,-63.399999999999999,21,") != NULL, "%s", text);
    free(text);
    result.point_count = EXAMPLE_POINTS;
    result_free(&result);
}

Test(result_text, keeps_hostile_texts_in_their_cells)
{
    struct result result = example_result();
    (void)snprintf(result.answer[0].name, RESULT_TEXT_BYTES, "=1+1|<b>\"%%\n\\x");
    char *text = written(&result, RESULT_MARKDOWN);
    cr_expect(strstr(text, "=1+1\\|&lt;b&gt;\"% \\\\x") != NULL, "%s", text);
    free(text);
    text = written(&result, RESULT_CSV);
    cr_expect(strstr(text, "\"'=1+1|<b>\"\"% \\x\"") != NULL, "%s", text);
    free(text);
    text = written(&result, RESULT_LATEX);
    cr_expect(strstr(text, "=1+1\\textbar{}\\textless{}b\\textgreater{}\"\\% \\textbackslash{}x") !=
                  NULL,
              "%s", text);
    free(text);
    result_free(&result);
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (text = strstr(text, what); text != NULL; text = strstr(text + 1, what)) {
        count++;
    }
    return count;
}

static const char of_stage_1[] = "epsilon 0.625, delta 0.000976562 for all answers of this stage; "
                                 "epsilon 1, delta 0 for the whole job.";
static const char of_stage_2[] = "epsilon 0.375, delta 0.000976562 for all answers of this stage; "
                                 "epsilon 1, delta 0 for the whole job.";

/* Two answers, an effect and four points. */
Test(result_text, tells_what_the_stage_of_an_answer_cost)
{
    struct result result = example_result();
    char *text = written(&result, RESULT_MARKDOWN);
    cr_expect(occurrences(text, of_stage_2) == 3 && occurrences(text, of_stage_1) == 0, "%s", text);
    cr_expect(strstr(text, of_stage_2) == text, "%s", text);
    free(text);
    /* Answers of two stages have two tables, each with its price. */
    result.answer[0].round = 0;
    text = written(&result, RESULT_MARKDOWN);
    const char *next = strstr(text, of_stage_2);
    cr_expect(occurrences(text, of_stage_2) == 3 && occurrences(text, of_stage_1) == 1, "%s", text);
    cr_assert(strstr(text, of_stage_1) == text && next != NULL, "%s", text);
    cr_expect(strstr(text, "age &gt;= 60") < next && strstr(text, "age &gt;= 61") > next, "%s",
              text);
    free(text);
    text = written(&result, RESULT_LATEX);
    cr_expect(strstr(text, of_stage_1) == text && occurrences(text, of_stage_2) == 3, "%s", text);
    free(text);
    text = written(&result, RESULT_CSV);
    cr_expect(occurrences(text, "\"name\"") == 1, "one table");
    cr_expect(occurrences(text, ",0.625,0.0009765625,1,0,true\n") == 1, "%s", text);
    cr_expect(occurrences(text, ",0.375,0.0009765625,1,0,true\n") ==
                  1 + 1 + EXAMPLE_SITES + EXAMPLE_POINTS,
              "%s", text);
    free(text);
    /* A file of an older version does not say which stage it was. */
    for (size_t i = 0; i < EXAMPLE_ROUNDS; i++) {
        result.round[i].stage_number = 0;
    }
    text = written(&result, RESULT_MARKDOWN);
    cr_expect(strstr(text, "epsilon 1, delta 0 for the whole job.") == text &&
                  strstr(text, "of this stage") == NULL,
              "%s", text);
    free(text);
    text = written(&result, RESULT_CSV);
    cr_expect(strstr(text, ",,,1,0,true\n") != NULL, "%s", text);
    free(text);
    result_free(&result);
}

/* Its round is of the second stage. */
Test(result_text, tells_what_the_stage_of_a_table_cost)
{
    struct result result = example_result();
    example_table1(&result);
    result.point_count = 0;
    result.effect_count = 0;
    result.site_count = 0;
    char *text = written(&result, RESULT_MARKDOWN);
    cr_expect(occurrences(text, of_stage_2) == 1 && strstr(text, of_stage_2) == text, "%s", text);
    free(text);
    text = written(&result, RESULT_CSV);
    cr_expect(occurrences(text, ",0.375,0.0009765625,1,0,true,") == 5, "%s", text);
    free(text);
    result.point_count = EXAMPLE_POINTS;
    result.effect_count = 1;
    result.site_count = EXAMPLE_SITES;
    result_free(&result);
}

Test(result_text, says_what_is_not_private)
{
    struct result result = example_result();
    result.private = false;
    char *text = written(&result, RESULT_LATEX);
    cr_expect(strstr(text, "NOT PRIVATE") == text);
    free(text);
    result.private = true;
    text = written(&result, RESULT_LATEX);
    cr_expect(strstr(text, "NOT PRIVATE") == NULL);
    free(text);
    result_free(&result);
}

Test(result_text, finds_formats_by_their_names)
{
    enum result_format format = RESULT_LATEX;
    cr_expect(result_format_of(&format, "md") && format == RESULT_MARKDOWN);
    cr_expect(result_format_of(&format, "csv") && format == RESULT_CSV);
    cr_expect(result_format_of(&format, "tex") && format == RESULT_LATEX);
    cr_expect(!result_format_of(&format, "html") && !result_format_of(&format, ""));
}

Test(result_text, tells_a_site_that_is_left_out_what_is_enough)
{
    struct result_effect effect = {.needed = 896.2, .factor = 2.25};
    struct result_site site = {.records = 500};
    char text[RESULT_ENOUGH_BYTES];
    result_say_enough(text, &effect, &site);
    cr_expect_str_eq(text, "2.3 times the epsilon, or about 897 records would be enough");
    site.records = 1000;
    result_say_enough(text, &effect, &site);
    cr_expect_str_eq(text, "2.3 times the epsilon would be enough", "it has these records");
    effect.factor = NAN;
    result_say_enough(text, &effect, &site);
    cr_expect_str_eq(text, "it has the 897 that do where cells hold alike numbers: some hold few");
    (void)snprintf(effect.note, sizeof effect.note, "a curve that stays above one half has none");
    result_say_enough(text, &effect, &site);
    cr_expect_str_eq(text, "it has the 897 that do where cells hold alike numbers: some hold few, "
                           "or the curve stays above one half");
    site.records = 500;
    result_say_enough(text, &effect, &site);
    cr_expect_str_eq(text, "about 897 records would be enough");
}
