/* outcome.h - a job's history so far, computed again from the coordinator's journal: what result.json,
 * model.json and the report are made of. Only released values. */

#ifndef COORDINATOR_OUTCOME_H
#define COORDINATOR_OUTCOME_H

#include "base/status.h"
#include "job/job.h"
#include "protocol/machine.h"
#include "protocol/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outcome_expert {
    char name[96];
    double lambda;
};

struct outcome_round {
    enum task task;
    uint32_t round;
    uint32_t agent_count;
    bool failed;
    uint32_t chosen;
    double seconds;
    double epsilon;        /* spent so far by an agent that answered every round */
    double *loss;          /* (expert_count) losses rounds: the noisy mean losses; owned */
    double *weight;        /* (expert_count) losses rounds: RWM's probabilities after it; owned */
    double regret_average; /* over the losses rounds so far */
    double regret_bound;
};

struct outcome_agent {
    struct peer peer;
    uint32_t answers;       /* that were counted */
    uint64_t epsilon_micro; /* what these answers cost this agent; its own ledger may know of more */
};

struct outcome {
    struct job_name job_name;
    bool finished;
    bool failed;
    struct outcome_round *round; /* (round_count), owned */
    size_t round_count;
    struct outcome_expert *expert; /* (expert_count), owned */
    size_t expert_count;
    double *weights; /* (expert_count, feature_count) the experts' weights, owned */
    size_t feature_count;
    struct outcome_agent *agent; /* (agent_count), by name, owned */
    size_t agent_count;
    uint32_t chosen;
    double regret_average; /* NAN without a losses round */
    double regret_bound;   /* tight; with the noise term */
};

/** Starts an empty history of a job (borrowed as long as the outcome lives). */
void outcome_init(struct outcome *outcome, const struct job *job);

/** Adds the next journal record. Fails with STATUS_CORRUPT or STATUS_NO_MEMORY. */
MUST_USE enum status outcome_add(struct outcome *outcome, const struct job *job,
                                 const struct record *record, struct slice blob);
void outcome_free(struct outcome *outcome);

#endif
