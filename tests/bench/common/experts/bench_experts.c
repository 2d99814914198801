/* A million experts: what one round of the private weighted majority costs - the update of the
 * cumulative losses and one exact draw, paid for - against one pass of memory over those losses,
 * timed in turns in the same run. Ends with 1 above 40 passes.
 *
 * The exact path of a draw is reached with probability below k 2^-59, 2^-39 here. */

#include "base/check.h"
#include "crypto/random.h"
#include "dp/select.h"
#include "tests/support/bench_clock.h"
#include "tests/support/seeded_random.h"

#include <stdio.h>
#include <stdlib.h>

enum { EXPERTS = 1000000, REPEATS = 200, PASSES_MAX = 40, ONE = 1024 };

static double least(double best, double now)
{
    return best > 0 && best < now ? best : now;
}

static double time_pass(const int64_t *loss)
{
    static volatile int64_t sink;
    const double start = now_ns();
    int64_t sum = 0;
    for (size_t i = 0; i < EXPERTS; i++) {
        sum += loss[i];
    }
    sink = sum;
    return now_ns() - start + 0 * (double)sink;
}

static double time_update(int64_t *cumulative, const int64_t *latest)
{
    const double start = now_ns();
    for (size_t i = 0; i < EXPERTS; i++) {
        cumulative[i] += latest[i];
    }
    return now_ns() - start;
}

static double time_draw(struct ledger *ledger, uint64_t round, const struct random *random,
                        const int64_t *cumulative)
{
    const struct charge charge = {.mechanism = MECHANISM_EXPONENTIAL,
                                  .epsilon_micro = 2000,
                                  .pass = {{1}},
                                  .row_first = round,
                                  .row_count = 1};
    struct grant *grant = NULL;
    size_t expert = 0;
    const double start = now_ns();
    CHECK(ledger_spend(ledger, &grant, &charge, NULL) == STATUS_OK);
    CHECK(select_exponential(&grant, random, &expert, cumulative, EXPERTS, ONE) == STATUS_OK);
    return now_ns() - start;
}

int main(void)
{
    struct random_source *source = random_source_new();
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX - 1, 0});
    int64_t *cumulative = calloc(EXPERTS, sizeof *cumulative);
    int64_t *latest = calloc(EXPERTS, sizeof *latest);
    struct seeded_random seeded;
    double pass = 0;
    double update = 0;
    double draw = 0;
    CHECK(source != NULL && ledger != NULL && cumulative != NULL && latest != NULL);
    const struct random random = random_source_interface(source);
    seeded_random_init(&seeded, 1);
    for (size_t i = 0; i < EXPERTS; i++) {
        latest[i] = (int64_t)seeded_random_below(&seeded, ONE + 1);
    }
    for (uint64_t round = 0; round < REPEATS; round++) {
        update = least(update, time_update(cumulative, latest));
        draw = least(draw, time_draw(ledger, round, &random, cumulative));
        pass = least(pass, time_pass(cumulative));
    }
    const double passes = (update + draw) / pass;
    printf("%d experts: a pass %.3f ms, the update %.3f ms, an exact draw %.3f ms: %.1f passes\n",
           EXPERTS, pass * 1e-6, update * 1e-6, draw * 1e-6, passes);
    free(latest);
    free(cumulative);
    ledger_free(ledger);
    random_source_free(source);
    return passes <= PASSES_MAX ? 0 : 1;
}
