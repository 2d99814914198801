/* Randomized Weighted Majority: its two forms agree, nothing overflows, draws follow the weights.
 */

#include "experts/rwm.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { MOST = 20 };

/* Algorithm 15, one round: each weight times exp(-eta loss), all rescaled to sum to 1. */
static void reweigh(double *weight, const double *loss, size_t count, double eta)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        weight[i] *= exp(-eta * loss[i]);
        sum += weight[i];
    }
    for (size_t i = 0; i < count; i++) {
        weight[i] /= sum;
    }
}

Test(rwm, eta_is_the_best_one)
{
    cr_assert(rwm_eta_free(1, 10) == 0);
    const double eta = rwm_eta_free(8, 5);
    cr_assert(eta * eta <= 8 * log(8) / 5 && fabs(eta - sqrt(8 * log(8) / 5)) < 1e-13);
    /* eta_noisy minimises eta/8 + ln k/(eta T) + eta sigma^2/2. */
    const double best = rwm_eta_noisy(8, 5, 0.7);
    for (double factor = 0.5; factor < 2; factor += 0.01) {
        const double at = best * factor;
        const double here = best / 8 + log(8) / (best * 5) + best * 0.245;
        cr_assert(at / 8 + log(8) / (at * 5) + at * 0.245 >= here - 1e-12);
    }
}

Test(rwm, algorithms_15_and_16_agree)
{
    struct seeded_random random;
    seeded_random_init(&random, 5);
    for (size_t k = 1; k <= MOST; k++) {
        struct rwm rwm;
        double weight[MOST];
        cr_assert(rwm_init(&rwm, k, 0.3 + 0.1 * (double)k) == STATUS_OK);
        for (size_t i = 0; i < k; i++) {
            weight[i] = 1 / (double)k;
        }
        for (int round = 0; round < 50; round++) {
            double loss[MOST];
            double probability[MOST];
            double sum = 0;
            for (size_t i = 0; i < k; i++) {
                loss[i] = 3 * seeded_random_unit(&random) - 1;
            }
            rwm_probabilities(probability, &rwm);
            for (size_t i = 0; i < k; i++) {
                cr_assert(fabs(probability[i] - weight[i]) < 1e-12);
                sum += probability[i];
            }
            cr_assert(fabs(sum - 1) < 1e-12);
            rwm_observe(&rwm, loss);
            reweigh(weight, loss, k, rwm.eta);
        }
        cr_assert(rwm.rounds == 50);
        rwm_free(&rwm);
    }
    rwm_free(NULL);
}

Test(rwm, survives_losses_of_any_size)
{
    const double loss[][3] = {{1e300, 1e300, 1e300}, {-1e300, 1e300, 0}, {0, 1e5, 1e5 + 1}};
    const double expected[][3] = {{1 / 3.0, 1 / 3.0, 1 / 3.0}, {1, 0, 0}, {1, 0, 0}};
    for (int i = 0; i < 3; i++) {
        struct rwm rwm;
        double probability[3];
        cr_assert(rwm_init(&rwm, 3, 2) == STATUS_OK);
        rwm_observe(&rwm, loss[i]);
        rwm_probabilities(probability, &rwm);
        for (int j = 0; j < 3; j++) {
            cr_assert(fabs(probability[j] - expected[i][j]) < 1e-12);
        }
        rwm_free(&rwm);
    }
}

Test(rwm, leader_is_the_first_of_the_least)
{
    struct rwm rwm;
    const double loss[4] = {3, 1, 1, 2};
    cr_assert(rwm_init(&rwm, 4, 1) == STATUS_OK);
    cr_assert(rwm_leader(&rwm) == 0);
    rwm_observe(&rwm, loss);
    cr_assert(rwm_leader(&rwm) == 1);
    rwm_free(&rwm);
}

/* 100,000 draws from four experts: chi-square with 3 degrees of freedom exceeds 33 with probability
 * 3.2e-7. The planted twin judges the draws by half of eta, and fails. */
Test(rwm, draws_follow_the_probabilities)
{
    struct seeded_random seeded;
    struct rwm rwm;
    size_t count[4] = {0};
    double probability[4];
    const double loss[4] = {0, 0.7, 1.4, 3};
    seeded_random_init(&seeded, 6);
    const struct random random = seeded_random_interface(&seeded);
    cr_assert(rwm_init(&rwm, 4, 1) == STATUS_OK);
    rwm_observe(&rwm, loss);
    for (int i = 0; i < 100000; i++) {
        size_t expert = 9;
        cr_assert(rwm_draw(&rwm, &random, &expert) == STATUS_OK && expert < 4);
        count[expert]++;
    }
    for (int planted = 0; planted < 2; planted++) {
        double sum = 0;
        rwm.eta = planted == 1 ? 0.5 : 1;
        rwm_probabilities(probability, &rwm);
        for (int i = 0; i < 4; i++) {
            const double mean = 100000 * probability[i];
            sum += ((double)count[i] - mean) * ((double)count[i] - mean) / mean;
        }
        cr_assert(planted == 1 ? sum > 1000 : sum < 33, "%g", sum);
    }
    rwm_free(&rwm);
}

Test(rwm, a_prior_is_where_the_probabilities_begin)
{
    const double weight[] = {1, 4, 5};
    const double loss[] = {0.5, 0.1, 0.2};
    struct rwm rwm;
    double p[3];
    double q[] = {0.1, 0.4, 0.5};

    cr_assert(rwm_init(&rwm, 3, 0.7) == STATUS_OK);
    rwm_set_prior(&rwm, weight);
    rwm_probabilities(p, &rwm);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_float_eq(p[i], q[i], 1e-14);
    }
    rwm_observe(&rwm, loss);
    rwm_probabilities(p, &rwm);
    reweigh(q, loss, 3, 0.7);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_float_eq(p[i], q[i], 1e-14);
    }
    rwm_free(&rwm);
}

Test(rwm, passes_on_a_failing_random_source)
{
    struct seeded_random seeded;
    struct rwm rwm;
    size_t expert = 9;
    seeded_random_init(&seeded, 6);
    seeded.failing_after = 4;
    const struct random random = seeded_random_interface(&seeded);
    cr_assert(rwm_init(&rwm, 4, 1) == STATUS_OK);
    cr_assert(rwm_draw(&rwm, &random, &expert) == STATUS_NO_RANDOM);
    rwm_free(&rwm);
}
