#include "task/learn/plan.h"

#include "job/round.h"
#include "learn/tuned.h"

#include <math.h>

/* Every constant below that follows from no bound was chosen on tables. Points are what the rehearsal's made-up tables lose more
 * with the other choice, as in tests/unit/common/task/test_learn_plan. Where these cannot tell, real tables do, as in
 * tests/statistical/common/learn/test_learn_constants: there shares far from those below lose, and so do plans beyond a bound. What
 * has no such test says so; all figures are in docs/study-hospitals.md.
 *
 * Under rho the noise of all steps together hardly grows with their number: three steps in place of eight after products lose
 * 0.2 points, and one in place of four after 57 columns' sums 5. */
enum { STEPS_MAX_PRODUCTS = 8, STEPS_GAUSSIAN = 4, STEPS_GAUSSIAN_MANY = 8, STEPS_MAX = 16 };

/* Shares of a look's noise: what each part of it gets of epsilon, or of rho. Counts with a share of 45 % lose 3 points of
 * wdbc at epsilon 1, and with 0.3 % five of digits. A share of 20 % for what the clip keeps loses 0.2 of AUC, and one of
 * 1 % nothing. Sums with 3 or 70 % lose 0.4 and 0.2 of AUC on flchain at 4. Those of several classes beside products lose
 * 2 points of one made-up table with 15 %, and 1 of another with 70 %. */
static const double share_counts = 0.05;
static const double share_counts_groups = 0.1; /* where a group's shares of the classes matter */
static const double share_kept = 0.05;
static const double share_sums = 0.2;                  /* beside products */
#define SHARE_CLASS_SUMS TUNED(SHARE_CLASS_SUMS, 0.35) /* of several classes, beside products */

/* Beside sums alone: where shares of classes have more noise than this, counts get more of it, up to that. */
#define COUNTS_NOISE 0.3
static const double share_counts_most = 0.2;

/* Noise on all columns' means together, at most, where a look at squares is worth its price. No made-up table tells squares from
 * sums near that bound. Above it squares lose 6 and 7 points of wdbc (Laplace and Gaussian); below it they gain where columns fill
 * little of their public ranges, and lose 0.4 on flchain with columns of noise at C 4.
 * Gaussian squares gain 0.2 of AUC on wdbc with wide ranges (5). For several classes both bounds take no account of their number:
 * docs/study-hospitals.md has what that costs. */
#define MEANS_NOISE          0.2
#define MEANS_NOISE_GAUSSIAN TUNED(MEANS_NOISE_GAUSSIAN, 0.3)

/* Noise on the matrix of products, by its spectral norm, at most, where a look at products is worth its price. With 7 columns and
 * 6,300 records squares lose 0.9 points at epsilon 4, and at 0.3 products lose 0.9 (flchain: 0.4 and 1.6). With Gaussian noise
 * squares lose 0.4 on flchain at 1; above the bound products lose 0.2 of AUC on wdbc at 4, and below it 1.2 points at 8. */
#define PRODUCTS_NOISE          TUNED(PRODUCTS_NOISE, 0.4)
#define PRODUCTS_NOISE_GAUSSIAN TUNED(PRODUCTS_NOISE_GAUSSIAN, 1.0)

/* Noise of a step, at most, where steps are worth it after sums. For two classes it is multiplied by the root of the columns: a
 * step has noise on each of them, and the sums' model on those that matter. With 8 columns and 615 records no step loses 1.7
 * points, and a step loses 2.1 of AUC on wdbc at epsilon 1. In between made-up tables and real ones disagree, and the
 * real ones were followed. For several classes two steps lose 16 points of digits above the bound (C 4), and no step loses 2
 * below it (L 100); just above it two steps gain 2 (C 20). With Gaussian noise no step loses 1.2 points of wdbc below the
 * bound, and four steps lose 0.7 of AUC above it (0.3). Several classes gain by steps above that bound: Satellite 4.8 points at 0.2. */
#define STEP_OF_TWO      8.0
#define STEP_OF_MANY     0.9
#define STEP_OF_GAUSSIAN TUNED(STEP_OF_GAUSSIAN, 3.5)

/* Two classes take three steps, not two, where the noise of a step is at most this: the mean of the last two is calmer than the last
 * of two. No test: it buys little since steps are shorter where columns go with one another. After more than three nothing changes:
 * TWO_NOISE is where 1 + sqrt(0.4 / noise) is 3. */
#define THREE_NOISE 0.15
#define TWO_NOISE   0.1

/* For a column: what a clip leaves of a record, and how far its numbers lie apart. Any table has its own. On
 * flchain with 60 columns of noise one group loses 6 points. Before steps there are half as many groups: as many lose 2.6 points of
 * a made-up table whose columns are alike (L 2), and one loses 2.6 of flchain with 18 columns of noise (L 0.5). */
#define KEPT_USUAL          0.65
#define SPREAD_USUAL        0.5
#define GROUPS_BEFORE_STEPS TUNED(GROUPS_BEFORE_STEPS, 0.5)

/* There are no more groups than half of the sites, rounded up: so that most columns have two sites. One that does not answer leaves
 * another, and one whose classes have other shares than those of all is not alone. */
#define SITES_OF_GROUP 2

/* Two sets of sites look, the second at some of the columns, from this many columns on. The second look pays where most columns
 * tell hardly anything, and the more columns there are, the more likely that is. With 57, 60, 64 and 67 columns four real
 * tables gain by it up to four points; with 34 one loses four. Made-up tables have columns that all tell something. On flchain
 * with 60 columns of noise one look loses 3 points. No test: fewer columns. */
#define SECOND_COLUMNS 40

double learn_rho(double epsilon, uint64_t delta_atto)
{
    double bits = 0;
    for (uint64_t delta = delta_atto; delta < DELTA_ATTO_ONE; delta *= 2) {
        bits++;
    }
    const double log_delta = bits * 0.6931471805599453;
    const double root =
        epsilon / (sqrt(log_delta + epsilon) + sqrt(log_delta)); /* a difference is 0 */
    return root * root;
}

double learn_deviation(const struct learn_prospect *prospect, double l1, double l2, double share)
{
    const double noise = prospect->gaussian ? l2 / sqrt(2 * prospect->rho * share)
                                            : sqrt(2) * l1 / (prospect->epsilon * share);
    return sqrt(prospect->noises) * noise / prospect->units;
}

/* A look at products is worth its price where the noise on their matrix is small beside columns' variances. One at squares where
 * the noise on means is small beside columns' deviations. Else records are clipped. */
enum selftune_sight learn_sight(const struct learn_prospect *prospect)
{
    const double d = prospect->d;
    const double noise =
        2 * sqrt(d) * learn_deviation(prospect, (d * d + d) / 2, sqrt(d * d + d / 2), 1.0 / 3);
    if (noise <= (prospect->gaussian ? PRODUCTS_NOISE_GAUSSIAN : PRODUCTS_NOISE)) {
        return SIGHT_PRODUCTS;
    }
    const double means = sqrt(d) * learn_deviation(prospect, 2 * d, 2 * sqrt(d), 0.5);
    return means <= (prospect->gaussian ? MEANS_NOISE_GAUSSIAN : MEANS_NOISE) ? SIGHT_SQUARES
                                                                              : SIGHT_SUMS;
}

double learn_step_noise(const struct learn_prospect *prospect, const struct learn_stage *own)
{
    return learn_deviation(prospect, 2, 2, 1) * learn_step_length(own);
}

bool learn_takes_three(const struct learn_prospect *prospect, const struct learn_stage *own)
{
    const double noise = learn_step_noise(prospect, own);
    return prospect->age != JOB_UP_TO_4 && !prospect->gaussian && own->tune.output_count == 1 &&
           own->tune.sight != SIGHT_PRODUCTS && noise <= THREE_NOISE && noise > TWO_NOISE;
}

/* Steps correct what the first model got wrong, and each of them brings its noise. `noise` is that of a step that has all of
 * epsilon, in a model's units. The classes' sums are a model already: where noise is large there are no steps after them. After
 * products one step in place of three loses 1.2 points, and eight in place of two 0.8. */
uint32_t learn_steps(const struct learn_prospect *prospect, const struct learn_stage *own)
{
    const double noise = learn_step_noise(prospect, own);
    const bool two = own->tune.output_count == 1;
    double wanted = 0;
    if (own->tune.sight == SIGHT_PRODUCTS) {
        wanted =
            prospect->gaussian ? STEPS_GAUSSIAN + 0.02 / (noise * noise) : 1 + sqrt(0.1 / noise);
        return (uint32_t)fmin(wanted, STEPS_MAX_PRODUCTS);
    }
    if (prospect->gaussian) {
        wanted = noise > STEP_OF_GAUSSIAN ? 0 : two ? STEPS_GAUSSIAN : STEPS_GAUSSIAN_MANY;
    } else if (two) {
        const bool none = own->tune.sight == SIGHT_SUMS && noise * sqrt(prospect->d) > STEP_OF_TWO;
        wanted = none ? 0 : 1 + sqrt(0.4 / noise);
        wanted = learn_takes_three(prospect, own) ? 3 : wanted;
    } else if (noise <= STEP_OF_MANY) {
        wanted = own->tune.sight == SIGHT_SQUARES ? 1 + sqrt(1 / noise) : 2;
    }
    return (uint32_t)fmin(wanted, STEPS_MAX);
}

/* Weights of a look's parts, so that a replaced record moves it by 1: bounds.c. */
static struct learn_weights weigh_sums(const struct learn_prospect *prospect,
                                       const struct learn_stage *own)
{
    const double reach = learn_reach(own, learn_own_columns(own)) * (1 + 0x1p-40);
    if (own->tune.gaussian) {
        const double sum = (1 - share_kept) / 4;
        return (struct learn_weights){.count = sqrt((1 - 2 * sum - 2 * share_kept) / 2),
                                      .kept = sqrt(share_kept),
                                      .sum = sqrt(sum) / reach};
    }
    const double look = 1 / (1 + (double)own->tune.steps);
    const double noise = learn_deviation(prospect, 2, 2, share_counts * look);
    const double least = own->groups > 1 ? share_counts_groups : share_counts;
    const double count = fmin(fmax(least, noise / COUNTS_NOISE * share_counts), share_counts_most);
    return (struct learn_weights){
        .count = count / 2, .kept = share_kept / 2, .sum = (1 - count - share_kept) / (2 * reach)};
}

static struct learn_weights weigh_squares(const struct learn_stage *own, double d)
{
    if (own->tune.gaussian) {
        const double sum = sqrt(1 / (4 * d));
        return (struct learn_weights){
            .count = sqrt(0.125), .sum = sum, .product = sum * sqrt(2) * (1 - 0x1p-40)};
    }
    const double sum = (1 - share_counts) / (2 * d);
    return (struct learn_weights){.count = share_counts / 2, .sum = sum, .product = sum / 2};
}

/* Sums and products move together, by `cross` more than one by one. For several classes each has its sums, which cost twice as much
 * whatever the products do. */
static struct learn_weights weigh_products(const struct learn_stage *own, double d)
{
    const bool two = own->tune.output_count == 1;
    const double sums = two ? share_sums : SHARE_CLASS_SUMS;
    const double product = 1 - share_counts - sums;
    const double cross = sums * sums / (4 * product);
    if (own->tune.gaussian) {
        const double together = 1 + cross * (1 + 1 / (2 * d));
        const double whole = two ? together : fmax(1, together - share_counts);
        return (struct learn_weights){.count = sqrt(share_counts / 2 / whole),
                                      .sum = sqrt(sums / (2 * d) / whole),
                                      .product = sqrt(product / (d * d + d / 2) / whole)};
    }
    const double whole = two ? 1 + cross : 1;
    return (struct learn_weights){.count = share_counts / 2 / whole,
                                  .sum = sums / (two ? d : 2 * d) / whole,
                                  .product = product / ((d * d + d) / 2) / whole};
}

struct learn_weights learn_weigh(const struct learn_prospect *prospect,
                                 const struct learn_stage *own)
{
    const double d = (double)learn_own_columns(own);
    return own->tune.sight == SIGHT_PRODUCTS  ? weigh_products(own, d)
           : own->tune.sight == SIGHT_SQUARES ? weigh_squares(own, d)
                                              : weigh_sums(prospect, own);
}

/* Where G groups of sites have a part of the columns each, a column's noise falls to 1/G of its variance, as a site's record moves
 * fewer numbers, and what its records tell by chance grows by G, as there are fewer of them. The best G is the ratio of both
 * deviations, of the means of K classes. Where steps follow, which correct the first model, half of that is taken. Gaussian
 * noise gains nothing: a record moves its numbers by the root of their number. Squares are looked at where noise is small. */
uint32_t learn_groups(const struct learn_prospect *prospect, const struct learn_stage *own)
{
    struct learn_stage all = *own;
    const double d = prospect->d;
    all.groups = 1;
    if (job_age_version(prospect->age) < 6 || prospect->gaussian || prospect->noises < 2 ||
        own->tune.sight != SIGHT_SUMS) {
        return 1;
    }
    const double look = 1 / (1 + (double)own->tune.steps);
    const double noise =
        learn_deviation(prospect, 1, 1, look) / (learn_weigh(prospect, &all).sum * KEPT_USUAL);
    const double classes = (double)selftune_class_count(&own->tune);
    const double chance = SPREAD_USUAL / sqrt(prospect->units * classes / 2);
    const double ratio = noise / chance * (own->tune.steps > 0 ? GROUPS_BEFORE_STEPS : 1);
    const double most = fmin(fmin(floor(ratio), ceil(prospect->sites / SITES_OF_GROUP)), d);
    if (!(most >= 2)) {
        return 1;
    }
    return (uint32_t)ceil(d / ceil(d / most)); /* fewer, where they have as many columns */
}

/* By turns where columns are shared out and no step follows: then a column's noise is what the model lacks. So that both turns have
 * sites, and the first one's groups have one each. */
uint32_t learn_second(const struct learn_prospect *prospect, const struct learn_stage *own)
{
    const double second = floor(prospect->sites * (1 - ROUND_FIRST_TURN));
    if (job_age_version(prospect->age) < 7 || own->groups < 2 || own->tune.steps > 0 ||
        prospect->d < SECOND_COLUMNS || prospect->sites < ROUND_TURN_SLOTS) {
        return 0;
    }
    return (uint32_t)fmin(own->groups, second);
}
