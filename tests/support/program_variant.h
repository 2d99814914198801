/* program_variant.h - what the variants of the daemons have that an installed daemon has not: -seeded draws from a seed and takes
 * --simulate-seed, -killed is ended at a chosen step. */

#ifndef SUPPORT_PROGRAM_VARIANT_H
#define SUPPORT_PROGRAM_VARIANT_H

#ifdef HEDGEROW_SEEDED
#include "tests/support/seeded_random.h"
#define VARIANT_RANDOM seeded_random_of_program
/* A further row of the options of `run`; asked is the program's struct arguments. */
#define VARIANT_SEED(asked)                                                                        \
    ,                                                                                              \
    {                                                                                              \
        .name = "--simulate-seed", .number = &(asked).seed, .max = UINT64_MAX,                     \
        .given = &(asked).seeded, .what = "N"                                                      \
    }
#else
#define VARIANT_RANDOM NULL
#define VARIANT_SEED(asked)
#endif

#ifdef HEDGEROW_OBSERVED
#include "tests/support/kill_at.h"
#define VARIANT_OBSERVE kill_at_observe
#else
#define VARIANT_OBSERVE NULL
#endif

#endif
