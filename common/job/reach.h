/* reach.h - how a unit meets the rounds of a stage: in how many rounds of one pass it is, how many of
 * their records it moves, how far the pass as a whole therefore moves, and what is charged for it.
 * Sensitivities, plans, prices, the agent and the curator all ask here; no other code decides it.
 *
 * A pass is a range of positions, cut into rounds of `batch`; it is charged once. A row of the file is
 * the record at one position. In a series with lags l_1 < .. < l_k (and l_0 = 0) a row is in the record
 * of its own day and in those of the days l_i later: in k + 1 positions. The first l_k rows have no
 * record of their own, and are in those of later days alone.
 *
 *   unit record  one row, wherever it stands
 *   unit round   the rows whose own records one agent shows in one round, of any stage of the job;
 *                each other row is a unit by itself. A unit of n rows is in the positions
 *                [a, a + n) + l_i: of later rounds too, where days look back, and of several rounds
 *                where another stage's batches are cut in other places
 *   unit agent   all rows. Every round meets it, so every round is a pass
 *
 * Where a batch is a share of an agent's records, agents have different ones: the bounds are those of
 * any batch, so that every agent's noise is for the same number. That needs unit record (job_stages.c).
 *
 * Statement. Let round w of a pass hold n_w of the records that a unit is in. Then for every unit
 * sum n_w <= records, n_w <= in_round, and n_w > 0 for at most `rounds` of them. If a replaced record
 * moves an answer by at most s, and a replaced unit never by more than c (infinite where nothing is
 * clipped), round w moves by d_w <= min(n_w s, c), by the triangle inequality. reach_sensitivity
 * returns a bound S on
 *
 *   sum of d_w <= min(records s, rounds c)                          in the L1 norm
 *   root of the sum of d_w^2 <= min(sqrt(Q) s, sqrt(rounds) c)      in the L2 norm
 *
 * with Q = floor(records/in_round) in_round^2 + (records mod in_round)^2: no n_w with these limits have
 * a larger sum of squares, which is convex. Every round of the pass gets the noise of S. So the pass
 * loses at most sum of d_w epsilon/S <= epsilon with Laplace noise, also adaptively (basic
 * composition), and rho = sum of d_w^2/(2 S^2 sigma^2) <= 1/(2 sigma^2) with Gaussian noise, at every
 * Renyi order: what one charge pays for. A pass loses less if only some of its rounds are answered. */

#ifndef JOB_REACH_H
#define JOB_REACH_H

#include "job/job.h"

struct reach {
    uint64_t records;  /* of one pass, that a unit is in, at most; at least 1 */
    uint64_t in_round; /* of them in one round */
    uint64_t rounds;   /* of one pass, that hold one of them; what looks at all records: 1 */
};

/** Returns the largest reach of any unit of the job into a pass of the stage.
 * stage  in  need not be one of the job's
 * Cost: some microseconds for each stage of the job. */
struct reach reach_of(const struct job *job, const struct stage *stage);

/**
 * Returns S of above: the sensitivity that the noise of every round of the pass is for.
 *
 * record  in  s, grid units
 * whole   in  c, grid units; 0: nothing is clipped
 * norm_2  in  whether the noise is Gaussian
 *
 * Returns UINT64_MAX where it is 2^64 or more.
 */
uint64_t reach_sensitivity(const struct reach *reach, uint64_t record, uint64_t whole, bool norm_2);

/** Returns how many rounds a whole pass of the stage has; more than the stage, where that ends before its records
 * do. */
uint32_t reach_pass_rounds(const struct job *job, const struct stage *stage);

/** Returns the round within the stage that the pass of round `within` begins with. */
uint32_t reach_pass(const struct job *job, const struct stage *stage, uint32_t within);

/** Returns how many passes the stage's first `rounds` rounds begin. */
uint32_t reach_passes(const struct job *job, const struct stage *stage, uint32_t rounds);

/**
 * Returns what the answer to one round is charged, by agents and by the curator alike. The charges of
 * one pass name different rows.
 *
 * round  in   of the job
 * pass   out  the job's round that the pass begins with, of turns with the highest bit; the charging code makes charge.pass, which is
 *             none here, of it
 */
struct charge reach_charge(const struct job *job, uint32_t round, uint64_t record_count,
                           uint32_t *pass);

/**
 * Returns the charge of an agent that does not look in a round of a pass whose rounds are taken by turns (stage->turns): its answer is
 * public. It names other rows than a look does, which are the same in every round. So the ledger lets the records be paid for
 * in one round of the pass, and in no second one, whatever the coordinator asks. Rows of later rounds come after those of earlier
 * ones, by which a reader of the journal sees what one charge pays for.
 *
 * charge  in  reach_charge's of that round
 * within  in  of the stage
 */
struct charge reach_charge_away(struct charge charge, uint32_t within);

/** Returns what an event adds to a filter's sums, whatever its pass and rows. */
struct cost reach_event_cost(const struct filter *filter, struct charge event);

/** Returns what the stage's first `rounds` rounds cost a unit by this filter's sums. */
struct cost reach_cost(const struct job *job, const struct stage *stage,
                       const struct filter *filter, uint32_t rounds);

#endif
