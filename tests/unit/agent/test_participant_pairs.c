/* Nothing that an agent does depends on a record. The test compares tables that differ in one odd record,
 * for every kind of job, also jobs that ask for what the site lacks, and texts that are not jobs. It
 * compares everything that leaves the machine: each frame byte for byte and its time, reconnections,
 * commits, the end and its exit code, and every line of the log at its lowest level. Left out are the noisy
 * answer and the digest of it, which a grant has paid for. */

#include "tests/unit/agent/pairs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL   "trust: local, epsilon: 1"
#define CENTRAL "trust: central, epsilon: 1, delta: 0.00001"
#define SIGN    "label: {column: y, positive: \"1\", negative: \"0\"}\n"
#define REST    "label: {column: y, positive: \"1\"}\n"
#define CLASSES "label: {column: z, classes: [I, II, III]}\n"
#define NUMBER  "label: {column: a, centre: 0, half_width: 1}\n"
#define SERIES  "label: {centre: 0, half_width: 1}\n  series: {column: a, lags: [1, 2]}\n"
#define A       "{column: a, centre: 0, half_width: 1}"
#define B       "{column: b, centre: 0, half_width: 1}"
#define C       "{column: c, categories: [p, q, r]}"
#define ALL     "features: [" A ", " B ", " C "]\n"
#define LOSSES                                                                                     \
    "  - {task: losses, loss: zero_one, rounds: 2, batch: 4, share: 0.3, grid_bits: 10}\n"
#define FIT                                                                                        \
    "  - {task: fit, loss: logistic, lambdas: [0.5], share: 0.6, tolerance: 0.01, grid_bits: 10}\n"
#define STATISTICS "  - {task: statistics, lambdas: [0.1], share: 1, batch: 20, grid_bits: 16}\n"

enum wanted { ANSWERS, DECLINES };

static const struct {
    const char *privacy, *data, *stages;
    const char *cohort; /* of `records`; NULL: none */
    enum wanted wanted;
} jobs[] = {
    {LOCAL, SIGN "  " ALL, FIT LOSSES, NULL, ANSWERS},
    {LOCAL, REST "  " ALL, FIT LOSSES, NULL, ANSWERS},
    {LOCAL, SIGN "  " ALL,
     "  - {task: update, loss: logistic, rounds: 3, batch: 8, batches: 2, clip: 1, rate: 1,"
     " share: 1, grid_bits: 20}\n",
     NULL, ANSWERS},
    {CENTRAL, SIGN "  " ALL,
     "  - {task: update, loss: hinge, rounds: 2, batch: 20, clip: 1, rate: 1, noise: gaussian,"
     " grid_bits: 16}\n",
     NULL, ANSWERS},
    {LOCAL, NUMBER "  features: [" B ", " C "]\n", STATISTICS, NULL, ANSWERS},
    {LOCAL, NUMBER "  features: [" B ", " C "]\n",
     "  - {task: fit, loss: squared, lambdas: [0.5], share: 0.5, grid_bits: 10}\n"
     "  - {task: fit, loss: huber, loss_parameter: 0.5, lambdas: [0.5], tolerance: 0.01, share: 0.5,"
     " grid_bits: 10}\n",
     NULL, ANSWERS},
    {LOCAL, NUMBER "  features: [" B ", " C "]\n",
     "  - {task: fit, loss: absolute, lambdas: [0.5], tolerance: 0.01, share: 0.5, grid_bits: 10}\n"
     "  - {task: fit, loss: pinball, loss_parameter: 0.9, lambdas: [0.5], tolerance: 0.01, share: 0.5,"
     " grid_bits: 10}\n",
     NULL, ANSWERS},
    {LOCAL, CLASSES "  " ALL,
     "  - {task: fit, loss: hinge, lambdas: [0.5], share: 0.6, tolerance: 0.01, grid_bits: 10}\n" LOSSES,
     NULL, ANSWERS},
    {LOCAL, SIGN "  " ALL,
     "  - {task: predict, loss: squared, lambdas: [0.5], share: 1, tolerance: 0.01, grid_bits: 10,"
     " kernel: {kind: gaussian, gamma: 1}, points: [[0, 1, p], [1, 0, q]]}\n",
     NULL, ANSWERS},
    {LOCAL, SIGN "  " ALL,
     "  - {task: query, queries: [\"count: a >= 0.5 and y == 1\", \"mean: b where c == p\","
     " \"histogram: c\"], batch: 20, share: 0.6, grid_bits: 10}\n"
     "  - {task: query, queries: [\"quantile: 0.5 of b in 3 rounds\"], batch: 20, share: 0.4,"
     " grid_bits: 10}\n",
     NULL, ANSWERS},
    {CENTRAL, SIGN "  " ALL,
     "  - {task: select, candidates: {stumps: [a, b], thresholds: 4}, batch: 20, share: 1}\n", NULL,
     ANSWERS},
    {LOCAL, SERIES "  features: [" B "]\n", STATISTICS, NULL, ANSWERS},
    {LOCAL, SERIES "  features: [" B "]\n",
     "  - {task: online, rounds: 2, t0: 5, share: 1, grid_bits: 32}\n", NULL, ANSWERS},
    {LOCAL,
     SIGN
     "  features: [{column: a, centre: 0, half_width: 1, missing: 0.2, missing_indicator: true},"
     " {column: c, categories: [p, q], other: q, missing: p}]\n",
     FIT LOSSES, NULL, ANSWERS},
    {LOCAL,
     SIGN "  " ALL "  map: {kind: fourier, kernel: gaussian, gamma: 1, features: 8, seed: 3}\n",
     FIT LOSSES, NULL, ANSWERS},
    {CENTRAL, SIGN "  " ALL,
     "  - {task: fit, loss: logistic, lambdas: [0.3, 0.5], share: 0.6, tolerance: 0.01, grid_bits: 10}\n"
     "  - {task: losses, strategy: theorem, loss: zero_one, rounds: 3, batch: 4, share: 0.4,"
     " grid_bits: 8}\n",
     ", records: 20", ANSWERS},
    /* The job's author guesses the content of an odd cell: a category, a class, a range. */
    {LOCAL, SIGN "  features: [{column: c, categories: [p, zzz]}]\n", FIT LOSSES, NULL, ANSWERS},
    {LOCAL, "label: {column: z, classes: [I, IX, X]}\n  " ALL,
     "  - {task: fit, loss: hinge, lambdas: [0.5], share: 0.6, tolerance: 0.01, grid_bits: 10}\n" LOSSES,
     NULL, ANSWERS},
    {LOCAL, "label: {column: y, positive: \"1\", negative: \"7\"}\n  " ALL, FIT LOSSES, NULL,
     ANSWERS},
    {LOCAL, "label: {column: a, centre: 1e90, half_width: 1}\n  features: [" B "]\n", STATISTICS,
     NULL, ANSWERS},
    /* What the dictionary or the policy does not have, and texts that are no jobs. */
    {LOCAL, SIGN "  features: [" A ", {column: secret, centre: 0, half_width: 1}]\n", FIT LOSSES,
     NULL, DECLINES},
    {LOCAL, SIGN "  features: [{column: c, centre: 0, half_width: 1}]\n", FIT LOSSES, NULL,
     DECLINES},
    {LOCAL, "label: {column: y, positive: \"7\", negative: \"8\"}\n  " ALL, FIT LOSSES, NULL,
     DECLINES},
    {LOCAL, SIGN "  " ALL, FIT LOSSES, ", records: 25", DECLINES},
    {LOCAL, SIGN "  " ALL, STATISTICS, ", records: 24", ANSWERS},
    {LOCAL, SERIES "  features: [" B "]\n", STATISTICS, ", records: 23", DECLINES},
    {"trust: local, epsilon: 1000", SIGN "  " ALL, FIT LOSSES, NULL, DECLINES},
    {LOCAL, SIGN "  features: [" A ", " A "]\n", FIT LOSSES, NULL, DECLINES},
    {LOCAL, SIGN "  " ALL, "  - {task: guess}\n", NULL, DECLINES},
    {LOCAL, "]\n", FIT, NULL, DECLINES},
};

enum { JOB_COUNT = sizeof jobs / sizeof jobs[0] };

static void write_job(char text[static PAIRS_TEXT_BYTES], size_t job)
{
    const int size = snprintf(text, PAIRS_TEXT_BYTES,
                              "hedgerow: 1\njob: pairs\ndata:\n  %s"
                              "privacy: {unit: record, neighbours: replace_one, %s}\n"
                              "cohort: {minimum: 1, join_deadline_s: 10, deadline_s: 10%s}\n"
                              "stages:\n%s",
                              jobs[job].data, jobs[job].privacy,
                              jobs[job].cohort == NULL ? "" : jobs[job].cohort, jobs[job].stages);
    cr_assert(size > 0 && size < PAIRS_TEXT_BYTES);
}

/* One row in place of "0.3,0.4,q,1,II". */
static const char *const rows[] = {
    "-0.9,0.1,r,0,III",              /* another record like all */
    "0.3,0.4,zzz,1,II",              /* an unlisted category */
    "0.3,0.4,q,7,II",                /* an unlisted class, of two and of three */
    "0.3,0.4,q,1,IX",                /* */
    ",0.4,q,1,II",                   /* empty cells */
    "0.3,,q,1,II",                   /* */
    "0.3,0.4,,1,II",                 /* */
    "0.3,0.4,q,,II",                 /* */
    "0.3,0.4,q,1,",                  /* */
    ",,,,",                          /* */
    "",                              /* a blank line */
    "NA,NA,NA,NA,NA",                /* */
    "old,0.4,q,1,II",                /* text in numbers */
    "\"0,3\",0.4,q,1,II",            /* */
    "1e999,0.4,q,1,II",              /* huge ones */
    "-1e308,1e308,q,1,II",           /* */
    "1e90,1e-320,q,1,II",            /* */
    "nan,inf,q,1,II",                /* */
    "0.3",                           /* too few and too many fields */
    "0.3,0.4,q,1,II,0.3,q",          /* */
    "\"0.3,0.4,q,1,II",              /* quotes that never close, or stand in the middle */
    "0.3,0.4,q,1,\"II",              /* */
    "0.\"3,0.4,\"q\"r,1,II",         /* */
    "0.3\r,0.4,q,1,II",              /* */
    "0.3,\xff\xfe,q,1,II",           /* */
    "0.3,0.4,q,1,II\n0.1,0.2,p,0,I", /* a line more than admitted, and one fewer */
    PAIRS_NO_LINE,
    PAIRS_NUL_LINE,
    PAIRS_LONG_LINE,
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static const char usual[] = "0.3,0.4,q,1,II";

Test(participant_pairs, no_record_changes_anything_that_leaves_the_agent)
{
    for (size_t job = 0; job < JOB_COUNT; job++) {
        char text[PAIRS_TEXT_BYTES];
        write_job(text, job);
        char *first = pairs_run(text, usual, PAIRS_RIGHT);
        const bool answers = strstr(first, " offer ") != NULL;
        const bool declines = strstr(first, " decline ") != NULL;
        cr_expect(answers == (jobs[job].wanted == ANSWERS) &&
                      declines == (jobs[job].wanted == DECLINES),
                  "job %zu:\n%s%s", job, text, first);
        for (size_t row = 0; row < ROW_COUNT; row++) {
            char *other = pairs_run(text, rows[row], PAIRS_RIGHT);
            cr_expect_str_eq(other, first, "job %zu tells row %zu", job, row);
            free(other);
        }
        free(first);
    }
}

/* The same comparison sees each of these: a table that is unfit for one record, a record that is left out,
 * a reading that takes longer, a word in the log. */
Test(participant_pairs, a_planted_refusal_is_caught)
{
    for (enum pairs_fault fault = PAIRS_RIGHT + 1; fault < PAIRS_FAULT_COUNT; fault++) {
        char text[PAIRS_TEXT_BYTES];
        write_job(text, 0);
        char *first = pairs_run(text, usual, fault);
        char *class = pairs_run(text, "0.3,0.4,q,7,II", fault);
        char *category = pairs_run(text, "0.3,0.4,zzz,1,II", fault);
        char *like = pairs_run(text, "-0.9,0.1,r,0,III", fault);
        cr_expect(strcmp(first, class) != 0, "fault %d", (int)fault);
        cr_expect(strcmp(first, category) != 0, "fault %d", (int)fault);
        cr_expect(strcmp(first, like) == 0, "fault %d", (int)fault);
        free(first);
        free(class);
        free(category);
        free(like);
    }
}
