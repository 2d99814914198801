/* Compiled and never run: with PLANTED the enum has a value that the table has no entry for. */

#include "base/check.h"

enum colour {
    COLOUR_RED,
    COLOUR_GREEN,
#ifdef PLANTED
    COLOUR_BLUE,
#endif
    COLOUR_COUNT
};

static const char *const names[] = {[COLOUR_RED] = "red", [COLOUR_GREEN] = "green"};
CHECK_TABLE(names, COLOUR_COUNT);

const char *colour_name(enum colour colour);

const char *colour_name(enum colour colour)
{
    return colour < COLOUR_COUNT ? names[colour] : NULL;
}
