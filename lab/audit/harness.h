/* harness.h - the inside of a harness, and the subjects. For this room alone. */

#ifndef AUDIT_HARNESS_H
#define AUDIT_HARNESS_H

#include "dp/ledger.h"
#include "experts/hedge_play.h"
#include "lab/audit/subject.h"
#include "noise/exponential.h"
#include "noise/laplace.h"

enum { HARNESS_BLOCK = 1024, HARNESS_WIDTH_MAX = 32 };

struct audit_harness {
    const struct subject_code *code;
    struct audit_setting setting;
    double epsilon; /* claimed */
    double delta;
    struct ledger *ledger;
    uint64_t row;         /* of the ledger's pass: the next one not paid for */
    uint64_t sigma_micro; /* of Gaussian noise, per unit of sensitivity */
    struct noise_laplace noise;
    struct audit_masks *masks; /* subject_masks.c */
    struct noise_exponential decay;
    struct hedge_run game;
    int64_t value[2][HARNESS_WIDTH_MAX]; /* the neighbours: exact vectors or scores */
    size_t width;
    uint64_t sensitivity; /* that the mechanism is told */
    int64_t work[HARNESS_BLOCK * HARNESS_WIDTH_MAX];
};

/* A selection: the one that a grant pays for, and the same on a table made beforehand; NULL: of noise. */
struct harness_selection {
    enum mechanism mechanism;
    enum status (*paid)(struct grant **grant, const struct random *random, size_t *chosen,
                        const int64_t *score, size_t count, uint64_t sensitivity);
    enum status (*direct)(const struct noise_exponential *decay, const struct random *random,
                          size_t *chosen, const int64_t *score, size_t count);
};

/* A subject with its functions. */
struct subject_code {
    struct audit_subject subject;
    /** Fills value, width, sensitivity, epsilon and delta, and prepares tables. */
    enum status (*prepare)(struct audit_harness *harness, struct why *why);
    /** Makes one run on a side, and its score; or many at once where run is NULL. */
    enum status (*run)(struct audit_harness *harness, const struct random *random, unsigned side,
                       int64_t *score);
    enum status (*draw)(void *harness, const struct random *random, unsigned side, int64_t *score,
                        size_t count);
    /** Frees what prepare made, also when it failed; may be NULL. */
    void (*release)(struct audit_harness *harness);
    const struct harness_selection *selection; /* subject_select.c */
};

/** Pays for one run of a mechanism: at the setting's epsilon, or at sigma_micro when it is
 * Gaussian. */
MUST_USE enum status harness_pay(struct audit_harness *harness, struct grant **grant,
                                 enum mechanism mechanism);

/** Prepares one number that the whole sensitivity moves, and the noise of sigma_micro that the setting's epsilon and
 * delta need. Sets epsilon to what that costs. */
MUST_USE enum status harness_set_gaussian(struct audit_harness *harness, struct why *why);

extern const struct subject_code subject_laplace;
extern const struct subject_code subject_laplace_vector;
extern const struct subject_code subject_gaussian;
extern const struct subject_code subject_masks;
extern const struct subject_code subject_masks_gaussian;
extern const struct subject_code subject_pipeline;
extern const struct subject_code subject_exponential;
extern const struct subject_code subject_permute_and_flip;
extern const struct subject_code subject_noisy_max;
extern const struct subject_code subject_rwm;
extern const struct subject_code subject_theorem;
extern const struct subject_code subject_dartboard;
extern const struct subject_code subject_epochs;
extern const struct subject_code subject_linear_learner;

#endif
