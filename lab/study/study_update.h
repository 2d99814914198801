/* study_update.h - private learning on a table without the network: the agents' integer sums and
 * models, their exact noise and the coordinator's steps are the library's own. Five equal sites, a
 * fifth of the records held out; seeded: NOT PRIVATE. */

#ifndef STUDY_UPDATE_H
#define STUDY_UPDATE_H

#include "base/status.h"
#include "base/why.h"
#include "learn/dataset.h"
#include "learn/gradient.h"
#include "learn/optimiser.h"

#include <stdbool.h>
#include <stdint.h>

enum { STUDY_SITES = 5, STUDY_FEATURES_MAX = 64, STUDY_GRID_BITS = 16 };

enum study_method {
    STUDY_UPDATE,     /* gradient rounds: gradient and optimiser say all */
    STUDY_STATISTICS, /* one release of second moments, and the ridge of them: lambda */
    STUDY_FIT,        /* the average of the sites' logistic models: lambda */
    STUDY_POOLED      /* one logistic model of all records, without privacy: lambda */
};

struct study_training {
    enum study_method method;
    struct gradient gradient;   /* for one output; its norm follows the noise */
    struct optimiser optimiser; /* width is set by the data */
    double lambda;
    bool gaussian; /* else Laplace */
    bool local;    /* every site adds noise; else it is added once, to the sum */
    uint64_t epsilon_micro;
    uint64_t delta_atto; /* Gaussian: > 0 */
};

/* Means over runs, with their standard errors, on the records held out. */
struct study_quality {
    double accuracy;
    double accuracy_error;
    double auc;
    double auc_error;
};

/**
 * Trains and judges, `runs` times.
 *
 * data   in  labels +1 and -1; at most STUDY_FEATURES_MAX features, at least 10 records
 * first  in  the seed of the first run: of the split and the noise; then the next ones
 * runs   in  >= 2
 *
 * Fails with STATUS_INVALID (data or settings that do not go), STATUS_NO_MEMORY.
 * Privacy: the model has (epsilon, delta) for one record replaced; the figures are exact statistics of
 * the records.
 */
MUST_USE enum status study_quality(struct study_quality *quality,
                                   const struct study_training *training,
                                   const struct dataset *data, uint64_t first, uint64_t runs,
                                   struct why *why);

#endif
