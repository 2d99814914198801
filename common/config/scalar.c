#include "config/scalar.h"

#include "base/check.h"
#include "base/decimal.h"
#include "base/near.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 40, NAMES_MAX = 64 };

static bool problem_set(char *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Always returns false, so that a check can end with it. */
static bool problem_set(char *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(problem, SCALAR_PROBLEM_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

/* Shows a value in quotes, cut, and only what surely prints. */
static const char *shown(char out[static SHOWN_BYTES], const char *text)
{
    size_t length = 0;
    out[length++] = '"';
    for (; *text != '\0' && length + 5 < SHOWN_BYTES; text++) {
        out[length++] = *text >= ' ' && *text <= '~' ? *text : '?';
    }
    (void)snprintf(out + length, SHOWN_BYTES - length, "%s", *text != '\0' ? "...\"" : "\"");
    return out;
}

void scalar_suggest(char problem[static SCALAR_PROBLEM_BYTES], const char *what, const char *text,
                    const char *const *name, size_t count)
{
    char value[SHOWN_BYTES];
    char hint[NEAR_HINT_BYTES];
    struct near near = near_to((struct slice){text, strlen(text)});
    for (size_t i = 0; i < count; i++) {
        near_offer(&near, name[i]);
    }
    if (near_name(&near) != NULL) {
        (void)problem_set(problem, "%s %s%s", shown(value, text), what, near_hint(hint, &near));
        return;
    }
    (void)problem_set(problem, "%s %s; known here: ", shown(value, text), what);
    for (size_t i = 0; i < count; i++) {
        const size_t mark = i + 1 < count ? sizeof ", ..." : 1;
        if (strlen(problem) + strlen(name[i]) + 2 + mark > SCALAR_PROBLEM_BYTES) {
            text_add(problem, SCALAR_PROBLEM_BYTES, ", ...");
            return;
        }
        text_add(problem, SCALAR_PROBLEM_BYTES, "%s%s", i > 0 ? ", " : "", name[i]);
    }
}

bool scalar_choice(const struct config_key *key, unsigned *index, const char *text,
                   char problem[static SCALAR_PROBLEM_BYTES])
{
    const char *name[NAMES_MAX];
    size_t count = 0;
    for (; count < NAMES_MAX && key->choice((unsigned)count) != NULL; count++) {
        name[count] = key->choice((unsigned)count);
        if (strcmp(name[count], text) == 0) {
            *index = (unsigned)count;
            return true;
        }
    }
    scalar_suggest(problem, "is not a choice", text, name, count);
    return false;
}

static bool is_name_byte(char c, bool first)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || (!first && (c == '.' || c == '_' || c == '-'));
}

static bool store_text(const struct config_key *key, char *member, const char *text, char *problem)
{
    size_t length = strlen(text);
    if (length >= key->size) {
        return problem_set(problem, "is longer than %zu bytes", key->size - 1);
    }
    for (size_t i = 0; key->type == CONFIG_NAME && i < length; i++) {
        if (!is_name_byte(text[i], i == 0)) {
            return problem_set(
                problem,
                "may hold the letters a-z and A-Z, digits, '.', '_' and '-', beginning with a "
                "letter or digit: for example %s",
                key->example);
        }
    }
    memcpy(member, text, length + 1);
    return true;
}

static void store_whole(const struct config_key *key, void *member, uint64_t value)
{
    if (key->size == sizeof(uint32_t)) {
        uint32_t narrow = (uint32_t)value;
        CHECK(narrow == value);
        memcpy(member, &narrow, sizeof narrow);
        return;
    }
    CHECK(key->size == sizeof value);
    memcpy(member, &value, sizeof value);
}

/* Quotes make a text of what is written in them. */
static bool refuse_quoted(const char *text, char *problem)
{
    char value[SHOWN_BYTES];
    return problem_set(problem, "%s is a text, because it is in quotes: remove the quotes",
                       shown(value, text));
}

/* Whether the text is a number but for a comma in place of its point; point: the number. */
static bool has_comma(char point[static SHOWN_BYTES], const char *text)
{
    const char *comma = strchr(text, ',');
    if (comma == NULL || strlen(text) >= SHOWN_BYTES) {
        return false;
    }
    (void)snprintf(point, SHOWN_BYTES, "%s", text);
    point[comma - text] = '.';
    return decimal_is_number(point);
}

/* A whole number's comma stands before thousands: 3.200 would be a little more than 3. point: the number
 * with a point. */
static bool refuse_comma(const char *text, char point[static SHOWN_BYTES], bool integer,
                         char *problem)
{
    char value[SHOWN_BYTES];
    char *behind = strchr(point, '.') + 1;
    if (!integer) {
        return problem_set(problem, "%s has a decimal comma: write %s", shown(value, text), point);
    }
    if (strlen(behind) == 3) {
        memmove(behind - 1, behind, strlen(behind) + 1);
        return problem_set(problem, "%s has a comma: write %s", shown(value, text), point);
    }
    return problem_set(problem, "%s has a decimal comma, and is no whole number",
                       shown(value, text));
}

bool scalar_comma(const struct config_key *key, const char *text, const char *behind,
                  char problem[static SCALAR_PROBLEM_BYTES])
{
    char whole[2 * SHOWN_BYTES];
    char point[SHOWN_BYTES];
    const bool integer = key->type == CONFIG_INTEGER || key->type == CONFIG_PORTION;
    if ((!integer && key->type != CONFIG_FIXED && key->type != CONFIG_DECIMAL) || key->list ||
        behind[0] == '\0' || strspn(behind, "0123456789") != strlen(behind) ||
        !decimal_is_number(text)) {
        return false;
    }
    (void)snprintf(whole, sizeof whole, "%s,%s", text, behind);
    if (!has_comma(point, whole)) {
        return false;
    }
    (void)refuse_comma(whole, point, integer, problem);
    return true;
}

/* INTEGER is FIXED without places, where nothing may be cut off. */
static bool store_fixed(const struct config_key *key, void *member, const char *text, bool quoted,
                        char *problem)
{
    char value[SHOWN_BYTES];
    char point[SHOWN_BYTES];
    char low[32];
    char high[32];
    uint64_t number = 0;
    bool exact = false;
    bool integer = key->type == CONFIG_INTEGER;
    if (quoted && decimal_is_number(text)) {
        return refuse_quoted(text, problem);
    }
    if (has_comma(point, text)) {
        return refuse_comma(text, point, integer, problem);
    }
    if (quoted || !decimal_is_number(text)) {
        return problem_set(problem, "%s is not %s: write it like %s", shown(value, text),
                           integer ? "a whole number" : "a number", key->example);
    }
    enum status status = decimal_fixed(&number, &exact, text, key->places);
    if (status == STATUS_OK && !exact && (integer || key->exact)) {
        return integer ? problem_set(problem, "%s is not a whole number: write it like %s",
                                     shown(value, text), key->example)
                       : problem_set(problem, "%s has more than %u decimal places: round it",
                                     shown(value, text), key->places);
    }
    if (status != STATUS_OK || number < key->min || number > key->max) {
        decimal_format(low, sizeof low, key->min, key->places);
        decimal_format(high, sizeof high, key->max, key->places);
        return problem_set(problem, "%s is out of range: write a number from %s to %s",
                           shown(value, text), low, high);
    }
    store_whole(key, member, number);
    return true;
}

/* 0.25 was meant as a share: 25 %. */
static bool refuse_fraction(const char *text, char *problem)
{
    char value[SHOWN_BYTES];
    char percent[32];
    uint64_t share;
    bool exact;
    if (decimal_fixed(&share, &exact, text, PORTION_PLACES + 2) != STATUS_OK || share == 0 ||
        share >= PORTION_ONE) {
        return false;
    }
    decimal_format(percent, sizeof percent, share, PORTION_PLACES);
    return !problem_set(problem,
                        "%s is not a whole number: a share of the records is written %s %%",
                        shown(value, text), percent);
}

/* A number, or a number followed by %. */
static bool store_portion(const struct config_key *key, struct config_portion *member,
                          const char *text, bool quoted, char *problem)
{
    struct config_key share = {.type = CONFIG_FIXED,
                               .exact = true,
                               .places = PORTION_PLACES,
                               .size = sizeof member->share_nano,
                               .min = 1,
                               .max = PORTION_ONE,
                               .example = "20 %"};
    struct config_key number = *key;
    char value[SHOWN_BYTES];
    char percent[SHOWN_BYTES];
    size_t length = strlen(text);
    CHECK(key->size == sizeof *member);
    *member = (struct config_portion){0};
    if (length == 0 || text[length - 1] != '%') {
        number.type = CONFIG_INTEGER;
        number.size = sizeof member->count;
        if (!quoted && decimal_is_number(text) && refuse_fraction(text, problem)) {
            return false;
        }
        return store_fixed(&number, &member->count, text, quoted, problem);
    }
    if (quoted) {
        return refuse_quoted(text, problem);
    }
    length--;
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    if (length == 0 || length >= sizeof percent) {
        return problem_set(problem, "%s is not a share: write it like 20 %%", shown(value, text));
    }
    memcpy(percent, text, length);
    percent[length] = '\0';
    return store_fixed(&share, &member->share_nano, percent, quoted, problem);
}

static bool store_decimal(const struct config_key *key, void *member, const char *text, bool quoted,
                          char *problem)
{
    char value[SHOWN_BYTES];
    char point[SHOWN_BYTES];
    double number = 0;
    if (quoted && decimal_is_number(text)) {
        return refuse_quoted(text, problem);
    }
    if (has_comma(point, text)) {
        return refuse_comma(text, point, false, problem);
    }
    if (quoted || !decimal_is_number(text)) {
        return problem_set(problem, "%s is not a number: write it like %s", shown(value, text),
                           key->example);
    }
    if (decimal_double(&number, text) != STATUS_OK || number < key->low || number > key->high) {
        return problem_set(problem, "%s is out of range: write a number from %g to %g",
                           shown(value, text), key->low, key->high);
    }
    CHECK(key->size == sizeof number);
    memcpy(member, &number, sizeof number);
    return true;
}

static bool store_flag(void *member, const char *text, bool quoted, char *problem)
{
    char value[SHOWN_BYTES];
    bool flag = strcmp(text, "true") == 0;
    if (quoted && (flag || strcmp(text, "false") == 0)) {
        return refuse_quoted(text, problem);
    }
    if (quoted || (!flag && strcmp(text, "false") != 0)) {
        return problem_set(problem, "%s is neither true nor false: write one of the two",
                           shown(value, text));
    }
    memcpy(member, &flag, sizeof flag);
    return true;
}

bool scalar_store(const struct config_key *key, void *member, const char *text, bool quoted,
                  char problem[static SCALAR_PROBLEM_BYTES])
{
    unsigned index = 0;
    if (text[0] == '\0' || (!quoted && (strcmp(text, "~") == 0 || strcmp(text, "null") == 0))) {
        return problem_set(problem, "has no value: write it like %s%s", key->example,
                           key->required || key->list ? "" : ", or remove the key");
    }
    switch (key->type) {
    case CONFIG_TEXT:
    case CONFIG_NAME:
        return store_text(key, member, text, problem);
    case CONFIG_INTEGER:
    case CONFIG_FIXED:
        return store_fixed(key, member, text, quoted, problem);
    case CONFIG_PORTION:
        return store_portion(key, member, text, quoted, problem);
    case CONFIG_DECIMAL:
        return store_decimal(key, member, text, quoted, problem);
    case CONFIG_FLAG:
        return store_flag(member, text, quoted, problem);
    case CONFIG_CHOICE:
        CHECK(key->size == sizeof index);
        if (!scalar_choice(key, &index, text, problem)) {
            return false;
        }
        memcpy(member, &index, sizeof index);
        return true;
    case CONFIG_SET:
    case CONFIG_TABLE:
    case CONFIG_ROWS:
        break;
    }
    CHECK(key->type != CONFIG_SET && key->type != CONFIG_TABLE);
    return false;
}
