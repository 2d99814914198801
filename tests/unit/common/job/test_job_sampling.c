/* Sampling makes a round cheaper for a record that chance may leave out: not for an agent, nor for a day of
 * a series, which are in several records. */

#include "job/job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: sampled\n"
    "data:\n"
    "  label: {column: y, centre: 0, half_width: 1}\n"
    "%s"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: %s, neighbours: replace_one, trust: central, epsilon: 1, delta: 0.000001}\n"
    "cohort: {minimum: 1, join_deadline_s: 10, deadline_s: 10}\n"
    "stages:\n"
    "  - {task: update, loss: squared, rounds: 3, batch: 12, clip: 1, rate: 1, noise: gaussian,"
    " grid_bits: %u%s%s}\n";

static enum status parse_on(unsigned bits, const char *series, const char *unit,
                            const char *sampling, const char *clip, struct why *why)
{
    char text[2048];
    struct job job;
    int size = snprintf(text, sizeof text, TEXT, series, unit, bits, sampling, clip);
    *why = (struct why){{0}};
    enum status status = job_parse(&job, (struct slice){text, (size_t)size}, "job", why);
    job_free(&job);
    return status;
}

static enum status parse(const char *series, const char *unit, const char *sampling,
                         const char *clip, struct why *why)
{
    return parse_on(10, series, unit, sampling, clip, why);
}

/* Twice the clip of 1 is 512 steps on the coarser grid, and 1024 on the finer one. */
Test(job_sampling, wants_a_grid_that_its_price_holds_for)
{
    struct why why;
    cr_assert_eq(parse_on(8, "", "record", "", "", &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(parse_on(9, "", "record", ", sampling: 0.5", "", &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(parse_on(8, "", "record", ", sampling: 0.5", "", &why), STATUS_INVALID);
    cr_assert(strstr(why.text, "stages[0].grid_bits: is too coarse") != NULL &&
                  strstr(why.text, "write 9") != NULL,
              "%s", why.text);
}

Test(job_sampling, is_for_single_records_alone)
{
    static const char lags[] = "  series: {column: y, lags: [1, 7]}\n";
    static const char half[] = ", sampling: 0.5";
    struct why why;
    cr_assert_eq(parse("", "record", half, "", &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(parse(lags, "record", "", "", &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(parse(lags, "record", half, "", &why), STATUS_INVALID);
    cr_assert(strstr(why.text, "sampling") != NULL, "%s", why.text);
    cr_assert_eq(parse("", "agent", "", ", clip_all: 0.5", &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(parse("", "agent", half, ", clip_all: 0.5", &why), STATUS_INVALID);
    cr_assert(strstr(why.text, "sampling") != NULL, "%s", why.text);
    cr_assert_eq(parse("", "round", half, ", clip_all: 0.5", &why), STATUS_INVALID);
    cr_assert(strstr(why.text, "sampling") != NULL, "%s", why.text);
}

/* Not of sampling, but of the same stage. */
Test(job_sampling, a_number_of_the_state_has_32_or_64_bits)
{
    struct why why;
    cr_assert_eq(parse("", "record", ", state_bits: 32", "", &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(parse("", "record", ", state_bits: 64", "", &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(parse("", "record", ", state_bits: 48", "", &why), STATUS_INVALID);
    cr_assert(strstr(why.text, "stages[0].state_bits") != NULL &&
                  strstr(why.text, "write 32 or 64") != NULL,
              "%s", why.text);
}
