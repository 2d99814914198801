/* Planted faults of a mechanism. Each is caught by an audit (audited > claimed), by an exhaustive
 * test, or by both. The right variant of each, drawn by the same code, passes.
 *
 *   fault                                     audit here   tests/exhaustive
 *   half the scale                            x            test_laplace, test_select
 *   one-sided noise                           x            test_laplace
 *   float Laplace by inversion                x (attack)   -
 *   a dropped share                           x            -
 *   a share used twice                        x            -
 *   helpers' shares counted as noise (c = 0)  x            -
 *   shares made for one site too many         x            -
 *   a draw reused for two answers             x            test_laplace
 *   a record in two batches, charged once     x            test_laplace (a grant reused)
 *   a forgotten coordinate                    x            test_laplace
 *   clipping after the sum                    x            -
 *   sensitivity C where replace-one needs 2C  x            -
 *   scores charged at half their movement     x            test_select
 *   noise for scores that move one way only   x            test_select
 *   draws of a play that are not composed     x            -
 *
 * Every right variant is audited above its claim with probability 1e-6 at a fresh seed; there are
 * 15 of them, and the seeds are fixed. */

#include "dp/encode.h"
#include "dp/select_private.h"
#include "lab/audit/audit.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "noise/share.h"
#include "tests/support/noise_draw.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define SEED UINT64_C(7)

enum { SAMPLES = 60000 };

/* A mechanism of epsilon 1, right or with the fault that its name says. */
struct variant {
    struct noise_laplace noise; /* of the right scale, and of half of it */
    struct noise_laplace half;
    struct noise_share share;
    struct noise_exponential decay;
    bool wrong;
};

typedef enum status (*drawer)(void *, const struct random *, unsigned, int64_t *, size_t);

static double audited(drawer draw, struct variant *variant, bool wrong, uint64_t samples)
{
    struct seeded_random seeded;
    struct audit_result result;
    struct audit_source source = {.draw = draw, .self = variant};
    struct audit_options options = {.samples = samples, .miss = AUDIT_MISS};
    seeded_random_init(&seeded, SEED);
    struct random random = seeded_random_interface(&seeded);
    variant->wrong = wrong;
    cr_assert_eq(audit_run(&result, &source, &random, &options), STATUS_OK);
    cr_log_info("%s: audited %.3f", wrong ? "wrong" : "right", result.epsilon);
    return result.epsilon;
}

/* scale: of the right noise, for an epsilon of 1. */
static void judge(drawer draw, struct noise_scale scale)
{
    struct variant variant;
    memset(&variant, 0, sizeof variant);
    struct noise_scale half = {scale.numerator, 2 * scale.denominator};
    cr_assert_eq(noise_laplace_init(&variant.noise, scale), STATUS_OK);
    cr_assert_eq(noise_laplace_init(&variant.half, half), STATUS_OK);
    double right = audited(draw, &variant, false, SAMPLES);
    double wrong = audited(draw, &variant, true, SAMPLES);
    cr_assert_leq(right, 1, "the right one: %g", right);
    cr_assert_gt(wrong, 1, "the planted fault: %g", wrong);
}

static void add(const struct noise_laplace *noise, const struct random *random, int64_t *values,
                size_t count)
{
    cr_assert_eq(noise_laplace_add(noise, random, values, count), STATUS_OK);
}

/* Calls one_run for each score. */
#define EACH_RUN(name)                                                                             \
    static enum status name##_runs(void *self, const struct random *random, unsigned side,         \
                                   int64_t *score, size_t count)                                   \
    {                                                                                              \
        for (size_t run = 0; run < count; run++) {                                                 \
            score[run] = name(self, random, side);                                                 \
        }                                                                                          \
        return STATUS_OK;                                                                          \
    }

static int64_t half_scale(const struct variant *variant, const struct random *random, unsigned side)
{
    int64_t value = side * 16;
    add(variant->wrong ? &variant->half : &variant->noise, random, &value, 1);
    return value;
}
EACH_RUN(half_scale)

Test(faults, half_the_scale)
{
    judge(half_scale_runs, (struct noise_scale){16, 1});
}

static int64_t one_sided(const struct variant *variant, const struct random *random, unsigned side)
{
    int64_t noise = 0;
    add(&variant->noise, random, &noise, 1);
    return (int64_t)side * 16 + (variant->wrong && noise < 0 ? -noise : noise);
}
EACH_RUN(one_sided)

Test(faults, one_sided_noise)
{
    judge(one_sided_runs, (struct noise_scale){16, 1});
}

/* Two answers about the same records. A record moves one of them. If noise is reused, it cancels in
 * their difference; without the fault that coordinate alone tells something. */
static int64_t reused(const struct variant *variant, const struct random *random, unsigned side)
{
    int64_t noise[2] = {0, 0};
    add(&variant->noise, random, noise, 2);
    noise[1] = variant->wrong ? noise[0] : noise[1];
    return (int64_t)side * 16 + noise[0] - noise[1];
}
EACH_RUN(reused)

Test(faults, a_draw_reused)
{
    judge(reused_runs, (struct noise_scale){16, 1});
}

/* A sum over a batch of records, each 0 or 16; record 0 is in the second batch too. */
static int64_t two_batches(const struct variant *variant, const struct random *random,
                           unsigned side)
{
    int64_t sum[2] = {(int64_t)side * 16, variant->wrong ? (int64_t)side * 16 : 0};
    add(&variant->noise, random, sum, 2);
    for (size_t i = 0; i < 2; i++) {
        sum[i] = sum[i] < 0 ? 0 : sum[i] > 16 ? 16 : sum[i];
    }
    return sum[0] + sum[1];
}
EACH_RUN(two_batches)

Test(faults, a_record_in_two_batches)
{
    judge(two_batches_runs, (struct noise_scale){16, 1});
}

static int64_t forgotten(const struct variant *variant, const struct random *random, unsigned side)
{
    int64_t value[4] = {side, side, side, side};
    int64_t sum = 0;
    add(&variant->noise, random, value, variant->wrong ? 3 : 4);
    for (size_t i = 0; i < 4; i++) {
        sum += value[i] < 0 ? 0 : value[i] > 1 ? 1 : value[i];
    }
    return sum;
}
EACH_RUN(forgotten)

Test(faults, a_forgotten_coordinate)
{
    judge(forgotten_runs, (struct noise_scale){4, 1});
}

enum { CLIP = 10, RECORDS = 8 };

/* One record far beyond the clip, the others within; clipped one by one, or only their sum. */
static int64_t clipped(const struct variant *variant, const struct random *random, unsigned side)
{
    int64_t sum = 0;
    for (int record = 0; record < RECORDS; record++) {
        int64_t value = record > 0 ? record - 4 : side == 0 ? -1000 : 1000;
        if (!variant->wrong) {
            clip_l1(&value, 1, CLIP);
        }
        sum += value;
    }
    clip_l1(&sum, 1, (int64_t)RECORDS * CLIP);
    add(&variant->noise, random, &sum, 1);
    return sum;
}
EACH_RUN(clipped)

Test(faults, clipping_after_the_sum)
{
    judge(clipped_runs, (struct noise_scale){2 * CLIP, 1});
}

/* A vector clipped to the L1 norm C; the record's replacement points the other way. */
static int64_t once_or_twice(const struct variant *variant, const struct random *random,
                             unsigned side)
{
    int64_t value[2] = {side == 0 ? 10000 : -10000, 0};
    clip_l1(value, 2, CLIP);
    add(variant->wrong ? &variant->half : &variant->noise, random, value, 2);
    return value[0];
}
EACH_RUN(once_or_twice)

Test(faults, sensitivity_of_one_clip_where_replacing_moves_two)
{
    judge(once_or_twice_runs, (struct noise_scale){2 * CLIP, 1}); /* half of it is C */
}

enum { HONEST = 2 };

/* Two agents' shares of noise of scale 1 on a sum of sensitivity 1. */
static int64_t dropped_share(const struct variant *variant, const struct random *random,
                             unsigned side)
{
    int64_t share[HONEST] = {0, 0};
    cr_assert_eq(noise_share_draw(&variant->share, random, share, variant->wrong ? 1 : HONEST),
                 STATUS_OK);
    return (int64_t)side + share[0] + share[1];
}
EACH_RUN(dropped_share)

/* The second agent sends the first one's share: the noise has lost half of its values. */
static int64_t doubled_share(const struct variant *variant, const struct random *random,
                             unsigned side)
{
    int64_t share[HONEST] = {0, 0};
    cr_assert_eq(noise_share_draw(&variant->share, random, share, HONEST), STATUS_OK);
    share[1] = variant->wrong ? share[0] : share[1];
    return (int64_t)side + share[0] + share[1];
}
EACH_RUN(doubled_share)

Test(faults, a_share_dropped_or_used_twice)
{
    static const drawer draw[] = {dropped_share_runs, doubled_share_runs};
    struct variant variant;
    memset(&variant, 0, sizeof variant);
    cr_assert_eq(noise_share_init(&variant.share, (struct noise_scale){1, 1}, HONEST), STATUS_OK);
    for (size_t i = 0; i < 2; i++) {
        cr_assert_leq(audited(draw[i], &variant, false, SAMPLES), 1);
        cr_assert_gt(audited(draw[i], &variant, true, SAMPLES), 1);
    }
    noise_share_free(&variant.share);
}

enum { HELPERS = 2 };

/* What a coordinator knows of the sum of four sites, two of which tell it their shares. */
static int64_t helped(const struct variant *variant, const struct random *random, unsigned side)
{
    int64_t share[HONEST + HELPERS];
    int64_t sum = side;
    cr_assert_eq(noise_share_draw(&variant->share, random, share, HONEST + HELPERS), STATUS_OK);
    for (size_t i = 0; i < HONEST + HELPERS; i++) {
        sum += share[i];
    }
    return sum - share[HONEST] - share[HONEST + 1];
}
EACH_RUN(helped)

Test(faults, shares_made_for_helpers_too_or_for_a_site_too_many)
{
    static const uint64_t made_for[] = {HONEST, HONEST + HELPERS, HONEST + 1};
    for (size_t i = 0; i < sizeof made_for / sizeof made_for[0]; i++) {
        struct variant variant;
        memset(&variant, 0, sizeof variant);
        cr_assert_eq(noise_share_init(&variant.share, (struct noise_scale){1, 1}, made_for[i]),
                     STATUS_OK);
        const double found = audited(helped_runs, &variant, i > 0, SAMPLES);
        cr_assert(i == 0 ? found <= 1 : found > 1, "made for %u: %g", (unsigned)made_for[i], found);
        noise_share_free(&variant.share);
    }
}

enum { GAUSSIAN_MOVES = 64, GAUSSIAN_SIGMA = 2 * GAUSSIAN_MOVES };

/* What a coordinator has of four sites' Gaussian shares when two tell it theirs. */
static enum status helped_gaussian_runs(void *self, const struct random *random, unsigned side,
                                        int64_t *score, size_t count)
{
    const struct noise_gaussian *noise = self;
    memset(score, 0, count * sizeof *score);
    for (size_t i = 0; i < HONEST; i++) {
        cr_assert_eq(noise_gaussian_add(noise, random, score, count), STATUS_OK);
    }
    for (size_t i = 0; i < count; i++) {
        score[i] += (int64_t)side * GAUSSIAN_MOVES;
    }
    return STATUS_OK;
}

/* The epsilon at delta 0.01 of Gaussian noise of twice the sensitivity: Balle and Wang 2018, theorem 8. */
static double epsilon_of_twice(void)
{
    double low = 0;
    double high = 8;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        const double delta = erfc((2 * middle - 0.25) / sqrt(2)) / 2 -
                             exp(middle) * erfc((2 * middle + 0.25) / sqrt(2)) / 2;
        *(delta > 0.01 ? &low : &high) = middle;
    }
    return high;
}

Test(faults, gaussian_shares_made_for_helpers_too_or_for_a_site_too_many)
{
    static const uint64_t made_for[] = {HONEST, HONEST + HELPERS, HONEST + 1};
    const double claimed = epsilon_of_twice();
    for (size_t i = 0; i < sizeof made_for / sizeof made_for[0]; i++) {
        struct seeded_random seeded;
        struct noise_gaussian noise;
        struct noise_scale part;
        struct audit_result result;
        const struct audit_source source = {.draw = helped_gaussian_runs, .self = &noise};
        const struct audit_options options = {
            .samples = 10 * SAMPLES, .delta = 0.01, .miss = AUDIT_MISS};
        seeded_random_init(&seeded, SEED);
        struct random random = seeded_random_interface(&seeded);
        noise_gaussian_part(&part, (struct noise_scale){GAUSSIAN_SIGMA, 1}, made_for[i]);
        cr_assert_eq(noise_gaussian_init(&noise, part), STATUS_OK);
        cr_assert_eq(audit_run(&result, &source, &random, &options), STATUS_OK);
        cr_assert(i == 0 ? result.epsilon <= claimed : result.epsilon > claimed,
                  "made for %u: %g of %g", (unsigned)made_for[i], result.epsilon, claimed);
        noise_gaussian_free(&noise);
    }
}

/* Scores that move either way by 1: eta = epsilon/2 is right, eta = epsilon is not. */
static int64_t picked(const struct variant *variant, const struct random *random, unsigned side)
{
    static const int64_t score[2][2] = {{4, 0}, {3, 1}};
    size_t chosen = 0;
    cr_assert_eq(select_draw_exponential(&variant->decay, random, &chosen, score[side], 2),
                 STATUS_OK);
    return (int64_t)chosen;
}
EACH_RUN(picked)

Test(faults, scores_charged_at_half_their_movement)
{
    struct variant variant;
    memset(&variant, 0, sizeof variant);
    cr_assert_eq(noise_exponential_init(&variant.decay, 1, 2), STATUS_OK);
    cr_assert_leq(audited(picked_runs, &variant, false, SAMPLES), 1);
    cr_assert_eq(noise_exponential_init(&variant.decay, 1, 1), STATUS_OK);
    cr_assert_gt(audited(picked_runs, &variant, true, SAMPLES), 1);
}

enum { FIELD = 16 };

/* Report-noisy-max among equals: scores move either way by 1, so noise of scale 2 is right. */
static int64_t noisiest(const struct variant *variant, const struct random *random, unsigned side)
{
    int64_t score[FIELD];
    size_t chosen = 0;
    for (int64_t i = 0; i < FIELD; i++) {
        score[i] = side == 0 ? 0 : i == 0 ? -1 : 1;
    }
    const struct noise_laplace *noise = variant->wrong ? &variant->half : &variant->noise;
    cr_assert_eq(select_draw_noisy(noise, random, &chosen, score, FIELD), STATUS_OK);
    return (int64_t)chosen;
}
EACH_RUN(noisiest)

Test(faults, noise_for_scores_that_move_one_way_only)
{
    judge(noisiest_runs, (struct noise_scale){2, 1});
}

/* Sixteen draws of epsilon 1 at the price of one. */
static int64_t played(const struct variant *variant, const struct random *random, unsigned side)
{
    static const int64_t loss[2][2] = {{1, 0}, {0, 1}};
    int64_t plays = 0;
    for (int round = 0; round < (variant->wrong ? 16 : 1); round++) {
        size_t expert = 0;
        cr_assert_eq(select_draw_exponential(&variant->decay, random, &expert, loss[side], 2),
                     STATUS_OK);
        plays += expert == 0;
    }
    return plays;
}
EACH_RUN(played)

Test(faults, draws_of_a_play_that_are_not_composed)
{
    struct variant variant;
    memset(&variant, 0, sizeof variant);
    cr_assert_eq(noise_exponential_init(&variant.decay, 1, 2), STATUS_OK);
    cr_assert_leq(audited(played_runs, &variant, false, SAMPLES), 1);
    cr_assert_gt(audited(played_runs, &variant, true, SAMPLES), 1);
}

/* Mironov's attack. A double that comes out of the textbook sampler on x = 0 is s ln(k 2^-53) for
 * some whole k: an attacker who knows the scale can try the few k that are near enough. An answer
 * that no k explains was not computed from 0. Source: Mironov, CCS 2012. */

#define UNITS 0x1p53

static double textbook_laplace(const struct random *random, double scale)
{
    uint64_t word = 0;
    cr_assert_eq(random_fill(random, &word, sizeof word), STATUS_OK);
    double uniform = (double)((word >> 11) + 1) / UNITS;
    double size = -scale * log(uniform);
    return word & 1 ? size : -size;
}

static bool comes_from_zero(double answer, double scale)
{
    double near = floor(exp(-fabs(answer) / scale) * UNITS);
    for (double k = fmax(1, near - 8); k <= fmin(UNITS, near + 8); k++) {
        if (-scale * log(k / UNITS) == fabs(answer)) {
            return true;
        }
    }
    return false;
}

enum { COORDINATES = 16, GRID_BITS = 10 };

/* How many of 16 answers do not come from 0; on side 1 each is moved by 1/16, so that the L1
 * distance is 1, the scale 1 and the epsilon 1. */
static int64_t unexplained(const struct variant *variant, const struct random *random,
                           unsigned side)
{
    int64_t found = 0;
    int64_t value[COORDINATES];
    if (!variant->wrong) {
        for (size_t i = 0; i < COORDINATES; i++) {
            value[i] = encode_value(side / (double)COORDINATES, GRID_BITS);
        }
        add(&variant->noise, random, value, COORDINATES);
    }
    for (size_t i = 0; i < COORDINATES; i++) {
        double answer = variant->wrong ? side / (double)COORDINATES + textbook_laplace(random, 1)
                                       : decode_value(value[i], GRID_BITS);
        found += !comes_from_zero(answer, 1);
    }
    return found;
}
EACH_RUN(unexplained)

/* The share of right guesses "x' if anything is unexplained, or as much as is usual". */
static double guessed_right(const struct variant *variant, int64_t usual, uint64_t runs)
{
    struct seeded_random seeded;
    uint64_t right = 0;
    seeded_random_init(&seeded, SEED);
    struct random random = seeded_random_interface(&seeded);
    for (uint64_t run = 0; run < runs; run++) {
        for (unsigned side = 0; side < 2; side++) {
            right += (unexplained(variant, &random, side) > usual) == (side == 1);
        }
    }
    return (double)right / (2 * (double)runs);
}

Test(faults, floating_point_noise_tells_the_neighbours_apart_and_ours_does_not)
{
    static const struct noise_scale scale = {1 << GRID_BITS, 1};
    static struct variant variant;
    cr_assert_eq(noise_laplace_init(&variant.noise, scale), STATUS_OK);
    cr_assert_leq(audited(unexplained_runs, &variant, false, SAMPLES), 1);
    cr_assert_gt(audited(unexplained_runs, &variant, true, SAMPLES), 7); /* as far as it can tell */

    variant.wrong = true;
    cr_assert_gt(guessed_right(&variant, 0, 20000), 0.99);
    /* At chance, whichever count is taken for usual: 0.52 is 8 standard deviations off. */
    variant.wrong = false;
    for (int64_t usual = 0; usual < COORDINATES; usual++) {
        double right = guessed_right(&variant, usual, 20000);
        cr_assert(right > 0.48 && right < 0.52, "%g at %d", right, (int)usual);
    }
}
