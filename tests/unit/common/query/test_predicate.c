/* Predicates: what they mean, what is refused and where, and that they cannot leave the record. */

#include "query/predicate.h"

#include "learn/features.h"

#include "toy_schema.h"

#include <criterion/criterion.h>
#include <signal.h>

static const double cell[TOY_COLUMNS] = {70, 1, 1.4596, 2};

static bool holds(const char *text, double label)
{
    struct predicate predicate;
    struct why why = {{0}};
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = label};
    cr_assert(predicate_parse(&predicate, slice_of(text), &toy, &why) == STATUS_OK, "%s: %s", text,
              why.text);
    return predicate_holds(&predicate, &row);
}

/* age 70, sex M, kappa 1.4596, home region 3, death 1 */
Test(predicate, means_what_it_says)
{
    static const struct {
        const char *text;
        bool truth;
    } row[] = {
        {"age < 70", false},
        {"age <= 70", true},
        {"age > 70", false},
        {"age >= 7e1", true},
        {"age==70", true},
        {"age != 70", false},
        {"age>=-0.5", true},
        {"sex == M", true},
        {"sex != M", false},
        {"'sex' == \"F\"", false},
        {"kappa >= 1.45", true},
        {"kappa >= 1.47", false},
        {"kappa > -2", true},
        {"'home region' == 3", true},
        {"'home region' == 'and'", false},
        {"\"home region\" != north", true},
        {"death == 1", true},
        {"death != 1", false},
        {"death == 0", false},
        {"not age < 70", true},
        {"not not age < 70", false},
        {"age < 70 or sex == M", true},
        {"age < 70 and sex == M", false},
        /* and binds closer than or, not closer than both */
        {"sex == M or sex == F and age < 70", true},
        {"(sex == M or sex == F) and age < 70", false},
        {"not sex == M or sex == M", true},
        {"not (sex == M or sex == M)", false},
        {"not sex == M and age < 70", false},
        {"age < 70 and age < 70 or sex == M", true},
        {"age < 70 and (age < 70 or sex == M)", false},
        {"((((age == 70))))", true},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cr_expect(holds(row[i].text, 1) == row[i].truth, "%s", row[i].text);
    }
}

static void refused(const char *text, const char *place, const char *remedy)
{
    struct predicate predicate;
    struct why why = {{0}};
    cr_assert(predicate_parse(&predicate, slice_of(text), &toy, &why) == STATUS_INVALID, "%s",
              text);
    cr_expect(strstr(why.text, place) != NULL && strstr(why.text, remedy) != NULL, "%s: %s", text,
              why.text);
}

Test(predicate, refuses_with_place_and_remedy)
{
    refused("", "character 1:", "ends here");
    refused("ago >= 65", "character 1, \"ago\"", "no column of that name; did you mean \"age\"?");
    refused("height >= 65", "character 1, \"height\"",
            "age, sex, kappa, home region, and the label death");
    refused("age = 65", "character 5, \"=\"", "==");
    refused("age ! 65", "character 5, \"!\"", "!=");
    refused("age 65", "character 5, \"65\"", "<=");
    refused("age >= sixty", "character 8, \"sixty\"", "number");
    refused("age >= 65 65", "character 11, \"65\"", "end");
    refused("age >= 65 &", "character 11, \"&\"", "and, or");
    refused("(age >= 65", "character 11:", ")");
    refused("age >= 65)", "character 10, \")\"", "end");
    refused("age >= 65 and", "character 14:", "column");
    refused("and age >= 65", "character 1, \"and\"", "no column");
    refused("sex < F", "character 5, \"<\"", "==");
    refused("death > 1", "character 7, \">\"", "==");
    refused("sex == X", "character 8, \"X\"", "categories");
    refused("death == 2", "character 10, \"2\"", "classes");
    refused("'sex == F", "character 1, \"'sex == F\"", "quote");
    refused("home region == 3", "character 1, \"home\"", "no column");
    refused("age >= 65 and \x01\xc3", "character 15, \"??\"", "no column");
    refused("age >= inf", "character 8", "number");
    refused("not", "character 4:", "column");
    refused("age < 70 'or' sex == M", "character 10, \"or\"", "end");
    refused("()", "character 2, \")\"", "column");
}

Test(predicate, is_limited_in_length_and_depth)
{
    char text[2 * 1024];
    struct predicate predicate;
    struct why why = {{0}};
    for (int depth = PREDICATE_DEPTH_MAX - 1; depth <= PREDICATE_DEPTH_MAX + 1; depth++) {
        memset(text, '(', depth);
        strcpy(text + depth, "age < 70");
        memset(text + depth + 8, ')', depth);
        const struct slice slice = {text, 2 * depth + 8};
        const enum status status = predicate_parse(&predicate, slice, &toy, &why);
        cr_assert(status == (depth <= PREDICATE_DEPTH_MAX ? STATUS_OK : STATUS_INVALID));
    }
    cr_assert(strstr(why.text, "deeply") != NULL);
    /* n comparisons and n - 1 operators */
    for (int count = 32; count <= 33; count++) {
        text[0] = '\0';
        for (int i = 0; i < count; i++) {
            strcat(text, i == 0 ? "age < 70" : " or age < 70");
        }
        const enum status status = predicate_parse(&predicate, slice_of(text), &toy, &why);
        cr_assert(status == (count <= 32 ? STATUS_OK : STATUS_INVALID));
    }
    cr_assert(strstr(why.text, "too long") != NULL);
    memset(text, ' ', sizeof text);
    memcpy(text, "age < 70", 8);
    cr_assert(predicate_parse(&predicate, (struct slice){text, 1025}, &toy, &why) ==
              STATUS_INVALID);
    cr_assert(strstr(why.text, "longer") != NULL);
    cr_assert(predicate_parse(&predicate, (struct slice){text, 1024}, &toy, &why) == STATUS_OK);
}

/* The deepest nesting to the right keeps every truth of the stack apart. */
Test(predicate, keeps_its_truths_apart_at_any_depth)
{
    char text[1024] = "";
    for (int i = 0; i < 15; i++) {
        strcat(text, "age == 70 and (");
    }
    strcat(text, "sex == F");
    strcat(text, ")))))))))))))))");
    cr_assert(!holds(text, 1));
    strcat(text, " or death == 1");
    cr_assert(holds(text, 1) && !holds(text, -1));
}

Test(predicate, notes_constants_outside_the_public_range)
{
    static const struct {
        const char *text;
        size_t at;
    } row[] = {
        {"age >= 50 and age <= 98", 0},
        {"age >= 65 and age < 120", 21},
        {"age > 49.9", 7},
        {"kappa > 0.17", 0},
        {"kappa > 0.15", 9},
        {"kappa < 6.02", 0},
        {"kappa < 6.04", 9},
        {"kappa > -1", 9},
        {"sex == F", 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct predicate predicate;
        cr_assert(predicate_parse(&predicate, slice_of(row[i].text), &toy, NULL) == STATUS_OK);
        cr_expect(predicate.outside_at == row[i].at, "%s: %zu", row[i].text, predicate.outside_at);
    }
}

Test(predicate, finds_no_comparison_true_of_what_is_no_number)
{
    static const char *const verb[] = {"<", "<=", ">", ">=", "==", "!="};
    const double none[TOY_COLUMNS] = {NAN, NAN, NAN, NAN};
    const struct row row = {.cell = none, .column_count = TOY_COLUMNS, .label = NAN};
    for (size_t i = 0; i < 6; i++) {
        char text[32] = "age ";
        struct predicate predicate;
        strcat(strcat(text, verb[i]), " 70");
        cr_assert(predicate_parse(&predicate, slice_of(text), &toy, NULL) == STATUS_OK);
        cr_expect(!predicate_holds(&predicate, &row), "%s", text);
    }
}

static bool holds_for(const char *text, const struct row *row)
{
    struct predicate predicate;
    cr_assert(predicate_parse(&predicate, slice_of(text), &toy, NULL) == STATUS_OK, "%s", text);
    return predicate_holds(&predicate, row);
}

/* Neither clamped to 98, age's bound, nor imputed. `not` is of the comparison, not of the cell. */
Test(predicate, takes_cells_as_they_are)
{
    const double odd[TOY_COLUMNS] = {120, FEATURES_UNLISTED, NAN, NAN};
    const struct row row = {.cell = odd, .column_count = TOY_COLUMNS, .label = 1};
    cr_expect(holds_for("age == 120", &row) && holds_for("age > 98", &row));
    cr_expect(!holds_for("age <= 98", &row) && !holds_for("age == 98", &row));
    cr_expect(holds_for("sex != F and sex != M", &row), "an unlisted text is none of them");
    cr_expect(!holds_for("sex == F or sex == M", &row));
    cr_expect(!holds_for("kappa >= 1 or kappa < 1 or kappa != 1", &row), "a missing number");
    cr_expect(holds_for("not kappa >= 1 and not kappa < 1", &row));
    cr_expect(!holds_for("'home region' != north or 'home region' == north", &row));
    cr_expect(holds_for("not 'home region' == north", &row));
}

Test(predicate, knows_labels_of_every_kind)
{
    struct schema schema = toy;
    struct predicate predicate;
    struct row row = {.cell = cell, .column_count = TOY_COLUMNS};
    schema.label.kind = LABEL_NUMBER;
    schema.label.centre = 10;
    schema.label.half_width = 4;
    cr_assert(predicate_parse(&predicate, slice_of("death >= 12"), &schema, NULL) == STATUS_OK);
    cr_assert(predicate.outside_at == 0);
    row.label = 12;
    cr_assert(predicate_holds(&predicate, &row));
    row.label = 11.96;
    cr_assert(!predicate_holds(&predicate, &row));
    cr_assert(predicate_parse(&predicate, slice_of("death >= 15"), &schema, NULL) == STATUS_OK);
    cr_assert(predicate.outside_at == 10);
    schema.label.kind = LABEL_CLASSES;
    schema.label.class_count = 3;
    strcpy(schema.label.class_name[2], "late");
    cr_assert(predicate_parse(&predicate, slice_of("death == late"), &schema, NULL) == STATUS_OK);
    row.label = 2;
    cr_assert(predicate_holds(&predicate, &row));
    row.label = 1;
    cr_assert(!predicate_holds(&predicate, &row));
    cr_assert(predicate_parse(&predicate, slice_of("death == 1"), &schema, NULL) != STATUS_OK);
}

/* Planted: a program that would read beyond the record, and a record that is too short for its
 * program. */
Test(predicate, never_reads_beyond_the_record, .signal = SIGABRT)
{
    struct predicate predicate = {
        .step = {{.column = TOY_COLUMNS + 1}}, .step_count = 1, .column_count = TOY_COLUMNS};
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = 1};
    (void)predicate_holds(&predicate, &row);
}

Test(predicate, takes_no_record_of_another_schema, .signal = SIGABRT)
{
    struct predicate predicate;
    const struct row row = {.cell = cell, .column_count = TOY_COLUMNS - 1, .label = 1};
    if (predicate_parse(&predicate, slice_of("age < 70"), &toy, NULL) == STATUS_OK) {
        (void)predicate_holds(&predicate, &row);
    }
}
