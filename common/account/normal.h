/* normal.h - masses of the standard normal law, to full precision. Not for use outside this room. */

#ifndef ACCOUNT_NORMAL_H
#define ACCOUNT_NORMAL_H

/** Returns the mass of an interval of this width > 0 around its middle, to within the relative error
 * normal_error; 0 where it underflows. */
double normal_interval(double middle, double width);
double normal_error(double middle, double width);

#endif
