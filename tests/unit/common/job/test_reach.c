/* How a unit meets the rounds of a pass, against a count of every position of every unit: random lags,
 * batches and beginnings, of two stages. No unit is in more records or rounds than reach_of says, and
 * what is lost beyond what is counted never exceeds one charge; where the stage stands alone the numbers
 * are reached. Fixed seeds: no false alarms. */

#include "job/reach.h"
#include "job/round.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { TRIALS = 3000, STAGES = 2, ROUNDS_MAX = 16 };

struct count {
    uint64_t of_round[ROUNDS_MAX];
};

/* The records of each round of the stage's pass that these rows of the file are in. */
static struct count count_of(const struct job *job, const struct stage *stage, uint64_t first,
                             uint64_t rows)
{
    const uint64_t history = schema_history(&job->schema);
    struct count count = {{0}};
    for (uint32_t within = 0; within < stage->batches; within++) {
        const struct round_rows round = round_rows(stage, within, 0);
        for (uint64_t i = round.first; i < round.first + round.count; i++) {
            const uint64_t day = i + history;
            bool is_in = day >= first && day < first + rows;
            for (size_t j = 0; j < job->schema.lag_count; j++) {
                const uint64_t then = day - job->schema.lag[j];
                is_in = is_in || (then >= first && then < first + rows);
            }
            count.of_round[within] += is_in ? 1 : 0;
        }
    }
    return count;
}

struct most {
    uint64_t records;
    uint64_t in_round;
    uint64_t rounds;
    double squares;
};

static void take(struct most *most, const struct count *count, uint32_t batches)
{
    struct most one = {0};
    for (uint32_t i = 0; i < batches; i++) {
        const uint64_t n = count->of_round[i];
        one.records += n;
        one.in_round = n > one.in_round ? n : one.in_round;
        one.rounds += n > 0 ? 1 : 0;
        one.squares += (double)n * (double)n;
    }
    most->records = one.records > most->records ? one.records : most->records;
    most->in_round = one.in_round > most->in_round ? one.in_round : most->in_round;
    most->rounds = one.rounds > most->rounds ? one.rounds : most->rounds;
    most->squares = fmax(most->squares, one.squares);
}

/* Over all units: each row; and of unit round what each stage shows in each round. */
static struct most most_of(const struct job *job, const struct stage *stage, uint64_t rows)
{
    const uint64_t history = schema_history(&job->schema);
    struct most most = {0};
    for (uint64_t row = 0; row < rows; row++) {
        const struct count count = count_of(job, stage, row, 1);
        take(&most, &count, stage->batches);
    }
    for (size_t i = 0; i < job->stage_count && job->unit == UNIT_ROUND; i++) {
        for (uint32_t within = 0; within < job->stage[i].batches; within++) {
            const struct round_rows shown = round_rows(&job->stage[i], within, 0);
            const struct count count = count_of(job, stage, shown.first + history, shown.count);
            take(&most, &count, stage->batches);
        }
    }
    return most;
}

struct setting {
    struct job job;
    struct stage stage[STAGES];
};

static void draw(struct setting *s, struct seeded_random *seeded)
{
    *s = (struct setting){
        .job = {.unit = seeded_random_below(seeded, 2) == 0 ? UNIT_RECORD : UNIT_ROUND,
                .stage = s->stage,
                .stage_count = 1 + seeded_random_below(seeded, STAGES)}};
    for (size_t lag = 1; lag < 14; lag++) {
        if (seeded_random_below(seeded, 5) == 0) {
            s->job.schema.lag[s->job.schema.lag_count++] = lag;
        }
    }
    for (size_t i = 0; i < s->job.stage_count; i++) {
        s->stage[i] = (struct stage){.task = TASK_UPDATE,
                                     .batch = 1 + (uint32_t)seeded_random_below(seeded, 9),
                                     .batches = 1 + (uint32_t)seeded_random_below(seeded, 12),
                                     .first = seeded_random_below(seeded, 3) *
                                              seeded_random_below(seeded, 8)};
        s->stage[i].rounds = s->stage[i].batches;
    }
}

Test(reach, no_unit_is_in_more_records_or_rounds_than_said_and_some_are_in_as_many)
{
    struct seeded_random seeded;
    int alone = 0;
    int reached = 0;
    int forgot = 0;
    seeded_random_init(&seeded, 91);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct setting s;
        draw(&s, &seeded);
        const uint64_t rows = job_records_min(&s.job) + schema_history(&s.job.schema) + 20;
        for (size_t i = 0; i < s.job.stage_count; i++) {
            const struct stage *stage = &s.stage[i];
            const struct reach reach = reach_of(&s.job, stage);
            const struct most most = most_of(&s.job, stage, rows);
            const double l2 = (double)reach_sensitivity(&reach, 1000, 0, true) / 1000;
            cr_assert(most.records <= reach.records && most.in_round <= reach.in_round &&
                          most.rounds <= reach.rounds,
                      "trial %d, stage %zu", trial, i);
            cr_assert_leq(most.squares, l2 * l2, "trial %d, stage %zu", trial, i);
            cr_assert_leq(reach.records, (uint64_t)stage->batch * stage->batches);
            /* Planted: a reach of one round's records. */
            forgot += s.job.unit == UNIT_ROUND && most.records > stage->batch ? 1 : 0;
            if (s.job.stage_count == 1) {
                alone++;
                reached += most.records == reach.records && most.rounds == reach.rounds &&
                                   most.in_round == reach.in_round
                               ? 1
                               : 0;
            }
        }
    }
    cr_expect_gt(reached, alone * 3 / 4, "no more than there is: %d of %d", reached, alone);
    cr_expect_gt(forgot, TRIALS / 4, "%d", forgot);
}

/* Half a million rounds: reckoned, not counted. */
Test(reach, a_row_is_in_its_own_record_and_in_one_for_each_lag)
{
    struct stage stage = {.task = TASK_UPDATE, .batch = 1, .batches = 500000, .rounds = 500000};
    struct job job = {.stage = &stage, .stage_count = 1};
    for (size_t i = 0; i < 32; i++) {
        job.schema.lag[job.schema.lag_count++] = i + 1;
    }
    for (int unit = UNIT_RECORD; unit <= UNIT_ROUND; unit++) {
        job.unit = (enum job_unit)unit;
        const struct reach reach = reach_of(&job, &stage);
        cr_expect(reach.records == 33 && reach.in_round == 1 && reach.rounds == 33);
        cr_expect_eq(reach_sensitivity(&reach, 10, 0, false), 330);
        cr_expect_eq(reach_sensitivity(&reach, 10, 0, true), 58, "10 times the root of 33");
        cr_expect_eq(reach_sensitivity(&reach, 10, 3, false), 99);
        cr_expect_eq(reach_sensitivity(&reach, 10, 3, true), 18, "3 times the root of 33");
        cr_expect_eq(reach_sensitivity(&reach, UINT64_MAX / 30, 0, false), UINT64_MAX);
        cr_expect_eq(reach_sensitivity(&reach, UINT64_MAX / 3, 0, true), UINT64_MAX);
    }
    job.unit = UNIT_AGENT;
    const struct reach all = reach_of(&job, &stage);
    cr_expect(all.records == 1 && all.in_round == 1 && all.rounds == 1);
    cr_expect_eq(reach_passes(&job, &stage, 500000), 500000);
    cr_expect_eq(reach_pass(&job, &stage, 77), 77);
    job.unit = UNIT_ROUND;
    cr_expect_eq(reach_passes(&job, &stage, 500000), 1);
    cr_expect_eq(reach_pass(&job, &stage, 77), 0);
}
