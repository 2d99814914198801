/* The question `evaluate`: its text, a record's cell, and its answers. */

#include "query/query_run.h"

#include "estimate/evaluate.h"
#include "toy_question.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { BITS = 8, ONE = 1 << BITS, N = 8 };

static size_t cell_of(const struct query *query, double age, double sex, double label)
{
    return only_cell_of(query, (const double[]){age, sex, 1, 2}, label, BITS);
}

/* Levels are six years wide, from 50 to 98. */
Test(evaluate_question, puts_a_record_into_the_level_of_its_score)
{
    const struct query query = parsed("evaluate: age for death by sex, cut at 74 in 8 levels");
    cr_assert(query.cell_count == 2 * (2 * N + 1) + 1 && query.cut_band == 4);
    cr_expect(cell_of(&query, 50, 0, -1) == 0);
    cr_expect(cell_of(&query, 20, 0, -1) == 0, "below the range: the first");
    cr_expect(cell_of(&query, 56, 0, -1) == 1, "at an edge: above it");
    cr_expect(cell_of(&query, 55.9, 0, 1) == N);
    cr_expect(cell_of(&query, 200, 0, 1) == 2 * N - 1);
    cr_expect(cell_of(&query, NAN, 0, 1) == 2 * N, "no score");
    cr_expect(cell_of(&query, 74, 1, -1) == 2 * N + 1 + 4);
    cr_expect(cell_of(&query, 74, NAN, -1) == 2 * (2 * N + 1), "no group");
    const struct query where = parsed("evaluate: age for sex == F in 16 levels where age < 60");
    cr_expect(cell_of(&where, 52, 0, 1) == 16 && cell_of(&where, 61, 0, 1) == 2 * 16 + 1);
}

Test(evaluate_question, refuses_with_the_place_and_the_remedy)
{
    refuses("evaluate: age for death by death", "groups by the event itself");
    refuses("evaluate: kappa for time age event death by death, to 80", "the event itself");
    refuses("evaluate: sex for death", "character 11, \"sex\"");
    refuses("evaluate: age by sex", "the word for and an event");
    refuses("evaluate: age for kappa", "this column does not have two categories");
    refuses("evaluate: age for death, cut 74", "the word at and a number");
    refuses("evaluate: age for death, cut at 73", "the nearest is 74");
    refuses("evaluate: age for death, cut at 50", "the nearest is 56");
    refuses("evaluate: age for death in 12 levels", "8, 16, 24 or 32");
    refuses("evaluate: age for death in 8", "the word levels");
    refuses("evaluate: age for death in 8 levels, cut at 74", "should end here");
}

/* 800 without the event in the first half of the levels, 200 with it in the second: a perfect score. */
Test(evaluate_question, answers_from_its_cells)
{
    const char *const text[] = {"evaluate: age for death, cut at 74 in 8 levels"};
    struct query_set set;
    struct query_run run;
    int64_t sum[2 * N + 2] = {0};
    static struct query_answer answer[32];
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    for (size_t k = 0; k < N / 2; k++) {
        sum[k] = 200 * ONE;
        sum[N + N / 2 + k] = 50 * ONE;
    }
    for (int noisy = 0; noisy < 2; noisy++) {
        const double scale = noisy == 0 ? 1e-9 : 200;
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &(struct query_noise){.scale = scale * ONE, .draws = 1}, 1000);
        cr_assert(query_run_answer_count(&set) == 1 + 6 + EVALUATE_BANDS);
        query_run_answers(answer, &run);
        cr_assert_str_eq(answer[0].figure, "records");
        cr_assert_str_eq(answer[1].name,
                         "evaluate: age for death, cut at 74 in 8 levels: age, AUC");
        cr_assert_str_eq(answer[3].figure, "sensitivity at 74");
        cr_assert_str_eq(answer[7].figure, "score in 50 to 56");
        if (noisy == 1) {
            cr_expect(isnan(answer[1].value) && isnan(answer[3].value));
            cr_expect(strstr(answer[1].note, "would be enough") != NULL, "%s", answer[1].note);
        } else {
            cr_expect(fabs(answer[1].value - 1) < 1e-9 && fabs(answer[2].value - 1) < 1e-9);
            cr_expect(fabs(answer[6].value - 0.2) < 1e-9, "with the event, of all");
            cr_expect(answer[7].value == 0 && answer[7].total_high < 0.05);
            cr_expect(answer[14].value == 1 && answer[14].total_low > 0.9);
        }
        query_run_free(&run);
    }
    query_set_free(&set);
}

/* The label as a column in 0 .. 1 stands in for a risk: of a range of probabilities there are decision curves, of others none. */
Test(evaluate_question, has_a_calibration_and_a_risk_a_decision_curve)
{
    const char *const text[] = {"evaluate: age for death by sex in 8 levels"};
    struct query_set set;
    struct query_run run;
    int64_t sum[2 * (2 * N + 1) + 1] = {0};
    static struct query_answer answer[64];
    static struct query_point point[128];
    for (int risk = 0; risk < 2; risk++) {
        cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
        if (risk == 1) {
            set.query[0].low = 0;
            set.query[0].high = 1;
            for (size_t k = 1; k < N; k++) {
                set.query[0].edge[k - 1] = (double)k / N;
            }
        }
        for (size_t k = 0; k < N; k++) {
            sum[k] = 50 * ONE;
            sum[N + k] = 10 * (int64_t)(k + 1) * ONE;
            sum[2 * N + 1 + k] = 40 * ONE;
        }
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &(struct query_noise){.scale = 1e-9 * ONE, .draws = 1}, 1080);
        const size_t points = query_run_point_count(&set);
        cr_assert(points == 3 * (size_t)(risk == 1 ? EVALUATE_BANDS + 14 : EVALUATE_BANDS));
        cr_assert(query_run_answer_count(&set) == 3 * (size_t)(1 + 11 + risk));
        query_run_points(point, &run);
        query_run_answers(answer, &run);
        cr_assert_str_eq(point[0].curve, "calibration");
        cr_assert_str_eq(point[0].group, "F");
        cr_assert_str_eq(point[points - 1].group, "all");
        cr_expect(fabs(point[3].value - 40.0 / 90) < 1e-6, "%g", point[3].value);
        cr_expect(fabs(point[3].time - (risk == 1 ? 3.5 / N : 74 - 3)) < 1e-9);
        if (risk == 1) { /* at 1/2, of the first group: 260 of 460 */
            cr_assert_str_eq(point[8 + 3].curve, "net benefit");
            cr_expect(fabs(point[8 + 3].value - (260.0 - 200) / 760) < 1e-6);
            cr_assert_str_eq(point[8 + 7].curve, "net benefit, all treated");
            cr_expect(fabs(point[8 + 7 + 3].value - (360.0 - 400) / 760) < 1e-6);
            cr_assert_str_eq(answer[6].figure, "less the mean score");
            cr_expect(fabs(answer[3 + 3].value - (360.0 - 3460.0 / 8) / 760) < 1e-6);
        }
        query_run_free(&run);
        query_set_free(&set);
    }
}

/* Most levels are empty. The noise in them must not lead to a factor. */
Test(evaluate_question, names_no_factor_where_nobody_was_found)
{
    const char *const text[] = {"evaluate: age for death in 8 levels"};
    struct query_set set;
    struct query_run run;
    int64_t sum[2 * N + 2] = {0};
    static struct query_answer answer[32];
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    sum[0] = 790 * ONE;
    sum[N] = 210 * ONE;
    sum[3] = 9 * ONE; /* noise */
    sum[4] = -9 * ONE;
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &(struct query_noise){.scale = 7 * ONE, .draws = 1}, 1000);
    query_run_answers(answer, &run);
    const size_t band = query_run_answer_count(&set) - EVALUATE_BANDS;
    cr_expect(!isnan(answer[band].value));
    for (size_t k = 3; k < 5; k++) {
        const char *note = answer[band + k].note;
        cr_expect(isnan(answer[band + k].value) && isnan(answer[band + k].error));
        cr_expect(strstr(note, "no record was found there") != NULL, "%s", note);
        cr_expect(strstr(note, "times the epsilon") == NULL, "%s", note);
    }
    query_run_free(&run);
    query_set_free(&set);
}

/* The group is as large as the note demands. It lacks events, and the number is for groups that have some. */
Test(evaluate_question, says_for_which_group_its_number_of_records_is_enough)
{
    const char *const text[] = {"evaluate: age for death in 8 levels"};
    struct query_set set;
    struct query_run run;
    int64_t sum[2 * N + 2] = {0};
    static struct query_answer answer[32];
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    for (size_t k = 0; k < N; k++) {
        sum[k] = 125 * ONE;
    }
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &(struct query_noise){.scale = ONE, .draws = 1}, 1000);
    query_run_answers(answer, &run);
    cr_expect(strcmp(answer[1].unit, "AUC") == 0 && isnan(answer[1].value));
    cr_expect(strstr(answer[1].note, "a group of about") != NULL &&
                  strstr(answer[1].note, "if a fifth of them have the event") != NULL,
              "%s", answer[1].note);
    query_run_free(&run);
    query_set_free(&set);
}
