/* table1_advice.c - a column as it may be found when it is asked again. The rules of what is given of a number, and of an AUC, ask for
 * how many there are, and not for how they lie. */

#include "base/check.h"
#include "estimate/advice.h"
#include "estimate/table1_private.h"

#include <math.h>

static struct linear class_of(const struct table1_column *column, size_t class, size_t classes)
{
    const size_t wide = column->levels / classes;
    bool of[TABLE1_LEVELS_MAX] = {false};
    for (size_t k = class * wide; k < (class + 1) * wide; k++) {
        of[k] = true;
    }
    return present_of(column, of);
}

double least_again(const struct linear *own, const struct linear *next, double times)
{
    const double chance = times > 1 ? times * fmax(own->value, 0) : 0; /* other records */
    const struct advice_asked asked = {.found = own->value,
                                       .deviation = sqrt(own->variance),
                                       .times = times,
                                       .deviation_again = sqrt(next->variance + chance)};
    return advice_least(&asked);
}

bool table1_column_again(struct table1_column *out, const struct table1_column *found, double times,
                         size_t classes)
{
    const size_t wide = out->levels / classes;
    bool is_there = true;
    CHECK(classes > 0 && out->levels % classes == 0 && found->levels % classes == 0);
    for (size_t class = 0; class < classes; class ++) {
        const struct linear own = class_of(found, class, classes);
        const struct linear next = class_of(out, class, classes);
        const double least = least_again(&own, &next, times);
        is_there = is_there && least > 0;
        for (size_t k = class * wide; k < (class + 1) * wide; k++) {
            out->cell[k] = least / (double)wide;
        }
    }
    return is_there;
}
