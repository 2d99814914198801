/* advice.h - what a number that noise is in may be when it is asked for again: to say with how much more it would be given. */

#ifndef ESTIMATE_ADVICE_H
#define ESTIMATE_ADVICE_H

/* For a number that was found, and is asked for again. */
struct advice_asked {
    double found;
    double deviation;       /* of its noise */
    double times;           /* how much larger it would be: how many times the records */
    double deviation_again; /* of the noise and of chance then */
};

/**
 * Returns what has to be assumed: what was found may be 1.2 deviations too large, and what will be found 1.2 of its own too small.
 * Below 5 deviations it may be 0.4 more for each, as large noise then has made more of what is found. NAN where less than 3 were found:
 * there may be nothing.
 */
double advice_least(const struct advice_asked *asked);

/** The same without the noise of what will be found. */
double advice_found(double found, double deviation);

/* How many deviations what will be found may be too small. */
#define ADVICE_MOVED 1.2

#endif
