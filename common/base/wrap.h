/* wrap.h - sentences on a terminal, whose lines fit 80 columns. */

#ifndef BASE_WRAP_H
#define BASE_WRAP_H

#include <stdio.h>

enum { WRAP_COLUMNS = 79, WRAP_BYTES = 2048 /* of one text */ };

/** As wrap_print, in so many columns. */
void wrap_print_in(FILE *out, int columns, int used, int indent, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Prints a text, broken at spaces so that every line fits 80 columns; a longer word stays whole.
 * used: columns of the first line that are taken; indent: spaces before each line after it. */
void wrap_print(FILE *out, int used, int indent, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
