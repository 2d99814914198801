/* plan_job_private.h - what the makers of changes and the search among them share. Inside the planner of
 * jobs only. */

#ifndef CLI_PLAN_JOB_PRIVATE_H
#define CLI_PLAN_JOB_PRIVATE_H

#include "cli/plan_job.h"

/* What is to be helped: a stage of a planned job. */
struct job_trial {
    const struct job_source *source;
    const struct job_plan *plan;
    size_t stage;
};

/* One way to help: a number of the job made `factor` times as large, or as many times fewer. */
struct job_remedy {
    unsigned tasks; /* bits by enum task */

    /** Writes the changes, and in words what they are. Returns false where there is nothing to change. */
    bool (*make)(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                 const struct job_trial *trial, double factor);
};

extern const struct job_remedy job_remedies[];
extern const size_t job_remedy_count;

/** Writes the change to the other trust, with what it asks for, and in words what that is. */
void job_change_trust(struct job_changes *changes, char words[static PLAN_ADVICE_BYTES],
                      const struct job_plan *plan);

#endif
