/* The plan of a learn stage whose label is a number, in arithmetic that is rounded alike on every machine (no logarithm): what
 * it looks at and how many steps follow is what a typical table would lose least by, computed step by step as
 * learn/selftune_number.c learns. */

#include "learn/tuned.h"
#include "task/learn/stage.h"

/* Beyond these the loss that is reckoned below hardly falls, and every step is one more round. */
enum { STEPS_PRODUCTS = 6, STEPS_MOST = 12 };

/* A release's parts: what of its sensitivity the sums have, and the sum of misses. */
#define NUMBER_SUMS TUNED(NUMBER_SUMS, 0.2)
#define NUMBER_SIZE TUNED(NUMBER_SIZE, 0.05)

/* A typical table: the label's and a column's variance, and what of the label's no model explains. */
static const double label_variance = 0.1;
static const double rest_variance = 0.03;
static const double column_variance = 0.12;

/* What of the expected squared error steps leave for the next ones where whitening has seen correlations. */
#define UNSURE_PRODUCTS TUNED(UNSURE_PRODUCTS, 0.05)

/* What else steps are taken to do on a typical table. On the rehearsal's made-up tables (learn/rehearsal.h), 135 settings of 2 to 40
 * columns, plans lose 0.0145 of a label's range, by what programs before protocol version 9 took 0.0196, and at best 0.0126:
 * docs/study-hospitals.md. A job that these have begun keeps its plan. */
struct usual {
    double squares; /* of the expected squared error, what steps leave where columns are scaled, */
    double none;    /* and where nothing is known of them; 2: all of it */
    double clip;    /* of a gradient, over its deviation */
    double
        steep; /* without products, how much too long a first step is taken to be, over the number of columns */
};

/* Without a look steps are taken to tell the intercept alone, and so is the first one after squares: until it has told how steep the
 * loss is, columns stay as they are. */
#define UNSURE_SQUARES TUNED(UNSURE_SQUARES, 0.3)
#define UNSURE_NONE    TUNED(UNSURE_NONE, 2.0)
#define CLIP_USUAL     TUNED(CLIP_USUAL, 1.0)
#define STEEP_USUAL    TUNED(STEEP_USUAL, HUGE_VAL)

static struct usual usual_of(enum job_age age)
{
    const struct usual now = {UNSURE_SQUARES, UNSURE_NONE, CLIP_USUAL, STEEP_USUAL};
    const struct usual before = {0.8, 1.1, 3, 0.5};
    return job_age_version(age) >= 9 ? now : before;
}

/* Weights of a look at `columns`, the label among them, so that a replaced record moves it by 1: bounds.c. */
static struct learn_weights weigh(enum selftune_sight sight, bool gaussian, double columns)
{
    const double product = 1 - NUMBER_SUMS;
    const double cross = NUMBER_SUMS * NUMBER_SUMS / (4 * product);
    struct learn_weights weights = {.count = 0};
    if (sight == SIGHT_SQUARES) {
        weights.sum = gaussian ? sqrt(1 / (4 * columns)) : 1 / (2 * columns);
        weights.product = weights.sum * (gaussian ? sqrt(2) * (1 - 0x1p-40) : 0.5);
    } else if (sight == SIGHT_PRODUCTS && gaussian) {
        const double whole = 1 + cross * (1 + 1 / (2 * columns));
        weights.sum = sqrt(NUMBER_SUMS / (2 * columns) / whole);
        weights.product = sqrt(product / (columns * columns + columns / 2) / whole);
    } else if (sight == SIGHT_PRODUCTS) {
        weights.sum = NUMBER_SUMS / columns / (1 + cross);
        weights.product = product / ((columns * columns + columns) / 2) / (1 + cross);
    }
    return weights;
}

/* The expected squared error after a step whose noise is of variance `noise`. */
static double after(double prior, double noise)
{
    return noise < HUGE_VAL ? prior * noise / (prior + noise) : prior;
}

/* Deviations of means over all records that one record moves by 1, with all of the stage's epsilon: of a release, and of
 * what a gradient's clip of 1 asks for. */
struct noises {
    double look;
    double step;
};

/* What a plan is expected to lose: the mean squared error beyond that of the best model. */
static double loss_of(const struct learn_stage *own, const struct usual *usual, struct noises noise,
                      enum selftune_sight sight, uint32_t steps)
{
    const bool gaussian = own->tune.gaussian;
    const double d = (double)own->tune.feature_count;
    const double rounds = steps + (sight != SIGHT_NONE ? 1.0 : 0.0);
    const double parted = gaussian ? sqrt(rounds) : rounds;
    const double each = noise.look * parted;
    const double length = gaussian ? sqrt(d + 1) : 0.8 * d + 1;
    const double signal = (label_variance - rest_variance) / d;
    double prior = signal;
    double prior_end = label_variance;
    double unsure = usual->none;
    if (sight != SIGHT_NONE) {
        const struct learn_weights weights = weigh(sight, gaussian, d + 1);
        const double product = each / weights.product;
        const double sum = each / weights.sum;
        const double scale = product / column_variance;
        unsure = usual->squares + scale * scale;
        prior_end = sum * sum;
        if (sight == SIGHT_PRODUCTS) {
            unsure = UNSURE_PRODUCTS + 2 * scale * scale;
            prior = after(signal, product * scale) + unsure * signal;
        }
    }
    for (uint32_t i = 0; i < steps; i++) {
        const double reach = usual->clip * noise.step * parted * length;
        const double heard = reach * reach * (rest_variance + d * prior + prior_end);
        const double steep = sight == SIGHT_PRODUCTS ? 1 : fmax(1, d * usual->steep);
        const double short_of = i == 0 ? 1 - 1 / steep : 0;
        prior = fmin(signal, after(prior, heard) + fmax(unsure / 2, short_of * short_of) * prior);
        prior_end = after(prior_end, heard) + prior_end * UNSURE_PRODUCTS;
    }
    return d * prior + prior_end;
}

void learn_plan_number(struct learn_stage *own, double noise, double noisier, enum job_age age)
{
    const struct usual usual = usual_of(age);
    const double scale = ldexp(1, LEARN_STEP_BITS);
    double least = HUGE_VAL;
    own->tune.quantile = 1; /* its clip is another's to choose */
    for (unsigned sight = 0; sight < SIGHTS; sight++) {
        if (sight == SIGHT_SUMS) {
            continue;
        }
        const uint32_t most = sight == SIGHT_PRODUCTS ? STEPS_PRODUCTS : STEPS_MOST;
        for (uint32_t steps = 1; steps <= most; steps++) {
            const double loss = loss_of(own, &usual, (struct noises){noise, noise * noisier},
                                        (enum selftune_sight)sight, steps);
            if (loss < least) {
                least = loss;
                own->tune.sight = (enum selftune_sight)sight;
                own->tune.steps = steps;
            }
        }
    }
    const bool gaussian = own->tune.gaussian;
    const double rounds = own->tune.steps + (own->tune.sight != SIGHT_NONE ? 1.0 : 0.0);
    const double part = gaussian ? sqrt(1 - NUMBER_SIZE) : 1 - NUMBER_SIZE;
    own->weights = weigh(own->tune.sight, gaussian, (double)own->tune.feature_count + 1);
    own->clip_first = (int64_t)(scale * part);
    own->count_step = (int64_t)(2 * scale * (gaussian ? sqrt(NUMBER_SIZE) : NUMBER_SIZE));
    own->noise = 2 * noise * (gaussian ? sqrt(rounds) : rounds) / part;
}
