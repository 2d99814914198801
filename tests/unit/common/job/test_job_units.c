/* Of unit round the rounds of one pass cost their largest, as each unit is in one of them: also what
 * another stage shows in a round, or a job would cost more than it says. Here an update shows 1200
 * records in one round: rounds of 100 of them would lose 12 times what they are charged. */

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
    "  - {task: losses, loss: zero_one, rounds: 12, batch: 100, first: %u, share: 0.5,"
    " grid_bits: 4, forecasters: [{name: a, features: [a]}]}\n";

struct layout {
    const char *unit;
    unsigned rounds; /* of the update, batches in a pass, records in each */
    unsigned batches;
    unsigned batch;
    unsigned first; /* of the losses */
    bool is_priced;
};

static const struct layout layouts[] = {
    {"record", 1, 1, 1200, 0, true},    {"agent", 1, 1, 1200, 0, true},
    {"round", 1, 1, 100, 0, true},      {"round", 12, 12, 100, 0, true},
    {"round", 3, 3, 100, 100, true},    {"round", 1, 1, 1200, 1200, true},
    {"round", 2, 1, 50, 0, true},       {"round", 1, 1, 1200, 0, false}, /* several of theirs */
    {"round", 1, 1, 101, 0, false},     {"round", 1, 1, 1200, 1100, true},
    {"round", 1, 1, 1200, 1099, false}, {"round", 12, 12, 100, 50, false},
    {"round", 24, 24, 50, 0, false},    {"round", 2, 2, 50, 50, true}, /* ours, in several of it */
    {"round", 2, 2, 600, 0, false},
};

/* Rounds of a pass that the rows of one unit are in, at most; by looking at every row. */
static uint32_t rounds_hit(const struct stage *stage, struct round_rows unit)
{
    uint32_t hit = 0;
    for (uint32_t within = 0; within < stage->batches; within++) {
        const struct round_rows rows = round_rows(stage, within, 0);
        bool shares = false;
        for (uint64_t row = unit.first; row < unit.first + unit.count; row++) {
            shares = shares || (row >= rows.first && row - rows.first < rows.count);
        }
        hit += shares ? 1 : 0;
    }
    return hit;
}

static bool is_paid(const struct job *job)
{
    for (size_t i = 0; i < job->stage_count; i++) {
        for (uint32_t within = 0; within < job->stage[i].batches; within++) {
            for (size_t j = 0; j < job->stage_count; j++) {
                if (rounds_hit(&job->stage[j], round_rows(&job->stage[i], within, 0)) > 1) {
                    return false;
                }
            }
        }
    }
    return true;
}

static void check(const struct layout *layout, const char *trust)
{
    char text[2048];
    struct job job;
    struct why why = {{0}};
    const int size = snprintf(text, sizeof text, TEXT, layout->unit, trust, layout->rounds,
                              layout->batches, layout->batch, layout->first);
    enum status status = job_parse(&job, (struct slice){text, (size_t)size}, "job", &why);
    cr_expect_eq(status, layout->is_priced ? STATUS_OK : STATUS_INVALID,
                 "%s, %u of %u, first %u: %s", layout->unit, layout->rounds, layout->batch,
                 layout->first, why.text);
    if (status == STATUS_OK) {
        cr_expect(job.unit != UNIT_ROUND || is_paid(&job), "%u of %u, first %u", layout->rounds,
                  layout->batch, layout->first);
    } else {
        cr_expect(strstr(why.text, "cuts up what another stage shows") != NULL, "%s", why.text);
    }
    job_free(&job);
}

Test(job_units, what_a_stage_shows_in_one_round_is_in_one_round_of_the_others)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        check(&layouts[i], "local");
        check(&layouts[i], "central");
    }
}
