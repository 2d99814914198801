/* Exact sums that a draw looks at must not wrap, whoever answers: draws have no noise to hide it in. */

#include "job/job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: drawn\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: central, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, join_deadline_s: 10, deadline_s: 10, records: 100}\n"
    "stages:\n"
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.5, grid_bits: 10}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 1000, batch: %u, share: 0.5,"
    " grid_bits: 40}\n";

static enum status parse(unsigned batch, struct why *why)
{
    char text[2048];
    struct job job;
    int size = snprintf(text, sizeof text, TEXT, batch);
    *why = (struct why){{0}};
    enum status status = job_parse(&job, (struct slice){text, (size_t)size}, "job", why);
    job_free(&job);
    return status;
}

/* 256 agents; 1000 rounds of 31 or 60 records are 2^15 or so, of 2^40 steps each. */
Test(job_draws, sums_over_all_agents_fit)
{
    struct why why;
    cr_assert_eq(parse(31, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(parse(60, &why), STATUS_INVALID);
    cr_assert(strstr(why.text, "overflow") != NULL, "%s", why.text);
}
