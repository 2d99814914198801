/* dictionary_of.h - the dictionary of a site that has exactly what a job asks for. */

#ifndef TESTS_SUPPORT_DICTIONARY_OF_H
#define TESTS_SUPPORT_DICTIONARY_OF_H

#include "base/check.h"
#include "dictionary/dictionary.h"

#include <stdlib.h>
#include <string.h>

/** Makes a dictionary with the schema's columns and a number of rows; free dictionary.column. */
static inline struct dictionary dictionary_of(const struct schema *schema, uint64_t rows)
{
    struct dictionary dictionary = {.record_count = rows, .column_count = schema->column_count + 1};
    dictionary.column = calloc(dictionary.column_count, sizeof *dictionary.column);
    CHECK(dictionary.column != NULL);
    memcpy(dictionary.column[0].name, schema->label.name, SCHEMA_NAME_BYTES);
    dictionary.column[0].kind =
        schema->label.kind == LABEL_NUMBER ? DICTIONARY_NUMBER : DICTIONARY_CATEGORY;
    for (size_t i = 0; i < schema->column_count; i++) {
        memcpy(dictionary.column[i + 1].name, schema->column[i].name, SCHEMA_NAME_BYTES);
        dictionary.column[i + 1].kind =
            schema->column[i].kind == COLUMN_NUMBER ? DICTIONARY_NUMBER : DICTIONARY_CATEGORY;
    }
    return dictionary;
}

/** Returns how many rows a table in memory has, without its header line; each ends with a line feed. */
static inline uint64_t rows_of(const char *table)
{
    uint64_t lines = 0;
    for (; *table != '\0'; table++) {
        lines += *table == '\n' ? 1 : 0;
    }
    return lines > 0 ? lines - 1 : 0;
}

/** The same of a job's text. Aborts when it is not a valid job. */
static inline struct dictionary dictionary_of_text(struct slice text, uint64_t rows)
{
    struct job job;
    struct why why = {{0}};
    const enum status status = job_parse(&job, text, "test", &why);
    CHECK(status == STATUS_OK);
    struct dictionary dictionary = dictionary_of(&job.schema, rows);
    job_free(&job);
    return dictionary;
}

#endif
