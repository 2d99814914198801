/* The planner against the known answers, its own accounts, its refusals. */

#include "experts/hedge.h"

#include "account/account.h"
#include "experts/rwm.h"

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
    cr_assert(account_epsilon(&account, event, plan->coins > 0 ? 2 : 1, delta, NULL) == STATUS_OK);
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
