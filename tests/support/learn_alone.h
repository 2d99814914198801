/* learn_alone.h - a `learn` stage without a federation around it: the tasks' own sums of equal sites, noise of the stage's
 * size, and the coordinator's own steps. A fifth of the records is held out. NOT PRIVATE: the noise is drawn from a seed. Its
 * users build it: it needs the tasks. */

#ifndef TEST_LEARN_ALONE_H
#define TEST_LEARN_ALONE_H

#include "job/job.h"
#include "learn/dataset.h"
#include "learn/standin.h"
#include "task/learn/stage.h"
#include "tests/support/seeded_random.h"

#include <stddef.h>
#include <stdint.h>

struct learn_alone {
    struct job job; /* whose first stage is played */
    struct dataset data;
    struct standin rows; /* the stage's, made once: a run would make them at each release */
    size_t sites;
    size_t site_rows;
    size_t *order;
    double *state;
    double *look; /* the state after the look */
    double *value;
    int64_t *sum; /* then one site's */
    struct seeded_random seeded;
};

/** Reads the job and its table, which may be packed by gzip. CHECKs. */
void learn_alone_init(struct learn_alone *alone, const char *text, const char *table, size_t sites);
void learn_alone_free(struct learn_alone *alone);

/** Returns the accuracy of an iterate of the latest run on its held-out fifth: of the look's model, or of the last one. */
double learn_alone_iterate(struct learn_alone *alone, enum learn_iterate iterate);

/** Splits by one seed, learns with noise of another, and judges on the held-out fifth. reached: of classes the accuracy; of a number
 * the root mean square error over the width of its range, or with pinball the mean of that loss. auc is NAN but of two classes. */
void learn_alone_run(double *reached, double *auc, struct learn_alone *alone, uint64_t split,
                     uint64_t noise);

/** Returns what the model without privacy reaches, fitted to what was learned from last, on what was held out then. */
double learn_alone_pooled(struct learn_alone *alone);

#endif
