/* States of learn that are read back: as they were written, and of a build that did not shorten steps. */

#include "task/close.h"
#include "task/learn/stage.h"
#include "tests/unit/coordinator/history_of_one.h"

#include <stdlib.h>
#include <string.h>

enum { STATE_MOST = 256 };

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: toy\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "    - {column: b, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, "
    "epsilon: 4}\n"
    "cohort: {minimum: 2, records: 5000, join_deadline_s: 1, deadline_s: 1}\n"
    "stages:\n"
    "  - {task: learn}\n";

static void setup(void)
{
    history_begin(&job, &outcome, TEXT);
}

static enum status add(double *state, size_t count)
{
    struct record record = history_round(0, agents, AGENTS);
    record.as.round.records = (uint64_t)AGENTS * job.stage[0].batch;
    record.as.round.blob_bytes = count * sizeof *state;
    return outcome_add(&outcome, &job, &record, (struct slice){state, count * sizeof *state});
}

Test(close_learn, reads_a_state_that_an_earlier_build_wrote, .init = setup, .fini = teardown)
{
    const struct selftune *tune = &learn_stage(&job.stage[0])->tune;
    const size_t count = selftune_state_count(tune);
    const size_t at = selftune_steep_place(tune);
    double state[STATE_MOST];
    cr_assert(job.stage[0].rounds > 1 && count < STATE_MOST);
    for (size_t i = 0; i < count; i++) {
        state[i] = 1 + (double)i / STATE_MOST;
    }
    cr_assert_eq(add(state, count), STATUS_OK);
    cr_expect_eq(memcmp(outcome.state, state, count * sizeof *state), 0);

    teardown();
    setup();
    double old[STATE_MOST];
    memcpy(old, state, at * sizeof *old);
    memcpy(old + at, state + at + 1, (count - 1 - at) * sizeof *old);
    state[at] = 1;
    cr_assert_eq(add(old, count - 1), STATUS_OK);
    cr_expect_eq(memcmp(outcome.state, state, count * sizeof *state), 0);
    cr_expect_eq(add(old, count - 2), STATUS_CORRUPT);
}
