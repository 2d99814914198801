#include "dictionary/dictionary.h"

#include "config/keys.h"

#include <stdio.h>
#include <string.h>

enum { DATA_SETS_MAX = 1 };

/* A file lists one data set: each has an agent, and a ledger, of its own. */
struct draft_set {
    char name[SCHEMA_NAME_BYTES];
    unsigned separator; /* dictionary_separator */
    uint64_t record_count;
    uint64_t line_bytes;
    struct dictionary_column *column;
    size_t column_count;
};

struct draft_file {
    struct draft_set *set;
    size_t set_count;
};

const char *dictionary_kind_name(unsigned kind)
{
    static const char *const name[] = {
        [DICTIONARY_NUMBER] = "number", [DICTIONARY_CATEGORY] = "category", NULL};
    return name[kind];
}

/* Each separator by its word and as it stands in the table; a tab in YAML has no other form than its
 * word. */
const char *dictionary_separator_name(unsigned index)
{
    static const char *const name[] = {"comma", "semicolon", "tab", ",", ";", NULL};
    return name[index];
}

char dictionary_separator(unsigned index)
{
    static const char separator[] = {',', ';', '\t', ',', ';'};
    return separator[index];
}

/* clang-format off */
#define KEY_OF struct dictionary_column
static const struct config_key column_keys[] = {
    KEY_TEXT("name", name, REQUIRED("age")),
    KEY_CHOICE("kind", kind, dictionary_kind_name, REQUIRED("number")),
    KEY_TEXT("unit", unit, OPTIONAL("years")),
    KEY_NUMBER("low", low, -DICTIONARY_BOUND_MAX, DICTIONARY_BOUND_MAX, DEFAULT("-1e100", "0")),
    KEY_NUMBER("high", high, -DICTIONARY_BOUND_MAX, DICTIONARY_BOUND_MAX, DEFAULT("1e100", "120")),
    KEY_TEXTS("categories", category, category_count, DICTIONARY_CATEGORIES_MAX, OPTIONAL("[F, M]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_set
static const struct config_key set_keys[] = {
    KEY_TEXT("name", name, OPTIONAL("flchain")),
    KEY_WHOLE("records", record_count, DICTIONARY_RECORDS_MIN, DICTIONARY_RECORDS_MAX, REQUIRED("1200")),
    KEY_CHOICE("separator", separator, dictionary_separator_name, DEFAULT("comma", "semicolon")),
    KEY_WHOLE("line_bytes", line_bytes, DICTIONARY_LINE_BYTES_MIN, DICTIONARY_LINE_BYTES_MAX, DEFAULT("1024", "1024")),
    KEY_TABLES("columns", column, column_count, SCHEMA_COLUMNS_MAX, column_keys,
        REQUIRED("[{name: age, kind: number, unit: years}]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_file
static const struct config_key file_keys[] = {
    KEY_TABLES("data_sets", set, set_count, DATA_SETS_MAX, set_keys,
        REQUIRED("[{records: 1200, columns: [{name: age, kind: number}]}]")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

static char *column_path(char path[static CONFIG_PATH_BYTES], size_t index, const char *key)
{
    (void)snprintf(path, CONFIG_PATH_BYTES, "data_sets[0].columns[%zu].%s", index, key);
    return path;
}

static enum status check_column(const struct config *config, const struct draft_set *set,
                                size_t index, struct why *why)
{
    const struct dictionary_column *column = &set->column[index];
    static const char *const number_key[] = {"unit", "low", "high"};
    char path[CONFIG_PATH_BYTES];

    for (size_t i = 0; i < index; i++) {
        if (strcmp(column->name, set->column[i].name) == 0) {
            return config_refuse(config, why, column_path(path, index, "name"),
                                 "is listed twice: remove one");
        }
    }
    if (column->kind == DICTIONARY_NUMBER) {
        if (column->category_count > 0) {
            return config_refuse(config, why, column_path(path, index, "categories"),
                                 "is for a column of categories: remove it, or write kind: "
                                 "category");
        }
        return column->low < column->high
                   ? STATUS_OK
                   : config_refuse(config, why, column_path(path, index, "high"),
                                   "must be above low");
    }
    for (size_t i = 0; i < sizeof number_key / sizeof number_key[0]; i++) {
        if (config_has(config, column_path(path, index, number_key[i]))) {
            return config_refuse(config, why, path,
                                 "is for a column of numbers: remove it, or write kind: number");
        }
    }
    for (size_t i = 0; i < column->category_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(column->category[i], column->category[j]) == 0) {
                return config_refuse(config, why, column_path(path, index, "categories"),
                                     "lists \"%s\" twice", column->category[i]);
            }
        }
    }
    return STATUS_OK;
}

enum status dictionary_parse(struct dictionary *out, struct slice text, const char *name,
                             struct why *why)
{
    struct config *config = NULL;
    struct draft_file file = {.set = NULL};
    *out = (struct dictionary){0};
    enum status status = config_open(&config, text, name, why);
    if (status == STATUS_OK) {
        status = config_read(config, &file, file_keys, why);
    }
    for (size_t i = 0; status == STATUS_OK && i < file.set[0].column_count; i++) {
        status = check_column(config, &file.set[0], i, why);
    }
    if (status != STATUS_OK) {
        config_free(config);
        return status;
    }
    *out = (struct dictionary){.separator = dictionary_separator(file.set[0].separator),
                               .record_count = file.set[0].record_count,
                               .line_bytes = (size_t)file.set[0].line_bytes,
                               .column = file.set[0].column,
                               .column_count = file.set[0].column_count,
                               .config = config};
    memcpy(out->name, file.set[0].name, sizeof out->name);
    return STATUS_OK;
}

void dictionary_free(struct dictionary *dictionary)
{
    config_free(dictionary->config);
    *dictionary = (struct dictionary){0};
}
