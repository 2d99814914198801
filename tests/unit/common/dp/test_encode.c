#include "dp/encode.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

Test(encode, rounds_to_the_nearest_step_and_halves_up)
{
    static const struct {
        double x;
        unsigned bits;
        int64_t value;
    } row[] = {
        {0, 0, 0},
        {-0.0, 3, 0},
        {0.5, 0, 1},
        {1.5, 0, 2}, /* half-to-even would give 2 as well, and here 2: */
        {2.5, 0, 3},
        {-0.5, 0, 0},
        {-1.5, 0, -1},
        {-2.5, 0, -2},
        {0x1.fffffffffffffp-2, 0, 0}, /* the largest double below 1/2: adding 1/2 gives 1 */
        {-0x1.0000000000001p-1, 0, -1},
        {-0x1p-1074, 0, 0},
        {0x1p-1074, 52, 0},
        {0.25, 1, 1},
        {0.125, 2, 1},
        {1, 52, INT64_C(1) << 52},
        {0x1.0000000000001p52, 0, (INT64_C(1) << 52) + 1}, /* odd: adding 1/2 would make it even */
        {-0x1.0000000000001p52, 0, -(INT64_C(1) << 52) - 1},
        {0x1p61, 0, INT64_C(1) << 61},
        {0x1p62, 0, ENCODE_MAX},
        {-0x1p62, 0, -ENCODE_MAX},
        {0x1p1023, 52, ENCODE_MAX},
        {-0x1p1023, 52, -ENCODE_MAX},
        {INFINITY, 0, ENCODE_MAX},
        {-INFINITY, 0, -ENCODE_MAX},
        {NAN, 0, ENCODE_MAX},
        {-NAN, 20, ENCODE_MAX},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cr_expect_eq(encode_value(row[i].x, row[i].bits), row[i].value, "%a at %u bits", row[i].x,
                     row[i].bits);
    }
}

Test(encode, is_equivariant_under_shifts_by_steps)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 3);
    for (int i = 0; i < 100000; i++) {
        double x = ldexp(floor(ldexp(seeded_random_unit(&seeded), 24)), -22); /* often on a half */
        double steps = floor(8 * seeded_random_unit(&seeded)) - 4;
        cr_assert_eq(encode_value(x + steps / 8, 3), encode_value(x, 3) + (int64_t)steps);
    }
}

Test(encode, decoding_gives_the_grid_point_back)
{
    int64_t values[] = {0, 1, -1, 12345, -(INT64_C(1) << 50)};
    double x[5];
    int64_t back[5];
    for (size_t i = 0; i < 5; i++) {
        x[i] = decode_value(values[i], 20);
    }
    cr_assert_eq(x[3], 12345 / 1048576.0);
    encode_vector(back, x, 5, 20);
    for (size_t i = 0; i < 5; i++) {
        cr_assert_eq(back[i], values[i]);
    }
}

Test(encode, the_box_bounds_every_coordinate)
{
    int64_t values[] = {-5, 0, 3, 10, INT64_MAX, INT64_MIN};
    static const int64_t expected[] = {0, 0, 3, 8, 8, 0};
    for (int twice = 0; twice < 2; twice++) {
        clip_box(values, 6, 0, 8);
        cr_assert_arr_eq(values, expected, sizeof expected);
    }
}

static __int128_t norm(const int64_t *values, size_t count)
{
    __int128_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i] < 0 ? -(__int128_t)values[i] : values[i];
    }
    return sum;
}

Test(encode, the_l1_clip_never_exceeds_its_bound_and_is_idempotent)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 5);
    for (int run = 0; run < 20000; run++) {
        int64_t values[7];
        int64_t before[7];
        unsigned shift = (unsigned)seeded_random_below(&seeded, 63);
        for (size_t i = 0; i < 7; i++) {
            values[i] = (int64_t)seeded_random_word(&seeded) >> shift;
            before[i] = values[i];
        }
        int64_t bound =
            (int64_t)(seeded_random_word(&seeded) >> (1 + seeded_random_below(&seeded, 63)));
        clip_l1(values, 7, bound);
        cr_assert(norm(values, 7) <= bound);
        if (norm(before, 7) <= bound) {
            cr_assert_arr_eq(values, before, sizeof before, "what fits is kept");
        } else {
            cr_assert(norm(values, 7) > (__int128_t)bound - 7 - 1, "no more is taken than needed");
        }
        for (size_t i = 0; i < 7; i++) {
            cr_assert(values[i] == 0 || (values[i] > 0) == (before[i] > 0));
            before[i] = values[i];
        }
        clip_l1(values, 7, bound);
        cr_assert_arr_eq(values, before, sizeof before);
    }
    int64_t extreme[] = {INT64_MIN, INT64_MIN, INT64_MAX};
    clip_l1(extreme, 3, INT64_MAX);
    cr_assert(norm(extreme, 3) <= INT64_MAX);
    clip_l1(extreme, 3, 0);
    cr_assert(norm(extreme, 3) == 0);
    clip_l1(NULL, 0, 5);
}

Test(encode, a_sum_that_may_overflow_is_refused_before_the_job)
{
    struct noise_scale scale = {.numerator = 10, .denominator = 4}; /* 64 * 3 of tail */
    struct why why = {{0}};
    cr_assert_eq(encode_sum_fits(5, 1 << 20, scale, &why), STATUS_OK);
    uint64_t largest = (uint64_t)INT64_MAX / 5 - 64 * 3;
    cr_assert_eq(encode_sum_fits(5, largest, scale, NULL), STATUS_OK);
    cr_assert_eq(encode_sum_fits(5, largest + 1, scale, &why), STATUS_INVALID);
    cr_assert(why.text[0] != '\0');
    cr_assert_eq(encode_sum_fits(1, UINT64_MAX, scale, NULL), STATUS_INVALID);
    cr_assert_eq(encode_sum_fits(UINT64_MAX, UINT64_MAX, scale, NULL), STATUS_INVALID);
    cr_assert_eq(encode_sum_fits(UINT64_MAX, 0, scale, NULL), STATUS_INVALID);
    cr_assert_eq(encode_sum_fits(0, 0, scale, NULL), STATUS_OK);
    struct noise_scale wide = {.numerator = UINT64_C(1) << 40, .denominator = 1};
    cr_assert_eq(encode_sum_fits(1 << 16, 1, wide, NULL), STATUS_OK);
    cr_assert_eq(encode_sum_fits(1 << 17, 1, wide, NULL), STATUS_INVALID);
    cr_assert_eq(encode_sum_fits(1, 1, (struct noise_scale){1, 0}, NULL), STATUS_INVALID);
}
