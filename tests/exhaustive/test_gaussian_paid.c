/* Every outcome of an answer with discrete Gaussian noise on a toy domain, the whole way: ledger, grant, mechanism. The
 * noise of each coordinate in turn walks through all of its words, by gaussian_words.h.
 *
 * Every outcome must have the probability that the charge's sigma times the sensitivity gives it, at two neighbours.
 * And from the probabilities that were seen follow the Renyi divergences between the neighbours: they must be what the
 * charge's rho = 10^12 / (2 sigma_micro^2) says, alpha rho, which discrete Gaussians a whole number of steps apart just
 * reach (Canonne, Kamath, Steinke, NeurIPS 2020, theorem 14). */

#include "dp/mechanism.h"
#include "gaussian_words.h"

#include <math.h>

enum { WIDTH = 2 };

struct answer {
    uint64_t sigma_micro; /* that is charged */
    int64_t sensitivity;  /* grid steps */
};

/* Adds noise to an answer; `right` is the noise that is charged for. */
typedef enum status mechanism(const struct answer *answer, const struct noise_gaussian *right,
                              const struct random *random, int64_t *values);

static enum status paid(const struct answer *answer, UNUSED const struct noise_gaussian *right,
                        const struct random *random, int64_t *values)
{
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX / 2, DELTA_ATTO_ONE / 2});
    const struct charge charge = {.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                                  .sigma_micro = answer->sigma_micro,
                                  .pass = {{1}},
                                  .row_count = 1};
    struct grant *grant = NULL;
    struct why why = {{0}};
    cr_assert_eq(ledger_spend(ledger, &grant, &charge, &why), STATUS_OK, "%s", why.text);
    const enum status status =
        mechanism_gaussian(&grant, random, values, WIDTH, (uint64_t)answer->sensitivity);
    ledger_free(ledger);
    return status;
}

/* Noise of another sigma than the one that is charged for. */
static enum status of_sigma(struct noise_scale sigma, const struct random *random, int64_t *values)
{
    static struct noise_gaussian wrong; /* prepared once for all runs */
    struct every_word *every = random->self;
    if (memcmp(&wrong.sigma, &sigma, sizeof sigma) != 0) {
        noise_gaussian_free(&wrong);
        cr_assert_eq(noise_gaussian_init(&wrong, sigma), STATUS_OK);
    }
    every->table = &wrong.table;
    return noise_gaussian_add(&wrong, random, values, WIDTH);
}

static enum status half_the_noise(UNUSED const struct answer *answer,
                                  const struct noise_gaussian *right, const struct random *random,
                                  int64_t *values)
{
    const struct noise_scale sigma = right->sigma;
    return of_sigma((struct noise_scale){sigma.numerator, 2 * sigma.denominator}, random, values);
}

static enum status sensitivity_forgotten(const struct answer *answer,
                                         UNUSED const struct noise_gaussian *right,
                                         const struct random *random, int64_t *values)
{
    return of_sigma((struct noise_scale){answer->sigma_micro, 1000000}, random, values);
}

static enum status one_sided(UNUSED const struct answer *answer, const struct noise_gaussian *right,
                             const struct random *random, int64_t *values)
{
    int64_t drawn[WIDTH] = {0};
    const enum status status = noise_gaussian_add(right, random, drawn, WIDTH);
    for (size_t i = 0; i < WIDTH; i++) {
        values[i] += drawn[i] < 0 ? -drawn[i] : drawn[i];
    }
    return status;
}

static enum status forgotten_coordinate(UNUSED const struct answer *answer,
                                        const struct noise_gaussian *right,
                                        const struct random *random, int64_t *values)
{
    int64_t drawn[WIDTH] = {0};
    const enum status status = noise_gaussian_add(right, random, drawn, WIDTH);
    values[0] += drawn[0];
    return status;
}

static enum status same_noise_twice(UNUSED const struct answer *answer,
                                    const struct noise_gaussian *right, const struct random *random,
                                    int64_t *values)
{
    int64_t drawn[WIDTH] = {0};
    const enum status status = noise_gaussian_add(right, random, drawn, WIDTH);
    for (size_t i = 0; i < WIDTH; i++) {
        values[i] += drawn[0];
    }
    return status;
}

/* Tallies the outcomes of one coordinate over all runs. Returns whether every other coordinate stayed as
 * it was. */
static bool tally_run(struct tally *tally, mechanism *run, const struct answer *answer,
                      const struct noise_gaussian *right, size_t at, int64_t value)
{
    struct every_word every = {.at = at, .count = WIDTH};
    const struct random random = {.fill = every_fill, .self = &every};
    bool alone = true;
    mpz_init(every.weight);
    tally_init(tally);
    do {
        int64_t values[WIDTH] = {0};
        values[at] = value;
        mpz_set_ui(every.weight, 1);
        every.used = false;
        every.table = &right->table;
        const enum status status = run(answer, right, &random, values);
        tally_add(tally, every.weight, status, values[at]);
        alone = alone && values[1 - at] == 0;
    } while (every_choice_next(&every.choice));
    mpz_clear(every.weight);
    return alone;
}

/* The Renyi divergence of a whole order alpha between what was seen of two answers. */
static double divergence(const struct tally *p, const struct tally *q, unsigned alpha)
{
    mpfr_t sum;
    mpfr_t part;
    mpfr_t all[2];
    mpfr_inits2(PRECISION, sum, part, all[0], all[1], NULL);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    mpfr_set_ui(all[0], 0, MPFR_RNDN);
    mpfr_set_ui(all[1], 0, MPFR_RNDN);
    for (size_t i = 0; i < SIDE; i++) {
        mpfr_add_z(all[0], all[0], p->weight[i], MPFR_RNDN);
        mpfr_add_z(all[1], all[1], q->weight[i], MPFR_RNDN);
        if (mpz_sgn(p->weight[i]) > 0 && mpz_sgn(q->weight[i]) > 0) {
            mpfr_set_z(part, p->weight[i], MPFR_RNDN);
            for (unsigned n = 1; n < alpha; n++) {
                mpfr_mul_z(part, part, p->weight[i], MPFR_RNDN);
                mpfr_div_z(part, part, q->weight[i], MPFR_RNDN);
            }
            mpfr_add(sum, sum, part, MPFR_RNDN);
        }
    }
    mpfr_div(sum, sum, all[0], MPFR_RNDN);
    for (unsigned n = 1; n < alpha; n++) {
        mpfr_div(sum, sum, all[0], MPFR_RNDN);
        mpfr_mul(sum, sum, all[1], MPFR_RNDN);
    }
    mpfr_log(sum, sum, MPFR_RNDN);
    const double found = mpfr_get_d(sum, MPFR_RNDN) / (alpha - 1);
    mpfr_clears(sum, part, all[0], all[1], NULL);
    return found;
}

/* What is not seen lies 8 sigma away, where it moves these divergences by less than 1e-8. */
static bool costs_rho(const struct tally *p, const struct tally *q, uint64_t sigma_micro)
{
    const double rho = 1e12 / (2 * (double)sigma_micro * (double)sigma_micro);
    bool right = true;
    for (unsigned alpha = 2; alpha <= 3; alpha++) {
        right = right && fabs(divergence(p, q, alpha) - alpha * rho) < 1e-7 &&
                fabs(divergence(q, p, alpha) - alpha * rho) < 1e-7;
    }
    return right;
}

/* Which of the expectations hold, of the outcomes of each coordinate at 0 and at a neighbour. */
struct verdict {
    bool alone;
    bool weights;
    bool price;
};

static struct verdict judge(mechanism *run, const struct answer *answer)
{
    struct verdict verdict = {true, true, true};
    struct noise_gaussian right;
    const struct noise_scale sigma = {(uint64_t)answer->sensitivity * answer->sigma_micro, 1000000};
    cr_assert_eq(noise_gaussian_init(&right, sigma), STATUS_OK);
    for (size_t at = 0; at < WIDTH; at++) {
        static struct tally tally[2];
        for (size_t i = 0; i < 2; i++) {
            const int64_t value = (int64_t)i * answer->sensitivity;
            verdict.alone = tally_run(&tally[i], run, answer, &right, at, value) && verdict.alone;
            verdict.weights = tally_is_gaussian(&tally[i], &right, value) && verdict.weights;
        }
        verdict.price = costs_rho(&tally[0], &tally[1], answer->sigma_micro) && verdict.price;
        tally_clear(&tally[0]);
        tally_clear(&tally[1]);
    }
    noise_gaussian_free(&right);
    return verdict;
}

Test(gaussian_paid, every_outcome_has_the_price_of_its_charge)
{
    static const struct answer answers[] = {{2000000, 1}, {1750000, 3}};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const struct verdict verdict = judge(paid, &answers[i]);
        cr_expect(verdict.alone, "answer %zu", i);
        cr_expect(verdict.weights, "answer %zu", i);
        cr_expect(verdict.price, "answer %zu", i);
    }
}

/* The two expectations about probabilities are independent: each one alone catches wrong noise. */
Test(gaussian_paid, every_planted_fault_is_caught)
{
    static const struct answer answer = {1750000, 3};
    static mechanism *const faults[] = {half_the_noise, sensitivity_forgotten, one_sided,
                                        forgotten_coordinate};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const struct verdict verdict = judge(faults[i], &answer);
        cr_expect_not(verdict.weights, "fault %zu", i);
        cr_expect_not(verdict.price, "fault %zu", i);
    }
    cr_expect_not(judge(same_noise_twice, &answer).alone);
}

/* A charge that says a millionth more noise than there is. */
Test(gaussian_paid, a_millionth_of_sigma_is_seen)
{
    static const struct answer answer = {1750000, 3};
    static struct tally tally[2];
    struct noise_gaussian right;
    cr_assert_eq(noise_gaussian_init(&right, (struct noise_scale){3 * 1750000, 1000000}),
                 STATUS_OK);
    for (size_t i = 0; i < 2; i++) {
        cr_assert(tally_run(&tally[i], paid, &answer, &right, 0, 3 * (int64_t)i));
    }
    cr_expect(tally_is_gaussian(&tally[0], &right, 0));
    cr_expect(costs_rho(&tally[0], &tally[1], 1750000));
    right.sigma.numerator += 3; /* the expectation alone: the noise was drawn */
    cr_expect_not(tally_is_gaussian(&tally[0], &right, 0));
    cr_expect_not(costs_rho(&tally[0], &tally[1], 1750001));
    cr_expect_not(costs_rho(&tally[0], &tally[1], 1749999));
    tally_clear(&tally[0]);
    tally_clear(&tally[1]);
    noise_gaussian_free(&right);
}
