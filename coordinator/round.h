/* round.h - the coordinator's machine: opens rounds, invites, pulls answers into staging, adds them
 * up, closes a round at its deadline or when everybody has answered, commits the outcome, releases
 * it. */

#ifndef COORDINATOR_ROUND_H
#define COORDINATOR_ROUND_H

#include "base/log.h"
#include "base/random.h"
#include "coordinator/shown.h"
#include "job/job.h"
#include "protocol/machine.h"
#include "task/outcome.h"

struct coordinator;

struct coordinator_options {
    const struct job *job;       /* kept; parsed from text */
    struct slice text;           /* kept; the job's exact bytes, sent to agents */
    const struct random *random; /* kept: the job's nonce, the RWM's draws */
    const struct log *log;       /* kept */
    struct slice cancelled; /* kept: the queue's file `cancel` at the start; empty: nobody has */
    struct dictionary_sink dictionaries;
    uint64_t answer_bytes_max; /* refuse larger vectors up front */
    uint64_t whole_bytes_max;  /* inputs up to here go with the invitation; 0: none */
    uint32_t linger_ms;        /* after the job's end: how long absent agents are waited for */
    bool shows;            /* somebody may look at it: rounds are kept, as OUTCOME_SHOWS has them */
    const char *collector; /* kept; this one is the collector of that name; NULL or "": it leads */
    const struct peer *collectors; /* (collectors_count) kept; that it has, where it leads */
    size_t collectors_count;
    uint32_t
        settle_ms; /* how long a round waits for an agent that is present but never was ready */
};

/** Makes the machine. Fails with STATUS_NO_MEMORY, or STATUS_INVALID when the job cannot be carried
 * out within answer_bytes_max. Memory: one sum, one staging vector, the experts; nothing per agent
 * but names and flags. */
MUST_USE enum status coordinator_new(struct coordinator **out,
                                     const struct coordinator_options *options);
void coordinator_free(struct coordinator *coordinator);

/** Answers whether a job's vectors are within answer_bytes_max. */
bool coordinator_fits(const struct job *job, uint64_t answer_bytes_max);

/** Returns the machine's face for a driver; valid as long as the coordinator. */
struct machine coordinator_machine(struct coordinator *coordinator);

/* What the coordinator's page shows of the machine: nothing that its log does not say. */
struct coordinator_view {
    const char *phase; /* "open" */
    struct digest id;  /* of the job; none before it has begun */
    const char *stage; /* the task of the round that is under way or next; "" after the last one */
    uint32_t closed;   /* rounds */
    uint32_t planned;  /* rounds */
    bool failed;       /* the job */
    size_t ready;      /* of its own agents */
    size_t ready_all;  /* and of those of its collectors */
    size_t undecided;  /* of a collector's agents: connected, and said neither yes nor no; else 0 */
    size_t unready;    /* of its own agents: connected once, neither ready nor declining the job */
    size_t refusing;   /* of its own agents: decline the job */
    uint64_t open;     /* 1 + the round whose answers it takes, or 0 */
    uint64_t settled;  /* a collector: 1 + the round to which it has nothing more to add, or 0 */
    size_t answers;    /* of its own agents, to the open round */
    int64_t deadline_ms;    /* of the open round */
    bool over;              /* the job */
    size_t collector_count; /* that it has */
    size_t agent_count;     /* admitted ones, and those that were revoked during this round */
};

/* In the order of the machine's states; the view's word is among them. */
extern const char *const coordinator_phases[];
extern const size_t coordinator_phase_count;

/* What an agent does in the open round, or does not. */
extern const char *const coordinator_agent_states[];
extern const size_t coordinator_agent_state_count;

/** Returns what has come of the job so far, borrowed until the next step: with its history, if the options said `shows`. */
const struct outcome *coordinator_look_outcome(const struct coordinator *coordinator);

/** Looks at a machine between two steps. */
struct coordinator_view coordinator_look(const struct coordinator *coordinator);

/** Writes the names of its own agents that have declined the job into text (size), ", ..." after those for which there is room;
 * "" where none has. */
void coordinator_look_refusing(const struct coordinator *coordinator, char *text, size_t size);

/** Logs, if the job is over, which of its own agents have not said that they heard of the end. For a machine that is given up
 * before it has finished. */
void coordinator_tell_unheard(const struct coordinator *coordinator);

/** Returns the name of collector number index, below collector_count, borrowed; ready: out, its agents that are, 0 while it says
 * nothing. */
const char *coordinator_look_collector(const struct coordinator *coordinator, size_t index,
                                       uint64_t *ready);

/** Returns the name of agent number index, below agent_count, borrowed until the next step. state: out, an index into
 * coordinator_agent_states. */
const char *coordinator_look_agent(const struct coordinator *coordinator, size_t index,
                                   int64_t now_ms, size_t *state);

#endif
