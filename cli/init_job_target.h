/* init_job_target.h - the label and the features of a job's first text. Inside `hedgerow init job` alone. */

#ifndef CLI_INIT_JOB_TARGET_H
#define CLI_INIT_JOB_TARGET_H

#include "cli/init_job.h"

/* How the label is learned. */
struct init_target {
    const struct dictionary_column *column;
    enum label_kind kind;
    const char *positive;
    const char *negative; /* NULL: every other text */
};

/** Finds the label's column, and decides how it is learned. Fails with STATUS_INVALID; why says what to do. */
MUST_USE enum status init_job_aim(struct init_target *target, const struct init_job *asked,
                                  struct why *why);

/** Says how the label is learned. */
void init_job_tell_label(struct why *why, const struct init_job *asked,
                         const struct init_target *target);

/** Finds the column that an option names. Fails with STATUS_INVALID. */
MUST_USE enum status init_job_need(const struct dictionary_column **column,
                                   const struct init_job *asked, const char *option,
                                   const char *name, struct why *why);

/** Returns why a column cannot be a feature and what would make it one; NULL where it can. */
const char *init_job_unusable(const struct dictionary_column *column);

#endif
