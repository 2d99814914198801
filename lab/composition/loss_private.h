/* loss_private.h - how losses get onto the grid; only for the files named loss. While it is filled,
 * a law's log_mass holds masses and its spread variances. */

#ifndef COMPOSITION_LOSS_PRIVATE_H
#define COMPOSITION_LOSS_PRIVATE_H

#include "lab/composition/loss.h"

/** Puts outcomes of one loss and this P-mass onto the grid. */
void loss_put_atom(struct loss_law *law, double loss, double mass);

/** Puts outcomes with losses between grid points i and i + 1 onto them: P-mass p, Q-mass q, each
 * within the relative error. */
void loss_put_cell(struct loss_law *law, size_t i, double p, double q, double error);

/** The same for a law from below, in the order of the cells; and what is left in the end. */
void loss_merge_cell(struct loss_law *law, size_t i, double p, double q, double error);
void loss_merge_rest(struct loss_law *law);

void loss_fill_discrete_laplace(struct loss_law *law, const struct loss_part *part);
void loss_fill_discrete_gaussian(struct loss_law *law, const struct loss_part *part,
                                 double outcome_max, double tail_mass);

#endif
