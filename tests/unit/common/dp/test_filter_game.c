/* The filter against an adversary who chooses every charge after seeing the answers before: on
 * randomised responses its best play is found exactly, so E and D are held against the truth. */

#include "dp/filter.h"

#include <criterion/criterion.h>
#include <math.h>

static struct charge pure(uint64_t epsilon_micro)
{
    return (struct charge){.epsilon_micro = epsilon_micro, .pass = {{1}}, .row_count = 1};
}

/* The adversary's game: (p, q) are the probabilities of what was seen under the two data sets. At
 * each turn it stops, or spends one of its charges if the filter admits it: a randomised response,
 * which also fails altogether with the charge's own delta. It plays for the most that P can exceed
 * e^epsilon Q by, summed over all that can be seen. */
struct game {
    struct filter filter;  /* that admits */
    uint64_t cost_divisor; /* planted: 2 halves every cost */
    bool odometer;         /* epsilon is the odometer's at the stop, in place of the limit */
    const struct charge *choice;
    size_t choice_count;
};

static double stopped(const struct game *game, double p, double q, const struct cost *sums)
{
    uint64_t epsilon_micro =
        game->odometer ? filter_odometer(&game->filter, sums) : game->filter.limit.epsilon_micro;
    return fmax(p - exp((double)epsilon_micro * 1e-6) * q, 0);
}

enum { DEPTH_MAX = 24 };

struct turn {
    double p;
    double q;
    double weight; /* that no charge so far has failed */
    struct cost sums;
    size_t choice; /* being tried */
    int branch;    /* 0, 1: outcome to look at next; 2: both known */
    double value;  /* of the choice, so far */
    double best;
};

static struct turn turn_of(const struct game *game, double p, double q, struct cost sums)
{
    return (struct turn){.p = p, .q = q, .sums = sums, .best = stopped(game, p, q, &sums)};
}

/* The value of the game by a walk without recursion: turn[] is the path to where it is. */
static double play(const struct game *game)
{
    struct turn turn[DEPTH_MAX];
    int depth = 0;
    turn[0] = turn_of(game, 1, 1, (struct cost){0});
    for (;;) {
        struct turn *now = &turn[depth];
        if (now->choice == game->choice_count) {
            double value = now->best;
            if (depth == 0) {
                return value;
            }
            turn[--depth].value += value;
            continue;
        }
        const struct charge *charge = &game->choice[now->choice];
        struct cost cost = filter_cost(&game->filter, charge);
        cost.epsilon_micro /= game->cost_divisor;
        cost.renyi_nano /= game->cost_divisor;
        struct cost sums = cost_add(now->sums, cost);
        double fails = (double)charge->delta_atto * 1e-18;
        if (!filter_admits(&game->filter, &sums) || depth + 1 == DEPTH_MAX) {
            now->choice++;
            continue;
        }
        if (now->branch == 2) {
            now->best = fmax(now->best, now->value);
            now->choice++;
            now->branch = 0;
            continue;
        }
        if (now->branch == 0) {
            now->value = fails * now->p; /* a failure tells all */
        }
        double yes = 1 / (1 + exp(-(double)charge->epsilon_micro * 1e-6));
        double p = now->p * (1 - fails) * (now->branch == 0 ? yes : 1 - yes);
        double q = now->q * (1 - fails) * (now->branch == 0 ? 1 - yes : yes);
        now->branch++;
        turn[++depth] = turn_of(game, p, q, sums);
    }
}

static double play_against(struct price limit, const struct charge *choice, size_t choice_count,
                           uint64_t divisor, bool odometer)
{
    struct game game = {.filter = filter_new(limit),
                        .cost_divisor = divisor,
                        .odometer = odometer,
                        .choice = choice,
                        .choice_count = choice_count};
    return play(&game);
}

Test(filter_game, an_adaptive_adversary_stays_within_epsilon_and_delta)
{
    static const struct {
        struct price limit;
        uint64_t first;
        uint64_t second;
        uint64_t own_delta;
    } list[] = {
        {{1000000, 0}, 200000, 500000, 0},
        {{1000000, 100000000000000000}, 300000, 500000, 0},
        {{1000000, 100000000000000000}, 350000, 100000000, 0},
        {{1500000, 50000000000000000}, 400000, 700000, 5000000000000000},
        {{500000, 200000000000000000}, 200000, 300000, 20000000000000000},
        {{700000, 10000000000000000}, 150000, 350000, 1000000000000000},
        /* by divergence 7 charges of 0.5, by the sum 5 */
        {{2500000, 200000000000000000}, 500000, 1000000, 0},
        {{2500000, 200000000000000000}, 500000, 1500000, 20000000000000000},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct charge choice[2] = {pure(list[i].first), pure(list[i].second)};
        double delta = (double)list[i].limit.delta_atto * 1e-18;
        choice[1].delta_atto = list[i].own_delta;
        double value = play_against(list[i].limit, choice, 2, 1, false);
        cr_expect_leq(value, delta + 1e-15, "game %zu reaches %g of %g", i, value, delta);
        value = play_against(list[i].limit, choice, 2, 1, true);
        cr_expect_leq(value, delta + 1e-15, "the odometer of game %zu: %g of %g", i, value, delta);
    }
}

/* Planted: the game notices a filter that admits twice as much. */
Test(filter_game, the_adversary_finds_a_filter_that_charges_half)
{
    struct charge choice[2] = {pure(200000), pure(500000)};
    cr_assert_gt(play_against((struct price){1000000, 0}, choice, 2, 2, false), 0.05);
    choice[0] = pure(600000);
    cr_assert_gt(play_against((struct price){1000000, 100000000000000000}, choice, 2, 4, false),
                 0.1);
}
