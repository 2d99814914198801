/* models.h - the models that a query stage judges: from the job's text. Inside the stage's text alone. */

#ifndef TASK_QUERY_MODELS_H
#define TASK_QUERY_MODELS_H

#include "config/config.h"
#include "learn/schema.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>

enum { MODELS_MAX = 16 };

struct draft_part {
    char column[SCHEMA_NAME_BYTES];
    double *weight;
    size_t weight_count;
};

struct draft_model {
    char name[SCHEMA_NAME_BYTES];
    bool chosen;
    double constant;
    struct draft_part *part;
    size_t part_count;
    double centre;
    double half_width; /* 0: the answer is a probability */
};

extern const struct config_key models_keys[]; /* of a struct draft_model */

/** Fills the stage's scores. Fails with STATUS_INVALID, STATUS_NO_MEMORY. */
MUST_USE enum status models_build(const struct drafting *drafting, size_t index,
                                  const struct draft_model *draft, size_t count);

#endif
