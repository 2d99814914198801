/* What a look's sum says where columns are dealt out to groups of sites: sums without noise, made from known tables. */

#include "base/check.h"
#include "dp/encode.h"
#include "job/round.h"
#include "task/learn/look.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = 5, K = 2, SITES = 8, RECORDS = 100, VALUES = 128, TRIALS = 2000 };

static struct job job;
static int64_t sum[VALUES];
static double value[VALUES];
static struct selftune_look look;

static void parse_of(enum job_age age, const char *label)
{
    char text[2048];
    char columns[1024];
    struct why why = {{0}};
    int size = 0;
    for (int j = 0; j < D; j++) {
        size += snprintf(columns + size, sizeof columns - (size_t)size,
                         "%s{column: c%d, centre: 0, half_width: 1}", j == 0 ? "" : ", ", j);
    }
    (void)snprintf(text, sizeof text,
                   "hedgerow: 1\njob: toy\ndata:\n  label: {column: y, %s}\n  features: [%s]\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 0.1}\n"
                   "cohort: {minimum: %d, records: %d, join_deadline_s: 1, deadline_s: 1}\n"
                   "stages:\n  - {task: learn}\n",
                   label, columns, SITES, RECORDS);
    cr_assert_eq(job_parse_older(&job, (struct slice){text, strlen(text)}, age, "toy", &why),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(learn_stage(job.stage)->tune.sight, SIGHT_SUMS);
    cr_assert_leq(learn_look_numbers(job.stage), VALUES);
    memset(sum, 0, sizeof sum);
}

static void parse(const char *label)
{
    parse_of(JOB_OF_NOW, label);
}

static void setup(void)
{
    parse("positive: \"1\", negative: \"0\"");
    /* Four groups could be, but three have two columns at most as well. */
    cr_assert_eq(learn_stage(job.stage)->groups, 3);
}

static void setup_three(void)
{
    parse("classes: [a, b, c]");
    cr_assert_gt(learn_stage(job.stage)->groups, 1);
}

static void teardown(void)
{
    job_free(&job);
}

static double mean_of(size_t column, size_t class)
{
    return 0.1 * (double)(column + 1) * (class == 1 ? 1 : -0.5);
}

/* Adds what one site of RECORDS would send without noise, a share of whose records is of class 1. */
static void add_site(size_t slot, double share)
{
    const struct learn_stage *own = learn_stage(job.stage);
    const struct round_groups groups = round_groups(job.stage, 0);
    const size_t group = slot % groups.count;
    int64_t *part = sum + group * groups.own;
    int64_t *tally = sum + groups.count * groups.own + 2 * group;
    for (size_t c = 0; c < K; c++) {
        const double records = RECORDS * (c == 1 ? share : 1 - share);
        part[c] += encode_value(own->weights.count * records, own->look_bits);
        part[K + c] += encode_value(own->weights.kept * records, own->look_bits);
        for (size_t i = 0, j = group; j < D; i++, j += groups.count) {
            part[2 * K + c * learn_own_columns(own) + i] +=
                encode_value(own->weights.sum * records * mean_of(j, c), own->look_bits);
        }
    }
    tally[0] += RECORDS;
    tally[1] += 1;
}

static void read_sites(double sites, double deviation)
{
    const struct learn_summed summed = {
        .sum = sum, .records = sites * RECORDS, .sites = sites, .deviation = deviation};
    learn_read_look(&look, value, job.stage, &summed);
}

Test(learn_look, sums_are_scaled_to_all_records_and_so_is_their_noise, .init = setup,
     .fini = teardown)
{
    for (size_t slot = 0; slot < SITES; slot++) {
        add_site(slot, 0.25);
    }
    read_sites(SITES, 1);
    for (size_t c = 0; c < K; c++) {
        const double records = SITES * RECORDS * (c == 1 ? 0.25 : 0.75);
        cr_expect_float_eq(look.count[c], records, 1e-3);
        cr_expect_float_eq(look.kept[c], records, 1e-3);
        for (size_t j = 0; j < D; j++) {
            cr_expect_float_eq(look.sum[c * D + j], records * mean_of(j, c), 1e-3, "%zu", j);
        }
    }
    for (size_t j = 0; j < D; j++) {
        const double sites = j % 3 == 2 ? 2 : 3; /* that have told of the group */
        cr_expect_float_eq(look.factor[j], SITES / sites * sqrt(sites / SITES), 1e-9);
        cr_expect_float_eq(look.part[j], sites / SITES, 1e-12);
    }
}

Test(learn_look, a_column_that_nobody_has_told_of_is_unknown_and_no_0, .init = setup,
     .fini = teardown)
{
    static double state[4096];
    const struct selftune *tune = &learn_stage(job.stage)->tune;
    add_site(0, 0.25);
    add_site(2, 0.25);
    read_sites(2, 1e6);
    for (size_t j = 0; j < D; j++) {
        cr_expect_eq(isinf(look.factor[j]) != 0, j % 3 == 1, "%zu", j);
    }
    CHECK(selftune_state_count(tune) <= sizeof state / sizeof state[0]);
    cr_assert_eq(selftune_begin(state, tune), STATUS_OK);
    cr_assert_eq(selftune_take_look(state, tune, &look), STATUS_OK);
    for (size_t i = 0; i < selftune_state_count(tune); i++) {
        cr_assert(isfinite(state[i]), "%zu", i);
    }
    cr_expect_eq(state[1 + 1], 0, "of an unknown column the model has nothing");
    cr_expect_neq(state[1], 0);
    /* No site has told anything: only the shares are left. */
    memset(sum, 0, sizeof sum);
    read_sites(2, 1);
    cr_assert_eq(selftune_take_look(state, tune, &look), STATUS_OK);
    for (size_t j = 0; j < D; j++) {
        cr_expect_eq(state[1 + j], 0);
    }
}

/* A liar's numbers about its group are limited to possible ones. */
Test(learn_look, a_tally_is_held_to_the_sites_that_there_are, .init = setup, .fini = teardown)
{
    const struct round_groups groups = round_groups(job.stage, 0);
    int64_t *tally = sum + groups.count * groups.own;
    for (size_t slot = 0; slot < SITES; slot++) {
        add_site(slot, 0.25);
    }
    tally[0] = INT64_MAX;
    tally[1] = INT64_MAX;
    tally[2] = INT64_MIN;
    tally[4] = 0;
    read_sites(SITES, 1);
    cr_expect_float_eq(look.factor[0], 1, 1e-12);
    cr_expect(isinf(look.factor[1]));
    cr_expect(isinf(look.factor[2]));
    for (size_t i = 0; i < K * D; i++) {
        cr_expect(isfinite(look.sum[i]));
    }
}

/* Without it a column would be taken to tell classes apart by its mean alone where its sites have other shares of them. */
Test(learn_look, sums_of_sites_with_other_shares_are_those_of_all, .init = setup, .fini = teardown)
{
    static const double share[SITES] = {0.2, 0.5, 0.4, 0.2, 0.5, 0.4, 0.2, 0.5};
    double total = 0;
    for (size_t slot = 0; slot < SITES; slot++) {
        add_site(slot, share[slot]);
        total += share[slot] / SITES;
    }
    read_sites(SITES, 1);
    for (size_t c = 0; c < K; c++) {
        const double records = SITES * RECORDS * (c == 1 ? total : 1 - total);
        cr_expect_float_eq(look.count[c], records, 1e-3);
        for (size_t j = 0; j < D; j++) {
            cr_expect_float_eq(look.sum[c * D + j], records * mean_of(j, c), 1e-2, "%zu", j);
        }
    }
}

/* Takes the look as the coordinator does: what it cannot take would end the job, though all sites have paid for it. */
static void take(void)
{
    static double state[4096];
    const struct selftune *tune = &learn_stage(job.stage)->tune;
    CHECK(selftune_state_count(tune) <= sizeof state / sizeof state[0]);
    cr_assert_eq(selftune_begin(state, tune), STATUS_OK);
    cr_assert_eq(selftune_take_look(state, tune, &look), STATUS_OK);
    for (size_t i = 0; i < selftune_state_count(tune); i++) {
        cr_assert(isfinite(state[i]), "%zu", i);
    }
}

/* Where noise is large both classes' counts may be those of all records, or of none. */
Test(learn_look, counts_that_are_noise_alone_are_taken, .init = setup, .fini = teardown)
{
    const struct learn_stage *own = learn_stage(job.stage);
    const struct round_groups groups = round_groups(job.stage, 0);
    for (int sign = -1; sign <= 1; sign += 2) {
        memset(sum, 0, sizeof sum);
        for (size_t slot = 0; slot < SITES; slot++) {
            add_site(slot, 0.5);
        }
        for (size_t g = 0; g < groups.count; g++) {
            for (size_t c = 0; c < K; c++) {
                sum[g * groups.own + c] +=
                    sign * encode_value(own->weights.count * SITES * RECORDS, own->look_bits);
            }
        }
        read_sites(SITES, 1e11);
        for (size_t j = 0; j < D; j++) {
            cr_expect(look.factor[j] > 0, "%d, %zu", sign, j);
        }
        take();
    }
}

/* Takes TRIALS sums whose numbers are of every size. */
static void take_anything(void)
{
    const struct round_groups groups = round_groups(job.stage, 0);
    const size_t count = groups.count * (groups.own + 2);
    uint64_t random = 33;
    CHECK(count <= VALUES);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        for (size_t i = 0; i < count; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const uint64_t bits = random >> 58; /* 0 .. 63 */
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            sum[i] = (int64_t)random >> bits;
        }
        for (size_t i = 0; trial % 2 > 0 && i < 2 * groups.count; i++) { /* tallies that may be */
            sum[groups.count * groups.own + i] =
                i % 2 > 0 ? 1 + trial % 3 : (int64_t)RECORDS * (trial % 4);
        }
        read_sites(SITES, trial % 5 == 0 ? 0 : ldexp(1, (int)trial % 50));
        take();
    }
}

/* Whatever a liar sends, the round ends with finite numbers. */
Test(learn_look, whatever_the_sum_is_it_is_taken, .init = setup, .fini = teardown)
{
    take_anything();
}

Test(learn_look, whatever_the_sum_of_three_classes_is_it_is_taken, .init = setup_three,
     .fini = teardown)
{
    take_anything();
}

/* Its sites may have answered the first round, each with all columns: what they paid for has to count. */
Test(learn_look, of_a_job_that_version_5_has_begun_shares_nothing_out, .init = setup,
     .fini = teardown)
{
    cr_expect(job_differs_older(&job));
    const uint32_t rounds = job.stage->rounds;
    const enum job_age ages[] = {JOB_OF_5, JOB_UP_TO_4};
    for (size_t i = 0; i < 2; i++) {
        job_free(&job);
        parse_of(ages[i], "positive: \"1\", negative: \"0\"");
        cr_expect_eq(learn_stage(job.stage)->groups, 1);
        cr_expect_eq(round_groups(job.stage, 0).count, 1);
        cr_expect_eq(job.stage->rounds, rounds);
        cr_expect_not(job_differs_older(&job));
    }
    cr_expect_eq(job_age_of(true, true, 9), JOB_OF_NOW);
    cr_expect_eq(job_age_of(true, true, 8), JOB_OF_8);
    cr_expect_eq(job_age_of(true, true, 7), JOB_OF_7);
    cr_expect_eq(job_age_of(true, true, 0), JOB_OF_6);
    cr_expect_eq(job_age_of(true, false, 0), JOB_OF_5);
    cr_expect_eq(job_age_of(false, false, 0), JOB_UP_TO_4);
    for (int age = JOB_OF_NOW; age <= JOB_OF_8;
         age++) { /* an agent's record has no more than this */
        const uint32_t version = job_age_version((enum job_age)age);
        cr_expect_eq(job_age_of(false, false, version), (enum job_age)age);
    }
}
