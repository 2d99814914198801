/* The ledger beside a naive model that keeps every charge and computes everything anew, on seeded
 * random histories over several jobs, days and restarts. The comparison must notice each of the
 * model's planted flaws. Fixed seeds: no false alarms. */

#include "dp/ledger.h"
#include "dp/window.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>

enum { CHARGES_MAX = 64, PASSES = 3, JOBS = 2, STEPS = 40 };

enum flaw {
    FLAW_NONE,
    FLAW_ADDS_WITHIN_A_PASS,
    FLAW_TAKES_ROWS_TWICE,
    FLAW_LOSES_DELTA,
    FLAW_STOPS_SHORT_OF_THE_LIMIT,
    FLAW_COUNTS_REFUSALS,
    FLAW_RESTORES_THE_LARGEST,
    FLAW_ADDS_FLOATS,
    FLAW_CHECKS_AFTER_THE_CHARGE,
    FLAW_IGNORES_COUNT,
    FLAW_EXPIRES_A_DAY_EARLY,
    FLAW_CLOCK_BACK_FREES,
    FLAW_OLD_CHARGE_HIDES_NEW,
    FLAW_FORGETS_JOBS_AT_RESTART,
    FLAW_DELTA_DEPENDS_ON_THE_ARM,
    FLAW_WANTS_BOTH_ARMS,
    FLAW_GAUSSIANS_ARE_FREE_OF_EPSILON,
    FLAW_COUNT
};

struct entry {
    struct charge charge;
    struct digest job;
    int64_t day; /* on which it counts */
    bool before_restart;
};

struct model {
    enum flaw flaw;
    struct allowances limits;
    struct filter filter[ALLOWANCE_COUNT];
    struct entry entry[CHARGES_MAX];
    size_t count;
    struct digest job; /* now */
    int64_t today;
    int64_t clock; /* what it shows, which may be earlier */
};

struct wide {
    uint128 part[3]; /* epsilon, delta, divergence */
};

static uint64_t clamp(uint128 sum)
{
    return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

static bool overlap(const struct charge *a, const struct charge *b)
{
    return a->row_first < b->row_first + b->row_count && b->row_first < a->row_first + a->row_count;
}

static bool same_pass(const struct charge *a, const struct charge *b)
{
    return charge_is_valid(a) && charge_is_valid(b) && digest_equal(&a->pass, &b->pass);
}

static struct wide price_of(const struct model *model, const struct charge *charge, unsigned which)
{
    const struct filter *filter = &model->filter[which];
    struct charge counted = *charge;
    if (!charge_is_valid(charge)) {
        return (struct wide){{UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    }
    counted.count = model->flaw == FLAW_IGNORES_COUNT ? 1 : counted.count;
    struct cost cost = filter_cost(filter, &counted);
    if (model->flaw == FLAW_GAUSSIANS_ARE_FREE_OF_EPSILON && charge->epsilon_micro == 0) {
        cost.epsilon_micro = 0;
    }
    return (struct wide){{cost.epsilon_micro, model->flaw == FLAW_LOSES_DELTA ? 0 : cost.delta_atto,
                          cost.renyi_nano}};
}

/* What the pass of entry `of` costs: the largest of its charges, or their sum. */
static struct wide pass_cost(const struct model *model, size_t of, unsigned which)
{
    struct wide sum = {{0}};
    struct wide largest = {{0}};
    bool repeats = model->flaw == FLAW_ADDS_WITHIN_A_PASS;
    for (size_t i = 0; i < model->count; i++) {
        const struct charge *charge = &model->entry[i].charge;
        if (!same_pass(charge, &model->entry[of].charge)) {
            continue;
        }
        struct wide price = price_of(model, charge, which);
        for (int k = 0; k < 3; k++) {
            sum.part[k] += price.part[k];
            largest.part[k] = price.part[k] > largest.part[k] ? price.part[k] : largest.part[k];
        }
        for (size_t j = 0; j < i; j++) {
            repeats = repeats || (same_pass(charge, &model->entry[j].charge) &&
                                  overlap(charge, &model->entry[j].charge));
        }
    }
    return repeats && model->flaw != FLAW_RESTORES_THE_LARGEST ? sum : largest;
}

static bool counts(const struct model *model, size_t i, unsigned which)
{
    const struct entry *entry = &model->entry[i];
    int64_t age = model->today - entry->day;
    if (which == ALLOWANCE_JOB) {
        bool forgotten = model->flaw == FLAW_FORGETS_JOBS_AT_RESTART && entry->before_restart;
        return digest_equal(&entry->job, &model->job) && !forgotten;
    }
    if (which == ALLOWANCE_WINDOW) {
        return age < (int64_t)model->limits.window_days ||
               (age == (int64_t)model->limits.window_days &&
                model->flaw != FLAW_EXPIRES_A_DAY_EARLY);
    }
    return true;
}

/* The entry that speaks for its pass: its latest, on whose day the pass counts whole. */
static bool speaks(const struct model *model, size_t i)
{
    bool first = model->flaw == FLAW_OLD_CHARGE_HIDES_NEW; /* on the day of its first instead */
    for (size_t j = first ? 0 : i + 1; j < (first ? i : model->count); j++) {
        if (same_pass(&model->entry[i].charge, &model->entry[j].charge)) {
            return false;
        }
    }
    return true;
}

static struct cost model_sums(const struct model *model, unsigned which)
{
    struct wide sum = {{0}};
    for (size_t i = 0; i < model->count; i++) {
        if (!speaks(model, i) || !counts(model, i, which)) {
            continue;
        }
        struct wide cost = charge_is_valid(&model->entry[i].charge)
                               ? pass_cost(model, i, which)
                               : price_of(model, &model->entry[i].charge, which);
        for (int k = 0; k < 3; k++) {
            sum.part[k] += clamp(cost.part[k]);
        }
    }
    return (struct cost){clamp(sum.part[0]), clamp(sum.part[1]), clamp(sum.part[2])};
}

/* Planted: sums of 0.1 in double. */
static bool floats_fit(const struct model *model, unsigned which, uint64_t limit)
{
    double sum = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (speaks(model, i) && counts(model, i, which)) {
            sum += (double)clamp(pass_cost(model, i, which).part[0]) * 1e-6;
        }
    }
    return sum <= (double)limit * 1e-6;
}

static bool model_fits(const struct model *model, unsigned which)
{
    const struct filter *filter = &model->filter[which];
    struct cost sums = model_sums(model, which);
    uint64_t short_by = model->flaw == FLAW_STOPS_SHORT_OF_THE_LIMIT ? 1 : 0;
    bool pure = sums.epsilon_micro != UINT64_MAX &&
                sums.epsilon_micro + short_by <= filter->limit.epsilon_micro;
    bool renyi = filter->order > 0 && sums.renyi_nano <= filter->renyi_max;
    uint64_t own = filter->order > 0 ? filter->limit.delta_atto / 2 : filter->limit.delta_atto;
    if (model->flaw == FLAW_ADDS_FLOATS) {
        pure = floats_fit(model, which, filter->limit.epsilon_micro);
    }
    if (model->flaw == FLAW_DELTA_DEPENDS_ON_THE_ARM && pure) {
        own = filter->limit.delta_atto;
    }
    bool either =
        model->flaw == FLAW_WANTS_BOTH_ARMS && filter->order > 0 ? pure && renyi : pure || renyi;
    return sums.delta_atto <= own && either;
}

static bool model_fits_all(const struct model *model)
{
    return model_fits(model, ALLOWANCE_TOTAL) &&
           (model->limits.job.epsilon_micro == 0 || model_fits(model, ALLOWANCE_JOB)) &&
           (model->limits.window_days == 0 || model_fits(model, ALLOWANCE_WINDOW));
}

static void model_restore(struct model *model, const struct charge *charge)
{
    int64_t day = model->flaw == FLAW_CLOCK_BACK_FREES ? model->clock : model->today;
    model->entry[model->count++] = (struct entry){*charge, model->job, day, false};
}

static enum status model_spend(struct model *model, const struct charge *charge)
{
    bool taken = false;
    for (size_t i = 0; i < model->count; i++) {
        taken = taken || (same_pass(&model->entry[i].charge, charge) &&
                          overlap(&model->entry[i].charge, charge));
    }
    taken = taken && model->flaw != FLAW_TAKES_ROWS_TWICE;
    if (!charge_is_valid(charge) || taken) {
        return STATUS_INVALID;
    }
    bool fitted = model_fits_all(model);
    model_restore(model, charge);
    if (model->flaw == FLAW_CHECKS_AFTER_THE_CHARGE ? !fitted : !model_fits_all(model)) {
        model->count -= model->flaw == FLAW_COUNTS_REFUSALS ? 0 : 1;
        return STATUS_EXHAUSTED;
    }
    return STATUS_OK;
}

/* What is no charge; a ledger that has to restore it never spends again. */
static void spoil(struct charge *charge, uint64_t how)
{
    charge->row_count = how == 0 ? 0 : charge->row_count;
    charge->pass = how == 1 ? (struct digest){{0}} : charge->pass;
    charge->epsilon_micro = how == 2 ? 0 : charge->epsilon_micro;
}

static struct charge any_charge(struct seeded_random *seeded, const struct digest *job)
{
    struct charge charge = {
        .epsilon_micro = 100000 * (1 + seeded_random_below(seeded, 3)),
        .delta_atto = DELTA_ATTO_ONE / 1000 * seeded_random_below(seeded, 5),
        .pass = {{(uint8_t)(1 + seeded_random_below(seeded, PASSES)), job->byte[0]}},
        .row_first = seeded_random_below(seeded, 60),
        .row_count = 1 + seeded_random_below(seeded, 4),
    };
    switch (seeded_random_below(seeded, 24)) {
    case 0:
        spoil(&charge, seeded_random_below(seeded, 3));
        break;
    case 3:
    case 4:
        charge.mechanism = MECHANISM_GAUSSIAN;
        charge.epsilon_micro = 0;
        charge.sigma_micro = 4000000 + seeded_random_below(seeded, 9000000);
        break;
    case 5:
        charge.mechanism = MECHANISM_EXPONENTIAL;
        break;
    case 6:
        charge.count = 1 + seeded_random_below(seeded, 3);
        break;
    default:
        break;
    }
    return charge;
}

static struct allowances any_limits(struct seeded_random *seeded)
{
    struct allowances limits = {.total.epsilon_micro =
                                    100000 * (4 + seeded_random_below(seeded, 16))};
    if (seeded_random_below(seeded, 2) == 1) {
        limits.total.delta_atto = DELTA_ATTO_ONE / 1000 * (10 + seeded_random_below(seeded, 90));
    }
    if (seeded_random_below(seeded, 2) == 1) {
        limits.job = limits.total;
        limits.job.epsilon_micro = 100000 * (3 + seeded_random_below(seeded, 10));
    }
    if (seeded_random_below(seeded, 2) == 1) {
        limits.window = limits.total;
        limits.window.epsilon_micro = 100000 * (3 + seeded_random_below(seeded, 10));
        limits.window_days = 1 + (uint32_t)seeded_random_below(seeded, 4);
    }
    return limits;
}

static bool same_balance(const struct ledger *ledger, const struct model *model)
{
    bool same = true;
    for (unsigned i = 0; i < ALLOWANCE_COUNT; i++) {
        struct balance balance = ledger_balance(ledger, (enum allowance)i);
        struct cost sums = model_sums(model, i);
        same = same && (!balance.limited || (balance.spent.epsilon_micro == sums.epsilon_micro &&
                                             balance.spent.delta_atto == sums.delta_atto &&
                                             balance.spent.renyi_nano == sums.renyi_nano));
    }
    return same;
}

/* A moment of the history; the clock may jump both ways. */
static void tell_time(struct seeded_random *seeded, struct ledger *ledger, struct model *model)
{
    int64_t latest = 0; /* of a charge */
    for (size_t i = 0; i < model->count; i++) {
        latest = model->entry[i].day > latest ? model->entry[i].day : latest;
    }
    int64_t day = latest + (int64_t)seeded_random_below(seeded, 5) - 2;
    struct occasion occasion = {.job = {{(uint8_t)(1 + seeded_random_below(seeded, JOBS))}},
                                .wall_ms = day * DAY_MS + 7};
    model->job = occasion.job;
    model->clock = day > 0 ? day : 0;
    model->today = day > latest ? day : latest;
    ledger_at(ledger, &occasion);
}

/* From the journal alone. */
static struct ledger *restart(struct ledger *old, struct model *model)
{
    struct ledger *ledger = ledger_open(&model->limits);
    ledger_free(old);
    model->today = 0;
    for (size_t i = 0; i < model->count; i++) {
        struct entry *entry = &model->entry[i];
        struct occasion occasion = {.job = entry->job, .wall_ms = entry->day * DAY_MS};
        entry->before_restart = true;
        model->today = entry->day > model->today ? entry->day : model->today;
        ledger_at(ledger, &occasion);
        cr_assert_eq(ledger_restore(ledger, &entry->charge), STATUS_OK);
    }
    ledger_at(ledger, &(struct occasion){.job = model->job});
    return ledger;
}

/* One history. Returns whether ledger and model agreed all along. */
static bool run_history(uint64_t seed, enum flaw flaw)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, seed);
    struct model model = {.flaw = flaw, .limits = any_limits(&seeded)};
    struct ledger *ledger = ledger_open(&model.limits);
    for (unsigned i = 0; i < ALLOWANCE_COUNT; i++) {
        model.filter[i] = ledger_balance(ledger, (enum allowance)i).filter;
    }
    size_t restored = seeded_random_below(&seeded, 8);
    bool agree = true;
    for (size_t i = 0; i < STEPS && agree; i++) {
        tell_time(&seeded, ledger, &model);
        struct charge charge = any_charge(&seeded, &model.job);
        if (i < restored) {
            cr_assert_eq(ledger_restore(ledger, &charge), STATUS_OK);
            model_restore(&model, &charge);
        } else {
            struct grant *grant = NULL;
            struct cost before = ledger_balance(ledger, ALLOWANCE_TOTAL).spent;
            struct price cost = ledger_would_cost(ledger, &charge);
            enum status checked = ledger_check(ledger, &charge, NULL);
            enum status status = ledger_spend(ledger, &grant, &charge, NULL);
            struct cost after = ledger_balance(ledger, ALLOWANCE_TOTAL).spent;
            cr_assert_eq(status, checked);
            cr_assert_eq(grant != NULL, status == STATUS_OK);
            agree = status == model_spend(&model, &charge);
            cr_assert_eq(after.epsilon_micro,
                         status == STATUS_OK
                             ? clamp((uint128)before.epsilon_micro + cost.epsilon_micro)
                             : before.epsilon_micro);
            grant_free(grant);
        }
        agree = agree && same_balance(ledger, &model);
        if (seeded_random_below(&seeded, 10) == 0) {
            ledger = restart(ledger, &model);
            agree = agree && same_balance(ledger, &model);
        }
    }
    ledger_free(ledger);
    return agree;
}

Test(ledger_model, the_ledger_agrees_with_the_naive_model)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
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
        cr_expect(noticed, "flaw %d went unnoticed", flaw);
    }
}

Test(ledger_model, the_order_of_the_journal_is_irrelevant_to_the_total)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 77);
    for (int run = 0; run < 500; run++) {
        struct charge charge[20];
        for (size_t i = 0; i < 20; i++) {
            charge[i] = any_charge(&seeded, &(struct digest){{1}});
            charge[i].epsilon_micro <<= run % 5 == 0 ? 44 : 0; /* also where sums saturate */
        }
        struct cost first = {0};
        for (int order = 0; order < 4; order++) {
            struct ledger *ledger = ledger_new((struct price){0});
            for (size_t i = 0; i < 20; i++) {
                size_t j = i + seeded_random_below(&seeded, 20 - i);
                struct charge swapped = charge[i];
                charge[i] = charge[j];
                charge[j] = swapped;
                cr_assert_eq(ledger_restore(ledger, &charge[i]), STATUS_OK);
            }
            struct cost spent = ledger_balance(ledger, ALLOWANCE_TOTAL).spent;
            first = order == 0 ? spent : first;
            cr_assert_eq(spent.epsilon_micro, first.epsilon_micro);
            cr_assert_eq(spent.delta_atto, first.delta_atto);
            ledger_free(ledger);
        }
    }
}
