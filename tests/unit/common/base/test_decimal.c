#include "base/decimal.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

struct fixed_case {
    const char *text;
    unsigned places;
    uint64_t value;
    bool exact;
};

Test(decimal, is_read_exactly_and_rounded_down)
{
    static const struct fixed_case list[] = {
        {"0.1", 6, 100000, true},
        {"1", 6, 1000000, true},
        {"0", 6, 0, true},
        {"-0", 6, 0, true},
        {"1e-5", 18, UINT64_C(10000000000000), true},
        {"1E+2", 0, 100, true},
        {"12.50e1", 0, 125, true},
        {"0.0000019", 6, 1, false},
        {"0.9999999", 6, 999999, false},
        {"1.9999999999999999999999", 0, 1, false},
        {"0.0000000", 6, 0, true},
        {"0e9999", 6, 0, true},
        {"1e-9999", 6, 0, false},
        {"1e9999", 6, UINT64_MAX, true},
        {"18446744073709551615", 0, UINT64_MAX, true},
        {"18446744073709551616", 0, UINT64_MAX, true},
        {"18446744073709551614", 0, UINT64_MAX - 1, true},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        uint64_t value = 7;
        bool exact = !list[i].exact;
        cr_assert_eq(decimal_fixed(&value, &exact, list[i].text, list[i].places), STATUS_OK, "%s",
                     list[i].text);
        cr_assert_eq(value, list[i].value, "%s gave %llu", list[i].text, (unsigned long long)value);
        cr_assert_eq(exact, list[i].exact, "%s", list[i].text);
    }
}

/* The wrong variant: through a double, rounded down. */
static uint64_t through_double(const char *text)
{
    double number = 0;
    cr_assert_eq(decimal_double(&number, text), STATUS_OK);
    return (uint64_t)floor(number * 1e6);
}

Test(decimal, every_millionth_is_itself_where_a_double_loses_some)
{
    unsigned lost = 0;
    for (unsigned micro = 1; micro < 300000; micro += 7) {
        char text[32];
        uint64_t value = 0;
        bool exact = false;
        (void)snprintf(text, sizeof text, "%u.%06u", micro / 1000000, micro % 1000000);
        cr_assert_eq(decimal_fixed(&value, &exact, text, 6), STATUS_OK);
        cr_assert_eq(value, micro);
        lost += through_double(text) != micro ? 1 : 0;
    }
    cr_assert_gt(lost, 100, "the planted variant should have been caught");
}

Test(decimal, anything_else_is_no_number)
{
    static const char *const list[] = {
        "",
        "-",
        "+1",
        ".5",
        "5.",
        "1,5",
        "1.5.2",
        "0x10",
        "1e",
        "1e+",
        "nan",
        ".nan",
        "inf",
        ".inf",
        "infinity",
        "1 ",
        " 1",
        "1_0",
        "007",
        "00",
        "-.5",
        "--1",
        "1e1.5",
        "1e99999",
        "one",
        "1d0",
        "1f",
        "0b1",
        "0o7",
        "-00.5",
        "1234567890123456789012345678901234567890123456789012345678901234",
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        uint64_t value = 0;
        bool exact = false;
        double number = 0;
        cr_assert_not(decimal_is_number(list[i]), "%s", list[i]);
        cr_assert_eq(decimal_fixed(&value, &exact, list[i], 6), STATUS_INVALID, "%s", list[i]);
        cr_assert_eq(decimal_double(&number, list[i]), STATUS_INVALID, "%s", list[i]);
    }
}

Test(decimal, a_negative_amount_and_an_infinite_double_are_refused)
{
    uint64_t value = 0;
    bool exact = false;
    double number = 0;
    cr_assert_eq(decimal_fixed(&value, &exact, "-0.5", 6), STATUS_INVALID);
    cr_assert_eq(decimal_double(&number, "1e999"), STATUS_INVALID);
    cr_assert_eq(decimal_double(&number, "-2.5e-1"), STATUS_OK);
    cr_assert_eq(number, -0.25);
}

Test(decimal, is_written_without_needless_zeros)
{
    static const struct {
        uint64_t value;
        unsigned places;
        const char *text;
    } list[] = {{1500000, 6, "1.5"},
                {1, 6, "0.000001"},
                {0, 6, "0"},
                {1000000, 6, "1"},
                {12, 0, "12"},
                {10, 18, "0.00000000000000001"},
                {UINT64_MAX, 0, "18446744073709551615"}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char text[48];
        decimal_format(text, sizeof text, list[i].value, list[i].places);
        cr_assert_str_eq(text, list[i].text);
    }
}

/* Thousands have no exponent: a plan told of "1e+03 days". */
Test(decimal, is_short_for_people)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } list[] = {
        {1000, 3, "1000"},   {1234.5, 3, "1234"},    {999.4, 3, "999"}, {999.6, 3, "1000"},
        {-1250, 3, "-1250"}, {0.12345, 3, "0.123"},  {0, 3, "0"},       {12345678, 4, "12345678"},
        {1e-7, 3, "1e-07"},  {2.5e15, 3, "2.5e+15"}, {NAN, 3, "nan"},   {INFINITY, 3, "inf"}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        cr_expect_str_eq(decimal_short(list[i].value, list[i].digits).text, list[i].text);
    }
}
