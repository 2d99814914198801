/* cells.h - what a table's cells are, column by column, as lines for the person who holds it. */

#ifndef LEARN_CELLS_H
#define LEARN_CELLS_H

#include "learn/dataset.h"

#include <stdio.h>

/**
 * Prints every column in which cells are missing, unlisted or clamped, with the counts, and how many
 * rows do not have the header line's fields. Prints nothing where there is none.
 *
 * prefix  in  what every line begins with
 *
 * Privacy: exact counts over records. For the screen of whoever holds them, and for no log.
 */
void cells_show(FILE *stream, const char *prefix, const struct dataset *data,
                const struct schema *schema);

#endif
