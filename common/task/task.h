/* task.h - what a task says of itself without a record and without a sum: how a stage is read and checked
 * (text.c in the task's folder), how its answers are bounded, what they cost and take (bounds.c). The agent's
 * part is task/answer.h, the coordinator's task/close.h. */

#ifndef TASK_TASK_H
#define TASK_TASK_H

#include "job/draft.h"
#include "job/round.h"
#include "job/terms.h"
#include "job/work.h"

enum task_shared {
    SHARED_LOSS = 1,
    SHARED_LAMBDAS = 2,
    SHARED_TOLERANCE = 4,
    SHARED_EXPERTS = 8,
    SHARED_ROUNDS = 16,
    SHARED_BATCH = 32,
    SHARED_MAP = 64, /* it learns models of a map's features */
    SHARED_NOISE = 128,
    SHARED_OWN_EXPERTS = 256 /* its agents learn alone: experts.own */
};

struct task_text {
    unsigned strategies; /* bits by enum strategy; the lowest one is the default */
    unsigned units;      /* bits by enum job_unit */
    unsigned reads;      /* bits by enum task_shared: keys that several tasks read */
    unsigned needs;      /* of these, those that are required */
    bool keeps_raw;      /* it asks about columns as they stand in the table */
    bool takes_rest;     /* without a share it takes what the other stages' shares leave */
    uint64_t records_most_default; /* cohort.records_most where the job says none; 0: none */
    const char *
        sums_remedy; /* what to do where its noise or sums are too large for a grid that no key sets */

    /* The keys that it alone reads, and the struct that they fill; REQUIRED holds for its stages. A DOC
     * is what the message about a missing key says after "is missing: add ". NULL: none. */
    const struct config_key *own;
    size_t own_bytes;

    /* What only its stages have, in memory that begins zeroed: struct stage.own. */
    size_t stage_bytes;
    void (*free_stage)(void *own); /* frees what it owns; NULL: nothing */

    /** Returns the strategy that replaces `strategy` where answers are exact, or are not; NULL: each serves for both. */
    enum strategy (*strategy_where)(enum strategy strategy, bool exact_answers);

    /** Returns the map of a stage whose text has none, before any stage is built; NULL: none. */
    enum map_kind (*map)(const struct drafting *drafting, size_t index);

    /** Reads what only this task has, and sets rounds, batch, batches and the charge. */
    enum status (*build)(const struct drafting *drafting, size_t index);

    /** Chooses what follows from the noise, once all stages are built and stage_set_sigma is done. NULL: nothing. */
    enum status (*plan)(const struct drafting *drafting, size_t index);
};

/* A round as its bounds see it. */
struct round_asked {
    const struct job *job;
    const struct stage *stage;
    uint32_t within;  /* the round's number inside its stage */
    uint64_t records; /* of the agent; under central trust the least that the job allows */
    size_t experts;   /* that there are */
    struct why *why;  /* of a failure; may be NULL */
};

/* A stage's sizes as numbers that do not overflow. */
struct work_view {
    const struct job *job;
    const struct stage *stage;
    double m;     /* records */
    double rows;  /* of one round */
    double d;     /* features that the stage learns on */
    double width; /* numbers of one of the job's models */
    double outputs;
    double experts;
    struct why *why;
};

enum {
    WORK_NUMBER = sizeof(double),
    WORK_SOLVER_VECTORS = 12, /* of records or features each: newton.c, dual.c, erm_slow.c */
    WORK_SOLVER_ROWS = 128,   /* of features: newton.c's block */
    WORK_PREDICATE_FLOPS = 50 /* of one question about one record */
};

struct terms_setting {
    const struct job *job;
    const struct stage *stage;
    size_t index;
    size_t agents;
    uint64_t records; /* of each agent */
    size_t experts;
};

/* What can help a stage whose noise drowns its signal: cli/plan_job_changes.c tries each. */
enum task_help {
    HELP_RECORDS = 1,
    HELP_LATER_RELEASES = 2,
    HELP_LAMBDA = 4, /* larger ones, or fewer */
    HELP_FEWER_EXPERTS = 8,
    HELP_FEWER_ROUNDS = 16,
    HELP_FEWER_LARGER_ROUNDS = 32, /* of as many records in all */
    HELP_FEATURES = 64,
    HELP_ALWAYS = 128 /* of every stage: a larger epsilon, more agents */
};

struct task_bounds {
    enum round_input input;
    bool is_drawn;      /* where answers are exact: round.h */
    bool draws_means;   /* a drawn round of a unit above a record counts as its mean */
    bool plans_itself;  /* by epsilon and sizes: under another trust it may release other numbers */
    bool rounds_differ; /* in their bounds; else all are as the first */

    /* The time depends on public numbers alone: no branch and no address by a value, and only where
     * tests/property/agent/test_task_trace holds the kernels to it. */
    bool time_is_public;

    unsigned helps; /* bits by enum task_help */

    /** What goes with a round's question; NULL: input. How many numbers its state has; NULL: round_stage_width. */
    enum round_input (*input_of)(const struct stage *stage, uint32_t within);
    size_t (*state_count)(const struct stage *stage);

    /** NULL: none. */
    const struct round_plays *(*plays)(const struct stage *stage);
    const struct query_set *(*queries)(const struct stage *stage);

    /** The rows of a round; NULL where they are the stage's batches in their order, round_rows. */
    struct round_rows (*rows)(const struct stage *stage, uint32_t within);

    /** How many experts join at the stage's start, closing a round appends, or closing the last one; NULL: none. */
    size_t (*experts_at_start)(const struct stage *stage);
    size_t (*experts)(const struct stage *stage, size_t agent_count);
    size_t (*experts_at_end)(const struct stage *stage);

    /** How many of the stage's experts are changed copies of another one, with the prior weight task_doubt; NULL: none. */
    size_t (*experts_changed)(const struct stage *stage);

    /** How many numbers an answer has; NULL: round_stage_width. */
    size_t (*answer_count)(const struct round_asked *asked);

    /** How agents share a round out among them: round.h. NULL: they do not. */
    struct round_groups (*groups)(const struct stage *stage, uint32_t within);
    enum status (*bounds)(struct round_bounds *out, const struct round_asked *asked);

    /** What a round allocates beside the records, and how often it goes through them: work.h. */
    enum status (*need)(struct work_need *out, const struct work_view *view);

    /** Adds the lines of what the stage releases: terms.h. */
    enum status (*describe)(struct terms *terms, const struct terms_setting *setting,
                            struct why *why);

    /** Tells what a rehearsal of the stage has to know: learn/rehearsal.h. NULL: it is not rehearsed.
     * Fails with STATUS_UNSUPPORTED where this one is not, else as describe. */
    enum status (*rehearse)(struct rehearsal *out, const struct terms_setting *setting,
                            struct why *why);
};

#define TASK_PARTS(NAME, name)                                                                     \
    extern const struct task_text task_text_##name;                                                \
    extern const struct task_bounds task_bounds_##name;
TASK_LIST(TASK_PARTS)
#undef TASK_PARTS

const struct task_text *task_text(enum task task);
bool task_reads(enum task task, unsigned shared);
const struct task_bounds *task_bounds(enum task task);

/** Returns the experts that a round of fit or predict appends: the average's, its moved thresholds', the
 * agents' own. */
size_t task_experts_of_fit(const struct stage *stage, size_t agent_count);

/** Returns the prior weight, 0 .. 1, of an expert that is a changed copy of another one of the stage `maker`: by the noise on
 * the losses of the later stage that judges them (task_doubt). 1 where none does, or where one draws from exact losses. */
double task_doubt(const struct job *job, const struct stage *maker);

/* As many as a batch may have. */
#define TASK_RECORDS_MAX 1000000000
#define TERMS_TENTH      0.1
#define TERMS_BAR_MISSES 0.05 /* of a bar that holds with 95 % */

/** The noise on every number of the sum of round `within`. Fails as round_bounds does; noise is then left
 * as it is. */
MUST_USE enum status terms_noise(struct query_noise *noise, const struct terms_setting *setting,
                                 uint32_t within, struct why *why);

/** Its standard deviation: grid steps. Fails likewise. */
MUST_USE enum status terms_deviation(double *steps, const struct terms_setting *setting,
                                     uint32_t within, struct why *why);

/** Adds a line about which nothing is known yet. Returns NULL without memory. */
struct terms_line *terms_add_line(struct terms *terms);

/** Adds it, and tells the deviation of the noise as terms_deviation does. line: NULL on failure. Fails likewise, or with
 * STATUS_NO_MEMORY. */
MUST_USE enum status terms_begin_line(struct terms_line **line, double *steps, struct terms *terms,
                                      const struct terms_setting *setting, uint32_t within,
                                      struct why *why);

/** Adds the line of a number of the agents' average, in units of the label's half_width as predictions
 * are. Fails as terms_noise, with STATUS_NO_MEMORY. */
MUST_USE enum status terms_describe_score(struct terms *terms, const struct terms_setting *setting,
                                          uint32_t within, const char *what, struct why *why);

/** Returns the stage's share of the job's epsilon, in 10^-9: its own, or what the others leave. */
uint64_t stage_share_nano(const struct drafting *drafting, size_t index);

/** Reads `batch` into the stage, whose `first` and `batches` are set. A share becomes that of the fewest
 * records an agent may have. Fails with STATUS_INVALID. */
MUST_USE enum status stage_take_batch(const struct drafting *drafting, size_t index);

/** The same of a batch that the task chooses. Fails likewise. */
MUST_USE enum status stage_take_portion(const struct drafting *drafting, size_t index,
                                        struct config_portion batch);

/** Once all stages are built: plans the plays of losses stages under central trust, and lowers their
 * eta until an agent's ledger will admit the whole job; of all stages of a known horizon alike, in
 * whatever order they are. */
MUST_USE enum status stage_set_draws(const struct drafting *drafting);

/** Refuses a loss that only judges. */
MUST_USE enum status stage_check_learnable(const struct drafting *drafting, size_t index);

/** Reads what fit and predict share: a round and a charge per lambda, tolerance, experts. */
MUST_USE enum status stage_build_fits(const struct drafting *drafting, size_t index);

/** Read lambdas into the stage, none twice; and the experts made of each, or of an update's model. */
MUST_USE enum status stage_build_lambdas(const struct drafting *drafting, size_t index);
MUST_USE enum status stage_build_experts(const struct drafting *drafting, size_t index);

/** Makes the stage's charge one for Gaussian noise; stage_set_sigma does the rest. */
MUST_USE enum status stage_take_gaussian(const struct drafting *drafting, size_t index);

#define STAGE_SHARE_TOO_SMALL                                                                      \
    "leaves an answer less than a millionth of epsilon: raise it, or list fewer lambdas"

/* The most that closing a round may take of the thread that does it: some ten
 * seconds. */
enum { STAGE_FLOPS_MAX_LOG2 = 36 };

/** Returns whether a stage that asks questions has a note about sites, and writes it: that each site's own answer is told by its
 * name, or that the job's trust does not allow it. */
bool stage_has_site_note(const struct job *job, const struct stage *stage, struct why *note);

/* draft.h's refusals, for one stage. */
MUST_USE enum status stage_refuse(const struct drafting *drafting, size_t index, const char *key,
                                  const char *remedy);
bool stage_has(const struct drafting *drafting, size_t index, const char *key);

#endif
