/* What the bounds become when they have to hold with high probability, or when nobody knows how
 * many rounds there will be. Hoeffding 1963 for the first (independent draws in [0,1]); restarts
 * for the second (Cesa-Bianchi and Lugosi 2006, section 2.3). */

#include "experts/hedge.h"

#include <math.h>

enum status hedge_high_probability(double *tight, double *textbook, enum hedge_strategy strategy,
                                   const struct hedge_problem *problem, double beta,
                                   struct why *why)
{
    *tight = 0;
    *textbook = 0;
    if (strategy != HEDGE_THEOREM && strategy != HEDGE_RWM) {
        why_set(why, "%s repeats its plays: there is no such bound on its realised loss",
                hedge_strategy_name(strategy) != NULL ? hedge_strategy_name(strategy) : "it");
        return STATUS_INVALID;
    }
    if (!(beta > 0 && beta < 1) || problem->rounds < 1 || problem->experts < 1) {
        why_set(why, "beta must be above 0 and below 1, rounds and experts at least 1");
        return STATUS_INVALID;
    }
    *tight = sqrt(-log(beta) / (2 * (double)problem->rounds));
    *textbook = sqrt((log((double)problem->experts) - log(beta)) / (double)problem->rounds);
    return STATUS_OK;
}

unsigned hedge_segment(uint64_t round)
{
    unsigned segment = 0;
    for (uint64_t rest = (round + 1) >> 1; rest > 0; rest >>= 1) {
        segment++;
    }
    return segment;
}

bool hedge_segment_begins(uint64_t round)
{
    return ((round + 1) & round) == 0;
}

enum status hedge_doubling(double *regret_bound, enum hedge_strategy strategy,
                           const struct hedge_problem *problem, struct why *why)
{
    double sum = 0;
    *regret_bound = 0;
    if (problem->participations > 1) {
        why_set(why, "with an unknown horizon a record may take part in one round only: in two "
                     "segments it would pay twice");
        return STATUS_INVALID;
    }
    if (problem->rounds < 1 || problem->rounds > UINT64_C(1) << 53) {
        why_set(why, "rounds must be from 1 to 2^53");
        return STATUS_INVALID;
    }
    if (strategy == HEDGE_EPOCHS) {
        struct hedge_plan plan;
        enum status status = hedge_plan(&plan, strategy, problem, why);
        *regret_bound = plan.regret_bound;
        return status;
    }
    for (uint64_t first = 0; first < problem->rounds; first = 2 * first + 1) {
        struct hedge_problem segment = *problem;
        struct hedge_plan plan;
        segment.rounds = first + 1;
        enum status status = hedge_plan(&plan, strategy, &segment, why);
        if (status != STATUS_OK) {
            return status;
        }
        const double length = (double)(first + 1);
        const double left = (double)(problem->rounds - first);
        sum += fmin(length * (plan.regret_bound + plan.cap_probability), fmin(length, left));
    }
    *regret_bound = sum / (double)problem->rounds;
    return STATUS_OK;
}
