/* plural.h - the words behind a number: "1 key", "2 keys". */

#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

#include <stdint.h>

static inline const char *plural_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static inline const char *plural_are(uint64_t count)
{
    return count == 1 ? "is" : "are";
}

#endif
