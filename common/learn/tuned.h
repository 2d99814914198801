/* tuned.h - the constants of the self-tuning learner that were chosen on tables. A test builds the learner with LEARN_TUNED_VARIED,
 * gives one of them another value, and shows what the constant buys: tests/statistical/common/learn/test_learn_tuned. */

#ifndef LEARN_TUNED_H
#define LEARN_TUNED_H

#ifdef LEARN_TUNED_VARIED
/** Returns the value, or that which the test has for the name. */
double learn_tuned(const char *name, double value);
#define TUNED(name, value) learn_tuned(#name, value)
#else
#define TUNED(name, value) (value)
#endif

#endif
