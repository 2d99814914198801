#include "learn/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES_MAX = 64 };

static size_t skip_digits(const char *text, size_t at, size_t size)
{
    while (at < size && text[at] >= '0' && text[at] <= '9') {
        at++;
    }
    return at;
}

static size_t skip_sign(const char *text, size_t at, size_t size)
{
    return at < size && (text[at] == '+' || text[at] == '-') ? at + 1 : at;
}

static bool has_number_shape(const char *text, size_t size)
{
    size_t at = skip_sign(text, 0, size);
    size_t next = skip_digits(text, at, size);
    size_t digits = next - at;
    at = next;
    if (at < size && text[at] == '.') {
        next = skip_digits(text, at + 1, size);
        digits += next - at - 1;
        at = next;
    }
    if (digits == 0) {
        return false;
    }
    if (at < size && (text[at] == 'e' || text[at] == 'E')) {
        at = skip_sign(text, at + 1, size);
        next = skip_digits(text, at, size);
        if (next == at) {
            return false;
        }
        at = next;
    }
    return at == size;
}

enum status number_parse(double *number, struct slice text)
{
    char copy[NUMBER_BYTES_MAX + 1];
    if (text.size == 0 || text.size > NUMBER_BYTES_MAX || !has_number_shape(text.data, text.size)) {
        return STATUS_INVALID;
    }
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    /* strtod reads the process's decimal point; the C locale's is the one we mean. glibc hands out
     * a constant for the whole C locale, so this costs nothing. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return STATUS_INVALID;
    }
    locale_t before = uselocale(plain);
    const double value = strtod(copy, NULL);
    uselocale(before);
    freelocale(plain);
    if (!isfinite(value)) {
        return STATUS_INVALID;
    }
    *number = value;
    return STATUS_OK;
}

bool number_has_comma(struct slice text)
{
    char copy[NUMBER_BYTES_MAX];
    double ignored = 0;
    const char *comma =
        text.size > 0 && text.size <= sizeof copy ? memchr(text.data, ',', text.size) : NULL;
    if (comma == NULL) {
        return false;
    }
    memcpy(copy, text.data, text.size);
    copy[comma - (const char *)text.data] = '.';
    return number_parse(&ignored, (struct slice){copy, text.size}) == STATUS_OK;
}
