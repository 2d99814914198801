/* Attacks on networks that answer exact statistics: a mean with and without one row, the same question in other words, one-hot
 * weights, also of a model, a question about one person alone, and cells solved for from many tables. The attacker knows all records but whether the
 * victim's is one text or another, asks what the attack asks, and guesses by the noisy sums. Half of the worlds are of either
 * kind, so an epsilon-private release lets nobody be right with a probability above e^epsilon/(1 + e^epsilon).
 *
 * The guess is by the likelihoods of the two worlds. For an attacker who knows the rest, subtracting, averaging and solving
 * cannot do better. Planted: noise for the most sensitive question alone, as if each were asked by itself. The attack then
 * beats the bound. 20,000 worlds each: 6 standard errors of 0.0035, a false alarm below 1e-8. */

#include "query/query_set.h"

#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "tests/support/seeded_random.h"
#include "tests/unit/common/query/toy_schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WORLDS = 20000,
    RECORDS = 60,
    BITS = 8,
    CELLS_MAX = 1024,
    QUESTIONS_MAX = 12,
    TABLE1 = 6,
    FEATURES = 3
};

static const double allowed = 6 * 0.0035355;

/* Models that the attacker has written: one-hot, so that the victim alone is beyond the first levels; and with the sex besides. */
static const double one_hot[FEATURES] = {300, 0, -280};
static const double both[FEATURES] = {300, 4, -295};
static const struct query_score model[] = {{.name = "one-hot", .weight = one_hot},
                                           {.name = "both", .weight = both}};

struct attack {
    const char *name;
    const char *question[QUESTIONS_MAX];
};

/* The victim is the one of age 97: a woman who died, or a man who lives. */
static const struct attack attacks[] = {
    {"a mean with and without one row",
     {"mean: age where death == 1", "mean: age where death == 1 and age < 97", "count: death == 1",
      "count: death == 1 and age < 97"}},
    {"the same question in other words",
     {"count: death == 1 and age == 97", "count: age == 97 and death == 1",
      "count: death != 0 and age == 97", "count: not death == 0 and age == 97",
      "count: not (death == 0 or age != 97)", "count: age >= 97 and death == 1",
      "count: age > 96.5 and death == 1", "count: not age < 97 and death == 1"}},
    {"one-hot weights: a sum that one person alone is in", {"count: death == 1 and age == 97"}},
    {"one person in a regression", {"regress: death ~ sex + age in 3 levels where age == 97"}},
    {"one person's components", {"pca: [death, sex, age] where age == 97"}},
    {"one person alone", {"crosstab: sex x death where age == 97"}},
    {"one person in every variable of a table 1",
     {"table1: [age, sex, kappa, 'home region'] by death in 8 steps where age == 97"}},
    {"one person's score and fate", {"evaluate: age for death by sex in 8 levels where age == 97"}},
    {"one-hot weights of a model", {"evaluate: one-hot for death in 8 levels"}},
    {"one-hot weights of two models, and a time",
     {"evaluate: one-hot for death by sex, cut at 0.5 in 8 levels",
      "evaluate: both for sex == F in 16 levels",
      "evaluate: both for time age event death, to 98 in 6 bins"}},
    {"hazards of one person at the end",
     {"regress: time age event death ~ sex, to 98 in 8 intervals",
      "regress: time age event death == 0 ~ sex, to 98 in 8 intervals where age > 96"}},
    {"one person's score and time",
     {"evaluate: kappa for time age event death by sex, to 98 in 4 bins where age == 97"}},
    {"one person's columns in products", {"correlate: [age, sex, kappa, death] where age == 97"}},
    {"cells solved for from many tables",
     {"crosstab: sex x death", "crosstab: death x sex where age < 98",
      "crosstab: sex x 'home region'", "crosstab: death x 'home region' x sex",
      "survival: time age event death by sex, to 98 in 8 intervals",
      "survival: time age event death == 0 by sex, to 98 in 5 intervals", "histogram: sex",
      "histogram: death where age >= 90"}},
    {"one person's curve",
     {"survival: time age event death by sex, to 98 in 8 intervals where age == 97"}},
};

static void add_world(int64_t *sum, const struct query_set *set, bool victim_died)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 5);
    for (size_t i = 0; i < RECORDS; i++) {
        const double sex = (double)seeded_random_below(&seeded, 2);
        const double cell[TOY_COLUMNS] = {50 + 40 * seeded_random_unit(&seeded), sex, 2,
                                          (double)seeded_random_below(&seeded, 3)};
        const double feature[FEATURES] = {cell[0] / 98, sex, 1};
        const struct row row = {.cell = cell,
                                .column_count = TOY_COLUMNS,
                                .label = seeded_random_below(&seeded, 2) == 0 ? -1 : 1,
                                .feature = feature,
                                .feature_count = FEATURES};
        query_set_add(sum, set, 0, NULL, &row);
    }
    const double own[TOY_COLUMNS] = {97, victim_died ? 0 : 1, 2, 1};
    const double feature[FEATURES] = {97.0 / 98, own[1], 1};
    const struct row victim = {.cell = own,
                               .column_count = TOY_COLUMNS,
                               .label = victim_died ? 1 : -1,
                               .feature = feature,
                               .feature_count = FEATURES};
    query_set_add(sum, set, 0, NULL, &victim);
}

/* How often the attacker is right; sensitivity: what the noise is made for. */
static double success(const struct query_set *set, double epsilon, uint64_t sensitivity)
{
    const size_t count = query_set_cells(set, 0);
    int64_t world[2][CELLS_MAX] = {{0}};
    struct noise_laplace noise;
    struct seeded_random seeded;
    size_t right = 0;
    cr_assert(count <= CELLS_MAX);
    add_world(world[0], set, false);
    add_world(world[1], set, true);
    seeded_random_init(&seeded, 11);
    const struct random random = seeded_random_interface(&seeded);
    cr_assert(noise_laplace_init(
                  &noise, (struct noise_scale){sensitivity * 1000, (uint64_t)(epsilon * 1000)}) ==
              STATUS_OK);
    for (size_t run = 0; run < WORLDS; run++) {
        const size_t truth = run % 2;
        int64_t sum[CELLS_MAX];
        double towards = 0;
        memcpy(sum, world[truth], count * sizeof sum[0]);
        cr_assert(noise_laplace_add(&noise, &random, sum, count) == STATUS_OK);
        for (size_t i = 0; i < count; i++) {
            towards += (double)(llabs(sum[i] - world[0][i]) - llabs(sum[i] - world[1][i]));
        }
        right += (towards > 0) == (truth == 1);
    }
    return (double)right / WORLDS;
}

/* The same with Gaussian noise of that sigma, in grid steps. */
static double success_gaussian(const struct query_set *set, double sigma)
{
    const size_t count = query_set_cells(set, 0);
    int64_t world[2][CELLS_MAX] = {{0}};
    struct noise_gaussian noise;
    struct seeded_random seeded;
    size_t right = 0;
    cr_assert(count <= CELLS_MAX);
    add_world(world[0], set, false);
    add_world(world[1], set, true);
    seeded_random_init(&seeded, 13);
    const struct random random = seeded_random_interface(&seeded);
    cr_assert(noise_gaussian_init(&noise, (struct noise_scale){(uint64_t)llround(sigma * 1000),
                                                               1000}) == STATUS_OK);
    for (size_t run = 0; run < WORLDS; run++) {
        const size_t truth = run % 2;
        int64_t sum[CELLS_MAX];
        double towards = 0;
        memcpy(sum, world[truth], count * sizeof sum[0]);
        cr_assert(noise_gaussian_add(&noise, &random, sum, count) == STATUS_OK);
        for (size_t i = 0; i < count; i++) {
            const double a = (double)(sum[i] - world[0][i]);
            const double b = (double)(sum[i] - world[1][i]);
            towards += a * a - b * b;
        }
        right += (towards > 0) == (truth == 1);
    }
    noise_gaussian_free(&noise);
    return (double)right / WORLDS;
}

static void ask(struct query_set *set, const struct attack *attack)
{
    struct why why = {""};
    size_t count = 0;
    while (count < QUESTIONS_MAX && attack->question[count] != NULL) {
        count++;
    }
    cr_assert(query_set_init(set, attack->question, count, BITS,
                             &(struct query_names){&toy, model, sizeof model / sizeof model[0]},
                             &why) == STATUS_OK,
              "%s", why.text);
}

Test(attacks, are_right_no_more_often_than_epsilon_allows)
{
    const double epsilons[] = {0.25, 1, 2};
    for (size_t a = 0; a < sizeof attacks / sizeof attacks[0]; a++) {
        struct query_set set;
        ask(&set, &attacks[a]);
        for (size_t e = 0; e < 3; e++) {
            const double bound = 1 / (1 + exp(-epsilons[e]));
            const double rate = success(&set, epsilons[e], query_set_sensitivity_l1(&set, 0));
            cr_log_info("%s, epsilon %g: %.4f of %.4f", attacks[a].name, epsilons[e], rate, bound);
            cr_expect(rate <= bound + allowed, "%s: %g above %g", attacks[a].name, rate, bound);
            cr_expect(rate > 0.5 + 0.01 * epsilons[e], "%s: an attack that learns something",
                      attacks[a].name);
        }
        query_set_free(&set);
    }
}

/* A table is one question, and its variables are paid together. Planted: noise for one count of the variable that weighs most, as
 * if a record could be in one cell alone and be added to it alone. The victim's two texts differ in the group, so in every variable. */
Test(attacks, succeed_where_a_table_1_is_charged_as_one_count)
{
    struct query_set set;
    uint64_t most = 0;
    ask(&set, &attacks[TABLE1]);
    const struct query *query = &set.query[0];
    cr_assert(query->variable_count == 4 && set.count == 1);
    for (size_t i = 0; i < query->variable_count; i++) {
        const uint64_t own = query_part_of(&query->variable[i], 1 << BITS);
        most = own > most ? own : most;
    }
    const double rate = success(&set, 1, most);
    cr_log_info("planted: %.4f", rate);
    cr_expect(rate > 1 / (1 + exp(-1.0)) + allowed, "%g", rate);
    query_set_free(&set);
}

/* Gaussian noise of sigma times the sensitivity in L2 is rho-zCDP, rho = 1/(2 sigma^2), and lets nobody be right with a probability
 * above Phi(1/(2 sigma)): two Gaussians one sensitivity apart are the worst pair. Planted: an eighth of the noise. */
Test(attacks, are_right_no_more_often_than_gaussian_noise_allows)
{
    const double sigmas[] = {0.5, 1, 3};
    for (size_t a = 0; a < sizeof attacks / sizeof attacks[0]; a++) {
        struct query_set set;
        ask(&set, &attacks[a]);
        const double moves = (double)query_set_sensitivity_l2(&set, 0);
        for (size_t i = 0; i < sizeof sigmas / sizeof sigmas[0]; i++) {
            const double bound = erfc(-1 / (2 * sigmas[i] * sqrt(2))) / 2;
            const double rate = success_gaussian(&set, sigmas[i] * moves);
            cr_log_info("%s, sigma %g: %.4f of %.4f", attacks[a].name, sigmas[i], rate, bound);
            cr_expect(rate <= bound + allowed, "%s: %g above %g", attacks[a].name, rate, bound);
        }
        const double rate = success_gaussian(&set, moves / 8);
        const double bound = erfc(-1 / (2 * sqrt(2))) / 2;
        cr_log_info("%s, Gaussian, planted: %.4f of %.4f", attacks[a].name, rate, bound);
        cr_expect(rate > bound + allowed, "%s: %g", attacks[a].name, rate);
        query_set_free(&set);
    }
}

/* Planted: noise for a single step of the grid, which is hardly any. Each attack then knows the victim's text. */
Test(attacks, always_succeed_where_there_is_no_noise)
{
    for (size_t a = 0; a < sizeof attacks / sizeof attacks[0]; a++) {
        struct query_set set;
        ask(&set, &attacks[a]);
        const double rate = success(&set, 1, 1);
        cr_log_info("%s, planted: %.4f", attacks[a].name, rate);
        cr_expect(rate == 1, "%s: %g", attacks[a].name, rate);
        query_set_free(&set);
    }
}

/* Planted: an eighth of the noise. */
Test(attacks, are_right_too_often_with_an_eighth_of_the_noise)
{
    for (size_t a = 0; a < sizeof attacks / sizeof attacks[0]; a++) {
        struct query_set set;
        ask(&set, &attacks[a]);
        const double rate = success(&set, 1, query_set_sensitivity_l1(&set, 0) / 8);
        cr_log_info("%s, planted: %.4f", attacks[a].name, rate);
        cr_expect(rate > 1 / (1 + exp(-1.0)) + allowed, "%s: %g", attacks[a].name, rate);
        query_set_free(&set);
    }
}

Test(attacks, succeed_where_each_question_is_charged_as_if_it_were_alone)
{
    for (size_t a = 0; a < sizeof attacks / sizeof attacks[0]; a++) {
        struct query_set set;
        uint64_t alone = 0;
        ask(&set, &attacks[a]);
        for (size_t i = 0; i < set.count; i++) {
            const uint64_t own = query_sensitivity_l1(&set.query[i], BITS);
            alone = own > alone ? own : alone;
        }
        const double rate = success(&set, 1, alone);
        cr_log_info("%s, planted: %.4f", attacks[a].name, rate);
        if (set.count >= 8) {
            cr_expect(rate > 1 / (1 + exp(-1.0)) + allowed, "%s: %g", attacks[a].name, rate);
        }
        query_set_free(&set);
    }
}

enum { PEOPLE = 48, TABLES = 200, REPEATS = 100 };

/* Solves the normal equations by Gauss and Seidel: tables are random halves, so the matrix is positive definite. */
static void solve(double *x, double normal[][PEOPLE], const double *right)
{
    memset(x, 0, PEOPLE * sizeof *x);
    for (size_t sweep = 0; sweep < 200; sweep++) {
        for (size_t i = 0; i < PEOPLE; i++) {
            double rest = right[i];
            for (size_t j = 0; j < PEOPLE; j++) {
                rest -= j == i ? 0 : normal[i][j] * x[j];
            }
            x[i] = rest / normal[i][i];
        }
    }
}

/* Counts of random halves of the people who have the secret, with noise of a public scale. Returns how many secrets the attacker
 * reads. */
static size_t read_secrets(const struct noise_laplace *noise, struct seeded_random *seeded)
{
    static double normal[PEOPLE][PEOPLE];
    const struct random random = seeded_random_interface(seeded);
    bool secret[PEOPLE];
    double right[PEOPLE] = {0};
    double x[PEOPLE];
    size_t correct = 0;
    memset(normal, 0, sizeof normal);
    for (size_t i = 0; i < PEOPLE; i++) {
        secret[i] = seeded_random_below(seeded, 2) == 1;
    }
    for (size_t t = 0; t < TABLES; t++) {
        bool in[PEOPLE];
        int64_t sum = 0;
        for (size_t i = 0; i < PEOPLE; i++) {
            in[i] = seeded_random_below(seeded, 2) == 1;
            sum += in[i] && secret[i] ? INT64_C(1) << BITS : 0;
        }
        cr_assert(noise_laplace_add(noise, &random, &sum, 1) == STATUS_OK);
        for (size_t i = 0; i < PEOPLE; i++) {
            right[i] += in[i] ? ldexp((double)sum, -BITS) : 0;
            for (size_t j = 0; j < PEOPLE; j++) {
                normal[i][j] += in[i] && in[j] ? 1 : 0;
            }
        }
    }
    solve(x, normal, right);
    for (size_t i = 0; i < PEOPLE; i++) {
        correct += (x[i] > 0.5) == secret[i] ? 1 : 0;
    }
    return correct;
}

/* charged: for how many counts the noise is. */
static double reconstructed(double epsilon, uint64_t charged)
{
    struct seeded_random seeded;
    struct noise_laplace noise;
    size_t correct = 0;
    seeded_random_init(&seeded, 23);
    cr_assert(noise_laplace_init(&noise, (struct noise_scale){(charged << BITS) * 1000,
                                                              (uint64_t)(epsilon * 1000)}) ==
              STATUS_OK);
    for (size_t run = 0; run < REPEATS; run++) {
        correct += read_secrets(&noise, &seeded);
    }
    return (double)correct / (PEOPLE * REPEATS);
}

/* Dinur and Nissim 2003: 200 counts of random halves of 48 people, solved for each one's secret. A replaced person moves all 200
 * counts, and a stage's noise is for their sum (query_set_sensitivity_l1). 4,800 secrets: 6 standard errors of 0.0072. Planted:
 * noise for one count alone, with which most secrets are read. */
Test(attacks, a_reconstruction_reads_no_more_secrets_than_epsilon_allows)
{
    static char text[TABLES][QUERY_TEXT_BYTES];
    const char *question[TABLES];
    const double epsilons[] = {0.25, 1, 2};
    struct query_set set;
    for (size_t t = 0; t < TABLES; t++) {
        (void)snprintf(text[t], sizeof text[t], "count: death == 1 and age >= %.3f",
                       50 + 0.2 * (double)t);
        question[t] = text[t];
    }
    cr_assert(query_set_init(&set, question, TABLES, BITS, &toy_names, NULL) == STATUS_OK);
    const uint64_t charged = query_set_sensitivity_l1(&set, 0) >> BITS;
    cr_assert(charged == TABLES);
    for (size_t i = 0; i < sizeof epsilons / sizeof epsilons[0]; i++) {
        const double bound = 1 / (1 + exp(-epsilons[i]));
        const double got = reconstructed(epsilons[i], charged);
        cr_log_info("reconstruction, epsilon %g: %.4f of %.4f", epsilons[i], got, bound);
        cr_expect(got <= bound + 6 * 0.0072, "epsilon %g: %g of %g", epsilons[i], got, bound);
    }
    const double planted = reconstructed(1, 1);
    cr_log_info("planted: %.4f", planted);
    cr_expect(planted > 1 / (1 + exp(-1.0)) + 6 * 0.0072, "%g", planted);
    query_set_free(&set);
}
