/* The planner against the known answers, its own accounts, its refusals. */

#include "experts/hedge.h"

#include "experts/rwm.h"
#include "lab/composition/account.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>

static double number(const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    cr_assert(json_is_number(value), "no number %s", name);
    return json_number_value(value);
}

static bool is_near(double value, double wanted)
{
    return fabs(value - wanted) <= 1e-6 * fabs(wanted);
}

static struct privacy_event ranged(double range, uint64_t count)
{
    return (struct privacy_event){.mechanism = MECHANISM_EXPONENTIAL,
                                  .parameter = range,
                                  .sensitivity = 1,
                                  .count = count,
                                  .sampling = 1};
}

/* What a plan's events cost, by all accountants. */
static double cost_of(const struct hedge_plan *plan, double delta)
{
    struct account account;
    const struct privacy_event event[2] = {ranged(plan->draw_epsilon, plan->refreshes_max),
                                           ranged(plan->coin_range, plan->coins)};
    cr_assert(account_ask(&account, event, plan->coins > 0 ? 2 : 1,
                          (struct composition_question){.wants_epsilon = true, .at = delta},
                          NULL) == STATUS_OK);
    return account.high;
}

static struct hedge_plan plan_of(enum hedge_strategy strategy, const struct hedge_problem *problem)
{
    struct hedge_plan plan;
    struct why why = {""};
    cr_assert(hedge_plan(&plan, strategy, problem, &why) == STATUS_OK, "%s", why.text);
    return plan;
}

/* Never worse than the row by more than 1e-6; better only where the accountant proves the budget
 * kept (which cost_of asks of every plan). */
static void judge(const struct hedge_plan *plan, const json_t *row, double least)
{
    cr_expect(plan->eta >= number(row, "eta") * least, "%.9g", plan->eta / number(row, "eta"));
    cr_expect(plan->regret_bound <= number(row, "regret_bound") * (1 + 1e-6));
    cr_expect(plan->regret_bound_textbook <= number(row, "regret_bound_textbook") * (1 + 1e-6));
    cr_log_info("eta %.9g of the row's", plan->eta / number(row, "eta"));
}

Test(hedge, rows_of_the_planner)
{
    json_t *root = json_load_file(TEST_VECTORS "/planner.json", 0, NULL);
    const json_t *rows = json_object_get(root, "rows");
    size_t index;
    size_t seen = 0;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "command")), "hedge") != 0) {
            continue;
        }
        const json_t *request = json_object_get(row, "request");
        const json_t *answer = json_object_get(row, "answer");
        const struct hedge_problem problem = {.experts = (size_t)number(request, "experts"),
                                              .rounds = (uint64_t)number(request, "rounds"),
                                              .epsilon = number(request, "epsilon"),
                                              .delta = number(request, "delta")};
        seen++;
        struct hedge_plan plan = plan_of(HEDGE_THEOREM, &problem);
        const json_t *wanted = json_object_get(answer, "theorem");
        cr_expect(is_near(plan.eta, number(wanted, "eta")));
        cr_expect(is_near(plan.regret_bound, number(wanted, "regret_bound")));
        cr_expect(is_near(plan.regret_bound_textbook, number(wanted, "regret_bound_textbook")));

        plan = plan_of(HEDGE_RWM, &problem);
        wanted = json_object_get(answer, "rwm");
        cr_expect(is_near(plan.rho, number(wanted, "rho")));
        judge(&plan, wanted, 1 - 1e-6);
        cr_expect(cost_of(&plan, problem.delta) <= problem.epsilon * (1 + 1e-12));

        plan = plan_of(HEDGE_DARTBOARD, &problem);
        wanted = json_object_get(answer, "dartboard");
        cr_expect(is_near(plan.rho, number(wanted, "rho")));
        judge(&plan, wanted, 1 - 1e-6);
        cr_expect(cost_of(&plan, problem.delta) <= problem.epsilon * (1 + 1e-12));
        cr_expect(plan.cap_probability < 1e-6);

        cr_assert(hedge_plan_not_private(&plan, &problem, NULL) == STATUS_OK);
        wanted = json_object_get(answer, "not_private");
        cr_expect(is_near(plan.eta, number(wanted, "eta")));
        cr_expect(is_near(plan.regret_bound, number(wanted, "regret_bound")));
        cr_expect(is_near(plan.regret_bound_textbook, number(wanted, "regret_bound_textbook")));
    }
    cr_assert(seen == 5);
    json_decref(root);
}

static const struct hedge_problem usual = {
    .experts = 10, .rounds = 10000, .epsilon = 1, .delta = 1e-6};

/* theorem and rwm: eta times n/c; epochs: noise times c/n; all capped at sqrt(8 ln k/T). */
Test(hedge, a_record_among_many_makes_privacy_nearly_free)
{
    struct hedge_problem problem = usual;
    struct hedge_plan round[2];
    for (int strategy = HEDGE_THEOREM; strategy <= HEDGE_RWM; strategy++) {
        const struct hedge_plan whole = plan_of((enum hedge_strategy)strategy, &usual);
        problem.records = 12;
        problem.participations = 3;
        const struct hedge_plan some = plan_of((enum hedge_strategy)strategy, &problem);
        cr_expect(fabs(some.eta / whole.eta - 4) < 1e-9);
        cr_expect(!some.privacy_is_free && some.draw_epsilon <= whole.draw_epsilon * (1 + 1e-12));
        problem.records = 1e6;
        const struct hedge_plan many = plan_of((enum hedge_strategy)strategy, &problem);
        cr_expect(many.privacy_is_free && many.eta == rwm_eta_free(10, 10000));
        cr_expect(many.draw_epsilon < whole.draw_epsilon);
        cr_expect(fabs(many.draw_epsilon / (2 * many.eta * 3e-6) - 1) < 1e-9);
    }
    for (int strategy = HEDGE_DARTBOARD; strategy <= HEDGE_EPOCHS; strategy++) {
        problem.records = 20;
        problem.participations = 0; /* 1 */
        round[0] = plan_of((enum hedge_strategy)strategy, &usual);
        round[1] = plan_of((enum hedge_strategy)strategy, &problem);
        cr_expect(round[1].regret_bound < round[0].regret_bound);
        problem.participations = 20; /* in draws as bad as a round, in each coin better */
        const struct hedge_plan worst = plan_of((enum hedge_strategy)strategy, &problem);
        cr_expect(worst.regret_bound > round[1].regret_bound);
        cr_expect(worst.coins == (strategy == HEDGE_DARTBOARD ? 20 : 0));
    }
}

/* The dartboard's own formulas, recomputed from what the plan says; a smaller cap or a range
 * without the refresh's part would be seen. */
Test(hedge, the_dartboard_is_what_it_says)
{
    static const struct {
        double records;
        uint32_t participations;
    } units[] = {{0, 0}, {5, 2}, {100, 100}};
    for (size_t i = 0; i < 3; i++) {
        struct hedge_problem problem = usual;
        problem.records = units[i].records;
        problem.participations = units[i].participations;
        const struct hedge_plan plan = plan_of(HEDGE_DARTBOARD, &problem);
        const double n = units[i].records > 0 ? units[i].records : 1;
        const double c = units[i].participations > 0 ? units[i].participations : 1;
        const double p = plan.refresh_probability;
        const double mean = 10000 * (p + (1 - p) * (1 - exp(-plan.eta)));
        const double range = plan.eta / n + log1p(-(1 - p) * expm1(-plan.eta / n) / p);
        cr_expect((double)plan.refreshes_max >= fmin(mean + 6 * sqrt(mean), 10000));
        cr_expect((double)plan.refreshes_max <= mean + 6 * sqrt(mean) + 1.001);
        cr_expect(plan.coin_range >= range && plan.coin_range <= range * (1 + 1e-12));
        cr_expect(plan.draw_epsilon >= 2 * plan.eta * c / n);
        cr_expect(plan.coins == (uint64_t)c && ldexp(p, 53) == floor(ldexp(p, 53)));
        cr_expect(cost_of(&plan, problem.delta) <= problem.epsilon * (1 + 1e-12));
        cr_expect(cost_of(&plan, problem.delta) >= problem.epsilon * (1 - 1e-6));
        struct hedge_plan careless = plan;
        careless.coin_range = range * 1.01;
        cr_expect(cost_of(&careless, problem.delta) > problem.epsilon);
    }
}

Test(hedge, pure_epsilon_is_enough_for_all_but_the_theorem)
{
    struct hedge_problem problem = usual;
    struct why why = {""};
    struct hedge_plan plan;
    problem.delta = 0;
    cr_expect(hedge_plan(&plan, HEDGE_THEOREM, &problem, &why) == STATUS_INVALID);
    for (int strategy = HEDGE_RWM; strategy <= HEDGE_EPOCHS; strategy++) {
        plan = plan_of((enum hedge_strategy)strategy, &problem);
        cr_expect(plan.regret_bound > 0 && plan.rho == 0);
        if (strategy == HEDGE_RWM) {
            cr_expect(fabs(plan.eta / (1 / 2e4) - 1) < 1e-9);
        }
        if (strategy == HEDGE_DARTBOARD) {
            cr_expect(plan.coin_range + (double)plan.refreshes_max * plan.draw_epsilon <= 1 + 1e-9);
            cr_expect(plan.eta > 1 / 2e4);
        }
    }
}

Test(hedge, refuses_what_is_out_of_range_and_says_so)
{
    static const struct {
        enum hedge_strategy strategy;
        struct hedge_problem problem;
        const char *says;
    } wrong[] = {
        {HEDGE_THEOREM, {10, 10, 1.000001, 1e-6, 0, 0}, "up to 1"},
        {HEDGE_THEOREM, {10, 10, 1, 0, 0, 0}, "delta above 0"},
        {HEDGE_RWM, {0, 10, 1, 1e-6, 0, 0}, "experts"},
        {HEDGE_RWM, {10, 0, 1, 1e-6, 0, 0}, "rounds"},
        {HEDGE_RWM, {10, (UINT64_C(1) << 53) + 1, 1, 1e-6, 0, 0}, "rounds"},
        {HEDGE_RWM, {10, 10, 0, 1e-6, 0, 0}, "epsilon"},
        {HEDGE_RWM, {10, 10, NAN, 1e-6, 0, 0}, "epsilon"},
        {HEDGE_RWM, {10, 10, INFINITY, 1e-6, 0, 0}, "epsilon"},
        {HEDGE_DARTBOARD, {10, 10, 1, 1, 0, 0}, "delta"},
        {HEDGE_DARTBOARD, {10, 10, 1, -1e-9, 0, 0}, "delta"},
        {HEDGE_DARTBOARD, {10, 10, 1, NAN, 0, 0}, "delta"},
        {HEDGE_EPOCHS, {10, 10, 1, 0, 0.5, 0}, "records"},
        {HEDGE_EPOCHS, {10, 10, 1, 0, NAN, 0}, "records"},
        {HEDGE_EPOCHS, {10, 10, 1, 0, 0, 2}, "participations"},
        {(enum hedge_strategy)9, {10, 10, 1, 1e-6, 0, 0}, "strategy"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct hedge_plan plan;
        struct why why = {""};
        cr_expect(hedge_plan(&plan, wrong[i].strategy, &wrong[i].problem, &why) == STATUS_INVALID);
        cr_expect(strstr(why.text, wrong[i].says) != NULL, "%zu: %s", i, why.text);
        cr_expect(plan.eta == 0 && plan.regret_bound == 0);
    }
    cr_expect(hedge_strategy_name((enum hedge_strategy)4) == NULL);
    cr_expect_str_eq(hedge_strategy_name(HEDGE_DARTBOARD), "dartboard");
}

Test(hedge, one_expert_has_no_regret)
{
    const struct hedge_problem alone = {.experts = 1, .rounds = 10, .epsilon = 1, .delta = 1e-6};
    for (int strategy = 0; strategy < HEDGE_STRATEGIES; strategy++) {
        const struct hedge_plan plan = plan_of((enum hedge_strategy)strategy, &alone);
        cr_expect(plan.eta == 0 && plan.regret_bound == 0 && plan.regret_bound_textbook == 0);
    }
}

/* eta falls with the rounds, and rises with epsilon and delta, for every strategy that has one. */
Test(hedge, more_budget_is_never_worse)
{
    for (int strategy = 0; strategy < HEDGE_STRATEGIES; strategy++) {
        double before = INFINITY;
        for (int i = 0; i < 5; i++) {
            struct hedge_problem problem = usual;
            problem.epsilon = ldexp(0.05, i);
            const struct hedge_plan plan = plan_of((enum hedge_strategy)strategy, &problem);
            cr_expect(plan.regret_bound < before);
            before = plan.regret_bound;
        }
    }
}

Test(hedge, high_probability_is_for_independent_draws)
{
    double tight = 0;
    double textbook = 0;
    cr_assert(hedge_high_probability(&tight, &textbook, HEDGE_RWM, &usual, 0.05, NULL) ==
              STATUS_OK);
    cr_expect(fabs(tight - sqrt(log(20) / 20000)) < 1e-15);
    cr_expect(fabs(textbook - sqrt(log(200) / 10000)) < 1e-15);
    cr_expect(hedge_high_probability(&tight, &textbook, HEDGE_THEOREM, &usual, 1e-9, NULL) ==
              STATUS_OK);
    cr_expect(hedge_high_probability(&tight, &textbook, HEDGE_RWM, &usual, 1, NULL) ==
              STATUS_INVALID);
    cr_expect(hedge_high_probability(&tight, &textbook, HEDGE_DARTBOARD, &usual, 0.05, NULL) ==
              STATUS_INVALID);
    cr_expect(hedge_high_probability(&tight, &textbook, HEDGE_EPOCHS, &usual, 0.05, NULL) ==
              STATUS_INVALID);
}

Test(hedge, segments_double)
{
    static const unsigned wanted[] = {0, 1, 1, 2, 2, 2, 2, 3};
    for (uint64_t round = 0; round < 8; round++) {
        cr_expect(hedge_segment(round) == wanted[round]);
        cr_expect(hedge_segment_begins(round) ==
                  (round == 0 || wanted[round] != wanted[round - 1]));
    }
    cr_expect(hedge_segment((UINT64_C(1) << 53) - 1) == 53);
    cr_expect(hedge_segment((UINT64_C(1) << 53) - 2) == 52);
}

/* The sum by hand. It is worse than with a known horizon, within a limit. */
Test(hedge, an_unknown_horizon_costs_a_constant)
{
    struct hedge_plan whole;
    double sum = 0;
    struct hedge_problem problem = usual;
    problem.records = 100;
    for (int strategy = HEDGE_THEOREM; strategy <= HEDGE_DARTBOARD; strategy++) {
        cr_assert(hedge_doubling(&whole, NULL, (enum hedge_strategy)strategy, &problem, NULL) ==
                  STATUS_OK);
        const struct hedge_plan known = plan_of((enum hedge_strategy)strategy, &problem);
        cr_expect(whole.regret_bound > known.regret_bound &&
                      whole.regret_bound < 4.5 * known.regret_bound,
                  "%g of %g", whole.regret_bound, known.regret_bound);
    }
    problem.rounds = 7;
    for (uint64_t length = 1; length <= 4; length *= 2) {
        struct hedge_problem segment = problem;
        segment.rounds = length;
        const struct hedge_plan plan = plan_of(HEDGE_RWM, &segment);
        sum += (double)length * fmin(1, plan.regret_bound);
    }
    cr_assert(hedge_doubling(&whole, NULL, HEDGE_RWM, &problem, NULL) == STATUS_OK);
    cr_expect(fabs(whole.regret_bound - sum / 7) < 1e-12);
    problem.rounds = 9; /* two rounds of the segment of 8: not more than they can lose */
    cr_assert(hedge_doubling(&whole, NULL, HEDGE_RWM, &problem, NULL) == STATUS_OK);
    cr_expect(whole.regret_bound <= (sum + 2) / 9 + 1e-12);
    problem.participations = 2;
    cr_expect(hedge_doubling(&whole, NULL, HEDGE_RWM, &problem, NULL) == STATUS_INVALID);
}

/* The bound of epochs at one epoch, minimised by brute force. */
Test(hedge, the_bound_of_epochs_is_its_formula)
{
    const struct hedge_problem problem = {.experts = 5, .rounds = 3, .epsilon = 0.7};
    const struct hedge_plan plan = plan_of(HEDGE_EPOCHS, &problem);
    const struct hedge_problem easy = {.experts = 5, .rounds = 3, .epsilon = 1000, .records = 1e6};
    const struct hedge_plan lucky = plan_of(HEDGE_EPOCHS, &easy);
    /* one round of history: the bound is above 1, which is what it is cut to */
    cr_expect(fabs(plan.regret_bound - (1 + 2 + sqrt(3 * log(5) / 2)) / 3) < 1e-9);
    double least = INFINITY;
    for (int i = 10; i < 100000; i++) {
        const double a = 0.001 * i;
        least = fmin(least, (log(5) + a * a / 8 - log1p(-4e-18 * a * a)) / a);
    }
    cr_expect(fabs(lucky.regret_bound - (1 + 2 * least + sqrt(3 * log(5) / 2)) / 3) < 1e-6);
    cr_expect(plan.draw_epsilon == 0.7 && plan.refreshes_max == 1);
}
