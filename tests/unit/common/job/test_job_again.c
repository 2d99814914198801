/* Questions that a job asks twice under two names: which are found, and what is said. */

#include "job/again.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define HEAD                                                                                       \
    "hedgerow: 1\njob: trial\ndata:\n  label: {column: death, positive: \"1\", negative: \"0\"}\n" \
    "  features:\n    - {column: age, centre: 74, half_width: 24}\n"                               \
    "    - {column: sex, categories: [F, M]}\n    - {column: dead, categories: [a, b]}\n"          \
    "    - {column: futime, centre: 2625, half_width: 2625}\n"                                     \
    "    - {column: h\303\266he, categories: [F, M]}\n"                                            \
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 4}\n"                 \
    "cohort: {minimum: 3, records: 500, deadline_s: 30}\nstages:\n"

static void find(struct job_agains *out, struct job *job, const char *stages)
{
    static char text[70000];
    struct why why = {{0}};
    (void)snprintf(text, sizeof text, "%s%s", HEAD, stages);
    cr_assert_eq(job_parse(job, (struct slice){text, strlen(text)}, "job.yml", &why), STATUS_OK,
                 "%s", why.text);
    cr_assert_eq(job_asks_again(out, job), STATUS_OK);
}

static void expect_none(const char *stages)
{
    struct job job;
    struct job_agains agains;
    struct why why = {{0}};
    find(&agains, &job, stages);
    if (agains.count > 0) {
        job_again_say(&why, &job, &agains.again[0]);
    }
    cr_expect_eq(agains.count, 0, "%s", why.text);
    job_free(&job);
}

static void expect(const char *stages, struct job_question later, struct job_question earlier,
                   const char *words)
{
    struct job job;
    struct job_agains agains;
    struct why why = {{0}};
    find(&agains, &job, stages);
    cr_assert_eq(agains.count, 1, "%s: %zu", stages, agains.count);
    const struct job_again *again = &agains.again[0];
    cr_expect(again->later.stage == later.stage && again->later.question == later.question);
    cr_expect(again->earlier.stage == earlier.stage && again->earlier.question == earlier.question);
    job_again_say(&why, &job, again);
    cr_expect_str_eq(why.text, words);
    job_free(&job);
}

Test(job_again, names_both_places_and_the_remedy)
{
    expect(
        "  - {task: query, queries: [\"crosstab: sex x dead\", \"mean: age\", \"crosstab: dead x "
        "sex\"], batch: 500, share: 1}\n",
        (struct job_question){0, 2}, (struct job_question){0, 0},
        "question 3, \"crosstab: dead x sex\", asks the same as question 1, \"crosstab: sex x "
        "dead\", and both are paid for. Remove one, and all answers of the stage have less "
        "noise; or ask it once in a stage of its own, for the epsilon of both");
    expect("  - {task: query, queries: [\"count: sex == M\"], batch: 500, share: 0.3}\n"
           "  - {task: fit, loss: logistic, lambdas: [0.01], share: 0.3}\n"
           "  - {task: query, queries: [\"mean: age\", \"count: (sex == M)\"], batch: 500, "
           "share: 0.4, grid_bits: 10}\n",
           (struct job_question){2, 1}, (struct job_question){0, 0},
           "question 2, \"count: (sex == M)\", asks the same as question 1 of stage 1, \"count: "
           "sex == M\", and is paid for again. Remove one, or ask it once at twice the epsilon: "
           "that is as precise as both averaged, or better");
}

/* The one that is the same comes before the one that is nearly so. */
Test(job_again, says_where_missing_cells_make_the_difference)
{
    struct job job;
    struct job_agains agains;
    struct why why = {{0}};
    find(&agains, &job,
         "  - {task: query, queries: [\"count: sex == M\", \"count: not sex != M\", \"count: not "
         "(sex != M)\"], batch: 500, share: 1}\n");
    cr_assert_eq(agains.count, 2);
    cr_expect(agains.again[0].if_there && agains.again[0].earlier.question == 0);
    cr_expect(!agains.again[1].if_there && agains.again[1].earlier.question == 1);
    job_again_say(&why, &job, &agains.again[0]);
    cr_expect_str_eq(
        why.text, "question 2, \"count: not sex != M\", asks the same as question 1, \"count: sex "
                  "== M\", of every record but those with a missing or unlisted cell, and both "
                  "are paid for. Remove one, unless you ask for the difference");
    job_free(&job);
}

/* Laplace noise: 2 cells without the count, at a sensitivity of 2 in place of 3, have 0.94 of its noise; beside a mean 1.06. */
Test(job_again, says_what_another_question_tells_by_sums)
{
    expect(
        "  - {task: query, queries: [\"count: sex == M\", \"crosstab: sex x death\"], batch: 500, "
        "share: 1}\n",
        (struct job_question){0, 0}, (struct job_question){0, 1},
        "question 1, \"count: sex == M\", is answered by question 2, \"crosstab: sex x death\", "
        "too: by sums of its cells, of 2 at most, and both are paid for. Remove it: the sums "
        "then have less noise than its answer has now, and so have all answers of the stage");
    expect_none("  - {task: query, queries: [\"count: sex == M\", \"crosstab: sex x death\", "
                "\"mean: age\"], batch: 500, share: 1}\n");
    expect_none(
        "  - {task: query, queries: [\"count: sex == M\"], batch: 500, share: 0.5}\n"
        "  - {task: query, queries: [\"crosstab: sex x death\"], batch: 500, share: 0.5}\n");
    expect_none("  - {task: query, by_site: true, queries: [\"count: sex == M\", \"crosstab: sex x "
                "death\"], batch: 500, share: 1, grid_bits: 10}\n");
    expect_none(
        "  - {task: query, queries: [\"histogram: sex\"], conjunction: {positive: \"sex == M\", "
        "features: [\"sex == F\"]}, batch: 500, share: 1}\n");
}

/* The stages' epsilons differ, and so do the intervals, steps and levels that are planned. */
Test(job_again, finds_a_whole_stage_that_is_asked_twice)
{
    static const char *const asked =
        "queries: [\"count: age >= 65\", \"table1: [age, sex] by death\", "
        "\"survival: time futime event death by sex, to 5000\", "
        "\"correlate: [age, futime]\", \"regress: death ~ age + sex\", "
        "\"quantile: 0.5 of age\"]";
    char stages[2048];
    struct job job;
    struct job_agains agains;
    (void)snprintf(stages, sizeof stages,
                   "  - {task: query, %s, batch: 500, share: 0.9}\n"
                   "  - {task: query, %s, batch: 400, share: 0.1}\n",
                   asked, asked);
    find(&agains, &job, stages);
    cr_assert_eq(agains.count, 6);
    for (size_t i = 0; i < agains.count; i++) {
        cr_expect(agains.again[i].later.stage == 1 && agains.again[i].later.question == i);
        cr_expect(agains.again[i].earlier.stage == 0 && agains.again[i].earlier.question == i);
    }
    job_free(&job);
}

static void note(void *self, const char *text)
{
    size_t *told = self;
    const char *begin[] = {"stage 2: question 1, ", "stage 2: question 2, ",
                           "stage 2: question 3, ", "stage 2: question 4, ",
                           "2 more questions of the job are asked twice"};
    cr_assert(*told < 5);
    cr_expect(strncmp(text, begin[*told], strlen(begin[*told])) == 0, "%s", text);
    ++*told;
}

Test(job_again, tells_the_first_few_and_how_many_more_there_are)
{
    static const char *const asked =
        "queries: [\"count: age > 1\", \"count: age > 2\", \"count: age > "
        "3\", \"count: age > 4\", \"count: age > 5\", \"count: age > 6\"]";
    char stages[2048];
    struct job job;
    struct job_agains agains;
    size_t told = 0;
    (void)snprintf(stages, sizeof stages,
                   "  - {task: query, %s, batch: 500, share: 0.5}\n"
                   "  - {task: query, %s, batch: 500, share: 0.5}\n",
                   asked, asked);
    find(&agains, &job, stages);
    job_again_tell(&agains, &job, note, &told);
    cr_assert_eq(told, 5);
    job_free(&job);
}

Test(job_again, says_nothing_of_questions_that_differ)
{
    expect_none(
        "  - {task: query, queries: [\"count: age < 5\", \"count: age <= 5\", \"count: age <= "
        "4\", \"crosstab: sex x dead\", \"crosstab: sex x death\", \"mean: age\", "
        "\"histogram: age by 10\"], batch: 500, share: 0.5}\n"
        "  - {task: query, queries: [\"quantile: 0.5 of age\", \"quantile: 0.25 of age\"], "
        "batch: 500, share: 0.5}\n");
    expect_none("  - {task: learn}\n"); /* rounds that ask the same of all records, on purpose */
    expect_none("  - {task: fit, loss: logistic, lambdas: [0.01, 0.02], share: 0.5}\n"
                "  - {task: losses, loss: zero_one, rounds: 5, batch: 100, share: 0.5, grid_bits: "
                "16}\n");
    /* Another model may be chosen after the second stage. */
    expect_none("  - {task: fit, loss: logistic, lambdas: [0.005], share: 0.3}\n"
                "  - {task: query, queries: [\"evaluate: own for death\"], models: [{name: own, "
                "chosen: true}], batch: 500, share: 0.2, grid_bits: 10}\n"
                "  - {task: fit, loss: logistic, lambdas: [0.5], share: 0.3}\n"
                "  - {task: query, queries: [\"evaluate: own for death\"], models: [{name: own, "
                "chosen: true}], batch: 500, share: 0.2, grid_bits: 10}\n");
}

/* compose/ also has files of other programs, which are not jobs. */
Test(job_again, says_nothing_of_the_jobs_that_are_shipped)
{
    static char text[1 << 16];
    glob_t found;
    size_t jobs = 0;
    cr_assert_eq(glob(TEST_VECTORS "/../../compose/*/*.yml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct job job;
        struct job_agains agains;
        FILE *file = fopen(found.gl_pathv[i], "rb");
        cr_assert_not_null(file);
        const size_t size = fread(text, 1, sizeof text, file);
        cr_assert(feof(file) && fclose(file) == 0);
        if (job_parse(&job, (struct slice){text, size}, found.gl_pathv[i], NULL) == STATUS_OK) {
            jobs++;
            cr_assert_eq(job_asks_again(&agains, &job), STATUS_OK);
            cr_expect_eq(agains.count, 0, "%s", found.gl_pathv[i]);
            job_free(&job);
        }
    }
    globfree(&found);
    cr_assert_geq(jobs, 13);
}

Test(job_again, knows_a_model_under_another_name)
{
    struct job job;
    struct job_agains agains;
    find(
        &agains, &job,
        "  - {task: query, queries: [\"evaluate: a for death\", \"evaluate: b for death\", "
        "\"evaluate: c for death\"], models: [{name: a, columns: [{column: age, weights: [1.5]}]}, "
        "{name: b, columns: [{column: age, weights: [1.5]}]}, {name: c, columns: [{column: age, "
        "weights: [1.6]}]}], batch: 500, share: 1}\n");
    cr_assert_eq(agains.count, 1);
    cr_assert(agains.again[0].later.question == 1 && agains.again[0].earlier.question == 0);
    job_free(&job);
}

/* A question is cut after a whole letter, whatever its bytes, because JSON holds only whole
 * letters. */
Test(job_again, shows_whole_letters)
{
    static const char asked[] =
        "h\303\266he==F and h\303\266he==F and h\303\266he==F and h\303\266he==F "
        "and h\303\266he==F and h\303\266he==F and h\303\266he==F";
    for (int pad = 1; pad < 16; pad++) {
        char stages[512];
        struct job job;
        struct job_agains agains;
        struct why why = {{0}};
        (void)snprintf(
            stages, sizeof stages,
            "  - {task: query, batch: 500, share: 1, queries: [\"count:%*s%s\", \"count: "
            "h\303\266he==F\"]}\n",
            pad, "", asked);
        find(&agains, &job, stages);
        cr_assert_eq(agains.count, 1);
        job_again_say(&why, &job, &agains.again[0]);
        cr_expect(slice_is_utf8((struct slice){why.text, strlen(why.text)}), "%s", why.text);
        job_free(&job);
    }
}

/* A conjunction's own question, and one of a person. */
Test(job_again, looks_at_the_questions_of_a_conjunction)
{
    struct job job;
    struct job_agains agains;
    struct why why = {{0}};
    find(&agains, &job,
         "  - {task: query, queries: [\"count: death == 1 and not age >= 65\"], conjunction: "
         "{positive: \"death == 1\", features: [\"age >= 65\", \"sex == M\"]}, batch: 500, share: "
         "1}\n");
    cr_assert_eq(agains.count, 1);
    cr_assert_eq(agains.again[0].later.question, 1);
    job_again_say(&why, &job, &agains.again[0]);
    cr_expect(strncmp(why.text, "question 1 of the conjunction, ", 31) == 0, "%s", why.text);
    job_free(&job);
}

/* As many questions as a job's text holds, each of which counts hardly any record. */
Test(job_again, takes_little_time_whatever_the_job)
{
    static char stages[64000];
    struct job job;
    struct job_agains agains;
    size_t used = 0;
    for (int i = 0; i < 5; i++) {
        used += (size_t)snprintf(stages + used, sizeof stages - used,
                                 "  - {task: query, batch: 500, share: 0.2, queries: [");
        for (int j = 0; j < 256; j++) {
            used += (size_t)snprintf(stages + used, sizeof stages - used,
                                     "%s\"count: age>%d and age<%d.5\"", j > 0 ? ", " : "",
                                     900 + 256 * i + j, 900 + 256 * i + j);
        }
        used += (size_t)snprintf(stages + used, sizeof stages - used, "]}\n");
    }
    const clock_t begin = clock();
    find(&agains, &job, stages);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    cr_log_info("%zu found in %.2f s of the processor's time", agains.count, seconds);
    cr_expect(seconds < 20, "%.2f s", seconds);
    cr_expect_eq(agains.count, 0);
    job_free(&job);
}

/* A stage with many questions: counts that only one record in very many tells apart, or tables beside counts that do not follow
 * from them. */
static double seconds_of(const char *odd, const char *even)
{
    static char stages[64000];
    struct job job;
    struct job_agains agains;
    size_t used = (size_t)snprintf(stages, sizeof stages,
                                   "  - {task: query, batch: 500, share: 1, queries: [");
    for (int j = 0; j < 230; j++) {
        used += (size_t)snprintf(
            stages + used, sizeof stages - used,
            "%s\"%s and age>91 and age>92 and age>93 and age>94 and age>95 and age>96 and age>97 and "
            "age>98 and futime>5300 and futime>5301 and futime>5302 and futime>5303 and "
            "futime>5304 and futime<%d\"",
            j > 0 ? ", " : "", j % 2 == 0 ? even : odd, 5400 + j / 2 * 2);
    }
    (void)snprintf(stages + used, sizeof stages - used, "]}\n");
    const clock_t begin = clock();
    find(&agains, &job, stages);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    cr_log_info("%zu found in %.2f s of the processor's time", agains.count, seconds);
    job_free(&job);
    return seconds;
}

Test(job_again, takes_little_time_where_each_pair_has_many_combinations)
{
    cr_expect(seconds_of("count: sex==M and dead==b", "count: sex==M and dead==a") < 4);
    cr_expect(seconds_of("count: sex==M", "crosstab: sex x dead x death where sex==M") < 4);
}
