#include "base/decimal.h"

#include "base/check.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPONENT_MAX = 1000000 /* far beyond a double's */ };

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
    const char *begin = *text;
    for (; is_digit(**text); (*text)++) {
        parts->digit[parts->digit_count++] = **text;
    }
    return (int)(*text - begin);
}

static bool take_exponent(struct parts *parts, const char **text, bool strict)
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
    for (; is_digit(**text); (*text)++, count++) {
        exponent = exponent < EXPONENT_MAX ? 10 * exponent + (**text - '0') : exponent;
    }
    parts->point += down ? -exponent : exponent;
    return count >= 1 && (count <= 4 || !strict);
}

/* The one scanner. Returns whether the whole text, of at most DECIMAL_TEXT_BYTES, is a number: strictly as our own files
 * have them, or as cells do. */
static bool take_apart(struct parts *parts, const char *text, bool strict)
{
    *parts = (struct parts){.negative = *text == '-'};
    if (*text == '-' || (*text == '+' && !strict)) {
        text++;
    }
    const bool leading_zero = *text == '0';
    const int whole = take_digits(parts, &text);
    parts->point = whole;
    if (strict && (whole == 0 || (leading_zero && whole > 1))) {
        return false;
    }
    if (*text == '.') {
        text++;
        if (take_digits(parts, &text) == 0 && strict) {
            return false;
        }
    }
    return parts->digit_count > 0 && take_exponent(parts, &text, strict) && *text == '\0';
}

static bool take_strictly(struct parts *parts, const char *text)
{
    return strnlen(text, DECIMAL_TEXT_BYTES) < DECIMAL_TEXT_BYTES && take_apart(parts, text, true);
}

bool decimal_is_number(const char *text)
{
    struct parts parts;
    return take_strictly(&parts, text);
}

enum status decimal_fixed(uint64_t *value, bool *exact, const char *text, unsigned places)
{
    struct parts parts;
    *value = 0;
    *exact = true;
    if (!take_strictly(&parts, text)) {
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

enum status decimal_cell(double *value, struct slice text)
{
    struct parts parts;
    char copy[DECIMAL_TEXT_BYTES + 1];
    if (text.size == 0 || text.size > DECIMAL_TEXT_BYTES) {
        return STATUS_INVALID;
    }
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    if (strlen(copy) != text.size || !take_apart(&parts, copy, false)) {
        return STATUS_INVALID;
    }
    /* strtod reads the process's decimal point; the C locale's is the one we mean. glibc hands out
     * a constant for the whole C locale, so this costs nothing. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return STATUS_INVALID;
    }
    locale_t before = uselocale(plain);
    const double number = strtod(copy, NULL);
    uselocale(before);
    freelocale(plain);
    if (!isfinite(number)) {
        return STATUS_INVALID;
    }
    *value = number;
    return STATUS_OK;
}

bool decimal_cell_has_comma(struct slice text)
{
    char copy[DECIMAL_TEXT_BYTES];
    double ignored = 0;
    const char *comma =
        text.size > 0 && text.size <= sizeof copy ? memchr(text.data, ',', text.size) : NULL;
    if (comma == NULL) {
        return false;
    }
    memcpy(copy, text.data, text.size);
    copy[comma - (const char *)text.data] = '.';
    return decimal_cell(&ignored, (struct slice){copy, text.size}) == STATUS_OK;
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

struct decimal_short decimal_short(double value, int digits)
{
    static const double largest = 1e15;
    struct decimal_short out;
    CHECK(digits >= 1 && digits <= DECIMAL_SHORT_MOST);
    const double size = fabs(value);
    double limit = 1;
    for (int i = 0; i < digits; i++) {
        limit *= 10;
    }
    /* From where %g would round up to one digit more, which it writes with an exponent. */
    const bool is_whole = size >= limit - 0.5 && size < largest;
    if (!is_whole) {
        (void)snprintf(out.text, sizeof out.text, "%.*g", digits, value);
    } else {
        (void)snprintf(out.text, sizeof out.text, "%.0f", value);
    }
    return out;
}
