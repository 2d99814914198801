/* main_face_table.h - the table of what the coordinator's page, its metrics and its status tell, and the functions that fill
 * its rows. */

#ifndef COORDINATOR_MAIN_FACE_TABLE_H
#define COORDINATOR_MAIN_FACE_TABLE_H

#include "coordinator/main_face.h"
#include "http/facts.h"

/* clang-format off */
#define FACE_FACTS(FACT) \
    FACT(ROW_JOB, "job_info", FACT_INFO, true, "The job", "job", "id") \
    FACT(ROW_PHASE, "job_phase", FACT_GAUGE, true, "1 for what the coordinator does with the job", "phase") \
    FACT(ROW_STAGE, "stage_info", FACT_INFO, true, "The stage that is under way or next", "stage") \
    FACT(ROW_FAILED, "job_failed", FACT_GAUGE, true, "1 once the job has failed", NULL) \
    FACT(ROW_CLOSED, "rounds_closed_total", FACT_COUNTER, true, "Rounds of the job that were closed and released", NULL) \
    FACT(ROW_PLANNED, "rounds_planned", FACT_GAUGE, true, "Rounds that the job has", NULL) \
    FACT(ROW_NEEDED, "agents_needed", FACT_GAUGE, true, "Agents that a round needs: the job's cohort.minimum", NULL) \
    FACT(ROW_EPSILON_SPENT, "epsilon_spent", FACT_GAUGE, true, "What each record has spent so far in this job", NULL) \
    FACT(ROW_EPSILON_PLANNED, "epsilon_planned", FACT_GAUGE, true, "The job's epsilon", NULL) \
    FACT(ROW_DELTA_SPENT, "delta_spent", FACT_GAUGE, true, "What each record has spent so far in this job", NULL) \
    FACT(ROW_DELTA_PLANNED, "delta_planned", FACT_GAUGE, true, "The job's delta", NULL) \
    FACT(ROW_LAST_RELEASE, "last_release_timestamp_seconds", FACT_GAUGE, true, "When the latest round was released, in seconds since 1970", NULL) \
    FACT(ROW_LAST_SECONDS, "last_round_seconds", FACT_GAUGE, true, "How long the latest round took, from its opening to its closing", NULL) \
    FACT(ROW_SECONDS, "round_seconds_total", FACT_COUNTER, true, "How long all closed rounds took together", NULL) \
    FACT(ROW_LAST_AGENTS, "last_round_agents", FACT_GAUGE, true, "Agents whose answers the latest round has", NULL) \
    FACT(ROW_READY, "agents_ready", FACT_GAUGE, true, "Agents of the job that are connected and ready for its rounds", NULL) \
    FACT(ROW_AGENTS, "agents", FACT_GAUGE, false, "Agents of the allow-list by what they do: in the open round of the job that asks them, or without a job", "state") \
    FACT(ROW_AGENT, "agent_info", FACT_INFO, false, "What each agent does", "agent", "state") \
    FACT(ROW_COLLECTOR, "collector_agents_ready", FACT_GAUGE, true, "Agents of each collector that are ready; 0 while it says nothing", "collector") \
    FACT(ROW_FETCH_BYTES, "fetch_waiting_bytes", FACT_GAUGE, false, "Bytes that were sent to agents and have not reached them, while agents fetch", NULL) \
    FACT(ROW_FETCH_AGENTS, "fetch_waiting_agents", FACT_GAUGE, false, "Agents that wait for their turn to be sent a piece", NULL) \
    FACT(ROW_FETCH_HELD, "fetches_held_total", FACT_COUNTER, false, "Pieces that were asked for and had to wait for their turn", NULL) \
    FACT(ROW_FETCH_REPEATED, "fetches_repeated_total", FACT_COUNTER, false, "Pieces that were asked for again while they waited, and were not sent twice", NULL) \
    FACT(ROW_FETCH_CUT, "fetches_not_taken_total", FACT_COUNTER, false, "Connections that were cut as their agents did not take their pieces", NULL) \
    FACT(ROW_LATEST, "latest_rounds", FACT_LIST, true, "The latest rounds, the newest first", "closed", "round", "stage", "agents", "seconds") \
    FACT(ROW_LEFT, "job_left_seconds", FACT_GAUGE, true, "How long the rounds that are left take at the pace so far", NULL) \
    FACT(ROW_REGRET, "regret_average", FACT_GAUGE, true, "What the choice has cost so far: loss a round above the best candidate's, from released losses", NULL) \
    FACT(ROW_REGRET_BOUND, "regret_bound", FACT_GAUGE, true, "What that is expected to be at most", NULL) \
    FACT(ROW_WAITING, "jobs_waiting", FACT_GAUGE, false, "Jobs of the queue whose turn has not come", NULL) \
    FACT(ROW_ASIDE, "jobs_set_aside", FACT_GAUGE, false, "Jobs of the queue that have begun and cannot go on unless a person acts", NULL) \
    FACT(ROW_QUEUE, "queue", FACT_LIST, false, "The latest jobs of the queue, the newest first", "number", "state", "rounds", "agents", "left", "waits", "job", "because") \
    FACT(ROW_RESULTS, "results", FACT_LIST, false, "Files of the latest finished jobs, for download", "number", "job", "file")
/* clang-format on */

/* ROW_COMMON is the first of FACTS_COMMON. */
enum face_row { FACE_FACTS(FACT_NUMBER) ROW_COMMON, FACE_ROWS = ROW_COMMON + FACTS_COMMON_COUNT };

extern const struct fact_family face_family[FACE_ROWS];

/** Adds the figures of a job that runs; rounds: also its latest rounds, one by one. */
void face_add_run(struct facts *facts, struct face_run *run, bool rounds);

/** Adds what is left of the job that ended last, where it does not run again. */
void face_add_ended(struct facts *facts, struct face *face);

/** Adds what the agents do, each once: those of the jobs that run and, with a queue, those that no job
 * asks. */
void face_add_agents(struct facts *facts, const struct face *face);

#endif
