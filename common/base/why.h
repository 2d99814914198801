/* why.h - the sentence that goes with a status: what is wrong, where, and what to do about it. For
 * functions whose input comes from a person, who will read it. */

#ifndef BASE_WHY_H
#define BASE_WHY_H

enum { WHY_BYTES = 512 };

struct why {
    char text[WHY_BYTES];
};

/** Replaces the sentence; cut at WHY_BYTES - 1. why may be NULL. */
void why_set(struct why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
