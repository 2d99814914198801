/* pld_run_private.h - how losses get onto the grid; only for the files named pld_run. While it is filled,
 * a pld_run's log_mass holds masses and its spread variances. */

#ifndef COMPOSITION_PLD_RUN_PRIVATE_H
#define COMPOSITION_PLD_RUN_PRIVATE_H

#include "lab/composition/pld_run.h"

/** Puts outcomes of one loss and this P-mass onto the grid. */
void pld_run_put_atom(struct pld_run *run, double loss, double mass);

/** Puts outcomes with losses between grid points i and i + 1 onto them: P-mass p, Q-mass q, each
 * within the relative error. */
void pld_run_put_cell(struct pld_run *run, size_t i, double p, double q, double error);

/** The same for an optimistic distribution, in the order of the cells; and what is left in the end. */
void pld_run_merge_cell(struct pld_run *run, size_t i, double p, double q, double error);
void pld_run_merge_rest(struct pld_run *run);

void pld_run_fill_discrete_laplace(struct pld_run *run, const struct pld_part *part);
void pld_run_fill_discrete_gaussian(struct pld_run *run, const struct pld_part *part,
                                    double outcome_max, double tail_mass);

#endif
