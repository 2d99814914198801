#include "job/round.h"

#include "base/check.h"
#include "config/config.h"
#include "job/reach.h"
#include "job/trust.h"
#include "task/task.h"

enum round_input round_input(const struct stage *stage, uint32_t within)
{
    const struct task_bounds *kind = task_bounds(stage->task);
    return kind->input_of == NULL ? kind->input : kind->input_of(stage, within);
}

size_t round_state_count(const struct stage *stage)
{
    const struct task_bounds *kind = task_bounds(stage->task);
    return kind->state_count == NULL ? round_stage_width(stage) : kind->state_count(stage);
}

unsigned round_input_bytes(const struct stage *stage, uint32_t within)
{
    return stage->state_is_short && round_input(stage, within) == INPUT_STATE ? 4 : 8;
}

bool round_is_drawn(const struct job *job, const struct stage *stage)
{
    return trust_of(job)->exact_answers && task_bounds(stage->task)->is_drawn;
}

const struct round_plays *round_plays(const struct stage *stage)
{
    const struct task_bounds *kind = task_bounds(stage->task);
    return kind->plays == NULL ? NULL : kind->plays(stage);
}

const struct query_set *round_queries(const struct stage *stage)
{
    static const struct query_set none;
    const struct task_bounds *kind = task_bounds(stage->task);
    return kind->queries == NULL ? &none : kind->queries(stage);
}

bool round_takes_smoothly(const struct job *job, size_t column)
{
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct query_set *set = round_queries(&job->stage[i]);
        for (size_t j = 0; j < set->count; j++) {
            if (query_takes_smoothly(&set->query[j], column)) {
                return true;
            }
        }
    }
    return false;
}

const struct hedge_run *round_game(const struct stage *stage, uint64_t play)
{
    const struct round_plays *plays = round_plays(stage);
    return hedge_run_at(plays->game, plays->game_count, play);
}

size_t round_width(const struct job *job)
{
    return schema_output_count(&job->schema) * schema_feature_count(&job->schema);
}

size_t round_stage_width(const struct stage *stage)
{
    return schema_output_count(&stage->schema) * stage->block.count;
}

size_t round_answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                          size_t expert_count)
{
    const struct round_asked asked = {
        .job = job, .stage = stage, .within = within, .experts = expert_count};
    const struct task_bounds *task = task_bounds(stage->task);
    return task->answer_count == NULL ? round_stage_width(stage) : task->answer_count(&asked);
}

struct round_groups round_groups(const struct stage *stage, uint32_t within)
{
    const struct task_bounds *bounds = task_bounds(stage->task);
    return bounds->groups != NULL ? bounds->groups(stage, within)
                                  : (struct round_groups){.count = 1};
}

/* Every other one of five: of 5, 6, 7, 8, 9 and 10 agents that follow one another 2, 2, 3, 3, 4 and 4 come second. */
static uint32_t turn_of(uint32_t slot)
{
    return slot % ROUND_TURN_SLOTS % ROUND_TURNS;
}

bool round_is_turn(const struct stage *stage, uint32_t within, uint32_t slot)
{
    return stage->turns == 0 || within % stage->turns == turn_of(slot);
}

/* How many of five slots it is the turn of. */
static uint32_t slots_of(uint32_t turn)
{
    const uint32_t of_first = (ROUND_TURN_SLOTS + 1) / ROUND_TURNS;
    return turn == 0 ? of_first : ROUND_TURN_SLOTS - of_first;
}

uint32_t round_turn_slot(uint32_t turn, uint32_t place)
{
    const uint32_t each = slots_of(turn);
    return place / each * ROUND_TURN_SLOTS + place % each * ROUND_TURNS + turn;
}

uint32_t round_group(const struct stage *stage, uint32_t within, uint32_t slot)
{
    const uint32_t groups = (uint32_t)round_groups(stage, within).count;
    const uint32_t each = slots_of(turn_of(slot));
    const uint32_t place =
        stage->turns == 0 ? slot
                          : slot / ROUND_TURN_SLOTS * each + slot % ROUND_TURN_SLOTS / ROUND_TURNS;
    return place % groups;
}

enum status round_bounds(struct round_bounds *out, const struct job *job, const struct stage *stage,
                         uint32_t within, uint64_t record_count, size_t expert_count,
                         struct why *why)
{
    const struct round_asked asked = {.job = job,
                                      .stage = stage,
                                      .within = within,
                                      .records = trust_of(job)->one_noise ? job_records_min(job)
                                                                          : record_count,
                                      .experts = expert_count,
                                      .why = why};
    *out = (struct round_bounds){0};
    enum status status = task_bounds(stage->task)->bounds(out, &asked);
    if (status != STATUS_OK) {
        return status;
    }
    struct reach reach = reach_of(job, stage);
    if (task_bounds(stage->task)->draws_means && round_is_drawn(job, stage) &&
        job->unit != UNIT_RECORD) {
        reach.records = reach.rounds;
    }
    out->sensitivity = reach_sensitivity(&reach, out->sensitivity, 2 * out->norm_max,
                                         stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN &&
                                             !round_is_drawn(job, stage));
    return STATUS_OK;
}

/* For masked sums with more survivors than it takes, a part of a noise more, rounded up. */
static uint32_t noises_of(const struct job *job, size_t agents)
{
    const uint64_t survivors = agents > job->honest ? agents : job->honest;
    if (trust_of(job)->masked) {
        return (uint32_t)((survivors + job->honest - 1) / job->honest);
    }
    return trust_of(job)->one_noise ? 1 : (uint32_t)agents;
}

struct query_noise round_noise(const struct job *job, const struct stage *stage,
                               const struct round_bounds *bounds, size_t agents)
{
    const struct charge *charge = &stage->charge;
    const bool gaussian = charge->mechanism == MECHANISM_DISCRETE_GAUSSIAN;
    return (struct query_noise){
        .is_gaussian = gaussian,
        .scale = gaussian ? (double)bounds->sensitivity * (double)charge->sigma_micro * 1e-6
                          : (double)bounds->sensitivity * 1e6 / (double)charge->epsilon_micro,
        .draws = noises_of(job, agents),
        .whole_noises = trust_of(job)->masked && agents > job->honest
                            ? (double)agents / (double)job->honest
                            : 0};
}

struct round_rows round_rows(const struct stage *stage, uint32_t within, uint64_t record_count)
{
    const struct task_bounds *kind = task_bounds(stage->task);
    if (kind->rows != NULL) {
        return kind->rows(stage, within);
    }
    if (stage->batch == 0) {
        return (struct round_rows){0, record_count};
    }
    const uint64_t before = (uint64_t)(within % stage->batches) * stage->batch;
    return (struct round_rows){stage->first + before, stage->batch};
}

uint64_t round_records(const struct stage *stage)
{
    const struct round_rows last = round_rows(stage, stage->batches - 1, 0);
    return last.first + last.count;
}

/* The least m with floor(m s) >= 1, and with first + batches floor(m s) <= m. */
uint64_t round_records_least(const struct stage *stage)
{
    const uint64_t share = stage->batch_nano;
    if (share == 0) {
        return round_records(stage);
    }
    const uint64_t left = PORTION_ONE - share * stage->batches; /* stage_take_batch: not below 0 */
    const uint64_t one = round_records_of(stage, 1);
    const uint64_t behind =
        stage->first == 0 ? 0 : (stage->first * PORTION_ONE + left - 1) / left; /* 10^18 at most */
    return one > behind ? one : behind;
}

uint32_t round_batch(const struct stage *stage, uint64_t record_count)
{
    if (stage->batch_nano == 0) {
        return stage->batch;
    }
    const uint64_t most = stage->records_most;
    const uint64_t records = record_count < most ? record_count : most;
    return (uint32_t)(records * stage->batch_nano / PORTION_ONE);
}

uint64_t round_records_of(const struct stage *stage, uint64_t batch)
{
    CHECK(stage->batch_nano > 0);
    return (batch * PORTION_ONE + stage->batch_nano - 1) / stage->batch_nano;
}

struct stage round_stage_at(const struct stage *stage, uint64_t record_count)
{
    struct stage at = *stage;
    at.batch = round_batch(stage, record_count);
    return at;
}

uint32_t round_distinct(const struct stage *stage)
{
    return task_bounds(stage->task)->rounds_differ ? stage->rounds : 1;
}

struct cost round_cost(const struct job *job, const struct filter *filter, uint32_t rounds)
{
    struct cost sums = {0};
    for (size_t i = 0; i < job->stage_count && rounds > 0; i++) {
        const struct stage *stage = &job->stage[i];
        uint32_t within = rounds < stage->rounds ? rounds : stage->rounds;
        sums = cost_add(sums, reach_cost(job, stage, filter, within));
        rounds -= within;
    }
    return sums;
}

uint64_t round_epsilon_micro(const struct job *job, const struct cost *sums)
{
    return filter_epsilon(&job->filter, sums);
}
