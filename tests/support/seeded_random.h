/* seeded_random.h - a random source that anyone can repeat: for tests, and for `simulate --seed`,
 * whose results say NOT PRIVATE. Never for an answer. */

#ifndef SUPPORT_SEEDED_RANDOM_H
#define SUPPORT_SEEDED_RANDOM_H

#include "base/random.h"

#include <stdint.h>

struct seeded_random {
    uint64_t state[4];
    uint64_t rest; /* bytes of the last word that are not handed out yet */
    unsigned rest_bytes;
    uint64_t drawn_bytes;   /* so far */
    uint64_t failing_after; /* fill fails once it would hand out more bytes in all; 0 is never */
};

/** Starts over from a seed. The stream of bytes depends on the seed alone, not on how it is cut. */
void seeded_random_init(struct seeded_random *seeded, uint64_t seed);

/** Returns the source as an interface; keeps seeded. */
struct random seeded_random_interface(struct seeded_random *seeded);

/** Starts a program's one source and returns it. */
struct random seeded_random_of_program(uint64_t seed);

/** The next 64-bit word; a number below end (> 0); a double in [0, 1). To build inputs from. */
uint64_t seeded_random_word(struct seeded_random *seeded);
uint64_t seeded_random_below(struct seeded_random *seeded, uint64_t end);
double seeded_random_unit(struct seeded_random *seeded);

/** Laplace noise of that scale, from one draw. */
double seeded_random_laplace(struct seeded_random *seeded, double scale);

/** A standard normal number, from two draws (Box and Muller 1958). */
double seeded_random_normal(struct seeded_random *seeded);

#endif
