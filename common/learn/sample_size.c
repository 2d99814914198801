/* Sample sizes: the formulas, rounded up to whole records. */

#include "learn/sample_size.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

static const double up = 1 + 16 * DBL_EPSILON;
static const double whole_max = 9007199254740992.0; /* 2^53 */

static bool is_count(double x)
{
    return x >= 1 && x <= whole_max && x == floor(x);
}

static bool is_share(double x)
{
    return x > 0 && x < 1;
}

static enum status check_risk(double beta, double epsilon, struct why *why)
{
    if (!is_share(beta)) {
        return why_refuse(why, "beta, the probability of failing, must lie above 0 and below 1");
    }
    if (!(epsilon > 0 && isfinite(epsilon))) {
        return why_refuse(why, "epsilon must be a finite number above 0");
    }
    return STATUS_OK;
}

static enum status conclude(struct sample_size *size, struct why *why)
{
    size->records = ceil(fmax(fmax(size->for_noise, size->for_sampling), 1));
    if (!(size->records < whole_max)) {
        *size = (struct sample_size){0};
        return why_refuse(why,
                          "2^53 records or more would be needed: ask for less (a larger epsilon, "
                          "tolerance or alpha, fewer queries or agents)");
    }
    return STATUS_OK;
}

enum status sample_size_pac(struct sample_size *size, const struct pac_request *request,
                            struct why *why)
{
    *size = (struct sample_size){0};
    if (!is_count(request->candidates)) {
        return why_refuse(why, "candidates must be a whole number from 1 to 2^53");
    }
    if (!is_share(request->alpha)) {
        return why_refuse(why, "alpha, the excess error, must lie above 0 and below 1");
    }
    const enum status status = check_risk(request->beta, request->epsilon, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double alpha = request->alpha;
    const double per_miss = request->candidates / request->beta;
    size->for_noise = 4 * log(2 * per_miss) / (request->epsilon * alpha) * up;
    size->for_sampling = 8 * log(4 * per_miss) / (alpha * alpha) * up;
    size->trust_factor = 1;
    size->range = "independent records; every alpha, beta in (0, 1) and epsilon > 0; trust central";
    return conclude(size, why);
}

/* Chernoff's bound at x. */
static double tail(double x, double logarithm, double agents)
{
    return (logarithm - agents * log1p(-x * x)) / x;
}

/* The number of scales that a sum of `agents` Laplace variables exceeds with probability
 * exp(-logarithm) at most. Every x gives such a number: the search need not be exact. */
static double sum_tail(double logarithm, double agents)
{
    double low = 0;
    double high = 1;
    for (unsigned i = 0; i < 200; i++) {
        const double left = low + (high - low) / 3;
        const double right = high - (high - low) / 3;
        if (tail(left, logarithm, agents) < tail(right, logarithm, agents)) {
            high = right;
        } else {
            low = left;
        }
    }
    return tail(high < 1 ? high : low, logarithm, agents);
}

static enum status check_queries(const struct sq_request *request, struct why *why)
{
    if (!is_count(request->queries)) {
        return why_refuse(why, "queries must be a whole number from 1 to 2^53");
    }
    if (!is_share(request->tolerance)) {
        return why_refuse(
            why, "the tolerance must lie above 0 and below 1: answers lie between 0 and 1");
    }
    if (request->agents != 0 && !is_count(request->agents)) {
        return why_refuse(why, "agents must be a whole number from 1 to 2^53");
    }
    return check_risk(request->beta, request->epsilon, why);
}

enum status sample_size_sq(struct sample_size *size, const struct sq_request *request,
                           struct why *why)
{
    *size = (struct sample_size){0};
    const enum status status = check_queries(request, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double tau = request->tolerance;
    const double per_miss = request->queries / request->beta;
    const double once = log(2 * per_miss);
    const double scales = request->agents > 1 ? sum_tail(log(4 * per_miss), request->agents) : once;
    size->for_noise = 2 * request->queries * scales / (request->epsilon * tau) * up;
    size->for_sampling = 2 * log(4 * per_miss) / (tau * tau) * up;
    size->trust_factor = scales / once;
    size->range =
        request->agents > 1
            ? "independent records; queries fixed beforehand; trust local, n is the sum over all "
              "agents"
            : "independent records; queries fixed beforehand: an adaptive learner needs "
              "fresh records for each; trust central or distributed";
    return conclude(size, why);
}
