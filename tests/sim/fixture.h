/* fixture.h - jobs small enough for ten thousand runs, their records (d = 3, m = 12), and the agents'
 * policy. Under local trust two fit rounds and three losses rounds (batches of 4). */

#ifndef SIM_FIXTURE_H
#define SIM_FIXTURE_H

#include "agent/participant.h"
#include "agent/policy.h"
#include "dictionary/dictionary.h"
#include "job/job.h"
#include "masks/site.h"
#include "sim/plan.h"

enum { SIM_TEXT_BYTES = 2048, SIM_AGENTS = 3, SIM_RECORDS = 12 };

/* The agents' allowance for a window of days: two jobs, or little more than one, so that lies
 * exhaust it. */
enum { SIM_WINDOW_DAYS = 8, SIM_WINDOW_PATIENT_MICRO = 2000000, SIM_WINDOW_LIES_MICRO = 1300000 };

struct fixture {
    char text_bytes[SIM_TEXT_BYTES];
    struct slice text;
    struct job job; /* parsed from the text */
    struct policy policy;
    struct dictionary dictionary; /* of every agent's records */
    struct masks_peers peers;
    struct key_pair signing[SIM_AGENTS];
};

/** Makes the job's text for a plan's times. Aborts when it is not a valid job. */
void fixture_init(struct fixture *fixture, const struct plan *plan);
void fixture_free(struct fixture *fixture);

/** The records of an agent, 0 to SIM_AGENTS - 1; keeps number. */
struct source fixture_source(size_t *number);

#endif
