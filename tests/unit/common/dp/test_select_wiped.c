/* Weights tell scores, and random words tell the choice. Neither may be on the stack after the
 * choice. */

#include "dp/select_private.h"
#include "noise/laplace_kernel.h"
#include "tests/support/dead_stack.h"
#include "tests/support/script.h"

#include <criterion/criterion.h>
#include <string.h>

enum { COUNT = 1000, BLOCK = 256 /* select.c's */ };

enum selection { EXPONENTIAL, FLIP, NOISY, PLANTED, SELECTIONS };

struct run {
    enum selection selection;
    struct noise_exponential decay;
    struct noise_laplace noise;
    struct recorded source;
    int64_t scores[COUNT];
    size_t chosen;
    enum status status;
};

/* A selection that forgets to wipe; the address sanitizer would move its words off the stack. */
__attribute__((no_sanitize("address"))) static enum status choose_carelessly(const struct run *run,
                                                                             size_t *chosen)
{
    uint64_t weight[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        weight[i] = (uint64_t)run->scores[i];
    }
    noise_exponential_floor(&run->decay, weight, weight, COUNT);
    *chosen = weight[0] < weight[1] ? 0 : 1;
    return STATUS_OK;
}

static void *choose(void *argument)
{
    struct run *run = argument;
    const struct random random = {.fill = recorded_fill, .self = &run->source};
    if (run->selection == EXPONENTIAL) {
        run->status =
            select_draw_exponential(&run->decay, &random, &run->chosen, run->scores, COUNT);
    } else if (run->selection == FLIP) {
        run->status = select_draw_flip(&run->decay, &random, &run->chosen, run->scores, COUNT);
    } else if (run->selection == NOISY) {
        run->status = select_draw_noisy(&run->noise, &random, &run->chosen, run->scores, COUNT);
    } else {
        run->status = choose_carelessly(run, &run->chosen);
    }
    return NULL;
}

/* What a selection leaves of the random words, of all weights, distances and noise; scores are wide
 * apart, so that none of them looks like anything else. */
static size_t leaves(struct run *run)
{
    static uint64_t secret[RECORDED_WORDS_MAX + 4 * COUNT];
    seeded_random_init(&run->source.seeded, 78);
    for (size_t i = 0; i < COUNT; i++) {
        run->scores[i] = (int64_t)seeded_random_below(&run->source.seeded, UINT64_C(1) << 40);
    }
    run->scores[COUNT / 2] = 0; /* the best: scores are distances */
    struct seeded_random again = run->source.seeded;
    uint64_t *stack = dead_stack_of(choose, run);
    cr_assert_not_null(stack);
    cr_assert(run->status == STATUS_OK && run->chosen < COUNT);
    memcpy(secret, run->source.word, run->source.words * sizeof *secret);
    size_t secrets = run->source.words;
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t distance = (uint64_t)run->scores[i];
        if (distance != 0) {
            secret[secrets++] = distance;
            noise_exponential_floor(&run->decay, &secret[secrets++], &distance, 1);
        }
    }
    for (size_t done = 0; done < COUNT && run->selection == NOISY; done += BLOCK) {
        const struct random random = seeded_random_interface(&again);
        size_t block = COUNT - done < BLOCK ? COUNT - done : BLOCK;
        int64_t drawn[BLOCK];
        cr_assert_eq(noise_laplace_draw(&run->noise, &random, drawn, block), STATUS_OK);
        for (size_t i = 0; i < block; i++) {
            secret[secrets++] = (uint64_t)drawn[i];
        }
    }
    return dead_stack_count(stack, secret, secrets);
}

/* Registers of the last candidates may have been saved. What a forgotten wipe leaves is hundreds.
 * Without optimisation a vector kernel has every temporary on the stack: the noise is then looked
 * at with the plain one. */
Test(select, nothing_of_a_choice_is_left_on_the_stack)
{
    static struct run run;
    for (int selection = 0; selection < SELECTIONS; selection++) {
        memset(&run, 0, sizeof run);
        run.selection = (enum selection)selection;
        cr_assert_eq(noise_exponential_init(&run.decay, 1, UINT64_C(1) << 40), STATUS_OK);
        cr_assert_eq(noise_laplace_init(&run.noise, (struct noise_scale){UINT64_C(1) << 40, 1}),
                     STATUS_OK);
#ifndef __OPTIMIZE__
        run.noise.magnitude.kernel = &noise_kernel_plain;
#endif
        size_t left = leaves(&run);
        if (selection == PLANTED) {
            cr_expect_gt(left, COUNT / 2, "the search finds what is there: %zu", left);
        } else {
            cr_expect_lt(left, 30, "selection %d: %zu words", selection, left);
        }
    }
}

/* With this number of candidates the last part is one block and one candidate. */
enum { PARTED = 52 * 1280 + 1, SPARED = 3, PREFIX_BITS = 192, LEFT_MAX = 30 };

/* Hands out the words that the point `target` below `end` takes first, then others. */
struct rigged {
    struct noise_exponential decay;
    struct seeded_random seeded;
    uint128 target;
    uint128 end;
    unsigned calls;
    size_t chosen;
    enum status status;
};

static int64_t parted_scores[PARTED];

/* Leaves nothing on the stack that is looked for. */
static enum status rigged_fill(void *self, void *out, size_t bytes)
{
    struct rigged *rigged = self;
    uint8_t *byte = out;
    if (rigged->calls++ == 0) {
        uint64_t word[3] = {0};
        uint128 rest = rigged->target; /* long division: target 2^192 / end, and one more */
        cr_assert_eq(bytes, sizeof word);
        for (unsigned i = 0; i < PREFIX_BITS; i++) {
            rest *= 2;
            if (rest >= rigged->end) {
                rest -= rigged->end;
                word[2 - i / 64] |= UINT64_C(1) << (63 - i % 64);
            }
        }
        for (unsigned i = 0; i < 3 && ++word[i] == 0; i++) {
        }
        cr_assert(select_point_of(word, rigged->end).below_end == rigged->target);
        memcpy(byte, word, sizeof word);
        return STATUS_OK;
    }
    for (size_t i = 0; i < bytes; i++) {
        byte[i] = (uint8_t)seeded_random_below(&rigged->seeded, 256);
    }
    return STATUS_OK;
}

static void *choose_parted(void *argument)
{
    struct rigged *rigged = argument;
    const struct random random = {.fill = rigged_fill, .self = rigged};
    rigged->status =
        select_draw_exponential(&rigged->decay, &random, &rigged->chosen, parted_scores, PARTED);
    return NULL;
}

/* The point falls on a spare unit, which is very rare. Then nothing is weighed a second time, so
 * nothing overwrites what the first time left. Weights of the last blocks and the sums before the parts
 * are looked for. */
Test(select, nothing_of_the_weights_and_their_sums_is_left_when_no_part_is_weighed_again)
{
    static struct rigged rigged;
    static uint64_t secret[PARTED * 2];
    size_t secrets = 0;
    uint128 sum = 0;
    cr_assert_eq(noise_exponential_init(&rigged.decay, 1, UINT64_C(1) << 40), STATUS_OK);
    seeded_random_init(&rigged.seeded, 79);
    for (size_t i = 0; i < PARTED; i++) {
        parted_scores[i] = 1 + (int64_t)seeded_random_below(&rigged.seeded, UINT64_C(1) << 40);
    }
    parted_scores[PARTED / 2] = 0; /* the best: scores are distances */
    for (size_t i = 0; i < PARTED; i++) {
        const uint64_t distance = (uint64_t)parted_scores[i];
        uint64_t weight = 0;
        noise_exponential_floor(&rigged.decay, &weight, &distance, 1);
        sum += weight;
        secret[secrets++] = weight;
        secret[secrets++] = (uint64_t)sum;
    }
    rigged.target = sum + (uint128)SPARED * NOISE_EXPONENTIAL_SLACK;
    rigged.end = sum + (uint128)PARTED * NOISE_EXPONENTIAL_SLACK;
    uint64_t *stack = dead_stack_of(choose_parted, &rigged);
    cr_assert_not_null(stack);
    cr_assert(rigged.status == STATUS_OK && rigged.chosen == SPARED && rigged.calls == 1,
              "the spare unit was taken");
    const size_t left = dead_stack_count(stack, secret, secrets);
    cr_expect_lt(left, LEFT_MAX, "%zu words", left);
}

/* The product of a draw's words with the end of its range tells them all. */
Test(select, nothing_of_the_uniform_draw_is_left_on_the_stack)
{
    static struct run run;
    memset(&run, 0, sizeof run);
    run.selection = EXPONENTIAL;
    seeded_random_init(&run.source.seeded, 80);
    for (size_t i = 0; i < COUNT; i++) {
        run.scores[i] = (int64_t)i;
    }
    cr_assert_eq(noise_exponential_init(&run.decay, 1, UINT64_C(1) << 40), STATUS_OK);
    uint64_t *stack = dead_stack_of(choose, &run);
    cr_assert(stack != NULL && run.status == STATUS_OK && run.source.words == 3);
    uint128 end = (uint128)COUNT * NOISE_EXPONENTIAL_SLACK;
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t weight = 0;
        noise_exponential_floor(&run.decay, &weight, &i, 1);
        end += weight;
    }
    struct select_point point = select_point_of(run.source.word, end);
    cr_expect_eq(dead_stack_count(stack, point.low, 3), 0);
}
