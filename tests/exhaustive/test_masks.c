/* What a coordinator with a helper sees of a masked round depends only on the sum of the honest survivors.
 * All masks modulo 4 of three sites are enumerated. The rules are those of masks/masks.h with words of two
 * bits and uniform streams; this file has its own model of them. Each broken rule must be seen. */

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    SITES = 3,
    EVERYBODY = 7,
    MODULUS = 4,
    MASKS = 4096 /* 4^6 */,
    VALUES = 64 /* 4^3 */,
    VIEWS = 1 << 20
};
enum { NO_HELPER = SITES, HONEST_MIN = 2 /* survivors whose sum is opened */ };

enum rule {
    RIGHT,
    SELF_LEFT_OUT, /* site 0 has no mask of its own */
    PAIR_LEFT_OUT, /* sites 0 and 1 share no mask */
    BOTH_GIVEN,    /* the mask of its own is revealed of an absent site, too */
    MASKS_REUSED,  /* a second question is answered under the same masks: inv left out */
    TWO_ROSTERS, /* site 1 answers a roster without site 2, too, under the same masks: one KEYS for both */
    NONE_DISHONEST /* c = 0: the helper counts as honest among the survivors that a sum needs */
};

struct round {
    unsigned survivors; /* a set; the others' answers arrive late */
    unsigned helper;
    enum rule rule;
};

static unsigned digit(unsigned number, unsigned place)
{
    return number >> 2 * place & 3;
}

static bool in(unsigned set, unsigned i)
{
    return (set >> i & 1) == 1;
}

/* The mask of a pair: 0 1, 0 2, 1 2. */
static unsigned between(const struct round *round, unsigned masks, unsigned i, unsigned j)
{
    return round->rule == PAIR_LEFT_OUT && i + j == 1 ? 0 : digit(masks, SITES + i + j - 1);
}

static unsigned own(const struct round *round, unsigned masks, unsigned i)
{
    return round->rule == SELF_LEFT_OUT && i == 0 ? 0 : digit(masks, i);
}

static unsigned masked(const struct round *round, unsigned masks, unsigned value, unsigned i,
                       unsigned roster)
{
    unsigned y = value + own(round, masks, i);
    for (unsigned j = 0; j < SITES; j++) {
        y += j == i || !in(roster, j) ? 0
             : j > i                  ? between(round, masks, i, j)
                                      : MODULUS - between(round, masks, i, j);
    }
    return y % MODULUS;
}

static unsigned honest_survivors(const struct round *round)
{
    unsigned count = 0;
    for (unsigned i = 0; i < SITES; i++) {
        count += in(round->survivors, i) && i != round->helper ? 1 : 0;
    }
    return count;
}

/* The answer that a broken rule adds. */
static unsigned view_more(const struct round *round, unsigned masks, unsigned x)
{
    return round->rule == MASKS_REUSED  ? masked(round, masks, 0, 0, EVERYBODY)
           : round->rule == TWO_ROSTERS ? masked(round, masks, digit(x, 1), 1, 3)
                                        : 0;
}

/* All that is seen, as one number of ten digits. */
static unsigned view(const struct round *round, unsigned masks, unsigned x)
{
    unsigned seen = 0;
    const bool opened = round->rule == NONE_DISHONEST || honest_survivors(round) >= HONEST_MIN;
    for (unsigned i = 0; i < SITES; i++) {
        const bool revealed = opened && (in(round->survivors, i) || round->rule == BOTH_GIVEN);
        seen = seen * MODULUS + masked(round, masks, digit(x, i), i, EVERYBODY);
        seen = seen * MODULUS + (revealed || i == round->helper ? own(round, masks, i) : 0);
        for (unsigned j = i + 1; j < SITES; j++) {
            const bool apart = opened && in(round->survivors, i) != in(round->survivors, j);
            const bool told = i == round->helper || j == round->helper;
            seen = seen * MODULUS + (apart || told ? between(round, masks, i, j) : 0);
        }
    }
    return seen * MODULUS + view_more(round, masks, x);
}

/* What may be known: the sum of the honest survivors, if they are enough, and the helper's own. */
static unsigned allowed(const struct round *round, unsigned x)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < SITES && honest_survivors(round) >= HONEST_MIN; i++) {
        sum += in(round->survivors, i) && i != round->helper ? digit(x, i) : 0;
    }
    const unsigned told = round->helper < SITES ? digit(x, round->helper) : 0;
    return sum % MODULUS * MODULUS + told;
}

static void count_views(uint16_t *count, const struct round *round, unsigned x)
{
    memset(count, 0, VIEWS * sizeof *count);
    for (unsigned masks = 0; masks < MASKS; masks++) {
        count[view(round, masks, x)]++;
    }
}

/* Whether equal sums are seen equally often in every way. */
static bool hides(const struct round *round)
{
    static uint16_t first[VIEWS];
    static uint16_t other[VIEWS];
    for (unsigned known = 0; known < MODULUS * MODULUS; known++) {
        bool begun = false;
        for (unsigned x = 0; x < VALUES; x++) {
            if (allowed(round, x) == known) {
                count_views(begun ? other : first, round, x);
                if (begun && memcmp(first, other, sizeof first) != 0) {
                    return false;
                }
                begun = true;
            }
        }
    }
    return true;
}

/* Two honest survivors or more, with and without a helper; and one beside the helper. */
static const struct round rounds[] = {
    {7, NO_HELPER, RIGHT}, {3, NO_HELPER, RIGHT}, {6, NO_HELPER, RIGHT}, {7, 2, RIGHT},
    {3, 2, RIGHT},         {7, 0, RIGHT},         {5, 2, RIGHT}};

enum { ROUNDS = sizeof rounds / sizeof rounds[0] };

Test(masks, what_is_seen_depends_on_the_sum_only)
{
    for (size_t i = 0; i < ROUNDS; i++) {
        cr_expect(hides(&rounds[i]), "round %zu", i);
    }
}

Test(masks, every_broken_rule_shows)
{
    for (int rule = SELF_LEFT_OUT; rule <= NONE_DISHONEST; rule++) {
        bool shows = false;
        for (size_t i = 0; i < ROUNDS; i++) {
            struct round round = rounds[i];
            round.rule = (enum rule)rule;
            shows = shows || !hides(&round);
        }
        cr_expect(shows, "rule %d", rule);
    }
}
