/* The sure method's distance if the minimiser is known, after few steps, where its bound is still
 * sharp. test_certified has every loss on every attack. */

#include "learn/erm.h"

#include "attack_data.h"

/* One record over and over: w = min(1, 1/(2 lambda)) x for the hinge. */
Test(erm_distance, hinge_meets_the_closed_form)
{
    struct seeded_random random;
    seeded_random_init(&random, 13);
    struct dataset data = attack_data(ATTACK_DUPLICATES, 17, 3, &random);
    const double lambda[] = {0.01, 0.4, 0.5, 3};
    for (int i = 0; i < 4; i++) {
        const struct erm_problem problem = {{LOSS_HINGE, 0}, lambda[i], 1e-6, 17, 3};
        const double expected[3] = {fmin(1, 1 / (2 * lambda[i])), 0, 0};
        struct erm_plan plan;
        double w[3];
        cr_assert(erm_plan(&plan, &problem, NULL) == STATUS_OK);
        cr_assert(erm_solve_slowly(w, &problem, &data, NULL) == STATUS_OK);
        cr_assert(distance_between(w, expected, 3) <= plan.distance);
    }
    dataset_free(&data);
}

/* The dual on nearly the theorem's worst case: D* - D(a_k) against the bound itself, at small k,
 * where the bound is still sharp. tolerance = 2 * 1/(4 lambda (k+1)^2). */
Test(erm_distance, hinge_gap_bound_holds_at_few_steps)
{
    struct seeded_random random;
    double tightest = 0;
    seeded_random_init(&random, 14);
    for (int round = 0; round < 400; round++) {
        const double lambda = pow(10, -3 * seeded_random_unit(&random));
        const size_t m = 1 + seeded_random_below(&random, 30);
        const enum attack attack = (enum attack)seeded_random_below(&random, ATTACK_COUNT);
        struct dataset data = attack_data(attack, m, 4, &random);
        const double steps = 2 + (double)seeded_random_below(&random, 30);
        const double tolerance = fmin(1, 2 / (4 * lambda * steps * steps));
        const struct erm_problem rough = {{LOSS_HINGE, 0}, lambda, tolerance, m, 4};
        const struct erm_problem fine = {{LOSS_HINGE, 0}, lambda, fmin(1e-6, tolerance), m, 4};
        double w[4];
        double best[4];
        cr_assert(erm_solve_slowly(w, &rough, &data, NULL) == STATUS_OK);
        cr_assert(erm_solve(best, &fine, &data, NULL) == STATUS_OK);
        const double slack = sqrt(1e-6 / lambda);
        const double bound = sqrt(tolerance / lambda);
        const double reached = distance_between(w, best, 4);
        cr_assert(reached <= bound + slack);
        tightest = fmax(tightest, (reached - slack) / bound);
        dataset_free(&data);
    }
    cr_log_info("at most %g of the promised distance", tightest);
}
