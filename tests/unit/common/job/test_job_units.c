/* With unit round the rounds of one pass are charged once, also if another stage shows in one round
 * what this one shows in several. Each round gets noise for all that such a unit moves. Here an update
 * shows 1200 records in one round: noise for one round's 100 would lose 12 times what is charged. */

#include "job/reach.h"
#include "job/round.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: units\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 2, join_deadline_s: 10, deadline_s: 10}\n"
    "stages:\n"
    "  - {task: update, loss: logistic, rounds: %u, batches: %u, batch: %u, clip: 1, rate: 1,"
    " share: 0.5, grid_bits: 8}\n"
    "  - {task: losses, loss: zero_one, rounds: 12, batch: 100, %sfirst: %u, share: 0.5,"
    " grid_bits: 4, forecasters: [{name: a, features: [a]}]}\n";

struct layout {
    const char *unit;
    unsigned rounds; /* of the update, batches in a pass, records in each */
    unsigned batches;
    unsigned batch;
    unsigned first; /* of the losses */
};

static const struct layout layouts[] = {
    {"record", 1, 1, 1200, 0},   {"agent", 1, 1, 1200, 0},
    {"round", 1, 1, 100, 0},     {"round", 12, 12, 100, 0},
    {"round", 3, 3, 100, 100},   {"round", 1, 1, 1200, 1200},
    {"round", 2, 1, 50, 0},      {"round", 1, 1, 1200, 0}, /* several of theirs */
    {"round", 1, 1, 101, 0},     {"round", 1, 1, 1200, 1100},
    {"round", 1, 1, 1200, 1099}, {"round", 12, 12, 100, 50},
    {"round", 24, 24, 50, 0},    {"round", 2, 2, 50, 50}, /* ours, in several of it */
    {"round", 2, 2, 600, 0},
};

/* What the rows of one unit are in, of a pass: by looking at every row. */
struct hit {
    uint64_t records;
    uint64_t rounds;
};

static struct hit hit_of(const struct stage *stage, struct round_rows unit)
{
    struct hit hit = {0};
    for (uint32_t within = 0; within < stage->batches; within++) {
        const struct round_rows rows = round_rows(stage, within, 0);
        uint64_t shared = 0;
        for (uint64_t row = unit.first; row < unit.first + unit.count; row++) {
            shared += row >= rows.first && row - rows.first < rows.count ? 1 : 0;
        }
        hit.records += shared;
        hit.rounds += shared > 0 ? 1 : 0;
    }
    return hit;
}

/* The most of any unit that some stage shows in a round; of unit agent a pass is one round. */
static struct hit most_of(const struct job *job, const struct stage *stage)
{
    struct hit most = {0};
    for (size_t i = 0; i < job->stage_count; i++) {
        for (uint32_t within = 0; within < job->stage[i].batches; within++) {
            const struct hit hit = hit_of(stage, round_rows(&job->stage[i], within, 0));
            most.records = hit.records > most.records ? hit.records : most.records;
            most.rounds = hit.rounds > most.rounds ? hit.rounds : most.rounds;
        }
    }
    return most;
}

static uint64_t sensitivity_of(const struct job *job, const struct stage *stage)
{
    struct round_bounds bounds;
    cr_assert_eq(round_bounds(&bounds, job, stage, 0, 3000, 2, NULL), STATUS_OK);
    return bounds.sensitivity;
}

static enum status read_job(struct job *job, const struct layout *layout, const char *trust,
                            const char *more, struct why *why)
{
    char text[2048];
    const int size = snprintf(text, sizeof text, TEXT, layout->unit, trust, layout->rounds,
                              layout->batches, layout->batch, more, layout->first);
    return job_parse(job, (struct slice){text, (size_t)size}, "job", why);
}

/* A record moves the update by twice its clip of 256 steps, and each of two losses by 16; an exact
 * round's losses move by 16 as a whole, as they are means. */
static void check(const struct layout *layout, const char *trust)
{
    struct job job;
    struct why why = {{0}};
    cr_assert_eq(read_job(&job, layout, trust, "", &why), STATUS_OK, "%s", why.text);
    const struct hit update = most_of(&job, &job.stage[0]);
    const struct hit losses = most_of(&job, &job.stage[1]);
    const bool drawn = strcmp(trust, "central") == 0;
    if (job.unit == UNIT_ROUND) {
        cr_expect_eq(sensitivity_of(&job, &job.stage[0]), 512 * update.records,
                     "%u of %u, first %u", layout->rounds, layout->batch, layout->first);
        cr_expect_eq(sensitivity_of(&job, &job.stage[1]),
                     drawn ? 16 * losses.rounds : 32 * losses.records, "%u of %u, first %u",
                     layout->rounds, layout->batch, layout->first);
        cr_expect_eq(reach_of(&job, &job.stage[1]).rounds, losses.rounds);
    } else {
        const uint64_t records = job.unit == UNIT_AGENT ? layout->batch : 1;
        cr_expect_eq(sensitivity_of(&job, &job.stage[0]), 512 * records);
    }
    job_free(&job);
}

/* A unit that is in several segments would pay in each of them, and each spends the whole budget. */
static void check_segments(const struct layout *layout)
{
    struct job job;
    struct why why = {{0}};
    cr_assert_eq(read_job(&job, layout, "central", "", &why), STATUS_OK, "%s", why.text);
    const bool once = reach_of(&job, &job.stage[1]).rounds == 1;
    job_free(&job);
    cr_expect_eq(read_job(&job, layout, "central", "horizon: doubling, ", &why),
                 once ? STATUS_OK : STATUS_INVALID, "%s, %u of %u, first %u: %s", layout->unit,
                 layout->rounds, layout->batch, layout->first, why.text);
    cr_expect(once || strstr(why.text, "every start spends the whole budget") != NULL, "%s",
              why.text);
    job_free(&job);
}

Test(job_units, noise_is_for_all_that_any_stage_shows_in_one_round)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        check(&layouts[i], "local");
        check(&layouts[i], "central");
        check_segments(&layouts[i]);
    }
}
