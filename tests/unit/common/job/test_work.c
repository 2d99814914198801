#include "job/work.h"

#include "job/job.h"
#include "job/round.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct job job_of(const char *trust, const char *stages)
{
    char text[2048];
    struct job job;
    struct why why = {{0}};
    (void)snprintf(text, sizeof text,
                   "hedgerow: 1\njob: work\n"
                   "data:\n  label: {column: y, positive: \"1\", negative: \"0\"}\n"
                   "  features: [{column: a, centre: 0, half_width: 1}]\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: %s}\n"
                   "cohort: {minimum: 1, join_deadline_s: 10, deadline_s: 10}\nstages:\n%s",
                   trust, stages);
    cr_assert_eq(job_parse(&job, (struct slice){text, strlen(text)}, "job", &why), STATUS_OK, "%s",
                 why.text);
    return job;
}

static const char FIT[] = "  - {task: fit, loss: logistic, lambdas: [0.5], share: 0.5, tolerance: "
                          "0.01, grid_bits: 10}\n";
static const char LOSSES[] = "  - {task: losses, loss: zero_one, rounds: 2, batch: 100, share: "
                             "0.5, grid_bits: 10}\n";

/* A solver's time may tell of the records; that of losses is sizes alone. */
Test(work, only_solvers_are_hidden_in_slots)
{
    char both[1024];
    (void)snprintf(both, sizeof both, "%s%s", FIT, LOSSES);
    struct job job = job_of("local, epsilon: 1, delta: 0", both);
    const struct work_size size = {.records = 1000, .agents = 1};
    double flops = 0;
    size_t stage = 9;
    struct work_need fit;
    cr_expect(!work_time_is_public(&job.stage[0]) && work_time_is_public(&job.stage[1]));
    cr_assert_eq(work_to_hide(&flops, &stage, &job, size, NULL), STATUS_OK);
    cr_assert_eq(work_of_stage(&fit, &job, 0, size, NULL), STATUS_OK);
    cr_expect(stage == 0 && flops == fit.flops && flops > 0);
    job_free(&job);
}

/* How many records a coin chose is secret: the time of such a round would tell. */
Test(work, a_sampled_batch_keeps_its_slot)
{
    struct job job =
        job_of("local, epsilon: 1, delta: 0.00001",
               "  - {task: update, loss: logistic, rounds: 2, sampling: 0.1, clip: 1, rate: 1, "
               "noise: gaussian, grid_bits: 16, batch: 100}\n");
    cr_expect_gt(job.stage[0].charge.sampling_nano, 0);
    cr_expect(!work_time_is_public(&job.stage[0]));
    job_free(&job);
}

Test(work, a_slot_is_twice_what_the_operations_take)
{
    cr_expect_eq(work_slot_ms(1e9, 1e9), 2000);
    cr_expect_eq(work_slot_ms(1e9 + 1, 1e9), 2001);
    cr_expect_eq(work_slot_ms(1, 1e9), 1);
}

/* What an agent has asked for waits for it: all of a small model, of a large one as much as the window has. */
Test(work, a_coordinator_holds_what_agents_fetch)
{
    struct job job = job_of("local, epsilon: 1, delta: 0", FIT);
    const struct work_fleet none = {
        .agents = 0, .connected = 100, .window_bytes = 1000, .waiting_bytes = 1 << 20};
    const struct work_fleet wide = {
        .agents = 100, .connected = 100, .window_bytes = 1000, .waiting_bytes = 1 << 20};
    const struct work_fleet narrow = {
        .agents = 100, .connected = 100, .window_bytes = 10, .waiting_bytes = 1 << 20};
    const struct work_fleet bounded = {
        .agents = 100, .connected = 100, .window_bytes = 10, .waiting_bytes = 700};
    const double alone = work_of_coordinator(&job, none);
    const double fetched = work_fetched_bytes(&job, 100);
    cr_expect_eq(fetched, 8.0 * (double)round_width(&job), "one lambda makes one expert");
    cr_expect_float_eq(work_of_coordinator(&job, wide) - alone, 100 * fetched, 1e-3);
    cr_expect_gt(fetched, 10);
    cr_expect_float_eq(work_of_coordinator(&job, narrow) - alone, 100 * 10, 1e-3);
    cr_expect_float_eq(work_of_coordinator(&job, bounded) - alone, 700, 1e-3);
    cr_expect_lt(work_of_connections(100), alone);
    job_free(&job);
}

/* A round's input is fetched, too: the thresholds of a search, where no expert is made. */
Test(work, a_state_is_fetched_as_a_model_is)
{
    struct job job =
        job_of("local, epsilon: 1, delta: 0",
               "  - {task: query, queries: [\"quantile: 0.5 of a in 8 rounds\"], batch: "
               "10, share: 1}\n");
    cr_expect_eq(work_fetched_bytes(&job, 100), 8.0 * (double)round_state_count(&job.stage[0]));
    cr_expect_gt(work_fetched_bytes(&job, 100), 0);
    job_free(&job);
}

/* Half of the bytes if the job says so; any other size is refused. */
Test(work, a_short_state_is_half_as_long)
{
    static const char update[] =
        "  - {task: update, loss: logistic, rounds: 2, batch: 10, clip: 1, "
        "rate: 1, share: 1, state_bits: %s}\n";
    char stages[256];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(stages, sizeof stages, update, i == 0 ? "64" : "32");
        struct job job = job_of("local, epsilon: 1, delta: 0", stages);
        const size_t count = round_state_count(&job.stage[0]);
        cr_expect_eq(round_input_bytes(&job.stage[0], 0), i == 0 ? 8 : 4);
        cr_expect_geq(work_fetched_bytes(&job, 100), (i == 0 ? 8.0 : 4.0) * (double)count);
        cr_expect_eq(job.stage[0].state_is_short, i == 1);
        job_free(&job);
    }
}
