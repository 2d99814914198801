/* An adversary who chooses the shift of every draw of bounded range after seeing the draws before. With
 * draws to come and a for the factor between the two outputs,
 *
 *     D(a) = max over the shift t of the mean under Q of r D'(a/r),
 *
 * r the ratio P/Q at either end, t or t - range, or of their mixtures where records are sampled; D' that of
 * one draw less, and in the end (1 - a)+, or the curve of Gaussian noise. The shifts are tried on a grid.
 * An adversary reaches what is found, so there are no false alarms. No accountant may say less than this,
 * and no lower bound more. Planted: half the range, the middle shift alone, a draw too few, noise too wide,
 * half the rate. */

#include "lab/composition/account.h"

#include <criterion/criterion.h>
#include <math.h>

enum { SHIFTS = 64, EPSILONS = 3 };

struct game {
    double range;
    double sampling;
    double mu; /* of the Gaussian noise that comes last; 0: none */
    unsigned draws;
    bool added; /* Q has the record, in place of P */
};

static double last(const struct game *game, double a)
{
    const double x = game->mu > 0 ? log(a) / game->mu : 0;
    return game->mu > 0
               ? (erfc((x - game->mu / 2) / sqrt(2)) - a * erfc((x + game->mu / 2) / sqrt(2))) / 2
               : fmax(1 - a, 0);
}

/* The two ends of one draw: masses under Q, and ratios P/Q. */
struct ends {
    double mass[2];
    double ratio[2];
};

static struct ends ends_of(const struct game *game, unsigned step)
{
    const double shift = game->range * step / SHIFTS;
    const double high = expm1(game->range - shift) / expm1(game->range);
    struct ends ends;
    for (unsigned i = 0; i < 2; i++) {
        const double without = i == 0 ? high : 1 - high;
        const double mixed = 1 + game->sampling * expm1(i == 0 ? shift : shift - game->range);
        ends.mass[i] = game->added ? without * mixed : without;
        ends.ratio[i] = game->added ? 1 / mixed : mixed;
    }
    return ends;
}

static double reached_by_one(const struct game *game, double a)
{
    double most = 0;
    for (unsigned step = 0; step <= SHIFTS; step++) {
        const struct ends ends = ends_of(game, step);
        double sum = 0;
        for (unsigned i = 0; i < 2; i++) {
            sum += ends.mass[i] * ends.ratio[i] * last(game, a / ends.ratio[i]);
        }
        most = fmax(most, sum);
    }
    return most;
}

static double reached_by_two(const struct game *game, double a)
{
    double most = 0;
    for (unsigned step = 0; step <= SHIFTS; step++) {
        const struct ends ends = ends_of(game, step);
        double sum = 0;
        for (unsigned i = 0; i < 2; i++) {
            sum += ends.mass[i] * ends.ratio[i] * reached_by_one(game, a / ends.ratio[i]);
        }
        most = fmax(most, sum);
    }
    return most;
}

/* The worse of the two directions. */
static double reached(struct game game, double epsilon)
{
    double most = 0;
    for (unsigned added = 0; added < 2; added++) {
        game.added = added == 1;
        most = fmax(most, game.draws == 1 ? reached_by_one(&game, exp(epsilon))
                                          : reached_by_two(&game, exp(epsilon)));
    }
    return most;
}

static struct account account_of(const struct game *game, enum mechanism mechanism, double epsilon)
{
    const enum neighbours neighbours =
        game->sampling < 1 ? NEIGHBOURS_ADD_REMOVE : NEIGHBOURS_REPLACE_ONE;
    const struct privacy_event events[] = {{.mechanism = mechanism,
                                            .neighbours = neighbours,
                                            .parameter = game->range,
                                            .sensitivity = 1,
                                            .count = game->draws,
                                            .sampling = game->sampling},
                                           {.mechanism = MECHANISM_GAUSSIAN,
                                            .neighbours = neighbours,
                                            .parameter = game->mu > 0 ? 1 / game->mu : 1,
                                            .sensitivity = 1,
                                            .count = game->mu > 0,
                                            .sampling = 1}};
    struct account account = {.low = NAN};
    cr_assert(account_ask(&account, events, 2, (struct composition_question){.at = epsilon},
                          NULL) == STATUS_OK);
    return account;
}

/* Planted: what the accountants would say of a wrong game. */
enum planted { HALF_THE_RANGE, MIDDLE_SHIFT, A_DRAW_TOO_FEW, WIDE_NOISE, HALF_THE_RATE, PLANTED };

static double said_of_the_wrong(struct game game, enum planted planted, double epsilon)
{
    game.range /= planted == HALF_THE_RANGE || planted == MIDDLE_SHIFT ? 2 : 1;
    game.draws -= planted == A_DRAW_TOO_FEW;
    game.mu /= planted == WIDE_NOISE ? 2 : 1;
    game.sampling /= planted == HALF_THE_RATE ? 2 : 1;
    return account_of(&game, planted == MIDDLE_SHIFT ? MECHANISM_PURE : MECHANISM_EXPONENTIAL,
                      epsilon)
        .high;
}

static const struct game games[] = {
    {0.2, 1, 0, 1, false},   {3, 1, 0, 1, false},     {0.3, 1, 0, 2, false},
    {1, 1, 0, 2, false},     {4, 1, 0, 2, false},     {0.5, 1, 0.6, 1, false},
    {2, 1, 0.6, 2, false},   {0.2, 1, 1.5, 2, false}, {1, 0.5, 0, 1, false},
    {1, 0.1, 0, 2, false},   {4, 0.9, 0, 2, false},   {0.5, 0.01, 0, 2, false},
    {1, 0.3, 0.6, 2, false}, {3, 0.05, 0.2, 2, false}};

enum { GAMES = sizeof games / sizeof games[0] };

Test(range_game, no_choice_of_shifts_reaches_more_than_is_said_nor_less_than_the_low_end)
{
    unsigned caught[PLANTED] = {0};
    for (size_t i = 0; i < GAMES; i++) {
        const struct game *game = &games[i];
        const double whole = game->draws * log1p(game->sampling * expm1(game->range)) + game->mu;
        for (unsigned j = 0; j < EPSILONS; j++) {
            const double epsilon = 0.85 * whole * j / EPSILONS;
            const double delta = reached(*game, epsilon);
            const struct account account = account_of(game, MECHANISM_EXPONENTIAL, epsilon);
            cr_expect(delta <= account.high * (1 + 1e-12) + 1e-15,
                      "game %zu at %g: %.17g reached of %.17g", i, epsilon, delta, account.high);
            cr_expect(delta >= account.low && delta >= 0.4 * account.high,
                      "game %zu at %g: %.17g reached of [%.17g, %.17g]", i, epsilon, delta,
                      account.low, account.high);
            for (enum planted planted = 0; planted < PLANTED && j == 1; planted++) {
                caught[planted] += said_of_the_wrong(*game, planted, epsilon) < delta * (1 - 1e-9);
            }
        }
    }
    for (enum planted planted = 0; planted < PLANTED; planted++) {
        cr_expect_gt(caught[planted], 0, "%d", planted);
    }
}
