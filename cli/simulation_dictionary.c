/* Each agent's data dictionary, as `hedgerow-agent describe` drafts it, of all of its records: there is
 * nobody here who could correct it, and nothing to hide from. */

#include "cli/simulation.h"

#include "describe/describe.h"
#include "dictionary/dictionary.h"
#include "report/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum status judge(struct simulation *simulation, const char *text, const char *path)
{
    struct dictionary dictionary;
    struct why why = {{0}};
    enum status status =
        dictionary_parse(&dictionary, (struct slice){text, strlen(text)}, path, &simulation->why);
    if (status != STATUS_OK) {
        return status;
    }
    status = dictionary_judge(&dictionary, &simulation->job, &why);
    if (status != STATUS_OK) {
        why_set(&simulation->why, "%s, drafted from the records, does not suit the job: %.300s",
                path, why.text);
    }
    dictionary_free(&dictionary);
    return status;
}

enum status simulation_dictionary(struct simulation *simulation, const char *folder)
{
    const struct describe_options options = {.exact = true, .only = &simulation->job.schema};
    char data[SIMULATION_PATH_BYTES];
    char path[SIMULATION_PATH_BYTES];
    char *text = NULL;
    struct describe_counts counts;

    if (!simulation_path(simulation, data, "%s/data.csv", folder) ||
        !simulation_path(simulation, path, "%s/data.yml", folder)) {
        return STATUS_NO_MEMORY;
    }
    FILE *file = fopen(data, "rbe");
    if (file == NULL) {
        why_set(&simulation->why, "%s: %s", data, strerror(errno));
        return STATUS_IO;
    }
    enum status status = describe_table(&text, &counts, file, data, &options, &simulation->why);
    (void)fclose(file);
    if (status == STATUS_OK) {
        status = judge(simulation, text, path);
    }
    if (status == STATUS_OK) {
        status = file_write(path, (struct slice){text, strlen(text)}, 0600, &simulation->why);
    }
    free(text);
    return status;
}
