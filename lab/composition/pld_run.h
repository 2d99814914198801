/* pld_run.h - the privacy loss of one run of one mechanism, put on a grid: never less than it is, and
 * with a bound on how much more. */

#ifndef COMPOSITION_PLD_RUN_H
#define COMPOSITION_PLD_RUN_H

#include "account/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pld_run_kind {
    PLD_RUN_RESPONSE,         /* randomised response: the worst of everything pure */
    PLD_RUN_DISCRETE_LAPLACE, /* one integer */
    PLD_RUN_DISCRETE_GAUSSIAN,
    PLD_RUN_LAPLACE, /* one real number, perhaps sampled; as are the next two */
    PLD_RUN_GAUSSIAN,
    PLD_RUN_RANGE /* the worst of everything of bounded range, at every shift at once: see pld_run.c */
};

/* Which pair of neighbours' outputs, when records are sampled. */
enum pld_run_side {
    PLD_RUN_REMOVE, /* (1-q) mu_0 + q mu_1 against mu_0: the record is there, then not */
    PLD_RUN_ADD,    /* mu_0 against (1-q) mu_0 + q mu_1 */
    PLD_RUN_BOTH    /* a pair no better than either, for replace-one: see pld_run.c */
};

/* `count` runs of one mechanism, boiled down. */
struct pld_part {
    enum pld_run_kind kind;
    enum pld_run_side side;
    double size;  /* RESPONSE, LAPLACE, RANGE: epsilon; GAUSSIAN: mu; discrete ones: scale, sigma */
    double shift; /* of the discrete ones: the sensitivity, whole */
    double sampling; /* of LAPLACE, GAUSSIAN, RANGE; 1 for the others */
    double slack;    /* the true masses are within this factor of the model's */
    double count;    /* of runs, whole */
};

/* A grid of losses: offset + i step. */
struct pld_grid {
    double offset;
    double step;
};

/* Outcomes on their way to a grid point, for an optimistic distribution: their P-mass, how much Q-mass (times
 * e^loss there) they have beyond it, and the point, above their own loss. */
struct pld_pool {
    double mass;
    double lack;
    size_t target;
};

/* The distribution of the loss under the first of the two outputs; everything is an upper bound, or, for an optimistic
 * distribution, a lower one but for what `drift` and `variance` say. */
struct pld_run {
    struct pld_grid grid;
    size_t count;
    double *log_mass; /* (count) */
    double *spread;   /* (count) the variance that the grid added, per mass */
    double infinite;  /* mass cut off, as if its loss were infinite */
    double slip;  /* losses can be larger than the grid says by this much (rounding), or smaller */
    double error; /* masses are off by at most this factor */
    double drift; /* the mean that the grid added, at most */
    double variance; /* the mean square of what the grid added, at most */
    double reach;    /* the most that it can have added to a loss */
    double bend;     /* (e^step - 1)^2/2 */
    double fall;     /* 1 - e^-step */
    bool optimistic;
    struct pld_pool pool;
};

/** The grid that a part's losses lie on by nature, or whose multiples of 1/n suit it; a step of 0
 * when there is none. */
struct pld_grid pld_run_natural_grid(const struct pld_part *part);

/** Returns whether all losses lie on the natural grid. */
bool pld_run_is_on_grid(const struct pld_part *part);

/** The least and the largest loss that matter: beyond the largest lies less than 1e-32. */
void pld_run_range(double *least, double *largest, const struct pld_part *part);

/** Puts one run on the grid. Fails with STATUS_NO_MEMORY. The caller frees run with pld_run_free.
 */
MUST_USE enum status pld_run_init(struct pld_run *run, const struct pld_part *part,
                                  struct pld_grid grid);

/** Returns whether an optimistic distribution would be another one: what has a density, and is not itself an upper
 * bound alone. */
bool pld_run_has_density(const struct pld_part *part);

/** The same from below: its losses are those of a pair that the true one dominates, but for single
 * losses between grid points, as of Laplace noise, which are spread as they are above. Fails alike. */
MUST_USE enum status pld_run_init_optimistic(struct pld_run *run, const struct pld_part *part,
                                             struct pld_grid grid);
void pld_run_free(struct pld_run *run);

/* How losses get onto the grid: for the files named pld_run alone. While it is filled, a pld_run's log_mass
 * holds masses and its spread variances. */

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
