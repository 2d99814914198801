/* advice.c - the deviations were chosen by simulated studies that follow the advice: nine in ten get what they were told. */

#include "estimate/advice.h"

#include "base/check.h"
#include "estimate/evaluate.h"
#include "estimate/table1_private.h"

#include <math.h>

static const double moved_more = 0.4; /* for each deviation below far */
static const double far = 5;
static const double least = 3;

double advice_found(double found, double deviation)
{
    if (!(found > least * deviation)) {
        return NAN;
    }
    return found - ADVICE_MOVED * deviation - moved_more * fmax(far * deviation - found, 0);
}

double advice_least(const struct advice_asked *asked)
{
    return advice_found(asked->found, asked->deviation) * asked->times -
           ADVICE_MOVED * asked->deviation_again;
}

/* The cells of some classes of a column, as bits. */
static struct linear classes_of(const struct table1_column *column, size_t classes, unsigned which)
{
    const size_t wide = column->levels / classes;
    bool of[TABLE1_LEVELS_MAX] = {false};
    for (size_t k = 0; k < column->levels; k++) {
        of[k] = (which >> k / wide & 1) != 0;
    }
    return present_of(column, of);
}

/* How many records may be found at the least where that many times as many are asked again: own was found, and next has the noise
 * of the next release (advice_least). */
static double least_again(const struct linear *own, const struct linear *next, double times)
{
    const double chance = times > 1 ? times * fmax(own->value, 0) : 0; /* other records */
    const struct advice_asked asked = {.found = own->value,
                                       .deviation = sqrt(own->variance),
                                       .times = times,
                                       .deviation_again = sqrt(next->variance + chance)};
    return advice_least(&asked);
}

/* Whether as many records would be found as a share of a score is a share of, were it asked again. The rule looks at
 * how many there are, and not at which of them have the event. */
bool evaluate_share_again(const struct table1_column *again, const struct table1_column *found,
                          double times, unsigned parts)
{
    const struct linear own = classes_of(found, EVALUATE_PARTS, parts);
    const struct linear next = classes_of(again, EVALUATE_PARTS, parts);
    const double count = least_again(&own, &next, times);
    const struct linear shown = {.value = count, .variance = next.variance, .z = next.z};
    return count > 1 && size_factor(&shown) < 1;
}

/* A column as it may be found when it is asked again. The rules of what is given of a number, and of an AUC, ask for
 * how many there are, and not for how they lie. */
bool table1_column_again(struct table1_column *out, const struct table1_column *found, double times,
                         size_t classes)
{
    const size_t wide = out->levels / classes;
    bool is_there = true;
    CHECK(classes > 0 && out->levels % classes == 0 && found->levels % classes == 0);
    for (size_t class = 0; class < classes; class ++) {
        const struct linear own = classes_of(found, classes, 1U << class);
        const struct linear next = classes_of(out, classes, 1U << class);
        const double count = least_again(&own, &next, times);
        is_there = is_there && count > 0;
        for (size_t k = class * wide; k < (class + 1) * wide; k++) {
            out->cell[k] = count / (double)wide;
        }
    }
    return is_there;
}
