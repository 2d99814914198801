/* Which jobs a site's dictionary admits. tests/unit/agent shows that nothing else is looked at. */

#include "dictionary/dictionary.h"
#include "tests/support/job_text.h"

#include <criterion/criterion.h>
#include <string.h>

static const char text[] = "hedgerow: 1\n"
                           "data_sets:\n"
                           "  - records: 1200\n"
                           "    columns:\n"
                           "      - {name: age, kind: number}\n"
                           "      - {name: sex, kind: category, categories: [F, M]}\n"
                           "      - {name: kappa, kind: number}\n"
                           "      - {name: death, kind: category, categories: [\"0\", \"1\"]}\n";

/* Judges the job with a part of the dictionary replaced. */
static enum status judge(const char *job_bytes, const char *from, const char *to, struct why *why)
{
    char changed[2048];
    struct dictionary dictionary;
    struct job job;
    const char *at = strstr(text, from);
    cr_assert_not_null(at, "%s", from);
    (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to,
                   at + strlen(from));
    cr_assert_eq(job_parse(&job, (struct slice){job_bytes, strlen(job_bytes)}, "job", why),
                 STATUS_OK, "%s", why->text);
    cr_assert_eq(
        dictionary_parse(&dictionary, (struct slice){changed, strlen(changed)}, "data.yml", why),
        STATUS_OK, "%s", why->text);
    const enum status status = dictionary_judge(&dictionary, &job, why);
    dictionary_free(&dictionary);
    job_free(&job);
    return status;
}

static const struct {
    const char *from, *to, *wanted; /* NULL: admitted */
} cases[] = {
    {"records: 1200", "records: 1200", NULL},
    {"records: 1200", "records: 1199",
     "the job needs 1200 records, and the dictionary states 1199 rows, which make 1199"},
    {"  - records", "  - name: flchain\n    records", NULL}, /* the job asks for any */
    {"name: age", "name: Age", "the dictionary has no column \"age\"; did you mean \"Age\"?"},
    {"      - {name: kappa, kind: number}\n", "", "the dictionary has no column \"kappa\""},
    {"name: death", "name: dead", "the dictionary has no column \"death\""},
    {"{name: age, kind: number}", "{name: age, kind: category}",
     "the job asks for numbers in column \"age\", which the dictionary calls a category"},
    /* Texts may be asked of any column; a job may list some that a site does not have. */
    {"kind: category, categories: [F, M]", "kind: number", NULL},
    {"kind: category, categories: [F, M]", "kind: category", NULL},
    {"[F, M]", "[male, F]", NULL},
    {"[F, M]", "[male, female]",
     "none of what the job lists for column \"sex\", such as \"F\", is a category in the dictionary"},
    {"[F, M]", "[f, m]",
     "none of what the job lists for column \"sex\", such as \"F\", is a category in the dictionary; "
     "did you mean \"f\"?"},
    {"[\"0\", \"1\"]", "[\"0\", dead]", NULL},
    {"[\"0\", \"1\"]", "[alive, dead]",
     "none of what the job lists for column \"death\", such as \"1\", is a category in the "
     "dictionary"},
};

Test(judge, admits_what_the_dictionary_has_and_nothing_else)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct why why = {{0}};
        const enum status status = judge(job_text, cases[i].from, cases[i].to, &why);
        cr_expect_eq(status, cases[i].wanted == NULL ? STATUS_OK : STATUS_REFUSED, "case %zu: %s",
                     i, why.text);
        if (cases[i].wanted != NULL) {
            cr_expect_str_eq(why.text, cases[i].wanted);
        }
    }
}

/* A site has an agent for each data set, and a job may say which it is for. */
Test(judge, a_job_for_one_data_set_is_for_no_other)
{
    static const char wanted[] = "data:\n  set: flchain\n";
    char named[4096];
    struct why why = {{0}};
    const char *at = strstr(job_text, "data:\n");
    cr_assert_not_null(at);
    (void)snprintf(named, sizeof named, "%.*s%s%s", (int)(at - job_text), job_text, wanted,
                   at + strlen("data:\n"));
    cr_expect_eq(judge(named, "  - records", "  - name: flchain\n    records", &why), STATUS_OK,
                 "%s", why.text);
    cr_expect_eq(judge(named, "  - records", "  - name: tumours\n    records", &why),
                 STATUS_REFUSED);
    cr_expect_str_eq(why.text, "the job asks for the data set \"flchain\", and the dictionary's is "
                               "\"tumours\"");
    cr_expect_eq(judge(named, "records: 1200", "records: 1200", &why), STATUS_REFUSED);
    cr_expect_str_eq(why.text,
                     "the job asks for the data set \"flchain\", and the dictionary's has no name");
}

/* A series of r rows has fewer records by its longest lag. */
Test(judge, of_a_series_counts_the_records_that_its_rows_make)
{
    static const char series[] =
        "hedgerow: 1\njob: days\n"
        "data:\n  series: {column: age, lags: [1, 7]}\n  label: {centre: 50, half_width: 50}\n"
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
        "cohort: {minimum: 1, join_deadline_s: 60, deadline_s: 30}\n"
        "stages:\n"
        "  - {task: statistics, lambdas: [0.1], share: 1, batch: 100, grid_bits: 16}\n";
    struct why why = {{0}};
    cr_assert_eq(judge(series, "1200", "107", &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(judge(series, "1200", "106", &why), STATUS_REFUSED);
    cr_assert_str_eq(
        why.text, "the job needs 100 records, and the dictionary states 106 rows, which make 99");
    cr_assert_eq(judge(series, "1200", "3", &why), STATUS_REFUSED);
    cr_assert_eq(judge(series, "{name: age, kind: number}", "{name: age, kind: category}", &why),
                 STATUS_REFUSED, "its days are numbers");
}

/* What a person is told of a job that passes: texts that the dictionary lacks, ranges that the job's bounds cut. */
Test(judge, notes_what_a_job_asks_beyond_the_dictionary)
{
    static const struct {
        const char *from, *to;
        size_t column;
        const char *wanted; /* NULL: no note */
    } rows[] = {
        {"records: 1200", "records: 1200", SIZE_MAX, NULL},
        {"[F, M, X]", "[F, m]", 1,
         "column \"sex\": the job names \"M\", \"X\", which the dictionary does not list"},
        {"kind: category, categories: [F, M, X]", "kind: category", SIZE_MAX, NULL},
        {"[\"0\", \"1\"]", "[\"0\", dead]", 3,
         "column \"death\": the job names \"1\", which the dictionary does not list"},
        {"[\"0\", \"1\"]", "[\"1\", alive]", 3,
         "column \"death\": the job names \"0\", which the dictionary does not list"},
        {"name: age, kind: number", "name: age, kind: number, low: 0, high: 1000", 0,
         "column \"age\": the job clamps to 50 .. 98, and the dictionary says low: 0, high: 1000"},
        {"name: age, kind: number", "name: age, kind: number, low: 60, high: 120", 0,
         "column \"age\": the job clamps to 50 .. 98, and the dictionary says high: 120"},
        {"name: age, kind: number", "name: age, kind: number, low: 50, high: 98", SIZE_MAX, NULL},
        {"name: kappa, kind: number", "name: kappa, kind: number, low: 0", 2,
         "and the dictionary says low: 0"},
    };
    static const char whole[] =
        "hedgerow: 1\n"
        "data_sets:\n"
        "  - records: 1200\n"
        "    columns:\n"
        "      - {name: age, kind: number}\n"
        "      - {name: sex, kind: category, categories: [F, M, X]}\n"
        "      - {name: kappa, kind: number}\n"
        "      - {name: death, kind: category, categories: [\"0\", \"1\"]}\n";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dictionary dictionary;
        struct job job;
        struct why why = {{0}};
        char changed[2048];
        const char *at = strstr(whole, rows[i].from);
        (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - whole), whole, rows[i].to,
                       at + strlen(rows[i].from));
        cr_assert_eq(job_parse(&job, (struct slice){job_text, strlen(job_text)}, "job", &why),
                     STATUS_OK, "%s", why.text);
        cr_assert_eq(
            dictionary_parse(&dictionary, (struct slice){changed, strlen(changed)}, "d", &why),
            STATUS_OK, "%s", why.text);
        for (size_t column = 0; column <= job.schema.column_count; column++) {
            struct why note = {{0}};
            const bool noted = dictionary_has_note(&dictionary, &job.schema, column, &note);
            cr_expect_eq(noted, column == rows[i].column, "%zu, column %zu: %s", i, column,
                         note.text);
            cr_expect(!noted || rows[i].wanted == NULL || strstr(note.text, rows[i].wanted) != NULL,
                      "%zu: %s", i, note.text);
        }
        dictionary_free(&dictionary);
        job_free(&job);
    }
}
