/* check.h - a programmer's error stops the program, in every build. */

#ifndef BASE_CHECK_H
#define BASE_CHECK_H

/** Prints file, line and condition to standard error and aborts. */
_Noreturn void check_failed(const char *condition, const char *file, int line);

/* For what only a wrong program can cause. Nothing from a network, a file or a user reaches it. */
#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__))

#endif
