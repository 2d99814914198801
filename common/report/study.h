/* study.h - what a study found: claims, charts of lines, two tables; and its report as JSON and as a
 * page. Studies are seeded simulations on public or invented records: NOT PRIVATE, and both say so. */

#ifndef REPORT_STUDY_H
#define REPORT_STUDY_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What does not fit is a programmer's error, CHECKed. */
enum {
    STUDY_SENTENCE_BYTES = 512,
    STUDY_NAME_BYTES = 80,
    STUDY_CELL_BYTES = 128,
    STUDY_CLAIMS_MAX = 192,
    STUDY_CHARTS_MAX = 8,
    STUDY_SERIES_MAX = 16,
    STUDY_POINTS_MAX = 32,
    STUDY_ROWS_MAX = 4096,
    STUDY_COLUMNS_MAX = 8
};

enum study_relation { STUDY_AT_MOST, STUDY_AT_LEAST };

struct study_claim {
    char sentence[STUDY_SENTENCE_BYTES]; /* what is claimed, with its setting */
    enum study_relation relation;        /* of measured to bound */
    double measured;
    double bound;
    bool holds;
};

enum study_line {
    STUDY_MEASURED, /* drawn through, with its points */
    STUDY_BOUND     /* dashed: what theory says, or what it is compared with */
};

struct study_series {
    char name[STUDY_NAME_BYTES];
    enum study_line line;
    unsigned hue; /* lines of one hue belong together */
    size_t count;
    double x[STUDY_POINTS_MAX];
    double y[STUDY_POINTS_MAX];
};

struct study_chart {
    char title[STUDY_NAME_BYTES];
    char text[STUDY_SENTENCE_BYTES];
    char x_title[STUDY_NAME_BYTES];
    char y_title[STUDY_NAME_BYTES];
    bool x_log;
    bool y_log; /* points that are not above 0 are then left out of the picture */
    struct study_series series[STUDY_SERIES_MAX];
    size_t series_count;
};

/* Of words and figures. */
struct study_table {
    char column[STUDY_COLUMNS_MAX][STUDY_NAME_BYTES];
    size_t column_count;
    char cell[STUDY_ROWS_MAX][STUDY_COLUMNS_MAX][STUDY_CELL_BYTES];
    size_t row_count;
};

struct study {
    char name[STUDY_NAME_BYTES];
    char title[STUDY_NAME_BYTES];
    char lede[STUDY_SENTENCE_BYTES];
    uint64_t seed;
    struct study_claim claim[STUDY_CLAIMS_MAX];
    size_t claim_count;
    struct study_chart chart[STUDY_CHARTS_MAX];
    size_t chart_count;
    struct study_table summary; /* without columns: none */
    struct study_table table;   /* all that was measured */
};

/** Adds a claim; it holds when measured and bound are numbers in this relation. */
void study_claim(struct study *study, enum study_relation relation, double measured, double bound,
                 const char *sentence, ...) __attribute__((format(printf, 5, 6)));

/** Adds an empty chart from its words and scales. Returns it, part of the study. */
struct study_chart *study_chart(struct study *study, const struct study_chart *words);

/** Adds a line without points. Returns it, part of the chart. */
struct study_series *study_series(struct study_chart *chart, enum study_line line, unsigned hue,
                                  const char *name);

/** Adds a point to a line. */
void study_point(struct study_series *series, double x, double y);

/** Sets a table's columns, or adds a row; text (count), as many as columns. */
void study_columns(struct study_table *table, size_t count, const char *const *text);
void study_row(struct study_table *table, size_t count, const char *const *text);

/** Returns whether there is a claim and every one holds. */
bool study_holds(const struct study *study);

/**
 * Writes a study as JSON: {"study", "title", "private": false, "version", "seed", "holds", "claims":
 * [{"sentence", "relation": "at most" or "at least", "measured", "bound", "holds"}], "charts": [..],
 * "summary": {"columns", "rows"}, "table": {"columns", "rows"}}. What is no finite number becomes null.
 *
 * json  out  malloc'd; the caller frees it
 *
 * Fails with STATUS_NO_MEMORY, STATUS_INVALID (a text is not UTF-8).
 */
MUST_USE enum status study_to_json(char **json, const struct study *study);

/** Draws a study as one page that loads nothing, as html_report does. html: out, malloc'd. Fails as
 * study_to_json. */
MUST_USE enum status study_report(char **html, const struct study *study);

#endif
