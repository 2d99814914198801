/* round.h - what one round of a job is by public knowledge alone: what is asked, how long the answers
 * are and how far one record can move them, which records they look at, and what they cost. Agents
 * and the coordinator compute the same from the same text. */

#ifndef JOB_ROUND_H
#define JOB_ROUND_H

#include "dp/encode.h"
#include "experts/hedge_play.h"
#include "job/job.h"
#include "query/bar.h"
#include "query/query_set.h"

enum round_input {
    INPUT_NONE,
    INPUT_EXPERTS, /* all the experts there are */
    INPUT_STATE    /* the stage's state so far: thresholds, the model it improves */
};

/** Returns what goes with the question, and how many numbers a state has. */
enum round_input round_input(const struct stage *stage, uint32_t within);
size_t round_state_count(const struct stage *stage);

/** Returns how many bytes a number of the input has: 4 of a state that the job wants short, else 8. */
unsigned round_input_bytes(const struct stage *stage, uint32_t within);

/** Returns whether the answer's exact sum is released through a draw alone, which its strategy pays
 * for: under central trust, judging and selecting. */
bool round_is_drawn(const struct job *job, const struct stage *stage);

/* The plays of a stage whose draws follow a strategy, which has one play more than rounds: the last answer
 * decides one, too, of losses that are sums over cohort_min agents. One game, or, where the horizon is
 * unknown, one a segment, and of the plan the bounds alone. */
struct round_plays {
    struct hedge_plan plan;
    struct hedge_run *game; /* (game_count) owned */
    size_t game_count;
};

/** Returns them, or NULL: the stage has none. */
const struct round_plays *round_plays(const struct stage *stage);

/** Returns a stage's questions, of most stages none. */
const struct query_set *round_queries(const struct stage *stage);

/** Answers whether a question of the job takes a column's numbers to lie smoothly over its public range. */
bool round_takes_smoothly(const struct job *job, size_t column);

/** Returns the game that a play belongs to, of a losses stage under central trust. Play number
 * `within` + 1 follows round `within`, and looks at rounds of its own game alone. */
const struct hedge_run *round_game(const struct stage *stage, uint64_t play);

/** Returns the numbers of one model: outputs * features. Of the job's, which are wide enough for every
 * stage's map, and of the stage's own. */
size_t round_width(const struct job *job);
size_t round_stage_width(const struct stage *stage);

/** Returns how many integers an answer has; expert_count: the experts there are. */
size_t round_answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                          size_t expert_count);

/* How agents share a round out among them: each answers for one group, which its slot decides. In the sum the groups' numbers stand
 * after one another, and after them how many records and how many agents each group has: public numbers, without noise. */
struct round_groups {
    size_t count; /* 1: nothing is shared out */
    size_t own;   /* numbers of an answer, and of a group in the sum */
};

/** Returns them. */
struct round_groups round_groups(const struct stage *stage, uint32_t within);

/* Where agents take turns (stage->turns) each looks at its records in one of two rounds; in the other its answer is public: no
 * group has it. Among that many agents that follow one another, two take the second round. */
enum { ROUND_TURNS = 2, ROUND_TURN_SLOTS = 5 };
#define ROUND_FIRST_TURN 0.6 /* of the agents, about */

/** Returns whether it is the turn of the agent in that slot, as its coordinator would have it; where nobody takes turns, true. */
bool round_is_turn(const struct stage *stage, uint32_t within, uint32_t slot);

/** Returns the slot of the agent in that place among those of one turn (0: the first look, 1: the second). */
uint32_t round_turn_slot(uint32_t turn, uint32_t place);

/** Returns the group that the agent in that slot answers for. */
uint32_t round_group(const struct stage *stage, uint32_t within, uint32_t slot);

struct round_bounds {
    int64_t low; /* of every value of one agent's exact answer, grid units */
    int64_t high;
    uint64_t
        sensitivity;   /* what the noise is for, grid units: how far a replaced unit moves a whole
                             pass (reach.h): in the L2 norm where the stage's charge is for
                             Gaussian noise, of one value where it is for a draw, else in L1 */
    uint64_t norm_max; /* to which an agent's whole answer is clipped, grid units; 0: it is not */
};

/**
 * Bounds an answer of a stage's round `within`.
 *
 * record_count  in  of the agent; under central trust, where one noise is for all, the least that the
 *                   job allows is taken instead
 *
 * Fails with STATUS_INVALID; why (may be NULL) says what to change.
 */
MUST_USE enum status round_bounds(struct round_bounds *out, const struct job *job,
                                  const struct stage *stage, uint32_t within, uint64_t record_count,
                                  size_t expert_count, struct why *why);

/** Returns the noise on every number of a round's sum over that many agents (1 .. QUERY_DRAWS_MAX): each
 * agent's own under local trust, else one for all. Where the stage draws, the Laplace noise that scores
 * of these bounds would carry for its epsilon. */
struct query_noise round_noise(const struct job *job, const struct stage *stage,
                               const struct round_bounds *bounds, size_t agents);

/* Answers of more numbers than this are long: 64 KiB in words of 4 bytes. */
enum { ROUND_LONG = 16384 };

/**
 * Returns how the numbers of a round's answers travel, are kept and are added up. It follows from the job's text alone and is
 * the same for every agent; `sum_bytes` also from how many answers the sum has room for (agents, 1 .. JOB_AGENTS_MAX).
 *
 * No value passes its word without noise, and with noise one with a probability below 2^-90: below 2^-40 for any number of a
 * job of 10^6 rounds with 256 answers of 2^20 numbers, and below 2^-36 with 10,000 answers. The same holds of a sum of 4
 * bytes. Long noisy answers whose words would be wider are rounded to 2 bytes where that adds hardly anything to
 * the noise of any agent (encode_shift). For masked answers it is 8 bytes, and round_masked_bytes says it.
 */
struct encode_form round_form(const struct job *job, const struct stage *stage, uint32_t within,
                              size_t expert_count, size_t agents);

/**
 * Returns the same of masked answers of that many sites, which are summed modulo 2^32 or 2^64: 4 where the sum wraps with a
 * probability below 2^-90, else 8.
 */
unsigned round_masked_bytes(const struct job *job, const struct stage *stage, uint32_t within,
                            size_t expert_count, size_t sites);

/* The rows that a round looks at, in the job's public order: what its charge is for. */
struct round_rows {
    uint64_t first;
    uint64_t count;
};

/** Returns the rows of round `within`, of record_count. */
struct round_rows round_rows(const struct stage *stage, uint32_t within, uint64_t record_count);

/** Returns how many of an agent's first records, in the public order, the stage needs. */
uint64_t round_records(const struct stage *stage);

/** Returns how many records the stage asks of every agent. A share needs one record a batch, and what
 * `first` passes over beside it: an agent with as many or more has enough. */
uint64_t round_records_least(const struct stage *stage);

/** Returns how many records of an agent one round looks at, by the job's text: a share is rounded
 * down, and is of at most records_most. 0: all it has. */
uint32_t round_batch(const struct stage *stage, uint64_t record_count);

/** Returns the fewest records whose share is a batch of that many. */
uint64_t round_records_of(const struct stage *stage, uint64_t batch);

/** Returns the stage as an agent of that many records has it; it borrows all that the stage owns. */
struct stage round_stage_at(const struct stage *stage, uint64_t record_count);

/** Returns how many of the stage's first rounds may differ in bounds; the others are as the first. */
uint32_t round_distinct(const struct stage *stage);

/** Returns what the first `rounds` rounds of the job cost one record by this filter's sums. */
struct cost round_cost(const struct job *job, const struct filter *filter, uint32_t rounds);

/** Returns what is to be said of these sums: the epsilon spent, at the job's delta, in millionths.
 * Within the job's limit it is never more than that limit. */
uint64_t round_epsilon_micro(const struct job *job, const struct cost *sums);

#endif
