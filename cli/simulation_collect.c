/* What a simulation left behind: the coordinator's result, the agents' ledgers, the tables. And the questions
 * asked without noise: the same rows, the same cells, the same arithmetic on released sums, but on exact ones.
 * Only the simulator holds the records of all, and only it may. A quantile is halved as often as the released
 * one, from exact comparisons. */

#include "cli/simulation.h"

#include "base/file.h"
#include "job/round.h"
#include "learn/permutation.h"
#include "query/query_run.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEDGER_BYTES_MAX = 16 * 1024 * 1024 };

static enum status read_result(struct result *result, const char *out, struct why *why)
{
    char path[SIMULATION_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    simulation_path(path, out, "coordinator/out/result.json");
    enum status status = file_read(&text, &size, path, RESULT_FILE_BYTES_MAX, why);
    if (status == STATUS_OK) {
        status = result_from_json(result, (struct slice){text, size}, path, why);
    }
    free(text);
    return status;
}

/* An amount that an agent prints with six decimals at most: as the nearest of those. */
static double epsilon_of(const json_t *ledger, const char *part)
{
    const json_t *amount = json_object_get(json_object_get(ledger, part), "epsilon");
    return json_is_number(amount) ? round(json_number_value(amount) * 1e6) / 1e6 : NAN;
}

/* The epsilon of the job's charges at its end, which was fixed beforehand, and by how much the
 * epsilon of all charges may still grow. A Gaussian charge has no pure epsilon that could be
 * summed. */
static void read_balance(struct result_agent *agent, const json_t *ledger)
{
    const json_t *job = json_array_get(json_object_get(ledger, "jobs"), 0);
    const json_t *spent = job != NULL ? job : ledger; /* it has answered nothing */
    const json_t *delta = json_object_get(json_object_get(spent, "at_end"), "delta");
    agent->epsilon_spent = epsilon_of(spent, "at_end");
    agent->delta_spent = json_is_number(delta) ? json_number_value(delta) : NAN;
    agent->epsilon_left = fmax(0, epsilon_of(ledger, "limit") - epsilon_of(ledger, "at_end"));
    agent->epsilon_left = round(agent->epsilon_left * 1e6) / 1e6;
}

/* Reads one agent's ledger into its line of the result. *ledger: owned by the caller; text: room for it. */
static enum status read_ledger(json_t **ledger, struct result_agent *agent, char *text,
                               const char *out, struct why *why)
{
    char path[SIMULATION_PATH_BYTES];
    char config[SIMULATION_PATH_BYTES];
    char *const argument[] = {path,   (char[]){"ledger"}, (char[]){"--config"},
                              config, (char[]){"--json"}, NULL};

    enum status status = children_program(path, sizeof path, "hedgerow-agent", why);
    simulation_path(config, out, "agents/%s/agent.yml", agent->name);
    if (status == STATUS_OK) {
        status = children_output(text, LEDGER_BYTES_MAX, argument, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    *ledger = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    read_balance(agent, *ledger);
    if (!isfinite(agent->epsilon_spent) || !isfinite(agent->epsilon_left)) {
        why_set(why, "the ledger of %s does not say what was spent and left: %s", agent->name,
                config);
        return STATUS_CORRUPT;
    }
    return STATUS_OK;
}

/* The job's name in every journal, by which each agent orders its rows. */
static bool read_job_id(struct digest *id, const json_t *ledger)
{
    const json_t *first = json_array_get(json_object_get(ledger, "jobs"), 0);
    const char *hex = json_string_value(json_object_get(first, "job"));
    return hex != NULL && strlen(hex) == (size_t)2 * DIGEST_BYTES &&
           hex_decode(id->byte, DIGEST_BYTES, hex) == STATUS_OK;
}

/* The coordinator knows only the agents that answered. An agent that never answered may have spent
 * too, for answers that it committed and nobody counted. */
static enum status list_agents(struct result *result, const struct simulation_plan *plan)
{
    struct result_agent *all = calloc(plan->agent_count, sizeof *all);
    if (all == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < plan->agent_count; i++) {
        (void)snprintf(all[i].name, sizeof all[i].name, "%s", plan->agent[i].name);
        for (size_t known = 0; known < result->agent_count; known++) {
            if (strcmp(result->agent[known].name, all[i].name) == 0) {
                all[i] = result->agent[known];
                break;
            }
        }
    }
    free(result->agent);
    result->agent = all;
    result->agent_count = plan->agent_count;
    return STATUS_OK;
}

enum status simulation_collect(struct result *result, struct digest *job_id, bool *knows_id,
                               const struct simulation_plan *plan, struct why *why)
{
    const struct simulation_request *asked = &plan->asked;
    char *text = malloc(LEDGER_BYTES_MAX);
    enum status status = text == NULL ? STATUS_NO_MEMORY : read_result(result, asked->out, why);

    if (status == STATUS_OK) {
        status = list_agents(result, plan);
    }
    for (size_t i = 0; i < result->agent_count && status == STATUS_OK; i++) {
        json_t *ledger = NULL;
        status = read_ledger(&ledger, &result->agent[i], text, asked->out, why);
        *knows_id = read_job_id(job_id, ledger) || *knows_id;
        json_decref(ledger);
    }
    result->simulated = true;
    result->has_seed = asked->seeded;
    result->seed = asked->seed;
    result->private = result->private && !asked->seeded;
    free(text);
    return status;
}

static enum status read_table(struct dataset *data, const char *path, const struct schema *schema,
                              struct why *why)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        why_set(why, "%s: %s", path, strerror(errno));
        return STATUS_IO;
    }
    enum status status = dataset_read(data, file, path, schema,
                                      &(struct dataset_options){.use = DATASET_LEARN}, why);
    (void)fclose(file);
    return status;
}

enum status simulation_records_read(struct simulation_records *records,
                                    const struct simulation_plan *plan, struct why *why)
{
    const struct schema *schema = &plan->job.schema;
    char path[SIMULATION_PATH_BYTES];
    records->share = calloc(plan->agent_count, sizeof *records->share);
    records->held = calloc(plan->held_files, sizeof *records->held);
    enum status status =
        records->share == NULL || records->held == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (size_t i = 0; i < plan->held_files && status == STATUS_OK; i++) {
        simulation_held_path(path, plan, i);
        status = read_table(&records->held[i], path, schema, why);
    }
    for (size_t i = 0; i < plan->agent_count && status == STATUS_OK; i++) {
        simulation_path(path, plan->asked.out, "agents/%s/data.csv", plan->agent[i].name);
        status = read_table(&records->share[i], path, schema, why);
    }
    return status;
}

void simulation_records_free(struct simulation_records *records, const struct simulation_plan *plan)
{
    for (size_t i = 0; records->share != NULL && i < plan->agent_count; i++) {
        dataset_free(&records->share[i]);
    }
    for (size_t i = 0; records->held != NULL && i < plan->held_files; i++) {
        dataset_free(&records->held[i]);
    }
    free(records->share);
    free(records->held);
    *records = (struct simulation_records){NULL, NULL};
}

/* The job's public order of each agent's rows; (agents) and each of them owned. */
static enum status draw_orders(size_t **order, const struct simulation_plan *plan,
                               const struct simulation_records *records,
                               const struct digest *job_id)
{
    for (size_t agent = 0; agent < plan->agent_count; agent++) {
        const size_t count = records->share[agent].record_count;
        order[agent] = calloc(count + 1, sizeof *order[agent]);
        if (order[agent] == NULL) {
            return STATUS_NO_MEMORY;
        }
        if (!schema_is_series(&plan->job.schema)) {
            permutation_draw(order[agent], count, job_id);
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            order[agent][i] = i;
        }
    }
    return STATUS_OK;
}

/* What is asked: all tables, each in its order. */
struct asked {
    const struct dataset *share; /* (agent_count) */
    size_t *order[SIMULATION_AGENTS_MAX];
    size_t agent_count;
    double *model; /* that the job ended with; NULL: none is asked about */
};

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
                                    .label = data->raw_label[at],
                                    .place = i,
                                    .model = asked->model,
                                    .feature = data->x + at * data->feature_count,
                                    .feature_count = data->feature_count};
            query_set_add(sum, round_queries(stage), within, threshold, &row);
        }
        record_count += rows.count;
    }
    return record_count;
}

/* How many answers and points of curves have their exact values. */
struct answered {
    size_t answers;
    size_t points;
};

static enum status point_stage(struct result *result, struct answered *used,
                               const struct query_run *run)
{
    const size_t count = query_run_point_count(run->set);
    struct query_point *point = calloc(count + 1, sizeof *point);
    if (point == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (used->points + count <= result->point_count) {
        query_run_points(point, run);
        for (size_t i = 0; i < count; i++) {
            result->point[used->points++].exact = point[i].value;
        }
    }
    free(point);
    return STATUS_OK;
}

/* Writes the stage's exact answers after the released ones, from *used on. */
static enum status answer_stage(struct result *result, struct answered *used,
                                const struct asked *asked, const struct stage *stage)
{
    const struct query_noise next_to_none = {.scale = 1e-9, .draws = 1};
    const size_t count = query_run_answer_count(round_queries(stage));
    struct query_answer *answer = calloc(count + 1, sizeof *answer);
    int64_t *sum = malloc((query_set_cells(round_queries(stage), 0) + 1) * sizeof *sum);
    struct query_run run = {0};
    enum status status = answer == NULL || sum == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    if (status == STATUS_OK) {
        status = query_run_init(&run, round_queries(stage));
    }
    for (uint32_t within = 0; within < stage->rounds && status == STATUS_OK; within++) {
        memset(sum, 0, query_set_cells(round_queries(stage), within) * sizeof *sum);
        const uint64_t records = add_all(sum, asked, stage, within, run.threshold);
        query_run_observe(&run, sum, &next_to_none, records);
    }
    if (status == STATUS_OK && used->answers + count <= result->answer_count) {
        query_run_answers(answer, &run);
        for (size_t i = 0; i < count; i++) {
            struct result_answer *released = &result->answer[used->answers++];
            /* A test that leaves out other categories, or times, is another test. */
            const bool is_same =
                strcmp(query_left_out(released->note), query_left_out(answer[i].note)) == 0;
            released->exact = is_same ? answer[i].value : NAN;
        }
        status = point_stage(result, used, &run);
    }
    query_run_free(&run);
    free(sum);
    free(answer);
    return status;
}

/* With an agent missing from a round the released answer is about other records than all. */
static bool all_answered(const struct result *result)
{
    for (size_t i = 0; i < result->round_count; i++) {
        if (result->round[i].failed || result->round[i].agents != result->agent_count) {
            return false;
        }
    }
    return true;
}

/* Whether the model that a stage asks about, if it does, is the one that the job ends with. */
static bool knows_model(const struct job *job, size_t index)
{
    bool is_last = true;
    for (size_t i = index + 1; i < job->stage_count; i++) {
        is_last = is_last && round_queries(&job->stage[i])->count > 0;
    }
    return is_last || !query_set_wants_model(round_queries(&job->stage[index]));
}

static enum status read_model(struct asked *asked, const struct result *result,
                              const struct simulation_plan *plan, struct why *why)
{
    bool wants = false;
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        wants = wants || query_set_wants_model(round_queries(&plan->job.stage[i]));
    }
    if (!wants || result->chosen == RESULT_NONE) {
        return STATUS_OK;
    }
    asked->model = calloc(asked->share[0].feature_count + 1, sizeof *asked->model);
    return asked->model == NULL ? STATUS_NO_MEMORY : simulation_chosen(asked->model, plan, 1, why);
}

enum status simulation_answers(struct result *result, const struct simulation_plan *plan,
                               const struct simulation_records *records,
                               const struct digest *job_id, struct why *why)
{
    struct asked asked = {.share = records->share, .agent_count = plan->agent_count};
    struct answered used = {0};

    if (result->answer_count == 0 || !all_answered(result)) {
        return STATUS_OK;
    }
    enum status status = read_model(&asked, result, plan, why);
    if (status == STATUS_OK) {
        status = draw_orders(asked.order, plan, records, job_id);
    }
    for (size_t i = 0; i < plan->job.stage_count && status == STATUS_OK; i++) {
        const struct query_set *set = round_queries(&plan->job.stage[i]);
        if (!knows_model(&plan->job, i)) { /* its answers have no exact ones */
            used.answers += query_run_answer_count(set);
            used.points += query_run_point_count(set);
        } else if (set->count > 0) {
            status = answer_stage(result, &used, &asked, &plan->job.stage[i]);
        }
    }
    for (size_t i = 0; i < plan->agent_count; i++) {
        free(asked.order[i]);
    }
    free(asked.model);
    return status;
}
