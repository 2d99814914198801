/* publish_terms.h - the parts of result.json that tell what was released and at what price. Within
 * this folder. */

#ifndef COORDINATOR_PUBLISH_TERMS_H
#define COORDINATOR_PUBLISH_TERMS_H

#include "report/result.h"
#include "task/outcome.h"

/**
 * Tells the questions' answers, the noise and price of every stage (job/terms.h), what the agents
 * have spent by the answers that counted, and the regret. Under central trust nobody may know the
 * regret that was reached: the bound that was promised is told alone.
 *
 * result  in/out  reserved, with its agents; no answers and no releases yet
 *
 * Fails with STATUS_NO_MEMORY, STATUS_INVALID (over a limit of report/result.h).
 */
MUST_USE enum status publish_terms(struct result *result, const struct outcome *outcome,
                                   const struct job *job);

#endif
