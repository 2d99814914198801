/* Regressions of known coefficients. Each family has these designs:
 *
 *   built   a nearly normal column, one of two even categories, a skewed column: the estimator was built on it
 *   looked  a column, another that correlates with it by 0.7, three categories of 55, 33 and 12 %, a slope of 0: the first that
 *           confirmed it; what failed there was mended, so that it confirms no more
 *   fresh   a column, another that correlates with it by -0.5, two categories of which the second has a fifth of the records, more
 *           where the first column is large; a slope of 0: simulated when nothing was changed any more
 *   other   a column that is even over its range, another that falls from its range's first end and goes with it, 0.5 of their
 *           normal variables, two categories of which the second has three in ten records, more where the first column is large; a
 *           slope of 0: simulated when nothing was changed any more
 *   last    a column that falls from its range's first end, another that correlates with it by 0.4, three categories; a slope of 0
 *   strong  two columns that correlate by -0.7, with slopes twice those of the others, two categories: simulated once, for the
 *           noise of covariances
 *   whole   a column, whole numbers from 0 to 5, more of the small ones, that correlate with it by 0.4, three categories of 80, 17 and
 *           3 %; a slope of 0: simulated when nothing was changed any more
 *   unsaid  a column, whole numbers from 0 to 8 of which nobody says that they are whole, that correlate with it by -0.3, two
 *           categories: likewise
 *
 * Outcomes follow the model at the predictors' own values. Numbers lie in [-1, 1]. */

#include "lab/study/study_intervals_regress.h"

const struct regress_world_design regress_world_designs[DESIGNS] = {
    {"",
     3,
     {{NORMAL, 0, 0, 0.4, 1, {0, 0}},
      {CATEGORY, 2, 0, 0, 0, {0.5, 0}},
      {SKEWED, 0, 0.35, 0.6, 0, {0, 0}}},
     {{-1, {1.2, 0.6, 0.8, 0}},
      {-0.1, {0.3, 0.1, 0.2, 0}},
      {-0.2, {0.5, 0.3, 0.4, 0}},
      {-2.2, {0.9, 0.4, 0.6, 0}}}},
    {", looked",
     4,
     {{NORMAL, 0, 0, 0.4, 1, {0, 0}},
      {NORMAL, 0, 0.05, 0.35, 0.7, {0, 0}},
      {CATEGORY, 3, 0, 0, 0, {0.55, 0.88}}},
     {{-1, {1.3, -0.9, 0, 0.6}},
      {-0.1, {0.35, -0.25, 0, -0.12}},
      {-0.2, {0.45, -0.35, 0, 0.3}},
      {-2.2, {1.2, -0.7, 0, -0.4}}}},
    {", fresh",
     3,
     {{NORMAL, 0, -0.1, 0.45, 1, {0, 0}},
      {NORMAL, 0, 0.1, 0.3, -0.5, {0, 0}},
      {CATEGORY, 2, 0, 0, 0.8, {0.82, 0}}},
     {{-1.4, {0.9, 0, 0.7, 0}},
      {-0.05, {0.25, 0, -0.2, 0}},
      {-0.4, {0.4, 0, 0.35, 0}},
      {-2, {0.7, 0, 0.5, 0}}}},
    {", other",
     3,
     {{EVEN, 0, 0, 0, 1, {0, 0}},
      {FALLING, 0, 0, 0.5, 0.5, {0, 0}},
      {CATEGORY, 2, 0, 0, 0.6, {0.7, 0}}},
     {{-1.3, {0.8, -0.7, 0, 0}},
      {0.05, {0.2, -0.25, 0, 0}},
      {-0.5, {0.3, -0.35, 0, 0}},
      {-2.1, {0.6, -0.6, 0, 0}}}},
    {", last",
     4,
     {{FALLING, 0, 0, 0.7, 1, {0, 0}},
      {NORMAL, 0, -0.05, 0.35, 0.4, {0, 0}},
      {CATEGORY, 3, 0, 0, -0.5, {0.5, 0.8}}},
     {{-1, {-0.8, 1, 0.5, 0}},
      {0, {-0.2, 0.3, -0.15, 0}},
      {-0.3, {-0.3, 0.4, 0.3, 0}},
      {-2.3, {-0.6, 0.8, 0.4, 0}}}},
    {", strong",
     3,
     {{NORMAL, 0, 0, 0.3, 1, {0, 0}},
      {NORMAL, 0, 0, 0.35, -0.7, {0, 0}},
      {CATEGORY, 2, 0, 0, 0.5, {0.6, 0}}},
     {{-1.2, {1.7, 1.2, 0.5, 0}},
      {0, {0.6, 0.4, 0.2, 0}},
      {-0.3, {0.8, 0.6, 0.3, 0}},
      {-2.2, {1.5, 1.1, 0.4, 0}}}},
    {", whole",
     4,
     {{NORMAL, 0, 0.05, 0.4, 1, {0, 0}},
      {WHOLE, 6, 0, 0, 0.4, {0, 0}},
      {CATEGORY, 3, 0, 0, 0.3, {0.8, 0.97}}},
     {{-0.9, {0.8, 0.6, 0, 0.5}},
      {-0.05, {0.2, 0.25, 0, -0.15}},
      {-0.3, {0.4, 0.3, 0, 0.2}},
      {-2, {0.7, 0.5, 0, 0.4}}}},
    {", unsaid",
     3,
     {{NORMAL, 0, -0.05, 0.45, 1, {0, 0}},
      {UNSAID, 9, 0, 0, -0.3, {0, 0}},
      {CATEGORY, 2, 0, 0, -0.4, {0.7, 0}}},
     {{-1.1, {0.7, 0.8, 0, 0}},
      {0, {0.2, 0.3, 0, 0}},
      {-0.2, {0.35, 0.4, 0, 0}},
      {-2.1, {0.6, 0.7, 0, 0}}}},
};
