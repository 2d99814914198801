/* Public permutations: complete, repeatable, and fair. */

#include "learn/permutation.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

Test(permutation, is_a_permutation_for_every_count_and_seed)
{
    for (size_t count = 0; count < 300; count++) {
        struct digest seed = {{(uint8_t)count, 7}};
        size_t order[300];
        bool seen[300] = {false};
        seed.byte[31] = count % 3 == 0 ? 0xff : 0;
        permutation_draw(order, count, &seed);
        for (size_t i = 0; i < count; i++) {
            cr_assert(order[i] < count && !seen[order[i]]);
            seen[order[i]] = true;
        }
    }
}

/* Agents and auditors must get the same order on every machine and in every version. */
Test(permutation, never_changes)
{
    struct digest seed;
    size_t order[10];
    for (int i = 0; i < DIGEST_BYTES; i++) {
        seed.byte[i] = (uint8_t)i;
    }
    permutation_draw(order, 10, &seed);
    const size_t expected[10] = {8, 4, 7, 2, 0, 5, 3, 1, 9, 6};
    for (int i = 0; i < 10; i++) {
        cr_assert(order[i] == expected[i], "%d: %zu", i, order[i]);
    }
}

Test(permutation, depends_on_all_words_of_the_seed_and_survives_the_zero_seed)
{
    size_t base[64];
    size_t order[64];
    struct digest seed = {{0}};
    permutation_draw(base, 64, &seed);
    for (int word = 0; word < 4; word++) {
        memset(&seed, 0, sizeof seed);
        seed.byte[8 * word + 3] = 1;
        permutation_draw(order, 64, &seed);
        cr_assert(memcmp(base, order, sizeof order) != 0);
    }
}

/* 24 orders of 4 in 24,000 draws: chi-square with 23 degrees of freedom; above 82 with probability
 * 1.6e-8. The planted twin, which never leaves an element in its place (Sattolo's cycle), is far
 * above. */
static double chi_square_of_orders(bool sattolo)
{
    int count[256] = {0};
    double sum = 0;
    for (uint32_t draw = 0; draw < 24000; draw++) {
        struct digest seed = {{0}};
        size_t order[4];
        store_u32(seed.byte, draw * UINT32_C(2654435761));
        store_u32(seed.byte + 8, ~draw);
        store_u32(seed.byte + 20, draw << 7);
        permutation_draw(order, 4, &seed);
        if (sattolo) {
            for (size_t i = 0; i < 3; i++) {
                if (order[i] == i) {
                    const size_t moved = order[i];
                    order[i] = order[i + 1];
                    order[i + 1] = moved;
                }
            }
        }
        count[order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3]]++;
    }
    for (int i = 0; i < 256; i++) {
        sum += count[i] > 0 ? (count[i] - 1000.0) * (count[i] - 1000.0) / 1000 : 0;
    }
    int seen = 0;
    for (int i = 0; i < 256; i++) {
        seen += count[i] > 0 ? 1 : 0;
    }
    return sum + (24 - seen) * 1000.0;
}

Test(permutation, is_fair)
{
    cr_assert(chi_square_of_orders(false) < 82);
    cr_assert(chi_square_of_orders(true) > 1000);
}
