/* All accountants together against the known answers: the least bound is never below the truth and
 * near it, the low end never above it. Tolerances are those of tests/vectors/dp_vectors.md: an EXACT
 * column may be undercut by 1e-9 and exceeded by 0.1 %, a REF column is met within 3 err_est + 1e-9,
 * at every row. */

#include "account/account.h"

#include "account/pld.h"
#include "account/pure.h"

#include "support/dice.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Truth is somewhere in [low, high]; the bound may exceed high by this share. */
struct truth {
    double low;
    double high;
    double above;
};

static json_t *load(void)
{
    json_error_t error;
    json_t *root = json_load_file(TEST_VECTORS "/dp_vectors.json", 0, &error);
    cr_assert(root != NULL, "%s", error.text);
    return root;
}

static double real(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    cr_assert(json_is_number(value), "a row lacks %s", key);
    return json_number_value(value);
}

static struct truth exact(double value)
{
    return (struct truth){value - 1e-9, value + 1e-9, 1e-3};
}

/* The band of a reference value, and nothing more. */
static struct truth reference(const json_t *row)
{
    double slack = 3 * real(row, "err_est") + 1e-9;
    double value = real(row, "eps_ref");
    return (struct truth){value - slack, value + slack, 0};
}

/* The judge; planted faults below show that it can say no. */
static bool judge(const struct account *account, struct truth truth)
{
    double spare = truth.above > 0 ? 1e-9 : 0;
    return account->high >= truth.low && account->high <= truth.high * (1 + truth.above) + spare &&
           account->low <= truth.high && account->low <= account->high &&
           account->bound[account->best] == account->high;
}

static struct privacy_event event_of(enum mechanism mechanism, double parameter, double count)
{
    return (struct privacy_event){.mechanism = mechanism,
                                  .parameter = parameter,
                                  .sensitivity = 1,
                                  .count = (uint64_t)count,
                                  .sampling = 1};
}

static struct account epsilon_of(const struct privacy_event *events, size_t count, double delta)
{
    struct account account;
    struct why why = {""};
    cr_assert(account_epsilon(&account, events, count, delta, &why) == STATUS_OK, "%s", why.text);
    return account;
}

static struct account delta_of(const struct privacy_event *events, size_t count, double epsilon)
{
    struct account account;
    struct why why = {""};
    cr_assert(account_delta(&account, events, count, epsilon, &why) == STATUS_OK, "%s", why.text);
    return account;
}

/* Epsilon at the row's delta. */
static void expect_epsilon(const char *group, size_t row, const struct privacy_event *events,
                           size_t count, double delta, struct truth truth)
{
    struct account account = epsilon_of(events, count, delta);
    cr_expect(judge(&account, truth), "%s[%zu]: [%.17g, %.17g] by %s, truth [%.17g, %.17g]", group,
              row, account.low, account.high, accountant_name(account.best), truth.low, truth.high);
}

/* Delta at epsilons just below and above the row's. */
static void expect_delta(const char *group, size_t row, const struct privacy_event *events,
                         size_t count, double delta, struct truth truth)
{
    struct account account;
    double below = truth.low * (1 - 1e-9) - 1e-9;
    if (below > 0) {
        account = delta_of(events, count, below);
        cr_expect(account.high >= delta * (1 - 1e-9), "%s[%zu]: delta %.17g, not %.17g", group, row,
                  account.high, delta);
    }
    account = delta_of(events, count, truth.high * (1 + truth.above) + 1e-9);
    cr_expect(account.low <= delta && account.high <= delta,
              "%s[%zu]: delta [%.17g, %.17g], not %.17g", group, row, account.low, account.high,
              delta);
}

/* Every row of a group whose events are one event; the way back, from epsilon to delta, for rows
 * `stride` apart. */
static void expect_group(const char *group, size_t stride,
                         void (*read)(struct privacy_event *event, struct truth *truth,
                                      const json_t *row))
{
    json_t *root = load();
    const json_t *rows = json_object_get(root, group);
    cr_assert(json_array_size(rows) > 0, "no group %s", group);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct privacy_event event = {0};
        struct truth truth = {0};
        read(&event, &truth, row);
        expect_epsilon(group, i, &event, 1, real(row, "delta"), truth);
        if (i % stride == 0) {
            expect_delta(group, i, &event, 1, real(row, "delta"), truth);
        }
    }
    json_decref(root);
}

static void read_pure(struct privacy_event *event, struct truth *truth, const json_t *row)
{
    *event = event_of(MECHANISM_PURE, real(row, "eps0"), real(row, "k"));
    *truth = exact(real(row, "eps_tight"));
}

static void read_approximate(struct privacy_event *event, struct truth *truth, const json_t *row)
{
    read_pure(event, truth, row);
    event->delta = real(row, "delta0");
}

static void read_laplace(struct privacy_event *event, struct truth *truth, const json_t *row)
{
    *event = event_of(MECHANISM_LAPLACE, real(row, "b"), real(row, "k"));
    *truth = reference(row);
}

static void read_discrete_laplace(struct privacy_event *event, struct truth *truth,
                                  const json_t *row)
{
    *event = event_of(MECHANISM_DISCRETE_LAPLACE, real(row, "b"), real(row, "k"));
    event->sensitivity = real(row, "sensitivity");
    *truth = exact(real(row, "eps_tight"));
}

static void read_gaussian(struct privacy_event *event, struct truth *truth, const json_t *row)
{
    *event = event_of(MECHANISM_GAUSSIAN, real(row, "sigma"), real(row, "k"));
    *truth = exact(real(row, "eps_exact"));
}

static void read_discrete_gaussian(struct privacy_event *event, struct truth *truth,
                                   const json_t *row)
{
    *event = event_of(MECHANISM_DISCRETE_GAUSSIAN, real(row, "sigma"), real(row, "k"));
    event->sensitivity = real(row, "sensitivity");
    *truth = exact(real(row, "eps_tight"));
}

static void read_sampled(struct privacy_event *event, struct truth *truth, const json_t *row)
{
    bool laplace = strcmp(json_string_value(json_object_get(row, "mechanism")), "laplace") == 0;
    *event = event_of(laplace ? MECHANISM_LAPLACE : MECHANISM_GAUSSIAN, real(row, "param"),
                      real(row, "k"));
    event->sampling = real(row, "q");
    event->neighbours = NEIGHBOURS_ADD_REMOVE;
    *truth = reference(row);
}

/* The adaptive optimum lies above the grid's value; Renyi's curve is within 0.1 % of the column. */
static void read_exponential(struct privacy_event *event, struct truth *truth, const json_t *row)
{
    *event = event_of(MECHANISM_EXPONENTIAL, real(row, "eps0"), real(row, "k"));
    *truth = (struct truth){real(row, "eps_adaptive_dp_grid") * (1 - 1e-4),
                            real(row, "eps_rdp_br") + 1e-9, 1e-3};
}

Test(account, of_pure_events_is_exact)
{
    expect_group("a_pure_kfold", 1, read_pure);
}

Test(account, of_events_that_may_fail_is_exact_even_where_nearly_no_delta_is_left)
{
    expect_group("a3_approx_kfold", 1, read_approximate);
}

Test(account, of_laplace_noise_is_in_its_band)
{
    expect_group("b_laplace", 12, read_laplace);
}

Test(account, of_discrete_laplace_noise_is_exact)
{
    expect_group("c_discrete_laplace", 1, read_discrete_laplace);
}

Test(account, of_gaussian_noise_is_exact)
{
    expect_group("d_gaussian", 1, read_gaussian);
}

Test(account, of_discrete_gaussian_noise_is_exact)
{
    expect_group("d_discrete_gaussian", 1, read_discrete_gaussian);
}

Test(account, of_sampled_events_is_in_its_band)
{
    expect_group("e_poisson_subsampled", 17, read_sampled);
}

Test(account, of_exponential_draws_is_valid_for_adaptive_choices_and_tight)
{
    expect_group("f_exponential_bounded_range", 1, read_exponential);
}

/* Each accountant answers for itself: the front must not mix their columns. */
Test(account, of_exponential_draws_has_every_accountants_own_bound)
{
    json_t *root = load();
    const json_t *rows = json_object_get(root, "f_exponential_bounded_range");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct privacy_event event = {0};
        struct truth truth = {0};
        read_exponential(&event, &truth, row);
        struct account account = epsilon_of(&event, 1, real(row, "delta"));
        const double known[ACCOUNTANT_COUNT] = {
            [ACCOUNTANT_BASIC] = event.parameter * (double)event.count,
            [ACCOUNTANT_OPTIMAL] = real(row, "eps_pure_kov"),
            [ACCOUNTANT_ZCDP] = real(row, "eps_zcdp_eps2_over_8"),
            [ACCOUNTANT_RENYI] = real(row, "eps_rdp_br"),
            [ACCOUNTANT_PLD] = real(row, "eps_pure_kov")};
        for (size_t j = 0; j < ACCOUNTANT_COUNT; j++) {
            cr_expect(known[j] == 0 || fabs(account.bound[j] / known[j] - 1) <= 1e-3,
                      "[%zu] %s: %.17g, known %.17g", i, accountant_name((enum accountant)j),
                      account.bound[j], known[j]);
        }
    }
    json_decref(root);
}

/* The low end of draws is a composition of non-adaptive ones, the best of which is known. */
Test(account, low_of_exponential_draws_is_a_lower_bound_that_says_something)
{
    json_t *root = load();
    const json_t *rows = json_object_get(root, "f_exponential_bounded_range");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct privacy_event event = {0};
        struct truth truth = {0};
        read_exponential(&event, &truth, row);
        double best = real(row, "eps_ddr_nonadaptive");
        struct account account = epsilon_of(&event, 1, real(row, "delta"));
        cr_expect(account.low <= best + 1e-9, "[%zu]: %.17g above %.17g", i, account.low, best);
        cr_expect(event.count < 10 || account.low >= best / 2, "[%zu]: %.17g says little of %.17g",
                  i, account.low, best);
    }
    json_decref(root);
}

Test(account, delta_of_pure_events_is_exact)
{
    json_t *root = load();
    const json_t *rows = json_object_get(root, "a2_pure_kfold_delta_at_eps");
    cr_assert(json_array_size(rows) > 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct privacy_event event = event_of(MECHANISM_PURE, real(row, "eps0"), real(row, "k"));
        double delta = real(row, "delta_tight");
        struct account account = delta_of(&event, 1, real(row, "eps"));
        cr_expect(account.high >= delta * (1 - 1e-9) && account.high <= delta * (1 + 1e-3) + 1e-15,
                  "[%zu]: %.17g, not %.17g", i, account.high, delta);
        cr_expect(account.low <= delta * (1 + 1e-9));
    }
    json_decref(root);
}

Test(account, of_unequal_pure_events_is_exact)
{
    json_t *root = load();
    const json_t *rows = json_object_get(root, "a4_heterogeneous_pure");
    cr_assert(json_array_size(rows) > 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *list = json_object_get(row, "eps_list");
        struct privacy_event event[64];
        size_t count = json_array_size(list);
        cr_assert(count <= 64);
        for (size_t j = 0; j < count; j++) {
            event[j] = event_of(MECHANISM_PURE, json_number_value(json_array_get(list, j)), 1);
        }
        expect_epsilon("a4", i, event, count, real(row, "delta"), exact(real(row, "eps_tight")));
        expect_delta("a4", i, event, count, real(row, "delta"), exact(real(row, "eps_tight")));
    }
    json_decref(root);
}

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

/* Noise that is none, or a billion draws: no certified end may cross another, and none may take long.
 * Each of these once stopped the program or kept it for half a minute. */
Test(account, of_absurd_lists_is_an_answer_too, .timeout = 20)
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

Test(account, low_is_0_where_the_pair_of_neighbours_is_only_an_upper_bound)
{
    struct privacy_event event = event_of(MECHANISM_GAUSSIAN, 1, 10);
    event.sampling = 0.1;
    cr_expect(epsilon_of(&event, 1, 1e-5).low == 0);
    event.neighbours = NEIGHBOURS_ADD_REMOVE;
    cr_expect(epsilon_of(&event, 1, 1e-5).low > 0);
    event.mechanism = MECHANISM_PURE;
    cr_expect(epsilon_of(&event, 1, 1e-5).low == 0);
}

/* A list with a draw in it: seeing the other releases alone is a lower bound on seeing all. */
Test(account, low_of_a_mixed_list_is_at_least_that_of_its_certain_part)
{
    struct privacy_event events[] = {event_of(MECHANISM_LAPLACE, 5, 20),
                                     event_of(MECHANISM_EXPONENTIAL, 0.5, 10)};
    struct account part = epsilon_of(events, 1, 1e-6);
    struct account all = epsilon_of(events, 2, 1e-6);
    cr_expect(all.low > part.low * 1.01 && all.high > part.high * 1.01);
    cr_expect(all.low <= all.high);
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

/* Whatever the list, its intervals agree with one another: turned around, with one run more, and the
 * other way. Each comparison is of a certified low end with a certified high end, and so exact. */
Test(account, of_any_list_agrees_with_itself, .timeout = 100)
{
    static const double deltas[] = {0, 1e-12, 1e-6, 1e-2};
    struct dice dice = {20260711};
    for (size_t i = 0; i < 40; i++) {
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
    cr_expect(account_epsilon(&account, events, count, delta, &why) == STATUS_INVALID);
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
        cr_expect(account_delta(&account, events, 2, epsilon[i], &why) == STATUS_INVALID);
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

/* Planted: what a wrong front would answer, which the judge must refuse on some row. */
Test(account, planted_faults_are_caught)
{
    json_t *root = load();
    struct privacy_event event;
    struct truth truth;
    const json_t *draws = json_object_get(root, "f_exponential_bounded_range");
    const json_t *row = json_array_get(draws, json_array_size(draws) - 1);

    /* The count is ignored. */
    read_exponential(&event, &truth, row);
    struct account right = epsilon_of(&event, 1, real(row, "delta"));
    cr_assert(judge(&right, truth));
    event.count = 1;
    struct account wrong = epsilon_of(&event, 1, real(row, "delta"));
    cr_assert_not(judge(&wrong, truth));

    /* A grid that is good enough for a search is not for a band. */
    const json_t *banded = json_object_get(root, "b_laplace");
    row = json_array_get(banded, json_array_size(banded) - 1);
    read_laplace(&event, &truth, row);
    right = epsilon_of(&event, 1, real(row, "delta"));
    cr_assert(judge(&right, truth));
    cr_assert(account_epsilon_quick(&wrong, &event, 1, real(row, "delta"), NULL) == STATUS_OK);
    cr_assert_not(judge(&wrong, truth));
    cr_assert(wrong.high > right.high && wrong.low < right.high);

    /* A pure event is taken for a bounded-range one: permute-and-flip four times too cheap. */
    const json_t *pure = json_object_get(root, "a_pure_kfold");
    row = json_array_get(pure, json_array_size(pure) - 1);
    read_pure(&event, &truth, row);
    event.mechanism = MECHANISM_EXPONENTIAL;
    wrong = epsilon_of(&event, 1, real(row, "delta"));
    cr_assert_not(judge(&wrong, truth));

    /* The accountants' dearest, or some other one, in place of the best. */
    read_pure(&event, &truth, row);
    wrong = epsilon_of(&event, 1, real(row, "delta"));
    cr_assert(judge(&wrong, truth));
    wrong.high = wrong.bound[ACCOUNTANT_ZCDP];
    wrong.best = ACCOUNTANT_ZCDP;
    cr_assert_not(judge(&wrong, truth));

    /* The low end of draws from responses with all of epsilon. */
    row = json_array_get(draws, json_array_size(draws) - 1);
    read_exponential(&event, &truth, row);
    wrong = epsilon_of(&event, 1, real(row, "delta"));
    event.mechanism = MECHANISM_PURE;
    wrong.low = epsilon_of(&event, 1, real(row, "delta")).low;
    cr_assert_not(judge(&wrong, truth));

    /* The low end of Laplace noise from its pure epsilon alone. */
    const json_t *laplace = json_object_get(root, "b_laplace");
    bool caught = false;
    for (size_t i = 0; i < json_array_size(laplace) && !caught; i++) {
        struct interval optimal = {0, 0};
        row = json_array_get(laplace, i);
        read_laplace(&event, &truth, row);
        wrong = epsilon_of(&event, 1, real(row, "delta"));
        cr_assert(optimal_epsilon(&optimal, &event, 1, real(row, "delta")) == STATUS_OK);
        wrong.low = optimal.low;
        caught = !judge(&wrong, truth);
    }
    cr_assert(caught);
    json_decref(root);
}
