#include "base/decimal.h"

#include "base/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number taken apart: 0.digits * 10^point, sign aside. */
struct parts {
    bool negative;
    char digit[DECIMAL_TEXT_BYTES];
    int digit_count;
    int point;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Moves over digits, keeping them; returns how many there were. */
static int take_digits(struct parts *parts, const char **text)
{
    int count = 0;
    while (is_digit(**text)) {
        parts->digit[parts->digit_count++] = **text;
        (*text)++;
        count++;
    }
    return count;
}

static bool take_exponent(struct parts *parts, const char **text)
{
    int exponent = 0;
    int count = 0;
    bool down = false;
    if (**text != 'e' && **text != 'E') {
        return true;
    }
    (*text)++;
    if (**text == '+' || **text == '-') {
        down = **text == '-';
        (*text)++;
    }
    for (; is_digit(**text) && count < 5; (*text)++, count++) {
        exponent = 10 * exponent + (**text - '0');
    }
    parts->point += down ? -exponent : exponent;
    return count >= 1 && count <= 4;
}

static bool take_apart(struct parts *parts, const char *text)
{
    *parts = (struct parts){0};
    if (strnlen(text, DECIMAL_TEXT_BYTES) == DECIMAL_TEXT_BYTES) {
        return false;
    }
    if (*text == '-') {
        parts->negative = true;
        text++;
    }
    bool leading_zero = *text == '0';
    int count = take_digits(parts, &text);
    if (count == 0 || (leading_zero && count > 1)) {
        return false;
    }
    parts->point = count;
    if (*text == '.') {
        text++;
        if (take_digits(parts, &text) == 0) {
            return false;
        }
    }
    return take_exponent(parts, &text) && *text == '\0';
}

bool decimal_is_number(const char *text)
{
    struct parts parts;
    return take_apart(&parts, text);
}

enum status decimal_fixed(uint64_t *value, bool *exact, const char *text, unsigned places)
{
    struct parts parts;
    *value = 0;
    *exact = true;
    if (!take_apart(&parts, text)) {
        return STATUS_INVALID;
    }
    /* Digit i has the weight 10^(point - 1 - i): those before `kept` are whole after the shift. */
    int kept = parts.point + (int)places;
    uint64_t sum = 0;
    bool any = false;
    for (int i = 0; i < parts.digit_count; i++) {
        any = any || parts.digit[i] != '0';
        if (i >= kept) {
            *exact = *exact && parts.digit[i] == '0';
        }
    }
    for (int i = 0; i < kept && any; i++) {
        uint64_t digit = i < parts.digit_count ? (uint64_t)(parts.digit[i] - '0') : 0;
        if (sum > (UINT64_MAX - digit) / 10) {
            sum = UINT64_MAX;
            break;
        }
        sum = 10 * sum + digit;
    }
    *value = sum;
    return parts.negative && any ? STATUS_INVALID : STATUS_OK;
}

enum status decimal_double(double *value, const char *text)
{
    *value = 0;
    if (!decimal_is_number(text)) {
        return STATUS_INVALID;
    }
    /* The programs never call setlocale, so the point is a point. */
    double number = strtod(text, NULL);
    if (!isfinite(number)) {
        return STATUS_INVALID;
    }
    *value = number;
    return STATUS_OK;
}

void decimal_format(char *text, size_t text_bytes, uint64_t value, unsigned places)
{
    char digits[48];
    CHECK(places <= 20);
    int length =
        snprintf(digits, sizeof digits, "%0*llu", (int)places + 1, (unsigned long long)value);
    int whole = length - (int)places;
    while (length > whole && digits[length - 1] == '0') {
        length--;
    }
    (void)snprintf(text, text_bytes, "%.*s%s%.*s", whole, digits, length > whole ? "." : "",
                   length - whole, digits + whole);
}
