#include "dp/encode.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

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

/* sum values^2 <= bound^2, by comparison of long sums: high * 2^126 + low */
static bool within_l2(const int64_t *values, size_t count, int64_t bound)
{
    __uint128_t low = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t size = values[i] < 0 ? 0 - (uint64_t)values[i] : (uint64_t)values[i];
        __uint128_t square = (__uint128_t)size * size;
        if (square > ((__uint128_t)1 << 126) - 1 || low > ((__uint128_t)1 << 126)) {
            return false; /* bound^2 < 2^126 */
        }
        low += square;
    }
    return low <= (__uint128_t)bound * (__uint128_t)bound;
}

/* Clips properly, or with a planted fault. */
enum l2_fault { L2_RIGHT, L2_NORM_ROUNDED_DOWN, L2_ROUNDED_TO_NEAREST, L2_BY_THE_SQUARE };

static void clip_l2_with(int64_t *values, size_t count, int64_t bound, enum l2_fault fault)
{
    long double square = 0;
    if (fault == L2_RIGHT) {
        clip_l2(values, count, bound);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        square += (long double)values[i] * (long double)values[i];
    }
    if (square <= (long double)bound * (long double)bound) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        long double norm = fault == L2_NORM_ROUNDED_DOWN ? floorl(sqrtl(square)) : sqrtl(square);
        long double share =
            (long double)bound / (fault == L2_BY_THE_SQUARE ? square / bound : norm);
        long double scaled = (long double)values[i] * share;
        values[i] = (int64_t)(fault == L2_ROUNDED_TO_NEAREST ? roundl(scaled) : truncl(scaled));
    }
}

/* Whether random vectors stay within the bound, are kept where they fit, lose no more than they
 * must and are left alone the second time. Small numbers, so that the faults can be computed. */
static bool l2_clip_holds(enum l2_fault fault)
{
    struct seeded_random seeded;
    bool holds = true;
    seeded_random_init(&seeded, 15);
    for (int run = 0; run < 20000; run++) {
        int64_t values[5];
        int64_t before[5];
        long double square = 0;
        for (size_t i = 0; i < 5; i++) {
            values[i] = before[i] = (int64_t)seeded_random_below(&seeded, 41) - 20;
            square += (long double)(values[i] * values[i]);
        }
        int64_t bound = (int64_t)seeded_random_below(&seeded, 60);
        clip_l2_with(values, 5, bound, fault);
        bool fits = square <= (long double)(bound * bound);
        holds = holds && within_l2(values, 5, bound);
        for (size_t i = 0; i < 5; i++) {
            long double least = fits ? 1 : (long double)bound / ceill(sqrtl(square));
            holds =
                holds && fabsl((long double)before[i] * least) < fabsl((long double)values[i]) + 1;
            holds = holds && (!fits || values[i] == before[i]);
            holds = holds && (values[i] == 0 || (values[i] > 0) == (before[i] > 0));
            before[i] = values[i];
        }
        clip_l2_with(values, 5, bound, fault);
        holds = holds && memcmp(values, before, sizeof values) == 0;
    }
    return holds;
}

Test(encode, the_l2_clip_never_exceeds_its_bound_and_is_idempotent)
{
    cr_assert(l2_clip_holds(L2_RIGHT));
    cr_assert_not(l2_clip_holds(L2_NORM_ROUNDED_DOWN));
    cr_assert_not(l2_clip_holds(L2_ROUNDED_TO_NEAREST));
    cr_assert_not(l2_clip_holds(L2_BY_THE_SQUARE));
}

Test(encode, the_l2_clip_holds_for_any_integers)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 16);
    for (int run = 0; run < 20000; run++) {
        int64_t values[9];
        int64_t before[9];
        unsigned shift = (unsigned)seeded_random_below(&seeded, 63);
        for (size_t i = 0; i < 9; i++) {
            values[i] = (int64_t)seeded_random_word(&seeded) >> shift;
            values[i] = seeded_random_below(&seeded, 9) == 0 ? INT64_MIN : values[i];
            before[i] = values[i];
        }
        int64_t bound =
            (int64_t)(seeded_random_word(&seeded) >> (1 + seeded_random_below(&seeded, 63)));
        clip_l2(values, 9, bound);
        cr_assert(within_l2(values, 9, bound));
        if (within_l2(before, 9, bound)) {
            cr_assert_arr_eq(values, before, sizeof before, "what fits is kept");
        }
        long double square = 0;
        long double after = 0;
        for (size_t i = 0; i < 9; i++) {
            square += (long double)before[i] * (long double)before[i];
            after += (long double)values[i] * (long double)values[i];
            before[i] = values[i];
        }
        if (square > (long double)bound * (long double)bound) { /* 3 is what truncation can take */
            cr_assert(sqrtl(after) >=
                      (long double)bound * (1 - 0x1p-40L) - 3 - (long double)bound / sqrtl(square));
        }
        clip_l2(values, 9, bound);
        cr_assert_arr_eq(values, before, sizeof before);
    }
    int64_t extreme[64];
    for (size_t i = 0; i < 64; i++) {
        extreme[i] = i % 2 == 0 ? INT64_MIN : INT64_MAX;
    }
    clip_l2(extreme, 64, INT64_MAX);
    cr_assert(within_l2(extreme, 64, INT64_MAX));
    cr_assert(extreme[0] < -(INT64_C(1) << 59) && extreme[1] > INT64_C(1) << 59, "an eighth each");
    clip_l2(extreme, 64, 0);
    cr_assert(within_l2(extreme, 64, 0));
    /* The norm is a hair above 2^64. With 2^64 for it the first four would fill the bound. */
    int64_t hair[5] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, 3};
    clip_l2(hair, 5, INT64_MAX - 1);
    cr_assert(within_l2(hair, 5, INT64_MAX - 1));
    cr_assert(hair[0] == -(INT64_C(1) << 62) + 2 && hair[4] == 1);
    clip_l2(NULL, 0, 5);
}

/* Squares that add up to 2^130 - 1, by fifteen of 2^126 and four that make 2^126 - 1: as the sum is
 * halved what is rounded up carries through all of its lower 128 bits. */
Test(encode, the_l2_norm_is_rounded_up_through_every_bit)
{
    int64_t values[19] = {INT64_C(2858080959463517995), INT64_C(2737851369718294375),
                          INT64_C(6464651287157748022), INT64_C(5254942299604063527)};
    for (size_t i = 4; i < 19; i++) {
        values[i] = INT64_MIN;
    }
    clip_l2(values, 19, INT64_C(1) << 62); /* an eighth of 2^65 */
    cr_assert(within_l2(values, 19, INT64_C(1) << 62));
    cr_assert(values[0] == INT64_C(2858080959463517995) / 8 && values[18] == INT64_MIN / 8);
}

/* The norm is a hair above 2^66, by a 9 whose square, 81, has the digits 1 1 0 1 to the base of 4 in
 * which the sum is shortened. Where a digit of 1 is lost 64 values fill the bound, and the 9 is one
 * too many. */
Test(encode, the_l2_norm_is_rounded_up_by_the_least_that_is_lost)
{
    const int64_t bound = INT64_MAX - 7; /* a multiple of 8 */
    int64_t values[65];
    for (size_t i = 0; i < 64; i++) {
        values[i] = INT64_MIN;
    }
    values[64] = 9;
    clip_l2(values, 65, bound);
    cr_assert(within_l2(values, 65, bound));
    cr_assert(values[64] == 1 && values[0] > -(bound / 8));
}

/* The encoded distance of two vectors against the real one in steps: less than sqrt(count) more. */
Test(encode, rounding_costs_less_than_the_root_of_the_length_in_l2)
{
    struct seeded_random seeded;
    double worst = 0;
    seeded_random_init(&seeded, 17);
    for (int run = 0; run < 20000; run++) {
        double real = 0;
        double encoded = 0;
        for (size_t i = 0; i < 16; i++) {
            /* numbers next to a half make the worst of it */
            double a = (double)seeded_random_below(&seeded, 100) + 0.5;
            double b = a - 0x1p-30 * (double)seeded_random_below(&seeded, 3);
            double steps = (double)(encode_value(a, 0) - encode_value(b, 0));
            real += (a - b) * (a - b);
            encoded += steps * steps;
        }
        double more = sqrt(encoded) - sqrt(real);
        worst = more > worst ? more : worst;
        cr_assert(more < 4);
    }
    cr_assert(worst > 3.8, "and the bound is reached: %g", worst);
}

/* The bound on the noise of a sum, by exponential moments: n shares of a whole discrete Laplace among h have the n/h-th power of its
 * moment at half of its rate. Planted: a reach that forgets how many shares there are. */
Test(encode, a_sum_of_shares_is_within_its_reach)
{
    const double rates[] = {16, 2, 1, 0.25, 0.01};
    double with_fewer = -1000;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        const double q = rates[i];
        const double moment = (cosh(q) - 1) / (cosh(q) - cosh(q / 2));
        const struct noise_scale scale = {.numerator = 1000000,
                                          .denominator = (uint64_t)(1000000 * q)};
        cr_assert(moment <= 4.0 / 3 + 1e-9);
        for (uint64_t agents = 1; agents <= 255; agents += 2) {
            for (uint64_t shares = 1; shares <= agents; shares += 3) {
                const double reach = (double)encode_sum_reach(agents, 7, shares, scale);
                const double noise = reach - 7 * (double)agents;
                const double wholes = (double)agents / (double)shares;
                const double beyond = 1 + wholes * log2(moment) - noise * q / 2 / log(2);
                const double fewer = 1 + wholes * log2(moment) - 64.0 / log(2);
                with_fewer = fewer > with_fewer ? fewer : with_fewer;
                cr_assert(beyond < -90, "%g, %zu of %zu: 2^%g", q, (size_t)agents, (size_t)shares,
                          beyond);
            }
        }
    }
    cr_expect(with_fewer > -90, "planted: 2^%g", with_fewer);
    cr_expect_eq(encode_sum_reach(UINT64_MAX, 2, 1, (struct noise_scale){1, 1}), UINT64_MAX);
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
