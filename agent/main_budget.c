/* What is left of a site's budget, and whether a job's price fits into it. */

#include "agent/main.h"
#include "base/decimal.h"
#include "job/round.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t site_epsilon_used(const struct balance *balance)
{
    return balance->spent.epsilon_micro == UINT64_MAX
               ? filter_epsilon(&balance->filter, &balance->spent)
               : balance->spent.epsilon_micro;
}

uint64_t site_epsilon_left(const struct balance *balance)
{
    const uint64_t limit = balance->filter.limit.epsilon_micro;
    const uint64_t spent = site_epsilon_used(balance);
    return limit > spent ? limit - spent : 0;
}

/* Whether an allowance has room for that many runs. */
static bool affords(const struct ledger *ledger, enum allowance allowance, const struct job *job,
                    uint32_t runs)
{
    const struct balance balance = ledger_balance(ledger, allowance);
    const struct cost whole = round_cost(job, &balance.filter, job_round_count(job));
    struct cost sums = balance.spent;
    bool admits = true;
    for (uint32_t i = 0; i < runs && balance.limited && admits; i++) {
        sums = cost_add(sums, whole);
        admits = filter_admits(&balance.filter, &sums);
    }
    return admits;
}

bool site_affords(const struct ledger *ledger, enum allowance allowance, const struct job *job)
{
    return affords(ledger, allowance, job, 1);
}

void site_price_text(char text[static SITE_PRICE_BYTES], struct price price)
{
    char epsilon[DECIMAL_TEXT_BYTES];
    char delta[DECIMAL_TEXT_BYTES];
    decimal_format(epsilon, sizeof epsilon, price.epsilon_micro, EPSILON_DECIMALS);
    decimal_format(delta, sizeof delta, price.delta_atto, DELTA_DECIMALS);
    (void)snprintf(text, SITE_PRICE_BYTES, "epsilon %s, delta %s", epsilon, delta);
}

struct price site_left(const struct balance *balance)
{
    const uint64_t limit = balance->filter.own_delta_max;
    const uint64_t spent = balance->spent.delta_atto;
    return (struct price){site_epsilon_left(balance), limit > spent ? limit - spent : 0};
}

/* The job's own allowance is empty before its first charge, and policy_check_job has compared it. */
enum status site_check_budget(const struct ledger *ledger, const struct policy *policy,
                              const struct job *job, uint32_t runs, struct why *why)
{
    const bool total = site_affords(ledger, ALLOWANCE_TOTAL, job);
    const bool first = total && site_affords(ledger, ALLOWANCE_WINDOW, job);
    if (first && affords(ledger, ALLOWANCE_TOTAL, job, runs)) {
        return STATUS_OK;
    }
    const struct balance balance =
        ledger_balance(ledger, total ? ALLOWANCE_WINDOW : ALLOWANCE_TOTAL);
    char price[SITE_PRICE_BYTES];
    char left[SITE_PRICE_BYTES];
    site_price_text(price, (struct price){job->epsilon_micro, job->delta_atto});
    site_price_text(left, site_left(&balance));
    if (first) {
        const struct balance all = ledger_balance(ledger, ALLOWANCE_TOTAL);
        site_price_text(left, site_left(&all));
        why_set(why,
                "each run of this job costs %s, and %s is left of the policy's total, which does "
                "not pay for %" PRIu32 " runs; remedy: fewer runs, or raise epsilon in the policy",
                price, left, runs);
    } else if (total) {
        why_set(why,
                "this job costs %s, and of what the policy allows for any %" PRIu32
                " days %s is left: its rounds would be declined; remedy: reject it, wait until "
                "earlier answers are older, or raise allowance_epsilon in the policy",
                price, policy->allowance_days, left);
    } else {
        why_set(why,
                "this job costs %s, and %s is left of the policy's total: its rounds would be "
                "declined; remedy: reject it, or raise epsilon in the policy",
                price, left);
    }
    return STATUS_REFUSED;
}
