/* history.h - the history of a job as tests write it, record by record. */

#ifndef TESTS_UNIT_COORDINATOR_HISTORY_H
#define TESTS_UNIT_COORDINATOR_HISTORY_H

#include "task/outcome.h"

#include <criterion/criterion.h>
#include <string.h>

/* A job's text up to its stages. privacy: unit to epsilon; cohort: its keys, without the deadlines */
#define HISTORY_JOB(privacy, cohort)                                                               \
    "hedgerow: 1\njob: toy\ndata:\n"                                                               \
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"                                     \
    "  features:\n    - {column: u, centre: 0, half_width: 1}\n"                                   \
    "privacy: {" privacy "}\n"                                                                     \
    "cohort: {" cohort ", join_deadline_s: 1, deadline_s: 1}\n"                                    \
    "stages:\n"

/* Local trust at epsilon 1, each record by itself. */
#define HISTORY_LOCAL                                                                              \
    HISTORY_JOB("unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0",       \
                "minimum: 1")

/* Reads the text and begins its history, of the job named 1. */
static inline void history_begin(struct job *job, struct outcome *outcome, const char *text)
{
    struct why why = {{0}};
    struct record begin = {.kind = RECORD_JOB};
    cr_assert_eq(job_parse(job, (struct slice){text, strlen(text)}, "toy", &why), STATUS_OK, "%s",
                 why.text);
    outcome_init(outcome, job, OUTCOME_KEEPS);
    begin.as.job.job.id.byte[0] = 1;
    cr_assert_eq(outcome_add(outcome, job, &begin, (struct slice){0}), STATUS_OK);
}

/* One of its rounds, which these agents answered, so far with nothing. */
static inline struct record history_round(uint32_t round, struct peer *agents, size_t agent_count)
{
    struct record record = {.kind = RECORD_ROUND};
    record.as.round.job.byte[0] = 1;
    record.as.round.round = round;
    record.as.round.agent = agents;
    record.as.round.agent_count = agent_count;
    return record;
}

#endif
