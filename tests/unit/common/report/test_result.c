/* result.json: its keys do not change, what is written is read back, and nothing else is accepted.
 */

#include "report/result.h"

#include "example_result.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *written(const struct result *result)
{
    char *text = NULL;
    cr_assert(result_to_json(&text, result) == STATUS_OK);
    return text;
}

static enum status read_text(struct result *result, const char *text, struct why *why)
{
    return result_from_json(result, (struct slice){text, strlen(text)}, "result.json", why);
}

/* Returns text with the first `from` replaced; the caller frees it. */
static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    cr_assert(at != NULL, "the test's own text is not there: %s", from);
    const size_t bytes = strlen(text) + strlen(to) + 1;
    char *changed = calloc(bytes, 1);
    cr_assert(changed != NULL);
    (void)snprintf(changed, bytes, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return changed;
}

Test(result, survives_its_file)
{
    struct result result = example_result();
    struct result back;
    struct why why = {""};
    char *text = written(&result);
    cr_assert(read_text(&back, text, &why) == STATUS_OK, "%s", why.text);
    char *again = written(&back);
    cr_assert_str_eq(text, again);
    cr_assert(back.chosen == 0 && back.round[1].chosen == 1);
    cr_assert(back.expert[1].model[2] == 0.0 && back.round[0].loss == NULL);
    cr_assert(!back.has_seed && back.private && back.simulated && back.finished);
    free(text);
    free(again);
    result_free(&result);
    result_free(&back);
}

Test(result, has_the_promised_keys)
{
    static const char *const key[] = {"\"job\": \"hospitals\"",
                                      "\"private\": true",
                                      "\"agents\": 2",
                                      "\"rounds\": [",
                                      "\"stage\": \"fit\"",
                                      "\"round\": 0",
                                      "\"chosen\": ",
                                      "\"seconds\": 0.25",
                                      "\"experts\": [",
                                      "\"name\": ",
                                      "\"lambda\": 0.003",
                                      "\"accuracy\": 0.79",
                                      "\"auc\": 0.82",
                                      "\"baseline\": {",
                                      "\"majority\": 0.725",
                                      "\"privacy\": {",
                                      "\"pooled_accuracy\": 0.8",
                                      "\"pooled_auc\": 0.839",
                                      "\"trust\": \"local\"",
                                      "\"unit\": \"record\"",
                                      "\"epsilon\": 1.0",
                                      "\"delta\": 0.0",
                                      "\"per_agent\": [",
                                      "\"agent\": \"hospital-1\"",
                                      "\"epsilon_spent\": 1.0",
                                      "\"epsilon_left\": 0.5",
                                      "\"regret\": {",
                                      "\"average\": 0.125",
                                      "\"bound\": 0.5",
                                      "\"seconds\": 1.25"};
    struct result result = example_result();
    char *text = written(&result);
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        cr_expect(strstr(text, key[i]) != NULL, "result.json lacks %s", key[i]);
    }
    free(text);
    result_free(&result);
}

Test(result, keeps_every_figure_of_answers_and_releases)
{
    struct result result = example_result();
    struct result back;
    struct why why = {""};
    char *text = written(&result);
    cr_assert(read_text(&back, text, &why) == STATUS_OK, "%s", why.text);
    cr_assert(back.answer_count == EXAMPLE_ANSWERS && back.release_count == EXAMPLE_RELEASES);
    for (size_t i = 0; i < EXAMPLE_ANSWERS; i++) {
        const struct result_answer *a = &result.answer[i];
        const struct result_answer *b = &back.answer[i];
        cr_assert_str_eq(a->name, b->name);
        cr_assert_str_eq(a->unit, b->unit);
        cr_assert(a->round == b->round && a->value == b->value && a->error == b->error);
        cr_assert(a->low == b->low && a->high == b->high);
        cr_assert(isnan(a->sampling) == isnan(b->sampling) && isnan(a->exact) == isnan(b->exact));
    }
    cr_assert(back.answer[0].total_low == 950.25 && back.answer[0].total_high == 1050.75);
    cr_assert(isnan(back.answer[1].total_low) && back.point_count == EXAMPLE_POINTS);
    for (size_t i = 0; i < EXAMPLE_POINTS; i++) {
        const struct result_point *a = &result.point[i];
        const struct result_point *b = &back.point[i];
        cr_assert_str_eq(a->question, b->question);
        cr_assert_str_eq(a->group, b->group);
        cr_assert(a->round == b->round && a->time == b->time && a->at_risk == b->at_risk);
        cr_assert(isnan(a->value) ? isnan(b->value) : a->value == b->value && a->low == b->low);
        cr_assert(isnan(a->value) || (a->high == b->high && a->band_low == b->band_low));
        cr_assert(isnan(a->value) ||
                  (a->band_high == b->band_high && a->noise_low == b->noise_low));
        cr_assert(isnan(a->value) || a->noise_high == b->noise_high);
        cr_assert(isnan(b->exact) == (i > 0));
    }
    cr_assert(back.answer[0].exact == 987 && back.answer[0].sampling == 20.25);
    for (size_t i = 0; i < EXAMPLE_RELEASES; i++) {
        const struct result_release *b = &back.release[i];
        cr_assert(b->stage == i && b->passes == 3 && b->bar == 30.5 && b->sigma == 4.75);
        cr_assert(b->sampling == 0.5 && b->epsilon == (i == 0 ? 0.625 : 0.375) &&
                  b->delta == 0.0009765625);
        cr_assert_str_eq(b->task, "query");
        cr_assert_str_eq(b->strategy, "answer");
        cr_assert_str_eq(b->what, "each cell");
        cr_assert_str_eq(b->unit, "records");
        cr_assert_str_eq(b->mechanism, "discrete Gaussian");
    }
    cr_assert(back.release[0].noise == 12.5 && isnan(back.release[1].noise));
    cr_assert_str_eq(back.round[2].note, "age >= 71.5");
    cr_assert(back.round[0].stage_number == 1 && back.round[2].stage_number == 2);
    cr_assert(result_stage_of(&back, 0) == &back.release[0]);
    cr_assert(result_stage_of(&back, 2) == &back.release[1]);
    cr_assert(result_stage_of(&back, EXAMPLE_ROUNDS) == NULL, "no such round");
    cr_assert(back.round[0].note == NULL);
    cr_assert(back.agent[1].delta_spent == 0.25);
    free(text);
    result_free(&result);
    result_free(&back);
}

/* A note that is too long is cut, perhaps within a letter: the result of a job that was paid for is written all the same. */
Test(result, a_note_that_was_cut_within_a_letter_is_written)
{
    static const char *const cut[] = {"\xc3", "\xe2\x82", "\xf0\x9f\x8c", ""};
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        struct result result = example_result();
        (void)snprintf(result.answer[0].note, sizeof result.answer[0].note, "left out: \xc3\xa4%s",
                       cut[i]);
        char *text = written(&result);
        cr_expect_not_null(strstr(text, "left out: \xc3\xa4\""), "%s", text);
        free(text);
        result_free(&result);
    }
}

Test(result, of_a_program_before_there_were_answers_is_read)
{
    static const char old[] =
        "{\"job\": \"old\", \"private\": true, \"agents\": 1, \"rounds\": [{\"stage\": \"fit\", "
        "\"round\": 0, \"agents\": 1, \"chosen\": \"a\", \"seconds\": 1, \"failed\": false, "
        "\"epsilon\": 1, \"losses\": null, \"weights\": null, \"regret_average\": null, "
        "\"regret_bound\": null}], \"experts\": [{\"name\": \"a\", \"lambda\": 0.1, \"accuracy\": "
        "null, \"auc\": null, \"model\": [1]}], \"chosen\": \"a\", \"accuracy\": null, \"auc\": "
        "null, \"baseline\": null, \"privacy\": {\"trust\": \"local\", \"unit\": \"record\", "
        "\"epsilon\": 1, \"delta\": 0, \"per_agent\": [{\"agent\": \"h\", \"epsilon_spent\": 1, "
        "\"epsilon_left\": 1, \"answers\": 1}]}, \"regret\": {\"average\": null, \"bound\": null, "
        "\"bound_textbook\": null, \"bound_noise\": null}, \"seconds\": 1, \"simulated\": false, "
        "\"finished\": true, \"seed\": null, \"features\": 1, \"version\": \"0.0.1\"}";
    struct result result;
    struct why why = {""};
    cr_assert(read_text(&result, old, &why) == STATUS_OK, "%s", why.text);
    cr_assert(result.answer_count == 0 && result.release_count == 0);
    cr_assert(isnan(result.agent[0].delta_spent) && result.round[0].note == NULL);
    result_free(&result);
}

Test(result, keeps_a_long_conjunction_and_refuses_an_endless_one)
{
    struct result result = example_result();
    struct result back;
    struct why why = {""};
    free(result.round[2].note);
    result.round[2].note = calloc(RESULT_SAID_BYTES_MAX + 1, 1);
    cr_assert(result.round[2].note != NULL);
    memset(result.round[2].note, 'a', RESULT_SAID_BYTES_MAX - 1);
    char *text = written(&result);
    cr_assert(read_text(&back, text, &why) == STATUS_OK, "%s", why.text);
    cr_assert_str_eq(back.round[2].note, result.round[2].note);
    free(text);
    result_free(&back);
    result.round[2].note[RESULT_SAID_BYTES_MAX - 1] = 'a';
    text = written(&result);
    cr_assert(read_text(&back, text, &why) == STATUS_INVALID);
    free(text);
    result_free(&result);
}

Test(result, refuses_answers_that_are_none)
{
    static const char *const change[][2] = {{"\"value\": 1000.5", "\"value\": \"many\""},
                                            {"\"unit\": \"records\"", "\"unit\": 3"},
                                            {"\"low\": 970.5,", ""},
                                            {"\"sigma\": 4.75", "\"sigma\": []"},
                                            {"\"passes\": 3", "\"passes\": -3"},
                                            {"\"said\": \"age >= 71.5\"", "\"said\": 7"},
                                            {"\"delta_spent\": 0.25", "\"delta_spent\": {}"},
                                            {"\"answers\": [", "\"answers\": 3, \"others\": ["},
                                            {"\"releases\": [", "\"releases\": {}, \"o\": ["}};
    struct result result = example_result();
    char *text = written(&result);
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        struct result back;
        struct why why = {""};
        char *wrong = replaced(text, change[i][0], change[i][1]);
        cr_assert(read_text(&back, wrong, &why) == STATUS_INVALID, "%s", change[i][1]);
        cr_assert(why.text[0] != '\0' && back.answer == NULL && back.release == NULL);
        free(wrong);
    }
    free(text);
    result_free(&result);
}

Test(result, of_a_deployment_has_nulls_where_exact_records_would_be_needed)
{
    struct result result = example_result();
    struct result back;
    struct why why = {""};
    result.accuracy = NAN;
    result.auc = NAN;
    result.baseline.majority = NAN;
    char *text = written(&result);
    cr_assert(strstr(text, "\n \"accuracy\": null") != NULL);
    cr_assert(strstr(text, "\n \"auc\": null") != NULL);
    cr_assert(strstr(text, "\"baseline\": null") != NULL);
    cr_assert(read_text(&back, text, &why) == STATUS_OK, "%s", why.text);
    cr_assert(isnan(back.accuracy) && isnan(back.auc) && isnan(back.baseline.pooled_auc));
    free(text);
    result_free(&result);
    result_free(&back);
}

Test(result, of_a_seeded_run_says_it_is_not_private)
{
    struct result result = example_result();
    struct result back;
    struct why why = {""};
    result.private = false;
    result.has_seed = true;
    result.seed = 7;
    char *text = written(&result);
    cr_assert(strstr(text, "\"private\": false") != NULL && strstr(text, "\"seed\": 7") != NULL);
    cr_assert(read_text(&back, text, &why) == STATUS_OK, "%s", why.text);
    cr_assert(!back.private && back.has_seed && back.seed == 7);
    free(text);
    result_free(&result);
    result_free(&back);
}

Test(result, ignores_keys_of_a_newer_program)
{
    struct result result = example_result();
    struct result back;
    struct why why = {""};
    char *text = written(&result);
    char *newer = replaced(text, "\"job\":", "\"certificate\": [1, {}], \"job\":");
    cr_assert(read_text(&back, newer, &why) == STATUS_OK, "%s", why.text);
    free(newer);
    free(text);
    result_free(&result);
    result_free(&back);
}

Test(result, refuses_what_is_none)
{
    static const struct {
        const char *from;
        const char *to;
    } wrong[] = {
        {"\"job\": \"hospitals\"", "\"job\": 1"},
        {"\"job\": \"hospitals\",", ""},
        {"\"private\": true", "\"private\": \"true\""},
        {"\"private\": true", "\"private\": true, \"private\": false"},
        {"\"round\": 1", "\"round\": -1"},
        {"\"round\": 1", "\"round\": 1.5"},
        {"\"agents\": 2,\n   \"chosen\"", "\"agents\": 4294967296,\n   \"chosen\""},
        {"\"chosen\": \"average, lambda 0.003\"", "\"chosen\": \"somebody\""},
        {"\"chosen\": \"average, lambda 0.003\"", "\"chosen\": 0"},
        {"\"privacy\": {", "\"privacy\": [], \"private_\": {"},
        {"\"per_agent\": [", "\"per_agent\": {}, \"x\": ["},
        {"0.25,\n    0.25", "0.25"},
        {"0.25,\n    0.25", "0.25, 0.25, 0.25"},
        {"0.25,\n    0.25", "0.25, \"0.25\""},
        {"\"lambda\": 0.003", "\"lambda\": \"0.003\""},
        {"\"job\": \"hospitals\"", "\"job\": \"a\\u0000b\""},
        {"\"features\": 3", "\"features\": 4"},
        {"\"features\": 3", "\"features\": 99999999999"},
        {"{", "["},
        {"{", "{{"},
    };
    struct result result = example_result();
    char *text = written(&result);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct result back;
        struct why why = {""};
        char *changed = replaced(text, wrong[i].from, wrong[i].to);
        cr_expect(read_text(&back, changed, &why) == STATUS_INVALID, "accepted: %s", wrong[i].to);
        cr_expect(strncmp(why.text, "result.json: ", 13) == 0, "no reason for: %s", wrong[i].to);
        cr_expect(back.round_count == 0 && back.expert == NULL, "half a result is left");
        free(changed);
    }
    free(text);
    result_free(&result);
}

Test(result, refuses_every_cut)
{
    struct result result = example_result();
    char *text = written(&result);
    size_t whole = strlen(text);
    while (whole > 0 && text[whole - 1] != '}') {
        whole--;
    }
    for (size_t size = 0; size < whole; size++) {
        struct result back;
        cr_assert(result_from_json(&back, (struct slice){text, size}, "result.json", NULL) ==
                  STATUS_INVALID);
    }
    free(text);
    result_free(&result);
}

Test(result, refuses_a_name_that_is_not_text)
{
    struct result result = example_result();
    char *text = NULL;
    (void)snprintf(result.job, sizeof result.job, "\xff\xfe");
    cr_assert(result_to_json(&text, &result) == STATUS_INVALID && text == NULL);
    result_free(&result);
}

Test(result, of_a_number_keeps_its_errors_and_older_files_have_none)
{
    struct result result = example_result();
    struct result back;
    struct why why = {""};
    char *text = written(&result);
    cr_assert(strstr(text, "\"error\": null") != NULL);
    free(text);
    result.accuracy = NAN;
    result.auc = NAN;
    result.baseline.majority = NAN;
    result.error.root_mean_square = 4.5;
    result.error.mean_absolute = 3.25;
    result.error.constant = 6.75;
    result.error.pooled = 2.5;
    text = written(&result);
    cr_assert(read_text(&back, text, &why) == STATUS_OK, "%s", why.text);
    cr_assert(back.error.root_mean_square == 4.5 && back.error.mean_absolute == 3.25 &&
              back.error.constant == 6.75 && back.error.pooled == 2.5 &&
              isnan(back.error.pinball) && isnan(back.baseline.majority) &&
              back.baseline.records_held == result.baseline.records_held);
    result_free(&back);
    char *wrong = replaced(text, "\"root_mean_square\": 4.5", "\"root_mean_square\": \"4.5\"");
    cr_assert(read_text(&back, wrong, &why) == STATUS_INVALID);
    free(wrong);
    wrong = replaced(text, "\"error\": {", "\"error\": 3, \"other\": {");
    cr_assert(read_text(&back, wrong, &why) == STATUS_INVALID);
    free(wrong);
    char *older = replaced(text, "\"error\": {", "\"other\": {");
    cr_assert(read_text(&back, older, &why) == STATUS_OK && isnan(back.error.pooled));
    free(older);
    free(text);
    result_free(&result);
    result_free(&back);
}

/* At an AUC of 1/2 the formula is exact: Wilcoxon's variance, (a + b + 1)/(12 a b). */
Test(result, errors_are_those_of_the_records_held_out)
{
    struct result result;
    result_init(&result);
    cr_assert(isnan(result_accuracy_error(&result)) && isnan(result_auc_error(&result)));
    result.accuracy = 0.8;
    result.auc = 0.5;
    result.baseline.records_held = 100;
    result.baseline.majority = 0.6;
    cr_assert_float_eq(result_accuracy_error(&result), 0.04, 1e-12);
    cr_assert_float_eq(result_auc_error(&result), sqrt(101 / (12.0 * 60 * 40)), 1e-12);
    result.auc = 0.9;
    const double fewer = result_auc_error(&result);
    cr_assert(fewer > 0.02 && fewer < 0.04);
    result.baseline.majority = 0.9;
    cr_assert_gt(result_auc_error(&result), 1.5 * fewer, "few of one class tell less");
    result.auc = NAN;
    cr_assert(isnan(result_auc_error(&result)));
    result.auc = 0.8;
    result.baseline.majority = 1;
    cr_assert(isnan(result_auc_error(&result)), "there is one class");
}
