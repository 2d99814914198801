/* result_fields.h - every figure of result.json, a row each. What writes a result, what reads one, and what starts
 * and frees one walk these rows. A new figure is a member of its struct and a row. Private to result*.c. */

#ifndef REPORT_RESULT_FIELDS_H
#define REPORT_RESULT_FIELDS_H

#include "report/result.h"

enum field_kind {
    FIELD_TEXT,     /* char[size] */
    FIELD_NOTE,     /* the same; left out when empty */
    FIELD_OWNED,    /* char *, owned; left out when NULL */
    FIELD_REAL,     /* double; null when not known */
    FIELD_BOOL,     /* bool */
    FIELD_COUNT,    /* unsigned, of 4 or 8 bytes; 0 .. max, or all that fits when max is 0 */
    FIELD_SEED,     /* null without has_seed */
    FIELD_EXPERT,   /* int64_t; an expert's name, or null for RESULT_NONE */
    FIELD_LOSSES,   /* double *, owned: a number for each expert, or null */
    FIELD_FEATURES, /* the same for each feature */
    FIELD_DAYS,     /* the same for each day of a forecast */
    FIELD_PART,     /* an object; its rows are about the whole result */
    FIELD_LIST,     /* a pointer to items, owned */
    FIELD_DERIVED   /* a size_t that another row tells as well: written alone */
};

struct field {
    const char *key; /* NULL ends a table */
    enum field_kind kind;
    bool is_later; /* files of before do not have it */
    size_t offset;
    size_t size;
    uint64_t max;
    const struct field *row; /* of a part or of a list's items */
    size_t item_size;
    size_t count_offset;
    bool (*is_known)(
        const struct result *result); /* a part is null otherwise; NULL: always known */
};

extern const struct field result_fields[];
extern const struct field result_privacy_fields[];
extern const struct field result_expert_fields[];
extern const struct field result_forecast_fields[];

/** Makes room for so many items of a list, each unknown; frees the room that was there, which holds none.
 * Fails with STATUS_NO_MEMORY, or STATUS_INVALID over the list's limit. */
MUST_USE enum status result_make_room(struct result *result, const struct field *list,
                                      size_t count);

#endif
