/* The prior weight of a model that is another one changed, where a later stage judges both on noisy losses.
 *
 * Randomised weighted majority picks the expert of the largest weight(i) exp(-eta loss(i)). Without a prior the noise alone
 * lets a worse model win as often as not. With weight exp(-eta t) a changed model wins where its loss is lower by more than
 * t. Let t be DOUBT standard deviations of the noise on a difference of two losses, with the fewest agents that the job
 * allows: all of it is public. eta falls with the root of the rounds, and the noise of their sum grows with it, so the
 * weight is the same for any number of rounds. */

#include "experts/rwm.h"
#include "task/task.h"

#include <math.h>

#define DOUBT 2.0

/* The first later stage that judges experts by losses that are released. NULL: none. */
static const struct stage *judge_of(const struct job *job, const struct stage *maker)
{
    for (const struct stage *stage = maker + 1; stage < job->stage + job->stage_count; stage++) {
        if (task_bounds(stage->task)->input == INPUT_EXPERTS) {
            return round_is_drawn(job, stage) ? NULL : stage;
        }
    }
    return NULL;
}

double task_doubt(const struct job *job, const struct stage *maker)
{
    const struct stage *judge = judge_of(job, maker);
    struct round_bounds bounds;
    if (judge == NULL || judge->batch == 0) {
        return 1;
    }
    const size_t agents = job->cohort_min;
    const size_t experts = job_experts_at(job, (size_t)(judge - job->stage), agents);
    if (experts < 2 ||
        round_bounds(&bounds, job, judge, 0, job_records_min(job), experts, NULL) != STATUS_OK) {
        return 1;
    }
    const struct query_noise noise = round_noise(job, judge, &bounds, agents);
    const double one = ldexp(query_noise_deviation(&noise), -(int)judge->grid_bits) /
                       ((double)agents * (double)judge->batch);
    return exp(-rwm_eta_free(experts, 1) * DOUBT * sqrt(2) * one);
}
