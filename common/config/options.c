#include "config/options.h"

#include "base/decimal.h"
#include "base/near.h"

#include <string.h>

enum { OPTIONS_MAX = 32 };

static const struct option *find(const struct option *option, size_t option_count, const char *name,
                                 size_t length)
{
    for (size_t i = 0; i < option_count; i++) {
        if (name == NULL ? option[i].name == NULL
                         : option[i].name != NULL && strlen(option[i].name) == length &&
                               memcmp(option[i].name, name, length) == 0) {
            return &option[i];
        }
    }
    return NULL;
}

static bool read_number(const struct option *option, uint64_t min, uint64_t max, const char *text)
{
    uint64_t value = 0;
    size_t digits = strlen(text);
    if (digits == 0 || digits > 18 || strspn(text, "0123456789") != digits) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    if (option->whole != NULL) {
        *option->whole = (double)value;
    } else {
        *option->number = value;
    }
    return value >= min && value <= max;
}

static enum status take(const struct option *option, const char *value, bool seen, struct why *why)
{
    const char *name = option->name == NULL ? option->what : option->name;
    if (seen && option->name == NULL && option->many == NULL) {
        return why_refuse(why, "\"%s\" is one argument too many: %s is given already", value, name);
    }
    if (seen && option->many == NULL) {
        return why_refuse(why, "%s is given twice", name);
    }
    if (option->given != NULL) {
        *option->given = true;
    }
    if (option->flag != NULL) {
        *option->flag = true;
        return STATUS_OK;
    }
    if (option->text != NULL && value[0] != '\0') {
        *option->text = value;
        return STATUS_OK;
    }
    if (option->many != NULL && option->many->count < OPTION_MANY_MAX) {
        option->many->value[option->many->count++] = value;
        return STATUS_OK;
    }
    if (option->real != NULL && decimal_double(option->real, value) == STATUS_OK) {
        return STATUS_OK;
    }
    const bool is_number = option->number != NULL || option->whole != NULL;
    const uint64_t min = option->whole != NULL ? 1 : option->min;
    const uint64_t max = option->whole != NULL ? UINT64_C(1) << 53 : option->max;
    if (is_number && read_number(option, min, max, value)) {
        return STATUS_OK;
    }
    if (is_number) {
        why_set(why, "%s wants a whole number from %llu to %llu", name, (unsigned long long)min,
                (unsigned long long)max);
    } else if (option->real != NULL) {
        why_set(why, "%s wants a number after it, like 0.5 or 1e-6", name);
    } else if (option->many != NULL) {
        why_set(why, "%s is given more than %d times", name, (int)OPTION_MANY_MAX);
    } else {
        why_set(why, "%s wants %s, not an empty text", name, option->what);
    }
    return STATUS_INVALID;
}

/* The value of "--name=value", or the next argument; NULL when there is none. */
static const char *value_of(const char *equals, int count, char **argument, int *at)
{
    if (equals != NULL) {
        return equals + 1;
    }
    if (*at + 1 < count) {
        *at += 1;
        return argument[*at];
    }
    return NULL;
}

static enum status refuse_word(const struct option *option, size_t option_count, struct slice word,
                               bool named, struct why *why)
{
    char hint[NEAR_HINT_BYTES];
    struct near near = near_to(word);
    for (size_t i = 0; named && i < option_count; i++) {
        if (option[i].name != NULL) {
            near_offer(&near, option[i].name);
        }
    }
    return why_refuse(why,
                      named ? "there is no option %.*s%s" : "\"%.*s\" is one argument too many%s",
                      (int)word.size, (const char *)word.data, near_hint(hint, &near));
}

enum status options_read(const struct option *option, size_t option_count, int count,
                         char **argument, struct why *why)
{
    bool seen[OPTIONS_MAX] = {false};
    for (int i = 0; i < count; i++) {
        const char *word = argument[i];
        bool named = word[0] == '-' && word[1] != '\0';
        const char *equals = named ? strchr(word, '=') : NULL;
        size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
        const struct option *found = find(option, option_count, named ? word : NULL, length);
        if (found == NULL) {
            return refuse_word(option, option_count, (struct slice){word, length}, named, why);
        }
        const char *value = word;
        if (found->flag != NULL && equals != NULL) {
            return why_refuse(why, "%s takes no value", found->name);
        }
        if (named && found->flag == NULL) {
            value = value_of(equals, count, argument, &i);
        }
        if (value == NULL) {
            return why_refuse(why, "%s wants %s after it", found->name, found->what);
        }
        enum status status = take(found, value, seen[found - option], why);
        if (status != STATUS_OK) {
            return status;
        }
        seen[found - option] = true;
    }
    for (size_t i = 0; i < option_count; i++) {
        if (option[i].required && !seen[i]) {
            return why_refuse(why, "%s%s%s is missing",
                              option[i].name == NULL ? "" : option[i].name,
                              option[i].name == NULL ? "" : " ", option[i].what);
        }
    }
    return STATUS_OK;
}
