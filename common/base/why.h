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

/** Does the same and returns the status that the sentence goes with. */
enum status why_fail(struct why *why, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Does the same and returns STATUS_INVALID: the end of a check that refuses. */
enum status why_refuse(struct why *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Says that a file cannot be read, written or the like: its name, the system's reason, and where the disk is full what
 * to do. doing: a participle. problem: an errno. */
void why_file(struct why *why, const char *path, const char *doing, int problem);

#endif
