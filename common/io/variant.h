/* variant.h - what the programs that tests start have beside the installed ones: they draw from a seed, or die at a chosen step. */

#ifndef IO_VARIANT_H
#define IO_VARIANT_H

#include "base/random.h"

#include <stdint.h>

struct variant {
    struct random (*random)(uint64_t seed); /* NULL: the program knows no --simulate-seed */
    void (*observe)(void *self, const char *step,
                    unsigned count); /* NULL, or a driver's observer */
};

/* An installed program is linked with variant.c, in which all is NULL. A variant of it (house_variant() of cmake/House.cmake) is
 * linked from the same objects with a definition of its own, so that no program includes what belongs to tests. */
extern const struct variant program_variant;

#endif
