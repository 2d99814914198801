/* decimal.h - numbers as people write them: an optional minus, digits without needless zeros, a
 * point and digits, an exponent. No comma, no hexadecimal, no infinity, nothing after them. Cells of tables may be
 * written a little more freely. */

#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include "base/bytes.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DECIMAL_TEXT_BYTES = 64, DECIMAL_SHORT_MOST = 9 /* digits */ };

/** Answers whether text is such a number of fewer than DECIMAL_TEXT_BYTES. */
bool decimal_is_number(const char *text);

/**
 * Returns floor(number * 10^places) in integer arithmetic; UINT64_MAX when it is larger.
 *
 * value  out
 * exact  out  whether nothing was cut off
 *
 * Fails with STATUS_INVALID when text is not a number or is negative.
 */
MUST_USE enum status decimal_fixed(uint64_t *value, bool *exact, const char *text, unsigned places);

/** Reads the nearest double. Fails with STATUS_INVALID when text is not a number or not finite. */
MUST_USE enum status decimal_double(double *value, const char *text);

/** Reads a cell of a table as other programs write it: as above, and also with a plus, needless zeros, digits on one side
 * of the point alone; at most 64 bytes, whatever the locale. Fails with STATUS_INVALID, also when it is too large for a
 * double; *value is then as before. */
MUST_USE enum status decimal_cell(double *value, struct slice text);

/** Answers whether the cell would be a number if its first comma were a point. */
bool decimal_cell_has_comma(struct slice text);

/** Writes value / 10^places without needless zeros: (1500000, 6) -> "1.5". places at most 20. */
void decimal_format(char *text, size_t text_bytes, uint64_t value, unsigned places);

/* A number in few digits, for people. */
struct decimal_short {
    char text[32];
};

/** Returns it with that many significant digits, 1 to DECIMAL_SHORT_MOST: as printf's %g, but from 1,000 (of three digits) to
 * 10^15 its whole digits and no exponent: 1234 and not 1.23e+03. */
struct decimal_short decimal_short(double value, int digits);

#endif
