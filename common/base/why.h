/* why.h - the sentence that goes with a status: what is wrong, where, and what to do about it. For
 * functions whose input comes from a person, who will read it. */

#ifndef BASE_WHY_H
#define BASE_WHY_H

#include "base/status.h"

enum { WHY_BYTES = 512 };

struct why {
    char text[WHY_BYTES];
};

/** Replaces the sentence; cut at WHY_BYTES - 1. why may be NULL. */
void why_set(struct why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Does the same and returns the status that the sentence goes with. A macro, so that compilers and checkers see which one. */
#define why_fail(why, which, ...) (why_set((why), __VA_ARGS__), (enum status)(which))

/** Does the same and returns STATUS_INVALID: the end of a check that refuses. */
#define why_refuse(why, ...) why_fail(why, STATUS_INVALID, __VA_ARGS__)

/** Says that a file cannot be read, written or the like: its name, the system's reason, and where the disk is full what
 * to do. doing: a participle. problem: an errno. */
void why_file(struct why *why, const char *path, const char *doing, int problem);

#endif
