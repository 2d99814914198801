/* draft.h - a job's text as struct: each key's value checked by itself, none yet against another.
 * Inside job only. */

#ifndef JOB_DRAFT_H
#define JOB_DRAFT_H

#include "config/config.h"
#include "job/draft_data.h"
#include "job/job.h"

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
    uint32_t honest;
    uint32_t dishonest;
    uint64_t records;
    uint64_t records_most;
    uint32_t join_deadline_ms;
    uint32_t deadline_ms;
    uint32_t patience_ms;
    char (*agent)[JOB_AGENT_BYTES]; /* (agent_count) */
    size_t agent_count;
};

struct draft_experts {
    bool own;
    double own_weight;
    double *shift;
    size_t shift_count;
};

/* What stages have in common, and keys that several tasks read; in memory it is followed by what each task's own
 * table fills: draft_own. */
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
    unsigned noise;
    struct draft_map map;
};

struct draft {
    char name[JOB_NAME_BYTES];
    struct draft_data data;
    struct draft_privacy privacy;
    struct draft_cohort cohort;
    struct draft_stage
        *stage; /* (stage_count), of draft_tables.stage_bytes each: draft_stage finds one */
    size_t stage_count;
};

enum { DRAFT_KEYS_MAX = 64 };

/* The table of a job's keys, for a struct draft, made of what is common to all stages and of each task's own. */
struct draft_tables {
    struct config_key root[8];
    struct config_key stage[DRAFT_KEYS_MAX + 1];
    size_t own[TASK_COUNT]; /* where a task's own part of a stage begins */
    size_t stage_bytes;
};
extern const struct config_key draft_stage_keys[];
void draft_tables_init(struct draft_tables *tables);

/* What turning a draft into a job needs at every step. */
struct drafting {
    const struct config *config; /* for places in messages */
    const struct draft *draft;
    const struct draft_tables *tables;
    struct job *job;
    struct why *why;
    enum job_age age;
};

/** Returns a stage's common part, and what its task's own table has filled. */
const struct draft_stage *draft_stage(const struct drafting *drafting, size_t index);
const void *draft_own(const struct drafting *drafting, size_t index);

/** Writes "list[index].key" to path and returns it; without the point when key is "". */
const char *draft_path(char path[static CONFIG_PATH_BYTES], const char *list, size_t index,
                       const char *key);

/** Steps of job_parse: each fills its part of the job, maps the job's stages too. Fail with STATUS_INVALID, STATUS_NO_MEMORY.
 */
MUST_USE enum status job_schema_build(const struct drafting *drafting);
MUST_USE enum status job_maps_build(const struct drafting *drafting);
MUST_USE enum status job_stages_build(const struct drafting *drafting);

/** Parts of job_stages_build: at most one stage takes the rest of epsilon, and there is some; sigma, and what is planned by it.
 * Fail likewise. */
MUST_USE enum status job_stages_check_rest(const struct drafting *drafting);
MUST_USE enum status job_stages_plan(const struct drafting *drafting);

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
 * JOB_AGENTS_SURE agents, or cohort_min if that is more, add up without overflow; *stage becomes the one that fails. Fails with
 * STATUS_INVALID. */
MUST_USE enum status job_sums_check(const struct job *job, size_t *stage, struct why *why);

/** Makes shares the batches of an agent of that many records. */
void job_take_shares(struct job *job, uint64_t records);

#endif
