/* The folder of the data dictionaries that sites show: one file an agent, its latest, beside the allow-list. And
 * `hedgerow-coordinator columns`: what the data dictionaries say that sites show, column by column, and where
 * they differ. Every name in them was written elsewhere. */

#include "base/exit_code.h"
#include "base/file.h"
#include "base/owned.h"
#include "config/config.h"
#include "coordinator/main.h"
#include "crypto/digest.h"
#include "dictionary/dictionary.h"
#include "io/daemon.h"
#include "io/roster.h"
#include "json/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SAID_BYTES = 4096, SHELF_PATH_BYTES = SETTINGS_PATH_BYTES + 64 };

/* Writes the path of an agent's file, or, of the name "", of the folder. */
static void shelf_path(const struct office *office, char path[static SHELF_PATH_BYTES],
                       const char *name)
{
    const char *list = office->settings.agents;
    const char *slash = strrchr(list, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - list) + 1;
    (void)snprintf(path, SHELF_PATH_BYTES, "%.*sdictionaries%s%s%s", folder, list,
                   name[0] == '\0' ? "" : "/", name, name[0] == '\0' ? "" : ".yml");
}

bool shelf_has(void *self, const struct peer *agent, const struct digest *digest)
{
    const struct shelf *shelf = self;
    char path[SHELF_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    struct why why = {{0}};
    struct digest kept;
    if (!agent_name_is_valid(agent->name)) {
        return true; /* no name for a file: it is not asked for */
    }
    shelf_path(shelf->office, path, agent->name);
    const bool read = config_load(&text, &size, path, &why) == STATUS_OK;
    if (read) {
        digest_sha256(&kept, &(struct slice){text, size}, 1);
    }
    free(text);
    return read && digest_equal(&kept, digest);
}

bool shelf_put(void *self, const struct peer *agent, struct slice text)
{
    const struct shelf *shelf = self;
    char path[SHELF_PATH_BYTES];
    struct why why = {{0}};
    struct stat about;
    shelf_path(shelf->office, path, "");
    enum status status = STATUS_OK;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        why_set(&why, "%s cannot be made: %s", path, strerror(errno));
        status = STATUS_IO;
    }
    if (status == STATUS_OK) {
        status = owned_folder(&about, path, &why);
    }
    if (status == STATUS_OK) {
        shelf_path(shelf->office, path, agent->name);
        status = file_write(path, text, 0600, &why);
    }
    if (status != STATUS_OK) {
        log_event(shelf->log, LOG_ERROR, "dictionary-not-kept", agent->name,
                  "its data dictionary was not kept: %s",
                  why.text[0] != '\0' ? why.text : status_text(status));
    }
    return status == STATUS_OK;
}

struct shown_site {
    char name[AGENT_NAME_MAX + 1];
    struct dictionary dictionary;
};

struct shown_sites {
    struct shown_site *site; /* (count) owned, in the list's order */
    size_t count;
    size_t silent; /* agents on the list that show none */
};

static void sites_free(struct shown_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++) {
        dictionary_free(&sites->site[i].dictionary);
    }
    free(sites->site);
}

/* The name is kept: config keeps it for its messages. */
static enum status read_site(struct shown_site *site, const struct office *office, const char *name,
                             struct why *why)
{
    char path[SHELF_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    (void)snprintf(site->name, sizeof site->name, "%s", name);
    shelf_path(office, path, name);
    enum status status = config_load(&text, &size, path, why);
    if (status == STATUS_OK) {
        status = dictionary_parse(&site->dictionary, (struct slice){text, size}, site->name, why);
    }
    free(text);
    return status;
}

static bool is_listed_before(const struct roster *roster, size_t index)
{
    bool found = false;
    for (size_t i = 0; i < index; i++) {
        found = found || strcmp(roster->entry[i].name, roster->entry[index].name) == 0;
    }
    return found;
}

static bool is_shown(const struct office *office, const char *name)
{
    char path[SHELF_PATH_BYTES];
    shelf_path(office, path, name);
    FILE *file = fopen(path, "rbe");
    if (file != NULL) {
        (void)fclose(file);
    }
    return file != NULL;
}

static enum status read_sites(struct shown_sites *sites, const struct office *office,
                              struct why *why)
{
    struct roster *roster = calloc(1, sizeof *roster);
    enum status status =
        roster == NULL ? STATUS_NO_MEMORY : roster_read(roster, office->settings.agents, why);
    if (status == STATUS_OK && roster->count > 0) {
        sites->site = calloc(roster->count, sizeof *sites->site);
        status = sites->site == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    for (size_t i = 0; status == STATUS_OK && i < roster->count; i++) {
        const char *name = roster->entry[i].name;
        if (is_listed_before(roster, i)) {
            continue; /* an agent with two keys */
        }
        if (!is_shown(office, name)) {
            sites->silent++;
            continue;
        }
        status = read_site(&sites->site[sites->count], office, name, why);
        sites->count += status == STATUS_OK ? 1 : 0;
    }
    free(roster);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* In letters that no terminal acts upon. */
static size_t say(char said[static SAID_BYTES], size_t used, const char *text)
{
    for (; *text != '\0' && used + 1 < SAID_BYTES; text++) {
        said[used++] = *text >= ' ' && *text <= '~' ? *text : '?';
    }
    said[used] = '\0';
    return used;
}

static void describe(char said[static SAID_BYTES], const struct dictionary_column *column)
{
    char number[64];
    size_t used = say(said, 0, column == NULL ? "not there" : dictionary_kind_name(column->kind));
    if (column == NULL) {
        return;
    }
    if (column->unit[0] != '\0') {
        used = say(said, say(said, used, ", "), column->unit);
    }
    if (column->kind == DICTIONARY_NUMBER && column->low > -DICTIONARY_BOUND_MAX) {
        (void)snprintf(number, sizeof number, ", from %.6g", column->low);
        used = say(said, used, number);
    }
    if (column->kind == DICTIONARY_NUMBER && column->high < DICTIONARY_BOUND_MAX) {
        (void)snprintf(number, sizeof number, ", to %.6g", column->high);
        used = say(said, used, number);
    }
    for (size_t i = 0; i < column->category_count; i++) {
        used = say(said, say(said, used, i == 0 ? ": " : ", "), column->category[i]);
    }
}

static bool is_alike(const struct dictionary_column *a, const struct dictionary_column *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    bool same = a->kind == b->kind && strcmp(a->unit, b->unit) == 0 && a->low <= b->low &&
                a->low >= b->low && a->high <= b->high && a->high >= b->high &&
                a->category_count == b->category_count;
    for (size_t i = 0; same && i < a->category_count; i++) {
        same = strcmp(a->category[i], b->category[i]) == 0;
    }
    return same;
}

/* The sites that say the same of a column as site `first`, in one line. */
static void print_alike(const struct shown_sites *sites, size_t first, const char *column,
                        bool *told)
{
    const struct dictionary_column *one = dictionary_find(&sites->site[first].dictionary, column);
    char said[SAID_BYTES];
    size_t alike = 0;
    describe(said, one);
    for (size_t i = first; i < sites->count; i++) {
        if (!told[i] && is_alike(one, dictionary_find(&sites->site[i].dictionary, column))) {
            (void)printf("%s%s", alike == 0 ? "  " : ", ", sites->site[i].name);
            told[i] = true;
            alike++;
        }
    }
    (void)printf(": %s\n", said);
}

static bool is_known_before(const struct shown_sites *sites, size_t site, const char *column)
{
    bool found = false;
    for (size_t i = 0; i < site; i++) {
        found = found || dictionary_find(&sites->site[i].dictionary, column) != NULL;
    }
    return found;
}

static void print_column(const struct shown_sites *sites, const char *column, bool *told)
{
    char said[SAID_BYTES];
    (void)say(said, 0, column);
    (void)printf("\n%s\n", said);
    memset(told, 0, sites->count * sizeof *told);
    for (size_t i = 0; i < sites->count; i++) {
        if (!told[i]) {
            print_alike(sites, i, column, told);
        }
    }
}

static enum status print_text(const struct shown_sites *sites)
{
    bool *told = calloc(sites->count + 1, sizeof *told);
    if (told == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < sites->count; i++) {
        (void)printf("%s: %" PRIu64 " records, %zu columns\n", sites->site[i].name,
                     sites->site[i].dictionary.record_count,
                     sites->site[i].dictionary.column_count);
    }
    if (sites->silent > 0) {
        (void)printf(
            "%zu on the list have shown no data dictionary (policy key share_dictionary)\n",
            sites->silent);
    }
    for (size_t i = 0; i < sites->count; i++) {
        for (size_t j = 0; j < sites->site[i].dictionary.column_count; j++) {
            const char *column = sites->site[i].dictionary.column[j].name;
            if (!is_known_before(sites, i, column)) {
                print_column(sites, column, told);
            }
        }
    }
    free(told);
    return STATUS_OK;
}

static json_t *bound(double value)
{
    return fabs(value) < DICTIONARY_BOUND_MAX ? json_real(value) : json_null();
}

static json_t *column_json(const struct dictionary_column *column)
{
    json_t *categories = json_array();
    for (size_t i = 0; categories != NULL && i < column->category_count; i++) {
        json_add(&categories, json_string(column->category[i]));
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "name", column->name, "kind",
                     dictionary_kind_name(column->kind), "unit", column->unit, "low",
                     bound(column->low), "high", bound(column->high), "categories", categories);
}

static enum status print_json(const struct shown_sites *sites)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sites->count; i++) {
        const struct dictionary *dictionary = &sites->site[i].dictionary;
        json_t *columns = json_array();
        for (size_t j = 0; j < dictionary->column_count; j++) {
            json_add(&columns, column_json(&dictionary->column[j]));
        }
        json_add(&list, json_pack("{s:s, s:I, s:o}", "agent", sites->site[i].name, "records",
                                  (json_int_t)dictionary->record_count, "columns", columns));
    }
    const bool good =
        list != NULL && json_dumpf(list, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0;
    (void)putchar('\n');
    json_decref(list);
    return good ? STATUS_OK : STATUS_NO_MEMORY;
}

int main_columns(const struct arguments *arguments)
{
    struct office office = {0};
    struct shown_sites sites = {0};
    struct why why = {{0}};
    enum status status = office_read_settings(&office, arguments->config, &why);
    if (status == STATUS_OK) {
        status = read_sites(&sites, &office, &why);
    }
    if (status == STATUS_OK) {
        status = arguments->json ? print_json(&sites) : print_text(&sites);
    }
    sites_free(&sites);
    office_free(&office);
    return status == STATUS_OK ? EXIT_CODE_OK : daemon_complain(PROGRAM, status, &why);
}
