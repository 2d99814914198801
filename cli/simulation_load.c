/* What is checked here fails before any folder is touched or any process started.
 *
 * `--streams`: a wide table, one column per agent, is dealt out by columns. Each agent gets its own one under
 * the name of the job's label, in units of its own public size. */

#include "cli/simulation.h"

#include "base/check.h"
#include "base/decimal.h"
#include "base/text.h"
#include "config/config.h"
#include "describe/describe.h"
#include "describe/warnings.h"
#include "job/round.h"
#include "learn/csv.h"
#include "learn/table.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { HELD_OUT_ONE_IN = 5, NAME_LETTERS_MAX = 32 /* of a stream */ };

void simulation_path(char path[static SIMULATION_PATH_BYTES], const char *out, const char *format,
                     ...)
{
    va_list arguments;
    const int length = snprintf(path, SIMULATION_PATH_BYTES, "%s/", out);
    CHECK(length >= 0 && length < SIMULATION_PATH_BYTES);
    const size_t room = (size_t)(SIMULATION_PATH_BYTES - length);
    va_start(arguments, format);
    const int more = vsnprintf(path + length, room, format, arguments);
    va_end(arguments);
    CHECK(more >= 0 && (size_t)more < room);
}

void simulation_held_path(char path[static SIMULATION_PATH_BYTES],
                          const struct simulation_plan *plan, size_t file)
{
    if (plan->asked.streams_path != NULL) {
        simulation_path(path, plan->asked.out, "held-out/%s.csv", plan->agent[file].name);
    } else {
        simulation_path(path, plan->asked.out, "held-out.csv");
    }
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
static enum status find_data(struct simulation_plan *plan, struct why *why)
{
    char folder[SIMULATION_PATH_BYTES];
    size_t found = 0;
    const struct dirent *entry;

    if (plan->asked.data_path != NULL) {
        (void)snprintf(plan->data, sizeof plan->data, "%s", plan->asked.data_path);
        return STATUS_OK;
    }
    (void)snprintf(folder, sizeof folder, "%s", plan->asked.job_path);
    char *slash = strrchr(folder, '/');
    (void)snprintf(slash == NULL ? folder : slash, 2, "%s", slash == NULL ? "." : "");
    DIR *open_folder = opendir(folder[0] == '\0' ? "/" : folder);
    while (open_folder != NULL && (entry = readdir(open_folder)) != NULL) {
        if (is_table(entry->d_name)) {
            found++;
            if (snprintf(plan->data, sizeof plan->data, "%s/%s", folder, entry->d_name) >=
                (int)sizeof plan->data) {
                found = 0;
                break;
            }
        }
    }
    if (open_folder != NULL) {
        (void)closedir(open_folder);
    }
    if (found != 1) {
        why_set(why, "beside %s there %s: say which table to use with --data F.csv",
                plan->asked.job_path,
                found == 0 ? "is no *.csv or *.csv.gz" : "are several *.csv or *.csv.gz");
        return STATUS_NOT_FOUND;
    }
    return STATUS_OK;
}

static enum status load_job(struct simulation_plan *plan, struct why *why)
{
    const char *path = plan->asked.job_path;
    enum status status = config_load(&plan->job_text, &plan->job_size, path, why);
    for (size_t i = 0; i < plan->asked.set_count && status == STATUS_OK; i++) {
        char *changed = NULL;
        size_t size = 0;
        status = config_override(&changed, &size, (struct slice){plan->job_text, plan->job_size},
                                 path, plan->asked.set[i], why);
        if (status == STATUS_OK) {
            free(plan->job_text);
            plan->job_text = changed;
            plan->job_size = size;
        }
    }
    return status != STATUS_OK
               ? status
               : job_parse(&plan->job, (struct slice){plan->job_text, plan->job_size}, path, why);
}

static bool field_is(const struct csv *csv, size_t field, const char *text)
{
    const struct slice slice = csv_field(csv, field);
    return slice.size == strlen(text) && memcmp(slice.data, text, slice.size) == 0;
}

/* Streams name columns, folders and, in lower case, agents: letters, digits, '.', '_' and '-' will do
 * for all, a letter or digit first. */
static bool is_name(struct slice text)
{
    const char *at = text.data;
    bool good = text.size >= 1 && text.size <= NAME_LETTERS_MAX && isalnum((unsigned char)at[0]);
    for (size_t i = 0; good && i < text.size; i++) {
        good = isalnum((unsigned char)at[i]) || strchr("._-", at[i]) != NULL;
    }
    return good;
}

static enum status take_stream(struct simulation_plan *plan, const struct csv *csv, struct why *why)
{
    const char *path = plan->asked.streams_path;
    const struct slice name = csv_field(csv, 0);
    struct simulation_agent agent = {.unit = 0};

    if (csv_field_count(csv) != 2 || !is_name(name) ||
        decimal_cell(&agent.unit, csv_field(csv, 1)) != STATUS_OK || !(agent.unit > 0)) {
        return why_refuse(
            why,
            "%s: line %zu: write the name of a column of the data, at most 32 letters, "
            "digits, '.', '_' and '-', a comma, and its unit, a number above 0",
            path, csv_line(csv));
    }
    if (plan->agent_count == SIMULATION_AGENTS_MAX) {
        return why_refuse(why, "%s: at most %d streams", path, (int)SIMULATION_AGENTS_MAX);
    }
    memcpy(agent.column, name.data, name.size);
    for (size_t i = 0; i < name.size; i++) {
        agent.name[i] = (char)tolower((unsigned char)agent.column[i]);
    }
    for (size_t i = 0; i < plan->agent_count; i++) {
        if (strcmp(plan->agent[i].name, agent.name) == 0) {
            return why_refuse(why, "%s: line %zu: this stream stands there twice", path,
                              csv_line(csv));
        }
    }
    plan->agent[plan->agent_count++] = agent;
    return STATUS_OK;
}

static enum status read_streams(struct simulation_plan *plan, struct why *why)
{
    const char *path = plan->asked.streams_path;
    struct csv *csv = NULL;
    bool done = false;
    FILE *file = NULL;
    if (!schema_is_series(&plan->job.schema)) {
        return why_refuse(
            why,
            "%s: --streams splits a table of series, and this job has none: add data.series, or "
            "leave --streams out",
            plan->asked.job_path);
    }
    enum status status = table_open(&file, path, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = csv_new(&csv, file, path, ',');
    if (status == STATUS_OK) {
        status = csv_next(csv, &done, why);
    }
    if (status == STATUS_OK && (done || csv_field_count(csv) != 2 || !field_is(csv, 0, "stream") ||
                                !field_is(csv, 1, "unit"))) {
        status = why_refuse(why, "%s: its first line must be `stream,unit`", path);
    }
    while (status == STATUS_OK && !done) {
        status = csv_next(csv, &done, why);
        if (status == STATUS_OK && !done) {
            status = take_stream(plan, csv, why);
        }
    }
    csv_free(csv);
    (void)fclose(file);
    return status;
}

static void warn(const char *text)
{
    text_wrap(stderr, 0, 4, "WARNING: %s", text);
}

/* Tells of cells that the job can make nothing of. */
static enum status warn_of_data(const struct simulation_plan *plan, const struct dataset *data,
                                struct why *why)
{
    struct warnings warnings = {.say = warn};
    FILE *file = NULL;
    enum status status = STATUS_OK;
    warnings_of_columns(&warnings, data, &plan->job.schema);
    for (size_t i = 0; i < plan->job.schema.column_count && status == STATUS_OK; i++) {
        status = round_takes_smoothly(&plan->job, i)
                     ? warnings_of_heap(&warnings, data, &plan->job.schema, i)
                     : STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = table_open(&file, plan->data, why);
    }
    if (status == STATUS_OK) {
        status = warnings_of_label(&warnings, file, plan->data, &plan->job.schema.label,
                                   &(struct dataset_options){.use = DATASET_LEARN}, why);
        (void)fclose(file);
    }
    return status;
}

/* A data dictionary will be drafted from each agent's part: what cannot stand in one is told of the table. */
static enum status check_texts(const struct simulation_plan *plan, const struct schema *schema,
                               struct why *why)
{
    const struct describe_options options = {.only = schema};
    struct describe_counts counts;
    char *text = NULL;
    FILE *file = NULL;
    enum status status = table_open(&file, plan->data, why);
    if (status == STATUS_OK) {
        status = describe_table(&text, &counts, file, plan->data, &options, why);
        (void)fclose(file);
    }
    free(text);
    return status;
}

/* Reads the whole table once, as the agents will, but for a stream's unit; says what they will make of its
 * cells when all have the same columns. */
static enum status check_data(struct simulation_plan *plan, const char *column, struct why *why)
{
    struct schema schema = {.column_count = 0};
    struct dataset data = {.record_count = 0};
    FILE *file = NULL;
    enum status status = table_open(&file, plan->data, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = schema_copy(&schema, &plan->job.schema);
    if (status == STATUS_OK && column != NULL) {
        (void)snprintf(schema.label.name, sizeof schema.label.name, "%s", column);
    }
    if (status == STATUS_OK) {
        status = dataset_read(&data, file, plan->data, &schema,
                              &(struct dataset_options){.use = DATASET_LEARN}, why);
    }
    if (status == STATUS_OK && data.record_count >= DICTIONARY_RECORDS_MIN) {
        status = check_texts(plan, &schema, why);
    }
    if (status == STATUS_OK && column == NULL) {
        cells_show(stderr, "note: ", &data, schema_name_of, &schema);
        status = warn_of_data(plan, &data, why);
    }
    plan->record_count = data.record_count;
    dataset_free(&data);
    schema_free(&schema);
    (void)fclose(file);
    return status;
}

static enum status check_streams(struct simulation_plan *plan, struct why *why)
{
    enum status status = read_streams(plan, why);
    for (size_t i = 0; i < plan->agent_count && status == STATUS_OK; i++) {
        status = check_data(plan, plan->agent[i].column, why);
    }
    if (status == STATUS_OK && plan->agent_count == 0) {
        status = why_refuse(why, "%s: it names no stream", plan->asked.streams_path);
    }
    return status;
}

static enum status check_shares(struct simulation_plan *plan, struct why *why)
{
    const uint64_t wanted = job_records_min(&plan->job);
    plan->held_count = (plan->record_count + HELD_OUT_ONE_IN - 1) / HELD_OUT_ONE_IN;
    size_t share = plan->record_count - plan->held_count;
    /* A stretch of a series' days has no records for its first ones; the first days of all are not
     * counted among the records. */
    const size_t lost = schema_history(&plan->job.schema);
    if (plan->asked.streams_path == NULL) {
        share /= plan->agent_count;
        share = share > lost ? share - lost : 0;
    }
    share = lost == 0 || plan->held_count >= lost + 2 ? share : 0;
    if (share < wanted || share < 2) {
        char remedy[64] = "--set a smaller batch or share";
        if (wanted == plan->job.records_least && share >= 2) {
            (void)snprintf(remedy, sizeof remedy, "--set cohort.records=%zu", share);
        }
        return why_refuse(
            why,
            "%s: %zu records make %zu for each of %zu agents, after a fifth is held out, but the "
            "job wants %llu of each: use fewer agents, or %s",
            plan->data, plan->record_count, share, plan->agent_count,
            (unsigned long long)(wanted < 2 ? 2 : wanted), remedy);
    }
    return STATUS_OK;
}

enum status simulation_load(struct simulation_plan *plan, const struct simulation_request *request,
                            struct why *why)
{
    const bool streams = request->streams_path != NULL;
    *plan = (struct simulation_plan){.asked = *request};
    plan->agent = calloc(SIMULATION_AGENTS_MAX, sizeof *plan->agent);
    if (plan->agent == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < request->agent_count && !streams; i++) {
        (void)snprintf(plan->agent[i].name, CHILD_NAME_BYTES, "hospital-%zu", i + 1);
        plan->agent_count++;
    }
    enum status status = load_job(plan, why);
    if (status == STATUS_OK) {
        status = find_data(plan, why);
    }
    if (status == STATUS_OK) {
        status = streams ? check_streams(plan, why) : check_data(plan, NULL, why);
    }
    plan->held_files = streams ? plan->agent_count : 1;
    return status == STATUS_OK ? check_shares(plan, why) : status;
}

void simulation_plan_free(struct simulation_plan *plan)
{
    job_free(&plan->job);
    free(plan->agent);
    free(plan->job_text);
    *plan = (struct simulation_plan){.agent_count = 0};
}
