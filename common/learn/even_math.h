/* even_math.h - exponentials and logarithms at even pace: the same instructions for every argument, no
 * table, no subnormal number on the way. */

#ifndef LEARN_EVEN_MATH_H
#define LEARN_EVEN_MATH_H

/** Returns exp(x) within 1 ulp for |x| <= 700; beyond, that of 700 or -700. x is a number. */
double even_exp(double x);

/** Returns ln(1 + exp(-t)) within 2^-52, t >= 0; 0 from t = 37 on. t is a number. */
double even_softplus(double t);

/** Returns ln(1 + x) within 1 ulp; -infinity for x <= -1. Monotone within these errors. x is a number or
 * infinite; where it is no number, so is the result. */
double even_log1p(double x);

#endif
