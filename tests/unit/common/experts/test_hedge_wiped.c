/* A coin's random words tell whether the expert was kept, its weight tells the loss: once the coin has
 * fallen none of them is on the stack. */

#include "experts/hedge_terms.h"
#include "tests/support/dead_stack.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <string.h>

/* What is looked for: the coin's two words, its loss, the loss's weight. Without optimisation, and with the
 * address sanitizer, every argument has a place on the stack: then the words alone. */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
enum { TOSSES = 40, SECRETS = 4 };
#else
enum { TOSSES = 40, SECRETS = 2 };
#endif

struct run {
    struct hedge_run game;
    struct seeded_random seeded;
    uint64_t word[2]; /* handed out */
    int64_t loss;
    bool careless; /* planted: a coin that forgets to wipe */
    bool refresh;
    enum status status;
};

/* Leaves no copy of its own on the stack. */
static enum status recording_fill(void *self, void *out, size_t bytes)
{
    struct run *run = self;
    cr_assert_eq(bytes, sizeof run->word);
    run->word[0] = seeded_random_word(&run->seeded);
    run->word[1] = seeded_random_word(&run->seeded);
    memcpy(out, run->word, bytes);
    return STATUS_OK;
}

/* The address sanitizer would move what is left off the stack. */
__attribute__((no_sanitize("address"))) static enum status
toss_carelessly(const struct hedge_run *game, const struct random *random, int64_t loss,
                bool *refresh)
{
    uint64_t word[2] = {0};
    const uint64_t distance = (uint64_t)loss;
    uint64_t weight = 0;
    enum status status = random_fill(random, word, sizeof word);
    noise_exponential_floor(&game->decay, &weight, &distance, 1);
    *refresh = word[0] >> 11 < game->refresh || word[1] >> 2 >= weight;
    return status;
}

/* Far below the thread's own beginning: what ends a thread writes over what is near. */
__attribute__((no_sanitize("address"))) static void *toss(void *argument)
{
    volatile uint8_t above[1 << 16];
    struct run *run = argument;
    above[0] = 0;
    (void)above[0];
    const struct random random = {.fill = recording_fill, .self = run};
    run->status = run->careless ? toss_carelessly(&run->game, &random, run->loss, &run->refresh)
                                : hedge_toss(&run->game, &random, run->loss, &run->refresh);
    return NULL;
}

/* How many words a coin leaves, over all tosses. */
static size_t leaves(struct run *run)
{
    size_t left = 0;
    seeded_random_init(&run->seeded, 80);
    for (int i = 0; i < TOSSES; i++) {
        run->loss = (int64_t)seeded_random_below(&run->seeded, run->game.one);
        uint64_t *stack = dead_stack_of(toss, run);
        cr_assert(stack != NULL && run->status == STATUS_OK);
        uint64_t secret[4] = {run->word[0], run->word[1], (uint64_t)run->loss, 0};
        noise_exponential_floor(&run->game.decay, &secret[3], &secret[2], 1);
        left += dead_stack_count(stack, secret, SECRETS);
    }
    return left;
}

Test(hedge_wiped, nothing_of_a_coin_is_left_on_the_stack)
{
    static struct run run;
    const struct hedge_problem problem = {
        .experts = 4, .rounds = 10000, .epsilon = 1, .delta = 1e-6};
    struct hedge_plan plan;
    struct why why = {""};
    cr_assert(hedge_plan(&plan, HEDGE_DARTBOARD, &problem, &why) == STATUS_OK, "%s", why.text);
    cr_assert(hedge_run_init(&run.game, &plan, HEDGE_DARTBOARD, &problem,
                             (struct hedge_grid){1, 40}, &why) == STATUS_OK,
              "%s", why.text);
    size_t left = leaves(&run);
    cr_expect_lt(left, TOSSES, "%zu words", left);
    run.careless = true;
    left = leaves(&run);
    cr_expect_geq(left, 2 * TOSSES, "the search finds what is there: %zu words", left);
}
