/* number.h - decimal numbers, read strictly and independently of the locale. */

#ifndef LEARN_NUMBER_H
#define LEARN_NUMBER_H

#include "base/bytes.h"
#include "base/status.h"

#include <stdbool.h>

/** Reads [+-]digits[.digits][e[+-]digits] (digits on at least one side of the point), nothing
 * before and nothing after, at most 64 bytes. No 1,5, hexadecimal, inf or nan. Fails with
 * STATUS_INVALID, also when the number is too large for a double. */
MUST_USE enum status number_parse(double *number, struct slice text);

/** Answers whether the text would be a number if its first comma were a point. */
bool number_has_comma(struct slice text);

#endif
