/* dictionary.h - a site's data dictionary (data.yml): what the site says in public about its records.
 * Jobs are judged against it alone, so that no judgement depends on a record. */

#ifndef DICTIONARY_DICTIONARY_H
#define DICTIONARY_DICTIONARY_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "config/config.h"
#include "job/job.h"
#include "learn/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DICTIONARY_UNIT_BYTES = 32,
    DICTIONARY_CATEGORIES_MAX = 256, /* of a column */
    DICTIONARY_RECORDS_MIN = 2,
    DICTIONARY_RECORDS_MAX = 1000000000,
    DICTIONARY_LINE_BYTES_MIN = 64,
    DICTIONARY_LINE_BYTES_DEFAULT = 1024,
    DICTIONARY_LINE_BYTES_MAX = 1 << 20
};

/* A finite number beyond which no job's bounds lie: low and high of a column that names none. */
#define DICTIONARY_BOUND_MAX 1e100

enum dictionary_kind {
    DICTIONARY_NUMBER,
    DICTIONARY_CATEGORY /* a text; jobs may name some of the texts */
};

struct dictionary_column {
    char name[SCHEMA_NAME_BYTES]; /* as in the file's header line */
    unsigned kind;                /* enum dictionary_kind */
    char unit[DICTIONARY_UNIT_BYTES];
    double low, high;                    /* a number's public range */
    char (*category)[SCHEMA_NAME_BYTES]; /* (category_count) NULL: any text may be asked about */
    size_t category_count;
};

struct dictionary {
    char name[SCHEMA_NAME_BYTES]; /* of the data set, by which jobs ask for it; "": it has none */
    char separator;               /* between two fields of the table: as csv_new, never 0 */
    uint64_t record_count;        /* rows that the site states; those beyond are not used */
    size_t line_bytes;            /* longer lines of the table are cut: csv_limit_lines */
    struct dictionary_column *column; /* (column_count) */
    size_t column_count;
    struct config *config; /* owns the columns; NULL: somebody else does */
};

/** Returns "number" or "category"; NULL after the last. */
const char *dictionary_kind_name(unsigned kind);

/** Returns how a separator may be written: "comma", "semicolon", "tab", ",", ";"; NULL after the last; and
 * the separator itself. */
const char *dictionary_separator_name(unsigned index);
char dictionary_separator(unsigned index);

/**
 * Reads a dictionary's text.
 *
 * out   out        dictionary_free; zeroed on failure
 * name  in, keeps  how the text is called in messages: the file's name
 *
 * Fails with STATUS_INVALID, STATUS_UNSUPPORTED, STATUS_NO_MEMORY.
 */
MUST_USE enum status dictionary_parse(struct dictionary *out, struct slice text, const char *name,
                                      struct why *why);
void dictionary_free(struct dictionary *dictionary);

/** Returns the column of that name, or NULL. */
const struct dictionary_column *dictionary_find(const struct dictionary *dictionary,
                                                const char *name);

/** Finds a column that a person named. Fails with STATUS_REFUSED; why has the name, and the nearest known one. */
MUST_USE enum status dictionary_need(const struct dictionary_column **column,
                                     const struct dictionary *dictionary, const char *name,
                                     struct why *why);

/** Returns how many records a job sees here: the admitted rows without those that give a series'
 * first lags. */
uint64_t dictionary_records(const struct dictionary *dictionary, const struct schema *schema);

/**
 * Decides whether the site has what a job asks for: its data set, its columns, numbers where it asks for numbers,
 * at least one of the categories or classes that it lists, as many records as it needs.
 *
 * Fails with STATUS_REFUSED; why names the column or the number of records.
 * Privacy: reads the dictionary and the job, which are public.
 */
MUST_USE enum status dictionary_judge(const struct dictionary *dictionary, const struct job *job,
                                      struct why *why);

/**
 * Says what a job that dictionary_judge lets pass asks of a column beyond what the dictionary lists: categories or
 * classes that it lacks, numbers whose public range the job's bounds cut off. A person may want to know; nothing is
 * decided by it.
 *
 * column  in   of the schema; after the last one its label
 * note    out  the sentence, if there is one
 *
 * Returns whether there is one.
 */
bool dictionary_has_note(const struct dictionary *dictionary, const struct schema *schema,
                         size_t column, struct why *note);

#endif
