#include "job/reach.h"

#include "job/round.h"

#include <float.h>
#include <math.h>

/* Positions that a unit is in, for a unit whose first row is the record at 0: rising, apart. */
struct runs {
    struct round_rows run[SCHEMA_LAGS_MAX + 1];
    size_t count;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t end_of(struct round_rows rows)
{
    return rows.first + rows.count;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static struct runs runs_of(const struct schema *schema, uint64_t rows)
{
    struct runs runs = {.run = {{0, rows}}, .count = 1};
    for (size_t i = 0; i < schema->lag_count; i++) {
        struct round_rows *last = &runs.run[runs.count - 1];
        if (schema->lag[i] <= end_of(*last)) {
            last->count = schema->lag[i] + rows - last->first;
        } else {
            runs.run[runs.count++] = (struct round_rows){schema->lag[i], rows};
        }
    }
    return runs;
}

static uint64_t covered(const struct runs *runs, uint64_t first, uint64_t window)
{
    const uint64_t end = window > UINT64_MAX - first ? UINT64_MAX : first + window;
    uint64_t sum = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const uint64_t from = runs->run[i].first > first ? runs->run[i].first : first;
        const uint64_t to = least(end_of(runs->run[i]), end);
        sum += from < to ? to - from : 0;
    }
    return sum;
}

/* The most of the runs in that many neighbouring positions: a window that holds the most can be moved
 * until it begins or ends where a run does. */
static uint64_t most_within(const struct runs *runs, uint64_t window)
{
    uint64_t most = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const uint64_t end = end_of(runs->run[i]);
        const uint64_t left = covered(runs, runs->run[i].first, window);
        const uint64_t right = covered(runs, end > window ? end - window : 0, window);
        most = left > most ? left : most;
        most = right > most ? right : most;
    }
    return most;
}

/* Rounds of that many records that positions [x, x + rows.count) can be in, where x - rows.first is any
 * multiple of step, which divides the batch: the worst begin as late in their round as they can. */
static uint64_t rounds_met(struct round_rows rows, uint64_t batch, uint64_t step)
{
    return (batch - step + rows.first % step + rows.count - 1) / batch + 1;
}

/* Units of n rows that begin at shift, shift + step, .. from the pass's own beginning. */
static uint64_t rounds_of(const struct runs *runs, uint64_t batch, uint64_t step, uint64_t shift)
{
    const uint64_t end = end_of(runs->run[runs->count - 1]);
    uint64_t sum = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const struct round_rows run = {shift + runs->run[i].first, runs->run[i].count};
        sum += rounds_met(run, batch, step);
    }
    return least(sum, rounds_met((struct round_rows){shift, end}, batch, step));
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint32_t reach_pass_rounds(const struct job *job, const struct stage *stage)
{
    const bool add_up = job->unit == UNIT_AGENT && !round_is_drawn(job, stage);
    if (stage->turns > 0) { /* unit record alone, of a share of all */
        return stage->turns;
    }
    return add_up || stage->batches == 0 ? 1 : stage->batches;
}

static void take_larger(struct reach *reach, struct reach other)
{
    reach->records = other.records > reach->records ? other.records : reach->records;
    reach->in_round = other.in_round > reach->in_round ? other.in_round : reach->in_round;
    reach->rounds = other.rounds > reach->rounds ? other.rounds : reach->rounds;
}

/* One row, wherever it stands. */
static struct reach reach_of_row(const struct job *job, const struct stage *stage)
{
    const struct runs runs = runs_of(&job->schema, 1);
    const uint64_t batch = stage->batch;
    const uint64_t batches = reach_pass_rounds(job, stage);
    if (batch == 0) { /* looks at all records; bounded for a whole pass: online/bounds.c */
        const uint64_t all = most_within(&runs, UINT64_MAX);
        return (struct reach){all, all, 1};
    }
    if (stage->batch_nano > 0) { /* of any batch, so that all agents' noise is for one number */
        const uint64_t all = most_within(&runs, UINT64_MAX);
        return (struct reach){all, all, least(batches, all)};
    }
    const uint64_t records = most_within(&runs, batch * batches);
    const uint64_t rounds = least(rounds_of(&runs, batch, 1, 0), least(batches, records));
    return (struct reach){records, most_within(&runs, batch), rounds};
}

/* What `shown` shows in one round. Where its units stand against the cuts of the stage's batches
 * follows from both batches' common divisor; and they can only be where both look. */
static struct reach reach_of_round(const struct job *job, const struct stage *stage,
                                   const struct stage *shown)
{
    const struct runs runs = runs_of(&job->schema, shown->batch);
    const uint64_t batch = stage->batch;
    const uint64_t batches = reach_pass_rounds(job, stage);
    const uint64_t step = common_divisor(batch, shown->batch);
    const uint64_t back = (batch - stage->first % batch) % batch;
    const uint64_t first = stage->first > shown->first ? stage->first : shown->first;
    const uint64_t end =
        least(stage->first + batch * batches, round_records(shown) + schema_history(&job->schema));
    if (first >= end) {
        return (struct reach){0};
    }
    const uint64_t between = (end - 1 - stage->first) / batch - (first - stage->first) / batch + 1;
    const uint64_t records = least(most_within(&runs, batch * batches), end - first);
    const uint64_t rounds = rounds_of(&runs, batch, step, shown->first + back);
    return (struct reach){records, least(most_within(&runs, batch), records),
                          least(least(rounds, between), least(batches, records))};
}

struct reach reach_of(const struct job *job, const struct stage *stage)
{
    struct reach reach = {0};
    const uint64_t batches = reach_pass_rounds(job, stage);
    if (job->unit == UNIT_RECORD || stage->batch == 0) {
        return reach_of_row(job, stage);
    }
    if (job->unit == UNIT_AGENT) {
        return (struct reach){stage->batch * batches, stage->batch, batches};
    }
    reach = reach_of_round(job, stage, stage);
    if (schema_is_series(&job->schema)) {
        take_larger(&reach, reach_of_row(job, stage));
    }
    for (size_t i = 0; i < job->stage_count; i++) {
        if (job->stage[i].batch > 0) {
            take_larger(&reach, reach_of_round(job, stage, &job->stage[i]));
        }
    }
    return reach;
}

/* Rounded up: 4 ulps are more than the four roundings of the root. */
static uint64_t times_root(uint64_t a, double square)
{
    const double product = ceil((double)a * sqrt(square) * (1 + 4 * DBL_EPSILON));
    return product >= 0x1p64 ? UINT64_MAX : (uint64_t)product;
}

uint64_t reach_sensitivity(const struct reach *reach, uint64_t record, uint64_t whole, bool norm_2)
{
    uint64_t sum = times(record, reach->records);
    uint64_t clipped = times(whole, reach->rounds);
    if (norm_2 && reach->rounds > 1) {
        const uint64_t full = reach->records / reach->in_round;
        const double rest = (double)(reach->records % reach->in_round);
        const double each = (double)reach->in_round;
        sum = least(sum, times_root(record, (double)full * each * each + rest * rest));
        clipped = least(clipped, times_root(whole, (double)reach->rounds));
    }
    return whole > 0 ? least(sum, clipped) : sum;
}

uint32_t reach_pass(const struct job *job, const struct stage *stage, uint32_t within)
{
    return within - within % reach_pass_rounds(job, stage);
}

uint32_t reach_passes(const struct job *job, const struct stage *stage, uint32_t rounds)
{
    const uint32_t each = reach_pass_rounds(job, stage);
    return rounds / each + (rounds % each > 0);
}

/* A look by turns names other rows than a look of all. A coordinator may tell the same job as one of an earlier version, whose
 * sites look once: in one pass such rows would be paid for together. No pass of one look has that bit: it is a round, below
 * ROUNDS_MAX. */
#define PASS_OF_TURNS (UINT32_C(1) << 31)

struct charge reach_charge(const struct job *job, uint32_t round, uint64_t record_count,
                           uint32_t *pass)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(job, round, &within);
    const bool all = job->unit == UNIT_AGENT && reach_pass_rounds(job, stage) == 1;
    const struct round_rows rows =
        all ? (struct round_rows){0, record_count} : round_rows(stage, within, record_count);
    struct charge charge = stage->charge;
    charge.row_first = rows.first;
    charge.row_count = rows.count;
    *pass = round - within + reach_pass(job, stage, within);
    if (stage->turns > 0) {
        charge.row_first +=
            rows.count; /* after those of agents that were away before: reach_charge_away */
        *pass |= PASS_OF_TURNS;
    }
    return charge;
}

struct charge reach_charge_away(struct charge charge, uint32_t within)
{
    charge.row_first = within == 0 ? 0 : charge.row_first + charge.row_count * within;
    return charge;
}

struct cost reach_event_cost(const struct filter *filter, struct charge event)
{
    event.pass = (struct digest){{1}};
    event.row_first = 0;
    event.row_count = 1;
    return filter_cost(filter, &event);
}

struct cost reach_cost(const struct job *job, const struct stage *stage,
                       const struct filter *filter, uint32_t rounds)
{
    return cost_times(reach_event_cost(filter, stage->charge), reach_passes(job, stage, rounds));
}
