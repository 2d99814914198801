/* Whether two questions are one under two names. */

#include "query/query_same.h"
#include "query/query_set.h"

#include "toy_schema.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* Behind the toy's columns: categories that may be missing, a time, and a risk. */
enum { MORE_COLUMNS = TOY_COLUMNS + 6, WORK = 1 << 26 };

static struct column more_column[MORE_COLUMNS] = {
    [TOY_COLUMNS] = {.name = "dead",
                     .kind = COLUMN_CATEGORY,
                     .category_count = 2,
                     .category = {"no", "yes"}},
    {.name = "futime", .centre = 2600, .half_width = 2600},
    {.name = "risk", .centre = 0.5, .half_width = 0.5},
    {.name = "ward", .kind = COLUMN_CATEGORY, .category_count = 2, .category = {"a", "b"}},
    {.name = "dose", .centre = 10, .half_width = 5},
    {.name = "visits", .centre = 1, .half_width = 1.5},
};

static const struct schema more = {
    .column = more_column,
    .column_count = MORE_COLUMNS,
    .label = {.name = "death", .positive = "1", .negative = "0"},
};

static const double weights[2][32] = {{0.5, -0.25, 1}, {0.5, -0.25, 1.0000001}};
static const struct query_score scores[] = {{.name = "own", .weight = weights[0]},
                                            {.name = "card", .weight = weights[0]},
                                            {.name = "other", .weight = weights[1]},
                                            {.name = "chosen"},
                                            {.name = "picked"}};
static const struct query_names names = {
    .schema = &more, .score = scores, .score_count = sizeof scores / sizeof scores[0]};

static void begin(void)
{
    memcpy(more_column, toy_column, sizeof toy_column);
}

static struct query *parsed(const char *text)
{
    struct query *query = calloc(1, sizeof *query);
    struct why why = {{0}};
    cr_assert(query != NULL && query_parse(query, slice_of(text), &names, &why) == STATUS_OK,
              "%s: %s", text, why.text);
    if (query_is_planned(query)) {
        query_plan_as_any(query);
    }
    return query;
}

/* As alike in either order, and then with equal prints. */
static void expect(enum query_likeness expected, const char *left, const char *right)
{
    const struct query *pair[] = {parsed(left), parsed(right)};
    uint64_t print[2];
    enum query_likeness likeness;
    cr_assert(query_compare(&likeness, pair[0], pair[1], &more, &(uint64_t){WORK}) == STATUS_OK);
    cr_expect(likeness == expected, "%d: %s | %s", likeness, left, right);
    cr_assert(query_compare(&likeness, pair[1], pair[0], &more, &(uint64_t){WORK}) == STATUS_OK);
    cr_expect(likeness == expected, "%d: %s | %s", likeness, right, left);
    cr_assert(query_prints(print, pair, 2, &more) == STATUS_OK);
    cr_expect(expected == QUERY_OTHER || print[0] == print[1], "%s | %s", left, right);
    free((void *)pair[0]);
    free((void *)pair[1]);
}

Test(query_same, knows_a_predicate_in_other_words, .init = begin)
{
    static const char *const pairs[][2] = {
        {"count: sex == M", "count: (sex == M)"},
        {"count: sex == M", "count: not sex != M and sex == M"},
        {"count: age >= 65 and sex == M", "count: sex == M and age >= 65"},
        {"count: age >= 65 and sex == M",
         "count: not (age < 65 or sex != M) and age > 0 and sex != F"},
        {"count: age >= 65", "count: age > 65 or age == 65"},
        {"count: age >= 65", "count: age >= 65.0"},
        {"count: age < 65", "count: age <= 64.99999999999999"}, /* no number lies between */
        {"count: age < 60 or age < 65", "count: age < 65"},
        {"count: death == 1", "count: death != 0"}, /* a label of two classes is always there */
        {"count: death == 1", "count: not death == 0"},
        {"count: age > 200 and age < 100", "count: sex == M and sex == F"}, /* never */
        {"mean: age where sex == M", "mean: age where (sex == M)"},
        {"quantile: 0.5 of age where sex == M", "quantile: 0.50 of age where not not sex == M"},
        {"quantile: 0.5 of age in 12 rounds", "quantile: 0.5 of age in 8 rounds"},
        {"histogram: age by 10", "histogram: age at 60, 70, 80, 90"},
        {"histogram: sex where age > 3 and age > 5", "histogram: sex where age > 5"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        expect(QUERY_SAME, pairs[i][0], pairs[i][1]);
    }
}

/* Each pair differs in a record that there may be, if only in one. */
Test(query_same, tells_apart_what_one_record_does, .init = begin)
{
    static const char *const pairs[][2] = {
        {"count: age < 65", "count: age <= 65"},
        {"count: age < 65", "count: age <= 64"}, /* a number need not be whole */
        {"count: age < 65", "count: age < 65.0000001"},
        {"count: sex == M", "count: sex == F"},
        {"count: sex == M", "count: dead == yes"},
        {"count: age > 200 and age < 201", "count: age > 200 and age < 202"},
        {"count: age == 1 and kappa == 2 and dose == 3 and risk == 4 and futime == 5",
         "count: age == 1 and kappa == 2 and dose == 3 and risk == 4 and futime == 6"},
        {"count: sex == M", "histogram: sex"},
        {"mean: age", "mean: age where sex == M"},
        {"mean: age where sex == M", "mean: dose where sex == M"},
        {"mean: age", "quantile: 0.5 of age"},
        {"quantile: 0.5 of age", "quantile: 0.500031 of age"},
        {"quantile: 0.5 of age", "quantile: 0.5 of dose"},
        {"histogram: age by 10", "histogram: age at 60, 70, 80, 90.00001"},
        {"histogram: sex", "histogram: dead"},
        {"crosstab: sex x dead", "crosstab: sex x death"}, /* a missing dead */
        {"crosstab: sex x dead", "crosstab: sex x ward"},
        {"crosstab: sex x dead", "crosstab: sex x dead where age < 1000"},
        {"crosstab: sex x dead where age > 5", "crosstab: sex x dead where age >= 5"},
        {"crosstab: sex x dead x ward", "crosstab: sex x dead"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        expect(QUERY_OTHER, pairs[i][0], pairs[i][1]);
    }
}

Test(query_same, knows_larger_questions_in_another_order, .init = begin)
{
    static const char *const pairs[][2] = {
        {"crosstab: dead x sex", "crosstab: sex x dead"},
        {"crosstab: dead x sex x 'home region' where age > 5",
         "crosstab: 'home region' x dead x sex where not age <= 5 and age > 0"},
        {"table1: [age, sex] by dead", "table1: [sex, age] by dead"},
        {"table1: [age, sex] by death", "table1: [age, sex] by death == 1"},
        {"table1: [age] by age >= 65 in 16 steps", "table1: [age] by not age < 65 in 16 steps"},
        {"survival: time futime event death by sex, to 5000",
         "survival: time futime event death == 1 by sex, to 5000"},
        {"survival: time futime event dead by age > 70, to 5000 in 8 intervals",
         "survival: time futime event dead == yes by not age > 70, to 5000 in 8 intervals"},
        {"evaluate: risk for death", "evaluate: risk for death == 1"},
        {"evaluate: own for death by sex", "evaluate: card for not death != 1 by sex"},
        {"evaluate: own for time futime event death, to 4000",
         "evaluate: card for time futime event death == 1, to 4000"},
        {"correlate: [age, kappa, dose]", "correlate: [dose, age, kappa]"},
        {"pca: [age, kappa, dose] where age > 4", "pca: [dose, age, kappa] where (age > 4)"},
        {"regress: death ~ age + sex", "regress: death ~ sex + age"},
        {"regress: death ~ age + sex", "regress: death == 1 ~ age + sex"},
        {"regress: dose ~ kappa + log(age)", "regress: dose ~ log(age) + kappa"},
        {"regress: death ~ visits + sex in 3 levels", /* 0, 1 and 2 have a level each */
         "regress: death ~ sex + whole(visits) in 3 levels"},
        {"regress: death ~ factor(dose) + sex", "regress: death == 1 ~ sex + factor(dose)"},
        {"regress: time futime event death ~ age + sex, to 5000",
         "regress: time futime event death == 1 ~ sex + age, to 5000"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        expect(QUERY_SAME, pairs[i][0], pairs[i][1]);
    }
}

Test(query_same, tells_larger_questions_apart, .init = begin)
{
    static const char *const pairs[][2] = {
        {"table1: [age, sex] by dead", "table1: [age, ward] by dead"},
        {"table1: [age, sex] by dead", "table1: [age, sex]"},
        {"table1: [age] in 16 steps", "table1: [age] in 24 steps"},
        {"table1: [age] by age >= 65", "table1: [age] by age > 65"},
        {"survival: time futime event death by sex, to 5000",
         "survival: time futime event death == 0 by sex, to 5000"}, /* the censored */
        {"survival: time futime event death, to 5000",
         "survival: time futime event death, to 4999"},
        {"survival: time futime event death, to 5000 in 8 intervals",
         "survival: time futime event death, to 5000 in 10 intervals"},
        {"survival: time futime event death by sex, to 5000",
         "survival: time futime event death by ward, to 5000"},
        {"evaluate: risk for death, cut at 0.25", "evaluate: risk for death, cut at 0.5"},
        {"evaluate: risk for death", "evaluate: own for death"},
        {"evaluate: own for death", "evaluate: other for death"},
        {"evaluate: chosen for death", "evaluate: picked for death"},
        {"evaluate: chosen for death", "evaluate: own for death"},
        {"evaluate: risk for death", "evaluate: risk for dead"},
        {"evaluate: risk for time futime event death, to 4000",
         "evaluate: risk for time futime event death != 1, to 4000"},
        {"correlate: [age, kappa, dose]", "correlate: [age, kappa, risk]"},
        {"correlate: [age, kappa] where age == 50", "correlate: [age, kappa] where age == 51"},
        {"correlate: [age, kappa]", "pca: [age, kappa]"}, /* other figures of the same sums */
        {"regress: death ~ age + sex", "regress: death ~ age + ward"},
        {"regress: death ~ age + sex", "regress: dead ~ age + sex"},
        {"regress: dose ~ age", "regress: dose ~ log(age)"},
        {"regress: dose ~ age", "regress: counts dose ~ age"},
        {"regress: death ~ dose", "regress: death ~ whole(dose)"}, /* levels end elsewhere */
        {"regress: death ~ log(dose) in 4 levels", "regress: death ~ log(whole(dose)) in 4 levels"},
        {"regress: death ~ visits in 2 levels", "regress: death ~ whole(visits) in 2 levels"},
        {"regress: death ~ factor(dose)", "regress: death ~ dose"},
        {"regress: death ~ factor(dose)", "regress: death ~ dose in 11 levels"},
        {"regress: time futime event death ~ age, to 5000",
         "regress: time futime event death ~ age, to 4000"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        expect(QUERY_OTHER, pairs[i][0], pairs[i][1]);
    }
}

/* Equal only if all cells are there: a missing or unlisted one may be what a person asks for. */
Test(query_same, knows_what_differs_in_missing_cells_alone, .init = begin)
{
    static const char *const pairs[][2] = {
        {"count: age < 65", "count: not age >= 65"},                         /* a missing age */
        {"count: sex == M", "count: not sex != M"},                          /* a missing sex */
        {"count: sex == M", "count: sex != F"},                              /* an unlisted one */
        {"table1: [age, sex] by dead", "table1: [age, sex] by dead == yes"}, /* a missing one */
        {"regress: dead ~ age", "regress: dead == yes ~ age"},               /* a missing dead */
        {"count: sex == M", "count: sex == M and (dead == yes or dead == no)"},
        {"survival: time futime event dead, to 5000",
         "survival: time futime event dead != no, to 5000"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        expect(QUERY_SAME_IF_THERE, pairs[i][0], pairs[i][1]);
    }
    expect(QUERY_OTHER, "count: age < 65 or age >= 65",
           "count: sex == F or sex == M"); /* those there */
    expect(QUERY_OTHER, "count: age < 65", "count: not age > 65");
}

/* What the planner chooses depends on the epsilon, and is no part of the question; what the text asks for is. */
Test(query_same, leaves_out_what_the_planner_chooses, .init = begin)
{
    static const char *const texts[] = {
        "table1: [age, sex] by dead", "survival: time futime event death by sex, to 5000",
        "evaluate: risk for death",   "evaluate: risk for time futime event death, to 4000",
        "correlate: [age, kappa]",    "regress: death ~ age + dose"};
    static const char *const others[] = {
        "table1: [sex, age] by (dead == yes or dead == no) and dead == yes",
        "survival: time futime event (death == 1) by sex, to 5000",
        "evaluate: risk for (death == 1)",
        "evaluate: risk for time futime event (death == 1), to 4000",
        "correlate: [kappa, age]",
        "regress: death ~ dose + age"};
    size_t moved = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct query *a = parsed(texts[i]);
        struct query *b = parsed(others[i]);
        enum query_likeness likeness;
        query_plan(a, &(struct query_public){.records = 5000, .variance = 10});
        query_plan(b,
                   &(struct query_public){.records = 300, .variance = 4000, .is_gaussian = true});
        moved += a->cell_count != b->cell_count ? 1 : 0;
        query_plan_as_any(a);
        query_plan_as_any(b);
        cr_assert(query_compare(&likeness, a, b, &more, &(uint64_t){WORK}) == STATUS_OK);
        cr_expect(likeness == (i > 0 ? QUERY_SAME : QUERY_SAME_IF_THERE), "%s", texts[i]);
        free(a);
        free(b);
    }
    cr_assert(moved >= 4, "%zu", moved);
}

/* Too many combinations to try: then the texts decide. */
Test(query_same, claims_nothing_that_it_cannot_try, .init = begin)
{
    char text[2][QUERY_TEXT_BYTES] = {"count: sex == M", "count: (sex == M)"};
    for (size_t i = 0; i < 2; i++) {
        for (int j = 0; j < 9; j++) {
            const size_t used = strlen(text[i]);
            (void)snprintf(text[i] + used, sizeof text[i] - used, " and age>%d and dose>%d", j, j);
        }
        const size_t used = strlen(text[i]);
        (void)snprintf(text[i] + used, sizeof text[i] - used,
                       " and risk>1 and futime>1 and kappa>1");
    }
    expect(QUERY_OTHER, text[0], text[1]);
    expect(QUERY_SAME, text[0], text[0]);
    expect(QUERY_SAME, "count: sex == M and age > 1", "count: (sex == M) and age > 1");
}

enum { PREDICATES = 150 };

/* Records whose age and sex are there. */
static const uint64_t all_there = 0xccccccc0;

/* A predicate of the ages 60, 61 and 62 and the sexes; depth parentheses at most. */
static void put_random(char *text, size_t room, uint64_t *state, int depth)
{
    static const char *const sign[] = {"<", "<=", ">", ">=", "==", "!="};
    const uint64_t draw = *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    const size_t used = strlen(text);
    if (depth > 0 && draw >> 33 & 1) {
        (void)snprintf(text + used, room - used, "%s(", draw >> 35 & 1 ? "not " : "");
        put_random(text, room, state, depth - 1);
        (void)snprintf(text + strlen(text), room - strlen(text), draw >> 36 & 1 ? " and " : " or ");
        put_random(text, room, state, depth - 1);
        (void)snprintf(text + strlen(text), room - strlen(text), ")");
    } else if (draw >> 37 & 1) {
        (void)snprintf(text + used, room - used, "age %s %d", sign[(draw >> 40) % 6],
                       60 + (int)((draw >> 45) % 3));
    } else {
        (void)snprintf(text + used, room - used, "sex %s %s", sign[4 + (draw >> 40) % 2],
                       draw >> 45 & 1 ? "F" : "M");
    }
}

/* Which of all records that differ in these comparisons it holds for. */
static uint64_t truths_of(const struct query *query)
{
    static const double ages[] = {59.5, 60, 60.5, 61, 61.5, 62, 62.5, NAN};
    static const double sexes[] = {0, 1, -1, NAN};
    double cell[MORE_COLUMNS] = {0};
    uint64_t truths = 0;
    for (size_t i = 0; i < 32; i++) {
        const struct row row = {.cell = cell, .column_count = MORE_COLUMNS, .label = 1};
        cell[0] = ages[i / 4];
        cell[1] = sexes[i % 4];
        truths = truths << 1 | (predicate_holds(&query->where, &row) ? 1 : 0);
    }
    return truths;
}

/* Nothing is random: all pairs of fixed predicates, against their truth in every record that
 * matters. */
Test(query_same, agrees_with_the_truth_of_predicates, .init = begin)
{
    static struct query *query[PREDICATES];
    uint64_t state = 1;
    size_t same = 0;
    size_t like = 0;
    for (size_t i = 0; i < PREDICATES; i++) {
        char text[QUERY_TEXT_BYTES] = "count: ";
        put_random(text, sizeof text, &state, 2);
        query[i] = parsed(text);
    }
    for (size_t i = 0; i < PREDICATES; i++) {
        for (size_t j = 0; j < i; j++) {
            const uint64_t differ = truths_of(query[i]) ^ truths_of(query[j]);
            const uint64_t there = truths_of(query[i]) & all_there;
            const enum query_likeness expected =
                differ == 0 ? QUERY_SAME
                : (differ & all_there) == 0 && there != 0 && there != all_there
                    ? QUERY_SAME_IF_THERE
                    : QUERY_OTHER;
            enum query_likeness likeness;
            cr_assert(query_compare(&likeness, query[i], query[j], &more, &(uint64_t){WORK}) ==
                      STATUS_OK);
            cr_expect(likeness == expected, "%d: %s | %s", likeness, query[i]->text,
                      query[j]->text);
            same += likeness == QUERY_SAME ? 1 : 0;
            like += likeness == QUERY_SAME_IF_THERE ? 1 : 0;
        }
    }
    cr_assert(same > 100 && like > 100 && same + like < PREDICATES * PREDICATES / 8, "%zu %zu",
              same, like);
    for (size_t i = 0; i < PREDICATES; i++) {
        free(query[i]);
    }
}

/* expected: the most cells that are summed */
static void expect_sums(size_t expected, const char *question, const char *other)
{
    struct query *pair[] = {parsed(question), parsed(other)};
    size_t cells = 99;
    cr_assert(query_find_sums(&cells, pair[0], pair[1], &more, &(uint64_t){WORK}) == STATUS_OK);
    cr_expect(cells == expected, "%zu: %s | %s", cells, question, other);
    free(pair[0]);
    free(pair[1]);
}

Test(query_same, finds_what_another_question_tells_by_sums, .init = begin)
{
    expect_sums(2, "count: sex == M", "crosstab: sex x death");
    expect_sums(2, "histogram: sex", "crosstab: sex x death");
    expect_sums(2, "histogram: age by 10", "histogram: age by 5");
    expect_sums(1, "count: sex == M and death == 1", "crosstab: sex x death");
    expect_sums(1, "count: sex == M", "histogram: sex");
    expect_sums(1, "count: age >= 70 and age < 80", "histogram: age by 10");
    expect_sums(4, "count: death == 1 and (ward == a or ward == b) and (sex == F or sex == M)",
                "crosstab: sex x ward x death");
}

/* Not where a record is counted by one of them alone, were it only one with a missing cell. */
Test(query_same, finds_no_sums_where_a_record_makes_a_difference, .init = begin)
{
    expect_sums(0, "count: sex == M", "crosstab: sex x dead"); /* a missing dead */
    expect_sums(0, "count: not sex != M", "crosstab: sex x death");
    expect_sums(0, "count: age >= 70", "histogram: age by 10"); /* an age of 99 */
    expect_sums(0, "count: age > 70 and age < 80", "histogram: age by 10");
    expect_sums(0, "histogram: age by 10", "histogram: age by 4");
    expect_sums(0, "count: sex == M", "crosstab: sex x death where age > 4");
    expect_sums(0, "count: sex == M or sex == F or not (sex == M or sex == F)",
                "crosstab: sex x death");
    expect_sums(0, "count: ward == a", "crosstab: sex x death");
    expect_sums(0, "histogram: sex", "table1: [age] by sex");
    expect_sums(0, "crosstab: sex x death", "crosstab: sex x death x ward"); /* its odds ratio */
    expect_sums(0, "mean: age", "histogram: age by 10");
}

/* What the text asks for is part of the question, also where the planner would choose as many. */
Test(query_same, tells_apart_what_is_asked_for_and_what_is_planned, .init = begin)
{
    static const struct {
        const char *text;
        const char *word;
        size_t least, most;
    } asked[] = {
        {"survival: time futime event death, to 5000", "intervals", 4, 40},
        {"table1: [age, sex] by death", "steps", 8, 64},
        {"evaluate: risk for death", "levels", 8, 64},
        {"evaluate: risk for time futime event death, to 4000", "bins", 4, 12},
        {"regress: death ~ age + sex", "levels", 2, 16},
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        size_t read = 0;
        for (size_t n = asked[i].least; n <= asked[i].most; n++) {
            char text[128];
            struct query query;
            (void)snprintf(text, sizeof text, "%s in %zu %s", asked[i].text, n, asked[i].word);
            if (query_parse(&query, slice_of(text), &names, NULL) == STATUS_OK) {
                expect(QUERY_OTHER, asked[i].text, text);
                read++;
            }
        }
        cr_expect(read > 1, "%s", asked[i].text);
    }
}
