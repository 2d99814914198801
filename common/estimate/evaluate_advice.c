/* evaluate_advice.c - whether as many records would be found as a share of a score is a share of, were it asked again. The rule looks at
 * how many there are, and not at which of them have the event. */

#include "estimate/evaluate.h"
#include "estimate/table1_private.h"

static struct linear parts_of(const struct table1_column *column, unsigned parts)
{
    const size_t wide = column->levels / EVALUATE_PARTS;
    bool of[TABLE1_LEVELS_MAX] = {false};
    for (size_t k = 0; k < column->levels; k++) {
        of[k] = (parts >> k / wide & 1) != 0;
    }
    return present_of(column, of);
}

bool evaluate_share_again(const struct table1_column *again, const struct table1_column *found,
                          double times, unsigned parts)
{
    const struct linear own = parts_of(found, parts);
    const struct linear next = parts_of(again, parts);
    const double least = least_again(&own, &next, times);
    const struct linear shown = {.value = least, .variance = next.variance, .z = next.z};
    return least > 1 && size_factor(&shown) < 1;
}
