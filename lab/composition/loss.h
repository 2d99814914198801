/* loss.h - the privacy loss of one run of one mechanism, put on a grid: never less than it is, and
 * with a bound on how much more. */

#ifndef COMPOSITION_LOSS_H
#define COMPOSITION_LOSS_H

#include "account/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum loss_kind {
    LOSS_RESPONSE,         /* randomised response: the worst of everything pure */
    LOSS_DISCRETE_LAPLACE, /* one integer */
    LOSS_DISCRETE_GAUSSIAN,
    LOSS_LAPLACE, /* one real number, perhaps sampled; as are the next two */
    LOSS_GAUSSIAN,
    LOSS_RANGE /* the worst of everything of bounded range, at every shift at once: see loss.c */
};

/* Which pair of neighbours' outputs, when records are sampled. */
enum loss_side {
    LOSS_REMOVE, /* (1-q) mu_0 + q mu_1 against mu_0: the record is there, then not */
    LOSS_ADD,    /* mu_0 against (1-q) mu_0 + q mu_1 */
    LOSS_BOTH    /* a pair no better than either, for replace-one: see loss.c */
};

/* `count` runs of one mechanism, boiled down. */
struct loss_part {
    enum loss_kind kind;
    enum loss_side side;
    double size;  /* RESPONSE, LAPLACE, RANGE: epsilon; GAUSSIAN: mu; discrete ones: scale, sigma */
    double shift; /* of the discrete ones: the sensitivity, whole */
    double sampling; /* of LAPLACE, GAUSSIAN, RANGE; 1 for the others */
    double slack;    /* the true masses are within this factor of the model's */
    double count;    /* of runs, whole */
};

/* A grid of losses: offset + i step. */
struct loss_grid {
    double offset;
    double step;
};

/* Outcomes on their way to a grid point, for a law from below: their P-mass, how much Q-mass (times
 * e^loss there) they have beyond it, and the point, above their own loss. */
struct loss_pool {
    double mass;
    double lack;
    size_t target;
};

/* The law of the loss under the first of the two outputs; everything is an upper bound, or, for a law
 * from below, a lower one but for what `drift` and `variance` say. */
struct loss_law {
    struct loss_grid grid;
    size_t count;
    double *log_mass; /* (count) */
    double *spread;   /* (count) the variance that the grid added, per mass */
    double infinite;  /* mass cut off, as if its loss were infinite */
    double slip;     /* losses can be larger than the grid says by so much (rounding), or smaller */
    double error;    /* masses are off by at most this factor */
    double drift;    /* the mean that the grid added, at most */
    double variance; /* the mean square of what the grid added, at most */
    double reach;    /* the most that it can have added to a loss */
    double bend;     /* (e^step - 1)^2/2 */
    double fall;     /* 1 - e^-step */
    bool below;
    struct loss_pool pool;
};

/** The grid that a part's losses lie on by nature, or whose multiples of 1/n suit it; a step of 0
 * when there is none. */
struct loss_grid loss_natural(const struct loss_part *part);

/** Returns whether all losses lie on the natural grid. */
bool loss_is_lattice(const struct loss_part *part);

/** The least and the largest loss that matter: beyond the largest lies less than 1e-32. */
void loss_range(double *least, double *largest, const struct loss_part *part);

/** Puts one run on the grid. Fails with STATUS_NO_MEMORY. The caller frees law with loss_law_free.
 */
MUST_USE enum status loss_law_init(struct loss_law *law, const struct loss_part *part,
                                   struct loss_grid grid);

/** Returns whether a law from below would be another one: what has a density, and is not itself an upper
 * bound alone. */
bool loss_has_cells(const struct loss_part *part);

/** The same from below: its losses are those of a pair that the true one dominates, but for single
 * losses between grid points, as of Laplace noise, which are spread as they are above. Fails alike. */
MUST_USE enum status loss_law_init_below(struct loss_law *law, const struct loss_part *part,
                                         struct loss_grid grid);
void loss_law_free(struct loss_law *law);

#endif
