/* metrics.h - how good a model is on given records. An exact statistic of them: only the simulator
 * calls this on private records, and says so. Which metric fits depends on the label's kind. */

#ifndef LEARN_METRICS_H
#define LEARN_METRICS_H

#include "base/status.h"
#include "learn/dataset.h"

#include <stddef.h>

/** Writes f (m) = <w, x_i>. */
void metrics_scores(double *f, const double *w, const struct dataset *data);

/** Writes f (m, outputs) = <w_j, x_i>, from w (outputs, d). */
void metrics_class_scores(double *f, const double *w, size_t outputs, const struct dataset *data);

/** Returns the index of the largest of count numbers, the first of equals. */
size_t metrics_largest(const double *f, size_t count);

/** Two classes: returns the share of records whose score has the label's sign; a score of 0 counts
 * as wrong. CHECKs that there is a record, like all below. */
double metrics_accuracy(const double *f, const struct dataset *data);

/** Several classes: returns the share of records whose largest score, of f (m, outputs), is their
 * own class's alone; a tie counts as wrong. */
double metrics_class_accuracy(const double *f, size_t outputs, const struct dataset *data);

/** Two classes: computes the area under the ROC curve: the share of (positive, negative) pairs in
 * the right order, ties half; 0.5 when a class is absent. Cost O(m log m). Fails with
 * STATUS_NO_MEMORY.
 */
MUST_USE enum status metrics_auc(double *auc, const double *f, const struct dataset *data);

/** Two or several classes: returns the share of the most frequent one. */
double metrics_majority(const struct dataset *data);

/** A number: the root of the mean square, the mean absolute and the mean pinball error of pi(f), f
 * clamped to [-1, 1], in the label's scale; times the label's half_width they are in its own unit.
 * tau in (0, 1): the pinball error costs tau per unit that f lies below y, 1 - tau above. */
double metrics_root_mean_square(const double *f, const struct dataset *data);
double metrics_mean_absolute(const double *f, const struct dataset *data);
double metrics_pinball(const double *f, double tau, const struct dataset *data);

#endif
