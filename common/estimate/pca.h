/* pca.h - principal components of the correlations of correlate.h: what share of the columns' spread each explains, and its
 * loadings.
 *
 * The noisy matrix may have eigenvalues below 0. They are set to 0, and all scaled to sum to the number of columns again.
 * e = what noise and sampling leave uncertain of a correlation, the root of the mean square over the pairs; 1/n the sampling's
 * part, as of independent columns. A symmetric matrix of such noise moves eigenvalues by about 2 sqrt(d) e (Wigner), and
 * always spreads them: the first is too large in the mean, the last too small. So no interval is given: none was confirmed. */

#ifndef ESTIMATE_PCA_H
#define ESTIMATE_PCA_H

#include "estimate/correlate.h"

#include <stdbool.h>

struct pca {
    size_t columns;
    double share[CORRELATE_COLUMNS_MAX]; /* (columns) falling; of the columns' spread */
    double loading[CORRELATE_COLUMNS_MAX]
                  [CORRELATE_COLUMNS_MAX];    /* (component, column) of length 1 */
    bool is_given;                            /* the shares */
    bool has_loadings[CORRELATE_COLUMNS_MAX]; /* (component) given, if shares are */
};

/**
 * Computes them. For each component the largest loading is above 0.
 *
 * Shares are given where every correlation is (correlate.h), and 2 e / sqrt(d) is at most 0.1. Loadings of a component where
 * besides its eigenvalue is 4 sqrt(d) e or more away from all others: between two that are alike any direction is as good.
 */
void pca_of(struct pca *out, const struct correlate *all);

/** Answers whether the shares are given: pca_of's is_given, in much less time. */
bool pca_is_given(const struct correlate *all);

/** Returns 2 e / sqrt(d) to expect, of values as correlate_plan's; and the fewest records that have shares. */
double pca_expect(double *records, const struct correlate_public *known, size_t columns);

#endif
