/* Decisions that never round, and memory that holds nothing secret when it is freed. */

#include "noise/exponential.h"
#include "noise/gaussian.h"
#include "noise/laplace_private.h"
#include "noise/lazy.h"
#include "noise/share.h"
#include "noise/whole.h"
#include "tests/support/noise_draw.h"
#include "tests/support/script.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A third, enclosed less closely than precision allows. */
static void enclose_third(const void *self, mpfr_t low, mpfr_t high)
{
    const unsigned *slack = self;
    mpfr_set_ui(low, 1, MPFR_RNDN);
    mpfr_div_ui(low, low, 3, MPFR_RNDD);
    mpfr_set_ui(high, 1, MPFR_RNDN);
    mpfr_div_ui(high, high, 3, MPFR_RNDU);
    mpfr_t wide;
    mpfr_init2(wide, 64);
    mpfr_set_ui_2exp(wide, 1, (long)*slack - (long)mpfr_get_prec(low), MPFR_RNDN);
    mpfr_sub(low, low, wide, MPFR_RNDD);
    mpfr_add(high, high, wide, MPFR_RNDU);
    mpfr_clear(wide);
}

/* 1/3 is 0.0101... in binary: two bits, then words of them. */
#define THIRD UINT64_C(0x5555555555555555)

Test(lazy, a_wide_enclosure_is_refined_until_the_bits_decide)
{
    const unsigned slack = 150;
    const struct real third = {.enclose = enclose_third, .self = &slack};
    for (int above = 0; above < 2; above++) {
        struct script script = {.word = {THIRD, THIRD + (above == 1 ? 1 : UINT64_MAX)}, .count = 2};
        struct random random = {.fill = script_fill, .self = &script};
        bool below = above == 1;
        cr_assert_eq(lazy_is_below(&random, 1, 2, &third, &below), STATUS_OK);
        cr_assert(below == (above == 0) && script.used == 2);
    }
}

Test(lazy, a_source_that_fails_in_the_middle_decides_nothing)
{
    const unsigned slack = 0;
    const struct real third = {.enclose = enclose_third, .self = &slack};
    for (size_t words = 0; words < 4; words++) {
        struct script script = {.word = {THIRD, THIRD, THIRD, THIRD}, .count = words};
        struct random random = {.fill = script_fill, .self = &script};
        bool below = true;
        cr_assert_eq(lazy_is_below(&random, 1, 2, &third, &below), STATUS_NO_RANDOM);
        cr_assert(!below && script.used == words);
    }
}

/* One drawn number against several given ones: what was drawn for the first counts for the next. */
Test(lazy, a_number_keeps_the_bits_that_it_has)
{
    const unsigned slack = 0;
    const struct real third = {.enclose = enclose_third, .self = &slack};
    struct script script = {.word = {THIRD + 1}, .count = 1};
    struct random random = {.fill = script_fill, .self = &script};
    struct lazy_real drawn;
    lazy_real_begin(&drawn, 1, 2);
    for (int again = 0; again < 2; again++) {
        bool below = true;
        cr_assert_eq(lazy_real_is_below(&drawn, &random, &third, &below), STATUS_OK);
        cr_assert(!below && drawn.bits == 66 && script.used == 1);
    }
    lazy_real_end(&drawn);
}

/* A multiple of 1/8, enclosed exactly: an interval that ends there is below, one that begins there
 * is not, and neither needs a word. */
static void enclose_eighths(const void *self, mpfr_t low, mpfr_t high)
{
    const unsigned *eighths = self;
    mpfr_set_ui_2exp(low, *eighths, -3, MPFR_RNDN);
    mpfr_set(high, low, MPFR_RNDN);
}

Test(lazy, edges_that_meet_exactly_decide)
{
    const unsigned three = 3;
    const struct real given = {.enclose = enclose_eighths, .self = &three};
    struct script script = {.count = 0};
    struct random random = {.fill = script_fill, .self = &script};
    for (uint64_t digits = 0; digits < 10; digits++) { /* also numbers beyond 1 */
        bool below = digits >= 3;
        cr_assert_eq(lazy_is_below(&random, digits, 3, &given, &below), STATUS_OK);
        cr_assert_eq(below, digits < 3);
    }
}

Test(lazy, exponentials_are_enclosed_at_any_precision)
{
    static const uint64_t part[] = {0, 1, 7, 1000003, UINT64_C(1) << 40, UINT64_MAX};
    mpfr_t bound[4];
    mpz_t above;
    mpz_t below;
    mpz_inits(above, below, NULL);
    mpfr_inits2(900, bound[0], bound[1], NULL);
    for (size_t i = 0; i < 36; i++) {
        whole_set_u64(above, part[i % 6]);
        whole_set_u64(below, part[i / 6] | 1);
        lazy_enclose_exponential(bound[0], bound[1], above, below);
        for (mpfr_prec_t precision = 10; precision < 300; precision += 17) {
            mpfr_inits2(precision, bound[2], bound[3], NULL);
            lazy_enclose_exponential(bound[2], bound[3], above, below);
            cr_assert(mpfr_lessequal_p(bound[2], bound[0]) && mpfr_lessequal_p(bound[0], bound[1]));
            cr_assert(mpfr_lessequal_p(bound[1], bound[3]), "%zu at %ld bits", i, (long)precision);
            mpfr_clears(bound[2], bound[3], NULL);
        }
    }
    mpfr_clears(bound[0], bound[1], NULL);
    mpz_clears(above, below, NULL);
    mpfr_free_cache();
}

/* An allocator that counts. Only this room's calls and this file's are wrapped, including those
 * that GMP and MPFR make through the room. */
enum { BOOKED_MAX = 4096 };
static struct {
    const uint8_t *data;
    size_t bytes;
} booked[BOOKED_MAX];
static size_t freed;   /* blocks given back while watched */
static size_t tainted; /* that had a byte other than 0 */
static bool watching;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void __real_free(void *data);
void __wrap_free(void *data);

void *__wrap_malloc(size_t bytes)
{
    void *data = __real_malloc(bytes);
    for (size_t i = 0; watching && data != NULL && i < BOOKED_MAX; i++) {
        if (booked[i].data == NULL) {
            booked[i].data = data;
            booked[i].bytes = bytes;
            break;
        }
    }
    return data;
}

void __wrap_free(void *data)
{
    for (size_t i = 0; data != NULL && i < BOOKED_MAX; i++) {
        if (booked[i].data == data) {
            size_t set = 0;
            for (size_t j = 0; j < booked[i].bytes; j++) {
                set += booked[i].data[j] != 0 ? 1 : 0;
            }
            freed++;
            tainted += set > 0 ? 1 : 0;
            booked[i].data = NULL;
        }
    }
    __real_free(data);
}

static size_t still_booked(void)
{
    size_t blocks = 0;
    for (size_t i = 0; i < BOOKED_MAX; i++) {
        blocks += booked[i].data != NULL ? 1 : 0;
    }
    return blocks;
}

/* What every sampler asks of the exact path, each with bits that leave it open for some words. */
static void ask_everything(struct random *random)
{
    struct noise_geometric geometric;
    struct noise_exponential exponential;
    struct noise_gaussian gaussian;
    struct noise_share share;
    uint64_t digit = 0;
    int64_t value[40] = {0};
    bool answer = false;

    cr_assert_eq(noise_geometric_init(&geometric, (struct noise_scale){1000003, 7}), STATUS_OK);
    cr_assert_eq(noise_exponential_init(&exponential, 3, 1000), STATUS_OK);
    cr_assert_eq(noise_gaussian_init(&gaussian, (struct noise_scale){1000, 1}), STATUS_OK);
    cr_assert_eq(noise_share_init(&share, (struct noise_scale){1000, 1}, 3), STATUS_OK);
    for (size_t b = 0; b < gaussian.table.bins; b++) { /* every trial is open */
        gaussian.table.bin[b].margin = UINT64_C(1) << TABLE_UNIT_BITS;
    }
    for (size_t b = 0; b < share.table.bins; b++) {
        share.table.bin[b].margin = UINT64_C(1) << TABLE_UNIT_BITS;
    }
    watching = true;
    for (size_t position = 0; position < NOISE_DIGITS; position++) {
        cr_assert_eq(noise_exact_draw(&geometric, random, position, &digit), STATUS_OK);
    }
    const uint64_t one = UINT64_C(1) << NOISE_EXPONENTIAL_BITS; /* floor(2^62 exp(-0.021)) */
    const uint64_t near_edge = (uint64_t)((double)one * 0.979218964569) & ~UINT64_C(0xfffff);
    cr_assert_eq(noise_exact_accept(&geometric, random, 12345, near_edge >> 10, &answer),
                 STATUS_OK);
    cr_assert_eq(noise_exponential_above(&exponential, random, 7, near_edge, &answer), STATUS_OK);
    cr_assert_eq(noise_gaussian_draw(&gaussian, random, value, 40), STATUS_OK);
    cr_assert_eq(noise_share_draw(&share, random, value, 40), STATUS_OK);
    watching = false;
    noise_gaussian_free(&gaussian);
    noise_share_free(&share);
}

/* Data that decide a draw reveal it: the random bits, the bounds, and MPFR's intermediate
 * results. */
Test(lazy, memory_of_a_decision_is_wiped_before_it_is_given_back)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    seeded_random_init(&seeded, 5);
    ask_everything(&random);
    cr_expect_gt(freed, 1000, "%zu blocks: the watch sees them", freed);
    cr_expect_eq(tainted, 0, "%zu of %zu blocks", tainted, freed);
    cr_expect_eq(still_booked(), 0, "no cache keeps any of it");
}

static void *plain_new(size_t bytes)
{
    return malloc(bytes);
}

static void *plain_resize(void *data, size_t bytes, size_t bytes_wanted)
{
    void *resized = malloc(bytes_wanted);
    cr_assert_not_null(resized);
    memcpy(resized, data, bytes < bytes_wanted ? bytes : bytes_wanted);
    free(data);
    return resized;
}

static void plain_free(void *data, UNUSED size_t bytes)
{
    free(data);
}

Test(lazy, memory_that_is_not_wiped_would_be_seen)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    seeded_random_init(&seeded, 5);
    mp_set_memory_functions(plain_new, plain_resize, plain_free);
    ask_everything(&random);
    cr_expect_gt(tainted, freed / 2, "%zu of %zu blocks", tainted, freed);
}
