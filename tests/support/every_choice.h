/* every_choice.h - walks through every sequence of choices a program can make: run it again and
 * again, asking every_choice_of wherever it would draw, until every_choice_next says that nothing
 * is left.
 *
 *     struct every_choice every = {0};
 *     do {
 *         ... every_choice_of(&every, 3) ... every_choice_of(&every, 2) ...
 *     } while (every_choice_next(&every));
 */

#ifndef SUPPORT_EVERY_CHOICE_H
#define SUPPORT_EVERY_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVERY_CHOICE_DEPTH_MAX = 64 };

struct every_choice {
    uint32_t taken[EVERY_CHOICE_DEPTH_MAX];
    uint32_t options[EVERY_CHOICE_DEPTH_MAX];
    size_t depth; /* choices made so far in this run */
    size_t known; /* choices that the last run made */
};

/** Returns a number below options (> 0). CHECKs that a run makes at most EVERY_CHOICE_DEPTH_MAX
 * choices, the same as the last one up to the first that differs. */
uint32_t every_choice_of(struct every_choice *every, uint32_t options);

/** Ends a run; returns whether another one is left. */
bool every_choice_next(struct every_choice *every);

#endif
