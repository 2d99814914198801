#include "dictionary/dictionary.h"

#include <stdio.h>
#include <string.h>

enum { DATA_SETS_MAX = 1 };

/* A file lists data sets; an agent holds one of them today. */
struct draft_set {
    unsigned separator; /* dictionary_separator */
    uint64_t record_count;
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

static const struct config_key column_keys[] = {
    {.name = "name",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct dictionary_column, name),
     .example = "age"},
    {.name = "kind",
     .type = CONFIG_CHOICE,
     .required = true,
     CONFIG_IN(struct dictionary_column, kind),
     .choice = dictionary_kind_name,
     .example = "number"},
    {.name = "unit",
     .type = CONFIG_TEXT,
     CONFIG_IN(struct dictionary_column, unit),
     .example = "years"},
    {.name = "low",
     .type = CONFIG_DECIMAL,
     CONFIG_IN(struct dictionary_column, low),
     .low = -DICTIONARY_BOUND_MAX,
     .high = DICTIONARY_BOUND_MAX,
     .fallback = "-1e100",
     .example = "0"},
    {.name = "high",
     .type = CONFIG_DECIMAL,
     CONFIG_IN(struct dictionary_column, high),
     .low = -DICTIONARY_BOUND_MAX,
     .high = DICTIONARY_BOUND_MAX,
     .fallback = "1e100",
     .example = "120"},
    {.name = "categories",
     .type = CONFIG_TEXT,
     CONFIG_LIST_IN(struct dictionary_column, category, category_count),
     .items_max = DICTIONARY_CATEGORIES_MAX,
     .example = "[F, M]"},
    {.name = NULL},
};

static const struct config_key set_keys[] = {
    {.name = "records",
     .type = CONFIG_INTEGER,
     .required = true,
     CONFIG_IN(struct draft_set, record_count),
     .min = DICTIONARY_RECORDS_MIN,
     .max = DICTIONARY_RECORDS_MAX,
     .example = "1200"},
    {.name = "separator",
     .type = CONFIG_CHOICE,
     CONFIG_IN(struct draft_set, separator),
     .choice = dictionary_separator_name,
     .fallback = "comma",
     .example = "semicolon"},
    {.name = "columns",
     .type = CONFIG_TABLE,
     .required = true,
     CONFIG_LIST_IN(struct draft_set, column, column_count),
     .items_max = SCHEMA_COLUMNS_MAX,
     .keys = column_keys,
     .example = "[{name: age, kind: number, unit: years}]"},
    {.name = NULL},
};

static const struct config_key file_keys[] = {
    {.name = "data_sets",
     .type = CONFIG_TABLE,
     .required = true,
     CONFIG_LIST_IN(struct draft_file, set, set_count),
     .items_max = DATA_SETS_MAX,
     .keys = set_keys,
     .example = "[{records: 1200, columns: [{name: age, kind: number}]}]"},
    {.name = NULL},
};

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
                               .column = file.set[0].column,
                               .column_count = file.set[0].column_count,
                               .config = config};
    return STATUS_OK;
}

void dictionary_free(struct dictionary *dictionary)
{
    config_free(dictionary->config);
    *dictionary = (struct dictionary){0};
}
