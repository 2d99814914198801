/* dataset_reader.h - one reading of a table. Inside dataset only. */

#ifndef LEARN_DATASET_READER_H
#define LEARN_DATASET_READER_H

#include "learn/csv.h"
#include "learn/dataset.h"
#include "learn/features.h"

/* n = schema_value_count */
struct reader {
    struct csv *csv;
    const char *name;
    const struct schema *schema;
    const struct dataset_options *options;
    struct features *features;
    size_t *field_of; /* (column_count) which field each column is in */
    size_t label_field;
    size_t header_fields;
    size_t room;      /* in records */
    double *value;    /* (n) of the row at hand */
    double label;     /* of the row at hand, as y; unset when it is not read */
    double raw_label; /* the same as it is: dataset.h */
    double *history;  /* (history_size) a series' last days, NAN where missing; day t at t modulo
                        size */
    size_t history_size;
    size_t day;   /* rows before the one at hand */
    bool is_over; /* the file's rows are: the row at hand is one of missing cells */
};

/** Answers whether the row at hand makes a record: always, but for a series' first days. */
bool reader_has_record(const struct reader *reader);

/** Reads the row at hand, whatever it is: its values, its label, in a series its lags. Counts in out
 * what it met. */
void reader_take_row(struct reader *reader, struct dataset *out);

/** Writes the row at hand as the record of index out->record_count, for which there is room. */
void reader_put_record(const struct reader *reader, struct dataset *out);

#endif
