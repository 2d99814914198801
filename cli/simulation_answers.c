/* The questions asked without noise: the same rows, the same cells, the same arithmetic on released
 * sums, but on exact ones. Only the simulator holds the records of all, and only it may. A quantile
 * is halved as often as the released one, from exact comparisons. */

#include "cli/simulation.h"

#include "job/round.h"
#include "learn/dataset.h"
#include "learn/permutation.h"
#include "query/query_run.h"

#include <stdlib.h>
#include <string.h>

struct asked {
    struct dataset *share; /* (agent_count), owned */
    size_t **order;        /* (agent_count) the job's public order of each one's rows; owned */
    size_t agent_count;
};

static void asked_free(struct asked *asked)
{
    for (size_t i = 0; i < asked->agent_count; i++) {
        if (asked->share != NULL) {
            dataset_free(&asked->share[i]);
        }
        if (asked->order != NULL) {
            free(asked->order[i]);
        }
    }
    free(asked->share);
    free(asked->order);
    *asked = (struct asked){0};
}

static enum status draw_order(size_t **order, const struct simulation *simulation, size_t count)
{
    *order = calloc(count + 1, sizeof **order);
    if (*order == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (schema_is_series(&simulation->job.schema)) {
        for (size_t i = 0; i < count; i++) {
            (*order)[i] = i;
        }
    } else {
        permutation_draw(*order, count, &simulation->job_id);
    }
    return STATUS_OK;
}

static enum status read_share(struct simulation *simulation, struct dataset *data,
                              const char *agent)
{
    char path[SIMULATION_PATH_BYTES];
    if (!simulation_path(simulation, path, "agents/%s/data.csv", agent)) {
        return STATUS_NO_MEMORY;
    }
    return simulation_read(simulation, data, path);
}

static enum status asked_read(struct asked *asked, struct simulation *simulation)
{
    enum status status = STATUS_OK;
    asked->agent_count = simulation->agent_count;
    asked->share = calloc(asked->agent_count + 1, sizeof *asked->share);
    asked->order = calloc(asked->agent_count + 1, sizeof *asked->order);
    if (asked->share == NULL || asked->order == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < asked->agent_count && status == STATUS_OK; i++) {
        status = read_share(simulation, &asked->share[i], simulation->result.agent[i].name);
        if (status == STATUS_OK) {
            status = draw_order(&asked->order[i], simulation, asked->share[i].record_count);
        }
    }
    return status;
}

/* One round's exact sums over everybody. Returns how many records are in them. */
static uint64_t add_all(int64_t *sum, const struct asked *asked, const struct stage *stage,
                        uint32_t within, const double *threshold)
{
    uint64_t record_count = 0;
    for (size_t agent = 0; agent < asked->agent_count; agent++) {
        const struct dataset *data = &asked->share[agent];
        const struct round_rows rows = round_rows(stage, within, data->record_count);
        for (uint64_t i = rows.first; i < rows.first + rows.count; i++) {
            const size_t at = asked->order[agent][i];
            const struct row row = {.cell = data->raw + at * data->column_count,
                                    .column_count = data->column_count,
                                    .label = data->raw_label[at]};
            query_set_add(sum, &stage->queries, within, threshold, &row);
        }
        record_count += rows.count;
    }
    return record_count;
}

/* Writes the stage's exact answers behind the released ones, from *used on. */
static enum status answer_stage(struct result *result, size_t *used, const struct asked *asked,
                                const struct stage *stage)
{
    const struct query_noise next_to_none = {.scale = 1e-9, .draws = 1};
    const size_t count = query_run_answer_count(&stage->queries);
    struct query_answer *answer = calloc(count + 1, sizeof *answer);
    int64_t *sum = malloc((query_set_cells(&stage->queries, 0) + 1) * sizeof *sum);
    struct query_run run = {0};
    enum status status = answer == NULL || sum == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    if (status == STATUS_OK) {
        status = query_run_init(&run, &stage->queries);
    }
    for (uint32_t within = 0; within < stage->rounds && status == STATUS_OK; within++) {
        memset(sum, 0, query_set_cells(&stage->queries, within) * sizeof *sum);
        const uint64_t records = add_all(sum, asked, stage, within, run.threshold);
        query_run_observe(&run, sum, &next_to_none, records);
    }
    if (status == STATUS_OK && *used + count <= result->answer_count) {
        query_run_answers(answer, &run);
        for (size_t i = 0; i < count; i++) {
            result->answer[(*used)++].exact = answer[i].value;
        }
    }
    query_run_free(&run);
    free(sum);
    free(answer);
    return status;
}

/* With an agent missing from a round the released answer is about other records than all. */
static bool all_answered(const struct simulation *simulation)
{
    const struct result *result = &simulation->result;
    for (size_t i = 0; i < result->round_count; i++) {
        if (result->round[i].failed || result->round[i].agents != simulation->agent_count) {
            return false;
        }
    }
    return true;
}

enum status simulation_answers(struct simulation *simulation)
{
    struct asked asked = {0};
    size_t used = 0;
    enum status status = STATUS_OK;

    if (simulation->result.answer_count == 0 || !simulation->knows_id ||
        !all_answered(simulation)) {
        return STATUS_OK;
    }
    status = asked_read(&asked, simulation);
    for (size_t i = 0; i < simulation->job.stage_count && status == STATUS_OK; i++) {
        if (simulation->job.stage[i].task == TASK_QUERY) {
            status = answer_stage(&simulation->result, &used, &asked, &simulation->job.stage[i]);
        }
    }
    asked_free(&asked);
    return status;
}
