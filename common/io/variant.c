#include "io/variant.h"

#include <stddef.h>

const struct variant program_variant = {.random = NULL, .observe = NULL};
