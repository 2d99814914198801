/* outcome.h - a job so far, computed from the coordinator's journal alone: the machine's own memory
 * of what is decided (at recovery and after each commit, by the same function), and the history
 * that result.json and the report are made of. Only released values are in it. */

#ifndef TASK_OUTCOME_H
#define TASK_OUTCOME_H

#include "base/status.h"
#include "experts/regret.h"
#include "experts/rwm.h"
#include "job/round.h"
#include "protocol/machine.h"
#include "protocol/message.h"
#include "protocol/record.h"
#include "query/query_between.h"
#include "query/query_run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OUTCOME_NAME_BYTES = 128 };

/* How much of the past an outcome keeps. */
enum outcome_history {
    OUTCOME_FORGETS, /* nothing */
    OUTCOME_SHOWS, /* some rounds of all, evenly spread, and the latest: for a reader while a job runs. No agents, and of a
                      round what a losses stage released, or nothing; and the first answers of the latest predict round */
    OUTCOME_KEEPS  /* all */
};

enum {
    OUTCOME_SHOWN_ROUNDS = 64,
    OUTCOME_SHOWN_EXPERTS = 512,
    OUTCOME_SHOWN_NUMBERS = 2048,
    OUTCOME_SHOWN_ANSWERS = 64
};

struct outcome_expert {
    char name[OUTCOME_NAME_BYTES]; /* "average, lambda 0.003, threshold +0.25" */
    double lambda;
    double weight;  /* before it is judged: 1, an agent's own model's as the job says */
    uint32_t round; /* the round that made it, or before which one that the job writes joined */
    uint32_t
        draws; /* how many answers' noise is in its weights, as a mean; 0: otherwise, or none */
    bool is_written; /* by the job itself: its weights hold no noise */
};

/* A site whose own answer a round tells. */
struct outcome_site {
    struct peer peer;
    uint64_t records; /* that its answer looked at */
};

struct outcome_round {
    enum task task;
    uint32_t round;
    uint32_t agent_count;
    uint64_t records; /* that the answers looked at, where the job says a share; else 0 */
    bool failed;
    uint32_t chosen;
    size_t expert_count; /* that there were at its end */
    double seconds;
    uint64_t epsilon_micro; /* spent so far by an agent that answered every round */
    double *loss;           /* (expert_count) losses rounds: the noisy mean losses; owned */
    double *weight;         /* (expert_count) losses rounds: RWM's probabilities after it; owned */
    double weight_noise;    /* the deviation of the noise in the logarithm of each; else NAN */
    char *note;             /* what a select round picked; owned */
    struct query_answer *answer; /* (answer_count) of a query stage, of a predict round; owned */
    size_t answer_count;
    struct query_point *point; /* (point_count) of a query stage's curves; owned */
    size_t point_count;
    struct query_effect *effect; /* (effect_count) of a query stage by site; owned */
    size_t effect_count;
    struct between_site *site;    /* (effect_count, site_count) owned */
    struct outcome_site *site_of; /* (site_count) owned */
    size_t site_count;
    double regret_average; /* over the stage's rounds so far; NAN in a fit round */
    double regret_bound;
};

/** Frees what a round owns. */
void outcome_round_free(struct outcome_round *round);

struct outcome_agent {
    struct peer peer;
    uint32_t answers;   /* that were counted */
    struct cost spent;  /* what these answers cost; the agent's own ledger may know of more */
    uint32_t last_pass; /* 1 + the round its latest pass began with: one charge covers it */
};

/* k = expert_count, w = width */
struct outcome {
    enum outcome_history history;
    bool begun; /* the job's own record is there */
    bool trees; /* artifacts have digests of trees; else, in a job of an earlier version, SHA-256 */
    enum job_age age; /* of the program that has begun it */
    struct job_name job_name;
    uint32_t rounds_closed;
    bool finished;
    bool failed;
    bool cancelled; /* it failed because an operator ended it */
    uint32_t chosen;

    double *weights; /* (k, w) the experts, owned */
    size_t expert_count;
    size_t width;
    struct artifact artifact;      /* of weights, little-endian */
    struct outcome_expert *expert; /* (k) owned */

    /* of the stage under way or just ended */
    double *state; /* what its next round starts from; owned */
    uint8_t *
        shown; /* what agents see of it, in 4 bytes a number, where that is not its beginning; owned */
    double **offered; /* during outcome_add_own: the record's rows, which it may keep */
    struct peer *
        took; /* (took_count) by name: who took part in the last round, where sites share the next one out; owned */
    size_t took_count;
    struct peer
        *away; /* (away_count) of these: who has yet to look, where sites look by turns; owned */
    size_t away_count;
    bool state_is_old; /* a later round's was dropped from the journal: read on to the latest */
    struct artifact state_artifact; /* of what agents see of it, its beginning */
    struct query_run queries;
    int64_t *
        by_site; /* (site_count, 1 + cells) of a query stage: each site's records and own answer; owned */
    size_t site_count;
    struct hedge_state hedge; /* of a losses stage under central trust: the latest play */
    struct hedge_state hedge_before;
    struct rwm rwm; /* of the losses stage under way or just ended; count 0 without one */
    struct regret regret;
    uint64_t
        segment_rounds;  /* since the play last started anew; all of the stage's where their number
                                is known beforehand */
    double variance_sum; /* of the noise on their mean losses, a term per round */
    struct regret_bound before; /* of the segments before, times their rounds */

    /* the history, as far as it is kept */
    uint32_t stride;             /* every stride-th round is shown */
    struct outcome_round *round; /* (round_count), owned */
    size_t round_count;
    struct outcome_agent *agent; /* (agent_count) sorted by name, owned */
    size_t agent_count;
};

/** Starts empty. The job is borrowed by each call, not kept. */
void outcome_init(struct outcome *outcome, const struct job *job, enum outcome_history history);

/* For a site in a round that sites share out, by the round before. */
enum outcome_turn {
    OUTCOME_TURN_NOW,  /* it was away: *place is its own among these, by name */
    OUTCOME_TURN_OVER, /* it took part, and has looked where sites look by turns: *place is its own among all who took part */
    OUTCOME_TURN_NEW   /* it was not there, or there is no round before */
};
enum outcome_turn outcome_turn_of(uint32_t *place, const struct outcome *outcome,
                                  const struct peer *peer);

/**
 * Adds the next journal record: the job's, then its rounds in order.
 *
 * blob  in  the new experts of the round (rows, w) as little-endian float64
 *
 * Fails with STATUS_CORRUPT (not what can follow), STATUS_NO_MEMORY.
 */
MUST_USE enum status outcome_add(struct outcome *outcome, const struct job *job,
                                 const struct record *record, struct slice blob);
/** The same with rows (bytes) that the caller owns. What the outcome keeps, as they are a stage's state, it takes: *rows is NULL
 * then. */
MUST_USE enum status outcome_add_own(struct outcome *outcome, const struct job *job,
                                     const struct record *record, double **rows, size_t bytes);
void outcome_free(struct outcome *outcome);

/** Returns the average regret of the losses stage so far, and its bound; NAN without one. */
double outcome_regret_average(const struct outcome *outcome);
struct regret_bound outcome_regret_bound(const struct outcome *outcome);

/* For the strategies. */

/** Sets the stage's state: another array than the one that it has. Agents see the first `seen` numbers of it, in 4 bytes each
 * where the stage says so. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status outcome_set_state(struct outcome *outcome, const struct stage *stage,
                                       const double *state, size_t count, size_t seen);
/** Returns what agents see of it: the bytes of state_artifact. */
struct slice outcome_shown(const struct outcome *outcome);
/** The round is closed: nobody needs what agents see of the state any more, where it is another thing than the state. */
void outcome_forget_shown(struct outcome *outcome);
/** Forget the experts' weights of the stage before, or of the segment before, whose regret bound is kept. */
void outcome_forget_stage(struct outcome *outcome);
void outcome_end_segment(struct outcome *outcome);
/** Appends experts (rows, w) of prior weight 1 and returns the first one, for its name. Fails with STATUS_CORRUPT where the blob
 * is not that long, STATUS_NO_MEMORY. */
MUST_USE enum status outcome_add_experts(struct outcome_expert **added, struct outcome *outcome,
                                         size_t rows, struct slice blob);

/** Returns the epsilon spent by an agent that has answered the first `rounds` rounds of the job. */
uint64_t outcome_epsilon_micro(const struct job *job, uint32_t rounds);

/* What an outcome keeps of the past: for readers of the result, also while a job runs. */

/** Adds a closed round, which the outcome's other parts know of. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status history_add_round(struct outcome *outcome, const struct job *job,
                                       const struct stage *stage, const struct record *record);

/** Adds what it cost those who answered. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status history_add_agents(struct outcome *outcome, const struct job *job,
                                        const struct stage *stage, uint32_t within,
                                        const struct record *record);

/** Where sites share the next round out, keeps who took part in the one that the record has closed, and who of them was away;
 * forgets it. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status turn_keep(struct outcome *outcome, const struct job *job,
                               const struct record *record);
void turn_forget(struct outcome *outcome);

#endif
