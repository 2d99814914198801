/* keys.h - one line for each key of a table of keys (config.h). Define KEY_OF, the struct that a table fills, before the table,
 * and undefine it behind. Each row names the key, its member and its range, then says whether it must be there, with a good
 * value for messages: REQUIRED("10"), REQUIRED_UNLESS("other", "10") where another key may stand in its place, OPTIONAL("10"),
 * or DEFAULT("20", "10") with what a missing key means. Tables that config_template writes add DOC("what it is for."). */

#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include "config/config.h"

/* clang-format off */
#define KEY_IN(name_, member_, type_, ...) {.name = name_, .type = CONFIG_##type_, CONFIG_IN(KEY_OF, member_), __VA_ARGS__}
#define KEY_LIST(name_, member_, count_, most_, type_, ...) \
    {.name = name_, .type = CONFIG_##type_, CONFIG_LIST_IN(KEY_OF, member_, count_), .items_max = most_, __VA_ARGS__}
#define KEY_FROM(min_, max_)  .min = (min_), .max = (max_)
#define KEY_RANGE(low_, high_) .low = (low_), .high = (high_)

#define KEY_TEXT(name_, member_, ...)                  KEY_IN(name_, member_, TEXT, __VA_ARGS__)
#define KEY_NAME(name_, member_, ...)                  KEY_IN(name_, member_, NAME, __VA_ARGS__)
#define KEY_FLAG(name_, member_, ...)                  KEY_IN(name_, member_, FLAG, __VA_ARGS__)
#define KEY_WHOLE(name_, member_, min_, max_, ...)     KEY_IN(name_, member_, INTEGER, KEY_FROM(min_, max_), __VA_ARGS__)
#define KEY_PORTION(name_, member_, min_, max_, ...)   KEY_IN(name_, member_, PORTION, KEY_FROM(min_, max_), __VA_ARGS__)
#define KEY_NUMBER(name_, member_, low_, high_, ...)   KEY_IN(name_, member_, DECIMAL, KEY_RANGE(low_, high_), __VA_ARGS__)
#define KEY_CHOICE(name_, member_, choice_, ...)       KEY_IN(name_, member_, CHOICE, .choice = choice_, __VA_ARGS__)
#define KEY_TABLE(name_, member_, keys_, ...)          KEY_IN(name_, member_, TABLE, .keys = keys_, __VA_ARGS__)
/* A decimal number kept as an integer: rounded down, or refused when it has more decimals. */
#define KEY_FIXED(name_, member_, places_, min_, max_, ...) \
    KEY_IN(name_, member_, FIXED, .places = places_, KEY_FROM(min_, max_), __VA_ARGS__)
#define KEY_EXACT(name_, member_, places_, min_, max_, ...) \
    KEY_FIXED(name_, member_, places_, min_, max_, .exact = true, __VA_ARGS__)
/* Lists: of at most this many elements. */
#define KEY_SET(name_, member_, most_, choice_, ...) \
    KEY_IN(name_, member_, SET, .items_max = most_, .choice = choice_, __VA_ARGS__)
#define KEY_TEXTS(name_, member_, count_, most_, ...)  KEY_LIST(name_, member_, count_, most_, TEXT, __VA_ARGS__)
#define KEY_WHOLES(name_, member_, count_, most_, min_, max_, ...) \
    KEY_LIST(name_, member_, count_, most_, INTEGER, KEY_FROM(min_, max_), __VA_ARGS__)
#define KEY_NUMBERS(name_, member_, count_, most_, low_, high_, ...) \
    KEY_LIST(name_, member_, count_, most_, DECIMAL, KEY_RANGE(low_, high_), __VA_ARGS__)
#define KEY_TABLES(name_, member_, count_, most_, keys_, ...) \
    KEY_LIST(name_, member_, count_, most_, TABLE, .keys = keys_, __VA_ARGS__)
#define KEY_ROWS(name_, member_, count_, most_, keys_, ...) \
    KEY_LIST(name_, member_, count_, most_, ROWS, .keys = keys_, __VA_ARGS__)
#define KEY_END {.name = NULL}
/* Ends a table, and knows keys of other files by name. */
#define KEY_END_BUT(foreign_) {.name = NULL, .foreign = (foreign_)}

#define REQUIRED(example_)          .required = true, .example = example_
#define REQUIRED_UNLESS(other_, example_) .required = true, .unless = (other_), .example = example_
#define OPTIONAL(example_)          .example = example_
#define DEFAULT(fallback_, example_) .fallback = (fallback_), .example = (example_)
#define DOC(text_)                  .doc = text_
/* clang-format on */

#endif
