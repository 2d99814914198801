/* The ledger beside a naive model that keeps every charge and computes everything anew, on seeded
 * random histories. The comparison must notice each of the model's planted flaws. */

#include "dp/ledger.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>

enum { CHARGES_MAX = 64, PASSES = 4 };

enum flaw {
    FLAW_NONE,
    FLAW_ADDS_WITHIN_A_PASS,
    FLAW_TAKES_ROWS_TWICE,
    FLAW_LOSES_DELTA,
    FLAW_STOPS_SHORT_OF_THE_LIMIT,
    FLAW_COUNTS_REFUSALS,
    FLAW_RESTORES_THE_LARGEST,
    FLAW_COUNT
};

struct model {
    enum flaw flaw;
    struct price limit;
    struct charge charge[CHARGES_MAX];
    size_t count;
};

static bool overlap(const struct charge *a, const struct charge *b)
{
    return a->row_first < b->row_first + b->row_count && b->row_first < a->row_first + a->row_count;
}

static uint64_t clamp(__uint128_t sum)
{
    return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

/* Sum over the charges of one pass, or the largest of them. */
static __uint128_t pass_cost(const struct model *model, const struct digest *pass, bool delta)
{
    __uint128_t sum = 0;
    __uint128_t largest = 0;
    bool repeats = model->flaw == FLAW_ADDS_WITHIN_A_PASS;
    for (size_t i = 0; i < model->count; i++) {
        const struct charge *charge = &model->charge[i];
        if (!charge_is_valid(charge) || !digest_equal(&charge->pass, pass)) {
            continue;
        }
        uint64_t price = delta ? charge->delta_atto : charge->epsilon_micro;
        sum += price;
        largest = price > largest ? price : largest;
        for (size_t j = 0; j < i; j++) {
            const struct charge *other = &model->charge[j];
            repeats = repeats || (charge_is_valid(other) && digest_equal(&other->pass, pass) &&
                                  overlap(charge, other));
        }
    }
    return repeats && model->flaw != FLAW_RESTORES_THE_LARGEST ? sum : largest;
}

static uint64_t model_spent(const struct model *model, bool delta)
{
    __uint128_t sum = 0;
    if (delta && model->flaw == FLAW_LOSES_DELTA) {
        return 0;
    }
    for (uint8_t pass = 1; pass <= PASSES; pass++) {
        sum += pass_cost(model, &(struct digest){{pass}}, delta);
    }
    for (size_t i = 0; i < model->count; i++) {
        const struct charge *charge = &model->charge[i];
        if (!charge_is_valid(charge)) {
            sum += delta ? charge->delta_atto : charge->epsilon_micro;
        }
    }
    return clamp(sum);
}

static void model_restore(struct model *model, const struct charge *charge)
{
    model->charge[model->count++] = *charge;
}

static enum status model_spend(struct model *model, const struct charge *charge)
{
    bool taken = false;
    for (size_t i = 0; i < model->count && charge_is_valid(charge); i++) {
        taken = taken || (charge_is_valid(&model->charge[i]) &&
                          digest_equal(&model->charge[i].pass, &charge->pass) &&
                          overlap(&model->charge[i], charge));
    }
    taken = taken && model->flaw != FLAW_TAKES_ROWS_TWICE;
    if (!charge_is_valid(charge) || taken) {
        return STATUS_INVALID;
    }
    bool over = model_spent(model, false) > model->limit.epsilon_micro ||
                model_spent(model, true) > model->limit.delta_atto;
    model->charge[model->count++] = *charge;
    uint64_t least = model->flaw == FLAW_STOPS_SHORT_OF_THE_LIMIT ? 1 : 0;
    over = over || model_spent(model, false) + least > model->limit.epsilon_micro ||
           model_spent(model, true) > model->limit.delta_atto;
    if (over) {
        model->count -= model->flaw == FLAW_COUNTS_REFUSALS ? 0 : 1;
        return STATUS_EXHAUSTED;
    }
    return STATUS_OK;
}

static struct charge any_charge(struct seeded_random *seeded)
{
    struct charge charge = {
        .epsilon_micro = 1 + seeded_random_below(seeded, 20),
        .delta_atto = seeded_random_below(seeded, 5),
        .pass = {{(uint8_t)(1 + seeded_random_below(seeded, PASSES))}},
        .row_first = seeded_random_below(seeded, 60),
        .row_count = 1 + seeded_random_below(seeded, 8),
    };
    switch (seeded_random_below(seeded, 24)) {
    case 0:
        charge.row_count = 0;
        break;
    case 1:
        charge.pass = (struct digest){{0}};
        break;
    case 2:
        charge.epsilon_micro = 0;
        break;
    default:
        break;
    }
    return charge;
}

static bool same_balance(const struct ledger *ledger, const struct model *model)
{
    return ledger_spent(ledger).epsilon_micro == model_spent(model, false) &&
           ledger_spent(ledger).delta_atto == model_spent(model, true);
}

/* One history. Returns whether ledger and model agreed all along; checks the ledger's own laws. */
static bool run_history(uint64_t seed, enum flaw flaw)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, seed);
    struct model model = {.flaw = flaw,
                          .limit = {.epsilon_micro = 20 + seeded_random_below(&seeded, 60),
                                    .delta_atto = seeded_random_below(&seeded, 16)}};
    struct ledger *ledger = ledger_new(model.limit);
    size_t restored = seeded_random_below(&seeded, 8);
    bool agree = true;
    for (size_t i = 0; i < 40 && agree; i++) {
        struct charge charge = any_charge(&seeded);
        if (i < restored) {
            cr_assert_eq(ledger_restore(ledger, &charge), STATUS_OK);
            model_restore(&model, &charge);
        } else {
            struct grant *grant = NULL;
            struct price before = ledger_spent(ledger);
            struct price cost = ledger_would_cost(ledger, &charge);
            enum status status = ledger_spend(ledger, &grant, &charge, NULL);
            struct price after = ledger_spent(ledger);
            bool paid = status == STATUS_OK;
            agree = status == model_spend(&model, &charge);
            cr_assert_eq(after.epsilon_micro - before.epsilon_micro, paid ? cost.epsilon_micro : 0);
            cr_assert_eq(after.delta_atto - before.delta_atto, paid ? cost.delta_atto : 0);
            cr_assert(!paid || (after.epsilon_micro <= model.limit.epsilon_micro &&
                                after.delta_atto <= model.limit.delta_atto));
            grant_free(grant);
        }
        agree = agree && same_balance(ledger, &model);
    }
    ledger_free(ledger);
    return agree;
}

Test(ledger_model, the_ledger_agrees_with_the_naive_model)
{
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        cr_assert(run_history(seed, FLAW_NONE), "seed %lu", (unsigned long)seed);
    }
}

Test(ledger_model, the_comparison_notices_every_planted_flaw)
{
    for (int flaw = FLAW_NONE + 1; flaw < FLAW_COUNT; flaw++) {
        bool noticed = false;
        for (uint64_t seed = 1; seed <= 200 && !noticed; seed++) {
            noticed = !run_history(seed, (enum flaw)flaw);
        }
        cr_assert(noticed, "flaw %d went unnoticed", flaw);
    }
}

Test(ledger_model, the_order_of_the_journal_is_irrelevant)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 77);
    for (int run = 0; run < 500; run++) {
        struct charge charge[20];
        for (size_t i = 0; i < 20; i++) {
            charge[i] = any_charge(&seeded);
            charge[i].epsilon_micro <<= run % 5 == 0 ? 58 : 0; /* also where sums saturate */
        }
        struct price first = {0};
        for (int order = 0; order < 4; order++) {
            struct ledger *ledger = ledger_new((struct price){0});
            for (size_t i = 0; i < 20; i++) {
                size_t j = i + seeded_random_below(&seeded, 20 - i);
                struct charge swapped = charge[i];
                charge[i] = charge[j];
                charge[j] = swapped;
                cr_assert_eq(ledger_restore(ledger, &charge[i]), STATUS_OK);
            }
            struct price spent = ledger_spent(ledger);
            first = order == 0 ? spent : first;
            cr_assert_eq(spent.epsilon_micro, first.epsilon_micro);
            cr_assert_eq(spent.delta_atto, first.delta_atto);
            ledger_free(ledger);
        }
    }
}
