/* pairs.h - an agent with a table of records, a scripted coordinator that asks all of a job's rounds, and
 * the list of everything that leaves the agent meanwhile. */

#ifndef TESTS_UNIT_AGENT_PAIRS_H
#define TESTS_UNIT_AGENT_PAIRS_H

enum { PAIRS_TEXT_BYTES = 4096, PAIRS_ROWS = 24 };

/* In place of a row: no line at all, one with a NUL byte, one over the longest that is read. */
#define PAIRS_NO_LINE   "\001none"
#define PAIRS_NUL_LINE  "\001nul"
#define PAIRS_LONG_LINE "\001long"

/* What is wrong with the source that the agent reads from, where a cell is not listed. */
enum pairs_fault {
    PAIRS_RIGHT,
    PAIRS_REFUSES, /* the table is unfit */
    PAIRS_SKIPS,   /* the record is left out */
    PAIRS_LINGERS, /* the reading outlasts its slot */
    PAIRS_TALKS,   /* the log has a word of it */
    PAIRS_FAULT_COUNT
};

/**
 * Runs a job's text against a table of PAIRS_ROWS rows, whose eighth is the given one.
 *
 * Returns, a line each: frames in hexadecimal with their times, without the noisy answer and its digest;
 * sizes of commits; reconnections; the log; the end. The caller frees it.
 */
char *pairs_run(const char *job_text, const char *row, enum pairs_fault fault);

#endif
