/* The front of the accountants: what lists of events have to do with one another, limits, and what is
 * refused. */

#include "account_vectors.h"

#include "support/dice.h"
#include "support/sanitized.h"

#include <string.h>

/* A library that ignores the count says 1.006 of a hundred draws that cost more than 32. */
Test(account, a_count_and_a_list_cost_the_same)
{
    static const enum mechanism mechanism[] = {MECHANISM_PURE, MECHANISM_EXPONENTIAL,
                                               MECHANISM_LAPLACE, MECHANISM_GAUSSIAN,
                                               MECHANISM_DISCRETE_LAPLACE};
    for (size_t i = 0; i < sizeof mechanism / sizeof mechanism[0]; i++) {
        struct privacy_event one = event_of(mechanism[i], 1, 100);
        struct privacy_event list[100];
        for (size_t j = 0; j < 100; j++) {
            list[j] = event_of(mechanism[i], 1, 1);
        }
        struct account counted = epsilon_of(&one, 1, 1e-5);
        struct account listed = epsilon_of(list, 100, 1e-5);
        cr_expect(fabs(counted.high / listed.high - 1) < 1e-3, "%s: %.17g, %.17g",
                  event_mechanism_name(mechanism[i]), counted.high, listed.high);
        for (size_t j = 0; j < ACCOUNTANT_COUNT; j++) {
            cr_expect(isnan(counted.bound[j]) == isnan(listed.bound[j]) &&
                          (isnan(counted.bound[j]) ||
                           fabs(counted.bound[j] / listed.bound[j] - 1) < 2e-3),
                      "%s, %s: %.17g, %.17g", event_mechanism_name(mechanism[i]),
                      accountant_name((enum accountant)j), counted.bound[j], listed.bound[j]);
        }
    }
    struct privacy_event draws = event_of(MECHANISM_EXPONENTIAL, 1, 100);
    cr_assert(epsilon_of(&draws, 1, 1e-5).high > 32.5);
}

Test(account, two_halves_are_one)
{
    struct privacy_event halves[] = {event_of(MECHANISM_PURE, 0.5, 1),
                                     event_of(MECHANISM_LAPLACE, 2, 1)};
    struct privacy_event twice = event_of(MECHANISM_DISCRETE_LAPLACE, 2, 2);
    cr_expect(epsilon_of(halves, 2, 0).high == 1, "%.17g", epsilon_of(halves, 2, 0).high);
    cr_expect(epsilon_of(&twice, 1, 0).high == 1, "%.17g", epsilon_of(&twice, 1, 0).high);
    cr_expect(epsilon_of(halves, 2, 0).low > 1 - 1e-14 && epsilon_of(&twice, 1, 0).low > 1 - 1e-14);
}

/* Where e^epsilon, or its square, leaves the doubles. */
Test(account, a_thousand_runs_and_huge_epsilons_overflow_nowhere)
{
    static const double parameter[] = {1, 30, 800, 1e6};
    for (size_t i = 0; i < sizeof parameter / sizeof parameter[0]; i++) {
        struct privacy_event event = event_of(MECHANISM_PURE, parameter[i], 1000);
        struct account account = epsilon_of(&event, 1, 1e-9);
        cr_expect(account.high <= 1000 * parameter[i] * (1 + 1e-9) && account.high > 0);
        for (size_t j = 0; j < ACCOUNTANT_COUNT; j++) {
            cr_expect(account.bound[j] >= account.high, "%s: %g",
                      accountant_name((enum accountant)j), account.bound[j]);
        }
        account = delta_of(&event, 1, 1);
        cr_expect(account.high <= 1 && account.high > 0 && account.low <= account.high);
    }
}

/* Almost no noise, or a billion draws: lower and upper bounds must not cross, and must not take long.
 * Each of these once stopped the program or took half a minute. */
Test(account, of_absurd_lists_is_an_answer_too)
{
    struct privacy_event absurd[] = {event_of(MECHANISM_GAUSSIAN, 2.5e-299, 1),
                                     event_of(MECHANISM_LAPLACE, 4.4e-200, 1),
                                     event_of(MECHANISM_DISCRETE_LAPLACE, 2.6e61, 19911815),
                                     event_of(MECHANISM_DISCRETE_GAUSSIAN, 0.0657, 55288),
                                     event_of(MECHANISM_EXPONENTIAL, 18.67, 2461785487.0),
                                     event_of(MECHANISM_PURE, 1e300, 9e15),
                                     event_of(MECHANISM_GAUSSIAN, 0.02, 1000000),
                                     event_of(MECHANISM_LAPLACE, 700, 1)};
    absurd[3].sensitivity = 256;
    absurd[6].sampling = absurd[7].sampling = 5e-324;
    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
        struct privacy_event events[] = {absurd[i], event_of(MECHANISM_LAPLACE, 0.64, 1126)};
        for (size_t count = 1; count <= 2; count++) {
            struct account epsilon = epsilon_of(events, count, 0.18);
            struct account delta = delta_of(events, count, 1);
            cr_expect(epsilon.low <= epsilon.high && delta.low <= delta.high && delta.high <= 1);
        }
    }
}

Test(account, what_never_happens_costs_nothing_whatever_it_is)
{
    struct privacy_event events[] = {event_of(MECHANISM_GAUSSIAN, 1e-3, 0),
                                     event_of(MECHANISM_PURE, 0.25, 1)};
    struct account account = epsilon_of(events, 2, 0);
    cr_expect(account.high == 0.25 && account.bound[ACCOUNTANT_BASIC] == 0.25, "%.17g",
              account.high);
    account = epsilon_of(events, 1, 0);
    cr_expect(account.high == 0 && account.low == 0);
    account = delta_of(events, 1, 0);
    cr_expect(account.high == 0 && account.low == 0);
}

Test(account, gaussian_noise_has_no_epsilon_at_delta_0_and_no_pure_accountant)
{
    struct privacy_event event = event_of(MECHANISM_GAUSSIAN, 10, 1);
    struct account account = epsilon_of(&event, 1, 0);
    cr_expect(account.high == INFINITY);
    account = epsilon_of(&event, 1, 1e-6);
    cr_expect(isnan(account.bound[ACCOUNTANT_BASIC]) && isnan(account.bound[ACCOUNTANT_ADVANCED]) &&
              isnan(account.bound[ACCOUNTANT_OPTIMAL]));
    cr_expect(isfinite(account.high) && account.best == ACCOUNTANT_PLD);
    account = delta_of(&event, 1, 1);
    cr_expect(account.high < 1 && account.low > 0);
}

static double between(struct dice *dice, double least, double most)
{
    double unit = (double)(dice_word(dice) >> 11) / 9007199254740992.0;
    return least * pow(most / least, unit);
}

static struct privacy_event any_event(struct dice *dice, enum neighbours neighbours)
{
    enum mechanism mechanism = (enum mechanism)dice_below(dice, MECHANISM_COUNT);
    bool noise = mechanism != MECHANISM_PURE && mechanism != MECHANISM_EXPONENTIAL;
    struct privacy_event event =
        event_of(mechanism, noise ? between(dice, 0.5, 100) : between(dice, 0.001, 3), 1);
    event.count = (uint64_t)between(dice, 1, 300);
    event.neighbours = neighbours;
    event.sensitivity = noise ? (double)(1 + dice_below(dice, 2)) : 1;
    event.sampling = dice_one_in(dice, 4) ? between(dice, 0.01, 1) : 1;
    event.delta = dice_one_in(dice, 8) ? 1e-10 : 0;
    return event;
}

/* For every list the intervals agree with one another: in reverse order, with one run more, and from
 * delta to epsilon. Each comparison is of a certified lower with a certified upper bound, and so
 * exact. */
Test(account, of_any_list_agrees_with_itself)
{
    static const double deltas[] = {0, 1e-12, 1e-6, 1e-2};
    struct dice dice = {20260711};
    for (size_t i = 0; i < (IS_SANITIZED ? 16 : 40); i++) {
        struct privacy_event event[4];
        struct privacy_event turned[4];
        size_t count = 1 + dice_below(&dice, 4);
        enum neighbours neighbours = (enum neighbours)dice_below(&dice, 2);
        double delta = deltas[dice_below(&dice, 4)];
        for (size_t j = 0; j < count; j++) {
            event[j] = any_event(&dice, neighbours);
            turned[count - 1 - j] = event[j];
        }
        struct account account = epsilon_of(event, count, delta);
        struct account other = epsilon_of(turned, count, delta);
        cr_expect(account.low <= other.high && other.low <= account.high, "[%zu] turned", i);
        turned[dice_below(&dice, count)].count++;
        other = epsilon_of(turned, count, delta);
        cr_expect(account.low <= other.high, "[%zu] one more", i);
        if (isfinite(account.high)) {
            other = delta_of(event, count, account.high);
            cr_expect(other.low <= delta, "[%zu] delta [%g, %g] at %.17g, not %g", i, other.low,
                      other.high, account.high, delta);
        }
        other = delta_of(event, count, isfinite(account.low) ? account.low * (1 - 1e-12) : 0);
        cr_expect(account.low == 0 || other.high >= delta, "[%zu] delta [%g, %g] at %.17g, not %g",
                  i, other.low, other.high, account.low, delta);
    }
}

static void expect_refusal(const struct privacy_event *events, size_t count, double delta,
                           const char *sentence)
{
    struct account account;
    struct why why = {""};
    cr_expect(account_ask(&account, events, count,
                          (struct composition_question){.wants_epsilon = true, .at = delta},
                          &why) == STATUS_INVALID);
    cr_expect(strstr(why.text, sentence) != NULL, "said: %s", why.text);
}

Test(account, says_which_event_is_wrong)
{
    struct account account;
    struct why why = {""};
    struct privacy_event events[] = {event_of(MECHANISM_PURE, 1, 1),
                                     event_of(MECHANISM_LAPLACE, 1, 1),
                                     event_of(MECHANISM_GAUSSIAN, 1, 1)};
    events[1].neighbours = NEIGHBOURS_ADD_REMOVE;
    expect_refusal(events, 3, 1e-6,
                   "event 2: neighbours is add-remove, but event 1 says replace-one");
    events[1].neighbours = NEIGHBOURS_REPLACE_ONE;
    events[2].parameter = NAN;
    expect_refusal(events, 3, 1e-6, "event 3: sigma must be a finite number above 0");
    expect_refusal(events, 2, 1, "delta must be at least 0 and below 1");
    expect_refusal(events, 2, -1e-300, "delta must be at least 0 and below 1");
    expect_refusal(events, 2, NAN, "delta must be at least 0 and below 1");
    static const double epsilon[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < 3; i++) {
        cr_expect(account_ask(&account, events, 2, (struct composition_question){.at = epsilon[i]},
                              &why) == STATUS_INVALID);
        cr_expect(strstr(why.text, "epsilon must be") != NULL, "%s", why.text);
    }
}

Test(account, names_its_accountants)
{
    static const char *const name[] = {"basic", "advanced", "optimal", "zcdp", "renyi", "pld"};
    for (unsigned i = 0; i < ACCOUNTANT_COUNT; i++) {
        cr_expect_str_eq(accountant_name((enum accountant)i), name[i]);
    }
    cr_expect(accountant_name((enum accountant)ACCOUNTANT_COUNT) == NULL);
}
