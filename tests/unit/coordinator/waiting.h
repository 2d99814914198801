/* waiting.h - a coordinator and agents of every kind - prompt, trickling, dead, absent, not ready - in
 * simulated time: whose answers count, how long rounds take, and what the log says. */

#ifndef TESTS_UNIT_COORDINATOR_WAITING_H
#define TESTS_UNIT_COORDINATOR_WAITING_H

#include "coordinator/round_state.h"
#include "tests/support/seeded_random.h"

enum {
    WAITING_AGENTS_MAX = 16,
    WAITING_ROUNDS = 6,
    WAITING_LOG_BYTES = 1 << 16,
    WAITING_PULLS = 8,
    WAITING_BLOB_BYTES = 4096
};

struct waiting_agent {
    bool present; /* says HELLO twice a second */
    bool ready;
    bool mute;        /* never offers */
    bool declines;    /* every round */
    bool refuses;     /* the job: it says so after each HELLO, and is not ready */
    bool is_late;     /* it declines the first round's invitation, whatever round it is */
    bool nags;        /* offers an answer to the first round again with each HELLO */
    uint32_t version; /* of the protocol, where it is another */
    double bytes_per_s;
    int64_t offers_ms; /* not before */

    /* kept by the rig */
    int64_t hello_ms;
    size_t welcomed; /* how often */
    bool invited;
    bool offered;
    struct message invite;
    struct message pull[WAITING_PULLS];
    size_t pull_count;
    double credit;
    uint32_t rounds_closed;
};

struct waiting {
    struct job job;
    struct column *columns; /* of a large job, owned */
    struct seeded_random seeded;
    struct random random;
    struct slice cancelled; /* before the next start: coordinator_options */
    struct coordinator *coordinator;
    struct machine machine;
    struct effects effects;
    int64_t now_ms;
    int64_t wall_ms;       /* of the wall's clock, at now_ms 0 */
    int64_t begun_wall_ms; /* what the first record says */
    size_t agent_count;
    struct waiting_agent agent[WAITING_AGENTS_MAX];
    struct digest job_id;
    uint32_t older;    /* the latest WELCOME says it */
    bool trees;        /* waiting_rerun leaves a record of version 5 or 6, not of before */
    bool shares;       /* of 6 or 7 */
    uint32_t protocol; /* of 7 */
    uint8_t *answer;   /* (answer_bytes) zeros: every agent's answer */
    size_t answer_bytes;
    struct digest answer_digest;
    size_t commits;
    struct record round[WAITING_ROUNDS]; /* (round_count) as committed */
    uint8_t blob[WAITING_BLOB_BYTES];    /* (blob_bytes) the latest round's; 0: none, or larger */
    size_t blob_bytes;
    int64_t closed_ms[WAITING_ROUNDS];
    size_t round_count;
    bool finished;
    int exit_code;
    struct log log;
    char said[WAITING_LOG_BYTES]; /* "event peer: text" lines of info and above */
    size_t said_bytes;
};

/** Starts a job of six fit rounds for a number of agents, present and prompt until the caller changes
 * that. cohort is the job's text for `cohort`; large: answers of 2 MiB. */
void waiting_init(struct waiting *rig, size_t agent_count, const char *cohort, bool large);
void waiting_free(struct waiting *rig);

/** Lets time pass until a number of rounds are closed, or for at most some milliseconds. Returns whether
 * they are closed. */
bool waiting_run(struct waiting *rig, size_t rounds, int64_t ms);

/** The list now has the first `count` agents alone. */
void waiting_list(struct waiting *rig, size_t count);

/** The transport cut an agent. */
void waiting_cut(struct waiting *rig, size_t agent);

/** An operator cancels the job, or nobody has: the text of the followed file. */
void waiting_cancel(struct waiting *rig, const char *by);

/** Ends the coordinator and begins another from the latest round's record; or from the job's alone. */
void waiting_rerun(struct waiting *rig);

/** Returns whether a round's outcome names that agent; whether the log says both words in one line. */
bool waiting_counted(const struct waiting *rig, size_t round, size_t agent);
bool waiting_said(const struct waiting *rig, const char *event, const char *words);

#endif
