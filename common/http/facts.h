/* facts.h - what a daemon says of itself, as one table: a row is a family of figures, and the metrics, the JSON and the page are
 * made from it. A fact is public, or the site's own by its settings: nothing here was computed from a record that no grant
 * paid for. */

#ifndef HTTP_FACTS_H
#define HTTP_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FACT_LABELS_MAX = 8, FACT_LABEL_BYTES = 128, FACT_TEXT_BYTES = 1024, FACTS_MAX = 8192 };

enum fact_kind {
    FACT_GAUGE,
    FACT_COUNTER, /* its name ends with _total */
    FACT_INFO,    /* names alone: its value is 1 in the metrics and absent from the JSON */
    FACT_LIST /* rows for people: the latest rounds. In the JSON and on the page, and not in the metrics */
};

/* A row of the table. */
struct fact_family {
    const char *name; /* lower case and '_'; "hedgerow_" comes before it in the metrics */
    enum fact_kind kind;
    bool of_job;      /* of each job that runs; one with a number has the label job_number */
    const char *help; /* a sentence without its end */
    const char *label[FACT_LABELS_MAX]; /* names; those after the last one are NULL */
};

/* A table and the numbers of its rows from one list of FACT(row, name, kind, of_job, help, labels...). */
#define FACT_NUMBER(row, ...)                           row,
#define FACT_FAMILY(row, name, kind, of_job, help, ...) {name, kind, of_job, help, {__VA_ARGS__}},

struct facts;

/** Starts an empty collection of facts of a table (count rows, kept). NULL without memory. */
struct facts *facts_new(const struct fact_family *family, size_t count);
void facts_free(struct facts *facts);

/** Says whose the facts of families `of_job` are that are added from now on: of the job of this number; 0: of a program's only
 * one, or of the program. */
void facts_of_job(struct facts *facts, uint32_t number);

/** Says which job's facts the JSON has where a program's only one would have its. */
void facts_show_job(struct facts *facts, uint32_t number);

/** Adds a figure of the family number `row`; label: (as many as the family has) any text, copied, cut at FACT_LABEL_BYTES - 1,
 * the last one of a list at FACT_TEXT_BYTES - 1. Beyond FACTS_MAX, or without memory, nothing can be made of the facts any
 * more. */
void facts_add(struct facts *facts, size_t row, double value, const char *const *label);

/** Adds a figure of a family without labels, or with one. */
void facts_set(struct facts *facts, size_t row, double value);
void facts_set_of(struct facts *facts, size_t row, double value, const char *label);

/** Adds 1 for the present one of `count` names, and 0 for each of the others. */
void facts_set_state(struct facts *facts, size_t row, const char *const *name, size_t count,
                     const char *present);

/** Returns the facts in Prometheus' text format 0.0.4, malloc'd; NULL without memory. */
char *facts_metrics(const struct facts *facts);

/** Returns them as a JSON object, malloc'd: "facts" has a number for a family without labels and a list of rows for
 * one with labels (null: infinite), "help" the tables' sentences. For a table with families `of_job`, "jobs" has the facts
 * of each job with a number, without its lists, and "shown" the number of the one that is in "facts", or null. NULL without
 * memory. */
char *facts_json(const struct facts *facts);

/* The last rows of both programs' tables of facts. */

/* clang-format off */
/* journal_of_job: whether the program has several jobs at once, each with a journal */
#define FACTS_COMMON(journal_of_job) \
    {"messages_total", FACT_COUNTER, false, "Messages of the protocol since the program's start", {"direction"}}, \
    {"message_bytes_total", FACT_COUNTER, false, "Bytes of these messages, before encryption", {"direction"}}, \
    {"journal_bytes", FACT_GAUGE, journal_of_job, "Bytes of the journal on the disk", {NULL}}, \
    {"start_timestamp_seconds", FACT_GAUGE, false, "When the program was started, in seconds since 1970", {NULL}}, \
    {"build_info", FACT_INFO, false, "The program and its version", {"program", "version"}}
/* clang-format on */

enum { FACTS_COMMON_JOURNAL = 2, FACTS_COMMON_COUNT = 5 };

#define FACTS_UNKNOWN UINT64_MAX /* of a figure that is then left out */

struct facts_common {
    const char *program;
    int64_t started_ms; /* since 1970 */
    uint64_t messages_in;
    uint64_t messages_out;
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t journal_bytes; /* or FACTS_UNKNOWN */
};

/** An epsilon or a delta as programs keep it, as a fact: UINT64_MAX is infinite. */
double facts_epsilon(uint64_t micro);
double facts_delta(uint64_t atto);

/** Adds the facts of these rows; first: the row that FACTS_COMMON begins at. */
void facts_add_common(struct facts *facts, size_t first, const struct facts_common *common);

#endif
