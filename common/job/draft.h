/* draft.h - a job's text as struct: each key's value checked by itself, none yet against another.
 * Inside job only. */

#ifndef JOB_DRAFT_H
#define JOB_DRAFT_H

#include "config/config.h"
#include "job/draft_data.h"
#include "job/job.h"
#include "query/candidates.h"
#include "query/query_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SHARE_PLACES = 9, /* shares are whole numbers of 10^-9, so that their sum is exact */
    SHARE_ONE = 1000000000
};

struct draft_privacy {
    unsigned unit;
    unsigned neighbours;
    unsigned trust;
    uint64_t epsilon_micro;
    uint64_t delta_atto;
};

struct draft_cohort {
    uint32_t minimum;
    uint64_t records;
    uint64_t records_most;
    uint32_t join_deadline_ms;
    uint32_t deadline_ms;
    uint32_t patience_ms;
};

struct draft_experts {
    bool own;
    double own_weight;
    double *shift;
    size_t shift_count;
};

struct draft_forecaster {
    char name[JOB_NAME_BYTES];
    char (*feature)[SCHEMA_NAME_BYTES];
    size_t feature_count;
    double *weight;
    size_t weight_count;
};

struct draft_kernel {
    unsigned kind;
    double gamma;
    uint32_t degree;
    double offset;
};

struct draft_candidates {
    char (*column)[SCHEMA_NAME_BYTES];
    size_t column_count;
    uint32_t threshold_count;
    char (*predicate)[QUERY_TEXT_BYTES];
    size_t predicate_count;
};

struct draft_conjunction {
    char positive[QUERY_TEXT_BYTES];
    char (*feature)[QUERY_TEXT_BYTES];
    size_t feature_count;
    double tolerance;
};

struct draft_stage {
    unsigned task;
    unsigned strategy;
    unsigned loss;
    double loss_parameter;
    uint64_t share_nano;
    uint32_t grid_bits;
    double *lambda;
    size_t lambda_count;
    double tolerance;
    struct draft_experts experts;
    uint32_t rounds;
    struct config_portion batch;
    uint32_t batches;
    uint64_t sampling_nano;
    unsigned noise;
    double clip;
    double clip_all;
    double rate;
    double decay;
    double momentum;
    double radius;
    unsigned iterates;
    unsigned horizon;
    char (*query)[QUERY_TEXT_BYTES];
    size_t query_count;
    struct draft_conjunction conjunction;
    struct draft_candidates candidates;
    uint64_t first;
    struct draft_forecaster *forecaster;
    size_t forecaster_count;
    uint64_t t0;
    double theta;
    struct draft_kernel kernel;
    struct draft_map map;
    struct draft_row *point;
    size_t point_count;
};

struct draft {
    char name[JOB_NAME_BYTES];
    struct draft_data data;
    struct draft_privacy privacy;
    struct draft_cohort cohort;
    struct draft_stage *stage;
    size_t stage_count;
};

/* The table of a job's keys, for a struct draft, and of its stages'. */
extern const struct config_key draft_stage_keys[];
extern const struct config_key draft_keys[];

/* What turning a draft into a job needs at every step. */
struct drafting {
    const struct config *config; /* for places in messages */
    const struct draft *draft;
    struct job *job;
    struct why *why;
};

/** Writes "list[index].key" to path and returns it; without the point when key is "". */
const char *draft_path(char path[static CONFIG_PATH_BYTES], const char *list, size_t index,
                       const char *key);

/** Steps of job_parse: each fills its part of the job, maps the job's stages too. Fail with STATUS_INVALID, STATUS_NO_MEMORY.
 */
MUST_USE enum status job_schema_build(const struct drafting *drafting);
MUST_USE enum status job_maps_build(const struct drafting *drafting);
MUST_USE enum status job_stages_build(const struct drafting *drafting);

/**
 * Reads a public record as it stands in a job's text: a value per lag, then one per feature.
 *
 * value  out  (schema_value_count) raw values; a category by its index
 * path   in   where it stands, for messages
 *
 * Fails with STATUS_INVALID.
 */
MUST_USE enum status job_row_read(double *value, const struct drafting *drafting, const char *path,
                                  const struct draft_row *row);

/** Checks by public numbers alone that every round's noise can be drawn and that the answers of
 * JOB_AGENTS_MAX agents add up without overflow; *stage becomes the one that fails. Fails with
 * STATUS_INVALID. */
MUST_USE enum status job_sums_check(const struct job *job, size_t *stage, struct why *why);

/** Makes shares the batches of an agent of so many records. */
void job_take_shares(struct job *job, uint64_t records);

#endif
