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
    double *weight;       /* (schema_output_count, schema_feature_count) finite; owned */
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
 * Sets schema and weights from a model as a job keeps them, over all of its blocks (blocks.h): the
 * file is about the one block that it is of, with that block's map. Nothing else of model is touched.
 *
 * weight  in  (outputs, d) of the schema
 *
 * Fails with STATUS_INVALID where weights of several blocks are not 0, STATUS_NO_MEMORY; the model is
 * then to be freed all the same.
 */
MUST_USE enum status model_take(struct model *model, const struct schema *schema,
                                const double *weight);

/**
 * Writes what the model says of each record, with f = <weights, features>:
 * sign     the probability that it is positive, 1/(1 + exp(-f)). After a logistic fit that is the
 *          model's own estimate; after another it is a monotone score, not calibrated (the file
 *          says so).
 * number   the value in the label's own unit, centre + half_width * f, f clamped to [-1, 1].
 * classes  the score f of each class.
 *
 * answer  out  (m, schema_output_count)
 *
 * CHECKs that the shapes agree.
 */
void model_predict(double *answer, const struct model *model, const struct dataset *data);

/** Returns the label's text for one record's answer: positive from a probability of 0.5 upwards; of
 * the classes the one with the largest score, the first of equals. NULL for a number. */
const char *model_class(const struct model *model, const double *answer);

/** Writes the model as JSON text; *text is a malloc'd string the caller frees. Fails with
 * STATUS_NO_MEMORY. */
MUST_USE enum status model_to_json(char **text, const struct model *model);

/** Reads what model_to_json wrote. Unknown keys, missing keys, wrong types, numbers out of range
 * and more than MODEL_FILE_BYTES_MAX are refused. out is zeroed on failure; model_free. Fails with
 * STATUS_INVALID, STATUS_UNSUPPORTED (a newer version), STATUS_NO_MEMORY. */
MUST_USE enum status model_from_json(struct model *out, struct slice text, const char *name,
                                     struct why *why);

/** Does the same with a file's text. Fails as file_read too. */
MUST_USE enum status model_load(struct model *out, const char *path, struct why *why);

/** Frees what the model owns and zeroes it. */
void model_free(struct model *model);

#endif
