#include "dp/charge.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct charge good = {
    .epsilon_micro = 1, .pass = {{1}}, .row_first = 0, .row_count = 1};

Test(charge, is_valid_only_with_a_price_a_pass_and_rows)
{
    struct charge charge = good;
    cr_assert(charge_is_valid(&charge));
    charge.epsilon_micro = 0;
    cr_assert_not(charge_is_valid(&charge));
    charge = good;
    charge.delta_atto = DELTA_ATTO_ONE;
    cr_assert_not(charge_is_valid(&charge));
    charge.delta_atto = DELTA_ATTO_ONE - 1;
    cr_assert(charge_is_valid(&charge));
    charge = good;
    charge.pass = (struct digest){{0}};
    cr_assert_not(charge_is_valid(&charge));
    charge = good;
    charge.row_count = 0;
    cr_assert_not(charge_is_valid(&charge));
    charge.row_count = 2;
    charge.row_first = UINT64_MAX - 1;
    cr_assert_not(charge_is_valid(&charge));
    charge.row_first = UINT64_MAX - 2;
    cr_assert(charge_is_valid(&charge));
}

Test(charge, a_limit_is_rounded_down_and_a_price_up)
{
    static const struct {
        double epsilon;
        uint64_t limit;
        uint64_t price;
    } row[] = {
        {0, 0, 0},
        {1, 1000000, 1000000},
        {0.5, 500000, 500000},
        {0.1, 100000, 100001}, /* the double is a little more than 1/10 */
        {0.3, 299999, 300000}, /* and this one a little less than 3/10 */
        {1e-7, 0, 1},
        {0x1p-1074, 0, 1}, /* a subnormal price is a price */
        {0x1p-200, 0, 1},
        {1.0000005, 1000000, 1000001},
        {0x1p40, UINT64_C(1099511627776000000), UINT64_C(1099511627776000000)},
        {18446744073709.0, UINT64_C(18446744073709000000), UINT64_C(18446744073709000000)},
        {18446744073710.0, UINT64_MAX, UINT64_MAX},
        {0x1p60, UINT64_MAX, UINT64_MAX},
        {INFINITY, UINT64_MAX, UINT64_MAX},
        {NAN, 0, UINT64_MAX},
        {-1, 0, UINT64_MAX},
        {-0x1p-1074, 0, UINT64_MAX},
        {-0.0, 0, 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cr_expect_eq(epsilon_micro_limit(row[i].epsilon), row[i].limit, "limit of %a",
                     row[i].epsilon);
        cr_expect_eq(epsilon_micro_price(row[i].epsilon), row[i].price, "price of %a",
                     row[i].epsilon);
    }
    cr_expect_eq(delta_atto_limit(1), DELTA_ATTO_ONE);
    cr_expect_eq(delta_atto_price(0x1p-3), DELTA_ATTO_ONE / 8);
    cr_expect_eq(delta_atto_limit(1e-5), UINT64_C(10000000000000)); /* 1.00000000000000008e-5 */
    cr_expect_eq(delta_atto_price(1e-5), UINT64_C(10000000000001));
    cr_expect_eq(delta_atto_price(18), 18 * DELTA_ATTO_ONE);
    cr_expect_eq(delta_atto_price(19), UINT64_MAX);
}

Test(charge, text_is_read_exactly)
{
    static const struct {
        const char *text;
        uint64_t down;
        uint64_t up;
    } row[] = {
        {"0", 0, 0},
        {"1", 1000000, 1000000},
        {"0.3", 300000, 300000},
        {".5", 500000, 500000},
        {"5.", 5000000, 5000000},
        {"1e-6", 1, 1},
        {"1E+1", 10000000, 10000000},
        {"0.0000001", 0, 1},
        {"0.00000010", 0, 1},
        {"1e-9999", 0, 1},
        {"1e-99999999999999999999", 0, 1},
        {"0e99999999", 0, 0},
        {"0.99999999", 999999, 1000000},
        {"18446744073709.551615", UINT64_MAX, UINT64_MAX},
        {"0001.5000", 1500000, 1500000},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint64_t value = 7;
        cr_expect_eq(price_parse(&value, row[i].text, EPSILON_DECIMALS, ROUND_LIMIT_DOWN),
                     STATUS_OK, "%s", row[i].text);
        cr_expect_eq(value, row[i].down, "%s", row[i].text);
        cr_expect_eq(price_parse(&value, row[i].text, EPSILON_DECIMALS, ROUND_PRICE_UP), STATUS_OK);
        cr_expect_eq(value, row[i].up, "%s", row[i].text);
    }
    static const char *const bad[] = {
        "",
        ".",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1,5",
        "0x1",
        "inf",
        "nan",
        "1e",
        "1e+",
        "1e-",
        "1.2.3",
        "e5",
        "1e1.5",
        "1_0",
        "1e14",
        "18446744073709.551616",
        "1e99999999",
        "0.00000000000000000000000000000000000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t value = 7;
        cr_expect_eq(price_parse(&value, bad[i], EPSILON_DECIMALS, ROUND_LIMIT_DOWN),
                     STATUS_INVALID, "%s", bad[i]);
        cr_expect_eq(value, 0);
    }
    uint64_t value = 7; /* rounding up is what makes it too large */
    cr_expect_eq(price_parse(&value, "18446744073709.5516151", EPSILON_DECIMALS, ROUND_LIMIT_DOWN),
                 STATUS_OK);
    cr_expect_eq(price_parse(&value, "18446744073709.5516151", EPSILON_DECIMALS, ROUND_PRICE_UP),
                 STATUS_INVALID);
}

Test(charge, text_is_written_exactly_and_read_back)
{
    static const struct {
        uint64_t value;
        unsigned decimals;
        const char *text;
    } row[] = {
        {0, 6, "0"},
        {1, 6, "0.000001"},
        {250000, 6, "0.25"},
        {1000000, 6, "1"},
        {100000000, 6, "100"},
        {12345678, 6, "12.345678"},
        {UINT64_MAX, 6, "18446744073709.551615"},
        {UINT64_C(10000000000000), 18, "0.00001"},
        {1, 18, "0.000000000000000001"},
        {UINT64_MAX, 18, "18.446744073709551615"},
        {7, 0, "7"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[PRICE_TEXT_BYTES];
        uint64_t back = 0;
        price_print(text, row[i].value, row[i].decimals);
        cr_expect_str_eq(text, row[i].text);
        cr_expect_eq(price_parse(&back, text, row[i].decimals, ROUND_PRICE_UP), STATUS_OK);
        cr_expect_eq(back, row[i].value);
    }
}
