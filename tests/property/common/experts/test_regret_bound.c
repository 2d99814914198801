/* The printed bound against simulated games: it holds for the true regret and for the one printed,
 * which is computed on noisy losses; without its noise term, or halved, it would not.
 *
 * Each game is played 4,000 times with fixed seeds; a mean counts as above the bound only when it
 * is so by 6 standard errors (1e-9 per comparison for a bound that is just met). */

#include "experts/regret.h"
#include "experts/rwm.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { GAMES = 4000, MOST = 128 };

struct game {
    size_t k;
    uint64_t rounds;
    double sigma; /* of the noise */
    bool hostile; /* fair coins for losses; else expert 0 is better by 0.2 */
    double eta;
};

struct outcome {
    double printed; /* mean over the games */
    double true_regret;
    double error; /* the larger of both standard errors */
};

/* Discrete Laplace of scale s: the difference of two geometric variables. */
static double laplace(struct seeded_random *random, double s)
{
    const double first = floor(-s * log(1 - seeded_random_unit(random)));
    return first - floor(-s * log(1 - seeded_random_unit(random)));
}

/* Two agents' noise at a fine step: variance 2 * 2 s^2 step^2, nearly. */
static double noise(struct seeded_random *random, double sigma)
{
    const double s = 50;
    const double step = sigma / (2 * s);
    return sigma > 0 ? step * (laplace(random, s) + laplace(random, s)) : 0;
}

static void play(const struct game *game, struct seeded_random *random, double *printed,
                 double *true_regret)
{
    struct rwm rwm;
    struct regret seen;
    struct regret real;
    double p[MOST];
    double loss[MOST];
    double noisy[MOST];
    cr_assert(rwm_init(&rwm, game->k, game->eta) == STATUS_OK);
    cr_assert(regret_init(&seen, game->k) == STATUS_OK);
    cr_assert(regret_init(&real, game->k) == STATUS_OK);
    for (uint64_t round = 0; round < game->rounds; round++) {
        rwm_probabilities(p, &rwm);
        for (size_t i = 0; i < game->k; i++) {
            const double coin = seeded_random_below(random, 2) == 0 ? 0 : 1;
            loss[i] = game->hostile ? coin : 0.4 + (i == 0 ? 0 : 0.2);
            noisy[i] = loss[i] + noise(random, game->sigma);
        }
        regret_observe(&seen, p, noisy);
        regret_observe(&real, p, loss);
        rwm_observe(&rwm, noisy);
    }
    *printed = regret_average(&seen);
    *true_regret = regret_average(&real);
    rwm_free(&rwm);
    regret_free(&seen);
    regret_free(&real);
}

static struct outcome play_all(const struct game *game)
{
    struct seeded_random random;
    double sum[2] = {0};
    double square[2] = {0};
    seeded_random_init(&random, 31);
    for (int i = 0; i < GAMES; i++) {
        double value[2];
        play(game, &random, &value[0], &value[1]);
        for (int j = 0; j < 2; j++) {
            sum[j] += value[j];
            square[j] += value[j] * value[j];
        }
    }
    double error = 0;
    for (int j = 0; j < 2; j++) {
        const double mean = sum[j] / GAMES;
        error = fmax(error, sqrt(fmax(square[j] / GAMES - mean * mean, 0) / GAMES));
    }
    return (struct outcome){sum[0] / GAMES, sum[1] / GAMES, error};
}

Test(regret_bound, covers_the_true_and_the_printed_regret)
{
    const double sigma[] = {0, 0.02, 0.3, 1, 3, 30};
    for (int i = 0; i < 6; i++) {
        for (int shape = 0; shape < 6; shape++) {
            struct game game = {
                .k = (const size_t[]){2, 8, 100}[shape % 3],
                .rounds = (const uint64_t[]){3, 10, 40}[(shape + i) % 3],
                .sigma = sigma[i],
                .hostile = shape < 3,
            };
            game.eta = i % 2 == 0 ? rwm_eta_free(game.k, game.rounds)
                                  : rwm_eta_noisy(game.k, game.rounds, game.sigma);
            const struct outcome outcome = play_all(&game);
            const struct regret_bound bound =
                regret_bound(game.k, 1 / (double)game.k, game.rounds, game.eta, game.sigma);
            cr_log_info("k %zu T %d sigma %g: true %.3f printed %.3f bound %.3f", game.k,
                        (int)game.rounds, game.sigma, outcome.true_regret, outcome.printed,
                        bound.tight);
            cr_assert(outcome.printed <= bound.tight + 6 * outcome.error);
            cr_assert(outcome.true_regret <= bound.tight + 6 * outcome.error);
            cr_assert(bound.tight <= bound.textbook);
        }
    }
}

Test(regret_bound, halved_or_without_its_noise_term_would_fail)
{
    struct game fair = {.k = 100, .rounds = 40, .hostile = true};
    fair.eta = rwm_eta_free(fair.k, fair.rounds);
    struct outcome outcome = play_all(&fair);
    struct regret_bound bound = regret_bound(fair.k, 1 / (double)fair.k, fair.rounds, fair.eta, 0);
    cr_assert(outcome.true_regret > bound.tight / 2 + 6 * outcome.error);

    struct game noisy = {.k = 8, .rounds = 40, .sigma = 1, .hostile = true};
    noisy.eta = rwm_eta_free(noisy.k, noisy.rounds);
    outcome = play_all(&noisy);
    bound = regret_bound(noisy.k, 1 / (double)noisy.k, noisy.rounds, noisy.eta, noisy.sigma);
    cr_assert(outcome.printed > bound.tight - bound.noise + 6 * outcome.error);
}
