/* The noise reveals the answer. After a draw the values are only where the caller wants them.
 * Neither they nor the random words may be on the stack. */

#include "noise/exponential.h"
#include "noise/gaussian.h"
#include "noise/laplace_private.h"
#include "noise/share.h"
#include "noise/table_kernel.h"
#include "tests/support/dead_stack.h"
#include "tests/support/noise_draw.h"
#include "tests/support/script.h"

#include <criterion/criterion.h>
#include <string.h>

enum { VALUES = 700 };

enum sampler { LAPLACE, GEOMETRIC, GAUSSIAN, SHARE, PLANTED, SAMPLERS };

/* A run, on a stack of its own. */
struct run {
    enum sampler sampler;
    struct noise_laplace laplace;
    struct noise_gaussian gaussian;
    struct noise_share share;
    struct recorded source;
    int64_t values[VALUES];
    enum status status;
};

/* A sampler that forgets to wipe; the address sanitizer would move its words off the stack. */
__attribute__((no_sanitize("address"))) static enum status
draw_carelessly(const struct random *random, int64_t *values)
{
    uint64_t word[VALUES];
    enum status status = random_fill(random, word, sizeof word);
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = (int64_t)(word[i] >> 20);
    }
    return status;
}

static void *draw(void *argument)
{
    struct run *run = argument;
    const struct random random = {.fill = recorded_fill, .self = &run->source};
    if (run->sampler == LAPLACE) {
        run->status = noise_laplace_draw(&run->laplace, &random, run->values, VALUES);
    } else if (run->sampler == GEOMETRIC) {
        run->status = noise_geometric_draw(&run->laplace.magnitude, &random, run->values, VALUES);
    } else if (run->sampler == GAUSSIAN) {
        run->status = noise_gaussian_draw(&run->gaussian, &random, run->values, VALUES);
    } else if (run->sampler == SHARE) {
        run->status = noise_share_draw(&run->share, &random, run->values, VALUES);
    } else {
        run->status = draw_carelessly(&random, run->values);
    }
    return NULL;
}

/* The pairs whose differences the shares are, drawn again: part (2 * VALUES). */
static size_t draw_parts(uint64_t *part, struct run *run)
{
    enum { BLOCK = 512 }; /* share.c's */
    const struct random random = seeded_random_interface(&run->source.seeded);
    seeded_random_init(&run->source.seeded, 77);
    for (size_t done = 0; done < 2 * VALUES; done += BLOCK) {
        size_t block = 2 * VALUES - done < BLOCK ? 2 * VALUES - done : BLOCK;
        cr_assert_eq(noise_table_draw(&run->share.table, &random, part + done, block), STATUS_OK);
    }
    for (size_t i = 0; i < VALUES; i++) {
        cr_assert_eq((uint64_t)run->values[i], part[2 * i] - part[2 * i + 1]);
    }
    return 2 * VALUES;
}

/* Runs the sampler at scale 2^40, where a value is one of very many; counts what it leaves. */
static size_t leaves(struct run *run)
{
    static uint64_t secret[RECORDED_WORDS_MAX + 4 * VALUES];
    size_t secrets = 0;
    seeded_random_init(&run->source.seeded, 77);
    uint64_t *stack = dead_stack_of(draw, run);
    cr_assert_not_null(stack);
    cr_assert_eq(run->status, STATUS_OK);
    memcpy(secret, run->source.word, run->source.words * sizeof *secret);
    secrets = run->source.words;
    for (size_t i = 0; i < VALUES; i++) {
        uint64_t value = (uint64_t)run->values[i];
        secret[secrets++] = value;
        secret[secrets++] = 0 - value;
    }
    if (run->sampler == SHARE) {
        secrets += draw_parts(&secret[secrets], run);
    }
    return dead_stack_count(stack, secret, secrets);
}

/* Registers of the last trials may have been saved. What a sampler that forgets a wipe leaves is
 * hundreds. Without optimisation a vector kernel has every temporary on the stack: the plain one is
 * looked at then. */
Test(wiped, nothing_that_was_drawn_is_left_on_the_stack)
{
    static struct run run;
    const struct noise_scale scale = {UINT64_C(1) << 40, 1};
    for (int sampler = 0; sampler < SAMPLERS; sampler++) {
        memset(&run, 0, sizeof run);
        run.sampler = (enum sampler)sampler;
        cr_assert_eq(noise_laplace_init(&run.laplace, scale), STATUS_OK);
#ifndef __OPTIMIZE__
        run.laplace.magnitude.kernel = &noise_kernel_plain;
#endif
        cr_assert_eq(noise_gaussian_init(&run.gaussian, scale), STATUS_OK);
        cr_assert_eq(noise_share_init(&run.share, scale, 3), STATUS_OK);
#ifndef __OPTIMIZE__
        run.gaussian.table.kernel = &noise_table_plain;
        run.share.table.kernel = &noise_table_plain;
#endif
        size_t left = leaves(&run);
        noise_gaussian_free(&run.gaussian);
        noise_share_free(&run.share);
        if (sampler == PLANTED) {
            cr_expect_gt(left, VALUES / 2, "the search finds what is there: %zu", left);
        } else {
            cr_expect_lt(left, 50, "sampler %d: %zu words", sampler, left);
        }
    }
}

Test(wiped, nothing_that_a_table_drew_is_left_when_randomness_ends)
{
    struct noise_gaussian gaussian;
    struct seeded_random seeded;
    const struct random random = seeded_random_interface(&seeded);
    cr_assert_eq(noise_gaussian_init(&gaussian, (struct noise_scale){1000, 1}), STATUS_OK);
    for (uint64_t after = 1; after < UINT64_C(24) * VALUES; after = 2 * after + 1) {
        uint64_t values[VALUES];
        memset(values, 0xa5, sizeof values);
        seeded_random_init(&seeded, after);
        seeded.failing_after = after;
        cr_assert_eq(noise_table_draw(&gaussian.table, &random, values, VALUES), STATUS_NO_RANDOM);
        for (size_t i = 0; i < VALUES; i++) {
            cr_assert_eq(values[i], 0, "value %zu after %lu", i, (unsigned long)after);
        }
    }
    noise_gaussian_free(&gaussian);
}

enum decision { NOTHING, ABOVE, ACCEPT, DIGIT, TAIL, CARELESS, DECISIONS };

struct exact {
    enum decision decision;
    struct noise_exponential decay;
    struct noise_laplace laplace;
    struct noise_gaussian gaussian;
    struct script script;
    enum status status;
};

/* An exponential that is computed and forgotten on the stack. */
static void decide_carelessly(void)
{
    mpfr_t real;
    mpfr_init2(real, 256);
    mpfr_set_ui(real, 5, MPFR_RNDN);
    mpfr_div_ui(real, real, 7, MPFR_RNDN);
    mpfr_exp(real, real, MPFR_RNDN);
    mpfr_clear(real);
    mpfr_free_cache();
}

static void *decide(void *argument)
{
    struct exact *exact = argument;
    const struct random random = {.fill = script_fill, .self = &exact->script};
    uint64_t value = 0;
    bool taken = false;
    if (exact->decision == ABOVE) {
        exact->status = noise_exponential_above(&exact->decay, &random, 777, 12345, &taken);
    } else if (exact->decision == ACCEPT) {
        exact->status = noise_exact_accept(&exact->laplace.magnitude, &random, 777, 12345, &taken);
    } else if (exact->decision == DIGIT) {
        exact->status = noise_exact_draw(&exact->laplace.magnitude, &random, 0, &value);
    } else if (exact->decision == TAIL) {
        exact->status = noise_table_draw(&exact->gaussian.table, &random, &value, 1);
    } else if (exact->decision == CARELESS) {
        decide_carelessly();
    }
    return NULL;
}

/* The first word of a trial that falls into the tail, which is always decided exactly. */
static uint64_t word_of_tail(const struct noise_table *table)
{
    const unsigned low_bits = 64 - table->cell_bits;
    for (uint64_t i = 0; i < UINT64_C(1) << table->cell_bits; i++) {
        const struct noise_cell *cell = &table->cell[i];
        if (cell->bin[0] == table->bins && cell->threshold > 0) {
            return i << low_bits;
        }
        if (cell->bin[1] == table->bins && cell->threshold >> low_bits == 0) {
            return i << low_bits | cell->threshold;
        }
    }
    cr_assert_fail("no tail");
    return 0;
}

/* A thread's own words are there in any case, and MPFR's for it; what is left of an exponential is
 * hundreds more. */
Test(wiped, nothing_that_an_exact_decision_computed_is_left_on_the_stack)
{
    static struct exact exact;
    size_t nothing = 0;
    for (int decision = 0; decision < DECISIONS; decision++) {
        memset(&exact, 0, sizeof exact);
        exact.decision = (enum decision)decision;
        exact.script.count = SCRIPT_WORDS_MAX;
        memset(exact.script.word, 0, sizeof exact.script.word);
        const struct noise_scale scale = {UINT64_C(1) << 40, 1};
        cr_assert_eq(noise_exponential_init(&exact.decay, 1, UINT64_C(1) << 40), STATUS_OK);
        cr_assert_eq(noise_laplace_init(&exact.laplace, scale), STATUS_OK);
        cr_assert_eq(noise_gaussian_init(&exact.gaussian, scale), STATUS_OK);
#ifndef __OPTIMIZE__
        exact.gaussian.table.kernel = &noise_table_plain;
#endif
        if (decision == TAIL) {
            exact.script.word[0] = word_of_tail(&exact.gaussian.table);
            exact.script.word[1] = UINT64_C(1) << 63;
            exact.script.word[15] = UINT64_C(1) << 63; /* not beyond the table's first step */
        }
        uint64_t *stack = dead_stack_of(decide, &exact);
        cr_assert_not_null(stack);
        cr_assert_eq(exact.status, STATUS_OK);
        const size_t used = dead_stack_used(stack);
        nothing = decision == NOTHING ? used : nothing;
        if (decision == CARELESS) {
            cr_expect_gt(used, nothing + 300, "the search finds what is there: %zu", used);
        } else {
            cr_expect_lt(used, nothing + 150, "decision %d: %zu words", decision, used - nothing);
        }
        noise_gaussian_free(&exact.gaussian);
    }
}
