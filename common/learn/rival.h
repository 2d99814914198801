/* rival.h - the best that records in one place would teach without privacy: what the simulator compares
 * a private model with. On the same features it fits logistic regression (two classes), multinomial
 * logistic regression (several classes) or least squares (a number), with a penalty chosen by
 * cross-validation. Deployments have no such model. */

#ifndef LEARN_RIVAL_H
#define LEARN_RIVAL_H

#include "base/status.h"
#include "learn/dataset.h"
#include "learn/schema.h"

#include <stddef.h>

/* w (outputs, d) minimises (1/m) sum L(<w_k, x_i>, y_i) + lambda ||w||^2. The last feature, the
 * constant, bears no penalty. The label of two classes is -1 or 1; between them it is that of several records with the
 * same features, whose mean it is. */
struct rival_problem {
    enum label_kind kind; /* sign: logistic loss; classes: softmax; number: squared error */
    size_t outputs;       /* of classes their number, else 1 */
    const struct dataset *data;
    const double *
        share; /* (m, outputs) of classes, for rival_fit() alone: a record's labels are of several, of each that share;
                            NULL: y says its class */
    double
        enough; /* rival_fit() ends where the mean loss is expected to fall by less; 0: by 1e-9 */
};

/**
 * Minimises at one lambda.
 *
 * w       in/out  (outputs, d) where the search begins; the minimiser
 * lambda  in      >= 0; at 0 on records that a plane separates there is no minimiser, and the search
 *                 ends after a fixed number of steps
 *
 * Fails with STATUS_NO_MEMORY.
 * Privacy: w is an exact statistic of the records; so is all that rival_best gives. Simulator only.
 */
MUST_USE enum status rival_fit(double *w, const struct rival_problem *problem, double lambda);

/**
 * Chooses lambda among 0 and powers of ten by five-fold cross-validation (one fold where
 * records, features and outputs multiplied exceed 2^20), by the mean loss on the records left out, and fits all records at the chosen one.
 *
 * w       out  (outputs, d)
 * lambda  out  the chosen one
 * loss    out  its cross-validated loss, to compare rivals on other features of the same records
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status rival_best(double *w, double *lambda, double *loss,
                                const struct rival_problem *problem);

#endif
