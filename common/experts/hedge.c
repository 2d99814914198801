/* Dwork and Roth 2014, chapter 11 (theorem); Cesar and Rogers 2021 (a draw of bounded range r is
 * r^2/8-zCDP); Asi, Feldman, Koren, Talwar 2023 (dartboard). hedge.h has the formulas.
 *
 * Why the accountant may judge the dartboard: which of a round's events comes next follows from
 * what came before, so the list is not fixed; but along every path it holds at most c bits that the
 * unit touches and K draws. Sums of divergences at one order, and sums of pure epsilons, bound such
 * interactions (Feldman and Zrnic 2021); the accountants that need a fixed list are not asked.
 *
 * What is searched need not be found exactly: whatever eta comes out has been judged by itself. */

#include "experts/hedge.h"

#include "account/pure.h"
#include "account/renyi.h"
#include "experts/hedge_private.h"
#include "experts/regret.h"
#include "experts/rwm.h"

#include <float.h>
#include <math.h>

enum { HALVINGS = 60, GRID = 64, SECTIONS = 40, SECTIONS_EXACT = 9, DEVIATIONS = 6 };

static const double down = 1 - 16 * DBL_EPSILON;
static const double up = 1 + 16 * DBL_EPSILON;

#define ROUNDS_MAX  (UINT64_C(1) << 53)
#define LN_P_LEAST  (-36.0)
#define SHRINK      (1 - 1e-9)
#define EPSILON_MAX 1e6

/* The problem in the terms that the formulas share. */
struct terms {
    double rounds;
    double round_share; /* how far one unit moves one round's mean loss: 1, or 1/n */
    double total_share; /* and the cumulative one: 1, or c/n */
    uint64_t coins;     /* rounds that one unit moves: 1, or c */
    double eta_free;
    double epsilon;
    double delta;
    double rho;
    double rho_max; /* infinite where there is no limit */
};

const char *hedge_strategy_name(enum hedge_strategy strategy)
{
    static const char *const name[HEDGE_STRATEGIES] = {[HEDGE_THEOREM] = "theorem",
                                                       [HEDGE_RWM] = "rwm",
                                                       [HEDGE_DARTBOARD] = "dartboard",
                                                       [HEDGE_EPOCHS] = "epochs"};
    return (unsigned)strategy < HEDGE_STRATEGIES ? name[strategy] : NULL;
}

static enum status refuse(struct why *why, const char *sentence)
{
    why_set(why, "%s", sentence);
    return STATUS_INVALID;
}

static enum status check_game(const struct hedge_problem *problem, struct why *why)
{
    if (problem->experts < 1) {
        return refuse(why, "experts must be at least 1");
    }
    if (problem->rounds < 1 || problem->rounds > ROUNDS_MAX) {
        return refuse(why, "rounds must be from 1 to 2^53");
    }
    return STATUS_OK;
}

static enum status check(const struct hedge_problem *problem, enum hedge_strategy strategy,
                         struct why *why)
{
    enum status status = check_game(problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (!(problem->epsilon > 0 && problem->epsilon <= EPSILON_MAX)) {
        return refuse(why, "epsilon must be above 0 and at most 10^6");
    }
    if (!(problem->delta >= 0 && problem->delta < 1)) {
        return refuse(why, "delta must be at least 0 and below 1");
    }
    if (problem->records != 0 && !(problem->records >= 1 && problem->records <= 0x1p53)) {
        return refuse(why, "records must be from 1 to 2^53, or 0 where the unit is a round");
    }
    if (problem->records == 0 && problem->participations > 1) {
        return refuse(why, "participations are a record's: say how many records there are");
    }
    if (strategy == HEDGE_THEOREM && problem->epsilon > 1) {
        return refuse(why, "theorem 11.2 holds for epsilon up to 1: take another strategy");
    }
    if (strategy == HEDGE_THEOREM && problem->delta == 0) {
        return refuse(why, "theorem 11.2 needs a delta above 0");
    }
    if (!(problem->rho_max >= 0)) {
        return refuse(why, "rho_max must be above 0, or 0 where there is no such limit");
    }
    return (unsigned)strategy < HEDGE_STRATEGIES ? STATUS_OK : refuse(why, "no such strategy");
}

static struct terms terms_of(const struct hedge_problem *problem)
{
    struct terms terms = {.rounds = (double)problem->rounds,
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

static struct privacy_event ranged(double range, uint64_t count)
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

static void fill_bounds(struct hedge_plan *plan, const struct terms *terms, size_t experts)
{
    if (experts > 1) {
        struct regret_bound bound =
            regret_bound(experts, 1 / (double)experts, (uint64_t)terms->rounds, plan->eta, 0);
        plan->regret_bound = bound.tight;
        plan->regret_bound_textbook = bound.textbook;
    }
}

/* A plan of T independent draws, each of this range, or of the range that eta_free needs. */
static void plan_draws(struct hedge_plan *plan, const struct terms *terms, double range)
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

static bool rwm_fits(const struct terms *terms, double range)
{
    struct privacy_event event = ranged(range, (uint64_t)terms->rounds);
    return hedge_cost(&event, 1, terms->delta) <= terms->epsilon &&
           hedge_rho(&event, 1) <= terms->rho_max;
}

/* Of T draws that rho_max allows. */
static double range_max(const struct terms *terms)
{
    return 2 * sqrt(2 * terms->rho_max / terms->rounds) * down;
}

/* The largest range of T draws: 2 sqrt(2 rho/T), or epsilon/T, is known to be enough but for
 * rounding. */
static double rwm_range(const struct terms *terms)
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

/* What one p and one eta ask for. */
struct board {
    double p;
    double eta;
    double mean; /* refreshes */
    double coin_range;
    double draw_range;
    uint64_t draws; /* K */
};

static struct board board_of(const struct terms *terms, double p, double eta)
{
    struct board board = {.p = p, .eta = eta};
    const double moved = eta * terms->round_share;
    board.mean = terms->rounds * (p - (1 - p) * expm1(-eta)) * up;
    board.coin_range = hedge_coin_range(moved * up, p);
    board.draw_range = 2 * eta * terms->total_share * up;
    double cap = ceil(board.mean + DEVIATIONS * sqrt(board.mean));
    board.draws = (uint64_t)fmin(cap, terms->rounds);
    return board;
}

/* The share of the budget that the closed form says it needs. */
static double board_share(const struct terms *terms, const struct board *board)
{
    const double coins = (double)terms->coins;
    const double draws = (double)board->draws;
    const double coin = board->coin_range;
    const double draw = board->draw_range;
    const double pure = (coins * coin + draws * draw) / terms->epsilon;
    const double rho = (coins * coin * coin + draws * draw * draw) / 8;
    return fmax(terms->delta == 0 ? pure : fmin(pure, rho / terms->rho), rho / terms->rho_max);
}

static bool board_fits(const struct terms *terms, const struct board *board)
{
    struct privacy_event event[2] = {ranged(board->coin_range, terms->coins),
                                     ranged(board->draw_range, board->draws)};
    return hedge_cost(event, 2, terms->delta) <= terms->epsilon &&
           hedge_rho(event, 2) <= terms->rho_max;
}

/* The largest eta that fits at this p, up to eta_free; by the closed form, or by the accountant. */
static double board_eta(const struct terms *terms, double p, bool exactly)
{
    double low = 0;
    double high = terms->eta_free;
    struct board board = board_of(terms, p, high);
    if (exactly ? board_fits(terms, &board) : board_share(terms, &board) <= 1) {
        return high;
    }
    for (int i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        board = board_of(terms, p, middle);
        bool fits = exactly ? board_fits(terms, &board) : board_share(terms, &board) <= 1;
        *(fits ? &low : &high) = middle;
    }
    return low;
}

/* What p is good for: eta, and where eta_free is reached, the less of the budget the better. */
static double board_worth(const struct terms *terms, double ln_p, bool exactly)
{
    double eta = board_eta(terms, exp(ln_p), exactly);
    if (eta < terms->eta_free) {
        return eta;
    }
    struct board board = board_of(terms, exp(ln_p), eta);
    return eta * (2 - board_share(terms, &board));
}

/* Closes in on the best ln p between two bounds. */
static double best_between(const struct terms *terms, double low, double high, bool exactly,
                           int sections)
{
    const double golden = 0.6180339887498949;
    for (int i = 0; i < sections; i++) {
        double left = high - golden * (high - low);
        double right = low + golden * (high - low);
        if (board_worth(terms, left, exactly) > board_worth(terms, right, exactly)) {
            high = right;
        } else {
            low = left;
        }
    }
    return low + (high - low) / 2;
}

/* First by the closed form, then by the accountant, to which the coin is cheaper: p is smaller. */
static double best_p(const struct terms *terms)
{
    double best = 0;
    double at = LN_P_LEAST;
    for (int i = 0; i < GRID; i++) {
        double ln_p = LN_P_LEAST * (i + 1) / GRID;
        double worth = board_worth(terms, ln_p, false);
        if (worth > best) {
            best = worth;
            at = ln_p;
        }
    }
    const double step = -LN_P_LEAST / GRID;
    at = best_between(terms, at - step, fmin(at + step, -1e-12), false, SECTIONS);
    if (terms->delta > 0) {
        const double exact =
            best_between(terms, at - 1, fmin(at + 0.25, -1e-12), true, SECTIONS_EXACT);
        at = board_worth(terms, exact, true) > board_worth(terms, at, true) ? exact : at;
    }
    return fmin(ceil(ldexp(exp(at), DBL_MANT_DIG)), 0x1p53 - 1) * 0x1p-53;
}

/* P(Binomial(T, rate) > K) by Chernoff: whatever came before, a round refreshes with probability at
 * most the rate. */
static double cap_probability(double rounds, double mean, uint64_t draws)
{
    const double rate = mean / rounds;
    const double share = ((double)draws + 1) / rounds;
    if (share >= 1 || rate >= 1 || share <= rate) {
        return share >= 1 ? 0 : 1;
    }
    const double divergence =
        share * log(share / rate) + (1 - share) * (log1p(-share) - log1p(-rate));
    return fmin(1, exp(-rounds * divergence) * (1 + 1e-9));
}

static enum status plan_dartboard(struct hedge_plan *plan, const struct terms *terms,
                                  struct why *why)
{
    if (terms->eta_free <= 0) {
        return STATUS_OK; /* one expert */
    }
    const double p = best_p(terms);
    const double eta = board_eta(terms, p, true);
    if (!(eta > 0)) {
        return refuse(why, "no eta above 0 is within this epsilon and delta");
    }
    const struct board board = board_of(terms, p, eta);
    plan->eta = eta;
    plan->privacy_is_free = eta >= terms->eta_free;
    plan->draw_epsilon = board.draw_range;
    plan->refresh_probability = p;
    plan->coin_range = board.coin_range;
    plan->coins = terms->coins;
    plan->refreshes_max = board.draws;
    plan->cap_probability = cap_probability(terms->rounds, board.mean, board.draws);
    return STATUS_OK;
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
    for (int i = 0; i < 2 * SECTIONS; i++) {
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

static void plan_epochs(struct hedge_plan *plan, const struct terms *terms, size_t experts)
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
    const struct terms terms = terms_of(problem);
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
        status = plan_dartboard(plan, &terms, why);
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
        const struct terms terms = {.rounds = (double)problem->rounds};
        plan->eta = rwm_eta_free(problem->experts, problem->rounds);
        plan->privacy_is_free = true;
        plan->refreshes_max = problem->rounds;
        fill_bounds(plan, &terms, problem->experts);
    }
    return status;
}
