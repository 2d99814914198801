/* plan.h - what a seed decides: the job's times, and which faults there are and how often. */

#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "support/dice.h"

#include <stdbool.h>
#include <stdint.h>

/* Wrong programs and wrong disks that the checkers have to notice. */
enum planted {
    PLANTED_NOTHING,
    PLANTED_SEND_BEFORE_COMMIT, /* COMMITTED is told before the record is durable */
    PLANTED_FRESH_NOISE,        /* after a crash the journal's answers are not read back */
    PLANTED_HALF_CHARGE,        /* the record tells half of what was spent */
    PLANTED_SHORT_WINDOW,       /* the agents' allowance of days ends half its days early */
    PLANTED_FULL_AGAIN,         /* every batch is charged as a pass of its own */
    PLANTED_DOUBLE_COUNT,       /* one agent's answer is in the sum twice */
    PLANTED_LOST_ANSWER,        /* a listed agent's answer is not in the sum */
    PLANTED_OTHER_BYTES,        /* what is sent again is not what was committed */
    PLANTED_OUTCOME_CHANGES,    /* after a crash the last round is forgotten and played again */
    PLANTED_TWO_OUTCOMES,       /* one agent is told another outcome than the rest */
    PLANTED_RELEASE_EARLY,      /* the outcome is told before it is durable */
    PLANTED_REVOKED_COUNTS,     /* a stranger is let in */
    PLANTED_MUTE,               /* agents do not repeat themselves */
    /* under central trust */
    PLANTED_NOISE_TWICE,      /* the curator adds its noise again */
    PLANTED_NOISE_MISSING,    /* or never */
    PLANTED_EXACT_JOURNALED,  /* an exact answer is written down */
    PLANTED_DIGEST_JOURNALED, /* or its digest */
    PLANTED_EXACT_FREE,       /* an exact answer's record charges nothing */
    PLANTED_CURATOR_FORGETS,  /* after a crash the curator has spent nothing */
    PLANTED_OTHER_RECORDS,    /* after a crash an exact answer is of other records */
    PLANTED_FORGET_EARLY,     /* a state goes before the one after it is durable */
    /* under distributed trust */
    PLANTED_ROSTER_EARLY, /* a roster is told before it is durable */
    PLANTED_SETTLE_EARLY, /* so are the survivors */
    PLANTED_SIGN_EARLY,   /* an agent signs a list before it is durable */
    PLANTED_TWO_LISTS,    /* after a crash the coordinator does not know whom it named */
    PLANTED_KEYS_EARLY,   /* keys leave before they are durable */
    PLANTED_TWO_KEYS,     /* after a crash a site has forgotten its keys */
    PLANTED_NOT_WIPED,    /* what opens an answer's masks is forgotten and not overwritten */
    PLANTED_MASK_LOST,    /* one survivor's answer keeps a mask in the sum */
    /* where coordinators share a job */
    PLANTED_NO_FENCE,   /* the term is not checked where something is written */
    PLANTED_RETRIED,    /* a commit whose outcome is unknown is written again, as the next record */
    PLANTED_READ_AGAIN, /* after one the journal is read again, under the same term */
    /* where some of them collect */
    PLANTED_PART_BENT,     /* a collector's sum is not that of its agents' answers */
    PLANTED_SETTLED_EARLY, /* it says that it has handed everything in as soon as a round is open */
    PLANTED_COUNT
};

/* Which job: what a coordinator may see, and what is asked. */
/* What comes before the losses under local trust: two rounds in each. */
enum local_trial {
    LOCAL_FITS,
    LOCAL_ANSWERS, /* second moments and a kernel model's answers */
    LOCAL_STREAM, /* a stream's two releases; an expert that the job writes down joins after them */
    LOCAL_SITES   /* two rounds of questions, each site's own answers kept by its name; likewise */
};

enum trial {
    TRIAL_LOCAL,     /* fits and losses, every agent with noise of its own */
    TRIAL_PLAYS,     /* central trust: fits, and two plays on exact losses */
    TRIAL_GAUSSIAN,  /* central trust: gradient rounds */
    TRIAL_QUESTIONS, /* central trust: queries and a selection */
    TRIAL_MASKED,    /* distributed trust: fits and losses */
    TRIAL_COUNT
};

struct plan;
/** Whether the job's trust is central. */
bool plan_is_central(const struct plan *plan);

const char *planted_name(enum planted planted);

struct plan {
    uint64_t seed;
    enum planted planted;
    enum trial trial;
    enum local_trial local;   /* of TRIAL_LOCAL */
    uint64_t whole_bytes_max; /* of both programs */
    bool doubling;            /* of TRIAL_PLAYS: their horizon is unknown */
    bool faulty;
    bool patient;  /* deadlines are long enough for every agent, and nobody lies: then the job must
                      end as without any fault */
    bool earlier;  /* the agents have done the same job before; its frames come again */
    bool approved; /* the agents' operators have the job's text already */
    uint32_t cohort_min;
    uint32_t deadline_s;
    uint32_t join_deadline_s;
    uint32_t patience_s;
    uint32_t settle_ms;
    uint32_t slot_ms;
    uint32_t linger_ms;
    bool work_at_start; /* work() runs when it is asked for, or when it is reported done */
    bool reboots;       /* a crash may restart the monotonic clock too */
    int64_t faults_end_ms;
    uint32_t chaos_ms; /* mean time between the things that happen to the world */
    uint32_t delay_ms_max;
    uint32_t work_ms_max;
    uint32_t commit_ms_max;
    uint32_t crash_ms_max; /* how long a crashed program stays down */

    /* how often, in 1000 frames */
    unsigned lost;
    unsigned doubled;
    unsigned delayed;
    unsigned cut_short;
    unsigned flipped;
    /* how often, in 1000 chances of their kind */
    unsigned journal_fails;
    unsigned random_fails;
    unsigned crash_between; /* between two effects */
    /* weights among the things that happen to the world */
    unsigned crash;
    unsigned partition;
    unsigned dead_link;
    unsigned replay;
    unsigned junk;
    unsigned stranger;
    unsigned tick;
    unsigned clock_jump;
    unsigned liar;
    unsigned mallory; /* also: whether the hostile agent is admitted */
    unsigned revoke;

    /* where several share a job */
    unsigned coordinators; /* how many; 1: a journal of its own */
    /* how often, in 1000 */
    unsigned
        statement; /* of the records written in the database: it goes wrong; of the rest, an eighth */
    unsigned held_up;      /* before and after each: its asker does not run for a while; likewise */
    unsigned held_between; /* likewise, between two effects */
    uint32_t hold_ms_max;
    unsigned collectors; /* of these: processes 1 to collectors collect */
    bool joined;         /* the job's text is one that may have collectors */
    size_t group[8];     /* by peer: which process has it on its list; 0: those that may lead */
    /* weights */
    unsigned stop;          /* a coordinator is stopped */
    unsigned database_stop; /* the database */
    unsigned database_cut;  /* a coordinator does not reach it */
};

void plan_draw(struct plan *plan, uint64_t seed, enum planted planted);

/** Two or three coordinators share the job, and their database fails as well. */
void plan_share(struct plan *plan);

/** A coordinator leads a job, or two take turns, and two collect; the agents are divided over them. */
void plan_collect(struct plan *plan);

/** The same job and times without any fault: what the others are compared with. */
void plan_calm(struct plan *plan, uint64_t seed);

#endif
