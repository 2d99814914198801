#include "dp/charge.h"

#include "dp/wide.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool charge_is_valid(const struct charge *charge)
{
    return charge->epsilon_micro > 0 && charge->delta_atto < DELTA_ATTO_ONE &&
           !digest_is_none(&charge->pass) && charge->row_count > 0 &&
           charge->row_first <= UINT64_MAX - charge->row_count;
}

/* x * unit for a positive finite x, exactly: x is a 53-bit integer times a power of two. */
static uint64_t scale_exactly(double x, uint64_t unit, enum rounding rounding)
{
    int exponent = 0;
    uint64_t mantissa = (uint64_t)ldexp(frexp(x, &exponent), 53);
    uint128 product = (uint128)mantissa * unit; /* below 2^53 * 2^60 */
    int shift = 53 - exponent;

    if (shift <= 0) {
        return UINT64_MAX; /* x >= 2^52, and a unit has at least 10^6 parts */
    }
    uint128 whole = shift < 128 ? product >> shift : 0;
    bool exact = shift < 128 ? whole << shift == product : product == 0;
    if (whole >= UINT64_MAX) {
        return UINT64_MAX;
    }
    return (uint64_t)whole + (rounding == ROUND_PRICE_UP && !exact ? 1 : 0);
}

static uint64_t limit_of(double x, uint64_t unit)
{
    if (!(x > 0)) {
        return 0;
    }
    return isinf(x) ? UINT64_MAX : scale_exactly(x, unit, ROUND_LIMIT_DOWN);
}

static uint64_t price_of(double x, uint64_t unit)
{
    if (!(x >= 0) || isinf(x)) {
        return UINT64_MAX;
    }
    return x > 0 ? scale_exactly(x, unit, ROUND_PRICE_UP) : 0;
}

uint64_t epsilon_micro_limit(double epsilon)
{
    return limit_of(epsilon, EPSILON_MICRO_ONE);
}

uint64_t epsilon_micro_price(double epsilon)
{
    return price_of(epsilon, EPSILON_MICRO_ONE);
}

uint64_t delta_atto_limit(double delta)
{
    return limit_of(delta, DELTA_ATTO_ONE);
}

uint64_t delta_atto_price(double delta)
{
    return price_of(delta, DELTA_ATTO_ONE);
}

enum { TEXT_MAX = 64, EXPONENT_MAX = 9999 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A decimal number taken apart: its digits without the point, and the power of ten of the last. */
struct decimal {
    char digit[TEXT_MAX + 1];
    int digit_count;
    int exponent;
};

static bool decimal_read(struct decimal *decimal, const char *text)
{
    bool fraction = false;
    memset(decimal, 0, sizeof *decimal);
    for (; is_digit(*text) || (*text == '.' && !fraction); text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        decimal->digit[decimal->digit_count++] = *text;
        decimal->exponent -= fraction ? 1 : 0;
    }
    if (decimal->digit_count == 0) {
        return false;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        int sign = *text == '-' ? -1 : 1;
        text += *text == '-' || *text == '+' ? 1 : 0;
        if (!is_digit(*text)) {
            return false;
        }
        int power = 0;
        for (; is_digit(*text); text++) {
            power = power * 10 + (*text - '0');
            power = power > EXPONENT_MAX ? EXPONENT_MAX : power;
        }
        decimal->exponent += sign * power;
    }
    return *text == '\0';
}

enum status price_parse(uint64_t *value, const char *text, unsigned decimals,
                        enum rounding rounding)
{
    struct decimal decimal;
    uint64_t whole = 0;
    bool rest = false;

    *value = 0;
    if (strnlen(text, TEXT_MAX + 1) > TEXT_MAX || !decimal_read(&decimal, text)) {
        return STATUS_INVALID;
    }
    int power = decimal.exponent + decimal.digit_count - 1 + (int)decimals; /* of the first digit */
    for (int i = 0; i < decimal.digit_count || (power >= 0 && whole > 0); i++, power--) {
        unsigned digit = i < decimal.digit_count ? (unsigned)(decimal.digit[i] - '0') : 0;
        if (power < 0) {
            rest = rest || digit > 0;
        } else if (__builtin_mul_overflow(whole, UINT64_C(10), &whole) ||
                   __builtin_add_overflow(whole, (uint64_t)digit, &whole)) {
            return STATUS_INVALID;
        }
    }
    if (rest && rounding == ROUND_PRICE_UP && __builtin_add_overflow(whole, UINT64_C(1), &whole)) {
        return STATUS_INVALID;
    }
    *value = whole;
    return STATUS_OK;
}

void price_print(char text[static PRICE_TEXT_BYTES], uint64_t value, unsigned decimals)
{
    uint64_t unit = 1;
    for (unsigned i = 0; i < decimals; i++) {
        unit *= 10;
    }
    int length = snprintf(text, PRICE_TEXT_BYTES, "%" PRIu64 ".%0*" PRIu64, value / unit,
                          (int)decimals, value % unit);
    while (length > 0 && text[length - 1] == '0') {
        text[--length] = '\0';
    }
    if (length > 0 && text[length - 1] == '.') {
        text[length - 1] = '\0';
    }
}
