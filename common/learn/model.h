/* model.h - a released model: a self-contained file with all that prediction needs and all that is
 * publicly known of how it was made. */

#ifndef LEARN_MODEL_H
#define LEARN_MODEL_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "learn/dataset.h"
#include "learn/loss.h"
#include "learn/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_TEXT_BYTES = 256, MODEL_FILE_BYTES_MAX = 64 * 1024 * 1024 };

struct model {
    struct schema schema; /* owned */
    double *weight;       /* (schema_feature_count) finite; owned */
    size_t weight_count;
    struct loss loss; /* what the fit minimised */
    double lambda;    /* of the fit; 0 when it is not one */
    char job[MODEL_TEXT_BYTES];
    char expert[MODEL_TEXT_BYTES];    /* "average, lambda 0.003, threshold +0.25" */
    bool private;                     /* false: made with a seed, or from exact records */
    char statement[MODEL_TEXT_BYTES]; /* one sentence: what was paid, per what, under which trust */
    uint64_t epsilon_micro;
    uint64_t delta_atto;
};

/**
 * Writes probability (m) that each record is positive, by 1/(1 + exp(-f)). After a logistic fit
 * that is the model's own estimate; after a hinge fit it is a monotone score, not calibrated (the
 * file says so). CHECKs that the shapes agree.
 */
void model_predict(double *probability, const struct model *model, const struct dataset *data);

/** Returns the label's text for a probability: positive from 0.5 upwards. */
const char *model_class(const struct model *model, double probability);

/** Writes the model as JSON text; *text is a malloc'd string the caller frees. Fails with
 * STATUS_NO_MEMORY. */
MUST_USE enum status model_to_json(char **text, const struct model *model);

/** Reads what model_to_json wrote. Unknown keys, missing keys, wrong types, numbers out of range
 * and more than MODEL_FILE_BYTES_MAX are refused. out is zeroed on failure; model_free. Fails with
 * STATUS_INVALID, STATUS_UNSUPPORTED (a newer version), STATUS_NO_MEMORY. */
MUST_USE enum status model_from_json(struct model *out, struct slice text, const char *name,
                                     struct why *why);

/** Frees what the model owns and zeroes it. */
void model_free(struct model *model);

#endif
