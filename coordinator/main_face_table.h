/* main_face_table.h - the table of what the coordinator's page, its metrics and its status tell, and who fills the rows of it. */

#ifndef COORDINATOR_MAIN_FACE_TABLE_H
#define COORDINATOR_MAIN_FACE_TABLE_H

#include "coordinator/main_face.h"
#include "http/facts_common.h"

enum face_row {
    ROW_JOB,
    ROW_PHASE,
    ROW_STAGE,
    ROW_FAILED,
    ROW_CLOSED,
    ROW_PLANNED,
    ROW_NEEDED,
    ROW_READY,
    ROW_EPSILON_SPENT,
    ROW_EPSILON_PLANNED,
    ROW_DELTA_SPENT,
    ROW_DELTA_PLANNED,
    ROW_LAST_RELEASE,
    ROW_LAST_SECONDS,
    ROW_SECONDS,
    ROW_LAST_AGENTS,
    ROW_AGENTS,
    ROW_AGENT,
    ROW_COLLECTOR,
    ROW_FETCH_BYTES,
    ROW_FETCH_AGENTS,
    ROW_FETCH_HELD,
    ROW_FETCH_REPEATED,
    ROW_FETCH_CUT,
    ROW_LATEST,
    ROW_LEFT,
    ROW_REGRET,
    ROW_REGRET_BOUND,
    ROW_WAITING,
    ROW_ASIDE,
    ROW_QUEUE,
    ROW_RESULTS,
    ROW_COMMON, /* the first of FACTS_COMMON */
    FACE_ROWS = ROW_COMMON + FACTS_COMMON_COUNT
};

extern const struct fact_family face_family[FACE_ROWS];

/** Adds the figures of a job that runs; rounds: also its latest rounds, one by one. */
void face_add_run(struct facts *facts, struct face_run *run, bool rounds);

/** Adds what is left of the job that ended last, where it does not run again. */
void face_add_ended(struct facts *facts, struct face *face);

/** Adds what the agents do, each once: those of the jobs that run and, of a queue, those whom no job asks. */
void face_add_agents(struct facts *facts, const struct face *face);

#endif
