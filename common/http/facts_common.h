/* facts_common.h - the last rows of both programs' tables of facts. */

#ifndef HTTP_FACTS_COMMON_H
#define HTTP_FACTS_COMMON_H

#include "http/facts.h"

#include <stdint.h>

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
