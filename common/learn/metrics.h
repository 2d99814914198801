/* metrics.h - how good a model is on given records. An exact statistic of them: only the simulator
 * calls this on private records, and says so. */

#ifndef LEARN_METRICS_H
#define LEARN_METRICS_H

#include "base/status.h"
#include "learn/dataset.h"

#include <stddef.h>

/** Writes f (m) = <w, x_i>. */
void metrics_scores(double *f, const double *w, const struct dataset *data);

/** Returns the share of records whose score has the label's sign; a score of 0 counts as wrong. */
double metrics_accuracy(const double *f, const struct dataset *data);

/** Computes the area under the ROC curve: the share of (positive, negative) pairs in the right
 * order, ties half; 0.5 when a class is absent. Cost O(m log m). Fails with STATUS_NO_MEMORY. */
MUST_USE enum status metrics_auc(double *auc, const double *f, const struct dataset *data);

/** Returns the share of the more frequent class. */
double metrics_majority(const struct dataset *data);

#endif
