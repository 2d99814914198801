/* text.h - texts: written piece by piece, printed, and embedded in a program. */

#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Adds to a text of at most bytes - 1; what does not fit is cut. */
void text_add(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void text_add_list(char *text, size_t bytes, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/** Closes the stream that open_memstream gave for a text. Fails with STATUS_NO_MEMORY if the text could not be held; then it is
 * freed and NULL. */
MUST_USE enum status text_close(char **text, FILE *stream);

/** Compares the texts that two items begin with: for qsort and bsearch. */
int text_order(const void *a, const void *b);

/* Sentences on a terminal, whose lines fit 80 columns. */

enum { WRAP_COLUMNS = 79, WRAP_BYTES = 2048 /* of one text */ };

/** As text_wrap, in that many columns. */
void text_wrap_in(FILE *out, int columns, int used, int indent, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Prints a text, broken at spaces so that every line fits 80 columns; a longer word stays whole.
 * used: columns of the first line that are taken; indent: spaces before each line after it. */
void text_wrap(FILE *out, int used, int indent, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A number with its word: "1 key", "2 keys". */

static inline const char *text_plural_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static inline const char *text_plural_are(uint64_t count)
{
    return count == 1 ? "is" : "are";
}

/** Writes out what standard output still holds. Call it last: a full disk or a closed pipe shows there.
 *
 * program  in  the name that the message begins with, on standard error
 * code     in  what the command came to
 *
 * Returns code, and EXIT_CODE_INTERNAL in place of EXIT_CODE_OK where something was lost. */
int text_end_output(const char *program, int code);

/* Text files that the build puts into a library or program: house_texts() of cmake/House.cmake. Tables end with a name NULL. */
struct embedded {
    const char *name; /* of the file, without its folder and .txt, and with a space for each '-' */
    const char *text;
};

/** Returns the text of that name; there must be one. */
const char *text_embedded(const struct embedded *table, const char *name);

#endif
