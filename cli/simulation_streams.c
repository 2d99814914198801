/* `--streams`: a wide table, one column per agent, is dealt out by columns. Each agent gets its own
 * one under the name of the job's label, in units of its own public size, and the columns that the
 * job's features name; the last fifth of the days is held out of every stream. */

#include "cli/simulation.h"

#include "base/decimal.h"
#include "learn/csv.h"
#include "learn/dataset.h"
#include "learn/header.h"
#include "learn/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_LETTERS_MAX = 32 }; /* of an agent */

static bool field_is(const struct csv *csv, size_t field, const char *text)
{
    const struct slice slice = csv_field(csv, field);
    return slice.size == strlen(text) && memcmp(slice.data, text, slice.size) == 0;
}

static enum status cannot_open(struct simulation *simulation, const char *path)
{
    why_set(&simulation->why, "%s: %s", path, strerror(errno));
    return STATUS_NOT_FOUND;
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

static enum status take_line(struct simulation *simulation, const struct csv *csv)
{
    struct simulation_stream *stream = &simulation->stream[simulation->agent_count];
    const struct slice name = csv_field(csv, 0);

    if (csv_field_count(csv) != 2 || !is_name(name) ||
        decimal_cell(&stream->unit, csv_field(csv, 1)) != STATUS_OK || !(stream->unit > 0)) {
        why_set(&simulation->why,
                "%s: line %zu: write the name of a column of the data, at most 32 letters, "
                "digits, '.', '_' and '-', a comma, and its unit, a number above 0",
                simulation->streams_path, csv_line(csv));
        return STATUS_INVALID;
    }
    if (simulation->agent_count == SIMULATION_AGENTS_MAX) {
        why_set(&simulation->why, "%s: at most %d streams", simulation->streams_path,
                (int)SIMULATION_AGENTS_MAX);
        return STATUS_INVALID;
    }
    memcpy(stream->column, name.data, name.size);
    for (size_t i = 0; i < name.size; i++) {
        stream->name[i] = (char)tolower((unsigned char)stream->column[i]);
    }
    for (size_t i = 0; i < simulation->agent_count; i++) {
        if (strcmp(simulation->stream[i].name, stream->name) == 0) {
            why_set(&simulation->why, "%s: line %zu: this stream stands there twice",
                    simulation->streams_path, csv_line(csv));
            return STATUS_INVALID;
        }
    }
    simulation->agent_count++;
    return STATUS_OK;
}

static enum status read_list(struct simulation *simulation)
{
    struct csv *csv = NULL;
    bool done = false;
    FILE *file = NULL;
    enum status status = table_open(&file, simulation->streams_path, &simulation->why);
    if (status != STATUS_OK) {
        return status;
    }
    status = csv_new(&csv, file, simulation->streams_path, ',');
    if (status == STATUS_OK) {
        status = csv_next(csv, &done, &simulation->why);
    }
    if (status == STATUS_OK && (done || csv_field_count(csv) != 2 || !field_is(csv, 0, "stream") ||
                                !field_is(csv, 1, "unit"))) {
        why_set(&simulation->why, "%s: its first line must be `stream,unit`",
                simulation->streams_path);
        status = STATUS_INVALID;
    }
    while (status == STATUS_OK && !done) {
        status = csv_next(csv, &done, &simulation->why);
        if (status == STATUS_OK && !done) {
            status = take_line(simulation, csv);
        }
    }
    csv_free(csv);
    (void)fclose(file);
    return status;
}

/* Reads one column as an agent will, but for its unit. */
static enum status check_stream(struct simulation *simulation, const char *name)
{
    struct schema schema = {.column_count = 0};
    struct dataset data = {.record_count = 0};
    FILE *file = NULL;
    enum status status = table_open(&file, simulation->data, &simulation->why);
    if (status != STATUS_OK) {
        return status;
    }
    status = schema_copy(&schema, &simulation->job.schema);
    if (status == STATUS_OK) {
        (void)snprintf(schema.label.name, sizeof schema.label.name, "%s", name);
        status = dataset_read(&data, file, simulation->data, &schema,
                              &(struct dataset_options){.use = DATASET_LEARN}, &simulation->why);
    }
    simulation->record_count = data.record_count;
    dataset_free(&data);
    schema_free(&schema);
    (void)fclose(file);
    return status;
}

enum status simulation_streams_load(struct simulation *simulation)
{
    if (!schema_is_series(&simulation->job.schema)) {
        why_set(&simulation->why,
                "%s: --streams deals out columns of days, and this job is about no series: add "
                "data.series, or leave --streams out",
                simulation->job_path);
        return STATUS_INVALID;
    }
    simulation->agent_count = 0;
    simulation->stream = calloc(SIMULATION_AGENTS_MAX + 1, sizeof *simulation->stream);
    enum status status = simulation->stream == NULL ? STATUS_NO_MEMORY : read_list(simulation);
    for (size_t i = 0; i < simulation->agent_count && status == STATUS_OK; i++) {
        status = check_stream(simulation, simulation->stream[i].column);
    }
    if (status == STATUS_OK && simulation->agent_count == 0) {
        why_set(&simulation->why, "%s: it names no stream", simulation->streams_path);
        return STATUS_INVALID;
    }
    return status;
}

/* The wide table while it is dealt out. */
struct dealing {
    struct csv *csv;
    size_t *field; /* (agent_count + column_count) of the streams, then of the job's features */
    FILE *share[SIMULATION_AGENTS_MAX];
    FILE *held[SIMULATION_AGENTS_MAX];
};

static enum status read_header(struct simulation *simulation, struct dealing *dealing)
{
    const struct schema *schema = &simulation->job.schema;
    const size_t streams = simulation->agent_count;
    bool done = false;
    enum status status = csv_next(dealing->csv, &done, &simulation->why);
    const struct header header = {.csv = dealing->csv,
                                  .name = simulation->data,
                                  .asked_by = "the list of streams or the job",
                                  .dictionary = "the data dictionary",
                                  .field_count =
                                      status == STATUS_OK ? csv_field_count(dealing->csv) : 0};
    for (size_t i = 0; i < streams + schema->column_count && status == STATUS_OK; i++) {
        status = header_need(&dealing->field[i], &header,
                             i < streams ? simulation->stream[i].column
                                         : schema->column[i - streams].name,
                             &simulation->why);
    }
    return status;
}

static enum status open_shares(struct simulation *simulation, struct dealing *dealing)
{
    const struct schema *schema = &simulation->job.schema;
    char path[SIMULATION_PATH_BYTES];
    if (!simulation_path(simulation, path, "held-out") || mkdir(path, 0700) != 0) {
        return cannot_open(simulation, simulation->out);
    }
    for (size_t i = 0; i < 2 * simulation->agent_count; i++) {
        const size_t agent = i / 2;
        FILE **file = i % 2 == 0 ? &dealing->share[agent] : &dealing->held[agent];
        bool fits = i % 2 == 0 ? simulation_path(simulation, path, "agents/%s/data.csv",
                                                 simulation->stream[agent].name)
                               : simulation_held_path(simulation, path, agent);
        *file = fits ? fopen(path, "wbxe") : NULL;
        if (*file == NULL) {
            return cannot_open(simulation, path);
        }
        (void)fputs(schema->label.name, *file);
        for (size_t c = 0; c < schema->column_count; c++) {
            (void)fprintf(*file, ",%s", schema->column[c].name);
        }
        (void)fputc('\n', *file);
    }
    return STATUS_OK;
}

/* One day: every stream's own entry, empty where it is no number, and the features of the day that
 * all have. */
static enum status deal_day(struct simulation *simulation, struct dealing *dealing, bool held)
{
    const size_t streams = simulation->agent_count;
    for (size_t i = 0; i < streams; i++) {
        FILE *file = held ? dealing->held[i] : dealing->share[i];
        double value = 0;
        if (decimal_cell(&value, csv_field(dealing->csv, dealing->field[i])) == STATUS_OK) {
            (void)fprintf(file, "%.9g", value / simulation->stream[i].unit);
        }
        for (size_t c = 0; c < simulation->job.schema.column_count; c++) {
            const struct slice text = csv_field(dealing->csv, dealing->field[streams + c]);
            if (memchr(text.data, ',', text.size) != NULL ||
                memchr(text.data, '"', text.size) != NULL) {
                why_set(&simulation->why, "%s: line %zu: a feature with commas or quotes",
                        simulation->data, csv_line(dealing->csv));
                return STATUS_INVALID;
            }
            (void)fprintf(file, ",%.*s", (int)text.size, (const char *)text.data);
        }
        (void)fputc('\n', file);
    }
    return STATUS_OK;
}

static enum status deal(struct simulation *simulation, struct dealing *dealing)
{
    const size_t days = simulation->record_count + schema_history(&simulation->job.schema);
    enum status status = read_header(simulation, dealing);
    bool done = false;
    if (status == STATUS_OK) {
        status = open_shares(simulation, dealing);
    }
    for (size_t day = 0; status == STATUS_OK && !done; day++) {
        status = csv_next(dealing->csv, &done, &simulation->why);
        if (status == STATUS_OK && !done) {
            status = deal_day(simulation, dealing, day >= days - simulation->held_count);
        }
    }
    return status;
}

static enum status close_share(struct simulation *simulation, FILE *file, enum status status)
{
    bool failed = file != NULL && ferror(file) != 0;
    failed = (file != NULL && fclose(file) != 0) || failed;
    if (failed && status == STATUS_OK) {
        why_set(&simulation->why, "%s: the shares cannot be written", simulation->out);
        return STATUS_IO;
    }
    return status;
}

enum status simulation_streams_split(struct simulation *simulation)
{
    struct dealing *dealing = calloc(1, sizeof *dealing);
    FILE *file = NULL;
    enum status status = table_open(&file, simulation->data, &simulation->why);

    if (status != STATUS_OK || dealing == NULL) {
        status = status == STATUS_OK ? STATUS_NO_MEMORY : status;
        goto done;
    }
    status = STATUS_NO_MEMORY;
    dealing->field = calloc(simulation->agent_count + simulation->job.schema.column_count,
                            sizeof *dealing->field);
    if (dealing->field != NULL) {
        status = csv_new(&dealing->csv, file, simulation->data, 0);
    }
    if (status == STATUS_OK) {
        const mode_t mask = umask(077);
        status = deal(simulation, dealing);
        (void)umask(mask);
    }
    for (size_t i = 0; i < simulation->agent_count; i++) {
        status = close_share(simulation, dealing->share[i], status);
        status = close_share(simulation, dealing->held[i], status);
    }
    csv_free(dealing->csv);
    free(dealing->field);
done:
    if (file != NULL) {
        (void)fclose(file);
    }
    free(dealing);
    return status;
}
