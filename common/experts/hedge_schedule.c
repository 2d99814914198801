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
        return why_refuse(why, "%s repeats its plays: there is no such bound on its realised loss",
                          hedge_strategy_name(strategy) != NULL ? hedge_strategy_name(strategy)
                                                                : "it");
    }
    if (!(beta > 0 && beta < 1) || problem->rounds < 1 || problem->experts < 1) {
        return why_refuse(why, "beta must be above 0 and below 1, rounds and experts at least 1");
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

size_t hedge_segment_count(uint64_t rounds)
{
    return rounds == 0 ? 0 : hedge_segment(rounds - 1) + (size_t)1;
}

/* Of one segment, at most the rounds played in it. */
static double lost(double length, double left, double bound)
{
    return fmin(length * bound, fmin(length, left));
}

enum status hedge_doubling(struct hedge_plan *whole, struct hedge_plan *segment,
                           enum hedge_strategy strategy, const struct hedge_problem *problem,
                           struct why *why)
{
    *whole = (struct hedge_plan){0};
    if (problem->participations > 1) {
        return why_refuse(
            why, "with an unknown horizon a record may take part in one round only: in two "
                 "segments it would pay twice");
    }
    if (problem->rounds < 1 || problem->rounds > UINT64_C(1) << 53) {
        return why_refuse(why, "rounds must be from 1 to 2^53");
    }
    if (strategy == HEDGE_EPOCHS) {
        return hedge_plan(whole, strategy, problem, why);
    }
    struct hedge_plan sum = {.privacy_is_free = true};
    for (uint64_t first = 0; first < problem->rounds; first = 2 * first + 1) {
        struct hedge_problem part = *problem;
        struct hedge_plan plan;
        part.rounds = first + 1;
        const enum status status = hedge_plan(&plan, strategy, &part, why);
        if (status != STATUS_OK) {
            return status;
        }
        if (segment != NULL) {
            segment[hedge_segment(first)] = plan;
        }
        const double length = (double)part.rounds;
        const double left = (double)(problem->rounds - first);
        sum.regret_bound += lost(length, left, plan.regret_bound + plan.cap_probability);
        sum.regret_bound_textbook +=
            lost(length, left, plan.regret_bound_textbook + plan.cap_probability);
        sum.privacy_is_free = sum.privacy_is_free && plan.privacy_is_free;
    }
    sum.regret_bound /= (double)problem->rounds;
    sum.regret_bound_textbook /= (double)problem->rounds;
    *whole = sum;
    return STATUS_OK;
}
