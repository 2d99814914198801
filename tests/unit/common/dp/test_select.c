#include "dp/select.h"
#include "dp/select_private.h"
#include "noise/whole.h"
#include "tests/support/paid_grant.h"
#include "tests/support/script.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <signal.h>
#include <string.h>

typedef enum status (*mechanism)(struct grant **grant, const struct random *random, size_t *chosen,
                                 const int64_t *scores, size_t count, uint64_t sensitivity);

static const struct {
    mechanism run;
    enum mechanism name;
} mechanisms[] = {
    {select_exponential, MECHANISM_EXPONENTIAL},
    {select_permute_and_flip, MECHANISM_PURE},
    {select_noisy_max, MECHANISM_PURE},
};

enum { MECHANISMS = 3, COUNT_LARGEST = 1000 };

Test(select, each_mechanism_runs_on_its_own_grant_and_on_no_other)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    static const int64_t scores[2] = {0, 0};
    seeded_random_init(&seeded, 41);
    for (size_t i = 0; i < MECHANISMS; i++) {
        for (int name = 0; name < MECHANISM_COUNT; name++) {
            if (name == MECHANISM_GAUSSIAN || name == MECHANISM_DISCRETE_GAUSSIAN) {
                continue; /* no epsilon to spend */
            }
            struct grant *grant = paid_grant((enum mechanism)name, 1000000);
            bool own = name == (int)mechanisms[i].name;
            size_t chosen = 7;
            cr_assert_eq(mechanisms[i].run(&grant, &random, &chosen, scores, 2, 1),
                         own ? STATUS_OK : STATUS_INVALID, "mechanism %zu grant %d", i, name);
            cr_assert_null(grant);
            cr_assert(own ? chosen < 2 : chosen == SIZE_MAX);
        }
    }
}

Test(select, refuses_what_has_no_scale_and_keeps_the_spend)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    static const int64_t scores[2] = {0, 0};
    seeded_random_init(&seeded, 42);
    for (size_t i = 0; i < MECHANISMS; i++) {
        struct grant *grant = paid_grant(mechanisms[i].name, 1000000);
        size_t chosen = 7;
        cr_assert_eq(mechanisms[i].run(&grant, &random, &chosen, scores, 2, 0), STATUS_INVALID);
        cr_assert(grant == NULL && chosen == SIZE_MAX);
    }
    struct grant *grant = paid_grant(MECHANISM_PURE, 1000000);
    size_t chosen = 7;
    /* Doubled it would be 0 and look like a sensitivity of its own. */
    cr_assert_eq(select_noisy_max(&grant, &random, &chosen, scores, 2, (UINT64_C(1) << 63) + 1),
                 STATUS_INVALID);
    cr_assert(grant == NULL && chosen == SIZE_MAX);
    cr_assert_eq(seeded.drawn_bytes, 0);
}

Test(select, a_grant_used_twice_stops_the_program, .signal = SIGABRT)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    static const int64_t scores[2] = {0, 0};
    struct grant *grant = paid_grant(MECHANISM_PURE, 1000000);
    size_t chosen = 0;
    seeded_random_init(&seeded, 43);
    cr_assert_eq(select_permute_and_flip(&grant, &random, &chosen, scores, 2, 1), STATUS_OK);
    enum status status = select_permute_and_flip(&grant, &random, &chosen, scores, 2, 1);
    (void)status;
}

/* Wherever the source fails, before the first byte or in the middle. */
Test(select, a_failing_source_leaves_nothing_chosen_and_no_grant)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    static int64_t scores[COUNT_LARGEST];
    for (size_t i = 0; i < MECHANISMS; i++) {
        size_t chosen = 7;
        struct grant *grant = paid_grant(mechanisms[i].name, 1000000);
        seeded_random_init(&seeded, 44);
        cr_assert_eq(mechanisms[i].run(&grant, &random, &chosen, scores, COUNT_LARGEST, 1),
                     STATUS_OK);
        cr_assert_lt(chosen, COUNT_LARGEST);
        const uint64_t needed = seeded.drawn_bytes;
        for (uint64_t bytes = 1; bytes < needed; bytes += 1 + needed / 50) {
            chosen = 7;
            grant = paid_grant(mechanisms[i].name, 1000000);
            seeded_random_init(&seeded, 44);
            seeded.failing_after = bytes;
            cr_assert_eq(mechanisms[i].run(&grant, &random, &chosen, scores, COUNT_LARGEST, 1),
                         STATUS_NO_RANDOM);
            cr_assert(grant == NULL && chosen == SIZE_MAX, "mechanism %zu bytes %u", i,
                      (unsigned)bytes);
        }
    }
}

/* A candidate that is so much better that no other can be chosen is found at every place of every
 * block, up to the ends of int64. Differences of nearly 2^64 neither overflow nor underflow. */
Test(select, finds_a_far_best_wherever_it_is)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    static const size_t counts[] = {1, 2, 3, 255, 256, 257, 511, 512, 513, COUNT_LARGEST};
    static const int64_t gap[][2] = {{INT64_MIN, INT64_MAX},
                                     {INT64_MAX - 1000000, INT64_MAX},
                                     {INT64_MIN, INT64_MIN + 1000000},
                                     {-500000, 500000}};
    static int64_t scores[COUNT_LARGEST];
    seeded_random_init(&seeded, 45);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (size_t best = 0; best < counts[c]; best += best % 64 < 2 ? 1 : 61) {
            for (size_t g = 0; g < 4; g++) {
                for (size_t i = 0; i < counts[c]; i++) {
                    scores[i] = gap[g][i != best];
                }
                for (size_t i = 0; i < MECHANISMS; i++) {
                    size_t chosen = SIZE_MAX;
                    struct grant *grant = paid_grant(mechanisms[i].name, 1000000);
                    cr_assert_eq(
                        mechanisms[i].run(&grant, &random, &chosen, scores, counts[c], 100),
                        STATUS_OK);
                    cr_assert_eq(chosen, best, "mechanism %zu of %zu", i, counts[c]);
                }
            }
        }
    }
}

/* epsilon 1, sensitivity and distance 2^64 - 1: the weights of INT64_MIN and INT64_MAX are 1 and
 * exp(-1/2). */
/* Beyond 2^16 candidates only a part is weighed twice: what is chosen must be what the prefix sums of
 * all of them say, for points in every part, at the edges of parts, and for few candidates alike. */
struct aimed {
    struct seeded_random seeded;
    uint64_t word[3]; /* the last ones handed out */
};

static enum status aimed_fill(void *self, void *out, size_t bytes)
{
    struct aimed *aimed = self;
    const struct random random = seeded_random_interface(&aimed->seeded);
    cr_assert_eq(bytes, sizeof aimed->word);
    cr_assert_eq(random_fill(&random, aimed->word, bytes), STATUS_OK);
    memcpy(out, aimed->word, bytes);
    return STATUS_OK;
}

Test(select, many_candidates_are_chosen_as_the_prefix_sums_say)
{
    enum { LARGE = 70001, DRAWS = 100 };
    static const size_t counts[] = {LARGE, (1 << 16) + 1, 1 << 16, 65792, 300};
    static int64_t scores[LARGE];
    static uint64_t weight[LARGE];
    struct noise_exponential decay;
    struct aimed aimed = {.word = {0}};
    const struct random random = {.fill = aimed_fill, .self = &aimed};
    seeded_random_init(&aimed.seeded, 43);
    cr_assert_eq(noise_exponential_init(&decay, 1, 20), STATUS_OK);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const size_t count = counts[c];
        int64_t best = INT64_MAX;
        uint128 sum = 0;
        for (size_t i = 0; i < count; i++) {
            scores[i] = (int64_t)seeded_random_below(&aimed.seeded, 40) - 7;
            best = scores[i] < best ? scores[i] : best;
        }
        for (size_t i = 0; i < count; i++) {
            weight[i] = (uint64_t)(scores[i] - best);
        }
        noise_exponential_floor(&decay, weight, weight, count);
        for (size_t i = 0; i < count; i++) {
            sum += weight[i];
        }
        for (int draw = 0; draw < DRAWS; draw++) {
            size_t chosen = 0;
            cr_assert_eq(select_draw_exponential(&decay, &random, &chosen, scores, count),
                         STATUS_OK);
            const uint128 end = sum + (uint128)count * NOISE_EXPONENTIAL_SLACK;
            uint128 point = select_point_of(aimed.word, end).below_end;
            size_t expected = 0;
            while (point >= weight[expected]) {
                point -= weight[expected++];
            }
            cr_assert_eq(chosen, expected, "%zu of %zu", chosen, count);
        }
    }
}

Test(select, scores_at_both_ends_of_int64_have_the_weights_of_their_distance)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    static const int64_t scores[2] = {INT64_MAX, INT64_MIN};
    enum { RUNS = 20000 };
    seeded_random_init(&seeded, 46);
    static const double share[2] = {0.37754066879814546, 0.3032653298563167};
    for (size_t i = 0; i < 2; i++) {
        double first = 0;
        for (int run = 0; run < RUNS; run++) {
            size_t chosen = SIZE_MAX;
            struct grant *grant = paid_grant(mechanisms[i].name, 1000000);
            cr_assert_eq(mechanisms[i].run(&grant, &random, &chosen, scores, 2, UINT64_MAX),
                         STATUS_OK);
            first += chosen == 0;
        }
        /* Six standard deviations: a false alarm has 2e-9. */
        cr_assert_float_eq(first / RUNS, share[i], 0.021);
    }
}

/* The same draws decide in the same way, whichever way the caller came. */
Test(select, noisy_max_is_the_least_score_plus_noise_and_the_lowest_of_equals)
{
    enum { COUNT = 700, RUNS = 300 };
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    struct noise_laplace noise;
    int64_t scores[COUNT];
    int64_t drawn[COUNT];
    size_t ties = 0;
    cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){4, 1}), STATUS_OK);
    for (uint64_t run = 0; run < RUNS; run++) {
        size_t chosen = SIZE_MAX;
        size_t expected = 0;
        seeded_random_init(&seeded, 1000 + run);
        for (size_t i = 0; i < COUNT; i++) {
            scores[i] = (int64_t)seeded_random_below(&seeded, 4) - 2;
        }
        seeded_random_init(&seeded, run);
        for (size_t done = 0; done < COUNT; done += 256) {
            size_t block = COUNT - done < 256 ? COUNT - done : 256;
            cr_assert_eq(noise_laplace_draw(&noise, &random, drawn + done, block), STATUS_OK);
        }
        size_t equals = 0;
        for (size_t i = 0; i < COUNT; i++) {
            int64_t distance = scores[i] + drawn[i] - (scores[expected] + drawn[expected]);
            equals = distance < 0 ? 0 : equals + (distance == 0 && i > 0);
            expected = distance < 0 ? i : expected;
        }
        ties += equals > 0;
        seeded_random_init(&seeded, run);
        struct grant *grant = paid_grant(MECHANISM_PURE, 1500000);
        cr_assert_eq(select_noisy_max(&grant, &random, &chosen, scores, COUNT, 3), STATUS_OK);
        cr_assert_eq(chosen, expected);
    }
    cr_assert_gt(ties, 10, "ties have been tried");
}

/* The tools under the draws. */

Test(select, a_point_is_the_upper_part_of_the_product)
{
    struct seeded_random seeded;
    mpz_t product;
    mpz_t factor;
    mpz_t back;
    mpz_inits(product, factor, back, NULL);
    seeded_random_init(&seeded, 47);
    for (int run = 0; run < 2000; run++) {
        uint64_t word[3];
        uint128 end = 0;
        for (int i = 0; i < 3; i++) {
            word[i] = run % 7 == i ? 0 : run % 11 == i ? UINT64_MAX : seeded_random_word(&seeded);
        }
        end = (uint128)seeded_random_word(&seeded) << 64 | seeded_random_word(&seeded);
        end = (end >> (1 + seeded_random_below(&seeded, 126))) + 1;
        struct select_point point = select_point_of(word, end);

        mpz_import(product, 3, -1, 8, 0, 0, word);
        whole_set_u128(factor, end);
        mpz_mul(product, product, factor);
        whole_set_u128(back, point.below_end);
        for (int i = 2; i >= 0; i--) {
            mpz_mul_2exp(back, back, 64);
            mpz_import(factor, 1, 1, 8, 0, 0, &point.low[i]);
            mpz_add(back, back, factor);
        }
        cr_assert(mpz_cmp(back, product) == 0);
        cr_assert(point.below_end < end);

        whole_set_u128(factor, end);
        mpz_set_ui(product, 1);
        mpz_mul_2exp(product, product, 192);
        mpz_mod(product, product, factor);
        whole_set_u128(back, select_point_excess(end));
        cr_assert(mpz_cmp(back, product) == 0);
    }
    mpz_clears(product, factor, back, NULL);
}

/* Three equal scores: the integers below 3 (2^62 + 5 spare units). The word 0 is one of the few by
 * which some results are more frequent than others. */
Test(select, words_that_one_result_has_more_of_are_drawn_again)
{
    static const int64_t scores[3] = {5, 5, 5};
    struct noise_exponential decay;
    struct script script = {{0, 0, 0, 0, 0, 0, 0, 0, UINT64_MAX / 2}, 9, 0};
    struct random random = {.fill = script_fill, .self = &script};
    size_t chosen = SIZE_MAX;
    cr_assert_eq(noise_exponential_init(&decay, 1, 2), STATUS_OK);
    cr_assert_eq(select_draw_exponential(&decay, &random, &chosen, scores, 3), STATUS_OK);
    cr_assert_eq(script.used, 9);
    cr_assert_eq(chosen, 1, "the middle of all words is the middle candidate");
}

/* Priorities of 0 for all three; the best always falls. Of n equals the newest takes over with
 * probability 1/n, so that the words for below-2 and below-3 decide. */
Test(select, equal_priorities_are_told_apart_evenly)
{
    static const int64_t scores[3] = {5, 5, 5};
    static const struct {
        uint64_t second;
        uint64_t third;
        size_t chosen;
    } row[] = {
        {UINT64_MAX, UINT64_MAX, 0}, /* 1 of 2, 2 of 3 */
        {UINT64_MAX / 4, UINT64_MAX, 1},
        {UINT64_MAX, UINT64_MAX / 4, 2},
        {UINT64_MAX / 4, UINT64_MAX / 4, 2},
        {UINT64_MAX / 4, UINT64_MAX / 2, 1},
        {UINT64_MAX / 2 + 9, UINT64_MAX / 3 + 9, 0},
    };
    static const uint64_t priorities[] = {0, 77, UINT64_MAX};
    struct noise_exponential decay;
    cr_assert_eq(noise_exponential_init(&decay, 1, 2), STATUS_OK);
    for (size_t p = 0; p < 3; p++) {
        for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
            uint64_t same = priorities[p];
            struct script script = {
                {0, same, 0, same, 0, same, 9, 9, row[i].second, 9, 9, row[i].third}, 12, 0};
            struct random random = {.fill = script_fill, .self = &script};
            size_t chosen = SIZE_MAX;
            if (same == UINT64_MAX) { /* a tie with nobody comes first: one more draw, below 1 */
                static const uint64_t late[3] = {9, 9, 9};
                memmove(script.word + 9, script.word + 6, 6 * sizeof script.word[0]);
                memcpy(script.word + 6, late, sizeof late);
                script.count = 15;
            }
            cr_assert_eq(select_draw_flip(&decay, &random, &chosen, scores, 3), STATUS_OK);
            cr_assert_eq(chosen, row[i].chosen, "priority %zu row %zu", p, i);
            cr_assert_eq(script.used, script.count);
        }
    }
}
