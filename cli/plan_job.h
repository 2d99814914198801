/* plan_job.h - a job's terms, and what a change of the job would make of them: every advice of the
 * planner is a plan of its own. */

#ifndef CLI_PLAN_JOB_H
#define CLI_PLAN_JOB_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "job/again.h"
#include "job/job.h"
#include "job/terms.h"
#include "job/work.h"
#include "learn/rehearsal.h"

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

enum {
    PLAN_ADVICE_BYTES = 512,
    PLAN_ADVICE_MAX = 12,
    PLAN_CHANGES_MAX = 2 * JOB_STAGES_MAX + 7,
    JOB_EXPECTED_MAX = 18, /* epsilons, under all trusts */
    PLAN_PATH_BYTES = 128,
    PLAN_SET_BYTES = 16 * 1024 /* a list of as many lambdas as a job may have */
};

struct job_plan {
    struct job job;                     /* owned */
    struct terms stage[JOB_STAGES_MAX]; /* (job.stage_count), owned */
    struct terms_size size;
    struct price price; /* the whole job's, for one agent's record */
    bool admitted;      /* an agent's ledger of the job's own limit will admit it */
};

/* A job's text, and changes that are tried on it. */
struct job_source {
    struct slice text;
    const char *name;
    struct terms_size size; /* records 0: as many as the job says or needs */
};

/* Large: never on a stack that is small. */
struct job_changes {
    char set[PLAN_CHANGES_MAX][PLAN_SET_BYTES]; /* "privacy.epsilon=2" */
    size_t count;
    bool cut;               /* a change did not fit: there is no such job */
    struct terms_size size; /* 0: as the source's */
};

/**
 * Plans a job with changes; changes may be NULL.
 *
 * plan  out  whole, or zeroed on failure; job_plan_free
 *
 * Fails as job_parse and terms_of_stage; STATUS_INVALID too where nothing says how many records an
 * agent has, and the noise depends on it.
 */
MUST_USE enum status job_plan_make(struct job_plan *plan, const struct job_source *source,
                                   const struct job_changes *changes, struct why *why);
void job_plan_free(struct job_plan *plan);

enum { PLAN_EPSILON_WEAK = 10 };

/** Returns whether the job's epsilon is above PLAN_EPSILON_WEAK: a record is then hardly protected. */
bool job_plan_is_weak(const struct job_plan *plan);

/** Returns what stands before a line's bar: a bound holds, an interval's width is expected under what the line assumes. */
const char *job_plan_bar_word(const struct terms_line *line);

/** Returns whether a line is of one site's answer or of each: no trust but local has such. */
bool job_plan_is_of_sites(const struct terms_line *line);

/** Returns the line of a stage whose noise weighs most beside what it hides; NULL without one. */
const struct terms_line *job_plan_worst(const struct job_plan *plan, size_t stage);

/** Returns the largest noise-to-signal ratio of all stages; 0 without any. */
double job_plan_noise_to_signal(const struct job_plan *plan);

/* What would help one stage: a change, and what the noise would then be. */
struct job_advice {
    char change[PLAN_ADVICE_BYTES]; /* "privacy.epsilon: 3.2" */
    char figure[PLAN_ADVICE_BYTES]; /* "+- 0.04 loss" */
    double noise_to_signal;         /* of the stage's worst line then; above 1: not enough */
};

/**
 * Looks for what would help a stage: a larger epsilon, more records, more agents, larger or fewer lambdas,
 * fewer experts, fewer rounds, later releases of a stream, fewer Fourier features, the other trust; the
 * least change of each that is enough, where one is.
 *
 * Returns how many there are: only such as lower the stage's noise-to-signal ratio. Cost: some dozens of plans.
 */
size_t job_advise(struct job_advice advice[static PLAN_ADVICE_MAX], const struct job_source *source,
                  const struct job_plan *plan, size_t stage);

/**
 * Plans the same job under another trust, with the changes that this asks for.
 *
 * Fails with STATUS_INVALID where there is no such job; why says what stands against it.
 */
MUST_USE enum status job_plan_under(struct job_plan *other, const struct job_source *source,
                                    const struct job_plan *plan, enum job_trust trust,
                                    struct why *why);

/* What a stage's model is expected to be, at one epsilon under one trust. */
struct job_expected_row {
    uint64_t epsilon_micro;
    const char *trust;
    bool is_own;         /* the job as it is written */
    bool tries_products; /* of columns, which the made-up tables have no use for */
    struct rehearsal_answer answer;
};

/* What a model may lose to privacy and be near enough: of accuracy, or of the width of a number's range. */
#define JOB_ENOUGH 0.005

/* The least number that is enough, about, and the most that were tried. */
struct job_enough_of {
    uint64_t least; /* 0: none of those */
    uint64_t most;
};

/* How many records of each agent, or agents, would bring a stage's model within half a point of the one without privacy
 * on half of the tables, all else as it is. */
struct job_enough {
    bool known;     /* whether it was looked for */
    bool has_floor; /* the least it loses was looked for: if that may be more than enough */
    double
        floor; /* points lost: with the most records that were tried and next to no noise, on half of the tables */
    struct job_enough_of records;
    struct job_enough_of agents;
};

struct job_expected {
    size_t stage;
    struct terms_size size; /* that the job was planned with */
    struct job_enough enough;
    size_t count; /* 0: the stage is not rehearsed */
    enum label_kind kind;
    bool is_pinball;               /* a number's error is that loss, else a root of mean squares */
    char label[SCHEMA_NAME_BYTES]; /* of a number; "" of a series */
    double range;                  /* likewise, its width in the label's unit */
    const char *no_answer; /* a sentence that says why, of one whose task could be; else NULL */
    struct job_expected_row row[JOB_EXPECTED_MAX];
};

/**
 * Rehearses a stage on made-up tables (learn/rehearsal.h), at the job's epsilon and a few others, under all trusts.
 * Deterministic from the job's text. Fails with STATUS_NO_MEMORY, STATUS_INVALID. Cost: as rehearsal_play().
 */
MUST_USE enum status job_expect(struct job_expected *out, const struct job_source *source,
                                const struct job_plan *plan, size_t stage);

/** Looks for what would be enough, from the rows and a rehearsal of a few numbers: fills out->enough. Fails likewise. Cost:
 * a few tenths of a second where the job is rehearsed at all epsilons. */
MUST_USE enum status job_find_enough(struct job_expected *out, const struct job_source *source,
                                     const struct job_plan *plan, uint64_t seed);

/** Prints it; nothing where the stage is not rehearsed. */
void job_expected_print(const struct job_expected *expected);

/** Returns what a row's `reached` is called: "accuracy", "root_mean_square" or "pinball". */
const char *job_expected_measure(const struct job_expected *expected);

/** Returns it as an object; null likewise. */
json_t *job_expected_json(const struct job_expected *expected);

/* A whole answer: the plan, and the same job under the other trusts, where there is such a job. */
struct job_answer {
    struct job_source source;
    struct job_plan plan;
    struct job_plan under[TRUST_COUNT]; /* by trust; zeroed for the job's own */
    bool has[TRUST_COUNT];
    struct why none[TRUST_COUNT]; /* why not */
    struct job_agains agains;     /* questions that the job asks twice */
    double link_mbit;             /* of the coordinator's line, a second */
};

/** Returns the plan's trust by name. */
const char *job_plan_trust(const struct job_plan *plan);

/** Returns the plan under a trust, NULL where there is no such job. */
const struct job_plan *job_answer_under(const struct job_answer *answer, enum job_trust trust);

/** Returns the plan under the trust that this job's is compared with first; NULL likewise. */
const struct job_plan *job_answer_rival(const struct job_answer *answer);

/** Returns the job's own plan, or its rival where less of its noise drowns; NULL where a stage plans itself another way under the
 * rival, so that their noise cannot be compared. */
const struct job_plan *job_answer_better(const struct job_answer *answer);

/* Operations a second, for the slots that are advised: a machine of the slow kind. */
static const double plan_speed = 1e9;

enum { PLAN_LINK_MBIT = 100, PLAN_TRIP_MS = 50 };

/** Returns about how many seconds a round of a stage takes, the longest kind of it, with the plan's agents, PLAN_TRIP_MS for a
 * round trip, and so fast a line at the coordinator, which all share: without what each site computes from its records. */
double job_plan_round_s(const struct job_plan *plan, size_t stage, double link_mbit);

/** Prints the notes below the table of trusts: how its times are computed, where plans differ, and who is trusted. */
void job_answer_print_trusted(const struct job_answer *answer);

/** Returns about how much memory the coordinator takes, work_of_coordinator(), with no other agents connected. */
double job_plan_coordinator_bytes(const struct job_plan *plan);

/** Tells what a round of a stage takes an agent at most: of the records that are planned with, or that
 * the job needs. Fails as work_of_stage. */
MUST_USE enum status job_plan_need(struct work_need *out, const struct job_plan *plan,
                                   size_t stage);

/** Prints the notes on the job's questions; returns those on a stage's questions, in a plan of the
 * answer. */
void job_answer_print_notes(const struct job_answer *answer);
json_t *job_answer_notes(const struct job_answer *answer, const struct job_plan *plan,
                         size_t stage);

/** Prints all of it as text. Fails as job_expect. */
MUST_USE enum status job_answer_print(const struct job_answer *answer);

/** Prints all of it as one JSON object. */
MUST_USE enum status job_answer_json(const struct job_answer *answer);

/* What is to be helped: a stage of a planned job. */
struct job_trial {
    const struct job_source *source;
    const struct job_plan *plan;
    size_t stage;
};

/* One way to help: a number of the job made `factor` times as large, or as many times fewer. */
struct job_remedy {
    unsigned helps; /* bits by enum task_help */

    /** Writes the changes, and in words what they are. Returns false where there is nothing to change. */
    bool (*make)(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                 const struct job_trial *trial, double factor);
};

extern const struct job_remedy job_remedies[];
extern const size_t job_remedy_count;

/** Returns x > 0 rounded up to two digits. */
double job_change_rounded(double x);

/** Writes a number of records of each agent into the job, and raises the most that count if they are
 * fewer. */
void job_change_records(struct job_changes *changes, const struct job *job, double records);

/** Writes a number of agents into the job. */
void job_change_agents(struct job_changes *changes, double agents);

/** Writes the change to another trust, with what it asks for, and in words what that is. */
void job_change_trust(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                      const struct job_plan *plan, enum job_trust trust);

/** Returns how many sites count as dishonest if the job does not say it: a quarter, one at least. */
uint64_t job_change_dishonest(uint64_t sites);

#endif
