/* interval.h - a number that is known to lie between two: what an accountant certifies. */

#ifndef ACCOUNT_INTERVAL_H
#define ACCOUNT_INTERVAL_H

struct interval {
    double low;
    double high; /* INFINITY when nothing is known */
};

#endif
