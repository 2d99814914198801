/* How many bytes a number of an answer has where it travels: from the job's text alone, and enough. */

#include "job/round.h"
#include "support/job_valid.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *const text_of =
    "hedgerow: 1\n"
    "job: trial\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: %s, delta: 0}\n"
    "cohort: {minimum: 4, %srecords_most: %s, deadline_s: 30}\n"
    "stages:\n  - {%s}\n";

struct trial {
    const char *trust, *epsilon, *most, *stage;
    unsigned bytes;
};

static struct job read_job(const struct trial *trial)
{
    char text[2048];
    struct job job;
    struct why why = {""};
    (void)snprintf(text, sizeof text, text_of, trial->trust, trial->epsilon,
                   strcmp(trial->trust, "distributed") == 0 ? "dishonest: 1, " : "", trial->most,
                   trial->stage);
    cr_assert_eq(job_parse(&job, (struct slice){text, strlen(text)}, "job.yml", &why), STATUS_OK,
                 "%s: %s", trial->stage, why.text);
    return job;
}

/* A count is moved by 2^grid_bits and more; noise reaches 64 times that over epsilon. */
#define COUNT(batch, grid)                                                                         \
    "task: query, queries: [\"count: a >= 0\"], share: 1, batch: " batch ", grid_bits: " grid

Test(job_words, are_as_wide_as_bounds_and_noise_need)
{
    static const struct trial trial[] = {
        {"local", "1", "1000", COUNT("20", "1"), 2},
        {"local", "1", "1000", COUNT("20", "10"), 4},
        {"local", "0.1", "1000", COUNT("20", "24"), 8},
        {"local", "0.001", "1000", COUNT("20", "1"),
         4},                                            /* the noise is a thousand times as large */
        {"local", "1", "1000", COUNT("40000", "1"), 4}, /* the bounds alone are beyond 2^15 */
        {"central", "0.001", "1000", COUNT("20", "1"), 2}, /* no noise comes from an agent */
        {"central", "1", "1000", COUNT("20", "10"), 2},
        {"distributed", "1", "1000", COUNT("20", "1"), 8}, /* round_masked_bytes says it */
    };
    for (size_t i = 0; i < sizeof trial / sizeof trial[0]; i++) {
        struct job job = read_job(&trial[i]);
        cr_expect_eq(round_form(&job, job.stage, 0, 0, 1).word_bytes, trial[i].bytes,
                     "%s, %s, %s: %u", trial[i].trust, trial[i].epsilon, trial[i].stage,
                     round_form(&job, job.stage, 0, 0, 1).word_bytes);
        job_free(&job);
    }
}

/* One agent's share may be of few records and another's of many: their words are alike. */
Test(job_words, are_the_same_for_every_agent)
{
    static const struct trial trial[] = {{"local", "1", "1000", COUNT("100 %", "1"), 2},
                                         {"local", "1", "1000000", COUNT("100 %", "1"), 4}};
    for (size_t i = 0; i < 2; i++) {
        struct job job = read_job(&trial[i]);
        struct why why = {""};
        cr_expect_eq(round_form(&job, job.stage, 0, 0, 1).word_bytes, trial[i].bytes);
        for (uint64_t records = 1; records < 3000000; records = 3 * records + 1) {
            cr_assert_eq(job_settle(&job, records, &why), STATUS_OK, "%s", why.text);
            cr_expect_eq(round_form(&job, job.stage, 0, 0, 1).word_bytes, trial[i].bytes,
                         "%llu records", (unsigned long long)records);
        }
        job_free(&job);
    }
}

/* A sum modulo 2^32: over some sites' 20 records, each worth 2^grid_bits, and their noise. */
Test(job_words, of_masked_answers_are_as_wide_as_their_sum_needs)
{
    static const struct {
        struct trial trial;
        size_t sites;
    } cases[] = {
        {{"distributed", "1", "1000", COUNT("20", "1"), 4}, 255},
        {{"distributed", "1", "1000", COUNT("20", "18"), 4}, 255}, /* 2^30.4, and the noise */
        {{"distributed", "1", "1000", COUNT("20", "19"), 8}, 255},
        {{"distributed", "1", "1000", COUNT("20", "19"), 4}, 100},
        {{"distributed", "1", "1000", COUNT("20", "22"), 4}, 4},
        {{"distributed", "0.01", "1000", COUNT("1", "18"), 8}, 4}, /* the noise alone */
        {{"local", "1", "1000", COUNT("20", "1"), 8}, 4},          /* is masked by nobody */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct job job = read_job(&cases[i].trial);
        cr_expect_eq(round_masked_bytes(&job, job.stage, 0, 0, cases[i].sites),
                     cases[i].trial.bytes, "case %zu", i);
        job_free(&job);
    }
}

static const char *const long_text =
    "hedgerow: 1\n"
    "job: trial\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "  map: {kind: fourier, kernel: gaussian, gamma: 1, features: %u, seed: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: 1, delta: %s}\n"
    "cohort: {minimum: 4, %srecords_most: 10000000, deadline_s: 30}\n"
    "stages:\n  - {%s}\n";

#define STEPS(batch, clip, grid, noise)                                                            \
    "task: update, strategy: average, loss: logistic, rate: 16, rounds: 5, batch: " batch          \
    ", clip: " clip ", grid_bits: " grid noise

/* Only a long answer is rounded, only a noisy one, and only where the noise of every agent hides its steps. */
Test(job_words, of_long_noisy_answers_have_two_bytes)
{
    static const struct {
        const char *trust, *delta, *more, *stage;
        unsigned features, bytes;
        bool rounded;
    } cases[] = {
        {"local", "0", "", STEPS("100", "1", "20", ", share: 1"), 16384, 2, true},
        {"local", "0", "", STEPS("100", "1", "20", ", share: 1"), 8000, 4, false},
        {"local", "0.00001", "", STEPS("100", "1", "20", ", noise: gaussian"), 16384, 2, true},
        {"local", "0", "", STEPS("100 %", "1", "12", ", share: 1"), 16384, 8,
         false}, /* of up to 10^7 records */
        {"central", "0", "", STEPS("100", "1", "20", ", share: 1"), 16384, 4, false},
        {"distributed", "0", "dishonest: 1, ", STEPS("100", "1", "20", ", share: 1"), 16384, 8,
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2048];
        struct job job;
        struct why why = {""};
        (void)snprintf(text, sizeof text, long_text, cases[i].features, cases[i].trust,
                       cases[i].delta, cases[i].more, cases[i].stage);
        cr_assert_eq(job_parse(&job, (struct slice){text, strlen(text)}, "job.yml", &why),
                     STATUS_OK, "case %zu: %s", i, why.text);
        const struct encode_form form = round_form(&job, job.stage, 0, 0, 1);
        const struct encode_form sum = round_form(&job, job.stage, 0, 0, JOB_AGENTS_MAX);
        cr_expect(job_is_valid(&job), "case %zu", i);
        cr_expect_eq(form.word_bytes, cases[i].bytes, "case %zu: %u", i, form.word_bytes);
        cr_expect_eq(form.shift > 0, cases[i].rounded, "case %zu: %u", i, form.shift);
        cr_expect(form.word_bytes == sum.word_bytes && form.shift == sum.shift, "case %zu", i);
        cr_expect_eq(form.sum_bytes, form.word_bytes < 8 ? 4 : 8, "case %zu", i);
        cr_expect(sum.sum_bytes == 4 || !cases[i].rounded, "case %zu", i);
        job_free(&job);
    }
}

/* Shares of few records and of many: an agent always rounds to the steps that the coordinator reads, however many
 * records it has. */
Test(job_words, are_rounded_to_the_same_steps_by_every_agent)
{
    static const char *const stage[] = {STEPS("0.01 %", "1", "20", ", share: 1"),
                                        STEPS("0.01 %", "0.25", "18", ", noise: gaussian")};
    for (size_t i = 0; i < 2; i++) {
        char text[2048];
        struct job job;
        struct why why = {""};
        (void)snprintf(text, sizeof text, long_text, 16384, "local", i == 0 ? "0" : "0.00001", "",
                       stage[i]);
        cr_assert_eq(job_parse(&job, (struct slice){text, strlen(text)}, "job.yml", &why),
                     STATUS_OK, "%s", why.text);
        const struct encode_form form = round_form(&job, job.stage, 0, 0, 256);
        cr_assert_gt(form.shift, 0);
        for (uint64_t records = job_records_min(&job); records < 100000000; records *= 3) {
            cr_assert_eq(job_settle(&job, records, &why), STATUS_OK, "%s", why.text);
            const struct encode_form own = round_form(&job, job.stage, 0, 0, 1);
            cr_expect(own.word_bytes == form.word_bytes && own.shift == form.shift,
                      "%llu records: %u", (unsigned long long)records, own.shift);
        }
        job_free(&job);
    }
}
