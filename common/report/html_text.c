#include "report/html_parts.h"

#include <math.h>
#include <stddef.h>

void html_text(FILE *page, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            (void)fputs("&amp;", page);
            break;
        case '<':
            (void)fputs("&lt;", page);
            break;
        case '>':
            (void)fputs("&gt;", page);
            break;
        case '"':
            (void)fputs("&quot;", page);
            break;
        case '\'':
            (void)fputs("&#39;", page);
            break;
        default:
            if ((unsigned char)*c < 0x20 || *c == 0x7f) {
                (void)fputs("&#xfffd;", page);
            } else {
                (void)fputc(*c, page);
            }
        }
    }
}

void html_json(FILE *page, const char *json)
{
    for (const char *c = json; *c != '\0'; c++) {
        if (*c == '<' || *c == '>' || *c == '&') {
            (void)fprintf(page, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            (void)fputc(*c, page);
        }
    }
}

void html_number(FILE *page, double value, int decimals)
{
    if (isfinite(value)) {
        (void)fprintf(page, "%.*f", decimals, value);
    } else {
        (void)fputs("\xe2\x80\x93", page);
    }
}

void html_percent(FILE *page, double share)
{
    html_number(page, 100.0 * share, 1);
    if (isfinite(share)) {
        (void)fputc('%', page);
    }
}

void html_count(FILE *page, size_t count, bool capital)
{
    static const char *const word[] = {"no",    "one",   "two",  "three", "four",   "five",  "six",
                                       "seven", "eight", "nine", "ten",   "eleven", "twelve"};
    if (count >= sizeof word / sizeof word[0]) {
        (void)fprintf(page, "%zu", count);
        return;
    }
    if (capital) {
        (void)fputc(word[count][0] - 'a' + 'A', page);
        (void)fputs(word[count] + 1, page);
    } else {
        (void)fputs(word[count], page);
    }
}

void html_grouped(FILE *page, size_t count)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%zu", count);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            (void)fputc(',', page);
        }
        (void)fputc(digits[i], page);
    }
}
