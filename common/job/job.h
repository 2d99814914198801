/* job.h - a job: what is to be learned, from which columns, at what price, in which stages. The
 * text (YAML) is what people write, approve and sign; struct job is what the programs see. */

#ifndef JOB_JOB_H
#define JOB_JOB_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "dp/charge.h"
#include "dp/filter.h"
#include "learn/blocks.h"
#include "learn/loss.h"
#include "learn/schema.h"
#include "task/list.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    JOB_NAME_BYTES = 64,
    JOB_STAGES_MAX = 16,
    JOB_LAMBDAS_MAX = 1000,
    JOB_SHIFTS_MAX = 32,
    JOB_FORECASTERS_MAX = 32,
    JOB_EXPERTS_MAX = 100000,
    JOB_POINTS_MAX = 4096,
    JOB_POINT_NAME_BYTES = 128,
    JOB_AGENT_BYTES = 33,  /* an agent's name, with the byte that ends it */
    JOB_AGENTS_SURE = 256, /* every job's sums have room for this many answers, */
    JOB_AGENTS_MAX = 10000 /* and no job's for more; the protocol's PEERS_MAX */
};

enum job_unit {
    UNIT_RECORD, /* one row */
    UNIT_ROUND,  /* all that one agent contributes to one round */
    UNIT_AGENT,  /* all that one agent holds */
    UNIT_COUNT
};
enum job_trust {
    TRUST_LOCAL,
    TRUST_CENTRAL,
    TRUST_DISTRIBUTED,
    TRUST_COUNT
}; /* trust.h says what differs */
enum job_noise { JOB_NOISE_LAPLACE, JOB_NOISE_GAUSSIAN, JOB_NOISE_COUNT };
enum task {
#define TASK_NUMBER(NAME, name) TASK_##NAME,
    TASK_LIST(TASK_NUMBER)
#undef TASK_NUMBER
        TASK_COUNT /* the size of every table that is indexed by a task */
};
enum strategy {
    STRATEGY_AVERAGE, /* fit: of the models; update: plain steps along the mean gradient;
                         statistics: of the moments; predict: of the answers */
    STRATEGY_RWM,
    STRATEGY_ANSWER,           /* query: the answers with their error bars */
    STRATEGY_NOISY_MIN,        /* select: the least of the noisy scores; local trust */
    STRATEGY_EXPONENTIAL,      /* select: the exponential mechanism; central trust */
    STRATEGY_PERMUTE_AND_FLIP, /* select: central trust */
    STRATEGY_MOMENTUM,         /* update */
    STRATEGY_ADAM,             /* update */
    STRATEGY_THEOREM,          /* losses; central trust: experts/hedge.h */
    STRATEGY_DARTBOARD,        /* losses; central trust */
    STRATEGY_EPOCHS,           /* losses; central trust */
    STRATEGY_COUNT
};

struct stage {
    enum task task;
    enum strategy strategy;
    struct schema schema; /* the job's with the map that the stage learns on alone, or all of it;
                             borrows */
    struct block block;   /* its features among the job's: learn/blocks.h */
    bool has_own_map;     /* the stage says it, not the data section */
    uint64_t
        epsilon_micro;     /* of the whole stage, for one agent's record: share * total, down; 0 for
                               Gaussian noise, which takes what the pure stages leave of the limit */
    struct charge charge;  /* of one pass over the records; without its pass and rows */
    struct loss loss;      /* fit, predict: what is minimised; losses: how an expert is judged */
    uint32_t rounds;       /* fit, predict: one per lambda */
    uint32_t batch;        /* records each agent looks at in a round; 0: all it has */
    uint32_t batch_nano;   /* batch is this share of an agent's records: round_batch; 0: a number */
    uint64_t records_most; /* of one agent that a share is of: more count as these; 0: no share */
    uint32_t batches;      /* rounds of one pass: they look at different records */
    uint32_t
        turns; /* learn: rounds of one pass, in one of which an agent looks, at all of its records; 0: none */
    unsigned grid_bits;  /* the grid's step is 2^-grid_bits */
    bool state_is_short; /* update: agents see the weights in 4 bytes a number */
    bool experts_own;    /* fit, predict: each agent's own released model becomes an expert too */
    bool differs_older;  /* job_parse_older plans other rounds */
    bool by_site;        /* query: each agent's own released answer is kept and told by its name */

    /* fit, predict, and of these statistics the first two */
    double *lambda; /* (lambda_count), owned */
    size_t lambda_count;
    double tolerance;  /* r_tol or G_tol of the solver: erm.h */
    double own_weight; /* prior weight of an agent's own model; an average's is 1 */
    double *shift; /* (shift_count) added to a model's f: experts with moved thresholds; owned */
    size_t shift_count;

    uint64_t first; /* losses: how many records, at the beginning of the order, are not looked at */
    void *own;      /* what only its task has, in the task's stage.h; owned */
};

struct job {
    char name[JOB_NAME_BYTES];
    char data_set
        [SCHEMA_NAME_BYTES]; /* whose records the job asks about, by the sites' dictionaries; "": any */
    struct schema schema; /* with a block of features for every map that is used */
    enum job_unit unit;
    enum job_trust trust;
    uint64_t epsilon_micro; /* total, for one agent's record */
    uint64_t delta_atto;
    struct filter filter;   /* of that total */
    uint64_t records_least; /* that every agent says it has; 0: not said */
    uint64_t records_most;  /* that one agent's answer may speak for, of shares; 0: not said */
    uint32_t cohort_min;
    uint32_t dishonest; /* of a masked round's sites, that may help the coordinator; 0: no masks */
    uint32_t honest;    /* how many shares of noise make one whole */
    uint32_t deadline_ms;      /* of a round, from its opening */
    uint32_t patience_ms;      /* how much longer it stays open below cohort_min answers */
    uint32_t join_deadline_ms; /* of the first round: until cohort_min agents are ready */
    char (*agent)
        [JOB_AGENT_BYTES]; /* (agent_count) the agents that the job asks, sorted, owned; none: every
                            * admitted agent */
    size_t agent_count;
    struct stage *stage; /* (stage_count), owned */
    size_t stage_count;
};

/**
 * Reads a job's text. An unknown, missing, doubled or ill-typed key, a value out of range and a
 * contradiction between values are refused with line, column, key and remedy; so are sums that
 * JOB_AGENTS_SURE agents, or cohort.minimum if that is more, could overflow. A delta is a limit like epsilon, which only Gaussian noise
 * and repeated draws use.
 *
 * job   out  whole, or zeroed on failure; job_free
 * text  in   at most 64 KiB of YAML
 * name  in   how the text is called in messages, for example the file's name
 *
 * Fails with STATUS_INVALID, STATUS_UNSUPPORTED, STATUS_NO_MEMORY.
 */
MUST_USE enum status job_parse(struct job *job, struct slice text, const char *name,
                               struct why *why);

/* Which programs have begun a job, where that makes another job of its text. The numbers are those of a WELCOME. Up to protocol
 * version 4 `learn` tries no products of columns, and takes two steps in some places where three are better. Up to version 5 it
 * shares no columns out. Up to version 6 a `correlate` deals its records out to parts, in place of fourth moments, and
 * `learn` looks at columns once. Up to version 7 no iterate of it is an expert. Up to version 8
 * it looks less at the columns of a label that is a number. */
enum job_age {
    JOB_OF_NOW = 0,
    JOB_UP_TO_4 = 1,
    JOB_OF_5 = 2,
    JOB_OF_6 = 3,
    JOB_OF_7 = 4,
    JOB_OF_8 = 5
};

/** Returns a job's age by what its record in a journal says; protocol 0: by the other two. */
enum job_age job_age_of(bool trees, bool shares, uint32_t protocol);

/** Returns the latest protocol version that has this age (job_age_of). Later programs read it too. */
uint32_t job_age_version(enum job_age age);

/** Reads the text of a job as the programs did that have begun it. As job_parse. */
MUST_USE enum status job_parse_older(struct job *job, struct slice text, enum job_age age,
                                     const char *name, struct why *why);

/** Returns whether job_parse_older makes another job of the text of this one. */
bool job_differs_older(const struct job *job);

void job_free(struct job *job);

/** Returns whether the job asks the agent of that name. */
bool job_asks(const struct job *job, const char *name);

/** Returns whether there may be an agent that both jobs ask. */
bool job_shares_agents(const struct job *a, const struct job *b);

/** Returns how many rounds the job has; rounds are numbered through all stages, from 0. */
uint32_t job_round_count(const struct job *job);

/** Returns the stage that round belongs to; *within becomes its number inside the stage. CHECKs the
 * range. */
const struct stage *job_stage_of(const struct job *job, uint32_t round, uint32_t *within);

/** Returns how many experts join when the stage starts: its forecasters. */
size_t job_experts_at_start(const struct stage *stage);

/** Returns how many new experts closing one of the stage's rounds appends, with agent_count answers
 * in; but of `update`, whose last round appends the model and its moved thresholds. */
size_t job_experts_of_round(const struct stage *stage, size_t agent_count);

/** Returns whether a stage learns experts, and how many it adds: its rounds together, or its
 * forecasters. */
bool job_makes_experts(const struct stage *stage);
size_t job_experts_of_stage(const struct stage *stage, size_t agent_count);

/** Returns how many experts there are when stage `index` begins: those of the stages before and the
 * forecasters of its own. */
size_t job_experts_at(const struct job *job, size_t index, size_t agent_count);

/** Returns how many records an agent needs at least to take part in every stage: what the stages'
 * passes look at, and what the job says outright. */
uint64_t job_records_min(const struct job *job);

/** Returns whether a stage's batch is a share of each agent's records. */
bool job_has_shares(const struct job *job);

/**
 * Makes batches that are shares those of an agent of that many records. job_parse has made them those of
 * an agent that holds job_records_min, for which plays under trust central are planned. Plans and
 * prices do not change: nothing that is charged depends on a share.
 *
 * records  in  what the agent's data dictionary states: public. Shares are of at most the job's
 *              records_most
 *
 * Fails with STATUS_INVALID when there are too few records, or so many that a round's sums could
 * overflow; why says which. The job is then unfit for this agent.
 */
MUST_USE enum status job_settle(struct job *job, uint64_t records, struct why *why);

/** Returns how many agents' answers add up without overflow in every stage, by the job's text alone: a round counts no
 * more. JOB_AGENTS_SURE or cohort.minimum at least, JOB_AGENTS_MAX at most. Where each agent's own answer is kept, for the
 * experts or by its name, it is the least. Cost: that of reading the job, a few times. */
size_t job_agents_most(const struct job *job);

/** Returns whether that many agents' answers about that many records each add up without overflow. */
bool job_batch_fits(const struct job *job, const struct stage *stage, uint32_t batch,
                    size_t agents);

/** Returns the loss that the job's last stage which makes experts is about; without one the
 * squared of a number, the logistic of classes. */
struct loss job_loss(const struct job *job);

/** Return an enum's name as in a job's text, or NULL after the last one; they serve parsing (as
 * struct config_key.choice) and printing alike. */
const char *task_name(unsigned task);
const char *strategy_name(unsigned strategy);
const char *job_unit_name(unsigned unit);
const char *job_trust_name(unsigned trust);
const char *job_noise_name(unsigned noise);

#endif
