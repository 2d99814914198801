/* The filter at the ends of its numbers: products and sums that leave 64 bits, charges of next to
 * nothing, rates at both ends, and roundings, all held against long double or against integers twice as
 * wide. A price that is one unit too low fails here. */

#include "account/pure.h"
#include "account/renyi.h"
#include "dp/ledger.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

static struct charge pure(uint64_t epsilon_micro)
{
    return (struct charge){.epsilon_micro = epsilon_micro, .pass = {{1}}, .row_count = 1};
}

static struct charge gaussian(uint64_t sigma_micro)
{
    return (struct charge){
        .mechanism = MECHANISM_GAUSSIAN, .sigma_micro = sigma_micro, .pass = {{1}}, .row_count = 1};
}

static const struct price wide_open = {UINT64_MAX, UINT64_MAX};
static const struct price usual = {1000000, 1000000000000};

/* Prices and counts whose product is a little more than 2^64. A product that wraps would charge
 * almost nothing. */
Test(filter_limits, a_product_beyond_64_bits_is_without_bound)
{
    struct filter filter = filter_new(usual);
    for (unsigned bits = 11; bits <= 62; bits++) {
        struct charge charge = pure((UINT64_C(1) << bits) + 1);
        charge.count = UINT64_C(1) << (64 - bits);
        charge.delta_atto = bits < 60 ? UINT64_C(1) << bits : 0;
        cr_assert(charge_is_valid(&charge), "%u", bits);
        struct cost cost = filter_cost(&filter, &charge);
        cr_expect_eq(cost.epsilon_micro, UINT64_MAX, "%u", bits);
        cr_expect(bits >= 60 || cost.delta_atto == UINT64_MAX, "%u", bits);
    }
    struct cost one = {UINT64_C(1) << 32, UINT64_C(1) << 40, UINT64_C(1) << 50};
    struct cost many = cost_times(one, UINT64_C(1) << 32);
    cr_expect(many.epsilon_micro == UINT64_MAX && many.delta_atto == UINT64_MAX &&
              many.renyi_nano == UINT64_MAX);
    struct charge loud = gaussian(1); /* its divergence alone is beyond */
    cr_expect_eq(filter_cost(&filter, &loud).renyi_nano, UINT64_MAX);
    loud = gaussian(1000);
    uint64_t once = filter_cost(&filter, &loud).renyi_nano;
    loud.count = UINT64_MAX / once + 1;
    cr_assert(once < UINT64_MAX && charge_is_valid(&loud));
    cr_expect_eq(filter_cost(&filter, &loud).renyi_nano, UINT64_MAX);
}

Test(filter_limits, a_sum_beyond_64_bits_is_without_bound_and_the_largest_is_the_largest)
{
    struct cost most = {UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1};
    for (unsigned i = 0; i < 3; i++) {
        struct cost two = {i == 0 ? 2 : 0, i == 1 ? 2 : 0, i == 2 ? 2 : 0};
        struct cost sum = cost_add(most, two);
        struct cost back = cost_add(two, most);
        uint64_t wanted[3] = {UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1};
        wanted[i] = UINT64_MAX;
        cr_expect(sum.epsilon_micro == wanted[0] && sum.delta_atto == wanted[1] &&
                  sum.renyi_nano == wanted[2]);
        cr_expect(back.epsilon_micro == wanted[0] && back.delta_atto == wanted[1] &&
                  back.renyi_nano == wanted[2]);
        struct cost larger = cost_max(two, (struct cost){1, 1, 1});
        struct cost turned = cost_max((struct cost){1, 1, 1}, two);
        cr_expect(larger.epsilon_micro == (i == 0 ? 2 : 1) &&
                  larger.delta_atto == (i == 1 ? 2 : 1) && larger.renyi_nano == (i == 2 ? 2 : 1));
        cr_expect(turned.epsilon_micro == larger.epsilon_micro &&
                  turned.delta_atto == larger.delta_atto && turned.renyi_nano == larger.renyi_nano);
    }
}

/* Not even the widest limit admits what has no bound; one unit more than a limit is too much. */
Test(filter_limits, a_limit_ends_where_it_says)
{
    struct filter open = filter_new(wide_open);
    cr_expect_not(filter_admits(&open, &(struct cost){UINT64_MAX, 0, UINT64_MAX}));
    cr_expect_not(filter_admits(&open, &(struct cost){0, UINT64_MAX, 0}));
    struct filter sum = filter_new((struct price){1000000, 0});
    cr_expect(filter_admits(&sum, &(struct cost){1000000, 0, 0}));
    cr_expect_not(filter_admits(&sum, &(struct cost){1000001, 0, 0}));
    cr_expect_not(filter_admits(&sum, &(struct cost){1, 1, 0}));
    struct filter both = filter_new(usual);
    const uint64_t half = usual.delta_atto / 2;
    cr_expect(filter_admits(&both, &(struct cost){UINT64_MAX, half, both.renyi_max}));
    cr_expect_not(filter_admits(&both, &(struct cost){UINT64_MAX, half, both.renyi_max + 1}));
    cr_expect_not(filter_admits(&both, &(struct cost){UINT64_MAX, half + 1, both.renyi_max}));
    cr_expect_not(filter_admits(&both, &(struct cost){1000001, half, both.renyi_max + 1}));
    cr_expect(filter_admits(&both, &(struct cost){1000000, half, both.renyi_max + 1}));
    cr_expect_not(filter_admits(&both, &(struct cost){1000000, half + 1, both.renyi_max + 1}));
}

/* R converts to at most (E, D/2) in long double, whatever the limit; that of a limit so large that the
 * conversion is all rounding as well. */
Test(filter_limits, the_divergence_of_any_limit_converts_to_at_most_that)
{
    struct seeded_random seeded;
    unsigned used = 0;
    seeded_random_init(&seeded, 18);
    for (int i = 0; i < 400; i++) {
        struct price limit = {seeded_random_word(&seeded) >> seeded_random_below(&seeded, 60),
                              seeded_random_below(&seeded, DELTA_ATTO_ONE) >>
                                  seeded_random_below(&seeded, 50)};
        struct filter filter = filter_new(limit);
        if (filter.order == 0) {
            continue;
        }
        used++;
        long double order = filter.order;
        const uint64_t half = limit.delta_atto / 2;
        long double delta = (long double)half * 1e-18L;
        long double most = (long double)limit.epsilon_micro * 1e-6L;
        long double epsilon = (long double)filter.renyi_max * 1e-9L + log1pl(-1 / order) -
                              (logl(delta) + logl(order)) / (order - 1);
        cr_expect(epsilon <= most, "[%d] E %lu, D %lu: %.20Lg", i,
                  (unsigned long)limit.epsilon_micro, (unsigned long)limit.delta_atto, epsilon);
        cr_expect_eq(filter.own_delta_max, limit.delta_atto / 2);
    }
    cr_expect_gt(used, 150);
}

/* Where doubles have no fractions left, rounding up is more than a ceiling. */
Test(filter_limits, a_price_of_many_digits_is_rounded_up_too)
{
    struct filter filter = filter_new(usual);
    for (uint64_t sigma = 300; sigma < 30000; sigma += 7) {
        struct charge charge = gaussian(sigma);
        long double ratio = 1e6L / (long double)sigma;
        long double exact = (long double)filter.order / 2 * ratio * ratio * 1e9L;
        uint64_t price = filter_cost(&filter, &charge).renyi_nano;
        cr_assert(exact >= 0x1p63L || (long double)price >= exact, "%lu: %lu, not %.20Lg",
                  (unsigned long)sigma, (unsigned long)price, exact);
        cr_assert((long double)price <= exact * (1 + 1e-14L) + 2 || price == UINT64_MAX);
    }
    for (uint64_t nano = 1; nano <= SAMPLING_NANO_ONE; nano = nano * 3 + 1) {
        for (uint64_t epsilon = 1; epsilon < 60000000; epsilon = epsilon * 5 + 3) {
            struct charge charge = pure(epsilon);
            charge.sampling_nano = nano;
            long double rate = (long double)nano * 1e-9L;
            long double exact = log1pl(rate * expm1l((long double)epsilon * 1e-6L)) * 1e6L;
            uint64_t price = filter_cost(&filter, &charge).epsilon_micro;
            cr_assert((long double)price >= exact * (1 - 1e-18L), "%lu of %lu: %lu, not %.20Lg",
                      (unsigned long)nano, (unsigned long)epsilon, (unsigned long)price, exact);
            cr_assert((long double)price <= exact * (1 + 1e-12L) + 1.001L);
            cr_assert(price >= 1 && price <= epsilon);
        }
    }
}

/* The smallest numbers still count: rate 10^-9, noise of 10^13 sensitivities, one millionth. */
Test(filter_limits, nothing_is_free)
{
    struct filter filter = filter_new(usual);
    struct charge list[] = {pure(1), pure(1), gaussian(UINT64_MAX), gaussian(UINT64_MAX), pure(1)};
    list[1].sampling_nano = 1;
    list[3].sampling_nano = 1;
    list[4].mechanism = MECHANISM_EXPONENTIAL;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct cost cost = filter_cost(&filter, &list[i]);
        cr_expect(cost.epsilon_micro >= 1 && cost.renyi_nano >= 1, "%zu", i);
        struct charge all = list[i];
        all.sampling_nano = SAMPLING_NANO_ONE;
        struct charge nearly = all;
        nearly.sampling_nano--;
        struct cost whole = filter_cost(&filter, &all);
        struct cost less = filter_cost(&filter, &nearly);
        cr_expect(less.epsilon_micro <= whole.epsilon_micro && less.renyi_nano <= whole.renyi_nano);
        cr_expect(cost.epsilon_micro <= whole.epsilon_micro && cost.renyi_nano <= whole.renyi_nano);
    }
}

/* Ten million charges of 10^-6 each, one by one: the sum is the product, the limits stop where they
 * would for one charge of that many runs, and what was admitted is within (E, D) by the accountants. */
Test(filter_limits, ten_million_tiny_charges_add_up)
{
    enum { MANY = 10000000 };
    struct filter filter = filter_new((struct price){3000, 1000000000000});
    struct filter sum = filter_new((struct price){1000000, 0});
    struct charge tiny = pure(1);
    struct cost once = filter_cost(&filter, &tiny);
    struct cost sums = {0};
    struct cost plain = {0};
    uint64_t admitted = 0;
    uint64_t admitted_plain = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        struct cost after = cost_add(sums, once);
        struct cost after_plain = cost_add(plain, (struct cost){once.epsilon_micro, 0, 0});
        if (filter_admits(&filter, &after)) {
            sums = after;
            admitted++;
        }
        if (filter_admits(&sum, &after_plain)) {
            plain = after_plain;
            admitted_plain++;
        }
    }
    cr_expect_eq(admitted_plain, 1000000);
    cr_expect(admitted > 3000 && admitted < MANY, "%lu", (unsigned long)admitted);
    struct cost product = cost_times(once, admitted);
    cr_expect(product.epsilon_micro == sums.epsilon_micro && product.renyi_nano == sums.renyi_nano);
    tiny.count = admitted;
    struct privacy_event event = charge_event(&tiny);
    double priced = fmin(basic_epsilon(&event, 1, 1e-6), renyi_epsilon(&event, 1, 1e-6));
    cr_expect(priced <= 3000e-6, "%.17g", priced);
}

static struct charge any_charge(struct seeded_random *seeded)
{
    struct charge charge =
        pure(1 + (seeded_random_below(seeded, 2000000) >> seeded_random_below(seeded, 20)));
    charge.mechanism = (enum mechanism)seeded_random_below(seeded, MECHANISM_COUNT);
    if (charge.mechanism == MECHANISM_GAUSSIAN || charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN) {
        charge.epsilon_micro = 0;
        charge.sigma_micro =
            500000 + (seeded_random_word(seeded) >> (20 + seeded_random_below(seeded, 24)));
    }
    charge.count = seeded_random_below(seeded, 3) == 0 ? seeded_random_below(seeded, 100) : 1;
    if (seeded_random_below(seeded, 3) == 0) {
        charge.sampling_nano = 1 + seeded_random_below(seeded, SAMPLING_NANO_ONE);
    }
    charge.delta_atto =
        seeded_random_below(seeded, 4) == 0 ? seeded_random_below(seeded, 50000000000) : 0;
    return charge;
}

/* Charges of every mechanism, sampled, many at once, with deltas of their own. The accountants, which
 * know each charge, price what a filter admitted within the policy. Planted: a filter whose D is one
 * and a half times what the accountants are told. */
Test(filter_limits, what_any_filter_admits_the_accountants_price_within_the_policy)
{
    enum { LISTS = 60, TRIES = 40 };
    struct seeded_random seeded;
    unsigned beyond_half = 0;
    unsigned by_divergence = 0;
    seeded_random_init(&seeded, 77);
    for (int list = 0; list < LISTS; list++) {
        struct price limit = {100000 << seeded_random_below(&seeded, 7), 1000000000000};
        struct filter filter = filter_new(limit);
        struct privacy_event event[TRIES];
        struct cost sums = {0};
        size_t count = 0;
        for (int i = 0; i < TRIES; i++) {
            struct charge charge = any_charge(&seeded);
            struct cost after = cost_add(sums, filter_cost(&filter, &charge));
            if (filter_admits(&filter, &after)) {
                sums = after;
                event[count++] = charge_event(&charge);
            }
        }
        double epsilon = (double)limit.epsilon_micro * 1e-6;
        double basic = basic_epsilon(event, count, 1e-6);
        double renyi = renyi_epsilon(event, count, 1e-6);
        double least = isnan(basic) ? renyi : fmin(basic, renyi);
        cr_expect(least <= epsilon * (1 + 1e-12), "list %d: %.17g, not %g", list, least, epsilon);
        by_divergence += sums.epsilon_micro > limit.epsilon_micro;
        double half = renyi_epsilon(event, count, 0.2e-6);
        beyond_half += fmin(isnan(basic) ? INFINITY : basic, half) > epsilon;
    }
    cr_expect(by_divergence > LISTS / 4 && beyond_half > 0, "%u, %u", by_divergence, beyond_half);
}

/* 2^63 runs, or a rate above one, are no charge: refused when spent, and without bound when a journal
 * holds them all the same, whatever else they say. */
Test(filter_limits, what_is_no_charge_is_never_cheap)
{
    static const struct price limits[] = {{5000000, 0}, {5000000, 1000000000000}};
    struct charge list[] = {pure(1), pure(1), pure(0), gaussian(0), pure(1), pure(1)};
    list[0].count = UINT64_C(1) << 63;
    list[1].sampling_nano = SAMPLING_NANO_ONE + 1;
    list[4].delta_atto = DELTA_ATTO_ONE;
    list[5].row_count = 0;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        for (size_t j = 0; j < 2; j++) {
            struct ledger *ledger = ledger_new(limits[j]);
            struct grant *grant = NULL;
            struct charge next = pure(1);
            next.pass.byte[0] = 9;
            cr_expect_eq(ledger_spend(ledger, &grant, &list[i], NULL), STATUS_INVALID, "%zu", i);
            cr_expect_eq(ledger_check(ledger, &next, NULL), STATUS_OK, "%zu", i);
            cr_expect_eq(ledger_restore(ledger, &list[i]), STATUS_OK);
            cr_expect_eq(ledger_balance(ledger, ALLOWANCE_TOTAL).spent.epsilon_micro, UINT64_MAX,
                         "%zu", i);
            cr_expect_eq(ledger_check(ledger, &next, NULL), STATUS_EXHAUSTED, "%zu", i);
            ledger_free(ledger);
        }
    }
}

/* The conversion in long double, and the least level of the odometer that holds a divergence. */
static long double converted(const struct filter *filter, long double divergence, long double delta)
{
    long double order = filter->order;
    return divergence + log1pl(-1 / order) - (logl(delta) + logl(order)) / (order - 1);
}

static long double level_above(const struct filter *filter, uint64_t renyi_nano)
{
    for (int level = -12; level < 12; level++) {
        long double bound = (long double)filter->renyi_max * exp2l((long double)level / 4);
        if ((long double)renyi_nano <= bound * (1 - 1e-9L)) {
            return bound;
        }
    }
    return INFINITY;
}

/* At one moment: the divergence converted at D/2, never above E while admitted. At every moment at once:
 * the level that holds it, at a 24th of D/2. Both at most the pure sum, and not less than the formula. */
Test(filter_limits, what_is_said_to_be_spent_is_not_less_than_the_formulas)
{
    static const struct price limits[] = {
        {1000000, 1000000000000}, {5000000, 100000000}, {200000, 100000000000000}};
    for (size_t i = 0; i < 3; i++) {
        struct filter filter = filter_new(limits[i]);
        const uint64_t half_atto = limits[i].delta_atto / 2;
        long double half = (long double)half_atto * 1e-18L;
        unsigned by_level = 0;
        for (uint64_t part = 1; part < 1000000; part = part * 5 / 4 + 1) {
            uint64_t renyi = (uint64_t)((long double)filter.renyi_max * part / 250000.0L);
            struct cost sums = {UINT64_MAX, 0, renyi};
            long double once = fmaxl(0, converted(&filter, renyi * 1e-9L, half)) * 1e6L;
            uint64_t said = filter_epsilon(&filter, &sums);
            if (filter_admits(&filter, &sums)) {
                cr_expect_leq(said, limits[i].epsilon_micro);
                once = fminl(once, (long double)limits[i].epsilon_micro);
            }
            cr_expect((long double)said >= once - 1e-6L && (long double)said <= once + 2,
                      "[%zu] %lu, not %.20Lg", i, (unsigned long)said, once);
            long double level = level_above(&filter, renyi);
            uint64_t always = filter_odometer(&filter, &sums);
            if (isinf(level)) {
                cr_expect_eq(always, UINT64_MAX);
                continue;
            }
            long double wanted = fmaxl(0, converted(&filter, level * 1e-9L, half / 24)) * 1e6L;
            by_level++;
            cr_expect((long double)always >= wanted - 1.1L && (long double)always <= wanted + 2,
                      "[%zu] %lu, not %.20Lg", i, (unsigned long)always, wanted);
            sums.epsilon_micro = always - 1;
            cr_expect_eq(filter_odometer(&filter, &sums), always - 1, "the sum where it is less");
        }
        cr_expect_gt(by_level, 10);
        struct cost failed = {1, limits[i].delta_atto / 2 + 1, 1};
        cr_expect_eq(filter_epsilon(&filter, &failed), UINT64_MAX, "no epsilon at D");
        cr_expect_eq(filter_odometer(&filter, &failed), UINT64_MAX);
    }
}
