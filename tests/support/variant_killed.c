/* What only -killed programs have: a step at which they die. */

#include "io/variant.h"
#include "support/kill_at.h"

const struct variant program_variant = {.random = NULL, .observe = kill_at_observe};
