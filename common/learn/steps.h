/* steps.h - the rounding of dp/encode.h without leaving the doubles, so that loops over it
 * vectorise. */

#ifndef LEARN_STEPS_H
#define LEARN_STEPS_H

#include <math.h>

/* Added and taken away again, it rounds what is below STEPS_MAX to a whole number. */
#define STEPS_WHOLE 0x1.8p52

/* Whole numbers, and their sums, are exact below STEPS_EXACT. */
#define STEPS_EXACT 0x1p53
#define STEPS_MAX   0x1p50

/** Returns floor(y + 1/2), exactly. |y| < STEPS_MAX. The nearest whole number is that already, and
 * what is left of y is exact, but for a half that was rounded down to an even number. By signs and not by
 * a condition, which compilers turn into a branch where a loop's last round is not vectorised. */
static inline double steps_nearest(double y)
{
    const double near = (y + STEPS_WHOLE) - STEPS_WHOLE;
    return near + (copysign(0.5, (y - near) - 0.5) + 0.5);
}

/** Returns floor(y), exactly. |y| < STEPS_MAX */
static inline double steps_floor(double y)
{
    const double near = (y + STEPS_WHOLE) - STEPS_WHOLE;
    return near + (copysign(0.5, (y - near) + 0.0) - 0.5); /* -0 + 0 is 0 */
}

#endif
