/* result_fields.h - every figure of result.json, a row each. What writes a result, what reads one, what starts and
 * frees one, the page's tables and the terminal's walk these rows. A new figure is a member of its struct and a row. */

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
    FIELD_DERIVED,  /* a size_t that another row tells as well: written alone */
    FIELD_COMPUTED  /* a double, by the row's function: for the page alone */
};

enum field_format {
    FORMAT_TEXT,
    FORMAT_COUNT,      /* a whole number */
    FORMAT_FIXED,      /* with a number of decimals */
    FORMAT_PERCENT,    /* a share, in percent with a number of decimals */
    FORMAT_SIGNIFICANT /* with a number of significant digits */
};

/* How a place shows a figure; not there without a label. */
struct field_shown {
    const char *label; /* with the unit, where the reader would not know it */
    enum field_format format;
    int digits;
    int width; /* of the terminal's column */
};

struct field {
    const char *key; /* NULL ends a table */
    enum field_kind kind;
    bool is_later; /* earlier files do not have it */
    size_t offset;
    size_t size;
    uint64_t max;
    const struct field *row; /* of a part or of a list's items */
    size_t item_size;
    size_t count_offset;
    bool (*is_known)(
        const struct result *result); /* a part is null otherwise; NULL: always known */
    double (*compute)(const struct result *result);
    struct field_shown page;     /* a column of its list's table, a line of its part's */
    struct field_shown terminal; /* the same in what `hedgerow simulate` prints */
};

extern const struct field result_fields[];
extern const struct field result_privacy_fields[];
extern const struct field result_answer_fields[];
extern const struct field result_effect_fields[];
extern const struct field result_site_fields[];
extern const struct field result_expert_fields[];
extern const struct field result_forecast_fields[];
extern const struct field result_agent_fields[];
extern const struct field result_error_fields[];

/** Makes room for that many items of a list, each unknown; frees the room that was there, which holds none.
 * Fails with STATUS_NO_MEMORY, or STATUS_INVALID over the list's limit. */
MUST_USE enum status result_make_room(struct result *result, const struct field *list,
                                      size_t count);

/** Returns how many numbers stand in an array of numbers that is not NULL; base: its struct. */
size_t result_length(const struct result *result, const struct field *field, const void *base);

/** Writes a FIELD_REAL as its row says for the terminal, "-" when it is not known; base: its struct, or NULL: its label. */
void result_show(char *text, size_t size, const struct field *field, const void *base);

#endif
