/* plan_job_private.h - what the planner of jobs is made of. Inside it only. */

#ifndef CLI_PLAN_JOB_PRIVATE_H
#define CLI_PLAN_JOB_PRIVATE_H

#include "cli/plan_job.h"
#include "job/work.h"

/* A whole answer: the plan, and the same job under the other trust, where there is one. */
struct job_answer {
    struct job_source source;
    struct job_plan plan;
    struct job_plan other;
    bool has_other;
    struct why no_other;
};

/** Returns the plan's trust by name, and whether less noise drowns under the other. */
const char *job_plan_trust(const struct job_plan *plan);
bool job_answer_other_is_better(const struct job_answer *answer);

/* Operations a second, for the slots that are advised: a machine of the slow kind. */
static const double plan_speed = 1e9;

/** Tells what a round of a stage takes an agent at most: of the records that are planned with, or that
 * the job needs. Fails as work_of_stage. */
MUST_USE enum status job_plan_need(struct work_need *out, const struct job_plan *plan,
                                   size_t stage);

/** Prints all of it as one JSON object. */
MUST_USE enum status job_answer_json(const struct job_answer *answer);

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
