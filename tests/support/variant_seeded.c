/* What only -seeded programs have: noise and choices from a seed. */

#include "io/variant.h"
#include "support/seeded_random.h"

const struct variant program_variant = {.random = seeded_random_of_program, .observe = NULL};
