/* plan.h - the arithmetic of a learn stage's plan: what it looks at first, how many steps follow, and what each part of the look
 * gets. It is rounded alike on every machine (no logarithm): an agent and the coordinator read the same plan from the same text. */

#ifndef TASK_LEARN_PLAN_H
#define TASK_LEARN_PLAN_H

#include "task/learn/stage.h"

/* What the plan goes by. Deviations are those of a mean over all records, of which a unit moves its own. */
struct learn_prospect {
    bool gaussian;
    double d;
    double units;  /* records over how many of them one unit moves: at least this many units */
    double noises; /* agents that add noise of their own */
    double epsilon;
    double rho;
    double sites; /* agents that may share columns out; 1: they may not */
    enum job_age age;
};

/** Returns at most what (epsilon, delta) leaves as zCDP: the root of epsilon = rho + 2 sqrt(rho ln(1/delta)), with a power of two
 * above 1/delta. */
double learn_rho(double epsilon, uint64_t delta_atto);

/** Returns the deviation of the noise on a mean. l1, l2: how far one record moves the sum; share: of epsilon, or of rho. */
double learn_deviation(const struct learn_prospect *prospect, double l1, double l2, double share);

/** Returns what classes look at. */
enum selftune_sight learn_sight(const struct learn_prospect *prospect);

/** Returns the noise of a step of classes that has all of epsilon, in a model's units. */
double learn_step_noise(const struct learn_prospect *prospect, const struct learn_stage *own);

/** Returns whether two classes take three Laplace steps after sums or squares where programs of protocol version 4 take two. */
bool learn_takes_three(const struct learn_prospect *prospect, const struct learn_stage *own);

/** Returns how many steps of classes follow the look that own->tune has. */
uint32_t learn_steps(const struct learn_prospect *prospect, const struct learn_stage *own);

/** Returns how many groups of sites the columns of the look that own->tune has are dealt out to; 1: all sites look at all. */
uint32_t learn_groups(const struct learn_prospect *prospect, const struct learn_stage *own);

/** Returns as many groups of the sites that look second, where sites take turns; 0: all sites look once. own: its groups are
 * set. */
uint32_t learn_second(const struct learn_prospect *prospect, const struct learn_stage *own);

/** Returns the weights of a look at classes, whose steps are set. */
struct learn_weights learn_weigh(const struct learn_prospect *prospect,
                                 const struct learn_stage *own);

#endif
