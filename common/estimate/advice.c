/* advice.c - the deviations were chosen by simulated studies that follow the advice: nine in ten get what they were told. */

#include "estimate/advice.h"

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
