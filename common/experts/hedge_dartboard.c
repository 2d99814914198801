/* The planner of the dartboard (Asi, Feldman, Koren, Talwar 2023): keep the expert with probability
 * (1-p) exp(-eta loss), else draw anew. hedge.h has the formulas.
 *
 * Why the accountant may judge it: which of a round's events comes next follows from what came
 * before, so the list is not fixed; but along every path it holds at most c bits that the unit
 * touches and K draws. Sums of divergences at one order, and sums of pure epsilons, bound such
 * interactions (Feldman and Zrnic 2021); the accountants that need a fixed list are not asked.
 *
 * The best p is flat: it is looked for by a closed form, then by the accountant with eta to a
 * millionth. Only at the p that is taken is eta found to the last digits. */

#include "experts/hedge_terms.h"

#include <float.h>
#include <math.h>

enum { HALVINGS = 60, GRID = 64, SECTIONS = 40, SECTIONS_EXACT = 10, DEVIATIONS = 6 };

static const double up = 1 + 16 * DBL_EPSILON;

#define LN_P_LEAST (-36.0)
#define SHRINK     (1 - 1e-9)

/* How far, as a share of itself, eta may be from the largest that fits. */
#define SEARCHING 1e-6
#define FINAL     1e-12

/* What one p and one eta ask for. */
struct board {
    double p;
    double eta;
    double mean; /* refreshes */
    double coin_range;
    double draw_range;
    uint64_t draws; /* K */
};

static struct board board_of(const struct hedge_terms *terms, double p, double eta)
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
static double board_share(const struct hedge_terms *terms, const struct board *board)
{
    const double coins = (double)terms->coins;
    const double draws = (double)board->draws;
    const double coin = board->coin_range;
    const double draw = board->draw_range;
    const double pure = (coins * coin + draws * draw) / terms->epsilon;
    const double rho = (coins * coin * coin + draws * draw * draw) / 8;
    return fmax(terms->delta == 0 ? pure : fmin(pure, rho / terms->rho), rho / terms->rho_max);
}

static bool fits_closed(const struct hedge_terms *terms, double p, double eta)
{
    const struct board board = board_of(terms, p, eta);
    return board_share(terms, &board) <= 1;
}

static bool fits(const struct hedge_terms *terms, double p, double eta)
{
    const struct board board = board_of(terms, p, eta);
    const struct privacy_event event[2] = {hedge_ranged(board.coin_range, terms->coins),
                                           hedge_ranged(board.draw_range, board.draws)};
    return hedge_fits(terms, event, 2);
}

/* The largest eta that fits at this p by the closed form, up to eta_free. */
static double eta_closed(const struct hedge_terms *terms, double p)
{
    double low = 0;
    double high = terms->eta_free;
    if (fits_closed(terms, p, high)) {
        return high;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = low + (high - low) / 2;
        *(fits_closed(terms, p, middle) ? &low : &high) = middle;
    }
    return low;
}

/* The same by the accountant. It is never stricter than the closed form but for rounding, and the
 * truth is seldom twice as large. */
static double eta_exact(const struct hedge_terms *terms, double p, double precision)
{
    double low = eta_closed(terms, p) * SHRINK;
    double high = low;
    while (low > 0 && !fits(terms, p, low)) {
        high = low;
        low /= 2;
    }
    while (low > 0 && low == high && high < terms->eta_free) {
        high = fmin(2 * low, terms->eta_free);
        low = fits(terms, p, high) ? high : low;
    }
    while (high - low > precision * high) {
        const double middle = low + (high - low) / 2;
        *(fits(terms, p, middle) ? &low : &high) = middle;
    }
    return low;
}

/* What p is good for: eta, and where eta_free is reached, the less of the budget the better. */
static double worth(const struct hedge_terms *terms, double ln_p, bool exactly)
{
    const double p = exp(ln_p);
    const double eta = exactly ? eta_exact(terms, p, SEARCHING) : eta_closed(terms, p);
    if (eta < terms->eta_free) {
        return eta;
    }
    const struct board board = board_of(terms, p, eta);
    return eta * (2 - board_share(terms, &board));
}

/* Closes in on the best ln p between two bounds: golden sections, one new question each. */
static double best_between(const struct hedge_terms *terms, double low, double high, bool exactly,
                           int sections)
{
    const double golden = 0.6180339887498949;
    double left = high - golden * (high - low);
    double right = low + golden * (high - low);
    double left_worth = worth(terms, left, exactly);
    double right_worth = worth(terms, right, exactly);
    for (int i = 0; i < sections; i++) {
        if (left_worth > right_worth) {
            high = right;
            right = left;
            right_worth = left_worth;
            left = high - golden * (high - low);
            left_worth = worth(terms, left, exactly);
        } else {
            low = left;
            left = right;
            left_worth = right_worth;
            right = low + golden * (high - low);
            right_worth = worth(terms, right, exactly);
        }
    }
    return left_worth > right_worth ? left : right;
}

/* First by the closed form, then by the accountant, to which the coin is cheaper: p is smaller. */
static double best_p(const struct hedge_terms *terms)
{
    double best = 0;
    double at = LN_P_LEAST;
    for (int i = 0; i < GRID; i++) {
        const double ln_p = LN_P_LEAST * (i + 1) / GRID;
        const double here = worth(terms, ln_p, false);
        if (here > best) {
            best = here;
            at = ln_p;
        }
    }
    const double step = -LN_P_LEAST / GRID;
    at = best_between(terms, at - step, fmin(at + step, -1e-12), false, SECTIONS);
    if (terms->delta > 0) {
        const double exact =
            best_between(terms, at - 1, fmin(at + 0.25, -1e-12), true, SECTIONS_EXACT);
        at = worth(terms, exact, true) > worth(terms, at, true) ? exact : at;
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

enum status hedge_plan_dartboard(struct hedge_plan *plan, const struct hedge_terms *terms,
                                 struct why *why)
{
    if (terms->eta_free <= 0) {
        return STATUS_OK; /* one expert */
    }
    const double p = best_p(terms);
    const double eta = eta_exact(terms, p, FINAL);
    if (!(eta > 0)) {
        return why_refuse(why, "no eta above 0 is within this epsilon and delta");
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
