/* The question `survival`: its text, a record's cell, the planner, and its answers end to end. */

#include "query/query_run.h"

#include "toy_question.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { BITS = 8, ONE = 1 << BITS, K = 4 };

/* The one cell that a record is in: death and censoring by interval, who is left; and the last for the others. */
static size_t cell_of(const struct query *query, double age, double sex, double label)
{
    const double cell[TOY_COLUMNS] = {age, sex, 1, 2};
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = label};
    int64_t sum[QUERY_CELLS_MAX] = {0};
    size_t found = query->cell_count;
    int64_t total = 0;
    query_add(sum, query, BITS, 0, &row);
    for (size_t i = 0; i < QUERY_CELLS_MAX; i++) {
        cr_assert(sum[i] == 0 || (sum[i] == ONE && i < query->cell_count));
        total += sum[i];
        found = sum[i] != 0 ? i : found;
    }
    cr_assert(total == ONE, "a record is in one cell");
    return found;
}

Test(survival_question, puts_a_record_into_the_interval_of_its_time)
{
    const struct query query =
        parsed("survival: time age event death by sex, to 80 in 4 intervals");
    cr_assert(query.cell_count == 2 * (2 * K + 1) + 1 && query_groups(&query) == 2);
    cr_expect(cell_of(&query, 0.5, 0, 1) == 0);
    cr_expect(cell_of(&query, 20, 0, 1) == 0, "a death at an interval's end is in it");
    cr_expect(cell_of(&query, 20.5, 0, 1) == 1);
    cr_expect(cell_of(&query, 80, 0, 1) == 3);
    cr_expect(cell_of(&query, 80.5, 0, 1) == 2 * K, "died later: alive at the end");
    cr_expect(cell_of(&query, 0.5, 0, -1) == K);
    cr_expect(cell_of(&query, 0, 0, 1) == 2 * (2 * K + 1), "died at time 0: in no interval");
    cr_expect(cell_of(&query, 0, 0, -1) == 2 * (2 * K + 1), "and lost");
    cr_expect(cell_of(&query, -0.0, 0, 1) == 2 * (2 * K + 1));
    cr_expect(cell_of(&query, 20, 0, -1) == K + 1, "censored at an interval's end: in the next");
    cr_expect(cell_of(&query, 79.5, 0, -1) == 2 * K - 1);
    cr_expect(cell_of(&query, 80, 0, -1) == 2 * K);
    cr_expect(cell_of(&query, 70, 1, 1) == 2 * K + 1 + 3, "the other group");
    cr_expect(cell_of(&query, NAN, 0, 1) == 2 * (2 * K + 1));
    cr_expect(cell_of(&query, -1, 0, 1) == 2 * (2 * K + 1));
    cr_expect(cell_of(&query, 70, NAN, 1) == 2 * (2 * K + 1));
    cr_expect(cell_of(&query, 70, -1, 1) == 2 * (2 * K + 1));
    cr_expect(cell_of(&query, INFINITY, 0, 1) == 2 * K);
}

Test(survival_question, takes_predicates_for_events_and_groups)
{
    const struct query query = parsed(
        "survival: time age event sex == F by death == 1 and kappa < 2, to 80 in 4 intervals "
        "where age >= 10");
    cr_assert(query_groups(&query) == 2);
    cr_assert_str_eq(query_group_name(&query, 0), "not death == 1 and kappa < 2");
    cr_assert_str_eq(query_group_name(&query, 1), "death == 1 and kappa < 2");
    cr_expect(cell_of(&query, 70, 0, -1) == 3);
    cr_expect(cell_of(&query, 70, 1, -1) == K + 3);
    cr_expect(cell_of(&query, 70, 0, 1) == 2 * K + 1 + 3);
    cr_expect(cell_of(&query, 5, 0, 1) == 2 * (2 * K + 1), "the where leaves it out");
    const struct query plain = parsed("survival: time age event sex, to 80");
    cr_expect(query_groups(&plain) == 1 && query_group_name(&plain, 0)[0] == '\0');
    cr_expect(cell_of(&plain, 70, 1, -1) < plain.intervals, "M is the second category");
}

Test(survival_question, refuses_with_the_place_and_the_remedy)
{
    refuses("survival: age", "character 11, \"age\": the word time");
    refuses("survival: time sex event death, to 80", "character 16, \"sex\"");
    refuses("survival: time age death, to 80", "the word event");
    refuses("survival: time age event 'home region', to 80",
            "this column does not have two categories");
    refuses("survival: time age event kappa, to 80", "this column does not have two categories");
    refuses("survival: time age event death by kappa, to 80", "column of numbers");
    refuses("survival: time age event death", "the text ends here: a comma, to");
    refuses("survival: time age event death, to 99", "it must lie between 0 and 98");
    refuses("survival: time age event death, to 0", "it must lie between 0 and 98");
    refuses("survival: time age event death, to 80 in 3 intervals", "from 4 to 40");
    refuses("survival: time age event death, to 80 in 5", "the word intervals");
    refuses("survival: time age event death, to 80 by sex", "should end here");
    refuses("survival: time age event death by death, to 80", "groups by the event itself");
    refuses("survival: time age event sex == M by sex, to 80", "groups by the event itself");
    refuses("survival: time age event death by death == 1, to 80", "groups by the event itself");
    refuses("survival: time age event death by age > 50, to 80", "groups by the time itself");
    refuses("survival: time agee event death, to 80", "age");
}

Test(survival_question, plans_its_intervals_from_public_numbers_unless_told)
{
    struct query query = parsed("survival: time age event death by sex, to 80");
    struct query told = parsed("survival: time age event death by sex, to 80 in 7 intervals");
    const struct query_public much = {.records = 25000, .variance = 8};
    const struct query_public little = {.records = 1000, .variance = 500};
    query_plan(&query, &much);
    const size_t many = query.intervals;
    cr_expect(query.cell_count == 2 * (2 * many + 1) + 1 && query.edge[many - 1] == 80);
    query_plan(&query, &little);
    cr_expect(query.intervals < many);
    query_plan(&told, &much);
    cr_expect(told.intervals == 7);
}

/* With Gaussian noise: every record in its cell and in its block's sum, for less in each. */
Test(survival_question, asks_sums_of_blocks_where_their_noise_is_less)
{
    const struct query_public known = {.records = 25000, .variance = 100, .is_gaussian = true};
    struct query query = parsed("survival: time age event death by sex, to 80 in 10 intervals");
    const size_t plain = 2 * 21 + 1;
    query_plan(&query, &known);
    const size_t block = query.block;
    const size_t of_deaths = (10 + block - 1) / block;
    const size_t sums = of_deaths + (11 + block - 1) / block;
    cr_assert(block == 4 && query.cell_count == plain + 2 * sums);
    cr_assert(query_survival_part(&query, ONE) == 181, "%d / sqrt(2)", ONE);
    const struct {
        double age;
        double sex;
        double label;
        size_t cell;
        size_t sum; /* beyond all: none */
    } record[] = {
        {8, 0, 1, 0, plain},
        {40, 0, 1, 4, plain + 1},
        {80, 0, 1, 9, plain + 2},
        {8, 0, -1, 11, plain + of_deaths},
        {39.9, 0, -1, 14, plain + of_deaths + 1},
        {90, 0, 1, 20, plain + of_deaths + 2},
        {80, 1, -1, 21 + 20, plain + sums + of_deaths + 2},
        {8, 1, 1, 21, plain + sums},
        {NAN, 1, 1, plain - 1, SIZE_MAX},
    };
    for (size_t r = 0; r < sizeof record / sizeof record[0]; r++) {
        const double cell[TOY_COLUMNS] = {record[r].age, record[r].sex, 1, 2};
        const struct row row = {
            .cell = cell, .column_count = TOY_COLUMNS, .label = record[r].label};
        int64_t sum[QUERY_CELLS_MAX] = {0};
        query_add(sum, &query, BITS, 0, &row);
        for (size_t i = 0; i < QUERY_CELLS_MAX; i++) {
            const bool is_in = i == record[r].cell || i == record[r].sum;
            cr_expect(sum[i] == (is_in ? 181 : 0), "record %zu, cell %zu", r, i);
        }
    }
    const struct query_public laplace = {.records = 25000, .variance = 100};
    query_plan(&query, &laplace);
    cr_expect(query.block == 0 && query.cell_count == plain);
}

/* The same records by either way: the same answers without noise, and the answer says which way. */
Test(survival_question, answers_from_cells_and_sums_as_from_cells)
{
    static const char *const text[] = {"survival: time age event death, to 80 in 8 intervals"};
    struct query_answer answer[2][2];
    for (int way = 0; way < 2; way++) {
        const struct query_noise noise = {.scale = ONE / 4.0, .draws = 1, .is_gaussian = true};
        struct query_set set;
        struct query_run run;
        int64_t sum[64] = {0};
        cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
        query_set_plan(
            &set, &(struct query_public){.records = 5000, .variance = 1, .is_gaussian = way == 1});
        cr_assert((set.query[0].block > 0) == (way == 1));
        for (int i = 0; i < 1000; i++) {
            const double cell[TOY_COLUMNS] = {5 + (i * 37) % 90, 0, 1, 2};
            const struct row row = {
                .cell = cell, .column_count = TOY_COLUMNS, .label = i % 3 == 0 ? -1 : 1};
            query_set_add(sum, &set, 0, NULL, &row);
        }
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &noise, 1000);
        cr_assert(query_run_answer_count(&set) == 2);
        query_run_answers(answer[way], &run);
        query_run_free(&run);
        query_set_free(&set);
    }
    for (size_t i = 0; i < 2; i++) {
        cr_expect(fabs(answer[0][i].value - answer[1][i].value) < 1e-9);
    }
    cr_expect(answer[1][1].error < answer[0][1].error);
    cr_expect(strstr(answer[0][1].note, "8 intervals in plain cells; as trees") != NULL, "%s",
              answer[0][1].note);
    cr_expect(strstr(answer[1][1].note, "two trees, of deaths and of the rest, in blocks of 3; as "
                                        "plain cells") != NULL,
              "%s", answer[1][1].note);
}

/* A third as many who die or are lost at time 0, and the same curve: it is of those who are observed for some time. The answer says how
 * many are not. */
Test(survival_question, leaves_out_who_is_observed_for_no_time)
{
    static const char *const text[] = {"survival: time age event death, to 80 in 8 intervals"};
    struct query_answer answer[2][2];
    for (int way = 0; way < 2; way++) {
        struct query_set set;
        struct query_run run;
        int64_t sum[64] = {0};
        cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
        for (int i = 0; i < (way == 0 ? 900 : 1200); i++) {
            const double cell[TOY_COLUMNS] = {i < 900 ? 5 + (i * 37) % 90 : 0, 0, 1, 2};
            const struct row row = {
                .cell = cell, .column_count = TOY_COLUMNS, .label = i % 3 == 0 ? -1 : 1};
            query_set_add(sum, &set, 0, NULL, &row);
        }
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &(struct query_noise){.scale = ONE / 4.0, .draws = 1},
                          way == 0 ? 900 : 1200);
        query_run_answers(answer[way], &run);
        query_run_free(&run);
        query_set_free(&set);
    }
    for (size_t i = 0; i < 2; i++) {
        cr_expect(fabs(answer[0][i].value - answer[1][i].value) < 1e-9);
        cr_expect(fabs(answer[0][i].total_low - answer[1][i].total_low) < 1e-9);
    }
    cr_expect(strstr(answer[0][1].note, "; about 0 records (noise 0.4) are in no curve") != NULL,
              "%s", answer[0][1].note);
    cr_expect(strstr(answer[1][1].note, "; about 300 records (noise 0.4) are in no curve") != NULL,
              "%s", answer[1][1].note);
}

/* 900 deaths, three hundred in each of the first three intervals, and 100 left; nobody censored. */
Test(survival_question, answers_from_its_cells)
{
    const char *const text[] = {"count: age >= 65",
                                "survival: time age event death, to 80 in 4 intervals"};
    const struct query_noise noise = {.scale = ONE / 4.0, .draws = 1};
    struct query_set set;
    struct query_run run;
    int64_t sum[1 + 2 * K + 2] = {5 * ONE, 300 * ONE, 300 * ONE, 300 * ONE, 0, 0,
                                  0,       0,         0,         100 * ONE, 0};
    cr_assert(query_set_init(&set, text, 2, BITS, &toy_names, NULL) == STATUS_OK);
    cr_assert(query_set_cells(&set, 0) == 1 + 2 * K + 2);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &noise, 1000);
    struct query_answer answer[3];
    struct query_point point[K];
    cr_assert(query_run_answer_count(&set) == 3 && query_run_point_count(&set) == K);
    query_run_answers(answer, &run);
    query_run_points(point, &run);
    cr_expect(answer[0].value == 5 && isnan(answer[0].total_low));
    cr_assert_str_eq(answer[1].name,
                     "survival: time age event death, to 80 in 4 intervals: median");
    cr_expect(fabs(answer[1].value - (20 + 20.0 * 2 / 3)) < 1e-9, "%g", answer[1].value);
    cr_expect(answer[1].total_low == 20 && answer[1].total_high == 40);
    cr_expect(fabs(answer[2].value - 20 * (0.5 + 0.7 + 0.4 + 0.1 + 0.05)) < 1e-9, "%g",
              answer[2].value);
    cr_expect(answer[2].total_low < answer[2].low && answer[2].high < answer[2].total_high);
    for (size_t j = 0; j < 3; j++) {
        cr_expect(fabs(point[j].value - (0.7 - 0.3 * (double)j)) < 1e-12);
        cr_expect(point[j].band_low < point[j].low && point[j].high < point[j].band_high);
        cr_expect(point[j].low < point[j].noise_low && point[j].noise_high < point[j].high);
        cr_expect(point[j].time == 20 * (double)(j + 1));
    }
    cr_expect(point[0].at_risk == 1000 && point[2].at_risk == 400);
    query_run_free(&run);
    query_set_free(&set);
}

/* 400 records in each group, and few deaths: the records are not too few. The same if there are no deaths and noise makes a
 * few. */
Test(survival_question, says_that_events_are_few_where_records_are_many)
{
    static const char *const text[] = {
        "survival: time age event death by sex, to 80 in 4 intervals"};
    static struct query_answer answer[16];
    struct query_set set;
    struct query_run run;
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    for (int deaths = -1; deaths <= 2; deaths += 3) { /* no records, hidden by noise */
        int64_t sum[QUERY_CELLS_MAX] = {0};
        char told[64];
        for (size_t g = 0; g < 2; g++) {
            sum[g * (2 * K + 1)] = deaths * ONE;
            sum[g * (2 * K + 1) + 2 * K] = (400 - deaths) * ONE;
        }
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &(struct query_noise){.scale = ONE, .draws = 1}, 800);
        query_run_answers(answer, &run);
        (void)snprintf(told, sizeof told, ": too few events: about %d in the first half",
                       deaths < 0 ? 0 : deaths);
        cr_assert(isnan(answer[0].value));
        cr_expect(strstr(answer[0].note, told) != NULL, "%s", answer[0].note);
        cr_expect(strstr(answer[0].note, "a group of about") == NULL, "%s", answer[0].note);
        cr_expect(strstr(answer[0].note, "times the") == NULL, "%s", answer[0].note);
        query_run_free(&run);
    }
    query_set_free(&set);
}

/* The second group is empty, and all records of the first end in one interval: each group has its own
 * remedy. */
Test(survival_question, says_what_a_group_lacks)
{
    enum { WIDTH = 2 * K + 1 };
    const char *const text[] = {"survival: time age event death by sex, to 80 in 4 intervals"};
    const struct query_noise noise = {.scale = ONE * 2.0, .draws = 1};
    for (int alike = 0; alike < 2; alike++) {
        struct query_set set;
        struct query_run run;
        struct query_answer answer[7];
        int64_t sum[2 * WIDTH + 1] = {0};
        for (size_t j = 0; j < K; j++) {
            sum[j] = (alike == 0 ? 200 : j == 1 ? 800 : 0) * ONE;
        }
        sum[2 * K] = 200 * ONE * (1 - alike);
        sum[WIDTH] = 3 * ONE; /* noise */
        cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        cr_assert(query_run_answer_count(&set) == 7);
        query_run_observe(&run, sum, &noise, alike == 0 ? 1003 : 803);
        query_run_answers(answer, &run);
        cr_expect(isnan(answer[1].value) == (alike == 1), "%s", answer[1].note);
        cr_expect(alike == 0 || strstr(answer[1].note, "in one interval, 20 to 40") != NULL, "%s",
                  answer[1].note);
        for (size_t i = 2; i < 7; i++) { /* of the second group, or of both */
            cr_expect(isnan(answer[i].value) && isnan(answer[i].error), "%s", answer[i].name);
            cr_expect(strstr(answer[i].note, "no record was found in M") != NULL, "%s: %s",
                      answer[i].name, answer[i].note);
            cr_expect(strstr(answer[i].note, "times the") == NULL, "%s", answer[i].note);
        }
        query_run_free(&run);
        query_set_free(&set);
    }
}

/* A curve, but hardly anybody left at its end: no factor follows from what may be noise, so the numbers themselves are told. */
Test(survival_question, says_how_many_are_too_few_at_the_end)
{
    enum { WIDTH = 2 * K + 1, MEAN = 1 /* of the first group, after its median */ };
    const char *const text[] = {"survival: time age event death by sex, to 80 in 4 intervals"};
    struct query_set set;
    struct query_run run;
    struct query_answer answer[7];
    int64_t sum[2 * WIDTH + 1] = {0};
    static const int64_t cell[WIDTH] = {120, 60, 5, 0, 80, 120, 12, 0, 1};
    for (size_t j = 0; j < WIDTH; j++) {
        sum[j] = sum[WIDTH + j] = cell[j] * ONE;
    }
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    cr_assert(query_run_init(&run, &set) == STATUS_OK);
    query_run_observe(&run, sum, &(struct query_noise){.scale = ONE * 2.0, .draws = 1}, 796);
    query_run_answers(answer, &run);
    cr_expect(!isnan(answer[0].value), "%s", answer[0].note);
    cr_expect(isnan(answer[MEAN].value));
    cr_expect(strstr(answer[MEAN].note,
                     "this noise: about 1 in the last interval, and more than") != NULL,
              "%s", answer[MEAN].note);
    query_run_free(&run);
    query_set_free(&set);
}
