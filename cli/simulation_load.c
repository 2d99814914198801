/* What is checked here fails before any folder is touched or any process started. */

#include "cli/simulation.h"

#include "config/config.h"
#include "learn/cells.h"
#include "learn/csv.h"
#include "learn/dataset.h"
#include "learn/table.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { HELD_OUT_ONE_IN = 5 };

bool simulation_path(const struct simulation *simulation, char path[static SIMULATION_PATH_BYTES],
                     const char *format, ...)
{
    va_list arguments;
    int length = snprintf(path, SIMULATION_PATH_BYTES, "%s/", simulation->out);
    if (length < 0 || length >= SIMULATION_PATH_BYTES) {
        return false;
    }
    va_start(arguments, format);
    int more =
        vsnprintf(path + length, (size_t)(SIMULATION_PATH_BYTES - length), format, arguments);
    va_end(arguments);
    return more >= 0 && more < SIMULATION_PATH_BYTES - length;
}

void simulation_agent_name(const struct simulation *simulation, char name[static CHILD_NAME_BYTES],
                           size_t agent)
{
    if (simulation->stream != NULL) {
        (void)snprintf(name, CHILD_NAME_BYTES, "%s", simulation->stream[agent].name);
    } else {
        (void)snprintf(name, CHILD_NAME_BYTES, "hospital-%zu", agent + 1);
    }
}

size_t simulation_held_files(const struct simulation *simulation)
{
    return simulation->stream != NULL ? simulation->agent_count : 1;
}

bool simulation_held_path(const struct simulation *simulation,
                          char path[static SIMULATION_PATH_BYTES], size_t file)
{
    return simulation->stream != NULL
               ? simulation_path(simulation, path, "held-out/%s.csv", simulation->stream[file].name)
               : simulation_path(simulation, path, "held-out.csv");
}

static bool is_table(const char *name)
{
    static const char *const ending[] = {".csv", ".csv.gz"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        const size_t size = strlen(ending[i]);
        if (length > size && name[0] != '.' && strcmp(name + length - size, ending[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* A job does not name its data: every site has its own. Here it is the one table beside the job. */
static enum status find_data(struct simulation *simulation)
{
    char folder[SIMULATION_PATH_BYTES];
    size_t found = 0;
    const struct dirent *entry;

    if (simulation->data_path != NULL) {
        (void)snprintf(simulation->data, sizeof simulation->data, "%s", simulation->data_path);
        return STATUS_OK;
    }
    (void)snprintf(folder, sizeof folder, "%s", simulation->job_path);
    char *slash = strrchr(folder, '/');
    (void)snprintf(slash == NULL ? folder : slash, 2, "%s", slash == NULL ? "." : "");
    DIR *open_folder = opendir(folder[0] == '\0' ? "/" : folder);
    while (open_folder != NULL && (entry = readdir(open_folder)) != NULL) {
        if (is_table(entry->d_name)) {
            found++;
            int length =
                snprintf(simulation->data, sizeof simulation->data, "%s/%s", folder, entry->d_name);
            if (length >= (int)sizeof simulation->data) {
                found = 0;
                break;
            }
        }
    }
    if (open_folder != NULL) {
        (void)closedir(open_folder);
    }
    if (found != 1) {
        why_set(&simulation->why, "beside %s there %s: say which table to use with --data F.csv",
                simulation->job_path,
                found == 0 ? "is no *.csv or *.csv.gz" : "are several *.csv or *.csv.gz");
        return STATUS_NOT_FOUND;
    }
    return STATUS_OK;
}

static enum status load_job(struct simulation *simulation)
{
    enum status status = config_load(&simulation->job_text, &simulation->job_size,
                                     simulation->job_path, &simulation->why);
    for (size_t i = 0; i < simulation->set_count && status == STATUS_OK; i++) {
        char *changed = NULL;
        size_t size = 0;
        status = config_override(&changed, &size,
                                 (struct slice){simulation->job_text, simulation->job_size},
                                 simulation->job_path, simulation->set[i], &simulation->why);
        if (status == STATUS_OK) {
            free(simulation->job_text);
            simulation->job_text = changed;
            simulation->job_size = size;
        }
    }
    if (status == STATUS_OK) {
        status =
            job_parse(&simulation->job, (struct slice){simulation->job_text, simulation->job_size},
                      simulation->job_path, &simulation->why);
    }
    return status;
}

/* Reads the whole table once, as the agents will, and says what they will make of its cells. */
static enum status check_data(struct simulation *simulation)
{
    struct dataset data = {.record_count = 0};
    FILE *file = NULL;
    enum status status = table_open(&file, simulation->data, &simulation->why);
    if (status != STATUS_OK) {
        return status;
    }
    status = dataset_read(&data, file, simulation->data, &simulation->job.schema,
                          &(struct dataset_options){.use = DATASET_LEARN}, &simulation->why);
    simulation->record_count = data.record_count;
    if (status == STATUS_OK) {
        cells_show(stderr, "note: ", &data, &simulation->job.schema);
    }
    dataset_free(&data);
    (void)fclose(file);
    return status;
}

static enum status check_shares(struct simulation *simulation)
{
    uint64_t wanted = job_records_min(&simulation->job);
    simulation->held_count = (simulation->record_count + HELD_OUT_ONE_IN - 1) / HELD_OUT_ONE_IN;
    size_t share = simulation->record_count - simulation->held_count;
    /* A stretch of a series' days has no records for its first ones; the first days of all are not
     * counted among the records. */
    const size_t lost = schema_history(&simulation->job.schema);
    if (simulation->stream == NULL) {
        share /= simulation->agent_count;
        share = share > lost ? share - lost : 0;
    }
    share = lost == 0 || simulation->held_count >= lost + 2 ? share : 0;
    if (share < wanted || share < 2) {
        why_set(
            &simulation->why,
            "%s: %zu records make %zu for each of %zu agents, after a fifth is held out, but the "
            "job wants %llu of each: use fewer agents, or --set a smaller batch or share",
            simulation->data, simulation->record_count, share, simulation->agent_count,
            (unsigned long long)(wanted < 2 ? 2 : wanted));
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

enum status simulation_load(struct simulation *simulation)
{
    enum status status = load_job(simulation);
    if (status == STATUS_OK) {
        status = find_data(simulation);
    }
    if (status == STATUS_OK) {
        status = simulation->streams_path != NULL ? simulation_streams_load(simulation)
                                                  : check_data(simulation);
    }
    if (status == STATUS_OK) {
        status = check_shares(simulation);
    }
    return status;
}
