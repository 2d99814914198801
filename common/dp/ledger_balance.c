/* ledger_balance.c - what a ledger tells: balances for callers, and for the operator the
 * sentence that goes with a refusal. */

#include "base/check.h"
#include "base/decimal.h"
#include "dp/ledger_private.h"

#include <stdio.h>

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

struct cost ledger_job_spent(const struct ledger *ledger)
{
    size_t found = digest_table_find(&ledger->job_name, &ledger->now.job);
    return found == DIGEST_NOT_THERE ? (struct cost){0} : ledger->job[found];
}

struct balance ledger_balance(const struct ledger *ledger, enum allowance allowance)
{
    struct balance balance = {.limited = ledger->limited[allowance],
                              .filter = ledger->filter[allowance]};
    switch (allowance) {
    case ALLOWANCE_TOTAL:
        balance.spent = ledger->total;
        break;
    case ALLOWANCE_JOB:
        balance.spent = ledger_job_spent(ledger);
        break;
    case ALLOWANCE_WINDOW:
        if (balance.limited) {
            balance.spent = window_sum(&ledger->window, ledger->now.wall_ms, (struct cost){0},
                                       (struct cost){0});
        }
        break;
    }
    return balance;
}

size_t ledger_job_count(const struct ledger *ledger)
{
    return ledger->job_name.count;
}

struct balance ledger_job(const struct ledger *ledger, size_t index, struct digest *job)
{
    CHECK(index < ledger->job_name.count);
    *job = ledger->job_name.name[index];
    return (struct balance){.limited = ledger->limited[ALLOWANCE_JOB],
                            .filter = ledger->filter[ALLOWANCE_JOB],
                            .spent = ledger->job[index]};
}

static void price_text(char text[DECIMAL_TEXT_BYTES], uint64_t value, unsigned decimals)
{
    if (value == UINT64_MAX) {
        (void)snprintf(text, DECIMAL_TEXT_BYTES, "without bound");
    } else {
        decimal_format(text, DECIMAL_TEXT_BYTES, value, decimals);
    }
}

void ledger_say_exhausted(const struct ledger *ledger, enum allowance allowance,
                          const struct cost *after, struct why *why)
{
    static const struct {
        const char *name;
        const char *keys;
    } text_of[ALLOWANCE_COUNT] = {
        [ALLOWANCE_TOTAL] = {"the total of these records", "epsilon, delta"},
        [ALLOWANCE_JOB] = {"what one job may cost", "job_epsilon, job_delta"},
        [ALLOWANCE_WINDOW] = {"what so many days may cost",
                              "allowance_days, allowance_epsilon, allowance_delta"}};
    struct balance balance = ledger_balance(ledger, allowance);
    uint64_t epsilon = less(after->epsilon_micro, balance.spent.epsilon_micro);
    uint64_t delta = less(after->delta_atto, balance.spent.delta_atto);
    const struct filter *filter = &balance.filter;
    char text[4][DECIMAL_TEXT_BYTES];
    char share[96] = "";

    price_text(text[0], after->epsilon_micro == UINT64_MAX ? UINT64_MAX : epsilon,
               EPSILON_DECIMALS);
    price_text(text[1], delta, DELTA_DECIMALS);
    price_text(text[2], less(filter->limit.epsilon_micro, balance.spent.epsilon_micro),
               EPSILON_DECIMALS);
    price_text(text[3], less(filter->own_delta_max, balance.spent.delta_atto), DELTA_DECIMALS);
    if (filter->order > 0) {
        char percent[DECIMAL_TEXT_BYTES];
        price_text(percent, filter_renyi_share(filter, after), 2);
        (void)snprintf(share, sizeof share,
                       ", and its divergence would reach %.24s %% of its bound", percent);
    }
    why_set(why,
            "the answer would cost epsilon %s and delta %s, left are epsilon %s and delta %s of "
            "%s%s: decline the job, or raise it in the policy (%s)",
            text[0], text[1], text[2], text[3], text_of[allowance].name, share,
            text_of[allowance].keys);
}
