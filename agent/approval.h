/* approval.h - which jobs a person at the site has said yes or no to. A decision is about one exact text, by its
 * digest, and about a number of runs: the same text run again is another job with another price. */

#ifndef AGENT_APPROVAL_H
#define AGENT_APPROVAL_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { APPROVALS_MAX = 800, APPROVAL_RUNS_MAX = 1000000, APPROVAL_WHY_BYTES = 128 };

/* runs: how many jobs of this text the journal may hold in all; 0: none, the text was refused. */
struct approval {
    struct digest text;
    struct digest job; /* a yes to this job alone; none: to any job of the text */
    uint32_t runs;
    char why[APPROVAL_WHY_BYTES]; /* a person's words, which stay at the site; "" */
};

struct approvals {
    struct approval item[APPROVALS_MAX];
    size_t count;
};

/**
 * Reads the list: a line "DIGEST RUNS" or "DIGEST RUNS WHY" a text, in 64 hexadecimal digits; lines with # are comments.
 * "RUNS@JOB" in place of RUNS is a yes to the job of that id alone.
 * An empty text is an empty list.
 *
 * Fails with STATUS_INVALID, and names the line; out is then empty.
 */
MUST_USE enum status approvals_parse(struct approvals *out, struct slice text, const char *name,
                                     struct why *why);

/** Returns the decision on a text, or NULL. */
const struct approval *approvals_find(const struct approvals *approvals, const struct digest *text);

/** Returns whether a decision is a yes to a job of its text, if the journal holds runs_before others of that text. */
bool approval_allows(const struct approval *decision, const struct digest *job, size_t runs_before);

/** Answers whether a person's words can stand in the list: one line of UTF-8 that can be seen, shorter than APPROVAL_WHY_BYTES. */
bool approval_why_is_valid(const char *why);

/** Puts ? in the place of each byte that is no part of a letter that can be seen. */
void approval_make_plain(char *text);

/** Puts a decision in the place of an earlier one on the same text. Fails with STATUS_NO_MEMORY when the list is full. */
MUST_USE enum status approvals_set(struct approvals *approvals, const struct approval *decision);

/** Writes the list as approvals_parse reads it: a malloc'd text, which the caller frees; NULL without memory. */
char *approvals_format(const struct approvals *approvals);

#endif
