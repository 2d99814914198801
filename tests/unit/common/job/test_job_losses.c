/* Rounds and batch of a losses stage that does not write them. */

#include "job/job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct setting {
    const char *unit;
    const char *trust;
    const char *cohort; /* more of it, ending in ", " */
    const char *keys;   /* of the stage, beginning with ", " */
};

static enum status parse(struct job *job, const struct setting *setting, struct why *why)
{
    char text[2048];
    const int size = snprintf(
        text, sizeof text,
        "hedgerow: 1\njob: trial\ndata:\n  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features: [{column: a, centre: 0, half_width: 1}, {column: b, categories: [F, M]}]\n"
        "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: 1, delta: 0.000001}\n"
        "cohort: {minimum: 3, %sjoin_deadline_s: 10, deadline_s: 10}\nstages:\n"
        "  - {task: losses, loss: zero_one, share: 0.5, grid_bits: 10%s, forecasters:\n"
        "     [{name: rising, features: [a]}, {name: falling, features: [a], weights: [-1]}]}\n",
        setting->unit, setting->trust, setting->cohort, setting->keys);
    *why = (struct why){{0}};
    return job_parse(job, (struct slice){text, (size_t)size}, "job", why);
}

#define SURE "records: 1000, "
#define MOST "records: 1000, records_most: 3000, "

/* One pass is paid once. So one round of all records has the least noise, and of a given batch as many as there are. */
Test(job_losses, chooses_rounds_and_batch_from_public_numbers)
{
    static const struct {
        struct setting setting;
        uint32_t rounds;
        uint32_t batch;
        uint32_t share;
    } way[] = {
        {{"record", "local", SURE, ""}, 1, 1000, 0},
        {{"record", "local", MOST, ""}, 1, 1000, 1000000000},
        {{"record", "local", MOST, ", first: 400"}, 1, 600, 0},
        {{"record", "local", "records: 1, ", ""}, 1, 1, 0},
        {{"record", "local", SURE, ", rounds: 3"}, 3, 333, 0},
        {{"record", "local", MOST, ", rounds: 3"}, 3, 333, 333333333},
        {{"record", "local", SURE, ", rounds: 1000"}, 1000, 1, 0},
        {{"record", "local", "records: 7, records_most: 9, ", ", rounds: 7"}, 7, 1, 0},
        {{"record", "local", SURE, ", batch: 300"}, 3, 300, 0},
        {{"record", "local", SURE, ", batch: 300, first: 500"}, 1, 300, 0},
        {{"record", "local", MOST, ", batch: 30 %"}, 3, 300, 300000000},
        {{"record", "local", "", ", rounds: 4, batch: 9"}, 4, 9, 0},
        {{"record", "central", SURE, ""}, 1, 1000, 0},
        {{"record", "central", MOST, ""}, 1, 1000, 1000000000},
        {{"record", "central", SURE, ", strategy: epochs"}, 1, 1000, 0},
        {{"record", "central", SURE, ", strategy: theorem"}, 1, 1000, 0},
        {{"record", "central", SURE, ", strategy: dartboard"}, 1, 1000, 0},
        {{"record", "central", SURE, ", horizon: doubling"}, 1, 1000, 0},
        {{"record", "central", SURE, ", batch: 250"}, 4, 250, 0},
        {{"agent", "local", MOST, ""}, 1, 1000, 0},
        {{"agent", "local", MOST, ", batch: 100"}, 1, 100, 0}, /* each round would be paid */
        {{"agent", "central", MOST, ", batch: 100"}, 10, 100, 0},
        {{"round", "local", MOST, ", batch: 300"}, 3, 300, 0},
    };
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        struct job job;
        struct why why;
        cr_assert_eq(parse(&job, &way[i].setting, &why), STATUS_OK, "%zu: %s", i, why.text);
        cr_expect_eq(job.stage->rounds, way[i].rounds, "%zu: %u rounds", i, job.stage->rounds);
        cr_expect_eq(job.stage->batch, way[i].batch, "%zu: batch %u", i, job.stage->batch);
        cr_expect_eq(job.stage->batch_nano, way[i].share, "%zu: share %u", i,
                     job.stage->batch_nano);
        cr_expect_eq(job.stage->batches, job.stage->rounds, "%zu: more than one pass", i);
        job_free(&job);
    }
}

Test(job_losses, refuses_what_it_cannot_choose_with_a_remedy)
{
    static const struct {
        struct setting setting;
        const char *says;
    } way[] = {
        {{"record", "local", "", ""}, "stages[0].rounds: is missing, and follows from the fewest"},
        {{"record", "local", "", ", batch: 9"}, "write cohort.records, for example"},
        {{"record", "local", "records_most: 5000, ", ", rounds: 9"}, "stages[0].batch: is missing"},
        {{"record", "local", SURE, ", rounds: 1001"}, "stages[0].rounds: leaves a round without"},
        {{"record", "local", SURE, ", first: 1000"}, "stages[0].rounds: leaves a round without"},
        {{"record", "local", SURE, ", batch: 1001"},
         "stages[0].batch: is more than cohort.records"},
        {{"record", "local", SURE, ", first: 1000, batch: 1"}, "stages[0].batch: is more than"},
        {{"round", "local", SURE, ""}, "stages[0].batch: is missing, and under unit round"},
        {{"round", "local", SURE, ", rounds: 4"}, "add it, for example `batch: 100`"},
    };
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        struct job job;
        struct why why;
        cr_assert_eq(parse(&job, &way[i].setting, &why), STATUS_INVALID, "%zu", i);
        cr_expect_not_null(strstr(why.text, way[i].says), "%zu: %s", i, why.text);
    }
}
