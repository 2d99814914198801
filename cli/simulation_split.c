#include "cli/simulation.h"

#include "crypto/digest.h"
#include "crypto/random.h"
#include "learn/csv.h"
#include "learn/permutation.h"
#include "learn/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum status split_seed(const struct simulation *simulation, struct digest *seed)
{
    if (simulation->seeded) {
        static const char purpose[] = "hedgerow simulate, split";
        uint8_t number[8];
        store_u64(number, simulation->seed);
        const struct slice part[] = {{purpose, sizeof purpose}, {number, sizeof number}};
        digest_sha256(seed, part, 2);
        return STATUS_OK;
    }
    struct random_source *source = random_source_new();
    if (source == NULL) {
        return STATUS_NO_RANDOM;
    }
    const struct random random = random_source_interface(source);
    enum status status = random_fill(&random, seed->byte, sizeof seed->byte);
    random_source_free(source);
    return status;
}

/* The first of a random order are held out, the others dealt out in turn: shares differ by at most
 * one record. Which share a record goes to does not depend on what is in it. */
static enum status deal_records(const struct simulation *simulation, size_t *share_of)
{
    size_t count = simulation->record_count;
    size_t *order = calloc(count + 1, sizeof *order);
    struct digest seed;
    enum status status = order == NULL ? STATUS_NO_MEMORY : split_seed(simulation, &seed);

    if (status == STATUS_OK) {
        permutation_draw(order, count, &seed);
        for (size_t i = 0; i < count; i++) {
            share_of[order[i]] = i < simulation->held_count
                                     ? simulation->agent_count
                                     : (i - simulation->held_count) % simulation->agent_count;
        }
    }
    free(order);
    return status;
}

/* A series is cut into stretches of days, the last of which is held out. Each loses as many records
 * at its beginning as its longest lag has days. */
static void deal_days(const struct simulation *simulation, size_t *share_of, size_t days)
{
    const size_t shared = days - simulation->held_count;
    for (size_t i = 0; i < days; i++) {
        share_of[i] = i < shared ? i * simulation->agent_count / shared : simulation->agent_count;
    }
}

static enum status deal(const struct simulation *simulation, size_t **share_of, size_t rows)
{
    *share_of = calloc(rows + 1, sizeof **share_of);
    if (*share_of == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (schema_is_series(&simulation->job.schema)) {
        deal_days(simulation, *share_of, rows);
        return STATUS_OK;
    }
    return deal_records(simulation, *share_of);
}

static enum status open_shares(struct simulation *simulation, FILE **share)
{
    char path[SIMULATION_PATH_BYTES];
    for (size_t i = 0; i <= simulation->agent_count; i++) {
        bool fits = i < simulation->agent_count
                        ? simulation_path(simulation, path, "agents/hospital-%zu/data.csv", i + 1)
                        : simulation_held_path(simulation, path, 0);
        share[i] = fits ? fopen(path, "wbxe") : NULL;
        if (share[i] == NULL) {
            why_set(&simulation->why, "%s: %s", path, strerror(errno));
            return STATUS_IO;
        }
    }
    return STATUS_OK;
}

enum status simulation_split(struct simulation *simulation)
{
    FILE *share[SIMULATION_AGENTS_MAX + 1] = {NULL};
    size_t *share_of = NULL;
    const size_t rows = simulation->record_count + schema_history(&simulation->job.schema);
    if (simulation->stream != NULL) {
        return simulation_streams_split(simulation);
    }
    FILE *file = NULL;
    enum status status = table_open(&file, simulation->data, &simulation->why);
    if (status != STATUS_OK) {
        return status;
    }
    mode_t mask = umask(077);
    status = deal(simulation, &share_of, rows);
    if (status == STATUS_OK) {
        status = open_shares(simulation, share);
    }
    if (status == STATUS_OK) {
        status = csv_split(file, simulation->data, 0, share, simulation->agent_count + 1, share_of,
                           rows, &simulation->why);
    }
    (void)umask(mask);
    /* What writes the shares knows no path of theirs. */
    if (status == STATUS_IO && !ferror(file)) {
        why_set(&simulation->why, "%s: the shares cannot be written: is the disk full?",
                simulation->out);
    }
    for (size_t i = 0; i <= simulation->agent_count; i++) {
        if (share[i] != NULL && fclose(share[i]) != 0 && status == STATUS_OK) {
            why_set(&simulation->why, "%s: the shares cannot be written: is the disk full?",
                    simulation->out);
            status = STATUS_IO;
        }
    }
    (void)fclose(file);
    free(share_of);
    return status;
}
