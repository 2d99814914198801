#include "cli/simulation.h"

#include "report/file.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEDGER_BYTES_MAX = 16 * 1024 * 1024 };

static enum status read_result(struct simulation *simulation)
{
    char path[SIMULATION_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    enum status status = STATUS_NO_MEMORY;

    if (simulation_path(simulation, path, "coordinator/out/result.json")) {
        status = file_read(&text, &size, path, RESULT_FILE_BYTES_MAX, &simulation->why);
    }
    if (status == STATUS_OK) {
        status = result_from_json(&simulation->result, (struct slice){text, size}, path,
                                  &simulation->why);
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

/* What the job's charges come to at its end, which was fixed beforehand; and by how much what all
 * charges come to may still grow. A Gaussian charge has no pure epsilon that could be summed. */
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

/* The job's name in every journal, by which each agent orders its rows. */
static void read_job_id(struct simulation *simulation, const json_t *ledger)
{
    const json_t *first = json_array_get(json_object_get(ledger, "jobs"), 0);
    const char *hex = json_string_value(json_object_get(first, "job"));
    if (hex != NULL && strlen(hex) == (size_t)2 * DIGEST_BYTES) {
        simulation->knows_id = hex_decode(simulation->job_id.byte, DIGEST_BYTES, hex) == STATUS_OK;
    }
}

static enum status read_ledger(struct simulation *simulation, struct result_agent *agent,
                               char *text)
{
    char path[SIMULATION_PATH_BYTES];
    char config[SIMULATION_PATH_BYTES];
    char *const argument[] = {path,   (char[]){"ledger"}, (char[]){"--config"},
                              config, (char[]){"--json"}, NULL};

    enum status status = children_program(path, sizeof path, "hedgerow-agent", &simulation->why);
    if (status == STATUS_OK &&
        !simulation_path(simulation, config, "agents/%s/agent.yml", agent->name)) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        status = children_output(text, LEDGER_BYTES_MAX, argument, &simulation->why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    json_t *ledger = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    read_balance(agent, ledger);
    read_job_id(simulation, ledger);
    json_decref(ledger);
    if (!isfinite(agent->epsilon_spent) || !isfinite(agent->epsilon_left)) {
        why_set(&simulation->why, "the ledger of %s does not say what was spent and left: %s",
                agent->name, config);
        return STATUS_CORRUPT;
    }
    return STATUS_OK;
}

static const struct result_agent *find(const struct result_agent *agent, size_t count,
                                       const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(agent[i].name, name) == 0) {
            return &agent[i];
        }
    }
    return NULL;
}

/* The coordinator knows who answered; the simulator knows who exists. An agent that never answered
 * may still have spent: what it committed and nobody counted. */
static enum status list_agents(struct simulation *simulation)
{
    struct result *result = &simulation->result;
    struct result_agent *all = calloc(simulation->agent_count + 1, sizeof *all);
    if (all == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < simulation->agent_count; i++) {
        char name[CHILD_NAME_BYTES];
        simulation_agent_name(simulation, name, i);
        (void)snprintf(all[i].name, sizeof all[i].name, "%s", name);
        const struct result_agent *known = find(result->agent, result->agent_count, all[i].name);
        if (known != NULL) {
            all[i] = *known;
        }
    }
    free(result->agent);
    result->agent = all;
    result->agent_count = simulation->agent_count;
    return STATUS_OK;
}

enum status simulation_collect(struct simulation *simulation)
{
    char *text = malloc(LEDGER_BYTES_MAX);
    enum status status = text == NULL ? STATUS_NO_MEMORY : read_result(simulation);

    if (status == STATUS_OK) {
        status = list_agents(simulation);
    }
    for (size_t i = 0; i < simulation->result.agent_count && status == STATUS_OK; i++) {
        status = read_ledger(simulation, &simulation->result.agent[i], text);
    }
    simulation->result.simulated = true;
    simulation->result.has_seed = simulation->seeded;
    simulation->result.seed = simulation->seed;
    simulation->result.private = simulation->result.private && !simulation->seeded;
    free(text);
    return status;
}
