/* Dwork and Roth 2014, chapter 11 (theorem); Cesar and Rogers 2021 (a draw of bounded range r is
 * r^2/8-zCDP). hedge.h has the formulas, hedge_dartboard.c the dartboard.
 *
 * What is searched need not be found exactly: whatever eta comes out has been judged by itself. */

#include "experts/hedge.h"

#include "account/pure.h"
#include "account/renyi.h"
#include "experts/hedge_terms.h"
#include "experts/regret.h"
#include "experts/rwm.h"

#include <float.h>
#include <math.h>

enum { HALVINGS = 60, SECTIONS = 80 };

static const double down = 1 - 16 * DBL_EPSILON;
static const double up = 1 + 16 * DBL_EPSILON;

#define ROUNDS_MAX  (UINT64_C(1) << 53)
#define SHRINK      (1 - 1e-9)
#define EPSILON_MAX 1e6

const char *hedge_strategy_name(enum hedge_strategy strategy)
{
    static const char *const name[HEDGE_STRATEGIES] = {[HEDGE_THEOREM] = "theorem",
                                                       [HEDGE_RWM] = "rwm",
                                                       [HEDGE_DARTBOARD] = "dartboard",
                                                       [HEDGE_EPOCHS] = "epochs"};
    return (unsigned)strategy < HEDGE_STRATEGIES ? name[strategy] : NULL;
}

static enum status check_game(const struct hedge_problem *problem, struct why *why)
{
    if (problem->experts < 1) {
        return why_refuse(why, "experts must be at least 1");
    }
    if (problem->rounds < 1 || problem->rounds > ROUNDS_MAX) {
        return why_refuse(why, "rounds must be from 1 to 2^53");
    }
    return STATUS_OK;
}

static enum status check(const struct hedge_problem *problem, enum hedge_strategy strategy,
                         struct why *why)
{
    const enum status status = check_game(problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (!(problem->epsilon > 0 && problem->epsilon <= EPSILON_MAX)) {
        return why_refuse(why, "epsilon must be above 0 and at most 10^6");
    }
    if (!(problem->delta >= 0 && problem->delta < 1)) {
        return why_refuse(why, "delta must be at least 0 and below 1");
    }
    if (problem->records != 0 && !(problem->records >= 1 && problem->records <= 0x1p53)) {
        return why_refuse(why, "records must be from 1 to 2^53, or 0 where the unit is a round");
    }
    if (problem->records == 0 && problem->participations > 1) {
        return why_refuse(why, "participations are a record's: say how many records there are");
    }
    if (strategy == HEDGE_THEOREM && problem->epsilon > 1) {
        return why_refuse(why, "theorem 11.2 holds for epsilon up to 1: take another strategy");
    }
    if (strategy == HEDGE_THEOREM && problem->delta == 0) {
        return why_refuse(why, "theorem 11.2 needs a delta above 0");
    }
    if (!(problem->rho_max >= 0)) {
        return why_refuse(why, "rho_max must be above 0, or 0 where there is no such limit");
    }
    return (unsigned)strategy < HEDGE_STRATEGIES ? STATUS_OK : why_refuse(why, "no such strategy");
}

static struct hedge_terms terms_of(const struct hedge_problem *problem)
{
    struct hedge_terms terms = {.rounds = (double)problem->rounds,
                                .round_share = 1,
                                .total_share = 1,
                                .coins = 1,
                                .eta_free = rwm_eta_free(problem->experts, problem->rounds),
                                .epsilon = problem->epsilon,
                                .delta = problem->delta,
                                .rho_max = problem->rho_max > 0 ? problem->rho_max : INFINITY};
    if (problem->records > 0) {
        uint64_t participations = problem->participations == 0 ? 1 : problem->participations;
        terms.coins = participations < problem->rounds ? participations : problem->rounds;
        terms.round_share = 1 / problem->records * up;
        terms.total_share = (double)terms.coins / problem->records * up;
    }
    terms.rho = zcdp_from_epsilon(terms.epsilon, terms.delta);
    return terms;
}

struct privacy_event hedge_ranged(double range, uint64_t count)
{
    return (struct privacy_event){.mechanism = MECHANISM_EXPONENTIAL,
                                  .neighbours = NEIGHBOURS_REPLACE_ONE,
                                  .parameter = range,
                                  .sensitivity = 1,
                                  .count = count,
                                  .sampling = 1};
}

double hedge_cost(const struct privacy_event *event, size_t count, double delta)
{
    double least = basic_epsilon(event, count, delta);
    if (delta > 0) {
        least = fmin(least, zcdp_epsilon(event, count, delta));
        least = fmin(least, renyi_epsilon(event, count, delta));
    }
    return least;
}

double hedge_rho(const struct privacy_event *event, size_t count)
{
    double rho = 0;
    for (size_t i = 0; i < count; i++) {
        rho += (double)event[i].count * event[i].parameter * event[i].parameter / 8;
    }
    return rho * up;
}

double hedge_coin_range(double moved, double p)
{
    return (moved + log1p(-(1 - p) * expm1(-moved) / p)) * up;
}

static void fill_bounds(struct hedge_plan *plan, const struct hedge_terms *terms, size_t experts)
{
    if (experts > 1) {
        struct regret_bound bound =
            regret_bound(experts, 1 / (double)experts, (uint64_t)terms->rounds, plan->eta, 0);
        plan->regret_bound = bound.tight;
        plan->regret_bound_textbook = bound.textbook;
    }
}

/* A plan of T independent draws, each of this range, or of the range that eta_free needs. */
static void plan_draws(struct hedge_plan *plan, const struct hedge_terms *terms, double range)
{
    plan->eta = range / 2 / terms->total_share * down;
    if (plan->eta >= terms->eta_free) {
        plan->eta = terms->eta_free;
        plan->privacy_is_free = true;
        range = fmin(range, 2 * plan->eta * terms->total_share * up);
    }
    plan->draw_epsilon = range;
    plan->refreshes_max = (uint64_t)terms->rounds;
}

bool hedge_fits(const struct hedge_terms *terms, const struct privacy_event *event, size_t count)
{
    return hedge_rho(event, count) <= terms->rho_max &&
           hedge_cost(event, count, terms->delta) <= terms->epsilon;
}

static bool rwm_fits(const struct hedge_terms *terms, double range)
{
    const struct privacy_event event = hedge_ranged(range, (uint64_t)terms->rounds);
    return hedge_fits(terms, &event, 1);
}

/* For the T draws that rho_max allows. */
static double range_max(const struct hedge_terms *terms)
{
    return 2 * sqrt(2 * terms->rho_max / terms->rounds) * down;
}

/* The largest range of T draws: 2 sqrt(2 rho/T), or epsilon/T, is known to be enough but for
 * rounding. */
static double rwm_range(const struct hedge_terms *terms)
{
    double low = fmax(2 * sqrt(2 * terms->rho / terms->rounds), terms->epsilon / terms->rounds);
    low = fmin(low * down, range_max(terms));
    while (!rwm_fits(terms, low)) {
        low *= SHRINK;
    }
    double high = 4 * low;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        *(rwm_fits(terms, middle) ? &low : &high) = middle;
    }
    return low;
}

/* (ln k + a^2/(8 m) - ln(1 - (s a/m)^2))/a at a = x m/s, 0 < x < 1; hedge.h has the proof. */
static double pick_excess_at(double experts, double seen, double scale, double x)
{
    const double a = x * seen / scale;
    return (log(experts) + a * a / (8 * seen) - log1p(-x * x)) / a;
}

/* The least over x: it falls and then rises in ln x. */
static double pick_excess(double experts, double seen, double scale)
{
    const double golden = 0.6180339887498949;
    double low = -36;
    double high = -1e-9;
    for (int i = 0; i < SECTIONS; i++) {
        double left = high - golden * (high - low);
        double right = low + golden * (high - low);
        if (pick_excess_at(experts, seen, scale, exp(left)) <
            pick_excess_at(experts, seen, scale, exp(right))) {
            high = right;
        } else {
            low = left;
        }
    }
    return fmin(1, pick_excess_at(experts, seen, scale, exp(low + (high - low) / 2)));
}

static void plan_epochs(struct hedge_plan *plan, const struct hedge_terms *terms, size_t experts)
{
    const double scale = 2 * terms->total_share / terms->epsilon;
    const uint64_t rounds = (uint64_t)terms->rounds;
    double sum = 1; /* the first epoch, one round */
    plan->draw_epsilon = terms->epsilon;
    for (uint64_t first = 1; first < rounds; first = 2 * first + 1) { /* from 0 */
        const uint64_t length = first + 1 < rounds - first ? first + 1 : rounds - first;
        const double seen = ((double)first + 1) / 2;
        plan->refreshes_max++;
        sum += experts > 1 ? (double)length * pick_excess((double)experts, seen, scale) : 0;
    }
    if (experts > 1) {
        sum += sqrt(terms->rounds * log((double)experts) / 2);
        plan->regret_bound = sum / terms->rounds;
        plan->regret_bound_textbook = plan->regret_bound;
    }
}

enum status hedge_plan(struct hedge_plan *plan, enum hedge_strategy strategy,
                       const struct hedge_problem *problem, struct why *why)
{
    *plan = (struct hedge_plan){0};
    enum status status = check(problem, strategy, why);
    if (status != STATUS_OK) {
        return status;
    }
    const struct hedge_terms terms = terms_of(problem);
    switch (strategy) {
    case HEDGE_THEOREM:
        plan_draws(plan, &terms,
                   fmin(2 * terms.epsilon / sqrt(32 * terms.rounds * -log(terms.delta)) * down,
                        range_max(&terms)));
        break;
    case HEDGE_RWM:
        plan->rho = terms.rho;
        plan_draws(plan, &terms, rwm_range(&terms));
        break;
    case HEDGE_DARTBOARD:
        plan->rho = terms.rho;
        status = hedge_plan_dartboard(plan, &terms, why);
        break;
    case HEDGE_EPOCHS:
        plan_epochs(plan, &terms, problem->experts);
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        fill_bounds(plan, &terms, problem->experts);
    }
    return status;
}

enum status hedge_plan_not_private(struct hedge_plan *plan, const struct hedge_problem *problem,
                                   struct why *why)
{
    *plan = (struct hedge_plan){0};
    enum status status = check_game(problem, why);
    if (status == STATUS_OK) {
        const struct hedge_terms terms = {.rounds = (double)problem->rounds};
        plan->eta = rwm_eta_free(problem->experts, problem->rounds);
        plan->privacy_is_free = true;
        plan->refreshes_max = problem->rounds;
        fill_bounds(plan, &terms, problem->experts);
    }
    return status;
}

/* What the bounds become when they have to hold with high probability, or when nobody knows how
 * many rounds there will be. Hoeffding 1963 for the first (independent draws in [0,1]); restarts
 * for the second (Cesa-Bianchi and Lugosi 2006, section 2.3). */

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
