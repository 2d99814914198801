/* check.h - a programmer's error stops the program, in every build. */

#ifndef BASE_CHECK_H
#define BASE_CHECK_H

#include <assert.h>
#include <stddef.h>

/** Prints file, line and condition to standard error and aborts. */
_Noreturn void check_failed(const char *condition, const char *file, int line);

/* For what only a wrong program can cause. Nothing from a network, a file or a user reaches it. */
#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__))

/* A table of one entry for each value of an enum, whose last enumerator counts the others: one more
 * value without an entry does not compile. */
#define CHECK_TABLE(table, count)                                                                  \
    static_assert(sizeof(table) / sizeof((table)[0]) == (size_t)(count),                           \
                  #table " has not one entry for each of " #count)

#endif
