/* What every command of the agent reads first. */

#include "agent/main.h"
#include "base/owned.h"
#include "config/config.h"
#include "learn/csv.h"
#include "learn/dataset.h"
#include "learn/header.h"
#include "learn/reading.h"
#include "learn/speed.h"
#include "learn/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum status site_read_settings(struct site *site, const char *path, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    enum status status = config_load_owned(&text, &size, path, why);

    if (status == STATUS_OK) {
        status = agent_settings_parse(&site->settings, (struct slice){text, size}, path, why);
    }
    free(text);
    return status;
}

/* A relative path is relative to the policy's folder. */
static enum status find_peers(struct site *site, struct why *why)
{
    const char *name = site->policy.peers;
    const char *slash = strrchr(site->settings.policy, '/');
    const int folder = name[0] == '/' || name[0] == '\0' || slash == NULL
                           ? 0
                           : (int)(slash - site->settings.policy) + 1;
    const int size = snprintf(site->peers_path, sizeof site->peers_path, "%.*s%s", folder,
                              site->settings.policy, name);
    return size < (int)sizeof site->peers_path
               ? STATUS_OK
               : why_refuse(why, "%s: the path of `peers` is too long", site->settings.policy);
}

enum status site_read_policy(struct site *site, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    const char *path = site->settings.policy;
    enum status status = config_load_owned(&text, &size, path, why);

    if (status == STATUS_OK) {
        status = policy_parse(&site->policy, (struct slice){text, size}, path, why);
    }
    if (status == STATUS_OK) {
        status = find_peers(site, why);
    }
    free(text);
    return status;
}

enum status site_read_dictionary(struct site *site, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    const char *path = site->settings.dictionary;
    enum status status = config_load_owned(&text, &size, path, why);

    if (status == STATUS_OK) {
        status = dictionary_parse(&site->dictionary, (struct slice){text, size}, path, why);
    }
    if (status != STATUS_OK) {
        free(text);
        return status;
    }
    free(site->dictionary_text);
    site->dictionary_text = text;
    site->dictionary_size = size;
    return STATUS_OK;
}

enum status site_read_own_key(struct site *site, struct why *why)
{
    enum status status = owned_source(site->settings.key, why);
    return status == STATUS_OK ? key_secret_read(&site->key, site->settings.key, why) : status;
}

enum status site_read_signing_key(struct site *site, struct why *why)
{
    enum status status = owned_source(site->settings.key, why);
    return status == STATUS_OK ? key_signing_read(&site->signing, site->settings.key, why) : status;
}

enum status site_read_keys(struct site *site, struct why *why)
{
    enum status status = site_read_own_key(site, why);
    if (status == STATUS_OK && site->settings.public_key_file[0] != '\0') {
        status = owned_source(site->settings.public_key_file, why);
        return status == STATUS_OK
                   ? key_public_read(&site->coordinator_key, site->settings.public_key_file, why)
                   : status;
    }
    site->coordinator_key = site->settings.public_key;
    return status;
}

enum status site_read_job(struct site *site, const char *path, struct why *why)
{
    if (path == NULL) {
        path = site->settings.job[0] != '\0' ? site->settings.job : NULL;
    }
    return path == NULL ? STATUS_OK
                        : config_load_owned(&site->job_text, &site->job_size, path, why);
}

void site_free(struct site *site)
{
    key_pair_wipe(&site->key);
    key_pair_wipe(&site->signing);
    dictionary_free(&site->dictionary);
    free(site->dictionary_text);
    free(site->job_text);
    memset(site, 0, sizeof *site);
}

enum status site_check_data(const struct site *site, struct why *why)
{
    FILE *file = NULL;
    struct csv *csv = NULL;
    bool done = false;
    enum status status = table_open(&file, site->settings.data, why);

    if (status == STATUS_OK) {
        status = csv_new(&csv, file, site->settings.data, site->dictionary.separator);
    }
    if (status == STATUS_OK) {
        status = csv_next(csv, &done, why);
    }
    if (status == STATUS_OK && done) {
        status = why_refuse(
            why, "%s: the file is empty: it needs a line of column names and then the records",
            site->settings.data);
    }
    const struct header header = {.csv = csv,
                                  .name = site->settings.data,
                                  .asked_by = site->settings.dictionary,
                                  .dictionary = site->settings.dictionary,
                                  .field_count = status == STATUS_OK ? csv_field_count(csv) : 0};
    for (size_t i = 0; status == STATUS_OK && i < site->dictionary.column_count; i++) {
        size_t field;
        status = header_need(&field, &header, site->dictionary.column[i].name, why);
    }
    csv_free(csv);
    if (file != NULL) {
        (void)fclose(file);
    }
    return status;
}

/* The job's schema decides what is read, and by then nothing can fail that did not fail before: the
 * dictionary has all its columns, and the header line all the dictionary's. */
static enum status load_file(void *self, struct dataset *out, const struct schema *schema,
                             struct why *why)
{
    const struct site *site = self;
    FILE *file = NULL;
    enum status status = site_check_data(site, why);

    if (status == STATUS_OK) {
        status = table_open(&file, site->settings.data, why);
    }
    if (status == STATUS_OK) {
        const struct dataset_options options = {.use = DATASET_LEARN,
                                                .separator = site->dictionary.separator,
                                                .line_bytes = site->dictionary.line_bytes,
                                                .row_count = (size_t)site->dictionary.record_count};
        status = dataset_read(out, file, site->settings.data, schema, &options, why);
        (void)fclose(file);
    }
    return status;
}

static uint64_t longest_ms(void *self, const struct schema *schema)
{
    const struct site *site = self;
    const struct reading reading = {.row_count = site->dictionary.record_count,
                                    .line_bytes = site->dictionary.line_bytes,
                                    .separator = site->dictionary.separator,
                                    .packed = table_is_packed(site->settings.data)};
    return reading_longest_ms(schema, &reading, speed_thread_ns);
}

struct source site_source(struct site *site)
{
    return (struct source){.load = load_file, .longest_ms = longest_ms, .self = site};
}

/* What the heap has addresses for before it asks for more: small jobs run under any limit. */
static const uint64_t heap_reserve = UINT64_C(32) << 20;

/* A limit counts addresses, and a machine without one the pages that are in use: statm's first and
 * second number. */
static uint64_t bytes_in_use(bool limited)
{
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) {
        return 0;
    }
    char *next = line;
    if (fgets(line, sizeof line, file) == NULL) {
        line[0] = '\0';
    }
    (void)fclose(file);
    const uint64_t addresses = strtoull(next, &next, 10);
    const uint64_t resident = strtoull(next, &next, 10);
    return (limited ? addresses : resident) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t site_memory(const struct site *site)
{
    const bool limited = site->settings.memory_bytes_max > 0;
    const uint64_t most = limited
                              ? site->settings.memory_bytes_max
                              : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t used = bytes_in_use(limited);
    return heap_reserve + (most > used ? most - used : 0);
}

double site_speed(void)
{
    return speed_measure(speed_thread_ns);
}
