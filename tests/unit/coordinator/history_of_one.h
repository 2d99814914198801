/* history_of_one.h - the one history that a file of tests writes on, by two agents. The file begins it in setup(). */

#ifndef TESTS_UNIT_COORDINATOR_HISTORY_OF_ONE_H
#define TESTS_UNIT_COORDINATOR_HISTORY_OF_ONE_H

#include "tests/unit/coordinator/history.h"

enum { AGENTS = 2 };

static struct job job;
static struct outcome outcome;
static struct peer agents[AGENTS] = {{"a"}, {"b"}};

static inline void teardown(void)
{
    outcome_free(&outcome);
    job_free(&job);
}

#endif
