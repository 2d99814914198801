/* experts.h - the experts' answers: every model's score on every record. */

#ifndef EXPERTS_EXPERTS_H
#define EXPERTS_EXPERTS_H

#include <stddef.h>

/** Writes the scores f (m, k) = <w_k, x_i> for weight (k, d) and x (m, d), all row by row: k =
 * expert_count, m = record_count, d = feature_count. A dense kernel: no allocation, cost O(m k d).
 */
void experts_scores(double *f, const double *weight, size_t expert_count, const double *x,
                    size_t record_count, size_t feature_count);

#endif
